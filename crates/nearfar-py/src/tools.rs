//! Scores, generated data, names of methods, and the correct rate.

use nearfar::generate::{Kind, MakeParams};
use nearfar::labels::score::{Contingency, Normalizer, score};
use nearfar::learn::MethodKind;
use nearfar::{Params, PreparedSlices};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
use crate::input::Data;
use crate::watch::{self, Callbacks};

/// All scores of labels against a truth, by name.
#[pyfunction]
pub(crate) fn scores<'py>(
    py: Python<'py>,
    labels: PyReadonlyArray1<'_, i64>,
    truth: PyReadonlyArray1<'_, i64>,
) -> PyResult<Bound<'py, PyDict>> {
    let (labels, truth) = (labels.as_slice()?, truth.as_slice()?);
    let found = score(labels, truth).map_err(|error| errors::of(&error))?;
    let pairs = Contingency::new(labels, truth).map_err(|error| errors::of(&error))?.pairs();
    let dict = PyDict::new(py);
    for (name, value) in [
        ("accuracy", found.accuracy),
        ("nmi", found.nmi),
        ("ari", found.ari),
        ("purity", found.purity),
        ("pair_precision", pairs.precision),
        ("pair_recall", pairs.recall),
        ("pair_f1", pairs.f1),
    ] {
        dict.set_item(name, value)?;
    }
    Ok(dict)
}

/// Normalised mutual information.
#[pyfunction]
pub(crate) fn nmi(
    labels: PyReadonlyArray1<'_, i64>,
    truth: PyReadonlyArray1<'_, i64>,
    average: &str,
) -> PyResult<f64> {
    let normalizer = match average {
        "arithmetic" => Normalizer::Arithmetic,
        "geometric" => Normalizer::Geometric,
        "min" => Normalizer::Min,
        "max" => Normalizer::Max,
        "joint" => Normalizer::Joint,
        other => {
            return Err(PyValueError::new_err(format!(
                "average = {other:?} is not allowed: it must be one of \"arithmetic\", \"geometric\", \"min\", \"max\", \"joint\""
            )));
        }
    };
    nearfar::labels::score::nmi(labels.as_slice()?, truth.as_slice()?, normalizer)
        .map_err(|error| errors::of(&error))
}

type Made<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>, Vec<String>);

/// A generated data set: samples, classes, names of the features.
#[pyfunction]
#[pyo3(signature = (kind, n_samples=None, noise=None, n_clusters=None, n_features=None, seed=0))]
pub(crate) fn make<'py>(
    py: Python<'py>,
    kind: &str,
    n_samples: Option<usize>,
    noise: Option<f64>,
    n_clusters: Option<usize>,
    n_features: Option<usize>,
    seed: u64,
) -> PyResult<Made<'py>> {
    let kind: Kind = kind.parse().map_err(|error| errors::of_param(&error))?;
    let params = MakeParams { n_samples, noise, clusters: n_clusters, features: n_features, seed };
    let made = py.detach(|| nearfar::generate::make(kind, &params));
    let made = made.map_err(|error| errors::of_param(&error))?;
    let x = made.data.to_pyarray(py).reshape([made.n_samples, made.n_features])?;
    let y = PyArray1::from_iter(py, made.truth.iter().map(|class| *class as i64));
    Ok((x, y, made.feature_names))
}

/// Name and line of every method.
#[pyfunction]
pub(crate) fn methods() -> Vec<(&'static str, &'static str)> {
    MethodKind::ALL.iter().map(|kind| (kind.name(), kind.line())).collect()
}

/// The page of one method, as Markdown.
#[pyfunction]
pub(crate) fn about_method(name: &str) -> PyResult<&'static str> {
    let found = MethodKind::ALL.iter().find(|kind| kind.name() == name);
    found.map(|kind| kind.about()).ok_or_else(|| {
        let names: Vec<&str> = MethodKind::ALL.iter().map(|kind| kind.name()).collect();
        let names = names.join(", ");
        PyValueError::new_err(format!("name = {name:?} is not allowed: it must be one of {names}"))
    })
}

/// Share of pairs at each rank that have the same true class.
#[pyfunction]
pub(crate) fn correct_rate<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    kind: &str,
    truth: PyReadonlyArray1<'_, i64>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let data = Data::of(x, kind)?;
    let (input, truth) = (data.input()?, truth.as_slice()?);

    let (rates, ended) = watch::run(py, n_threads, &Callbacks::NONE, |watcher| {
        PreparedSlices::new(&input, &Params::lsdg(1).starts(1), watcher)?.correct_rate(truth)
    })?;
    match ended {
        Some(error) => Err(error),
        None => Ok(rates.map_err(|error| errors::of(&error))?.to_pyarray(py)),
    }
}
