//! Who works on a run: one process, or several that hold a share of the rows each and run the same program in step.
//!
//! Small state (V, weights, labels, the embedding) is the same in every process; samples, neighbours, pairs and
//! graphs are split by rows. Rows are split at multiples of `unit`, which depends on n alone, and partial sums are
//! made by units and added in their order: the same bits for any number of processes. [`Communicator`] is all that a means
//! of communication has to offer; [`Team`] keeps the processes in step, and [`Share`] knows whose rows are whose.
//!
//! A wish to stop reaches every process at the same place of the program: it is handed round by [`Team::agree`],
//! and between two such calls every process gives the same answer to whoever asks (`InStep`).

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bytemuck::Pod;

use crate::observe::{Event, Observer};
use crate::plan::peak_memory;

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
pub struct Alone;

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

/// What was sent for one purpose.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Tally {
    /// What for.
    pub what: &'static str,
    /// Collective operations.
    pub calls: u64,
    /// Bytes that this process received from others.
    pub bytes: u64,
    /// Seconds spent in them, waiting for others included.
    pub seconds: f64,
}

/// What working together cost.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TeamReport {
    /// Number of processes.
    pub ranks: usize,
    /// By purpose, the dearest first.
    pub collectives: Vec<Tally>,
    /// Seconds outside of collective operations, of every process.
    pub busy: Vec<f64>,
    /// The busiest process against the mean: 1 is perfect balance.
    pub imbalance: f64,
    /// The most memory that every process ever held; 0 where the system does not tell.
    pub peak: Vec<u64>,
}

/// Wishes, the stronger the larger.
const ENOUGH: u8 = 1;
const STOP: u8 = 2;

/// Processes in step.
#[derive(Debug)]
pub struct Team {
    communicator: Box<dyn Communicator>,
    /// What this process would like, and what all have agreed on.
    wish: AtomicU8,
    agreed: AtomicU8,
    tallies: Mutex<BTreeMap<&'static str, Tally>>,
    begun: Instant,
}

impl Team {
    /// These processes.
    pub fn new(communicator: Box<dyn Communicator>) -> Self {
        let (wish, agreed) = (AtomicU8::new(0), AtomicU8::new(0));
        Self { communicator, wish, agreed, tallies: Mutex::default(), begun: Instant::now() }
    }

    /// This process and no other.
    pub fn alone() -> Self {
        Self::new(Box::new(Alone))
    }

    /// Number of processes.
    pub fn size(&self) -> usize {
        self.communicator.size()
    }

    /// Number of this process, from 0.
    pub fn rank(&self) -> usize {
        self.communicator.rank()
    }

    /// Hand the wishes round; from now on everybody knows the strongest.
    pub fn agree(&self) {
        if self.size() > 1 {
            let wishes = self.gather_even("wishes to stop", &[self.wish.load(Ordering::Relaxed)]);
            self.agreed.store(wishes.into_iter().max().unwrap_or(0), Ordering::Relaxed);
        } else {
            self.agreed.store(self.wish.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    fn wish(&self, wish: u8) {
        self.wish.fetch_max(wish, Ordering::Relaxed);
    }

    fn agreed(&self, wish: u8) -> bool {
        self.agreed.load(Ordering::Relaxed) >= wish
    }

    /// Count what a collective operation took.
    fn counted<R>(&self, what: &'static str, bytes: usize, work: impl FnOnce() -> R) -> R {
        let clock = Instant::now();
        let result = work();
        let seconds = clock.elapsed().as_secs_f64();
        let mut tallies = self.tallies.lock().unwrap_or_else(PoisonError::into_inner);
        let tally = tallies.entry(what).or_insert_with(|| Tally { what, ..Tally::default() });
        tally.calls += 1;
        tally.bytes += bytes as u64;
        tally.seconds += seconds;
        result
    }

    /// Everybody's values, one process after the other; process p hands in `lengths[p]`.
    pub(crate) fn gather_known<T: Pod>(&self, what: &'static str, mine: &[T], lengths: &[usize]) -> Vec<T> {
        if self.size() == 1 {
            return mine.to_vec();
        }
        let mut all = vec![T::zeroed(); lengths.iter().sum()];
        let bytes: Vec<usize> = lengths.iter().map(|length| length * size_of::<T>()).collect();
        let received = (all.len() - mine.len()) * size_of::<T>();
        let (from, to) = (bytemuck::cast_slice(mine), bytemuck::cast_slice_mut(&mut all));
        self.counted(what, received, || self.communicator.gather(from, &bytes, to));
        all
    }

    /// The same where all hand in equally many.
    pub(crate) fn gather_even<T: Pod>(&self, what: &'static str, mine: &[T]) -> Vec<T> {
        self.gather_known(what, mine, &vec![mine.len(); self.size()])
    }

    /// The same where nobody knows how many the others have; answers also where each one's begin, and the end.
    pub(crate) fn gather<T: Pod>(&self, what: &'static str, mine: &[T]) -> (Vec<T>, Vec<usize>) {
        let lengths: Vec<usize> =
            self.gather_even(what, &[mine.len() as u64]).into_iter().map(|length| length as usize).collect();
        (self.gather_known(what, mine, &lengths), ends(&lengths))
    }

    /// As [`gather`](Self::gather), in one go where nobody has more than `room`, which all name alike; answers also
    /// how many the one with the most has.
    pub(crate) fn gather_within<T: Pod>(
        &self,
        what: &'static str,
        mine: &[T],
        room: usize,
    ) -> (Vec<T>, usize) {
        const HEAD: usize = size_of::<u64>();
        if self.size() == 1 {
            return (mine.to_vec(), mine.len());
        }
        let (wide, kept) = (size_of::<T>(), mine.len().min(room));
        let mut sent = vec![0_u8; HEAD + room * wide];
        sent[..HEAD].copy_from_slice(&(mine.len() as u64).to_le_bytes());
        sent[HEAD..HEAD + kept * wide].copy_from_slice(bytemuck::cast_slice(&mine[..kept]));
        let came = self.gather_even(what, &sent);
        let parts = || came.chunks_exact(sent.len()).map(|part| part.split_at(HEAD));
        let length = |head: &[u8]| head.try_into().map_or(0, u64::from_le_bytes) as usize;
        let lengths: Vec<usize> = parts().map(|(head, _)| length(head)).collect();
        let left: Vec<usize> = lengths.iter().map(|length| length.saturating_sub(room)).collect();
        let rest = if left.iter().any(|left| *left > 0) {
            self.gather_known(what, &mine[kept..], &left)
        } else {
            Vec::new()
        };
        let mut all = vec![T::zeroed(); lengths.iter().sum()];
        let (mut free, mut rest) = (all.as_mut_slice(), rest.as_slice());
        for ((_, part), (length, left)) in parts().zip(lengths.iter().zip(left)) {
            let (own, others) = free.split_at_mut(*length);
            let (first, second) = own.split_at_mut(length - left);
            bytemuck::cast_slice_mut(first).copy_from_slice(&part[..(length - left) * wide]);
            second.copy_from_slice(&rest[..left]);
            (free, rest) = (others, &rest[left..]);
        }
        (all, lengths.into_iter().max().unwrap_or(0))
    }

    /// What process `from` has, for everybody; the others make nothing.
    pub(crate) fn hand_round(
        &self,
        what: &'static str,
        from: usize,
        make: impl FnOnce() -> Vec<u8>,
    ) -> Vec<u8> {
        let mine = if self.rank() == from { make() } else { Vec::new() };
        if self.size() == 1 { mine } else { self.gather(what, &mine).0 }
    }

    /// What each process has for each other; answers what came, in the order of ranks.
    pub(crate) fn exchange<T: Pod>(&self, what: &'static str, to: &[Vec<T>]) -> Vec<T> {
        if self.size() == 1 {
            return to.concat();
        }
        let lengths: Vec<u64> = to.iter().map(|part| part.len() as u64).collect();
        let table = self.gather_even(what, &lengths);
        let (size, rank, wide) = (self.size(), self.rank(), size_of::<T>());
        let theirs: Vec<usize> = (0..size).map(|p| table[p * size + rank] as usize * wide).collect();
        let lengths: Vec<usize> = to.iter().map(|part| part.len() * wide).collect();
        let mine: Vec<T> = to.concat();
        let mut all = vec![T::zeroed(); theirs.iter().sum::<usize>() / wide.max(1)];
        let received = theirs.iter().sum::<usize>() - theirs[rank];
        let (from, into) = (bytemuck::cast_slice(&mine), bytemuck::cast_slice_mut(&mut all));
        self.counted(what, received, || self.communicator.exchange(from, &lengths, &theirs, into));
        all
    }

    /// Hand values on to the next process and take those of the one before, of which there are `coming`.
    pub(crate) fn pass<T: Pod>(&self, what: &'static str, mine: &[T], coming: usize) -> Vec<T> {
        let mut theirs = vec![T::zeroed(); coming];
        let (from, to) = (bytemuck::cast_slice(mine), bytemuck::cast_slice_mut(&mut theirs));
        self.counted(what, coming * size_of::<T>(), || self.communicator.pass(from, to));
        theirs
    }

    /// One process after the other adds its part to a sum whose order of additions matters; everybody gets the end.
    pub(crate) fn relay(
        &self,
        what: &'static str,
        mut state: Vec<f64>,
        add: impl Fn(&mut [f64]),
    ) -> Vec<f64> {
        for turn in 0..self.size() {
            if turn == self.rank() {
                add(&mut state);
            }
            if self.size() > 1 {
                let length = state.len();
                let mine = if turn == self.rank() { &state[..] } else { &[] };
                let lengths: Vec<usize> =
                    (0..self.size()).map(|p| if p == turn { length } else { 0 }).collect();
                state = self.gather_known(what, mine, &lengths);
            }
        }
        state
    }

    /// Whether anybody says so.
    pub(crate) fn any(&self, what: &'static str, mine: bool) -> bool {
        self.gather_even(what, &[u8::from(mine)]).into_iter().any(|said| said > 0)
    }

    /// What working together cost so far. All processes must ask.
    pub fn report(&self) -> TeamReport {
        let spent: f64 = {
            let tallies = self.tallies.lock().unwrap_or_else(PoisonError::into_inner);
            tallies.values().map(|tally| tally.seconds).sum()
        };
        let busy = self.gather_even("report", &[self.begun.elapsed().as_secs_f64() - spent]);
        let tallies = self.tallies.lock().unwrap_or_else(PoisonError::into_inner);
        let mut collectives: Vec<Tally> = tallies.values().cloned().collect();
        collectives.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let mean = busy.iter().sum::<f64>() / busy.len() as f64;
        let most = busy.iter().copied().fold(0.0, f64::max);
        let imbalance = if mean > 0.0 { most / mean } else { 1.0 };
        drop(tallies);
        let peak = self.gather_even("report", &[peak_memory().unwrap_or(0)]);
        TeamReport { ranks: self.size(), collectives, busy, imbalance, peak }
    }
}

/// Where parts of these lengths begin, and the end.
fn ends(lengths: &[usize]) -> Vec<usize> {
    let mut at = vec![0];
    for length in lengths {
        at.push(at[at.len() - 1] + length);
    }
    at
}

/// Which of n rows each process of a team holds: runs of whole units, one after the other.
#[derive(Clone, Debug)]
pub struct Share {
    team: Arc<Team>,
    n: usize,
    /// Process p holds rows `cuts[p]..cuts[p + 1]`.
    cuts: Vec<usize>,
}

impl PartialEq for Share {
    fn eq(&self, other: &Self) -> bool {
        (self.n, &self.cuts) == (other.n, &other.cuts)
    }
}

impl Share {
    /// n rows, split over this team.
    pub fn new(team: Arc<Team>, n: usize) -> Self {
        let cuts = Self::cuts(n, team.size());
        Self { team, n, cuts }
    }

    /// Where n rows are cut for so many processes: process p holds those from the p-th number to the one behind it.
    pub fn cuts(n: usize, size: usize) -> Vec<usize> {
        let units = n.div_ceil(unit(n));
        (0..=size).map(|p| (units * p / size * unit(n)).min(n)).collect()
    }

    /// All n rows in this process.
    pub fn alone(n: usize) -> Self {
        Self::new(Arc::new(Team::alone()), n)
    }

    /// Who works together.
    pub fn team(&self) -> &Arc<Team> {
        &self.team
    }

    /// Rows of all processes.
    pub fn n_rows(&self) -> usize {
        self.n
    }

    /// Rows of this process.
    pub fn rows(&self) -> Range<usize> {
        self.rows_of(self.team.rank())
    }

    /// Rows of process p.
    pub fn rows_of(&self, p: usize) -> Range<usize> {
        self.cuts[p]..self.cuts[p + 1]
    }

    /// Whether there is more than one process.
    pub fn is_split(&self) -> bool {
        self.team.size() > 1
    }

    /// Who holds row i.
    pub(crate) fn owner(&self, i: usize) -> usize {
        self.cuts.partition_point(|cut| *cut <= i) - 1
    }

    /// Number of the first block of this process.
    pub(crate) fn first_block(&self) -> usize {
        self.rows().start.div_ceil(BLOCK)
    }

    /// Blocks of this process.
    pub(crate) fn n_blocks(&self) -> usize {
        self.rows().len().div_ceil(BLOCK)
    }

    /// `width` values of every row, from those of the own rows.
    pub(crate) fn gather_rows<T: Pod>(&self, what: &'static str, mine: &[T], width: usize) -> Vec<T> {
        let lengths: Vec<usize> = self.cuts.windows(2).map(|cut| (cut[1] - cut[0]) * width).collect();
        self.team.gather_known(what, mine, &lengths)
    }

    /// `width` values of every block of `rows` rows, from those of the own blocks.
    pub(crate) fn gather_blocks<T: Pod>(
        &self,
        what: &'static str,
        mine: &[T],
        rows: usize,
        width: usize,
    ) -> Vec<T> {
        let lengths: Vec<usize> =
            self.cuts.windows(2).map(|cut| (cut[1] - cut[0]).div_ceil(rows) * width).collect();
        self.team.gather_known(what, mine, &lengths)
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
