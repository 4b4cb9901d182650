//! From coordinates to labels, and how good labels are.

pub mod canonical;
pub mod kmeans;
pub mod score;
