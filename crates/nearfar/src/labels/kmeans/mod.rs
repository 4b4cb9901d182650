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
mod restart;
#[cfg(test)]
mod tests;

use crate::error::{DataError, ParamError, Result};
use crate::input::Samples;
use crate::observe::{Observer, Silent, Stage, go_on};
use crate::processes::Share;
use kernel::{Nearness, Packed, Tiles};
use rayon::prelude::*;
use restart::{MOST_PAIRED, Restart};

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
