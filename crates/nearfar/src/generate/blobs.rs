//! Gaussian clusters.

use super::{Generated, check_noise, check_sizes, numbered, share, shuffled};
use crate::error::ParamError;
use crate::math::rng::Stream;

/// Centres are drawn from this stream, points from stream 0.
const CENTERS: u64 = 1;

/// `clusters` round clusters of standard deviation `spread`, their centres uniform in a cube of side 20.
///
/// # Errors
/// When a size is 0 or too large, there are fewer samples than clusters, or the spread is not within 0 to 1e6.
pub fn blobs(
    n_samples: usize,
    n_features: usize,
    clusters: usize,
    spread: f64,
    seed: u64,
) -> Result<Generated, ParamError> {
    check(n_samples, n_features, clusters, spread)?;
    let centers = cube(n_features, clusters, seed);
    let mut random = Stream::new(seed, 0);
    let truth = shuffled(&share(n_samples, clusters), &mut random);
    Generated::from_rows(truth, numbered("x", n_features), |class, row| {
        scatter(&centers[class * n_features..][..n_features], spread, &mut random, row);
    })
}

/// Like [`blobs`], but cluster c of k has a width between 0.3 and 2 times `spread` and a size that falls as
/// 1/(c + 1), at least one sample.
///
/// # Errors
/// When a size is 0 or too large, there are fewer samples than clusters, or the spread is not within 0 to 1e6.
pub fn varied(
    n_samples: usize,
    n_features: usize,
    clusters: usize,
    spread: f64,
    seed: u64,
) -> Result<Generated, ParamError> {
    check(n_samples, n_features, clusters, spread)?;
    let centers = cube(n_features, clusters, seed);
    let mut random = Stream::new(seed, 0);
    // Widths evenly spaced, in random order, so that a large cluster may be narrow.
    let step = 1.7 / clusters.saturating_sub(1).max(1) as f64;
    let mut widths: Vec<f64> = (0..clusters).map(|c| spread * (0.3 + step * c as f64)).collect();
    random.shuffle(&mut widths);
    let truth = shuffled(&falling(n_samples, clusters), &mut random);
    Generated::from_rows(truth, numbered("x", n_features), |class, row| {
        scatter(&centers[class * n_features..][..n_features], widths[class], &mut random, row);
    })
}

/// `components` round Gaussians of standard deviation `spread`, no two centres closer than ten of them, so that the
/// truth can be found at any size; classes follow each other in turn. Values are rounded to f32, and so are the same
/// in both precisions.
///
/// # Errors
/// When a size is 0 or too large, there are fewer samples than components, or the spread is not within 0 to 1e6.
pub fn mixture(
    n_samples: usize,
    n_features: usize,
    components: usize,
    spread: f64,
    seed: u64,
) -> Result<Generated, ParamError> {
    check(n_samples, n_features, components, spread)?;
    let distance = if spread > 0.0 { 10.0 * spread } else { 1.0 };
    let centers = apart(n_features, components, distance, seed);
    let mut random = Stream::new(seed, 0);
    let truth = (0..n_samples).map(|i| i % components).collect();
    Generated::from_rows(truth, numbered("x", n_features), |class, row| {
        scatter(&centers[class * n_features..][..n_features], spread, &mut random, row);
        for v in row.iter_mut() {
            *v = f64::from(*v as f32);
        }
    })
}

fn check(n_samples: usize, n_features: usize, clusters: usize, spread: f64) -> Result<(), ParamError> {
    check_sizes(n_samples, n_features, clusters)?;
    check_noise(spread)
}

fn scatter(center: &[f64], spread: f64, random: &mut Stream, row: &mut [f64]) {
    row.iter_mut().zip(center).for_each(|(x, c)| *x = c + spread * random.normal());
}

fn cube(n_features: usize, clusters: usize, seed: u64) -> Vec<f64> {
    let mut random = Stream::new(seed, CENTERS);
    (0..clusters * n_features).map(|_| 20.0 * random.uniform() - 10.0).collect()
}

/// Centres in a cube, each at least `distance` from all before it; the cube grows when it is too full.
fn apart(n_features: usize, clusters: usize, distance: f64, seed: u64) -> Vec<f64> {
    let mut random = Stream::new(seed, CENTERS);
    let mut side = 2.0 * distance * (clusters as f64).powf(1.0 / n_features as f64);
    let mut centers: Vec<f64> = Vec::with_capacity(clusters * n_features);
    while centers.len() < clusters * n_features {
        let candidate: Vec<f64> = (0..n_features).map(|_| side * (random.uniform() - 0.5)).collect();
        let near = |center: &[f64]| {
            let squares = center.iter().zip(&candidate).map(|(a, b)| (a - b) * (a - b));
            squares.sum::<f64>() < distance * distance
        };
        if centers.chunks_exact(n_features).any(near) {
            side *= 1.01;
        } else {
            centers.extend(candidate);
        }
    }
    centers
}

/// Sizes in proportion to 1, 1/2, 1/3, …, each at least 1, `n` in all.
fn falling(n: usize, parts: usize) -> Vec<usize> {
    let whole: f64 = (1..=parts).map(|i| 1.0 / i as f64).sum();
    let spare = (n - parts) as f64;
    let mut sizes: Vec<usize> = (1..=parts).map(|i| 1 + (spare / (i as f64 * whole)) as usize).collect();
    let given: usize = sizes.iter().sum();
    // Each was rounded down; the first takes the rest.
    sizes[0] += n.saturating_sub(given);
    sizes
}
