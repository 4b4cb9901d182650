//! `nearfar repro`, which studies were once run by: where they are run now.

use crate::exit::Failure;
use crate::flags::ReproArgs;
use crate::run::data::shell_word;

/// The command that does what was asked for.
pub(crate) fn moved(args: &ReproArgs) -> Failure {
    let words: Vec<String> = args.words.iter().map(|word| shell_word(&word.to_string_lossy())).collect();
    let words = if words.is_empty() { "--help".to_owned() } else { words.join(" ") };
    Failure::wrong(format!(
        "the paper's tables and figures, and studies of your own, have a program of their own, nearfar-repro; \
         it takes the same flags and goes on with the same stores. Build and run it with:\n  \
         cargo run --release -p nearfar-repro -- {words}"
    ))
}
