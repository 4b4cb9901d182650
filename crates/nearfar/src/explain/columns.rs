//! What the columns are, numbers, categories or terms, and how they are called.

use super::Subject;
use super::moments::Moments;
use super::words::number;
use crate::input::Samples;
use crate::model::Scaling;

/// Rows that are looked at to tell whether two-valued columns are one category.
const ONE_HOT_ROWS: usize = 10_000;
/// More two-valued columns than this are no categories of one another.
const MOST_TWO: usize = 2_000;
/// From this share of zeros on, a table without negative values is one of terms.
const SPARSE: f64 = 0.8;
/// Columns of such a table, at least.
const FEWEST_TERMS: usize = 20;

/// What a column holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Numbers.
    Number,
    /// One of two values.
    Switch,
    /// Whether a category has this value: of a run of columns exactly one is high in every row.
    Level {
        /// What the category is called, where the names of its columns begin alike.
        category: Option<String>,
        /// What its value is called.
        value: String,
    },
    /// How much of a term a row has, mostly nothing.
    Term,
}

/// The columns of a table.
pub(super) struct Columns<'a> {
    scaling: &'a Scaling,
    names: Vec<String>,
    kinds: Vec<Kind>,
    /// Least and largest value, as the user knows them.
    ends: Vec<[f64; 2]>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(subject: &Subject<'a>, samples: &Samples<'_>, moments: &Moments) -> Self {
        let m = samples.n_features();
        let given = subject.feature_names.filter(|names| names.len() == m);
        let names: Vec<String> =
            given.map_or_else(|| (0..m).map(|j| format!("column {j}")).collect(), <[String]>::to_vec);
        let scaling = subject.scaling;
        let terms = m >= FEWEST_TERMS
            && subject.image.is_none()
            && moments.zeros >= SPARSE
            && moments.frame.iter().all(|(least, _)| *least >= 0.0);
        let mut kinds: Vec<Kind> = moments
            .two
            .iter()
            .map(|two| match (terms, two) {
                (true, _) => Kind::Term,
                (false, true) => Kind::Switch,
                (false, false) => Kind::Number,
            })
            .collect();
        let two = moments.two.iter().filter(|two| **two).count();
        if !terms && subject.image.is_none() && (2..=MOST_TWO).contains(&two) {
            for run in one_hot(samples, moments) {
                let prefix = prefix(&names[run.clone()]);
                for j in run {
                    let value = names[j][prefix.len()..].to_owned();
                    let category = prefix.trim_end_matches(SEPARATORS);
                    let category = Some(category.to_owned()).filter(|category| !category.is_empty());
                    kinds[j] = Kind::Level { category, value };
                }
            }
        }
        let mut this = Self { scaling, names, kinds, ends: Vec::new() };
        this.ends = (0..m)
            .map(|j| [this.original(j, moments.frame[j].0), this.original(j, moments.frame[j].1)])
            .collect();
        this
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    pub(super) fn name(&self, j: usize) -> &str {
        &self.names[j]
    }

    pub(super) fn kind(&self, j: usize) -> &Kind {
        &self.kinds[j]
    }

    /// The value that the user knows, of one that was rescaled.
    pub(super) fn original(&self, j: usize, x: f64) -> f64 {
        match self.scaling {
            Scaling::Columns { origin, unit } if j < origin.len() => origin[j] + unit[j] * x,
            _ => x,
        }
    }

    /// What is high, in words: `plan = pro`, or `member = 1`.
    pub(super) fn high(&self, j: usize) -> String {
        match &self.kinds[j] {
            Kind::Level { category: Some(category), value } => format!("{category} = {value}"),
            Kind::Level { category: None, value } => value.clone(),
            _ => format!("{} = {}", self.names[j], number(self.ends[j][1])),
        }
    }

    /// What is not high.
    pub(super) fn low(&self, j: usize) -> String {
        match &self.kinds[j] {
            Kind::Level { category: Some(category), value } => format!("{category} is not {value}"),
            Kind::Level { category: None, value } => format!("not {value}"),
            _ => format!("{} = {}", self.names[j], number(self.ends[j][0])),
        }
    }

    /// What the scaling does to the numbers that are told.
    pub(super) fn note(&self) -> Option<String> {
        (*self.scaling == Scaling::Unit)
            .then(|| "rows were scaled to length 1; all values are those of the scaled rows".to_owned())
    }
}

/// What stands between the name of a category and that of its value.
const SEPARATORS: [char; 6] = ['_', '=', ':', '.', '-', ' '];

/// How all these names begin, up to and with a separator.
fn prefix(names: &[String]) -> &str {
    let Some(first) = names.first() else { return "" };
    let ends = first.char_indices().filter(|(_, c)| SEPARATORS.contains(c)).map(|(at, c)| at + c.len_utf8());
    let shared = |end: &usize| names.iter().all(|name| name.starts_with(&first[..*end]) && name.len() > *end);
    ends.filter(shared).max().map_or("", |end| &first[..end])
}

/// Runs of two-valued columns, two at least, of which exactly one is high in every row.
fn one_hot(samples: &Samples<'_>, moments: &Moments) -> Vec<std::ops::Range<usize>> {
    let n = samples.n_samples();
    let rows: Vec<usize> = if n <= ONE_HOT_ROWS {
        (0..n).collect()
    } else {
        (0..ONE_HOT_ROWS).map(|at| at * n / ONE_HOT_ROWS).collect()
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < moments.two.len() {
        let run = if moments.two[at] { run_from(samples, moments, &rows, at) } else { None };
        let end = run.unwrap_or(at + 1);
        if run.is_some() {
            found.push(at..end);
        }
        at = end;
    }
    found
}

/// Where the shortest such run from `first` on ends.
fn run_from(samples: &Samples<'_>, moments: &Moments, rows: &[usize], first: usize) -> Option<usize> {
    let mut taken = vec![false; rows.len()];
    let mut covered = 0;
    let two = (first..moments.two.len()).take_while(|j| moments.two[*j]);
    for j in two {
        for (taken, i) in taken.iter_mut().zip(rows) {
            if samples.get(*i, j) == moments.frame[j].1 {
                if *taken {
                    return None;
                }
                *taken = true;
                covered += 1;
            }
        }
        if j > first && covered == rows.len() {
            return Some(j + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_category_begin_alike() {
        let names = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(prefix(&names(&["plan_basic", "plan_plus", "plan_pro"])), "plan_");
        assert_eq!(prefix(&names(&["a=b_1", "a=b_2"])), "a=b_");
        assert_eq!(prefix(&names(&["red", "green"])), "");
        assert_eq!(prefix(&names(&["a_", "a_b"])), "");
    }
}
