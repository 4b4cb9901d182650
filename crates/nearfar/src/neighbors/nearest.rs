//! The K nearest of every point and nothing else: memory grows with n K, not with n².
//!
//! Products find the candidates, differences decide among them (`search/`), so that order and distances are those
//! of the full ranking; above a size the search is approximate and measures its recall.

use std::ops::Range;

use rayon::prelude::*;

use super::descent::Guess;
use super::exact::Points;
use super::precomputed::{Pairwise, check_lists};
use super::search::{Lists, SearchBy, SearchReport, search};
use super::{Input, SIGMA_NEIGHBOR, Warning, sigma_warnings};
use crate::checkpoint::{Checkpoint, FoundLists};
use crate::error::Result;
use crate::observe::{Event, Observer, Stage, go_on};
use crate::processes::Share;

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
    /// How they were found.
    pub search: SearchReport,
}

/// One row's answer: neighbours with squared distances (or −ln κ).
type Row = Vec<(f64, u32)>;

/// Rows of one length, one after the other.
fn flat(rows: &[Row]) -> Lists {
    let k = rows.iter().map(Vec::len).min().unwrap_or(0);
    let entries = || rows.iter().flat_map(|row| &row[..k]);
    Lists { k, indices: entries().map(|e| e.1).collect(), values: entries().map(|e| e.0).collect() }
}

/// The `k` nearest of every point (all others where there are fewer).
///
/// # Errors
/// Names the row and column of a value that breaks the rules of its kind of input.
pub fn nearest(input: &Input<'_>, k: usize, observer: &dyn Observer) -> Result<Nearest> {
    nearest_by(input, k, SearchBy::Auto, observer)
}

/// The same, of samples of any number by cells: approximate, with the recall measured, unless that would take most
/// of the pairs.
///
/// # Errors
/// As [`nearest`].
pub fn nearest_by_cells(input: &Input<'_>, k: usize, observer: &dyn Observer) -> Result<Nearest> {
    nearest_by(input, k, SearchBy::Cells, observer)
}

fn nearest_by(input: &Input<'_>, k: usize, way: SearchBy, observer: &dyn Observer) -> Result<Nearest> {
    let n = input.n_samples();
    // σ needs its own neighbour, and one with a positive distance.
    let wanted = k.max(SIGMA_NEIGHBOR).min(n.saturating_sub(1));
    match input {
        Input::Samples(samples, metric) => {
            samples.check()?;
            let points = Points::rows_only(samples, *metric)?;
            let (lists, search) = search(&points, wanted, (way, None), observer)?;
            let apart = points.apart(&lists);
            let far = |i: usize| apart[&i];
            Ok(Nearest { search, ..tuned(n, k, &lists, points.unit(), &far) })
        }
        Input::Part(rows, metric, share) => {
            let points = Points::of_share(rows, *metric, share)?;
            let (lists, search) = search(&points, wanted, (way, None), observer)?;
            let scales = scales_of(&points, &lists);
            let own = tuned_by(scales, k, &lists, points.unit(), share.rows());
            // Lists are a fraction of V: everybody has all of them from here on.
            let indices = share.gather_rows("neighbours", &own.indices, own.n_neighbors);
            let affinities = share.gather_rows("neighbours", &own.affinities, own.n_neighbors);
            Ok(Nearest { n_samples: n, indices, affinities, search, ..own })
        }
        Input::Distances(x) => {
            let pairs = Pairwise::distances(x)?;
            let rows = of_rows(n, wanted, &|i, out| pairs.row(i, out), observer)?;
            let far = |i: usize| {
                let mut all = vec![0.0; n];
                pairs.row(i, &mut all);
                all.into_iter().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min)
            };
            Ok(tuned(n, k, &flat(&rows), pairs.unit, &far))
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
            Ok(tuned(n, k.min(listed), &flat(&rows), unit, &far))
        }
    }
}

/// Lists of any input with what turns their values into exponents.
pub(crate) struct Listed {
    pub(crate) lists: Lists,
    /// Local scales in the units of the lists; `None` where values are exponents already.
    pub(crate) sigma: Option<Vec<f64>>,
    /// Multiply a scale by this to have it in the units of the data.
    pub(crate) unit: f64,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) search: SearchReport,
}

/// The `k` nearest of every point of whatever the input is, with squared distances (or −ln κ), and the local scales.
///
/// # Errors
/// As [`nearest`].
pub(crate) fn listed(input: &Input<'_>, k: usize, observer: &dyn Observer) -> Result<Listed> {
    let n = input.n_samples();
    let wanted = k.max(SIGMA_NEIGHBOR).min(n.saturating_sub(1));
    let exact = |lists: Lists, unit: f64, apart: &(dyn Fn(usize) -> f64 + Sync)| {
        let (sigma, warnings) = scales(&lists, n, apart);
        Listed { lists, sigma: Some(sigma), unit, warnings, search: SearchReport::EXACT }
    };
    match input {
        Input::Samples(..) | Input::Part(..) => {
            let points = points_of(input)?;
            let found = found(&points, ("", wanted), (SearchBy::Quick, None), None, observer)?;
            Ok(Listed::of_all(found, &points.share()))
        }
        Input::Distances(x) => {
            let pairs = Pairwise::distances(x)?;
            let rows = of_rows(n, wanted, &|i, out| pairs.row(i, out), observer)?;
            let apart = |i: usize| {
                let mut all = vec![0.0; n];
                pairs.row(i, &mut all);
                all.into_iter().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min)
            };
            Ok(exact(flat(&rows), pairs.unit, &apart))
        }
        Input::Affinities(x) => {
            let pairs = Pairwise::affinities(x)?;
            let rows = of_rows(n, wanted, &|i, out| pairs.row(i, out), observer)?;
            let warnings =
                if n <= SIGMA_NEIGHBOR { vec![Warning::FewSamples { n_samples: n }] } else { Vec::new() };
            let (lists, search) = (flat(&rows), SearchReport::EXACT);
            Ok(Listed { lists, sigma: None, unit: 1.0, warnings, search })
        }
        Input::Neighbors(lists) => {
            let (_, unit) = check_lists(lists)?;
            let squared = |(j, d): (u32, f64)| ((d / unit).powi(2), j);
            let rows: Vec<Row> =
                (0..n).map(|i| sorted(lists.row(i).map(squared).collect(), wanted)).collect();
            let apart = |i: usize| {
                let values = lists.row(i).map(|entry| squared(entry).0);
                values.filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min)
            };
            Ok(exact(flat(&rows), unit, &apart))
        }
    }
}

/// The points of an input of samples.
pub(crate) fn points_of<'a>(input: &Input<'a>) -> Result<Points<'a>> {
    match input {
        Input::Samples(samples, metric) => Points::rows_only(samples, *metric),
        Input::Part(samples, metric, share) => Points::of_share(samples, *metric, share),
        // The plan of pairs is never binned.
        _ => Err(crate::plan::needs_samples().into()),
    }
}

/// The `k` nearest of these points, of the own rows where processes share them, and the local scales of all: of the
/// checkpoint, where it has them under this name, else found now and kept there.
pub(crate) fn found(
    points: &Points<'_>,
    (name, k): (&str, usize),
    way: (SearchBy, Option<Guess<'_>>),
    checkpoint: Option<&Checkpoint>,
    observer: &dyn Observer,
) -> Result<FoundLists> {
    let share = points.share();
    let n = share.n_rows();
    let there = checkpoint.and_then(|checkpoint| checkpoint.lists(&share, (name, k.min(n - 1)), observer));
    if let Some(found) = there {
        let (done, total) = (n as u64, n as u64);
        observer.notice(&Event::Progress { stage: Stage::Neighbors, done, total });
        return Ok(found);
    }
    let (lists, report) = search(points, k, way, observer)?;
    let (sigma, warnings) = scales_of(points, &lists);
    let found = FoundLists { lists, report, sigma, warnings, unit: points.unit() };
    if let Some(checkpoint) = checkpoint {
        checkpoint.keep_lists(&found, name, &share, observer);
    }
    Ok(found)
}

impl Listed {
    /// Lists are a fraction of the data: where processes share the rows everybody has all of them from here on.
    pub(crate) fn of_all(found: FoundLists, share: &Share) -> Self {
        let FoundLists { lists: own, report, sigma, warnings, unit } = found;
        let lists = if share.is_split() {
            let indices = share.gather_rows("neighbours", &own.indices, own.k);
            let values = share.gather_rows("neighbours", &own.values, own.k);
            Lists { k: own.k, indices, values }
        } else {
            own
        };
        Self { lists, sigma: Some(sigma), unit, warnings, search: report }
    }
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

/// Local scales of all points in the units of the lists, and what is to be said about them.
pub(crate) fn scales_of(points: &Points<'_>, lists: &Lists) -> (Vec<f64>, Vec<Warning>) {
    let (share, (n, _)) = (points.share(), points.shape());
    if !share.is_split() {
        let apart = points.apart(lists);
        return scales(lists, n, &|i| apart[&i]);
    }
    let apart = points.apart(lists);
    let (sigma, replaced) = raw_scales(lists, n, &|i| apart[&i]);
    let replaced: Vec<u8> = replaced.into_iter().map(u8::from).collect();
    let mut sigma = share.gather_rows("local scales", &sigma, 1);
    let replaced = share.gather_rows("local scales", &replaced, 1);
    let replaced: Vec<bool> = replaced.into_iter().map(|replaced| replaced > 0).collect();
    let warnings = sigma_warnings(share.n_rows(), &mut sigma, &replaced);
    (sigma, warnings)
}

/// Local scales in the units of the lists, and what is to be said about them. `apart` finds the smallest positive
/// value of a point whose list holds nothing but copies of it.
pub(crate) fn scales(
    lists: &Lists,
    n: usize,
    apart: &(dyn Fn(usize) -> f64 + Sync),
) -> (Vec<f64>, Vec<Warning>) {
    let (mut sigma, replaced) = raw_scales(lists, n, apart);
    let warnings = sigma_warnings(n, &mut sigma, &replaced);
    (sigma, warnings)
}

/// Whether the list of point i holds nothing but copies of it.
pub(super) fn only_copies(lists: &Lists, i: usize) -> bool {
    lists.k > 0 && lists.row(i).1.iter().all(|value| *value <= 0.0)
}

/// Scales, 0 where there is none, and whether another neighbour than the usual one set them.
fn raw_scales(lists: &Lists, n: usize, apart: &(dyn Fn(usize) -> f64 + Sync)) -> (Vec<f64>, Vec<bool>) {
    let of = |i: usize| {
        if lists.k == 0 {
            return (0.0, false);
        }
        let (_, values) = lists.row(i);
        let value = values[(SIGMA_NEIGHBOR - 1).min(lists.k - 1)];
        if value > 0.0 {
            return (value.sqrt(), false);
        }
        let value = values.iter().copied().find(|v| *v > 0.0).unwrap_or_else(|| apart(i));
        (if value.is_finite() { value.sqrt() } else { 0.0 }, true)
    };
    (0..n).into_par_iter().map(of).unzip()
}

/// Self-tuned affinities from squared distances.
fn tuned(n: usize, k: usize, lists: &Lists, unit: f64, apart: &(dyn Fn(usize) -> f64 + Sync)) -> Nearest {
    tuned_by(scales(lists, n, apart), k, lists, unit, 0..n)
}

/// The same of these rows, with the scales of all.
fn tuned_by(
    (sigma, warnings): (Vec<f64>, Vec<Warning>),
    k: usize,
    lists: &Lists,
    unit: f64,
    rows: Range<usize>,
) -> Nearest {
    let (n, k) = (rows.len(), lists.k.min(k));
    let mut indices = Vec::with_capacity(n * k);
    let mut affinities = Vec::with_capacity(n * k);
    for (own, i) in rows.enumerate().take(if k > 0 { n } else { 0 }) {
        let (others, values) = lists.row(own);
        for (j, value) in others[..k].iter().zip(values) {
            indices.push(*j);
            affinities.push((-value / (sigma[i] * sigma[*j as usize])).exp());
        }
    }
    let sigma = sigma.iter().map(|s| s * unit).collect();
    let search = SearchReport::EXACT;
    Nearest { n_samples: n, n_neighbors: k, indices, affinities, sigma: Some(sigma), warnings, search }
}

/// Affinities as they were given, up to a common factor.
fn given(n: usize, k: usize, rows: &[Row]) -> Nearest {
    let k = k.min(n.saturating_sub(1));
    let indices = rows.iter().flat_map(|row| row[..k].iter().map(|(_, j)| *j)).collect();
    let affinities = rows.iter().flat_map(|row| row[..k].iter().map(|(v, _)| (-v).exp())).collect();
    let warnings = if n <= SIGMA_NEIGHBOR { vec![Warning::FewSamples { n_samples: n }] } else { Vec::new() };
    Nearest {
        n_samples: n,
        n_neighbors: k,
        indices,
        affinities,
        sigma: None,
        warnings,
        search: SearchReport::EXACT,
    }
}
