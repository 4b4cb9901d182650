//! Labels as a factor.

use super::*;

#[test]
fn inertia_is_the_misfit_of_the_indicator() {
    let data = crate::generate::blobs(40, 2, 3, 0.8, 6).unwrap();
    let found = KMeansParams::new(3).fit(&data.data, 40, 2, 1).unwrap();
    let v = indicator(&found.labels, 3);
    let mut misfit = 0.0;
    for f in 0..2 {
        let shares: Vec<f64> =
            (0..3).map(|k| (0..40).map(|i| v.get(i, k) * data.data[i * 2 + f]).sum()).collect();
        for i in 0..40 {
            let fitted: f64 = (0..3).map(|k| v.get(i, k) * shares[k]).sum();
            misfit += (data.data[i * 2 + f] - fitted).powi(2);
        }
    }
    assert!((misfit - found.inertia).abs() < 1e-9 * found.inertia, "{misfit} {}", found.inertia);
}

#[test]
fn a_cluster_without_points_is_a_zero_column() {
    let v = indicator(&[0, 2, 0], 3);
    assert_eq!(v.column(1), [0.0; 3]);
    assert!((v.get(0, 0) - 0.5_f64.sqrt()).abs() < 1e-15);
}
