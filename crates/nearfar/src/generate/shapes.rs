//! Shapes in the plane that no straight line divides.

use super::{Generated, check_noise, check_sizes, share, shuffled};
use crate::error::ParamError;
use crate::math::rng::Stream;
use std::f64::consts::{PI, TAU};

/// Points of the plane in random order. `place` gives the point of a class, told how far along its curve it is
/// (from 0 to 1, evenly spaced), before noise.
fn plane(
    sizes: &[usize],
    noise: f64,
    seed: u64,
    mut place: impl FnMut(usize, f64, &mut Stream) -> (f64, f64),
) -> Result<Generated, ParamError> {
    let mut random = Stream::new(seed, 0);
    let truth = shuffled(sizes, &mut random);
    let mut placed = vec![0_usize; sizes.len()];
    Generated::from_rows(truth, vec!["x".into(), "y".into()], |class, row| {
        let along = (placed[class] as f64 + 0.5) / sizes[class] as f64;
        placed[class] += 1;
        let (x, y) = place(class, along, &mut random);
        row[0] = x + noise * random.normal();
        row[1] = y + noise * random.normal();
    })
}

/// Two half circles of radius 1 that reach into each other, with Gaussian noise.
///
/// # Errors
/// When there are fewer than two samples or too many, or the noise is not within 0 to 1e6.
pub fn moons(n_samples: usize, noise: f64, seed: u64) -> Result<Generated, ParamError> {
    check_sizes(n_samples, 2, 2)?;
    check_noise(noise)?;
    plane(&share(n_samples, 2), noise, seed, |class, along, _| {
        let (sin, cos) = (PI * along).sin_cos();
        if class == 0 { (cos, sin) } else { (1.0 - cos, 0.5 - sin) }
    })
}

/// A circle of radius 1 and one of radius `factor` inside it.
///
/// # Errors
/// When there are fewer than two samples or too many, the noise is not within 0 to 1e6, or the factor is not
/// above 0 and below 1.
pub fn circles(n_samples: usize, noise: f64, factor: f64, seed: u64) -> Result<Generated, ParamError> {
    check_sizes(n_samples, 2, 2)?;
    check_noise(noise)?;
    ParamError::unless(factor > 0.0 && factor < 1.0, "factor", factor, "above 0 and below 1")?;
    plane(&share(n_samples, 2), noise, seed, |class, along, _| {
        let (sin, cos) = (TAU * along).sin_cos();
        let radius = if class == 0 { 1.0 } else { factor };
        (radius * cos, radius * sin)
    })
}

/// `arms` spirals of one and a quarter turns that wind around each other; points are evenly dense along an arm.
///
/// # Errors
/// When there are no arms, fewer samples than arms or too many, or the noise is not within 0 to 1e6.
pub(crate) fn spirals(n_samples: usize, arms: usize, noise: f64, seed: u64) -> Result<Generated, ParamError> {
    check_sizes(n_samples, 2, arms)?;
    check_noise(noise)?;
    plane(&share(n_samples, arms), noise, seed, |class, along, _| {
        // The length of an arm grows with the square of its radius.
        let radius = (0.04 + 0.96 * along).sqrt();
        let angle = TAU * (1.25 * radius + class as f64 / arms as f64);
        (radius * angle.cos(), radius * angle.sin())
    })
}

/// A dense blob of a sixth of the samples (class 0) inside two rings of radius 1 (a third) and 2 (the rest).
///
/// # Errors
/// When there are fewer than six samples or too many, or the noise is not within 0 to 1e6.
pub(crate) fn rings(n_samples: usize, noise: f64, seed: u64) -> Result<Generated, ParamError> {
    check_sizes(n_samples, 2, 3)?;
    ParamError::unless(n_samples >= 6, "n_samples", n_samples, "6 or more")?;
    check_noise(noise)?;
    let (blob, inner) = (n_samples / 6, n_samples / 3);
    plane(&[blob, inner, n_samples - blob - inner], noise, seed, |class, along, random| {
        let (sin, cos) = (TAU * along).sin_cos();
        let radius = class as f64;
        if class == 0 {
            (0.15 * random.normal(), 0.15 * random.normal())
        } else {
            (radius * cos, radius * sin)
        }
    })
}
