#![doc = include_str!("about.md")]

use super::family::{Fitted, Task};
use crate::error::{ParamError, Result};

/// Settings of the method.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct GnmfParams {
    /// λ: the weight of the Laplacian term, 0 to 1e9.
    pub lambda: f64,
}

impl Default for GnmfParams {
    fn default() -> Self {
        Self { lambda: 100.0 }
    }
}

impl GnmfParams {
    /// Judge the ranges.
    ///
    /// # Errors
    /// Names the first parameter out of range.
    pub fn check(&self) -> Result<(), ParamError> {
        todo!()
    }
}

/// One start.
pub(crate) fn learn(_task: Task<'_>, _params: &GnmfParams) -> Result<Fitted> {
    todo!()
}
