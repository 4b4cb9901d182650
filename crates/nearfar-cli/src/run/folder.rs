//! The folder of a run: everything that came of it, one file each.

use std::io::Write;
use std::path::{Path, PathBuf};

use nearfar::Model;
use nearfar::learn::TraceRow;
use nearfar::load::write_npy;
use nearfar::model::{Merge, SparseRows};
use nearfar_report::Record;
use serde::Serialize;

use super::summary::{FORMAT, Summary, VERSION};
use super::watch::Trace;
use crate::exit::{Failure, Outcome};
use crate::flags::ExportedGraph;
use crate::output::{Columns, LabelFormat, write_file};

/// What the page of a run is drawn from.
const RECORD: &str = "report.json";

/// The values of one iteration in the trace.
const TRACED: [&str; 10] = [
    "loss",
    "fit",
    "dissimilarity",
    "overlap",
    "density",
    "orthogonality",
    "penalty",
    "change_v",
    "change_w",
    "change_p",
];

/// As [`TRACED`] names them.
fn traced(row: &TraceRow) -> [f64; 10] {
    let TraceRow { fit, dissimilarity, overlap, density, orthogonality, penalty, change: [v, w, p], .. } =
        *row;
    [row.loss(), fit, dissimilarity, overlap, density, orthogonality, penalty, v, w, p]
}

/// A folder that is made when the first file goes into it.
pub(crate) struct Folder {
    path: PathBuf,
}

/// A run that was stopped.
#[derive(Serialize)]
struct Interrupted {
    format: &'static str,
    version: u32,
    status: &'static str,
    stage: &'static str,
    iterations: usize,
}

impl Folder {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    fn put(&self, name: &str, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Outcome {
        if crate::ranks::silent() {
            return Ok(());
        }
        std::fs::create_dir_all(&self.path)
            .map_err(|error| Failure::output(&self.path.display().to_string(), &error))?;
        write_file(&self.path.join(name), write)
    }

    fn put_json(&self, name: &str, value: &impl Serialize) -> Outcome {
        self.put(name, |mut out| {
            serde_json::to_writer_pretty(&mut out, value)?;
            writeln!(out)
        })
    }

    fn put_matrix(&self, name: &str, n: usize, values: &[f64]) -> Outcome {
        if values.is_empty() || n == 0 {
            return Ok(());
        }
        self.put(name, |mut out| write_npy(&mut out, &[n, values.len() / n], values))
    }

    /// The trace as CSV and as JSON.
    fn put_trace<'a>(&self, rows: impl Iterator<Item = (usize, &'a TraceRow)> + Clone) -> Outcome {
        self.put("trace.csv", |out| {
            writeln!(out, "member,iteration,{}", TRACED.join(","))?;
            for (member, row) in rows.clone() {
                let values = traced(row).map(|value| value.to_string());
                writeln!(out, "{member},{},{}", row.iteration, values.join(","))?;
            }
            Ok(())
        })?;
        let objects: Vec<serde_json::Value> = rows
            .map(|(member, row)| {
                let mut object = serde_json::json!({ "member": member, "iteration": row.iteration });
                TRACED.iter().zip(traced(row)).for_each(|(name, value)| object[*name] = value.into());
                object
            })
            .collect();
        self.put_json("trace.json", &objects)
    }

    /// What `nearfar report` draws.
    pub(crate) fn record(&self) -> Outcome<Record> {
        let (folder, path) = (self.path.display(), self.path.join(RECORD));
        let tip = "name a folder that `nearfar cluster --out-dir` wrote";
        if !self.path.is_dir() {
            return Err(Failure::wrong(format!("{folder}: this is no folder; {tip}")));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let text = match error.kind() {
                std::io::ErrorKind::NotFound if self.path.join("summary.json").exists() => {
                    format!("{folder}: the run has no {RECORD}: it was interrupted, or an older nearfar wrote it; run it again")
                }
                std::io::ErrorKind::NotFound => format!("{folder}: this is no run folder (it holds no {RECORD}); {tip}"),
                _ => format!("{}: cannot be read: {error}", path.display()),
            };
            Failure::wrong(text)
        })?;
        Record::from_json(&text).map_err(|error| Failure::wrong(format!("{}: {error}", path.display())))
    }

    /// Everything of a finished run; the summary last, so that its presence means the rest is there.
    pub(crate) fn save(
        &self,
        model: &Model,
        columns: &Columns<'_>,
        summary: &Summary,
        settings: &str,
        record: Option<&Record>,
    ) -> Outcome {
        let n = model.n_samples();
        self.put("settings.toml", |out| out.write_all(settings.as_bytes()))?;
        let columns = &columns.with_confidence(&model.confidence, &model.membership);
        self.put("labels.csv", |out| columns.write(out, LabelFormat::Csv))?;
        if let Some(weights) = weights(model) {
            self.put("weights.csv", |out| {
                let titles: Vec<&str> = weights.iter().map(|(title, _)| *title).collect();
                writeln!(out, "rank,{}", titles.join(","))?;
                (0..weights[0].1.len()).try_for_each(|rank| {
                    let cells: Vec<String> = weights.iter().map(|(_, of)| of[rank].to_string()).collect();
                    writeln!(out, "{rank},{}", cells.join(","))
                })
            })?;
        }
        self.put_account(model)?;
        if let Some(best) = model.best_member().filter(|best| best.factor.n_samples() == n) {
            let factor = &best.factor;
            let by_rows: Vec<f64> =
                (0..n).flat_map(|i| (0..factor.n_columns()).map(move |j| factor.get(i, j))).collect();
            self.put_matrix("factor.npy", n, &by_rows)?;
        }
        self.put_matrix("membership.npy", n, &model.membership)?;
        self.put_matrix("embedding.npy", n, &model.embedding)?;
        let members = model.members.iter().enumerate();
        self.put_trace(members.flat_map(|(at, m)| m.last_loop().trace.iter().map(move |row| (at, row))))?;
        self.put_json("members.json", &without_traces(model))?;
        #[cfg(feature = "parquet")]
        super::parquet::save(model, columns, |name, bytes| self.put(name, |out| out.write_all(bytes)))?;
        if let Some(record) = record {
            self.put(RECORD, |out| out.write_all(record.to_json().as_bytes()))?;
        }
        self.put_json("summary.json", summary)
    }

    /// How the clusters join, and how well each number of clusters stands out.
    fn put_account(&self, model: &Model) -> Outcome {
        if let Some(tree) = &model.tree {
            self.put("tree.csv", |out| {
                writeln!(out, "into,from,resolution")?;
                let mut merges = tree.merges().iter();
                merges.try_for_each(|Merge { into, from, resolution }| {
                    writeln!(out, "{into},{from},{resolution}")
                })
            })?;
            self.put("leaves.csv", |out| {
                writeln!(out, "leaf")?;
                tree.leaves().iter().try_for_each(|leaf| writeln!(out, "{leaf}"))
            })?;
        }
        if let Some(count) = model.account.as_ref().and_then(|account| account.count.as_ref()) {
            self.put("gaps.csv", |out| {
                writeln!(out, "k,gap")?;
                let mut gaps = (2..).zip(&count.gaps);
                gaps.try_for_each(|(k, gap): (usize, _)| writeln!(out, "{k},{gap}"))
            })?;
        }
        Ok(())
    }

    /// What there is of a run that was stopped.
    pub(crate) fn save_interrupted(
        &self,
        trace: &mut Trace,
        settings: &str,
        best: Option<&Columns<'_>>,
    ) -> Outcome {
        trace.rows.sort_by_key(|(member, row)| (*member, row.iteration));
        self.put("settings.toml", |out| out.write_all(settings.as_bytes()))?;
        if let Some(best) = best {
            self.put("labels.csv", |out| best.write(out, LabelFormat::Csv))?;
        }
        self.put_trace(trace.rows.iter().map(|(member, row)| (*member, row)))?;
        let stage = trace.stage.map_or("load", nearfar::observe::Stage::name);
        let iterations = trace.rows.len();
        let (format, version) = (FORMAT, VERSION);
        self.put_json(
            "summary.json",
            &Interrupted { format, version, status: "interrupted", stage, iterations },
        )
    }
}

/// Weights by rank with their titles; nothing where the method has none.
pub(crate) fn weights(model: &Model) -> Option<Vec<(&'static str, &[f64])>> {
    let (near, far) = (&*model.near_weights, &*model.far_weights);
    if near.is_empty() {
        return None;
    }
    // Some methods learn no far ranks.
    let far = Some(("far", far)).filter(|(_, far)| far.len() == near.len());
    Some(std::iter::once(("near", near)).chain(far).collect())
}

/// Members as JSON; their traces stand in a file of their own.
fn without_traces(model: &Model) -> serde_json::Value {
    let mut members = serde_json::to_value(&model.members).unwrap_or_default();
    for member in members.as_array_mut().into_iter().flatten() {
        for run in ["started", "learned"] {
            if let Some(run) = member.get_mut(run).and_then(serde_json::Value::as_object_mut) {
                run.remove("trace");
            }
        }
    }
    members
}

/// Write a learnt graph as an edge list, every pair once.
pub(crate) fn export_graph(model: &Model, kind: ExportedGraph, path: &Path) -> Outcome {
    let n = model.n_samples();
    let rows = match kind {
        _ if model.members.is_empty() => SparseRows::default(),
        ExportedGraph::S => model.similarity(),
        ExportedGraph::D => model.dissimilarity(),
        ExportedGraph::Z => {
            let full = model.augmented().ok_or_else(|| {
                Failure::wrong(format!(
                    "{} makes no Z; export s, the graph it factors",
                    model.params.method.kind()
                ))
            })?;
            return write_file(path, |out| {
                writeln!(out, "i,j,z")?;
                for i in 0..n {
                    for j in i..n {
                        let z = full[i * n + j];
                        if z != 0.0 {
                            writeln!(out, "{i},{j},{z}")?;
                        }
                    }
                }
                Ok(())
            });
        }
    };
    write_file(path, |out| {
        writeln!(out, "i,j,{}", kind.letter())?;
        for (i, range) in rows.starts.windows(2).enumerate() {
            for at in range[0]..range[1] {
                if rows.columns[at] as usize >= i {
                    writeln!(out, "{i},{},{}", rows.columns[at], rows.values[at])?;
                }
            }
        }
        Ok(())
    })
}
