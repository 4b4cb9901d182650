//! One restart: seeding, and Lloyd's iteration with Hamerly's bounds.

use super::kernel::{self, LANES, Nearness, Packed, Tiles};
use super::{KMeans, KMeansParams};
use crate::math::rng::Stream;
use crate::observe::Observer;

/// Up to this many points the distances of all pairs are kept for seeding: 8 MiB.
pub(super) const MOST_PAIRED: usize = 1024;

/// One restart and its working memory.
pub(super) struct Restart<'a> {
    params: &'a KMeansParams,
    points: &'a [f64],
    tiles: &'a Tiles,
    /// Squared distances of all pairs, or nothing.
    pairs: &'a [f64],
    centers: Vec<f64>,
    counts: Vec<usize>,
    labels: Vec<u64>,
    pub(super) bounds: Bounds,
    /// Exact squared distance of every point to its centre: only right after [`Restart::assign_all`].
    exact: Nearness,
}

/// Hamerly's bounds: a point whose own centre is surely nearer than any other needs no look at the others.
///
/// Bounds carry a slack far above the rounding of distances, so labels are those of the full search, ties included.
pub(super) struct Bounds {
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
    pub(super) used: bool,
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
    pub(super) fn new(
        params: &'a KMeansParams,
        points: &'a [f64],
        tiles: &'a Tiles,
        pairs: &'a [f64],
    ) -> Self {
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
    pub(super) fn run(mut self, seed: u64, restart: usize, observer: &dyn Observer) -> KMeans {
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
