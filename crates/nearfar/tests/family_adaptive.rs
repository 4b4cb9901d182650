//! The methods that factor the samples or learn a graph: agreement with slow literal forms, decrease, known
//! answers, degenerate data.
//!
//! One file, although long: the methods share the small data sets and the literal forms above their tests.

use std::path::Path;

use nearfar::internals::{CgSymNmf, Gnmf, NmfAn, RbsMf, S3Nmf, Stream, bistochastic};
use nearfar::labels::score::adjusted_rand;
use nearfar::learn::{
    CgSymNmfParams, Factor, GnmfParams, Learned, Method, MethodParams, NmfAnParams, RbsMfParams, S3NmfParams,
    SparseGraph, StopRule, TraceRow, run,
};
use nearfar::observe::{CancelFlag, Silent};
use nearfar::{DataError, Error, Input, Metric, Model, Params, Precision, Run, Samples, fit};
use nearfar_testkit::golden::Golden;
use nearfar_testkit::{hard, oracle};
use proptest::prelude::*;

/// What the NumPy forms do on iris from one start.
fn golden() -> Golden {
    Golden::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/family.npz"))
}

fn start(golden: &Golden) -> Factor {
    golden.factor("V0", 150, 3)
}

fn ncut(golden: &Golden) -> SparseGraph {
    graph(&golden.array("S_ncut"), 150)
}

fn check(golden: &Golden, name: &str, factor: &Factor, learned: &Learned) {
    near(&format!("{name}_V"), &rows(factor), &golden.array(&format!("{name}_V")), 1e-8);
    near(&format!("{name}_loss"), &losses(learned), &golden.array(&format!("{name}_loss")), 1e-8);
}

/// n × r, row-major, as a factor.
fn factor(rows: &[f64], n: usize, r: usize) -> Factor {
    Factor::new((0..r).flat_map(|j| (0..n).map(move |i| rows[i * r + j])).collect(), n, r)
}

fn rows(factor: &Factor) -> Vec<f64> {
    let (n, r) = (factor.n_samples(), factor.n_columns());
    (0..n * r).map(|at| factor.get(at / r, at % r)).collect()
}

fn graph(full: &[f64], n: usize) -> SparseGraph {
    let entries = full.iter().enumerate().filter(|(_, s)| **s != 0.0);
    SparseGraph::from_edges(n, entries.map(|(at, s)| (at / n, at % n, *s))).unwrap()
}

fn losses(learned: &Learned) -> Vec<f64> {
    learned.trace.iter().map(TraceRow::loss).collect()
}

fn near(what: &str, ours: &[f64], theirs: &[f64], tolerance: f64) {
    let worst = oracle::largest_difference(ours, theirs);
    assert!(worst <= tolerance, "{what}: off by {worst:e}, allowed {tolerance:e}");
    println!("{what}: {worst:.1e}");
}

/// A fixed number of iterations, whatever the loss does.
fn exactly(iterations: usize) -> StopRule {
    StopRule { max_iter: iterations, loss_tolerance: -1.0, change_tolerance: -1.0 }
}

#[test]
fn gnmf_agrees_with_the_numpy_form() {
    let golden = golden();
    let (x, graph) = (golden.array("X"), ncut(&golden));
    let mut method = Gnmf::new(&x, &graph, golden.array("U0"), start(&golden), 10.0);
    let learned = run(&mut method, &exactly(12), 0, &Silent);
    check(&golden, "gnmf", &method.into_factor(), &learned);
}

#[test]
fn nmfan_agrees_with_the_numpy_form() {
    let golden = golden();
    let (x, params) = (golden.array("X"), NmfAnParams { lambda: 10.0, neighbors: 5 });
    let mut method = NmfAn::new(&x, golden.array("U0"), start(&golden), &params);
    let learned = run(&mut method, &exactly(12), 0, &Silent);
    check(&golden, "nmfan", &method.into_factor(), &learned);
}

#[test]
fn cgsymnmf_agrees_with_the_numpy_form() {
    let golden = golden();
    let (x, graph) = (golden.array("X"), ncut(&golden));
    let params = CgSymNmfParams { alpha: 0.1, beta: 1.0 };
    let mut method = CgSymNmf::new(&x, &graph, golden.array("noise"), start(&golden), &params);
    let learned = run(&mut method, &exactly(12), 0, &Silent);
    check(&golden, "cgsymnmf", &method.into_factor(), &learned);
}

#[test]
fn rbsmf_agrees_with_the_numpy_form() {
    let golden = golden();
    let (x, graph) = (golden.array("X"), ncut(&golden));
    let mut method = RbsMf::new(&x, &graph, 150, 3, &RbsMfParams { lambda: 1.0, mu: 1.0 });
    let learned = run(&mut method, &exactly(6), 0, &Silent);
    near("rbsmf_loss", &losses(&learned), &golden.array("rbsmf_loss"), 1e-8);
    near("rbsmf_S", method.similarity(), &golden.array("rbsmf_S"), 1e-8);
    // V is free up to the sign of its columns, and to a rotation where eigenvalues are equal.
    let theirs = factor(&golden.array("rbsmf_V"), 150, 3);
    near("rbsmf_VVt", &oracle::outer(&method.into_factor()), &oracle::outer(&theirs), 1e-8);
}

#[test]
fn s3nmf_agrees_with_the_literal_form() {
    let golden = golden();
    let (full, graph) = (golden.array("S_ncut"), ncut(&golden));
    let starts = |round: usize, member: usize| {
        let mut stream = Stream::new(9, (round * 10 + member) as u64);
        Factor::new((0..450).map(|_| stream.uniform()).collect(), 150, 3)
    };
    for (hard, tau) in [(true, 2.0), (false, 2.0), (false, 1.5), (true, 5.0)] {
        let slow = nearfar_testkit::s3nmf::s3nmf(&full, &starts, (3, 4, 15), tau, hard);
        let params = S3NmfParams { tau, members: 4, rounds: 3, hard };
        let mut method = S3Nmf::new(&graph, &starts, params, exactly(15));
        for round in &slow {
            run(&mut method, &exactly(1), 0, &Silent);
            for (ours, theirs) in method.members().iter().zip(round.factors.iter().zip(&round.residuals)) {
                near("V", ours.0.values(), theirs.0.values(), 1e-8);
                near("h", &[ours.1], &[*theirs.1], 1e-8 * theirs.1);
            }
            near("objective", &[method.objective()], &[round.objective], 1e-8 * round.objective);
            let votes: Vec<f64> = (0..150 * 150).map(|at| method.vote(at / 150, at % 150)).collect();
            near("S", &votes, &round.next, 1e-8);
        }
        let best = method.members().iter().map(|(_, h)| *h).fold(f64::INFINITY, f64::min);
        let place = method.members().iter().position(|(_, h)| *h == best).unwrap();
        let (factor, votes) = method.into_best();
        let last = slow.last().unwrap();
        assert_eq!(votes, last.labels);
        near("best", factor.values(), last.factors[place].values(), 1e-8);
    }
}

/// A small random problem.
#[derive(Clone, Debug)]
struct Problem {
    x: Vec<f64>,
    n: usize,
    m: usize,
    r: usize,
    seed: u64,
}

impl Problem {
    fn graph(&self) -> SparseGraph {
        let samples = Samples::from_rows(&self.x, self.n, self.m).unwrap();
        let input = Input::Samples(samples, Metric::Euclidean);
        nearfar::learn::GraphParams::default().of(&input, &Silent).unwrap().0
    }

    fn uniform(&self, len: usize, stream: u64) -> Vec<f64> {
        let mut stream = Stream::new(self.seed, stream);
        (0..len).map(|_| stream.uniform()).collect()
    }

    fn start(&self) -> Factor {
        Factor::new(self.uniform(self.n * self.r, 1), self.n, self.r)
    }

    fn basis(&self) -> Vec<f64> {
        self.uniform(self.m * self.r, 2)
    }

    fn noise(&self) -> Vec<f64> {
        self.uniform(self.n * self.n, 3)
    }
}

fn problem() -> impl Strategy<Value = Problem> {
    let kinds = prop::sample::select(vec!["positive", "signed", "grid", "zeros"]);
    (8..=40_usize, 1..=7_usize, 1..=5_usize, 0..10_000_u64, kinds).prop_map(|(n, m, r, seed, kind)| {
        let mut stream = Stream::new(seed, 0);
        let x = (0..n * m).map(|_| match kind {
            "positive" => stream.uniform(),
            "signed" => stream.normal(),
            "grid" => stream.below(3) as f64,
            _ => (stream.normal() - 1.0).max(0.0),
        });
        Problem { x: x.collect(), n, m, r, seed }
    })
}

fn strength(values: &[f64]) -> impl Strategy<Value = f64> + use<> {
    prop::sample::select(values.to_vec())
}

/// No loss above the one before it, up to rounding of terms of size `scale`.
fn never_rises(method: &mut dyn Method, iterations: usize, scale: f64) -> Result<(), TestCaseError> {
    let learned = run(method, &exactly(iterations), 0, &Silent);
    let losses = losses(&learned);
    for pair in losses.windows(2) {
        prop_assert!(pair[1] <= pair[0] + 1e-9 * pair[0].abs() + scale, "{losses:?}");
    }
    prop_assert!(method.factor().values().iter().all(|v| v.is_finite()));
    Ok(())
}

fn square_sum(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]

    #[test]
    fn gnmf_never_rises(p in problem(), lambda in strength(&[0.0, 0.1, 10.0, 1000.0])) {
        let graph = p.graph();
        let mut method = Gnmf::new(&p.x, &graph, p.basis(), p.start(), lambda);
        never_rises(&mut method, 60, 1e-10 * (1.0 + square_sum(&p.x)))?;
        let objective = method.objective();
        prop_assert!(objective.is_finite() && objective >= 0.0);
    }

    #[test]
    fn nmfan_never_rises(
        p in problem(),
        lambda in strength(&[0.0, 0.1, 10.0, 1000.0]),
        neighbors in 1..50_usize,
    ) {
        let mut method = NmfAn::new(&p.x, p.basis(), p.start(), &NmfAnParams { lambda, neighbors });
        never_rises(&mut method, 60, 1e-10 * (1.0 + square_sum(&p.x)))?;
    }

    #[test]
    fn cgsymnmf_never_rises(
        p in problem(),
        alpha in strength(&[0.0, 0.1, 10.0]),
        beta in strength(&[0.0, 1.0, 10.0]),
    ) {
        let graph = p.graph();
        let mut method = CgSymNmf::new(&p.x, &graph, p.noise(), p.start(), &CgSymNmfParams { alpha, beta });
        never_rises(&mut method, 40, 1e-12 * p.n as f64 * (1.0 + alpha + beta))?;
        let s = method.similarity();
        prop_assert!(s.iter().all(|s| *s >= 0.0 && s.is_finite()) && (0..p.n).all(|i| s[i * p.n + i] == 0.0));
    }

    #[test]
    fn rbsmf_never_rises(
        p in problem(),
        lambda in strength(&[0.0, 0.1, 1.0, 10.0]),
        mu in strength(&[0.1, 1.0, 10.0]),
    ) {
        let graph = p.graph();
        let mut method = RbsMf::new(&p.x, &graph, p.n, p.r, &RbsMfParams { lambda, mu });
        // Row sums are right to 1e-8 only, and that error is priced by the multipliers.
        never_rises(&mut method, 12, 1e-7 * (1.0 + lambda + mu) * p.n as f64)?;
        let v = method.into_factor();
        let gram: f64 = (0..p.n).map(|i| v.get(i, 0) * v.get(i, 0)).sum();
        prop_assert!((gram - 1.0).abs() < 1e-9);
    }

    #[test]
    fn bistochastic_projection_meets_its_conditions(
        n in 1..30_usize,
        seed in 0..10_000_u64,
        scale in strength(&[0.0, 1e-3, 1.0, 100.0]),
    ) {
        let mut stream = Stream::new(seed, 5);
        let raw: Vec<f64> = (0..n * n).map(|_| scale * stream.normal()).collect();
        check_projection(&oracle::symmetric(&raw, n), n, &mut stream);
    }
}

/// Feasible, and no feasible matrix lies in a direction that comes closer to M.
fn check_projection(m: &[f64], n: usize, stream: &mut Stream) {
    let s = bistochastic(m, n, &Silent).unwrap();
    for i in 0..n {
        let row = &s[i * n..(i + 1) * n];
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-8, "row {i}: {}", row.iter().sum::<f64>());
        assert!((0..n).all(|j| row[j] >= 0.0 && row[j] == s[j * n + i]));
    }
    let size = 1.0 + m.iter().fold(0.0_f64, |a, m| a.max(m.abs()));
    let judge = |t: &[f64]| {
        let gain: f64 = (0..n * n).map(|at| (m[at] - s[at]) * (t[at] - s[at])).sum();
        assert!(gain <= 1e-7 * size * n as f64, "{gain} is above 0");
    };
    judge(&vec![1.0 / n as f64; n * n]);
    for _ in 0..20 {
        // Symmetric parts of random permutations: the corners, or nearly, of the feasible set.
        let mut order: Vec<usize> = (0..n).collect();
        stream.shuffle(&mut order);
        let mut t = vec![0.0; n * n];
        for (i, j) in order.iter().enumerate() {
            t[i * n + j] += 0.5;
            t[j * n + i] += 0.5;
        }
        judge(&t);
    }
}

#[test]
fn bistochastic_projection_of_larger_matrices() {
    let mut stream = Stream::new(4, 4);
    let n = 300;
    for scale in [1e-3, 1.0, 30.0] {
        let raw: Vec<f64> = (0..n * n).map(|_| scale * stream.normal()).collect();
        check_projection(&oracle::symmetric(&raw, n), n, &mut stream);
    }
    // Already bi-stochastic: stays.
    let uniform = vec![1.0 / n as f64; n * n];
    near("uniform", &bistochastic(&uniform, n, &Silent).unwrap(), &uniform, 1e-12);
}

fn methods() -> Vec<MethodParams> {
    vec![
        GnmfParams::default().into(),
        NmfAnParams::default().into(),
        CgSymNmfParams::default().into(),
        RbsMfParams::default().into(),
        S3NmfParams { members: 5, rounds: 3, ..S3NmfParams::default() }.into(),
        S3NmfParams { members: 5, rounds: 3, hard: false, ..S3NmfParams::default() }.into(),
    ]
}

/// Nothing in a model that should not be there.
fn sound(model: &Model, n: usize, r: usize) {
    assert_eq!(model.labels.len(), n);
    assert!(model.labels.iter().all(|label| *label < r));
    assert_eq!(model.membership.len(), n * r);
    for row in model.membership.chunks_exact(r) {
        assert!(row.iter().all(|p| (0.0..=1.0 + 1e-12).contains(p)), "{row:?}");
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{row:?}");
    }
    for member in &model.members {
        assert!(member.objective.total().is_finite());
        assert!(member.factor.values().iter().all(|v| v.is_finite()));
        assert!(member.last_loop().trace.iter().all(|row| row.loss().is_finite()));
    }
}

#[test]
fn separated_blobs_are_recovered() {
    // Every cluster has a feature of its own, which is what a factorisation of the samples looks for.
    let (mut x, truth) = hard::blobs_on_a_line(&[40, 30, 50], 3, 0.3, 0.0, 8);
    truth.iter().enumerate().for_each(|(i, class)| x[i * 3 + class] += 6.0);
    let samples = Samples::from_rows(&x, 120, 3).unwrap();
    let mut missed = Vec::new();
    for method in methods() {
        for seed in 0..2 {
            let model = fit(samples, &Params::of(3, method.clone()).seed(seed).starts(2)).unwrap();
            sound(&model, 120, 3);
            let found = adjusted_rand(&model.labels, &truth).unwrap();
            if !(found > 0.97) {
                missed.push(format!("{method:?}, seed {seed}: {found}"));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn cgsymnmf_runs_in_single_precision_unless_told_otherwise() {
    let (x, _) = hard::blobs_on_a_line(&[40, 30, 50], 5, 1.0, 2.0, 8);
    let samples = Samples::from_rows(&x, 120, 5).unwrap();
    let with = |precision| {
        fit(samples, &Params::of(3, CgSymNmfParams::default()).starts(1).precision(precision)).unwrap()
    };
    let [auto, single, double] = [Precision::Auto, Precision::Single, Precision::Double].map(with);
    assert_eq!([&auto, &single, &double].map(|model| model.precision), {
        [Precision::Single, Precision::Single, Precision::Double]
    });
    let objective = |model: &Model| model.best_member().unwrap().objective.total();
    assert_eq!((&auto.labels, objective(&auto)), (&single.labels, objective(&single)));
    // Rounding alone sets the two apart.
    let apart = (objective(&double) - objective(&single)).abs() / objective(&double);
    assert!(apart > 0.0 && apart < 1e-4, "{apart:e}");
    assert!(adjusted_rand(&single.labels, &double.labels).unwrap() > 0.99);
    // A method without n × n matrices of its own stays in double precision, and does not take another.
    let plain = Params::of(3, MethodParams::Phals);
    assert_eq!(fit(samples, &plain).unwrap().precision, Precision::Double);
    assert!(matches!(fit(samples, &plain.precision(Precision::Single)), Err(Error::Param(_))));
}

#[test]
fn labels_of_all_votes_are_handed_out() {
    let (x, truth) = hard::blobs_on_a_line(&[30, 30], 2, 0.3, 6.0, 2);
    let samples = Samples::from_rows(&x, 60, 2).unwrap();
    let params = S3NmfParams { members: 4, rounds: 2, ..S3NmfParams::default() };
    let model = fit(samples, &Params::of(2, params)).unwrap();
    let votes = &model.best_member().unwrap().votes;
    assert_eq!(votes.len(), 4);
    assert!(votes.iter().all(|labels| adjusted_rand(labels, &truth).unwrap() > 0.9));
    let other = fit(samples, &Params::of(2, GnmfParams::default())).unwrap();
    assert!(other.best_member().unwrap().votes.is_empty());
}

#[test]
fn degenerate_data_ends_in_a_sound_model() {
    let line = |n: usize| (0..n).map(|i| i as f64 - 3.0).collect::<Vec<f64>>();
    let scaled = |by: f64| line(12).iter().map(|x| x * by).collect::<Vec<f64>>();
    let mut zero_rows = hard::blobs_on_a_line(&[6, 6], 2, 0.2, 4.0, 1).0;
    zero_rows[..6].fill(0.0);
    let mut outlier = hard::blobs_on_a_line(&[8, 8], 2, 0.2, 4.0, 1).0;
    outlier[0] = 1e9;
    let cases: Vec<(&str, Vec<f64>, usize, Vec<usize>)> = vec![
        ("one point", vec![3.0, -1.0], 2, vec![1]),
        ("two points", vec![0.0, 1.0], 1, vec![1, 2]),
        ("two equal points", vec![1.0, 1.0], 1, vec![1, 2]),
        ("three points", vec![0.0, 1.0, 5.0], 1, vec![1, 2, 3]),
        ("a line", line(12), 1, vec![1, 2, 5, 11, 12]),
        ("a wide row", line(12), 4, vec![1, 2, 3]),
        ("all equal", vec![2.5; 20], 2, vec![1, 3, 9]),
        ("all zero", vec![0.0; 20], 2, vec![1, 3]),
        ("all negative", vec![-4.0; 14], 2, vec![2]),
        ("pairs", hard::repeated(&[0.0, 1.0, 7.0], 4).0, 1, vec![2, 3, 4]),
        ("zero rows", zero_rows, 2, vec![2, 3]),
        ("an outlier", outlier, 2, vec![2, 3]),
        ("huge", scaled(1e300), 1, vec![2, 3]),
        ("tiny", scaled(1e-300), 1, vec![2, 3]),
    ];
    for (name, x, m, clusters) in &cases {
        let n = x.len() / m;
        let samples = Samples::from_rows(x, n, *m).unwrap();
        for method in methods() {
            for r in clusters {
                println!("{name}, {method:?}, r = {r}");
                let model = fit(samples, &Params::of(*r, method.clone())).unwrap();
                sound(&model, n, *r);
            }
        }
    }
}

#[test]
fn extreme_settings_end_in_a_sound_model() {
    let (x, _) = hard::blobs_on_a_line(&[9, 9], 2, 0.5, 3.0, 3);
    let samples = Samples::from_rows(&x, 18, 2).unwrap();
    let extreme: Vec<MethodParams> = vec![
        GnmfParams { lambda: 0.0 }.into(),
        GnmfParams { lambda: 1e9 }.into(),
        NmfAnParams { lambda: 1e9, neighbors: 1 }.into(),
        NmfAnParams { lambda: 0.0, neighbors: usize::MAX }.into(),
        CgSymNmfParams { alpha: 1e9, beta: 0.0 }.into(),
        CgSymNmfParams { alpha: 0.0, beta: 1e9 }.into(),
        RbsMfParams { lambda: 1e9, mu: 1e-9 }.into(),
        RbsMfParams { lambda: 0.0, mu: 1e9 }.into(),
        S3NmfParams { tau: 1.0 + 1e-12, members: 3, rounds: 3, hard: false }.into(),
        S3NmfParams { tau: 1e3, members: 1, rounds: 1, hard: true }.into(),
    ];
    for method in extreme {
        println!("{method:?}");
        sound(&fit(samples, &Params::of(2, method.clone())).unwrap(), 18, 2);
    }
    let refused: Vec<MethodParams> = vec![
        GnmfParams { lambda: f64::NAN }.into(),
        NmfAnParams { neighbors: 0, ..NmfAnParams::default() }.into(),
        CgSymNmfParams { beta: -1.0, ..CgSymNmfParams::default() }.into(),
        RbsMfParams { mu: 0.0, ..RbsMfParams::default() }.into(),
        S3NmfParams { tau: 1.0, ..S3NmfParams::default() }.into(),
        S3NmfParams { members: 0, ..S3NmfParams::default() }.into(),
        S3NmfParams { rounds: 0, ..S3NmfParams::default() }.into(),
    ];
    for method in refused {
        assert!(matches!(fit(samples, &Params::of(2, method.clone())), Err(Error::Param(_))), "{method:?}");
    }
}

#[test]
fn pairwise_input_is_refused_where_samples_are_needed() {
    let distances = [0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0];
    let input = || Input::Distances(Samples::from_rows(&distances, 3, 3).unwrap());
    for method in &methods()[..4] {
        let error = fit(input(), &Params::of(2, method.clone())).unwrap_err();
        assert!(matches!(error, Error::Data(DataError::NeedsSamples { .. })), "{method:?}: {error}");
    }
    sound(&fit(input(), &Params::of(2, methods()[4].clone())).unwrap(), 3, 2);
}

#[test]
fn a_raised_flag_stops_every_method() {
    let (x, _) = hard::blobs_on_a_line(&[20, 20], 2, 0.5, 3.0, 3);
    let input = Input::Samples(Samples::from_rows(&x, 40, 2).unwrap(), Metric::Euclidean);
    let flag = CancelFlag::default();
    flag.cancel();
    for method in methods() {
        let outcome = Run::new(&Params::of(2, method.clone())).observe(&flag).fit(input);
        assert!(matches!(outcome, Err(Error::Cancelled { .. })), "{method:?}");
    }
}

/// Says stop from the n-th question on.
struct After(std::sync::atomic::AtomicIsize);

impl nearfar::observe::Observer for After {
    fn cancelled(&self) -> bool {
        self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) <= 0
    }
}

#[test]
fn a_late_wish_to_stop_is_heard_too() {
    let (x, _) = hard::blobs_on_a_line(&[20, 20], 2, 0.5, 3.0, 3);
    let input = Input::Samples(Samples::from_rows(&x, 40, 2).unwrap(), Metric::Euclidean);
    for method in methods() {
        for asked in [1, 3, 5, 8, 12] {
            let late = After((asked as isize).into());
            let params = Params { stop: exactly(50), ..Params::of(2, method.clone()) };
            let outcome = Run::new(&params).observe(&late).fit(input);
            assert!(matches!(outcome, Err(Error::Cancelled { .. })), "{method:?} after {asked}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let data = nearfar::internals::mixture(390, 40, 4, 2.5, 9).unwrap();
    let samples = Samples::from_rows(&data.data, 390, 40).unwrap();
    let bits = |model: &Model| {
        let member = model.best_member().unwrap();
        let values: Vec<u64> = member.factor.values().iter().map(|v| v.to_bits()).collect();
        let losses: Vec<u64> = member.last_loop().trace.iter().map(|row| row.loss().to_bits()).collect();
        (model.labels.clone(), values, losses, member.votes.clone())
    };
    for method in methods() {
        let run = |threads: usize| {
            let stop = StopRule { max_iter: 8, ..StopRule::of_family() };
            fit(samples, &Params { stop, ..Params::of(4, method.clone()).threads(threads).starts(2) })
                .unwrap()
        };
        let one = bits(&run(1));
        for threads in [2, 3] {
            assert!(bits(&run(threads)) == one, "{method:?} at {threads} threads");
        }
    }
}

#[test]
fn rbsmf_remembers_what_no_seed_changes() {
    let data = nearfar::generate::blobs(90, 5, 3, 1.0, 4).unwrap();
    let input = Input::from(Samples::from_rows(&data.data, 90, 5).unwrap());
    let params = |lambda: f64, seed: u64| Params::of(3, RbsMfParams { lambda, mu: 1.0 }).starts(1).seed(seed);
    let plain = nearfar::PreparedGraph::new(&input, &params(1.0, 0), &Silent).unwrap();
    let remembering = plain.clone().remember_graphs();
    for (lambda, seed) in [(1.0, 0), (0.1, 0), (1.0, 1), (0.1, 1)] {
        let [a, b] =
            [&plain, &remembering].map(|prepared| prepared.fit(&params(lambda, seed), &Silent).unwrap());
        assert_eq!(a.labels, b.labels, "lambda {lambda}, seed {seed}");
        assert_eq!(a.members[0].factor, b.members[0].factor, "lambda {lambda}, seed {seed}");
    }
    let several = remembering.fit(&params(1.0, 0).starts(3), &Silent).unwrap();
    assert!(several.members.windows(2).all(|pair| pair[0].factor == pair[1].factor));
}
