//! The flags of the output.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};

use super::values::{ExportedGraph, ImageShape, Pause, ProgressKind};

/// The outputs.
#[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
#[command(next_help_heading = "Output")]
#[serde(default, rename_all = "kebab-case")]
#[allow(clippy::struct_excessive_bools, reason = "one per switch on the command line")]
pub(crate) struct OutputArgs {
    /// Write the labels to this file instead of stdout (.csv, .txt, .npy or .json)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write everything into this folder instead: labels, weights, memberships, tree, trace, members, factor and
    /// embedding if there are any, summary, settings, and the record that `nearfar report` draws
    #[arg(long, value_name = "DIR")]
    pub(crate) out_dir: Option<PathBuf>,
    /// Write a page to look at in a browser (.html): the answer, the points, every stage, all numbers
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Height and width of samples that are grey images, which the report then shows; 32x32t if pixels run down the
    /// columns [default: detected for squares]
    #[arg(long, value_name = "HxW")]
    pub(crate) image_shape: Option<ImageShape>,
    /// Save the model to this file (.nearfar), for `nearfar predict` and for nearfar.load() in Python
    #[arg(long, value_name = "FILE")]
    pub(crate) save_model: Option<PathBuf>,
    /// Write a learnt graph as an edge list (CSV: i, j, value; every pair once); several graphs go to separate files:
    /// g.csv gives g-s.csv, g-d.csv, g-z.csv
    #[arg(long, value_name = "FILE")]
    pub(crate) export_graph: Option<PathBuf>,
    /// Which graphs, separated by commas: s for the similarity; with lsdg also d for the dissimilarity and z for both
    /// merged with the factor [default: s]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "s,d,z", requires = "export_graph")]
    pub(crate) graph: Vec<ExportedGraph>,
    /// Save the run in this folder as it goes, so that --resume can continue it after a crash, a kill or Ctrl-C. The
    /// files are removed when the outputs are written. Under mpirun all ranks must share the folder. Only for the
    /// methods nearfar and lsdg
    #[arg(long, value_name = "DIR", help_heading = "Long runs")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Continue from the folder of --checkpoint, to the same labels as an unbroken run, with any number of threads and
    /// ranks; if the folder is empty, start from the beginning
    #[arg(long, help_heading = "Long runs")]
    pub(crate) resume: bool,
    /// How often a running start is saved, such as 30s, 5m or 1h; 0 saves every iteration [default: 60s]
    #[arg(long, value_name = "TIME", help_heading = "Long runs")]
    pub(crate) checkpoint_every: Option<Pause>,
    /// Read settings from this file; flags win
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,
    /// Read the data, print the memory and time that the run would take, and stop
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Exit with 1 if the summary has any warning (not converged, unsettled, ...)
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print the summary, and the labels unless -o is given, as one JSON document on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Progress on stderr: bars on a terminal (auto), a JSON line per event, or none [default: auto]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) progress: Option<ProgressKind>,
    /// Under mpirun, let every rank work; by default, ranks without a processor of their own stand by
    #[arg(long)]
    #[serde(skip)]
    pub(crate) all_ranks: bool,
    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Also print the settings and every start
    #[arg(short, long)]
    pub(crate) verbose: bool,
    #[arg(from_global)]
    #[serde(skip)]
    pub(crate) no_color: bool,
}

impl OutputArgs {
    /// The graphs to write, and where.
    pub(crate) fn graphs(&self) -> Vec<(ExportedGraph, PathBuf)> {
        let Some(path) = &self.export_graph else { return Vec::new() };
        match &self.graph[..] {
            [] => vec![(ExportedGraph::default(), path.clone())],
            [only] => vec![(*only, path.clone())],
            several => several.iter().map(|kind| (*kind, beside(path, *kind))).collect(),
        }
    }
}

/// `g.csv` becomes `g-s.csv`.
fn beside(path: &Path, kind: ExportedGraph) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{}", kind.letter()));
    let named = path.with_file_name(name);
    match path.extension() {
        // with_extension would replace whatever follows another dot in the name.
        Some(extension) => {
            let mut whole = named.into_os_string();
            whole.push(".");
            whole.push(extension);
            whole.into()
        }
        None => named,
    }
}
