//! The factorisation against its definition.

use super::super::family::Rows;
use super::*;
use crate::learn::StopRule;
use crate::math::rng::Stream;
use crate::observe::Silent;
use proptest::prelude::*;

fn misfit(x: &[f64], v: &[f64], u: &[f64], r: usize) -> f64 {
    let m = u.len() / r;
    let fitted = |at: usize| (0..r).map(|k| v[at / m * r + k] * u[at % m * r + k]).sum::<f64>();
    x.iter().enumerate().map(|(at, x)| (x - fitted(at)).powi(2)).sum()
}

fn start(n: usize, m: usize, r: usize, s: &mut Stream) -> (Factor, Vec<f64>) {
    (crate::learn::start::random(n, r, s), (0..m * r).map(|_| s.uniform()).collect())
}

proptest! {
    #[test]
    fn the_objective_is_the_misfit_and_falls(n in 1..30_usize, m in 1..8_usize, r in 1..5_usize, seed in any::<u64>()) {
        let mut s = Stream::new(seed, 1);
        let rows = Rows { values: (0..n * m).map(|_| s.normal()).collect(), n, m };
        let (v, u) = start(n, m, r, &mut s);
        let samples = Shifted::new(&rows);
        let shifted = samples.values().to_vec();
        prop_assert!(shifted.iter().all(|x| *x >= 0.0));
        let mut method = Nmf::new(samples, &v, u);
        let (slow_v, slow_u) = nearfar_testkit::fixed::nmf_columns(&shifted, &method.v, &method.u, r, 14);
        let mut last = method.objective();
        for iteration in 1..15 {
            let loss = method.step(iteration, &Silent).unwrap().loss();
            let size: f64 = shifted.iter().map(|x| x * x).sum();
            prop_assert!(loss <= last + 1e-12 * size, "{last} {loss}");
            let literal = misfit(&shifted, &method.v, &method.u, r);
            prop_assert!((loss - literal).abs() <= 1e-11 * size, "{loss} {literal}");
            last = loss;
        }
        let off = misfit(&shifted, &slow_v, &slow_u, r) - last;
        prop_assert!(off.abs() <= 1e-8 * shifted.iter().map(|x| x * x).sum::<f64>(), "{off}");
    }
}

#[test]
fn a_product_is_factored() {
    let mut s = Stream::new(2, 2);
    let (v, u) = start(20, 6, 2, &mut s);
    let values = (0..120).map(|at| (0..2).map(|k| v.get(at / 6, k) * u[at % 6 * 2 + k]).sum()).collect();
    let rows = Rows { values, n: 20, m: 6 };
    let (v, u) = start(20, 6, 2, &mut s);
    let mut method = Nmf::new(Shifted::new(&rows), &v, u);
    let rule = StopRule { max_iter: 5000, loss_tolerance: -1.0, change_tolerance: -1.0 };
    run(&mut method, &rule, 0, &Silent);
    assert!(method.objective() < 1e-6, "{}", method.objective());
    // The lengths of U's columns end up in V.
    let (u, before) = (method.u.clone(), method.v.clone());
    let v = method.into_factor();
    let length = (0..6).map(|j| u[j * 2].powi(2)).sum::<f64>().sqrt();
    assert!((v.get(3, 0) - length * before[6]).abs() < 1e-12);
}

#[test]
fn samples_of_zeros_do_not_poison() {
    let rows = Rows { values: vec![0.0; 12], n: 6, m: 2 };
    let (v, u) = start(6, 2, 2, &mut Stream::new(1, 3));
    let mut method = Nmf::new(Shifted::new(&rows), &v, u);
    let learned = run(&mut method, &StopRule::of_family(), 0, &Silent);
    assert!(learned.trace.iter().all(|row| row.loss().is_finite()));
    assert!(method.into_factor().values().iter().all(|v| v.is_finite()));
}
