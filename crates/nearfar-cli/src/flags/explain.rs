//! The flags of `explain`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values::ImageShape;

const EXAMPLES: &str = "\
Examples:
  nearfar cluster data.csv --save-model data.nearfar -o labels.csv
  nearfar explain data.nearfar
  nearfar explain data.nearfar --format html -o data.html
  nearfar explain distances.nearfar --data table.csv --id-column name

A mark such as \"income 2.3 spreads above the rest\" compares means: a spread is the root of the mean of the two
variances. A rule is found on one half of the rows; what is right and what it finds are counted on the other.";

/// What an explanation is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// Text for the screen
    #[default]
    Table,
    Markdown,
    Json,
    Html,
}

/// Flags of `explain`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExplainArgs {
    /// A model (`nearfar cluster --save-model`, or save() in Python) or a run folder (`--out-dir`)
    #[arg(value_name = "MODEL|RUN_DIR")]
    pub(crate) source: PathBuf,
    /// Explain by the columns of this table, its rows in the order of the clustered ones, instead of those that the
    /// model keeps; a model of distances or affinities has none
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// Column of --data that names the rows
    #[arg(long, value_name = "NAME|INDEX", allow_negative_numbers = true, requires = "data")]
    pub(crate) id_column: Option<String>,
    /// Columns of --data to use, separated by commas [default: all but --id-column and --truth]
    #[arg(
        long,
        value_name = "A,B,...",
        value_delimiter = ',',
        allow_negative_numbers = true,
        requires = "data"
    )]
    pub(crate) columns: Option<Vec<String>>,
    /// Column of --data that holds known classes, which is left out
    #[arg(long, value_name = "NAME|INDEX", allow_negative_numbers = true, requires = "data")]
    pub(crate) truth: Option<String>,
    /// Height and width of samples that are grey images; 32x32t if pixels run down the columns [default: detected for
    /// squares]
    #[arg(long, value_name = "HxW")]
    pub(crate) image_shape: Option<ImageShape>,
    /// What to write
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ExplainFormat,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
