//! k-means of many points: restarts on a sample, then Lloyd's iteration on all, from the best of them.
//!
//! Restarts differ by where they begin, and a sample of tens of thousands tells as well as all points which beginning is best. Distances and sums run in
//! fixed blocks that are added up in order, so that the bits do not depend on the number of threads.

use rayon::prelude::*;

use super::kernel::{self, Nearness, Packed, Tiles};
use super::{KMeans, KMeansParams};
use crate::error::Result;
use crate::math::rng::Stream;
use crate::observe::{Observer, Stage, go_on};

/// More points than this are many.
pub(super) const MANY: usize = 200_000;
/// Points of the sample.
const SAMPLE: usize = 50_000;
/// Rows of a block.
const ROWS: usize = 4096;
/// The iteration has come to rest when fewer points than one in this many change their cluster.
const REST: usize = 100_000;
/// Stream that draws the sample.
const STREAM: u64 = 1 << 40;

/// What a block of points says about the next centres.
struct Block {
    labels: Vec<u64>,
    near: Vec<f64>,
    sums: Vec<f64>,
    counts: Vec<usize>,
}

pub(super) fn fit(
    params: &KMeansParams,
    points: &[f64],
    n: usize,
    d: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<KMeans> {
    let mut random = Stream::new(seed, STREAM);
    let mut places: Vec<usize> = (0..n).collect();
    for at in 0..SAMPLE.min(n) {
        let other = at + random.below(n - at);
        places.swap(at, other);
    }
    places.truncate(SAMPLE.max(params.n_clusters).min(n));
    let sample: Vec<f64> = places.iter().flat_map(|i| &points[i * d..(i + 1) * d]).copied().collect();
    let first = params.fit_observed(&sample, places.len(), d, seed, observer)?;
    let mut centers = first.centers;
    let mut labels: Vec<u64> = Vec::new();
    let mut iterations = 0;
    loop {
        go_on(observer, Stage::Labels)?;
        let blocks = look(points, d, &centers);
        let now: Vec<u64> = blocks.iter().flat_map(|block| &block.labels).copied().collect();
        let changed =
            if labels.is_empty() { n } else { now.iter().zip(&labels).filter(|(a, b)| a != b).count() };
        labels = now;
        iterations += 1;
        let counts = move_centers(&blocks, &mut centers, d);
        let last = changed * REST <= n || iterations >= params.max_iter;
        if last {
            let inertia = blocks.iter().map(|block| block.near.iter().sum::<f64>()).sum();
            let mut labels: Vec<usize> = labels.iter().map(|label| *label as usize).collect();
            fill_empty(&blocks, counts, &mut labels);
            return Ok(KMeans { labels, centers, inertia, iterations, restart: first.restart });
        }
    }
}

/// The nearest centre of every point, and the sums of the points of every centre, block by block.
fn look(points: &[f64], d: usize, centers: &[f64]) -> Vec<Block> {
    let (k, packed) = (centers.len() / d, Packed::new(centers, d));
    points
        .par_chunks(ROWS * d)
        .map(|points| {
            let tiles = Tiles::new(points, points.len() / d, d);
            let mut found = Nearness::new(tiles.padded());
            kernel::nearest(&tiles, &packed, &mut found);
            let height = points.len() / d;
            let (mut sums, mut counts) = (vec![0.0; k * d], vec![0; k]);
            for (point, label) in points.chunks_exact(d).zip(&found.labels) {
                let label = *label as usize;
                counts[label] += 1;
                sums[label * d..(label + 1) * d].iter_mut().zip(point).for_each(|(sum, x)| *sum += x);
            }
            let (labels, near) = (found.labels[..height].to_vec(), found.near[..height].to_vec());
            Block { labels, near, sums, counts }
        })
        .collect()
}

/// Every centre becomes the mean of its points; one without points stays. Answers the sizes.
fn move_centers(blocks: &[Block], centers: &mut [f64], d: usize) -> Vec<usize> {
    let (mut sums, mut counts) = (vec![0.0; centers.len()], vec![0; centers.len() / d]);
    for block in blocks {
        sums.iter_mut().zip(&block.sums).for_each(|(sum, part)| *sum += part);
        counts.iter_mut().zip(&block.counts).for_each(|(count, part)| *count += part);
    }
    for (cluster, center) in centers.chunks_exact_mut(d).enumerate().filter(|(c, _)| counts[*c] > 0) {
        let sums = &sums[cluster * d..(cluster + 1) * d];
        center.iter_mut().zip(sums).for_each(|(c, sum)| *c = sum / counts[cluster] as f64);
    }
    counts
}

/// Give every empty cluster the point farthest from its centre, out of a cluster of two or more.
fn fill_empty(blocks: &[Block], mut counts: Vec<usize>, labels: &mut [usize]) {
    if counts.iter().all(|count| *count > 0) {
        return;
    }
    let mut near: Vec<f64> = blocks.iter().flat_map(|block| &block.near).copied().collect();
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

    #[test]
    fn finds_what_is_apart_and_fills_every_cluster() {
        let mut random = Stream::new(1, 1);
        let n = 3000;
        let points: Vec<f64> =
            (0..n).flat_map(|i| [(i % 4) as f64 * 10.0 + random.normal(), random.normal()]).collect();
        let found = fit(&KMeansParams::new(4).restarts(3), &points, n, 2, 5, &Silent).unwrap();
        let truth: Vec<usize> = (0..n).map(|i| i % 4).collect();
        assert!(crate::labels::score::accuracy(&found.labels, &truth).unwrap() > 0.99);
        let exact = KMeansParams::new(4).restarts(3).fit(&points, n, 2, 5).unwrap();
        assert!((found.inertia / exact.inertia - 1.0).abs() < 1e-3);
        // Two distinct points for three clusters.
        let twice: Vec<f64> = (0..n).map(|i| (i % 2) as f64).collect();
        let found = fit(&KMeansParams::new(3).restarts(2), &twice, n, 1, 5, &Silent).unwrap();
        assert!((0..3).all(|c| found.labels.contains(&c)));
    }
}
