//! Points sorted into cells by k-means of a sample, and the cells nearest to each.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::{ASSIGNED, Assign, PER_CELL, ROUNDS, SEED};
use crate::error::Result;
use crate::math::rng::Stream;
use crate::observe::{Observer, Stage, go_on};

/// Points sorted into cells.
pub(crate) struct Cells {
    /// Place → point; the cells lie one after the other.
    pub(crate) order: Vec<u32>,
    /// Where each cell starts; one more at the end.
    starts: Vec<usize>,
    /// Cell of every point.
    pub(crate) of: Vec<u32>,
    /// For every cell all cells, nearest first.
    near: Vec<u32>,
}

impl Cells {
    /// Points that the centres are made of, and the number of cells, of n points.
    pub(crate) fn sample(n: usize) -> (Vec<usize>, usize) {
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
    pub(crate) fn centers(
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
    pub(crate) fn new(centers: &[f32], m: usize, of: Vec<u32>) -> Self {
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
    pub(crate) fn probed(&self, cell: usize, probes: usize, k: usize) -> impl Iterator<Item = usize> + '_ {
        let mut seen = 0;
        let near = self.near(cell).iter().map(|other| *other as usize).enumerate();
        let enough = move |(at, other): &(usize, usize)| {
            let more = *at < probes || seen <= 2 * k;
            seen += self.range(*other).len();
            more
        };
        near.take_while(enough).map(|(_, other)| other)
    }

    pub(crate) fn n(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn range(&self, cell: usize) -> Range<usize> {
        self.starts[cell]..self.starts[cell + 1]
    }

    fn near(&self, cell: usize) -> &[u32] {
        let n = self.n();
        &self.near[cell * n..(cell + 1) * n]
    }

    /// How many cells must be looked into so that this share of these points' neighbours (k each) is found.
    pub(crate) fn probes_for(&self, asking: &[usize], truth: &[u32], share: f64) -> usize {
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
    pub(crate) fn mean_share(&self, probes: usize) -> f64 {
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
pub(crate) fn nearest_center(rows: &[f32], centers: &[f32], m: usize) -> Vec<u32> {
    let centers = Centers::new(centers, m);
    let parts: Vec<Vec<u32>> = rows.par_chunks(ASSIGNED * m).map(|rows| centers.nearest(rows)).collect();
    parts.concat()
}

/// Centres of cells, with their lengths.
pub(crate) struct Centers<'a> {
    all: MatRef<'a, f32>,
    lengths: Vec<f32>,
}

impl<'a> Centers<'a> {
    pub(crate) fn new(centers: &'a [f32], m: usize) -> Self {
        let lengths = centers.chunks_exact(m).map(|c| c.iter().map(|x| x * x).sum()).collect();
        Self { all: MatRef::from_row_major_slice(centers, centers.len() / m, m), lengths }
    }

    /// Number of the nearest centre of each of these rows.
    pub(crate) fn nearest(&self, rows: &[f32]) -> Vec<u32> {
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
