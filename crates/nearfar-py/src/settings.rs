//! Keyword arguments become parameters, by the library's table of methods. Types are judged here, ranges by the
//! library.

use nearfar::learn::table::{Kind, Setting, Value};
use nearfar::learn::{Density, MethodKind, table};
use nearfar::{Params, View, Views};
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

    /// One of these words.
    fn word(&self, name: &str, known: &[&'static str]) -> PyResult<Option<&'static str>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        let words = || known.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ");
        let text: String =
            value.extract().map_err(|_| wrong(name, &value, &format!("one of {}", words())))?;
        known.iter().find(|word| **word == text).map(|word| Some(*word)).ok_or_else(|| {
            let words = words();
            PyValueError::new_err(format!("{name} = {text:?} is not allowed: it must be one of {words}"))
        })
    }

    /// Scalings of the data, as one text.
    fn views(&self, name: &str) -> PyResult<Option<String>> {
        let Some(views) = self.get(name)? else { return Ok(None) };
        let names = View::ALL.map(|view| format!("{:?}", view.name())).join(", ");
        let allowed = &*format!("\"auto\", or a view or a list of views of {names}");
        let text: String = views.extract().map_err(|_| wrong(name, &views, allowed))?;
        match text.parse::<Views>() {
            Ok(_) => Ok(Some(text)),
            Err(error) => Err(PyValueError::new_err(format!(
                "{name} = {:?} is not allowed: it must be {allowed}",
                error.value
            ))),
        }
    }

    /// A setting of the method.
    fn setting(&self, setting: &Setting) -> PyResult<Option<Value>> {
        let name = setting.keyword;
        Ok(match setting.kind {
            Kind::Number(..) | Kind::Above(..) | Kind::Below(_) | Kind::Under(_) => {
                self.number(name)?.map(Value::from)
            }
            Kind::Whole(..) => self.count(name)?.map(Value::from),
            Kind::Word(words) => self.word(name, words)?.map(Value::from),
            Kind::Switch => self.flag(name)?.map(Value::from),
            Kind::Views => self.views(name)?.map(Value::from),
        })
    }
}

fn wrong(name: &str, value: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
    let found = value.repr().map_or_else(|_| "it".to_owned(), |text| text.to_string());
    PyTypeError::new_err(format!("{name} = {found} is not allowed: it must be {allowed}"))
}

/// Keywords that are no settings of a method.
const OF_ALL: [&str; 5] = ["method", "n_clusters", "seed", "n_threads", "memory_limit"];

pub(crate) fn of(dict: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let given = Given(dict);
    let names = MethodKind::ALL.map(MethodKind::name);
    let method = given.word("method", &names)?.and_then(MethodKind::named).unwrap_or(MethodKind::NearFar);
    let found = given.clusters(method)?;
    let mut params = Params::of(found.unwrap_or(1), method);
    params.find_clusters = found.is_none();
    check_used(&given, method)?;
    if method == MethodKind::Lsdg {
        check_density(&given)?;
    }
    // In the order of the table: a preset comes before what departs from it.
    for setting in method.entry().settings().filter(|setting| !setting.keyword.is_empty()) {
        if setting.name == "eta"
            && given.get("eta")?.is_some()
            && matches!(params.lsdg.density, Density::Neighbors(_))
        {
            return Err(PyValueError::new_err("eta goes with mu: give mu too, or leave eta out"));
        }
        if let Some(value) = given.setting(setting)? {
            params.set(setting.name, value).map_err(|error| errors::of_param(&error))?;
        }
    }
    if let Some(seed) = given.count("seed")? {
        params.seed = seed as u64;
    }
    params.memory = given.count("memory_limit")?.map(|bytes| bytes as u64);
    let threads = given.count("n_threads")?.unwrap_or(1);
    params.threads = Some(threads);
    params.check().map_err(|error| errors::of_param(&error))?;
    // The pool is made by the caller, once for everything.
    params.threads = None;
    Ok(Settings { params, threads })
}

/// Refuse a keyword that the method would silently ignore.
fn check_used(given: &Given<'_, '_>, method: MethodKind) -> PyResult<()> {
    let takes = |kind: MethodKind, name: &str| kind.entry().settings().any(|setting| setting.keyword == name);
    for (name, value) in given.0 {
        let name: String = name.extract()?;
        if value.is_none() || OF_ALL.contains(&name.as_str()) || takes(method, &name) {
            continue;
        }
        let takers: Vec<MethodKind> =
            MethodKind::ALL.into_iter().filter(|kind| takes(*kind, &name)).collect();
        let whose = if takers.is_empty() { "no method".to_owned() } else { table::listed(&takers) };
        return Err(PyTypeError::new_err(format!("{name} is no setting of {method}; it is one of {whose}")));
    }
    Ok(())
}

/// Trusted neighbours decide mu.
fn check_density(given: &Given<'_, '_>) -> PyResult<()> {
    if given.get("mu")?.is_some() && given.get("n_neighbors")?.is_some() {
        return Err(PyValueError::new_err(
            "mu and n_neighbors cannot both be given: mu follows where n_neighbors is set",
        ));
    }
    Ok(())
}
