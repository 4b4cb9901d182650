//! The `nearfar` program: files in, labels out.
//!
//! Flags are defined once, in `flags`, and give parsing, help, completions, the man page and the keys of `--config`.
//! `commands` holds one file per command; what they share stands beside them.

#![allow(clippy::format_push_string, reason = "the texts built here are a screen long at most")]

mod commands;
mod exit;
mod flags;
mod interrupt;
mod output;
mod paint;
mod ranks;
mod run;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use clap::{ColorChoice, CommandFactory, FromArgMatches};

use exit::{Exit, Failure, Outcome};
use flags::{Cli, Command};
use paint::{Paint, say, say_aloud};

/// Large matrices on huge pages: fewer traps on the way in, fewer misses in the products.
#[global_allocator]
static ALLOCATOR: nearfar_pages::HugePages = nearfar_pages::HugePages;

/// Where the last panic happened; shown only when nothing caught it.
static FAULT: Mutex<String> = Mutex::new(String::new());

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        *FAULT.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string();
    }));
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let no_color = arguments.iter().any(|argument| argument == "--no-color");
    let paint = Paint::for_stderr(no_color);
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
    let outcome = catch_unwind(AssertUnwindSafe(|| start(arguments, no_color))).unwrap_or_else(|_| {
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

fn start(arguments: Vec<std::ffi::OsString>, no_color: bool) -> Outcome {
    if arguments.len() < 2 {
        say(format_args!("{}", flags::SHORT_HELP));
        return Err(Failure::silent(Exit::Wrong));
    }
    let color = if no_color { ColorChoice::Never } else { ColorChoice::Auto };
    let parsed = Cli::command()
        .color(color)
        .try_get_matches_from(arguments)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way too; their code is 0.
            let exit = if error.exit_code() == 0 { Exit::Done } else { Exit::Wrong };
            if !ranks::silent() {
                let _ = error.print();
            }
            return Err(Failure::silent(exit));
        }
    };
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
        Command::Repro(args) => commands::repro::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Plan(args) => commands::plan::run(&args),
        Command::Predict(args) => commands::predict::run(*args),
        Command::Relabel(args) => commands::relabel::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
    }
}
