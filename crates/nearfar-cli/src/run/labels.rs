//! What is written of every point: its label, or −1 where it is too uncertain, how sure it is, and its labels at
//! other levels.

use nearfar::Model;
use nearfar::learn::MethodKind;
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::flags::LabelArgs;
use crate::output::{Columns, LabelFormat, whole};

/// The label of points that are too uncertain.
pub(crate) const NOISE: i64 = -1;

/// Points that were labelled −1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Noise {
    pub(crate) points: usize,
    /// The confidence of the surest among them.
    pub(crate) up_to: f64,
}

/// Complain before the work about what cannot be had.
pub(crate) fn check(args: &LabelArgs, method: MethodKind, format: Option<LabelFormat>) -> Outcome {
    let asked = [
        ("confidence", args.confidence),
        ("noise", args.noise.is_some()),
        ("min-confidence", args.min_confidence.is_some()),
        ("outlier-scores", args.outlier_scores),
        ("levels", args.levels.is_some()),
    ];
    if let Some((flag, _)) = asked.iter().find(|(_, asked)| *asked && method != MethodKind::NearFar) {
        let what =
            if *flag == "levels" { "keeps a tree of clusters" } else { "tells how sure its labels are" };
        return Err(Failure::wrong(format!(
            "--{flag}: {method} makes nothing of the kind, only nearfar {what}; leave out --{flag}, or take --method nearfar"
        )));
    }
    if args.noise.is_some() && args.min_confidence.is_some() {
        let text = "--noise and --min-confidence both say which points are noise; leave out one of them";
        return Err(Failure::wrong(text));
    }
    if let Some(least) = args.min_confidence
        && !(least > 0.0 && least <= 1.0)
    {
        let text = format!("--min-confidence = {least} is not allowed: it must be above 0 and at most 1");
        return Err(Failure::wrong(text));
    }
    if args.levels.iter().flatten().any(|level| *level == 0) {
        let text = "--levels = 0 is not allowed: levels are numbers of clusters, from 1 on";
        return Err(Failure::wrong(text));
    }
    if args.outlier_scores && format == Some(LabelFormat::Npy) {
        let text =
            "--outlier-scores: .npy holds whole numbers only; end the name of -o in .csv, .txt or .json";
        return Err(Failure::wrong(text));
    }
    if args.confidence && format == Some(LabelFormat::Npy) {
        let text = "--confidence: .npy holds whole numbers only; end the name of -o in .csv, .txt or .json";
        return Err(Failure::wrong(text));
    }
    Ok(())
}

/// Complain about levels that so many points cannot have.
pub(crate) fn check_levels(args: &LabelArgs, n_samples: usize) -> Outcome {
    match args.levels.iter().flatten().find(|level| **level > n_samples) {
        Some(level) => Err(Failure::wrong(format!(
            "--levels: there are only {n_samples} points, which cannot make {level} clusters"
        ))),
        None => Ok(()),
    }
}

/// The labels of a run with all that was asked for, and which points are noise.
pub(crate) fn columns<'a>(
    args: &LabelArgs,
    model: &'a Model,
    ids: Option<&'a [String]>,
    names: &'a [String],
) -> Outcome<(Columns<'a>, Option<Noise>)> {
    let mut columns = Columns { names, ..Columns::plain(&model.labels, ids) };
    for level in args.levels.iter().flatten() {
        if columns.levels.iter().all(|(known, _)| known != level) {
            let labels = level_of(model, *level)?.into_iter().map(whole).collect();
            columns.levels.push((*level, labels));
        }
    }
    columns.confidence =
        Some(&*model.confidence).filter(|confidence| args.confidence && !confidence.is_empty());
    columns.second = columns.confidence.and_then(|_| columns.seconds(&model.membership));
    let uncertain = uncertain(args, &model.confidence);
    for &point in &uncertain {
        columns.labels[point] = NOISE;
        columns.levels.iter_mut().for_each(|(_, labels)| labels[point] = NOISE);
    }
    let up_to = uncertain.iter().map(|point| model.confidence[*point]).fold(0.0, f64::max);
    let asked = args.noise.is_some() || args.min_confidence.is_some();
    Ok((columns, asked.then_some(Noise { points: uncertain.len(), up_to })))
}

/// The points that are noise: the least certain ones, the first among equals.
fn uncertain(args: &LabelArgs, confidence: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..confidence.len()).collect();
    if let Some(portion) = &args.noise {
        let count = (portion.share * confidence.len() as f64).floor() as usize;
        order.sort_by(|a, b| confidence[*a].total_cmp(&confidence[*b]).then(a.cmp(b)));
        order.truncate(count);
    } else if let Some(least) = args.min_confidence {
        order.retain(|point| confidence[*point] < least);
    } else {
        order.clear();
    }
    order
}

fn level_of(model: &Model, level: usize) -> Outcome<Vec<usize>> {
    let n = model.n_samples();
    if level == model.params.n_clusters {
        return Ok(model.labels.clone());
    }
    if let Some(labels) = model.labels_at(level) {
        return Ok(labels);
    }
    match &model.tree {
        // There is one way only.
        _ if level == 1 => Ok(vec![0; n]),
        _ if level == n => Ok((0..n).collect()),
        Some(tree) => Err(Failure::wrong(format!(
            "--levels: {level} clusters are more than the tree of this run has, which reaches from 1 to {}; nothing was written",
            tree.most()
        ))),
        None => Err(Failure::wrong(format!(
            "--levels: this run made {} of {n} points and has no tree in between; leave out level {level}; nothing was written",
            model.params.n_clusters
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_certain_points_are_noise() {
        let confidence = [0.9, 0.2, 0.5, 0.2, 1.0];
        let noise = |text: &str| {
            uncertain(&LabelArgs { noise: Some(text.parse().unwrap()), ..LabelArgs::default() }, &confidence)
        };
        assert!(noise("10%").is_empty());
        assert_eq!(noise("20%"), [1]);
        assert_eq!(noise("0.6"), [1, 3, 2]);
        let least = |min_confidence| {
            let args = LabelArgs { min_confidence: Some(min_confidence), ..LabelArgs::default() };
            uncertain(&args, &confidence)
        };
        assert_eq!(least(0.5), [1, 3]);
        assert_eq!(least(0.51), [1, 2, 3]);
        assert!(uncertain(&LabelArgs::default(), &confidence).is_empty());
    }
}
