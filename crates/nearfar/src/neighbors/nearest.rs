//! The K nearest of every point and nothing else: memory grows with n K, not with n².
//!
//! Products find the candidates, differences decide among them, so that order and distances are those of the full
//! ranking.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::exact::{Points, centre};
use super::precomputed::{Pairwise, check_lists};
use super::{Input, SIGMA_NEIGHBOR, Warning, sigma_warnings};
use crate::error::Result;
use crate::math::kernel::{norm2, vectorized};
use crate::observe::{Event, Observer, Stage, go_on};

/// Rows searched together.
const BLOCK: usize = 64;
/// A product is good to this share of the terms it is the difference of.
const ROUNDING: f64 = 1e-11;

/// For every point its nearest others, nearest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    /// Number of samples, n.
    pub n_samples: usize,
    /// Neighbours per point, K.
    pub n_neighbors: usize,
    /// n × K: who they are.
    pub indices: Vec<u32>,
    /// n × K: κ(x_i, x_j), self-tuned, or as given.
    pub affinities: Vec<f64>,
    /// Local scales in the units of the data; `None` where affinities were given.
    pub sigma: Option<Vec<f64>>,
    /// What a person should know about the data.
    pub warnings: Vec<Warning>,
}

/// One row's answer: neighbours with squared distances (or −ln κ).
type Row = Vec<(f64, u32)>;

/// The `k` nearest of every point (all others where there are fewer).
///
/// # Errors
/// Names the row and column of a value that breaks the rules of its kind of input.
pub fn nearest(input: &Input<'_>, k: usize, observer: &dyn Observer) -> Result<Nearest> {
    let n = input.n_samples();
    // σ needs its own neighbour, and one with a positive distance.
    let wanted = k.max(SIGMA_NEIGHBOR).min(n.saturating_sub(1));
    match input {
        Input::Samples(samples, metric) => {
            samples.check()?;
            let points = Points::prepare(samples, *metric)?;
            let rows = of_points(&points, wanted, observer)?;
            let far = |i: usize| nearest_apart(&points, n, i);
            Ok(tuned(n, k, &rows, points.unit(), &far))
        }
        Input::Distances(x) => {
            let pairs = Pairwise::distances(x)?;
            let rows = of_rows(n, wanted, &|i, out| pairs.row(i, out), observer)?;
            let far = |i: usize| {
                let mut all = vec![0.0; n];
                pairs.row(i, &mut all);
                all.into_iter().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min)
            };
            Ok(tuned(n, k, &rows, pairs.unit, &far))
        }
        Input::Affinities(x) => {
            let pairs = Pairwise::affinities(x)?;
            let rows = of_rows(n, wanted, &|i, out| pairs.row(i, out), observer)?;
            Ok(given(n, k, &rows))
        }
        Input::Neighbors(lists) => {
            let (_, unit) = check_lists(lists)?;
            let listed = lists.n_neighbors();
            let rows: Vec<Row> =
                (0..n).map(|i| lists.row(i).map(|(j, d)| ((d / unit).powi(2), j)).collect()).collect();
            let far = |i: usize| {
                lists
                    .row(i)
                    .map(|(_, d)| (d / unit).powi(2))
                    .filter(|v| *v > 0.0)
                    .fold(f64::INFINITY, f64::min)
            };
            Ok(tuned(n, k.min(listed), &rows, unit, &far))
        }
    }
}

/// The smallest positive squared distance of point i; infinite when there is none.
fn nearest_apart(points: &Points, n: usize, i: usize) -> f64 {
    (0..n)
        .filter(|j| *j != i)
        .map(|j| points.distance2(i, j))
        .filter(|v| *v > 0.0)
        .fold(f64::INFINITY, f64::min)
}

fn of_points(points: &Points, k: usize, observer: &dyn Observer) -> Result<Vec<Row>> {
    let (n, m, rows) = points.parts();
    let centred = centre(&rows, n, m);
    let norms2: Vec<f64> = centred.par_chunks(m).map(norm2).collect();
    let blocks: Vec<usize> = (0..n).step_by(BLOCK).collect();
    let rows: Result<Vec<Vec<Row>>> = blocks
        .into_par_iter()
        .map(|first| {
            go_on(observer, Stage::Neighbors)?;
            let height = BLOCK.min(n - first);
            let mut values = vec![0.0; height * n];
            let out = MatMut::from_row_major_slice_mut(&mut values, height, n);
            let all = MatRef::from_row_major_slice(&centred, n, m);
            let ours = MatRef::from_row_major_slice(&centred[first * m..(first + height) * m], height, m);
            matmul(out, Accum::Replace, ours, all.transpose(), -2.0, Par::Seq);
            let rows = values
                .chunks_exact_mut(n)
                .enumerate()
                .map(|(a, values)| {
                    let i = first + a;
                    let own = norms2[i];
                    vectorized(
                        #[inline(always)]
                        || values.iter_mut().zip(&norms2).for_each(|(value, norm)| *value += own + norm),
                    );
                    values[i] = f64::INFINITY;
                    candidates(
                        values,
                        k,
                        |value, j| value + ROUNDING * (own + norms2[j]),
                        |value, j| value - ROUNDING * (own + norms2[j]),
                    )
                    .into_iter()
                    .map(|j| (points.distance2(i, j as usize), j))
                    .collect()
                })
                .map(|row| sorted(row, k))
                .collect();
            observer.notice(&Event::Progress {
                stage: Stage::Neighbors,
                done: height as u64,
                total: n as u64,
            });
            Ok(rows)
        })
        .collect();
    Ok(rows?.into_iter().flatten().collect())
}

fn of_rows(
    n: usize,
    k: usize,
    row: &(dyn Fn(usize, &mut [f64]) + Sync),
    observer: &dyn Observer,
) -> Result<Vec<Row>> {
    (0..n)
        .into_par_iter()
        .map(|i| {
            go_on(observer, Stage::Neighbors)?;
            let mut values = vec![0.0; n];
            row(i, &mut values);
            values[i] = f64::INFINITY;
            let found = candidates(&values, k, |value, _| value, |value, _| value);
            Ok(sorted(found.into_iter().map(|j| (values[j as usize], j)).collect(), k))
        })
        .collect()
}

/// Everybody who may be among the k smallest: whose least value is no more than the k-th smallest greatest value.
fn candidates(
    values: &[f64],
    k: usize,
    most: impl Fn(f64, usize) -> f64,
    least: impl Fn(f64, usize) -> f64,
) -> Vec<u32> {
    if k == 0 {
        return Vec::new();
    }
    let mut bounds: Vec<f64> = values.iter().enumerate().map(|(j, v)| most(*v, j)).collect();
    let (_, bound, _) = bounds.select_nth_unstable_by(k - 1, f64::total_cmp);
    let bound = *bound;
    (0..values.len())
        .filter(|j| values[*j] < f64::INFINITY && least(values[*j], *j) <= bound)
        .map(|j| j as u32)
        .collect()
}

fn sorted(mut row: Row, k: usize) -> Row {
    row.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    row.truncate(k);
    row
}

/// Self-tuned affinities from squared distances. `apart` finds the smallest positive one where the σ neighbour is a copy.
fn tuned(n: usize, k: usize, rows: &[Row], unit: f64, apart: &(dyn Fn(usize) -> f64 + Sync)) -> Nearest {
    let scales: Vec<(f64, bool)> = rows
        .par_iter()
        .enumerate()
        .map(|(i, row)| {
            let value = row.get(SIGMA_NEIGHBOR - 1).or(row.last()).map_or(0.0, |(v, _)| *v);
            if value > 0.0 || row.is_empty() {
                return (value.sqrt(), false);
            }
            let value = apart(i);
            (if value.is_finite() { value.sqrt() } else { 0.0 }, true)
        })
        .collect();
    let mut sigma: Vec<f64> = scales.iter().map(|(s, _)| *s).collect();
    let replaced: Vec<bool> = scales.iter().map(|(_, r)| *r).collect();
    let warnings = sigma_warnings(n, &mut sigma, &replaced);
    let k = rows.iter().map(Vec::len).min().unwrap_or(0).min(k);
    let mut indices = Vec::with_capacity(n * k);
    let mut affinities = Vec::with_capacity(n * k);
    for (i, row) in rows.iter().enumerate() {
        for (value, j) in &row[..k] {
            indices.push(*j);
            affinities.push((-value / (sigma[i] * sigma[*j as usize])).exp());
        }
    }
    let sigma = sigma.iter().map(|s| s * unit).collect();
    Nearest { n_samples: n, n_neighbors: k, indices, affinities, sigma: Some(sigma), warnings }
}

/// Affinities as they were given, up to a common factor.
fn given(n: usize, k: usize, rows: &[Row]) -> Nearest {
    let k = k.min(n.saturating_sub(1));
    let indices = rows.iter().flat_map(|row| row[..k].iter().map(|(_, j)| *j)).collect();
    let affinities = rows.iter().flat_map(|row| row[..k].iter().map(|(v, _)| (-v).exp())).collect();
    let warnings = if n <= SIGMA_NEIGHBOR { vec![Warning::FewSamples { n_samples: n }] } else { Vec::new() };
    Nearest { n_samples: n, n_neighbors: k, indices, affinities, sigma: None, warnings }
}
