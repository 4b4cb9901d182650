//! Class labels: codes 0, 1, … and the names behind them.

use std::borrow::Cow;
use std::collections::HashMap;

use super::array::{NpyArray, NpyData};
use super::error::{Column, LoadProblem, Place};

/// One class per sample: a code, and the name of each code.
///
/// Names that are all numbers stand in numeric order, others in alphabetic order, so that the codes
/// do not depend on the order of the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Code of each sample, below `names.len()`.
    pub codes: Vec<usize>,
    /// Name of each code, as the file writes it.
    pub names: Vec<String>,
}

impl Labels {
    /// Number the distinct names.
    pub fn from_names<'a>(names: impl IntoIterator<Item = Cow<'a, str>>) -> Self {
        let mut seen: HashMap<Cow<'a, str>, usize> = HashMap::new();
        let mut codes = Vec::new();
        let mut distinct: Vec<String> = Vec::new();
        for name in names {
            let next = distinct.len();
            let code = *seen.entry(name).or_insert_with_key(|name| {
                distinct.push(name.clone().into_owned());
                next
            });
            codes.push(code);
        }
        number(&codes, &distinct)
    }

    /// The classes an array of whole numbers holds; `None` when a value is not finite.
    pub(crate) fn from_array(array: &NpyArray, what: &str) -> Result<Self, LoadProblem> {
        Self::check_shape(&array.shape, what)?;
        let names = match &array.data {
            NpyData::F32(values) => number_names(values.iter().map(|&v| f64::from(v))),
            NpyData::F64(values) => number_names(values.iter().copied()),
            NpyData::U64(values) => Ok(values.iter().map(u64::to_string).collect()),
            NpyData::I64(values) => Ok(values.iter().map(i64::to_string).collect()),
            other => number_names(other.to_f64().into_iter()),
        };
        let names: Vec<String> = names.map_err(|(row, value)| LoadProblem::NotFinite {
            place: Place::Row(row),
            column: Column { index: 0, name: Some(what.to_owned()) },
            value: value.to_string(),
        })?;
        Ok(Self::from_names(names.into_iter().map(Cow::Owned)))
    }

    /// Refuse an array that is not a line of classes.
    pub(crate) fn check_shape(shape: &[usize], what: &str) -> Result<(), LoadProblem> {
        if shape.iter().filter(|&&length| length != 1).count() > 1 {
            let shape = super::array::shape_text(shape);
            let found = format!("classes need one number per sample, not {shape}");
            return Err(LoadProblem::malformed(what, found));
        }
        Ok(())
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }
}

/// Whole numbers lose their `.0`; the first that is not finite is given back with its row.
fn number_names(values: impl Iterator<Item = f64>) -> Result<Vec<String>, (usize, f64)> {
    values.enumerate().map(|(row, value)| finite_name(value).ok_or((row, value))).collect()
}

/// A number as a name: `3` for 3.0 and −0 as 0.
pub(crate) fn finite_name(value: f64) -> Option<String> {
    value.is_finite().then(|| if value == 0.0 { "0".to_owned() } else { value.to_string() })
}

/// Put the distinct names in order and number the samples by it; `1.0` and `1` are one class.
fn number(codes: &[usize], distinct: &[String]) -> Labels {
    let numbers: Option<Vec<f64>> = distinct
        .iter()
        .map(|name| name.trim().parse().ok().filter(|number: &f64| number.is_finite()))
        .collect();
    let mut order: Vec<usize> = (0..distinct.len()).collect();
    match &numbers {
        Some(numbers) => order
            .sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]).then_with(|| distinct[a].cmp(&distinct[b]))),
        None => order.sort_by(|&a, &b| distinct[a].cmp(&distinct[b])),
    }
    let mut names: Vec<String> = Vec::new();
    let mut new_code = vec![0; distinct.len()];
    for old in order {
        let written = distinct[old].trim();
        let name = match &numbers {
            Some(numbers) if written.contains(['.', 'e', 'E']) => {
                finite_name(numbers[old]).unwrap_or_else(|| written.to_owned())
            }
            _ => written.to_owned(),
        };
        if names.last() != Some(&name) {
            names.push(name);
        }
        new_code[old] = names.len() - 1;
    }
    Labels { codes: codes.iter().map(|&code| new_code[code]).collect(), names }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(names: &[&str]) -> Labels {
        Labels::from_names(names.iter().map(|&name| Cow::Borrowed(name)))
    }

    #[test]
    fn numbers_and_words_are_ordered() {
        assert_eq!(labels(&["10", "9", "-1", "9"]).codes, [2, 1, 0, 1]);
        assert_eq!(labels(&["10", "9", "x"]).names, ["10", "9", "x"]);
        let both = labels(&["1.0", "2.000e+00", "1", "2"]);
        assert_eq!(both.names, ["1", "2"]);
        assert_eq!(both.codes, [0, 1, 0, 1]);
        assert!(labels(&[]).is_empty());
    }

    #[test]
    fn arrays_give_classes() {
        let array = |shape: &[usize], data| NpyArray { shape: shape.to_vec(), data };
        let some =
            Labels::from_array(&array(&[3, 1], NpyData::F64(vec![2.0, 1.0, 2.0].into())), "gnd").unwrap();
        assert_eq!((some.codes, some.names), (vec![1, 0, 1], vec!["1".to_owned(), "2".to_owned()]));
        assert!(Labels::from_array(&array(&[2, 2], NpyData::U8(vec![1; 4])), "gnd").is_err());
        assert!(Labels::from_array(&array(&[1], NpyData::F64(vec![f64::NAN].into())), "gnd").is_err());
    }
}
