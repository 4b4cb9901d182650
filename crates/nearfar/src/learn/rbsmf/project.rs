//! The projection on the bi-stochastic matrices.
//!
//! *Projection.* The nearest symmetric S ≥ 0 with S1 = 1 to a symmetric M is S(y) = max(M + y1ᵀ + 1yᵀ, 0) for the y
//! with S(y)1 = 1, the minimum of the convex φ(y) = ¼‖S(y)‖² − 1ᵀy, whose gradient is S(y)1 − 1. Semismooth Newton:
//! the Hessian is B + Diag(B1) with B = [S > 0], plus a little of the identity that vanishes with the gradient;
//! Armijo's rule shortens steps. About ten solves. S is never formed on the way.
//!
//! A solve is a Cholesky decomposition for small n, else conjugate gradients, of which each step is one pass over M.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::cholesky::llt::solve::{solve_in_place, solve_in_place_scratch};
use faer::{Mat, MatMut, Par, Spec};
use rayon::prelude::*;

use crate::math::kernel::{dot, norm2, vectorized};
use crate::observe::Observer;

/// Largest |S1 − 1| of a finished projection.
const FEASIBLE: f64 = 1e-8;
/// Newton steps of one projection, at most.
const NEWTON: usize = 100;
/// Up to this size a solve is a decomposition.
const SMALL: usize = 256;

/// The nearest symmetric matrix to the symmetric `m` (n × n) with entries ≥ 0 and rows that sum to 1; `None` when
/// the observer asks to stop. Where rounding leaves no step that helps, the row sums are as close to 1 as they got.
///
/// ```
/// use nearfar::internals::bistochastic;
/// use nearfar::observe::Silent;
/// let s = bistochastic(&[3.0, 0.0, 0.0, 3.0], 2, &Silent).unwrap();
/// assert!((s[0] - 1.0).abs() < 1e-8 && s[1] == 0.0);
/// ```
///
/// # Panics
/// When `m` does not hold n × n numbers.
pub fn bistochastic(m: &[f64], n: usize, observer: &dyn Observer) -> Option<Vec<f64>> {
    assert_eq!(m.len(), n * n, "M is n × n");
    let mean = m.iter().sum::<f64>() / (n * n).max(1) as f64;
    let mut y = vec![0.5 * (1.0 / n.max(1) as f64 - mean); n];
    let mut here = Dual::at(m, &y);
    for _ in 0..NEWTON {
        let largest = here.largest();
        if largest < FEASIBLE {
            break;
        }
        let shift = largest.min(1e-3) + 1e-10;
        let step = if n <= SMALL {
            newton_step(m, &y, &here.gradient, shift)
        } else {
            conjugate_step(m, &y, &here.gradient, shift, observer)?
        };
        let slope = -dot(&here.gradient, &step);
        let mut t = 1.0;
        let next = loop {
            if observer.cancelled() {
                return None;
            }
            let to: Vec<f64> = y.iter().zip(&step).map(|(y, d)| y - t * d).collect();
            let there = Dual::at(m, &to);
            if there.value <= here.value + 1e-4 * t * slope || there.largest() < FEASIBLE {
                break Some((to, there));
            }
            t *= 0.5;
            if t < 1e-10 {
                break None; // rounding: no step helps
            }
        };
        let Some(next) = next else { break };
        (y, here) = next;
    }
    let mut s = vec![0.0; n * n];
    s.par_chunks_mut(n.max(1)).zip(m.par_chunks(n.max(1))).zip(&y).for_each(|((s, m), own)| {
        for ((s, m), y) in s.iter_mut().zip(m).zip(&y) {
            *s = (m + (own + y)).max(0.0);
        }
    });
    Some(s)
}

/// φ and its gradient.
struct Dual {
    value: f64,
    gradient: Vec<f64>,
}

impl Dual {
    fn at(m: &[f64], y: &[f64]) -> Self {
        let sums: Vec<(f64, f64)> = m
            .par_chunks(y.len().max(1))
            .zip(y)
            .map(|(m, own)| {
                vectorized(
                    #[inline(always)]
                    || row_sums(m, y, *own),
                )
            })
            .collect();
        let squares: f64 = sums.iter().map(|(_, square)| square).sum();
        let value = 0.25 * squares - y.iter().sum::<f64>();
        Self { value, gradient: sums.iter().map(|(sum, _)| sum - 1.0).collect() }
    }

    fn largest(&self) -> f64 {
        self.gradient.iter().fold(0.0_f64, |a, g| a.max(g.abs()))
    }
}

const LANES: usize = 8;

/// Sum and sum of squares of one row of S(y).
#[inline(always)]
fn row_sums(m: &[f64], y: &[f64], own: f64) -> (f64, f64) {
    let (mut sums, mut squares) = ([0.0; LANES], [0.0; LANES]);
    let mut add = |l: usize, m: f64, y: f64| {
        let s = m + (own + y);
        let s = if s > 0.0 { s } else { 0.0 };
        sums[l] += s;
        squares[l] += s * s;
    };
    let ((m_full, m_rest), (y_full, y_rest)) = (m.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    for (m, y) in m_full.iter().zip(y_full) {
        for l in 0..LANES {
            add(l, m[l], y[l]);
        }
    }
    for (m, y) in m_rest.iter().zip(y_rest) {
        add(0, *m, *y);
    }
    (sums.iter().sum(), squares.iter().sum())
}

/// One row of B x, and of B 1.
#[inline(always)]
fn row_active(m: &[f64], y: &[f64], own: f64, x: &[f64]) -> (f64, f64) {
    let (mut sums, mut counts) = ([0.0; LANES], [0.0; LANES]);
    let mut add = |l: usize, m: f64, y: f64, x: f64| {
        let active = m + (own + y) > 0.0;
        sums[l] += if active { x } else { 0.0 };
        counts[l] += if active { 1.0 } else { 0.0 };
    };
    let ((m_full, m_rest), (y_full, y_rest)) = (m.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let (x_full, x_rest) = x.as_chunks::<LANES>();
    for ((m, y), x) in m_full.iter().zip(y_full).zip(x_full) {
        for l in 0..LANES {
            add(l, m[l], y[l], x[l]);
        }
    }
    for ((m, y), x) in m_rest.iter().zip(y_rest).zip(x_rest) {
        add(0, *m, *y, *x);
    }
    (sums.iter().sum(), counts.iter().sum())
}

/// H⁻¹g by Cholesky, H = B + Diag(B1) + shift I.
pub(super) fn newton_step(m: &[f64], y: &[f64], gradient: &[f64], shift: f64) -> Vec<f64> {
    let n = y.len();
    let mut h = Mat::from_fn(n, n, |i, j| f64::from(u8::from(m[i * n + j] + (y[i] + y[j]) > 0.0)));
    for i in 0..n {
        let count: f64 = (0..n).map(|j| f64::from(u8::from(m[i * n + j] + (y[i] + y[j]) > 0.0))).sum();
        h[(i, i)] += count + shift;
    }
    let mut step = gradient.to_vec();
    let wanted = cholesky_in_place_scratch::<f64>(n, Par::Seq, Spec::default())
        .or(solve_in_place_scratch::<f64>(n, 1, Par::Seq));
    let mut memory = MemBuffer::new(wanted);
    // B + Diag(B1) has no negative eigenvalue, so that this fails on no finite input.
    let regular = LltRegularization::default();
    if cholesky_in_place(h.as_mut(), regular, Par::Seq, MemStack::new(&mut memory), Spec::default()).is_ok() {
        let side = MatMut::from_column_major_slice_mut(&mut step, n, 1);
        solve_in_place(h.as_ref(), side, Par::Seq, MemStack::new(&mut memory));
    }
    step
}

/// H⁻¹g by conjugate gradients with the diagonal as preconditioner.
pub(super) fn conjugate_step(
    m: &[f64],
    y: &[f64],
    gradient: &[f64],
    shift: f64,
    observer: &dyn Observer,
) -> Option<Vec<f64>> {
    let n = y.len();
    let active = |x: &[f64]| -> Vec<(f64, f64)> {
        let row = |(m, own): (&[f64], &f64)| {
            vectorized(
                #[inline(always)]
                || row_active(m, y, *own, x),
            )
        };
        m.par_chunks(n).zip(y).map(row).collect()
    };
    let mut x = vec![0.0; n];
    let mut rest = gradient.to_vec();
    // The diagonal of H: B1 + shift, and B's own where it is 1.
    let mut diagonal: Vec<f64> = active(&x).iter().map(|(_, count)| count + shift).collect();
    let own = diagonal.clone();
    for (i, d) in diagonal.iter_mut().enumerate() {
        *d += f64::from(u8::from(m[i * n + i] + (y[i] + y[i]) > 0.0));
    }
    let precondition = |rest: &[f64]| rest.iter().zip(&diagonal).map(|(r, d)| r / d).collect::<Vec<f64>>();
    let mut z = precondition(&rest);
    let mut direction = z.clone();
    let mut rho = dot(&rest, &z);
    // The closer to the end, the more digits; below 1e-10 the pass over M is no more exact.
    let wanted = norm2(&rest).sqrt() * (1e-3 * norm2(gradient).sqrt()).clamp(1e-10, 1e-3);
    for _ in 0..n {
        if observer.cancelled() {
            return None;
        }
        let product: Vec<f64> = active(&direction)
            .iter()
            .zip(&direction)
            .zip(&own)
            .map(|(((sum, _), d), own)| sum + own * d)
            .collect();
        let curvature = dot(&direction, &product);
        if !(curvature > 0.0) {
            break;
        }
        let step = rho / curvature;
        x.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
        rest.iter_mut().zip(&product).for_each(|(r, p)| *r -= step * p);
        if norm2(&rest).sqrt() <= wanted {
            break;
        }
        z = precondition(&rest);
        let next = dot(&rest, &z);
        let share = next / rho;
        rho = next;
        direction.iter_mut().zip(&z).for_each(|(d, z)| *d = z + share * *d);
    }
    Some(x)
}
