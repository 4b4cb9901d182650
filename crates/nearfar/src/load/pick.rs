//! Which array of a file is the data, and which the truth.

use std::io::{Cursor, Read, Seek};

use super::array::{NpyArray, shape_text};
use super::error::{LoadProblem, nearest};
use super::labels::Labels;
use super::limit::Unpacked;
use super::mat::{self, Variable};
use super::npy::Dtype;
use super::npz::{Entry, Npz};
use super::table::Table;
use super::{LoadOptions, Truth};

/// A table of an NPZ file.
pub(crate) fn npz_table<R: Read + Seek>(
    reader: R,
    length: u64,
    options: &LoadOptions,
) -> Result<Table, LoadProblem> {
    let mut npz = Npz::open(reader, Unpacked::new(length, options.max_bytes))?;
    let all: Vec<Candidate> = npz.entries.iter().map(Candidate::from).collect();
    table(&all, options, &mut npz)
}

/// A table of a MATLAB file.
pub(crate) fn mat_table(bytes: &[u8], options: &LoadOptions) -> Result<Table, LoadProblem> {
    let mut variables = mat::read(bytes, Unpacked::new(bytes.len() as u64, options.max_bytes))?;
    let all: Vec<Candidate> = variables.iter().map(Candidate::from).collect();
    table(&all, options, &mut variables)
}

/// Labels of an NPZ file.
pub(crate) fn npz_labels(bytes: &[u8], options: &LoadOptions) -> Result<Labels, LoadProblem> {
    let unpacked = Unpacked::new(bytes.len() as u64, options.max_bytes);
    let mut npz = Npz::open(Cursor::new(bytes), unpacked)?;
    let all: Vec<Candidate> = npz.entries.iter().map(Candidate::from).collect();
    let at = only_labels(&all, options)?;
    npz.labels(at)
}

/// Labels of a MATLAB file.
pub(crate) fn mat_labels(bytes: &[u8], options: &LoadOptions) -> Result<Labels, LoadProblem> {
    let mut variables = mat::read(bytes, Unpacked::new(bytes.len() as u64, options.max_bytes))?;
    let all: Vec<Candidate> = variables.iter().map(Candidate::from).collect();
    let at = only_labels(&all, options)?;
    variables.labels(at)
}

fn take(variable: &mut Variable) -> Result<NpyArray, LoadProblem> {
    variable.array.take().ok_or_else(|| LoadProblem::Unsupported {
        what: format!("a MATLAB variable of class {} ({:?})", variable.class, variable.name),
        advice: "save the data as a matrix of real numbers".to_owned(),
    })
}

/// A file of several arrays.
trait Arrays {
    /// An array of samples, and the name of the type it is stored in.
    fn samples(&mut self, at: usize) -> Result<(NpyArray, String), LoadProblem>;
    fn labels(&mut self, at: usize) -> Result<Labels, LoadProblem>;
}

impl<R: Read + Seek> Arrays for Npz<R> {
    fn samples(&mut self, at: usize) -> Result<(NpyArray, String), LoadProblem> {
        self.samples(at)
    }

    fn labels(&mut self, at: usize) -> Result<Labels, LoadProblem> {
        self.labels(at)
    }
}

impl Arrays for Vec<Variable> {
    fn samples(&mut self, at: usize) -> Result<(NpyArray, String), LoadProblem> {
        let array = take(&mut self[at])?;
        let kind = array.data.type_name().to_owned();
        Ok((array, kind))
    }

    fn labels(&mut self, at: usize) -> Result<Labels, LoadProblem> {
        let name = self[at].name.clone();
        Labels::from_array(&take(&mut self[at])?, &name)
    }
}

fn table(all: &[Candidate], options: &LoadOptions, file: &mut impl Arrays) -> Result<Table, LoadProblem> {
    let (data, truth) = choose(all, options)?;
    // The truth first: the same array may be asked for as both, and the second of it is gone.
    let truth = truth.map(|truth| file.labels(truth)).transpose()?;
    let mut table = Table::from_array(file.samples(data)?, None, options, truth.is_some())?;
    table.source = format!("array {:?}, {}", all[data].name, table.source);
    match truth {
        Some(truth) => table.with_truth(truth),
        None => Ok(table),
    }
}

impl From<&Entry> for Candidate {
    fn from(entry: &Entry) -> Self {
        Self {
            name: entry.name.clone(),
            shape: entry.header.shape.clone(),
            kind: entry.header.dtype.name(),
            numbers: matches!(entry.header.dtype, Dtype::Number { .. }),
            classes: !matches!(entry.header.dtype, Dtype::Other(_)),
        }
    }
}

impl From<&Variable> for Candidate {
    fn from(variable: &Variable) -> Self {
        Self {
            name: variable.name.clone(),
            shape: variable.shape.clone(),
            kind: variable.class.clone(),
            numbers: variable.array.is_some(),
            classes: variable.array.is_some(),
        }
    }
}

/// The array that is asked for, or the only one with one axis.
fn only_labels(all: &[Candidate], options: &LoadOptions) -> Result<usize, LoadProblem> {
    let wanted = match (&options.array, &options.truth) {
        (Some(name), _) | (None, Some(Truth::Column(name))) => Some(name.clone()),
        _ => {
            let line = |array: &&Candidate| {
                array.classes && array.shape.iter().filter(|&&length| length != 1).count() == 1
            };
            let mut lines = all.iter().filter(line);
            lines.next().filter(|_| lines.next().is_none()).map(|array| array.name.clone())
        }
    };
    let options = LoadOptions { array: wanted, ..LoadOptions::default() };
    choose(all, &options).map(|(index, _)| index)
}

/// An array as the chooser sees it.
struct Candidate {
    name: String,
    shape: Vec<usize>,
    /// NumPy's or MATLAB's word for its type.
    kind: String,
    /// Whether it can be read as numbers.
    numbers: bool,
    /// Whether it can be read as classes.
    classes: bool,
}

impl Candidate {
    fn describe(&self) -> String {
        format!("{:?} ({} {})", self.name, shape_text(&self.shape), self.kind)
    }
}

/// Which array is the data, and which the truth.
fn choose(all: &[Candidate], options: &LoadOptions) -> Result<(usize, Option<usize>), LoadProblem> {
    let find = |wanted: &str| all.iter().position(|array| array.name == wanted);
    let describe = || all.iter().map(Candidate::describe).collect::<Vec<_>>();
    let truth = match &options.truth {
        Some(Truth::Column(name)) => find(name),
        _ => None,
    };
    let missing = |wanted: &str| LoadProblem::NoSuchArray {
        wanted: wanted.to_owned(),
        suggestion: nearest(wanted, all.iter().map(|array| array.name.as_str())),
        arrays: describe(),
    };
    if let (Some(Truth::Column(name)), None) = (&options.truth, truth)
        && name.trim().parse::<isize>().is_err()
    {
        return Err(missing(name));
    }
    if let Some(wanted) = &options.array {
        return find(wanted).map(|index| (index, truth)).ok_or_else(|| missing(wanted));
    }
    let usable = |index: &usize| all[*index].numbers && Some(*index) != truth;
    let matrix =
        |index: &usize| matches!(all[*index].shape[..], [n_rows, n_columns] if n_rows > 1 && n_columns > 1);
    let numbers: Vec<usize> = (0..all.len()).filter(usable).collect();
    let matrices: Vec<usize> = numbers.iter().copied().filter(|index| matrix(index)).collect();
    match (&matrices[..], &numbers[..]) {
        ([only], _) | ([], [only]) => Ok((*only, truth)),
        ([], _) => Err(LoadProblem::ChooseArray { found: "no array", arrays: describe() }),
        _ => Err(LoadProblem::ChooseArray { found: "more than one array", arrays: describe() }),
    }
}
