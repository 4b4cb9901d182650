//! The K nearest of every point among many: blocked products in single precision find candidates, differences decide.
//!
//! A product in f32 is off by at most `slack` of the lengths it is made of, so whoever may be among the K nearest
//! is kept and measured again from differences: the lists are those of the full ranking, ties included. Memory is
//! the lists and a block of rows per thread: rows are gathered, centred and narrowed when they are needed.
//!
//! Above [`EXACT_WORK`] the points are sorted into cells (k-means of a sample) and every cell is searched in the
//! cells nearest to it only. How many these must be is read off a sample of points whose exact neighbours are
//! known, so that the recall asked for is reached on any data; where that takes most of the cells the search is
//! exact after all. Everything depends on the points alone: same lists for any seed and any number of threads.

mod asked;
mod cells;
mod singles;
#[cfg(test)]
mod tests;

use super::descent::{self, Guess};
use super::exact::Points;
use super::split;
use crate::error::Result;
use crate::observe::Observer;
pub(crate) use asked::Known;
pub(super) use cells::{Cells, nearest_center};
pub(super) use singles::{Asking, Centred, Singles};

/// Points that ask together, and points that they are compared with at a time: as many as fill a block of so many
/// values, within these bounds.
pub(super) const QUERIES: usize = 256;
const COLUMN_VALUES: usize = 1 << 15;
const COLUMNS: [usize; 2] = [128, 512];
/// Rows whose centres are looked for together.
pub(super) const ASSIGNED: usize = 128;
/// Points of a sample that ask together: there are few, and every thread should have some.
pub(super) const FEW: usize = 32;
/// Up to this many products (n² times features, and some for choosing) every point is compared with every other.
pub(crate) const EXACT_WORK: f64 = 5e12;
/// Choosing the nearest costs as much as this many features.
const CHOOSING: f64 = 64.0;
/// The same where a few neighbours may be missed.
pub(crate) const QUICK_EXACT_WORK: f64 = 1.5e10;
/// Recall that the number of cells is chosen for; the sample it is read off is small.
const TARGET_RECALL: f64 = 0.99;
/// The same where a few neighbours may be missed, and the recall of neighbours of neighbours below which cells are
/// searched after all.
const QUICK_RECALL: f64 = 0.96;
pub(super) const LEAST_RECALL: f64 = 0.9;
/// Points whose exact neighbours are looked up, once to choose the number of cells and once to measure the recall.
pub(super) const SAMPLE: usize = 256;
/// Groups searched before their lists are put in place, so that lists in two orders never stand side by side for
/// all points.
const TOGETHER: usize = 64;
/// Rounds of k-means for the cells, and points per cell that take part.
const ROUNDS: usize = 6;
const PER_CELL: usize = 64;
/// A list of candidates longer than this, in K, is settled by differences at once: where many points are as far, or
/// one lies so far out that products cannot tell the others apart.
const CROWD: usize = 8;
/// Seed of the cells: the neighbours of a point do not depend on the seed of a run.
const SEED: u64 = 0x6e65_6172;

/// For every point its nearest others, nearest first, with squared distances (or −ln κ).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lists {
    /// Neighbours per point.
    pub(crate) k: usize,
    /// n × k.
    pub(crate) indices: Vec<u32>,
    /// n × k, ascending in every row.
    pub(crate) values: Vec<f64>,
}

impl Lists {
    /// Neighbours of point i with their values.
    pub(crate) fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let at = i * self.k..(i + 1) * self.k;
        (&self.indices[at.clone()], &self.values[at])
    }

    /// Share of the true neighbours of these points, k each, that is in their lists.
    fn recall(&self, asked: &[usize], truth: &[u32]) -> f64 {
        let of = |(i, truth): (&usize, &[u32])| {
            let own = self.row(*i).0;
            truth.iter().filter(|j| own.contains(j)).count()
        };
        let hits: usize = asked.iter().zip(truth.chunks_exact(self.k)).map(of).sum();
        hits as f64 / truth.len() as f64
    }
}

/// What has been found for one point: squared distances and points, ascending.
pub(super) type Candidates = Vec<(f64, u32)>;

/// Finds the nearest of some centres for every row.
type Assign<'a> = &'a dyn Fn(&[f32], &[f32]) -> Vec<u32>;

/// How the neighbours were found.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct SearchReport {
    /// Whether only some of the pairs were looked at.
    pub approximate: bool,
    /// Share of true neighbours found, measured on a sample; 1 where the search is exact.
    pub recall: f64,
}

impl SearchReport {
    pub(crate) const EXACT: Self = Self { approximate: false, recall: 1.0 };
}

/// How to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SearchBy {
    /// Exact up to [`EXACT_WORK`].
    #[default]
    Auto,
    /// Every pair.
    #[cfg_attr(not(test), allow(dead_code))]
    Exact,
    /// By cells.
    Cells,
    /// By neighbours of neighbours, whatever the number of points is.
    #[cfg(test)]
    Descent,
    /// Exact up to [`QUICK_EXACT_WORK`], then by neighbours of neighbours: for lists of which a share does as well
    /// as all.
    Quick,
}

impl SearchBy {
    /// Whether every pair of n points of m features is looked at.
    pub(super) fn is_exact(self, n: usize, m: usize) -> bool {
        let work = (n as f64).powi(2) * (m as f64 + CHOOSING);
        let within = match self {
            Self::Exact => f64::INFINITY,
            Self::Auto => EXACT_WORK,
            Self::Quick => QUICK_EXACT_WORK,
            Self::Cells => 0.0,
            #[cfg(test)]
            Self::Descent => 0.0,
        };
        work <= within || n < 4 * SAMPLE
    }

    /// Whether neighbours of neighbours are asked first, of so many points.
    pub(super) fn descends(self, n: usize) -> bool {
        let wanted = match self {
            #[cfg(test)]
            Self::Descent => true,
            way => way == Self::Quick,
        };
        wanted && n <= descent::MOST_POINTS
    }

    /// Share of the true neighbours that a search by cells is to find.
    pub(super) fn recall(self) -> f64 {
        if self == Self::Quick { QUICK_RECALL } else { TARGET_RECALL }
    }
}

/// The `k` nearest others of every point (all of them where there are fewer).
///
/// Where a search by neighbours of neighbours has a guess it begins there.
pub(crate) fn search(
    points: &Points<'_>,
    k: usize,
    (way, guess): (SearchBy, Option<Guess<'_>>),
    observer: &dyn Observer,
) -> Result<(Lists, SearchReport)> {
    if points.part.is_some() {
        return split::search(points, k, (way, guess), observer);
    }
    let (n, m) = points.shape();
    let k = k.min(n.saturating_sub(1));
    if k == 0 {
        return Ok((Lists { k, ..Lists::default() }, SearchReport::EXACT));
    }
    if way.is_exact(n, m) {
        let mean = points.mean();
        let singles = Singles::new(Centred { points, mean: &mean }, (0..n as u32).collect(), 0, k);
        return Ok((singles.all(k, observer)?, SearchReport::EXACT));
    }
    if way.descends(n)
        && let Some(found) = by_descent(points, k, guess, observer)?
    {
        return Ok(found);
    }
    by_cells(points, k, way.recall(), observer)
}

/// By neighbours of neighbours; `None` where these do not find enough.
fn by_descent(
    points: &Points<'_>,
    k: usize,
    guess: Option<Guess<'_>>,
    observer: &dyn Observer,
) -> Result<Option<(Lists, SearchReport)>> {
    let mean = points.mean();
    let Some(found) = descent::search(points, &mean, k, guess, observer)? else { return Ok(None) };
    let rows = Centred { points, mean: &mean };
    let singles = Singles::new(rows, (0..points.n as u32).collect(), 0, k);
    let [_, asked] = spread(points.n);
    let recall = found.recall(&asked, &singles.exact_of(&asked, k, observer)?);
    Ok((recall >= LEAST_RECALL).then_some((found, SearchReport { approximate: true, recall })))
}

fn by_cells(
    points: &Points<'_>,
    k: usize,
    wanted: f64,
    observer: &dyn Observer,
) -> Result<(Lists, SearchReport)> {
    let (n, m) = points.shape();
    let mean = points.mean();
    let (chosen, n_cells) = Cells::sample(n);
    let rows = Centred { points, mean: &mean };
    let sample = rows.gathered(&chosen.iter().map(|i| *i as u32).collect::<Vec<_>>());
    let centers =
        Cells::centers(&sample, n_cells, m, observer, &|sample, centers| nearest_center(sample, centers, m))?;
    drop(sample);
    let cells = Cells::new(&centers, m, rows.nearest_center(&centers));
    let singles = Singles::new(rows, cells.order.clone(), 0, k);
    let [chosen, asked] = spread(n);
    let truth = singles.exact_of(&chosen, k, observer)?;
    let probes = cells.probes_for(&chosen, &truth, wanted);
    if cells.mean_share(probes) > 0.5 {
        return Ok((singles.all(k, observer)?, SearchReport::EXACT));
    }
    let found = singles.in_cells(k, &cells, probes, observer)?;
    // Measured on other points than those the number of cells was chosen by.
    let recall = found.recall(&asked, &singles.exact_of(&asked, k, observer)?);
    Ok((found, SearchReport { approximate: true, recall }))
}

/// Points that the number of cells is chosen by, and others that the recall is measured on.
pub(super) fn spread(n: usize) -> [Vec<usize>; 2] {
    [0, n / (2 * SAMPLE)].map(|first| (0..SAMPLE).map(|s| (s * n / SAMPLE + first) % n).collect())
}
