//! layout: the points in the plane by their neighbour graph, to be looked at. Nothing is learnt from it.
//!
//! Every point is drawn to its `NEIGHBORS` nearest others, all with the same strength, and all points push each
//! other away: t-SNE (van der Maaten and Hinton 2008) on a graph without weights. As ranks count and not lengths, an
//! outlier lies beside the points it is nearest to and does not set the scale. Distances between far groups mean
//! little.
//!
//! Above `MOST_PLACED` points a sample is laid out, in which small clusters keep enough points to be seen. The
//! work is bounded whatever n is. Steps come in a fixed order, so that the same points give the same bits with any
//! number of threads.

mod forces;
mod quadtree;

use rayon::prelude::*;

use crate::error::Result;
use crate::input::{Input, Metric, Samples};
use crate::math::rng::Stream;
use crate::model::SavedModel;
use crate::neighbors::nearest::nearest;
use crate::observe::Silent;
use crate::slices::SparseRows;
use crate::views::{Shown, View};

/// Points that are laid out, at most.
pub const MOST_PLACED: usize = 3_000;
/// Neighbours that a point is drawn to.
const NEIGHBORS: usize = 20;
/// A point has no more neighbours than this share of all, so that few points do not all hold together.
const SHARE: usize = 6;
/// Points of a cluster that a sample holds at least, where it has so many.
const LEAST_SHOWN: usize = 25;
/// Multiplications that finding neighbours in the sample may take.
const WORK: usize = 10_000_000_000;
/// Points that are laid out at least, where there are so many.
const FEWEST: usize = 500;
/// Points of a graph that are looked at for the neighbours of one that are in the sample.
const MOST_VISITED: usize = 1_000;
/// Rows from which principal axes are found.
const AXIS_ROWS: usize = 1_000;
/// Steps of the power method; enough to look at.
const AXIS_STEPS: usize = 60;
/// Steps of a random walk that smooth a random start.
const WALK_STEPS: usize = 60;
const SEED: u64 = 0x6d61_7073;

/// Points with their places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// Which points were laid out, ascending: all, or a sample.
    pub rows: Vec<u32>,
    /// The place of each of them; the longer side is 2 and the middle 0.
    pub at: Vec<[f64; 2]>,
}

impl SavedModel {
    /// The points in the plane by their neighbour graph: of samples in the view that the model trusts most, of pairs
    /// by what was given, else by the learnt similarity, where the model has kept it. `input` is what the model was
    /// learnt from; the model's own samples take its place.
    ///
    /// ```
    /// use nearfar::{Input, Params, Samples, SavedModel, model::SaveOptions};
    /// let data = nearfar::generate::blobs(90, 5, 3, 0.4, 1)?;
    /// let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
    /// let model = nearfar::fit(samples, &Params::new(3))?;
    /// let saved = SavedModel::new(&model, &Input::from(samples), &SaveOptions::default());
    /// let layout = saved.layout(None)?.expect("the model has kept its samples");
    /// assert_eq!((layout.rows.len(), layout.at.len()), (90, 90));
    /// # Ok::<(), nearfar::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the input breaks the rules of its kind.
    pub fn layout(&self, input: Option<&Input<'_>>) -> Result<Option<Layout>> {
        let n = self.labels.len();
        if n == 0 {
            return Ok(None);
        }
        let own = self.samples()?.map(|samples| Input::Samples(samples, self.metric()));
        let Some(input) = input.or(own.as_ref()) else {
            let Some(graph) = &self.similarity else { return Ok(None) };
            let rows = self.sampled(n, MOST_PLACED);
            let near = |i: usize| strongest(graph, i);
            return Ok(Some(place_graph(rows, n, &near)));
        };
        let m = input.n_features().max(1);
        let rows = self.sampled(n, MOST_PLACED.min((WORK / m).isqrt().max(FEWEST)));
        let k = neighbors_of(rows.len());
        match input {
            Input::Samples(samples, metric) => {
                let view = if *metric == Metric::Cosine { View::Unit } else { self.best_view() };
                let shown = Shown::rows(samples, &rows, view, &self.standard_of(samples));
                let shown = shown.samples(rows.len(), m)?;
                let lists = nearest(&Input::Samples(shown, Metric::Euclidean), k, &Silent)?;
                let start = principal(rows.len(), m, &|i, out| shown.copy_row(i, out));
                Ok(Some(placed(rows, &lists.indices, k, &start)))
            }
            Input::Distances(x) | Input::Affinities(x) => {
                let chosen = submatrix(x, &rows);
                let part = Samples::from_rows(&chosen, rows.len(), rows.len())?;
                let pairs = if matches!(input, Input::Distances(_)) {
                    Input::Distances(part)
                } else {
                    Input::Affinities(part)
                };
                let lists = nearest(&pairs, k, &Silent)?;
                // Alike points are as far from everybody else: rows of the matrix are as good as columns of data.
                let start = principal(rows.len(), rows.len(), &|i, out| part.copy_row(i, out));
                Ok(Some(placed(rows, &lists.indices, k, &start)))
            }
            Input::Neighbors(lists) => {
                let near = |i: usize| {
                    let mut row: Vec<(u32, f64)> = lists.row(i).collect();
                    row.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
                    row.into_iter().map(|(j, _)| j).collect()
                };
                Ok(Some(place_graph(rows, n, &near)))
            }
            Input::Part(..) => Ok(None),
        }
    }

    /// The view that was trusted most, of those that labels were learnt on; the rows as given for other methods.
    pub fn best_view(&self) -> View {
        let Some(account) = &self.about.account else { return View::Raw };
        let learnt = |view: View| self.about.lenses.iter().any(|(lens, _)| *lens == view);
        let any = account.views.iter().any(|trust| learnt(trust.view));
        let seen = account.views.iter().filter(|trust| !any || learnt(trust.view));
        let best = seen.reduce(|a, b| if b.weight > a.weight { b } else { a });
        best.map_or_else(
            || self.about.lenses.first().map_or(View::Raw, |(view, _)| *view),
            |trust| trust.view,
        )
    }

    fn standard_of(&self, samples: &Samples<'_>) -> crate::views::Standard {
        if self.standard.mean.len() == samples.n_features() {
            return self.standard.clone();
        }
        crate::views::Standard::new(&samples.spreads())
    }

    /// All points, or at most so many of them, by chance: of every cluster its share, of small ones more.
    fn sampled(&self, n: usize, most: usize) -> Vec<u32> {
        if n <= most {
            return (0..n as u32).collect();
        }
        let mut members = vec![Vec::new(); self.about.n_clusters.max(1)];
        for (i, label) in self.labels.iter().enumerate() {
            members[*label as usize].push(i as u32);
        }
        let filled = members.iter().filter(|cluster| !cluster.is_empty()).count().max(1);
        let least = LEAST_SHOWN.min(most / (2 * filled));
        let spare = most - members.iter().map(|cluster| cluster.len().min(least)).sum::<usize>();
        let rest: usize = members.iter().map(|cluster| cluster.len().saturating_sub(least)).sum();
        let mut random = Stream::new(SEED, 0);
        let mut chosen: Vec<u32> = Vec::with_capacity(most);
        for cluster in &mut members {
            let more = cluster.len().saturating_sub(least) * spare / rest.max(1);
            random.shuffle(cluster);
            chosen.extend(cluster.iter().take(least + more));
        }
        if chosen.is_empty() {
            // More clusters than places: any points are as good.
            let mut all: Vec<u32> = (0..n as u32).collect();
            random.shuffle(&mut all);
            chosen.extend(all.into_iter().take(most));
        }
        chosen.sort_unstable();
        chosen
    }
}

/// How many neighbours points have, where there are so many points.
fn neighbors_of(n: usize) -> usize {
    NEIGHBORS.min((n / SHARE).max(3)).min(n.saturating_sub(1))
}

fn submatrix(x: &Samples<'_>, rows: &[u32]) -> Vec<f64> {
    let mut out = vec![0.0; rows.len() * rows.len()];
    out.par_chunks_mut(rows.len()).zip(rows).for_each(|(out, i)| {
        out.iter_mut().zip(rows).for_each(|(out, j)| *out = x.get(*i as usize, *j as usize));
    });
    out
}

/// The neighbours of a point in a graph, the strongest first.
fn strongest(graph: &SparseRows, i: usize) -> Vec<u32> {
    let range = graph.starts[i]..graph.starts[i + 1];
    let mut row: Vec<(u32, f64)> = range.map(|at| (graph.columns[at], graph.values[at])).collect();
    row.retain(|(j, weight)| *j as usize != i && *weight > 0.0);
    row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    row.into_iter().map(|(j, _)| j).collect()
}

/// By lists of the same length for every point.
fn placed(rows: Vec<u32>, indices: &[u32], k: usize, start: &[[f64; 2]]) -> Layout {
    let mut pairs = Vec::with_capacity(rows.len() * k);
    for (i, row) in indices.chunks(k.max(1)).enumerate().filter(|_| k > 0) {
        let pull = 1.0 / row.len() as f64;
        pairs.extend(row.iter().map(|j| (i as u32, *j, pull)));
    }
    Layout { at: forces::settled(&forces::Pulls::new(rows.len(), &pairs), start), rows }
}

/// By the graph of all points: the neighbours of a point of the sample are the first others of the sample that are
/// met on the way through the graph.
fn place_graph(rows: Vec<u32>, n: usize, near: &(dyn Fn(usize) -> Vec<u32> + Sync)) -> Layout {
    let mut place = vec![u32::MAX; n];
    rows.iter().enumerate().for_each(|(at, i)| place[*i as usize] = at as u32);
    let k = neighbors_of(rows.len());
    let met: Vec<Vec<u32>> = rows.par_iter().map(|i| first_met(*i, k, &place, near)).collect();
    let mut pairs = Vec::with_capacity(rows.len() * k);
    for (i, row) in met.iter().enumerate() {
        pairs.extend(row.iter().map(|j| (i as u32, *j, 1.0 / row.len() as f64)));
    }
    let pulls = forces::Pulls::new(rows.len(), &pairs);
    let start = walked(&pulls);
    Layout { at: forces::settled(&pulls, &start), rows }
}

fn first_met(i: u32, k: usize, place: &[u32], near: &(dyn Fn(usize) -> Vec<u32> + Sync)) -> Vec<u32> {
    let (mut queue, mut met) = (vec![i], Vec::with_capacity(k));
    let mut seen = std::collections::BTreeSet::from([i]);
    let mut next = 0;
    while next < queue.len() && met.len() < k && seen.len() < MOST_VISITED {
        for j in near(queue[next] as usize) {
            if (j as usize) < place.len() && seen.insert(j) {
                queue.push(j);
                if place[j as usize] != u32::MAX && met.len() < k {
                    met.push(place[j as usize]);
                }
            }
        }
        next += 1;
    }
    met
}

/// A random start that steps along the graph have smoothed: what hangs together comes together.
fn walked(pulls: &forces::Pulls) -> Vec<[f64; 2]> {
    let mut random = Stream::new(SEED, 1);
    let mut at: Vec<[f64; 2]> = (0..pulls.len()).map(|_| [random.normal(), random.normal()]).collect();
    for _ in 0..WALK_STEPS {
        let last = at.clone();
        for (i, own) in at.iter_mut().enumerate() {
            let (mut sum, mut weight) = (*own, 1.0);
            for (j, pull) in pulls.row(i) {
                let pull = pull * pulls.len() as f64;
                weight += pull;
                sum.iter_mut().zip(last[j as usize]).for_each(|(sum, x)| *sum += pull * x);
            }
            *own = sum.map(|x| x / weight);
        }
        for axis in 0..2 {
            let mean = at.iter().map(|at| at[axis]).sum::<f64>() / at.len().max(1) as f64;
            at.iter_mut().for_each(|at| at[axis] -= mean);
        }
        // The second axis tells something else than the first.
        let first: f64 = at.iter().map(|at| at[0] * at[0]).sum();
        let both: f64 = at.iter().map(|at| at[0] * at[1]).sum();
        if first > 0.0 {
            at.iter_mut().for_each(|at| at[1] -= at[0] * both / first);
        }
    }
    at
}

/// Coordinates along the two directions in which `n` rows of `m` columns vary most; `get` copies a row.
pub fn principal(n: usize, m: usize, get: &dyn Fn(usize, &mut [f64])) -> Vec<[f64; 2]> {
    let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
    let chosen: Vec<usize> = (0..n).step_by(n.div_ceil(AXIS_ROWS).max(1)).collect();
    let mut rows = vec![0.0; chosen.len() * m];
    for (row, i) in rows.chunks_exact_mut(m.max(1)).zip(&chosen) {
        get(*i, row);
    }
    let mut mean = vec![0.0; m];
    for row in rows.chunks_exact(m.max(1)) {
        mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / chosen.len() as f64);
    }
    // In units of the largest deviation, so that no square overflows.
    let gaps =
        rows.chunks_exact(m.max(1)).flat_map(|row| row.iter().zip(&mean).map(|(x, mean)| (x - mean).abs()));
    let unit = finite(gaps.fold(0.0, f64::max)).max(f64::MIN_POSITIVE);
    for row in rows.chunks_exact_mut(m.max(1)) {
        row.iter_mut().zip(&mean).for_each(|(x, mean)| *x = finite((*x - mean) / unit));
    }
    let first = direction(&rows, m, None);
    let second = direction(&rows, m, Some(&first));
    let mut row = vec![0.0; m];
    (0..n)
        .map(|i| {
            get(i, &mut row);
            row.iter_mut().zip(&mean).for_each(|(x, mean)| *x = finite(*x - mean));
            [finite(dot(&row, &first)), finite(dot(&row, &second))]
        })
        .collect()
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// The leading direction of XᵀX, or the one after `first`; the power method from a fixed start.
fn direction(rows: &[f64], m: usize, first: Option<&[f64]>) -> Vec<f64> {
    let mut d: Vec<f64> = (0..m).map(|j| 1.0 + ((j * 7919 + 13) % 101) as f64 / 101.0).collect();
    let without_first = |d: &mut [f64]| {
        if let Some(first) = first {
            let along = dot(d, first);
            d.iter_mut().zip(first).for_each(|(d, first)| *d -= along * first);
        }
    };
    for _ in 0..AXIS_STEPS {
        without_first(&mut d);
        let mut next = vec![0.0; m];
        for row in rows.chunks_exact(m.max(1)) {
            let along = dot(row, &d);
            next.iter_mut().zip(row).for_each(|(next, x)| *next += along * x);
        }
        let length = dot(&next, &next).sqrt();
        if !(length > 0.0) {
            // No variance is left: any direction is as good.
            return vec![0.0; m];
        }
        d = next.into_iter().map(|x| x / length).collect();
    }
    without_first(&mut d);
    // The largest component points up, whatever the start.
    let most = d.iter().copied().fold(0.0, |most: f64, x| if x.abs() > most.abs() { x } else { most });
    d.iter().map(|x| x * most.signum()).collect()
}

#[cfg(test)]
mod tests;
