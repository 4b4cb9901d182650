//! The products of min ‖X − VUᵀ‖² over V, U ≥ 0 and its steps: with U fixed every row of V is a least-squares
//! problem with matrix UᵀU, and one pass of exact coordinate steps over its entries (over all rows: over the
//! columns, HALS) never raises the objective. U follows in the same way.

use std::borrow::Cow;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

pub(super) use super::super::anls::update::{gram, pass};
use super::super::family::Rows;

/// Samples, or features, that one task works on; fixed, so that the bits do not depend on the number of threads.
const ROWS: usize = 512;
const FEATURES: usize = 64;

/// Samples without negative values, n × m row-major.
#[derive(Clone, Debug)]
pub(crate) struct Shifted<'a> {
    values: Cow<'a, [f64]>,
    pub(crate) n: usize,
    pub(crate) m: usize,
}

impl<'a> Shifted<'a> {
    /// As given, or with the smallest value taken off everywhere where that is negative.
    pub(crate) fn new(rows: &'a Rows) -> Self {
        let smallest = rows.values.iter().copied().fold(0.0, f64::min);
        let values = if smallest < 0.0 {
            Cow::Owned(rows.values.iter().map(|x| x - smallest).collect())
        } else {
            Cow::Borrowed(rows.values.as_slice())
        };
        Self { values, n: rows.n, m: rows.m }
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// X U, n × r row-major.
    pub(super) fn times(&self, u: &[f64], r: usize) -> Vec<f64> {
        let m = self.m;
        let u = MatRef::from_column_major_slice(u, r, m); // Uᵀ
        let mut out = vec![0.0; self.n * r];
        out.par_chunks_mut(ROWS * r).zip(self.values.par_chunks(ROWS * m)).for_each(|(out, x)| {
            let count = x.len() / m;
            let x = MatRef::from_column_major_slice(x, m, count); // Xᵀ
            let out = MatMut::from_column_major_slice_mut(out, r, count);
            matmul(out, Accum::Replace, u, x, 1.0, Par::Seq);
        });
        out
    }

    /// Xᵀ V, m × r row-major.
    pub(super) fn transposed_times(&self, v: &[f64], r: usize) -> Vec<f64> {
        let (n, m) = (self.n, self.m);
        let x = MatRef::from_column_major_slice(self.values(), m, n); // Xᵀ
        let v = MatRef::from_column_major_slice(v, r, n); // Vᵀ
        let mut out = vec![0.0; m * r];
        out.par_chunks_mut(FEATURES * r).enumerate().for_each(|(block, out)| {
            let count = out.len() / r;
            let x = x.subrows(block * FEATURES, count);
            let out = MatMut::from_column_major_slice_mut(out, r, count);
            matmul(out, Accum::Replace, v, x.transpose(), 1.0, Par::Seq);
        });
        out
    }
}
