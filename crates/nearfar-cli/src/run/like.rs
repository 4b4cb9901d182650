//! Numbers and names from an older model, and the stability of clusters.

use nearfar::model::{InputKind, Renumbering};
use nearfar::observe::{Observer, Silent};
use nearfar::{Model, Params, Samples, SavedModel};

use super::data::Data;
use super::features::in_order;
use crate::exit::{Failure, Outcome};
use crate::flags::LabelArgs;

/// What clusters are called, and how far they are found again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// Names of the clusters; none where they have none.
    pub(crate) names: Vec<String>,
    /// Overlap of every cluster with its like in fits of subsamples; none where these were not made.
    pub(crate) stability: Vec<f64>,
    /// What became of the old numbers.
    pub(crate) numbers: Option<Renumbering>,
}

/// The older model, and the labels that it gives to this data: asked for before the work.
pub(crate) fn older(args: &LabelArgs, data: &Data) -> Outcome<Option<(SavedModel, Vec<usize>)>> {
    let Some(path) = &args.like else { return Ok(None) };
    if crate::ranks::team().is_some() {
        return Err(Failure::wrong(
            "--like needs all points in one process; leave it out, or start without mpirun",
        ));
    }
    let model = SavedModel::load(path)?;
    if model.about.input != InputKind::Samples {
        return Err(Failure::wrong(format!(
            "--like {}: this model was learnt from pairs, which new points cannot be matched with; leave out --like",
            path.display()
        )));
    }
    let ordered = in_order(&data.name, &data.table, &model.about)?;
    let n = data.table.n_samples;
    let samples = match &ordered {
        Some(values) => Samples::from_rows(values, n, values.len() / n.max(1))?,
        None => data.table.samples(),
    };
    let labels = model.predict(&samples, &Silent)?;
    Ok(Some((model, labels)))
}

/// Give the clusters their old numbers and names, and find out how stable they are.
pub(crate) fn know(
    args: &LabelArgs,
    older: Option<&(SavedModel, Vec<usize>)>,
    model: &mut Model,
    data: &Data,
    observer: &dyn Observer,
) -> Outcome<Known> {
    let mut known = Known::default();
    if let Some((older, labels)) = older {
        let numbers = older.numbers_for(&model.labels, model.params.n_clusters, labels);
        model.renumber(&numbers);
        known.names = older.names_for(&numbers);
        known.numbers = Some(numbers);
    }
    if args.stability {
        let params: &Params = &model.params;
        known.stability = nearfar::explain::stability(&data.input()?, params, &model.labels, observer)?;
        known.stability.resize(model.params.n_clusters, 0.0);
    }
    Ok(known)
}
