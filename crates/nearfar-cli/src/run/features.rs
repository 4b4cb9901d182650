//! Columns of a table matched by name with those that a model was fitted on.

use std::path::Path;

use nearfar::load::{LoadOptions, LoadProblem, Table, load};
use nearfar::model::About;

use crate::exit::{Failure, Outcome};

/// Names that a message lists, at most.
const MOST_NAMED: usize = 8;

/// Read the columns that a model was fitted on, whatever else the file holds; `None` where they cannot be found by name:
/// the model, or the file, has no names.
///
/// # Errors
/// When the file has names and lacks one of these.
pub(crate) fn read_by_name(path: &Path, about: &About, options: &LoadOptions) -> Outcome<Option<Table>> {
    let Some(wanted) = &about.feature_names else { return Ok(None) };
    let named = LoadOptions { columns: Some(wanted.clone()), ..options.clone() };
    match load(path, &named) {
        Ok(table) => match &table.column_names {
            // A name such as "3" is also the place of a column.
            Some(found) => match missing(wanted, found) {
                missing if missing.is_empty() => Ok(Some(table)),
                missing => Err(lacks(&path.display().to_string(), &missing, found)),
            },
            None => Ok(None),
        },
        Err(error) => match &error.problem {
            LoadProblem::NoSuchColumn { names, .. } if !names.is_empty() => {
                let missing = missing(wanted, names);
                if missing.is_empty() {
                    Ok(None)
                } else {
                    Err(lacks(&path.display().to_string(), &missing, names))
                }
            }
            _ => Ok(None),
        },
    }
}

/// The values of a table with its columns as the model has them; `None` where they are so already, or one of the two
/// has no names.
///
/// # Errors
/// When the table has names and lacks one of the model's columns.
pub(crate) fn in_order(name: &str, table: &Table, about: &About) -> Outcome<Option<Vec<f64>>> {
    let (Some(found), Some(wanted)) = (&table.column_names, &about.feature_names) else { return Ok(None) };
    if found == wanted {
        return Ok(None);
    }
    let place = |name: &String| found.iter().position(|other| other == name);
    let places: Option<Vec<usize>> = wanted.iter().map(place).collect();
    let Some(places) = places else { return Err(lacks(name, &missing(wanted, found), found)) };
    let samples = table.samples();
    let row = |i: usize| places.iter().map(move |j| (i, *j));
    Ok(Some((0..table.n_samples).flat_map(row).map(|(i, j)| samples.get(i, j)).collect()))
}

fn missing(wanted: &[String], found: &[String]) -> Vec<String> {
    wanted.iter().filter(|name| !found.contains(name)).cloned().collect()
}

fn lacks(name: &str, missing: &[String], found: &[String]) -> Failure {
    let (noun, verb) = if missing.len() == 1 { ("column", "is") } else { ("columns", "are") };
    Failure::wrong(format!(
        "{name}: {noun} {} {verb} missing, which the model was fitted on; the table has {}; name the columns as they were named then",
        quoted(missing),
        quoted(found)
    ))
}

/// Names in quotes, the first few of them.
fn quoted(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(MOST_NAMED).map(|name| format!("{name:?}")).collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &more
}
