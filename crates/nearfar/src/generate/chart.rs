//! Control charts after Alcock and Manolopoulos, Time-series similarity queries (1999), as in the "synthetic control"
//! data: y(t) = 30 + 2u + pattern, with u uniform on (−3, 3) and one of six patterns.
//!
//! | class | pattern |
//! |---|---|
//! | 0 normal | none |
//! | 1 cyclic | a sin(2πt/T), a and T from [10, 15] |
//! | 2, 3 increasing, decreasing | ± g t, g from [0.2, 0.5] |
//! | 4, 5 upward, downward shift | ± x from step t₃ on, t₃ in the middle third, x from [7.5, 20] |

use super::{Generated, check_noise, check_sizes, in_order, numbered};
use crate::error::ParamError;
use crate::math::rng::Stream;
use std::f64::consts::TAU;

/// Control charts, `per_class` of each of the six classes in order, `steps` time steps each. The original has
/// 100 of each, 60 steps and a `noise` of 2 (the factor of u).
///
/// # Errors
/// When a size is 0 or too large, or the noise is not within 0 to 1e6.
pub fn chart(per_class: usize, steps: usize, noise: f64, seed: u64) -> Result<Generated, ParamError> {
    check_sizes(per_class.saturating_mul(6), steps, 6)?;
    charts(&[per_class; 6], steps, noise, seed)
}

/// Charts with a number of each class; the sizes were checked.
pub(super) fn charts(sizes: &[usize], steps: usize, noise: f64, seed: u64) -> Result<Generated, ParamError> {
    check_noise(noise)?;
    let mut random = Stream::new(seed, 0);
    Generated::from_rows(in_order(sizes), numbered("t", steps), |class, row| {
        let mut within = |low: f64, high: f64| low + (high - low) * random.uniform();
        // All five are always drawn, so that a chart does not depend on the classes before it.
        let (amplitude, period) = (within(10.0, 15.0), within(10.0, 15.0));
        let (gradient, size) = (within(0.2, 0.5), within(7.5, 20.0));
        let shift_at = within(steps as f64 / 3.0, 2.0 * steps as f64 / 3.0);
        for (step, value) in row.iter_mut().enumerate() {
            let t = (step + 1) as f64;
            let shift = if t >= shift_at { size } else { 0.0 };
            let pattern = match class {
                1 => amplitude * (TAU * t / period).sin(),
                2 => gradient * t,
                3 => -gradient * t,
                4 => shift,
                5 => -shift,
                _ => 0.0,
            };
            *value = 30.0 + noise * within(-3.0, 3.0) + pattern;
        }
    })
}
