//! The five terms of the objective (eq:model, overlap relaxed as in eq:model_wp), all at one state.
//!
//! Slices are orthonormal, so that ½‖S − VVᵀ‖² = ½ Σ w_k²/m_k − cᵀw + ½‖VᵀV‖² and β⟨D, VVᵀ⟩ = β cᵀp: given c, every
//! term is a sum over ranks.

use crate::math::complement::{Complement, range_basis, remove_span, times};
use crate::math::factor::Factor;
use crate::math::kernel::{dot, norm2};

/// The terms; their sum is the objective.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Objective {
    /// ½‖S − VVᵀ‖².
    pub fit: f64,
    /// β⟨D, VVᵀ⟩.
    pub dissimilarity: f64,
    /// η wᵀp.
    pub overlap: f64,
    /// ½((μ − 1)‖S‖² + μ‖D‖²).
    pub density: f64,
    /// −α Σ R(v_j).
    pub orthogonality: f64,
}

impl Objective {
    /// All terms together.
    pub fn total(&self) -> f64 {
        self.fit + self.dissimilarity + self.overlap + self.density + self.orthogonality
    }
}

/// The weights of the terms.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Coefficients {
    /// Orthogonality.
    pub alpha: f64,
    /// Dissimilarity; `None` without D.
    pub beta: Option<f64>,
    /// Density.
    pub mu: f64,
    /// Overlap.
    pub eta: f64,
}

/// The first four terms from c and VᵀV; orthogonality is left 0.
pub(crate) fn rank_terms(
    q: &Coefficients,
    c: &[f64],
    m: &[f64],
    w: &[f64],
    p: &[f64],
    gram: &[f64],
) -> Objective {
    let over = |a: &[f64], b: &[f64]| a.iter().zip(b).zip(m).map(|((a, b), m)| a * b / m).sum::<f64>();
    let ww = over(w, w);
    let fit = 0.5 * ww - dot(c, w) + 0.5 * norm2(gram);
    let Some(beta) = q.beta else {
        return Objective { fit, density: 0.5 * (q.mu - 1.0) * ww, ..Objective::default() };
    };
    Objective {
        fit,
        dissimilarity: beta * dot(c, p),
        overlap: q.eta * over(w, p),
        density: 0.5 * ((q.mu - 1.0) * ww + q.mu * over(p, p)),
        orthogonality: 0.0,
    }
}

/// Σ_j R(v_j) of one state.
pub(crate) fn orthogonality(factor: &Factor) -> f64 {
    let r = factor.n_columns();
    let gram = factor.gram();
    let complement = Complement::new(&gram, r);
    (0..r)
        .filter(|j| gram[j * r + j] > 0.0)
        .map(|j| {
            let g: Vec<f64> = (0..r).map(|a| if a == j { 0.0 } else { gram[a * r + j] }).collect();
            if let Some(c) = complement.without(j) {
                gram[j * r + j] - dot(&g, &times(&c, &g, r, j))
            } else {
                let mut rest = factor.column(j).to_vec();
                remove_span(&range_basis(factor, j), &mut rest);
                norm2(&rest)
            }
        })
        .sum()
}
