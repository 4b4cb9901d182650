//! Would the clusters be found again? The same settings are fitted to halves of the rows.
//!
//! For every cluster and every half, the overlap (Jaccard) of its rows in the half with the most similar cluster of
//! the fit to that half; the mean over the halves is its stability (Hennig, *Cluster-wise assessment of cluster
//! stability*, 2007).

use std::collections::HashMap;

use crate::error::{ParamError, Result};
use crate::input::{Input, Samples, Values};
use crate::math::rng::Stream;
use crate::observe::{Observer, Unheard};
use crate::params::Params;
use crate::run::Run;

/// Halves that are fitted.
pub const SUBSAMPLES: usize = 20;
/// Rows, at least: halves of fewer tell nothing.
const LEAST_ROWS: usize = 20;
/// Stream of the halves.
const STREAM: u64 = 12 << 32;

/// The stability of every cluster of a fit with these settings, from 0 to 1: the mean overlap with its like in
/// [`SUBSAMPLES`] fits to halves of the rows. Clusters without rows have 0.
///
/// ```
/// use nearfar::explain::stability;
/// use nearfar::{Input, Params, Samples, observe::Silent};
/// let data = nearfar::generate::blobs(120, 2, 3, 0.3, 1)?;
/// let input = Input::from(Samples::from_rows(&data.data, data.n_samples, data.n_features)?);
/// let model = nearfar::fit(input, &Params::new(3))?;
/// let found = stability(&input, &model.params, &model.labels, &Silent)?;
/// assert!(found.iter().all(|overlap| *overlap > 0.9));
/// # Ok::<(), nearfar::Error>(())
/// ```
///
/// # Errors
/// When there are too few rows, the input is lists of neighbours or shared by several processes, a fit fails, or the
/// observer asks to stop.
pub fn stability(
    input: &Input<'_>,
    params: &Params,
    labels: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let n = input.n_samples();
    let k = labels.iter().max().map_or(0, |label| label + 1);
    let allowed = "wanted of samples, distances or affinities in one process";
    let halves = matches!(input, Input::Samples(..) | Input::Distances(_) | Input::Affinities(_));
    ParamError::unless(halves, "stability", "true", allowed)?;
    let occupied = {
        let mut seen = vec![false; k];
        labels.iter().for_each(|label| seen[*label] = true);
        seen.iter().filter(|seen| **seen).count()
    };
    let least = LEAST_ROWS.max(4 * occupied);
    ParamError::unless(
        n >= least,
        "stability",
        "true",
        format!("wanted of {least} rows or more, four for every cluster"),
    )?;
    let mut params = params.clone();
    (params.n_clusters, params.find_clusters) = (occupied, false);
    let (mut sums, mut counts) = (vec![0.0; k], vec![0_usize; k]);
    for round in 0..SUBSAMPLES {
        let mut rows: Vec<usize> = (0..n).collect();
        Stream::new(params.seed, STREAM + round as u64).shuffle(&mut rows);
        rows.truncate(n / 2);
        rows.sort_unstable();
        let values = part(input, &rows);
        let model = Run::new(&params).observe(&Unheard(observer)).fit(values.input(input)?)?;
        for (c, overlap) in overlaps(&rows, labels, &model.labels, k) {
            sums[c] += overlap;
            counts[c] += 1;
        }
    }
    Ok(sums.iter().zip(counts).map(|(sum, count)| if count > 0 { sum / count as f64 } else { 0.0 }).collect())
}

/// Some rows, and of pairs the same columns, as precise as they were given.
enum Part {
    Single(Vec<f32>, usize),
    Double(Vec<f64>, usize),
}

impl Part {
    fn input<'a>(&'a self, of: &Input<'_>) -> Result<Input<'a>> {
        let samples = match self {
            Self::Single(values, m) => Samples::from_rows(values, values.len() / m, *m)?,
            Self::Double(values, m) => Samples::from_rows(values, values.len() / m, *m)?,
        };
        Ok(match of {
            Input::Distances(_) => Input::Distances(samples),
            Input::Affinities(_) => Input::Affinities(samples),
            Input::Samples(_, metric) | Input::Part(_, metric, _) => Input::Samples(samples, *metric),
            Input::Neighbors(_) => Input::from(samples),
        })
    }
}

fn part(input: &Input<'_>, rows: &[usize]) -> Part {
    let (samples, pairs) = match input {
        Input::Samples(samples, _) | Input::Part(samples, _, _) => (samples, false),
        Input::Distances(samples) | Input::Affinities(samples) => (samples, true),
        Input::Neighbors(_) => return Part::Double(Vec::new(), 1),
    };
    let m = samples.n_features();
    let mut row = vec![0.0; m];
    let width = if pairs { rows.len() } else { m };
    let mut double = Vec::with_capacity(rows.len() * width);
    for i in rows {
        samples.copy_row(*i, &mut row);
        if pairs {
            double.extend(rows.iter().map(|j| row[*j]));
        } else {
            double.extend_from_slice(&row);
        }
    }
    match samples.values() {
        // Widened a moment ago.
        Values::F32(_) => Part::Single(double.into_iter().map(|x| x as f32).collect(), width),
        Values::F64(_) => Part::Double(double, width),
    }
}

/// Of every cluster with rows in the half the overlap with the most similar cluster found there.
fn overlaps(rows: &[usize], labels: &[usize], found: &[usize], k: usize) -> Vec<(usize, f64)> {
    let mut sizes = vec![0_usize; k];
    let mut found_sizes = vec![0_usize; found.iter().max().map_or(0, |label| label + 1)];
    let mut shared: HashMap<(usize, usize), usize> = HashMap::new();
    for (i, other) in rows.iter().zip(found) {
        sizes[labels[*i]] += 1;
        found_sizes[*other] += 1;
        *shared.entry((labels[*i], *other)).or_default() += 1;
    }
    let mut best = vec![0.0_f64; k];
    for ((c, other), count) in shared {
        let overlap = count as f64 / (sizes[c] + found_sizes[other] - count) as f64;
        best[c] = best[c].max(overlap);
    }
    (0..k).filter(|c| sizes[*c] > 0).map(|c| (c, best[c])).collect()
}
