//! Clustering that learns which neighbours to trust.

pub mod augment;
pub mod error;
pub mod generate;
pub mod labels;
pub mod learn;
pub mod load;
pub mod math;
pub mod neighbors;
pub mod observe;
pub mod plan;
pub mod samples;
pub mod slices;
pub mod spectral;

pub use error::{DataError, Error, ParamError, Result};
pub use samples::{Samples, Values};
