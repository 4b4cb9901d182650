//! Products of row-major matrices, one block of rows per task.
//!
//! Blocks depend on the sizes alone and partial sums are added in block order, so that the bits do not depend on
//! the number of threads.

use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::traits::math_utils::one;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::kernel::Entry;

/// A number that products are made of.
pub trait Cell: Entry + ComplexField {
    /// Smaller ones are taken for 0 where they would be multiplied for ever: the processor is slow with numbers
    /// next to the smallest it knows, and the product of two that are not below the square root of this one is none
    /// of those.
    const LEAST: f64;
}

impl Cell for f64 {
    const LEAST: f64 = 1e-290;
}

impl Cell for f32 {
    const LEAST: f64 = 1e-30;
}

/// Rows of the answer that one task makes.
pub(crate) const ROWS: usize = 64;
/// The same where the other matrix is so wide that it is fetched anew for every task.
const MORE_ROWS: usize = 256;
/// Rows that one task sums over.
const SUMMED: usize = 512;
/// Largest answer of which every task may hold its own.
const SMALL: usize = 1 << 16;

fn rows<E: Cell>(values: &[E], columns: usize) -> MatRef<'_, E> {
    MatRef::from_row_major_slice(values, values.len() / columns.max(1), columns)
}

/// `out` ← A B by this thread; A is h × k, B is k × m.
pub(crate) fn multiply<E: Cell>(a: &[E], b: &[E], k: usize, m: usize, out: &mut [E]) {
    let height = out.len() / m.max(1);
    let out = MatMut::from_row_major_slice_mut(out, height, m);
    matmul(out, Accum::Replace, rows(a, k), rows(b, m), one(), Par::Seq);
}

/// `out` ← A Bᵀ by this thread; A is h × k, B is m × k.
pub(crate) fn multiply_transposed<E: Cell>(a: &[E], b: &[E], k: usize, m: usize, out: &mut [E]) {
    let height = out.len() / m.max(1);
    let out = MatMut::from_row_major_slice_mut(out, height, m);
    matmul(out, Accum::Replace, rows(a, k), rows(b, k).transpose(), one(), Par::Seq);
}

/// A B, n × m; A is n × k, B is k × m.
pub(crate) fn times<E: Cell>(a: &[E], b: &[E], k: usize, m: usize) -> Vec<E> {
    let n = a.len() / k.max(1);
    let rows = if m > MORE_ROWS { MORE_ROWS } else { ROWS };
    let mut out = vec![E::default(); n * m];
    out.par_chunks_mut((rows * m).max(1)).zip(a.par_chunks((rows * k).max(1))).for_each(|(out, a)| {
        multiply(a, b, k, m, out);
    });
    out
}

/// AᵀB, p × q; A is n × p, B is n × q.
pub(crate) fn cross<E: Cell>(a: &[E], b: &[E], p: usize, q: usize) -> Vec<E> {
    if p * q > SMALL {
        return cross_wide(a, b, p, q);
    }
    let part = |(a, b): (&[E], &[E])| {
        let mut part = vec![E::default(); p * q];
        let out = MatMut::from_row_major_slice_mut(&mut part, p, q);
        matmul(out, Accum::Replace, rows(a, p).transpose(), rows(b, q), one(), Par::Seq);
        part
    };
    let parts: Vec<Vec<E>> = a.par_chunks(SUMMED * p).zip(b.par_chunks(SUMMED * q)).map(part).collect();
    let mut parts = parts.into_iter();
    let mut sum = parts.next().unwrap_or_else(|| vec![E::default(); p * q]);
    for part in parts {
        sum.iter_mut().zip(&part).for_each(|(sum, part)| *sum += *part);
    }
    sum
}

/// The same, one block of rows of the answer per task.
fn cross_wide<E: Cell>(a: &[E], b: &[E], p: usize, q: usize) -> Vec<E> {
    let (a, b) = (rows(a, p), rows(b, q));
    let mut out = vec![E::default(); p * q];
    out.par_chunks_mut(ROWS * q).enumerate().for_each(|(block, out)| {
        let height = out.len() / q;
        let a = a.subcols(block * ROWS, height).transpose();
        matmul(MatMut::from_row_major_slice_mut(out, height, q), Accum::Replace, a, b, one(), Par::Seq);
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::Stream;

    #[test]
    fn products_equal_naive_ones() {
        let mut stream = Stream::new(3, 1);
        for (n, p, q) in [(1, 1, 1), (3, 2, 5), (65, 7, 3), (600, 130, 4), (70, 300, 230)] {
            let mut draw = |len: usize| (0..len).map(|_| stream.normal()).collect::<Vec<f64>>();
            let (a, b, c) = (draw(n * p), draw(n * q), draw(p * q));
            let found = cross(&a, &b, p, q);
            for (i, j) in [(0, 0), (p - 1, q - 1), (p / 2, q / 3)] {
                let naive: f64 = (0..n).map(|k| a[k * p + i] * b[k * q + j]).sum();
                assert!((found[i * q + j] - naive).abs() < 1e-11 * n as f64);
            }
            let found = times(&a, &c, p, q);
            for (i, j) in [(0, 0), (n - 1, q - 1), (n / 2, q / 3)] {
                let naive: f64 = (0..p).map(|k| a[i * p + k] * c[k * q + j]).sum();
                assert!((found[i * q + j] - naive).abs() < 1e-11 * p as f64);
            }
        }
    }
}
