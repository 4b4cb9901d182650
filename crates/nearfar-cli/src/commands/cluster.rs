//! `nearfar cluster`: points in, labels out.

use std::sync::PoisonError;
use std::time::Instant;

use nearfar::checkpoint::Checkpoint;
use nearfar::learn::{Engine, MethodKind, MethodParams, Needs};
use nearfar::model::SaveOptions;
use nearfar::{Error, Input, Mode, Model, Params, Plan, Precision, SavedModel};
use nearfar_report::Record;

use super::plan::{print_plan, print_plan_json};
use crate::exit::{Exit, Failure, Outcome};
use crate::flags::{ClusterArgs, ExportedGraph, OutputArgs};
use crate::interrupt::{self, Phase};
use crate::output::{
    Columns, LabelFormat, check_file, check_folder, ending, is_written_in_place, unknown_ending, write_file,
    write_stdout,
};
use crate::paint::{Paint, say};
use crate::ranks;
use crate::run::data::Data;
use crate::run::folder::{Folder, export_graph};
use crate::run::summary::Summary;
use crate::run::watch::{SharedKeeper, Watch};
use crate::run::{labels, like, report, settings};

pub(crate) fn run(flags: ClusterArgs) -> Outcome {
    let clock = Instant::now();
    let args = settings::merge(flags)?;
    let mut params = settings::params_for(&args)?;
    check_outputs(&args)?;
    check_made(&args, params.method.kind())?;
    check_shared(&args.output)?;
    let checkpoint = checkpoint(&args.output, &params)?;
    ranks::share_machine(&mut params);
    interrupt::listen();
    let data = Data::read(&args.input, params.memory, params.precision == Precision::Double)?;
    labels::check_levels(&args.labels, data.n_samples())?;
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
    let ranks_pairs = params.method.kind().needs() == Needs::Slices;
    if ranks_pairs
        && alone
        && params.mode == Mode::Auto
        && plan.mode == Mode::Binned
        && !output.quiet
        && !output.json
    {
        say(format_args!(
            "{} points are too many for exact mode here: binned mode (--mode exact insists)",
            data.n_samples()
        ));
    }
    // Others than the first of several processes do not look: some file systems would go on telling them that
    // nothing is there.
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
    let older = like::older(&args.labels, &data)?;
    let start = if params.method.kind() == MethodKind::NearFar { "member" } else { "start" };
    let watch = Watch::new(output, start);
    keep_what_there_is(output, &watch, &settings, &params, data.table.ids.clone());
    interrupt::enter(Phase::Running);
    let fitted = match &checkpoint {
        Some(checkpoint) => nearfar::Run::new(&params).checkpoint(checkpoint).observe(&watch).fit(input),
        None => nearfar::Run::new(&params).observe(&watch).fit(input),
    };
    if let Err(Error::Cancelled { .. }) = fitted {
        interrupt::say_last_words();
        return Err(Failure::silent(Exit::Interrupted));
    }
    let mut model = match fitted {
        Ok(model) => model,
        Err(error) => {
            interrupt::set_last_words(None);
            return Err(error.into());
        }
    };
    let known = like::know(&args.labels, older.as_ref(), &mut model, &data, &watch);
    interrupt::enter(Phase::Writing);
    // Nobody asks for a part of it any more.
    interrupt::set_last_words(None);
    drop(watch);
    let (model, known) = (model, known?);
    let run = Done {
        args: &args,
        data: &data,
        model: &model,
        known: &known,
        settings: &settings,
        plan: &plan,
        checkpoint: checkpoint.as_ref(),
    };
    tell(&run, clock)
}

/// A run that came to its end.
struct Done<'a> {
    args: &'a ClusterArgs,
    data: &'a Data,
    model: &'a Model,
    known: &'a like::Known,
    settings: &'a str,
    plan: &'a Plan,
    checkpoint: Option<&'a Checkpoint>,
}

/// Write and print what came of a run.
fn tell(run: &Done<'_>, clock: Instant) -> Outcome {
    let Done { args, data, model, known, settings, plan, checkpoint } = *run;
    let output = &args.output;
    let picture = output.image_shape.as_ref().map(|shape| shape.picture);
    data.check_unchanged()?;
    check_model(output, model)?;
    let columns = labels::columns(&args.labels, model, data.table.ids.as_deref(), &known.names)?;
    let (mut columns, noise) = columns;
    let options = SaveOptions {
        similarity: true,
        feature_names: data.table.column_names.clone(),
        scaling: data.scaling.clone(),
        cluster_names: known.names.clone(),
        stability: known.stability.clone(),
        ..SaveOptions::default()
    };
    if args.labels.outlier_scores {
        columns.outlier_scores = Some(outlier_scores(data, model, &options)?);
    }
    let mut summary = Summary::new(data, model, known, clock.elapsed().as_secs_f64());
    summary.noise = noise;
    if let Some(checkpoint) = checkpoint {
        summary.note_checkpoint(checkpoint);
    }
    summary.ranks = ranks::team().map(|team| team.report());
    summary.standing_by = Some(ranks::standing_by()).filter(|count| *count > 0);
    let drawn = ranks::team().is_none() && (output.report.is_some() || output.out_dir.is_some());
    let record = drawn
        .then(|| report::record(data, model, &options, &summary, settings, plan, picture))
        .transpose()?;
    let parts =
        Parts { data, model, options: &options, columns: &columns, settings, record: record.as_ref() };
    write(output, &parts, &mut summary)?;
    if let Some(checkpoint) = checkpoint {
        checkpoint.remove()?; // only now: what it could make again is safe
    }
    let paint = Paint::for_stderr(output.no_color);
    if !output.quiet && !output.json {
        summary.print(model, paint, output.verbose);
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
    if !matches!(params.method, MethodParams::Lsdg | MethodParams::NearFar(_)) {
        let method = params.method.kind();
        return Err(Failure::wrong(format!(
            "{method} cannot save itself, only nearfar and lsdg can; leave out --checkpoint"
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

/// Complain before the work about what the method does not make.
fn check_made(args: &ClusterArgs, method: MethodKind) -> Outcome {
    let format = args.output.output.as_deref().map(LabelFormat::of).transpose()?;
    labels::check(&args.labels, method, format)?;
    let dense = args.output.graphs().into_iter().find(|(kind, _)| *kind != ExportedGraph::S);
    match dense {
        Some((kind, _)) if method == MethodKind::NearFar => Err(Failure::wrong(format!(
            "--graph {}: nearfar makes the graph s only; leave it out, or add --method lsdg",
            kind.letter()
        ))),
        _ => Ok(()),
    }
}

/// The same where only the run could tell.
fn check_model(output: &OutputArgs, model: &Model) -> Outcome {
    let mixture = model.account.as_ref().is_some_and(|account| account.engine == Engine::Mixture);
    if mixture && output.export_graph.is_some() {
        let text = "--export-graph: a mixture explains the points, so that no graph was made; add --engine graph to have one; nothing was written";
        return Err(Failure::wrong(text));
    }
    Ok(())
}

/// Some outputs are made of all points in one process.
fn check_shared(output: &OutputArgs) -> Outcome {
    let z = output.graphs().iter().any(|(kind, _)| *kind == ExportedGraph::Z);
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
        nearfar::internals::plan_held(data.n_samples(), table.n_features, params, ranks, Some(input.held()))?;
    if output.graphs().iter().any(|(kind, _)| *kind == ExportedGraph::Z) {
        let full = 8 * (table.n_samples as u64).pow(2);
        plan.bytes += full;
        plan.parts.push(("graph z", full));
        if plan.bytes > plan.limit {
            return Err(Failure::memory(format!(
                "writing the graph z takes {} more than may be used; export s or d, or allow more with --memory",
                nearfar::internals::human_bytes(plan.bytes - plan.limit)
            )));
        }
    }
    Ok(plan)
}

/// What Ctrl-C leaves behind.
fn keep_what_there_is(
    output: &OutputArgs,
    watch: &Watch,
    settings: &str,
    params: &Params,
    ids: Option<Vec<String>>,
) {
    let (folder, checkpoint, quiet) = (output.out_dir.clone(), output.checkpoint.clone(), output.quiet);
    let (trace, settings, keeper) = (watch.trace.clone(), settings.to_owned(), watch.keeper.clone());
    let (file, params) = (output.output.clone(), params.clone());
    interrupt::set_last_words(Some(Box::new(move || {
        let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
        let stage = trace.stage.map_or("load", nearfar::observe::Stage::name);
        let best = keeper.and_then(|keeper| best_so_far(&keeper, &params));
        let columns = best.as_ref().map(|model| Columns::plain(&model.labels, ids.as_deref()));
        let mut kept = Vec::new();
        if let (Some(path), Some(columns)) = (&file, &columns) {
            let written =
                LabelFormat::of(path).and_then(|format| write_file(path, |out| columns.write(out, format)));
            kept.push(match written {
                Ok(()) => format!("the labels of the best so far are in {}", path.display()),
                Err(failure) => failure.message,
            });
        }
        if let Some(path) = &folder {
            let what = if columns.is_some() { "the labels of the best and the trace" } else { "the trace" };
            kept.push(match Folder::new(path).save_interrupted(&mut trace, &settings, columns.as_ref()) {
                Ok(()) => format!("{what} so far are in {}", path.display()),
                Err(failure) => failure.message,
            });
        }
        if kept.is_empty() && checkpoint.is_none() {
            kept.push(match (&file, &folder) {
                (None, None) => "nothing is kept; with -o or --out-dir the best so far would be".to_owned(),
                _ => "nothing is kept, as nothing had been found yet".to_owned(),
            });
        }
        kept.extend(checkpoint.map(|folder| format!("--resume goes on from {}", folder.display())));
        if !quiet {
            say(format_args!("interrupted during {stage}; {}", kept.join("; ")));
        }
    })));
}

/// The best of what had been found.
fn best_so_far(keeper: &SharedKeeper, params: &Params) -> Option<Model> {
    std::mem::take(&mut *keeper.lock().unwrap_or_else(PoisonError::into_inner)).into_model(params)
}

/// How far out every point lies.
fn outlier_scores(data: &Data, model: &Model, options: &SaveOptions) -> Outcome<Vec<f64>> {
    let scores = if ranks::team().is_some() {
        Vec::new()
    } else {
        let options = SaveOptions { similarity: false, ..options.clone() };
        SavedModel::new(model, &data.input()?, &options).outlier_scores()?
    };
    if scores.is_empty() {
        let text = "--outlier-scores: only samples or distances in one process tell how far out a point lies; leave it out";
        return Err(Failure::wrong(text));
    }
    Ok(scores)
}

/// What the outputs are made of.
struct Parts<'a> {
    data: &'a Data,
    model: &'a Model,
    options: &'a SaveOptions,
    columns: &'a Columns<'a>,
    settings: &'a str,
    record: Option<&'a Record>,
}

/// All outputs; labels on stdout come last, as only they may find a reader gone.
fn write(output: &OutputArgs, parts: &Parts<'_>, summary: &mut Summary) -> Outcome {
    let Parts { data, model, options, columns, settings, record } = *parts;
    for (kind, path) in output.graphs() {
        export_graph(model, kind, &path)?;
    }
    if let Some(path) = &output.save_model {
        SavedModel::new(model, &data.input()?, options).save(path)?;
    }
    if let Some(path) = &output.out_dir {
        Folder::new(path).save(model, columns, summary, settings, record)?;
    }
    if let (Some(path), Some(record)) = (&output.report, record) {
        write_file(path, |out| out.write_all(nearfar_report::page(record).as_bytes()))?;
    }
    if let Some(path) = &output.output {
        let format = LabelFormat::of(path)?;
        write_file(path, |out| columns.write(out, format))?;
    }
    if output.json {
        if output.output.is_none() {
            summary.take_columns(columns);
        }
        return write_stdout(|mut out| {
            serde_json::to_writer_pretty(&mut out, summary)?;
            writeln!(out)
        });
    }
    if output.output.is_none() && output.out_dir.is_none() {
        return write_stdout(|out| columns.write(out, columns.on_stdout())).or_else(|failure| {
            // The summary is still wanted when the reader of the labels has left.
            if failure.exit == Exit::Done { Ok(()) } else { Err(failure) }
        });
    }
    Ok(())
}
