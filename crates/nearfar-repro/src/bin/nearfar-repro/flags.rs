//! Every flag, defined once.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use nearfar_cli::program::CompletionsArgs;

const EXAMPLES: &str = "\
Examples:
  nearfar-repro table-clustering --data data -o results
  nearfar-repro figures --data data -o results
  nearfar-repro table-ablation --print > my-study.toml   edit it, then:
  nearfar-repro my-study.toml --data data -o mine

DIR holds the files and a datasets.toml: [[dataset]] with name, file, truth and, if you like, title, k, scale
and other input flags of `nearfar cluster`. Without it the paper's eight are looked for as NPZ files.
Every finished run is stored at once in runs.sqlite; the same command goes on where it was stopped.

Exit codes: 0 done; 2 wrong use or bad input; 3 refused for memory; 130 interrupted.";

/// The paper's tables and figures again, or a study of your own.
#[derive(Debug, Parser)]
#[command(name = "nearfar-repro", version, after_help = EXAMPLES, max_term_width = 100)]
#[command(arg_required_else_help = true, subcommand_negates_reqs = true, propagate_version = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) study: Option<StudyArgs>,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// No colours (also: set NO_COLOR)
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
}

/// What else to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show two studies side by side
    Compare(CompareArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man,
}

/// Flags of a study.
#[derive(Args, Debug)]
pub(crate) struct StudyArgs {
    /// table-datasets, table-clustering, table-ablation, table-orthogonality, table-aosymnmf, figures, all, a study's
    /// file, or the JSON of a finished table, which is written again in every form
    #[arg(value_name = "STUDY")]
    pub(crate) study: String,
    /// JSONs of more finished tables, to be put together with the first: other rows, or other datasets
    #[arg(value_name = "TABLE.json")]
    pub(crate) more: Vec<String>,
    /// Folder of the datasets
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub(crate) data: PathBuf,
    /// Folder of the results
    #[arg(short, long, value_name = "DIR", default_value = "repro")]
    pub(crate) out_dir: PathBuf,
    /// Only these datasets
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub(crate) only: Option<Vec<String>>,
    /// Only these rows of the study
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub(crate) rows: Option<Vec<String>>,
    /// Seeds of the chosen setting
    #[arg(long, value_name = "N")]
    pub(crate) starts: Option<u64>,
    /// Seeds per setting of a grid
    #[arg(long, value_name = "N")]
    pub(crate) screen: Option<u64>,
    /// Take every Nth value of each axis of the grids; said in the result
    #[arg(long, value_name = "N")]
    pub(crate) thin: Option<usize>,
    /// Runs side by side [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Print the study's file and run nothing
    #[arg(long)]
    pub(crate) print: bool,
    /// Nothing but errors on stderr
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Flags of `compare`.
#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// A study's JSON file, or a folder of them
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// Another one
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
}
