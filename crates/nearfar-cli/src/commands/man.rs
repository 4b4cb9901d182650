//! `nearfar man`: the manual page, as roff.

use clap::CommandFactory;

use crate::exit::Outcome;
use crate::flags::{Cli, ManArgs};
use crate::output::write_stdout;

pub(crate) fn run(args: &ManArgs) -> Outcome {
    let mut program = Cli::command();
    program.build();
    let page = match &args.command {
        Some(name) => program.find_subcommand(name).cloned().unwrap_or(program).flatten_help(false),
        None => program,
    };
    let mut bytes = Vec::new();
    let made = clap_mangen::Man::new(page).render(&mut bytes);
    write_stdout(|out| made.and_then(|()| out.write_all(&bytes)))
}
