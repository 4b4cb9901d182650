//! Every flag, defined once.

mod explain;
mod input;
mod labels;
mod learn;
mod output;
mod refine;
mod values;

pub(crate) use explain::{ExplainArgs, ExplainFormat};
pub(crate) use input::InputArgs;
pub(crate) use labels::LabelArgs;
pub(crate) use learn::LearnArgs;
pub(crate) use output::OutputArgs;
pub(crate) use refine::{DriftArgs, MergeArgs, RenameArgs, SplitArgs};
pub(crate) use values::{Clusters, ExportedGraph, InputKind, MethodName, MetricName, ProgressKind, Scale};

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use serde::{Deserialize, Serialize};

use crate::exit::EXIT_CODES;
use crate::program::CompletionsArgs;

/// The text shown without arguments.
pub(crate) const SHORT_HELP: &str = "\
nearfar groups points into clusters, learning which neighbours to trust.
It reads CSV, NPY, NPZ, MAT, Parquet and Arrow files; `nearfar --help` lists all commands.

  nearfar demo                                  see it work on made-up data
  nearfar cluster data.csv -o labels.csv        cluster your own data (-k 3: into three)";

/// Clustering that learns which neighbours to trust.
#[derive(Debug, Parser)]
#[command(name = "nearfar", version, after_help = EXIT_CODES, max_term_width = 100)]
#[command(subcommand_required = true, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Do not use colours (or set NO_COLOR)
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Cluster a file of points: labels on stdout, a summary on stderr
    Cluster(Box<ClusterArgs>),
    /// Assign new points to the clusters of a saved model
    Predict(Box<PredictArgs>),
    /// Divide the points of a saved model into another number of clusters, without learning again
    Relabel(RelabelArgs),
    /// Join clusters of a saved model into one
    Merge(MergeArgs),
    /// Divide a cluster of a saved model in two, by its tree
    Split(SplitArgs),
    /// Name the clusters of a saved model
    Rename(RenameArgs),
    /// Tell how well new points fit a saved model, and which clusters grew or shrank
    Drift(Box<DriftArgs>),
    /// Say what the clusters are: marks, rules, typical rows, how sure
    Explain(ExplainArgs),
    /// Compare labels with a known truth
    Score(ScoreArgs),
    /// Generate a dataset with known classes
    Make(MakeArgs),
    /// Show the method on generated data, beside k-means and spectral clustering
    Demo(DemoArgs),
    /// List the methods, or explain one
    Methods(MethodsArgs),
    /// Write the report of a finished run as an HTML page
    Report(ReportArgs),
    /// Show two runs side by side
    Compare(CompareArgs),
    /// Estimate the memory and time of a run
    Plan(Box<PlanArgs>),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
}

const CLUSTER_EXAMPLES: &str = "\
Examples:
  nearfar cluster data.csv -o labels.csv
  nearfar cluster data.csv -k 3 --confidence --noise 5% -o labels.csv
  nearfar cluster seeds.csv -k 3 --truth class --scale standard -o labels.csv
  nearfar cluster faces.npz -k 40 --truth y --out-dir run --report faces.html
  nearfar cluster --config run/settings.toml --seed 7 -o labels.csv
  nearfar cluster chart.csv -k 6 --preset paper

Every long flag is also a key of the settings file (--config). Flags override the file.";

/// Flags of `cluster`; also the keys of a settings file.
#[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
#[command(after_help = CLUSTER_EXAMPLES)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct ClusterArgs {
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) learn: LearnArgs,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) labels: LabelArgs,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) output: OutputArgs,
}

const PREDICT_EXAMPLES: &str = "\
Examples:
  nearfar cluster data.csv -k 3 --save-model data.nearfar -o labels.csv
  nearfar predict data.nearfar new.csv -o new-labels.csv
  nearfar predict data.nearfar new.csv --truth class
  nearfar predict data.nearfar new.csv --confidence --reject 1% -o new-labels.csv

Columns are matched by name, in any order; what else the file holds is left alone.";

/// Flags of `predict`.
#[derive(Args, Debug)]
#[command(after_help = PREDICT_EXAMPLES)]
pub(crate) struct PredictArgs {
    /// Model written by `nearfar cluster --save-model` or by save() in Python
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Also write how sure every label is, from 0 to 1, and the next best cluster
    #[arg(long)]
    pub(crate) confidence: bool,
    /// Also write how far out every point lies, from 0 to 1: 0.5 is twice as far from its neighbours as is usual in its
    /// cluster
    #[arg(long)]
    pub(crate) outlier_scores: bool,
    /// Label points -1 that lie farther out than all but this share of the training points: 1% or 0.01
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, conflicts_with = "reject_above")]
    pub(crate) reject: Option<values::Portion>,
    /// Label points -1 whose outlier score is above this
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    pub(crate) reject_above: Option<f64>,
    /// Write the labels to this file instead of stdout (.csv, .txt, .npy or .json)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

const RELABEL_EXAMPLES: &str = "\
Examples:
  nearfar cluster data.csv --save-model data.nearfar -o labels.csv
  nearfar relabel data.nearfar -k 12 -o twelve.csv

The numbers of clusters are nested: two points that share a cluster of twelve also share one of five.";

/// Flags of `relabel`.
#[derive(Args, Debug)]
#[command(after_help = RELABEL_EXAMPLES)]
pub(crate) struct RelabelArgs {
    /// Model of the method nearfar, written by `nearfar cluster --save-model` or by save() in Python
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Number of clusters
    #[arg(short = 'k', long, value_name = "K", value_parser = values::level)]
    pub(crate) clusters: usize,
    /// Write the labels to this file instead of stdout (.csv, .txt, .npy or .json)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Flags of `score`.
#[derive(Args, Debug)]
pub(crate) struct ScoreArgs {
    /// File of labels: one per line, a table with a column of them, or an NPY, NPZ or MAT array
    #[arg(value_name = "LABELS")]
    pub(crate) labels: PathBuf,
    /// File of the true classes
    #[arg(value_name = "TRUTH")]
    pub(crate) truth: PathBuf,
    /// Column or array of LABELS
    #[arg(long, value_name = "NAME", allow_negative_numbers = true)]
    pub(crate) labels_column: Option<String>,
    /// Column or array of TRUTH
    #[arg(long, value_name = "NAME", allow_negative_numbers = true)]
    pub(crate) truth_column: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `make`.
#[derive(Args, Debug)]
pub(crate) struct MakeArgs {
    /// The kind of data; --list shows them all
    #[arg(value_parser = PossibleValuesParser::new(nearfar::generate::Kind::names()))]
    #[arg(required_unless_present = "list", hide_possible_values = true)]
    pub(crate) kind: Option<String>,
    /// List the kinds
    #[arg(long)]
    pub(crate) list: bool,
    /// Number of points
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) points: Option<usize>,
    /// Number of features, for kinds with this choice
    #[arg(long, value_name = "M")]
    pub(crate) features: Option<usize>,
    /// Number of clusters, for kinds with this choice
    #[arg(short = 'k', long, value_name = "K")]
    pub(crate) clusters: Option<usize>,
    /// Noise, or width of the clusters
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) noise: Option<f64>,
    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Where to write: .csv (with a column "truth"), .npz (X and y) or .npy (points only) [default: CSV on stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Flags of `demo`.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Draw with ASCII characters only
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Also draw weights.svg and moons.svg into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) figures: Option<PathBuf>,
    #[arg(from_global)]
    pub(crate) no_color: bool,
}

/// Flags of `methods`.
#[derive(Args, Debug)]
pub(crate) struct MethodsArgs {
    /// The method to explain
    #[arg(value_parser = MethodName::parser(), hide_possible_values = true)]
    pub(crate) name: Option<MethodName>,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  nearfar cluster data.csv -k 3 --out-dir run
  nearfar report run
  nearfar report run -o data.html

The same run always gives the same page.";

/// Flags of `report`.
#[derive(Args, Debug)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct ReportArgs {
    /// A run folder (`nearfar cluster --out-dir`)
    #[arg(value_name = "RUN_DIR")]
    pub(crate) run: PathBuf,
    /// Where to write the page [default: report.html in RUN_DIR]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Flags of `compare`.
#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// A run folder (`nearfar cluster --out-dir`)
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// Another one
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Also write a page to look at in a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

/// Flags of `plan`.
#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// Number of points, such as 100000 or 1e8
    #[arg(short = 'n', long, value_name = "N", value_parser = values::count)]
    pub(crate) points: usize,
    /// Number of features; 0 for pairs, which need exact mode
    #[arg(long, value_name = "M", default_value_t = 64)]
    pub(crate) features: usize,
    /// Number of processes that share the points under mpirun; memory and time are then per process
    #[arg(long, value_name = "RANKS")]
    pub(crate) ranks: Option<usize>,
    /// Latency of a message between ranks, such as 2us or 0.1ms
    #[arg(long, value_name = "TIME", requires = "ranks", value_parser = values::seconds, default_value = "2us")]
    pub(crate) latency: f64,
    /// Bandwidth of a rank, such as 10GB/s or 1Gbit/s
    #[arg(long, value_name = "RATE", requires = "ranks", value_parser = values::rate, default_value = "5GB/s")]
    pub(crate) bandwidth: f64,
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `man`.
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// The command whose page is printed, instead of the program's
    #[arg(value_parser = PossibleValuesParser::new(["cluster", "predict", "relabel", "merge", "split", "rename", "drift", "explain", "score", "make", "demo", "methods", "report", "compare", "plan", "completions", "man"]))]
    pub(crate) command: Option<String>,
}
