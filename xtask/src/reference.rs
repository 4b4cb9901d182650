//! Our stages beside the NumPy port's: same data, same start, same threads, one run.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use nearfar::Input;
use nearfar::internals::KMeansParams;
use nearfar::internals::{
    EIGEN_TOLERANCE, EigenParams, Entry, FullSlices, Graph, Lsdg, Normalized, Phals, Slices, largest, rank,
    row_normalize,
};
use nearfar::learn::{Factor, LsdgParams, Method, StopRule, run};
use nearfar::observe::Silent;

use crate::clock::{Seconds, timed};
use crate::data::Dataset;
use crate::limit;
use crate::mt19937::Mt19937;

const SEED: u32 = 666;

/// Stages as the NumPy program names them, and as we do.
const STAGES: [(&str, &str); 6] = [
    ("affinities", "neighbors + slices"),
    ("phals init", "PHALS start"),
    ("lsdg loop", "LSDG loop"),
    ("augmented affinity", "augment"),
    ("eigenvectors", "eigenvectors"),
    ("k-means x20 replicates, 1 rep", "k-means, 20 restarts"),
];

struct Ours {
    stages: [Seconds; 6],
    iterations: usize,
    limit: f64,
}

/// Compare on every named dataset, in both precisions.
pub(crate) fn bench(
    folder: &Path,
    reference: &Path,
    python: &str,
    names: &[String],
    threads: usize,
) -> Result<()> {
    println!(
        "seconds are {} (1 thread: processor time, which a busy machine does not change)",
        if threads == 1 { "processor time" } else { "wall-clock" }
    );
    for name in names {
        let data = Dataset::open(folder, name)?;
        let theirs = numpy(reference, python, &data, threads)?;
        let double = pooled(threads, || ours::<f64>(&data))?;
        let single = pooled(threads, || ours::<f32>(&data))?;
        let iterations = theirs["iters"].as_u64().unwrap_or(0) as usize;
        ensure!(
            double.iterations == iterations,
            "{name}: {} iterations, NumPy {iterations}",
            double.iterations
        );
        println!(
            "\n{name}: n = {}, m = {}, r = {}, threads = {threads}, alpha .1 beta 10 mu .1, {iterations} iterations (f32: {})",
            data.n, data.m, data.classes, single.iterations
        );
        println!("| stage | NumPy gram, s | nearfar f64, s | ratio | nearfar f32, s | ratio |");
        println!("|---|---|---|---|---|---|");
        let mut totals = [0.0; 3];
        for (at, (key, name)) in STAGES.iter().enumerate() {
            let pair = &theirs["stages"][key];
            let numpy = pair[usize::from(threads == 1)].as_f64().context("a stage is missing")?;
            let (mut f64s, mut f32s) = (double.stages[at].fair(threads), single.stages[at].fair(threads));
            let mut numpy = numpy;
            let mut shown = (*name).to_string();
            for (total, seconds) in totals.iter_mut().zip([numpy, f64s, f32s]) {
                *total += seconds;
            }
            if *key == "lsdg loop" {
                numpy /= iterations as f64;
                f64s /= double.iterations as f64;
                f32s /= single.iterations as f64;
                shown = "LSDG, one iteration".into();
            }
            println!(
                "| {shown} | {numpy:.5} | {f64s:.5} | {:.1} | {f32s:.5} | {:.1} |",
                numpy / f64s,
                numpy / f32s
            );
        }
        let spectral = |s: &Ours| s.stages[4].fair(threads) + s.stages[5].fair(threads);
        let numpy_spectral: f64 = [STAGES[4].0, STAGES[5].0]
            .iter()
            .filter_map(|k| theirs["stages"][k][usize::from(threads == 1)].as_f64())
            .sum();
        println!(
            "| eigenvectors + k-means | {numpy_spectral:.5} | {:.5} | {:.1} | {:.5} | {:.1} |",
            spectral(&double),
            numpy_spectral / spectral(&double),
            spectral(&single),
            numpy_spectral / spectral(&single)
        );
        let [numpy, f64s, f32s] = totals;
        println!(
            "| **all** | {numpy:.3} | {f64s:.3} | **{:.1}** | {f32s:.3} | **{:.1}** |",
            numpy / f64s,
            numpy / f32s
        );
        let each = |s: &Ours| s.stages[2].fair(threads) / s.iterations as f64;
        println!(
            "irreducible work of one iteration by plain kernels: f64 {:.5} s, f32 {:.5} s; ours takes {:.2} and {:.2} of that",
            double.limit,
            single.limit,
            each(&double) / double.limit,
            each(&single) / single.limit
        );
    }
    Ok(())
}

fn pooled<R: Send>(threads: usize, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build()?.install(work)
}

fn numpy(reference: &Path, python: &str, data: &Dataset, threads: usize) -> Result<serde_json::Value> {
    let out = std::env::temp_dir().join(format!("nearfar-bench-{}.json", std::process::id()));
    let output = Command::new(python)
        .arg(reference.join("bench_reference.py"))
        .arg(&data.path)
        .args(["--mode", "gram", "--spectral", "1", "--threads", &threads.to_string()])
        .args(["--seed", &SEED.to_string(), "--json"])
        .arg(&out)
        .output()
        .with_context(|| format!("{python} cannot be run; it needs numpy and scipy (--python)"))?;
    ensure!(output.status.success(), "the NumPy program failed: {}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&out)?;
    std::fs::remove_file(&out)?;
    Ok(serde_json::from_str(&text)?)
}

fn ours<E: Entry>(data: &Dataset) -> Result<Ours> {
    let (n, r) = (data.n, data.classes);
    let mut generator = Mt19937::new(SEED);
    let start = Factor::new((0..n * r).map(|_| generator.uniform()).collect(), n, r);
    let params = LsdgParams::paper();
    let (slices, ranked) = timed(|| -> Result<_> {
        Ok(FullSlices::<E>::new(rank(&Input::from(data.samples()), 0, &Silent)?, &Silent)?)
    });
    let slices = slices?;
    let k0 = n.ilog2() as usize + 1;
    let w: Vec<f64> = (0..n).map(|k| if k < k0 { 1.0 / k0 as f64 } else { 0.0 }).collect();
    let p: Vec<f64> = (0..n).map(|k| if k >= k0 { 1.0 / (n - k0) as f64 } else { 0.0 }).collect();
    let mut graph = slices.new_graph();
    let (factor, started) = timed(|| {
        slices.combine(&w, &mut graph);
        let mut phals = Phals::new(&graph, start);
        run(&mut phals, &StopRule::default(), 0, &Silent);
        phals.into_factor()
    });
    let ((lsdg, learned), looped) = timed(|| {
        let mut lsdg = Lsdg::new(&slices, graph, factor, (w, p), params, 0.1);
        let learned = run(&mut lsdg, &StopRule::default(), 0, &Silent);
        (lsdg, learned)
    });
    let limit = limit::one_iteration(&slices, lsdg.factor());
    let (factor, w, p, mut z) = lsdg.into_parts();
    let ((), augmented) = timed(|| {
        z.clear();
        slices.augment(&w, &p, &factor, 1.0, &mut z);
    });
    let (eigen, solved) = timed(|| {
        largest(
            &Normalized::new(&z),
            r,
            &EigenParams { tolerance: EIGEN_TOLERANCE, ..EigenParams::default() },
            &|| false,
        )
    });
    let eigen = eigen.context("nobody cancels here")?;
    let (found, labelled) = timed(|| {
        let rows = row_normalize(&eigen.vectors, n, r);
        KMeansParams::new(r).fit(&rows, n, r, 1)
    });
    found?;
    Ok(Ours {
        stages: [ranked, started, looped, augmented, solved, labelled],
        iterations: learned.iterations,
        limit,
    })
}
