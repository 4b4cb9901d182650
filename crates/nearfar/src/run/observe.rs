//! What may watch a run: progress, iterations, and the wish to stop.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::learn::Member;
use crate::learn::trace::TraceRow;

/// The stages of the path, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Stage {
    /// Reading files.
    Load,
    /// Looking at the data in several scalings, and judging these.
    Views,
    /// Trying whether a plain mixture explains the data.
    Mixture,
    /// Ranking every point against every other, or finding its nearest.
    Neighbors,
    /// Affinities and normalised slices.
    Slices,
    /// Learning V, w and p.
    Learn,
    /// Putting members together.
    Consensus,
    /// Merging S, D and VVᵀ into Z.
    Augment,
    /// Leading eigenvectors of Z.
    Spectral,
    /// k-means on the embedding.
    Labels,
}

impl Stage {
    /// The word for this stage.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Views => "views",
            Self::Mixture => "mixture",
            Self::Neighbors => "neighbors",
            Self::Slices => "slices",
            Self::Learn => "learn",
            Self::Consensus => "consensus",
            Self::Augment => "augment",
            Self::Spectral => "spectral",
            Self::Labels => "labels",
        }
    }
}

/// Something that happened in a run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A stage began.
    Started {
        /// Which one.
        stage: Stage,
    },
    /// `done` more of `total` units of a stage are finished (rows, members).
    Progress {
        /// Which stage.
        stage: Stage,
        /// Units finished since the last such event.
        done: u64,
        /// Units in all.
        total: u64,
    },
    /// One iteration of the learner finished. A resumed run tells of those before it, too.
    Iteration {
        /// Which member of the consensus, from 0.
        member: usize,
        /// What it recorded.
        row: &'a TraceRow,
    },
    /// A start ended, or was stopped in the middle: the state of its last whole iteration.
    Member {
        /// Which member of the consensus, from 0.
        member: usize,
        /// What it learnt.
        state: &'a Member,
    },
    /// A checkpoint could not be written, or a part of it not be used; the run goes on without.
    Trouble {
        /// What happened, for people.
        message: &'a str,
    },
    /// A stage ended.
    Finished {
        /// Which one.
        stage: Stage,
        /// Wall-clock seconds it took.
        seconds: f64,
    },
}

/// A watcher; called from worker threads.
pub trait Observer: Sync {
    /// Something happened.
    fn notice(&self, _event: &Event<'_>) {}

    /// Whether the run should stop; asked often, so answer fast.
    fn cancelled(&self) -> bool {
        false
    }

    /// Whether enough is learnt: starts end where they stand, no further ones begin, and the labels are made of
    /// what there is. Asked once per iteration.
    fn enough(&self) -> bool {
        false
    }
}

/// A watcher that neither looks nor stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Passes on the wish to stop, and nothing else.
pub(crate) struct Quiet<'a>(pub(crate) &'a dyn Observer);

impl Observer for Quiet<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }

    fn enough(&self) -> bool {
        self.0.enough()
    }
}

/// Passes wishes to stop on and keeps quiet: for work of other stages on the way.
pub(crate) struct Unheard<'a>(pub(crate) &'a dyn Observer);

impl Observer for Unheard<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// Tells of the same stage done so many times as of one.
pub(crate) struct Repeated<'a> {
    pub(crate) inner: &'a dyn Observer,
    pub(crate) times: u64,
}

impl Observer for Repeated<'_> {
    fn notice(&self, event: &Event<'_>) {
        match *event {
            Event::Progress { stage, done, total } => {
                self.inner.notice(&Event::Progress { stage, done, total: total * self.times });
            }
            _ => self.inner.notice(event),
        }
    }

    fn cancelled(&self) -> bool {
        self.inner.cancelled()
    }

    fn enough(&self) -> bool {
        self.inner.enough()
    }
}

/// A flag that another thread may raise to stop a run.
#[derive(Debug, Default)]
pub struct CancelFlag(AtomicBool);

impl CancelFlag {
    /// Ask the run to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Observer for CancelFlag {
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// An error as soon as the observer wants to stop.
pub(crate) fn go_on(observer: &dyn Observer, stage: Stage) -> Result<()> {
    if observer.cancelled() { Err(Error::Cancelled { stage: stage.name() }) } else { Ok(()) }
}
