//! What every method of the family must do: find easy clusters, survive degenerate data, repeat its bits at any
//! number of threads, plan its memory, stop when asked, and record a trace.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use nearfar::internals::{
    AoSymNmf, ByProducts, FullSlices, Graph, Lsdg, Neighborhoods, Operator, Phals, Slices, rank,
    start_weights,
};
use nearfar::labels::score::accuracy;
use nearfar::learn::{
    AoSymNmfParams, FactorSolver, GraphKind, GraphParams, Learned, LsdgParams, Method, MethodKind,
    MethodParams, Needs, Regularizer, Reseed, SparseGraph, StopRule, TraceRow, run,
};
use nearfar::observe::{Event, Observer, Silent};
use nearfar::{DataError, Error, Input, Params, Run, Samples, fit};
use nearfar_testkit::golden::Golden;
use nearfar_testkit::{hard, oracle};

/// All methods on a fixed graph or on samples, with their default settings.
fn others() -> impl Iterator<Item = MethodKind> {
    MethodKind::ALL.into_iter().filter(|kind| kind.needs() != Needs::Slices)
}

fn quick(r: usize, kind: MethodKind) -> Params {
    let mut params = Params::of(r, kind);
    params.set_if_used("max_iter", 200_usize).unwrap();
    if let MethodParams::S3Nmf(own) = &mut params.method {
        (own.members, own.rounds) = (6, 2);
    }
    params
}

/// The same with so many starts, where the method has starts.
fn with_starts(r: usize, kind: MethodKind, starts: usize) -> Params {
    let mut params = quick(r, kind);
    params.set_if_used("starts", starts).unwrap();
    params
}

#[test]
fn separate_blobs_are_found() {
    // Each cluster is large in a feature of its own, so that factorisations of the samples can tell them apart too.
    let truth: Vec<usize> = (0..90).map(|i| i % 3).collect();
    let mut stream = nearfar::internals::Stream::new(4, 0);
    let data: Vec<f64> = truth
        .iter()
        .flat_map(|class| (0..3).map(move |feature| if feature == *class { 9.0 } else { 1.0 }))
        .map(|centre| centre + stream.uniform())
        .collect();
    let samples = Samples::from_rows(&data, truth.len(), 3).unwrap();
    for kind in others() {
        let model = fit(samples, &with_starts(3, kind, 4)).unwrap();
        let acc = accuracy(&model.labels, &truth).unwrap();
        assert!(acc > 0.95, "{kind}: {acc}");
        assert_eq!(model.membership.len(), truth.len() * 3);
        for row in model.membership.chunks_exact(3) {
            assert!(
                (row.iter().sum::<f64>() - 1.0).abs() < 1e-9 && row.iter().all(|x| *x >= 0.0),
                "{kind}: {row:?}"
            );
        }
        let best = model.best_member().unwrap();
        assert!(best.objective.total().is_finite(), "{kind}");
        assert!(best.factor.values().iter().all(|v| v.is_finite()), "{kind}");
    }
}

#[test]
fn hard_data_ends_in_an_answer_or_an_error() {
    let mut failures = Vec::new();
    for case in hard::cases() {
        let (n, m) = (case.n_samples, case.data.len() / case.n_samples.max(1));
        let Ok(samples) = Samples::from_rows(&case.data, n, m) else { continue };
        for kind in others() {
            let outcome = catch_unwind(AssertUnwindSafe(|| fit(samples, &quick(case.n_clusters, kind))));
            match outcome {
                Err(_) => failures.push(format!("{}: {kind} panicked", case.name)),
                Ok(Ok(model)) => {
                    let sound = model.labels.len() == n
                        && model.labels.iter().all(|l| *l < case.n_clusters)
                        && model.membership.iter().all(|x| x.is_finite());
                    if !sound {
                        failures.push(format!("{}: {kind} gave unsound labels", case.name));
                    }
                }
                Ok(Err(error)) => println!("{}: {kind}: {error}", case.name),
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn same_bits_at_any_number_of_threads() {
    let data = nearfar::internals::varied(240, 5, 3, 1.0, 5).unwrap();
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap();
    for kind in others() {
        let params = with_starts(3, kind, 2).seed(9);
        let one = fit(samples, &params.clone().threads(1)).unwrap();
        for threads in [2, 3, 8] {
            let many = fit(samples, &params.clone().threads(threads)).unwrap();
            assert_eq!(one.labels, many.labels, "{kind} at {threads} threads");
            for (a, b) in one.members.iter().zip(&many.members) {
                assert_eq!(a.factor, b.factor, "{kind} at {threads} threads");
            }
        }
    }
}

/// Asks to stop after some questions.
struct Impatient(AtomicUsize);

impl Observer for Impatient {
    fn cancelled(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) > 3
    }
}

/// Counts iterations.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Observer for Counting {
    fn notice(&self, event: &Event<'_>) {
        if let Event::Iteration { .. } = event {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn every_method_stops_when_asked_and_tells_its_iterations() {
    let data = nearfar::internals::varied(300, 5, 3, 1.0, 5).unwrap();
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap();
    // The default has rounds, not a loop, and tests of its own (default.rs).
    for kind in others().filter(|kind| *kind != MethodKind::NearFar) {
        let mut params = quick(3, kind);
        params.set_if_used("max_iter", 50_usize).unwrap();
        params.set_if_used("tol", -1.0).unwrap();
        let counting = Counting::default();
        let model = Run::new(&params).observe(&counting).fit(samples).unwrap();
        let run = model.best_member().unwrap().last_loop();
        // k-means and spectral clustering have no loop of ours.
        if !matches!(kind, MethodKind::KMeans | MethodKind::Spectral) {
            assert!(run.iterations > 0 && !run.trace.is_empty(), "{kind}");
            assert!(counting.0.load(Ordering::Relaxed) >= run.iterations, "{kind}");
            assert!(run.trace.iter().all(|row| row.loss().is_finite()), "{kind}");
            let stopped = Run::new(&params).observe(&Impatient(AtomicUsize::new(0))).fit(samples);
            assert!(matches!(stopped, Err(Error::Cancelled { .. })), "{kind}: {stopped:?}");
        }
    }
}

#[test]
fn memory_is_planned() {
    for kind in others() {
        let params = Params { memory: Some(20 << 20), ..Params::of(10, kind) };
        let refused = nearfar::plan(200_000, 512, &params);
        assert!(matches!(refused, Err(Error::Memory { .. })), "{kind}");
        // A graph of ten thousand points needs no n × n matrix.
        if kind.needs() == Needs::Graph {
            let plan = nearfar::plan(10_000, 64, &Params::of(10, kind)).unwrap();
            assert!(plan.bytes < 8 * 10_000_u64.pow(2) / 4, "{kind}: {}", plan.bytes);
        }
    }
}

#[test]
fn methods_of_the_samples_refuse_pairs() {
    let distances = [0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0];
    let input = Input::Distances(Samples::from_rows(&distances, 3, 3).unwrap());
    for kind in others().filter(|kind| matches!(kind.needs(), Needs::Samples | Needs::Both)) {
        let refused = Run::new(&Params::of(2, kind)).fit(input).unwrap_err();
        assert!(matches!(refused, Error::Data(DataError::NeedsSamples { .. })), "{kind}: {refused}");
        assert!(refused.to_string().contains(kind.name()));
    }
    for kind in others().filter(|kind| kind.needs() == Needs::Graph) {
        let model = Run::new(&Params::of(2, kind)).fit(input).unwrap();
        assert_eq!(model.labels.len(), 3, "{kind}");
    }
}

#[test]
fn every_method_is_explained() {
    for kind in MethodKind::ALL {
        let about = kind.entry().page();
        for part in [
            "# Objective",
            "# Update",
            "# Parameters",
            "# Labels",
            "# Cost",
            "# When to use it",
            "# Reference",
        ] {
            assert!(about.contains(part), "{kind} lacks {part}");
        }
        assert!(kind.line().ends_with('.'), "{kind}");
        assert_eq!(kind.default_params().kind(), kind);
        assert!(Params::of(2, kind).check().is_ok(), "{kind}");
    }
}

#[test]
fn wrong_strengths_are_refused_by_name() {
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let wrong = AoSymNmfParams { alpha: bad, ..AoSymNmfParams::default() };
        let error = Params::of(2, wrong).check().unwrap_err();
        assert_eq!(error.name, "alpha");
    }
    let columns = AoSymNmfParams { regularizer: Regularizer::LogDet, ..AoSymNmfParams::default() };
    assert_eq!(Params::of(2, columns).check().unwrap_err().name, "regularizer");
    let graph = GraphParams { neighbors: Some(0), ..GraphParams::default() };
    let error = Params { graph, ..Params::of(2, MethodKind::Phals) }.check().unwrap_err();
    assert_eq!(error.name, "graph_neighbors");
}

// ---- graphs, AOSymNMF and LSDG by products against the NumPy forms ----

fn golden() -> Golden {
    Golden::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/family.npz"))
}

fn near(what: &str, ours: &[f64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let worst = oracle::largest_difference(ours, theirs);
    assert!(worst <= 1e-8, "{what}: off by {worst:e}");
}

#[test]
fn graphs_agree_with_the_oracle() {
    let golden = golden();
    let x = golden.array("X");
    let input = Input::from(Samples::from_rows(&x, 150, 4).unwrap());
    for (kind, name) in [(GraphKind::Ncut, "S_ncut"), (GraphKind::Lsdg, "S_lsdg")] {
        let (graph, near_points) = GraphParams { kind, neighbors: None }.of(&input, &Silent).unwrap();
        let theirs = golden.array(name);
        let dense: Vec<f64> = (0..150 * 150).map(|at| graph.get(at / 150, at % 150)).collect();
        near(name, &dense, &theirs);
        assert_eq!(near_points.n_samples, 150);
        let (ours, sums) =
            (graph.degrees(), (0..150).map(|i| dense[i * 150..(i + 1) * 150].iter().sum::<f64>()));
        near("degrees", &ours, &sums.collect::<Vec<f64>>());
        let v: Vec<f64> = (0..150).map(|i| (i as f64).sin()).collect();
        let mut product = vec![0.0; 150];
        graph.apply(&v, 1, &mut product);
        let slow: Vec<f64> = (0..150).map(|i| (0..150).map(|j| dense[i * 150 + j] * v[j]).sum()).collect();
        near("product", &product, &slow);
        let quadratic: f64 = slow.iter().zip(&v).map(|(a, b)| a * b).sum();
        near("quadratic", &[graph.quadratic(&v)], &[quadratic]);
    }
}

#[test]
fn sparse_graph_of_lsdg_is_its_starting_graph() {
    let data = nearfar::internals::varied(120, 4, 3, 1.0, 2).unwrap();
    let samples = Samples::from_rows(&data.data, 120, 4).unwrap();
    let hoods: Neighborhoods<f64> = rank(&Input::from(samples), 0, &Silent).unwrap();
    let slices = FullSlices::new(hoods, &Silent).unwrap();
    let mut full = slices.new_graph();
    slices.combine(&start_weights(slices.multiplicity(), 7).0, &mut full);
    let kind = GraphParams { kind: GraphKind::Lsdg, neighbors: None };
    let (sparse, _) = kind.of(&Input::from(samples), &Silent).unwrap();
    for i in 0..120 {
        for j in 0..120 {
            assert!((sparse.get(i, j) - full.get(i, j)).abs() < 1e-12, "({i}, {j})");
        }
    }
}

#[test]
fn lsdg_by_products_agrees_with_the_oracle() {
    let golden = golden();
    let x = golden.array("X");
    let input = Input::from(Samples::from_rows(&x, 150, 4).unwrap());
    let hoods: Neighborhoods<f64> = rank(&input, 0, &Silent).unwrap();
    let slices = FullSlices::new(hoods, &Silent).unwrap();
    let rule = StopRule { max_iter: 12, loss_tolerance: -1.0, change_tolerance: -1.0 };
    for (regularizer, name) in [
        (Regularizer::OffDiagonal, "offdiag"),
        (Regularizer::LogDet, "logdet"),
        (Regularizer::Proposed, "propall"),
    ] {
        let weights = start_weights(slices.multiplicity(), 8);
        let mut graph = slices.new_graph();
        slices.combine(&weights.0, &mut graph);
        let mut phals = Phals::new(&graph, golden.factor("V0", 150, 3));
        run(&mut phals, &StopRule::default(), 0, &Silent);
        let params = LsdgParams {
            solver: FactorSolver::Multiplicative,
            regularizer,
            ..LsdgParams::absolute(0.1, 10.0, 0.1)
        };
        let start = phals.into_factor();
        let mut learner = Lsdg::new(&slices, slices.new_graph(), start, weights, params, 0.1);
        let learned = run(&mut learner, &rule, 0, &Silent);
        let ours: Vec<f64> = learned.trace.iter().map(TraceRow::loss).collect();
        near(&format!("{name} losses"), &ours, &golden.array(&format!("lsdg_{name}_loss")));
        let theirs = golden.factor(&format!("lsdg_{name}_V"), 150, 3);
        near(&format!("{name} V"), learner.factor().values(), theirs.values());
        near(&format!("{name} w"), learner.near_weights(), &golden.array(&format!("lsdg_{name}_w")));
    }
}

#[test]
fn column_steps_and_products_agree_with_the_oracle() {
    let golden = golden();
    let s = golden.array("S_ncut");
    let graph = SparseGraph::from_edges(150, (0..150 * 150).map(|at| (at / 150, at % 150, s[at]))).unwrap();
    let rule = StopRule { max_iter: 12, loss_tolerance: -1.0, change_tolerance: -1.0 };
    let start = || golden.factor("V0", 150, 3);
    let check = |name: &str, method: &dyn Method| {
        near(name, method.factor().values(), golden.factor(&format!("{name}_V"), 150, 3).values());
    };
    let losses = |name: &str, learned: &Learned| {
        let ours: Vec<f64> = learned.trace.iter().map(TraceRow::loss).collect();
        near(name, &ours, &golden.array(&format!("{name}_loss")));
    };
    let mut phals = Phals::new(&graph, start());
    // A loss that rises, or no longer falls, ends PHALS whatever the rule says; here neither happens.
    losses("phals", &run(&mut phals, &rule, 0, &Silent));
    check("phals", &phals);
    let mut columns = AoSymNmf::new(&graph, start(), 0.1, Reseed::Never);
    run(&mut columns, &rule, 0, &Silent);
    check("ao_columns", &columns);
    for (regularizer, name) in [
        (Regularizer::OffDiagonal, "ao_offdiag"),
        (Regularizer::LogDet, "ao_logdet"),
        (Regularizer::Proposed, "ao_propall"),
    ] {
        let mut products = ByProducts::new(&graph, start(), 0.1, regularizer);
        losses(name, &run(&mut products, &rule, 0, &Silent));
        check(name, &products);
    }
}

#[test]
fn a_preparation_refuses_what_it_was_not_made_for() {
    let data = nearfar::generate::blobs(40, 2, 2, 0.4, 1).unwrap();
    let input = Input::from(Samples::from_rows(&data.data, 40, 2).unwrap());
    let graph = nearfar::PreparedGraph::new(&input, &Params::of(2, MethodKind::Phals), &Silent).unwrap();
    assert!(graph.fit(&Params::of(2, MethodKind::Spectral), &Silent).is_ok());
    for kind in [MethodKind::Lsdg, MethodKind::Gnmf, MethodKind::KMeans] {
        let refused = graph.fit(&Params::of(2, kind), &Silent).unwrap_err().to_string();
        assert!(refused.contains("method"), "{refused}");
    }
    let slices = nearfar::PreparedSlices::new(&input, &Params::lsdg(2), &Silent).unwrap();
    let refused = slices.fit(&Params::of(2, MethodKind::Phals), &Silent).unwrap_err().to_string();
    assert!(refused.contains("phals"), "{refused}");
}
