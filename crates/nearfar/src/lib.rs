//! Clustering that learns which neighbours to trust.
//!
//! ```text
//! load → neighbors → slices → learn → augment → spectral → labels
//! ```
//!
//! Every point ranks all others by distance. For each rank two weights are learnt: how far to trust it as "same
//! cluster" (w) and as "different cluster" (p). With them goes a nonnegative factor V; the three are merged into
//! one similarity Z, whose spectral clustering gives the labels. The method is LSDG-SymNMF (Lyu and Jia); the
//! defaults need no tuning and no labels.
//!
//! ```
//! use nearfar::{Params, Samples};
//! let data = nearfar::generate::circles(200, 0.03, 0.4, 7)?;
//! let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
//! let model = nearfar::fit(samples, &Params::new(2))?;
//! let scores = nearfar::labels::score::score(&model.labels, &data.truth)?;
//! assert_eq!(scores.accuracy, 1.0);
//! # Ok::<(), nearfar::Error>(())
//! ```
//!
//! More to read and change in `examples/`: `first_steps`, `precomputed` (distances, affinities, neighbour lists),
//! `observe` (progress, cancelling, trace) and `presets` (the paper's settings, a single start, parts switched
//! off).

// The crew of threads, shared with the testkit, knows the library by its name.
#[cfg(test)]
extern crate self as nearfar;

pub mod augment;
pub mod checkpoint;
pub mod cluster;
pub mod consensus;
pub mod crew;
pub mod engine;
pub mod error;
pub mod family;
pub mod generate;
pub mod graph;
pub mod labels;
pub mod learn;
pub mod load;
pub mod math;
pub mod model;
pub mod neighbors;
pub mod observe;
pub mod params;
pub mod partition;
pub mod plan;
pub mod prepared;
mod remix;
pub mod samples;
pub mod slices;
pub mod spectral;
mod starts;
mod tensors;
pub mod views;

/// The version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub use checkpoint::Checkpoint;
pub use cluster::{fit, fit_observed, fit_saved};
pub use crew::{Crew, Share, Team};
pub use error::{DataError, Error, ParamError, Result};
pub use model::{Model, SavedModel};
pub use neighbors::{Input, Metric, NeighborLists, Warning};
pub use params::{BinnedParams, Mode, Params, Preset};
pub use plan::{Plan, Precision};
pub use prepared::Prepared;
pub use samples::{Samples, Values};
