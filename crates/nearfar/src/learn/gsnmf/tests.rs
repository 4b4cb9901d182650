//! What λ does.

use super::*;
use crate::learn::StopRule;
use crate::math::rng::Stream;
use crate::observe::Silent;

fn path(n: usize) -> SparseGraph {
    SparseGraph::from_edges(n, (1..n).flat_map(|i| [(i - 1, i, 1.0), (i, i - 1, 1.0)])).unwrap()
}

fn learnt(graph: &SparseGraph, params: &GsNmfParams, iterations: usize) -> (Factor, f64, f64) {
    let start = crate::learn::start::random(12, 2, &mut Stream::new(1, 0));
    let rule = StopRule { max_iter: iterations, loss_tolerance: -1.0, change_tolerance: -1.0 };
    let mut method = GsNmf::new(graph, start, params);
    run(&mut method, &rule, 0, &Silent);
    let (objective, roughness) = (method.objective(), method.roughness());
    (method.into_factor(), objective, roughness)
}

#[test]
fn without_the_laplacian_it_is_symmetric_nmf() {
    let graph = path(12);
    let (ours, ..) = learnt(&graph, &GsNmfParams { lambda: 0.0, ..GsNmfParams::default() }, 20);
    let start = crate::learn::start::random(12, 2, &mut Stream::new(1, 0));
    let mut plain =
        crate::learn::symnmf::SymNmf::new(&graph, start, &crate::learn::symnmf::SymNmfParams::default());
    let rule = StopRule { max_iter: 20, loss_tolerance: -1.0, change_tolerance: -1.0 };
    run(&mut plain, &rule, 0, &Silent);
    let off =
        ours.values().iter().zip(plain.factor().values()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-12, "{off}");
}

#[test]
fn the_laplacian_smooths() {
    let graph = path(12);
    let rough = |lambda: f64| {
        let (factor, _, roughness) = learnt(&graph, &GsNmfParams { lambda, ..GsNmfParams::default() }, 300);
        roughness / lambda / factor.norm2()
    };
    assert!(rough(3.0) < 0.8 * rough(0.03), "{} {}", rough(3.0), rough(0.03));
}

#[test]
fn the_two_solvers_minimise_one_objective() {
    let graph = path(12);
    let by = |solver| learnt(&graph, &GsNmfParams { lambda: 0.3, solver, penalty: 3.0 }, 4000).1;
    let (products, copies) = (by(GsNmfSolver::Multiplicative), by(GsNmfSolver::Admm));
    assert!((products - copies).abs() < 0.05 * products, "{products} {copies}");
}
