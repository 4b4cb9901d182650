//! python/nearfar/_classes.py: an estimator for every method of the table, with its signature and its documentation
//! written out, for editors and `help()`.

#![allow(clippy::format_push_string, reason = "the texts built here are a few screens long")]

use anyhow::{Context, Result};
use nearfar::learn::table::{Entry, Kind, Setting, Value};
use nearfar::learn::{MethodKind, Needs};

pub(crate) const FILE: &str = "python/nearfar/_classes.py";

const HEAD: &str = r#""""The estimators, one class per method.

Made by `cargo xtask python-classes` of the table of methods: change that, not this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ._base import BaseClusterer, Callback
from ._estimators import LSDGBase, NearFarBase
"#;

/// Columns of a line.
const WIDTH: usize = 120;

/// A parameter of a constructor.
struct Parameter {
    name: &'static str,
    annotation: String,
    default: String,
    /// What the documentation says of its type.
    values: String,
    help: String,
}

/// A parameter that is no setting of the library.
type Extra = (&'static str, &'static str, &'static str, &'static str, &'static str);

const COUNT: Extra = ("n_clusters", "int", "8", "int", "Number of clusters.");
const COUNT_OR_AUTO: Extra = (
    "n_clusters",
    "int | str",
    "\"auto\"",
    "int or \"auto\"",
    "Number of clusters. \"auto\" finds it; the answer is in `n_clusters_`, the evidence in `gap_curve_`.",
);
const NOISE: [Extra; 2] = [
    (
        "noise",
        "float | None",
        "None",
        "float",
        "Share of the samples, 0 or more and below 1, that get the label -1: the least certain ones, the first among \
         equals. `predict`, saved files and reports know nothing of it.",
    ),
    (
        "min_confidence",
        "float | None",
        "None",
        "float",
        "In place of `noise`: samples whose probability is below this number, above 0 to 1, get the label -1.",
    ),
];
const STORE: Extra =
    ("store_affinity", "bool", "False", "bool", "Keep the merged similarity as `affinity_matrix_`, n x n.");
const COMM: Extra = (
    "comm",
    "Any",
    "None",
    "communicator of mpi4py",
    "Fit together with the other processes of this communicator (``MPI.COMM_WORLD`` under ``mpirun``). X is the \
     whole array in each of them, by custom ``np.load(\"big.npy\", mmap_mode=\"r\")``, and each reads its own rows \
     alone. All processes get the same labels. Samples are not kept, so there is no `predict` and no `similarity_`. A \
     failure in one process is an exception in all.",
);
const COMM_OF_LSDG: Extra = (
    "comm",
    "Any",
    "None",
    "communicator of mpi4py",
    "Fit together with the other processes of this communicator (``MPI.COMM_WORLD`` under ``mpirun``). X is the \
     whole array in each of them, by custom ``np.load(\"big.npy\", mmap_mode=\"r\")``, and each reads its own rows \
     alone. Pairs are binned, and all processes get the bits of one with ``mode=\"binned\"``. Samples are not kept, so \
     there is no `predict`, and neither `similarity_` nor `dissimilarity_`. A failure in one process is an exception \
     in all.",
);
const PAIRS: [Extra; 2] = [
    (
        "metric",
        "str",
        "\"euclidean\"",
        "{\"euclidean\", \"cosine\", \"precomputed\"}",
        "Distance between samples. With \"precomputed\", X holds distances, n x n.",
    ),
    (
        "affinity",
        "str",
        "\"self_tuning\"",
        "{\"self_tuning\", \"precomputed\"}",
        "With \"precomputed\", X holds affinities, n x n, symmetric and 0 or more.",
    ),
];
const SAMPLES: Extra = (
    "metric",
    "str",
    "\"euclidean\"",
    "{\"euclidean\", \"cosine\"}",
    "Distance between samples. With \"cosine\" every sample is first scaled to length 1.",
);
const RUN: [Extra; 4] = [
    (
        "random_state",
        "Any",
        "None",
        "int, RandomState instance or None",
        "Seed of everything random. The same number gives the same bits for any number of threads, and the same labels \
         as the program's ``--seed``.",
    ),
    (
        "n_jobs",
        "int | None",
        "None",
        "int",
        "Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.",
    ),
    ("verbose", "int", "0", "int", "1 shows a progress bar on stderr."),
    (
        "memory_limit",
        "int | None",
        "None",
        "int",
        "Bytes the run may use. By default, 80 % of the free memory.",
    ),
];
const CALLBACK: Extra = (
    "callback",
    "Callback | None",
    "None",
    "callable",
    "Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run \
     stops and labels what it has learnt.",
);
const CALLBACK_OF_ROUNDS: Extra = (
    "callback",
    "Callback | None",
    "None",
    "callable",
    "Called after every round of every member with a dict (the columns of `trace_`). If it returns a true value the \
     run starts no further members and labels what it has learnt.",
);

const GRAPH_ATTRIBUTES: &str = "\
similarity_ : csr_matrix of shape (n_samples, n_samples)
    The graph that was factored or cut.
sigma_ : ndarray of shape (n_samples,)
    Local scales; not where affinities were given.
";

/// The whole file.
pub(crate) fn file() -> Result<String> {
    let mut text = HEAD.to_owned();
    for kind in MethodKind::ALL {
        text += &class(kind).with_context(|| kind.name())?;
    }
    let mut names: Vec<&str> = MethodKind::ALL.iter().map(|kind| kind.entry().class).collect();
    names.sort_by_key(|name| (name.chars().any(char::is_lowercase), *name));
    text += "\n\n__all__ = [\n";
    names.iter().for_each(|name| text += &format!("    \"{name}\",\n"));
    Ok(text + "]\n")
}

fn class(kind: MethodKind) -> Result<String> {
    let entry = kind.entry();
    let base = match kind {
        MethodKind::NearFar => "NearFarBase",
        MethodKind::Lsdg => "LSDGBase",
        _ => "BaseClusterer",
    };
    let parameters = parameters(kind);
    let mut text = format!("\n\nclass {}({base}):\n    \"\"\"", entry.class);
    let doc = indented(&documentation(kind, &parameters)?);
    text += doc.trim_start();
    text += &format!("    \"\"\"\n\n    _method = \"{}\"\n", entry.name);
    text += "    _own: ClassVar[tuple[str, ...]] = (\n";
    for keyword in entry.settings().map(|setting| setting.keyword).filter(|keyword| !keyword.is_empty()) {
        text += &format!("        \"{keyword}\",\n");
    }
    text += "    )\n\n    def __init__(\n        self,\n";
    for (at, Parameter { name, annotation, default, .. }) in parameters.iter().enumerate() {
        text += &format!("        {name}: {annotation} = {default},\n");
        text += if at == 0 { "        *,\n" } else { "" };
    }
    text += "    ) -> None:\n";
    parameters.iter().for_each(|Parameter { name, .. }| text += &format!("        self.{name} = {name}\n"));
    Ok(text)
}

fn parameters(kind: MethodKind) -> Vec<Parameter> {
    let entry = kind.entry();
    let finds = kind == MethodKind::NearFar;
    let mut extras: Vec<Extra> = Vec::new();
    if finds {
        extras.extend(NOISE);
    }
    if kind == MethodKind::Lsdg {
        extras.push(STORE);
    }
    match entry.needs {
        Needs::Lists | Needs::Slices => {
            extras.push(if finds { COMM } else { COMM_OF_LSDG });
            extras.extend(PAIRS);
        }
        Needs::Graph => extras.extend(PAIRS),
        Needs::Samples | Needs::Both => extras.push(SAMPLES),
    }
    extras.extend(RUN);
    extras.push(if finds { CALLBACK_OF_ROUNDS } else { CALLBACK });
    let settings = entry.settings().filter(|setting| !setting.keyword.is_empty());
    std::iter::once(extra(if finds { COUNT_OR_AUTO } else { COUNT }))
        .chain(settings.map(|setting| of_setting(entry, setting)))
        .chain(extras.into_iter().map(extra))
        .collect()
}

fn extra((name, annotation, default, values, help): Extra) -> Parameter {
    let (annotation, default, values) = (annotation.to_owned(), default.to_owned(), values.to_owned());
    Parameter { name, annotation, default, values, help: help.to_owned() }
}

fn of_setting(entry: &Entry, setting: &Setting) -> Parameter {
    let default = entry.default_of(setting);
    let annotation = match setting.kind {
        Kind::Number(..) | Kind::Above(..) | Kind::Below(_) | Kind::Under(_) => "float",
        Kind::Whole(..) => "int",
        Kind::Word(_) => "str",
        Kind::Switch => "bool",
        Kind::Views => "str | Sequence[str]",
    };
    let values = match setting.kind {
        Kind::Word(words) => {
            format!("{{{}}}", words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", "))
        }
        Kind::Views => "\"auto\", str or list of str".to_owned(),
        _ => annotation.to_owned(),
    };
    let mut help = setting.help.to_owned();
    if !matches!(setting.kind, Kind::Word(_) | Kind::Switch | Kind::Views) {
        help += &format!("; {}", setting.kind);
    }
    if default.is_none() {
        help += &format!(". By default: {}", entry.default_text(setting));
    }
    let annotation = if default.is_none() { format!("{annotation} | None") } else { annotation.to_owned() };
    Parameter { name: setting.keyword, annotation, default: literal(default), values, help: help + "." }
}

/// A value as Python writes it.
fn literal(value: Option<Value>) -> String {
    match value {
        None => "None".to_owned(),
        Some(Value::Number(x)) => match format!("{x:?}") {
            text if text.contains("e-") && !text.contains("e-1") => text.replace("e-", "e-0"),
            text => text,
        },
        Some(Value::Whole(x)) => x.to_string(),
        Some(Value::Text(text)) => format!("{text:?}"),
        Some(Value::Switch(on)) => if on { "True" } else { "False" }.to_owned(),
    }
}

fn documentation(kind: MethodKind, parameters: &[Parameter]) -> Result<String> {
    let entry = kind.entry();
    let described: Vec<String> = parameters
        .iter()
        .map(|Parameter { name, default, values, help, .. }| {
            format!("{name} : {values}, default={default}\n{}", wrapped(help, 4))
        })
        .collect();
    let template = match kind {
        MethodKind::NearFar => include_str!("estimators/nearfar.txt"),
        MethodKind::Lsdg => include_str!("estimators/lsdg.txt"),
        _ => include_str!("estimators/other.txt"),
    };
    let graph = if matches!(entry.needs, Needs::Graph | Needs::Both) { GRAPH_ATTRIBUTES } else { "" };
    let section = |name: &str| -> Result<String> {
        let (_, rest) = entry.about.split_once(&format!("# {name}\n\n")).context("a section is missing")?;
        let text = rest.split_once("\n# ").map_or(rest, |(text, _)| text);
        Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let notes = format!(
        "{}\n\n{}\n",
        wrapped(&section("When to use it")?, 0),
        wrapped(&format!("References: {}", section("Reference")?), 0)
    );
    Ok(template
        .replace("%(line)s\n", &wrapped(entry.line, 0))
        .replace("%(parameters)s\n", &described.concat())
        .replace("%(graph)s\n", graph)
        .replace("%(notes)s\n", notes.trim_start())
        .replace("%(class)s", entry.class))
}

/// A paragraph in lines, each behind so many blanks, that fit a docstring of a class; with a line's end.
fn wrapped(text: &str, blanks: usize) -> String {
    let width = WIDTH - 4 - blanks;
    let (mut lines, mut line) = (String::new(), String::new());
    let mut end = |line: &mut String| {
        lines += &format!("{:blanks$}{line}\n", "");
        line.clear();
    };
    // The quotes stand before the first line.
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width - 3 {
            end(&mut line);
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    end(&mut line);
    lines
}

fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") }).collect()
}
