//! The definitions, written down as plain loops over full matrices: slow, and easy to check by eye.
//!
//! Nothing here shares code with the library except its public types.

use nearfar::internals::{Coefficients, Objective};
use nearfar::learn::Factor;

/// A full square matrix, row-major.
pub type Square = Vec<f64>;

/// Squared distances of all pairs of n rows.
#[must_use]
pub fn squared_distances(x: &[f64], n: usize) -> Square {
    let m = x.len() / n;
    let mut d2 = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            for f in 0..m {
                let difference = x[i * m + f] - x[j * m + f];
                d2[i * n + j] += difference * difference;
            }
        }
    }
    d2
}

/// Rank of every j as seen from every i: the point itself first, then by distance, equal ones by index.
#[must_use]
pub fn ranks(d2: &[f64], n: usize) -> Vec<usize> {
    let mut rank = vec![0; n * n];
    for i in 0..n {
        let mut order: Vec<usize> = (0..n).filter(|j| *j != i).collect();
        order.sort_by(|a, b| d2[i * n + a].total_cmp(&d2[i * n + b]).then(a.cmp(b)));
        for (k, j) in order.iter().enumerate() {
            rank[i * n + j] = k + 1;
        }
    }
    rank
}

/// The smallest relative difference of two squared distances from one point: how far a row is from a tie.
#[must_use]
pub fn smallest_gap(d2: &[f64], n: usize) -> f64 {
    let mut gap = f64::INFINITY;
    for i in 0..n {
        let mut row: Vec<f64> = (0..n).filter(|j| *j != i).map(|j| d2[i * n + j]).collect();
        row.sort_by(f64::total_cmp);
        for pair in row.windows(2) {
            gap = gap.min((pair[1] - pair[0]) / pair[1].max(f64::MIN_POSITIVE));
        }
    }
    gap
}

/// σ_i: the distance to the 7th neighbour, to the farthest with fewer than eight points; where that is 0 the smallest
/// positive distance, and 1 where there is none.
#[must_use]
pub fn sigma(d2: &[f64], n: usize) -> Vec<f64> {
    (0..n)
        .map(|i| {
            let mut row: Vec<f64> = (0..n).filter(|j| *j != i).map(|j| d2[i * n + j]).collect();
            row.sort_by(f64::total_cmp);
            let seventh = row.get(6).or(row.last()).copied().unwrap_or(0.0);
            if seventh > 0.0 {
                return seventh.sqrt();
            }
            row.iter().find(|d2| **d2 > 0.0).map_or(1.0, |d2| d2.sqrt())
        })
        .collect()
}

/// All slices, with full matrices for everything.
#[derive(Clone, Debug)]
pub struct NaiveSlices {
    /// Number of samples.
    pub n: usize,
    /// Rank of j as seen from i.
    pub rank: Vec<usize>,
    /// A⁽ᵏ⁾_ij of the one slice k in which the pair (i, j) lies.
    pub normalized: Square,
    /// θ_k.
    pub theta: Vec<f64>,
}

impl NaiveSlices {
    /// Of n rows of samples.
    #[must_use]
    pub fn new(x: &[f64], n: usize) -> Self {
        let d2 = squared_distances(x, n);
        let (rank, sigma) = (ranks(&d2, n), sigma(&d2, n));
        let mut normalized = vec![0.0; n * n];
        let mut theta = vec![0.0; n];
        for i in 0..n {
            for j in 0..n {
                let kappa = (-d2[i * n + j] / (sigma[i] * sigma[j])).exp();
                normalized[i * n + j] = kappa;
                theta[rank[i * n + j]] += kappa * kappa;
            }
        }
        for theta in &mut theta {
            *theta = theta.sqrt();
        }
        for (a, k) in normalized.iter_mut().zip(&rank) {
            *a /= theta[*k];
        }
        Self { n, rank, normalized, theta }
    }

    /// A⁽ᵏ⁾ as a full matrix.
    #[must_use]
    pub fn slice(&self, k: usize) -> Square {
        self.normalized.iter().zip(&self.rank).map(|(a, rank)| if *rank == k { *a } else { 0.0 }).collect()
    }

    /// Σ_k weights_k A⁽ᵏ⁾, not symmetric.
    #[must_use]
    pub fn weighted(&self, weights: &[f64]) -> Square {
        let mut sum = vec![0.0; self.n * self.n];
        for (k, weight) in weights.iter().enumerate() {
            for (sum, a) in sum.iter_mut().zip(self.slice(k)) {
                *sum += weight * a;
            }
        }
        sum
    }

    /// T = sym(S(w) − β D(p)).
    #[must_use]
    pub fn graph(&self, w: &[f64], p: &[f64], beta: f64) -> Square {
        let (s, d) = (self.weighted(w), self.weighted(p));
        let difference: Square = s.iter().zip(&d).map(|(s, d)| s - beta * d).collect();
        symmetric(&difference, self.n)
    }

    /// c_k = ⟨A⁽ᵏ⁾, VVᵀ⟩.
    #[must_use]
    pub fn agreement(&self, factor: &Factor) -> Vec<f64> {
        let y = outer(factor);
        (0..self.n).map(|k| inner(&self.slice(k), &y)).collect()
    }

    /// The five terms, each from its full matrices.
    #[must_use]
    pub fn objective(&self, q: &Coefficients, w: &[f64], p: &[f64], factor: &Factor) -> Objective {
        let (s, d, y) = (self.weighted(w), self.weighted(p), outer(factor));
        let rest: Square = s.iter().zip(&y).map(|(s, y)| s - y).collect();
        let mut objective = Objective {
            fit: 0.5 * inner(&rest, &rest),
            density: 0.5 * (q.mu - 1.0) * inner(&s, &s),
            orthogonality: -q.alpha * orthogonality(factor),
            ..Objective::default()
        };
        if let Some(beta) = q.beta {
            objective.dissimilarity = beta * inner(&d, &y);
            objective.overlap = q.eta * inner(w, p);
            objective.density += 0.5 * q.mu * inner(&d, &d);
        }
        objective
    }

    /// Z: sym S, sym D and VVᵀ, each over its largest entry, merged.
    #[must_use]
    pub fn augmented(&self, w: &[f64], p: &[f64], factor: &Factor) -> Square {
        let over_largest = |x: Square| {
            let largest = x.iter().copied().fold(0.0, f64::max);
            x.into_iter().map(|x| if largest > 0.0 { x / largest } else { 0.0 }).collect::<Square>()
        };
        let s = over_largest(symmetric(&self.weighted(w), self.n));
        let d = over_largest(symmetric(&self.weighted(p), self.n));
        let y = over_largest(outer(factor));
        let merged = |s: f64, d: f64, y: f64| {
            if y >= d { 1.0 - (1.0 - s) * (1.0 - (y - d)) } else { s * (1.0 + (y - d)) }
        };
        (0..s.len()).map(|at| merged(s[at], d[at], y[at])).collect()
    }
}

/// ½(X + Xᵀ).
#[must_use]
pub fn symmetric(x: &[f64], n: usize) -> Square {
    (0..n * n).map(|at| 0.5 * (x[at] + x[at % n * n + at / n])).collect()
}

/// VVᵀ.
#[must_use]
pub fn outer(factor: &Factor) -> Square {
    let (n, r) = (factor.n_samples(), factor.n_columns());
    (0..n * n).map(|at| (0..r).map(|c| factor.get(at / n, c) * factor.get(at % n, c)).sum()).collect()
}

/// ⟨X, Y⟩.
#[must_use]
pub fn inner(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Σ_j ‖what is left of v_j outside the span of the other columns‖², the span by Gram and Schmidt, twice over.
#[must_use]
pub fn orthogonality(factor: &Factor) -> f64 {
    let r = factor.n_columns();
    let remove = |basis: &[Vec<f64>], x: &mut Vec<f64>| {
        for _ in 0..2 {
            for b in basis {
                let share = inner(b, x);
                x.iter_mut().zip(b).for_each(|(x, b)| *x -= share * b);
            }
        }
    };
    let mut sum = 0.0;
    for j in 0..r {
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for other in (0..r).filter(|other| *other != j) {
            let mut x = factor.column(other).to_vec();
            let before = inner(&x, &x);
            remove(&basis, &mut x);
            let after = inner(&x, &x);
            if after > 1e-20 * before {
                basis.push(x.iter().map(|x| x / after.sqrt()).collect());
            }
        }
        let mut rest = factor.column(j).to_vec();
        remove(&basis, &mut rest);
        sum += inner(&rest, &rest);
    }
    sum
}

/// Largest absolute difference; infinite when the lengths differ or a value is not a number.
#[must_use]
pub fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let worst = |worst: f64, d: f64| if d <= worst { worst } else { d };
    let largest = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, worst);
    if largest.is_nan() { f64::INFINITY } else { largest }
}
