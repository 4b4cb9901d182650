//! Several ranks beside one, and the cost model beside both.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use nearfar::internals::mixture;
use nearfar::internals::{BinnedShape, Job, human_bytes};
use nearfar::load::write_npy;
use nearfar_dist::cost::{Cost, Run, Speeds};
use serde_json::Value;

/// What is measured.
pub(crate) struct Sizes {
    pub(crate) points: usize,
    pub(crate) features: usize,
    pub(crate) clusters: usize,
}

/// One run, as its summary tells.
struct Measured {
    /// Ranks that work.
    ranks: usize,
    standing_by: usize,
    total: f64,
    stages: Vec<(String, f64)>,
    /// Peak memory of the largest rank.
    peak: f64,
    imbalance: f64,
    iterations: f64,
    shape: BinnedShape,
}

/// Run at these numbers of ranks, one thread each, and print times, efficiency, memory and the error of the model.
pub(crate) fn bench(program: &Path, sizes: &Sizes, ranks: &[usize], network: (f64, f64)) -> Result<()> {
    let Sizes { points, features, clusters } = *sizes;
    ensure!(
        ranks.first() == Some(&1),
        "the first number of ranks must be 1: all others are compared with it"
    );
    let folder = Path::new("target/bench-ranks");
    std::fs::create_dir_all(folder)?;
    let file = folder.join("points.npy");
    let data = mixture(points, features, clusters, 1.0, 1)?;
    let singles: Vec<f32> = data.data.iter().map(|x| *x as f32).collect();
    let mut out = std::io::BufWriter::new(std::fs::File::create(&file)?);
    write_npy(&mut out, &[points, features], &singles)?;
    drop(out);
    let cores = std::thread::available_parallelism()?.get();
    let mut runs = Vec::new();
    for ranks in ranks {
        runs.push(measure(program, &file, clusters, *ranks, false)?);
        // Those that no processor is left for stand by, unless they are told to work.
        if *ranks > cores {
            runs.push(measure(program, &file, clusters, *ranks, true)?);
        }
    }
    let one = &runs[0];
    println!("{points} x {features}, r = {clusters}, one start, one thread a rank; wall seconds");
    println!("| ranks | total | efficiency | peak of a rank | V aside, of one rank's | imbalance | stages |");
    println!("|---|---|---|---|---|---|---|");
    // V and what is made of it, as the plan counts it.
    let replicated = costs(sizes, one, 1, &Speeds::default()).replicated as f64;
    for run in &runs {
        let stages: Vec<String> =
            run.stages.iter().map(|(stage, seconds)| format!("{stage} {seconds:.1}")).collect();
        println!(
            "| {} | {:.1} | {:.2} | {} | {:.2} | {:.2} | {} |",
            run.name(),
            run.total,
            one.total / run.total / run.ranks as f64,
            human_bytes(run.peak as u64),
            (run.peak - replicated) / (one.peak - replicated),
            run.imbalance,
            stages.join(", ")
        );
    }
    let two = runs.iter().find(|run| run.ranks == 2 && run.standing_by == 0);
    let speeds = calibrated(sizes, one, two, network);
    println!(
        "\nThe cost model, latency {:e} s, {:e} bytes/s, {cores} processors; kernel speeds of the run on one rank{}:",
        network.0,
        network.1,
        if two.is_some() { ", and of learning on two: what is split and what is not" } else { "" }
    );
    println!("{speeds:?}");
    println!("| ranks | measured | predicted | error |");
    println!("|---|---|---|---|");
    for run in &runs {
        // Ranks that share a processor wait for each other.
        let crowd = (run.ranks as f64 / cores as f64).max(1.0);
        let stages = costs(sizes, one, run.ranks, &speeds).stages;
        let predicted: f64 = stages.iter().map(|stage| stage.compute * crowd + stage.network).sum();
        let measured: f64 = stages_of_model().iter().map(|stage| run.seconds(stage)).sum();
        println!(
            "| {} | {measured:.1} | {predicted:.1} | {:+.0} % |",
            run.name(),
            100.0 * (predicted / measured - 1.0)
        );
    }
    Ok(())
}

fn stages_of_model() -> [&'static str; 5] {
    ["neighbors", "slices", "learn", "spectral", "labels"]
}

impl Measured {
    fn name(&self) -> String {
        match self.standing_by {
            0 => self.ranks.to_string(),
            idle => format!("{} ({idle} stand by)", self.ranks + idle),
        }
    }

    fn seconds(&self, stage: &str) -> f64 {
        self.stages.iter().filter(|(name, _)| name == stage).map(|(_, seconds)| seconds).sum()
    }
}

fn measure(program: &Path, file: &Path, clusters: usize, ranks: usize, all: bool) -> Result<Measured> {
    let output = Command::new("mpirun")
        .args(["-n", &ranks.to_string()])
        .arg(program)
        .arg("cluster")
        .arg(file)
        .args(["-k", &clusters.to_string(), "--method", "lsdg", "--starts", "1", "--threads", "1", "--json"])
        .args(all.then_some("--all-ranks"))
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .output()
        .context("mpirun cannot be started; install Open MPI")?;
    if !output.status.success() {
        bail!("{} ranks: {}", ranks, String::from_utf8_lossy(&output.stderr));
    }
    let summary: Value = serde_json::from_slice(&output.stdout)?;
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let whole = |value: &Value| value.as_u64().unwrap_or(0) as usize;
    let stages = summary["seconds"].as_array().context("a summary has seconds")?;
    let peaks = summary["ranks"]["peak"].as_array().context("a summary has the ranks' peaks")?;
    let shape = &summary["binned"]["shape"];
    let standing_by = whole(&summary["standing_by"]);
    Ok(Measured {
        ranks: ranks - standing_by,
        standing_by,
        total: number(&summary["seconds_total"]),
        stages: stages
            .iter()
            .map(|stage| (stage["stage"].as_str().unwrap_or_default().to_owned(), number(&stage["seconds"])))
            .collect(),
        peak: peaks.iter().map(number).fold(0.0, f64::max),
        imbalance: number(&summary["ranks"]["imbalance"]),
        iterations: number(&summary["iterations"][0]),
        shape: BinnedShape {
            near: whole(&shape["near"]),
            far: whole(&shape["far"]),
            bins: whole(&shape["bins"]),
        },
    })
}

fn costs(sizes: &Sizes, like: &Measured, ranks: usize, speeds: &Speeds) -> Cost {
    let job = Job {
        n_samples: sizes.points,
        n_features: sizes.features,
        n_clusters: sizes.clusters,
        starts: 1,
        threads: 1,
        ranks: Some(ranks),
    };
    Run { job, shape: like.shape, iterations: like.iterations, products: 400.0 }.cost(speeds)
}

/// Kernel speeds that give the times of the run on one rank. What learning does in every rank does not get less on two.
fn calibrated(
    sizes: &Sizes,
    one: &Measured,
    two: Option<&Measured>,
    (latency, bandwidth): (f64, f64),
) -> Speeds {
    let mut speeds = Speeds { latency, bandwidth, ..Speeds::default() };
    let compute = |stage: &str, speeds: &Speeds| {
        let stages = costs(sizes, one, 1, speeds).stages;
        stages.iter().find(|cost| cost.stage == stage).map_or(1.0, |cost| cost.compute)
    };
    let ratio = |stage: &str, speeds: &Speeds| one.seconds(stage) / compute(stage, speeds);
    speeds.multiply *= ratio("neighbors", &speeds);
    speeds.product *= ratio("spectral", &speeds);
    let learn = one.seconds("learn");
    let whole = match two {
        Some(two) => (2.0 * two.seconds("learn") - learn).clamp(0.0, learn),
        None => compute("learn", &Speeds { entry: 0.0, ..speeds }) * ratio("learn", &speeds),
    };
    let split = learn - whole;
    speeds.entry *= split / compute("learn", &Speeds { moved: 0.0, ..speeds });
    speeds.moved *= whole / compute("learn", &Speeds { entry: 0.0, ..Speeds::default() });
    speeds
}
