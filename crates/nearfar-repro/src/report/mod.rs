//! A finished table in the forms people use.

mod csv;
pub mod datasets;
mod html;
mod latex;
mod markdown;

pub use csv::csv;
pub(crate) use html::escape;
pub use html::html;
pub use latex::latex;
pub use markdown::markdown;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::store::{Batch, Origin};
use crate::table::{Cell, ResultTable, TableLine};

/// What every form carries about the runs behind it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Provenance {
    /// Program and machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The command that makes it again.
    pub command: String,
    /// Seconds of all runs together, on one thread each; of tables without `runs`, of those alone whose values are
    /// shown.
    pub run_seconds: f64,
    /// Every run behind the table, by who made it. Empty in tables put together and in those of versions that did
    /// not keep it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Batch>,
    /// Of a table put together: what made its parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Provenance>,
}

/// What JSON files of tables are.
const FORMAT: (&str, u32) = ("nearfar-study", 1);

/// A table that was written as JSON.
///
/// # Errors
/// When the text is something else, or of another version.
pub fn from_json(text: &str) -> Result<(ResultTable, Provenance)> {
    #[derive(Deserialize)]
    struct Whole {
        format: String,
        version: u32,
        provenance: Provenance,
        #[serde(flatten)]
        table: ResultTable,
    }
    let whole: Whole =
        serde_json::from_str(text).map_err(|error| Error::Host(format!("no study's JSON: {error}")))?;
    if (whole.format.as_str(), whole.version) != FORMAT {
        let (Whole { format, version, .. }, (ours, known)) = (whole, FORMAT);
        return Err(Error::Host(format!(
            "no study's JSON: format {format:?}, version {version}; this program reads {ours:?}, version {known}"
        )));
    }
    let columns = whole.table.columns.len();
    for line in whole.table.halves.iter().flat_map(|half| &half.lines) {
        if line.cells.len() != columns {
            let found = line.cells.len();
            return Err(Error::Host(format!(
                "the line {:?} has {found} cells; there are {columns} datasets",
                line.name
            )));
        }
    }
    Ok((whole.table, whole.provenance))
}

/// The table as JSON, with all that is known about it.
///
/// # Errors
/// Never in practice; numbers and strings always serialize.
pub fn json(table: &ResultTable, provenance: &Provenance) -> Result<String> {
    #[derive(Serialize)]
    struct Whole<'a> {
        format: &'static str,
        version: u32,
        provenance: &'a Provenance,
        #[serde(flatten)]
        table: &'a ResultTable,
    }
    let (format, version) = FORMAT;
    let whole = Whole { format, version, provenance, table };
    serde_json::to_string_pretty(&whole).map_err(|error| Error::Host(error.to_string()))
}

/// Three digits without the leading zero, as the paper's readers like them.
fn number(x: f64) -> String {
    let text = format!("{x:.3}");
    text.strip_prefix('0').map_or_else(|| text.clone(), str::to_owned)
}

/// Stands where a method was not run on a dataset.
const NOT_RUN: &str = "–";

/// The mean over the datasets.
fn mean(line: &TableLine, metric: usize) -> String {
    line.mean[metric].map_or_else(|| NOT_RUN.to_owned(), number)
}

/// Who made it, a sentence for every part.
fn records(provenance: &Provenance) -> Vec<String> {
    if provenance.parts.is_empty() {
        return vec![made(provenance)];
    }
    provenance.parts.iter().map(|part| format!("{}: {}", part.command, made(part))).collect()
}

fn made(provenance: &Provenance) -> String {
    let by = |Origin { version, commit, machine }: &Origin| {
        format!("nearfar {version}, commit {commit}; {machine}")
    };
    let Provenance { origin, run_seconds, runs, .. } = provenance;
    match runs.as_slice() {
        [] => format!(
            "{}; the runs that are shown took {run_seconds:.0} s of one thread (the search of grids is not counted).",
            by(origin)
        ),
        [all] if all.origin == *origin => {
            format!("{}; {} runs, {:.0} s of one thread.", by(origin), all.runs, all.seconds)
        }
        several => {
            let batch = |batch: &Batch| {
                format!("{} runs by {} ({:.0} s of one thread)", batch.runs, by(&batch.origin), batch.seconds)
            };
            let batches: Vec<String> = several.iter().map(batch).collect();
            format!("{}; the table was written by commit {}.", batches.join(", "), origin.commit)
        }
    }
}

/// How far from the paper, in its deviations.
fn distance(cell: &Cell) -> Option<String> {
    cell.sigmas.map(|sigmas| format!("{sigmas:+.1}σ"))
}

/// What the marks mean.
fn legend(table: &ResultTable) -> Vec<String> {
    let mut lines = vec![
        table.protocol.clone(),
        "Best in bold, second underlined; ≈ is not told from the best by Wilcoxon's signed-rank test over the same starts (p ≥ 0.05).".into(),
    ];
    let cells = || table.halves.iter().flat_map(|half| &half.lines).flat_map(|line| &line.cells);
    if cells().any(Option::is_none) {
        lines.push(format!("{NOT_RUN}: not run."));
    }
    let cells = || cells().flatten().flatten();
    if cells().any(|cell| (1..6).contains(&cell.values.len())) {
        lines.push("The test tells nothing apart with fewer than six starts.".into());
    }
    if cells().any(|cell| cell.values.is_empty()) {
        lines.push(
            "Values that came without their single starts are not tested beside those of other tables."
                .into(),
        );
    }
    if cells().any(|cell| cell.published.is_some()) {
        lines.push("\"paper\" is the published mean ± deviation, with our distance from it in its deviations (of the mean on one Z where there is one, as in the paper).".into());
    }
    if cells().any(|cell| cell.repeats.is_some()) {
        lines.push("\"on one Z\" is the paper's way: mean and spread over repeats of the spectral step on the Z learnt from seed 0.".into());
    }
    let others: Vec<&str> =
        table.columns.iter().filter(|c| !c.same_samples).map(|column| column.title.as_str()).collect();
    if !others.is_empty() {
        lines.push(format!(
            "{}: our samples are not the paper's, so no distance is given.",
            others.join(" and ")
        ));
    }
    lines.extend(table.notes.iter().cloned());
    lines
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::study::Choice;
    use crate::table::{Column, Half, TableLine};

    /// A table of one dataset with a hostile name.
    pub(crate) fn small() -> (ResultTable, Provenance) {
        let cell = |mean, place, published| Cell {
            mean,
            std: 0.01,
            repeats: Some((mean, 0.002)),
            published,
            sigmas: published.map(|(theirs, spread): (f64, f64)| (mean - theirs) / spread),
            place,
            equals_best: place == Some(1),
            setting: "alpha 0.1".into(),
            seconds: 1.0,
            values: vec![mean - 0.01, mean + 0.01],
        };
        let line = |name: &str, choice, mean, place| {
            let cells = vec![Some([cell(mean, place, Some((0.6, 0.02))), cell(mean, place, None)])];
            TableLine::new(name.into(), choice, 3, cells)
        };
        let table = ResultTable {
            name: "t".into(),
            title: "A & B".into(),
            protocol: "Two starts.".into(),
            columns: vec![Column {
                title: "x_1 <b>,\"|".into(),
                size: [9, 2, 3],
                hash: "h".into(),
                same_samples: true,
            }],
            halves: vec![Half {
                title: "With labels".into(),
                lines: vec![
                    line("ours", Choice::Labels, 0.62, Some(1)),
                    line("other", Choice::Only, 0.5, Some(2)),
                ],
            }],
            notes: vec!["a note".into()],
        };
        let (origin, command) = (Origin::default(), "nearfar-repro t".into());
        let runs = vec![Batch { origin: Origin::default(), runs: 3, seconds: 4.0 }];
        let provenance = Provenance { origin, command, run_seconds: 4.0, runs, parts: Vec::new() };
        (table, provenance)
    }

    #[test]
    fn every_form_holds_the_numbers_and_escapes_names() {
        let (table, provenance) = small();
        let markdown = markdown(&table, &provenance);
        assert!(
            markdown.contains("**.620**") && markdown.contains("<u>.500</u>") && markdown.contains("+1.0σ"),
            "{markdown}"
        );
        assert!(markdown.contains("x_1 <b>,\"\\|") && markdown.contains("nearfar-repro t"), "{markdown}");
        let latex = latex(&table, &provenance);
        assert!(latex.contains("\\textbf{.620}") && latex.contains("x\\_1"), "{latex}");
        let csv = csv(&table);
        assert!(csv.lines().count() == 5 && csv.contains("\"x_1 <b>,\"\"|\""), "{csv}");
        let html = html(&table, &provenance, &[]);
        assert!(html.contains("x_1 &lt;b&gt;,&quot;|") && html.contains("<b>.620</b>"), "{html}");
        let json: serde_json::Value = serde_json::from_str(&json(&table, &provenance).unwrap()).unwrap();
        assert_eq!(json["halves"][0]["lines"][0]["cells"][0][0]["mean"], 0.62);
    }

    #[test]
    fn the_record_tells_who_made_the_runs() {
        let (_, mut provenance) = small();
        assert!(made(&provenance).ends_with("; 3 runs, 4 s of one thread."), "{}", made(&provenance));
        let other = Origin { commit: "older".into(), ..Origin::default() };
        provenance.origin.commit = "newer".into();
        provenance.runs.push(Batch { origin: other, runs: 2, seconds: 7.0 });
        let text = made(&provenance);
        assert!(text.contains("2 runs by nearfar , commit older;  (7 s of one thread)"), "{text}");
        assert!(text.ends_with("written by commit newer."), "{text}");
        provenance.runs.clear();
        assert!(made(&provenance).contains("the search of grids is not counted"));
    }

    #[test]
    fn a_table_comes_back_from_its_json() {
        let (table, provenance) = small();
        let text = json(&table, &provenance).unwrap();
        let (table, provenance) = from_json(&text).unwrap();
        assert_eq!(json(&table, &provenance).unwrap(), text);
        for (wrong, word) in [
            ("{}", "missing"),
            (text.replace("nearfar-study", "other").as_str(), "\"other\""),
            (text.replace("\"version\": 1", "\"version\": 9").as_str(), "version 9"),
        ] {
            let error = from_json(wrong).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        let mut short = table;
        short.halves[0].lines[1].cells.clear();
        let error = from_json(&json(&short, &provenance).unwrap()).unwrap_err().to_string();
        assert!(error.contains("\"other\" has 0 cells; there are 1 datasets"), "{error}");
    }
}
