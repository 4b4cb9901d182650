//! Labels as a factor. The steps of k-means themselves are in [`crate::labels::kmeans`].

use crate::math::factor::Factor;

/// V_ik = 1/√(size of k) where point i is in cluster k: orthonormal columns, so that inertia is ‖X − VVᵀX‖². A
/// cluster without points is a column of zeros.
pub(crate) fn indicator(labels: &[usize], r: usize) -> Factor {
    let n = labels.len();
    let mut sizes = vec![0.0_f64; r];
    labels.iter().for_each(|label| sizes[*label] += 1.0);
    let mut values = vec![0.0; n * r];
    for (i, label) in labels.iter().enumerate() {
        values[label * n + i] = 1.0 / sizes[*label].sqrt();
    }
    Factor::new(values, n, r)
}
