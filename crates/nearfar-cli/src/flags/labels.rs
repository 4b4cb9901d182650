//! What the method nearfar writes beside the labels.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::values::{Portion, level};

/// Confidence, noise and levels of the labels.
#[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
#[command(next_help_heading = "Labels (nearfar)")]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct LabelArgs {
    /// Also write how sure every label is, from 0 to 1
    #[arg(long)]
    pub(crate) confidence: bool,
    /// Give this share of the points, the least certain ones, the label -1: 5% or 0.05
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, conflicts_with = "min_confidence")]
    pub(crate) noise: Option<Portion>,
    /// Give points that are less certain than this the label -1
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) min_confidence: Option<f64>,
    /// Also write the labels for other numbers of clusters, one column each: 5,10,20 gives k5, k10 and k20
    #[arg(long, value_name = "K,K,...", value_delimiter = ',', value_parser = level)]
    pub(crate) levels: Option<Vec<usize>>,
}
