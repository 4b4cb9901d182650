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

/// Settings that only say where results go: equal runs have equal pages wherever they are written.
const PLACES: [&str; 6] = ["output", "out-dir", "report", "save-model", "export-graph", "checkpoint"];

/// The settings file, key by key.
fn settings_of(text: &str) -> Vec<(String, String)> {
    let table: toml::Table = text.parse().unwrap_or_default();
    let word = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let given = |value: &toml::Value| value.as_array().is_none_or(|list| !list.is_empty());
    let told = |key: &str, value: &toml::Value| given(value) && !PLACES.contains(&key);
    table
        .iter()
        .filter(|(key, value)| told(key, value))
        .map(|(key, value)| (key.clone(), word(value)))
        .collect()
}

/// The command line, so that a shell takes it as it was given, without the places of the results.
fn command() -> String {
    let plain = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./,=:+@%".contains(c))
    };
    let quoted =
        |word: String| if plain(&word) { word } else { format!("'{}'", word.replace('\'', "'\\''")) };
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let kept = without_places(words).into_iter().map(quoted);
    std::iter::once("nearfar".to_owned()).chain(kept).collect::<Vec<_>>().join(" ")
}

/// The words of a command line without flags of [`PLACES`] and their values.
fn without_places(words: impl Iterator<Item = String>) -> Vec<String> {
    let (mut kept, mut value_next) = (Vec::new(), false);
    for word in words {
        if std::mem::take(&mut value_next) {
            continue;
        }
        let (flag, value) = match word.strip_prefix("--") {
            Some(long) => long.split_once('=').map_or((long, false), |(flag, _)| (flag, true)),
            None if word == "-o" => ("output", false),
            None if word.starts_with("-o") && !word.starts_with("--") => ("output", true),
            None => ("", false),
        };
        if PLACES.contains(&flag) {
            value_next = !value;
        } else {
            kept.push(word);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_left_out_of_the_command() {
        let words = "cluster a.csv -k 3 -o l.csv --report=p.html --out-dir run -q -ox.csv --seed 1";
        let kept = without_places(words.split(' ').map(str::to_owned));
        assert_eq!(kept.join(" "), "cluster a.csv -k 3 -q --seed 1");
    }
}
