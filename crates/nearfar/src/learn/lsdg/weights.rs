//! How far to trust each neighbour rank: the (w, p) step of LSDG.
//!
//! Given how well every slice agrees with the present factor, minimise (eq:model_wp)
//! $$ \tfrac{\mu}{2} \sum_k \tfrac{w_k^2 + p_k^2}{m_k} + \sum_k c_k (\beta p_k - w_k) + \eta \sum_k \tfrac{w_k p_k}{m_k} $$
//! over two simplices. With $\eta < \mu$ it is strongly convex, so alternating eq:min_w and eq:min_p, each a
//! projection, goes to its one minimum.
//!
//! Symbols: `w` near weights, `p` far weights, `c` agreement of a rank, `m` ranks that share a weight (1 in exact
//! mode). Departs from the paper: stops as soon as a round changes no bit (the paper always runs 20; the result is
//! the same).

use crate::math::simplex;

/// What the step needs besides c.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WeightStep {
    /// Density: the larger, the more ranks keep some weight.
    pub mu: f64,
    /// Price of overlap between w and p, below μ.
    pub eta: f64,
    /// Weight of the dissimilarity; `None` leaves D out and p as it is.
    pub beta: Option<f64>,
    /// At most this many rounds.
    pub rounds: usize,
}

impl WeightStep {
    /// New (w, p) from agreements `c`, multiplicities `m` and the present `p`.
    pub(crate) fn solve(&self, c: &[f64], m: &[f64], p: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let Self { mu, eta, beta, rounds } = *self;
        debug_assert!(c.iter().all(|c| c.is_finite()), "the factor went bad before this step");
        let Some(beta) = beta else {
            let y: Vec<f64> = c.iter().map(|c| c / mu).collect();
            return (simplex::project(&y, m), p.to_vec());
        };
        let (mut w, mut p) = (Vec::new(), p.to_vec());
        for _ in 0..rounds {
            let y: Vec<f64> = (0..c.len()).map(|k| (c[k] - eta * p[k] / m[k]) / mu).collect();
            let next_w = simplex::project(&y, m); // eq:min_w
            let y: Vec<f64> = (0..c.len()).map(|k| -(beta * c[k] + eta * next_w[k] / m[k]) / mu).collect();
            let next_p = simplex::project(&y, m); // eq:min_p
            let settled = next_w == w && next_p == p;
            (w, p) = (next_w, next_p);
            if settled {
                break;
            }
        }
        (w, p)
    }
}

/// μ at which exactly `neighbors` weights stay above 0 when c is alone:
/// μ = Σ_{k ≤ k*} (c₍ₖ₎ − c₍ₖ*₊₁₎) over c sorted downwards. At least a tiny share of the largest c, so that ties do not
/// end in a division by 0.
pub(crate) fn following_mu(c: &[f64], neighbors: usize) -> f64 {
    let mut sorted = c.to_vec();
    let kept = neighbors.clamp(1, c.len());
    let largest = c.iter().fold(0.0_f64, |a, c| a.max(c.abs()));
    let tiny = (1e-9 * largest).max(1e-300);
    if kept == c.len() {
        let least = c.iter().copied().fold(f64::INFINITY, f64::min);
        return c.iter().map(|c| c - least).sum::<f64>().max(tiny);
    }
    let (_, next, _) = sorted.select_nth_unstable_by(kept, |a, b| b.total_cmp(a));
    let next = *next;
    let mut top = sorted[..kept].to_vec();
    top.sort_unstable_by(|a, b| b.total_cmp(a)); // a fixed order of summation
    top.iter().map(|c| c - next).sum::<f64>().max(tiny)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn objective(s: &WeightStep, c: &[f64], m: &[f64], w: &[f64], p: &[f64]) -> f64 {
        let beta = s.beta.unwrap();
        (0..c.len())
            .map(|k| {
                0.5 * s.mu * (w[k] * w[k] + p[k] * p[k]) / m[k]
                    + c[k] * (beta * p[k] - w[k])
                    + s.eta * w[k] * p[k] / m[k]
            })
            .sum()
    }

    proptest! {
        #[test]
        fn the_objective_never_rises_and_both_sides_sum_to_one(
            cm in prop::collection::vec((0.0..1.0_f64, 1..5_u32), 2..40),
            mu in 0.01..2.0_f64, beta in 0.0..20.0_f64, rounds in 1..20_usize,
        ) {
            let c: Vec<f64> = cm.iter().map(|q| q.0).collect();
            let m: Vec<f64> = cm.iter().map(|q| f64::from(q.1)).collect();
            let total: f64 = m.iter().sum();
            let start: Vec<f64> = m.iter().map(|m| m / total).collect();
            let step = WeightStep { mu, eta: 0.99 * mu, beta: Some(beta), rounds };
            let (w, p) = step.solve(&c, &m, &start);
            prop_assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            prop_assert!(w.iter().chain(&p).all(|x| *x >= 0.0));
            let more = WeightStep { rounds: rounds + 1, ..step };
            let (w2, p2) = more.solve(&c, &m, &start);
            let (before, after) = (objective(&step, &c, &m, &w, &p), objective(&step, &c, &m, &w2, &p2));
            prop_assert!(after <= before + 1e-12 * (1.0 + before.abs()), "{before} {after}");
        }

        #[test]
        fn following_mu_keeps_that_many_ranks(
            c in prop::collection::hash_set(0..10_000_u32, 3..60), neighbors in 1..20_usize,
        ) {
            let c: Vec<f64> = c.into_iter().map(|c| f64::from(c) / 10_000.0).collect();
            prop_assume!(neighbors < c.len());
            let mu = following_mu(&c, neighbors);
            let step = WeightStep { mu, eta: 0.99 * mu, beta: None, rounds: 20 };
            let ones = vec![1.0; c.len()];
            let (w, _) = step.solve(&c, &ones, &ones);
            // The next rank sits exactly on the threshold: rounding may leave it a speck.
            prop_assert_eq!(w.iter().filter(|w| **w > 1e-12).count(), neighbors);
        }
    }
}
