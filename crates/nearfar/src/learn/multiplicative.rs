//! Multiplicative updates with exponent ¼, for ½‖T − VVᵀ‖² − αR(V) with T = T⁺ − T⁻ and one of three regularisers.
//!
//! With the bounds tr(VᵀVVᵀV) ≤ Σ (V'V'ᵀV')V⁴/V'³ and V_ik V_jk ≥ V'_ik V'_jk (1 + log(V_ik V_jk / V'_ik V'_jk))
//! every entry is multiplied by (positive part of the negative gradient / negative part)^¼, which never raises the
//! objective for `OffDiagonal`; for the other two no proof is known (the paper says so too), and no increase was
//! seen in the tests.
//!
//! The regularisers, all written so that the objective is fit + penalty:
//! * off-diagonal: penalty α Σ_{i≠j} v_iᵀv_j.
//! * log-determinant: −α log det(VᵀV), gradient −2αVQ with Q = (VᵀV)⁻¹.
//! * proposed: −α Σ R(v_j) with R(v_j) = 1/Q_jj, whose gradient is that of log-det with Q replaced by Q Diag(1/Q_jj).

use faer::{MatRef, Side};

use super::lsdg::objective::orthogonality;
use super::table::words;
use crate::math::factor::Factor;
use crate::math::kernel::vectorized;
use crate::spectral::eigen::products::{Rows, combine};

/// Keeps denominators off zero.
const FLOOR: f64 = 1e-12;
/// Eigenvalues of VᵀV below this share of the largest count as zero.
const RANK: f64 = 1e-12;

/// What keeps the columns of V apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Regularizer {
    /// The paper's: how much of each column lies outside the span of the others.
    #[default]
    Proposed,
    /// The inner products of different columns.
    OffDiagonal,
    /// The logarithm of the determinant of VᵀV.
    LogDet,
}

words!(Regularizer {
    "proposed" => Self::Proposed,
    "offdiagonal" => Self::OffDiagonal,
    "logdet" => Self::LogDet,
});

impl Regularizer {
    /// What is added to the fit.
    pub(crate) fn penalty(self, factor: &Factor, alpha: f64) -> f64 {
        if alpha == 0.0 {
            return 0.0;
        }
        match self {
            Self::Proposed => -alpha * orthogonality(factor),
            Self::OffDiagonal => {
                let (gram, r) = (factor.gram(), factor.n_columns());
                alpha * (gram.iter().sum::<f64>() - (0..r).map(|j| gram[j * r + j]).sum::<f64>())
            }
            Self::LogDet => {
                let r = factor.n_columns();
                -alpha * spectrum(&factor.gram(), r).0.iter().map(|value| value.ln()).sum::<f64>()
            }
        }
    }
}

/// Eigenvalues above the cut, and their vectors as columns of r.
fn spectrum(gram: &[f64], r: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    let Ok(eigen) = MatRef::from_row_major_slice(gram, r, r).self_adjoint_eigen(Side::Lower) else {
        return (Vec::new(), Vec::new()); // only where V is not finite, which the loop reports
    };
    let values: Vec<f64> = (0..r).map(|j| eigen.S()[j]).collect();
    let cut = values.iter().copied().fold(0.0, f64::max) * RANK;
    (0..r)
        .filter(|j| values[*j] > cut)
        .map(|j| (values[j], (0..r).map(|i| eigen.U()[(i, j)]).collect::<Vec<f64>>()))
        .unzip()
}

/// The pseudo-inverse of `gram`, r × r.
fn inverse_gram(gram: &[f64], r: usize) -> Vec<f64> {
    let (values, vectors) = spectrum(gram, r);
    let mut inverse = vec![0.0; r * r];
    for (value, vector) in values.iter().zip(&vectors) {
        for i in 0..r {
            for j in 0..r {
                inverse[i * r + j] += vector[i] * vector[j] / value;
            }
        }
    }
    inverse
}

/// V M, column-major, for an r × r matrix M.
pub(crate) fn times_small(factor: &Factor, small: &[f64]) -> Vec<f64> {
    let (n, r) = (factor.n_samples(), factor.n_columns());
    if n * r == 0 {
        return Vec::new();
    }
    combine(factor.values(), MatRef::from_row_major_slice(small, r, r), Rows::new(n, None))
}

/// V ⊙ (up / down)^¼; a negative `up` counts as 0.
pub(crate) fn quarter(values: &[f64], up: &[f64], down: &[f64]) -> Vec<f64> {
    let mut next = values.to_vec();
    vectorized(
        #[inline(always)]
        || {
            for ((v, up), down) in next.iter_mut().zip(up).zip(down) {
                *v *= (up / (down + FLOOR)).max(0.0).sqrt().sqrt();
            }
        },
    );
    next
}

/// The next V, column-major: V ⊙ (up / down)^¼. `gram` is VᵀV, `plus` and `minus` are T⁺V and T⁻V.
pub(crate) fn quarter_step(
    factor: &Factor,
    gram: &[f64],
    plus: &[f64],
    minus: Option<&[f64]>,
    alpha: f64,
    regularizer: Regularizer,
) -> Vec<f64> {
    let (n, r) = (factor.n_samples(), factor.n_columns());
    let mut up = plus.to_vec();
    let mut down = times_small(factor, gram);
    if let Some(minus) = minus {
        down.iter_mut().zip(minus).for_each(|(down, t)| *down += t);
    }
    if alpha > 0.0 && regularizer == Regularizer::OffDiagonal {
        let mut sums = vec![0.0; n];
        for j in 0..r {
            sums.iter_mut().zip(factor.column(j)).for_each(|(sum, v)| *sum += v);
        }
        for (j, down) in down.chunks_exact_mut(n).enumerate() {
            let own = factor.column(j);
            for ((down, sum), v) in down.iter_mut().zip(&sums).zip(own) {
                *down += alpha * (sum - v);
            }
        }
    } else if alpha > 0.0 {
        let mut q = inverse_gram(gram, r);
        if regularizer == Regularizer::Proposed {
            let diagonal: Vec<f64> = (0..r).map(|j| q[j * r + j].max(1e-300)).collect();
            q.iter_mut().enumerate().for_each(|(at, q)| *q /= diagonal[at % r]);
        }
        let part = |sign: f64| q.iter().map(|q| (sign * q).max(0.0)).collect::<Vec<f64>>();
        let (risen, fallen) = (times_small(factor, &part(1.0)), times_small(factor, &part(-1.0)));
        up.iter_mut().zip(&risen).for_each(|(up, q)| *up += alpha * q);
        down.iter_mut().zip(&fallen).for_each(|(down, q)| *down += alpha * q);
    }
    quarter(factor.values(), &up, &down)
}
