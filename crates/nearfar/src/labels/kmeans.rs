//! k-means: centres that minimise the sum of squared distances to the nearest one.
//!
//! k-means++ seeding (greedy unless told otherwise), Lloyd's iteration to a fixed point, best of several
//! restarts. Restart i draws from stream i of the seed and runs on one thread; restarts run side by side, and
//! the lowest inertia wins, the lowest restart among equals. The bits do not depend on the number of threads.
//!
//! A cluster that loses all its points takes the point farthest from its centre among clusters of two or more,
//! so that every cluster of the result has a member, even when there are fewer distinct points than clusters.
//!
//! Sources: Arthur and Vassilvitskii, k-means++ (2007); scikit-learn's greedy variant, which tries
//! 2 + ⌊ln k⌋ candidates per centre: with plain seeding, 20 restarts end far from the optimum when k is large.

mod kernel;
#[cfg(test)]
mod tests;

use crate::error::{DataError, ParamError, Result};
use crate::math::rng::Stream;
use crate::samples::Samples;
use kernel::{Packed, Tiles};
use rayon::prelude::*;

/// How the first centres are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seeding {
    /// k-means++ with 2 + ⌊ln k⌋ candidates for each centre, of which the best is kept.
    #[default]
    Greedy,
    /// k-means++ as published: one candidate.
    Plain,
}

/// What a caller may set; nothing is judged before [`fit`](Self::fit).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KMeansParams {
    n_clusters: usize,
    restarts: usize,
    max_iter: usize,
    seeding: Seeding,
}

/// The best of the restarts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KMeans {
    /// Cluster of every point, 0 to k − 1; every cluster has a member.
    pub labels: Vec<usize>,
    /// k × d, row-major: the means of the clusters.
    pub centers: Vec<f64>,
    /// Sum of squared distances of the points to the centre of their cluster.
    pub inertia: f64,
    /// Lloyd iterations of the restart that won.
    pub iterations: usize,
    /// The restart that won, from 0.
    pub restart: usize,
}

impl KMeansParams {
    /// `n_clusters` clusters; 20 restarts of at most 300 iterations with greedy seeding.
    #[must_use]
    pub fn new(n_clusters: usize) -> Self {
        Self { n_clusters, restarts: 20, max_iter: 300, seeding: Seeding::default() }
    }

    /// Independent runs, of which the best is kept. At least 1.
    #[must_use]
    pub fn restarts(self, restarts: usize) -> Self {
        Self { restarts, ..self }
    }

    /// Most Lloyd iterations of a restart. At least 1.
    #[must_use]
    pub fn max_iter(self, max_iter: usize) -> Self {
        Self { max_iter, ..self }
    }

    /// How the first centres are drawn.
    #[must_use]
    pub fn seeding(self, seeding: Seeding) -> Self {
        Self { seeding, ..self }
    }

    /// Every range in one place.
    ///
    /// # Errors
    /// Names the first parameter out of range.
    pub fn check(&self) -> Result<(), ParamError> {
        let at_least_one = "1 or more";
        ParamError::unless(self.n_clusters > 0, "n_clusters", self.n_clusters, at_least_one)?;
        ParamError::unless(self.restarts > 0, "restarts", self.restarts, at_least_one)?;
        ParamError::unless(self.max_iter > 0, "max_iter", self.max_iter, at_least_one)
    }

    /// Cluster the rows of an n × d row-major matrix.
    ///
    /// ```
    /// use nearfar::labels::kmeans::KMeansParams;
    /// let points = [0.0, 0.1, 9.0, 9.1];
    /// let found = KMeansParams::new(2).fit(&points, 4, 1, 0)?;
    /// assert_eq!(found.labels[0], found.labels[1]);
    /// assert_ne!(found.labels[0], found.labels[2]);
    /// assert!((found.inertia - 0.01).abs() < 1e-12);
    /// # Ok::<(), nearfar::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a parameter is out of range, the buffer does not hold n × d finite values, or there are fewer points
    /// than clusters.
    pub fn fit(&self, points: &[f64], n: usize, d: usize, seed: u64) -> Result<KMeans> {
        self.check()?;
        Samples::from_rows(points, n, d)?.check()?;
        let n_clusters = self.n_clusters;
        if n_clusters > n {
            return Err(DataError::TooFewSamples { n_samples: n, n_clusters }.into());
        }
        let tiles = Tiles::new(points, n, d);
        let best = (0..self.restarts)
            .into_par_iter()
            .map(|restart| Restart::new(self, points, &tiles).run(seed, restart))
            .reduce_with(|a, b| if (b.inertia, b.restart) < (a.inertia, a.restart) { b } else { a });
        // `restarts` is at least 1, so there is a best one.
        best.ok_or_else(|| ParamError::new("restarts", self.restarts, "1 or more").into())
    }
}

/// The nearest centre of every row of an n × d row-major matrix, the lowest number among equals.
///
/// # Errors
/// When the points or the centres (k × d, row-major) do not have that shape or are not finite.
pub fn assign(points: &[f64], n: usize, d: usize, centers: &[f64]) -> Result<Vec<usize>> {
    const ROWS: usize = 1024;
    Samples::from_rows(points, n, d)?.check()?;
    Samples::from_rows(centers, centers.len() / d.max(1), d)?.check()?;
    let centers = Packed::new(centers, d);
    let mut labels = vec![0; n];
    labels.par_chunks_mut(ROWS).zip(points.par_chunks(ROWS * d)).for_each(|(labels, points)| {
        let tiles = Tiles::new(points, labels.len(), d);
        let (mut found, mut near) = (vec![0; tiles.padded()], vec![0.0; tiles.padded()]);
        kernel::nearest(&tiles, &centers, &mut found, &mut near);
        labels.iter_mut().zip(found).for_each(|(label, found)| *label = found as usize);
    });
    Ok(labels)
}

/// One restart and its working memory.
struct Restart<'a> {
    params: &'a KMeansParams,
    points: &'a [f64],
    tiles: &'a Tiles,
    centers: Vec<f64>,
    counts: Vec<usize>,
    /// With padding, as the kernels want it.
    labels: Vec<u64>,
    /// Squared distance of every point to its centre, with padding.
    near: Vec<f64>,
}

impl<'a> Restart<'a> {
    fn new(params: &'a KMeansParams, points: &'a [f64], tiles: &'a Tiles) -> Self {
        let (k, padded) = (params.n_clusters, tiles.padded());
        let (labels, near) = (vec![0; padded], vec![0.0; padded]);
        Self {
            params,
            points,
            tiles,
            centers: Vec::with_capacity(k * tiles.d),
            counts: vec![0; k],
            labels,
            near,
        }
    }

    fn run(mut self, seed: u64, restart: usize) -> KMeans {
        let n = self.tiles.n;
        self.seed(&mut Stream::new(seed, restart as u64));
        let mut old = vec![u64::MAX; n];
        let mut iterations = 0;
        while iterations < self.params.max_iter {
            iterations += 1;
            let centers = Packed::new(&self.centers, self.tiles.d);
            kernel::nearest(self.tiles, &centers, &mut self.labels, &mut self.near);
            self.fill_empty();
            if old == self.labels[..n] {
                break;
            }
            old.copy_from_slice(&self.labels[..n]);
            self.move_centers();
        }
        let inertia = self.inertia();
        let labels = old.iter().map(|label| *label as usize).collect();
        KMeans { labels, centers: self.centers, inertia, iterations, restart }
    }

    fn point(&self, i: usize) -> &'a [f64] {
        &self.points[i * self.tiles.d..(i + 1) * self.tiles.d]
    }

    /// k-means++: each centre is drawn with a chance in proportion to its squared distance from the others.
    fn seed(&mut self, random: &mut Stream) {
        let (n, k) = (self.tiles.n, self.params.n_clusters);
        let trials = match self.params.seeding {
            Seeding::Plain => 1,
            Seeding::Greedy => 2 + (k as f64).ln() as usize,
        };
        let mut pick = random.below(n);
        let mut near = vec![0.0; self.tiles.padded()];
        near[..n].fill(f64::INFINITY);
        let mut cumulated = vec![0.0; n];
        loop {
            self.centers.extend_from_slice(self.point(pick));
            if self.centers.len() == k * self.tiles.d {
                return;
            }
            kernel::approach(self.tiles, self.point(pick), &mut near);
            let mut total = 0.0;
            for (sum, near) in cumulated.iter_mut().zip(&near) {
                total += near;
                *sum = total;
            }
            let draws: Vec<usize> = (0..trials).map(|_| draw(&cumulated, total, random)).collect();
            pick = if trials == 1 { draws[0] } else { self.best_candidate(&draws, &near) };
        }
    }

    /// The candidate that lowers the sum of squared distances most, the first among equals.
    fn best_candidate(&self, candidates: &[usize], near: &[f64]) -> usize {
        let centers: Vec<f64> = candidates.iter().flat_map(|i| self.point(*i)).copied().collect();
        let potentials = kernel::potentials(self.tiles, &Packed::new(&centers, self.tiles.d), near);
        let best = (1..candidates.len()).fold(0, |b, i| if potentials[i] < potentials[b] { i } else { b });
        candidates[best]
    }

    /// Give every empty cluster the point farthest from its centre, out of a cluster of two or more.
    fn fill_empty(&mut self) {
        let n = self.tiles.n;
        self.counts.fill(0);
        self.labels[..n].iter().for_each(|label| self.counts[*label as usize] += 1);
        for cluster in 0..self.counts.len() {
            if self.counts[cluster] > 0 {
                continue;
            }
            let (mut farthest, mut distance) = (None, -1.0);
            for i in 0..n {
                if self.near[i] > distance && self.counts[self.labels[i] as usize] > 1 {
                    (farthest, distance) = (Some(i), self.near[i]);
                }
            }
            // There are at least as many points as clusters, so some cluster has two.
            let Some(i) = farthest else { return };
            self.counts[self.labels[i] as usize] -= 1;
            self.counts[cluster] = 1;
            self.labels[i] = cluster as u64;
            self.near[i] = 0.0;
        }
    }

    /// Every centre becomes the mean of its points.
    fn move_centers(&mut self) {
        let d = self.tiles.d;
        self.centers.fill(0.0);
        for (point, label) in self.points.chunks_exact(d).zip(&self.labels) {
            let start = *label as usize * d;
            self.centers[start..start + d].iter_mut().zip(point).for_each(|(c, x)| *c += x);
        }
        for (center, count) in self.centers.chunks_exact_mut(d).zip(&self.counts) {
            for c in center.iter_mut() {
                *c /= *count as f64;
            }
        }
    }

    fn inertia(&self) -> f64 {
        let d = self.tiles.d;
        let squares = |(point, label): (&[f64], &u64)| {
            let start = *label as usize * d;
            let pairs = point.iter().zip(&self.centers[start..start + d]);
            pairs.map(|(x, c)| (x - c) * (x - c)).sum::<f64>()
        };
        self.points.chunks_exact(d).zip(&self.labels).map(squares).sum()
    }
}

/// An index with a chance in proportion to its share of `total`; any index when all shares are zero.
fn draw(cumulated: &[f64], total: f64, random: &mut Stream) -> usize {
    let n = cumulated.len();
    if total > 0.0 && total.is_finite() {
        let at = random.uniform() * total;
        cumulated.partition_point(|sum| *sum <= at).min(n - 1)
    } else {
        random.below(n)
    }
}
