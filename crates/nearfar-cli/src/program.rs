//! How a program begins and ends: its words, other processes, faults, exit codes; and what it tells of its flags.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use clap::{Args, ColorChoice, Command, CommandFactory, FromArgMatches};
use clap_complete::Shell;

use crate::exit::{Exit, Failure, Outcome};
use crate::output::write_stdout;
use crate::paint::{Paint, say, say_aloud};
use crate::ranks;

/// Where the last panic happened; shown only when nothing caught it.
static FAULT: Mutex<String> = Mutex::new(String::new());

/// Run a program on its arguments, name first, to its end: a failure is told on the error stream, a panic as a fault,
/// and of several processes that `mpirun` started all end together.
pub fn run(start: impl FnOnce(Vec<OsString>) -> Outcome) -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        *FAULT.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string();
    }));
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let paint = Paint::for_stderr(no_color(&arguments));
    let complain = |message: String| say_aloud(format_args!("{} {message}", paint.bad("error:")));
    let all_ranks = arguments.iter().any(|argument| argument == "--all-ranks");
    let ranks = match ranks::join(all_ranks) {
        Ok(ranks) => ranks,
        Err(failure) => {
            if !failure.message.is_empty() {
                complain(failure.message);
            }
            return failure.exit.into();
        }
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| start(arguments))).unwrap_or_else(|_| {
        let fault = FAULT.lock().unwrap_or_else(PoisonError::into_inner).replace('\n', " ");
        let message =
            format!("a fault of nearfar itself ({fault}); please report it with the command you ran");
        Err(Failure { of_this_rank: true, ..Failure::new(Exit::Fault, message) })
    });
    match outcome {
        Ok(()) => Exit::Done.into(),
        Err(failure) => {
            ranks.fail(&failure, complain);
            if !failure.message.is_empty() {
                say(format_args!("{} {}", paint.bad("error:"), failure.message));
            }
            failure.exit.into()
        }
    }
}

fn no_color(arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| argument == "--no-color")
}

/// The arguments as flags; what is wrong with them has been printed.
///
/// # Errors
/// Nothing is left to say: the failure is silent, also where help or the version was asked for.
pub fn parse<P: CommandFactory + FromArgMatches>(arguments: Vec<OsString>) -> Outcome<P> {
    let color = if no_color(&arguments) { ColorChoice::Never } else { ColorChoice::Auto };
    let parsed = P::command()
        .color(color)
        .try_get_matches_from(arguments)
        .and_then(|matches| P::from_arg_matches(&matches));
    parsed.map_err(|error| {
        // Help and version come this way too; their code is 0.
        let exit = if error.exit_code() == 0 { Exit::Done } else { Exit::Wrong };
        if !ranks::silent() {
            let _ = error.print();
        }
        Failure::silent(exit)
    })
}

/// Whether another process does what one alone can do, where `mpirun` started several.
pub fn is_idle() -> bool {
    ranks::silent()
}

/// Flags of `completions`, of both programs.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Print what a shell needs to complete the flags of a program.
///
/// # Errors
/// When stdout cannot be written.
pub fn completions(args: &CompletionsArgs, mut program: Command) -> Outcome {
    let name = program.get_name().to_owned();
    let mut bytes = Vec::new();
    clap_complete::generate(args.shell, &mut program, name, &mut bytes);
    write_stdout(|out| out.write_all(&bytes))
}

/// Print the manual page of a program or of one of its commands, as roff.
///
/// # Errors
/// When stdout cannot be written.
pub fn manual(page: Command) -> Outcome {
    let mut bytes = Vec::new();
    let made = clap_mangen::Man::new(page).render(&mut bytes);
    write_stdout(|out| made.and_then(|()| out.write_all(&bytes)))
}
