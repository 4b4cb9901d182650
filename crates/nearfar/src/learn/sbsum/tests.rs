//! One entry and one row against brute force.

use super::update::{entry, root};
use super::*;
use crate::learn::StopRule;
use crate::math::rng::Stream;
use crate::observe::Silent;
use crate::slices::Graph;
use proptest::prelude::*;

proptest! {
    #[test]
    fn root_is_a_root(p in prop_oneof![Just(0.0), 1e-12..1e6_f64], q in prop_oneof![Just(0.0), 1e-12..1e6_f64]) {
        let y = root(p, q);
        prop_assert!((y * y * y + p * y - q).abs() <= 1e-13 * (q + p * y), "{p} {q} {y}");
    }

    /// The new entry minimises the quartic, or its bound where it is not convex, over x + e ≥ 0.
    #[test]
    fn entry_is_the_minimum(x in 0.0..2.0_f64, c in -20.0..60.0_f64, d in -20.0..20.0_f64) {
        let c_bound = c.max(12.0 * x * x);
        let change = |y: f64, c: f64| {
            let e = y - x;
            e * (d + e * (0.5 * c + e * (4.0 * x + e)))
        };
        let y = entry(x, c, d);
        prop_assert!(y >= 0.0);
        prop_assert!(change(y, c) <= change(y, c_bound) + 1e-9);
        for step in 0..400 {
            let other = f64::from(step) * 0.02;
            prop_assert!(change(y, c_bound) <= change(other, c_bound) + 1e-9, "{y} {other}");
        }
    }
}

#[test]
fn an_entry_step_is_what_the_objective_says() {
    // The quartic against the objective itself, on a graph with a diagonal.
    let dense = [0.9, 0.4, 0.0, 0.4, 0.1, 0.7, 0.0, 0.7, 2.0];
    let graph = SparseGraph::from_edges(3, (0..9).map(|at| (at / 3, at % 3, dense[at]))).unwrap();
    let start = crate::learn::start::random(3, 2, &mut Stream::new(3, 0));
    let fixed = FixedGraph::rescaled(&graph, start);
    let gram = fixed.gram().to_vec();
    for (i, k) in [(0, 0), (1, 1), (2, 0)] {
        let v = &fixed.factor;
        let x = v.get(i, k);
        let norm: f64 = (0..2).map(|l| v.get(i, l).powi(2)).sum();
        let c = 4.0 * (norm - graph.get(i, i) + gram[k * 2 + k] + x * x);
        let gv: f64 = (0..2).map(|l| gram[k * 2 + l] * v.get(i, l)).sum();
        let d = 4.0 * (gv - fixed.product()[k * 3 + i]);
        for e in [-0.1, 0.05, 0.7] {
            let mut values = v.values().to_vec();
            values[k * 3 + i] += e;
            let change = 2.0 * (fixed.at(values).fit() - fixed.fit());
            let quartic = e * (d + e * (0.5 * c + e * (4.0 * x + e)));
            assert!((change - quartic).abs() < 1e-12, "{change} {quartic}");
        }
    }
}

#[test]
fn both_forms_reach_a_product() {
    let x: Vec<f64> = (0..8).map(|i| 0.2 + f64::from(i) / 4.0).collect();
    let graph =
        SparseGraph::from_edges(8, (0..64).map(|at| (at / 8, at % 8, x[at / 8] * x[at % 8]))).unwrap();
    let rule = StopRule { max_iter: 3000, loss_tolerance: -1.0, change_tolerance: -1.0 };
    for block in [SBsumBlock::Scalar, SBsumBlock::Vector] {
        let start = crate::learn::start::random(8, 1, &mut Stream::new(5, 0));
        let mut method = SBsum::new(&graph, start, &SBsumParams { block });
        run(&mut method, &rule, 0, &Silent);
        let off = method.factor().values().iter().zip(&x).map(|(v, x)| (v - x).abs()).fold(0.0, f64::max);
        assert!(off < 1e-6, "{block:?}: {off}");
    }
}
