//! Plans narrow before they refuse, and keep their promise per pair.

use super::*;

fn job(n: usize) -> Job {
    Job { n_samples: n, n_features: 64, n_clusters: 10, starts: 12, threads: 2, ranks: None }
}

#[test]
fn narrows_before_it_refuses() {
    let wide = Plan::new(&job(10_000), Precision::Auto, 1 << 40).unwrap();
    assert_eq!((wide.precision, wide.side_by_side), (Precision::Double, 2));
    let alone = Plan::new(&job(10_000), Precision::Auto, wide.bytes - 1).unwrap();
    assert_eq!((alone.precision, alone.side_by_side), (Precision::Double, 1));
    let narrow = Plan::new(&job(10_000), Precision::Auto, alone.bytes - 1).unwrap();
    assert_eq!(narrow.precision, Precision::Single);
    let error = Plan::new(&job(10_000), Precision::Auto, 100 << 20).unwrap_err().to_string();
    assert!(error.contains("samples fit"), "{error}");
    let error = Plan::new(&job(10_000), Precision::Double, alone.bytes - 1).unwrap_err().to_string();
    assert!(error.contains("`precision` single"), "{error}");
}

#[test]
fn exact_mode_keeps_its_promise_per_pair() {
    let n = 20_000_u64;
    let bytes = |precision| {
        Plan::new(&Job { starts: 1, threads: 1, ..job(n as usize) }, precision, 1 << 40).unwrap().bytes
    };
    assert!(bytes(Precision::Double) <= 24 * n * n);
    assert!(bytes(Precision::Single) <= 14 * n * n);
}

#[test]
fn bytes_for_people() {
    assert_eq!(human_bytes(10), "10 B");
    assert_eq!(human_bytes(3 << 29), "1.5 GiB");
}
