//! `nearfar predict`: new points into the clusters of a saved model.

use std::path::Path;

use nearfar::labels::score::score;
use nearfar::load::Table;
use nearfar::model::{About, InputKind as Learnt};
use nearfar::observe::Silent;
use nearfar::{Samples, SavedModel};

use crate::exit::{Failure, Outcome};
use crate::flags::{InputArgs, InputKind, PredictArgs};
use crate::output::{Columns, LabelFormat, check_file, write_file, write_stdout};
use crate::paint::say;
use crate::run::data::{Data, options};
use crate::run::features::{in_order, read_by_name};
use crate::run::labels::NOISE;

pub(crate) fn run(args: PredictArgs) -> Outcome {
    check_flags(&args.input)?;
    let format = args.output.as_deref().map(LabelFormat::of).transpose()?;
    if let Some(path) = &args.output {
        check_file(path, args.input.input.as_deref())?;
    }
    let fractions = [("confidence", args.confidence), ("outlier-scores", args.outlier_scores)];
    if let Some((flag, _)) = fractions.iter().find(|(_, asked)| *asked && format == Some(LabelFormat::Npy)) {
        return Err(Failure::wrong(format!(
            "--{flag}: .npy holds whole numbers only; end the name of -o in .csv, .txt or .json"
        )));
    }
    let limit = check_limit(&args)?;
    let model = SavedModel::load(&args.model)?;
    let limit = limit.limit_of(&model)?;
    let new = NewRows::read(args.input, &model.about)?;
    let said = model.predictions(&new.samples()?, &Silent)?;
    let mut columns = Columns::plain(&said.labels, new.table.ids.as_deref());
    let none = |score: &f64| *score > limit;
    let rejected: Vec<usize> =
        (0..said.outlier_scores.len()).filter(|i| none(&said.outlier_scores[*i])).collect();
    rejected.iter().for_each(|i| columns.labels[*i] = NOISE);
    columns.names = &model.about.cluster_names;
    if args.confidence {
        columns.confidence = Some(&said.confidence);
        columns.second = Some(said.second.clone());
    }
    if args.outlier_scores {
        if said.outlier_scores.is_empty() {
            return Err(cannot_tell("--outlier-scores", &model));
        }
        columns.outlier_scores = Some(said.outlier_scores.clone());
    }
    if !args.quiet {
        say(format_args!(
            "{} new points into {} clusters of {} training points ({})",
            said.labels.len(),
            model.about.n_clusters,
            model.about.n_samples,
            model.about.method
        ));
        if limit.is_finite() {
            let share = nearfar::internals::percent(rejected.len() as f64 / said.labels.len().max(1) as f64);
            say(format_args!(
                "{} of them ({share}) belong nowhere (-1): their outlier score is above {limit:.3}",
                rejected.len()
            ));
        }
        if let Some(truth) = &new.table.truth {
            let scores = score(&said.labels, &truth.codes)?;
            say(format_args!("ACC {:.4}  NMI {:.4}  ARI {:.4}", scores.accuracy, scores.nmi, scores.ari));
        }
    }
    write_columns(&columns, args.output.as_deref())
}

/// What counts as far out.
enum Limit {
    Nothing,
    /// Farther than all but this share of the training points.
    Share(f64),
    /// An outlier score.
    Score(f64),
}

fn check_limit(args: &PredictArgs) -> Outcome<Limit> {
    match (&args.reject, args.reject_above) {
        (Some(portion), _) => Ok(Limit::Share(portion.share)),
        (None, Some(score)) if (0.0..1.0).contains(&score) => Ok(Limit::Score(score)),
        (None, Some(score)) => Err(Failure::wrong(format!(
            "--reject-above = {score} is not allowed: it must be 0 or more and below 1"
        ))),
        (None, None) => Ok(Limit::Nothing),
    }
}

impl Limit {
    /// As an outlier score; infinite where nothing is far out.
    fn limit_of(&self, model: &SavedModel) -> Outcome<f64> {
        let scores = match self {
            Self::Nothing => return Ok(f64::INFINITY),
            Self::Share(_) | Self::Score(_) => model.outlier_scores()?,
        };
        if scores.is_empty() {
            return Err(cannot_tell("--reject", model));
        }
        Ok(match self {
            Self::Share(share) => nearfar::internals::quantile(&scores, 1.0 - share),
            Self::Score(score) => *score,
            Self::Nothing => f64::INFINITY,
        })
    }
}

fn cannot_tell(flag: &str, model: &SavedModel) -> Failure {
    Failure::wrong(format!(
        "{flag}: this model ({} of {}) knows no distances between neighbours and cannot tell who is far out; leave out {flag}",
        model.about.method,
        match model.about.input {
            Learnt::Samples => "samples",
            Learnt::Distances => "distances",
            Learnt::Affinities => "affinities",
            Learnt::Neighbors => "neighbour lists",
        }
    ))
}

/// New rows, with their columns as the model has them.
pub(super) struct NewRows {
    pub(super) table: Table,
    ordered: Option<Vec<f64>>,
}

impl NewRows {
    /// Columns that bear the names of the model's features are used, whatever else the file holds.
    pub(super) fn read(mut input: InputArgs, about: &About) -> Outcome<Self> {
        if about.input != Learnt::Samples {
            input.input_kind = Some(match about.input {
                Learnt::Affinities => InputKind::Affinities,
                _ => InputKind::Distances,
            });
        } else if input.columns.is_none()
            && let Some(path) = input.input.as_deref().filter(|path| *path != "-")
            && let Some(table) = read_by_name(Path::new(path), about, &options(&input)?)?
        {
            let ordered = in_order(path, &table, about)?;
            return Ok(Self { table, ordered });
        }
        let data = Data::read(&input, None, false)?;
        // Columns that were asked for by name stand for the model's, as they are.
        let ordered = if input.columns.is_none() && about.input == Learnt::Samples {
            in_order(&data.name, &data.table, about)?
        } else {
            same_names(&data.table, about)
        };
        Ok(Self { table: data.table, ordered })
    }

    pub(super) fn samples(&self) -> Outcome<Samples<'_>> {
        Ok(match &self.ordered {
            Some(values) => {
                let n = self.table.n_samples;
                Samples::from_rows(values, n, values.len() / n.max(1))?
            }
            None => self.table.samples(),
        })
    }
}

/// The values in the model's order, where the table has exactly its names.
fn same_names(table: &Table, about: &About) -> Option<Vec<f64>> {
    let same = table.column_names.as_ref()?.len() == about.feature_names.as_ref()?.len();
    if same { in_order("", table, about).unwrap_or(None) } else { None }
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
pub(super) fn check_flags(input: &InputArgs) -> Outcome {
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
