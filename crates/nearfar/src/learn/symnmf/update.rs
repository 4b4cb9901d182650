//! The steps of min ‖S − VVᵀ‖² over V ≥ 0, gradient 4(VVᵀV − SV).
//!
//! Multiplicative: with the bounds tr(VᵀVVᵀV) ≤ Σ (V'V'ᵀV')V⁴/V'³ and V_ik V_jk ≥ V'_ik V'_jk (1 + log(V_ik V_jk /
//! V'_ik V'_jk)), both tight at V', the separable bound of the objective has its minimum where (V/V')⁴ =
//! SV'/(V'V'ᵀV'). So no step raises it.
//!
//! Gradient and Newton share one search: V⁺ = max(V − tP, 0) with t falling by tens until f(V⁺) − f(V) ≤ ⟨g, V⁺ −
//! V⟩/10.

use super::super::multiplicative::{quarter, times_small};
use super::super::phals::FixedGraph;
use crate::graph::SparseGraph;
use crate::math::kernel::{dot_lanes, vectorized};
use crate::observe::Observer;

/// Share of the predicted decrease that must be had.
const ARMIJO: f64 = 0.1;
/// A failed step is shortened to this share.
const SHORTEN: f64 = 0.1;
/// Steps below this are given up; V then stays.
const SHORTEST: f64 = 1e-20;
/// No first trial is longer.
const LONGEST: f64 = 1e6;

/// V ⊙ (SV / VVᵀV)^¼.
pub(super) fn multiplicative(fixed: &FixedGraph<'_, SparseGraph>) -> Vec<f64> {
    let down = times_small(&fixed.factor, fixed.gram());
    quarter(fixed.factor.values(), fixed.product(), &down)
}

/// 4(VVᵀV − SV), column-major.
pub(super) fn gradient(fixed: &FixedGraph<'_, SparseGraph>) -> Vec<f64> {
    let mut g = times_small(&fixed.factor, fixed.gram());
    g.iter_mut().zip(fixed.product()).for_each(|(g, t)| *g = 4.0 * (*g - t));
    g
}

/// A step along the gradient; the first trial is ten times the step accepted last. Returns the relative change of V.
pub(super) fn gradient_step(
    fixed: &mut FixedGraph<'_, SparseGraph>,
    length: &mut f64,
    observer: &dyn Observer,
) -> Option<f64> {
    let g = gradient(fixed);
    let first = (*length / SHORTEN).min(LONGEST);
    let (accepted, change) = search(fixed, &g, &g, first, observer)?;
    if let Some(accepted) = accepted {
        *length = accepted;
    }
    Some(change)
}

/// Move along −P by the first t that decreases enough. Returns it (`None`: V stays) and the relative change of V;
/// nothing when the observer asked to stop.
pub(super) fn search(
    fixed: &mut FixedGraph<'_, SparseGraph>,
    g: &[f64],
    p: &[f64],
    first: f64,
    observer: &dyn Observer,
) -> Option<(Option<f64>, f64)> {
    let before = fixed.fit();
    let mut t = first;
    while t >= SHORTEST {
        if observer.cancelled() {
            return None;
        }
        let values: Vec<f64> =
            fixed.factor.values().iter().zip(p).map(|(v, p)| (v - t * p).max(0.0)).collect();
        let predicted = along(g, &values, fixed.factor.values());
        let next = fixed.at(values);
        // f is twice the fit.
        if 2.0 * (next.fit() - before) <= ARMIJO * predicted {
            let change = next.factor.relative_change(&fixed.factor);
            *fixed = next;
            return Some((Some(t), change));
        }
        t *= SHORTEN;
    }
    Some((None, 0.0))
}

/// ⟨g, after − before⟩.
fn along(g: &[f64], after: &[f64], before: &[f64]) -> f64 {
    let moved: Vec<f64> = after.iter().zip(before).map(|(a, b)| a - b).collect();
    vectorized(
        #[inline(always)]
        || dot_lanes(g, &moved),
    )
}
