//! neighbors: every point ranks all others, nearest first.
//!
//! Rank 0 is the point itself, by index and not by distance; equal distances are ordered by index, so
//! that results repeat. The affinity is self-tuned (Zelnik-Manor and Perona):
//! $$ \kappa(x_i, x_j) = \exp(-d_{ij}^2 / (\sigma_i \sigma_j)), \quad \sigma_i = \text{distance to the 7th neighbour.} $$
//! Where that distance is 0 (eight copies of a point) the smallest positive distance of the point takes
//! its place, with fewer than eight points the farthest one; both are reported as a [`Warning`].

pub(crate) mod descent;
pub(crate) mod exact;
pub(crate) mod nearest;
mod order;
pub(crate) mod precomputed;
pub(crate) mod search;
pub(crate) mod split;

pub use precomputed::NeighborLists;
pub use search::SearchReport;

use crate::error::{DataError, ParamError, Result};
use crate::input::{Input, Metric};
use crate::math::kernel::Entry;
use crate::model::Warning;
use crate::observe::Observer;

/// Which neighbour sets the local scale σ (self not counted).
pub(crate) const SIGMA_NEIGHBOR: usize = 7;

/// Exact mode keeps ranks in 16 bits.
pub(crate) const MAX_EXACT_SAMPLES: usize = 1 << 16;

/// Rank all points against all, from whatever the input is. `seed` orders what neighbour lists leave out.
///
/// # Errors
/// Names the row and column of a value that breaks the rules of its kind of input.
pub fn rank<E: Entry>(input: &Input<'_>, seed: u64, observer: &dyn Observer) -> Result<Neighborhoods<E>> {
    check_count(input.n_samples())?;
    match input {
        Input::Samples(samples, metric) => exact::rank(samples, *metric, observer),
        Input::Distances(x) => precomputed::from_distances(x, observer),
        Input::Affinities(x) => precomputed::from_affinities(x, observer),
        Input::Neighbors(lists) => precomputed::from_lists(lists, seed, observer),
        Input::Part(..) => Err(needs_all("exact mode").into()),
    }
}

/// What needs all rows in one process.
pub(crate) fn needs_all(what: &'static str) -> DataError {
    DataError::NeedsAllRows { what }
}

/// Exact mode has a largest n; judged before anything is planned or allocated.
pub(crate) fn check_count(n_samples: usize) -> Result<(), ParamError> {
    let allowed = format!("at most {MAX_EXACT_SAMPLES} in exact mode");
    ParamError::unless(n_samples <= MAX_EXACT_SAMPLES, "n_samples", n_samples, allowed)
}

/// Binned mode numbers points in 32 bits.
pub(crate) const MAX_BINNED_SAMPLES: usize = 1 << 31;

/// Binned mode has a largest n as well.
pub(crate) fn check_binned_count(n_samples: usize) -> Result<(), ParamError> {
    let allowed = format!("at most {MAX_BINNED_SAMPLES}");
    ParamError::unless(n_samples <= MAX_BINNED_SAMPLES, "n_samples", n_samples, allowed)
}

/// Ranks of all pairs, with what the affinities are made of.
#[derive(Clone, Debug)]
pub struct Neighborhoods<E> {
    pub(crate) n: usize,
    /// n × n, row-major: d²_ij, or −ln κ_ij where κ was given.
    pub(crate) values: Vec<E>,
    /// n × n, row-major: the rank of j as seen from i.
    pub(crate) rank: Vec<u16>,
    /// Local scales, in the units of `values`; `None` where `values` are exponents already.
    pub(crate) sigma: Option<Vec<f64>>,
    /// Multiply a scale by this to have it in the units of the data.
    pub(crate) unit: f64,
    pub(crate) warnings: Vec<Warning>,
}

impl<E: Entry> Neighborhoods<E> {
    /// The rank of j as seen from i.
    pub fn rank(&self, i: usize, j: usize) -> usize {
        self.rank[i * self.n + j] as usize
    }

    /// Local scales σ, in the units of the data; `None` where affinities were given.
    pub fn sigma(&self) -> Option<Vec<f64>> {
        self.sigma.as_ref().map(|sigma| sigma.iter().map(|s| s * self.unit).collect())
    }

    /// What a person should know about the data.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

/// Bytes of [`Neighborhoods`] of n samples.
pub(crate) fn bytes<E: Entry>(n: u64) -> u64 {
    n * n * (E::BYTES + 2)
}

/// Collects what single rows found about σ.
pub(crate) fn sigma_warnings(n: usize, sigma: &mut [f64], replaced: &[bool]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if n > 1 && sigma.iter().all(|s| *s == 0.0) {
        warnings.push(Warning::AllEqual);
    } else if let Some(first) = replaced.iter().position(|r| *r) {
        warnings.push(Warning::Duplicates { points: replaced.iter().filter(|r| **r).count(), first });
    }
    if n <= SIGMA_NEIGHBOR {
        warnings.push(Warning::FewSamples { n_samples: n });
    }
    for s in sigma {
        if *s == 0.0 {
            *s = 1.0; // no positive distance at all: every exponent is 0 whatever the scale
        }
    }
    warnings
}
