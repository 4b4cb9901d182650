//! How far to walk along d: the step length of PHALS.
//!
//! Along $v + \lambda d$ the objective is a quartic in λ; its derivative, halved, is the cubic
//! $$ \|d\|^4 λ^3 + 3 (d^\top v) \|d\|^2 λ^2 + (2 (d^\top v)^2 + \|d\|^2 \|v\|^2 - d^\top E d) λ + (d^\top v)\|v\|^2 - d^\top E v. $$
//! The step is its smallest positive root, at most 1. For a descent direction the value at 0 is negative,
//! so a positive root exists; rounding may hide it, then the answer is `None` and the column stays.
//!
//! Departs from the reference: roots are found by sign changes between the turning points (safeguarded
//! Newton), so a near-double complex pair is never mistaken for a root (hazard H9).

/// The five numbers a step length is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartic {
    /// ‖d‖².
    pub d2: f64,
    /// ‖v‖².
    pub v2: f64,
    /// dᵀv.
    pub dv: f64,
    /// dᵀE d.
    pub d_e_d: f64,
    /// dᵀE v.
    pub d_e_v: f64,
}

impl Quartic {
    /// The smallest positive root of the derivative, capped at 1; `None` when there is none.
    #[must_use]
    pub fn step(&self) -> Option<f64> {
        let Self { d2, v2, dv, d_e_d, d_e_v } = *self;
        smallest_positive_root([d2 * d2, 3.0 * dv * d2, 2.0 * dv * dv + d2 * v2 - d_e_d, dv * v2 - d_e_v])
            .map(|root| root.min(1.0))
    }
}

/// Smallest positive root of a₃x³ + a₂x² + a₁x + a₀ with a₃ ≥ 0, or `None`.
fn smallest_positive_root(coefficients: [f64; 4]) -> Option<f64> {
    let scale = coefficients.iter().fold(0.0_f64, |s, a| s.max(a.abs()));
    if !(scale > 0.0 && scale.is_finite()) {
        return None;
    }
    let [a3, a2, a1, a0] = coefficients.map(|a| a / scale);
    let value = |x: f64| ((a3 * x + a2) * x + a1) * x + a0;
    let slope = |x: f64| (3.0 * a3 * x + 2.0 * a2) * x + a1;
    // Cauchy's bound; infinite when the leading coefficients vanish, then there is no root to the right
    // of the last turning point beyond the widest finite interval.
    let bound = [a2, a1, a0].iter().fold(0.0_f64, |m, a| m.max((a / a3).abs())) + 1.0;
    let bound = if bound.is_finite() { bound } else { f64::MAX.sqrt() };
    let mut ends = vec![0.0];
    ends.extend(turning_points(3.0 * a3, 2.0 * a2, a1).into_iter().filter(|x| *x > 0.0 && *x < bound));
    ends.push(bound);
    for pair in ends.windows(2) {
        let (low, high) = (pair[0], pair[1]);
        let (f_low, f_high) = (value(low), value(high));
        if low > 0.0 && touches(f_low, low, [a3, a2, a1, a0]) {
            return Some(low); // a double root sits on a turning point and need not change sign
        }
        if f_low * f_high < 0.0 {
            return Some(bracketed(value, slope, low, high, f_low));
        }
        if f_high == 0.0 {
            return Some(high);
        }
    }
    None
}

/// Whether |value| at x is below what rounding of its terms can explain.
fn touches(value: f64, x: f64, [a3, a2, a1, a0]: [f64; 4]) -> bool {
    let size = ((a3.abs() * x + a2.abs()) * x + a1.abs()) * x + a0.abs();
    value.abs() <= 4.0 * f64::EPSILON * size
}

/// Real roots of ax² + bx + c in ascending order, without cancellation.
fn turning_points(a: f64, b: f64, c: f64) -> Vec<f64> {
    let discriminant = b * b - 4.0 * a * c;
    if discriminant < 0.0 || !discriminant.is_finite() {
        return Vec::new();
    }
    let q = -0.5 * (b + discriminant.sqrt().copysign(b));
    let mut roots: Vec<f64> = [q / a, c / q].into_iter().filter(|x| x.is_finite()).collect();
    roots.sort_by(f64::total_cmp);
    roots
}

/// The root between `low` and `high`, whose values differ in sign: Newton, with bisection as a guard.
fn bracketed(
    value: impl Fn(f64) -> f64,
    slope: impl Fn(f64) -> f64,
    mut low: f64,
    mut high: f64,
    f_low: f64,
) -> f64 {
    let mut x = if high <= 2.0 { 0.5 * (low + high) } else { (low + 1.0).min(0.5 * (low + high)) };
    for _ in 0..200 {
        let f = value(x);
        if f == 0.0 {
            return x;
        }
        if (f < 0.0) == (f_low < 0.0) {
            low = x;
        } else {
            high = x;
        }
        let newton = x - f / slope(x);
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if next == x || (high - low) <= f64::EPSILON * high {
            return next;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn with_roots(r: [f64; 3], lead: f64) -> [f64; 4] {
        let [a, b, c] = r;
        [lead, -lead * (a + b + c), lead * (a * b + a * c + b * c), -lead * a * b * c]
    }

    proptest! {
        #[test]
        fn finds_the_smallest_positive_of_three(
            mut roots in prop::array::uniform3(-2.0..2.0_f64), lead in 1e-6..1e6_f64
        ) {
            roots.sort_by(f64::total_cmp);
            prop_assume!(roots.windows(2).all(|w| w[1] - w[0] > 1e-3));
            prop_assume!(roots.iter().all(|r| r.abs() > 1e-3));
            let found = smallest_positive_root(with_roots(roots, lead));
            match roots.into_iter().find(|r| *r > 0.0) {
                Some(root) => prop_assert!((found.unwrap() - root).abs() < 1e-9, "{found:?} {root}"),
                None => prop_assert!(found.is_none(), "{found:?}"),
            }
        }
    }

    #[test]
    fn degenerate_cubics_do_not_poison() {
        assert_eq!(smallest_positive_root([0.0; 4]), None);
        assert_eq!(smallest_positive_root([f64::NAN, 1.0, 1.0, 1.0]), None);
        assert_eq!(smallest_positive_root([1.0, 0.0, 0.0, 1.0]), None);
        assert!((smallest_positive_root([0.0, 0.0, 2.0, -1.0]).unwrap() - 0.5).abs() < 1e-15);
        // (x - 0.3)^2 (x - 0.9): the double root counts
        let root = smallest_positive_root(with_roots([0.3, 0.3, 0.9], 1.0)).unwrap();
        assert!((root - 0.3).abs() < 1e-6, "{root}");
        let step = Quartic { d2: 1.0, v2: 0.0, dv: 0.0, d_e_d: 0.0, d_e_v: 27.0 }.step();
        assert_eq!(step, Some(1.0));
    }
}
