//! The K nearest where every process of a team holds a part of the points: the parts travel round a ring, everybody
//! compares its own points with whatever passes, and the nearest of all parts are merged by distance and number.
//! The lists are those of one process that holds all points.

use std::collections::HashMap;
use std::ops::Range as Places;

use bytemuck::Pod;
use rayon::prelude::*;

use super::Metric;
use super::descent::{self, Guess};
use super::exact::{Overall, Part, Points, Range};
use super::nearest::only_copies;
use super::search::{
    ASSIGNED, Asking, Candidates, Cells, Centred, FEW, LEAST_RECALL, Lists, QUERIES, SAMPLE, SearchBy,
    SearchReport, Singles, nearest_center, spread,
};
use crate::error::{DataError, Error, Result};
use crate::input::Samples;
use crate::observe::{Event, Observer, Stage, go_on};
use crate::processes::Share;

/// Refuse a value that is not finite, whoever holds it; all processes name the same one.
pub(crate) fn check_together(rows: &Samples<'_>, share: &Share) -> Result<()> {
    Everywhere(share).same(rows.check())
}

/// What the rows of all processes have in common.
struct Everywhere<'a>(&'a Share);

impl Overall for Everywhere<'_> {
    fn range(&self, here: Range) -> Range {
        let flag = |flag: bool| f64::from(u8::from(flag));
        let mine = [here.low, here.high, flag(here.finite), flag(here.whole)];
        let all = self.0.team().gather_even("range of values", &mine);
        all.chunks_exact(4).fold(here, |range, other| {
            range.with(Range { low: other[0], high: other[1], finite: other[2] > 0.0, whole: other[3] > 0.0 })
        })
    }

    fn same(&self, here: Result<()>) -> Result<()> {
        // Row, column, value, and which kind of failure; the first row that fails counts.
        let first = self.0.rows().start;
        let mine = match &here {
            Err(Error::Data(DataError::NotFinite { row, column, value, .. })) => {
                [(first + row) as u64, *column as u64, value.to_bits(), 0]
            }
            Err(Error::Data(DataError::ZeroRow { row })) => [(first + row) as u64, 0, 0, 1],
            // A process without rows finds its part empty, which is no failure.
            _ => [u64::MAX; 4],
        };
        let all = self.0.team().gather_even("failures", &mine);
        match all.chunks_exact(4).min_by_key(|failure| failure[0]) {
            Some(&[row, column, value, kind]) if row != u64::MAX => {
                let (row, column, value) = (row as usize, column as usize, f64::from_bits(value));
                Err(if kind == 0 {
                    DataError::NotFinite { what: "samples", row, column, value }.into()
                } else {
                    DataError::ZeroRow { row }.into()
                })
            }
            _ => Ok(()),
        }
    }

    fn every(&self, here: bool) -> bool {
        !self.0.team().any("kinds of values", !here)
    }
}

impl<'a> Points<'a> {
    /// The points of this process, of all that a team holds.
    pub(crate) fn of_share(rows: &Samples<'a>, metric: Metric, share: &Share) -> Result<Self> {
        let (n_samples, n_features) = (share.n_rows(), rows.n_features());
        if n_samples == 0 || n_features == 0 {
            return Err(DataError::Empty { n_samples, n_features }.into());
        }
        let mut points = Self::rows_of(rows, metric, &Everywhere(share))?;
        let single = share.team().any("kinds of values", !points.singles().is_empty());
        points.part = Some(Part { share: share.clone(), single });
        Ok(points)
    }

    /// See the points of every process, the own ones first; `visit` gets the number of the first and the points.
    pub(crate) fn ring(
        &self,
        what: &'static str,
        visit: &mut dyn FnMut(usize, &Self) -> Result<()>,
    ) -> Result<()> {
        let Some(Part { share, single }) = &self.part else { return visit(0, self) };
        let (team, m) = (share.team(), self.m);
        team.agree();
        visit(share.rows().start, self)?;
        let mut guest: Option<Self> = None;
        for step in 1..team.size() {
            let from = (team.rank() + team.size() - step) % team.size();
            let coming = share.rows_of(from).len() * m;
            let sent = guest.as_ref().unwrap_or(self);
            let next = if *single {
                Self::of_singles(team.pass(what, sent.singles(), coming), m)
            } else {
                Self::of_doubles(team.pass(what, &sent.rows, coming), m, self.unit)
            };
            team.agree();
            visit(share.rows_of(from).start, guest.insert(next))?;
        }
        Ok(())
    }

    /// The smallest positive squared distance of every own point whose list holds nothing but copies of it;
    /// infinite when there is none.
    pub(super) fn apart(&self, lists: &Lists) -> HashMap<usize, f64> {
        let alone: Vec<usize> = (0..self.n).filter(|i| only_copies(lists, *i)).collect();
        let stand_ins = self.stand_ins(lists, &alone);
        let mut looked: Vec<(usize, f64)> = stand_ins.iter().map(|i| (*i, f64::INFINITY)).collect();
        looked.sort_unstable_by_key(|(i, _)| *i);
        looked.dedup_by_key(|(i, _)| *i);
        if self.share().team().any("copies", !alone.is_empty()) {
            let visit = &mut |_: usize, others: &Self| {
                looked.par_iter_mut().for_each(|(i, least)| {
                    let distances = (0..others.n).map(|j| self.distance2_to(*i, others, j));
                    *least = distances.filter(|v| *v > 0.0).fold(*least, f64::min);
                });
                Ok(())
            };
            // The visit never fails.
            let _ = self.ring("points against copies", visit);
        }
        let least: HashMap<usize, f64> = looked.into_iter().collect();
        alone.into_iter().zip(stand_ins).map(|(i, other)| (i, least[&other])).collect()
    }

    /// For each of these points, whose lists hold nothing but copies, one that is the same: where there are
    /// thousands of them, one is enough to look at.
    fn stand_ins(&self, lists: &Lists, alone: &[usize]) -> Vec<usize> {
        let first = self.share().rows().start;
        let mut leaders: HashMap<usize, usize> = HashMap::new();
        let stand_in = |i: &usize| {
            // Lists of copies begin with the first of them all.
            let all = (lists.row(*i).0[0] as usize).min(first + i);
            let leader = *leaders.entry(all).or_insert(*i);
            if self.same(leader, *i) { leader } else { *i }
        };
        alone.iter().map(stand_in).collect()
    }

    /// These points, whoever holds them, in this order.
    pub(crate) fn some(&self, share: &Share, wanted: &[usize]) -> Self {
        let (first, m) = (share.rows().start, self.m);
        let own = wanted.iter().filter(|i| share.rows().contains(i)).map(|i| (i - first) * m);
        if self.part.as_ref().map_or(!self.singles().is_empty(), |part| part.single) {
            let mine: Vec<f32> = own.flat_map(|at| &self.singles()[at..at + m]).copied().collect();
            Self::of_singles(gather_some(share, wanted, &mine, m), m)
        } else {
            let mine: Vec<f64> = own.flat_map(|at| &self.rows[at..at + m]).copied().collect();
            Self::of_doubles(gather_some(share, wanted, &mine, m), m, self.unit)
        }
    }
}

/// `width` values of every wanted row, in the order wanted, where each process hands in those of its own.
fn gather_some<T: Pod>(share: &Share, wanted: &[usize], mine: &[T], width: usize) -> Vec<T> {
    let mut lengths = vec![0; share.team().size()];
    wanted.iter().for_each(|i| lengths[share.owner(*i)] += width);
    let all = share.team().gather_known("chosen points", mine, &lengths);
    let mut next: Vec<usize> = (0..lengths.len()).map(|p| lengths[..p].iter().sum()).collect();
    let mut sorted = Vec::with_capacity(all.len());
    for i in wanted {
        let at = &mut next[share.owner(*i)];
        sorted.extend_from_slice(&all[*at..*at + width]);
        *at += width;
    }
    sorted
}

/// As [`super::search::search`], of points that a team holds; lists of the own ones.
pub(super) fn search(
    points: &Points<'_>,
    k: usize,
    (way, guess): (SearchBy, Option<Guess<'_>>),
    observer: &dyn Observer,
) -> Result<(Lists, SearchReport)> {
    let (share, (_, m)) = (points.share(), points.shape());
    let n = share.n_rows();
    let k = k.min(n.saturating_sub(1));
    if k == 0 {
        return Ok((Lists { k, ..Lists::default() }, SearchReport::EXACT));
    }
    let mut mean = share.team().relay("mean point", vec![0.0; m], |sum| points.add_rows(sum));
    mean.iter_mut().for_each(|mean| *mean /= n as f64);
    let ring = Ring { points, share, mean, k, observer };
    if way.is_exact(n, m) {
        return Ok((ring.exact()?, SearchReport::EXACT));
    }
    if way.descends(n)
        && let Some(found) = ring.by_descent(guess)?
    {
        return Ok(found);
    }
    ring.by_cells(way.recall())
}

/// One search.
struct Ring<'a> {
    points: &'a Points<'a>,
    share: Share,
    mean: Vec<f64>,
    k: usize,
    observer: &'a dyn Observer,
}

impl Ring<'_> {
    /// Points less the mean of all.
    fn centred<'a>(&'a self, points: &'a Points<'a>) -> Centred<'a> {
        Centred { points, mean: &self.mean }
    }

    /// Points in some order; `first` is the number of the first among all.
    fn singles<'a>(&'a self, points: &'a Points<'a>, order: Vec<u32>, first: usize) -> Singles<'a> {
        Singles::new(self.centred(points), order, first, self.k)
    }

    /// Every point against all.
    fn exact(&self) -> Result<Lists> {
        let n = self.points.shape().0;
        let own = self.singles(self.points, (0..n as u32).collect(), self.share.rows().start);
        let groups: Vec<Places<usize>> =
            (0..n).step_by(QUERIES).map(|first| first..(first + QUERIES).min(n)).collect();
        self.gather(&own, &groups, &|_, others| {
            let everything = 0..others.shape().0;
            let order = (0..everything.end as u32).collect();
            (order, vec![vec![everything]; groups.len()])
        })
    }

    /// By neighbours of neighbours; `None` where these do not find enough.
    fn by_descent(&self, guess: Option<Guess<'_>>) -> Result<Option<(Lists, SearchReport)>> {
        let Some(found) = descent::search(self.points, &self.mean, self.k, guess, self.observer)? else {
            return Ok(None);
        };
        let order = (0..self.points.shape().0 as u32).collect();
        let singles = self.singles(self.points, order, self.share.rows().start);
        let [_, asked] = spread(self.share.n_rows());
        let recall = self.recall(&singles, &asked, &found)?;
        Ok((recall >= LEAST_RECALL).then_some((found, SearchReport { approximate: true, recall })))
    }

    /// Share of the true neighbours of these points that is in their lists, whoever holds them.
    fn recall(&self, singles: &Singles<'_>, asked: &[usize], found: &Lists) -> Result<f64> {
        let (share, k) = (&self.share, self.k);
        let truth = self.exact_of(singles, asked)?;
        let mut hits = 0_u64;
        for (i, truth) in asked.iter().zip(truth.chunks_exact(k)).filter(|(i, _)| share.rows().contains(i)) {
            let own = found.row(i - share.rows().start).0;
            hits += truth.iter().filter(|j| own.contains(j)).count() as u64;
        }
        let hits: u64 = share.team().gather_even("recall", &[hits]).iter().sum();
        Ok(hits as f64 / (SAMPLE * k) as f64)
    }

    /// By cells, with the recall measured.
    fn by_cells(&self, wanted: f64) -> Result<(Lists, SearchReport)> {
        let (share, k) = (&self.share, self.k);
        let cells = self.cells()?;
        let own = own_order(&cells, share);
        let first = share.rows().start;
        let order = own.iter().map(|i| i - first as u32).collect();
        let singles = self.singles(self.points, order, first);
        let [chosen, asked] = spread(share.n_rows());
        let probes = cells.probes_for(&chosen, &self.exact_of(&singles, &chosen)?, wanted);
        if cells.mean_share(probes) > 0.5 {
            return Ok((self.exact()?, SearchReport::EXACT));
        }
        // Own points of one cell ask together.
        let (mut groups, mut cell_of): (Vec<Places<usize>>, Vec<usize>) = (Vec::new(), Vec::new());
        for run in own.chunk_by(|a, b| cells.of[*a as usize] == cells.of[*b as usize]) {
            let start = groups.last().map_or(0, |group| group.end);
            for at in (0..run.len()).step_by(QUERIES) {
                groups.push(start + at..start + (at + QUERIES).min(run.len()));
                cell_of.push(cells.of[run[0] as usize] as usize);
            }
        }
        let found = self.gather(&singles, &groups, &|first, others| {
            let here = first..first + others.shape().0;
            let mut order: Vec<u32> = (0..here.len() as u32).collect();
            let cell = |i: &u32| cells.of[first + *i as usize];
            order.sort_by_key(cell); // stable: by number within a cell
            let starts: Vec<usize> =
                (0..=cells.n()).map(|c| order.partition_point(|i| (cell(i) as usize) < c)).collect();
            let ranges = cell_of.iter().map(|own| {
                let probed = cells.probed(*own, probes, k).map(|cell| starts[cell]..starts[cell + 1]);
                probed.filter(|range| !range.is_empty()).collect()
            });
            let ranges = ranges.collect();
            (order, ranges)
        })?;
        // Measured on other points than those the number of cells was chosen by.
        let recall = self.recall(&singles, &asked, &found)?;
        Ok((found, SearchReport { approximate: true, recall }))
    }

    /// The cells of all points, the same in every process.
    fn cells(&self) -> Result<Cells> {
        let (share, m) = (&self.share, self.points.shape().1);
        let team = share.team();
        let (chosen, n_cells) = Cells::sample(share.n_rows());
        let sample = self.points.some(share, &chosen);
        let sample = self.centred(&sample).gathered(&(0..chosen.len() as u32).collect::<Vec<_>>());
        // Everybody looks at a part of the sample.
        let parts = chosen.len().div_ceil(ASSIGNED);
        let cut = |p: usize| (parts * p / team.size() * ASSIGNED).min(chosen.len());
        let lengths: Vec<usize> = (0..team.size()).map(|p| cut(p + 1) - cut(p)).collect();
        let nearest = |sample: &[f32], centers: &[f32]| {
            let mine = &sample[cut(team.rank()) * m..cut(team.rank() + 1) * m];
            let of = team.gather_known("cells", &nearest_center(mine, centers, m), &lengths);
            team.agree();
            of
        };
        let centers = Cells::centers(&sample, n_cells, m, self.observer, &nearest)?;
        let of = share.gather_rows("cells", &self.centred(self.points).nearest_center(&centers), 1);
        Ok(Cells::new(&centers, m, of))
    }

    /// Lists of the own points, by groups of places, against all that passes. `sorted` answers in which order the
    /// visiting points are to stand and, for every group, which places of that order it is compared with.
    #[allow(clippy::type_complexity)] // said in words above
    fn gather(
        &self,
        own: &Singles<'_>,
        groups: &[Places<usize>],
        sorted: &dyn Fn(usize, &Points<'_>) -> (Vec<u32>, Vec<Vec<Places<usize>>>),
    ) -> Result<Lists> {
        let (n, _) = self.points.shape();
        let k = self.k;
        let mine = self.share.rows().start as u32;
        let total = (n * self.share.team().size()) as u64;
        let mut found: Vec<Candidates> = vec![Candidates::new(); n];
        self.points.ring("points for neighbours", &mut |first, others| {
            // Also where a process has no rows to ask for: all leave here, or none.
            go_on(self.observer, Stage::Neighbors)?;
            let (order, ranges) = sorted(first, others);
            let columns = self.singles(others, order, first);
            let measure =
                |i: u32, j: u32| self.points.distance2_to((i - mine) as usize, others, j as usize - first);
            let before: Vec<Vec<Candidates>> = groups
                .iter()
                .map(|group| {
                    let places = own.order[group.clone()].iter();
                    places.map(|i| std::mem::take(&mut found[*i as usize])).collect()
                })
                .collect();
            let now: Result<Vec<Vec<Candidates>>> = groups
                .par_iter()
                .zip(before)
                .zip(&ranges)
                .map(|((group, before), ranges)| {
                    go_on(self.observer, Stage::Neighbors)?;
                    let now = columns.ask(&measure, &own.asking(group.clone()), k, ranges, before);
                    let done = group.len() as u64;
                    self.observer.notice(&Event::Progress { stage: Stage::Neighbors, done, total });
                    Ok(now)
                })
                .collect();
            for (group, now) in groups.iter().zip(now?) {
                for (i, now) in own.order[group.clone()].iter().zip(now) {
                    found[*i as usize] = now;
                }
            }
            Ok(())
        })?;
        let mut lists = Lists { k, indices: Vec::with_capacity(n * k), values: Vec::with_capacity(n * k) };
        for found in found {
            lists.values.extend(found.iter().map(|(value, _)| *value));
            lists.indices.extend(found.iter().map(|(_, j)| *j));
        }
        Ok(lists)
    }

    /// Exact neighbours of a few points, whoever they are: n' × k.
    fn exact_of(&self, own: &Singles<'_>, asking: &[usize]) -> Result<Vec<u32>> {
        let (share, k) = (&self.share, self.k);
        go_on(self.observer, Stage::Neighbors)?;
        let asked = self.points.some(share, asking);
        let first = share.rows().start;
        let place: HashMap<u32, usize> = asking.iter().enumerate().map(|(at, i)| (*i as u32, at)).collect();
        let measure = |i: u32, j: u32| asked.distance2_to(place[&i], self.points, j as usize - first);
        let everything = 0..own.order.len();
        let found: Vec<Vec<Candidates>> = asking
            .par_chunks(FEW)
            .enumerate()
            .map(|(chunk, asking)| {
                let places: Vec<u32> = (0..asking.len()).map(|at| (chunk * FEW + at) as u32).collect();
                let rows = self.centred(&asked).gathered(&places);
                let asking = Asking { rows, numbers: asking.iter().map(|i| *i as u32).collect() };
                own.ask(&measure, &asking, k, std::slice::from_ref(&everything), Vec::new())
            })
            .collect();
        // Everybody's k nearest; where there are fewer, nobody at an infinite distance.
        let (mut values, mut others) = (Vec::new(), Vec::new());
        for found in found.into_iter().flatten() {
            values.extend((0..k).map(|at| found.get(at).map_or(f64::INFINITY, |found| found.0)));
            others.extend((0..k).map(|at| found.get(at).map_or(u32::MAX, |found| found.1)));
        }
        let values = share.team().gather_even("chosen points", &values);
        let others = share.team().gather_even("chosen points", &others);
        let width = asking.len() * k;
        let merged = (0..asking.len()).flat_map(|at| {
            let parts = (0..share.team().size()).map(|p| p * width + at * k);
            let mut all: Candidates =
                parts.flat_map(|from| (from..from + k).map(|at| (values[at], others[at]))).collect();
            all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            all.into_iter().take(k).map(|(_, j)| j)
        });
        Ok(merged.collect())
    }
}

/// The own points, cell by cell.
fn own_order(cells: &Cells, share: &Share) -> Vec<u32> {
    cells.order.iter().copied().filter(|i| share.rows().contains(&(*i as usize))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::mixture;
    use crate::neighbors::nearest::scales_of;
    use crate::neighbors::search::search as search_all;
    use crate::observe::Silent;
    use crate::processes::threads::as_team;

    /// The lists, scales and reports of all ranks put together are those of one process.
    fn check(data: &[f64], n: usize, m: usize, k: usize, way: SearchBy, single: bool) {
        let singles: Vec<f32> = data.iter().map(|x| *x as f32).collect();
        let samples = |rows: Places<usize>| {
            let at = rows.start * m..rows.end * m;
            if single {
                Samples::from_rows(&singles[at], rows.len(), m).unwrap()
            } else {
                Samples::from_rows(&data[at], rows.len(), m).unwrap()
            }
        };
        let points = Points::rows_only(&samples(0..n), Metric::Euclidean).unwrap();
        let (lists, report) = search_all(&points, k, (way, None), &Silent).unwrap();
        let scales = scales_of(&points, &lists);
        for size in [1, 2, 3, 4, 8] {
            let found = as_team(size, |team| {
                let share = Share::new(team.clone(), n);
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1 + size % 2).build().unwrap();
                pool.install(|| {
                    let points = Points::of_share(&samples(share.rows()), Metric::Euclidean, &share).unwrap();
                    let (lists, report) = search_all(&points, k, (way, None), &Silent).unwrap();
                    let scales = scales_of(&points, &lists);
                    (lists, report, scales)
                })
            });
            let indices: Vec<u32> = found.iter().flat_map(|(lists, ..)| &lists.indices).copied().collect();
            let values: Vec<f64> = found.iter().flat_map(|(lists, ..)| &lists.values).copied().collect();
            assert!(indices == lists.indices, "{n} x {m}, {way:?}: other neighbours at {size} ranks");
            assert!(values == lists.values, "{n} x {m}, {way:?}: other distances at {size} ranks");
            assert!(found.iter().all(|(_, theirs, _)| *theirs == report), "{report:?}");
            assert!(found.iter().all(|(.., theirs)| *theirs == scales), "other scales at {size} ranks");
        }
    }

    #[test]
    fn a_ring_finds_what_one_process_finds() {
        let data = mixture(2600, 30, 5, 2.0, 3).unwrap().data;
        check(&data, 2600, 30, 40, SearchBy::Exact, false);
        check(&data, 2600, 30, 12, SearchBy::Exact, true);
        let rounded: Vec<f64> = data.iter().map(|x| (2.0 * x).round()).collect();
        check(&rounded[..700 * 3], 700, 3, 25, SearchBy::Exact, false);
        // Every point has many copies, the last ones nothing else in their lists.
        let copies: Vec<f64> = (0..1400).flat_map(|i| [(i % 9) as f64, (i % 3) as f64]).collect();
        check(&copies, 1400, 2, 20, SearchBy::Exact, false);
    }

    #[test]
    fn cells_do_not_depend_on_the_number_of_ranks() {
        let data = mixture(6000, 12, 9, 3.0, 2).unwrap().data;
        check(&data, 6000, 12, 20, SearchBy::Cells, false);
        check(&data, 6000, 12, 20, SearchBy::Cells, true);
    }

    #[test]
    fn neighbours_of_neighbours_do_not_depend_on_the_number_of_ranks() {
        let data = mixture(3000, 12, 9, 2.0, 2).unwrap().data;
        check(&data, 3000, 12, 20, SearchBy::Descent, false);
        let wide = mixture(1500, 150, 6, 2.0, 2).unwrap().data;
        check(&wide, 1500, 150, 15, SearchBy::Descent, true);
    }
}
