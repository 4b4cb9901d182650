//! Settings and data that are named by keys, as studies name them: every key is a long flag of `nearfar cluster`.

use std::path::Path;

use nearfar::Params;
use toml::{Table, Value};

use crate::exit::{Failure, Outcome};
use crate::flags::{InputArgs, LearnArgs, MetricName};
use crate::run::data::Data;
use crate::run::settings;

/// Keys that say which run it is rather than how it is done.
const OF_THE_RUN: [&str; 4] = ["clusters", "seed", "threads", "method"];

/// The library's parameters of a method with these settings.
///
/// # Errors
/// Names the first key that is no flag, is decided by the caller, or has a value that is not allowed.
pub fn params(method: &str, keys: &Table, clusters: usize) -> Outcome<Params> {
    settings::check_keys(keys, "settings")?;
    if let Some(own) = OF_THE_RUN.iter().find(|key| keys.contains_key(**key)) {
        return Err(Failure::wrong(format!("{own:?} is set by the study itself")));
    }
    let mut table = keys.clone();
    table.insert("method".into(), Value::String(method.into()));
    table.insert("clusters".into(), Value::Integer((clusters as u64).cast_signed()));
    let learn: LearnArgs = Value::Table(table)
        .try_into()
        .map_err(|error: toml::de::Error| Failure::wrong(error.to_string().trim()))?;
    settings::params(&learn)
}

/// Points as they are clustered.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// Row by row, rescaled.
    pub values: Vec<f64>,
    /// Number of points.
    pub n_samples: usize,
    /// Number of features.
    pub n_features: usize,
    /// The class of every point, where the keys name the classes.
    pub truth: Option<Vec<usize>>,
    /// Whether points are compared by the cosine.
    pub cosine: bool,
}

/// Read a file as these keys say; `name` is what messages call it.
///
/// # Errors
/// Names the key that is no flag, or what is wrong with the file.
pub fn points(name: &str, file: &Path, keys: &Table) -> Outcome<Points> {
    settings::check_keys(keys, name)?;
    let mut table = keys.clone();
    table.insert("input".into(), Value::String(file.display().to_string()));
    let args: InputArgs = Value::Table(table)
        .try_into()
        .map_err(|error: toml::de::Error| Failure::wrong(format!("{name}: {}", error.to_string().trim())))?;
    let data = Data::read(&args, None, false)?;
    let (values, [n_samples, n_features]) = data.rows()?;
    let truth = data.table.truth.map(|truth| truth.codes);
    Ok(Points { values, n_samples, n_features, truth, cosine: args.metric == Some(MetricName::Cosine) })
}
