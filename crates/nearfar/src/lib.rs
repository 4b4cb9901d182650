//! Clustering that learns which neighbours to trust.
//!
//! ```text
//! load → views → neighbors → slices → learn → partition → consensus → tree → labels → model
//! ```
//!
//! Every point ranks all others by distance. For each rank a weight is learnt: how far to trust it as "same
//! cluster" (w) or as "different cluster" (p). The default method learns them together with a partition of the
//! points, on several scalings of the data, and joins what it learnt into one consensus. It needs no tuning and no
//! labels. The modules stand in the order of the path.
//!
//! Two kinds of methods leave the path in the middle. The paper's model, LSDG-SymNMF (Lyu and Jia,
//! [`learn::lsdg`]), learns a nonnegative factor V in place of the partition, merges it with the weights into one
//! similarity Z, and labels by spectral clustering. The compared methods (the other folders of [`learn`]) factor
//! one fixed [`graph`] or the samples.
//!
//! # Cluster
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
//! [`Params::auto`] finds the number of clusters, too. [`Run`] is the same with an observer, a checkpoint or a number
//! of threads. [`Input`] takes distances, affinities or neighbour lists in place of samples.
//!
//! # Choose the number of clusters later
//!
//! A model of the default method has a tree: every number of clusters is there without fitting again, and every level
//! is nested in the next coarser one.
//!
//! ```
//! use nearfar::{Params, Samples};
//! let data = nearfar::generate::blobs(90, 3, 2, 0.2, 1)?;
//! let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
//! let model = nearfar::fit(samples, &Params::auto())?;
//! let two = model.labels_at(2).expect("the tree has two clusters and more");
//! assert_eq!(two.iter().max(), Some(&1));
//! # Ok::<(), nearfar::Error>(())
//! ```
//!
//! # Predict
//!
//! A [`SavedModel`] is what predicting needs, in memory or in a file.
//!
//! ```
//! use nearfar::{Input, Params, Samples, SavedModel, model::SaveOptions, observe::Silent};
//! let data = nearfar::generate::moons(120, 0.05, 3)?;
//! let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
//! let model = nearfar::fit(samples, &Params::new(2))?;
//! let saved = SavedModel::new(&model, &Input::from(samples), &SaveOptions::default());
//! let new = Samples::from_rows(&data.data[..10], 5, data.n_features)?;
//! assert_eq!(saved.predict(&new, &Silent)?, model.labels[..5]);
//! # Ok::<(), nearfar::Error>(())
//! ```
//!
//! More to read and change in `examples/`: `first_steps`, `precomputed` (distances, affinities, neighbour lists),
//! `observe` (progress, cancelling, trace) and `presets` (the paper's settings, a single start, parts switched
//! off).

// The threads that play processes, shared with the testkit, know the library by its name.
#[cfg(test)]
extern crate self as nearfar;

// What a caller hands in, sets and sees; the spine that calls the stages is `run`.
pub mod error;
mod input;
mod run;

// The path, in the order in which data flows.

pub mod load;

pub mod views;

mod mixture; // the short way: where a plain mixture explains the rows, no graph is made

pub mod neighbors;

pub mod slices;

pub mod graph; // in place of slices, for methods that factor one fixed graph

pub mod learn;

pub mod partition;

mod consensus;

pub mod tree;

pub mod spectral; // in place of partition, consensus and tree, for the paper's model and spectral clustering

pub mod labels;

pub mod model;

pub mod explain; // what the clusters of a model are, in words

// What every stage uses.
pub mod generate;
pub mod math;
pub mod processes;

/// The version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub use error::{DataError, Error, ParamError, Result};
pub use input::{Input, Metric, Samples, Spread, Values};
pub use learn::lsdg::PreparedSlices;
pub use model::{Model, SavedModel, Warning};
pub use neighbors::NeighborLists;
pub use processes::{Communicator, Share, Team};
pub use run::checkpoint::{self, Checkpoint};
pub use run::compared::PreparedGraph;
pub use run::default::controls;
pub use run::params::{self, BinnedParams, Mode, Params, Preset, Settled};
pub use run::plan::{self, Plan, Precision};
pub use run::{Run, fit, observe};
