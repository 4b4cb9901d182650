//! From runs to a table: means, spreads, distance from the paper, which is best and what is not told apart from it.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::published;
use crate::runner::Found;
use crate::stats::{mean_std, signed_rank_p};
use crate::study::{Choice, RowSpec, Study};

/// Below this p a difference counts.
const SIGNIFICANT: f64 = 0.05;
/// The paper's deviations are rounded to three digits; a smaller one would turn rounding into a distance.
const LEAST_SIGMA: f64 = 0.005;

/// ACC or NMI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Metric {
    /// Accuracy.
    Acc,
    /// Normalised mutual information.
    Nmi,
}

/// Both.
pub const METRICS: [Metric; 2] = [Metric::Acc, Metric::Nmi];

impl Metric {
    /// As tables show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Acc => "ACC",
            Self::Nmi => "NMI",
        }
    }
}

/// One value of the table.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Cell {
    /// Mean over starts.
    pub mean: f64,
    /// Standard deviation over starts.
    pub std: f64,
    /// The paper's protocol: mean and deviation over repeats of the spectral step on the Z of seed 0.
    pub repeats: Option<(f64, f64)>,
    /// Mean and deviation the paper reports.
    pub published: Option<(f64, f64)>,
    /// How far we are from the paper's mean, in its deviations: with the mean on one Z, as the paper has it, where
    /// there is one. `None` where its samples are others.
    pub sigmas: Option<f64>,
    /// 1 for the best of its half of the table, 2 for the second.
    pub place: Option<usize>,
    /// Whether the paired test does not tell it from the best.
    pub equals_best: bool,
    /// The setting.
    pub setting: String,
    /// Mean seconds of a run on one thread.
    pub seconds: f64,
    /// Start by start, from seed 0 on: what paired tests need. Empty in tables of versions that did not keep them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
}

/// One line of the table: a row with one choice of setting.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TableLine {
    /// The row's name.
    pub name: String,
    /// How the setting was chosen.
    pub choice: Choice,
    /// How many settings there were.
    pub tried: usize,
    /// A cell per dataset: ACC and NMI. `None` where it was not run, which only tables put together have.
    pub cells: Vec<Option<[Cell; 2]>>,
    /// Mean over the datasets, where it was run on all of them.
    pub mean: [Option<f64>; 2],
}

impl TableLine {
    /// With its mean over the datasets.
    pub(crate) fn new(name: String, choice: Choice, tried: usize, cells: Vec<Option<[Cell; 2]>>) -> Self {
        let mean = [0, 1].map(|m| {
            let sum: Option<f64> = cells.iter().map(|cell| cell.as_ref().map(|cell| cell[m].mean)).sum();
            sum.map(|sum| sum / cells.len() as f64)
        });
        Self { name, choice, tried, cells, mean }
    }

    /// The cell of a dataset and a metric.
    fn cell(&self, dataset: usize, metric: usize) -> Option<&Cell> {
        self.cells[dataset].as_ref().map(|cell| &cell[metric])
    }
}

/// A half of the table: lines that may be compared with each other.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Half {
    /// What they have in common.
    pub title: String,
    /// The lines.
    pub lines: Vec<TableLine>,
}

/// A dataset as the table shows it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Column {
    /// Its name.
    pub title: String,
    /// n, m, clusters.
    pub size: [usize; 3],
    /// SHA-256 of values and classes.
    pub hash: String,
    /// Whether the paper's figures are of the same samples.
    pub same_samples: bool,
}

/// The finished table.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ResultTable {
    /// The study's name.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// How it was run, in a sentence.
    pub protocol: String,
    /// The datasets.
    pub columns: Vec<Column>,
    /// With labels used to choose settings, and without.
    pub halves: Vec<Half>,
    /// Words on rows.
    pub notes: Vec<String>,
}

fn value(run: &crate::store::Run, metric: Metric) -> f64 {
    match metric {
        Metric::Acc => run.accuracy,
        Metric::Nmi => run.nmi,
    }
}

impl ResultTable {
    /// Of a study's runs.
    pub fn new(study: &Study, found: &[Found]) -> Self {
        let half = |title: &str, wanted: &dyn Fn(Choice) -> bool| {
            let mut half = Half { title: title.into(), lines: lines(study, found, wanted) };
            half.rank(found.len(), &|_, _, _| false);
            half
        };
        let mut halves = vec![half("Settings chosen with labels (the paper's protocol)", &|choice| {
            matches!(choice, Choice::Labels | Choice::Only)
        })];
        if study.rows.iter().any(|row| !row.grid.is_empty()) {
            halves.push(half("No labels used", &|choice| choice != Choice::Labels));
        }
        let columns = found
            .iter()
            .map(|found| Column {
                title: found.spec.title().to_owned(),
                size: found.size,
                hash: found.hash.clone(),
                same_samples: found.spec.same_samples,
            })
            .collect();
        let notes = study.rows.iter().filter_map(RowSpec::remark);
        Self {
            name: study.name.clone(),
            title: study.title.clone(),
            protocol: protocol(study),
            columns,
            halves,
            notes: notes.collect(),
        }
    }
}

fn protocol(study: &Study) -> String {
    let mut text =
        format!("Mean ± standard deviation over {} starts (seeds 0 to {}).", study.starts, study.starts - 1);
    let seeds =
        |screen: u64| if screen == 1 { "seed 0".to_owned() } else { format!("seeds 0 to {}", screen - 1) };
    let with_grid: Vec<&RowSpec> = study.rows.iter().filter(|row| !row.grid.is_empty()).collect();
    if !with_grid.is_empty() {
        let _ = write!(
            text,
            " Grids are searched with {} per setting, the chosen setting is then run with all starts.",
            seeds(study.screen)
        );
    }
    for row in with_grid {
        let screen = study.screen_of(row);
        if screen != study.screen {
            let _ = write!(text, " {}: with {}.", row.name, seeds(screen));
        }
    }
    text
}

fn lines(study: &Study, found: &[Found], wanted: &dyn Fn(Choice) -> bool) -> Vec<TableLine> {
    let mut lines = Vec::new();
    for (at, row) in study.rows.iter().enumerate() {
        for (which, choice) in row.choices().iter().enumerate().filter(|(_, choice)| wanted(**choice)) {
            let cells = found
                .iter()
                .map(|found| {
                    let line = &found.rows[at][which];
                    Some(METRICS.map(|metric| cell(line, metric, row.published.as_deref(), found)))
                })
                .collect();
            let tried = found.first().map_or(1, |found| found.rows[at][which].tried);
            lines.push(TableLine::new(row.name.clone(), *choice, tried, cells));
        }
    }
    lines
}

fn cell(line: &crate::runner::Line, metric: Metric, row: Option<&str>, found: &Found) -> Cell {
    let values: Vec<f64> = line.runs.iter().map(|run| value(run, metric)).collect();
    let (mean, std) = mean_std(&values);
    let at = usize::from(metric == Metric::Nmi);
    let repeats = line.runs.first().filter(|run| !run.repeats.is_empty()).map(|run| {
        let values: Vec<f64> = run.repeats.iter().map(|scores| scores[at]).collect();
        mean_std(&values)
    });
    let published = row
        .zip(found.spec.published.as_deref())
        .and_then(|(row, dataset)| published::published(row, dataset))
        .map(|both| both[at]);
    let sigmas = published
        .filter(|_| found.spec.same_samples)
        .map(|(theirs, spread)| (repeats.map_or(mean, |one_z| one_z.0) - theirs) / spread.max(LEAST_SIGMA));
    let seconds = line.runs.iter().map(|run| run.seconds).sum::<f64>() / line.runs.len() as f64;
    let setting = line.setting.clone();
    Cell { mean, std, repeats, published, sigmas, place: None, equals_best: false, setting, seconds, values }
}

impl Half {
    /// Mark the best, the second, and what a paired test over starts does not tell from the best. Without the
    /// single values of both there is no test; what an earlier one said stays where `tested` tells that it was of
    /// these two lines on this dataset.
    pub(crate) fn rank(&mut self, datasets: usize, tested: &dyn Fn(usize, usize, usize) -> bool) {
        for d in 0..datasets {
            for m in 0..METRICS.len() {
                let mut order: Vec<usize> =
                    (0..self.lines.len()).filter(|line| self.lines[*line].cell(d, m).is_some()).collect();
                let mean = |line: usize| self.lines[line].cell(d, m).map_or(0.0, |cell| cell.mean);
                order.sort_by(|a, b| mean(*b).total_cmp(&mean(*a)));
                let Some((best, first)) =
                    order.first().and_then(|at| Some((*at, self.lines[*at].cell(d, m)?)))
                else {
                    continue;
                };
                let (was_best, values) = (first.place == Some(1), first.values.clone());
                for (place, line) in order.into_iter().enumerate() {
                    let Some(cell) = &mut self.lines[line].cells[d] else { continue };
                    let cell = &mut cell[m];
                    cell.place = (place < 2).then_some(place + 1);
                    cell.equals_best = if place == 0 {
                        true
                    } else if !values.is_empty() && cell.values.len() == values.len() {
                        signed_rank_p(&cell.values, &values) >= SIGNIFICANT
                    } else {
                        cell.equals_best && was_best && tested(best, line, d)
                    };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::DatasetSpec;
    use crate::runner::Line;
    use crate::store::Run;

    pub(crate) fn run(accuracy: f64) -> Run {
        let repeats = vec![[accuracy, 0.5], [accuracy + 0.02, 0.5]];
        Run {
            accuracy,
            nmi: accuracy / 2.0,
            ari: 0.0,
            cut: 1.0,
            repeats,
            iterations: 3,
            stop: "loss".into(),
            seconds: 0.5,
        }
    }

    fn line(choice: Choice, values: &[f64]) -> Line {
        let runs = values.iter().map(|a| run(*a)).collect();
        Line { choice, setting: String::new(), tried: 1, runs, params: "{}".into() }
    }

    fn spec() -> DatasetSpec {
        toml::from_str("name = \"orl\"\nfile = \"x\"\ntruth = \"y\"\npublished = \"orl\"").unwrap()
    }

    #[test]
    fn best_second_and_ties_are_marked() {
        let text = "title = \"t\"\nstarts = 6\n[[row]]\nname = \"a\"\nmethod = \"phals\"\npublished = \"phals\"\n\
                    [[row]]\nname = \"b\"\nmethod = \"symnmf\"\n[[row]]\nname = \"c\"\nmethod = \"nmf\"";
        let folder = std::env::temp_dir().join(format!("nearfar-table-{}.toml", std::process::id()));
        std::fs::write(&folder, text).unwrap();
        let study = Study::open(folder.to_str().unwrap()).unwrap();
        std::fs::remove_file(&folder).unwrap();
        let rows = vec![
            vec![line(Choice::Only, &[0.6, 0.61, 0.62, 0.63, 0.64, 0.65])],
            vec![line(Choice::Only, &[0.61, 0.60, 0.63, 0.62, 0.65, 0.64])],
            vec![line(Choice::Only, &[0.1, 0.11, 0.12, 0.13, 0.14, 0.15])],
        ];
        let found = [Found { spec: spec(), size: [400, 1024, 40], hash: "h".into(), rows }];
        let table = ResultTable::new(&study, &found);
        assert_eq!(table.halves.len(), 1);
        let cells: Vec<&Cell> = table.halves[0].lines.iter().map(|line| line.cell(0, 0).unwrap()).collect();
        assert_eq!([cells[0].place, cells[2].place], [Some(1), None]);
        assert!(cells[0].equals_best && cells[1].equals_best && !cells[2].equals_best);
        // On one Z: (0.61 − 0.621) / 0.015.
        assert!((cells[0].sigmas.unwrap() + 0.011 / 0.015).abs() < 1e-9, "{:?}", cells[0]);
        assert!((cells[0].repeats.unwrap().0 - 0.61).abs() < 1e-12);
    }
}
