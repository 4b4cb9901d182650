//! Where V starts: uniform random numbers, or the labels of a spectral clustering.

use crate::math::factor::Factor;
use crate::math::rng::Stream;

/// Uniform on [0, 1).
pub(crate) fn random(n: usize, r: usize, stream: &mut Stream) -> Factor {
    Factor::new((0..n * r).map(|_| stream.uniform()).collect(), n, r)
}

/// The indicator of a labelling over the root of each cluster's size, plus a little noise everywhere, so that no entry
/// is stuck at 0.
pub(crate) fn from_labels(labels: &[usize], r: usize, noise: f64, stream: &mut Stream) -> Factor {
    let n = labels.len();
    let mut sizes = vec![0.0_f64; r];
    for label in labels {
        sizes[*label] += 1.0;
    }
    let typical = 1.0 / (n as f64 / r as f64).sqrt();
    let mut values = vec![0.0; n * r];
    for value in &mut values {
        *value = noise * typical * stream.uniform();
    }
    for (i, label) in labels.iter().enumerate() {
        values[label * n + i] += 1.0 / sizes[*label].sqrt();
    }
    Factor::new(values, n, r)
}
