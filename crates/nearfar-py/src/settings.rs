//! Keyword arguments become parameters. Types are judged here, ranges by the library.

use nearfar::graph::GraphKind;
use nearfar::learn::anls::AnlsSolver;
use nearfar::learn::gsnmf::GsNmfSolver;
use nearfar::learn::lsdg::{Alpha, Density, LsdgParams};
use nearfar::learn::nearfar::Engine;
use nearfar::learn::sbsum::SBsumBlock;
use nearfar::learn::symnmf::SymNmfSolver;
use nearfar::learn::{FactorSolver, MethodKind, MethodParams, Regularizer, Reseed};
use nearfar::params::{Pruning, Starts};
use nearfar::views::Views;
use nearfar::{BinnedParams, Mode, Params, Precision, Preset};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;

/// The parameters of a run, and its threads.
pub(crate) struct Settings {
    pub(crate) params: Params,
    pub(crate) threads: usize,
}

/// The keyword arguments; `None` counts as left out.
struct Given<'a, 'py>(&'a Bound<'py, PyDict>);

impl<'py> Given<'_, 'py> {
    fn get(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    fn number(&self, name: &str) -> PyResult<Option<f64>> {
        self.get(name)?.map(|value| value.extract().map_err(|_| wrong(name, &value, "a number"))).transpose()
    }

    fn count(&self, name: &str) -> PyResult<Option<usize>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        // True is no count, though Python would take it for 1.
        if value.is_instance_of::<pyo3::types::PyBool>() {
            return Err(wrong(name, &value, "a whole number"));
        }
        let whole: i128 = value.extract().map_err(|_| wrong(name, &value, "a whole number"))?;
        let fits = usize::try_from(whole);
        let range =
            || PyValueError::new_err(format!("{name} = {whole} is not allowed: it must be 0 or more"));
        fits.map(Some).map_err(|_| range())
    }

    /// A number of clusters; `None` where it is to be found.
    fn clusters(&self, method: MethodKind) -> PyResult<Option<usize>> {
        let name = "n_clusters";
        let Some(value) = self.get(name)? else {
            return Err(PyTypeError::new_err("n_clusters = None is not allowed: it must be a whole number"));
        };
        let finds = method == MethodKind::NearFar;
        match value.extract::<String>() {
            Ok(word) if word == "auto" && finds => Ok(None),
            Ok(word) if word == "auto" => Err(PyValueError::new_err(
                "n_clusters = \"auto\" is not allowed: it must be a whole number; NearFar alone finds it",
            )),
            Ok(_) if finds => Err(wrong(name, &value, "a whole number or \"auto\"")),
            _ => self.count(name),
        }
    }

    fn flag(&self, name: &str) -> PyResult<Option<bool>> {
        self.get(name)?
            .map(|value| value.is_truthy().map_err(|_| wrong(name, &value, "True or False")))
            .transpose()
    }

    /// The value of a word.
    fn word<T: Copy>(&self, name: &str, known: &[(&str, T)]) -> PyResult<Option<T>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        let words = || known.iter().map(|(word, _)| format!("{word:?}")).collect::<Vec<_>>().join(", ");
        let text: String =
            value.extract().map_err(|_| wrong(name, &value, &format!("one of {}", words())))?;
        known.iter().find(|(word, _)| *word == text).map(|(_, value)| Some(*value)).ok_or_else(|| {
            let words = words();
            PyValueError::new_err(format!("{name} = {text:?} is not allowed: it must be one of {words}"))
        })
    }
}

fn wrong(name: &str, value: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
    let found = value.repr().map_or_else(|_| "it".to_owned(), |text| text.to_string());
    PyTypeError::new_err(format!("{name} = {found} is not allowed: it must be {allowed}"))
}

fn set<T>(place: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *place = value;
    }
}

pub(crate) fn of(dict: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let given = Given(dict);
    let methods: Vec<(&str, MethodKind)> = MethodKind::ALL.iter().map(|kind| (kind.name(), *kind)).collect();
    let method = given.word("method", &methods)?.unwrap_or(MethodKind::NearFar);
    let found = given.clusters(method)?;
    let clusters = found.unwrap_or(1);
    let mut params = if method == MethodKind::Lsdg {
        let presets = [("default", Preset::Default), ("paper", Preset::Paper), ("demo", Preset::Demo)];
        Params::preset(clusters, given.word("preset", &presets)?.unwrap_or_default())
    } else {
        Params::of(clusters, method_of(method, &given)?)
    };
    params.find_clusters = found.is_none();
    if method == MethodKind::Lsdg {
        lsdg(&mut params, &given)?;
    } else {
        let kinds = [("ncut", GraphKind::Ncut), ("lsdg", GraphKind::Lsdg)];
        set(&mut params.graph.kind, given.word("graph", &kinds)?);
        params.graph.neighbors = given.count("graph_neighbors")?;
    }
    if let Some(starts) = given.count("n_init")? {
        params = params.starts(starts);
    }
    set(&mut params.stop.max_iter, given.count("max_iter")?);
    if let Some(tolerance) = given.number("tol")? {
        params.stop.loss_tolerance = tolerance;
        if params.stop.change_tolerance >= 0.0 {
            params.stop.change_tolerance = tolerance; // negative: the method stops by its loss alone
        }
    }
    set(&mut params.kmeans_restarts, given.count("kmeans_restarts")?);
    set(&mut params.seed, given.count("seed")?.map(|seed| seed as u64));
    params.memory = given.count("memory_limit")?.map(|bytes| bytes as u64);
    let precisions =
        [("auto", Precision::Auto), ("double", Precision::Double), ("single", Precision::Single)];
    set(&mut params.precision, given.word("precision", &precisions)?);
    let modes = [("auto", Mode::Auto), ("exact", Mode::Exact), ("binned", Mode::Binned)];
    set(&mut params.mode, given.word("mode", &modes)?);
    params.binned =
        BinnedParams { near: given.count("near")?, far: given.count("far")?, bins: given.count("bins")? };
    let threads = given.count("n_threads")?.unwrap_or(1);
    params.threads = Some(threads);
    params.check().map_err(|error| errors::of_param(&error))?;
    // The pool is made by the caller, once for everything.
    params.threads = None;
    Ok(Settings { params, threads })
}

const FACTOR: [(&str, FactorSolver); 2] =
    [("columns", FactorSolver::Columns), ("multiplicative", FactorSolver::Multiplicative)];
const REGULARIZERS: [(&str, Regularizer); 3] = [
    ("proposed", Regularizer::Proposed),
    ("offdiagonal", Regularizer::OffDiagonal),
    ("logdet", Regularizer::LogDet),
];

/// Another regulariser than the proposed one implies multiplicative updates.
fn solver(given: &Given<'_, '_>, regularizer: Regularizer) -> PyResult<FactorSolver> {
    let default = match regularizer {
        Regularizer::Proposed => FactorSolver::Columns,
        _ => FactorSolver::Multiplicative,
    };
    Ok(given.word("solver", &FACTOR)?.unwrap_or(default))
}

fn lsdg(params: &mut Params, given: &Given<'_, '_>) -> PyResult<()> {
    let own: &mut LsdgParams = &mut params.lsdg;
    if let Some(alpha) = given.number("alpha")? {
        own.alpha = match own.alpha {
            Alpha::Relative(_) => Alpha::Relative(alpha),
            Alpha::Absolute(_) => Alpha::Absolute(alpha),
        };
    }
    set(&mut own.beta, given.number("beta")?);
    let (mu, eta, neighbors) = (given.number("mu")?, given.number("eta")?, given.count("n_neighbors")?);
    match (mu, neighbors) {
        (Some(_), Some(_)) => {
            return Err(PyValueError::new_err(
                "mu and n_neighbors cannot both be given: mu follows where n_neighbors is set",
            ));
        }
        (Some(mu), None) => own.density = Density::Mu { mu, eta },
        (None, Some(neighbors)) => own.density = Density::Neighbors(neighbors),
        (None, None) => {
            if let (Density::Mu { mu, .. }, Some(_)) = (own.density, eta) {
                own.density = Density::Mu { mu, eta };
            }
        }
    }
    if eta.is_some() && matches!(own.density, Density::Neighbors(_)) {
        return Err(PyValueError::new_err("eta goes with mu: give mu too, or leave eta out"));
    }
    set(&mut own.dissimilarity, given.flag("dissimilarity")?);
    set(&mut own.orthogonality, given.flag("orthogonality")?);
    if given.flag("reseed")? == Some(true) {
        own.reseed = Reseed::WorstFitted;
    }
    set(&mut own.regularizer, given.word("regularizer", &REGULARIZERS)?);
    own.solver = solver(given, own.regularizer)?;
    let starts = [("random", Starts::Random), ("spectral", Starts::Spectral), ("both", Starts::Both)];
    set(&mut params.start, given.word("init", &starts)?);
    let prunings = [
        ("none", Pruning::None),
        ("quarter", Pruning::Quarter),
        ("half", Pruning::Half),
        ("outliers", Pruning::Outliers),
    ];
    set(&mut params.pruning, given.word("prune", &prunings)?);
    Ok(())
}

/// The method's own settings.
fn method_of(method: MethodKind, given: &Given<'_, '_>) -> PyResult<MethodParams> {
    let mut params = method.default_params();
    match &mut params {
        MethodParams::NearFar(own) => {
            let engines = [("auto", Engine::Auto), ("graph", Engine::Graph), ("mixture", Engine::Mixture)];
            set(&mut own.engine, given.word("engine", &engines)?);
            if let Some(views) = given.get("views")? {
                let allowed = "\"auto\", or a view or a list of views of \"raw\", \"standard\", \"unit\", \"standard-unit\"";
                let text: String = views.extract().map_err(|_| wrong("views", &views, allowed))?;
                let views = text.parse::<Views>();
                own.views = views.map_err(|error| {
                    PyValueError::new_err(format!(
                        "views = {:?} is not allowed: it must be {allowed}",
                        error.value
                    ))
                })?;
            }
        }
        MethodParams::AoSymNmf(own) => {
            set(&mut own.alpha, given.number("alpha")?);
            set(&mut own.regularizer, given.word("regularizer", &REGULARIZERS)?);
            own.solver = solver(given, own.regularizer)?;
        }
        MethodParams::SymNmf(own) => {
            let solvers = [
                ("multiplicative", SymNmfSolver::Multiplicative),
                ("gradient", SymNmfSolver::Gradient),
                ("newton", SymNmfSolver::Newton),
            ];
            set(&mut own.solver, given.word("solver", &solvers)?);
        }
        MethodParams::Anls(own) => {
            set(&mut own.lambda, given.number("lam")?);
            let solvers = [("pivoting", AnlsSolver::Pivoting), ("columns", AnlsSolver::Columns)];
            set(&mut own.solver, given.word("solver", &solvers)?);
        }
        MethodParams::SBsum(own) => {
            let blocks = [("scalar", SBsumBlock::Scalar), ("vector", SBsumBlock::Vector)];
            set(&mut own.block, given.word("solver", &blocks)?);
        }
        MethodParams::GsNmf(own) => {
            set(&mut own.lambda, given.number("lam")?);
            set(&mut own.penalty, given.number("penalty")?);
            let solvers = [("multiplicative", GsNmfSolver::Multiplicative), ("admm", GsNmfSolver::Admm)];
            set(&mut own.solver, given.word("solver", &solvers)?);
        }
        MethodParams::Gnmf(own) => set(&mut own.lambda, given.number("lam")?),
        MethodParams::NmfAn(own) => {
            set(&mut own.lambda, given.number("lam")?);
            set(&mut own.neighbors, given.count("n_neighbors")?);
        }
        MethodParams::CgSymNmf(own) => {
            set(&mut own.alpha, given.number("alpha")?);
            set(&mut own.beta, given.number("beta")?);
        }
        MethodParams::RbsMf(own) => {
            set(&mut own.lambda, given.number("lam")?);
            set(&mut own.mu, given.number("mu")?);
        }
        MethodParams::S3Nmf(own) => {
            set(&mut own.tau, given.number("tau")?);
            set(&mut own.members, given.count("members")?);
            set(&mut own.rounds, given.count("rounds")?);
            set(&mut own.hard, given.flag("hard_votes")?);
        }
        _ => {}
    }
    Ok(params)
}
