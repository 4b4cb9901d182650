//! `nearfar man`: the manual page, as roff.

use clap::CommandFactory;

use crate::exit::Outcome;
use crate::flags::{Cli, ManArgs};
use crate::program;

pub(crate) fn run(args: &ManArgs) -> Outcome {
    let mut nearfar = Cli::command();
    nearfar.build();
    program::manual(match &args.command {
        Some(name) => nearfar.find_subcommand(name).cloned().unwrap_or(nearfar).flatten_help(false),
        None => nearfar,
    })
}
