//! I − V₋ⱼV₋ⱼ†, what is left of a column outside the span of the others, without a decomposition of V.
//!
//! With G = VᵀV and H = G⁻¹: the inverse of V₋ⱼᵀV₋ⱼ is the Schur complement C = H₋ⱼ₋ⱼ − hhᵀ/H_jj, where
//! h is column j of H without its diagonal. When column j has moved, bordering C with it gives the new H. So a sweep
//! over all columns costs O(r³) instead of r decompositions. Columns that are zero take no part.
//!
//! Where the live columns are nearly dependent (hazard H3) there is no safe inverse; [`Complement::without`] then
//! says `None`, and
//! [`range_basis`] does the job from V itself, with the rank rule of a pseudo-inverse.

use faer::MatRef;

use super::factor::Factor;

/// Smallest pivot of the Gram matrix of unit columns at which its inverse is trusted (sine squared of an angle).
const SAFE_PIVOT: f64 = 1e-10;

/// Keeps the inverse Gram matrix of the live columns while they move one by one.
#[derive(Clone, Debug)]
pub(crate) struct Complement {
    r: usize,
    /// r × r; rows and columns of zero columns of V are 0. `None` when not safe.
    inverse: Option<Vec<f64>>,
}

impl Complement {
    /// From G = VᵀV, r × r.
    pub(crate) fn new(gram: &[f64], r: usize) -> Self {
        Self { r, inverse: invert(gram, r) }
    }

    /// C as an r × r matrix with zero row and column j; `None` when the columns are nearly dependent.
    pub(crate) fn without(&self, j: usize) -> Option<Vec<f64>> {
        let (r, h) = (self.r, self.inverse.as_ref()?);
        let pivot = h[j * r + j];
        let mut c = h.clone();
        if pivot > 0.0 {
            for a in 0..r {
                let factor = h[a * r + j] / pivot;
                for b in 0..r {
                    c[a * r + b] -= factor * h[j * r + b];
                }
            }
        }
        for a in 0..r {
            c[a * r + j] = 0.0;
            c[j * r + a] = 0.0;
        }
        Some(c)
    }

    /// Column j has moved: `c` is what [`without`](Self::without) gave, `gram_j` the new column j of G.
    pub(crate) fn replace(&mut self, j: usize, mut c: Vec<f64>, gram_j: &[f64]) {
        let r = self.r;
        let own = gram_j[j];
        if own == 0.0 {
            self.inverse = Some(c);
            return;
        }
        let mut y = times(&c, gram_j, r, j);
        let rest = own - (0..r).filter(|a| *a != j).map(|a| gram_j[a] * y[a]).sum::<f64>();
        if !(rest > SAFE_PIVOT * own) {
            self.inverse = None;
            return;
        }
        y[j] = -1.0;
        for a in 0..r {
            for b in 0..r {
                c[a * r + b] += y[a] * y[b] / rest;
            }
        }
        self.inverse = Some(c);
    }

    /// From here on there is no safe inverse in this sweep.
    pub(crate) fn forget(&mut self) {
        self.inverse = None;
    }
}

/// C g, entry j of g left out.
pub(crate) fn times(c: &[f64], g: &[f64], r: usize, j: usize) -> Vec<f64> {
    (0..r)
        .map(|a| if a == j { 0.0 } else { (0..r).filter(|b| *b != j).map(|b| c[a * r + b] * g[b]).sum() })
        .collect()
}

/// Inverse of the Gram matrix of the nonzero columns by Cholesky of the unit-column form.
fn invert(gram: &[f64], r: usize) -> Option<Vec<f64>> {
    let live: Vec<usize> = (0..r).filter(|j| gram[j * r + j] > 0.0).collect();
    let k = live.len();
    let length: Vec<f64> = live.iter().map(|j| gram[j * r + j].sqrt()).collect();
    let mut l = vec![0.0; k * k];
    for a in 0..k {
        for b in 0..=a {
            let mut sum = gram[live[a] * r + live[b]] / (length[a] * length[b]);
            for t in 0..b {
                sum -= l[a * k + t] * l[b * k + t];
            }
            if a == b {
                if !(sum > SAFE_PIVOT) {
                    return None;
                }
                l[a * k + a] = sum.sqrt();
            } else {
                l[a * k + b] = sum / l[b * k + b];
            }
        }
    }
    // W = L⁻¹ scaled back to the true lengths; the inverse is WᵀW.
    let mut w = vec![0.0; k * k];
    for column in 0..k {
        for a in column..k {
            let mut sum = if a == column { 1.0 } else { 0.0 };
            for t in column..a {
                sum -= l[a * k + t] * w[t * k + column];
            }
            w[a * k + column] = sum / l[a * k + a];
        }
    }
    let mut inverse = vec![0.0; r * r];
    for a in 0..k {
        for b in 0..=a {
            let sum: f64 = (a..k).map(|t| w[t * k + a] * w[t * k + b]).sum::<f64>() / (length[a] * length[b]);
            inverse[live[a] * r + live[b]] = sum;
            inverse[live[b] * r + live[a]] = sum;
        }
    }
    Some(inverse)
}

/// An orthonormal basis (columns, each of length n) of the span of all columns of V but j.
///
/// Singular values at or below max(n, r − 1) σ_max ε count as 0, as in a pseudo-inverse.
pub(crate) fn range_basis(factor: &Factor, j: usize) -> Vec<Vec<f64>> {
    let (n, r) = (factor.n_samples(), factor.n_columns());
    let others: Vec<f64> = (0..r).filter(|c| *c != j).flat_map(|c| factor.column(c)).copied().collect();
    if others.iter().all(|v| *v == 0.0) {
        return Vec::new();
    }
    let Ok(svd) = MatRef::from_column_major_slice(&others, n, r - 1).thin_svd() else {
        return gram_schmidt(factor, j); // the decomposition did not converge; never seen
    };
    let sigma: Vec<f64> = svd.S().column_vector().iter().copied().collect();
    let least = n.max(r - 1) as f64 * sigma[0] * f64::EPSILON;
    let u = svd.U();
    (0..sigma.len()).filter(|k| sigma[*k] > least).map(|k| u.col(k).iter().copied().collect()).collect()
}

/// The same by orthogonalising twice, dropping what is dependent.
fn gram_schmidt(factor: &Factor, j: usize) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for c in (0..factor.n_columns()).filter(|c| *c != j) {
        let mut x = factor.column(c).to_vec();
        let before = super::kernel::norm2(&x);
        for _ in 0..2 {
            remove_span(&basis, &mut x);
        }
        let after = super::kernel::norm2(&x);
        if after > 1e-24 * before && after > 0.0 {
            let length = after.sqrt();
            x.iter_mut().for_each(|x| *x /= length);
            basis.push(x);
        }
    }
    basis
}

/// x ← x − B Bᵀx for an orthonormal basis B.
pub(crate) fn remove_span(basis: &[Vec<f64>], x: &mut [f64]) {
    let shares: Vec<f64> = basis.iter().map(|b| super::kernel::dot(b, x)).collect();
    for (b, share) in basis.iter().zip(shares) {
        for (x, b) in x.iter_mut().zip(b) {
            *x -= share * b;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::kernel::dot;
    use crate::math::rng::Stream;
    use proptest::prelude::*;

    fn random_factor(n: usize, r: usize, seed: u64) -> Factor {
        let mut s = Stream::new(seed, 0);
        Factor::new((0..n * r).map(|_| if s.uniform() < 0.5 { s.uniform() } else { 0.0 }).collect(), n, r)
    }

    fn complement_norm2(factor: &Factor, j: usize) -> f64 {
        let mut x = factor.column(j).to_vec();
        remove_span(&range_basis(factor, j), &mut x);
        dot(&x, &x)
    }

    proptest! {
        #[test]
        fn gram_form_equals_the_decomposition(seed in 0..1000_u64, r in 1..8_usize, dead in 0..8_usize) {
            let mut factor = random_factor(40, r, seed);
            if dead < r && r > 1 {
                factor.column_mut(dead).fill(0.0);
                factor.index_column(dead);
            }
            let mut complement = Complement::new(&factor.gram(), r);
            let mut stream = Stream::new(seed, 1);
            for j in 0..r {
                let gram = factor.gram();
                let g: Vec<f64> = (0..r).map(|a| gram[a * r + j]).collect();
                let c = complement.without(j).unwrap();
                let y = times(&c, &g, r, j);
                let rest = g[j] - (0..r).filter(|a| *a != j).map(|a| g[a] * y[a]).sum::<f64>();
                prop_assert!((rest - complement_norm2(&factor, j)).abs() < 1e-9, "{rest}");
                factor.column_mut(j).iter_mut().for_each(|v| *v = stream.uniform());
                let moved = factor.gram();
                let g: Vec<f64> = (0..r).map(|a| moved[a * r + j]).collect();
                complement.replace(j, c, &g);
            }
        }
    }

    #[test]
    fn twin_columns_have_no_safe_inverse_but_a_basis() {
        let mut factor = random_factor(30, 4, 5);
        let twin = factor.column(1).to_vec();
        factor.column_mut(2).copy_from_slice(&twin);
        assert!(Complement::new(&factor.gram(), 4).without(0).is_none());
        assert_eq!(range_basis(&factor, 0).len(), 2);
        assert!(complement_norm2(&factor, 1) < 1e-25);
        assert_eq!(gram_schmidt(&factor, 0).len(), 2);
    }
}
