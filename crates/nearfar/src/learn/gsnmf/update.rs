//! The steps of min ½‖S − VVᵀ‖² + (λ/2) tr(VᵀLV) over V ≥ 0, L = D − S, D the degrees.
//!
//! Multiplicative: the bounds of plain symmetric NMF, with d_i V² ≤ ½ d_i (V⁴/V'² + V'²) for the new term with D;
//! −tr(VᵀSV), now (2 + λ)/2 of it, keeps its logarithmic bound. The separable bound has its minimum where (V/V')⁴ =
//! (2+λ)SV' / (2V'V'ᵀV' + λDV').
//!
//! The authors' scheme splits V into H and H₁ with multipliers Y: H minimises
//! $$ \tfrac12\|S - HH_1^\top\|^2 + \tfrac\lambda2\,\mathrm{tr}(H^\top L H_1) + \langle Y, H - H_1\rangle + \tfrac\mu2\|H - H_1\|^2 $$
//! by greedy coordinate descent in every row (the entry with the largest gain, until gains are below a hundredth of
//! the largest first one of any row, or r² moves), then H₁ in the same way, then Y ← Y + H − H₁. Two departures
//! from their program: theirs has λL, twice our gradient, where its printed objective has ½λ (so its λ is half of
//! ours); the loss recorded adds (μ/2)‖H − H₁‖², so that a chance standstill of the objective alone does not end
//! the run.

use rayon::prelude::*;

use super::super::anls::update::gram;
use super::super::multiplicative::{quarter, times_small};
use super::super::phals::FixedGraph;
use crate::graph::{SparseGraph, to_columns};
use crate::math::kernel::{norm2, short_dot, vectorized};
use crate::observe::Observer;

/// Rows that one task works on; rows are independent, so it changes no bit.
const ROWS: usize = 1024;
/// Gains below this share of the largest first one are not worth a move.
const WORTH: f64 = 0.01;

/// V ⊙ ((2+λ)SV / (2VVᵀV + λDV))^¼.
pub(super) fn multiplicative(fixed: &FixedGraph<'_, SparseGraph>, degrees: &[f64], lambda: f64) -> Vec<f64> {
    let (factor, n) = (&fixed.factor, degrees.len());
    let mut down = times_small(factor, fixed.gram());
    let up: Vec<f64> = fixed.product().iter().map(|t| (2.0 + lambda) * t).collect();
    for (down, v) in down.chunks_exact_mut(n).zip(factor.values().chunks_exact(n)) {
        for ((down, v), degree) in down.iter_mut().zip(v).zip(degrees) {
            *down = 2.0 * *down + lambda * degree * v;
        }
    }
    quarter(factor.values(), &up, &down)
}

/// The two copies of V, n × r row-major, and the multipliers.
#[derive(Debug)]
pub(super) struct Split {
    first: Vec<f64>,
    second: Vec<f64>,
    multipliers: Vec<f64>,
    r: usize,
    mu: f64,
}

impl Split {
    pub(super) fn new(rows: Vec<f64>, r: usize, mu: f64) -> Self {
        Self { second: rows.clone(), multipliers: vec![0.0; rows.len()], first: rows, r, mu }
    }

    /// (μ/2)‖H − H₁‖².
    pub(super) fn price(&self) -> f64 {
        let difference: Vec<f64> = self.first.iter().zip(&self.second).map(|(a, b)| a - b).collect();
        0.5 * self.mu * norm2(&difference)
    }

    /// One round. Returns H and S H, column-major; `None` when the observer asked to stop.
    pub(super) fn step(
        &mut self,
        graph: &SparseGraph,
        degrees: &[f64],
        lambda: f64,
        observer: &dyn Observer,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let Self { first, second, multipliers, r, mu } = self;
        let half = |own: &mut [f64], other: &[f64], sign: f64| {
            let product = graph.times_rows(other, *r);
            let (mu, r) = (*mu, *r);
            Half { other, product: &product, multipliers, sign, degrees, lambda, mu, r }.descend(own);
            product
        };
        half(first, second, 1.0);
        if observer.cancelled() {
            return None;
        }
        let product = half(second, first, -1.0);
        for ((y, h), other) in multipliers.iter_mut().zip(&*first).zip(&*second) {
            *y += h - other;
        }
        let n = degrees.len();
        let columns = |rows: &[f64]| {
            let mut columns = vec![0.0; n * *r];
            to_columns(rows, n, *r, &mut columns);
            columns
        };
        Some((columns(first), columns(&product)))
    }
}

/// What the step of one copy is made of.
struct Half<'a> {
    other: &'a [f64],
    /// S times the other copy.
    product: &'a [f64],
    multipliers: &'a [f64],
    sign: f64,
    degrees: &'a [f64],
    lambda: f64,
    mu: f64,
    r: usize,
}

impl Half<'_> {
    /// Lower the copy's rows.
    fn descend(&self, own: &mut [f64]) {
        let (r, block) = (self.r, ROWS * self.r);
        let hessian = self.hessian();
        let diagonal: Vec<Curvature> = (0..r).map(|k| Curvature::new(hessian[k * r + k])).collect();
        let gradients: Vec<(Vec<f64>, f64)> = own
            .par_chunks(block)
            .enumerate()
            .map(|(at, own)| {
                vectorized(
                    #[inline(always)]
                    || self.gradient(&hessian, &diagonal, own, at * ROWS),
                )
            })
            .collect();
        let largest = gradients.iter().map(|(_, gain)| *gain).fold(0.0, f64::max);
        own.par_chunks_mut(block).zip(gradients).for_each(|(own, (mut g, _))| {
            vectorized(
                #[inline(always)]
                || {
                    for (h, g) in own.chunks_exact_mut(r).zip(g.chunks_exact_mut(r)) {
                        greedy(&hessian, &diagonal, h, g, WORTH * largest);
                    }
                },
            );
        });
    }

    /// The other copy's Gram matrix plus μI.
    fn hessian(&self) -> Vec<f64> {
        let r = self.r;
        let mut hessian = gram(self.other, r);
        (0..r).for_each(|k| hessian[k * r + k] += self.mu);
        hessian
    }

    /// The gradient of a block of rows that starts at row `start`, and the largest gain of any one entry.
    #[inline(always)]
    fn gradient(
        &self,
        hessian: &[f64],
        diagonal: &[Curvature],
        own: &[f64],
        start: usize,
    ) -> (Vec<f64>, f64) {
        let (r, mut largest) = (self.r, 0.0_f64);
        let mut gradient = vec![0.0; own.len()];
        for (a, (h, g)) in own.chunks_exact(r).zip(gradient.chunks_exact_mut(r)).enumerate() {
            let i = start + a;
            let at = i * r..(i + 1) * r;
            let (other, product) = (&self.other[at.clone()], &self.product[at.clone()]);
            let y = &self.multipliers[at];
            for k in 0..r {
                let quadratic = short_dot(&hessian[k * r..][..r], h) - self.mu * other[k];
                let graph =
                    0.5 * self.lambda * self.degrees[i] * other[k] - (1.0 + 0.5 * self.lambda) * product[k];
                g[k] = quadratic + graph + self.sign * y[k];
                largest = largest.max(diagonal[k].gain(h[k], g[k]).1);
            }
        }
        (gradient, largest)
    }
}

/// How the objective bends along one entry; its inverse is kept, since a division per look costs more than the rest.
struct Curvature {
    value: f64,
    inverse: f64,
}

impl Curvature {
    fn new(value: f64) -> Self {
        Self { value, inverse: value.recip() }
    }

    /// The best move of an entry h of slope g, and what it gains.
    #[inline(always)]
    fn gain(&self, h: f64, g: f64) -> (f64, f64) {
        let step = (h - g * self.inverse).max(0.0) - h;
        (step, -(step * g + 0.5 * self.value * step * step))
    }
}

/// Greedy coordinate descent in one row; `g` is its gradient and is kept up.
#[inline(always)]
fn greedy(hessian: &[f64], diagonal: &[Curvature], h: &mut [f64], g: &mut [f64], enough: f64) {
    let r = h.len();
    for _ in 0..r * r {
        let (mut best, mut step, mut at) = (0.0, 0.0, None);
        for (k, (curvature, (h, g))) in diagonal.iter().zip(h.iter().zip(&*g)).enumerate() {
            let (s, gained) = curvature.gain(*h, *g);
            if gained > best {
                (best, step, at) = (gained, s, Some(k));
            }
        }
        let Some(at) = at else { return };
        h[at] += step;
        g.iter_mut().zip(&hessian[at * r..][..r]).for_each(|(g, q)| *g += step * q);
        if best < enough {
            return;
        }
    }
}
