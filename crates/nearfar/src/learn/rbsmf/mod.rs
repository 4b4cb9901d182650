#![doc = include_str!("about.md")]

use super::family::{Fitted, Task};
use crate::error::{ParamError, Result};

/// Settings of the method.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct RbsMfParams {
    /// λ: the weight of the Laplacian term, 0 to 1e9.
    pub lambda: f64,
    /// μ: how strongly S is held to the first graph, 1e-9 to 1e9.
    pub mu: f64,
}

impl Default for RbsMfParams {
    fn default() -> Self {
        Self { lambda: 1.0, mu: 1.0 }
    }
}

impl RbsMfParams {
    /// Judge the ranges.
    ///
    /// # Errors
    /// Names the first parameter out of range.
    pub fn check(&self) -> Result<(), ParamError> {
        todo!()
    }
}

/// One start.
pub(crate) fn learn(_task: Task<'_>, _params: &RbsMfParams) -> Result<Fitted> {
    todo!()
}
