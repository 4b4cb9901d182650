//! The methods that factor one fixed graph, and the plain ones: agreement with NumPy forms and slow oracles,
//! decrease, known answers, degenerate data.
//!
//! One file, although long: the methods share the graph and the starts above their tests.

use std::path::Path;

use nearfar::internals::{Anls, GsNmf, SBsum, Stream, SymNmf};
use nearfar::labels::score::adjusted_rand;
use nearfar::learn::{
    AnlsParams, AnlsSolver, Factor, GraphKind, GsNmfParams, GsNmfSolver, Learned, Method, MethodKind,
    MethodParams, SBsumBlock, SBsumParams, SparseGraph, StopReason, StopRule, SymNmfParams, SymNmfSolver,
    TraceRow, run,
};
use nearfar::observe::{CancelFlag, Silent};
use nearfar::{Error, Model, Params, Samples, fit};
use nearfar_testkit::fixed;
use nearfar_testkit::golden::Golden;
use nearfar_testkit::hard::cases;
use nearfar_testkit::oracle::largest_difference;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

const ITERATIONS: usize = 12;

/// Every method of this file with every solver.
fn methods() -> Vec<MethodParams> {
    let mut all: Vec<MethodParams> = graph_methods();
    all.extend([MethodKind::KMeans, MethodKind::Spectral, MethodKind::Nmf].map(MethodParams::from));
    all
}

fn graph_methods() -> Vec<MethodParams> {
    let mut all: Vec<MethodParams> = Vec::new();
    for solver in [SymNmfSolver::Multiplicative, SymNmfSolver::Gradient, SymNmfSolver::Newton] {
        all.push(SymNmfParams { solver }.into());
    }
    for solver in [AnlsSolver::Pivoting, AnlsSolver::Columns] {
        all.push(AnlsParams { solver, ..AnlsParams::default() }.into());
    }
    for block in [SBsumBlock::Scalar, SBsumBlock::Vector] {
        all.push(SBsumParams { block }.into());
    }
    for solver in [GsNmfSolver::Multiplicative, GsNmfSolver::Admm] {
        all.push(GsNmfParams { solver, ..GsNmfParams::default() }.into());
    }
    all
}

/// The learner of a method on a graph.
fn learner<'a>(method: &MethodParams, graph: &'a SparseGraph, start: Factor) -> Box<dyn Method + 'a> {
    match method {
        MethodParams::SymNmf(params) => Box::new(SymNmf::new(graph, start, params)),
        MethodParams::Anls(params) => Box::new(Anls::new(graph, start, params)),
        MethodParams::SBsum(params) => Box::new(SBsum::new(graph, start, params)),
        MethodParams::GsNmf(params) => Box::new(GsNmf::new(graph, start, params)),
        other => unreachable!("{other:?} has no learner of a graph"),
    }
}

/// This many iterations, whatever the loss does.
fn exactly(max_iter: usize) -> StopRule {
    StopRule { max_iter, loss_tolerance: -1.0, change_tolerance: -1.0 }
}

fn factor(rows: &[f64], r: usize) -> Factor {
    let n = rows.len() / r;
    Factor::new((0..n * r).map(|at| rows[at % n * r + at / n]).collect(), n, r)
}

fn rows(factor: &Factor) -> Vec<f64> {
    let (n, r) = (factor.n_samples(), factor.n_columns());
    (0..n * r).map(|at| factor.get(at / r, at % r)).collect()
}

fn sparse(s: &[f64], n: usize) -> SparseGraph {
    SparseGraph::from_edges(n, (0..n * n).map(|at| (at / n, at % n, s[at]))).unwrap()
}

fn losses(learned: &Learned) -> Vec<f64> {
    learned.trace.iter().map(TraceRow::loss).collect()
}

fn golden() -> Golden {
    Golden::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/family.npz"))
}

/// Run from the stored start and compare factor and losses.
fn check(golden: &Golden, name: &str, graph: &str, method: impl Into<MethodParams>) {
    let (start, s) = (golden.array("V0"), golden.array(graph));
    let n = start.len() / 3;
    let graph = sparse(&s, n);
    let mut learner = learner(&method.into(), &graph, factor(&start, 3));
    let learned = run(&mut *learner, &exactly(ITERATIONS), 0, &Silent);
    assert_eq!(learned.iterations, ITERATIONS, "{name}: {}", learned.reason);
    let off = [
        largest_difference(&rows(learner.factor()), &golden.array(&format!("{name}_V"))),
        largest_difference(&losses(&learned), &golden.array(&format!("{name}_loss"))),
    ];
    println!("{name}: {off:?}");
    assert!(off.iter().all(|off| *off <= 1e-8), "{name}: off by {off:?}");
}

#[test]
fn agrees_with_numpy() {
    let golden = golden();
    let symnmf = |solver| SymNmfParams { solver };
    check(&golden, "symnmf_mu", "S_ncut", symnmf(SymNmfSolver::Multiplicative));
    check(&golden, "symnmf_gradient", "S_ncut", symnmf(SymNmfSolver::Gradient));
    check(&golden, "symnmf_newton", "S_ncut", symnmf(SymNmfSolver::Newton));
    let anls = |solver| AnlsParams { lambda: 0.5, solver };
    check(&golden, "anls_pivoting", "S_ncut", anls(AnlsSolver::Pivoting));
    check(&golden, "anls_columns", "S_ncut", anls(AnlsSolver::Columns));
    check(&golden, "sbsum", "S_ncut", SBsumParams::default());
    check(&golden, "sbsum_lsdg", "S_lsdg", SBsumParams::default());
    check(&golden, "gsnmf", "S_ncut", GsNmfParams { lambda: 1.0, ..GsNmfParams::default() });
}

/// A random symmetric graph: sparse, with isolated points and sometimes a diagonal.
fn random_graph(n: usize, density: f64, diagonal: f64, s: &mut Stream) -> Vec<f64> {
    let mut dense = vec![0.0; n * n];
    for i in 0..n {
        dense[i * n + i] = diagonal * s.uniform();
        for j in 0..i {
            if s.uniform() < density {
                let value = s.uniform();
                dense[i * n + j] = value;
                dense[j * n + i] = value;
            }
        }
    }
    dense
}

fn random_rows(n: usize, r: usize, s: &mut Stream) -> Vec<f64> {
    (0..n * r).map(|_| s.uniform()).collect()
}

#[test]
fn agrees_with_the_oracles_where_numpy_has_no_form() {
    for seed in 0..20 {
        let mut s = Stream::new(seed, 3);
        let (n, r) = (3 + s.below(25), 1 + s.below(5));
        let dense = random_graph(n, 0.4, f64::from(seed % 2 == 0), &mut s);
        let start = random_rows(n, r, &mut s);
        let graph = sparse(&dense, n);
        if graph.n_entries() == 0 {
            continue;
        }
        let after = |method: MethodParams, iterations| {
            let mut learner = learner(&method, &graph, factor(&start, r));
            run(&mut *learner, &exactly(iterations), 0, &Silent);
            rows(learner.factor())
        };
        // A row stops early once it stands still, which changes it by a millionth at most.
        let vector = after(SBsumParams { block: SBsumBlock::Vector }.into(), 3);
        let slow = fixed::sbsum_rows(&dense, &start, r, 3, 5);
        assert!(largest_difference(&vector, &slow) < 1e-4, "rows, seed {seed}");

        let params = GsNmfParams { lambda: 0.5, solver: GsNmfSolver::Admm, penalty: 2.0 };
        let slow = fixed::gsnmf_two_copies(&dense, &start, r, 5, 0.5, 2.0);
        assert!(largest_difference(&after(params.into(), 5), &slow) < 1e-8, "two copies, seed {seed}");
    }
}

/// The method's own objective, from its definition.
fn objective(method: &MethodParams, dense: &[f64], v: &Factor, before: f64) -> f64 {
    let (n, r) = (v.n_samples(), v.n_columns());
    let v = rows(v);
    let half = 0.5 * fixed::misfit(dense, &v, &v, r);
    match method {
        MethodParams::GsNmf(params) => {
            let lv = fixed::times(&fixed::laplacian(dense, n), &v, n);
            half + 0.5 * params.lambda * nearfar_testkit::oracle::inner(&v, &lv)
        }
        MethodParams::Anls(_) => before, // hangs on U too
        _ => half,
    }
}

fn config(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    let failure_persistence = Some(Box::new(FileFailurePersistence::WithSource("regressions")) as _);
    ProptestConfig { cases: asked.unwrap_or(cases), failure_persistence, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn no_objective_rises(
        n in 5..41_usize, r in 1..6_usize, density in 0.0..0.6_f64, diagonal in prop_oneof![Just(0.0), 0.0..3.0_f64],
        lambda in prop_oneof![Just(0.0), 1e-3..30.0_f64], seed in any::<u64>(),
    ) {
        let mut s = Stream::new(seed, 4);
        let dense = random_graph(n, density, diagonal, &mut s);
        let start = random_rows(n, r, &mut s);
        let graph = sparse(&dense, n);
        let size = 0.5 * nearfar_testkit::oracle::inner(&dense, &dense) + 1e-300;
        for method in graph_methods() {
            let method = match method {
                MethodParams::Anls(params) => AnlsParams { lambda, ..params }.into(),
                MethodParams::GsNmf(GsNmfParams { solver: GsNmfSolver::Admm, .. }) => continue,
                MethodParams::GsNmf(params) => GsNmfParams { lambda, ..params }.into(),
                other => other,
            };
            let mut learner = learner(&method, &graph, factor(&start, r));
            let learned = run(&mut *learner, &exactly(25), 0, &Silent);
            let losses = losses(&learned);
            for pair in losses.windows(2) {
                prop_assert!(
                    pair[1] <= pair[0] + 1e-11 * size.max(pair[0]),
                    "{method:?}: {} then {} of {size}", pair[0], pair[1]
                );
            }
            let v = learner.factor();
            prop_assert!(v.values().iter().all(|v| *v >= 0.0 && v.is_finite()), "{method:?}");
            let last = *losses.last().unwrap();
            let literal = objective(&method, &dense, v, last);
            prop_assert!((literal - last).abs() <= 1e-10 * (size + literal), "{method:?}: {last} {literal}");
        }
    }
}

/// Three full blocks, each of one weight; the points of a block are not neighbours in order.
fn blocks() -> (SparseGraph, Vec<usize>) {
    let truth: Vec<usize> = (0..30).map(|i| [0, 1, 2, 0, 1][i % 5]).collect();
    let edges = (0..900).map(|at| (at / 30, at % 30)).filter(|(i, j)| truth[*i] == truth[*j]);
    let graph = SparseGraph::from_edges(30, edges.map(|(i, j)| (i, j, 1.0 + truth[i] as f64 / 2.0)));
    (graph.unwrap(), truth)
}

fn argmax(v: &Factor) -> Vec<usize> {
    let at = |i| (0..v.n_columns()).max_by(|a, b| v.get(i, *a).total_cmp(&v.get(i, *b)));
    (0..v.n_samples()).map(|i| at(i).unwrap()).collect()
}

#[test]
fn finds_the_blocks_of_a_block_graph() {
    let (graph, truth) = blocks();
    for method in graph_methods() {
        // A random start may end in a local minimum; of five the best must be right.
        let best = (0..5)
            .map(|seed| {
                let start = random_rows(30, 3, &mut Stream::new(seed, 5));
                let mut learner = learner(&method, &graph, factor(&start, 3));
                let learned = run(&mut *learner, &StopRule::of_family(), 0, &Silent);
                (learned.trace.last().unwrap().loss(), argmax(learner.factor()), learned)
            })
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap();
        assert_eq!(adjusted_rand(&best.1, &truth).unwrap(), 1.0, "{method:?}: {:?}", best.2.reason);
    }
}

#[test]
fn newton_ends_where_the_gradient_vanishes() {
    let golden = golden();
    let graph = sparse(&golden.array("S_ncut"), 150);
    let params = SymNmfParams { solver: SymNmfSolver::Newton };
    let mut newton = SymNmf::new(&graph, factor(&golden.array("V0"), 3), &params);
    let learned = run(&mut newton, &exactly(2000), 0, &Silent);
    assert_eq!(learned.reason, StopReason::Stationary, "{}", learned.iterations);
    assert!(learned.iterations < 300, "{}", learned.iterations);
    let params = SymNmfParams { solver: SymNmfSolver::Gradient };
    let mut gradient = SymNmf::new(&graph, factor(&golden.array("V0"), 3), &params);
    run(&mut gradient, &exactly(1000), 0, &Silent);
    // Two solvers of one problem from one start: not the same minimum for sure, but no worse by a hundredth.
    assert!(newton.objective() <= 1.01 * gradient.objective());
}

#[test]
fn copies_come_together_and_say_so() {
    let golden = golden();
    let graph = sparse(&golden.array("S_ncut"), 150);
    for solver in [AnlsSolver::Pivoting, AnlsSolver::Columns] {
        let apart = |lambda| {
            let mut anls = Anls::new(&graph, factor(&golden.array("V0"), 3), &AnlsParams { lambda, solver });
            run(&mut anls, &exactly(300), 0, &Silent);
            anls.asymmetry()
        };
        assert!(apart(2.0) < 1e-3, "{solver:?}: {}", apart(2.0));
    }
}

fn fitted(data: &[f64], n: usize, m: usize, r: usize, method: MethodParams) -> Result<Model, Error> {
    fit(Samples::from_rows(data, n, m).unwrap(), &Params::of(r, method).seed(3))
}

fn check_model(model: &Model, n: usize, r: usize, what: &str) {
    assert_eq!(model.labels.len(), n, "{what}");
    assert!(model.labels.iter().all(|label| *label < r), "{what}");
    assert!(model.membership.iter().all(|share| share.is_finite()), "{what}");
    for member in &model.members {
        assert!(member.factor.values().iter().all(|v| v.is_finite() && *v >= 0.0), "{what}");
        assert!(member.objective.total().is_finite(), "{what}");
        let finite = member.started.trace.iter().all(|row| row.loss().is_finite());
        assert!(finite, "{what}: {:?}", member.started.trace);
    }
}

#[test]
fn hard_data_gives_results() {
    for case in cases() {
        for method in methods() {
            for kind in GraphKind::WORDS {
                let what = format!("{}, {method:?}, {kind}", case.name);
                let mut params = Params::of(case.n_clusters, method.clone()).seed(1);
                params.set_if_used("graph_kind", *kind).unwrap();
                let samples = Samples::from_rows(&case.data, case.n_samples, case.n_features).unwrap();
                let model = fit(samples, &params).unwrap_or_else(|e| panic!("{what}: {e}"));
                check_model(&model, case.n_samples, case.n_clusters, &what);
            }
        }
    }
}

#[test]
fn tiny_and_equal_data_give_results() {
    let line: Vec<f64> = (0..12).map(f64::from).collect();
    let equal = [2.5; 12];
    let far: Vec<f64> = (0..12).map(|i| 10_f64.powi(i)).collect();
    for method in methods() {
        for (what, data) in [("line", line.as_slice()), ("equal", &equal), ("far", &far)] {
            for n in [1, 2, 3, 12] {
                for r in [1, 2, 3, 11, 12].into_iter().filter(|r| *r <= n) {
                    let what = format!("{method:?}: {what}, {n} points, {r} clusters");
                    let model =
                        fitted(&data[..n], n, 1, r, method.clone()).unwrap_or_else(|e| panic!("{what}: {e}"));
                    check_model(&model, n, r, &what);
                }
            }
        }
        assert!(fitted(&line, 12, 1, 13, method.clone()).is_err());
    }
}

#[test]
fn a_graph_without_edges_gives_no_clusters() {
    let graph = SparseGraph::from_edges(6, []).unwrap();
    for method in graph_methods() {
        let start = random_rows(6, 2, &mut Stream::new(1, 6));
        let mut learner = learner(&method, &graph, factor(&start, 2));
        let learned = run(&mut *learner, &StopRule::of_family(), 0, &Silent);
        assert!(learner.factor().values().iter().all(|v| v.is_finite()), "{method:?}");
        assert!(learned.trace.iter().all(|row| row.loss().is_finite()), "{method:?}");
    }
}

#[test]
fn a_dead_column_does_no_harm() {
    let (graph, _) = blocks();
    for method in graph_methods() {
        let mut start = random_rows(30, 4, &mut Stream::new(2, 7));
        start.iter_mut().skip(1).step_by(4).for_each(|v| *v = 0.0);
        let mut learner = learner(&method, &graph, factor(&start, 4));
        let learned = run(&mut *learner, &StopRule::of_family(), 0, &Silent);
        assert!(learner.factor().values().iter().all(|v| v.is_finite() && *v >= 0.0), "{method:?}");
        assert!(learned.trace.last().unwrap().loss() < 0.6 * learned.trace[0].loss(), "{method:?}");
    }
}

#[test]
fn known_groups_are_found() {
    let data = nearfar::generate::blobs(120, 2, 3, 0.2, 4).unwrap();
    for method in methods() {
        let mut params = Params::of(3, method.clone()).starts(5).seed(2);
        params.set_if_used("tol", 1e-7).unwrap(); // products alone stop short of it by the default
        params.set_if_used("max_iter", 5000_usize).unwrap();
        let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap();
        let model = fit(samples, &params).unwrap();
        let agreement = adjusted_rand(&model.labels, &data.truth).unwrap();
        assert!(agreement > 0.95, "{method:?}: {agreement}");
    }
}

#[test]
fn bits_do_not_depend_on_threads() {
    let data = nearfar::generate::blobs(1500, 3, 4, 0.6, 9).unwrap();
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap();
    for method in methods() {
        let mut params = Params::of(4, method.clone()).starts(2).seed(5);
        params.set_if_used("max_iter", 8_usize).unwrap();
        let one = fit(samples, &params.clone().threads(1)).unwrap();
        let three = fit(samples, &params.threads(3)).unwrap();
        assert_eq!(one.labels, three.labels, "{method:?}");
        for (a, b) in one.members.iter().zip(&three.members) {
            assert_eq!(a.factor, b.factor, "{method:?}");
            assert_eq!(a.started.trace, b.started.trace, "{method:?}");
        }
    }
}

#[test]
fn a_wish_to_stop_is_heard() {
    let flag = CancelFlag::default();
    flag.cancel();
    let (graph, _) = blocks();
    for method in graph_methods() {
        let start = random_rows(30, 3, &mut Stream::new(1, 8));
        let mut learner = learner(&method, &graph, factor(&start, 3));
        let before = learner.factor().clone();
        if matches!(
            method,
            MethodParams::SymNmf(SymNmfParams { solver: SymNmfSolver::Multiplicative })
                | MethodParams::GsNmf(GsNmfParams { solver: GsNmfSolver::Multiplicative, .. })
        ) {
            continue; // one step of these is one product; the loop asks between them
        }
        assert!(learner.step(1, &flag).is_none(), "{method:?}");
        assert_eq!(learner.factor(), &before, "{method:?}");
    }
}

#[test]
fn settings_out_of_range_are_named() {
    let bad = |method: MethodParams| Params::of(2, method).check().unwrap_err().name;
    for lambda in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(bad(AnlsParams { lambda, ..AnlsParams::default() }.into()), "lambda");
        assert_eq!(bad(GsNmfParams { lambda, ..GsNmfParams::default() }.into()), "lambda");
    }
    for penalty in [0.0, -1.0, f64::NAN] {
        assert_eq!(bad(GsNmfParams { penalty, ..GsNmfParams::default() }.into()), "penalty");
    }
}

#[test]
fn divergence_is_an_error_that_says_what_to_do() {
    let data = nearfar::generate::blobs(90, 2, 3, 0.4, 1).unwrap();
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap();
    for (lambda, penalty) in [(1.0, 0.1), (10.0, 1.0), (1e6, 1e-3)] {
        let params = GsNmfParams { lambda, solver: GsNmfSolver::Admm, penalty };
        let error = fit(samples, &Params::of(3, params)).unwrap_err();
        assert!(matches!(error, Error::Diverged { .. }) && error.to_string().contains("penalty"), "{error}");
    }
    for (lambda, penalty) in [(1.0, 1.0), (3.0, 1.0), (10.0, 10.0)] {
        let params = GsNmfParams { lambda, solver: GsNmfSolver::Admm, penalty };
        let model = fit(samples, &Params::of(3, params)).unwrap();
        check_model(&model, 90, 3, "enough of a penalty");
    }
}
