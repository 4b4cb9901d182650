//! The nearest point of a simplex: the only constraint that w and p have.
//!
//! Minimise $\sum_b (x_b - m_b y_b)^2 / m_b$ over $x \ge 0$, $\sum_b x_b = 1$. With every $m_b = 1$ it is the
//! Euclidean projection of y (eq:min_w); other $m_b$ are the number of ranks that share one weight.
//! The minimum is $x_b = m_b \max(y_b - \tau, 0)$; Michelot's rounds find τ by dropping what falls below it.
//!
//! Departs from the reference: the kept entries are summed, never the dropped ones subtracted, so a
//! large |y| costs no digits (hazard H13).

/// Project: returns x. An empty `y` gives an empty x; `m` has the length of `y` and is positive.
///
/// ```
/// let x = nearfar::internals::project(&[0.9, 0.4, -3.0], &[1.0; 3]);
/// assert_eq!(x, [0.75, 0.25, 0.0]);
/// ```
#[must_use]
pub fn project(y: &[f64], m: &[f64]) -> Vec<f64> {
    debug_assert_eq!(y.len(), m.len());
    let Some(top) = y.iter().copied().reduce(f64::max) else { return Vec::new() };
    // Shift by the largest entry: the same projection, and differences of near values are exact.
    let mut kept: Vec<(f64, f64)> = Vec::with_capacity(y.len());
    // Nothing below top - 1 / m(top) can stay: the top entry alone would already use up the whole sum.
    let width =
        y.iter().zip(m).filter(|(y, _)| **y == top).map(|(_, m)| 1.0 / m).fold(f64::INFINITY, f64::min);
    kept.extend(y.iter().zip(m).map(|(y, m)| (y - top, *m)).filter(|(y, _)| *y >= -width));
    let mut tau;
    loop {
        let (sum, mass) = kept.iter().fold((0.0, 0.0), |(s, w), (y, m)| (s + m * y, w + m));
        tau = (sum - 1.0) / mass;
        let before = kept.len();
        kept.retain(|(y, _)| *y > tau);
        if kept.len() == before {
            break;
        }
    }
    y.iter().zip(m).map(|(y, m)| m * ((y - top) - tau).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn kkt_conditions_hold(
            ym in prop::collection::vec((-3.0..3.0_f64, 1..50_u32), 1..60),
            scale in prop::sample::select(vec![1e-9, 1.0, 1e6]),
        ) {
            let y: Vec<f64> = ym.iter().map(|q| q.0 * scale).collect();
            let m: Vec<f64> = ym.iter().map(|q| f64::from(q.1)).collect();
            let x = project(&y, &m);
            let largest = y.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            let tol = 1e-13 * (1.0 + y.len() as f64 * 50.0 * largest);
            prop_assert!(x.iter().all(|x| *x >= 0.0));
            prop_assert!((x.iter().sum::<f64>() - 1.0).abs() <= tol);
            // One multiplier for all kept entries; the dropped ones lie at or below it.
            let taus: Vec<f64> = (0..y.len()).filter(|&b| x[b] > 0.0).map(|b| y[b] - x[b] / m[b]).collect();
            let tau = taus[0];
            prop_assert!(taus.iter().all(|t| (t - tau).abs() <= tol));
            prop_assert!((0..y.len()).filter(|&b| x[b] == 0.0).all(|b| y[b] <= tau + tol));
        }
    }

    #[test]
    fn ties_and_feasible_points_stay() {
        assert_eq!(project(&[0.5; 4], &[1.0; 4]), [0.25; 4]);
        assert_eq!(project(&[0.25, 0.75], &[1.0; 2]), [0.25, 0.75]);
        assert_eq!(project(&[7.0], &[3.0]), [1.0]);
        assert!(project(&[], &[]).is_empty());
    }
}
