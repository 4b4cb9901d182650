#![doc = include_str!("about.md")]

use super::family::{Fitted, Task};
use crate::error::{ParamError, Result};

/// What is updated at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SBsumBlock {
    /// One entry of V.
    #[default]
    Scalar,
    /// One row of V.
    Vector,
}

/// Settings of the method.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct SBsumParams {
    /// What is updated at once.
    pub block: SBsumBlock,
}

impl SBsumParams {
    /// Judge the ranges.
    ///
    /// # Errors
    /// Names the first parameter out of range.
    pub fn check(&self) -> Result<(), ParamError> {
        todo!()
    }
}

/// One start.
pub(crate) fn learn(_task: Task<'_>, _params: &SBsumParams) -> Result<Fitted> {
    todo!()
}
