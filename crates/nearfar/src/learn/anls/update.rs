//! Many small nonnegative least squares that share one matrix: min over X ≥ 0 of ½tr(X G Xᵀ) − ⟨X, B⟩, row by row.
//!
//! Block principal pivoting (Kim and Park): on a passive set P solve G_PP x_P = b_P, x = 0 elsewhere, and y = Gx −
//! b off P. What is negative on either side changes sides: all of it while the number of such entries falls, or
//! three times more if it does not, and then only the last of them, which ends for sure. Rows with the same passive
//! set are solved by one Cholesky factor.
//!
//! Where G is singular (λ = 0 with dependent columns) a dependent entry is left at 0; a row that still does not end
//! takes passes over its entries from its old value, so that the objective never rises.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::math::kernel::{add_scaled, short_dot, vectorized};

/// Rows that one task works on; rows are independent, so it changes no bit.
const ROWS: usize = 1024;
/// Rounds of exchanges after which a row is given to passes.
const MOST_ROUNDS: usize = 100;
/// Full exchanges that may fail to help.
const PATIENCE: u8 = 3;
/// Negative values above this share of the row's largest are zeros.
const TOLERANCE: f64 = 1e-12;
/// A pivot below this share of its diagonal entry is a dependent column.
const DEPENDENT: f64 = 1e-13;
/// Passes over a row that pivoting could not settle.
const PASSES: usize = 50;

/// Every row of X (n × r, row-major) becomes the minimum; `g` is r × r, `b` n × r.
pub(crate) fn pivot(g: &[f64], b: &[f64], x: &mut [f64], r: usize) {
    x.par_chunks_mut(ROWS * r).zip(b.par_chunks(ROWS * r)).for_each(|(x, b)| Pivoting::new(g, b, x, r).run());
}

/// One pass of coordinate steps over every row of X: x_k ← max(0, x_k + (b_k − xᵀG_k)/G_kk), k = 1, …, r. With all
/// rows side by side that is the column-wise method (HALS), as rows do not meet.
pub(crate) fn pass(g: &[f64], b: &[f64], x: &mut [f64], r: usize) {
    x.par_chunks_mut(ROWS * r).zip(b.par_chunks(ROWS * r)).for_each(|(x, b)| {
        vectorized(
            #[inline(always)]
            || {
                let mut rest = vec![0.0; r];
                x.chunks_exact_mut(r).zip(b.chunks_exact(r)).for_each(|(x, b)| row_pass(g, b, x, &mut rest));
            },
        );
    });
}

/// `rest` is scratch for b − Gx, kept up as entries move; rows of V are mostly zeros, so few columns of G are touched.
#[inline(always)]
fn row_pass(g: &[f64], b: &[f64], x: &mut [f64], rest: &mut [f64]) {
    let r = x.len();
    rest.copy_from_slice(b);
    for (x, g) in x.iter().zip(g.chunks_exact(r)).filter(|(x, _)| **x != 0.0) {
        add_scaled(rest, -x, g);
    }
    for (k, g) in g.chunks_exact(r).enumerate() {
        if g[k] > 0.0 {
            let next = (x[k] + rest[k] / g[k]).max(0.0);
            let step = next - x[k];
            if step != 0.0 {
                add_scaled(rest, -step, g);
                x[k] = next;
            }
        }
    }
}

/// The Gram matrix, r × r, of the columns of a row-major matrix; partial sums are added in the order of blocks.
pub(crate) fn gram(rows: &[f64], r: usize) -> Vec<f64> {
    let parts: Vec<Vec<f64>> = rows
        .par_chunks(ROWS * r)
        .map(|rows| {
            let x = MatRef::from_column_major_slice(rows, r, rows.len() / r);
            let mut part = vec![0.0; r * r];
            let out = MatMut::from_column_major_slice_mut(&mut part, r, r);
            matmul(out, Accum::Replace, x, x.transpose(), 1.0, Par::Seq);
            part
        })
        .collect();
    let mut gram = vec![0.0; r * r];
    for part in parts {
        gram.iter_mut().zip(part).for_each(|(g, part)| *g += part);
    }
    gram
}

/// A column that became zero is given the smallest trace of life, so that it can grow again.
pub(super) fn revive(x: &mut [f64], r: usize) {
    let mut alive = vec![false; r];
    let mut largest = 0.0_f64;
    for row in x.chunks_exact(r) {
        for (alive, x) in alive.iter_mut().zip(row) {
            *alive |= *x != 0.0;
            largest = largest.max(*x);
        }
    }
    for k in (0..r).filter(|k| !alive[*k]) {
        x.iter_mut().skip(k).step_by(r).for_each(|x| *x = 1e-16 * largest);
    }
}

/// One block of rows on its way.
struct Pivoting<'a> {
    g: &'a [f64],
    b: &'a [f64],
    x: &'a mut [f64],
    r: usize,
    /// Passive sets as bits, `words` for every row.
    passive: Vec<u64>,
    words: usize,
    /// Fewest infeasible entries so far, and full exchanges left.
    best: Vec<usize>,
    patience: Vec<u8>,
}

/// A passive set and the Cholesky factor of G on it.
#[derive(Default)]
struct Solver {
    inside: Vec<usize>,
    outside: Vec<usize>,
    /// |P| × |P| row-major, lower half without the diagonal; that one inverted, 0 for a dependent entry.
    lower: Vec<f64>,
    inverse: Vec<f64>,
    /// The solution on P.
    z: Vec<f64>,
}

impl<'a> Pivoting<'a> {
    fn new(g: &'a [f64], b: &'a [f64], x: &'a mut [f64], r: usize) -> Self {
        let (n, words) = (x.len() / r, r.div_ceil(64));
        let mut passive = vec![0; n * words];
        for (row, set) in x.chunks_exact(r).zip(passive.chunks_exact_mut(words)) {
            for (k, _) in row.iter().enumerate().filter(|(_, x)| **x > 0.0) {
                set[k / 64] |= 1 << (k % 64);
            }
        }
        Self { g, b, x, r, passive, words, best: vec![r + 1; n], patience: vec![PATIENCE; n] }
    }

    fn set(&self, row: usize) -> &[u64] {
        &self.passive[row * self.words..][..self.words]
    }

    fn run(mut self) {
        let mut open: Vec<usize> = (0..self.best.len()).collect();
        let (mut solver, mut x, mut infeasible) = (Solver::default(), vec![0.0; self.r], Vec::new());
        for _ in 0..MOST_ROUNDS {
            open.sort_unstable_by(|a, b| self.set(*a).cmp(self.set(*b)).then(a.cmp(b)));
            let mut still_open = Vec::new();
            let mut last = None;
            for &row in &open {
                if last.is_none_or(|last: usize| self.set(last) != self.set(row)) {
                    solver.set(self.g, self.set(row), self.r);
                }
                last = Some(row);
                solver.solve(self.g, &self.b[row * self.r..][..self.r], &mut x, &mut infeasible);
                if infeasible.is_empty() {
                    let own = &mut self.x[row * self.r..][..self.r];
                    own.iter_mut().zip(&x).for_each(|(own, x)| *own = x.max(0.0));
                } else {
                    still_open.push((row, std::mem::take(&mut infeasible)));
                }
            }
            for (row, infeasible) in &still_open {
                self.exchange(*row, infeasible);
            }
            open = still_open.into_iter().map(|(row, _)| row).collect();
            if open.is_empty() {
                return;
            }
        }
        for row in open {
            let at = row * self.r..(row + 1) * self.r;
            (0..PASSES).for_each(|_| row_pass(self.g, &self.b[at.clone()], &mut self.x[at.clone()], &mut x));
        }
    }

    fn exchange(&mut self, row: usize, infeasible: &[usize]) {
        let set = &mut self.passive[row * self.words..][..self.words];
        let mut flip = |k: usize| set[k / 64] ^= 1 << (k % 64);
        if infeasible.len() < self.best[row] {
            (self.best[row], self.patience[row]) = (infeasible.len(), PATIENCE);
        } else if self.patience[row] > 0 {
            self.patience[row] -= 1;
        } else {
            infeasible.iter().max().into_iter().for_each(|k| flip(*k));
            return;
        }
        infeasible.iter().for_each(|k| flip(*k));
    }
}

impl Solver {
    fn set(&mut self, g: &[f64], bits: &[u64], r: usize) {
        let (inside, outside) = (0..r).partition(|k| bits[k / 64] >> (k % 64) & 1 == 1);
        (self.inside, self.outside) = (inside, outside);
        let p = self.inside.len();
        self.lower.clear();
        self.lower.resize(p * p, 0.0);
        self.inverse.clear();
        self.z.resize(p, 0.0);
        for (a, k) in self.inside.iter().enumerate() {
            let (above, row) = self.lower.split_at_mut(a * p);
            for b in 0..a {
                let known = short_dot(&row[..b], &above[b * p..][..b]);
                row[b] = (g[k * r + self.inside[b]] - known) * self.inverse[b];
            }
            let own = g[k * r + k];
            let rest = own - short_dot(&row[..a], &row[..a]);
            self.inverse.push(if rest > DEPENDENT * own { 1.0 / rest.sqrt() } else { 0.0 });
        }
    }

    /// x on this passive set, and which entries are on the wrong side.
    fn solve(&mut self, g: &[f64], b: &[f64], x: &mut [f64], infeasible: &mut Vec<usize>) {
        let (p, r) = (self.inside.len(), b.len());
        x.fill(0.0);
        infeasible.clear();
        let z = &mut self.z;
        for a in 0..p {
            let known = short_dot(&self.lower[a * p..][..a], &z[..a]);
            z[a] = (b[self.inside[a]] - known) * self.inverse[a];
        }
        for a in (0..p).rev() {
            z[a] *= self.inverse[a];
            let (done, own) = (z[a], &self.lower[a * p..][..a]);
            add_scaled(&mut z[..a], -done, own);
        }
        let largest = z.iter().fold(0.0_f64, |m, z| m.max(z.abs()));
        for (k, z) in self.inside.iter().zip(&*z) {
            x[*k] = *z;
            if *z < -TOLERANCE * largest {
                infeasible.push(*k);
            }
        }
        let largest = b.iter().fold(0.0_f64, |m, b| m.max(b.abs()));
        for &k in &self.outside {
            let gx: f64 = self.inside.iter().zip(&*z).map(|(l, z)| g[k * r + l] * z).sum();
            if gx - b[k] < -TOLERANCE * largest {
                infeasible.push(k);
            }
        }
    }
}
