//! nearfar on several machines.
//!
//! The library knows of other processes only through [`nearfar::processes::Communicator`]; here is the one that talks MPI (`World`,
//! with the cargo feature `mpi`), how a process finds out that it was started by `mpirun` ([`launched`]), and a
//! model of what a run will cost on any number of ranks ([`cost`]).
//!
//! Without the feature nothing here needs a system library.

pub mod cost;
#[cfg(any(feature = "mpi", test))]
mod surplus;
#[cfg(feature = "mpi")]
mod world;

#[cfg(feature = "mpi")]
pub use world::{World, abort};

/// What the launcher of this process says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Whether this is the process that speaks for all.
    pub first: bool,
}

/// Whether `mpirun`, `mpiexec` or `srun` with an MPI plug-in started this process. Looks at the environment alone,
/// so that a plain start never touches MPI.
#[must_use]
pub fn launched() -> Option<Launch> {
    launched_by(&|name| std::env::var(name).ok())
}

fn launched_by(variable: &dyn Fn(&str) -> Option<String>) -> Option<Launch> {
    let number = |names: &[&str]| names.iter().find_map(|name| variable(name)?.parse::<usize>().ok());
    // Open MPI, MPICH and Intel MPI (also under Slurm's pmi2), PMIx (srun --mpi=pmix), MVAPICH.
    let rank = number(&["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK"])?;
    Some(Launch { first: rank == 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known_by_their_variables() {
        assert_eq!(launched_by(&|_| None), None);
        let open_mpi = |name: &str| (name == "OMPI_COMM_WORLD_RANK").then(|| "3".to_owned());
        assert_eq!(launched_by(&open_mpi), Some(Launch { first: false }));
        let slurm = |name: &str| (name == "PMIX_RANK").then(|| "0".to_owned());
        assert_eq!(launched_by(&slurm), Some(Launch { first: true }));
    }
}
