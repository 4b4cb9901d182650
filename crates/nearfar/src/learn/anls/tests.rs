//! Least squares against the best of all passive sets.

use super::update::{pass, pivot, revive};
use crate::math::rng::Stream;
use proptest::prelude::*;

/// ½xᵀGx − bᵀx.
fn value(g: &[f64], b: &[f64], x: &[f64]) -> f64 {
    let r = b.len();
    (0..r).map(|k| x[k] * (0.5 * (0..r).map(|l| g[k * r + l] * x[l]).sum::<f64>() - b[k])).sum()
}

/// The minimum over x ≥ 0 by very many coordinate passes.
fn slow(g: &[f64], b: &[f64]) -> f64 {
    let mut x = vec![0.0; b.len()];
    (0..20_000).for_each(|_| pass(g, b, &mut x, b.len()));
    value(g, b, &x)
}

/// G = AᵀA + λI of a random nonnegative A.
fn matrix(r: usize, rank: usize, lambda: f64, s: &mut Stream) -> Vec<f64> {
    let a: Vec<f64> = (0..rank * r).map(|_| s.uniform()).collect();
    let entry = |k: usize, l: usize| (0..rank).map(|i| a[i * r + k] * a[i * r + l]).sum::<f64>();
    (0..r * r).map(|at| entry(at / r, at % r) + if at / r == at % r { lambda } else { 0.0 }).collect()
}

proptest! {
    #[test]
    fn pivoting_finds_the_minimum(r in 1..9_usize, n in 1..6_usize, lambda in 1e-3..2.0_f64, seed in any::<u64>()) {
        let mut s = Stream::new(seed, 1);
        let g = matrix(r, r + 3, lambda, &mut s);
        let b: Vec<f64> = (0..n * r).map(|_| s.normal()).collect();
        let mut x: Vec<f64> = (0..n * r).map(|_| s.normal().max(0.0)).collect();
        pivot(&g, &b, &mut x, r);
        for (x, b) in x.chunks_exact(r).zip(b.chunks_exact(r)) {
            for k in 0..r {
                let slope = (0..r).map(|l| g[k * r + l] * x[l]).sum::<f64>() - b[k];
                prop_assert!(x[k] >= 0.0 && slope >= -1e-9 && (x[k] * slope).abs() <= 1e-9, "{k}: {} {slope}", x[k]);
            }
            prop_assert!(value(&g, b, x) <= slow(&g, b) + 1e-9);
        }
    }

    #[test]
    fn pivoting_never_does_harm_where_columns_depend(r in 2..7_usize, rank in 1..4_usize, seed in any::<u64>()) {
        let mut s = Stream::new(seed, 2);
        let g = matrix(r, rank, 0.0, &mut s);
        // b in the range of G, as in the method.
        let z: Vec<f64> = (0..r).map(|_| s.normal()).collect();
        let b: Vec<f64> = (0..r).map(|k| (0..r).map(|l| g[k * r + l] * z[l]).sum()).collect();
        let before: Vec<f64> = (0..r).map(|_| s.uniform()).collect();
        let mut x = before.clone();
        pivot(&g, &b, &mut x, r);
        prop_assert!(x.iter().all(|x| x.is_finite() && *x >= 0.0), "{x:?}");
        prop_assert!(value(&g, &b, &x) <= value(&g, &b, &before) + 1e-9, "{x:?}");
    }
}

#[test]
fn more_than_64_columns_are_no_trouble() {
    let r = 130;
    let mut s = Stream::new(4, 3);
    let g = matrix(r, r + 10, 0.5, &mut s);
    let b: Vec<f64> = (0..3 * r).map(|_| s.normal()).collect();
    let mut x = vec![1.0; 3 * r];
    pivot(&g, &b, &mut x, r);
    for (x, b) in x.chunks_exact(r).zip(b.chunks_exact(r)) {
        for k in 0..r {
            let slope = (0..r).map(|l| g[k * r + l] * x[l]).sum::<f64>() - b[k];
            assert!(x[k] >= 0.0 && slope >= -1e-9 && (x[k] * slope).abs() <= 1e-9);
        }
    }
}

#[test]
fn dead_columns_revive_but_not_in_an_empty_factor() {
    let mut x = [0.0, 2.0, 0.0, 4.0];
    revive(&mut x, 2);
    assert_eq!(x, [4e-16, 2.0, 4e-16, 4.0]);
    let mut empty = [0.0; 4];
    revive(&mut empty, 2);
    assert_eq!(empty, [0.0; 4]);
}
