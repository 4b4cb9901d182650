//! Several processes, started by `mpirun`: the first prints and writes, a failure of any ends them all.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use nearfar::Params;
use nearfar::processes::Team;
use nearfar_dist::Launch;

use crate::exit::{Failure, Outcome};

/// The processes that work together, and how many of them are on this machine.
static TEAM: OnceLock<(Arc<Team>, usize)> = OnceLock::new();
/// Processes that stand by, as this machine or another has no processor for them.
static STANDING_BY: AtomicUsize = AtomicUsize::new(0);
/// Whether another process speaks for this one.
static SILENT: AtomicBool = AtomicBool::new(false);

/// MPI, as long as the program runs; nothing where it was started plainly.
pub(crate) struct Ranks {
    #[cfg(feature = "mpi")]
    world: Option<nearfar_dist::World>,
}

/// Find out how the program was started, and join the others where there are any; `all`: also those beyond the
/// processors of a machine work.
pub(crate) fn join(all: bool) -> Outcome<Ranks> {
    let Some(launch) = nearfar_dist::launched() else { return Ok(Ranks::none()) };
    SILENT.store(!launch.first, Ordering::Relaxed);
    Ranks::of(launch, all)
}

impl Ranks {
    fn none() -> Self {
        Self {
            #[cfg(feature = "mpi")]
            world: None,
        }
    }

    #[cfg(feature = "mpi")]
    fn of(_launch: Launch, all: bool) -> Outcome<Self> {
        let world = nearfar_dist::World::start(all).map_err(Failure::wrong)?;
        let team = world.team();
        SILENT.store(team.as_ref().is_none_or(|team| team.rank() > 0), Ordering::Relaxed);
        STANDING_BY.store(world.standing_by(), Ordering::Relaxed);
        if let Some(team) = team {
            let _ = TEAM.set((Arc::new(team), world.local()));
        }
        Ok(Self { world: Some(world) })
    }

    #[cfg(not(feature = "mpi"))]
    fn of(launch: Launch, _all: bool) -> Outcome<Self> {
        let message =
            "this nearfar was built without MPI; build it with --features mpi, or start it without mpirun";
        Err(if launch.first { Failure::wrong(message) } else { Failure::silent(crate::exit::Exit::Wrong) })
    }

    /// End all processes with a failure that this one has met. One message is enough: others than the first wait a
    /// moment, in which the first may have said the same.
    #[cfg(feature = "mpi")]
    pub(crate) fn fail(&self, failure: &Failure, say: impl Fn(String)) {
        use crate::exit::Exit;
        let (Some(world), Some(team)) = (&self.world, team()) else { return };
        if matches!(failure.exit, Exit::Done | Exit::Strict) {
            return; // all come to their end by themselves
        }
        let place = format!("rank {} on {}: ", team.rank(), world.host());
        if silent() {
            std::thread::sleep(std::time::Duration::from_millis(1500 + 50 * team.rank().min(40) as u64));
        }
        if !failure.message.is_empty() {
            let own = silent() || (failure.of_this_rank && team.size() > 1);
            say(if own { format!("{place}{}", failure.message) } else { failure.message.clone() });
        }
        nearfar_dist::abort(failure.exit as i32)
    }

    /// Nobody else is there.
    #[cfg(not(feature = "mpi"))]
    #[allow(clippy::unused_self)] // as with MPI
    pub(crate) fn fail(&self, _failure: &Failure, _say: impl Fn(String)) {}
}

/// The processes of this run, where `mpirun` started it.
pub(crate) fn team() -> Option<&'static Arc<Team>> {
    TEAM.get().map(|(team, _)| team)
}

/// How many processes stand by.
pub(crate) fn standing_by() -> usize {
    STANDING_BY.load(Ordering::Relaxed)
}

/// Whether this is one of them.
pub(crate) fn stands_by() -> bool {
    standing_by() > 0 && team().is_none()
}

/// Whether another process prints and writes.
pub(crate) fn silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// Threads and memory of one rank, where nobody said: its part of the machine's.
pub(crate) fn share_machine(params: &mut Params) {
    if let Some((_, local)) = TEAM.get() {
        let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        params.threads.get_or_insert((available / local).max(1));
        params.memory.get_or_insert(nearfar::default_memory_limit() / *local as u64);
    }
}
