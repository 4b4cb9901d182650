//! Which column is what: features, classes, row names.

use super::error::{Column, LoadProblem, nearest};
use super::{LoadOptions, Truth};

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Feature,
    Truth,
    Id,
    Skip,
    /// Behind a delimiter that ends every line: must stay empty.
    Blank,
}

/// Give every column its role. Names win over indices; −1 is the last column.
///
/// `truth_elsewhere` says that the truth named in the options is not a column.
pub(crate) fn roles(
    options: &LoadOptions,
    names: Option<&[String]>,
    n_columns: usize,
    truth_elsewhere: bool,
) -> Result<Vec<Role>, LoadProblem> {
    let rest = if options.columns.is_some() { Role::Skip } else { Role::Feature };
    let mut roles = vec![rest; n_columns];
    for wanted in options.columns.iter().flatten() {
        roles[find(wanted, names, n_columns)?] = Role::Feature;
    }
    let special = [
        (options.id_column.as_ref(), Role::Id, "row names"),
        (
            match &options.truth {
                Some(Truth::Column(name)) if !truth_elsewhere => Some(name),
                _ => None,
            },
            Role::Truth,
            "classes",
        ),
    ];
    for (wanted, role, what) in special {
        let Some(wanted) = wanted else { continue };
        let index = find(wanted, names, n_columns)?;
        let taken = roles[index] == Role::Id || (options.columns.is_some() && roles[index] == Role::Feature);
        if taken {
            let why = format!("it is asked for as {what} and for something else; leave one of the two out");
            return Err(LoadProblem::ColumnConflict { column: Column::new(index, names).to_string(), why });
        }
        roles[index] = role;
    }
    if !roles.contains(&Role::Feature) {
        return Err(LoadProblem::Empty { what: "no column is left as data".to_owned() });
    }
    Ok(roles)
}

/// Index of the column that `wanted` names or numbers.
pub(crate) fn find(wanted: &str, names: Option<&[String]>, n_columns: usize) -> Result<usize, LoadProblem> {
    let all = names.unwrap_or_default();
    let mut hits = all.iter().enumerate().filter(|(_, name)| *name == wanted).map(|(index, _)| index);
    if let Some(first) = hits.next() {
        let Some(second) = hits.next() else { return Ok(first) };
        let why = format!("the name stands more than once, at index {first} and {second}; use the index");
        return Err(LoadProblem::ColumnConflict { column: format!("{wanted:?}"), why });
    }
    let index = wanted.trim().parse::<isize>().ok().and_then(|index| {
        let index = if index < 0 { n_columns.checked_add_signed(index)? } else { index.unsigned_abs() };
        (index < n_columns).then_some(index)
    });
    index.ok_or_else(|| LoadProblem::NoSuchColumn {
        wanted: wanted.to_owned(),
        suggestion: nearest(wanted, all.iter().map(String::as_str)),
        names: all.to_vec(),
        n_columns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["a", "b", "class", "b"].map(str::to_owned).to_vec()
    }

    #[test]
    fn names_indices_and_mistakes() {
        let names = names();
        assert_eq!(find("class", Some(&names), 4).unwrap(), 2);
        assert_eq!(find("-1", Some(&names), 4).unwrap(), 3);
        assert_eq!(find("1", None, 4).unwrap(), 1);
        for wrong in ["4", "-5", "x", "", "99999999999999999999"] {
            assert!(find(wrong, Some(&names), 4).is_err(), "{wrong}");
        }
        let message = find("clas", Some(&names), 4).unwrap_err().to_string();
        assert_eq!(
            message,
            "there is no column \"clas\"; the columns are a, b, class, b; did you mean \"class\"?"
        );
        assert!(find("b", Some(&names), 4).unwrap_err().to_string().contains("index 1 and 3"));
    }

    #[test]
    fn roles_do_not_overlap() {
        let names = names();
        let options = |columns: Option<&str>, truth: &str, id: Option<&str>| LoadOptions {
            columns: columns.map(|names| names.split(',').map(str::to_owned).collect()),
            truth: Some(Truth::Column(truth.to_owned())),
            id_column: id.map(str::to_owned),
            ..LoadOptions::default()
        };
        let found = roles(&options(None, "class", Some("0")), Some(&names), 4, false).unwrap();
        assert_eq!(found, [Role::Id, Role::Feature, Role::Truth, Role::Feature]);
        let found = roles(&options(Some("a,1"), "class", None), Some(&names), 4, false).unwrap();
        assert_eq!(found, [Role::Feature, Role::Feature, Role::Truth, Role::Skip]);
        for (columns, truth, id) in [(Some("a,class"), "class", None), (None, "class", Some("2"))] {
            let error = roles(&options(columns, truth, id), Some(&names), 4, false).unwrap_err();
            assert!(matches!(error, LoadProblem::ColumnConflict { .. }), "{error}");
        }
        assert!(roles(&options(None, "0", None), None, 1, false).is_err());
    }
}
