//! `nearfar cluster`: points in, labels out.

use std::sync::PoisonError;
use std::time::Instant;

use nearfar::learn::MethodParams;
use nearfar::model::SaveOptions;
use nearfar::{Checkpoint, Error, Input, Mode, Model, Params, Plan, Precision, SavedModel};
use nearfar_report::Record;

use super::plan::{print_plan, print_plan_json};
use crate::exit::{Exit, Failure, Outcome};
use crate::flags::{ClusterArgs, GraphKind, OutputArgs};
use crate::interrupt::{self, Phase};
use crate::output::{
    LabelFormat, check_file, check_folder, ending, is_written_in_place, unknown_ending, write_file,
    write_labels, write_stdout,
};
use crate::paint::{Paint, say};
use crate::ranks;
use crate::run::data::Data;
use crate::run::folder::{Folder, export_graph};
use crate::run::summary::Summary;
use crate::run::watch::Watch;
use crate::run::{report, settings};

pub(crate) fn run(flags: ClusterArgs) -> Outcome {
    let clock = Instant::now();
    let args = settings::merge(flags)?;
    let mut params = settings::params(&args.learn)?;
    check_outputs(&args)?;
    check_shared(&args.output)?;
    let checkpoint = checkpoint(&args.output, &params)?;
    ranks::share_machine(&mut params);
    interrupt::listen();
    let data = Data::read(&args.input, params.memory, params.precision == Precision::Double)?;
    let params = params.settled(data.n_samples());
    let settings = settings::resolved(&args, &params);
    let (input, output) = (data.input()?, &args.output);
    let plan = plan(&data, &input, &params, output)?;
    let picture = output.image_shape.as_ref().map(|shape| shape.picture);
    report::check_picture(picture.as_ref(), &data)?;
    if output.dry_run {
        let n_samples = data.n_samples();
        return if output.json {
            print_plan_json(&plan, n_samples, &params)
        } else {
            print_plan(&plan, n_samples, &params)
        };
    }
    let alone = ranks::team().is_none();
    if alone && params.mode == Mode::Auto && plan.mode == Mode::Binned && !output.quiet && !output.json {
        say(format_args!(
            "{} points are too many for exact mode here: binned mode (--mode exact insists)",
            data.n_samples()
        ));
    }
    // Others than the first of several processes do not look: some file systems would go on telling them that nothing is there.
    if let Some(checkpoint) = &checkpoint
        && output.resume
        && !output.quiet
        && !output.json
        && !ranks::silent()
        && !checkpoint.exists()
    {
        let folder = checkpoint.folder().display();
        say(format_args!("{folder}: no checkpoint is here, so the run starts from the beginning"));
    }
    let watch = Watch::new(output);
    keep_what_there_is(output, &watch, &settings);
    interrupt::enter(Phase::Running);
    let fitted = match &checkpoint {
        Some(checkpoint) => nearfar::fit_saved(&input, &params, checkpoint, &watch),
        None => nearfar::fit_observed(&input, &params, &watch),
    };
    if let Err(Error::Cancelled { .. }) = fitted {
        interrupt::say_last_words();
        return Err(Failure::silent(Exit::Interrupted));
    }
    interrupt::enter(Phase::Writing);
    let model = fitted?;
    data.check_unchanged()?;
    let mut summary = Summary::new(&data, &model, clock.elapsed().as_secs_f64());
    if let Some(checkpoint) = &checkpoint {
        summary.note_checkpoint(checkpoint);
    }
    summary.ranks = ranks::team().map(|team| team.report());
    summary.standing_by = Some(ranks::standing_by()).filter(|count| *count > 0);
    let drawn = alone && (output.report.is_some() || output.out_dir.is_some());
    let record =
        drawn.then(|| report::record(&data, &model, &summary, &settings, &plan, picture)).transpose()?;
    write(&args, &data, &model, &mut summary, &settings, record.as_ref())?;
    if let Some(checkpoint) = &checkpoint {
        checkpoint.remove()?; // only now: what it could make again is safe
    }
    let paint = Paint::for_stderr(output.no_color);
    if !output.quiet && !output.json {
        summary.print(&model, paint, output.verbose);
    }
    if output.strict && !summary.warnings.is_empty() {
        let count = summary.warnings.len();
        let message = format!("{count} warning{} under --strict", if count == 1 { "" } else { "s" });
        if output.quiet || output.json {
            summary.print_warnings(paint);
        }
        return Err(Failure::new(Exit::Strict, message));
    }
    Ok(())
}

/// Where the run saves itself.
fn checkpoint(output: &OutputArgs, params: &Params) -> Outcome<Option<Checkpoint>> {
    let Some(folder) = &output.checkpoint else {
        let flag = if output.resume { "--resume" } else { "--checkpoint-every" };
        if !output.resume && output.checkpoint_every.is_none() {
            return Ok(None);
        }
        return Err(Failure::wrong(format!("{flag} needs a folder; name it with --checkpoint DIR")));
    };
    if params.method != MethodParams::Lsdg {
        let method = params.method.kind();
        return Err(Failure::wrong(format!(
            "only lsdg can save itself; leave out --checkpoint with {method}"
        )));
    }
    // A folder that can only be read can still be resumed from.
    if !output.resume {
        check_folder(folder)?;
    }
    let checkpoint = Checkpoint::new(folder).resume(output.resume);
    Ok(Some(match &output.checkpoint_every {
        Some(pause) => checkpoint.every(pause.time),
        None => checkpoint,
    }))
}

/// Complain about places that cannot be written before the work, not after it.
fn check_outputs(args: &ClusterArgs) -> Outcome {
    let (input, output) = (args.input.input.as_deref(), &args.output);
    if let Some(path) = &output.output {
        LabelFormat::of(path)?;
        check_file(path, input)?;
    }
    for (_, path) in output.graphs() {
        check_file(&path, input)?;
        if output.output.as_ref() == Some(&path) {
            return Err(Failure::wrong("-o and --export-graph name one file; choose two names"));
        }
    }
    if let Some(path) = &output.save_model {
        check_file(path, input)?;
        if output.output.as_ref() == Some(path) {
            return Err(Failure::wrong("-o and --save-model name one file; choose two names"));
        }
    }
    if let Some(path) = &output.report {
        check_file(path, input)?;
        if !["html", "htm"].contains(&ending(path).as_str()) && !is_written_in_place(path) {
            return Err(unknown_ending(path, &ending(path), "a report", ".html"));
        }
        if output.save_model.as_ref() == Some(path) {
            return Err(Failure::wrong("--report and --save-model name one file; choose two names"));
        }
    }
    output.out_dir.as_deref().map_or(Ok(()), check_folder)
}

/// Some outputs are made of all points in one process.
fn check_shared(output: &OutputArgs) -> Outcome {
    let z = output.graphs().iter().any(|(kind, _)| *kind == GraphKind::Z);
    let asked = [
        (output.report.is_some(), "--report"),
        (output.save_model.is_some(), "--save-model"),
        (z, "--export-graph z"),
    ];
    match asked.iter().find(|(asked, _)| *asked && ranks::team().is_some()) {
        Some((_, flag)) => Err(Failure::wrong(format!(
            "{flag} needs all points in one process; leave it out, or start without mpirun"
        ))),
        None => Ok(()),
    }
}

/// The plan of the run, with room for a full Z where one is to be written.
fn plan(data: &Data, input: &Input<'_>, params: &Params, output: &OutputArgs) -> Outcome<Plan> {
    let table = &data.table;
    let ranks = ranks::team().map(|team| team.size());
    let mut plan =
        nearfar::prepared::plan_held(data.n_samples(), table.n_features, params, ranks, Some(input.held()))?;
    if output.graphs().iter().any(|(kind, _)| *kind == GraphKind::Z) {
        let full = 8 * (table.n_samples as u64).pow(2);
        plan.bytes += full;
        plan.parts.push(("graph z", full));
        if plan.bytes > plan.limit {
            return Err(Failure::memory(format!(
                "writing the graph z takes {} more than may be used; export s or d, or allow more with --memory",
                nearfar::plan::human_bytes(plan.bytes - plan.limit)
            )));
        }
    }
    Ok(plan)
}

/// What Ctrl-C leaves behind.
fn keep_what_there_is(output: &OutputArgs, watch: &Watch, settings: &str) {
    let (folder, checkpoint, quiet) = (output.out_dir.clone(), output.checkpoint.clone(), output.quiet);
    let (trace, settings) = (watch.trace.clone(), settings.to_owned());
    interrupt::set_last_words(Some(Box::new(move || {
        let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
        let stage = trace.stage.map_or("load", nearfar::observe::Stage::name);
        let kept = match &folder {
            None if checkpoint.is_some() => String::new(),
            None => "nothing is kept; --out-dir keeps the trace".to_owned(),
            Some(path) => match Folder::new(path).save_interrupted(&mut trace, &settings) {
                Ok(()) => format!("the trace so far is in {}", path.join("trace.csv").display()),
                Err(failure) => failure.message,
            },
        };
        let saved = checkpoint.map(|folder| format!("--resume goes on from {}", folder.display()));
        let kept: Vec<String> =
            [Some(kept).filter(|kept| !kept.is_empty()), saved].into_iter().flatten().collect();
        if !quiet {
            say(format_args!("interrupted during {stage}; {}", kept.join("; ")));
        }
    })));
}

/// All outputs; labels on stdout come last, as only they may find a reader gone.
fn write(
    args: &ClusterArgs,
    data: &Data,
    model: &Model,
    summary: &mut Summary,
    settings: &str,
    record: Option<&Record>,
) -> Outcome {
    let (output, ids) = (&args.output, data.table.ids.as_deref());
    for (kind, path) in output.graphs() {
        export_graph(model, kind, &path)?;
    }
    if let Some(path) = &output.save_model {
        let options = SaveOptions {
            similarity: true,
            feature_names: data.table.column_names.clone(),
            scaling: data.scaling.clone(),
            ..SaveOptions::default()
        };
        SavedModel::new(model, &data.input()?, &options).save(path)?;
    }
    if let Some(path) = &output.out_dir {
        Folder::new(path).save(model, ids, summary, settings, record)?;
    }
    if let (Some(path), Some(record)) = (&output.report, record) {
        write_file(path, |out| out.write_all(nearfar_report::page(record).as_bytes()))?;
    }
    if let Some(path) = &output.output {
        let format = LabelFormat::of(path)?;
        write_file(path, |out| write_labels(out, &model.labels, ids, format))?;
    }
    if output.json {
        if output.output.is_none() {
            (summary.ids, summary.labels) = (ids.map(<[String]>::to_vec), Some(model.labels.clone()));
        }
        return write_stdout(|mut out| {
            serde_json::to_writer_pretty(&mut out, summary)?;
            writeln!(out)
        });
    }
    if output.output.is_none() && output.out_dir.is_none() {
        let format = if ids.is_some() { LabelFormat::Csv } else { LabelFormat::Text };
        return write_stdout(|out| write_labels(out, &model.labels, ids, format)).or_else(|failure| {
            // The summary is still wanted when the reader of the labels has left.
            if failure.exit == Exit::Done { Ok(()) } else { Err(failure) }
        });
    }
    Ok(())
}
