//! The `nearfar` program: files in, labels out.
//!
//! Flags are defined once, in `flags`, and give parsing, help, completions, the man page and the keys of `--config`.
//! `commands` holds one file per command; what they share stands beside them.
//!
//! What is public is what a program beside this one needs too (`nearfar-repro`): how a program begins and ends, its
//! outputs, its lines on the error stream, Ctrl-C, and data and settings that are named by keys.

#![allow(clippy::format_push_string, reason = "the texts built here are a screen long at most")]

mod commands;
pub mod exit;
mod flags;
pub mod interrupt;
pub mod keys;
pub mod output;
pub mod paint;
pub mod program;
mod ranks;
mod run;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory;

use exit::{Exit, Failure, Outcome};
use flags::{Cli, Command};
use paint::say;

/// Large matrices on huge pages: fewer traps on the way in, fewer misses in the products.
#[global_allocator]
static ALLOCATOR: nearfar_pages::HugePages = nearfar_pages::HugePages;

/// The `nearfar` program as a whole.
pub fn main() -> ExitCode {
    program::run(start)
}

fn start(arguments: Vec<OsString>) -> Outcome {
    if arguments.len() < 2 {
        say(format_args!("{}", flags::SHORT_HELP));
        return Err(Failure::silent(Exit::Wrong));
    }
    let mut words = arguments.iter().skip(1).skip_while(|word| *word == "--no-color");
    if words.next().is_some_and(|word| word == "repro") {
        return Err(commands::repro::moved(words));
    }
    let cli: Cli = program::parse(arguments)?;
    // Of several processes all cluster together, but those that stand by; whatever else is asked for, one does. The
    // others wait for MPI's end, asleep.
    if ranks::stands_by() || ranks::silent() && !matches!(cli.command, Command::Cluster(_)) {
        return Ok(());
    }
    match cli.command {
        Command::Cluster(args) => commands::cluster::run(*args),
        Command::Score(args) => commands::score::run(&args),
        Command::Make(args) => commands::make::run(&args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Methods(args) => commands::methods::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Plan(args) => commands::plan::run(&args),
        Command::Predict(args) => commands::predict::run(*args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Merge(args) => commands::refine::merge(&args),
        Command::Split(args) => commands::refine::split(&args),
        Command::Rename(args) => commands::refine::rename(&args),
        Command::Drift(args) => commands::drift::run(*args),
        Command::Relabel(args) => commands::relabel::run(&args),
        Command::Completions(args) => program::completions(&args, Cli::command()),
        Command::Man(args) => commands::man::run(&args),
    }
}
