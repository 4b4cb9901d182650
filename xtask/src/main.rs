//! Development tasks of nearfar: the long measurements, one named command each.

mod clock;
mod data;
mod limit;
mod mt19937;
mod reference;
mod study;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Time every stage beside the NumPy port, same data, start and threads, and print ratios.
    BenchReference {
        /// Datasets to run.
        #[arg(default_values = ["orl", "coil20", "mnist-2000"])]
        names: Vec<String>,
        /// Folder with the datasets.
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
        /// Folder with bench_reference.py and oracle.py.
        #[arg(long, default_value = "../shared/reference")]
        reference: PathBuf,
        /// A Python with numpy and scipy.
        #[arg(long, default_value = "python3")]
        python: String,
        /// Threads of both programs.
        #[arg(long, default_value_t = 1)]
        threads: usize,
    },
    /// Compare variants of the default settings over the eight datasets (docs/defaults.md).
    Study {
        /// Folder with the datasets.
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
        /// Seeds per variant and dataset.
        #[arg(long, default_value_t = 2)]
        repeats: u64,
        /// Only variants whose name contains this.
        #[arg(long, default_value = "")]
        only: String,
    },
}

fn main() -> Result<()> {
    match Cli::parse().task {
        Task::BenchReference { names, data, reference, python, threads } => {
            reference::bench(&data, &reference, &python, &names, threads)
        }
        Task::Study { data, repeats, only } => study::run(&data, repeats, &only),
    }
}
