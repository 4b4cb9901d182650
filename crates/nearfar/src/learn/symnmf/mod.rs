#![doc = include_str!("about.md")]

use super::family::{Fitted, Task};
use crate::error::{ParamError, Result};

/// How V is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SymNmfSolver {
    /// V ← V ⊙ (SV / VVᵀV)^¼: most likely the paper's "SymNMF".
    #[default]
    Multiplicative,
    /// Projected gradient with Armijo's rule.
    Gradient,
    /// Newton-like, column by column, as in the original program.
    Newton,
}

/// Settings of the method.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct SymNmfParams {
    /// How V is found.
    pub solver: SymNmfSolver,
}

impl SymNmfParams {
    /// Judge the ranges.
    ///
    /// # Errors
    /// Names the first parameter out of range.
    pub fn check(&self) -> Result<(), ParamError> {
        todo!()
    }
}

/// One start.
pub(crate) fn learn(_task: Task<'_>, _params: &SymNmfParams) -> Result<Fitted> {
    todo!()
}
