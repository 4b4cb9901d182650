//! The compiled half of the Python package: converts and calls, nothing else.
//!
//! `communicator` lets processes that share an mpi4py communicator work together. `settings` turns keyword arguments into
//! parameters, `input` borrows arrays, `watch` runs the work on threads of its own while the calling thread listens
//! for Ctrl-C and calls back, `model` is a fitted model, `errors` gives every error its Python class. Estimators,
//! documentation and pictures are Python, in `python/nearfar`.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 makes the arguments and hands them over")]
#![allow(clippy::cast_possible_wrap, reason = "counts of things in memory")]

mod communicator;
mod errors;
mod input;
mod model;
mod settings;
mod tools;
mod watch;

use pyo3::prelude::*;

/// As in the program: large matrices on huge pages.
#[global_allocator]
static ALLOCATOR: nearfar_pages::HugePages = nearfar_pages::HugePages;

/// The compiled half of nearfar.
#[pymodule]
mod _nearfar {
    #[pymodule_export]
    use super::communicator::rows_of;
    #[pymodule_export]
    use super::model::{Model, fit, show_explanation};
    #[pymodule_export]
    use super::tools::{about_method, correct_rate, make, methods, nmi, scores};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("TRACE_COLUMNS", nearfar::internals::TRACE_COLUMNS.to_vec())
    }
}
