//! Development tasks of nearfar: the long measurements, one named command each.

mod data;
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
        Task::Study { data, repeats, only } => study::run(&data, repeats, &only),
    }
}
