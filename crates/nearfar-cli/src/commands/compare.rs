//! `nearfar compare`: two runs or two studies side by side, differences first.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use nearfar::labels::score::score;
use nearfar::load::load_labels;
use serde_json::Value;
use toml::Table;

use crate::exit::{Failure, Outcome};
use crate::flags::CompareArgs;
use crate::output::{check_file, write_file, write_stdout};
use crate::run::folder::Folder;

/// What a path holds.
enum Thing {
    /// The folder of a run.
    Run { folder: PathBuf, summary: Value },
    /// The tables of studies, by name.
    Studies(Vec<(String, Value)>),
}

pub(crate) fn run(args: &CompareArgs) -> Outcome {
    match (open(&args.a)?, open(&args.b)?) {
        (Thing::Run { folder: a, summary: of_a }, Thing::Run { folder: b, summary: of_b }) => {
            if let Some(path) = &args.report {
                page(&a, &b, path)?;
            }
            runs((&a, &of_a), (&b, &of_b))
        }
        (Thing::Studies(_), Thing::Studies(_)) if args.report.is_some() => {
            Err(Failure::wrong("--report is for two runs; of a study `nearfar repro` writes a page itself"))
        }
        (Thing::Studies(a), Thing::Studies(b)) => studies(&a, &b),
        _ => Err(Failure::wrong("one is a run and the other a study; compare two of a kind")),
    }
}

/// Both runs on one page.
fn page(a: &Path, b: &Path, path: &Path) -> Outcome {
    let (of_a, of_b) = (Folder::new(a).record()?, Folder::new(b).record()?);
    check_file(path, None)?;
    let names = [a, b].map(|folder| folder.display().to_string());
    let html = nearfar_report::comparison(&of_a, &of_b, [&names[0], &names[1]]);
    write_file(path, |out| out.write_all(html.as_bytes()))
}

fn open(path: &Path) -> Outcome<Thing> {
    let name = path.display();
    if path.is_file() {
        return Ok(Thing::Studies(vec![study(path)?]));
    }
    let summary = path.join("summary.json");
    if summary.exists() {
        return Ok(Thing::Run { folder: path.to_owned(), summary: json(&summary)? });
    }
    let listed = std::fs::read_dir(path).map_err(|error| {
        Failure::wrong(format!("{name} cannot be read: {error}; give a run folder or a study"))
    })?;
    let mut files: Vec<PathBuf> = listed
        .flatten()
        .map(|entry| entry.path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    let studies: Vec<(String, Value)> = files.iter().filter_map(|file| study(file).ok()).collect();
    if studies.is_empty() {
        return Err(Failure::wrong(format!(
            "{name} holds neither a run (summary.json of `nearfar cluster --out-dir`) nor a study (tables of `nearfar repro`)"
        )));
    }
    Ok(Thing::Studies(studies))
}

fn json(path: &Path) -> Outcome<Value> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::wrong(format!("{name} cannot be read: {error}")))?;
    serde_json::from_str(&text).map_err(|error| Failure::wrong(format!("{name} is not JSON: {error}")))
}

fn study(path: &Path) -> Outcome<(String, Value)> {
    let value = json(path)?;
    if value["format"] != "nearfar-study" {
        return Err(Failure::wrong(format!("{} is no table of `nearfar repro`", path.display())));
    }
    Ok((value["name"].as_str().unwrap_or_default().to_owned(), value))
}

fn settings(folder: &Path) -> Table {
    std::fs::read_to_string(folder.join("settings.toml"))
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or_default()
}

fn runs((a, of_a): (&Path, &Value), (b, of_b): (&Path, &Value)) -> Outcome {
    let (set_a, set_b) = (settings(a), settings(b));
    let keys: BTreeSet<&String> = set_a.keys().chain(set_b.keys()).collect();
    let word = |table: &Table, key: &str| table.get(key).map_or_else(|| "–".to_owned(), ToString::to_string);
    let mut rows = Vec::new();
    for key in keys.into_iter().filter(|key| set_a.get(*key) != set_b.get(*key)) {
        rows.push((format!("--{key}"), word(&set_a, key), word(&set_b, key)));
    }
    let differing = rows.len();
    let shown = |value: &Value| match value {
        Value::Null => "–".to_owned(),
        Value::Number(number) => number
            .as_f64()
            .filter(|x| x.fract() != 0.0)
            .map_or_else(|| number.to_string(), |x| format!("{x:.4}")),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    for key in [
        "program",
        "input",
        "n_samples",
        "n_features",
        "n_clusters",
        "cluster_sizes",
        "near_ranks",
        "far_ranks",
        "agreement",
        "seconds_total",
    ] {
        rows.push((key.replace('_', " "), shown(&of_a[key]), shown(&of_b[key])));
    }
    for key in ["accuracy", "nmi", "ari"] {
        rows.push((key.to_owned(), shown(&of_a["scores"][key]), shown(&of_b["scores"][key])));
    }
    let agreement = agreement(a, b);
    write_stdout(|out| {
        writeln!(out, "A: {}\nB: {}\n", a.display(), b.display())?;
        match agreement {
            Some((ari, differ, n)) => writeln!(
                out,
                "The labels agree with an adjusted Rand index of {ari:.4}; {differ} of {n} points lie in another cluster on the best matching.\n"
            )?,
            None => writeln!(out, "The labels are of different points and cannot be compared.\n")?,
        }
        if differing == 0 {
            writeln!(out, "The settings are the same.\n")?;
        }
        let first = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
        let second = rows.iter().map(|row| row.1.chars().count()).max().unwrap_or(0).clamp(1, 48);
        writeln!(out, "{:first$}  {:second$}  B", "", "A")?;
        for (at, (name, a, b)) in rows.iter().enumerate() {
            if at == differing && differing > 0 {
                writeln!(out)?;
            }
            writeln!(out, "{name:first$}  {a:second$}  {b}")?;
        }
        Ok(())
    })
}

/// Adjusted Rand index, points that differ, and how many there are.
fn agreement(a: &Path, b: &Path) -> Option<(f64, usize, usize)> {
    let labels = |folder: &Path| load_labels(&folder.join("labels.csv")).ok();
    let (a, b) = (labels(a)?, labels(b)?);
    if a.len() != b.len() {
        return None;
    }
    let scores = score(&a.codes, &b.codes).ok()?;
    let same = (scores.accuracy * a.len() as f64).round() as usize;
    Some((scores.ari, a.len() - same, a.len()))
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
