//! What the method nearfar writes beside the labels.

use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::values::{Portion, level};

/// Confidence, noise and levels of the labels; numbers that stay.
#[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
#[command(next_help_heading = "Labels (nearfar)")]
#[serde(default, rename_all = "kebab-case")]
#[allow(clippy::struct_excessive_bools, reason = "one per switch on the command line")]
pub(crate) struct LabelArgs {
    /// Also write how sure every label is, from 0 to 1, and the next best cluster
    #[arg(long)]
    pub(crate) confidence: bool,
    /// Also write how far out every point lies, from 0 to 1: 0.5 is twice as far from its neighbours as is usual in its
    /// cluster
    #[arg(long)]
    pub(crate) outlier_scores: bool,
    /// Give this share of the points, the least certain ones, the label -1: 5% or 0.05
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, conflicts_with = "min_confidence")]
    pub(crate) noise: Option<Portion>,
    /// Give points that are less certain than this the label -1
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) min_confidence: Option<f64>,
    /// Also write the labels for other numbers of clusters, one column each: 5,10,20 gives k5, k10 and k20
    #[arg(long, value_name = "K,K,...", value_delimiter = ',', value_parser = level)]
    pub(crate) levels: Option<Vec<usize>>,
    /// Give clusters that are also in this saved model, matched by the points they share, its numbers and names
    #[arg(long, value_name = "OLD_MODEL")]
    pub(crate) like: Option<PathBuf>,
    /// Fit 20 halves of the points, too, and tell how far every cluster is found again (takes about ten times as long)
    #[arg(long)]
    pub(crate) stability: bool,
}
