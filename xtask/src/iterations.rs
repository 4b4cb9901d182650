//! One iteration of every method beside the products it cannot do without.

use anyhow::Result;
use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::traits::math_utils::one;
use faer::{Accum, Mat, Par};
use nearfar::internals::Graph;
use nearfar::internals::varied;
use nearfar::learn::{
    AnlsParams, AnlsSolver, AoSymNmfParams, Factor, FactorSolver, GsNmfParams, GsNmfSolver, MethodKind,
    MethodParams, Regularizer, S3NmfParams, SBsumBlock, SBsumParams, SparseGraph, SymNmfParams, SymNmfSolver,
};
use nearfar::observe::Silent;
use nearfar::{Input, Params, PreparedGraph, Samples};

use crate::clock::{peak_bytes, timed};

/// Iterations of the short and of the long run whose difference is timed.
const SHORT: usize = 4;
const LONG: usize = 24;
/// The same where an iteration takes seconds.
const FEW: [usize; 2] = [1, 3];

/// Methods with n × n numbers run up to this n.
const LARGEST_SQUARE: usize = 4000;

/// What an iteration must at least compute.
#[derive(Clone, Copy, Default)]
struct Work {
    /// Products of the graph with n × r numbers.
    graph: f64,
    /// Products n × r × r (a Gram matrix, or V times a small matrix).
    small: f64,
    /// Products n × m × r with the samples.
    samples: f64,
    /// Products n × n × r.
    pairs: f64,
    /// Products n × n × m.
    square: f64,
    /// Products n × n × n.
    cube: f64,
    /// Roots of n cubics.
    roots: f64,
    /// Products n × n × r or n × n × 1, as many as two inner loops (eigenvectors, a projection) take: no count.
    as_needed: bool,
    /// Whether the dense products are of single precision.
    single: bool,
}

impl Work {
    fn seconds(&self, unit: &Self) -> f64 {
        let parts = |work: &Self| {
            [work.graph, work.small, work.samples, work.pairs, work.square, work.cube, work.roots]
        };
        parts(self).iter().zip(parts(unit)).map(|(count, seconds)| count * seconds).sum()
    }

    /// Whether n × n numbers are needed at once.
    fn is_square(&self) -> bool {
        self.as_needed || self.pairs + self.square + self.cube > 0.0
    }
}

/// Methods with what they need. A column sweep is two graph products (S V and dᵀS d) and four small ones (V₋ⱼᵀv and V₋ⱼᵀd, with their way back).
/// sBSUM solves a cubic for every entry off its bound, counted as one per row, or for every row (after five products of the Gram matrix
/// with it), and keeps the Gram matrix up to date. CGSymNMF needs |K|S, as the samples here have both signs.
fn contenders() -> Vec<(&'static str, MethodParams, Work)> {
    let w = |graph, small| Work { graph, small, ..Work::default() };
    let of_samples = |graph, samples, small| Work { graph, small, samples, ..Work::default() };
    let ao = |regularizer, solver| MethodParams::from(AoSymNmfParams { alpha: 0.1, regularizer, solver });
    let products = FactorSolver::Multiplicative;
    let expression = Work { pairs: 2.0, square: 2.0, cube: 1.0, ..Work::default() };
    vec![
        ("phals", MethodParams::Phals, w(2.0, 4.0)),
        ("aosymnmf, columns", ao(Regularizer::Proposed, FactorSolver::Columns), w(2.0, 8.0)),
        ("aosymnmf, off-diagonal", ao(Regularizer::OffDiagonal, products), w(1.0, 2.0)),
        ("aosymnmf, log-det", ao(Regularizer::LogDet, products), w(1.0, 4.0)),
        ("aosymnmf, proposed by products", ao(Regularizer::Proposed, products), w(1.0, 4.0)),
        ("symnmf, multiplicative", SymNmfParams::default().into(), w(1.0, 2.0)),
        ("symnmf, gradient", SymNmfParams { solver: SymNmfSolver::Gradient }.into(), w(1.5, 2.5)),
        ("anls, pivoting", AnlsParams { lambda: 0.5, solver: AnlsSolver::Pivoting }.into(), w(2.0, 4.0)),
        ("anls, columns", AnlsParams { lambda: 0.5, solver: AnlsSolver::Columns }.into(), w(2.0, 4.0)),
        (
            "sbsum, scalar",
            SBsumParams { block: SBsumBlock::Scalar }.into(),
            Work { roots: 1.0, ..w(1.0, 2.0) },
        ),
        (
            "sbsum, vector",
            SBsumParams { block: SBsumBlock::Vector }.into(),
            Work { roots: 1.0, ..w(1.0, 7.0) },
        ),
        ("gsnmf, multiplicative", GsNmfParams::default().into(), w(1.0, 2.0)),
        (
            "gsnmf, two copies",
            GsNmfParams { solver: GsNmfSolver::Admm, ..GsNmfParams::default() }.into(),
            w(2.0, 4.0),
        ),
        ("gnmf", MethodKind::Gnmf.into(), of_samples(1.0, 2.0, 4.0)),
        ("nmf", MethodKind::Nmf.into(), of_samples(0.0, 2.0, 4.0)),
        ("nmfan", MethodKind::NmfAn.into(), Work { pairs: 1.0, ..of_samples(0.0, 2.0, 4.0) }),
        ("cgsymnmf", MethodKind::CgSymNmf.into(), Work { single: true, ..expression }),
        ("cgsymnmf, double", MethodKind::CgSymNmf.into(), expression),
        (
            "s3nmf, in a member",
            S3NmfParams { members: 1, rounds: 1, ..S3NmfParams::default() }.into(),
            w(1.0, 2.0),
        ),
        ("rbsmf", MethodKind::RbsMf.into(), Work { as_needed: true, ..Work::default() }),
    ]
}

/// Rounds in which a method and its products take turns; the best of each counts.
const ROUNDS: usize = 3;

/// Best of three, in processor seconds.
fn best(mut work: impl FnMut()) -> f64 {
    (0..3).map(|_| timed(&mut work).1.cpu).fold(f64::INFINITY, f64::min)
}

/// Seconds of every product that this work counts, measured now: the machine's pace changes from minute to minute.
fn units(work: &Work, graph: &SparseGraph, n: usize, m: usize, r: usize) -> Work {
    let v = Factor::new(vec![0.5; n * r], n, r);
    let mut out = vec![0.0; n * r];
    let dense = |a, b, c| if work.single { dense::<f32>(a, b, c) } else { dense::<f64>(a, b, c) };
    let wanted = |count: f64, measure: &mut dyn FnMut() -> f64| if count > 0.0 { measure() } else { 0.0 };
    Work {
        graph: wanted(work.graph, &mut || best(|| graph.times(&v, &mut out))),
        small: wanted(work.small, &mut || dense(n, r, r)),
        samples: wanted(work.samples, &mut || dense(n, m, r)),
        pairs: wanted(work.pairs, &mut || dense(n, n, r)),
        square: wanted(work.square, &mut || dense(n, n, m)),
        cube: wanted(work.cube, &mut || dense(n, n, n)),
        roots: wanted(work.roots, &mut || best(|| roots(&mut vec![0.5; n]))),
        as_needed: false,
        single: work.single,
    }
}

/// Seconds of a product a × b times b × c.
fn dense<E: ComplexField>(a: usize, b: usize, c: usize) -> f64 {
    let (x, y) = (Mat::<E>::full(a, b, one()), Mat::<E>::full(b, c, one()));
    let mut z = Mat::<E>::zeros(a, c);
    best(|| matmul(z.as_mut(), Accum::Replace, x.as_ref(), y.as_ref(), one(), Par::Seq))
}

/// Replace every number by the root of a cubic, by the closed formula.
fn roots(numbers: &mut [f64]) {
    for q in numbers {
        let u = (0.5 * *q + (0.25 * *q * *q + 1.0).sqrt()).cbrt();
        *q = 1.0 + *q / (u * u + 1.0 / (u * u) + 1.0);
    }
}

/// Print a Markdown table for one size; one thread.
pub(crate) fn bench(n: usize, m: usize, r: usize) -> Result<()> {
    rayon::ThreadPoolBuilder::new().num_threads(1).build()?.install(|| table(n, m, r))
}

fn table(n: usize, m: usize, r: usize) -> Result<()> {
    let data = varied(n, m, r, 2.0, 3)?;
    let samples = Samples::from_rows(&data.data, n, m)?;
    let input = Input::from(samples);
    let both = Params::of(r, MethodKind::Gnmf);
    let (prepared, searched) = timed(|| PreparedGraph::new(&input, &both, &Silent));
    let prepared = prepared?;
    let graph: &SparseGraph = prepared.graph().expect("gnmf has a graph");
    let square = n <= LARGEST_SQUARE;
    println!(
        "n = {n}, m = {m}, r = {r}, {} edges, 1 thread, search and graph {:.2} s; processor milliseconds per iteration",
        graph.n_entries(),
        searched.cpu
    );
    println!("| method | iteration | irreducible products | ratio |");
    println!("|---|---|---|---|");
    for (name, method, work) in contenders() {
        if !square && work.is_square() {
            continue;
        }
        let run = |iterations: usize| -> Result<f64> {
            let mut params = Params::of(r, method.clone());
            params.set("max_iter", iterations)?;
            params.set("tol", -1.0)?;
            params.set_if_used("precision", if work.single { "single" } else { "double" })?;
            params.set_if_used("kmeans_restarts", 1_usize)?;
            let (model, seconds) = timed(|| prepared.fit(&params, &Silent));
            model?;
            Ok(seconds.cpu)
        };
        let [short, long] = if work.as_needed || work.cube > 0.0 { FEW } else { [SHORT, LONG] };
        let (mut step, mut least) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS {
            least = least.min(work.seconds(&units(&work, graph, n, m, r)));
            step = step.min((run(long)? - run(short)?) / (long - short) as f64);
        }
        if work.as_needed {
            println!("| {name} | {:.3} | as many as its inner loops take | – |", step * 1e3);
        } else {
            println!("| {name} | {:.3} | {:.3} | {:.1} |", step * 1e3, least * 1e3, step / least);
        }
    }
    println!("\npeak memory {:.0} MiB", peak_bytes() as f64 / (1 << 20) as f64);
    Ok(())
}
