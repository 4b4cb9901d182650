//! `nearfar score`: labels beside the truth.

use std::path::Path;

use nearfar::labels::score::{Contingency, Normalizer, PairScore, Scores, score};
use nearfar::load::{Labels, LoadError, LoadOptions, Truth, load_labels_with};
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::flags::ScoreArgs;
use crate::output::write_stdout;

/// Larger tables are not shown.
const MOST_SHOWN: usize = 30;
/// Columns tried in a table of several.
const USUAL: [&str; 5] = ["label", "labels", "truth", "class", "y"];

#[derive(Serialize)]
struct Report<'a> {
    format: &'static str,
    version: u32,
    n_samples: usize,
    scores: Scores,
    pairs: PairScore,
    clusters: &'a [String],
    classes: &'a [String],
    contingency: Vec<Vec<u64>>,
}

pub(crate) fn run(args: &ScoreArgs) -> Outcome {
    let labels = read(&args.labels, args.labels_column.as_deref())?;
    let truth = read(&args.truth, args.truth_column.as_deref())?;
    if labels.len() != truth.len() {
        return Err(Failure::wrong(format!(
            "{} has {} labels and {} has {}; both need one per point, in the same order",
            args.labels.display(),
            labels.len(),
            args.truth.display(),
            truth.len()
        )));
    }
    let scores = score(&labels.codes, &truth.codes)?;
    let table = Contingency::new(&labels.codes, &truth.codes)?;
    if args.json {
        let mut counts = vec![vec![0; truth.names.len()]; labels.names.len()];
        for &(cluster, class, count) in table.cells() {
            counts[cluster][class] = count;
        }
        let report = Report {
            format: "nearfar-score",
            version: 1,
            n_samples: labels.len(),
            scores,
            pairs: table.pairs(),
            clusters: &labels.names,
            classes: &truth.names,
            contingency: counts,
        };
        return write_stdout(|mut out| {
            serde_json::to_writer_pretty(&mut out, &report)?;
            writeln!(out)
        });
    }
    print(&labels, &truth, &scores, &table)
}

fn read(path: &Path, column: Option<&str>) -> Outcome<Labels> {
    let attempt = |name: Option<&str>| -> Result<Labels, LoadError> {
        let truth = name.map(|name| Truth::Column(name.to_owned()));
        let array = name.map(str::to_owned);
        load_labels_with(path, &LoadOptions { truth, array, ..LoadOptions::default() })
    };
    match attempt(column) {
        Ok(labels) => Ok(labels),
        Err(error) if column.is_some() => Err(error.into()),
        Err(error) => USUAL.iter().find_map(|name| attempt(Some(name)).ok()).ok_or_else(|| error.into()),
    }
}

fn print(labels: &Labels, truth: &Labels, scores: &Scores, table: &Contingency) -> Outcome {
    let PairScore { precision, recall, f1 } = table.pairs();
    write_stdout(|out| {
        let mut line =
            |name: &str, value: f64, about: &str| writeln!(out, "{name:<8} {value:>7.4}   {about}");
        line("ACC", scores.accuracy, "points on the best matching of clusters and classes")?;
        line("NMI", table.nmi(Normalizer::Arithmetic), "normalised mutual information")?;
        line("ARI", scores.ari, "adjusted Rand index")?;
        line("purity", scores.purity, "points in the commonest class of their cluster")?;
        line("pair F", f1, &format!("pairs: precision {precision:.4}, recall {recall:.4}"))?;
        let (clusters, classes) = (labels.names.len(), truth.names.len());
        writeln!(out, "\n{} points, {clusters} clusters (rows), {classes} classes (columns)", labels.len())?;
        if clusters > MOST_SHOWN || classes > MOST_SHOWN {
            return writeln!(out, "the table is too large to show; --json holds it");
        }
        let short = |name: &String| name.chars().take(10).collect::<String>();
        let width = |column: usize| short(&truth.names[column]).chars().count().max(5);
        let first = labels.names.iter().map(|name| short(name).chars().count()).max().unwrap_or(0).max(5);
        write!(out, "{:first$}", "")?;
        for (column, name) in truth.names.iter().enumerate() {
            write!(out, "  {:>1$}", short(name), width(column))?;
        }
        writeln!(out)?;
        for (row, name) in labels.names.iter().enumerate() {
            write!(out, "{:>first$}", short(name))?;
            for column in 0..classes {
                let at = table.cells().binary_search_by_key(&(row, column), |cell| (cell.0, cell.1));
                let count = at.map_or_else(|_| ".".to_owned(), |at| table.cells()[at].2.to_string());
                write!(out, "  {count:>0$}", width(column))?;
            }
            writeln!(out)?;
        }
        Ok(())
    })
}
