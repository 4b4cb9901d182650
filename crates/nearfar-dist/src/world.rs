//! The crew over MPI.
//!
//! Collectives are called by one thread at a time, whichever it is (`Serialized`): the main flow of a run moves between threads of its pool.

use mpi::Threading;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use nearfar::{Crew, Team};

/// Bytes of one message; MPI counts in 31 bits.
const MOST: usize = 1 << 30;

/// MPI, from its start to its end; the end is when this is dropped, by all processes.
pub struct World {
    _universe: Universe,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("World")
    }
}

impl World {
    /// Start MPI.
    ///
    /// # Errors
    /// When it was started before, or cannot be called by more than one thread.
    pub fn start() -> Result<Self, String> {
        let started = mpi::initialize_with_threading(Threading::Serialized);
        let (universe, threading) = started.ok_or("MPI was started before")?;
        if threading < Threading::Serialized {
            return Err(
                "this MPI library allows calls by its first thread only; use one with thread support".into(),
            );
        }
        Ok(Self { _universe: universe })
    }

    /// All processes.
    pub fn team(&self) -> Team {
        let world = SimpleCommunicator::world();
        Team::new(Box::new(MpiCrew { size: world.size() as usize, rank: world.rank() as usize }))
    }

    /// The machine this process runs on.
    pub fn host(&self) -> String {
        mpi::environment::processor_name().unwrap_or_else(|_| "an unknown host".to_owned())
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

/// One process of MPI's world.
#[derive(Debug)]
struct MpiCrew {
    size: usize,
    rank: usize,
}

impl MpiCrew {
    /// Send to one process and receive from another, in messages that MPI can count.
    fn swap(to: usize, mine: &[u8], from: usize, theirs: &mut [u8]) {
        let world = SimpleCommunicator::world();
        let (to, from) = (world.process_at_rank(small(to)), world.process_at_rank(small(from)));
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

impl Crew for MpiCrew {
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
        let place = |lengths: &[usize], p: usize| {
            let start: usize = lengths[..p].iter().sum();
            start..start + lengths[p]
        };
        all[place(theirs, self.rank)].copy_from_slice(&mine[place(lengths, self.rank)]);
        for step in 1..self.size {
            let (to, from) = ((self.rank + step) % self.size, (self.rank + self.size - step) % self.size);
            Self::swap(to, &mine[place(lengths, to)], from, &mut all[place(theirs, from)]);
        }
    }

    fn pass(&self, mine: &[u8], theirs: &mut [u8]) {
        let (to, from) = ((self.rank + 1) % self.size, (self.rank + self.size - 1) % self.size);
        Self::swap(to, mine, from, theirs);
    }
}
