//! What is said of every point beside its label; of the method nearfar.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::values::{Portion, level};

/// What labels come with.
#[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
#[command(next_help_heading = "Labels (nearfar)")]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct LabelArgs {
    /// Also write how sure every label is, from 0 to 1
    #[arg(long)]
    pub(crate) confidence: bool,
    /// Label this share of the points, the least certain ones, -1: 5% or 0.05
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, conflicts_with = "min_confidence")]
    pub(crate) noise: Option<Portion>,
    /// Label points that are less certain than this -1
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) min_confidence: Option<f64>,
    /// Also write the labels with other numbers of clusters, a column for each: 5,10,20 gives k5, k10 and k20
    #[arg(long, value_name = "K,K,...", value_delimiter = ',', value_parser = level)]
    pub(crate) levels: Option<Vec<usize>>,
}
