#![doc = include_str!("about.md")]

use super::family::{Fitted, Task};
use crate::error::{ParamError, Result};

/// Settings of the method.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct CgSymNmfParams {
    /// α: the weight of self-expression, 0 to 1e9.
    pub alpha: f64,
    /// β: how strongly S is held to the first graph, 0 to 1e9.
    pub beta: f64,
}

impl Default for CgSymNmfParams {
    fn default() -> Self {
        Self { alpha: 0.1, beta: 1.0 }
    }
}

impl CgSymNmfParams {
    /// Judge the ranges.
    ///
    /// # Errors
    /// Names the first parameter out of range.
    pub fn check(&self) -> Result<(), ParamError> {
        todo!()
    }
}

/// One start.
pub(crate) fn learn(_task: Task<'_>, _params: &CgSymNmfParams) -> Result<Fitted> {
    todo!()
}
