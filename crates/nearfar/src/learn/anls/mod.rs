#![doc = include_str!("about.md")]

use super::family::{Fitted, Task};
use crate::error::{ParamError, Result};

/// How one factor is found given the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AnlsSolver {
    /// Exactly, by block principal pivoting.
    #[default]
    Pivoting,
    /// One pass over the columns (SymHALS).
    Columns,
}

/// Settings of the method.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct AnlsParams {
    /// λ: the price of U ≠ V, 0 to 1e9.
    pub lambda: f64,
    /// How one factor is found given the other.
    pub solver: AnlsSolver,
}

impl Default for AnlsParams {
    fn default() -> Self {
        Self { lambda: 0.5, solver: AnlsSolver::default() }
    }
}

impl AnlsParams {
    /// Judge the ranges.
    ///
    /// # Errors
    /// Names the first parameter out of range.
    pub fn check(&self) -> Result<(), ParamError> {
        todo!()
    }
}

/// One start.
pub(crate) fn learn(_task: Task<'_>, _params: &AnlsParams) -> Result<Fitted> {
    todo!()
}
