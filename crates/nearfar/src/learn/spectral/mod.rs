#![doc = include_str!("about.md")]

use super::family::{Fitted, Task};
use crate::error::Result;

/// One start.
pub(crate) fn learn(_task: Task<'_>) -> Result<Fitted> {
    todo!()
}
