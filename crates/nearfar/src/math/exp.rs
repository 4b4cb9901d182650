//! The exponential of many numbers at once.
//!
//! The library's `exp` takes one number per call; this one is plain arithmetic that the compiler runs on whole vectors.
//! x = k ln 2 + f with |f| ≤ ½ ln 2, then e^x = 2^k e^f, e^f by its series to f¹³/13! (what follows is below
//! 4e-18). Within two units of the last place, and the same bits on every machine.

/// Smallest argument told apart; e to this power is the last one that is a normal number.
const LEAST: f64 = -708.0;

/// Adding it rounds to a whole number, which then stands in the low bits.
const SHIFT: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²

/// ln 2 in two parts; the first has zeros at its end, so that k times it is exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// 1/13!, 1/12!, …, 1/2!, 1, 1.
const SERIES: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// e^x for x ≤ 0; everything below −708, and NaN, counts as −708.
#[inline(always)]
pub(crate) fn exp_negative(x: f64) -> f64 {
    let x = if x > LEAST { x } else { LEAST };
    let shifted = x * std::f64::consts::LOG2_E + SHIFT;
    let k = shifted - SHIFT;
    let f = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let mut sum = SERIES[0];
    for c in &SERIES[1..] {
        sum = sum * f + c;
    }
    sum * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_library() {
        assert_eq!(exp_negative(0.0), 1.0);
        assert_eq!(exp_negative(-0.0), 1.0);
        for step in 0..200_000 {
            let x = -708.0 * (f64::from(step) / 200_000.0).powi(3);
            let (ours, truth) = (exp_negative(x), x.exp());
            assert!((ours - truth).abs() <= 2.0 * f64::EPSILON * truth, "{x}: {ours} is not {truth}");
        }
    }

    #[test]
    fn far_below_zero_is_tiny() {
        for x in [-708.0, -1e3, -1e300, f64::MIN, f64::NEG_INFINITY, f64::NAN] {
            let y = exp_negative(x);
            assert!(y > 0.0 && y < 1e-300, "{x}: {y}");
        }
    }
}
