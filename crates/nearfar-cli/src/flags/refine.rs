//! The flags of what is done with a saved model by hand.

use std::path::PathBuf;

use clap::Args;

use super::InputArgs;

const MERGE_EXAMPLE: &str = "\
Example:
  nearfar merge data.nearfar 2 5 -o coarser.nearfar

The cluster keeps the lowest number; those behind close up.";

/// Flags of `merge`.
#[derive(Args, Debug)]
#[command(after_help = MERGE_EXAMPLE)]
pub(crate) struct MergeArgs {
    /// Model written by `nearfar cluster --save-model` or by save() in Python
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The clusters to join, by number or name
    #[arg(value_name = "CLUSTER", num_args = 2.., required = true)]
    pub(crate) clusters: Vec<String>,
    /// Where to write the new model (.nearfar)
    #[arg(short, long, value_name = "NEW_MODEL")]
    pub(crate) output: PathBuf,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

const SPLIT_EXAMPLE: &str = "\
Example:
  nearfar split data.nearfar 3 -o finer.nearfar

The larger part keeps the number; the other gets a new one at the end.";

/// Flags of `split`.
#[derive(Args, Debug)]
#[command(after_help = SPLIT_EXAMPLE)]
pub(crate) struct SplitArgs {
    /// Model of the method nearfar, written by `nearfar cluster --save-model` or by save() in Python
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The cluster to divide, by number or name
    #[arg(value_name = "CLUSTER")]
    pub(crate) cluster: String,
    /// Where to write the new model (.nearfar)
    #[arg(short, long, value_name = "NEW_MODEL")]
    pub(crate) output: PathBuf,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

const RENAME_EXAMPLE: &str = "\
Example, with names.csv:
  cluster,name
  0,regulars
  3,students

  nearfar rename data.nearfar names.csv -o named.nearfar

Names stand in the output of explain, predict and drift, and in reports.";

/// Flags of `rename`.
#[derive(Args, Debug)]
#[command(after_help = RENAME_EXAMPLE)]
pub(crate) struct RenameArgs {
    /// Model written by `nearfar cluster --save-model` or by save() in Python
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// A text file with a number and a name in every line, and a comma between; an empty name takes one away
    #[arg(value_name = "NAMES")]
    pub(crate) names: PathBuf,
    /// Where to write the new model (.nearfar)
    #[arg(short, long, value_name = "NEW_MODEL")]
    pub(crate) output: PathBuf,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

const DRIFT_EXAMPLE: &str = "\
Example:
  nearfar drift data.nearfar march.csv

The usual range is that of samples of the old points as large as the new data.";

/// Flags of `drift`.
#[derive(Args, Debug)]
#[command(after_help = DRIFT_EXAMPLE)]
pub(crate) struct DriftArgs {
    /// Model written by `nearfar cluster --save-model` or by save() in Python
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
