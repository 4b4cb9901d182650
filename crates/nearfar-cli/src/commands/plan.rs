//! `nearfar plan`: bytes and time, before anything is read.

use nearfar::checkpoint::Checkpoint;
use nearfar::internals::{Job, human_bytes};
use nearfar::learn::{MethodKind, MethodParams};
use nearfar::{Params, Plan};
use nearfar_dist::cost::{Run, Speeds};

use crate::exit::{Failure, Outcome};
use crate::flags::{Clusters, PlanArgs};
use crate::output::write_stdout;
use crate::run::settings;
use crate::run::summary::time;

pub(crate) fn run(args: &PlanArgs) -> Outcome {
    let mut learn = args.learn.clone();
    if settings::method(&learn) != MethodKind::NearFar {
        learn.clusters.get_or_insert(Clusters::Number(10));
    }
    let params = settings::params(&learn)?;
    if args.points == 0 {
        return Err(Failure::wrong("--points = 0 is not allowed: it must be 1 or more"));
    }
    if let Some(ranks) = args.ranks {
        return of_ranks(args, &params, ranks);
    }
    let plan = nearfar::plan(args.points, args.features, &params)?;
    if args.json {
        print_plan_json(&plan, args.points, &params)
    } else {
        print_plan(&plan, args.points, &params)
    }
}

/// Iterations of one start, and columns that the eigensolver multiplies: what runs on a few hundred thousand points
/// took.
const ITERATIONS: f64 = 130.0;
const PRODUCTS: f64 = 400.0;

/// What the same run takes when processes share the points.
fn of_ranks(args: &PlanArgs, params: &Params, ranks: usize) -> Outcome {
    if !(1..=1_000_000).contains(&ranks) {
        return Err(Failure::wrong(format!("--ranks = {ranks} is not allowed: it must be 1 to 1000000")));
    }
    if params.method != MethodParams::Lsdg || args.features == 0 {
        return Err(Failure::wrong("--ranks plans lsdg on samples; add --method lsdg and give --features"));
    }
    // The machines of that run need not be this one: no limit.
    let unlimited =
        Params { memory: Some(u64::MAX), threads: Some(params.threads.unwrap_or(1)), ..params.clone() };
    let plan = nearfar::internals::plan_shared(args.points, args.features, &unlimited, Some(ranks))?;
    let Some(shape) = plan.binned else { return Err(Failure::wrong("--ranks plans binned mode")) };
    let job = Job {
        n_samples: args.points,
        n_features: args.features,
        n_clusters: params.n_clusters.min(args.points),
        starts: params.starts,
        threads: unlimited.threads.unwrap_or(1),
        ranks: Some(ranks),
    };
    let speeds = Speeds { latency: args.latency, bandwidth: args.bandwidth, ..Speeds::default() };
    let cost = Run { job, shape, iterations: ITERATIONS, products: PRODUCTS }.cost(&speeds);
    if args.json {
        return write_stdout(|mut out| {
            serde_json::to_writer_pretty(&mut out, &cost)?;
            writeln!(out)
        });
    }
    write_stdout(|out| {
        let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let (ranks, threads) = (count(ranks, "rank"), count(job.threads, "thread"));
        writeln!(out, "points     {} on {ranks} of {threads}", args.points)?;
        writeln!(
            out,
            "memory     {} a rank, of which V and what is made of it {}",
            human_bytes(cost.memory),
            human_bytes(cost.replicated)
        )?;
        for (name, bytes) in &plan.parts {
            writeln!(out, "  {name:<9} {:>10}", human_bytes(*bytes))?;
        }
        writeln!(
            out,
            "mode       binned: {} near ranks, {} bins, {} partners a point",
            shape.near, shape.bins, shape.far
        )?;
        writeln!(out, "time       about {}", time(cost.seconds))?;
        for stage in &cost.stages {
            writeln!(
                out,
                "  {:<10} computing {:>9}, network {:>9}, {:>10} received",
                stage.stage,
                time(stage.compute),
                time(stage.network),
                human_bytes(stage.bytes as u64)
            )?;
        }
        Ok(())
    })
}

/// Bytes on disk of a run that saves itself; `None` for methods that cannot.
fn checkpoint_bytes(plan: &Plan, points: usize, params: &Params) -> Option<u64> {
    (params.method == MethodParams::Lsdg).then(|| Checkpoint::bytes(points, params, plan))
}

pub(crate) fn print_plan(plan: &Plan, points: usize, params: &Params) -> Outcome {
    write_stdout(|out| {
        writeln!(out, "points     {points}")?;
        writeln!(
            out,
            "memory     {} of {} that may be used",
            human_bytes(plan.bytes),
            human_bytes(plan.limit)
        )?;
        for (name, bytes) in &plan.parts {
            writeln!(out, "  {name:<9} {:>10}", human_bytes(*bytes))?;
        }
        if params.method.kind() == MethodKind::NearFar {
            return writeln!(out, "time       about {}", time(plan.seconds));
        }
        writeln!(
            out,
            "storage    {}",
            if plan.precision == nearfar::Precision::Single { "single" } else { "double" }
        )?;
        if let Some(shape) = plan.binned {
            writeln!(
                out,
                "mode       binned: {} near ranks, {} bins, {} partners a point",
                shape.near, shape.bins, shape.far
            )?;
        } else {
            writeln!(out, "mode       exact")?;
        }
        if let Some(bytes) = checkpoint_bytes(plan, points, params) {
            writeln!(out, "checkpoint up to {} on disk, with --checkpoint", human_bytes(bytes))?;
        }
        writeln!(out, "together   {} starts side by side", plan.side_by_side)?;
        writeln!(out, "time       about {}", time(plan.seconds))
    })
}

pub(crate) fn print_plan_json(plan: &Plan, points: usize, params: &Params) -> Outcome {
    #[derive(serde::Serialize)]
    struct Whole<'a> {
        #[serde(flatten)]
        plan: &'a Plan,
        #[serde(skip_serializing_if = "Option::is_none")]
        checkpoint_bytes: Option<u64>,
    }
    let whole = Whole { plan, checkpoint_bytes: checkpoint_bytes(plan, points, params) };
    write_stdout(|mut out| {
        serde_json::to_writer_pretty(&mut out, &whole)?;
        writeln!(out)
    })
}
