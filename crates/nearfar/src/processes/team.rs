//! Processes in step: what goes round between them, and what it costs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use bytemuck::Pod;

use super::{Alone, Communicator};
use crate::plan::peak_memory;

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
pub(super) const ENOUGH: u8 = 1;
pub(super) const STOP: u8 = 2;

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

    pub(super) fn wish(&self, wish: u8) {
        self.wish.fetch_max(wish, Ordering::Relaxed);
    }

    pub(super) fn agreed(&self, wish: u8) -> bool {
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
