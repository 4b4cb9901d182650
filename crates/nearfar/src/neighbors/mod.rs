//! Stage of the path.
