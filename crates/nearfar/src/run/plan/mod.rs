//! Bytes and time a run will need, before it starts.
//!
//! Exact mode holds an affinity and a 16-bit rank for every pair (10 n² bytes in double precision, 6 n² in single) and
//! symmetric graphs at half a matrix each (4 n² or 2 n²): one for judging members, one for every member that runs,
//! the last of which later holds Z. Everything else grows with n.
//!
//! Binned mode holds 16 bytes for every known pair, of which there are at most n (2K + 2T), and 8 for every entry
//! of a graph.

mod choose;

pub(crate) use choose::needs_samples;
pub use choose::{plan, plan_held, plan_shared};

use crate::error::{Error, Result};
use crate::math::kernel::Entry;
use crate::neighbors;
use crate::params::Mode;
use crate::slices::{BinnedShape, tiles};

/// Storage of the n × n matrices; sums are always double.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Double where it fits, single where only that fits; single in binned mode and of CGSymNMF.
    #[default]
    Auto,
    /// 64 bits.
    Double,
    /// 32 bits.
    Single,
}

/// How samples are held while a run works on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Held {
    /// In double precision, or to be scaled: the search makes rows of its own.
    #[default]
    Double,
    /// In single precision, row by row: used where they are.
    Single,
    /// The same in a mapped file: in memory only while there is room.
    Mapped,
}

impl Held {
    /// How a reader that may use `limit` bytes holds n × m values: whatever is larger than half of that is
    /// narrowed, and what is still larger is mapped.
    #[must_use]
    pub fn within(limit: u64, n_samples: usize, n_features: usize) -> Self {
        let values = (n_samples as u64).saturating_mul(n_features as u64);
        match limit / 2 {
            half if values.saturating_mul(8) <= half => Self::Double,
            half if values.saturating_mul(4) <= half => Self::Single,
            _ => Self::Mapped,
        }
    }

    /// Bytes of one value as it was read, and of its copy for the search.
    fn bytes(self) -> [u64; 2] {
        match self {
            Self::Double => [8, 8],
            Self::Single => [4, 0],
            Self::Mapped => [0, 0],
        }
    }

    /// Bytes of these values in memory.
    pub(crate) fn data(self, rows: u64, n_features: u64) -> u64 {
        rows.saturating_mul(n_features).saturating_mul(self.bytes()[0])
    }
}

/// The size of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Samples.
    pub n_samples: usize,
    /// Features; 0 for pairwise input.
    pub n_features: usize,
    /// Clusters.
    pub n_clusters: usize,
    /// Members of the consensus.
    pub starts: usize,
    /// Worker threads.
    pub threads: usize,
    /// Processes that share the rows; `None` for one that has them all. The plan is that of one of them.
    pub ranks: Option<usize>,
}

impl Job {
    /// Rows of the largest share.
    pub(crate) fn own_rows(&self) -> u64 {
        let (n, ranks) = (self.n_samples, self.ranks.unwrap_or(1).max(1));
        let unit = crate::processes::unit(n);
        n.div_ceil(unit).div_ceil(ranks).saturating_mul(unit).min(n) as u64
    }
}

/// What a job will need.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Plan {
    /// How the pairs are held: exact or binned.
    pub mode: Mode,
    /// Near ranks, partners and bins, in binned mode.
    pub binned: Option<BinnedShape>,
    /// Storage chosen.
    pub precision: Precision,
    /// Members that run side by side.
    pub side_by_side: usize,
    /// Most bytes held at once.
    pub bytes: u64,
    /// Bytes allowed.
    pub limit: u64,
    /// The parts of `bytes`, by name.
    pub parts: Vec<(&'static str, u64)>,
    /// Rough seconds on a machine of about 3 GHz.
    pub seconds: f64,
}

/// Nominal speeds behind the rough time: seconds per pair of a stage, on one thread.
const SECONDS_PER_MULTIPLY: f64 = 1.0 / 15e9;
/// In products of large matrices, double precision.
const SECONDS_PER_DENSE_MULTIPLY: f64 = 1.0 / 22e9;
const SECONDS_PER_SORTED_PAIR: f64 = 2.5e-9;
const SECONDS_PER_PAIR_AND_ITERATION: f64 = 6e-9;
const ITERATIONS: f64 = 130.0;
/// The same of binned mode, as runs of 200,000 (docs/scale.md) and 1,000,000 points took: per known pair, per
/// number of V, and per number of the eigenvectors that a member is judged by.
const SECONDS_PER_ENTRY_AND_ITERATION: f64 = 20e-9;
const SECONDS_PER_NUMBER_AND_ITERATION: f64 = 100e-9;
const SECONDS_PER_EIGENVECTOR_NUMBER: f64 = 20e-6;
const BINNED_ITERATIONS: f64 = 150.0;
/// Cells that are looked at around the cell of a point.
const PROBED_CELLS: f64 = 30.0;
/// Exact runs that take longer, in seconds of one processor, are left to binned mode where the choice is free. Of
/// one processor, so that the choice does not depend on the number of threads.
const LONG: f64 = 3600.0;

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

/// Memory of the default method, in bytes per point: lists of a view; a graph of a member that is learnt, with what
/// is made of it; the consensus of four views.
const BYTES_OF_LISTS: u64 = 40 * 12;
const BYTES_OF_MEMBER: u64 = 1600;
const BYTES_OF_CONSENSUS: u64 = 4500;
/// Its time in seconds per point on one thread: a member, and everything that is done once.
const SECONDS_PER_MEMBER_POINT: f64 = 25e-6;
const SECONDS_PER_POINT: f64 = 60e-6;
/// Views and members of it, at most.
const VIEWS: u64 = 4;
const MEMBERS: u64 = 16;

impl Plan {
    /// The plan of the default method: memory grows with n, members that run side by side follow the threads.
    pub(crate) fn of_lists(job: &Job, held: Held, limit: u64) -> Result<Self> {
        let [n, m, r] = [job.n_samples, job.n_features, job.n_clusters].map(|x| x as u64);
        let (threads, own) = (job.threads.max(1) as u64, job.own_rows());
        let cells = own.saturating_mul(m);
        let wide = if held == Held::Double { 8 } else { 4 };
        // Rows as they were read; those of the view in hand, and what the search makes of them.
        let data = if m == 0 { n.saturating_mul(n).saturating_mul(8) } else { held.data(own, m) };
        let points = cells.saturating_mul(wide + held.bytes()[1]);
        let judged = n.min(3_000).saturating_mul(m);
        let judging = judged.saturating_mul(4 * wide * threads.min(VIEWS)) + 10_000.min(n) * m * wide;
        // Lists; sketches of all, heads of lists, candidates; blocks of rows.
        let search = own * (40 * 28 + 80 * 8)
            + n * (4 * m.min(128).next_multiple_of(32) + 150)
            + threads.saturating_mul(m.saturating_mul(2048) + (1 << 20));
        let lists = VIEWS * n * BYTES_OF_LISTS;
        let members = threads.min(MEMBERS) * n * BYTES_OF_MEMBER + MEMBERS * n * 12;
        let consensus = n.saturating_mul(BYTES_OF_CONSENSUS).saturating_add(n.saturating_mul(8 * r));
        let parts = vec![
            ("data", data),
            ("points", points),
            ("judging", judging),
            ("search", search),
            ("lists", lists),
            ("members", members),
            ("consensus", consensus),
        ];
        let fixed = 32 << 20; // program, stacks, small things
        let searching = points.saturating_add(search);
        let most = judging.max(searching).max(members).max(consensus);
        let bytes = data.saturating_add(fixed + lists).saturating_add(most);
        if bytes > limit {
            let advice =
                "look at fewer views (`views` raw), cluster a sample of the rows, or allow more `memory`";
            return Err(Error::Memory { needed: bytes, limit, advice: advice.into() });
        }
        let workers = (threads * job.ranks.unwrap_or(1).max(1) as u64) as f64;
        let searched = VIEWS as f64 * quick_search_work(job.n_samples, job.n_features) * SECONDS_PER_MULTIPLY;
        let judged = VIEWS as f64
            * 2.0
            * quick_search_work((judged / m.max(1)) as usize, job.n_features)
            * SECONDS_PER_MULTIPLY;
        let learnt = n as f64 * (MEMBERS as f64 * SECONDS_PER_MEMBER_POINT + SECONDS_PER_POINT);
        let seconds = (searched + judged + learnt) / workers;
        let (mode, binned, precision) = (Mode::Exact, None, Precision::Double);
        let side_by_side = job.threads.clamp(1, MEMBERS as usize);
        Ok(Self { mode, binned, precision, side_by_side, bytes, limit, parts, seconds })
    }
}

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

/// Memory a run may use when nothing is said: 80 % of what is free, and never more than a container's limit. A
/// system that does not tell is taken to have 4 GiB free.
#[must_use]
pub fn default_memory_limit() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|kib| kib.parse::<u64>().ok())
        .map_or(4 << 30, |kib| kib * 1024);
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let container = number("/sys/fs/cgroup/memory.max")
        .map_or(u64::MAX, |most| most.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)));
    free.min(container) / 5 * 4
}

/// The most memory this process ever held, where the system tells.
#[must_use]
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

/// Multiplications of the neighbour search among n points of m features, choosing included: all pairs, or the cells
/// around the cell of every point.
#[must_use]
pub fn search_work(n: usize, m: usize) -> f64 {
    let (n, m) = (n as f64, m as f64 + 64.0);
    let all = n * n * m;
    if all <= neighbors::search::EXACT_WORK {
        return all;
    }
    let cells = n.sqrt().min(4096.0);
    all.min(n * m * (cells + PROBED_CELLS * n / cells))
}

/// The same of the search of the default method, which goes on with neighbours of neighbours where all pairs would
/// take long.
fn quick_search_work(n: usize, m: usize) -> f64 {
    // Sweeps, points that each looks at from every point, candidates that are measured, points that the recall is
    // read off.
    const LOOKS: f64 = 6.0 * 500.0;
    const MEASURED: f64 = 5.0 * 60.0;
    const ASKED: f64 = 256.0;
    let (short, n, m) = (m.min(128) as f64, n as f64, m as f64);
    let all = n * n * (m + 64.0);
    if all <= neighbors::search::QUICK_EXACT_WORK {
        return all;
    }
    let shortened = if m > short { short * m } else { 0.0 };
    all.min(n * (shortened + LOOKS * (short + 64.0) + MEASURED * m + ASKED * m))
}

/// Bytes as people read them.
#[must_use]
pub fn human_bytes(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(n: usize) -> Job {
        Job { n_samples: n, n_features: 64, n_clusters: 10, starts: 12, threads: 2, ranks: None }
    }

    #[test]
    fn narrows_before_it_refuses() {
        let wide = Plan::new(&job(10_000), Precision::Auto, 1 << 40).unwrap();
        assert_eq!((wide.precision, wide.side_by_side), (Precision::Double, 2));
        let alone = Plan::new(&job(10_000), Precision::Auto, wide.bytes - 1).unwrap();
        assert_eq!((alone.precision, alone.side_by_side), (Precision::Double, 1));
        let narrow = Plan::new(&job(10_000), Precision::Auto, alone.bytes - 1).unwrap();
        assert_eq!(narrow.precision, Precision::Single);
        let error = Plan::new(&job(10_000), Precision::Auto, 100 << 20).unwrap_err().to_string();
        assert!(error.contains("samples fit"), "{error}");
        let error = Plan::new(&job(10_000), Precision::Double, alone.bytes - 1).unwrap_err().to_string();
        assert!(error.contains("`precision` single"), "{error}");
    }

    #[test]
    fn exact_mode_keeps_its_promise_per_pair() {
        let n = 20_000_u64;
        let bytes = |precision| {
            Plan::new(&Job { starts: 1, threads: 1, ..job(n as usize) }, precision, 1 << 40).unwrap().bytes
        };
        assert!(bytes(Precision::Double) <= 24 * n * n);
        assert!(bytes(Precision::Single) <= 14 * n * n);
    }

    #[test]
    fn bytes_for_people() {
        assert_eq!(human_bytes(10), "10 B");
        assert_eq!(human_bytes(3 << 29), "1.5 GiB");
    }
}
