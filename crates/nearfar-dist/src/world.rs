//! The communicator over MPI.
//!
//! Collectives are called by one thread at a time, whichever it is (`Serialized`): the main flow of a run moves
//! between threads of its pool. A communicator other than MPI's world is bound to a thread in `mpi`; so where ranks
//! stand by (`surplus`), the others gather by messages in the world.

use std::ops::Range;
use std::time::Duration;

use mpi::Threading;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, CommunicatorCollectives, Destination, Root, Source};
use nearfar::processes::{Communicator, Team};

use crate::surplus::{Place, RECORD, working};

/// Bytes of one message; MPI counts in 31 bits.
const MOST: usize = 1 << 30;

/// How long ranks sleep that stand by.
const ASLEEP: Duration = Duration::from_millis(50);
/// The same of ranks that have done their work.
const BRIEFLY: Duration = Duration::from_millis(1);

/// MPI, from its start to its end; the end is when this is dropped, by all processes.
pub struct World {
    _universe: Universe,
    /// This process among all, and how many there are.
    rank: usize,
    size: usize,
    /// Ranks that work, ascending.
    working: Vec<usize>,
    /// How many of them are on this machine.
    local: usize,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("World")
    }
}

impl World {
    /// Start MPI. Of the ranks that share a machine as many work as it has processors for; all of them where `all`
    /// says so in one of them.
    ///
    /// # Errors
    /// When it was started before, or cannot be called by more than one thread.
    pub fn start(all: bool) -> Result<Self, String> {
        let started = mpi::initialize_with_threading(Threading::Serialized);
        let (universe, threading) = started.ok_or("MPI was started before")?;
        if threading < Threading::Serialized {
            return Err(
                "this MPI library allows calls by its first thread only; use one with thread support".into(),
            );
        }
        let world = SimpleCommunicator::world();
        let (rank, size) = (world.rank() as usize, world.size() as usize);
        let mut machine = rank as u32;
        world.split_shared(world.rank()).process_at_rank(0).broadcast_into(&mut machine);
        let mut bytes = vec![0_u8; RECORD * size];
        world.all_gather_into(&Place::here(machine, all).to_bytes()[..], &mut bytes[..]);
        let places: Vec<Place> = bytes.as_chunks().0.iter().map(Place::from_bytes).collect();
        let working = working(&places);
        let local = working.iter().filter(|rank| places[**rank].machine == machine).count();
        Ok(Self { _universe: universe, rank, size, working, local })
    }

    /// The processes that work; `None` where this one stands by.
    pub fn team(&self) -> Option<Team> {
        let rank = self.working.binary_search(&self.rank).ok()?;
        let some = (self.standing_by() > 0).then(|| self.working.clone());
        Some(Team::new(Box::new(MpiCommunicator { size: self.working.len(), rank, some })))
    }

    /// Number of processes that stand by.
    pub fn standing_by(&self) -> usize {
        self.size - self.working.len()
    }

    /// Number of processes that work on the machine of this one.
    pub fn local(&self) -> usize {
        self.local
    }

    /// The machine this process runs on.
    pub fn host(&self) -> String {
        mpi::environment::processor_name().unwrap_or_else(|_| "an unknown host".to_owned())
    }
}

impl Drop for World {
    /// Whoever stands by sleeps until the others are done; MPI itself would have it look for them all the time.
    fn drop(&mut self) {
        if self.standing_by() == 0 {
            return;
        }
        let pause = if self.working.contains(&self.rank) { BRIEFLY } else { ASLEEP };
        let mut end = SimpleCommunicator::world().immediate_barrier();
        while let Err(waiting) = end.test() {
            std::thread::sleep(pause);
            end = waiting;
        }
    }
}

/// End all processes with this exit code.
pub fn abort(code: i32) -> ! {
    SimpleCommunicator::world().abort(code)
}

/// A number as MPI counts; ranks and lengths are below [`MOST`].
fn small(number: usize) -> i32 {
    i32::try_from(number).expect("ranks and message lengths fit in 31 bits")
}

/// Bytes at a place of their own: where a slice without bytes points to may be what an MPI takes for `MPI_IN_PLACE`.
fn placed(bytes: &[u8]) -> &[u8] {
    static NOTHING: [u8; 1] = [0];
    if bytes.is_empty() { &NOTHING[..0] } else { bytes }
}

/// Where the part of process p stands among parts of these lengths.
fn place(lengths: &[usize], p: usize) -> Range<usize> {
    let start: usize = lengths[..p].iter().sum();
    start..start + lengths[p]
}

/// One of the processes that work.
#[derive(Debug)]
struct MpiCommunicator {
    size: usize,
    rank: usize,
    /// Their ranks in MPI's world, where not all of it works.
    some: Option<Vec<usize>>,
}

impl MpiCommunicator {
    /// Send to one process and receive from another, in messages that MPI can count.
    fn swap(&self, to: usize, mine: &[u8], from: usize, theirs: &mut [u8]) {
        let world = SimpleCommunicator::world();
        let process = |p: usize| world.process_at_rank(small(self.some.as_ref().map_or(p, |some| some[p])));
        let (to, from) = (process(to), process(from));
        mpi::request::scope(|scope| {
            let sent: Vec<_> = mine.chunks(MOST).map(|part| to.immediate_send(scope, part)).collect();
            theirs.chunks_mut(MOST).for_each(|part| {
                from.receive_into(part);
            });
            sent.into_iter().for_each(|request| {
                request.wait();
            });
        });
    }

    /// What is meant for each process goes to it, one after the other; `theirs[p]` bytes come from process p.
    fn swap_with_all<'a>(&self, mine: impl Fn(usize) -> &'a [u8], theirs: &[usize], all: &mut [u8]) {
        all[place(theirs, self.rank)].copy_from_slice(mine(self.rank));
        for step in 1..self.size {
            let (to, from) = ((self.rank + step) % self.size, (self.rank + self.size - step) % self.size);
            self.swap(to, mine(to), from, &mut all[place(theirs, from)]);
        }
    }

    /// Gather what fits into one collective.
    fn gather_small(mine: &[u8], lengths: &[usize], all: &mut [u8]) {
        let counts: Vec<i32> = lengths.iter().copied().map(small).collect();
        let places: Vec<i32> = counts
            .iter()
            .scan(0, |end, count| {
                let start = *end;
                *end += count;
                Some(start)
            })
            .collect();
        let mut parts = PartitionMut::new(all, counts, places);
        SimpleCommunicator::world().all_gather_varcount_into(placed(mine), &mut parts);
    }
}

impl Communicator for MpiCommunicator {
    fn size(&self) -> usize {
        self.size
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn gather(&self, mine: &[u8], lengths: &[usize], all: &mut [u8]) {
        if all.is_empty() {
            return; // nobody has anything, as all know
        }
        if self.some.is_some() {
            return self.swap_with_all(|_| mine, lengths, all);
        }
        if all.len() <= MOST {
            return Self::gather_small(mine, lengths, all);
        }
        // A slice of everybody's at a time, then to its place.
        let most = (MOST / self.size).max(1);
        let mut starts = vec![0; self.size];
        for p in 1..self.size {
            starts[p] = starts[p - 1] + lengths[p - 1];
        }
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut slice = Vec::new();
        for from in (0..longest).step_by(most) {
            let here: Vec<usize> =
                lengths.iter().map(|length| length.saturating_sub(from).min(most)).collect();
            slice.resize(here.iter().sum(), 0);
            let own = &mine[from.min(mine.len())..(from + most).min(mine.len())];
            Self::gather_small(own, &here, &mut slice);
            let mut at = 0;
            for (p, length) in here.iter().enumerate() {
                let place = starts[p] + from.min(lengths[p]);
                all[place..place + length].copy_from_slice(&slice[at..at + length]);
                at += length;
            }
        }
    }

    fn exchange(&self, mine: &[u8], lengths: &[usize], theirs: &[usize], all: &mut [u8]) {
        self.swap_with_all(|p| &mine[place(lengths, p)], theirs, all);
    }

    fn pass(&self, mine: &[u8], theirs: &mut [u8]) {
        let (to, from) = ((self.rank + 1) % self.size, (self.rank + self.size - 1) % self.size);
        self.swap(to, mine, from, theirs);
    }
}
