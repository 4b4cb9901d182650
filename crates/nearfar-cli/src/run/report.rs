//! What the page of a run shows, gathered while model and data are there.

use nearfar::internals::peak_memory;
use nearfar::model::SaveOptions;
use nearfar::{Model, Plan, SavedModel};
use nearfar_report::{Extras, KnownClasses, Memory, Picture, Record, gather};

use super::data::Data;
use super::summary::Summary;
use crate::exit::{Failure, Outcome};

/// Ranks in which a point's most trusted neighbours are looked for.
const TRUSTED_RANKS: usize = 24;

/// Whether pictures of this shape can be made of these samples.
pub(crate) fn check_picture(picture: Option<&Picture>, data: &Data) -> Outcome {
    let m = data.table.n_features;
    match picture {
        Some(Picture { height, width, .. }) if height * width != m => Err(Failure::wrong(format!(
            "--image-shape {height}x{width} is {} pixels, but {} has {m} features; give a height and a width that make {m}",
            height * width,
            data.name
        ))),
        _ => Ok(()),
    }
}

/// The record of a run.
pub(crate) fn record(
    data: &Data,
    model: &Model,
    options: &SaveOptions,
    summary: &Summary,
    settings: &str,
    plan: &Plan,
    picture: Option<Picture>,
) -> Outcome<Record> {
    let input = data.input()?;
    let options = SaveOptions { similarity: false, ..options.clone() };
    let saved = SavedModel::new(model, &input, &options);
    let truth = data.table.truth.as_ref();
    let blocks = Extras::blocks(&model.labels, &model.membership)?;
    let extras = Extras {
        program: summary.program().to_owned(),
        input: data.name.clone(),
        source: data.table.source.clone(),
        ids: data.table.ids.clone(),
        truth: truth.map(|truth| KnownClasses { codes: truth.codes.clone(), names: truth.names.clone() }),
        means: model.block_means(&blocks)?,
        trusted: Some(model.trusted(TRUSTED_RANKS)),
        correct: match truth {
            Some(truth) if !model.near_weights.is_empty() => model.correct_rate(&truth.codes)?,
            _ => None,
        },
        notes: Some(summary.messages()),
        settings: settings_of(settings),
        command: command(),
        seconds: Some(summary.stage_seconds()),
        memory: Memory { planned: Some(plan.bytes), peak: peak_memory() },
        picture,
    };
    Ok(gather(&saved, Some(&input), extras)?)
}

/// The settings file, key by key.
fn settings_of(text: &str) -> Vec<(String, String)> {
    let table: toml::Table = text.parse().unwrap_or_default();
    let word = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let given = |value: &toml::Value| value.as_array().is_none_or(|list| !list.is_empty());
    table.iter().filter(|(_, value)| given(value)).map(|(key, value)| (key.clone(), word(value))).collect()
}

/// The command line, so that a shell takes it as it was given.
fn command() -> String {
    let plain = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./,=:+@%".contains(c))
    };
    let quoted =
        |word: String| if plain(&word) { word } else { format!("'{}'", word.replace('\'', "'\\''")) };
    let words = std::env::args_os().skip(1).map(|word| quoted(word.to_string_lossy().into_owned()));
    std::iter::once("nearfar".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
