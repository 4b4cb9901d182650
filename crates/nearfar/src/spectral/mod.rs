//! spectral: the leading eigenvectors of the normalised similarity, and the embedding made of them.
//!
//! Ng, Jordan and Weiss: $N^{-1/2} Z N^{-1/2}$ with N the row sums of Z (its diagonal included), the r leading
//! eigenvectors, rows scaled to length one.

pub(crate) mod eigen;
pub(crate) mod embed;

use std::ops::Range;

use rayon::prelude::*;

use crate::error::{DataError, Error, Result};
use crate::labels::canonical::renumber;
use crate::labels::kmeans::KMeansParams;
use crate::math::factor::Factor;
use crate::observe::{Observer, Stage};
use crate::params::MANY_POINTS;
use crate::processes::Share;
use crate::slices::Graph;
use eigen::{Eigen, EigenParams, Operator, largest};

/// Residual at which eigenvectors are good enough to label rows by: their own error is about this over the gap.
pub const EIGEN_TOLERANCE: f64 = 1e-8;
/// The same where there are many points: a row's embedding is an estimate there, and one more digit costs minutes.
const LOOSE_TOLERANCE: f64 = 1e-5;

/// N^-½ Z N^-½ of a graph, as an operator.
#[derive(Debug)]
pub struct Normalized<'a, G> {
    graph: &'a G,
    /// 1/√(row sum + ε).
    scale: Vec<f64>,
}

impl<'a, G: Graph> Normalized<'a, G> {
    /// Of this graph, whose entries are 0 or more.
    pub fn new(graph: &'a G) -> Self {
        let scale = graph.degrees().iter().map(|d| 1.0 / (d + f64::EPSILON).sqrt()).collect();
        Self { graph, scale }
    }
}

impl<G> Normalized<'_, G> {
    /// Scale these rows of `x`, apply, scale the rows of `y`.
    fn rescaled(&self, x: &[f64], y: &mut [f64], rows: Range<usize>, apply: impl Fn(&[f64], &mut [f64])) {
        let n = rows.len();
        let mut scaled = x.to_vec();
        let scales = &self.scale[rows];
        let rescale = |values: &mut [f64]| {
            values.par_chunks_exact_mut(n.max(1)).for_each(|column| {
                column.iter_mut().zip(scales).for_each(|(value, scale)| *value *= scale);
            });
        };
        rescale(&mut scaled);
        apply(&scaled, y);
        rescale(y);
    }
}

impl<G: Graph> Operator for Normalized<'_, G> {
    fn size(&self) -> usize {
        self.scale.len()
    }

    fn apply(&self, x: &[f64], columns: usize, y: &mut [f64]) {
        self.rescaled(x, y, 0..self.scale.len(), |x, y| self.graph.apply(x, columns, y));
    }

    fn share(&self) -> Option<&Share> {
        self.graph.share()
    }

    fn apply_own(&self, x: &[f64], columns: usize, y: &mut [f64]) {
        let rows = self.graph.share().map_or(0..self.scale.len(), Share::rows);
        self.rescaled(x, y, rows, |x, y| self.graph.apply_own(x, columns, y));
    }

    fn guess(&self) -> (Vec<f64>, usize) {
        let rows = self.graph.share().map_or(0..self.scale.len(), Share::rows);
        let (mut guess, columns) = self.graph.guess();
        for column in guess.chunks_exact_mut(rows.len().max(1)) {
            column.iter_mut().zip(&self.scale[rows.clone()]).for_each(|(x, scale)| *x *= scale);
        }
        (guess, columns)
    }

    fn matrix(&self, a: &mut [f64]) {
        self.graph.matrix(a);
        for (column, own) in a.chunks_exact_mut(self.scale.len()).zip(&self.scale) {
            column.iter_mut().zip(&self.scale).for_each(|(a, scale)| *a *= own * scale);
        }
    }
}

/// Labels of a spectral clustering, with what they were made of.
#[derive(Clone, Debug)]
pub(crate) struct SpectralLabels {
    /// Numbered by first appearance.
    pub(crate) labels: Vec<usize>,
    /// n × r, row-major, rows of unit length.
    pub(crate) embedding: Vec<f64>,
    /// The r + 1 leading eigenvalues (fewer when n is smaller), descending.
    pub(crate) eigenvalues: Vec<f64>,
    /// Largest residual of the eigenvectors used, where the solver gave up; else `None`.
    pub(crate) residual: Option<f64>,
}

/// The leading eigenvectors of the normalised graph, one more than there are clusters.
pub(crate) fn eigenvectors<G: Graph>(
    graph: &G,
    r: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Eigen> {
    // The one beyond the clusters is there for the gap; it may lie in a bulk of eigenvalues that takes long to tell
    // apart.
    let (tolerance, judged) =
        if graph.size() > MANY_POINTS { (LOOSE_TOLERANCE, r) } else { (EIGEN_TOLERANCE, r + 1) };
    let params = EigenParams { tolerance, seed, judged, ..EigenParams::default() };
    largest(&Normalized::new(graph), r + 1, &params, &|| observer.cancelled())
        .ok_or(Error::Cancelled { stage: Stage::Spectral.name() })
}

/// Ng–Jordan–Weiss clustering of a graph.
pub(crate) fn cluster<G: Graph>(
    graph: &G,
    r: usize,
    restarts: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<SpectralLabels> {
    let n = graph.size();
    if r > n {
        return Err(DataError::TooFewSamples { n_samples: n, n_clusters: r }.into());
    }
    let eigen = eigenvectors(graph, r, seed, observer)?;
    label(&eigen, (n, graph.share()), r, restarts, seed, observer)
}

/// k-means on the rows of the leading eigenvectors; whoever shares the rows shares the work.
pub(crate) fn label(
    eigen: &Eigen,
    (n, share): (usize, Option<&Share>),
    r: usize,
    restarts: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<SpectralLabels> {
    let embedding = embed::row_normalize(&eigen.vectors[..n * r], n, r);
    let found =
        KMeansParams::new(r).restarts(restarts).fit_shared(&embedding, (n, r), seed, share, observer)?;
    let residual = eigen.residuals[..r].iter().copied().fold(0.0, f64::max);
    Ok(SpectralLabels {
        labels: renumber(&found.labels),
        embedding,
        eigenvalues: eigen.values.clone(),
        residual: (!eigen.converged).then_some(residual),
    })
}

/// Normalised cut of a labelling: Σ_c (1 − weight inside c / weight at c). Empty clusters count nothing.
pub(crate) fn normalized_cut<G: Graph>(graph: &G, labels: &[usize], r: usize) -> f64 {
    let n = labels.len();
    let mut indicator = vec![0.0; n * r];
    for (i, label) in labels.iter().enumerate() {
        indicator[label * n + i] = 1.0;
    }
    let factor = Factor::new(indicator, n, r);
    let mut product = vec![0.0; n * r];
    graph.times(&factor, &mut product);
    let (mut inside, mut volume) = (vec![0.0; r], vec![0.0; r]);
    let degrees = graph.degrees();
    for (i, &label) in labels.iter().enumerate() {
        inside[label] += product[label * n + i];
        volume[label] += degrees[i];
    }
    inside.iter().zip(&volume).filter(|(_, v)| **v > 0.0).map(|(i, v)| 1.0 - i / v).sum()
}
