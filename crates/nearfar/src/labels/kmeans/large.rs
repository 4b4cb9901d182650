//! k-means of many points: restarts on a sample, then Lloyd's iteration on all, from the best of them.
//!
//! Restarts differ by where they begin, and a sample of tens of thousands tells as well as all points which
//! beginning is best. Distances and sums run in fixed blocks that are added up in order, so that the bits do not
//! depend on the number of threads.

use rayon::prelude::*;

use super::kernel::{self, Nearness, Packed, Tiles};
use super::{KMeans, KMeansParams};
use crate::error::Result;
use crate::math::rng::Stream;
use crate::observe::{Observer, Stage, go_on};
use crate::processes::{Share, unit};

/// More points than this are many.
pub(super) const MANY: usize = 200_000;
/// Points of the sample.
const SAMPLE: usize = 50_000;
/// The iteration has come to rest when fewer points than one in this many change their cluster.
const REST: usize = 100_000;
/// Stream that draws the sample.
const STREAM: u64 = 1 << 40;

/// What a block of points says about the next centres.
struct Block {
    labels: Vec<u32>,
    near: Vec<f64>,
    sums: Vec<f64>,
}

/// What all points say.
struct Look {
    labels: Vec<u32>,
    /// Squared distances of the own points to their centres.
    near: Vec<f64>,
    /// Sum of these of every block, of all points.
    near_sums: Vec<f64>,
    /// By block: k × d sums of points, and k counts.
    sums: Vec<f64>,
}

/// The best of the restarts of all processes: the lowest inertia, the lowest restart among equals.
pub(super) fn best_of_all(share: &Share, mine: Option<KMeans>, n: usize, width: usize) -> Option<KMeans> {
    let team = share.team();
    team.agree();
    if team.size() == 1 {
        return mine;
    }
    let (inertia, restart) =
        mine.as_ref().map_or((f64::INFINITY, u64::MAX), |mine| (mine.inertia, mine.restart as u64));
    let (inertias, restarts) =
        (team.gather_even("restarts", &[inertia]), team.gather_even("restarts", &[restart]));
    let better = |best: usize, p: usize| {
        if (inertias[p], restarts[p]) < (inertias[best], restarts[best]) { p } else { best }
    };
    let winner = (1..team.size()).fold(0, better);
    if restarts[winner] == u64::MAX {
        return None;
    }
    let won = winner == team.rank();
    let only = |length: usize| (0..team.size()).map(|p| if p == winner { length } else { 0 }).collect();
    let (mut labels, mut rest) = (Vec::new(), Vec::new());
    if let (true, Some(mine)) = (won, &mine) {
        labels.extend(mine.labels.iter().map(|label| *label as u32));
        rest.extend_from_slice(&mine.centers);
        rest.push(mine.iterations as f64);
    }
    let only_labels: Vec<usize> = only(n);
    let only_rest: Vec<usize> = only(width + 1);
    let labels = team.gather_known("labels", &labels, &only_labels);
    let mut centers = team.gather_known("labels", &rest, &only_rest);
    let iterations = centers.pop().unwrap_or(0.0) as usize;
    Some(KMeans {
        labels: labels.into_iter().map(|label| label as usize).collect(),
        centers,
        inertia: inertias[winner],
        iterations,
        restart: restarts[winner] as usize,
    })
}

pub(super) fn fit(
    params: &KMeansParams,
    points: &[f64],
    (n, d): (usize, usize),
    seed: u64,
    share: Option<&Share>,
    observer: &dyn Observer,
) -> Result<KMeans> {
    let alone = Share::alone(n);
    let share = share.unwrap_or(&alone);
    let mut random = Stream::new(seed, STREAM);
    let mut places: Vec<usize> = (0..n).collect();
    for at in 0..SAMPLE.min(n) {
        let other = at + random.below(n - at);
        places.swap(at, other);
    }
    places.truncate(SAMPLE.max(params.n_clusters).min(n));
    let sample: Vec<f64> = places.iter().flat_map(|i| &points[i * d..(i + 1) * d]).copied().collect();
    let first = params.fit_shared(&sample, (places.len(), d), seed, Some(share), observer)?;
    let mut centers = first.centers;
    let mut labels: Vec<u32> = Vec::new();
    let mut iterations = 0;
    loop {
        share.team().agree();
        go_on(observer, Stage::Labels)?;
        let Look { labels: now, near, near_sums, sums } = look(points, d, &centers, share);
        let changed =
            if labels.is_empty() { n } else { now.iter().zip(&labels).filter(|(a, b)| a != b).count() };
        labels = now;
        iterations += 1;
        let counts = move_centers(&sums, &mut centers, d);
        let last = changed * REST <= n || iterations >= params.max_iter;
        if last {
            let inertia = near_sums.iter().sum();
            let mut labels: Vec<usize> = labels.iter().map(|label| *label as usize).collect();
            if counts.contains(&0) {
                fill_empty(share.gather_rows("distances to centres", &near, 1), counts, &mut labels);
            }
            return Ok(KMeans { labels, centers, inertia, iterations, restart: first.restart });
        }
    }
}

/// The nearest centre of every point, and the sums of the points of every centre, block by block.
fn look(points: &[f64], d: usize, centers: &[f64], share: &Share) -> Look {
    let (k, packed) = (centers.len() / d, Packed::new(centers, d));
    let (rows, block) = (share.rows(), unit(share.n_rows()));
    let blocks: Vec<Block> = points[rows.start * d..rows.end * d]
        .par_chunks(block * d)
        .map(|points| {
            let tiles = Tiles::new(points, points.len() / d, d);
            let mut found = Nearness::new(tiles.padded());
            kernel::nearest(&tiles, &packed, &mut found);
            let height = points.len() / d;
            let mut sums = vec![0.0; k * (d + 1)];
            for (point, label) in points.chunks_exact(d).zip(&found.labels) {
                let label = *label as usize;
                sums[k * d + label] += 1.0;
                sums[label * d..(label + 1) * d].iter_mut().zip(point).for_each(|(sum, x)| *sum += x);
            }
            let labels = found.labels[..height].iter().map(|label| *label as u32).collect();
            Block { labels, near: found.near[..height].to_vec(), sums }
        })
        .collect();
    let labels: Vec<u32> = blocks.iter().flat_map(|block| &block.labels).copied().collect();
    let near_sums: Vec<f64> = blocks.iter().map(|block| block.near.iter().sum()).collect();
    let sums: Vec<f64> = blocks.iter().flat_map(|block| &block.sums).copied().collect();
    Look {
        labels: share.gather_rows("labels", &labels, 1),
        near: blocks.into_iter().flat_map(|block| block.near).collect(),
        near_sums: share.gather_blocks("sums for centres", &near_sums, block, 1),
        sums: share.gather_blocks("sums for centres", &sums, block, k * (d + 1)),
    }
}

/// Every centre becomes the mean of its points; one without points stays. Answers the sizes.
fn move_centers(blocks: &[f64], centers: &mut [f64], d: usize) -> Vec<usize> {
    let k = centers.len() / d;
    let mut sums = vec![0.0; k * (d + 1)];
    for block in blocks.chunks_exact(k * (d + 1)) {
        sums.iter_mut().zip(block).for_each(|(sum, part)| *sum += part);
    }
    let counts: Vec<usize> = sums[k * d..].iter().map(|count| *count as usize).collect();
    for (cluster, center) in centers.chunks_exact_mut(d).enumerate().filter(|(c, _)| counts[*c] > 0) {
        let sums = &sums[cluster * d..(cluster + 1) * d];
        center.iter_mut().zip(sums).for_each(|(c, sum)| *c = sum / counts[cluster] as f64);
    }
    counts
}

/// Give every empty cluster the point farthest from its centre, out of a cluster of two or more.
fn fill_empty(mut near: Vec<f64>, mut counts: Vec<usize>, labels: &mut [usize]) {
    for cluster in 0..counts.len() {
        if counts[cluster] > 0 {
            continue;
        }
        let farthest = (0..near.len()).filter(|i| counts[labels[*i]] > 1).fold(
            None,
            |best: Option<usize>, i| match best {
                Some(best) if near[best] >= near[i] => Some(best),
                _ => Some(i),
            },
        );
        let Some(i) = farthest else { return };
        counts[labels[i]] -= 1;
        counts[cluster] = 1;
        (labels[i], near[i]) = (cluster, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Silent;
    use crate::processes::threads::as_team;

    #[test]
    fn finds_what_is_apart_and_fills_every_cluster() {
        let mut random = Stream::new(1, 1);
        let n = 3000;
        let points: Vec<f64> =
            (0..n).flat_map(|i| [(i % 4) as f64 * 10.0 + random.normal(), random.normal()]).collect();
        let found = fit(&KMeansParams::new(4).restarts(3), &points, (n, 2), 5, None, &Silent).unwrap();
        let truth: Vec<usize> = (0..n).map(|i| i % 4).collect();
        assert!(crate::labels::score::accuracy(&found.labels, &truth).unwrap() > 0.99);
        let exact = KMeansParams::new(4).restarts(3).fit(&points, n, 2, 5).unwrap();
        assert!((found.inertia / exact.inertia - 1.0).abs() < 1e-3);
        for size in [2, 3, 8] {
            let shared = as_team(size, |team| {
                let share = Share::new(team.clone(), n);
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
                let params = KMeansParams::new(4).restarts(3);
                pool.install(|| fit(&params, &points, (n, 2), 5, Some(&share), &Silent).unwrap())
            });
            assert!(shared.iter().all(|shared| *shared == found), "other clusters at {size} ranks");
        }
        // Two distinct points for three clusters.
        let twice: Vec<f64> = (0..n).map(|i| (i % 2) as f64).collect();
        let found = fit(&KMeansParams::new(3).restarts(2), &twice, (n, 1), 5, None, &Silent).unwrap();
        assert!((0..3).all(|c| found.labels.contains(&c)));
    }
}
