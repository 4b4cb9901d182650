//! From a similarity to coordinates: leading eigenvectors and the embedding made of them.

pub mod eigen;
pub mod embed;
