//! The plan of exact mode: every pair is held.

use super::{
    ITERATIONS, Job, LONG, Plan, Precision, SECONDS_PER_MULTIPLY, SECONDS_PER_PAIR_AND_ITERATION,
    SECONDS_PER_SORTED_PAIR, human_bytes,
};
use crate::error::{Error, Result};
use crate::math::kernel::Entry;
use crate::neighbors;
use crate::params::Mode;
use crate::slices::tiles;

impl Plan {
    /// The cheapest plan that fits `limit` bytes: double before single, members side by side before one by one.
    ///
    /// # Errors
    /// [`Error::Memory`] with what would fit.
    pub fn new(job: &Job, precision: Precision, limit: u64) -> Result<Self> {
        let candidates: &[Precision] = match precision {
            Precision::Auto => &[Precision::Double, Precision::Single],
            Precision::Double => &[Precision::Double],
            Precision::Single => &[Precision::Single],
        };
        let mut least = u64::MAX;
        for &precision in candidates {
            for side_by_side in (1..=job.starts.min(job.threads).max(1)).rev() {
                let plan = Self::with(job, precision, side_by_side, limit);
                if plan.bytes <= limit {
                    return Ok(plan);
                }
                least = least.min(plan.bytes);
            }
        }
        let smaller = Self::with(job, Precision::Single, 1, limit);
        let advice = if smaller.bytes <= limit {
            format!("single precision would take {} (`precision` single)", human_bytes(smaller.bytes))
        } else {
            let most = largest_that_fits(job, limit);
            format!(
                "at most {most} samples fit in single precision: cluster a sample of the rows, or allow more `memory`"
            )
        };
        Err(Error::Memory { needed: least, limit, advice })
    }

    fn with(job: &Job, precision: Precision, side_by_side: usize, limit: u64) -> Self {
        match precision {
            Precision::Single => Self::sized::<f32>(job, precision, side_by_side, limit),
            _ => Self::sized::<f64>(job, Precision::Double, side_by_side, limit),
        }
    }

    fn sized<E: Entry>(job: &Job, precision: Precision, side_by_side: usize, limit: u64) -> Self {
        let [n, m, r] = [job.n_samples, job.n_features, job.n_clusters].map(|x| x as u64);
        let (threads, together) = (job.threads.max(1) as u64, side_by_side as u64);
        let pairs = neighbors::bytes::<E>(n);
        let search = (16 * n).saturating_mul(m).saturating_add(threads * 64 * n * 8);
        let graphs = tiles::bytes::<E>(n) * (together + u64::from(job.starts > 1));
        let factors = (job.starts as u64 * 2 + together * 8) * n * r * 8;
        let tables = threads * 20 * n * 8;
        let spectral = 14 * n * (r + 1) * 8 * if job.starts > 1 { together } else { 1 };
        let parts = vec![
            ("pairs", pairs),
            ("search", search),
            ("graphs", graphs),
            ("factors", factors + tables),
            ("spectral", spectral),
        ];
        let fixed = 16 << 20; // program, stacks, small things
        let bytes = (fixed + pairs).saturating_add(search.max(graphs + factors + tables + spectral));
        let (nf, mf, workers) = (n as f64, m as f64, threads as f64);
        let pairs = nf * nf;
        let search_seconds =
            pairs * (mf * SECONDS_PER_MULTIPLY + nf.max(2.0).log2() * SECONDS_PER_SORTED_PAIR);
        let learn_seconds = job.starts as f64 * pairs * ITERATIONS * SECONDS_PER_PAIR_AND_ITERATION;
        Self {
            mode: Mode::Exact,
            binned: None,
            precision,
            side_by_side,
            bytes,
            limit,
            parts,
            seconds: (search_seconds + learn_seconds) / workers,
        }
    }

    /// Exact mode would take longer than this many seconds of one processor.
    pub(crate) fn takes_long(&self, threads: usize) -> bool {
        self.seconds * threads.max(1) as f64 > LONG
    }
}

fn largest_that_fits(job: &Job, limit: u64) -> usize {
    let fits =
        |n: usize| Plan::with(&Job { n_samples: n, ..*job }, Precision::Single, 1, limit).bytes <= limit;
    let (mut low, mut high) = (0, job.n_samples);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    low
}
