//! `nearfar predict`: new points into the clusters of a saved model.

use std::path::Path;

use nearfar::labels::score::score;
use nearfar::load::{LoadOptions, Table, load};
use nearfar::model::{About, InputKind as Learnt};
use nearfar::observe::Silent;
use nearfar::{Samples, SavedModel};

use crate::exit::{Failure, Outcome};
use crate::flags::{InputArgs, InputKind, PredictArgs};
use crate::output::{Columns, LabelFormat, check_file, write_file, write_stdout};
use crate::paint::say;
use crate::run::data::{Data, options};

pub(crate) fn run(args: PredictArgs) -> Outcome {
    check_flags(&args.input)?;
    if let Some(path) = &args.output {
        LabelFormat::of(path)?;
        check_file(path, args.input.input.as_deref())?;
    }
    let model = SavedModel::load(&args.model)?;
    let data = read(args.input, &model.about)?;
    let ordered = in_order(&data.table, &model.about);
    let samples = match &ordered {
        Some(values) => Samples::from_rows(values, data.table.n_samples, data.table.n_features)?,
        None => data.table.samples(),
    };
    let labels = model.predict(&samples, &Silent)?;
    let ids = data.table.ids.as_deref();
    if !args.quiet {
        say(format_args!(
            "{} new points into {} clusters of {} training points ({})",
            labels.len(),
            model.about.n_clusters,
            model.about.n_samples,
            model.about.method
        ));
        if let Some(truth) = &data.table.truth {
            let scores = score(&labels, &truth.codes)?;
            say(format_args!("ACC {:.4}  NMI {:.4}  ARI {:.4}", scores.accuracy, scores.nmi, scores.ari));
        }
    }
    write_columns(&Columns::plain(&labels, ids), args.output.as_deref())
}

/// Labels into a file, or onto stdout.
pub(super) fn write_columns(columns: &Columns<'_>, output: Option<&Path>) -> Outcome {
    match output {
        Some(path) => {
            let format = LabelFormat::of(path)?;
            write_file(path, |out| columns.write(out, format))
        }
        None => write_stdout(|out| columns.write(out, columns.on_stdout())),
    }
}

/// What the model knows cannot be said again.
fn check_flags(input: &InputArgs) -> Outcome {
    let said = [
        ("--scale", input.scale.is_some()),
        ("--metric", input.metric.is_some()),
        ("--input-kind", input.input_kind.is_some()),
    ];
    match said.iter().find(|(_, said)| *said) {
        Some((flag, _)) => {
            Err(Failure::wrong(format!("{flag} is part of the model and used as it was; leave it out")))
        }
        None => Ok(()),
    }
}

/// The new points. Columns that bear the names of the model's features are used, whatever else the file holds.
fn read(mut input: InputArgs, about: &About) -> Outcome<Data> {
    if about.input != Learnt::Samples {
        input.input_kind = Some(match about.input {
            Learnt::Affinities => InputKind::Affinities,
            _ => InputKind::Distances,
        });
    }
    if input.columns.is_none()
        && let (Some(names), Some(path)) = (&about.feature_names, &input.input)
        && path != "-"
    {
        let named = LoadOptions { columns: Some(names.clone()), ..options(&input)? };
        if load(path.as_ref(), &named).is_ok() {
            input.columns = Some(names.clone());
        }
    }
    Data::read(&input, None, false)
}

/// The values with their columns in the order of the model's features, where the file names them all in another order.
fn in_order(table: &Table, about: &About) -> Option<Vec<f64>> {
    let (found, wanted) = (table.column_names.as_ref()?, about.feature_names.as_ref()?);
    if found == wanted || found.len() != wanted.len() {
        return None;
    }
    let places: Option<Vec<usize>> =
        wanted.iter().map(|name| found.iter().position(|other| other == name)).collect();
    let (places, samples) = (places?, table.samples());
    let row = |i: usize| places.iter().map(move |j| (i, *j));
    Some((0..table.n_samples).flat_map(row).map(|(i, j)| samples.get(i, j)).collect())
}
