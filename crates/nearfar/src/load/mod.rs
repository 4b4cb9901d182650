//! Stage of the path.

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[error("not yet")]
pub struct LoadError;
