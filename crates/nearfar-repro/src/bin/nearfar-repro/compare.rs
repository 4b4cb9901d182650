//! `nearfar-repro compare`: two studies side by side, the largest differences first.

use std::path::{Path, PathBuf};

use nearfar_cli::exit::{Failure, Outcome};
use nearfar_cli::output::write_stdout;
use serde_json::Value;

use crate::flags::CompareArgs;

pub(crate) fn run(args: &CompareArgs) -> Outcome {
    studies(&open(&args.a)?, &open(&args.b)?)
}

/// The tables that a path holds, by name.
fn open(path: &Path) -> Outcome<Vec<(String, Value)>> {
    let name = path.display();
    if path.is_file() {
        return Ok(vec![table(path)?]);
    }
    let listed = std::fs::read_dir(path)
        .map_err(|error| Failure::wrong(format!("{name} cannot be read: {error}; give a study")))?;
    let mut files: Vec<PathBuf> = listed
        .flatten()
        .map(|entry| entry.path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    let tables: Vec<(String, Value)> = files.iter().filter_map(|file| table(file).ok()).collect();
    if tables.is_empty() {
        return Err(Failure::wrong(format!(
            "{name} holds no study (tables of `nearfar-repro`); two runs are compared by `nearfar compare`"
        )));
    }
    Ok(tables)
}

fn table(path: &Path) -> Outcome<(String, Value)> {
    let wrong = |problem: String| Failure::wrong(format!("{} {problem}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| wrong(format!("is not JSON: {error}")))?;
    if value["format"] != "nearfar-study" {
        return Err(wrong("is no table of `nearfar-repro`".to_owned()));
    }
    Ok((value["name"].as_str().unwrap_or_default().to_owned(), value))
}

/// A line of a study's table: part, method and choice, with ACC and NMI by dataset.
struct Line {
    name: String,
    cells: Vec<(String, [f64; 4])>,
}

fn lines(study: &Value) -> Vec<Line> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let columns: Vec<String> =
        list(&study["columns"]).iter().map(|c| c["title"].as_str().unwrap_or_default().to_owned()).collect();
    let mut lines = Vec::new();
    for half in list(&study["halves"]) {
        for line in list(&half["lines"]) {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let name = format!("{} [{}]", text(&line["name"]), text(&line["choice"]));
            let number = |cell: &Value, key: &str| cell[key].as_f64().unwrap_or(f64::NAN);
            let pairs = list(&line["cells"]);
            // A table put together may have gaps.
            let run = columns.iter().cloned().zip(&pairs).filter(|(_, pair)| !pair.is_null());
            let cells = run.map(|(column, pair)| {
                let [acc, nmi] = [&pair[0], &pair[1]];
                let values = [(acc, "mean"), (acc, "std"), (nmi, "mean"), (nmi, "std")];
                (column, values.map(|(cell, key)| number(cell, key)))
            });
            if lines.iter().all(|known: &Line| known.name != name) {
                lines.push(Line { name, cells: cells.collect() });
            }
        }
    }
    lines
}

fn studies(a: &[(String, Value)], b: &[(String, Value)]) -> Outcome {
    let pairs: Vec<(&String, &Value, &Value)> = a
        .iter()
        .filter_map(|(name, of_a)| {
            b.iter().find(|(other, _)| other == name).map(|(_, of_b)| (name, of_a, of_b))
        })
        .collect();
    if pairs.is_empty() {
        let names = |list: &[(String, Value)]| {
            list.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>().join(", ")
        };
        return Err(Failure::wrong(format!("no study is in both: A has {}, B has {}", names(a), names(b))));
    }
    write_stdout(|out| {
        for (name, of_a, of_b) in &pairs {
            writeln!(out, "{name}: ACC and NMI of A, of B, and B − A; the largest differences first\n")?;
            let (lines_a, lines_b) = (lines(of_a), lines(of_b));
            let mut rows = Vec::new();
            for line in &lines_a {
                let Some(other) = lines_b.iter().find(|other| other.name == line.name) else { continue };
                for (dataset, ours) in &line.cells {
                    if let Some((_, theirs)) = other.cells.iter().find(|(known, _)| known == dataset) {
                        rows.push((&line.name, dataset, ours, theirs));
                    }
                }
            }
            rows.sort_by(|x, y| (y.3[0] - y.2[0]).abs().total_cmp(&(x.3[0] - x.2[0]).abs()));
            let width = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
            for (line, dataset, a, b) in rows {
                writeln!(
                    out,
                    "{line:width$}  {dataset:12}  ACC {:.3} ± {:.3}  {:.3} ± {:.3}  {:+.3}   NMI {:.3}  {:.3}  {:+.3}",
                    a[0],
                    a[1],
                    b[0],
                    b[1],
                    b[0] - a[0],
                    a[2],
                    b[2],
                    b[2] - a[2]
                )?;
            }
            let only = |mine: &[Line], theirs: &[Line]| {
                let names: Vec<&str> = mine
                    .iter()
                    .filter(|l| theirs.iter().all(|o| o.name != l.name))
                    .map(|l| l.name.as_str())
                    .collect();
                names.join(", ")
            };
            for (side, names) in [("A", only(&lines_a, &lines_b)), ("B", only(&lines_b, &lines_a))] {
                if !names.is_empty() {
                    writeln!(out, "only in {side}: {names}")?;
                }
            }
            writeln!(out)?;
        }
        Ok(())
    })
}
