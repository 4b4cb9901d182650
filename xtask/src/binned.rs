//! Binned mode: how it compares with exact mode, what large runs cost, and how cost grows.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use nearfar::internals::human_bytes;
use nearfar::internals::mixture;
use nearfar::labels::score::score;
use nearfar::learn::Member;
use nearfar::observe::{Event, Observer, Stage};
use nearfar::{BinnedParams, Mode, Model, Params, Pruning, Run, Samples, plan};

use crate::clock::{peak_bytes, timed};
use crate::data::{Dataset, EIGHT, mean_std};
use crate::growth::exponent;

const FEATURES: usize = 64;
const STAGES: [Stage; 6] =
    [Stage::Neighbors, Stage::Slices, Stage::Learn, Stage::Augment, Stage::Spectral, Stage::Labels];

/// Single starts of both modes over the datasets: mean ACC and NMI, active near ranks.
pub(crate) fn compare(folder: &Path, starts: u64, names: &[String], binned: BinnedParams) -> Result<()> {
    println!("one start each, {starts} seeds; mean of exact / binned and their difference");
    println!(
        "| data | n | ACC exact | binned | difference | NMI exact | binned | difference | near ranks exact | binned |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, ..) in EIGHT.iter().filter(|(name, ..)| names.is_empty() || names.iter().any(|n| n == name)) {
        let data = Dataset::open(folder, name)?;
        let of = |mode: Mode| -> Result<[Vec<f64>; 3]> {
            let mut found = [Vec::new(), Vec::new(), Vec::new()];
            for seed in 0..starts {
                let mut params = Params::lsdg(data.classes).starts(1).seed(seed).mode(mode);
                (params.binned, params.pruning) = (binned, Pruning::None);
                let model = Run::new(&params).fit(data.samples())?;
                let scores = score(&model.labels, &data.truth)?;
                found[0].push(scores.accuracy);
                found[1].push(scores.nmi);
                found[2].push(model.active_ranks().0 as f64);
            }
            Ok(found)
        };
        let (exact, binned) = (of(Mode::Exact)?, of(Mode::Binned)?);
        let mean = |values: &[f64]| mean_std(values).0;
        let pair = |at: usize| (mean(&exact[at]), mean(&binned[at]));
        let ((a, b), (c, d), (e, f)) = (pair(0), pair(1), pair(2));
        println!(
            "| {name} | {} | {a:.3} | {b:.3} | {:+.3} | {c:.3} | {d:.3} | {:+.3} | {e:.1} | {f:.1} |",
            data.n,
            b - a,
            d - c
        );
    }
    Ok(())
}

/// Says on standard error where a long run is.
struct Log(Instant);

impl Observer for Log {
    fn notice(&self, event: &Event<'_>) {
        let at = self.0.elapsed().as_secs();
        match event {
            Event::Started { stage } => eprintln!("{at:>6} s: {}", stage.name()),
            Event::Iteration { member, row } if row.iteration % 10 == 0 => {
                eprintln!("{at:>6} s: start {member}, iteration {}", row.iteration);
            }
            Event::Member { member, .. } => eprintln!("{at:>6} s: start {member} done"),
            _ => {}
        }
    }
}

fn say(model: &Model, truth: &[usize], seconds: f64, planned: u64) -> Result<()> {
    for (stage, seconds) in &model.timings {
        println!("  {:<10} {seconds:8.1} s", stage.name());
    }
    let scores = score(&model.labels, truth)?;
    let loops: Vec<usize> = model.members.iter().map(|m| m.last_loop().iterations).collect();
    println!("  total {seconds:.1} s, peak {}, planned {}", human_bytes(peak_bytes()), human_bytes(planned));
    println!("  {:?}", model.binned);
    println!("  iterations {loops:?}, ACC {:.4}, NMI {:.4}", scores.accuracy, scores.nmi);
    Ok(())
}

/// The program beside others, all as processes; Python starts them and prints the table.
pub(crate) fn beside(python: &str, file: &Path, clusters: usize, limit: u64) -> Result<()> {
    let program = std::env::current_exe()?.with_file_name("nearfar");
    ensure!(program.exists(), "{} is not there: cargo build --release -p nearfar-cli", program.display());
    let status = Command::new(python)
        .args(["-c", include_str!("beside.py")])
        .args([&program, file])
        .args([clusters.to_string(), limit.to_string()])
        .status()
        .with_context(|| format!("{python} does not start"))?;
    ensure!(status.success(), "the comparison failed");
    Ok(())
}

/// A dataset file in binned mode: time, memory, scores.
pub(crate) fn dataset(folder: &Path, name: &str, params: &dyn Fn(usize) -> Params) -> Result<()> {
    let data = Dataset::open(folder, name)?;
    let params = params(data.classes).mode(Mode::Binned);
    println!("{name}: {} x {}, {} classes, {} starts", data.n, data.m, data.classes, params.starts);
    let single: Vec<f32> = data.x.iter().map(|x| *x as f32).collect();
    let Dataset { truth, n, m, x, .. } = data;
    drop(x);
    let samples = Samples::from_rows(&single, n, m)?;
    let planned = plan(n, m, &params)?.bytes;
    let (model, seconds) = timed(|| Run::new(&params).observe(&Log(Instant::now())).fit(samples));
    say(&model?, &truth, seconds.wall, planned)
}

/// Generated mixtures of growing size: seconds per stage, peak memory, fitted exponents.
pub(crate) fn growth(
    sizes: &[usize],
    clusters: usize,
    spread: f64,
    params: &dyn Fn(usize) -> Params,
) -> Result<()> {
    let mut rows: Vec<(usize, Vec<f64>)> = Vec::new();
    for &n in sizes {
        let data = mixture(n, FEATURES, clusters, spread, 1)?;
        let params = params(clusters).mode(Mode::Binned);
        println!("mixture of {clusters}: {n} x {FEATURES}, {} starts", params.starts);
        let single: Vec<f32> = data.data.iter().map(|x| *x as f32).collect();
        let truth = data.truth.clone();
        drop(data);
        let samples = Samples::from_rows(&single, n, FEATURES)?;
        let planned = plan(n, FEATURES, &params)?.bytes;
        let (model, seconds) = timed(|| Run::new(&params).observe(&Log(Instant::now())).fit(samples));
        let model = model?;
        say(&model, &truth, seconds.wall, planned)?;
        let of =
            |stage: &Stage| model.timings.iter().filter(|(t, _)| t == stage).map(|(_, x)| x).sum::<f64>();
        let mut row: Vec<f64> = STAGES.iter().map(of).collect();
        row.push(row[1..].iter().sum());
        // Starts make more iterations on larger data: one iteration over all points is what can be compared.
        let iterations = |m: &Member| m.last_loop().iterations + m.started.iterations;
        let all: usize = model.members.iter().map(iterations).sum();
        row.push(row[2] / all as f64);
        row.push(peak_bytes() as f64);
        rows.push((n, row));
    }
    if rows.len() > 1 {
        let names = STAGES.iter().map(|s| s.name());
        let names = names.chain(["all but neighbors", "learn, by iterations over all points", "peak memory"]);
        println!("| exponent of | {} |", names.collect::<Vec<_>>().join(" | "));
        let fitted: Vec<String> =
            (0..rows[0].1.len()).map(|s| format!("{:.2}", exponent(&rows, s))).collect();
        println!("| | {} |", fitted.join(" | "));
    }
    Ok(())
}
