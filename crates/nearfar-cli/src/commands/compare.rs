//! `nearfar compare`: two runs side by side, differences first.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use nearfar::labels::score::score;
use nearfar::load::load_labels;
use serde_json::Value;
use toml::Table;

use crate::exit::{Failure, Outcome};
use crate::flags::CompareArgs;
use crate::output::{check_file, write_file, write_stdout};
use crate::run::folder::Folder;

pub(crate) fn run(args: &CompareArgs) -> Outcome {
    let (of_a, of_b) = (open(&args.a)?, open(&args.b)?);
    if let Some(path) = &args.report {
        page(&args.a, &args.b, path)?;
    }
    runs((&args.a, &of_a), (&args.b, &of_b))
}

/// Both runs on one page.
fn page(a: &Path, b: &Path, path: &Path) -> Outcome {
    let (of_a, of_b) = (Folder::new(a).record()?, Folder::new(b).record()?);
    check_file(path, None)?;
    let names = [a, b].map(|folder| folder.display().to_string());
    let html = nearfar_report::comparison(&of_a, &of_b, [&names[0], &names[1]]);
    write_file(path, |out| out.write_all(html.as_bytes()))
}

/// The summary of a run.
fn open(folder: &Path) -> Outcome<Value> {
    let (name, file) = (folder.display(), folder.join("summary.json"));
    let text = std::fs::read_to_string(&file).map_err(|error| {
        let none = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        Failure::wrong(if none && folder.exists() {
            format!(
                "{name} holds no run (summary.json of `nearfar cluster --out-dir`); two studies are compared by \
                 `nearfar-repro compare`"
            )
        } else {
            format!("{name} cannot be read: {error}; give a run folder")
        })
    })?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::wrong(format!("{} is not JSON: {error}", file.display())))
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
