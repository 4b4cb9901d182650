//! Nearest neighbours among many points, by neighbours of neighbours (Dong, Moses, Li 2011).
//!
//! Rows are first made short: products with the directions in which a sample spreads most, rounded to small
//! integers. Distances between these sketches are never larger than the true ones, but for rounding, and are exact
//! integers, so that no order of additions, number of threads or of processes changes a bit. Lists begin with the
//! leaves of random trees, or with the lists of another view; in every sweep a point looks at its neighbours'
//! neighbours. In the end the candidates are measured by differences.
//!
//! A sweep is a function of the lists before it, whoever works on which points. Every process has all sketches and
//! the heads of all lists.

use rayon::prelude::*;

use super::exact::Points;
use super::search::{Candidates, Centred, Lists};
use crate::error::Result;
use crate::math::kernel::vectorized;
use crate::math::rng::Stream;
use crate::observe::{Event, Observer, Stage, go_on};
use crate::processes::Share;

/// Values of a sketch, at most; they come in such steps.
const MOST_VALUES: usize = 128;
const STEP: usize = 32;
/// Length of the longest sketch: squares and products stay below 2³⁰.
const LONGEST: f64 = 16_000.0;
/// Rows that directions are found on, and how often these are multiplied by them.
const SPREAD_ROWS: usize = 2048;
const POWERS: usize = 3;
/// Candidates for every neighbour wanted where sketches are shorter than rows, and beside all where they are not.
const CANDIDATES: usize = 2;
const SPARE: usize = 10;
/// Heads of the lists: neighbours whose neighbours are looked at, and as many that have the point among theirs.
const HEADS: usize = 16;
/// Random trees, and points of a leaf.
const TREES: usize = 6;
const LEAF: usize = 48;
/// The smaller side of a cut has this share of the points, at least.
const LEAST_SIDE: usize = 16;
/// Sweeps, at most; they end when a smaller share of all neighbours is new.
const SWEEPS: usize = 12;
const STILL: f64 = 0.01;
/// Points that one task works on.
const BLOCK: usize = 256;
/// Seed of trees and samples: neighbours do not depend on the seed of a run.
const SEED: u64 = 0x6465_7363;
/// A neighbour that came with the last sweep.
const FRESH: u32 = 1 << 31;
/// Nobody.
const NONE: u32 = u32::MAX >> 1;

/// Lists of neighbours that somebody else found, of all points: a first guess.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guess<'a> {
    /// Neighbours per point.
    pub(crate) k: usize,
    /// n × k.
    pub(crate) indices: &'a [u32],
}

/// Most points there may be: their numbers leave one bit free.
pub(super) const MOST_POINTS: usize = NONE as usize;

/// The `k` nearest of the own points, most of them: the caller measures how many. `None` where somebody found fewer
/// than k.
pub(super) fn search(
    points: &Points<'_>,
    mean: &[f64],
    k: usize,
    guess: Option<Guess<'_>>,
    observer: &dyn Observer,
) -> Result<Option<Lists>> {
    let share = points.share();
    go_on(observer, Stage::Neighbors)?;
    let (sketches, scale) = Sketches::new(points, mean, &share);
    share.team().agree();
    go_on(observer, Stage::Neighbors)?;
    let trees: Vec<Tree> = (0..if guess.is_some() { 1 } else { TREES as u64 })
        .into_par_iter()
        .map(|tree| Tree::new(&sketches, &mut Stream::new(SEED, 1 + tree)))
        .collect();
    // From here on points are numbered as the first tree has them, so that neighbours lie near each other in memory.
    let order = trees[0].order.clone();
    let sketches = sketches.ordered(&order);
    let mut place = vec![0_u32; order.len()];
    order.iter().enumerate().for_each(|(at, i)| place[*i as usize] = at as u32);
    let shorter = sketches.width < points.shape().1;
    let width = if shorter { CANDIDATES * k } else { k + SPARE };
    let width = width.min(sketches.count() - 1).max(k);
    let mut mine: Vec<u32> = share.rows().map(|i| place[i]).collect();
    mine.sort_unstable();
    let mut descent = Descent { sketches, share, mine, width, k, lists: Vec::new() };
    descent.begin(&trees, &order, &place, guess);
    drop(trees);
    for _ in 0..SWEEPS {
        descent.share.team().agree();
        go_on(observer, Stage::Neighbors)?;
        if !descent.sweep() {
            break;
        }
    }
    descent.measured(points, &order, &place, scale, observer)
}

/// Short rows of integers.
struct Sketches {
    /// Values of each, zeros at the end included.
    padded: usize,
    /// Values of each that mean something.
    width: usize,
    values: Vec<i16>,
    /// Squared lengths.
    lengths: Vec<i32>,
}

impl Sketches {
    /// Of all points, in every process, and what lengths were multiplied by.
    fn new(points: &Points<'_>, mean: &[f64], share: &Share) -> (Self, f64) {
        let (n, m) = points.shape();
        let width = m.min(MOST_VALUES);
        let padded = width.next_multiple_of(STEP);
        let basis = (m > MOST_VALUES).then(|| Basis::new(points, mean, share));
        let rows = Centred { points, mean };
        let mut short = vec![0.0_f32; n * width];
        short.par_chunks_mut(BLOCK * width).enumerate().for_each(|(block, short)| {
            let first = (block * BLOCK) as u32;
            let which: Vec<u32> = (first..first + (short.len() / width) as u32).collect();
            let full = rows.gathered(&which);
            match &basis {
                Some(basis) => basis.times(&full, short),
                None => short.copy_from_slice(&full),
            }
        });
        let longest = short.par_chunks(BLOCK * width).map(|rows| {
            let length = |row: &[f32]| row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
            rows.chunks_exact(width).map(length).fold(0.0, f64::max)
        });
        let longest = longest.reduce(|| 0.0, f64::max);
        let longest = share.team().gather_even("lengths", &[longest]).into_iter().fold(0.0, f64::max).sqrt();
        let scale = if longest > 0.0 { LONGEST / longest } else { 1.0 };
        let mut own = vec![0_i16; n * padded];
        own.par_chunks_mut(padded).zip(short.par_chunks(width)).for_each(|(own, short)| {
            own.iter_mut().zip(short).for_each(|(own, x)| *own = (f64::from(*x) * scale).round() as i16);
        });
        drop(short);
        let values = if share.is_split() { share.gather_rows("sketches", &own, padded) } else { own };
        let lengths = values.par_chunks(padded).map(|row| product(row, row)).collect();
        (Self { padded, width, values, lengths }, scale)
    }

    fn count(&self) -> usize {
        self.lengths.len()
    }

    fn row(&self, i: u32) -> &[i16] {
        &self.values[i as usize * self.padded..(i as usize + 1) * self.padded]
    }

    /// Squared distance of two sketches.
    #[inline(always)]
    fn distance(&self, i: u32, j: u32) -> i32 {
        self.lengths[i as usize] + self.lengths[j as usize] - 2 * product(self.row(i), self.row(j))
    }

    /// The same in another order.
    fn ordered(&self, order: &[u32]) -> Self {
        let mut values = vec![0_i16; self.values.len()];
        let rows = values.par_chunks_mut(self.padded).zip(order);
        rows.for_each(|(to, i)| to.copy_from_slice(self.row(*i)));
        let lengths = order.iter().map(|i| self.lengths[*i as usize]).collect();
        Self { values, lengths, ..*self }
    }
}

/// Of sketches, whose lengths are multiples of [`STEP`].
#[inline(always)]
fn product(a: &[i16], b: &[i16]) -> i32 {
    let mut sum = 0;
    for (a, b) in a.as_chunks::<STEP>().0.iter().zip(b.as_chunks::<STEP>().0) {
        for l in 0..STEP {
            sum += i32::from(a[l]) * i32::from(b[l]);
        }
    }
    sum
}

/// Directions in which a sample spreads most: orthonormal, m × [`MOST_VALUES`], row by row.
struct Basis {
    m: usize,
    values: Vec<f32>,
}

impl Basis {
    /// By multiplying random directions with the sample a few times; the same in every process.
    fn new(points: &Points<'_>, mean: &[f64], share: &Share) -> Self {
        let (n, m) = (share.n_rows(), points.shape().1);
        let taken = SPREAD_ROWS.min(n);
        let chosen: Vec<usize> = (0..taken).map(|at| at * n / taken).collect();
        let sample = points.some(share, &chosen);
        let sample =
            Centred { points: &sample, mean }.gathered(&(0..chosen.len() as u32).collect::<Vec<_>>());
        let mut random = Stream::new(SEED, 0);
        let values = (0..m * MOST_VALUES).map(|_| random.normal() as f32).collect();
        let mut this = Self { m, values };
        for _ in 0..POWERS {
            let mut products = vec![0.0_f32; taken * MOST_VALUES];
            let blocks = products.par_chunks_mut(BLOCK * MOST_VALUES).zip(sample.par_chunks(BLOCK * m));
            blocks.for_each(|(products, rows)| this.times(rows, products));
            // Summed over rows in their order, whatever the number of threads is.
            let values = &mut this.values;
            values.par_chunks_mut(BLOCK * MOST_VALUES).enumerate().for_each(|(block, values)| {
                values.fill(0.0);
                let first = block * BLOCK;
                vectorized(
                    #[inline(always)]
                    || {
                        for (row, products) in sample.chunks_exact(m).zip(products.chunks_exact(MOST_VALUES))
                        {
                            for (values, x) in values.chunks_exact_mut(MOST_VALUES).zip(&row[first..]) {
                                values.iter_mut().zip(products).for_each(|(v, p)| *v += x * p);
                            }
                        }
                    },
                );
            });
            this.orthonormalise();
        }
        this
    }

    /// Gram and Schmidt, twice; a direction that the others span vanishes.
    fn orthonormalise(&mut self) {
        let (m, d) = (self.m, MOST_VALUES);
        let mut columns: Vec<Vec<f64>> =
            (0..d).map(|c| (0..m).map(|j| f64::from(self.values[j * d + c])).collect()).collect();
        for c in 0..d {
            let (before, rest) = columns.split_at_mut(c);
            let own = &mut rest[0];
            let scale = own.iter().map(|x| x * x).sum::<f64>().sqrt();
            if scale > 0.0 {
                own.iter_mut().for_each(|x| *x /= scale);
            }
            for _ in 0..2 {
                for other in &*before {
                    let shared: f64 = own.iter().zip(other).map(|(x, y)| x * y).sum();
                    own.iter_mut().zip(other).for_each(|(x, y)| *x -= shared * y);
                }
            }
            let length = own.iter().map(|x| x * x).sum::<f64>().sqrt();
            let keep = if length > 1e-6 { 1.0 / length } else { 0.0 };
            own.iter_mut().for_each(|x| *x *= keep);
        }
        for (c, column) in columns.iter().enumerate() {
            column.iter().enumerate().for_each(|(j, x)| self.values[j * d + c] = *x as f32);
        }
    }

    /// rows · basis, every sum in the order of features.
    fn times(&self, rows: &[f32], out: &mut [f32]) {
        const TALL: usize = 4;
        const WIDE: usize = 16;
        let (m, d) = (self.m, MOST_VALUES);
        vectorized(
            #[inline(always)]
            || {
                for (rows, out) in rows.chunks(TALL * m).zip(out.chunks_mut(TALL * d)) {
                    let tall = rows.len() / m;
                    for first in (0..d).step_by(WIDE) {
                        let mut sums = [[0.0_f32; WIDE]; TALL];
                        for (j, basis) in self.values.chunks_exact(d).enumerate() {
                            let basis: &[f32; WIDE] =
                                basis[first..first + WIDE].try_into().expect("as wide as a step");
                            for (t, sums) in sums.iter_mut().enumerate() {
                                // Short blocks repeat their last row.
                                let x = rows[t.min(tall - 1) * m + j];
                                for l in 0..WIDE {
                                    sums[l] += x * basis[l];
                                }
                            }
                        }
                        for (sums, out) in sums.iter().zip(out.chunks_exact_mut(d)) {
                            out[first..first + WIDE].copy_from_slice(sums);
                        }
                    }
                }
            },
        );
    }
}

/// Points cut in two, again and again, by the middle between two of them.
struct Tree {
    /// The points, leaf by leaf.
    order: Vec<u32>,
    /// Where leaves begin; one more at the end.
    starts: Vec<u32>,
}

impl Tree {
    fn new(sketches: &Sketches, random: &mut Stream) -> Self {
        let n = sketches.count();
        let mut order: Vec<u32> = (0..n as u32).collect();
        let mut starts = Vec::new();
        let mut waiting: Vec<_> = std::iter::once(0..n).collect();
        let mut far = Vec::new();
        while let Some(range) = waiting.pop() {
            if range.len() <= LEAF {
                starts.push(range.start as u32);
                continue;
            }
            let part = &mut order[range.clone()];
            let (a, b) = (part[random.below(part.len())], part[random.below(part.len())]);
            far.clear();
            let mut near = 0;
            vectorized(
                #[inline(always)]
                || {
                    let less = sketches.lengths[a as usize] - sketches.lengths[b as usize];
                    for at in 0..part.len() {
                        let i = part[at];
                        let row = sketches.row(i);
                        if less <= 2 * (product(row, sketches.row(a)) - product(row, sketches.row(b))) {
                            part[near] = i;
                            near += 1;
                        } else {
                            far.push(i);
                        }
                    }
                },
            );
            part[near..].copy_from_slice(&far);
            let least = part.len() / LEAST_SIDE;
            let cut = if near < least || far.len() < least { part.len() / 2 } else { near };
            // The near side first, so that leaves come in the order of points.
            waiting.push(range.start + cut..range.end);
            waiting.push(range.start..range.start + cut);
        }
        starts.push(n as u32);
        Self { order, starts }
    }

    /// The leaf that every point lies in, as a range of `order`.
    fn leaf_of(&self) -> Vec<u32> {
        let mut leaf_of = vec![0; self.order.len()];
        for (leaf, range) in self.starts.windows(2).enumerate() {
            for i in &self.order[range[0] as usize..range[1] as usize] {
                leaf_of[*i as usize] = leaf as u32;
            }
        }
        leaf_of
    }

    fn leaf(&self, leaf: u32) -> &[u32] {
        &self.order[self.starts[leaf as usize] as usize..self.starts[leaf as usize + 1] as usize]
    }
}

/// A candidate: squared distance of the sketches, and who it is, with [`FRESH`].
type Candidate = (i32, u32);

struct Descent {
    sketches: Sketches,
    share: Share,
    /// The own points, ascending.
    mine: Vec<u32>,
    /// Length of a list.
    width: usize,
    /// Neighbours wanted.
    k: usize,
    /// Own points × width, nearest first.
    lists: Vec<Candidate>,
}

/// Who is looked at from every point.
struct Heads {
    /// n × [`HEADS`]: the nearest.
    near: Vec<u32>,
    /// n × [`HEADS`]: those who have the point among their nearest.
    back: Vec<u32>,
}

impl Heads {
    #[inline(always)]
    fn of(&self, i: u32) -> [&[u32]; 2] {
        let at = i as usize * HEADS..(i as usize + 1) * HEADS;
        [&self.near[at.clone()], &self.back[at]]
    }
}

/// Numbers that were seen, a few thousand at most.
struct Seen {
    slots: Vec<u32>,
    used: Vec<u32>,
}

impl Seen {
    const SIZE: usize = 1 << 13;

    fn new() -> Self {
        Self { slots: vec![NONE; Self::SIZE], used: Vec::new() }
    }

    fn clear(&mut self) {
        self.used.drain(..).for_each(|slot| self.slots[slot as usize] = NONE);
    }

    /// Whether it was not there. A full table says so of everybody.
    #[inline(always)]
    fn add(&mut self, i: u32) -> bool {
        let mut at = (i.wrapping_mul(0x9e37_79b1) >> 19) as usize;
        if self.used.len() > Self::SIZE / 2 {
            return false;
        }
        while self.slots[at] != NONE {
            if self.slots[at] == i {
                return false;
            }
            at = (at + 1) & (Self::SIZE - 1);
        }
        self.slots[at] = i;
        self.used.push(at as u32);
        true
    }
}

impl Descent {
    /// The first lists: by the leaves of trees, and by what was guessed.
    fn begin(&mut self, trees: &[Tree], order: &[u32], place: &[u32], guess: Option<Guess<'_>>) {
        let width = self.width;
        let leaves: Vec<Vec<u32>> = trees.par_iter().map(Tree::leaf_of).collect();
        let mut lists = vec![(i32::MAX, NONE); self.mine.len() * width];
        let sketches = &self.sketches;
        lists.par_chunks_mut(BLOCK * width).zip(self.mine.par_chunks(BLOCK)).for_each_init(
            || (Seen::new(), Vec::new(), Vec::new()),
            |(seen, others, found), (lists, mine)| {
                for (list, i) in lists.chunks_exact_mut(width).zip(mine) {
                    let point = order[*i as usize];
                    others.clear();
                    for (tree, leaves) in trees.iter().zip(&leaves) {
                        others.extend_from_slice(tree.leaf(leaves[point as usize]));
                    }
                    if let Some(Guess { k, indices }) = guess {
                        let at = point as usize * k;
                        others.extend_from_slice(&indices[at..at + k]);
                    }
                    others.iter_mut().for_each(|other| *other = place[*other as usize]);
                    seen.clear();
                    found.clear();
                    seen.add(*i);
                    vectorized(
                        #[inline(always)]
                        || look_at(sketches, *i, others, i32::MAX, seen, found),
                    );
                    found.sort_unstable();
                    let kept = found.iter().take(width);
                    list.iter_mut().zip(kept).for_each(|(to, (d, j))| *to = (*d, j | FRESH));
                }
            },
        );
        self.lists = lists;
    }

    /// The heads of all lists, in every process.
    fn heads(&self) -> Heads {
        let (n, width) = (self.sketches.count(), self.width);
        let head = |list: &[Candidate]| {
            let mut head = [NONE; HEADS];
            head.iter_mut().zip(list).for_each(|(head, (_, j))| *head = *j);
            head
        };
        let own: Vec<u32> = self.lists.par_chunks(width).flat_map_iter(head).collect();
        let near = if self.share.is_split() {
            let team = self.share.team();
            let (everybody, _) = team.gather("neighbours", &self.mine);
            let (heads, _) = team.gather("neighbours", &own);
            let mut near = vec![NONE; n * HEADS];
            for (i, head) in everybody.iter().zip(heads.chunks_exact(HEADS)) {
                near[*i as usize * HEADS..(*i as usize + 1) * HEADS].copy_from_slice(head);
            }
            near
        } else {
            own
        };
        // Nearest first, as far as there is room.
        let (mut back, mut count) = (vec![NONE; n * HEADS], vec![0_u8; n]);
        for rank in 0..HEADS {
            for i in 0..n {
                let j = near[i * HEADS + rank];
                let to = (j & !FRESH) as usize;
                if to != NONE as usize && usize::from(count[to]) < HEADS {
                    back[to * HEADS + usize::from(count[to])] = i as u32 | (j & FRESH);
                    count[to] += 1;
                }
            }
        }
        Heads { near, back }
    }

    /// Every point looks at its neighbours' neighbours; whether enough was found for another sweep.
    fn sweep(&mut self) -> bool {
        let heads = self.heads();
        let (width, k) = (self.width, self.k);
        let sketches = &self.sketches;
        let new: Vec<u64> = self
            .lists
            .par_chunks_mut(BLOCK * width)
            .zip(self.mine.par_chunks(BLOCK))
            .map_init(
                || (Seen::new(), Vec::new(), Vec::new()),
                |(seen, found, merged), (lists, mine)| {
                    let mut new = 0;
                    for (list, i) in lists.chunks_exact_mut(width).zip(mine) {
                        vectorized(
                            #[inline(always)]
                            || look_around(sketches, &heads, *i, list, seen, found),
                        );
                        new += merge(list, found, merged, k);
                    }
                    new
                },
            )
            .collect();
        let new: u64 =
            self.share.team().gather_even("new neighbours", &[new.iter().sum::<u64>()]).iter().sum();
        new as f64 > STILL * (sketches.count() * k) as f64
    }

    /// The nearest of every own point by true distances, in the order of points.
    fn measured(
        self,
        points: &Points<'_>,
        order: &[u32],
        place: &[u32],
        scale: f64,
        observer: &dyn Observer,
    ) -> Result<Option<Lists>> {
        let (width, k, own) = (self.width, self.k, self.share.rows());
        let total = (own.len() * self.share.team().size()) as u64;
        // What rounding may have added to the distance of two sketches.
        let slack = (self.sketches.padded as f64).sqrt();
        let least = |d: i32| (f64::from(d).sqrt() - slack).max(0.0) / scale;
        // In the order in which near points lie near each other, so that their rows are read once for many.
        let mut found: Vec<Candidates> = vec![Candidates::new(); own.len()];
        points.ring("points for neighbours", &mut |first, others| {
            let theirs = first..first + others.shape().0;
            let lists = self.lists.par_chunks(BLOCK * width);
            let tasks = found.par_chunks_mut(BLOCK).zip(self.mine.par_chunks(BLOCK)).zip(lists);
            tasks.try_for_each(|((found, mine), lists)| {
                go_on(observer, Stage::Neighbors)?;
                for ((found, i), list) in found.iter_mut().zip(mine).zip(lists.chunks_exact(width)) {
                    let i = order[*i as usize] as usize - own.start;
                    for (d, j) in list {
                        let j = j & !FRESH;
                        let worst = if found.len() < k { f64::INFINITY } else { found[k - 1].0 };
                        if j == NONE || least(*d).powi(2) > worst {
                            break;
                        }
                        let j = order[j as usize];
                        if theirs.contains(&(j as usize)) {
                            keep(found, (points.distance2_to(i, others, j as usize - first), j), k);
                        }
                    }
                }
                let done = found.len() as u64;
                observer.notice(&Event::Progress { stage: Stage::Neighbors, done, total });
                Ok(())
            })
        })?;
        if self.share.team().any("short lists", found.iter().any(|found| found.len() < k)) {
            return Ok(None);
        }
        let mut lists = Lists {
            k,
            indices: Vec::with_capacity(own.len() * k),
            values: Vec::with_capacity(own.len() * k),
        };
        for i in own {
            let found = &found[self.mine.partition_point(|other| *other < place[i])];
            lists.values.extend(found.iter().map(|(value, _)| *value));
            lists.indices.extend(found.iter().map(|(_, j)| *j));
        }
        Ok(Some(lists))
    }
}

/// Put one among the nearest k, by distance and number.
fn keep(found: &mut Candidates, one: (f64, u32), k: usize) {
    let to = found.partition_point(|other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)).is_lt());
    if to < k {
        found.insert(to, one);
        found.truncate(k);
    }
}

/// Who is nearer than the last of a list among the neighbours of the neighbours of a point.
#[inline(always)]
fn look_around(
    sketches: &Sketches,
    heads: &Heads,
    i: u32,
    list: &[Candidate],
    seen: &mut Seen,
    found: &mut Vec<Candidate>,
) {
    seen.clear();
    found.clear();
    seen.add(i);
    for (_, j) in list {
        seen.add(j & !FRESH);
    }
    let last = list.last().map_or(i32::MAX, |last| last.0);
    for hubs in heads.of(i) {
        for hub in hubs {
            if hub & !FRESH == NONE {
                break;
            }
            // Pairs that were there before have been looked at before.
            let known = if hub & FRESH == 0 { FRESH } else { 0 };
            // Who has the point in its list need not be in the point's.
            if known == 0 {
                look_at(sketches, i, &[*hub], last, seen, found);
            }
            for others in heads.of(hub & !FRESH) {
                for other in others {
                    if other & known == known {
                        look_at(sketches, i, &[*other], last, seen, found);
                    }
                }
            }
        }
    }
}

/// Add those of others who are nearer than `last` and were not seen before.
#[inline(always)]
fn look_at(
    sketches: &Sketches,
    i: u32,
    others: &[u32],
    last: i32,
    seen: &mut Seen,
    found: &mut Vec<Candidate>,
) {
    for other in others {
        let j = other & !FRESH;
        if j != NONE && seen.add(j) {
            let d = sketches.distance(i, j);
            if d < last {
                found.push((d, j));
            }
        }
    }
}

/// Put what was found into a list; how many of it are among the first k.
fn merge(list: &mut [Candidate], found: &mut [Candidate], merged: &mut Vec<Candidate>, k: usize) -> u64 {
    found.sort_unstable();
    merged.clear();
    let (mut a, mut b, mut new) = (0, 0, 0);
    while merged.len() < list.len() {
        let (d, j) = list[a];
        let j = j & !FRESH;
        if b < found.len() && found[b] < (d, j) {
            new += u64::from(merged.len() < k);
            merged.push((found[b].0, found[b].1 | FRESH));
            b += 1;
        } else {
            merged.push((d, j));
            a += 1;
        }
    }
    list.copy_from_slice(merged);
    new
}
