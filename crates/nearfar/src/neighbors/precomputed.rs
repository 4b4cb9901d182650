//! Distances, affinities or neighbour lists that the caller has already.

use rayon::prelude::*;

use super::exact::power_of_two_above;
use super::order::{RowOrder, RowScale};
use super::{Neighborhoods, Warning, sigma_warnings};
use crate::error::{DataError, Result};
use crate::input::Samples;
use crate::math::kernel::Entry;
use crate::math::rng::Stream;
use crate::observe::{Observer, Stage, go_on};

/// How far (relative) two mirror entries of a precomputed matrix may differ.
const ASYMMETRY: f64 = 1e-8;

/// An affinity of 0 stands this many powers of e below the smallest positive one, so that a slice of
/// zeros alone is a slice of equals instead of an empty one.
const ZERO_AFFINITY_GAP: f64 = 60.0;

/// For every point its K nearest others and how far they are, row by row, nearest first.
#[derive(Clone, Copy, Debug)]
pub struct NeighborLists<'a> {
    indices: &'a [u32],
    distances: &'a [f64],
    n_samples: usize,
    n_neighbors: usize,
}

impl<'a> NeighborLists<'a> {
    /// `indices` and `distances` hold `n_neighbors` values for each of `n_samples` points.
    ///
    /// # Errors
    /// When a buffer has another length.
    pub fn new(
        indices: &'a [u32],
        distances: &'a [f64],
        n_samples: usize,
        n_neighbors: usize,
    ) -> Result<Self> {
        for len in [indices.len(), distances.len()] {
            if n_samples.checked_mul(n_neighbors) != Some(len) {
                return Err(DataError::Shape { n_rows: n_samples, n_columns: n_neighbors, len }.into());
            }
        }
        Ok(Self { indices, distances, n_samples, n_neighbors })
    }

    /// Number of samples, n.
    pub fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// Neighbours listed for every point.
    pub fn n_neighbors(&self) -> usize {
        self.n_neighbors
    }

    /// Neighbours of point i with their distances.
    pub(crate) fn row(&self, i: usize) -> impl Iterator<Item = (u32, f64)> {
        let at = i * self.n_neighbors..(i + 1) * self.n_neighbors;
        self.indices[at.clone()].iter().copied().zip(self.distances[at].iter().copied())
    }
}

fn broken(what: &'static str, row: usize, column: usize, value: f64, rule: &str) -> DataError {
    DataError::Precomputed { what, row, column, value, rule: rule.into() }
}

/// A square matrix of finite values, 0 or more, equal to its mirror image. Returns the largest entry.
fn check_pairwise(x: &Samples<'_>, what: &'static str) -> Result<f64> {
    let (n, m) = (x.n_samples(), x.n_features());
    if n == 0 || m == 0 {
        return Err(DataError::Empty { n_samples: n, n_features: m }.into());
    }
    if n != m {
        return Err(DataError::Shape { n_rows: n, n_columns: n, len: n.saturating_mul(m) }.into());
    }
    let mut largest = 0.0_f64;
    for i in 0..n {
        for j in 0..=i {
            let (value, mirror) = (x.get(i, j), x.get(j, i));
            for (row, column, value) in [(i, j, value), (j, i, mirror)] {
                if !value.is_finite() {
                    return Err(DataError::NotFinite { what, row, column, value }.into());
                }
                if value < 0.0 {
                    return Err(broken(what, row, column, value, "every value must be 0 or more").into());
                }
            }
            if (value - mirror).abs() > ASYMMETRY * value.max(mirror) {
                let rule = format!(
                    "the matrix must be symmetric, but row {j}, column {i} is {mirror}; pass (M + Mᵀ) / 2 if that is what you mean"
                );
                return Err(broken(what, i, j, value, &rule).into());
            }
            largest = largest.max(value);
        }
    }
    Ok(largest)
}

/// A checked pairwise matrix, seen as rows of squared distances or of −ln κ.
pub(super) struct Pairwise<'a> {
    x: &'a Samples<'a>,
    /// What distances are divided by.
    pub(super) unit: f64,
    /// ln of the smallest and largest positive affinity; `None` for distances.
    logs: Option<(f64, f64)>,
}

impl<'a> Pairwise<'a> {
    pub(super) fn distances(x: &'a Samples<'a>) -> Result<Self> {
        let largest = check_pairwise(x, "distances")?;
        for i in 0..x.n_samples() {
            let value = x.get(i, i);
            if value > 1e-9 * largest {
                return Err(broken("distances", i, i, value, "a point is at distance 0 from itself").into());
            }
        }
        Ok(Self { x, unit: power_of_two_above(largest), logs: None })
    }

    pub(super) fn affinities(x: &'a Samples<'a>) -> Result<Self> {
        check_pairwise(x, "affinities")?;
        let n = x.n_samples();
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for i in 0..n {
            for j in (0..n).filter(|j| *j != i) {
                let value = x.get(i, j);
                if value > 0.0 {
                    low = low.min(value.ln());
                    high = high.max(value.ln());
                }
            }
        }
        if n > 1 && low > high {
            let rule = "at least one pair must have a positive affinity";
            return Err(broken("affinities", 0, 1, 0.0, rule).into());
        }
        Ok(Self { x, unit: 1.0, logs: Some((low, high)) })
    }

    /// Row i; its own entry is 0.
    pub(super) fn row(&self, i: usize, out: &mut [f64]) {
        self.x.copy_row(i, out);
        for value in out.iter_mut() {
            *value = match self.logs {
                None => (*value / self.unit) * (*value / self.unit),
                Some((_, high)) if *value > 0.0 => high - value.ln().min(high),
                Some((low, high)) => high - (low - ZERO_AFFINITY_GAP),
            };
        }
        out[i] = 0.0;
    }
}

/// Rank by precomputed distances.
pub(crate) fn from_distances<E: Entry>(x: &Samples<'_>, observer: &dyn Observer) -> Result<Neighborhoods<E>> {
    let pairs = Pairwise::distances(x)?;
    let n = x.n_samples();
    let (values, rank, scales) = rank_rows::<E>(n, |i, out| pairs.row(i, out), observer)?;
    let mut sigma: Vec<f64> = scales.iter().map(|s| s.value.sqrt()).collect();
    let replaced: Vec<bool> = scales.iter().map(|s| s.replaced).collect();
    let warnings = sigma_warnings(n, &mut sigma, &replaced);
    Ok(Neighborhoods { n, values, rank, sigma: Some(sigma), unit: pairs.unit, warnings })
}

/// Rank by precomputed affinities, largest first.
pub(crate) fn from_affinities<E: Entry>(
    x: &Samples<'_>,
    observer: &dyn Observer,
) -> Result<Neighborhoods<E>> {
    let pairs = Pairwise::affinities(x)?;
    let n = x.n_samples();
    let (values, rank, _) = rank_rows::<E>(n, |i, out| pairs.row(i, out), observer)?;
    let warnings =
        if n <= super::SIGMA_NEIGHBOR { vec![Warning::FewSamples { n_samples: n }] } else { Vec::new() };
    Ok(Neighborhoods { n, values, rank, sigma: None, unit: 1.0, warnings })
}

/// Refuse lists that break the rules; returns a power of two above the largest distance.
pub(super) fn check_lists(lists: &NeighborLists<'_>) -> Result<(f64, f64)> {
    let (n, listed) = (lists.n_samples, lists.n_neighbors);
    if n == 0 || (listed == 0 && n > 1) {
        return Err(DataError::Empty { n_samples: n, n_features: listed }.into());
    }
    if listed >= n {
        return Err(DataError::Shape { n_rows: n, n_columns: n - 1, len: n * listed }.into());
    }
    let mut largest = 0.0_f64;
    let mut seen = vec![usize::MAX; n];
    for i in 0..n {
        seen[i] = i;
        for k in 0..listed {
            let (j, d) = (lists.indices[i * listed + k] as usize, lists.distances[i * listed + k]);
            if j >= n || seen[j] == i {
                let rule = "each list names other points, each at most once";
                return Err(broken("neighbors", i, k, j as f64, rule).into());
            }
            seen[j] = i;
            if !(d >= 0.0 && d.is_finite()) {
                return Err(broken("neighbors", i, k, d, "distances are finite and 0 or more").into());
            }
            if k > 0 && d < lists.distances[i * listed + k - 1] {
                return Err(broken("neighbors", i, k, d, "lists are sorted, nearest first").into());
            }
            largest = largest.max(d);
        }
    }
    Ok((largest, power_of_two_above(largest)))
}

/// Rank by neighbour lists; points that are not listed follow in a seeded random order, all alike.
pub(crate) fn from_lists<E: Entry>(
    lists: &NeighborLists<'_>,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Neighborhoods<E>> {
    let (n, listed) = (lists.n_samples, lists.n_neighbors);
    let (largest, unit) = check_lists(lists)?;
    // Behind every listed one, also where all of those are copies at distance 0.
    let beyond = if largest > 0.0 { 2.0 * (largest / unit) * (largest / unit) } else { 1.0 };
    let row = |i: usize, out: &mut [f64]| {
        let mut stream = Stream::new(seed, i as u64);
        // Any value behind the listed ones that puts the others in random order.
        out.fill_with(|| beyond * (1.0 + stream.uniform()));
        for k in 0..listed {
            let d = lists.distances[i * listed + k] / unit;
            out[lists.indices[i * listed + k] as usize] = d * d;
        }
        out[i] = 0.0;
    };
    let (mut values, rank, scales) = rank_rows::<E>(n, row, observer)?;
    for (value, rank) in values.iter_mut().zip(&rank) {
        if *rank as usize > listed {
            *value = E::narrow(beyond); // unlisted: all alike
        }
    }
    let mut sigma: Vec<f64> = (0..n)
        .map(|i| {
            if listed >= super::SIGMA_NEIGHBOR {
                scales[i].value.min(beyond).sqrt()
            } else {
                lists.distances[i * listed..(i + 1) * listed].last().map_or(0.0, |d| d / unit)
            }
        })
        .collect();
    let replaced: Vec<bool> = scales.iter().map(|s| s.replaced).collect();
    let mut warnings = sigma_warnings(n, &mut sigma, &replaced);
    if listed + 1 < n {
        warnings.push(Warning::PartialLists { listed });
    }
    Ok(Neighborhoods { n, values, rank, sigma: Some(sigma), unit, warnings })
}

type Ranked<E> = (Vec<E>, Vec<u16>, Vec<RowScale>);

fn rank_rows<E: Entry>(
    n: usize,
    row: impl Fn(usize, &mut [f64]) + Sync,
    observer: &dyn Observer,
) -> Result<Ranked<E>> {
    let mut values = vec![E::default(); n * n];
    let mut rank = vec![0_u16; n * n];
    let scales: Result<Vec<RowScale>> = values
        .par_chunks_mut(n)
        .zip(rank.par_chunks_mut(n))
        .enumerate()
        .map(|(i, (values, rank))| {
            go_on(observer, Stage::Neighbors)?;
            let mut wide = vec![0.0; n];
            row(i, &mut wide);
            let scale = RowOrder::default().rank(i, &mut wide, None, rank);
            for (value, wide) in values.iter_mut().zip(&wide) {
                *value = E::narrow(*wide);
            }
            Ok(scale)
        })
        .collect();
    Ok((values, rank, scales?))
}
