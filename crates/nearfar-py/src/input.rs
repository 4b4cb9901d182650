//! Arrays, borrowed from NumPy where they are contiguous (the Python half sees to that).

use nearfar::{Input, Metric, NeighborLists, Samples, Values};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::errors;

/// A borrowed matrix, of either precision.
pub(crate) enum Matrix<'py> {
    Single(PyReadonlyArray2<'py, f32>),
    Double(PyReadonlyArray2<'py, f64>),
}

impl<'py> Matrix<'py> {
    pub(crate) fn of(x: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(x) = x.extract() {
            return Ok(Self::Double(x));
        }
        x.extract().map(Self::Single).map_err(|_| {
            PyTypeError::new_err("X must be a two-dimensional NumPy array of float64 or float32")
        })
    }

    pub(crate) fn samples(&self) -> PyResult<Samples<'_>> {
        let (n, m, by_rows, values) = match self {
            Self::Single(x) => {
                (x.shape()[0], x.shape()[1], x.is_c_contiguous(), x.as_slice().map(Values::from))
            }
            Self::Double(x) => {
                (x.shape()[0], x.shape()[1], x.is_c_contiguous(), x.as_slice().map(Values::from))
            }
        };
        let values = values.map_err(|_| not_contiguous())?;
        let found =
            if by_rows { Samples::from_rows(values, n, m) } else { Samples::from_columns(values, n, m) };
        found.map_err(|error| errors::of(&error))
    }
}

fn not_contiguous() -> PyErr {
    PyValueError::new_err("X must be contiguous, by rows or by columns")
}

/// What a fit starts from.
pub(crate) enum Data<'py> {
    Matrix(Matrix<'py>, Kind),
    /// n × K: indices and distances, row after row.
    Lists(PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>, usize),
}

/// What a matrix holds.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Samples(Metric),
    Distances,
    Affinities,
}

impl<'py> Data<'py> {
    /// A matrix, or for `kind = "neighbors"` a tuple (indices, distances, number of samples).
    pub(crate) fn of(x: &Bound<'py, PyAny>, kind: &str) -> PyResult<Self> {
        let kind = match kind {
            "euclidean" => Kind::Samples(Metric::Euclidean),
            "cosine" => Kind::Samples(Metric::Cosine),
            "distances" => Kind::Distances,
            "affinities" => Kind::Affinities,
            "neighbors" => {
                let (indices, distances, n) = x.extract()?;
                return Ok(Self::Lists(indices, distances, n));
            }
            other => return Err(PyValueError::new_err(format!("there is no kind of input {other:?}"))),
        };
        Matrix::of(x).map(|matrix| Self::Matrix(matrix, kind))
    }

    pub(crate) fn input(&self) -> PyResult<Input<'_>> {
        match self {
            Self::Matrix(matrix, kind) => {
                let samples = matrix.samples()?;
                Ok(match kind {
                    Kind::Samples(metric) => Input::Samples(samples, *metric),
                    Kind::Distances => Input::Distances(samples),
                    Kind::Affinities => Input::Affinities(samples),
                })
            }
            Self::Lists(indices, distances, n) => {
                let (indices, distances) = (indices.as_slice()?, distances.as_slice()?);
                let lists = NeighborLists::new(indices, distances, *n, indices.len() / (*n).max(1));
                lists.map(Input::Neighbors).map_err(|error| errors::of(&error))
            }
        }
    }
}
