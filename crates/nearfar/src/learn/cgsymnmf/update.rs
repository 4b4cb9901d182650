//! The learnt graph: S ⊙ (up / down), one block of rows per task.
//!
//! KS is X(XᵀS) where that takes fewer multiplications than n³ (X has a sample per row here). It belongs to the present S: measuring the
//! objective and the next step use the same one. K⁺S needs its own n³, as the sign cuts K entry by entry.

use rayon::prelude::*;

use super::CgSymNmfParams;
use crate::graph::{SparseGraph, to_columns, to_rows};
use crate::math::dense::{ROWS, cross, multiply, multiply_transposed, times};
use crate::math::factor::Factor;
use crate::math::kernel::{dot, normalize, vectorized};

/// Keeps denominators off zero.
const FLOOR: f64 = 1e-12;
/// The first S is S₀ plus noise of this share of its mean positive entry: exact zeros would stay for ever.
const LIFT: f64 = 1e-2;

/// The objective.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Terms {
    /// ‖S − VVᵀ‖².
    pub(super) fit: f64,
    /// α‖X − XS‖² + β‖S − S₀‖².
    pub(super) penalty: f64,
}

/// K times S, for the present S.
#[derive(Clone, Debug)]
enum Product {
    /// XᵀS, m × n.
    Thin(Vec<f64>),
    /// KS, n × n.
    Full(Vec<f64>),
}

#[derive(Clone, Debug)]
pub(super) struct Expression<'a> {
    params: CgSymNmfParams,
    n: usize,
    m: usize,
    /// n × m, rows of length 1 (or 0).
    x: Vec<f64>,
    /// XXᵀ, n × n.
    k: Vec<f64>,
    /// Whether K has negative entries.
    signed: bool,
    graph: &'a SparseGraph,
    /// n × n, row-major, diagonal 0.
    s: Vec<f64>,
    product: Product,
}

impl<'a> Expression<'a> {
    pub(super) fn new(
        samples: &[f64],
        graph: &'a SparseGraph,
        noise: Vec<f64>,
        n: usize,
        params: CgSymNmfParams,
    ) -> Self {
        assert_eq!(noise.len(), n * n, "noise is n × n");
        let m = samples.len() / n;
        let mut x = samples.to_vec();
        x.chunks_exact_mut(m).for_each(|row| {
            normalize(row); // a row of zeros stays
        });
        let mut k = vec![0.0; n * n];
        k.par_chunks_mut(ROWS * n).zip(x.par_chunks(ROWS * m)).for_each(|(k, own)| {
            multiply_transposed(own, &x, m, n, k);
        });
        let signed = k.par_iter().any(|k| *k < 0.0);
        let (sum, count) = (0..n)
            .flat_map(|i| graph.row(i).1)
            .filter(|value| **value > 0.0)
            .fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        let lift = LIFT * if count > 0.0 { sum / count } else { 1.0 };
        let mut s = noise;
        s.par_chunks_mut(n).enumerate().for_each(|(i, s)| {
            s.iter_mut().for_each(|s| *s *= lift);
            let (places, values) = graph.row(i);
            places.iter().zip(values).for_each(|(j, value)| s[*j as usize] += value);
            s[i] = 0.0;
        });
        let product = Product::Full(Vec::new());
        let mut this = Self { params, n, m, x, k, signed, graph, s, product };
        this.multiply();
        this
    }

    pub(super) fn similarity(&self) -> &[f64] {
        &self.s
    }

    /// K S of the present S.
    fn multiply(&mut self) {
        self.product = if 2 * self.m < self.n {
            Product::Thin(cross(&self.x, &self.s, self.m, self.n))
        } else {
            Product::Full(times(&self.k, &self.s, self.n, self.n))
        };
    }

    /// ½(S + Sᵀ)V, column-major.
    pub(super) fn symmetric_times(&self, factor: &Factor) -> Vec<f64> {
        let (n, r) = (self.n, factor.n_columns());
        let v = to_rows(factor.values(), n, r);
        let mut sum = times(&self.s, &v, n, r);
        let turned = cross(&self.s, &v, n, r);
        sum.iter_mut().zip(&turned).for_each(|(a, b)| *a = 0.5 * (*a + b));
        let mut out = vec![0.0; n * r];
        to_columns(&sum, n, r, &mut out);
        out
    }

    /// One step of S for this V.
    pub(super) fn update(&mut self, factor: &Factor) {
        let (n, m, r) = (self.n, self.m, factor.n_columns());
        let CgSymNmfParams { alpha, beta } = self.params;
        let v = to_rows(factor.values(), n, r);
        // |K|S, so that K⁺S and K⁻S are half its sum and difference with KS.
        let absolute = self.signed.then(|| {
            let absolute: Vec<f64> = self.k.par_iter().map(|k| k.abs()).collect();
            times(&absolute, &self.s, n, n)
        });
        let Self { x, k, graph, product, s, .. } = self;
        let product = &*product;
        s.par_chunks_mut(ROWS * n).enumerate().for_each(|(block, s)| {
            let first = block * ROWS;
            let height = s.len() / n;
            let mut outer = vec![0.0; s.len()];
            multiply_transposed(&v[first * r..(first + height) * r], &v, r, n, &mut outer);
            let own;
            let ks = match product {
                Product::Full(ks) => &ks[first * n..][..s.len()],
                Product::Thin(xs) => {
                    let mut made = vec![0.0; s.len()];
                    multiply(&x[first * m..(first + height) * m], xs, m, n, &mut made);
                    own = made;
                    &own
                }
            };
            for (a, s) in s.chunks_exact_mut(n).enumerate() {
                let i = first + a;
                let up = &mut outer[a * n..][..n];
                let (places, values) = graph.row(i);
                places.iter().zip(values).for_each(|(j, value)| up[*j as usize] += beta * value);
                let (k, ks) = (&k[i * n..][..n], &ks[a * n..][..n]);
                let absolute = absolute.as_ref().map(|q| &q[i * n..][..n]);
                vectorized(
                    #[inline(always)]
                    || match absolute {
                        None => scale_row(s, up, k, ks, alpha, 1.0 + beta),
                        Some(q) => scale_row_signed(s, up, k, ks, q, alpha, 1.0 + beta),
                    },
                );
                s[i] = 0.0;
            }
        });
        self.multiply();
    }

    /// The objective with this V.
    pub(super) fn measure(&self, factor: &Factor) -> Terms {
        let (n, m, r) = (self.n, self.m, factor.n_columns());
        let CgSymNmfParams { alpha, beta } = self.params;
        let v = to_rows(factor.values(), n, r);
        let parts: Vec<[f64; 3]> = (0..n.div_ceil(ROWS))
            .into_par_iter()
            .map(|block| {
                let first = block * ROWS;
                let height = ROWS.min(n - first);
                let mut outer = vec![0.0; height * n];
                multiply_transposed(&v[first * r..(first + height) * r], &v, r, n, &mut outer);
                let mut sums = [0.0; 3];
                for (a, outer) in outer.chunks_exact_mut(n).enumerate() {
                    let i = first + a;
                    let s = &self.s[i * n..][..n];
                    outer.iter_mut().zip(s).for_each(|(y, s)| *y -= s);
                    sums[0] += dot(outer, outer);
                    // ‖X − XS‖² row by row: −2⟨K, S⟩, and ⟨S, KS⟩ where KS is at hand.
                    sums[1] -= 2.0 * dot(&self.k[i * n..][..n], s);
                    if let Product::Full(ks) = &self.product {
                        sums[1] += dot(&ks[i * n..][..n], s);
                    }
                    outer.copy_from_slice(s);
                    let (places, values) = self.graph.row(i);
                    places.iter().zip(values).for_each(|(j, value)| outer[*j as usize] -= value);
                    sums[2] += dot(outer, outer);
                }
                sums
            })
            .collect();
        let [fit, mut expressed, held] =
            parts.iter().fold([0.0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
        expressed += (0..n).map(|i| self.k[i * n + i]).sum::<f64>();
        if let Product::Thin(xs) = &self.product {
            expressed += xs.chunks(m.max(1)).map(|row| dot(row, row)).sum::<f64>();
        }
        Terms { fit, penalty: alpha * expressed.max(0.0) + beta * held }
    }
}

/// K ≥ 0; `up` holds VVᵀ + βS₀.
#[inline(always)]
fn scale_row(s: &mut [f64], up: &[f64], k: &[f64], ks: &[f64], alpha: f64, hold: f64) {
    for (((s, up), k), ks) in s.iter_mut().zip(up).zip(k).zip(ks) {
        *s *= (up + alpha * k) / (hold * *s + alpha * ks + FLOOR);
    }
}

/// K of both signs; `q` holds |K|S.
#[inline(always)]
fn scale_row_signed(s: &mut [f64], up: &[f64], k: &[f64], ks: &[f64], q: &[f64], alpha: f64, hold: f64) {
    for ((((s, up), k), ks), q) in s.iter_mut().zip(up).zip(k).zip(ks).zip(q) {
        let positive = |x: f64| if x > 0.0 { x } else { 0.0 };
        let (risen, fallen) = (positive(0.5 * (q + ks)), positive(0.5 * (q - ks)));
        let up = up + alpha * (positive(*k) + fallen);
        let down = hold * *s + alpha * (risen + positive(-*k)) + FLOOR;
        *s *= (up / down).sqrt();
    }
}
