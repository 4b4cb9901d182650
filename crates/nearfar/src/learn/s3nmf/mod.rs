#![doc = include_str!("about.md")]

use super::family::{Fitted, Task};
use crate::error::{ParamError, Result};

/// Settings of the method.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct S3NmfParams {
    /// τ: how evenly members are weighed, above 1 and at most 1e3.
    pub tau: f64,
    /// Factorisations per round, at least 1.
    pub members: usize,
    /// Rounds, at least 1.
    pub rounds: usize,
    /// Whether a member votes with its labels instead of its VVᵀ.
    pub hard: bool,
}

impl Default for S3NmfParams {
    fn default() -> Self {
        Self { tau: 2.0, members: 20, rounds: 10, hard: true }
    }
}

impl S3NmfParams {
    /// Judge the ranges.
    ///
    /// # Errors
    /// Names the first parameter out of range.
    pub fn check(&self) -> Result<(), ParamError> {
        todo!()
    }
}

/// One start.
pub(crate) fn learn(_task: Task<'_>, _params: &S3NmfParams) -> Result<Fitted> {
    todo!()
}
