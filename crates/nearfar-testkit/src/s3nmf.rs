//! S³NMF as it is written down, with full matrices for everything.

use nearfar::learn::Factor;

use crate::oracle::{Square, inner, outer};

/// What one round made.
#[derive(Clone, Debug)]
pub struct Round {
    /// V of every member.
    pub factors: Vec<Factor>,
    /// ‖S − VVᵀ‖² of every member.
    pub residuals: Vec<f64>,
    /// The largest entry of every row, of every member.
    pub labels: Vec<Vec<usize>>,
    /// α.
    pub weights: Vec<f64>,
    /// Σ α^τ h.
    pub objective: f64,
    /// The graph of the next round.
    pub next: Square,
}

/// `rounds` rounds of `members` factorisations with `iterations` steps each.
#[must_use]
pub fn s3nmf(
    s: &[f64],
    starts: &dyn Fn(usize, usize) -> Factor,
    (rounds, members, iterations): (usize, usize, usize),
    tau: f64,
    hard: bool,
) -> Vec<Round> {
    let mut s = s.to_vec();
    let mut all = Vec::new();
    for round in 0..rounds {
        let factors: Vec<Factor> =
            (0..members).map(|member| multiplicative(&s, &starts(round, member), iterations)).collect();
        let residuals: Vec<f64> = factors
            .iter()
            .map(|factor| s.iter().zip(outer(factor)).map(|(s, y)| (s - y) * (s - y)).sum::<f64>())
            .map(|h| h.max(1e-12 * inner(&s, &s)))
            .collect();
        let raw: Vec<f64> = residuals.iter().map(|h| (1.0 / h).powf(1.0 / (tau - 1.0))).collect();
        let weights: Vec<f64> = raw.iter().map(|a| a / raw.iter().sum::<f64>()).collect();
        let labels: Vec<Vec<usize>> = factors.iter().map(largest_entries).collect();
        let objective = weights.iter().zip(&residuals).map(|(a, h)| a.powf(tau) * h).sum();
        let mut next = vec![0.0; s.len()];
        for member in 0..members {
            let (vote, weight) = if hard {
                (together(&labels[member]), weights[member])
            } else {
                (outer(&factors[member]), weights[member].powf(tau))
            };
            next.iter_mut().zip(vote).for_each(|(next, vote)| *next += weight * vote);
        }
        let over = if hard {
            next.iter().copied().fold(0.0, f64::max)
        } else {
            weights.iter().map(|a| a.powf(tau)).sum()
        };
        next.iter_mut().for_each(|next| *next /= over);
        s.clone_from(&next);
        all.push(Round { factors, residuals, labels, weights, objective, next });
    }
    all
}

/// 1 where both have the same label.
fn together(labels: &[usize]) -> Square {
    labels.iter().flat_map(|a| labels.iter().map(move |b| f64::from(u8::from(a == b)))).collect()
}

fn largest_entries(factor: &Factor) -> Vec<usize> {
    let r = factor.n_columns();
    (0..factor.n_samples())
        .map(|i| (1..r).fold(0, |best, j| if factor.get(i, j) > factor.get(i, best) { j } else { best }))
        .collect()
}

/// V ← V ⊙ (SV / VVᵀV)^¼ after rescaling by the best scalar.
fn multiplicative(s: &[f64], start: &Factor, iterations: usize) -> Factor {
    let (n, r) = (start.n_samples(), start.n_columns());
    let y = outer(start);
    let scale = (inner(s, &y) / inner(&y, &y)).sqrt();
    let mut factor = Factor::new(start.values().iter().map(|v| scale * v).collect(), n, r);
    for _ in 0..iterations {
        let y = outer(&factor);
        let product =
            |a: &[f64], i: usize, j: usize| (0..n).map(|k| a[i * n + k] * factor.get(k, j)).sum::<f64>();
        let step = |(j, i): (usize, usize)| {
            factor.get(i, j) * (product(s, i, j) / (product(&y, i, j) + 1e-12)).powf(0.25)
        };
        let values = (0..r).flat_map(|j| (0..n).map(move |i| (j, i))).map(step).collect();
        factor = Factor::new(values, n, r);
    }
    factor
}
