//! Clustering that learns which neighbours to trust.
//!
//! Every point ranks all others by distance. For each rank a weight is learnt: how far to trust it as "same
//! cluster" (w) or as "different cluster" (p). The default method learns them together with a partition of the
//! points, on several scalings of the data, and joins what it learnt into one consensus. It needs no tuning and no
//! labels.
//!
//! # Cluster
//!
//! [`Samples`] borrows your rows, [`Params`] says what you want, [`fit`] returns a [`Model`].
//!
//! ```
//! use nearfar::{Params, Samples};
//! let data = nearfar::generate::circles(200, 0.03, 0.4, 7)?;
//! let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
//! let model = nearfar::fit(samples, &Params::new(2))?;
//! println!("{:?}, {:.2} sure of the first point", model.sizes(), model.confidence[0]);
//! let scores = nearfar::labels::score::score(&model.labels, &data.truth)?;
//! assert_eq!(scores.accuracy, 1.0);
//! # Ok::<(), nearfar::Error>(())
//! ```
//!
//! [`Input`] takes distances, affinities or neighbour lists in place of samples. [`load`] reads files. [`Run`] is
//! [`fit`] with an observer, a checkpoint or a number of threads.
//!
//! # Choose the number of clusters later
//!
//! [`Params::auto`] finds the number of clusters. A model of the default method also has a tree: every other number
//! is there without fitting again, and every level is nested in the next coarser one.
//!
//! ```
//! use nearfar::{Params, Samples};
//! let data = nearfar::generate::blobs(90, 3, 4, 0.2, 1)?;
//! let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
//! let model = nearfar::fit(samples, &Params::auto())?;
//! assert_eq!(model.sizes().len(), 4);
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
//!
//! let file = std::env::temp_dir().join(format!("moons-{}.nearfar", std::process::id()));
//! saved.save(&file)?;
//! let moons = SavedModel::load(&file)?;
//! # std::fs::remove_file(&file).ok();
//! let new = Samples::from_rows(&data.data[..10], 5, data.n_features)?;
//! assert_eq!(moons.predict(&new, &Silent)?, model.labels[..5]);
//! # Ok::<(), nearfar::Error>(())
//! ```
//!
//! `examples/` has more to read and change: `first_steps`, `precomputed` (distances, affinities, neighbour lists),
//! `observe` (progress, cancelling, trace), `presets` (the paper's settings, a single start, parts switched off) and
//! `toy_method` (a method of your own).
//!
//! # Other methods
//!
//! `Params::lsdg(k)` is the paper's model, LSDG-SymNMF (Lyu and Jia). It learns a nonnegative factor V in place of
//! the partition, merges it with the weights into one similarity Z, and labels by spectral clustering.
//! [`Params::of`] takes the settings of a compared method, such as [`learn::AnlsParams`]; these methods factor one
//! fixed graph or the samples. [`learn::MethodKind`] lists and describes all methods, and [`learn::custom`] takes one
//! of your own.
//!
//! # The path
//!
//! ```text
//! load → views → neighbors → slices → learn → partition → consensus → tree → labels → model
//! ```
//!
//! The folders of the source have these names. ARCHITECTURE.md tells what each stage takes and gives.

// The threads that play processes, shared with the testkit, know the library by its name.
#[cfg(test)]
extern crate self as nearfar;

// What a caller hands in, sets and sees; the spine that calls the stages is `run`.
mod error;
mod input;
mod run;

// The path, in the order in which data flows.

pub mod load;

mod views;

mod mixture; // the short way: where a plain mixture explains the rows, no graph is made

mod neighbors;

mod slices;

mod graph; // in place of slices, for methods that factor one fixed graph

pub mod learn;

mod partition;

mod consensus;

mod tree;

mod spectral; // in place of partition, consensus and tree, for the paper's model and spectral clustering

pub mod labels;

pub mod model;

pub mod explain; // what the clusters of a model are, in words

mod layout; // the points in the plane, to be looked at

// What every stage uses.
pub mod generate;
mod math;
pub mod processes;

#[doc(hidden)]
pub mod internals;

/// The version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub use error::{DataError, Error, ParamError, Result};
pub use input::{Input, Metric, Samples, Spread, Values};
pub use learn::lsdg::PreparedSlices;
pub use model::{Model, SavedModel, Warning};
pub use neighbors::NeighborLists;
pub use run::checkpoint;
pub use run::compared::PreparedGraph;
pub use run::params::{BinnedParams, Mode, Params, Preset, Pruning, Starts};
pub use run::plan::{Plan, Precision, default_memory_limit, plan};
pub use run::{Run, fit, observe};
pub use views::{View, Views};

// Inside the library these stand at the root, too.
pub(crate) use run::{params, plan};
