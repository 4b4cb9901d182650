//! k-means: centres that minimise the sum of squared distances to the nearest one.
//!
//! k-means++ seeding (greedy unless told otherwise), Lloyd's iteration to a fixed point, best of several
//! restarts. Restart i draws from stream i of the seed and runs on one thread; restarts run side by side, and
//! the lowest inertia wins, the lowest restart among equals. The bits do not depend on the number of threads.
//!
//! Distances that cannot change a label are skipped by Hamerly's bounds; labels are those of the full search.
//!
//! A cluster that loses all its points takes the point farthest from its centre among clusters of two or more,
//! so that every cluster of the result has a member, even when there are fewer distinct points than clusters.
//!
//! Of more than 200,000 points a sample is clustered with all restarts, and Lloyd's iteration on all points begins
//! at the best of them (`large.rs`).
//!
//! Sources: Arthur and Vassilvitskii, k-means++ (2007); Hamerly, Making k-means even faster (2010); scikit-learn's
//! greedy variant, which tries 2 + ⌊ln k⌋ candidates per centre: with plain seeding, 20 restarts end far from the
//! optimum when k is large.

mod kernel;
mod large;
#[cfg(test)]
mod tests;

use crate::error::{DataError, ParamError, Result};
use crate::input::Samples;
use crate::math::rng::Stream;
use crate::observe::{Observer, Silent, Stage, go_on};
use crate::processes::Share;
use kernel::{LANES, Nearness, Packed, Tiles};
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

    /// Candidates for each centre.
    fn trials(&self) -> usize {
        match self.seeding {
            Seeding::Plain => 1,
            Seeding::Greedy => 2 + (self.n_clusters as f64).ln() as usize,
        }
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
    /// use nearfar::internals::KMeansParams;
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
        self.fit_observed(points, n, d, seed, &Silent)
    }

    /// The same, watched.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and when the observer asks to stop.
    pub fn fit_observed(
        &self,
        points: &[f64],
        n: usize,
        d: usize,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<KMeans> {
        self.fit_shared(points, (n, d), seed, None, observer)
    }

    /// The same where all points are here and others have them too: everybody does a part of the work and gets the
    /// result.
    pub(crate) fn fit_shared(
        &self,
        points: &[f64],
        (n, d): (usize, usize),
        seed: u64,
        share: Option<&Share>,
        observer: &dyn Observer,
    ) -> Result<KMeans> {
        self.check()?;
        Samples::from_rows(points, n, d)?.check()?;
        let n_clusters = self.n_clusters;
        if n_clusters > n {
            return Err(DataError::TooFewSamples { n_samples: n, n_clusters }.into());
        }
        if n > large::MANY {
            return large::fit(self, points, (n, d), seed, share, observer);
        }
        let (ranks, rank) = share.map_or((1, 0), |share| (share.team().size(), share.team().rank()));
        let tiles = Tiles::new(points, n, d);
        // Seeds are points: where all restarts together look at more pairs than there are, each is computed once.
        let looks = self.restarts.saturating_mul(n_clusters).saturating_mul(self.trials() + 1);
        let pairs = if n <= MOST_PAIRED && n < looks { kernel::pairs(&tiles, points) } else { Vec::new() };
        let best = (0..self.restarts)
            .into_par_iter()
            .filter(|restart| restart % ranks == rank)
            .filter(|_| !observer.cancelled()) // seeding alone can take a while
            .map(|restart| Restart::new(self, points, &tiles, &pairs).run(seed, restart, observer))
            .reduce_with(|a, b| if (b.inertia, b.restart) < (a.inertia, a.restart) { b } else { a });
        let best = match share {
            Some(share) => large::best_of_all(share, best, n, n_clusters * d),
            None => best,
        };
        go_on(observer, Stage::Labels)?;
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
        let mut found = Nearness::new(tiles.padded());
        kernel::nearest(&tiles, &centers, &mut found);
        labels.iter_mut().zip(found.labels).for_each(|(label, found)| *label = found as usize);
    });
    Ok(labels)
}

/// Up to this many points the distances of all pairs are kept for seeding: 8 MiB.
const MOST_PAIRED: usize = 1024;

/// One restart and its working memory.
struct Restart<'a> {
    params: &'a KMeansParams,
    points: &'a [f64],
    tiles: &'a Tiles,
    /// Squared distances of all pairs, or nothing.
    pairs: &'a [f64],
    centers: Vec<f64>,
    counts: Vec<usize>,
    labels: Vec<u64>,
    bounds: Bounds,
    /// Exact squared distance of every point to its centre: only right after [`Restart::assign_all`].
    exact: Nearness,
}

/// Hamerly's bounds: a point whose own centre is surely nearer than any other needs no look at the others.
///
/// Bounds carry a slack far above the rounding of distances, so labels are those of the full search, ties included.
struct Bounds {
    /// At least the distance of each point to its centre.
    upper: Vec<f64>,
    /// At most the distance of each point to any other centre.
    lower: Vec<f64>,
    /// How far each centre moved.
    shifts: Vec<f64>,
    /// Points whose bounds overlap, and their coordinates.
    stale: Vec<usize>,
    gathered: Tiles,
    found: Nearness,
    /// False in a test that compares with the full search.
    used: bool,
}

/// Relative slack of the bounds.
const SLACK: f64 = 1e-10;

impl Bounds {
    fn new(n: usize, d: usize, k: usize) -> Self {
        let half = (n / 2).next_multiple_of(LANES);
        Self {
            upper: vec![0.0; n],
            lower: vec![0.0; n],
            shifts: vec![0.0; k],
            stale: Vec::with_capacity(n),
            gathered: Tiles::with_capacity(half, d),
            found: Nearness::new(half),
            used: true,
        }
    }

    fn set(&mut self, i: usize, near: f64, second: f64) {
        self.upper[i] = near.sqrt() * (1.0 + SLACK);
        self.lower[i] = second.sqrt() * (1.0 - SLACK);
    }

    /// Widen the bounds by the shifts and list the points for which they overlap.
    fn widen(&mut self, labels: &[u64]) {
        let largest = self.shifts.iter().fold(0.0_f64, |m, s| m.max(*s));
        self.stale.clear();
        let bounds = self.upper.iter_mut().zip(&mut self.lower);
        for (i, ((upper, lower), label)) in bounds.zip(labels).enumerate() {
            *upper += self.shifts[*label as usize];
            *lower -= largest;
            if *upper >= *lower {
                self.stale.push(i);
            }
        }
    }
}

impl<'a> Restart<'a> {
    fn new(params: &'a KMeansParams, points: &'a [f64], tiles: &'a Tiles, pairs: &'a [f64]) -> Self {
        let Tiles { n, d, .. } = *tiles;
        let k = params.n_clusters;
        Self {
            params,
            points,
            tiles,
            pairs,
            centers: Vec::with_capacity(k * d),
            counts: vec![0; k],
            labels: vec![0; n],
            bounds: Bounds::new(n, d, k),
            exact: Nearness::new(tiles.padded()),
        }
    }

    /// Whoever asks to stop gets labels of some iteration, to be thrown away.
    fn run(mut self, seed: u64, restart: usize, observer: &dyn Observer) -> KMeans {
        self.seed(&mut Stream::new(seed, restart as u64));
        let mut old = vec![u64::MAX; self.labels.len()];
        let mut iterations = 0;
        while iterations < self.params.max_iter && !observer.cancelled() {
            iterations += 1;
            self.assign(iterations == 1);
            if old == self.labels {
                break;
            }
            old.copy_from_slice(&self.labels);
            self.move_centers();
        }
        let inertia = self.inertia();
        let labels = self.labels.iter().map(|label| *label as usize).collect();
        KMeans { labels, centers: self.centers, inertia, iterations, restart }
    }

    /// Give every point to its nearest centre, then fill empty clusters.
    fn assign(&mut self, first: bool) {
        let mut all = first || !self.bounds.used;
        if !all {
            self.bounds.widen(&self.labels);
            all = self.bounds.stale.len() > self.labels.len() / 2;
        }
        if all {
            self.assign_all();
        } else {
            self.assign_stale();
        }
        self.count();
        if self.counts.contains(&0) {
            if !all {
                self.assign_all();
            }
            self.fill_empty();
        }
    }

    fn assign_all(&mut self) {
        kernel::nearest(self.tiles, &Packed::new(&self.centers, self.tiles.d), &mut self.exact);
        self.labels.copy_from_slice(&self.exact.labels[..self.tiles.n]);
        for i in 0..self.labels.len() {
            self.bounds.set(i, self.exact.near[i], self.exact.second[i]);
        }
    }

    /// Look again at the points whose bounds overlap.
    fn assign_stale(&mut self) {
        let mut stale = std::mem::take(&mut self.bounds.stale);
        self.bounds.gathered.gather(self.points, &stale);
        let centers = Packed::new(&self.centers, self.tiles.d);
        kernel::nearest(&self.bounds.gathered, &centers, &mut self.bounds.found);
        for (j, i) in stale.iter().enumerate() {
            self.labels[*i] = self.bounds.found.labels[j];
            let (near, second) = (self.bounds.found.near[j], self.bounds.found.second[j]);
            self.bounds.set(*i, near, second);
        }
        stale.clear();
        self.bounds.stale = stale;
    }

    fn count(&mut self) {
        self.counts.fill(0);
        for label in &self.labels {
            self.counts[*label as usize] += 1;
        }
    }

    fn point(&self, i: usize) -> &'a [f64] {
        &self.points[i * self.tiles.d..(i + 1) * self.tiles.d]
    }

    /// Squared distances of point i to all points, where they are kept.
    fn known(&self, i: usize) -> Option<&'a [f64]> {
        let padded = self.tiles.padded();
        self.pairs.get(i * padded..(i + 1) * padded)
    }

    /// k-means++: each centre is drawn with a chance in proportion to its squared distance from the others.
    fn seed(&mut self, random: &mut Stream) {
        let (n, k) = (self.tiles.n, self.params.n_clusters);
        let trials = self.params.trials();
        let mut pick = random.below(n);
        let mut near = vec![0.0; self.tiles.padded()];
        near[..n].fill(f64::INFINITY);
        let mut cumulated = vec![0.0; n];
        loop {
            self.centers.extend_from_slice(self.point(pick));
            if self.centers.len() == k * self.tiles.d {
                return;
            }
            match self.known(pick) {
                Some(distances) => kernel::approach_known(distances, &mut near),
                None => kernel::approach(self.tiles, self.point(pick), &mut near),
            }
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
        let known = |i: &usize| self.known(*i).map(|distances| kernel::potential_known(distances, near));
        let potentials = candidates.iter().map(known).collect::<Option<Vec<f64>>>().unwrap_or_else(|| {
            let centers: Vec<f64> = candidates.iter().flat_map(|i| self.point(*i)).copied().collect();
            kernel::potentials(self.tiles, &Packed::new(&centers, self.tiles.d), near)
        });
        let best = (1..candidates.len()).fold(0, |b, i| if potentials[i] < potentials[b] { i } else { b });
        candidates[best]
    }

    /// Give every empty cluster the point farthest from its centre, out of a cluster of two or more. Counts and exact
    /// distances are up to date.
    fn fill_empty(&mut self) {
        for cluster in 0..self.counts.len() {
            if self.counts[cluster] > 0 {
                continue;
            }
            let (mut farthest, mut distance) = (None, -1.0);
            for (i, (label, near)) in self.labels.iter().zip(&self.exact.near).enumerate() {
                if *near > distance && self.counts[*label as usize] > 1 {
                    (farthest, distance) = (Some(i), *near);
                }
            }
            // There are at least as many points as clusters, so some cluster has two.
            let Some(i) = farthest else { return };
            self.counts[self.labels[i] as usize] -= 1;
            self.counts[cluster] = 1;
            self.labels[i] = cluster as u64;
            self.exact.near[i] = 0.0;
            self.bounds.upper[i] = f64::INFINITY;
        }
    }

    /// Every centre becomes the mean of its points.
    fn move_centers(&mut self) {
        let d = self.tiles.d;
        let before = self.centers.clone();
        self.centers.fill(0.0);
        for (point, label) in self.points.chunks_exact(d).zip(&self.labels) {
            let start = *label as usize * d;
            for (c, x) in self.centers[start..start + d].iter_mut().zip(point) {
                *c += x;
            }
        }
        for (cluster, (center, before)) in
            self.centers.chunks_exact_mut(d).zip(before.chunks_exact(d)).enumerate()
        {
            let mut squares = 0.0;
            for (c, b) in center.iter_mut().zip(before) {
                *c /= self.counts[cluster] as f64;
                squares += (*c - b) * (*c - b);
            }
            self.bounds.shifts[cluster] = squares.sqrt() * (1.0 + SLACK);
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
