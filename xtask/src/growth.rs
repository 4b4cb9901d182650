//! How time grows with n, and what the largest exact run costs.

use anyhow::Result;
use nearfar::internals::human_bytes;
use nearfar::internals::mixture;
use nearfar::learn::{Engine, NearFarParams};
use nearfar::observe::Stage;
use nearfar::{Params, Precision, Run, Samples, plan};

use crate::clock::{peak_bytes, timed};

const FEATURES: usize = 64;
const CLUSTERS: usize = 10;

fn params(precision: Precision, threads: Option<usize>) -> Params {
    let mut params = Params::lsdg(CLUSTERS).starts(1).precision(precision);
    params.threads = threads;
    params.stop.max_iter = 20;
    params.mode(nearfar::Mode::Exact)
}

/// Seconds per stage at doubling sizes, with the fitted exponent of the last three.
pub(crate) fn growth(largest: usize, threads: Option<usize>) -> Result<()> {
    let stages =
        [Stage::Neighbors, Stage::Slices, Stage::Learn, Stage::Augment, Stage::Spectral, Stage::Labels];
    let mut rows: Vec<(usize, Vec<f64>)> = Vec::new();
    println!(
        "mixture of {CLUSTERS} in {FEATURES} dimensions, one start, at most 20 iterations per loop, single precision; wall seconds"
    );
    println!("| n | {} |", stages.map(Stage::name).join(" | "));
    println!("|---|{}", "---|".repeat(stages.len()));
    let mut n = 1000;
    while n <= largest {
        let data = mixture(n, FEATURES, CLUSTERS, 1.0, 1)?;
        let samples = Samples::from_rows(&data.data, n, FEATURES)?;
        let model = Run::new(&params(Precision::Single, threads)).fit(samples)?;
        let seconds: Vec<f64> = stages
            .iter()
            .map(|s| model.timings.iter().filter(|(t, _)| t == s).map(|(_, x)| x).sum())
            .collect();
        println!("| {n} | {} |", seconds.iter().map(|s| format!("{s:.3}")).collect::<Vec<_>>().join(" | "));
        rows.push((n, seconds));
        n *= 2;
    }
    let tail = &rows[rows.len().saturating_sub(3)..];
    let exponents: Vec<String> = (0..stages.len()).map(|s| format!("{:.2}", exponent(tail, s))).collect();
    println!("| exponent | {} |", exponents.join(" | "));
    Ok(())
}

/// Slope of log time over log n by least squares.
pub(crate) fn exponent(rows: &[(usize, Vec<f64>)], stage: usize) -> f64 {
    let points: Vec<(f64, f64)> =
        rows.iter().map(|(n, s)| ((*n as f64).ln(), s[stage].max(1e-9).ln())).collect();
    let k = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / k, points.iter().map(|p| p.1).sum::<f64>() / k);
    let (sxy, sxx) =
        points.iter().fold((0.0, 0.0), |(a, b), p| (a + (p.0 - mx) * (p.1 - my), b + (p.0 - mx).powi(2)));
    sxy / sxx
}

/// The default by neighbour graphs at growing sizes: seconds per stage, memory, and exponents with and without the
/// search.
pub(crate) fn growth_of_default(sizes: &[usize], clusters: usize, spread: f64) -> Result<()> {
    let stages = [Stage::Views, Stage::Neighbors, Stage::Learn];
    println!("{}", crate::page::made_by("cargo xtask bench-default"));
    println!();
    println!(
        "Mixture of {clusters} in {FEATURES} dimensions, single precision, by neighbour graphs; wall seconds on {} threads.",
        rayon::current_num_threads()
    );
    println!();
    println!("| n | {} | all | peak | planned | recall | ACC |", stages.map(Stage::name).join(" | "));
    println!("|---|{}", "---|".repeat(stages.len() + 5));
    let mut rows: Vec<(usize, Vec<f64>)> = Vec::new();
    for &n in sizes {
        let data = mixture(n, FEATURES, clusters, spread, 1)?;
        let single: Vec<f32> = data.data.iter().map(|x| *x as f32).collect();
        let truth = data.truth.clone();
        drop(data);
        let own = NearFarParams { engine: Engine::Graph, ..NearFarParams::default() };
        let params = Params::of(clusters, own);
        let planned = plan(n, FEATURES, &params)?;
        let samples = Samples::from_rows(&single, n, FEATURES)?;
        let (model, seconds) = timed(|| Run::new(&params).fit(samples));
        let model = model?;
        let of =
            |stage: &Stage| model.timings.iter().filter(|(t, _)| t == stage).map(|(_, x)| x).sum::<f64>();
        let mut row: Vec<f64> = stages.iter().map(of).collect();
        let cells: Vec<String> = row.iter().map(|seconds| format!("{seconds:.2}")).collect();
        println!(
            "| {n} | {} | {:.2} | {} | {} in {:.1} s | {:.3} | {:.4} |",
            cells.join(" | "),
            seconds.wall,
            human_bytes(peak_bytes()),
            human_bytes(planned.bytes),
            planned.seconds,
            model.search.map_or(1.0, |search| search.recall),
            nearfar::labels::score::accuracy(&model.labels, &truth)?
        );
        row.push(seconds.wall);
        row.push(seconds.wall - row[1]);
        rows.push((n, row));
    }
    if rows.len() > 1 {
        let fitted: Vec<String> =
            (0..=stages.len()).map(|stage| format!("{:.2}", exponent(&rows, stage))).collect();
        println!("| exponent | {} | | | | |", fitted.join(" | "));
        println!();
        println!("Exponent of all but the search: {:.2}.", exponent(&rows, stages.len() + 1));
    }
    Ok(())
}

/// One exact run of n points: time, peak memory, and what the plan had said.
pub(crate) fn large(n: usize, precision: Precision, threads: Option<usize>) -> Result<()> {
    let params = params(precision, threads);
    let data = mixture(n, FEATURES, CLUSTERS, 1.0, 1)?;
    let input = data.data.len() as u64 * 8;
    let planned = plan(n, FEATURES, &params)?;
    let samples = Samples::from_rows(&data.data, n, FEATURES)?;
    let (model, seconds) = timed(|| Run::new(&params).fit(samples));
    let model = model?;
    let peak = peak_bytes().saturating_sub(input);
    let per_pair = peak as f64 / (n as f64 * n as f64);
    println!(
        "n = {n}, m = {FEATURES}, r = {CLUSTERS}, {:?} precision, one start: {:.1} s",
        model.precision, seconds.wall
    );
    for (stage, seconds) in &model.timings {
        println!("  {:<10} {seconds:8.2} s", stage.name());
    }
    println!(
        "  iterations {} + {}",
        model.members[0].started.iterations,
        model.members[0].last_loop().iterations
    );
    println!(
        "  peak {} ({per_pair:.1} n² bytes), planned {}, peak / plan {:.2}",
        human_bytes(peak),
        human_bytes(planned.bytes),
        peak as f64 / planned.bytes as f64
    );
    println!(
        "  ACC against the components: {:.3}",
        nearfar::labels::score::accuracy(&model.labels, &data.truth)?
    );
    Ok(())
}
