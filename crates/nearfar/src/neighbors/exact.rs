//! Every point against every other, by blocked matrix products.
//!
//! ‖x‖² + ‖y‖² − 2xᵀy loses digits when x and y are close, so that a value below 10⁻³ of its terms, and
//! any two values whose order is within rounding, are computed again from the differences. Integers small enough to be
//! exact in f64 (pixels, counts) need none of that. All values are first scaled by a power of two, which changes no digit, so
//! that neither 1e300 nor 1e-300 overflows or vanishes when squared.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::order::{Doubt, RowOrder, RowScale};
use super::{Metric, Neighborhoods, sigma_warnings};
use crate::error::{DataError, Result};
use crate::math::kernel::{Entry, distance2_lanes, norm2, normalize, vectorized};
use crate::observe::{Event, Observer, Stage, go_on};
use crate::samples::Samples;

/// Rows ranked together.
const BLOCK: usize = 64;

/// Up to this many features the differences are as cheap as a matrix product.
const FEW_FEATURES: usize = 24;

/// Rank all samples against all.
pub(crate) fn rank<E: Entry>(
    samples: &Samples<'_>,
    metric: Metric,
    observer: &dyn Observer,
) -> Result<Neighborhoods<E>> {
    samples.check()?;
    let points = Points::prepare(samples, metric)?;
    let n = points.n;
    let mut values = vec![E::default(); n * n];
    values.par_chunks_mut(BLOCK * n).enumerate().try_for_each(|(block, values)| {
        go_on(observer, Stage::Neighbors)?;
        points.measure_block(block * BLOCK, values);
        Ok::<(), crate::Error>(())
    })?;
    mirror(&mut values, n);
    let mut rank = vec![0_u16; n * n];
    let precise = points.precision::<E>();
    let scales: Result<Vec<Vec<RowScale>>> = values
        .par_chunks_mut(BLOCK * n)
        .zip(rank.par_chunks_mut(BLOCK * n))
        .enumerate()
        .map(|(block, (values, rank))| {
            go_on(observer, Stage::Neighbors)?;
            let scales = points.rank_block(block * BLOCK, values, rank, precise);
            let (done, total) = (scales.len() as u64, n as u64);
            observer.notice(&Event::Progress { stage: Stage::Neighbors, done, total });
            Ok(scales)
        })
        .collect();
    let scales: Vec<RowScale> = scales?.into_iter().flatten().collect();
    let mut sigma: Vec<f64> = scales.iter().map(|s| s.value.sqrt()).collect();
    let replaced: Vec<bool> = scales.iter().map(|s| s.replaced).collect();
    let warnings = sigma_warnings(n, &mut sigma, &replaced);
    Ok(Neighborhoods { n, values, rank, sigma: Some(sigma), unit: points.unit, warnings })
}

/// Copy the upper triangle (by blocks of rows) to the lower one.
fn mirror<E: Entry>(values: &mut [E], n: usize) {
    for first in (BLOCK..n).step_by(BLOCK) {
        let (above, rest) = values.split_at_mut(first * n);
        let height = BLOCK.min(n - first);
        rest[..height * n].par_chunks_mut(16 * n).enumerate().for_each(|(part, rows)| {
            // Tile by tile, so that the columns read stay in cache.
            for tile in (0..first).step_by(BLOCK) {
                for (a, row) in rows.chunks_exact_mut(n).enumerate() {
                    let i = first + part * 16 + a;
                    for j in tile..tile + BLOCK {
                        row[j] = above[j * n + i];
                    }
                }
            }
        });
    }
}

/// How squared distances are computed.
enum Way {
    /// From differences, feature by feature; `by_feature` is m × n.
    Differences { by_feature: Vec<f64> },
    /// By products of exact integers: no rounding anywhere.
    Integers,
    /// By products of centred values; close calls again from differences.
    Products { centred: Vec<f64> },
}

pub(super) struct Points {
    n: usize,
    m: usize,
    /// n × m row-major, scaled.
    rows: Vec<f64>,
    norms2: Vec<f64>,
    way: Way,
    unit: f64,
}

impl Points {
    pub(super) fn prepare(samples: &Samples<'_>, metric: Metric) -> Result<Self> {
        let (n, m) = (samples.n_samples(), samples.n_features());
        let mut rows = vec![0.0; n * m];
        rows.par_chunks_mut(m).enumerate().for_each(|(i, row)| samples.copy_row(i, row));
        if metric == Metric::Cosine {
            for (i, row) in rows.chunks_mut(m).enumerate() {
                if !normalize(row) {
                    return Err(DataError::ZeroRow { row: i }.into());
                }
            }
        }
        let largest = rows.par_iter().copied().map(f64::abs).reduce(|| 0.0, f64::max);
        let whole = largest > 0.0
            && largest * largest * 4.0 * m as f64 <= 2_f64.powi(52)
            && rows.par_iter().all(|x| x.fract() == 0.0);
        let unit = if whole { 1.0 } else { power_of_two_above(largest) };
        if unit != 1.0 {
            rows.par_iter_mut().for_each(|x| *x /= unit);
        }
        let way = if m <= FEW_FEATURES {
            let mut by_feature = vec![0.0; n * m];
            for (i, row) in rows.chunks_exact(m).enumerate() {
                for (f, x) in row.iter().enumerate() {
                    by_feature[f * n + i] = *x;
                }
            }
            Way::Differences { by_feature }
        } else if whole {
            Way::Integers
        } else {
            Way::Products { centred: centre(&rows, n, m) }
        };
        let measured = if let Way::Products { centred } = &way { centred } else { &rows };
        let norms2 = measured.par_chunks(m).map(norm2).collect();
        Ok(Self { n, m, rows, norms2, way, unit })
    }

    pub(super) fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.m..(i + 1) * self.m]
    }

    pub(super) fn distance2(&self, i: usize, j: usize) -> f64 {
        vectorized(
            #[inline(always)]
            || distance2_lanes(self.row(i), self.row(j)),
        )
    }

    /// Rows, features, all rows scaled, and what they were divided by.
    pub(super) fn parts(&self) -> (usize, usize, &[f64], f64) {
        (self.n, self.m, &self.rows, self.unit)
    }

    /// How near two stored values must be for their order to be in doubt; `None` when they are exact.
    fn precision<E: Entry>(&self) -> Option<Doubt> {
        let most = 4.0 * self.norms2.iter().copied().fold(0.0, f64::max);
        match (&self.way, E::BYTES) {
            (Way::Products { .. }, 8) => Some(Doubt::OfProducts),
            (_, 8) => None,
            (Way::Integers, _) if most < 2_f64.powi(24) => None,
            _ => Some(Doubt::OfStorage),
        }
    }

    /// Squared distances of the rows from `first` on to the points from `first` on.
    fn measure_block<E: Entry>(&self, first: usize, values: &mut [E]) {
        let (n, height) = (self.n, values.len() / self.n);
        let width = n - first;
        let mut squared = vec![0.0; height * width];
        match &self.way {
            Way::Differences { by_feature } => {
                for (a, squared) in squared.chunks_exact_mut(width).enumerate() {
                    let x = self.row(first + a);
                    vectorized(
                        #[inline(always)]
                        || squared_differences(x, by_feature, n, first, squared),
                    );
                }
            }
            Way::Integers => self.squared_by_products(&self.rows, first, &mut squared),
            Way::Products { centred } => self.squared_by_products(centred, first, &mut squared),
        }
        for (a, squared) in squared.chunks_exact(width).enumerate() {
            for (value, squared) in values[a * n + first..(a + 1) * n].iter_mut().zip(squared) {
                *value = E::narrow(*squared);
            }
            values[a * n + first + a] = E::default();
        }
    }

    /// Ranks of the rows from `first` on, as many as `rank` holds.
    fn rank_block<E: Entry>(
        &self,
        first: usize,
        values: &mut [E],
        rank: &mut [u16],
        doubt: Option<Doubt>,
    ) -> Vec<RowScale> {
        let n = self.n;
        let mut order = RowOrder::default();
        let mut wide = vec![0.0; n];
        values
            .chunks_exact_mut(n)
            .zip(rank.chunks_exact_mut(n))
            .enumerate()
            .map(|(a, (values, rank))| {
                let i = first + a;
                for (wide, value) in wide.iter_mut().zip(values.iter()) {
                    *wide = value.wide();
                }
                let exact = |j: usize| self.distance2(i, j);
                let scale =
                    order.rank(i, &mut wide, doubt.map(|d| (d, &exact as &dyn Fn(usize) -> f64)), rank);
                if doubt.is_some() {
                    for (value, wide) in values.iter_mut().zip(&wide) {
                        *value = E::narrow(*wide);
                    }
                }
                scale
            })
            .collect()
    }

    fn squared_by_products(&self, x: &[f64], first: usize, squared: &mut [f64]) {
        let (n, m, width) = (self.n, self.m, self.n - first);
        let height = squared.len() / width;
        let later = MatRef::from_row_major_slice(&x[first * m..n * m], width, m);
        let ours = MatRef::from_row_major_slice(&x[first * m..(first + height) * m], height, m);
        let out = MatMut::from_row_major_slice_mut(squared, height, width);
        matmul(out, Accum::Replace, ours, later.transpose(), -2.0, Par::Seq);
        let rounded = matches!(self.way, Way::Products { .. });
        for (a, squared) in squared.chunks_exact_mut(width).enumerate() {
            let i = first + a;
            let (own, norms2) = (self.norms2[i], &self.norms2[first..]);
            let mut close = false;
            vectorized(
                #[inline(always)]
                || {
                    for (value, norm) in squared.iter_mut().zip(norms2) {
                        let size = own + norm;
                        *value = (*value + size).max(0.0);
                        close |= *value < 1e-3 * size;
                    }
                },
            );
            if close && rounded {
                for (j, (value, norm)) in squared.iter_mut().zip(norms2).enumerate() {
                    if *value < 1e-3 * (own + norm) {
                        *value = self.distance2(i, first + j);
                    }
                }
            }
        }
    }
}

/// squared[j] = Σ_f (x[f] − by_feature[f, first + j])².
#[inline(always)]
fn squared_differences(x: &[f64], by_feature: &[f64], n: usize, first: usize, squared: &mut [f64]) {
    for (x, feature) in x.iter().zip(by_feature.chunks_exact(n)) {
        for (squared, y) in squared.iter_mut().zip(&feature[first..]) {
            let d = x - y;
            *squared += d * d;
        }
    }
}

/// A power of two at or above `x` (1 for 0), so that dividing by it only moves the exponent.
pub(super) fn power_of_two_above(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    2_f64.powi(x.log2().ceil().clamp(-1000.0, 1000.0) as i32)
}

/// The rows less the mean row.
pub(super) fn centre(rows: &[f64], n: usize, m: usize) -> Vec<f64> {
    let mut mean = vec![0.0; m];
    for row in rows.chunks_exact(m) {
        for (mean, x) in mean.iter_mut().zip(row) {
            *mean += x / n as f64;
        }
    }
    let mut centred = rows.to_vec();
    centred.par_chunks_mut(m).for_each(|row| {
        for (x, mean) in row.iter_mut().zip(&mean) {
            *x -= mean;
        }
    });
    centred
}
