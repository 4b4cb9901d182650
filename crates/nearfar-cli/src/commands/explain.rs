//! `nearfar explain`: what the clusters of a model or a run are, in words.

use std::path::Path;

use nearfar::SavedModel;
use nearfar::explain::{Explanation, Subject, explain};
use nearfar::load::{LoadOptions, Table, load};
use nearfar_report::{
    Picture, explain_model, explained_html, explained_markdown, explained_page, explained_text,
};

use crate::exit::{Failure, Outcome};
use crate::flags::{ExplainArgs, ExplainFormat};
use crate::output::{check_file, write_file, write_stdout};
use crate::run::data::truth;
use crate::run::folder::Folder;

pub(crate) fn run(args: &ExplainArgs) -> Outcome {
    if let Some(path) = &args.output {
        check_file(path, args.source.to_str())?;
        check_file(path, args.data.as_deref().and_then(Path::to_str))?;
    }
    let table = args.data.as_deref().map(|path| read(path, args)).transpose()?;
    let told =
        if args.source.is_dir() { of_folder(args, table.as_ref())? } else { of_model(args, table.as_ref())? };
    let text = match (args.format, &args.output) {
        (ExplainFormat::Table, _) => explained_text(&told),
        (ExplainFormat::Markdown, _) => explained_markdown(&told),
        (ExplainFormat::Json, _) => told.to_json(),
        (ExplainFormat::Html, Some(_)) => explained_page(&told, &title(args)),
        (ExplainFormat::Html, None) => explained_html(&told) + "\n",
    };
    match &args.output {
        Some(path) => write_file(path, |out| out.write_all(text.as_bytes())),
        None => write_stdout(|out| out.write_all(text.as_bytes())),
    }
}

fn title(args: &ExplainArgs) -> String {
    let name = args.source.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    format!("What the clusters of {name} are")
}

fn read(path: &Path, args: &ExplainArgs) -> Outcome<Table> {
    let options = LoadOptions {
        truth: args.truth.as_deref().map(truth),
        id_column: args.id_column.clone(),
        columns: args.columns.clone(),
        ..LoadOptions::default()
    };
    Ok(load(path, &options)?)
}

fn of_model(args: &ExplainArgs, table: Option<&Table>) -> Outcome<Explanation> {
    let model = SavedModel::load(&args.source)?;
    let picture = args.image_shape.as_ref().map(|shape| shape.picture);
    let Some(table) = table else {
        check_picture(picture, model.about.n_features, args)?;
        return Ok(explain_model(&model, None, picture)?);
    };
    check_picture(picture, table.n_features, args)?;
    by_table(args, Subject::of(&model)?, table, picture)
}

fn of_folder(args: &ExplainArgs, table: Option<&Table>) -> Outcome<Explanation> {
    let record = Folder::new(&args.source).record()?;
    let Some(table) = table else {
        if args.image_shape.is_some() {
            let text = "--image-shape is part of a run; give it to `nearfar cluster`, or explain a model";
            return Err(Failure::wrong(text));
        }
        return record.explanation.ok_or_else(|| {
            let folder = args.source.display();
            Failure::wrong(format!(
                "{folder}: the run has no explanation, as an older nearfar wrote it; run it again, or name its table with --data"
            ))
        });
    };
    let picture = args.image_shape.as_ref().map(|shape| shape.picture);
    check_picture(picture, table.n_features, args)?;
    let mut told = by_table(args, Subject::new(&record.labels, record.size[2], None), table, picture)?;
    if let Some(known) = record.explanation {
        told.certainties_of(&known);
    }
    Ok(told)
}

fn by_table(
    args: &ExplainArgs,
    subject: Subject<'_>,
    table: &Table,
    picture: Option<Picture>,
) -> Outcome<Explanation> {
    let (found, expected) = (table.n_samples, subject.labels.len());
    if found != expected {
        let name = args.data.as_deref().unwrap_or(Path::new("")).display();
        return Err(Failure::wrong(format!(
            "{name}: {found} rows, but {expected} were clustered; --data takes the table of the clustered rows, in their order"
        )));
    }
    Ok(explain(&Subject {
        samples: Some(table.samples()),
        scaling: &nearfar::model::Scaling::None,
        feature_names: table.column_names.as_deref(),
        ids: table.ids.as_deref(),
        standard: true,
        image: picture.map(|picture| [picture.height, picture.width]),
        by_columns: picture.is_some_and(|picture| picture.by_columns),
        ..subject
    }))
}

fn check_picture(picture: Option<Picture>, m: usize, args: &ExplainArgs) -> Outcome {
    match picture {
        Some(Picture { height, width, .. }) if height * width != m => Err(Failure::wrong(format!(
            "--image-shape {height}x{width} is {} pixels, but {} has {m} features; give a height and a width that make {m}",
            height * width,
            args.data.as_ref().unwrap_or(&args.source).display()
        ))),
        _ => Ok(()),
    }
}
