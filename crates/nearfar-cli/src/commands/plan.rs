//! `nearfar plan`: bytes and time, before anything is read.

use nearfar::learn::MethodParams;
use nearfar::plan::human_bytes;
use nearfar::{Checkpoint, Params, Plan};

use crate::exit::{Failure, Outcome};
use crate::flags::PlanArgs;
use crate::output::write_stdout;
use crate::run::settings;
use crate::run::summary::time;

pub(crate) fn run(args: &PlanArgs) -> Outcome {
    let mut learn = args.learn.clone();
    learn.clusters.get_or_insert(10);
    let params = settings::params(&learn)?;
    if args.points == 0 {
        return Err(Failure::wrong("--points = 0 is not allowed: it must be 1 or more"));
    }
    let plan = nearfar::prepared::plan(args.points, args.features, &params)?;
    if args.json {
        print_plan_json(&plan, args.points, &params)
    } else {
        print_plan(&plan, args.points, &params)
    }
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
            writeln!(out, "  {name:<8} {:>10}", human_bytes(*bytes))?;
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
