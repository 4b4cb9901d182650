//! The flags of the input.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::values::{Delimiter, InputKind, MetricName, Scale, Size};

/// The data.
#[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
#[command(next_help_heading = "Input")]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct InputArgs {
    /// File of points, one per row (CSV, TSV, text, NPY, NPZ, MAT, Parquet, Arrow; .gz text too); - reads stdin
    #[arg(value_name = "INPUT", help_heading = None::<&str>)]
    pub(crate) input: Option<String>,
    /// What INPUT holds [default: samples]
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) input_kind: Option<InputKind>,
    /// Format of INPUT, if its name does not show it: csv, tsv, text, npy, npz, mat, parquet or arrow
    #[arg(long)]
    pub(crate) format: Option<String>,
    /// The array of an NPZ or MAT file that holds the data
    #[arg(long, value_name = "NAME")]
    pub(crate) array: Option<String>,
    /// The known classes, which no method sees and the summary scores: a column by name or index (-1 is the last), an
    /// array of an NPZ or MAT file, or a file
    #[arg(long, value_name = "NAME|INDEX|FILE", allow_negative_numbers = true)]
    pub(crate) truth: Option<String>,
    /// Column of row names, copied to the output
    #[arg(long, value_name = "NAME|INDEX", allow_negative_numbers = true)]
    pub(crate) id_column: Option<String>,
    /// Columns to use, by name or index, separated by commas [default: all but --truth and --id-column]
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', allow_negative_numbers = true)]
    pub(crate) columns: Option<Vec<String>>,
    /// The first line of a text file holds names [default: detected]
    #[arg(long, overrides_with = "no_header")]
    pub(crate) header: bool,
    /// The first line of a text file holds data [default: detected]
    #[arg(long, overrides_with = "header")]
    pub(crate) no_header: bool,
    /// Separator of cells: one character, "tab" or "space" [default: detected]
    #[arg(long, value_name = "CHAR", allow_hyphen_values = true)]
    pub(crate) delimiter: Option<Delimiter>,
    /// Maximum size that INPUT may have or unpack to, such as 4G [default: 100 times its size, at least 256M]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_bytes: Option<Size>,
    /// Rescale first: columns to mean 0 and deviation 1 (standard) or to 0..1 (minmax), rows to length 1 (unit)
    #[arg(long, value_enum)]
    pub(crate) scale: Option<Scale>,
    /// Distance between points [default: euclidean]
    #[arg(long, value_enum)]
    pub(crate) metric: Option<MetricName>,
}
