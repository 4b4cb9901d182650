//! Single steps of the solvers.

use super::*;
use crate::learn::{StopReason, StopRule};
use crate::math::rng::Stream;
use crate::observe::Silent;

/// A ring of n points, each with weight 1 to its two neighbours.
fn ring(n: usize) -> SparseGraph {
    SparseGraph::from_edges(n, (0..n).flat_map(|i| [(i, (i + 1) % n, 1.0), ((i + 1) % n, i, 1.0)])).unwrap()
}

fn start(n: usize, r: usize, seed: u64) -> Factor {
    crate::learn::start::random(n, r, &mut Stream::new(seed, 0))
}

#[test]
fn gradient_is_the_slope_of_the_objective() {
    let graph = ring(7);
    let fixed = FixedGraph::rescaled(&graph, start(7, 2, 1));
    let g = update::gradient(&fixed);
    for at in 0..14 {
        let moved = |by: f64| {
            let mut values = fixed.factor.values().to_vec();
            values[at] += by;
            2.0 * fixed.at(values).fit()
        };
        let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert!((slope - g[at]).abs() < 1e-6, "{at}: {slope} {}", g[at]);
    }
}

#[test]
fn factors_what_is_a_product() {
    // S = xxᵀ: rank one, so every solver must reach it.
    let x: Vec<f64> = (0..9).map(|i| 0.3 + f64::from(i) / 5.0).collect();
    let graph =
        SparseGraph::from_edges(9, (0..81).map(|at| (at / 9, at % 9, x[at / 9] * x[at % 9]))).unwrap();
    let rule = StopRule { max_iter: 5000, loss_tolerance: -1.0, change_tolerance: -1.0 };
    for solver in [SymNmfSolver::Multiplicative, SymNmfSolver::Gradient, SymNmfSolver::Newton] {
        let mut method = SymNmf::new(&graph, start(9, 1, 2), &SymNmfParams { solver });
        let learned = run(&mut method, &rule, 0, &Silent);
        assert_eq!(learned.reason, StopReason::Stationary, "{solver:?}");
        let off = method.factor().values().iter().zip(&x).map(|(v, x)| (v - x).abs()).fold(0.0, f64::max);
        assert!(off < 1e-3, "{solver:?}: {off}");
    }
}

#[test]
fn memory_of_newton_is_bounded() {
    let newton = SymNmfParams { solver: SymNmfSolver::Newton };
    assert_eq!(newton.working_bytes(100, 3), 3 * 100 * 100 * 8);
    assert_eq!(newton.working_bytes(1_000_000, 3), 3 * 2048 * 2048 * 8);
    assert_eq!(SymNmfParams::default().working_bytes(1_000_000, 3), 0);
}

#[test]
fn large_free_sets_go_by_the_gradient() {
    let n = newton::MOST_FREE + 10;
    let graph = ring(n);
    let mut method = SymNmf::new(&graph, start(n, 2, 3), &SymNmfParams { solver: SymNmfSolver::Newton });
    let before = method.objective();
    let row = method.step(1, &Silent).unwrap();
    assert!(row.loss() < before && row.loss().is_finite(), "{before} {}", row.loss());
}
