//! A fitted model, and fitting.

use std::path::PathBuf;

use nearfar::model::{Keeper, SaveOptions, SparseRows};
use nearfar::processes::Share;
use nearfar::{Error, Input, Params, SavedModel};
use nearfar_report::{Extras, KnownClasses, Picture, gather};
use numpy::{PyArray1, PyArray2, PyArrayMethods, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors;
use crate::input::{Data, Matrix};
use crate::settings::{self, Settings};
use crate::watch::{self, Callbacks};

/// A fitted model, as it is kept in a `.nearfar` file.
#[pyclass(frozen, module = "nearfar._nearfar")]
pub(crate) struct Model(SavedModel);

/// A graph as SciPy takes it: values, columns, starts of the rows.
type Csr<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i64>>);

/// Labels, confidence, second choice and outlier scores of new points.
type Predictions<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
);

/// Joins of clusters: pairs row after row, the resolution of every join, and the leaf of every sample.
type Tree<'py> = (Bound<'py, PyArray2<i64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl Model {
    /// The model in these bytes.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        SavedModel::from_bytes(bytes, "model").map(Self).map_err(|error| errors::of(&error))
    }

    /// The model in this file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| SavedModel::load(&path)).map(Self).map_err(|error| errors::of(&error))
    }

    /// The bytes of a file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.0.to_bytes());
        PyBytes::new(py, &bytes)
    }

    /// Write a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(&path)).map_err(|error| errors::of(&error))
    }

    /// Write a page that shows the model; `classes` are a code for every point and the name of every code.
    #[pyo3(signature = (path, n_threads, *, title, command, settings, notes, ids=None, classes=None, picture=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords on the Python side")]
    fn report(
        &self,
        py: Python<'_>,
        path: PathBuf,
        n_threads: usize,
        title: String,
        command: String,
        settings: Vec<(String, String)>,
        notes: Vec<String>,
        ids: Option<Vec<String>>,
        classes: Option<(Vec<usize>, Vec<String>)>,
        picture: Option<(usize, usize)>,
    ) -> PyResult<()> {
        let truth = classes.map(|(codes, names)| KnownClasses { codes, names });
        let (html, ended) = watch::run(py, n_threads, &Callbacks::NONE, |watcher| {
            let input = self.0.samples()?.map(|samples| Input::Samples(samples, self.0.metric()));
            let told = Extras {
                program: format!("nearfar {} for Python", env!("CARGO_PKG_VERSION")),
                input: title,
                ids,
                notes: Some(notes),
                settings,
                command,
                picture: picture.map(|(height, width)| Picture { height, width, by_columns: false }),
                ..Extras::of_saved(&self.0, input.as_ref(), truth, watcher)?
            };
            gather(&self.0, input.as_ref(), told).map(|record| nearfar_report::page(&record))
        })?;
        if let Some(error) = ended {
            return Err(error);
        }
        let html = html.map_err(|error| errors::of(&error))?;
        py.detach(|| nearfar_report::save(&html, &path)).map_err(|error| {
            pyo3::exceptions::PyOSError::new_err(format!(
                "{}: the report cannot be written: {error}",
                path.display()
            ))
        })
    }

    /// Pickled as the bytes of a file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((make, (self.to_bytes(py),)))
    }

    /// The clusters of new points.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let matrix = Matrix::of(x)?;
        let samples = matrix.samples()?;
        let (labels, ended) =
            watch::run(py, n_threads, &Callbacks::NONE, |watcher| self.0.predict(&samples, watcher))?;
        if let Some(error) = ended {
            return Err(error);
        }
        let labels = labels.map_err(|error| errors::of(&error))?;
        Ok(PyArray1::from_iter(py, labels.into_iter().map(|label| label as i64)))
    }

    /// Labels of new points, how sure they are, the next best cluster (−1: none), and how far out the points lie
    /// (nothing where the model cannot tell).
    fn predictions<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        n_threads: usize,
    ) -> PyResult<Predictions<'py>> {
        let matrix = Matrix::of(x)?;
        let samples = matrix.samples()?;
        let said = finished(watch::run(py, n_threads, &Callbacks::NONE, |watcher| {
            self.0.predictions(&samples, watcher)
        })?)?;
        let labels = PyArray1::from_iter(py, said.labels.into_iter().map(|label| label as i64));
        let second = said.second.into_iter().map(|second| second.map_or(-1, |second| second as i64));
        Ok((
            labels,
            said.confidence.to_pyarray(py),
            PyArray1::from_iter(py, second),
            said.outlier_scores.to_pyarray(py),
        ))
    }

    /// How far out every training point lies; nothing where the model cannot tell.
    fn outlier_scores<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let scores = py.detach(|| self.0.outlier_scores()).map_err(|error| errors::of(&error))?;
        Ok(scores.to_pyarray(py))
    }

    /// What the clusters are, as JSON.
    #[pyo3(signature = (n_threads, ids=None, picture=None))]
    fn explain(
        &self,
        py: Python<'_>,
        n_threads: usize,
        ids: Option<Vec<String>>,
        picture: Option<(usize, usize)>,
    ) -> PyResult<String> {
        let picture = picture.map(|(height, width)| Picture { height, width, by_columns: false });
        let told = finished(watch::run(py, n_threads, &Callbacks::NONE, |_| {
            nearfar_report::explain_model(&self.0, ids.as_deref(), picture)
        })?)?;
        Ok(told.to_json())
    }

    /// The model with these clusters joined.
    fn merge(&self, clusters: Vec<usize>) -> PyResult<Self> {
        self.0.merge(&clusters).map(Self).map_err(|error| errors::of(&error))
    }

    /// The model with this cluster divided.
    fn split(&self, cluster: usize) -> PyResult<Self> {
        self.0.split(cluster).map(Self).map_err(|error| errors::of(&error))
    }

    /// The model with names for these clusters.
    fn rename(&self, names: Vec<(usize, String)>) -> PyResult<Self> {
        self.0.rename(&names).map(Self).map_err(|error| errors::of(&error))
    }

    /// The model with the numbers and names of an older one.
    fn with_numbers_of(&self, py: Python<'_>, older: &Self, n_threads: usize) -> PyResult<Self> {
        let found = watch::run(py, n_threads, &Callbacks::NONE, |watcher| {
            self.0.with_numbers_of(&older.0, watcher).map(|(model, _)| model)
        })?;
        finished(found).map(Self)
    }

    /// The model with the stability of its clusters, of fits with these settings to halves of the samples.
    fn with_stability(&self, py: Python<'_>, settings: &Bound<'_, PyDict>) -> PyResult<Self> {
        let Settings { params, threads } = settings::of(settings)?;
        let labels: Vec<usize> = self.0.labels.iter().map(|label| *label as usize).collect();
        let found = finished(watch::run(py, threads, &Callbacks::NONE, |watcher| {
            let Some(samples) = self.0.samples()? else {
                return Err(nearfar::DataError::NotKept.into());
            };
            nearfar::explain::stability(&Input::Samples(samples, self.0.metric()), &params, &labels, watcher)
        })?)?;
        let mut model = self.0.clone();
        model.about.stability = found;
        model.about.stability.resize(model.about.n_clusters, 0.0);
        Ok(Self(model))
    }

    /// New rows beside those of the fit, as JSON.
    fn drift(&self, py: Python<'_>, x: &Bound<'_, PyAny>, n_threads: usize) -> PyResult<String> {
        let matrix = Matrix::of(x)?;
        let samples = matrix.samples()?;
        let drift = finished(watch::run(py, n_threads, &Callbacks::NONE, |watcher| {
            self.0.drift(&samples, watcher)
        })?)?;
        serde_json::to_string(&drift).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// What is no array, as JSON.
    fn about(&self) -> PyResult<String> {
        let mut about = self.0.about.clone();
        for (_, text) in &mut about.warnings {
            *text = errors::in_keywords(text);
        }
        serde_json::to_string(&about)
            .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
    }

    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_iter(py, self.0.labels.iter().map(|label| i64::from(*label)))
    }

    /// The labels with k clusters; `None` where the tree has none, or there is no tree.
    fn labels_at<'py>(&self, py: Python<'py>, k: usize) -> Option<Bound<'py, PyArray1<i64>>> {
        let labels = self.0.labels_at(k)?;
        Some(PyArray1::from_iter(py, labels.into_iter().map(i64::from)))
    }

    fn confidence<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.confidence.to_pyarray(py)
    }

    /// How clusters join, first to last.
    fn tree<'py>(&self, py: Python<'py>) -> PyResult<Option<Tree<'py>>> {
        let Some(tree) = &self.0.tree else { return Ok(None) };
        let merges = tree.merges();
        let pairs = merges.iter().flat_map(|merge| [i64::from(merge.into), i64::from(merge.from)]);
        let pairs = PyArray1::from_iter(py, pairs).reshape([merges.len(), 2])?;
        let resolutions = PyArray1::from_iter(py, merges.iter().map(|merge| merge.resolution));
        let leaves = PyArray1::from_iter(py, tree.leaves().iter().map(|leaf| i64::from(*leaf)));
        Ok(Some((pairs, resolutions, leaves)))
    }

    fn membership<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix(py, &self.0.membership, self.0.about.n_clusters)
    }

    fn factor<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix(py, &self.0.factor, self.0.about.n_columns)
    }

    fn embedding<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix(py, &self.0.embedding, self.0.about.n_clusters)
    }

    fn trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix(py, &self.0.trace, nearfar::internals::TRACE_COLUMNS.len())
    }

    fn near_weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.near_weights.to_pyarray(py)
    }

    fn far_weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.far_weights.to_pyarray(py)
    }

    fn eigenvalues<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.eigenvalues.to_pyarray(py)
    }

    fn sigma<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.0.sigma.as_ref().map(|sigma| sigma.to_pyarray(py))
    }

    fn similarity<'py>(&self, py: Python<'py>) -> Option<Csr<'py>> {
        self.0.similarity.as_ref().map(|graph| csr(py, graph))
    }

    /// D, made anew from the training samples where it was not kept.
    fn dissimilarity<'py>(&self, py: Python<'py>, n_threads: usize) -> PyResult<Option<Csr<'py>>> {
        let (graph, ended) =
            watch::run(py, n_threads, &Callbacks::NONE, |watcher| self.0.dissimilarity_again(watcher))?;
        if let Some(error) = ended {
            return Err(error);
        }
        Ok(graph.map_err(|error| errors::of(&error))?.map(|graph| csr(py, &graph)))
    }

    fn affinity<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        self.0.affinity.as_ref().map(|z| matrix(py, z, self.0.about.n_samples)).transpose()
    }
}

/// What came of work on threads of its own; the exception that ended it comes first.
fn finished<R>((result, ended): watch::Outcome<nearfar::Result<R>>) -> PyResult<R> {
    match ended {
        Some(error) => Err(error),
        None => result.map_err(|error| errors::of(&error)),
    }
}

/// An explanation in JSON as text, Markdown or HTML.
#[pyfunction]
pub(crate) fn show_explanation(told: &str, how: &str) -> PyResult<String> {
    let told = nearfar::explain::Explanation::from_json(told)
        .ok_or_else(|| PyValueError::new_err("this is no explanation of a model"))?;
    match how {
        "text" => Ok(nearfar_report::explained_text(&told)),
        "markdown" => Ok(nearfar_report::explained_markdown(&told)),
        "html" => Ok(nearfar_report::explained_html(&told)),
        other => Err(PyValueError::new_err(format!(
            "how = {other:?} is not allowed: it must be one of \"text\", \"markdown\", \"html\""
        ))),
    }
}

fn matrix<'py>(py: Python<'py>, values: &[f64], columns: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
    values.to_pyarray(py).reshape([values.len() / columns.max(1), columns])
}

fn csr<'py>(py: Python<'py>, graph: &SparseRows) -> Csr<'py> {
    (
        graph.values.to_pyarray(py),
        // Exact mode has at most 65,536 samples; sparse graphs are numbered in 32 bits as well.
        PyArray1::from_iter(py, graph.columns.iter().map(|column| *column as i32)),
        PyArray1::from_iter(py, graph.starts.iter().map(|start| *start as i64)),
    )
}

/// Fit. Gives the model (or `None`) and the exception that ended the run early (or `None`): both where a cancelled
/// run left something. With `ranks`, `x` are the rows of this process of `n_samples`; where another process was
/// cancelled there is no exception, and the model is what was left.
#[pyfunction]
#[pyo3(signature = (x, kind, settings, *, feature_names=None, dissimilarity=false, affinity=false, callback=None, progress=None, ranks=None, n_samples=0))]
#[allow(clippy::too_many_arguments, reason = "keywords on the Python side")]
pub(crate) fn fit(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    kind: &str,
    settings: &Bound<'_, PyDict>,
    feature_names: Option<Vec<String>>,
    dissimilarity: bool,
    affinity: bool,
    callback: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    ranks: Option<Py<PyAny>>,
    n_samples: usize,
) -> PyResult<(Option<Model>, Option<PyErr>)> {
    let Settings { mut params, threads } = settings::of(settings)?;
    let data = Data::of(x, kind)?;
    let input = data.input()?;
    let keeper = Keeper::default();
    if let Some(ranks) = &ranks {
        return fit_part(
            py,
            &input,
            n_samples,
            &mut params,
            threads,
            feature_names,
            callback,
            progress,
            ranks,
        );
    }
    let options =
        SaveOptions { similarity: true, dissimilarity, affinity, feature_names, ..SaveOptions::default() };
    let callbacks = Callbacks {
        callback: callback.as_ref(),
        progress: progress.as_ref(),
        keeper: Some(&keeper),
        ranks: None,
    };
    let (fitted, ended) = watch::run(py, threads, &callbacks, |watcher| {
        let model = nearfar::Run::new(&params).observe(watcher).fit(input)?;
        // Graphs are made of the pairs, on the same threads.
        Ok(SavedModel::new(&model, &input, &options))
    })?;
    match (fitted, ended) {
        (Ok(model), ended) => Ok((Some(Model(model)), ended)),
        (Err(Error::Cancelled { .. }), Some(ended)) => {
            Ok((left_over(keeper, &params, &input, options), Some(ended)))
        }
        (Err(error), None) => Err(errors::of(&error)),
        (Err(_), Some(ended)) => Ok((None, Some(ended))),
    }
}

/// The same for a process that holds a part of the rows.
#[allow(clippy::too_many_arguments, reason = "what fit was given")]
fn fit_part(
    py: Python<'_>,
    input: &Input<'_>,
    n_samples: usize,
    params: &mut Params,
    threads: usize,
    feature_names: Option<Vec<String>>,
    callback: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    ranks: &Py<PyAny>,
) -> PyResult<(Option<Model>, Option<PyErr>)> {
    let Input::Samples(rows, metric) = *input else {
        return Err(PyValueError::new_err("processes can share samples, not pairs"));
    };
    let number = |name: &str| ranks.bind(py).getattr(name)?.extract::<usize>();
    let (size, rank, local) = (number("size")?, number("rank")?, number("local")?);
    // Where nobody said: the part of the machine's memory that is this process's.
    params.memory.get_or_insert(nearfar::default_memory_limit() / local.max(1) as u64);
    let params = &*params;
    let keeper = Keeper::default();
    let options = SaveOptions { feature_names, ..SaveOptions::default() };
    let callbacks = Callbacks {
        callback: callback.as_ref(),
        progress: progress.as_ref(),
        keeper: Some(&keeper),
        ranks: Some(ranks),
    };
    let (fitted, ended) = watch::run(py, threads, &callbacks, |watcher| {
        let share = Share::new(watcher.team(size, rank), n_samples);
        let input = Input::Part(rows, metric, &share);
        let model = nearfar::Run::new(params).observe(watcher).fit(input)?;
        Ok(SavedModel::new(&model, &input, &options))
    })?;
    match (fitted, ended) {
        (Ok(model), ended) => Ok((Some(Model(model)), ended)),
        (Err(Error::Cancelled { .. }), ended) => {
            let all = Share::alone(n_samples);
            Ok((left_over(keeper, params, &Input::Part(rows, metric, &all), options), ended))
        }
        (Err(error), None) => Err(errors::of(&error)),
        (Err(_), Some(ended)) => Ok((None, Some(ended))),
    }
}

/// What a cancelled run left.
fn left_over(keeper: Keeper, params: &Params, input: &Input<'_>, options: SaveOptions) -> Option<Model> {
    let model = keeper.into_model(params)?;
    let options = SaveOptions { partial: true, ..options };
    Some(Model(SavedModel::new(&model, input, &options)))
}
