//! The `nearfar-repro` program: studies in, tables and figures out.
//!
//! It has the heavy parts of the project that clustering does without: a database, fonts and pictures. What any
//! program needs it takes of `nearfar-cli`.

#![allow(clippy::format_push_string, reason = "the texts built here are a screen long at most")]

mod compare;
mod flags;
mod host;
mod study;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory;
use nearfar_cli::exit::{Failure, Outcome};
use nearfar_cli::program;

use flags::{Cli, Command};

fn main() -> ExitCode {
    program::run(start)
}

fn start(arguments: Vec<OsString>) -> Outcome {
    let cli: Cli = program::parse(arguments)?;
    if program::is_idle() {
        return Ok(());
    }
    match (cli.command, cli.study) {
        (Some(Command::Compare(args)), None) => compare::run(&args),
        (Some(Command::Completions(args)), None) => program::completions(&args, Cli::command()),
        (Some(Command::Man), None) => program::manual(Cli::command()),
        (None, Some(args)) => study::run(&args),
        _ => Err(Failure::wrong("say a study or a command, as nearfar-repro --help shows")),
    }
}
