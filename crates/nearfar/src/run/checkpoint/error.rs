//! Why a checkpoint was refused.

use super::MANIFEST;

/// Why a checkpoint was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file system said no.
    #[error("{folder}: the checkpoint cannot be {verb}: {source}; choose another folder")]
    Io {
        /// The folder.
        folder: String,
        /// `read`, `written` or `removed`.
        verb: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// A run that was not to be resumed would write over a checkpoint.
    #[error(
        "{folder}: the folder holds the checkpoint of a run of {n_samples} points; go on with it (`resume`), choose another folder, or delete the nearfar-* files in it"
    )]
    Taken {
        /// The folder.
        folder: String,
        /// Points of that run, as its manifest has them.
        n_samples: String,
    },
    /// Other data, other settings or another program.
    #[error(
        "{folder}: the checkpoint is of another run: {differences}; give the same data and settings, choose another folder, or delete the nearfar-* files in it"
    )]
    OtherRun {
        /// The folder.
        folder: String,
        /// What differs, in words.
        differences: String,
    },
    /// A manifest that is cut short, altered or of another version.
    #[error(
        "{folder}: {MANIFEST} cannot be used ({reason}); delete the nearfar-* files in the folder and start again"
    )]
    Manifest {
        /// The folder.
        folder: String,
        /// What does not hold.
        reason: String,
    },
    /// A process that was started with other data or settings than the first.
    #[error(
        "rank {rank} has other data or settings than rank 0: {differences}; give the same to all of them"
    )]
    OtherRank {
        /// Its number, from 0.
        rank: usize,
        /// What differs, in words.
        differences: String,
    },
    /// A process that looks into another folder than the first, under the same name.
    #[error(
        "{folder}: rank {rank} does not find there what rank 0 has written; choose a folder that all machines share"
    )]
    NotShared {
        /// The folder.
        folder: String,
        /// Its number, from 0.
        rank: usize,
    },
    /// What the first process was refused for, as the others tell it.
    #[error("{message}")]
    First {
        /// The message of the first process.
        message: String,
    },
}
