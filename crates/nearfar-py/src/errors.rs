//! Every error of the library as the Python class a caller would expect.

use nearfar::internals::spell_settings;
use nearfar::learn::MethodKind;
use nearfar::model::ModelFileError;
use nearfar::{Error, ParamError};
use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};

/// What Python calls the parameters that are no settings of a method.
const NAMES: [(&str, &str); 4] =
    [("threads", "n_jobs"), ("seed", "random_state"), ("change_tol", "tol"), ("memory", "memory_limit")];

/// What Python calls a parameter of the library.
fn keyword(name: &str) -> &str {
    let other = NAMES.iter().find(|(library, _)| *library == name).map(|(_, python)| *python);
    let setting = || MethodKind::ALL.iter().find_map(|kind| kind.entry().setting(name));
    let known = || setting().map(|setting| setting.keyword).filter(|keyword| !keyword.is_empty());
    other.or_else(known).unwrap_or(name)
}

/// A message of the library with its settings as keywords.
pub(crate) fn in_keywords(message: &str) -> String {
    let message = message.replace("`precision` single", "precision=\"single\"");
    spell_settings(&message, |name| match name {
        "reseed" => "reseed=True".to_owned(),
        "save_model" => "save()".to_owned(),
        name => keyword(name).to_owned(),
    })
}

pub(crate) fn of_param(error: &ParamError) -> PyErr {
    let ParamError { name, value, allowed } = error;
    let name = keyword(name);
    PyValueError::new_err(format!("{name} = {value} is not allowed: it must be {allowed}"))
}

pub(crate) fn of(error: &Error) -> PyErr {
    let text = || in_keywords(&error.to_string());
    match error {
        Error::Param(error) => of_param(error),
        Error::Memory { .. } => PyMemoryError::new_err(text()),
        Error::ModelFile(ModelFileError::Io { source, .. }) => {
            if source.kind() == std::io::ErrorKind::NotFound {
                PyFileNotFoundError::new_err(text())
            } else {
                PyOSError::new_err(text())
            }
        }
        Error::Cancelled { .. } => PyRuntimeError::new_err(text()),
        _ => PyValueError::new_err(text()),
    }
}
