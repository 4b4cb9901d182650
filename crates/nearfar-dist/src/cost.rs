//! What a binned LSDG run costs on any number of ranks and any network: compute from kernel speeds, communication
//! from latency and bandwidth.
//!
//! Every step is counted as the library does it: rows of data, neighbours, pairs, graphs, T V and the directions of
//! the columns are split; V itself, to which every direction is added, and its rows of nonzeros are made in every
//! rank. A gather of b bytes in all costs ⌈log₂ ranks⌉ latencies and its bytes over the bandwidth.

use nearfar::internals::{BinnedShape, Job, search_work};
use nearfar::{Plan, Precision};

/// Speeds of one thread, and of the network between ranks.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Speeds {
    /// Seconds per multiplication of the neighbour search (half a fused pair, choosing included).
    pub multiply: f64,
    /// Seconds per known pair and iteration: rebuilding T, T V, directions, step lengths, c.
    pub entry: f64,
    /// Seconds per number of V that a sweep moves, for what every rank does.
    pub moved: f64,
    /// Seconds per known pair and column of an eigenvector product.
    pub product: f64,
    /// Seconds of one message, however short.
    pub latency: f64,
    /// Bytes a second that a rank receives.
    pub bandwidth: f64,
}

impl Default for Speeds {
    /// One processor of the machine of docs/scale.md, as `cargo xtask bench-ranks` found them there; ranks of one
    /// machine.
    fn default() -> Self {
        Self {
            multiply: 1.0 / 32e9,
            entry: 30e-9,
            moved: 97e-9,
            product: 0.25e-9,
            latency: 2e-6,
            bandwidth: 5e9,
        }
    }
}

/// The run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Sizes; `ranks` too.
    pub job: Job,
    /// Near ranks, partners and bins.
    pub shape: BinnedShape,
    /// Iterations of one start.
    pub iterations: f64,
    /// Columns that the eigensolver multiplies.
    pub products: f64,
}

/// One stage.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct StageCost {
    /// Its name.
    pub stage: &'static str,
    /// Seconds of computing on the busiest rank.
    pub compute: f64,
    /// Seconds of communication.
    pub network: f64,
    /// Bytes that one rank receives.
    pub bytes: f64,
}

/// What a run will take.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Cost {
    /// Number of ranks.
    pub ranks: usize,
    /// Stages in their order.
    pub stages: Vec<StageCost>,
    /// Seconds in all.
    pub seconds: f64,
    /// Bytes of memory of one rank.
    pub memory: u64,
    /// Bytes of it that are V and what is made of it, the same in every rank.
    pub replicated: u64,
}

/// Columns that move at a point in one sweep, of any number: `steps` of a run of 30,000 points and 20 clusters.
const MOVED: f64 = 3.5;
/// What a gather of a direction has room for, of what was needed for the one before.
const ROOM: f64 = 1.25;

impl Run {
    /// Its cost at these speeds.
    #[must_use]
    pub fn cost(&self, speeds: &Speeds) -> Cost {
        let Job { n_samples, n_features, n_clusters, starts, threads, ranks } = self.job;
        let ranks = ranks.unwrap_or(1).max(1);
        let [n, m, r] = [n_samples, n_features, n_clusters].map(|x| x as f64);
        let (near, far) = (self.shape.near as f64, (2 * self.shape.far) as f64);
        let workers = (ranks * threads.max(1)) as f64;
        let entries = n * (2.0 * near + far).min(n);
        let work = search_work(n_samples, n_features);
        let gather = |calls: f64, bytes: f64| Self::gather(calls, bytes, ranks, speeds);
        let search = StageCost {
            stage: "neighbors",
            compute: work * speeds.multiply / workers,
            ..gather(ranks as f64, 4.0 * n * m)
        };
        // Points pass once more; lists and bins go to whoever is on them.
        let slices = StageCost {
            stage: "slices",
            compute: entries * 40e-9 / workers,
            ..gather(near + far + ranks as f64, 4.0 * n * m + n * (16.0 * near + 8.0 * far) / ranks as f64)
        };
        let steps = starts as f64 * self.iterations;
        // Rows and values of every column's direction, with some room, and the sums of 256 units of rows for its
        // step length; VᵀV and c.
        let moved = n * r.min(MOVED);
        let sums = 256.0 * (r * (r + 2.0) + near + self.shape.bins as f64);
        let sweep = ROOM * 12.0 * moved + 8.0 * (sums + r * r);
        let learn = StageCost {
            stage: "learn",
            compute: steps * (entries * speeds.entry / workers + moved * speeds.moved),
            ..gather(steps * (2.0 * r + 3.0), steps * sweep)
        };
        let judged = if starts > 1 { starts as f64 + 1.0 } else { 1.0 };
        let columns = judged * self.products;
        let spectral = StageCost {
            stage: "spectral",
            compute: columns * (entries * speeds.product + n * 12.0 * (r + 1.0) * 1e-9) / workers,
            ..gather(5.0 * columns / (r + 1.0), columns * 8.0 * n)
        };
        let labels = StageCost {
            stage: "labels",
            compute: judged * 20.0 * 40.0 * n.min(2e5) * r * r * 0.2e-9 / workers,
            ..gather(judged * 40.0, judged * 40.0 * 4.0 * n)
        };
        let stages = vec![search, slices, learn, spectral, labels];
        let seconds = stages.iter().map(|stage| stage.compute + stage.network).sum();
        let plan = Plan::binned(&self.job, self.shape, Precision::Single, u64::MAX).ok();
        let part = |name: &str| {
            let parts = plan.iter().flat_map(|plan| &plan.parts);
            parts.filter(|part| part.0 == name).map(|part| part.1).sum::<u64>()
        };
        let (memory, replicated) = (plan.as_ref().map_or(0, |plan| plan.bytes), part("factors"));
        Cost { ranks, stages, seconds, memory, replicated }
    }

    /// So many gathers of so many bytes together.
    fn gather(calls: f64, bytes: f64, ranks: usize, speeds: &Speeds) -> StageCost {
        let others = (ranks - 1) as f64 / ranks as f64;
        let hops = (ranks as f64).log2().ceil();
        let bytes = bytes * others;
        StageCost {
            stage: "",
            compute: 0.0,
            network: calls * hops * speeds.latency + bytes / speeds.bandwidth,
            bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(n_samples: usize, ranks: usize) -> Run {
        let job =
            Job { n_samples, n_features: 64, n_clusters: 20, starts: 1, threads: 1, ranks: Some(ranks) };
        let shape = BinnedShape { near: 64, far: 64, bins: 64 };
        Run { job, shape, iterations: 130.0, products: 300.0 }
    }

    #[test]
    fn more_ranks_take_less_time_and_memory_until_v_and_the_network_rule() {
        let speeds = Speeds::default();
        let costs: Vec<Cost> =
            [1, 2, 4, 8, 1024].iter().map(|ranks| run(1_000_000, *ranks).cost(&speeds)).collect();
        assert!(costs[..4].windows(2).all(|pair| pair[1].seconds < pair[0].seconds));
        assert!(costs[..4].windows(2).all(|pair| pair[1].memory < pair[0].memory));
        assert!(costs.iter().all(|cost| cost.replicated == costs[0].replicated));
        assert_eq!(costs[0].stages.iter().map(|stage| stage.network).sum::<f64>(), 0.0);
        // V alone stays, so that a thousand ranks are far from a thousand times as fast.
        assert!(costs[4].seconds > costs[0].seconds / 200.0);
        assert!(costs[4].memory > costs[4].replicated);
    }

    #[test]
    fn a_slower_network_costs_more() {
        let fast = run(200_000, 4).cost(&Speeds::default()).seconds;
        let slow = Speeds { latency: 50e-6, bandwidth: 1e8, ..Speeds::default() };
        assert!(run(200_000, 4).cost(&slow).seconds > fast);
    }
}
