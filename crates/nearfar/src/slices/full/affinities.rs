//! Affinities from distances: exponents, and the exponentials that they are the logarithms of.

use rayon::prelude::*;

use super::{part_rows, sum_parts};
use crate::error::Result;
use crate::math::exp::exp_negative;
use crate::math::kernel::{Entry, vectorized};
use crate::observe::{Observer, Stage, go_on};

/// The smallest exponent (the largest log κ) of each slice.
pub(super) fn least_exponents<E: Entry>(
    n: usize,
    values: &[E],
    rank: &[u16],
    sigma: Option<&[f64]>,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let rows = part_rows(n);
    let parts: Result<Vec<Vec<f64>>> = values
        .par_chunks(rows * n)
        .zip(rank.par_chunks(rows * n))
        .enumerate()
        .map(|(part, (values, rank))| {
            let (mut table, mut exponent) = (vec![f64::INFINITY; n], vec![0.0; n]);
            for (a, (values, rank)) in values.chunks_exact(n).zip(rank.chunks_exact(n)).enumerate() {
                go_on(observer, Stage::Slices)?;
                exponents(values, part * rows + a, sigma, &mut exponent);
                for (exponent, k) in exponent.iter().zip(rank) {
                    let least = &mut table[*k as usize];
                    *least = if exponent < least { *exponent } else { *least };
                }
            }
            Ok(table)
        })
        .collect();
    let smaller = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).map(|(a, b)| a.min(*b)).collect();
    Ok(parts?.into_iter().reduce(smaller).unwrap_or_default())
}

/// `values` ← exp(least of the slice − exponent); answers the sum of their squares over each slice.
pub(super) fn exponentials<E: Entry>(
    n: usize,
    values: &mut [E],
    rank: &[u16],
    sigma: Option<&[f64]>,
    least: &[f64],
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let rows = part_rows(n);
    let parts: Result<Vec<Vec<f64>>> = values
        .par_chunks_mut(rows * n)
        .zip(rank.par_chunks(rows * n))
        .enumerate()
        .map(|(part, (values, rank))| {
            let (mut squares, mut row) = (vec![0.0; n], vec![0.0; n]);
            for (a, (values, rank)) in values.chunks_exact_mut(n).zip(rank.chunks_exact(n)).enumerate() {
                go_on(observer, Stage::Slices)?;
                exponents(values, part * rows + a, sigma, &mut row);
                for (x, k) in row.iter_mut().zip(rank) {
                    *x = least[*k as usize] - *x;
                }
                vectorized(
                    #[inline(always)]
                    || {
                        for (x, value) in row.iter_mut().zip(values) {
                            *x = exp_negative(*x);
                            *value = E::narrow(*x);
                        }
                    },
                );
                for (x, k) in row.iter().zip(rank) {
                    squares[*k as usize] += x * x;
                }
            }
            Ok(squares)
        })
        .collect();
    Ok(sum_parts(n, &parts?))
}

/// −log κ of row i.
pub(super) fn exponents<E: Entry>(values: &[E], i: usize, sigma: Option<&[f64]>, out: &mut [f64]) {
    let Some(sigma) = sigma else {
        out.iter_mut().zip(values).for_each(|(out, value)| *out = value.wide());
        return;
    };
    let own = sigma[i];
    vectorized(
        #[inline(always)]
        || {
            for (out, (value, sigma)) in out.iter_mut().zip(values.iter().zip(sigma)) {
                let value = value.wide();
                let exponent = value / (own * sigma);
                // Copies stay at 0 where the scales' product vanishes (0/0), and no exponent is infinite (∞ − ∞ later).
                let exponent = if exponent < f64::MAX { exponent } else { f64::MAX };
                *out = if value == 0.0 { 0.0 } else { exponent };
            }
        },
    );
}
