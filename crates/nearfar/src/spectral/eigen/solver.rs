//! The iteration: a basis that grows by blocks, and restarts with the upper half of the Ritz vectors.

use faer::{Mat, MatRef};

use super::products::{self, Rows, combine, cross, residuals, rotate, small_eigen, subtract};
use super::{Allowed, Eigen, EigenParams, Operator, largest_magnitude, tolerance};
use crate::math::rng::Stream;

/// Stream of the random numbers used here.
const STREAM: u64 = 0x6569_6765_6e00;

/// The state of the iteration: basis, projection, counters.
pub(super) struct Solver<'a> {
    op: &'a dyn Operator,
    params: &'a EigenParams,
    random: Stream,
    /// Rows here, and who has the others.
    rows: Rows<'a>,
    k: usize,
    /// Columns added at a time, b.
    block: usize,
    /// Columns at which to restart, m.
    width: usize,
    /// n × (m + b): `done` columns that were multiplied, then the next block.
    q: Vec<f64>,
    /// m × m, of which `done` × `done` is set.
    h: Mat<f64>,
    done: usize,
    products: usize,
}

impl<'a> Solver<'a> {
    pub(super) fn new(
        op: &'a dyn Operator,
        k: usize,
        block: usize,
        width: usize,
        params: &'a EigenParams,
    ) -> Self {
        let rows = Rows::new(op.size(), op.share());
        let n = rows.n;
        let mut random = Stream::new(params.seed, STREAM);
        let mut q = vec![0.0; n * (width + block)];
        for j in 0..block {
            draw(&mut q[n * j..n * (j + 1)], op.size(), rows, 1.0, &mut random);
        }
        lean((&mut q[..n * block], block), op.guess(), (op.size(), rows));
        orthonormalise((&[], 0), (&mut q[..n * block], block), (op.size(), rows), 0.0, &mut random);
        let h = Mat::zeros(width, width);
        Self { op, params, random, rows, k, block, width, q, h, done: 0, products: 0 }
    }

    pub(super) fn run(mut self, stop: &dyn Fn() -> bool) -> Option<Eigen> {
        let mut target = tolerance(self.params);
        loop {
            if stop() {
                return None;
            }
            let coupling = self.grow();
            let h = self.h.as_ref().submatrix(0, 0, self.done, self.done);
            let Some((theta, y)) = small_eigen(h) else {
                return Some(Eigen::failed(self.op.size(), self.k, self.products));
            };
            let scale = largest_magnitude(&theta);
            let exhausted = self.products >= self.params.max_products;
            if exhausted || self.estimate(&coupling, y.as_ref()) <= target * scale {
                let x = combine(&self.q[..self.rows.n * self.done], y.subcols(0, self.k), self.rows);
                let values = theta[..self.k].to_vec();
                let judged = self.params.judged;
                let allowed = Allowed { residual: scale * tolerance(self.params), judged };
                let eigen = Eigen::measured(self.op, x, values, &allowed, self.products);
                if exhausted || eigen.converged {
                    return Some(eigen);
                }
                // The estimate was too hopeful: ask more of it before the next measurement.
                self.products = eigen.products;
                target *= 0.1;
            }
            if self.done + self.block > self.width {
                self.restart(&theta, y.as_ref());
            }
        }
    }

    /// Multiply the next block, extend H, and make the block after it; answers B (b × b), the part of the
    /// products that lies in that new block.
    fn grow(&mut self) -> Mat<f64> {
        let Self { rows, block, .. } = *self;
        let n = rows.n;
        let (start, end) = (self.done, self.done + block);
        let mut w = vec![0.0; n * block];
        self.op.apply_own(&self.q[n * start..n * end], block, &mut w);
        self.products += block;
        let (q, rest) = self.q.split_at_mut(n * end);
        let c = cross((&*q, end), (&w, block), rows); // QᵀA(last block), end × b
        for j in 0..block {
            for i in 0..end {
                self.h[(i, start + j)] = c[(i, j)];
                self.h[(start + j, i)] = c[(i, j)];
            }
        }
        self.done = end;
        let next = &mut rest[..n * block];
        next.copy_from_slice(&w);
        subtract(next, q, c.as_ref(), rows);
        let lengths = residuals(&w, &w, &vec![0.0; block], rows);
        let floor = 32.0 * f64::EPSILON * lengths.into_iter().fold(0.0, f64::max);
        orthonormalise((&*q, end), (next, block), (self.op.size(), rows), floor, &mut self.random);
        cross((&*next, block), (&w, block), rows)
    }

    /// Largest estimated residual of the judged pairs.
    fn estimate(&self, coupling: &Mat<f64>, y: MatRef<'_, f64>) -> f64 {
        let judged = self.params.judged.min(self.k);
        let newest = y.submatrix(self.done - self.block, 0, self.block, judged);
        let parts = products::small_times(coupling.as_ref(), newest);
        parts.col_iter().map(|part| part.iter().map(|v| v * v).sum::<f64>().sqrt()).fold(0.0, f64::max)
    }

    /// Keep the best Ritz vectors and the next block.
    fn restart(&mut self, theta: &[f64], y: MatRef<'_, f64>) {
        let n = self.rows.n;
        // Whole blocks, so that the basis fills up exactly before the next restart.
        let keep = (self.k + (self.width - self.k) / 2) / self.block * self.block;
        let keep = keep.min(self.width - self.block).min(self.done);
        rotate(&mut self.q[..n * self.done], y.subcols(0, keep), self.rows);
        self.q.copy_within(n * self.done..n * (self.done + self.block), n * keep);
        self.h.fill(0.0);
        for (i, value) in theta[..keep].iter().enumerate() {
            self.h[(i, i)] = *value;
        }
        self.done = keep;
    }
}

/// Random numbers between −`size` and `size`, one for every row of all; those of the rows here are kept.
fn draw(column: &mut [f64], n: usize, rows: Rows<'_>, size: f64, random: &mut Stream) {
    let here = rows.here();
    for i in 0..n {
        let x = size * (2.0 * random.uniform() - 1.0);
        if here.contains(&i) {
            column[i - here.start] = x;
        }
    }
}

/// Random columns become short and have guessed ones added, as far as these go: what the guess lacks stays within
/// reach.
fn lean((block, b): (&mut [f64], usize), (guess, columns): (Vec<f64>, usize), (n, rows): (usize, Rows<'_>)) {
    const RANDOM: f64 = 0.01;
    let lengths = residuals(&guess, &guess, &vec![0.0; columns], rows);
    let random = RANDOM * (3.0 / n as f64).sqrt();
    for (j, length) in lengths.iter().enumerate().take(b).filter(|(_, length)| **length > 0.0) {
        let at = j * rows.n..(j + 1) * rows.n;
        block[at.clone()].iter_mut().zip(&guess[at]).for_each(|(x, guess)| *x = random * *x + guess / length);
    }
}

/// Make `next` (n × b) orthonormal and orthogonal to `q`, to which it is nearly orthogonal already. Columns not
/// longer than `floor`, or dependent on the others, become random.
///
/// Each pass projects and then turns the block by the eigenvectors of its Gram matrix, so that all work is in
/// products of tall matrices. A pass that found the block well conditioned is the last.
///
/// `q` and `next` come with their numbers of columns, `n` counts all rows.
fn orthonormalise(
    (q, p): (&[f64], usize),
    (next, block): (&mut [f64], usize),
    (n, rows): (usize, Rows<'_>),
    floor: f64,
    random: &mut Stream,
) {
    const PASSES: usize = 6;
    for pass in 0..PASSES {
        if pass > 0 && p > 0 {
            let c = cross((q, p), (&*next, block), rows);
            subtract(next, q, c.as_ref(), rows);
        }
        let floor = if pass == 0 { floor } else { 1e-8 };
        let gram = cross((&*next, block), (&*next, block), rows);
        let lengths: Vec<f64> = (0..block).map(|j| gram[(j, j)].sqrt()).collect();
        let scale: Vec<f64> = lengths.iter().map(|l| if *l > floor { 1.0 / l } else { 0.0 }).collect();
        let gram = Mat::from_fn(block, block, |i, j| scale[i] * gram[(i, j)] * scale[j]);
        // A NaN from the operator: leave it, the projection will show it.
        let Some((lambda, u)) = small_eigen(gram.as_ref()) else { return };
        let dependent = lambda.iter().map(|l| *l <= 1e-14 * lambda[0].max(0.5)).collect::<Vec<_>>();
        let turn = Mat::from_fn(block, block, |i, j| {
            if dependent[j] { 0.0 } else { scale[i] * u[(i, j)] / lambda[j].sqrt() }
        });
        rotate(next, turn.as_ref(), rows);
        for j in (0..block).filter(|j| dependent[*j]) {
            let size = (3.0 / n as f64).sqrt();
            draw(&mut next[j * rows.n..(j + 1) * rows.n], n, rows, size, random);
        }
        let sound = lengths.iter().all(|l| *l > 0.7) && lambda[block - 1] > 0.5;
        if pass > 0 && sound {
            return;
        }
    }
}
