//! Whom the clusters of an explanation show: images, and values of typical points.

use nearfar::SavedModel;
use nearfar::explain::{ClusterStory, Explanation};
use nearfar::model::Scaling;

use super::clusters::People;
use super::{encode, finite, rounded};
use crate::record::Portrait;

/// Of every cluster that is explained. Mean images go over from the numbers of the explanation.
///
/// # Errors
/// Never for a model that was fitted or loaded.
pub(crate) fn portraits(
    told: &Explanation,
    model: &SavedModel,
    people: &People<'_>,
) -> nearfar::Result<Vec<Portrait>> {
    let samples = model.samples()?;
    let value = |row: usize, j: usize| {
        let x = samples.as_ref().map_or(0.0, |samples| samples.get(row, j));
        rounded(original(&model.scaling, j, x), 5)
    };
    let of = |story: &ClusterStory| Portrait {
        mean: told.image.and_then(|_| grey(&story.mean)),
        typical: story.exemplars.iter().map(|row| people.shown(row.row)).collect(),
        values: match (&samples, told.image) {
            (Some(_), None) => {
                let of = |row: usize| story.marks.iter().map(|mark| value(row, mark.feature)).collect();
                story.exemplars.iter().map(|row| of(row.row)).collect()
            }
            _ => Vec::new(),
        },
        borders: story.borders.iter().map(|border| people.shown(border.row.row)).collect(),
    };
    Ok(told.clusters.iter().map(of).collect())
}

/// A value of a column as it was before rescaling.
fn original(scaling: &Scaling, j: usize, x: f64) -> f64 {
    match scaling {
        Scaling::Columns { origin, unit } if unit[j] > 0.0 => finite(x * unit[j] + origin[j]),
        Scaling::Columns { origin, .. } => origin[j],
        Scaling::None | Scaling::Unit => x,
    }
}

/// An image whose pixels run along the rows, as bytes.
fn grey(pixels: &[f64]) -> Option<String> {
    let (least, most) =
        pixels.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
    let range = if most > least { most - least } else { 1.0 };
    let bytes: Vec<u8> = pixels.iter().map(|x| ((x - least) / range * 255.0).round() as u8).collect();
    (!bytes.is_empty()).then(|| encode(&bytes))
}
