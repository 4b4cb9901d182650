//! How the program ends: a code for scripts, a sentence for people.

use std::process::ExitCode;

use nearfar::internals::spell_settings;
use nearfar::load::LoadError;
use nearfar::{Error, ParamError};

/// Every exit code and its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Done, but a condition set by `--strict` does not hold.
    Strict = 1,
    /// Wrong use or bad input.
    Wrong = 2,
    /// Refused: the run would not fit in memory.
    Memory = 3,
    /// A fault of the program itself.
    Fault = 101,
    /// Stopped by Ctrl-C.
    Interrupted = 130,
}

/// The table of the help pages.
pub(crate) const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 done, but --strict found a warning; 2 wrong use or bad
input; 3 refused for memory; 130 interrupted.";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// A message of the library with its settings as flags.
pub(crate) fn in_flags(message: &str) -> String {
    spell_settings(message, |name| format!("--{}", name.replace('_', "-")))
}

/// Why a command did not end with [`Exit::Done`].
#[derive(Debug)]
pub struct Failure {
    /// The code it ends with.
    pub exit: Exit,
    /// What to print behind `error: `; nothing when empty.
    pub message: String,
    /// Whether it is about this process and not about the run, where there are several.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub(crate) of_this_rank: bool,
}

/// Result of a command.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// A failure of this code.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: in_flags(&message.into()), of_this_rank: false }
    }

    /// Wrong use or bad input.
    pub fn wrong(message: impl Into<String>) -> Self {
        Self::new(Exit::Wrong, message)
    }

    pub(crate) fn memory(message: impl Into<String>) -> Self {
        Self { of_this_rank: true, ..Self::new(Exit::Memory, message) }
    }

    pub(crate) fn silent(exit: Exit) -> Self {
        Self::new(exit, "")
    }

    /// An output that cannot be written. A reader that went away is no failure.
    pub fn output(name: &str, error: &std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::silent(Exit::Done);
        }
        Self::wrong(format!("{name} cannot be written: {error}; choose another place"))
    }
}

impl From<ParamError> for Failure {
    fn from(error: ParamError) -> Self {
        let ParamError { name, value, allowed } = &error;
        let flag = match *name {
            "n_clusters" => "-k".to_owned(),
            "n_samples" => "the number of points".to_owned(),
            "change_tol" => "--tol".to_owned(),
            "kind" => name.to_string(),
            other => format!("--{}", other.replace('_', "-")),
        };
        Self::wrong(format!("{flag} = {value} is not allowed: it must be {allowed}"))
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Self { of_this_rank: true, ..Self::wrong(error.to_string()) }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Param(error) => error.into(),
            Error::Memory { .. } => Self::memory(error.to_string()),
            Error::Cancelled { .. } => Self::new(Exit::Interrupted, error.to_string()),
            other => Self::wrong(other.to_string()),
        }
    }
}
