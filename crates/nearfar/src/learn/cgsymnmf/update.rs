//! The learnt graph: S ⊙ (up / down), one block of rows per task.
//!
//! KS is X(XᵀS) where that takes less time than n³ (X has a sample per row here). It belongs to the present S:
//! measuring the objective and the next step use the same one. K⁺S needs its own n³, as the sign cuts K entry by
//! entry.

use rayon::prelude::*;

use super::CgSymNmfParams;
use crate::graph::{SparseGraph, to_columns, to_rows};
use crate::math::dense::{Cell, ROWS, cross, multiply, multiply_transposed, times};
use crate::math::factor::Factor;
use crate::math::kernel::{normalize, vectorized};

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
enum Product<E> {
    /// XᵀS, m × n.
    Thin(Vec<E>),
    /// KS, n × n.
    Full(Vec<E>),
}

#[derive(Clone, Debug)]
pub(super) struct Expression<'a, E> {
    params: CgSymNmfParams,
    n: usize,
    m: usize,
    /// n × m, rows of length 1 (or 0); features that are 0 everywhere left out.
    x: Vec<E>,
    /// XXᵀ, n × n.
    k: Vec<E>,
    /// Whether K has negative entries.
    signed: bool,
    graph: &'a SparseGraph,
    /// n × n, row-major, diagonal 0.
    s: Vec<E>,
    product: Product<E>,
}

/// The samples scaled to length 1, without features that are 0 everywhere; how many are left.
fn directions<E: Cell>(samples: &[f64], n: usize) -> (Vec<E>, usize) {
    let m = samples.len() / n;
    let mut used = vec![false; m];
    for row in samples.chunks_exact(m) {
        used.iter_mut().zip(row).for_each(|(used, x)| *used |= *x != 0.0);
    }
    used[0] |= !used.contains(&true); // data of zeros has a feature too
    let places: Vec<usize> = (0..m).filter(|f| used[*f]).collect();
    let mut x = Vec::with_capacity(n * places.len());
    for row in samples.chunks_exact(m) {
        let mut kept: Vec<f64> = places.iter().map(|f| row[*f]).collect();
        normalize(&mut kept); // a row of zeros stays
        x.extend(kept.into_iter().map(E::narrow));
    }
    (x, places.len())
}

/// V by rows, as the products take it: without numbers whose squares would vanish.
fn rows_of<E: Cell>(factor: &Factor) -> Vec<E> {
    let least = E::LEAST.sqrt();
    to_rows(factor.values(), factor.n_samples(), factor.n_columns())
        .into_iter()
        .map(|v| if v < least { E::default() } else { E::narrow(v) })
        .collect()
}

impl<'a, E: Cell> Expression<'a, E> {
    pub(super) fn new(
        samples: &[f64],
        graph: &'a SparseGraph,
        noise: Vec<E>,
        n: usize,
        params: CgSymNmfParams,
    ) -> Self {
        assert_eq!(noise.len(), n * n, "noise is n × n");
        let (x, m) = directions(samples, n);
        let mut k = vec![E::default(); n * n];
        k.par_chunks_mut(ROWS * n).zip(x.par_chunks(ROWS * m)).for_each(|(k, own)| {
            multiply_transposed(own, &x, m, n, k);
        });
        let signed = k.par_iter().any(|k| *k < E::default());
        let (sum, count) = (0..n)
            .flat_map(|i| graph.row(i).1)
            .filter(|value| **value > 0.0)
            .fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        let lift = LIFT * if count > 0.0 { sum / count } else { 1.0 };
        let mut s = noise;
        s.par_chunks_mut(n).enumerate().for_each(|(i, s)| {
            s.iter_mut().for_each(|s| *s = E::narrow(lift * s.wide()));
            let (places, values) = graph.row(i);
            places.iter().zip(values).for_each(|(j, value)| {
                let s = &mut s[*j as usize];
                *s = E::narrow(s.wide() + value);
            });
            s[i] = E::default();
        });
        let product = Product::Full(Vec::new());
        let mut this = Self { params, n, m, x, k, signed, graph, s, product };
        this.multiply();
        this
    }

    pub(super) fn similarity(&self) -> &[E] {
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
        let v = rows_of::<E>(factor);
        let straight = times(&self.s, &v, n, r);
        let turned = cross(&self.s, &v, n, r);
        let half: Vec<f64> = straight.iter().zip(&turned).map(|(a, b)| 0.5 * (a.wide() + b.wide())).collect();
        let mut out = vec![0.0; n * r];
        to_columns(&half, n, r, &mut out);
        out
    }

    /// One step of S for this V.
    pub(super) fn update(&mut self, factor: &Factor) {
        let (n, m, r) = (self.n, self.m, factor.n_columns());
        let CgSymNmfParams { alpha, beta } = self.params;
        let v = rows_of::<E>(factor);
        // |K|S, so that K⁺S and K⁻S are half its sum and difference with KS.
        let absolute = self.signed.then(|| {
            let absolute: Vec<E> = self.k.par_iter().map(|k| E::narrow(k.wide().abs())).collect();
            times(&absolute, &self.s, n, n)
        });
        let Self { x, k, graph, product, s, .. } = self;
        let product = &*product;
        s.par_chunks_mut(ROWS * n).enumerate().for_each(|(block, s)| {
            let first = block * ROWS;
            let height = s.len() / n;
            let mut outer = vec![E::default(); s.len()];
            multiply_transposed(&v[first * r..(first + height) * r], &v, r, n, &mut outer);
            let own;
            let ks = match product {
                Product::Full(ks) => &ks[first * n..][..s.len()],
                Product::Thin(xs) => {
                    let mut made = vec![E::default(); s.len()];
                    multiply(&x[first * m..(first + height) * m], xs, m, n, &mut made);
                    own = made;
                    &own
                }
            };
            for (a, s) in s.chunks_exact_mut(n).enumerate() {
                let i = first + a;
                let up = &mut outer[a * n..][..n];
                let (places, values) = graph.row(i);
                places.iter().zip(values).for_each(|(j, value)| {
                    let up = &mut up[*j as usize];
                    *up = E::narrow(up.wide() + beta * value);
                });
                let (k, ks) = (&k[i * n..][..n], &ks[a * n..][..n]);
                let absolute = absolute.as_ref().map(|q| &q[i * n..][..n]);
                vectorized(
                    #[inline(always)]
                    || match absolute {
                        None => scale_row(s, up, k, ks, alpha, 1.0 + beta),
                        Some(q) => scale_row_signed(s, up, k, ks, q, alpha, 1.0 + beta),
                    },
                );
                s[i] = E::default();
            }
        });
        self.multiply();
    }

    /// The objective with this V.
    pub(super) fn measure(&self, factor: &Factor) -> Terms {
        let (n, r) = (self.n, factor.n_columns());
        let CgSymNmfParams { alpha, beta } = self.params;
        let v = rows_of::<E>(factor);
        let parts: Vec<[f64; 3]> = (0..n.div_ceil(ROWS))
            .into_par_iter()
            .map(|block| {
                let first = block * ROWS;
                let height = ROWS.min(n - first);
                let mut outer = vec![E::default(); height * n];
                multiply_transposed(&v[first * r..(first + height) * r], &v, r, n, &mut outer);
                let mut sums = [0.0; 3];
                for (a, outer) in outer.chunks_exact(n).enumerate() {
                    let i = first + a;
                    let s = &self.s[i * n..][..n];
                    sums[0] += sum(s, outer, |s, y| (s - y) * (s - y));
                    // ‖X − XS‖² row by row: −2⟨K, S⟩, and ⟨S, KS⟩ where KS is at hand.
                    sums[1] -= 2.0 * sum(s, &self.k[i * n..][..n], |s, k| s * k);
                    if let Product::Full(ks) = &self.product {
                        sums[1] += sum(s, &ks[i * n..][..n], |s, ks| s * ks);
                    }
                    // ‖S‖² where S₀ is 0.
                    sums[2] += sum(s, s, |s, _| s * s);
                    let (places, values) = self.graph.row(i);
                    for (j, value) in places.iter().zip(values) {
                        let s = s[*j as usize].wide();
                        sums[2] += (s - value) * (s - value) - s * s;
                    }
                }
                sums
            })
            .collect();
        let [fit, mut expressed, held] =
            parts.iter().fold([0.0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
        expressed += (0..n).map(|i| self.k[i * n + i].wide()).sum::<f64>();
        if let Product::Thin(xs) = &self.product {
            expressed += xs.chunks(n).map(|row| sum(row, row, |x, _| x * x)).sum::<f64>();
        }
        Terms { fit, penalty: alpha * expressed.max(0.0) + beta * held.max(0.0) }
    }
}

/// Σ term(a, b) in double precision.
fn sum<E: Cell>(a: &[E], b: &[E], term: impl Fn(f64, f64) -> f64) -> f64 {
    const LANES: usize = 16;
    vectorized(
        #[inline(always)]
        || {
            let mut sums = [0.0; LANES];
            let ((a_full, a_rest), (b_full, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
            for (a, b) in a_full.iter().zip(b_full) {
                for l in 0..LANES {
                    sums[l] += term(a[l].wide(), b[l].wide());
                }
            }
            let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| term(a.wide(), b.wide())).sum();
            sums.iter().sum::<f64>() + rest
        },
    )
}

/// An entry of S, which starts at 0 or above and is multiplied again and again.
#[inline(always)]
fn shrunk<E: Cell>(s: f64) -> E {
    E::narrow(if s < E::LEAST { 0.0 } else { s })
}

/// K ≥ 0; `up` holds VVᵀ + βS₀.
#[inline(always)]
fn scale_row<E: Cell>(s: &mut [E], up: &[E], k: &[E], ks: &[E], alpha: f64, hold: f64) {
    for (((s, up), k), ks) in s.iter_mut().zip(up).zip(k).zip(ks) {
        let (up, down) = (up.wide() + alpha * k.wide(), hold * s.wide() + alpha * ks.wide() + FLOOR);
        *s = shrunk(s.wide() * (up / down));
    }
}

/// K of both signs; `q` holds |K|S.
#[inline(always)]
fn scale_row_signed<E: Cell>(s: &mut [E], up: &[E], k: &[E], ks: &[E], q: &[E], alpha: f64, hold: f64) {
    let positive = |x: f64| if x > 0.0 { x } else { 0.0 };
    for ((((s, up), k), ks), q) in s.iter_mut().zip(up).zip(k).zip(ks).zip(q) {
        let (k, ks, q) = (k.wide(), ks.wide(), q.wide());
        let (risen, fallen) = (positive(0.5 * (q + ks)), positive(0.5 * (q - ks)));
        let up = up.wide() + alpha * (positive(k) + fallen);
        let down = hold * s.wide() + alpha * (risen + positive(-k)) + FLOOR;
        *s = shrunk(s.wide() * (up / down).sqrt());
    }
}
