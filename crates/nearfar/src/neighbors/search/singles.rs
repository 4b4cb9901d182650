//! Points in some order, compared with others by blocked products: whoever may be near is measured again.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::cells::{Cells, Centers};
use super::{ASSIGNED, COLUMN_VALUES, COLUMNS, CROWD, Candidates, FEW, Lists, QUERIES, TOGETHER};
use crate::error::Result;
use crate::math::kernel::vectorized;
use crate::neighbors::exact::Points;
use crate::observe::{Event, Observer, Stage, go_on};

/// The points in single precision, less the mean: made when they are needed.
#[derive(Clone, Copy)]
pub(crate) struct Centred<'a> {
    pub(crate) points: &'a Points<'a>,
    pub(crate) mean: &'a [f64],
}

impl Centred<'_> {
    /// Rows of these points, one after the other, to the beginning of `out`.
    pub(crate) fn gather<'o>(&self, which: &[u32], out: &'o mut [f32]) -> &'o [f32] {
        let m = self.mean.len();
        let out = &mut out[..which.len() * m];
        for (out, i) in out.chunks_exact_mut(m).zip(which) {
            self.points.copy_centred(*i as usize, self.mean, out);
        }
        out
    }

    /// The same in memory of its own.
    pub(crate) fn gathered(&self, which: &[u32]) -> Vec<f32> {
        let mut rows = vec![0.0; which.len() * self.mean.len()];
        self.gather(which, &mut rows);
        rows
    }

    /// Number of the nearest centre of every point.
    pub(crate) fn nearest_center(&self, centers: &[f32]) -> Vec<u32> {
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
pub(crate) struct Singles<'a> {
    rows: Centred<'a>,
    /// Place → point, as these points count.
    pub(crate) order: Vec<u32>,
    /// The number of the first of these points among all.
    first: u32,
    /// ‖x‖² less what rounding may add, and twice that: what a value may be too small by. Not a number where nobody
    /// lists the point.
    pub(crate) low: Vec<f32>,
    doubt: Vec<f32>,
    /// Share of the lengths that a product may be off by.
    slack: f64,
    /// All places.
    everything: Range<usize>,
}

/// Points that ask: their rows, and their numbers among all.
pub(crate) struct Asking {
    pub(crate) rows: Vec<f32>,
    pub(crate) numbers: Vec<u32>,
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
    pub(crate) fn new(rows: Centred<'a>, order: Vec<u32>, first: usize, k: usize) -> Self {
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
    pub(crate) fn asking(&self, places: Range<usize>) -> Asking {
        let rows = self.rows.gathered(&self.order[places.clone()]);
        Asking { rows, numbers: places.map(|place| self.number(place)).collect() }
    }

    /// Every point against all.
    pub(crate) fn all(&self, k: usize, observer: &dyn Observer) -> Result<Lists> {
        let n = self.n();
        let groups: Vec<Range<usize>> =
            (0..n).step_by(QUERIES).map(|first| first..(first + QUERIES).min(n)).collect();
        self.gather(k, &groups, &|_| std::slice::from_ref(&self.everything), observer)
    }

    /// Every cell against the cells nearest to it.
    pub(crate) fn in_cells(
        &self,
        k: usize,
        cells: &Cells,
        probes: usize,
        observer: &dyn Observer,
    ) -> Result<Lists> {
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
    pub(crate) fn gather<'r>(
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
    pub(crate) fn exact_of(&self, asking: &[usize], k: usize, observer: &dyn Observer) -> Result<Vec<u32>> {
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
    pub(crate) fn ask(
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
            let limit = best.limit;
            let mut any = false;
            for (p, l) in products.iter().zip(low) {
                any |= p + l <= limit;
            }
            if !any {
                continue;
            }
            // Every value is written, and overwritten by the next unless it counts: no branch that nobody can foresee.
            let (mut near, mut count) = ([(0.0, 0); LANES], 0);
            for (at, (p, l)) in products.iter().zip(low).enumerate() {
                let value = p + l;
                near[count % LANES] = (value, (first + chunk * LANES + at) as u32);
                count += usize::from(value <= limit);
            }
            best.list.extend_from_slice(&near[..count]);
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
