//! What to run: rows of a table, each a method with fixed settings and perhaps a grid.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::{Table, Value};

use crate::error::{Error, Result};

/// The paper's tables, by name.
pub const BUILT_IN: [(&str, &str); 4] = [
    ("table-clustering", include_str!("../studies/table-clustering.toml")),
    ("table-ablation", include_str!("../studies/table-ablation.toml")),
    ("table-orthogonality", include_str!("../studies/table-orthogonality.toml")),
    ("table-aosymnmf", include_str!("../studies/table-aosymnmf.toml")),
];

/// Most settings of one row.
const MOST_SETTINGS: usize = 100_000;

/// An experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Study {
    /// Its file's name without the ending.
    #[serde(skip)]
    pub name: String,
    /// What it is about.
    pub title: String,
    /// Datasets by name, in the order of the columns; all of the folder when empty.
    #[serde(default)]
    pub datasets: Vec<String>,
    /// Seeds 0, 1, … of the chosen setting: what mean and spread are over.
    #[serde(default = "twenty")]
    pub starts: u64,
    /// Seeds per setting of a grid.
    #[serde(default = "one")]
    pub screen: u64,
    /// Repeats of the spectral step on one learnt Z, for methods that have that step.
    #[serde(default = "twenty")]
    pub repeats: u64,
    /// The rows of the table.
    #[serde(rename = "row")]
    pub rows: Vec<RowSpec>,
}

fn twenty() -> u64 {
    20
}

fn one() -> u64 {
    1
}

impl Study {
    /// Seeds per setting of this row's grid.
    pub fn screen_of(&self, row: &RowSpec) -> u64 {
        row.screen.unwrap_or(self.screen).min(self.starts)
    }
}

/// One row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RowSpec {
    /// As the table shows it.
    pub name: String,
    /// As `--method` names it.
    pub method: Option<String>,
    /// Settings that all runs share, by the names of the program's flags.
    #[serde(default)]
    pub set: Table,
    /// Settings of the row of defaults; `set` when not given.
    pub default: Option<Table>,
    /// Values to choose from: a list, or `{ logspace = [from, to, count] }`.
    #[serde(default)]
    pub grid: BTreeMap<String, Axis>,
    /// A method of your own: a file of labels per dataset and seed, with `{dataset}` and `{seed}` in its name.
    pub labels: Option<String>,
    /// Seeds per setting of this row's grid; those of the study when not given.
    pub screen: Option<u64>,
    /// Its row in the paper's tables.
    pub published: Option<String>,
    /// A word on it, shown under the table.
    pub note: Option<String>,
}

impl RowSpec {
    /// The word on it, with its name.
    pub(crate) fn remark(&self) -> Option<String> {
        self.note.as_ref().map(|note| format!("{}: {note}", self.name))
    }
}

/// The values of one setting.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Axis {
    /// These.
    List(Vec<Value>),
    /// Numbers evenly spaced on a log scale.
    Log {
        /// Exponents of the first and last, and how many.
        logspace: (f64, f64, usize),
    },
}

impl Axis {
    fn values(&self) -> Vec<Value> {
        match self {
            Self::List(values) => values.clone(),
            Self::Log { logspace: (from, to, count) } => (0..*count)
                .map(|i| from + (to - from) * i as f64 / count.saturating_sub(1).max(1) as f64)
                .map(|exponent| Value::Float(10_f64.powf(exponent)))
                .collect(),
        }
    }
}

/// How a row's setting was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// There is nothing to choose.
    Only,
    /// The best of the grid by label accuracy: the paper's protocol, and optimistic.
    Labels,
    /// The method's defaults.
    Defaults,
    /// The setting of the grid whose clusters cut the graph least; no labels used.
    Cut,
}

impl Choice {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Only => "nothing to tune",
            Self::Labels => "best of the grid, chosen WITH labels",
            Self::Defaults => "defaults, no labels used",
            Self::Cut => "least cut of the grid, no labels used",
        }
    }

    /// Whether labels took part.
    pub fn uses_labels(self) -> bool {
        self == Self::Labels
    }
}

impl RowSpec {
    /// The choices this row is shown with.
    pub fn choices(&self) -> &'static [Choice] {
        if self.grid.is_empty() { &[Choice::Only] } else { &[Choice::Labels, Choice::Defaults, Choice::Cut] }
    }

    /// Every point of the grid, with the fixed settings; the last axis runs fastest.
    pub fn settings(&self) -> Vec<Table> {
        let mut all = vec![self.set.clone()];
        for (key, axis) in &self.grid {
            let values = axis.values();
            all = all
                .into_iter()
                .flat_map(|base| {
                    values.iter().map(move |value| {
                        let mut table = base.clone();
                        table.insert(key.clone(), value.clone());
                        table
                    })
                })
                .collect();
        }
        all
    }

    /// What stands in the table for this setting: the values of the grid's axes.
    pub fn setting_text(&self, setting: &Table) -> String {
        let parts: Vec<String> = self
            .grid
            .keys()
            .filter_map(|key| setting.get(key).map(|value| format!("{key} {}", short(value))))
            .collect();
        parts.join(", ")
    }
}

/// A number as short as four digits tell it.
pub(crate) fn short(value: &Value) -> String {
    match value {
        Value::Float(x) if *x != 0.0 && !(1e-3..1e5).contains(&x.abs()) => format!("{x:.2e}"),
        Value::Float(x) => {
            let text = format!("{x:.4}");
            let text = text.trim_end_matches('0').trim_end_matches('.');
            text.to_owned()
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Study {
    /// Keep every `step`-th value of each axis of every grid, the first among them.
    pub fn thin(&mut self, step: usize) {
        for axis in self.rows.iter_mut().flat_map(|row| row.grid.values_mut()) {
            *axis = Axis::List(axis.values().into_iter().step_by(step.max(1)).collect());
        }
    }

    /// A built-in study by name, or a file.
    ///
    /// # Errors
    /// When there is no such study or file, or it does not say what it must.
    pub fn open(name: &str) -> Result<Self> {
        if let Some((name, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Self::parse(text, name, name);
        }
        let path = Path::new(name);
        if !path.exists() {
            let known: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
            let problem = format!(
                "there is no such file, and the built-in studies are {}, table-datasets, figures and all",
                known.join(", ")
            );
            return Err(Error::wrong(name, problem));
        }
        let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("study");
        Self::parse(&text, stem, name)
    }

    pub(crate) fn parse(text: &str, name: &str, file: &str) -> Result<Self> {
        let wrong = |problem: String| Error::wrong(file, problem);
        let mut study: Self =
            toml::from_str(text).map_err(|error| wrong(error.to_string().trim().to_owned()))?;
        name.clone_into(&mut study.name);
        if !(2..=1000).contains(&study.starts) {
            return Err(wrong(format!("starts = {} is not allowed: it must be 2 to 1000", study.starts)));
        }
        let screens = study.rows.iter().filter_map(|row| row.screen).chain([study.screen]);
        if let Some(screen) = screens.into_iter().find(|screen| !(1..=study.starts).contains(screen)) {
            let starts = study.starts;
            return Err(wrong(format!(
                "screen = {screen} is not allowed: it must be 1 to starts = {starts}"
            )));
        }
        for (at, row) in study.rows.iter().enumerate() {
            let name = &row.name;
            if study.rows[..at].iter().any(|other| other.name == *name) {
                return Err(wrong(format!("two rows are called {name:?}")));
            }
            if row.method.is_some() == row.labels.is_some() {
                return Err(wrong(format!("row {name:?} needs either a method or labels")));
            }
            if row.labels.is_some() && !(row.grid.is_empty() && row.set.is_empty()) {
                return Err(wrong(format!(
                    "row {name:?} has labels of its own: it takes no set and no grid"
                )));
            }
            let count = row.grid.values().map(|axis| axis.values().len()).fold(1, usize::saturating_mul);
            if count == 0 || count > MOST_SETTINGS {
                return Err(wrong(format!(
                    "the grid of row {name:?} has {count} settings: 1 to {MOST_SETTINGS} are allowed"
                )));
            }
        }
        if study.rows.is_empty() {
            return Err(wrong("a study needs at least one [[row]] with name and method".into()));
        }
        Ok(study)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_studies_have_the_grids_of_the_paper() {
        let sizes = |name: &str| -> Vec<(String, usize)> {
            let study = Study::open(name).unwrap();
            study.rows.iter().map(|row| (row.name.clone(), row.settings().len())).collect()
        };
        let of = |name: &str, row: &str| sizes(name).into_iter().find(|(r, _)| r == row).unwrap().1;
        assert_eq!(of("table-clustering", "LSDG (proposed)"), 343);
        assert_eq!(of("table-clustering", "GSNMF"), 50);
        assert_eq!(of("table-clustering", "SymNMF"), 1);
        assert_eq!(of("table-ablation", "without orthogonality"), 81);
        assert_eq!(of("table-ablation", "without D"), 81);
        assert_eq!(of("table-ablation", "without both"), 50);
        assert_eq!(of("table-aosymnmf", "log-det, products"), 50);
        assert_eq!(of("table-orthogonality", "log-det, products"), 343);
    }

    #[test]
    fn logspace_has_both_ends() {
        let values = Axis::Log { logspace: (-2.0, 4.0, 50) }.values();
        assert_eq!(values.len(), 50);
        assert!((values[0].as_float().unwrap() - 0.01).abs() < 1e-15);
        assert!((values[49].as_float().unwrap() - 1e4).abs() < 1e-9);
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |text: &str| Study::parse(text, "s", "s.toml").unwrap_err().to_string();
        assert!(wrong("title = \"t\"\nrow = []").contains("at least one"));
        assert!(
            wrong("title = \"t\"\nstarts = 1\n[[row]]\nname = \"a\"\nmethod = \"lsdg\"")
                .contains("2 to 1000")
        );
        assert!(wrong("title = \"t\"\n[[row]]\nname = \"a\"").contains("either a method or labels"));
        assert!(wrong("title = \"t\"\n[[row]]\nname = \"a\"\nmethd = \"lsdg\"").contains("methd"));
    }

    #[test]
    fn numbers_are_short() {
        for (x, text) in
            [(0.1, "0.1"), (1.0, "1"), (1e-4, "1.00e-4"), (1234.5, "1234.5"), (0.012_068, "0.0121")]
        {
            assert_eq!(short(&Value::Float(x)), text);
        }
    }
}
