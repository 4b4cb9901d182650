//! What one LSDG iteration cannot do without, by plain kernels on full matrices: one n × n × r product, r passes
//! over T, one pass for c, and one to rebuild T.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use nearfar::internals::{Entry, FullSlices};
use nearfar::learn::Factor;

use crate::clock::timed;

/// Processor seconds of the irreducible work, the best of three.
pub(crate) fn one_iteration<E: Entry>(slices: &FullSlices<E>, factor: &Factor) -> f64 {
    let (n, r) = (factor.n_samples(), factor.n_columns());
    let mut a: Vec<E> = vec![E::default(); n * n];
    let mut rank = vec![0_u16; n * n];
    for i in 0..n {
        for j in 0..n {
            a[i * n + j] = E::narrow(slices.normalized(i, j));
            rank[i * n + j] = slices.rank(i, j) as u16;
        }
    }
    let weights: Vec<f64> = (0..n).map(|k| 1.0 / (k + 1) as f64).collect();
    let mut t: Vec<E> = vec![E::default(); n * n];
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let ((), seconds) = timed(|| {
            rebuild(&a, &rank, &weights, n, &mut t);
            product(&t, factor, n, r);
            for j in 0..r {
                std::hint::black_box(quadratic(&t, factor.column(j), n));
            }
            std::hint::black_box(agreement(&a, &rank, n));
        });
        best = best.min(seconds.cpu);
    }
    best
}

fn rebuild<E: Entry>(a: &[E], rank: &[u16], weights: &[f64], n: usize, t: &mut [E]) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for i in 0..n {
                for j in 0..n {
                    let (ij, ji) = (i * n + j, j * n + i);
                    let value =
                        a[ij].wide() * weights[rank[ij] as usize] + a[ji].wide() * weights[rank[ji] as usize];
                    t[ij] = E::narrow(0.5 * value);
                }
            }
        },
    );
}

fn product<E: Entry>(t: &[E], factor: &Factor, n: usize, r: usize) {
    // In the storage's own precision, as a plain library call would be.
    if E::BYTES == 4 {
        let t: Vec<f32> = t.iter().map(|t| t.wide() as f32).collect();
        let v: Vec<f32> = factor.values().iter().map(|v| *v as f32).collect();
        let mut out = vec![0.0_f32; n * r];
        let (t, v) = (MatRef::from_row_major_slice(&t, n, n), MatRef::from_column_major_slice(&v, n, r));
        matmul(MatMut::from_column_major_slice_mut(&mut out, n, r), Accum::Replace, t, v, 1.0, Par::Seq);
        std::hint::black_box(out);
    } else {
        let t: Vec<f64> = t.iter().map(|t| t.wide()).collect();
        let mut out = vec![0.0; n * r];
        let (t, v) =
            (MatRef::from_row_major_slice(&t, n, n), MatRef::from_column_major_slice(factor.values(), n, r));
        matmul(MatMut::from_column_major_slice_mut(&mut out, n, r), Accum::Replace, t, v, 1.0, Par::Seq);
        std::hint::black_box(out);
    }
}

fn quadratic<E: Entry>(t: &[E], d: &[f64], n: usize) -> f64 {
    let d: Vec<E> = d.iter().map(|d| E::narrow(*d)).collect();
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || t.chunks_exact(n).zip(&d).map(|(row, d_i)| d_i.wide() * E::short_dot(row, &d)).sum(),
    )
}

fn agreement<E: Entry>(a: &[E], rank: &[u16], n: usize) -> Vec<f64> {
    let mut c = vec![0.0; n];
    for (a, k) in a.iter().zip(rank) {
        c[*k as usize] += a.wide();
    }
    c
}
