//! Who works on a run: one process, or several that hold a share of the rows each and run the same program in step.
//!
//! Small state (V, weights, labels, the embedding) is the same in every process; samples, neighbours, pairs and
//! graphs are split by rows. Rows are split at multiples of `unit`, which depends on n alone, and partial sums are
//! made by units and added in their order: the same bits for any number of processes. [`Communicator`] is all that a means
//! of communication has to offer; [`Team`] keeps the processes in step, and [`Share`] knows whose rows are whose.
//!
//! A wish to stop reaches every process at the same place of the program: it is handed round by [`Team::agree`],
//! and between two such calls every process gives the same answer to whoever asks (`InStep`).

mod share;
mod team;

use crate::observe::{Event, Observer};

pub use share::Share;
use team::{ENOUGH, STOP};
pub use team::{Tally, Team, TeamReport};

/// Rows of one block; sums over rows are made by blocks of so many, or of a multiple of it.
pub(crate) const BLOCK: usize = 512;
/// Most units that rows are split into.
const MOST_UNITS: usize = 256;

/// Rows that always stay together in one process: a whole number of blocks, so that there are at most 256 units.
pub(crate) fn unit(n: usize) -> usize {
    BLOCK * n.div_ceil(BLOCK).div_ceil(MOST_UNITS).max(1)
}

/// A means of communication between processes of which each calls the same operations in the same order. Whatever
/// goes wrong ends the program: there is nothing sensible to go on with.
pub trait Communicator: std::fmt::Debug + Send + Sync {
    /// Number of processes.
    fn size(&self) -> usize;

    /// Number of this process, from 0.
    fn rank(&self) -> usize;

    /// Everybody gets what everybody hands in, in the order of ranks; process p hands in `lengths[p]` bytes.
    fn gather(&self, mine: &[u8], lengths: &[usize], all: &mut [u8]);

    /// `lengths[p]` bytes of `mine` go to process p, one after the other; `theirs[p]` bytes come from it.
    fn exchange(&self, mine: &[u8], lengths: &[usize], theirs: &[usize], all: &mut [u8]);

    /// `mine` goes to the next process (the last one's to the first), `theirs` comes from the one before.
    fn pass(&self, mine: &[u8], theirs: &mut [u8]);
}

/// One process, on its own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Alone;

impl Communicator for Alone {
    fn size(&self) -> usize {
        1
    }

    fn rank(&self) -> usize {
        0
    }

    fn gather(&self, mine: &[u8], _lengths: &[usize], all: &mut [u8]) {
        all.copy_from_slice(mine);
    }

    fn exchange(&self, mine: &[u8], _lengths: &[usize], _theirs: &[usize], all: &mut [u8]) {
        all.copy_from_slice(mine);
    }

    fn pass(&self, mine: &[u8], theirs: &mut [u8]) {
        theirs.copy_from_slice(mine);
    }
}

/// Watches for one process of a team: wishes to stop count when all have agreed on them.
pub(crate) struct InStep<'a> {
    pub(crate) inner: &'a dyn Observer,
    pub(crate) team: &'a Team,
}

impl Observer for InStep<'_> {
    fn notice(&self, event: &Event<'_>) {
        self.inner.notice(event);
    }

    fn cancelled(&self) -> bool {
        if self.inner.cancelled() {
            self.team.wish(STOP);
        }
        self.team.agreed(STOP)
    }

    /// The loop asks once per iteration, in all processes at the same place: the place where wishes are handed round.
    fn enough(&self) -> bool {
        if self.inner.cancelled() {
            self.team.wish(STOP);
        } else if self.inner.enough() {
            self.team.wish(ENOUGH);
        }
        self.team.agree();
        self.team.agreed(ENOUGH)
    }
}

/// Processes played by threads, of the testkit, which cannot be a dependency of the library's own tests.
#[cfg(test)]
#[path = "../../../nearfar-testkit/src/threads.rs"]
#[allow(unreachable_pub)]
pub(crate) mod threads;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gathered_within_some_room_is_what_is_gathered() {
        for size in [1, 2, 3, 5] {
            let counts = |rank: usize| [7, 0, 30, 1, 12][rank];
            threads::as_team(size, |team| {
                let mine: Vec<[u32; 3]> =
                    (0..counts(team.rank()) as u32).map(|i| [i, team.rank() as u32, 9]).collect();
                let (all, _) = team.gather("all", &mine);
                for room in [0, 1, 7, 12, 29, 30, 100] {
                    let longest = (0..size).map(counts).max().unwrap();
                    assert_eq!(team.gather_within("within", &mine, room), (all.clone(), longest), "{room}");
                }
            });
        }
    }

    #[test]
    fn every_row_has_one_owner_and_blocks_stay_whole() {
        for n in [1_usize, 511, 512, 513, 5000, 131_072, 131_073, 1_000_000] {
            assert!(n.div_ceil(unit(n)) <= MOST_UNITS);
            let share = Share::alone(n);
            assert_eq!((share.rows(), share.first_block()), (0..n, 0));
            assert!((0..n).step_by(997).all(|i| share.owner(i) == 0));
        }
    }
}
