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

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::descent::{self, Guess};
use super::exact::Points;
use super::split;
use crate::error::Result;
use crate::math::kernel::vectorized;
use crate::math::rng::Stream;
use crate::observe::{Event, Observer, Stage, go_on};

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

/// The points in single precision, less the mean: made when they are needed.
#[derive(Clone, Copy)]
pub(super) struct Centred<'a> {
    pub(super) points: &'a Points<'a>,
    pub(super) mean: &'a [f64],
}

impl Centred<'_> {
    /// Rows of these points, one after the other, to the beginning of `out`.
    fn gather<'o>(&self, which: &[u32], out: &'o mut [f32]) -> &'o [f32] {
        let m = self.mean.len();
        let out = &mut out[..which.len() * m];
        for (out, i) in out.chunks_exact_mut(m).zip(which) {
            self.points.copy_centred(*i as usize, self.mean, out);
        }
        out
    }

    /// The same in memory of its own.
    pub(super) fn gathered(&self, which: &[u32]) -> Vec<f32> {
        let mut rows = vec![0.0; which.len() * self.mean.len()];
        self.gather(which, &mut rows);
        rows
    }

    /// Number of the nearest centre of every point.
    pub(super) fn nearest_center(&self, centers: &[f32]) -> Vec<u32> {
        let (n, m) = self.points.shape();
        let centers = Centers::new(centers, m);
        let everybody: Vec<u32> = (0..n as u32).collect();
        let parts = everybody
            .par_chunks(ASSIGNED)
            .map_init(|| vec![0.0; ASSIGNED * m], |rows, which| centers.nearest(self.gather(which, rows)));
        parts.collect::<Vec<_>>().concat()
    }
}

/// Points in some order, to be compared with others.
pub(super) struct Singles<'a> {
    rows: Centred<'a>,
    /// Place → point, as these points count.
    pub(super) order: Vec<u32>,
    /// The number of the first of these points among all.
    first: u32,
    /// ‖x‖² less what rounding may add, and twice that: what a value may be too small by. Not a number where nobody
    /// lists the point.
    low: Vec<f32>,
    doubt: Vec<f32>,
    /// Share of the lengths that a product may be off by.
    slack: f64,
    /// All places.
    everything: Range<usize>,
}

/// Points that ask: their rows, and their numbers among all.
pub(super) struct Asking {
    pub(super) rows: Vec<f32>,
    pub(super) numbers: Vec<u32>,
}

/// The nearest so far of one point.
#[derive(Default)]
struct Best {
    /// Candidates: least possible value, without the asking point's own length, and place.
    list: Vec<(f32, u32)>,
    /// Whoever is above it is not among the nearest.
    limit: f32,
    /// The nearest of those who were measured already, where lists became too long; at most k.
    settled: Vec<(f64, u32)>,
    crowded: bool,
}

impl<'a> Singles<'a> {
    /// Points in this order, of which the first has the number `first` among all; each is asked for its k nearest.
    pub(super) fn new(rows: Centred<'a>, order: Vec<u32>, first: usize, k: usize) -> Self {
        let (n, m) = (order.len(), rows.mean.len());
        let (lengths, hashes): (Vec<f64>, Vec<u64>) = order
            .par_chunks(ASSIGNED)
            .map_init(
                || vec![0.0; ASSIGNED * m],
                |block, which| {
                    let rows = rows.gather(which, block);
                    rows.chunks_exact(m).map(|row| (length2(row), hash(row))).collect::<Vec<_>>()
                },
            )
            .flatten_iter()
            .unzip();
        // Rounding of the values themselves, of every product and of every addition, and room for what vanishes.
        let slack = (m as f64 + 16.0) * f64::from(f32::EPSILON);
        let tiny = 1e-36 * m as f64;
        let low = lengths.iter().map(|l| (l * (1.0 - slack) - tiny) as f32).collect();
        let doubt = lengths.iter().map(|l| (2.0 * (l * slack + tiny)) as f32).collect();
        let mut singles = Self { rows, order, first: first as u32, low, doubt, slack, everything: 0..n };
        singles.hide_copies(&hashes, k);
        singles
    }

    /// A point with more than k copies that come before it is in nobody's list: these are as near, and ties go to
    /// the first. Without this, every copy of a row would be measured from everywhere.
    fn hide_copies(&mut self, hashes: &[u64], k: usize) {
        let (points, order) = (self.rows.points, &self.order);
        let mut places: Vec<u32> = (0..order.len() as u32).collect();
        places.par_sort_unstable_by_key(|place| (hashes[*place as usize], order[*place as usize]));
        let alike = |a: &u32, b: &u32| hashes[*a as usize] == hashes[*b as usize];
        for run in places.chunk_by(alike).filter(|run| run.len() > k + 1) {
            let point = |place: &u32| order[*place as usize] as usize;
            let first = point(&run[0]);
            for place in run.iter().filter(|place| points.same(first, point(place))).skip(k + 1) {
                self.low[*place as usize] = f32::NAN;
            }
        }
    }

    fn n(&self) -> usize {
        self.order.len()
    }

    /// Number among all of the point at a place.
    fn number(&self, place: usize) -> u32 {
        self.first + self.order[place]
    }

    /// The points at these places, to ask.
    pub(super) fn asking(&self, places: Range<usize>) -> Asking {
        let rows = self.rows.gathered(&self.order[places.clone()]);
        Asking { rows, numbers: places.map(|place| self.number(place)).collect() }
    }

    /// Every point against all.
    fn all(&self, k: usize, observer: &dyn Observer) -> Result<Lists> {
        let n = self.n();
        let groups: Vec<Range<usize>> =
            (0..n).step_by(QUERIES).map(|first| first..(first + QUERIES).min(n)).collect();
        self.gather(k, &groups, &|_| std::slice::from_ref(&self.everything), observer)
    }

    /// Every cell against the cells nearest to it.
    fn in_cells(&self, k: usize, cells: &Cells, probes: usize, observer: &dyn Observer) -> Result<Lists> {
        let mut groups = Vec::new();
        let mut cell_of = Vec::new();
        let ranges: Vec<Vec<Range<usize>>> = (0..cells.n())
            .map(|cell| cells.probed(cell, probes, k).map(|other| cells.range(other)).collect())
            .collect();
        for cell in 0..cells.n() {
            let range = cells.range(cell);
            for first in range.clone().step_by(QUERIES) {
                groups.push(first..(first + QUERIES).min(range.end));
                cell_of.push(cell);
            }
        }
        self.gather(k, &groups, &|group| &ranges[cell_of[group]], observer)
    }

    /// Lists of all points, group by group of places.
    fn gather<'r>(
        &self,
        k: usize,
        groups: &[Range<usize>],
        columns: &(dyn Fn(usize) -> &'r [Range<usize>] + Sync),
        observer: &dyn Observer,
    ) -> Result<Lists> {
        let (n, points) = (self.n(), self.rows.points);
        let measure = |i: u32, j: u32| points.distance2(i as usize, j as usize);
        let mut lists = Lists { k, indices: vec![0; n * k], values: vec![0.0; n * k] };
        for (chunk, batch) in groups.chunks(TOGETHER).enumerate() {
            let found: Result<Vec<Vec<Candidates>>> = batch
                .par_iter()
                .enumerate()
                .map(|(at, group)| {
                    go_on(observer, Stage::Neighbors)?;
                    let asking = self.asking(group.clone());
                    let found = self.ask(&measure, &asking, k, columns(chunk * TOGETHER + at), Vec::new());
                    let (done, total) = (group.len() as u64, n as u64);
                    observer.notice(&Event::Progress { stage: Stage::Neighbors, done, total });
                    Ok(found)
                })
                .collect();
            for (group, found) in batch.iter().zip(found?) {
                for (place, row) in group.clone().zip(found) {
                    let at = self.order[place] as usize * k;
                    for (to, (value, j)) in row.iter().enumerate() {
                        (lists.values[at + to], lists.indices[at + to]) = (*value, *j);
                    }
                }
            }
        }
        Ok(lists)
    }

    /// Exact neighbours of a few points, whoever they are: n' × k.
    fn exact_of(&self, asking: &[usize], k: usize, observer: &dyn Observer) -> Result<Vec<u32>> {
        let points = self.rows.points;
        let measure = |i: u32, j: u32| points.distance2(i as usize, j as usize);
        let found: Result<Vec<Vec<u32>>> = asking
            .par_chunks(FEW)
            .map(|asking| {
                go_on(observer, Stage::Neighbors)?;
                let numbers: Vec<u32> = asking.iter().map(|i| *i as u32).collect();
                let asking = Asking { rows: self.rows.gathered(&numbers), numbers };
                let all = std::slice::from_ref(&self.everything);
                let found = self.ask(&measure, &asking, k, all, Vec::new());
                Ok(found.into_iter().flatten().map(|(_, j)| j).collect())
            })
            .collect();
        Ok(found?.concat())
    }

    /// The k nearest of these points among the columns: values and points, ascending; `before` holds what was found
    /// among others.
    pub(super) fn ask(
        &self,
        measure: &impl Fn(u32, u32) -> f64,
        asking: &Asking,
        k: usize,
        columns: &[Range<usize>],
        before: Vec<Candidates>,
    ) -> Vec<Candidates> {
        let (m, height) = (self.rows.mean.len(), asking.numbers.len());
        let lengths: Vec<f64> = asking.rows.chunks_exact(m).map(length2).collect();
        let mut best: Vec<Best> =
            (0..height).map(|_| Best { limit: f32::INFINITY, ..Best::default() }).collect();
        for ((best, before), length) in best.iter_mut().zip(before).zip(&lengths) {
            best.settled = before;
            best.limit = self.limit_of(&best.settled, *length, k);
        }
        let most = (COLUMN_VALUES / m).clamp(COLUMNS[0], COLUMNS[1]);
        let mut block = vec![0.0_f32; most * m];
        let mut products = vec![0.0_f32; height * most];
        let ours = MatRef::from_row_major_slice(&asking.rows, height, m);
        for range in columns {
            for first in range.clone().step_by(most) {
                let width = most.min(range.end - first);
                let theirs = self.rows.gather(&self.order[first..first + width], &mut block);
                let theirs = MatRef::from_row_major_slice(theirs, width, m);
                let products = &mut products[..height * width];
                let out = MatMut::from_row_major_slice_mut(products, height, width);
                matmul(out, Accum::Replace, ours, theirs.transpose(), -2.0, Par::Seq);
                for (a, products) in products.chunks_exact(width).enumerate() {
                    let doubt = (2.0 * lengths[a] * self.slack + 2e-36 * m as f64) as f32;
                    let i = asking.numbers[a];
                    vectorized(
                        #[inline(always)]
                        || {
                            self.sift(&mut best[a], products, first, |best| {
                                self.cut(measure, i, best, k, doubt);
                            });
                        },
                    );
                }
            }
        }
        for (best, i) in best.iter_mut().zip(&asking.numbers) {
            self.settle(measure, *i, best, k);
        }
        best.into_iter().map(|best| best.settled).collect()
    }

    /// What the value of a candidate may be at most where k are known already, for a point of this length.
    fn limit_of(&self, settled: &[(f64, u32)], length: f64, k: usize) -> f32 {
        if settled.len() < k {
            return f32::INFINITY;
        }
        let most = settled[k - 1].0;
        let limit =
            (most - length + 2.0 * self.slack * (length + most) + 4e-36 * self.rows.mean.len() as f64) as f32;
        limit.next_up()
    }

    /// Measure the candidates and keep the k nearest.
    fn settle(&self, measure: &impl Fn(u32, u32) -> f64, i: u32, best: &mut Best, k: usize) {
        let others = best.list.drain(..).map(|(_, place)| self.number(place as usize)).filter(|j| *j != i);
        best.settled.extend(others.map(|j| (measure(i, j), j)));
        best.settled.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        best.settled.truncate(k);
    }

    /// Take up whoever of these columns may be among the nearest.
    #[inline(always)]
    fn sift(&self, best: &mut Best, products: &[f32], first: usize, cut: impl Fn(&mut Best)) {
        const LANES: usize = 32;
        let low = &self.low[first..first + products.len()];
        for (chunk, (products, low)) in products.chunks(LANES).zip(low.chunks(LANES)).enumerate() {
            let mut any = false;
            for (p, l) in products.iter().zip(low) {
                any |= p + l <= best.limit;
            }
            if !any {
                continue;
            }
            for (at, (p, l)) in products.iter().zip(low).enumerate() {
                if p + l <= best.limit {
                    best.list.push((p + l, (first + chunk * LANES + at) as u32));
                }
            }
            cut(best);
        }
    }

    /// Where the list is long, lower the limit and drop who is above it.
    fn cut(&self, measure: &impl Fn(u32, u32) -> f64, i: u32, best: &mut Best, k: usize, doubt: f32) {
        // One more than k: the point itself is among them.
        let kept = k + 1;
        if best.list.len() < 4 * kept {
            return;
        }
        let most = |(value, place): &(f32, u32)| value + self.doubt[*place as usize];
        let mut bounds: Vec<f32> = best.list.iter().map(most).collect();
        let (_, bound, _) = bounds.select_nth_unstable_by(k, f32::total_cmp);
        best.limit = best.limit.min(*bound + doubt);
        let limit = best.limit;
        best.list.retain(|(value, _)| *value <= limit);
        best.crowded |= best.list.len() > CROWD * kept;
        if best.crowded {
            self.settle(measure, i, best, k);
        }
    }
}

/// Points sorted into cells.
pub(super) struct Cells {
    /// Place → point; the cells lie one after the other.
    pub(super) order: Vec<u32>,
    /// Where each cell starts; one more at the end.
    starts: Vec<usize>,
    /// Cell of every point.
    pub(super) of: Vec<u32>,
    /// For every cell all cells, nearest first.
    near: Vec<u32>,
}

impl Cells {
    /// Points that the centres are made of, and the number of cells, of n points.
    pub(super) fn sample(n: usize) -> (Vec<usize>, usize) {
        let n_cells = ((n as f64).sqrt() as usize).clamp(16, 4096);
        let mut random = Stream::new(SEED, 0);
        let mut chosen: Vec<usize> = (0..n).collect();
        let taken = (PER_CELL * n_cells).min(n);
        for at in 0..taken {
            let other = at + random.below(n - at);
            chosen.swap(at, other);
        }
        chosen.truncate(taken);
        (chosen, n_cells)
    }

    /// Centres of the cells, from a sample in random order; `nearest` finds the centre of every row.
    pub(super) fn centers(
        sample: &[f32],
        n_cells: usize,
        m: usize,
        observer: &dyn Observer,
        nearest: Assign<'_>,
    ) -> Result<Vec<f32>> {
        let mut centers = sample[..n_cells * m].to_vec();
        for _ in 0..ROUNDS {
            go_on(observer, Stage::Neighbors)?;
            let of = nearest(sample, &centers);
            move_centers(&mut centers, sample, &of, m);
        }
        Ok(centers)
    }

    /// From the cell of every point.
    pub(super) fn new(centers: &[f32], m: usize, of: Vec<u32>) -> Self {
        let (n, n_cells) = (of.len(), centers.len() / m);
        let mut starts = vec![0; n_cells + 1];
        of.iter().for_each(|cell| starts[*cell as usize + 1] += 1);
        for cell in 0..n_cells {
            starts[cell + 1] += starts[cell];
        }
        let mut next = starts.clone();
        let mut order = vec![0; n];
        for (i, cell) in of.iter().enumerate() {
            let place = &mut next[*cell as usize];
            order[*place] = i as u32;
            *place += 1;
        }
        let near = (0..n_cells).into_par_iter().flat_map_iter(|cell| nearest_cells(centers, m, cell));
        Self { order, starts, of, near: near.collect() }
    }

    /// Cells to look into for the points of one: so many, and enough for K others even where they are small.
    pub(super) fn probed(&self, cell: usize, probes: usize, k: usize) -> impl Iterator<Item = usize> + '_ {
        let mut seen = 0;
        let near = self.near(cell).iter().map(|other| *other as usize).enumerate();
        let enough = move |(at, other): &(usize, usize)| {
            let more = *at < probes || seen <= 2 * k;
            seen += self.range(*other).len();
            more
        };
        near.take_while(enough).map(|(_, other)| other)
    }

    pub(super) fn n(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn range(&self, cell: usize) -> Range<usize> {
        self.starts[cell]..self.starts[cell + 1]
    }

    fn near(&self, cell: usize) -> &[u32] {
        let n = self.n();
        &self.near[cell * n..(cell + 1) * n]
    }

    /// How many cells must be looked into so that this share of these points' neighbours (k each) is found.
    pub(super) fn probes_for(&self, asking: &[usize], truth: &[u32], share: f64) -> usize {
        let k = truth.len() / asking.len();
        let mut found_at = vec![0_usize; self.n()];
        let mut position = vec![0_usize; self.n()];
        for (i, truth) in asking.iter().zip(truth.chunks_exact(k)) {
            let near = self.near(self.of[*i] as usize);
            near.iter().enumerate().for_each(|(at, cell)| position[*cell as usize] = at);
            truth.iter().for_each(|j| found_at[position[self.of[*j as usize] as usize]] += 1);
        }
        let wanted = share * truth.len() as f64;
        let mut found = 0;
        let enough = found_at.iter().position(|more| {
            found += more;
            found as f64 >= wanted
        });
        enough.map_or(self.n(), |at| at + 1)
    }

    /// Share of all pairs that this many cells make one look at.
    pub(super) fn mean_share(&self, probes: usize) -> f64 {
        let n = self.order.len() as f64;
        let looked = |cell: usize| {
            let seen: usize =
                self.near(cell)[..probes].iter().map(|other| self.range(*other as usize).len()).sum();
            (seen * self.range(cell).len()) as f64
        };
        (0..self.n()).map(looked).sum::<f64>() / (n * n)
    }
}

/// All cells, nearest first; the cell itself is the first.
fn nearest_cells(centers: &[f32], m: usize, cell: usize) -> Vec<u32> {
    let own = &centers[cell * m..(cell + 1) * m];
    let distance = |other: &[f32]| own.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f32>();
    let mut all: Vec<(f32, u32)> =
        centers.chunks_exact(m).enumerate().map(|(at, other)| (distance(other), at as u32)).collect();
    all[cell].0 = -1.0;
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    all.into_iter().map(|(_, cell)| cell).collect()
}

/// Number of the nearest centre of every row.
pub(super) fn nearest_center(rows: &[f32], centers: &[f32], m: usize) -> Vec<u32> {
    let centers = Centers::new(centers, m);
    let parts: Vec<Vec<u32>> = rows.par_chunks(ASSIGNED * m).map(|rows| centers.nearest(rows)).collect();
    parts.concat()
}

/// Centres of cells, with their lengths.
struct Centers<'a> {
    all: MatRef<'a, f32>,
    lengths: Vec<f32>,
}

impl<'a> Centers<'a> {
    fn new(centers: &'a [f32], m: usize) -> Self {
        let lengths = centers.chunks_exact(m).map(|c| c.iter().map(|x| x * x).sum()).collect();
        Self { all: MatRef::from_row_major_slice(centers, centers.len() / m, m), lengths }
    }

    /// Number of the nearest centre of each of these rows.
    fn nearest(&self, rows: &[f32]) -> Vec<u32> {
        let (k, m) = (self.all.nrows(), self.all.ncols());
        let height = rows.len() / m;
        let mut products = vec![0.0_f32; height * k];
        let out = MatMut::from_row_major_slice_mut(&mut products, height, k);
        let rows = MatRef::from_row_major_slice(rows, height, m);
        matmul(out, Accum::Replace, rows, self.all.transpose(), -2.0, Par::Seq);
        let nearest = |products: &[f32]| {
            let mut best = (f32::INFINITY, 0);
            for (at, (p, l)) in products.iter().zip(&self.lengths).enumerate() {
                if p + l < best.0 {
                    best = (p + l, at as u32);
                }
            }
            best.1
        };
        products.chunks_exact(k).map(nearest).collect()
    }
}

/// A number that rows have in common where they are the same.
fn hash(row: &[f32]) -> u64 {
    // −0 and 0 are one value.
    let mix =
        |seen: u64, x: &f32| (seen ^ u64::from((x + 0.0).to_bits())).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    row.iter().fold(0, |seen, x| mix(seen, x).rotate_left(29))
}

/// Squared length of a row, one value after the other.
fn length2(row: &[f32]) -> f64 {
    row.iter().map(|x| f64::from(*x) * f64::from(*x)).sum()
}

/// Every centre becomes the mean of its rows; one without rows stays.
fn move_centers(centers: &mut [f32], rows: &[f32], of: &[u32], m: usize) {
    let k = centers.len() / m;
    let (mut sums, mut counts) = (vec![0.0_f64; k * m], vec![0.0; k]);
    for (row, cell) in rows.chunks_exact(m).zip(of) {
        let cell = *cell as usize;
        counts[cell] += 1.0;
        sums[cell * m..(cell + 1) * m].iter_mut().zip(row).for_each(|(sum, x)| *sum += f64::from(*x));
    }
    for (cell, center) in centers.chunks_exact_mut(m).enumerate().filter(|(cell, _)| counts[*cell] > 0.0) {
        let sums = &sums[cell * m..(cell + 1) * m];
        center.iter_mut().zip(sums).for_each(|(c, sum)| *c = (sum / counts[cell]) as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::mixture;
    use crate::input::{Metric, Samples};
    use crate::observe::Silent;

    fn naive(points: &Points<'_>, n: usize, k: usize) -> Vec<u32> {
        (0..n)
            .flat_map(|i| {
                let mut row: Vec<(f64, u32)> =
                    (0..n).filter(|j| *j != i).map(|j| (points.distance2(i, j), j as u32)).collect();
                row.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                row.into_iter().take(k).map(|(_, j)| j).collect::<Vec<_>>()
            })
            .collect()
    }

    #[test]
    fn blocks_find_what_a_full_sort_finds() {
        // Far from the origin; tied integers; duplicates; one far outlier; all equal.
        type Shape = fn(f64, usize) -> f64;
        let cases: [(usize, usize, Shape); 6] = [
            (300, 30, |x, _| x + 1e3),
            (260, 3, |x, _| (3.0 * x).round()),
            (150, 40, |x, _| (8.0 * x).round()),
            (200, 5, |x, i| if i < 5 { 1e12 } else { x }),
            (140, 2, |_, _| 0.25),
            (3, 2, |x, _| x),
        ];
        let mut random = Stream::new(4, 4);
        for (n, m, shape) in cases {
            let data: Vec<f64> = (0..n * m).map(|at| shape(random.normal(), at)).collect();
            let samples = Samples::from_rows(&data, n, m).unwrap();
            let points = Points::rows_only(&samples, Metric::Euclidean).unwrap();
            for k in [1, 7, n - 1] {
                let (found, report) = search(&points, k, (SearchBy::Auto, None), &Silent).unwrap();
                assert_eq!(found.indices, naive(&points, n, k), "{n} x {m}, k = {k}");
                assert_eq!(report, SearchReport::EXACT);
            }
        }
    }

    #[test]
    fn many_copies_of_one_point_change_no_list() {
        // Three of four are copies of one row, some with its zero negative; a few are copies of another; distances
        // far below what products can tell.
        let (n, m) = (3000, 6);
        let mut random = Stream::new(5, 5);
        let row = |i: usize| match i % 8 {
            0 if i.is_multiple_of(16) => [0.5; 6],
            0 | 1 => [0.0; 6].map(|_| random.normal()),
            2 => [1.0, -0.0, 3.0, 4.0, 5.0, 6.0],
            3 => [1.0, 0.0, 3.0, 4.0, 5.0, 6.0 + 1e-9 * (i / 800) as f64],
            _ => [1.0, 0.0, 3.0, 4.0, 5.0, 6.0],
        };
        let data: Vec<f64> = (0..n).flat_map(row).collect();
        let samples = Samples::from_rows(&data, n, m).unwrap();
        let points = Points::rows_only(&samples, Metric::Euclidean).unwrap();
        let mean = points.mean();
        let rows = Centred { points: &points, mean: &mean };
        let singles = Singles::new(rows, (0..n as u32).rev().collect(), 0, 9);
        let hidden = singles.low.iter().filter(|low| low.is_nan()).count();
        assert!(hidden > n / 2, "only {hidden} copies are left out");
        for k in [1, 9, 40] {
            let (found, _) = search(&points, k, (SearchBy::Exact, None), &Silent).unwrap();
            assert!(found.indices == naive(&points, n, k), "k = {k}");
        }
    }

    #[test]
    fn cells_reach_the_recall_they_report() {
        let n = 6000;
        let data = mixture(n, 12, 9, 3.0, 2).unwrap();
        let samples = Samples::from_rows(&data.data, n, 12).unwrap();
        let points = Points::rows_only(&samples, Metric::Euclidean).unwrap();
        let (found, report) = search(&points, 20, (SearchBy::Cells, None), &Silent).unwrap();
        let (truth, _) = search(&points, 20, (SearchBy::Exact, None), &Silent).unwrap();
        let hits = (0..n)
            .map(|i| truth.row(i).0.iter().filter(|j| found.row(i).0.contains(j)).count())
            .sum::<usize>();
        let recall = hits as f64 / (n * 20) as f64;
        assert!(report.approximate, "a mixture has cells that need no look");
        assert!(recall >= 0.97 && (recall - report.recall).abs() < 0.02, "{recall} {report:?}");
        let again = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let again = again.install(|| search(&points, 20, (SearchBy::Cells, None), &Silent).unwrap());
        assert!(again == (found, report), "lists depend on the number of threads");
    }

    #[test]
    fn neighbours_of_neighbours_reach_the_recall_they_report() {
        let (n, k) = (4000, 40);
        // Few features, as they are; many, of which a sketch is made; and copies, whose ties are settled by number.
        let wide = mixture(n, 200, 8, 3.0, 5).unwrap().data;
        let cases = [
            ("surface", 32, surface(n)),
            ("wide", 200, wide),
            ("copies", 2, (0..n * 2).map(|at| (at / 2 % 13) as f64).collect()),
        ];
        for (name, m, data) in cases {
            let samples = Samples::from_rows(&data, n, m).unwrap();
            let points = Points::rows_only(&samples, Metric::Euclidean).unwrap();
            let (truth, _) = search(&points, k, (SearchBy::Exact, None), &Silent).unwrap();
            let everybody: Vec<usize> = (0..n).collect();
            let found = |guess, threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| search(&points, k, (SearchBy::Descent, guess), &Silent).unwrap())
            };
            let (lists, report) = found(None, 2);
            let recall = lists.recall(&everybody, &truth.indices);
            assert!(report.approximate, "{name}: {report:?}");
            assert!(recall > 0.95 && (recall - report.recall).abs() < 0.03, "{name}: {recall}, {report:?}");
            assert!(found(None, 3) == (lists, report), "{name}: lists depend on the number of threads");
            let near = |i: usize| {
                let row = truth.row(i);
                row.1.iter().all(|value| value.is_finite()) && row.0.iter().all(|j| *j as usize != i)
            };
            assert!(everybody.iter().all(|i| near(*i)), "{name}: somebody is its own neighbour");
            // A guess that is right is not lost.
            let (guessed, _) = found(Some(Guess { k, indices: &truth.indices }), 2);
            assert!(guessed.recall(&everybody, &truth.indices) > 0.97, "{name}: a good guess was lost");
        }
    }

    /// A surface of three parameters, bent through 32 features.
    fn surface(n: usize) -> Vec<f64> {
        let mut random = Stream::new(6, 1);
        let bend = |at: [f64; 3], j: usize| {
            let j = j as f64;
            (at[0] * (1.0 + 0.1 * j) + j).sin() + (at[1] * 0.7 - j).cos() * at[2]
        };
        let place = |_| {
            let at = [0.0; 3].map(|_| 3.0 * random.uniform());
            (0..32).map(move |j| bend(at, j)).collect::<Vec<_>>()
        };
        (0..n).flat_map(place).collect()
    }

    #[test]
    fn cells_find_95_of_100_neighbours_in_larger_sets() {
        let (n, k) = (24_000, 64);
        let sets = [
            ("a surface of 3 parameters", 32, surface(n)),
            ("a mixture in 64 features", 64, mixture(n, 64, 20, 3.0, 7).unwrap().data),
        ];
        for (name, m, data) in sets {
            let data: Vec<f32> = data.iter().map(|x| *x as f32).collect();
            let samples = Samples::from_rows(&data, n, m).unwrap();
            let points = Points::rows_only(&samples, Metric::Euclidean).unwrap();
            let (found, report) = search(&points, k, (SearchBy::Cells, None), &Silent).unwrap();
            assert!(report.approximate, "{name}: cells made one look at most pairs");
            let asked: Vec<usize> = (0..n).step_by(61).collect();
            let of = |i: &usize| {
                let mut row: Vec<(f64, u32)> =
                    (0..n).filter(|j| j != i).map(|j| (points.distance2(*i, j), j as u32)).collect();
                row.select_nth_unstable_by(k - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                row[..k].iter().filter(|(_, j)| found.row(*i).0.contains(j)).count()
            };
            let hits: usize = asked.par_iter().map(of).sum();
            let recall = hits as f64 / (asked.len() * k) as f64;
            assert!(recall >= 0.95 && (recall - report.recall).abs() < 0.02, "{name}: {recall} {report:?}");
        }
    }
}
