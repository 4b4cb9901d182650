//! The compared methods and the ablations on the eight datasets, beside the paper's figures.
//!
//! The paper's protocol: the best setting of a grid by label accuracy, then mean and deviation over starts. The grid is screened
//! with `screen` starts per setting and the winner run with all of them.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use nearfar::graph::{GraphKind, GraphParams};
use nearfar::labels::score::score;
use nearfar::learn::anls::{AnlsParams, AnlsSolver};
use nearfar::learn::aosymnmf::AoSymNmfParams;
use nearfar::learn::cgsymnmf::CgSymNmfParams;
use nearfar::learn::gnmf::GnmfParams;
use nearfar::learn::gsnmf::GsNmfParams;
use nearfar::learn::lsdg::LsdgParams;
use nearfar::learn::nmfan::NmfAnParams;
use nearfar::learn::rbsmf::RbsMfParams;
use nearfar::learn::s3nmf::S3NmfParams;
use nearfar::learn::sbsum::SBsumParams;
use nearfar::learn::symnmf::{SymNmfParams, SymNmfSolver};
use nearfar::learn::{FactorSolver, MethodKind, MethodParams, Regularizer};
use nearfar::observe::Silent;
use nearfar::{Input, Model, Params, Preset, family};
use rayon::prelude::*;

use crate::data::{Dataset, EIGHT, mean_std};
use crate::paper::PAPER;

/// What to run.
pub(crate) struct Request<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) datasets: &'a [String],
    pub(crate) methods: &'a [String],
    pub(crate) starts: u64,
    pub(crate) screen: u64,
    pub(crate) tolerance: f64,
    pub(crate) graph: GraphKind,
}

/// One method with the settings it may choose from.
struct Contender {
    name: &'static str,
    grid: Vec<(String, Params)>,
}

fn logspace(from: f64, to: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| 10_f64.powf(from + (to - from) * i as f64 / (count - 1) as f64)).collect()
}

fn contenders(r: usize) -> Vec<Contender> {
    let one =
        |name, method: MethodParams| Contender { name, grid: vec![(String::new(), Params::of(r, method))] };
    let of = |name, settings: Vec<(String, MethodParams)>| Contender {
        name,
        grid: settings.into_iter().map(|(s, m)| (s, Params::of(r, m))).collect(),
    };
    let lambdas = |from, to, count, make: &dyn Fn(f64) -> MethodParams| -> Vec<(String, MethodParams)> {
        logspace(from, to, count).into_iter().map(|l| (format!("λ {l:.3}"), make(l))).collect()
    };
    let ao = |regularizer, solver| {
        logspace(-2.0, 4.0, 13)
            .into_iter()
            .map(|alpha| (format!("α {alpha:.3}"), AoSymNmfParams { alpha, regularizer, solver }.into()))
            .collect::<Vec<(String, MethodParams)>>()
    };
    let pairs = |a: Vec<f64>, b: Vec<f64>| -> Vec<(f64, f64)> {
        a.iter().flat_map(|a| b.iter().map(move |b| (*a, *b))).collect()
    };
    let mut all = vec![
        one("symnmf", SymNmfParams::default().into()),
        one("symnmf, gradient", SymNmfParams { solver: SymNmfSolver::Gradient }.into()),
        one("symnmf, newton", SymNmfParams { solver: SymNmfSolver::Newton }.into()),
        of("anls", lambdas(-4.0, 2.0, 13, &|lambda| AnlsParams { lambda, ..AnlsParams::default() }.into())),
        of(
            "anls, columns",
            lambdas(-4.0, 2.0, 13, &|lambda| AnlsParams { lambda, solver: AnlsSolver::Columns }.into()),
        ),
        one("sbsum", SBsumParams::default().into()),
        one("phals", MethodParams::Phals),
        of(
            "gsnmf",
            lambdas(-2.0, 4.0, 50, &|lambda| GsNmfParams { lambda, ..GsNmfParams::default() }.into()),
        ),
        of("gnmf", lambdas(-2.0, 4.0, 13, &|lambda| GnmfParams { lambda }.into())),
        of("nmfan", lambdas(0.0, 4.0, 5, &|lambda| NmfAnParams { lambda, ..NmfAnParams::default() }.into())),
        of(
            "cgsymnmf",
            pairs(logspace(-3.0, 1.0, 5), logspace(-2.0, 2.0, 5))
                .into_iter()
                .map(|(alpha, beta)| {
                    (format!("α {alpha:.3} β {beta:.2}"), CgSymNmfParams { alpha, beta }.into())
                })
                .collect(),
        ),
        of(
            "rbsmf",
            pairs(logspace(-2.0, 2.0, 5), vec![1.0])
                .into_iter()
                .map(|(lambda, mu)| (format!("λ {lambda:.2} μ {mu:.2}"), RbsMfParams { lambda, mu }.into()))
                .collect(),
        ),
        one("s3nmf", S3NmfParams::default().into()),
        one("kmeans", MethodParams::KMeans),
        one("spectral", MethodParams::Spectral),
        one("nmf", MethodParams::Nmf),
        of("aosymnmf, off-diagonal", ao(Regularizer::OffDiagonal, FactorSolver::Multiplicative)),
        of("aosymnmf, log-det", ao(Regularizer::LogDet, FactorSolver::Multiplicative)),
        of("aosymnmf, proposed by products", ao(Regularizer::Proposed, FactorSolver::Multiplicative)),
        of("aosymnmf, proposed by columns", ao(Regularizer::Proposed, FactorSolver::Columns)),
    ];
    all.extend(ablations(r));
    all
}

/// LSDG taken apart. The grids are thinned: every second value of each of the paper's.
fn ablations(r: usize) -> Vec<Contender> {
    let lsdg = |name, settings: Vec<LsdgParams>| Contender {
        name,
        grid: settings
            .into_iter()
            .map(|lsdg| {
                let text = format!("{:?} β {} {:?}", lsdg.alpha, lsdg.beta, lsdg.density);
                (text, Params { lsdg, ..Params::preset(r, Preset::Paper) })
            })
            .collect(),
    };
    let full: Vec<LsdgParams> = [0.01, 0.1, 1.0]
        .iter()
        .flat_map(|a| [1.0, 10.0, 100.0].map(|b| (*a, b)))
        .flat_map(|(a, b)| [0.05, 0.1, 0.5, 1.0].map(|m| LsdgParams::absolute(a, b, m)))
        .collect();
    let with =
        |change: &dyn Fn(LsdgParams) -> LsdgParams| full.iter().copied().map(change).collect::<Vec<_>>();
    let thin = |keep: &dyn Fn(f64, f64) -> LsdgParams, a: &[f64], b: &[f64]| {
        a.iter().flat_map(|a| b.iter().map(|b| keep(*a, *b)).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let wide = [0.1, 0.5, 1.0, 5.0, 10.0];
    let without_d =
        |alpha: f64, mu: f64| LsdgParams { dissimilarity: false, ..LsdgParams::absolute(alpha, 1.0, mu) };
    let products =
        |regularizer| with(&move |p| LsdgParams { solver: FactorSolver::Multiplicative, regularizer, ..p });
    vec![
        lsdg("lsdg", full.clone()),
        lsdg(
            "lsdg without orthogonality",
            thin(
                &|beta, mu| LsdgParams { orthogonality: false, ..LsdgParams::absolute(0.0, beta, mu) },
                &[1.0, 10.0, 100.0, 1000.0],
                &[0.03, 0.07, 0.1, 0.5, 1.0],
            ),
        ),
        lsdg("lsdg without D", thin(&without_d, &wide, &wide)),
        lsdg(
            "lsdg without both",
            logspace(-2.0, 2.0, 25)
                .into_iter()
                .map(|mu| LsdgParams { orthogonality: false, ..without_d(0.0, mu) })
                .collect(),
        ),
        lsdg("lsdg, off-diagonal", products(Regularizer::OffDiagonal)),
        lsdg("lsdg, log-det", products(Regularizer::LogDet)),
        lsdg("lsdg, proposed by products", products(Regularizer::Proposed)),
    ]
}

/// Data made ready once: for the fixed graphs, the samples, and the slices.
struct Ready {
    data: Dataset,
    both: family::Prepared,
    slices: nearfar::Prepared,
}

impl Ready {
    fn new(folder: &Path, name: &str, graph: GraphKind) -> Result<Self> {
        let data = Dataset::open(folder, name)?;
        let input = Input::from(data.samples());
        // A method of graph and samples: its preparation serves every other.
        let mut params = Params::of(data.classes, MethodKind::Gnmf);
        params.graph = GraphParams { kind: graph, neighbors: None };
        let both = family::Prepared::new(&input, &params, &Silent)?;
        let slices = nearfar::Prepared::new(&input, &Params::new(data.classes), &Silent)?;
        Ok(Self { data, both, slices })
    }

    fn fit(&self, params: &Params) -> nearfar::Result<Model> {
        match params.method {
            MethodParams::Lsdg => self.slices.fit(params, &Silent),
            _ => self.both.fit(params, &Silent),
        }
    }

    /// ACC and NMI of one start; of S3NMF the mean over its last members, as its authors report it.
    fn run(&self, params: &Params, seed: u64) -> Result<[f64; 2]> {
        let model = match self.fit(&params.clone().seed(seed).threads(1)) {
            // Where V died every label is as good as any other.
            Err(nearfar::Error::Collapsed { .. }) => {
                let scores = score(&vec![0; self.data.n], &self.data.truth)?;
                return Ok([scores.accuracy, scores.nmi]);
            }
            other => other?,
        };
        let votes = model.best_member().map(|m| m.votes.clone()).unwrap_or_default();
        let labelings = if votes.is_empty() { vec![model.labels] } else { votes };
        let mut sums = [0.0; 2];
        for labels in &labelings {
            let scores = score(labels, &self.data.truth)?;
            sums[0] += scores.accuracy / labelings.len() as f64;
            sums[1] += scores.nmi / labelings.len() as f64;
        }
        Ok(sums)
    }

    fn runs(&self, params: &Params, starts: u64) -> Result<[Vec<f64>; 2]> {
        let runs: Result<Vec<[f64; 2]>> =
            (0..starts).into_par_iter().map(|seed| self.run(params, seed)).collect();
        let runs = runs?;
        Ok([0, 1].map(|at| runs.iter().map(|run| run[at]).collect()))
    }
}

/// Print a Markdown row per method and dataset.
pub(crate) fn run(request: &Request<'_>) -> Result<()> {
    let Request { folder, starts, screen, tolerance, graph, .. } = *request;
    println!(
        "{starts} starts, grids screened with {screen}, tolerance {tolerance:e} for all, graph {graph:?} for those that factor a fixed one"
    );
    println!(
        "| data | method | setting (best by label accuracy of N) | ACC | paper | off by (σ) | NMI | paper | off by (σ) | s per run |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let wanted = |list: &[String], name: &str| list.is_empty() || list.iter().any(|x| x == name);
    for (at, (name, ..)) in EIGHT.iter().enumerate().filter(|(_, (name, ..))| wanted(request.datasets, name))
    {
        let ready = Ready::new(folder, name, graph)?;
        for contender in contenders(ready.data.classes) {
            if wanted(request.methods, contender.name) {
                row(&ready, at, contender, request)?;
            }
        }
    }
    Ok(())
}

fn row(ready: &Ready, at: usize, contender: Contender, request: &Request<'_>) -> Result<()> {
    let grid: Vec<(String, Params)> = contender
        .grid
        .into_iter()
        .map(|(text, mut params)| {
            params.stop.loss_tolerance = request.tolerance;
            (text, params)
        })
        .collect();
    let tried = grid.len();
    let mut best: Option<(f64, usize)> = None;
    if tried > 1 {
        for (index, (_, params)) in grid.iter().enumerate() {
            let acc = mean_std(&ready.runs(params, request.screen)?[0]).0;
            if best.is_none_or(|(most, _)| acc > most) {
                best = Some((acc, index));
            }
        }
    }
    let (text, params) = &grid[best.map_or(0, |(_, index)| index)];
    let clock = Instant::now();
    let [acc, nmi] = ready.runs(params, request.starts)?;
    let seconds = clock.elapsed().as_secs_f64() / request.starts as f64;
    let setting = if tried > 1 { format!("{text} (of {tried})") } else { "–".into() };
    print!("| {} | {} | {setting} |", EIGHT[at].0, contender.name);
    let paper = PAPER.iter().find(|(name, ..)| *name == contender.name);
    for (ours, theirs) in [(&acc, paper.map(|p| p.1[at])), (&nmi, paper.map(|p| p.2[at]))] {
        let (mean, std) = mean_std(ours);
        print!(" {mean:.3} ± {std:.3} |");
        match theirs {
            Some((value, Some(spread))) => {
                // A deviation below .005 would turn rounding into a distance.
                print!(" {value:.3} ± {spread:.3} | {:+.1} |", (mean - value) / spread.max(0.005));
            }
            Some((value, None)) => print!(" {value:.3} | {:+.3} |", mean - value),
            None => print!(" – | – |"),
        }
    }
    println!(" {seconds:.2} |");
    std::io::stdout().flush()?;
    Ok(())
}
