//! `nearfar completions`: what a shell needs to complete flags.

use clap::CommandFactory;

use crate::exit::Outcome;
use crate::flags::{Cli, CompletionsArgs};
use crate::program;

pub(crate) fn run(args: &CompletionsArgs) -> Outcome {
    program::completions(args.shell, Cli::command())
}
