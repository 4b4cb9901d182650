//! Studies: methods × datasets × settings × seeds, every run stored at once, the tables and figures made from the
//! store.
//!
//! ```text
//! study.rs     what to run: a TOML file          manifest.rs  on what: another TOML file
//! runner.rs    runs what the store lacks         store.rs     one row per finished run, in SQLite
//! table.rs     means, spreads, choices, tests    report/      as Markdown, CSV, LaTeX, JSON, HTML
//! figures/     the paper's figures, as SVG and PNG
//! published.rs what the paper reports            join.rs      several finished tables as one
//! pace.rs      how long it will still take
//! ```
//!
//! The crate never prints and knows no flags: the caller turns settings into [`nearfar::Params`] and reads the data
//! ([`Host`]).

mod error;
pub mod figures;
pub mod join;
pub mod manifest;
mod pace;
pub mod published;
pub mod ready;
pub mod report;
pub mod runner;
pub mod stats;
pub mod store;
pub mod study;
pub mod table;

pub use error::{Error, Result};
pub use manifest::{DatasetSpec, Manifest};
pub use ready::Dataset;
pub use runner::{Host, Runner};
pub use store::{Record, Run, Store};
pub use study::Study;
