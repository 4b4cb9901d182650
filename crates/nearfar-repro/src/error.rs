//! What can go wrong, with the place it happened.

use std::path::{Path, PathBuf};

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A study or a manifest does not say what it must.
    #[error("{file}: {problem}")]
    Wrong {
        /// The file, or the name of a built-in one.
        file: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A file cannot be read or written.
    #[error("{} cannot be used: {source}", path.display())]
    File {
        /// Its name.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The store of runs is damaged, of another program, or in use.
    #[error("{}: {problem}", path.display())]
    Store {
        /// Its name.
        path: PathBuf,
        /// What is wrong and what to try.
        problem: String,
    },
    /// A run failed.
    #[error("{dataset}, {row}: {source}")]
    Run {
        /// The dataset.
        dataset: String,
        /// The row of the table.
        row: String,
        /// Why.
        source: Box<nearfar::Error>,
    },
    /// The caller's part failed: reading data, or settings that are not allowed.
    #[error("{0}")]
    Host(String),
    /// A figure cannot be drawn.
    #[error("figure {name}: {problem}")]
    Figure {
        /// Its name.
        name: String,
        /// Why.
        problem: String,
    },
    /// Asked to stop; what was finished is stored.
    #[error("stopped; {finished} runs are stored, the same command goes on from there")]
    Stopped {
        /// Runs in the store.
        finished: usize,
    },
}

impl Error {
    pub(crate) fn wrong(file: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Wrong { file: file.into(), problem: problem.into() }
    }

    pub(crate) fn run<'a>(dataset: &'a str, row: &'a str) -> impl Fn(nearfar::Error) -> Self + use<'a> {
        move |source| Self::Run { dataset: dataset.to_owned(), row: row.to_owned(), source: Box::new(source) }
    }

    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |source| Self::File { path: path.to_owned(), source }
    }
}
