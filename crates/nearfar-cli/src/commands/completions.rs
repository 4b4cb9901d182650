//! `nearfar completions`: what a shell needs to complete flags.

use clap::CommandFactory;

use crate::exit::Outcome;
use crate::flags::{Cli, CompletionsArgs};
use crate::output::write_stdout;

pub(crate) fn run(args: &CompletionsArgs) -> Outcome {
    let mut bytes = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "nearfar", &mut bytes);
    write_stdout(|out| out.write_all(&bytes))
}
