//! What is written, and where.

use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::values::{GraphKind, ProgressKind};

/// The outputs.
#[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
#[command(next_help_heading = "Output")]
#[serde(default, rename_all = "kebab-case")]
#[allow(clippy::struct_excessive_bools, reason = "one per switch on the command line")]
pub(crate) struct OutputArgs {
    /// Write the labels to this file instead of stdout (.csv, .txt, .npy or .json)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Keep everything in this folder instead: labels, weights, factor, membership, embedding, trace, members,
    /// summary, settings
    #[arg(long, value_name = "DIR")]
    pub(crate) out_dir: Option<PathBuf>,
    /// Write a learnt graph as an edge list (CSV: i, j, value; every pair once)
    #[arg(long, value_name = "FILE")]
    pub(crate) export_graph: Option<PathBuf>,
    /// Which graph: s similarity, d dissimilarity, z both merged with the factor [default: s]
    #[arg(long, value_enum, requires = "export_graph")]
    pub(crate) graph: Option<GraphKind>,
    /// Read settings from this file; flags win
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,
    /// Read the data, print memory and time the run would take, and stop
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Exit with 1 when the summary holds any warning (not converged, unsettled, ...)
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print the summary, and the labels unless -o is given, as one JSON document on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Progress on stderr: bars on a terminal (auto), a JSON line per event, or none [default: auto]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) progress: Option<ProgressKind>,
    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print settings and every start too
    #[arg(short, long)]
    pub(crate) verbose: bool,
    #[arg(from_global)]
    #[serde(skip)]
    pub(crate) no_color: bool,
}
