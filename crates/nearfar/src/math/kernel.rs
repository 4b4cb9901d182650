//! Inner loops over long slices, compiled for the vector units the machine has.
//!
//! Plain safe loops with a fixed number of partial sums: the order of additions, and so the bits of the
//! result, are the same with and without wide registers. No fused multiply-add, for the same reason.

use std::fmt::Debug;
use std::ops::{Add, Mul};

/// A storage type of the large matrices; all sums over more than a tile's width are f64.
pub trait Entry:
    Copy + Default + Send + Sync + PartialOrd + Add<Output = Self> + Mul<Output = Self> + Debug + 'static
{
    /// Bytes of one value.
    const BYTES: u64;
    /// Widen.
    fn wide(self) -> f64;
    /// Narrow, rounding to nearest.
    fn narrow(value: f64) -> Self;
    /// Sum of products, accumulated in storage precision over at most a tile's width.
    fn short_dot(a: &[Self], b: &[Self]) -> f64;
}

impl Entry for f64 {
    const BYTES: u64 = 8;
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn narrow(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn short_dot(a: &[f64], b: &[f64]) -> f64 {
        dot_lanes(a, b)
    }
}

impl Entry for f32 {
    const BYTES: u64 = 4;
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn narrow(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn short_dot(a: &[f32], b: &[f32]) -> f64 {
        const LANES: usize = 32;
        let mut sums = [0.0_f32; LANES];
        let (a_full, a_rest) = a.as_chunks::<LANES>();
        let (b_full, b_rest) = b.as_chunks::<LANES>();
        for (a, b) in a_full.iter().zip(b_full) {
            for l in 0..LANES {
                sums[l] += a[l] * b[l];
            }
        }
        let mut total: f64 = sums.iter().map(|s| f64::from(*s)).sum();
        for (a, b) in a_rest.iter().zip(b_rest) {
            total += f64::from(*a) * f64::from(*b);
        }
        total
    }
}

/// Run `f` compiled for the widest vectors of this machine.
#[inline(always)]
pub(crate) fn vectorized<R>(f: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(f)
}

#[inline(always)]
pub(crate) fn dot_lanes(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 16;
    let mut sums = [0.0; LANES];
    let (a_full, a_rest) = a.as_chunks::<LANES>();
    let (b_full, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_full.iter().zip(b_full) {
        for l in 0..LANES {
            sums[l] += a[l] * b[l];
        }
    }
    let mut total = 0.0;
    for (a, b) in a_rest.iter().zip(b_rest) {
        total += a * b;
    }
    for width in [8, 4, 2, 1] {
        for l in 0..width {
            sums[l] += sums[l + width];
        }
    }
    total + sums[0]
}

/// aᵀb of short slices, such as rows of V: four sums, so that no addition waits for the one before it.
#[inline(always)]
pub(crate) fn short_dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_full, a_rest) = a.as_chunks::<4>();
    let (b_full, b_rest) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (a, b) in a_full.iter().zip(b_full) {
        for l in 0..4 {
            sums[l] += a[l] * b[l];
        }
    }
    let mut rest = 0.0;
    for (a, b) in a_rest.iter().zip(b_rest) {
        rest += a * b;
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// Σ values_t x[places_t], four sums as well.
#[inline(always)]
pub(crate) fn gathered_dot(values: &[f64], places: &[u32], x: &[f64]) -> f64 {
    let (v_full, v_rest) = values.as_chunks::<4>();
    let (p_full, p_rest) = places.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (v, p) in v_full.iter().zip(p_full) {
        for l in 0..4 {
            sums[l] += v[l] * x[p[l] as usize];
        }
    }
    let mut rest = 0.0;
    for (v, p) in v_rest.iter().zip(p_rest) {
        rest += v * x[*p as usize];
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// aᵀb.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    vectorized(
        #[inline(always)]
        || dot_lanes(a, b),
    )
}

/// ‖a‖².
pub(crate) fn norm2(a: &[f64]) -> f64 {
    dot(a, a)
}

/// Rows of so many numbers, added up in their order.
pub(crate) fn added_up(rows: &[f64], width: usize) -> Vec<f64> {
    let mut sum = vec![0.0; width];
    for row in rows.chunks_exact(width.max(1)) {
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    sum
}

/// Scale to length 1; `false` where every value is 0.
pub(crate) fn normalize(row: &mut [f64]) -> bool {
    // Divided by the largest first, so that no square overflows or vanishes.
    let largest = row.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    if largest == 0.0 {
        return false;
    }
    row.iter_mut().for_each(|x| *x /= largest);
    let length = norm2(row).sqrt();
    row.iter_mut().for_each(|x| *x /= length);
    true
}

/// ‖a‖² of single precision values, in double precision.
pub(crate) fn norm2_of_singles(a: &[f32]) -> f64 {
    const LANES: usize = 8;
    vectorized(
        #[inline(always)]
        || {
            let mut sums = [0.0; LANES];
            let (full, rest) = a.as_chunks::<LANES>();
            for a in full {
                for l in 0..LANES {
                    sums[l] += f64::from(a[l]) * f64::from(a[l]);
                }
            }
            let rest: f64 = rest.iter().map(|a| f64::from(*a) * f64::from(*a)).sum();
            sums.iter().sum::<f64>() + rest
        },
    )
}

/// y += s x.
#[inline(always)]
pub(crate) fn add_scaled<E: Entry>(y: &mut [f64], s: f64, x: &[E]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += s * x.wide();
    }
}

/// ‖a − b‖².
#[inline(always)]
pub(crate) fn distance2_lanes(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a_full, a_rest) = a.as_chunks::<LANES>();
    let (b_full, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_full.iter().zip(b_full) {
        for l in 0..LANES {
            let d = a[l] - b[l];
            sums[l] += d * d;
        }
    }
    let mut total = 0.0;
    for (a, b) in a_rest.iter().zip(b_rest) {
        total += (a - b) * (a - b);
    }
    total + folded(sums)
}

/// ‖a − b‖² of single precision values, in double precision; the same sums in the same order as [`distance2_lanes`].
#[inline(always)]
pub(crate) fn distance2_of_singles(a: &[f32], b: &[f32]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a_full, a_rest) = a.as_chunks::<LANES>();
    let (b_full, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_full.iter().zip(b_full) {
        for l in 0..LANES {
            let d = f64::from(a[l]) - f64::from(b[l]);
            sums[l] += d * d;
        }
    }
    let mut total = 0.0;
    for (a, b) in a_rest.iter().zip(b_rest) {
        let d = f64::from(*a) - f64::from(*b);
        total += d * d;
    }
    total + folded(sums)
}

/// The sum of eight, halves first.
#[inline(always)]
fn folded(sums: [f64; 8]) -> f64 {
    // If the compiler could look through the folding it would take half a register for every pair above.
    let mut sums = std::hint::black_box(sums);
    for width in [4, 2, 1] {
        for l in 0..width {
            sums[l] += sums[l + width];
        }
    }
    sums[0]
}
