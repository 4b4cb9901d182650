//! Bytes and time a run will need, before it starts.
//!
//! Exact mode holds an affinity and a 16-bit rank for every pair (10 n² bytes in double precision, 6 n² in single) and
//! symmetric graphs at half a matrix each (4 n² or 2 n²): one for judging members, one for every member that runs,
//! the last of which later holds Z. Everything else grows with n.
//!
//! Binned mode holds 16 bytes for every known pair, of which there are at most n (2K + 2T), and 8 for every entry
//! of a graph.

mod binned;
mod choose;
mod compared;
mod exact;
mod lists;
#[cfg(test)]
mod tests;

pub(crate) use choose::needs_samples;
pub use choose::{plan, plan_held, plan_shared};

use crate::neighbors;
use crate::params::Mode;
use crate::slices::BinnedShape;

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
