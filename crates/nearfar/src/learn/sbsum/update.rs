//! Sweeps that minimise an upper bound of f(V) = ‖S − VVᵀ‖², tight where they stand, over one block at a time. f
//! never rises.
//!
//! **One entry** x = V_ik. Adding e changes f by exactly $\tfrac a4 e^4 + \tfrac b3 e^3 + \tfrac c2 e^2 + d e$ with
//! a = 4, b = 12x, c = 4(‖V_i‖² − S_ii + G_kk + x²), d = 4(G_kᵀV_i − S_iᵀv_k), G = VᵀV. In y = x + e its stationary
//! points are the roots of y³ + py − q with p = c/4 − 3x² and q = −2x³ + cx/4 − d/4. For p > 0 the quartic is
//! convex and has one; else c is raised to 12x² (an upper bound), which leaves y³ = x³ − d/4. The new entry is
//! max(y, 0). Where S_ii ≤ 0, p ≥ 0 always: this is exact coordinate descent.
//!
//! **One row** v = V_i. With Q = G − V_iV_iᵀ (the Gram matrix of the other rows) and t = Σ_{j≠i} S_ij V_j,
//! $$ f = \|v\|^4 - 2 S_{ii}\|v\|^2 + 2 v^\top Q v - 4 v^\top t + \text{const}. $$
//! At v' two terms are bounded: vᵀQv ≤ v'ᵀQv' + 2(v − v')ᵀQv' + ρ‖v − v'‖² with ρ the largest row sum of Q (Q ≥ 0,
//! so no eigenvalue is larger), and −S_ii‖v‖² ≤ −2S_ii v'ᵀv + S_ii‖v'‖² where S_ii > 0. What is left is
//! $$ \|v\|^4 + 2\sigma\|v\|^2 - 4 v^\top b + \text{const}, \quad \sigma = \rho + (-S_{ii})_+, \quad b = t + (S_{ii})_+ v' + \rho v' - Q v'. $$
//! Over v ≥ 0 its minimum has v(‖v‖² + σ) = b₊: the direction is b₊ and the length s solves s³ + σs = ‖b₊‖. The
//! bound is made anew a few times per row, as t, the dear part, stays.
//!
//! Blocks are visited in order, each with what the ones before it left; that is the method, so a sweep runs on one
//! thread.

use crate::graph::SparseGraph;
use crate::math::kernel::{gathered_dot, short_dot, vectorized};
use crate::observe::Observer;
use crate::slices::Graph;

/// Bounds made per row and sweep.
const BOUNDS: usize = 5;
/// A row that moves by less than this share of itself is done.
const STILL: f64 = 1e-6;
/// Rows between two questions to the observer.
const ROWS: usize = 4096;

/// The root of y³ + py = q for p ≥ 0, q ≥ 0. With u³, v³ = q/2 ± √(q²/4 + p³/27) and uv = −p/3 it is u + v = q/(u² + v² + p/3), a sum
/// without cancellation.
#[inline(always)]
pub(super) fn root(p: f64, q: f64) -> f64 {
    let u = (0.5 * q + (0.25 * q * q + p * p * p / 27.0).sqrt()).cbrt();
    if u > 0.0 {
        let v = p / (3.0 * u);
        q / (u * u + v * v + p / 3.0)
    } else {
        0.0
    }
}

/// The new value of an entry x, of curvature c and slope d at x.
#[inline(always)]
pub(super) fn entry(x: f64, c: f64, d: f64) -> f64 {
    let p = 0.25 * c - 3.0 * x * x;
    if p > 0.0 {
        root(p, (0.25 * (c * x - d) - 2.0 * x * x * x).max(0.0))
    } else {
        (x * x * x - 0.25 * d).cbrt().max(0.0)
    }
}

/// One sweep over entries, column after column; `rows` is V, n × r row-major, `gram` VᵀV. `None` when the observer
/// asked to stop.
pub(super) fn entries(
    graph: &SparseGraph,
    rows: &mut [f64],
    mut gram: Vec<f64>,
    observer: &dyn Observer,
) -> Option<()> {
    let r = gram.len().isqrt();
    let n = rows.len() / r;
    let diagonal: Vec<f64> = (0..n).map(|i| graph.get(i, i)).collect();
    let mut norms: Vec<f64> = rows.chunks_exact(r).map(|row| row.iter().map(|v| v * v).sum()).collect();
    let mut column = vec![0.0; n];
    for k in 0..r {
        if observer.cancelled() {
            return None;
        }
        column.iter_mut().zip(rows.iter().skip(k).step_by(r)).for_each(|(c, v)| *c = *v);
        let own = &mut gram[k * r..][..r];
        vectorized(
            #[inline(always)]
            || {
                for (i, row) in rows.chunks_exact_mut(r).enumerate() {
                    let (places, values) = graph.row(i);
                    let x = row[k];
                    let d = 4.0 * (short_dot(own, row) - gathered_dot(values, places, &column));
                    if x == 0.0 && d >= 0.0 {
                        continue; // at its bound and pushed against it
                    }
                    let y = entry(x, 4.0 * (norms[i] - diagonal[i] + own[k] + x * x), d);
                    let e = y - x;
                    own.iter_mut().zip(&*row).for_each(|(g, v)| *g += e * v);
                    // The line above gave the diagonal e x of 2 e x + e².
                    own[k] += e * y;
                    norms[i] += e * (x + y);
                    (row[k], column[i]) = (y, y);
                }
            },
        );
        for l in 0..r {
            gram[l * r + k] = gram[k * r + l];
        }
    }
    Some(())
}

/// One sweep over rows.
pub(super) fn rows(
    graph: &SparseGraph,
    rows: &mut [f64],
    mut gram: Vec<f64>,
    observer: &dyn Observer,
) -> Option<()> {
    let r = gram.len().isqrt();
    let n = rows.len() / r;
    let (mut t, mut v, mut b) = (vec![0.0; r], vec![0.0; r], vec![0.0; r]);
    for i in 0..n {
        if i % ROWS == 0 && observer.cancelled() {
            return None;
        }
        let mut diagonal = 0.0;
        t.fill(0.0);
        let (places, values) = graph.row(i);
        for (j, s) in places.iter().zip(values) {
            if *j as usize == i {
                diagonal = *s;
            } else {
                let other = &rows[*j as usize * r..][..r];
                t.iter_mut().zip(other).for_each(|(t, v)| *t += s * v);
            }
        }
        let row = &mut rows[i * r..][..r];
        v.copy_from_slice(row);
        vectorized(
            #[inline(always)]
            || {
                add_outer(&mut gram, row, -1.0);
                let row_sum = |k: usize| gram[k * r..][..r].iter().map(|q| q.abs()).sum::<f64>();
                let rho = (0..r).map(row_sum).fold(0.0, f64::max);
                for _ in 0..BOUNDS {
                    if lower(&gram, rho, diagonal, &t, &mut v, &mut b) <= STILL {
                        break;
                    }
                }
                add_outer(&mut gram, &v, 1.0);
            },
        );
        row.copy_from_slice(&v);
    }
    Some(())
}

/// G ← G + sign · vvᵀ.
#[inline(always)]
fn add_outer(gram: &mut [f64], v: &[f64], sign: f64) {
    for (g, x) in gram.chunks_exact_mut(v.len()).zip(v) {
        g.iter_mut().zip(v).for_each(|(g, y)| *g += sign * x * y);
    }
}

/// v becomes the minimum of the bound at v. Returns how far it moved, as a share of its new length; `b` is scratch.
#[inline(always)]
fn lower(q: &[f64], rho: f64, diagonal: f64, t: &[f64], v: &mut [f64], b: &mut [f64]) -> f64 {
    let r = v.len();
    for k in 0..r {
        let linear = t[k] + (diagonal.max(0.0) + rho) * v[k] - short_dot(&q[k * r..][..r], v);
        b[k] = linear.max(0.0);
    }
    let length = short_dot(b, b).sqrt();
    let wanted = root(rho + (-diagonal).max(0.0), length);
    let scale = if length > 0.0 { wanted / length } else { 0.0 };
    let mut moved = 0.0;
    for (v, b) in v.iter_mut().zip(b) {
        let next = scale * *b;
        moved += (next - *v) * (next - *v);
        *v = next;
    }
    if moved > 0.0 { moved.sqrt() / wanted } else { 0.0 }
}
