//! From coordinates to labels, and how good labels are.

pub(crate) mod canonical;
pub(crate) mod kmeans;
pub mod score;
