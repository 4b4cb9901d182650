//! Every stage and its small solvers on generated data. The last name of a bench is its number of samples.
//!
//! `cargo bench -p nearfar` runs all, `cargo bench -p nearfar -- kmeans` one of them. Times are for comparing two
//! states of the code on one machine; comparison with NumPy is `cargo xtask bench-reference`.

use divan::{Bencher, black_box};
use nearfar::generate::Generated;
use nearfar::internals::KMeansParams;
use nearfar::internals::mixture;
use nearfar::internals::{
    EIGEN_TOLERANCE, EigenParams, FullSlices, Lsdg, Neighborhoods, Normalized, Phals, Quartic, Slices,
    Stream, largest, project, rank, row_normalize,
};
use nearfar::learn::{Factor, LsdgParams, Method, StopRule, run};
use nearfar::observe::Silent;
use nearfar::{Input, Params, Samples, fit};

const SIZES: [usize; 2] = [400, 1600];
const CLUSTERS: usize = 10;
const FEATURES: usize = 64;

fn main() {
    divan::main();
}

fn data(n: usize) -> Generated {
    mixture(n, FEATURES, CLUSTERS, 1.0, 1).expect("sizes are allowed")
}

fn ranked(data: &Generated) -> Neighborhoods<f64> {
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features).expect("shape");
    rank(&Input::from(samples), 0, &Silent).expect("finite")
}

fn sliced(n: usize) -> FullSlices<f64> {
    FullSlices::new(ranked(&data(n)), &Silent).expect("nobody cancels")
}

/// Numbers in 0 to 1.
fn uniform(count: usize) -> Vec<f64> {
    let mut random = Stream::new(1, 0);
    (0..count).map(|_| random.uniform()).collect()
}

/// Even weights on the first ten ranks (w) and on all others (p).
fn start_weights(n: usize) -> (Vec<f64>, Vec<f64>) {
    let near = |k: usize| if k < 10 { 0.1 } else { 0.0 };
    let far = |k: usize| if k < 10 { 0.0 } else { 1.0 / (n - 10) as f64 };
    ((0..n).map(near).collect(), (0..n).map(far).collect())
}

/// The graph of the starting weights.
fn start_graph(slices: &FullSlices<f64>) -> <FullSlices<f64> as Slices>::Graph {
    let mut graph = slices.new_graph();
    slices.combine(&start_weights(slices.n_samples()).0, &mut graph);
    graph
}

#[divan::bench(args = SIZES)]
fn neighbors(bencher: Bencher<'_, '_>, n: usize) {
    let data = data(n);
    bencher.bench(|| ranked(&data));
}

#[divan::bench(args = SIZES)]
fn slices(bencher: Bencher<'_, '_>, n: usize) {
    let ranked = ranked(&data(n));
    bencher.with_inputs(|| ranked.clone()).bench_values(|ranked| FullSlices::new(ranked, &Silent));
}

#[divan::bench(args = SIZES)]
fn lsdg_iteration(bencher: Bencher<'_, '_>, n: usize) {
    let slices = sliced(n);
    let graph = start_graph(&slices);
    let mut phals = Phals::new(&graph, Factor::new(uniform(n * CLUSTERS), n, CLUSTERS));
    run(&mut phals, &StopRule::default(), 0, &Silent);
    let factor = phals.into_factor();
    let weights = start_weights(n);
    let method =
        || Lsdg::new(&slices, graph.clone(), factor.clone(), weights.clone(), LsdgParams::paper(), 0.1);
    bencher.with_inputs(method).bench_refs(|lsdg| lsdg.step(1, &Silent));
}

#[divan::bench(args = SIZES)]
fn simplex_projection(bencher: Bencher<'_, '_>, n: usize) {
    let (y, ones) = (uniform(n), vec![1.0; n]);
    bencher.bench(|| project(black_box(&y), &ones));
}

#[divan::bench]
fn cubic_roots_1000(bencher: Bencher<'_, '_>) {
    let cubics: Vec<Quartic> = uniform(5000)
        .chunks_exact(5)
        .map(|u| Quartic { d2: u[0], v2: u[1], dv: u[2] - 0.5, d_e_d: u[3], d_e_v: 1.0 + u[4] })
        .collect();
    bencher.bench(|| cubics.iter().filter_map(Quartic::step).sum::<f64>());
}

#[divan::bench(args = SIZES)]
fn eigenvectors(bencher: Bencher<'_, '_>, n: usize) {
    let graph = start_graph(&sliced(n));
    let params = EigenParams { tolerance: EIGEN_TOLERANCE, ..EigenParams::default() };
    bencher.bench(|| largest(&Normalized::new(&graph), CLUSTERS + 1, &params, &|| false));
}

#[divan::bench(args = SIZES)]
fn kmeans(bencher: Bencher<'_, '_>, n: usize) {
    let graph = start_graph(&sliced(n));
    let eigen = largest(&Normalized::new(&graph), CLUSTERS, &EigenParams::default(), &|| false);
    let rows = row_normalize(&eigen.expect("nobody cancels").vectors, n, CLUSTERS);
    bencher.bench(|| KMeansParams::new(CLUSTERS).fit(&rows, n, CLUSTERS, 1));
}

#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn whole_default_run(bencher: Bencher<'_, '_>, n: usize) {
    let data = data(n);
    let samples = Samples::from_rows(&data.data, n, FEATURES).expect("shape");
    bencher.bench(|| fit(samples, &Params::lsdg(CLUSTERS)));
}
