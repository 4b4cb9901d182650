//! The plan of the compared methods: a sparse graph, the samples, or both.

use super::{
    ITERATIONS, Job, Plan, Precision, SECONDS_PER_DENSE_MULTIPLY, SECONDS_PER_MULTIPLY,
    SECONDS_PER_PAIR_AND_ITERATION,
};
use crate::error::{Error, Result};
use crate::params::Mode;

/// The size of a run of a method that needs no slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FamilyJob {
    pub(crate) job: Job,
    /// Edges kept per point; 0 without a graph.
    pub(crate) neighbors: usize,
    /// Bytes that one start holds besides graph, samples and factors.
    pub(crate) own: u64,
    /// Whether it keeps the samples.
    pub(crate) samples: bool,
    /// Of its n × n matrices.
    pub(crate) precision: Precision,
    /// Multiplications in products of n × n matrices, of one start.
    pub(crate) work: f64,
}

impl Plan {
    /// Members side by side where they fit, else fewer.
    pub(crate) fn of_family(family: &FamilyJob, limit: u64) -> Result<Self> {
        let together = family.job.starts.min(family.job.threads).max(1);
        let most = if family.job.ranks.is_some() { 1 } else { together };
        let plans = (1..=most).rev().map(|together| Self::family_with(family, together, limit));
        let mut least = u64::MAX;
        for plan in plans {
            if plan.bytes <= limit {
                return Ok(plan);
            }
            least = plan.bytes;
        }
        let advice = if family.own > limit / 2 {
            "the method holds n x n matrices: cluster a sample of the rows, choose a method of a sparse graph such as phals, or allow more `memory`"
        } else {
            "cluster a sample of the rows, or allow more `memory`"
        };
        Err(Error::Memory { needed: least, limit, advice: advice.into() })
    }

    fn family_with(family: &FamilyJob, side_by_side: usize, limit: u64) -> Self {
        let job = &family.job;
        let [n, m, r, k] =
            [job.n_samples, job.n_features, job.n_clusters, family.neighbors].map(|x| x as u64);
        let (threads, together) = (job.threads.max(1) as u64, side_by_side as u64);
        let cells = n.saturating_mul(m);
        let own = job.own_rows();
        // Rows scaled; lists of neighbours; a block of distances per thread; guests of a ring.
        let search = if k > 0 {
            let each = if own < n { 28 } else { 8 };
            own.saturating_mul(m)
                .saturating_mul(each)
                .saturating_add(own * (k.max(7) * 24 + 48))
                .saturating_add(threads.saturating_mul(m.saturating_mul(2048).saturating_add(1 << 20)))
        } else {
            0
        };
        // Lists of neighbours, then edges both ways while they are sorted and once more as rows.
        let graph = n.saturating_mul(2 * k + 1).saturating_mul(16 + 16 + 12) + n * k * 28;
        let samples = if family.samples { cells.saturating_mul(16) } else { 0 };
        let factors = (job.starts as u64 + together * 10).saturating_mul(n * r * 8);
        let method = family.own.saturating_mul(together);
        let parts = vec![
            ("search", search),
            ("graph", graph),
            ("samples", samples),
            ("factors", factors),
            ("method", method),
        ];
        let fixed = 16 << 20; // program, stacks, small things
        let rest = factors.saturating_add(method);
        let bytes = (fixed + graph).saturating_add(samples).saturating_add(search.max(rest));
        let (nf, mf) = (n as f64, m as f64);
        let searched = if k > 0 { nf * nf * mf * SECONDS_PER_MULTIPLY } else { 0.0 };
        let products = if family.samples { 2.0 * r as f64 * mf } else { 0.0 };
        let step = nf * ((r * (2 * k + r)) as f64 + products) * 1e-9
            + family.own as f64 / 8.0 * SECONDS_PER_PAIR_AND_ITERATION;
        let multiplied = family.work * SECONDS_PER_DENSE_MULTIPLY
            / if family.precision == Precision::Single { 2.0 } else { 1.0 };
        let seconds = (searched + job.starts as f64 * (step * ITERATIONS + multiplied)) / threads as f64;
        let (mode, binned, precision) = (Mode::Exact, None, family.precision);
        Self { mode, binned, precision, side_by_side, bytes, limit, parts, seconds }
    }
}
