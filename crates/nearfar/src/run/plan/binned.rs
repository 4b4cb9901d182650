//! The plan of binned mode: memory and time grow with the known pairs.

use super::{
    BINNED_ITERATIONS, Held, Job, Plan, Precision, SECONDS_PER_EIGENVECTOR_NUMBER,
    SECONDS_PER_ENTRY_AND_ITERATION, SECONDS_PER_MULTIPLY, SECONDS_PER_NUMBER_AND_ITERATION, search_work,
};
use crate::error::{Error, Result};
use crate::params::Mode;
use crate::slices::BinnedShape;

impl Plan {
    /// The plan of a binned run: members side by side where they fit, else fewer.
    ///
    /// # Errors
    /// [`Error::Memory`] with what to try.
    pub fn binned(job: &Job, shape: BinnedShape, precision: Precision, limit: u64) -> Result<Self> {
        let held = Held::within(limit, job.own_rows() as usize, job.n_features);
        Self::binned_held(job, held, shape, precision, limit)
    }

    /// The same of samples that are held in this way.
    pub(crate) fn binned_held(
        job: &Job,
        held: Held,
        shape: BinnedShape,
        precision: Precision,
        limit: u64,
    ) -> Result<Self> {
        let mut least = u64::MAX;
        // Processes in step take members one by one.
        let most = if job.ranks.is_some() { 1 } else { job.starts.min(job.threads).max(1) };
        for together in (1..=most).rev() {
            let plan = Self::binned_with(job, held, shape, precision, together, limit);
            if plan.bytes <= limit {
                return Ok(plan);
            }
            least = plan.bytes;
        }
        let rest = "take fewer near ranks or partners (`near`, `far`) or fewer starts, cluster a sample of the rows, or allow more `memory`";
        // The data once as it is and once for the search.
        let twice = held.data(job.own_rows(), job.n_features as u64).saturating_mul(2);
        let advice = if held == Held::Double && twice > limit / 2 {
            format!("hand over the data in single precision, which is used where it is, {rest}")
        } else {
            rest.to_owned()
        };
        Err(Error::Memory { needed: least, limit, advice })
    }

    fn binned_with(
        job: &Job,
        held: Held,
        shape: BinnedShape,
        asked: Precision,
        side_by_side: usize,
        limit: u64,
    ) -> Self {
        let [n, m, r] = [job.n_samples, job.n_features, job.n_clusters].map(|x| x as u64);
        let (near, far) = (shape.near as u64, (2 * shape.far as u64).min(n - shape.near as u64));
        let (threads, together) = (job.threads.max(1) as u64, side_by_side as u64);
        let precision = if asked == Precision::Double { Precision::Double } else { Precision::Single };
        let cell = if precision == Precision::Double { 8 } else { 4 };
        let own = job.own_rows();
        // The samples as they were read; rows of the search's own while it and the slices need them; guests on
        // their way round the ring.
        let data = held.data(own, m);
        let points = own.saturating_mul(m).saturating_mul(held.bytes()[1]);
        let lists = own * near * 12;
        let guest = own.saturating_mul(m).saturating_mul(if held == Held::Double { 8 } else { 4 });
        let guests = if own < n { guest.saturating_mul(2).saturating_add(own * 4 * near) } else { 0 };
        // Lengths and order of the points, and a block of rows and products per thread.
        let blocks = threads.saturating_mul(m.saturating_mul(2048).saturating_add(1 << 20));
        let search = guests.saturating_add(2 * lists + own * 48).saturating_add(blocks);
        // Near pairs stand in both triangles, whoever lists whom.
        let entries = own * (2 * near + far).min(n);
        let pairs = entries * (8 + 2 * cell);
        let listed = if own < n { 18 } else { 6 };
        let making = lists + own * near * listed + own * far * (2 + cell) + if own < n { 16 * n } else { 0 };
        let graphs = together * entries * (4 + cell) + u64::from(job.starts > 1) * own * 64 * (4 + cell);
        // V and what is made of it are in every process, all rows of it.
        let factors = (job.starts as u64 * 2 + together * 10).saturating_mul(n.saturating_mul(r * 12));
        let basis = own.saturating_mul(8 * (r + 1).max(4)).saturating_add(n.saturating_mul(4 * r));
        let spectral = basis.saturating_mul(8 * if job.starts > 1 { together } else { 1 });
        let parts = vec![
            ("data", data),
            ("points", points),
            ("search", search),
            ("pairs", pairs),
            ("graphs", graphs),
            ("factors", factors),
            ("spectral", spectral),
        ];
        let fixed = 32 << 20; // program, stacks, small things
        let learning = (pairs + graphs).saturating_add(factors).saturating_add(spectral);
        let preparing = points.saturating_add(search.max(pairs + making));
        let bytes = data.saturating_add(fixed).saturating_add(preparing.max(learning));
        let (nf, rf) = (n as f64, r as f64);
        let all = nf * ((2 * near + far).min(n)) as f64;
        let iteration = all * SECONDS_PER_ENTRY_AND_ITERATION + nf * rf * SECONDS_PER_NUMBER_AND_ITERATION;
        let learn_seconds = job.starts as f64 * BINNED_ITERATIONS * iteration;
        // Every member is judged where there are several, and the result is labelled.
        let spectra = if job.starts > 1 { job.starts as f64 + 1.0 } else { 1.0 };
        let spectral_seconds = spectra * nf * (rf + 1.0) * SECONDS_PER_EIGENVECTOR_NUMBER;
        let workers = (threads * job.ranks.unwrap_or(1).max(1) as u64) as f64;
        let search_seconds = search_work(job.n_samples, job.n_features) * SECONDS_PER_MULTIPLY / 2.0;
        let seconds = (search_seconds + learn_seconds + spectral_seconds) / workers;
        let (mode, binned) = (Mode::Binned, Some(shape));
        Self { mode, binned, precision, side_by_side, bytes, limit, parts, seconds }
    }
}
