//! Outputs: looked at before the work, written whole or not at all.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use atomic_write_file::AtomicWriteFile;

use crate::exit::{Failure, Outcome};
use crate::ranks;

/// What labels can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LabelFormat {
    Csv,
    Text,
    Npy,
    Json,
}

impl LabelFormat {
    /// By the file's name; pipes and devices get plain text when theirs says nothing.
    pub(crate) fn of(path: &Path) -> Outcome<Self> {
        match ending(path).as_str() {
            "csv" => Ok(Self::Csv),
            "txt" => Ok(Self::Text),
            "npy" => Ok(Self::Npy),
            "json" => Ok(Self::Json),
            _ if is_written_in_place(path) => Ok(Self::Text),
            other => Err(unknown_ending(path, other, "labels", ".csv, .txt, .npy or .json")),
        }
    }
}

/// What the name ends in, without the dot.
pub(crate) fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// Say that `what` has no format of this ending.
pub(crate) fn unknown_ending(path: &Path, ending: &str, what: &str, known: &str) -> Failure {
    let found = if ending.is_empty() {
        "the name has no ending that says how to write it".to_owned()
    } else {
        format!("{what} cannot be written as {ending:?}")
    };
    Failure::wrong(format!("{}: {found}; end the name in {known}", path.display()))
}

/// Whether this is a pipe or a device, such as `/dev/null` or what a shell hands over for `>(command)`: nothing that
/// could be written under another name first. What the system keeps for open files counts too, because `/dev/stdout`
/// may lead to an ordinary file, which must not be replaced.
pub(crate) fn is_written_in_place(path: &Path) -> bool {
    let special = |metadata: std::fs::Metadata| !metadata.is_file() && !metadata.is_dir();
    let open_files = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"];
    open_files.iter().any(|name| path.starts_with(name)) || std::fs::metadata(path).is_ok_and(special)
}

/// Whether a file can be put here, found out before the long work and without touching it.
pub(crate) fn check_file(path: &Path, input: Option<&str>) -> Outcome {
    if ranks::silent() {
        return Ok(());
    }
    if path.is_dir() {
        return Err(Failure::wrong(format!("{}: this is a folder; name a file in it", path.display())));
    }
    if let Some(input) = input
        && let (Ok(input), Ok(output)) = (std::fs::canonicalize(input), std::fs::canonicalize(path))
        && input == output
    {
        return Err(Failure::wrong(format!(
            "{} is the input and would be written over; choose another name",
            path.display()
        )));
    }
    // To open a pipe would wait for its reader.
    if is_written_in_place(path) {
        return Ok(());
    }
    // Dropped without a commit, it leaves nothing behind.
    AtomicWriteFile::open(path)
        .map(drop)
        .map_err(|error| Failure::output(&path.display().to_string(), &error))
}

/// Whether a folder is there or can be made.
///
/// # Errors
/// When it cannot; the message names what is in the way.
pub fn check_folder(path: &Path) -> Outcome {
    let mut place = PathBuf::from(path);
    while !place.as_os_str().is_empty() && !place.exists() {
        place.pop();
    }
    if place.as_os_str().is_empty() {
        place.push(".");
    }
    if !place.is_dir() {
        let text = format!("{} is a file, not a folder; choose another place", place.display());
        return Err(Failure::wrong(text));
    }
    check_file(&place.join(".nearfar-probe"), None)
}

/// Write a file under a temporary name and rename it when all is well; pipes and devices directly. Of several
/// processes the first writes.
///
/// # Errors
/// When it cannot be written.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Outcome {
    if ranks::silent() {
        return Ok(());
    }
    let attempt = || {
        if is_written_in_place(path) {
            // Behind what an ordinary file may already hold: the shell has emptied it, or meant to keep it.
            let file = std::fs::OpenOptions::new().append(true).open(path)?;
            let mut file = BufWriter::with_capacity(1 << 16, file);
            return write(&mut file).and_then(|()| file.flush());
        }
        let mut file = BufWriter::with_capacity(1 << 16, AtomicWriteFile::open(path)?);
        write(&mut file)?;
        file.into_inner().map_err(std::io::IntoInnerError::into_error)?.commit()
    };
    attempt().map_err(|error| Failure::output(&path.display().to_string(), &error))
}

/// Write to stdout; a reader that left early ends the program quietly.
///
/// # Errors
/// When it cannot be written.
pub fn write_stdout(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Outcome {
    if ranks::silent() {
        return Ok(());
    }
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let result = write(&mut out).and_then(|()| out.flush());
    // What is left in the buffer after a failure must not be tried again.
    let _ = out.into_parts();
    result.map_err(|error| Failure::output("stdout", &error))
}

/// Labels, and what is written beside them.
#[derive(Clone)]
pub(crate) struct Columns<'a> {
    pub(crate) ids: Option<&'a [String]>,
    /// −1 for points that are too uncertain.
    pub(crate) labels: Vec<i64>,
    /// Names of the clusters, where they have any: the name of every point's cluster is written.
    pub(crate) names: &'a [String],
    pub(crate) confidence: Option<&'a [f64]>,
    /// The next best cluster of every point.
    pub(crate) second: Option<Vec<Option<usize>>>,
    /// How far out every point lies.
    pub(crate) outlier_scores: Option<Vec<f64>>,
    /// Labels with other numbers of clusters.
    pub(crate) levels: Vec<(usize, Vec<i64>)>,
}

impl<'a> Columns<'a> {
    /// Labels alone.
    pub(crate) fn plain(labels: &[usize], ids: Option<&'a [String]>) -> Self {
        let labels = labels.iter().copied().map(whole).collect();
        Self {
            ids,
            labels,
            names: &[],
            confidence: None,
            second: None,
            outlier_scores: None,
            levels: Vec::new(),
        }
    }

    /// The same with how sure they are and the next best cluster, where these are known.
    pub(crate) fn with_confidence(&self, confidence: &'a [f64], membership: &[f64]) -> Self {
        let confidence = Some(confidence).filter(|confidence| !confidence.is_empty());
        let second = confidence.and_then(|_| self.seconds(membership));
        Self { confidence, second, ..self.clone() }
    }

    /// The next best cluster of every point, by its shares in all of them. Of a point that is noise it is the best.
    pub(crate) fn seconds(&self, membership: &[f64]) -> Option<Vec<Option<usize>>> {
        let n = self.labels.len();
        let r = membership.len().checked_div(n).filter(|r| *r > 0 && r * n == membership.len())?;
        let own = |label: &i64| usize::try_from(*label).unwrap_or(usize::MAX);
        let each = self.labels.iter().zip(membership.chunks_exact(r));
        Some(each.map(|(label, shares)| nearfar::internals::second(shares, own(label))).collect())
    }

    /// How they go to stdout: with titles where there is more than one column.
    pub(crate) fn on_stdout(&self) -> LabelFormat {
        let alone = self.ids.is_none()
            && self.names.is_empty()
            && self.confidence.is_none()
            && self.second.is_none()
            && self.outlier_scores.is_none()
            && self.levels.is_empty();
        if alone { LabelFormat::Text } else { LabelFormat::Csv }
    }

    fn titles(&self) -> Vec<String> {
        let mut titles: Vec<String> = self.ids.iter().map(|_| "id".to_owned()).collect();
        titles.push("label".to_owned());
        titles.extend((!self.names.is_empty()).then(|| "name".to_owned()));
        titles.extend(self.confidence.iter().map(|_| "confidence".to_owned()));
        titles.extend(self.second.iter().map(|_| "second".to_owned()));
        titles.extend(self.outlier_scores.iter().map(|_| "outlier_score".to_owned()));
        titles.extend(self.levels.iter().map(|(k, _)| format!("k{k}")));
        titles
    }

    /// One line per point.
    fn lines(
        &self,
        out: &mut dyn Write,
        separator: char,
        cell: impl Fn(&str) -> String,
    ) -> std::io::Result<()> {
        for (i, label) in self.labels.iter().enumerate() {
            if let Some(ids) = self.ids {
                write!(out, "{}{separator}", cell(&ids[i]))?;
            }
            write!(out, "{label}")?;
            if !self.names.is_empty() {
                let name = self.name(*label);
                write!(out, "{separator}{}", if name.is_empty() { String::new() } else { cell(name) })?;
            }
            if let Some(confidence) = self.confidence {
                write!(out, "{separator}{}", confidence[i])?;
            }
            if let Some(second) = &self.second {
                let second = second[i].map_or_else(String::new, |second| second.to_string());
                write!(out, "{separator}{second}")?;
            }
            if let Some(scores) = &self.outlier_scores {
                write!(out, "{separator}{}", scores[i])?;
            }
            for (_, labels) in &self.levels {
                write!(out, "{separator}{}", labels[i])?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// The name of a cluster; nothing for one without, and for noise.
    fn name(&self, label: i64) -> &str {
        usize::try_from(label).ok().and_then(|label| self.names.get(label)).map_or("", String::as_str)
    }

    /// All of them in one of the formats; NPY holds whole numbers only, a column for the labels and one for each level.
    pub(crate) fn write(&self, mut out: &mut dyn Write, format: LabelFormat) -> std::io::Result<()> {
        match format {
            LabelFormat::Csv => {
                writeln!(out, "{}", self.titles().join(","))?;
                self.lines(out, ',', quoted)
            }
            LabelFormat::Text => self.lines(out, '\t', |id| id.replace(['\t', '\n', '\r'], " ")),
            LabelFormat::Npy if self.levels.is_empty() => {
                nearfar::load::write_npy(&mut out, &[self.labels.len()], &self.labels)
            }
            LabelFormat::Npy => {
                let row = |i: usize| self.levels.iter().map(move |(_, labels)| labels[i]);
                let by_rows = self.labels.iter().enumerate();
                let by_rows: Vec<i64> =
                    by_rows.flat_map(|(i, label)| std::iter::once(*label).chain(row(i))).collect();
                nearfar::load::write_npy(&mut out, &[self.labels.len(), 1 + self.levels.len()], &by_rows)
            }
            LabelFormat::Json => {
                let mut object = serde_json::json!({ "labels": self.labels });
                if let Some(ids) = self.ids {
                    object["ids"] = serde_json::json!(ids);
                }
                if let Some(confidence) = self.confidence {
                    object["confidence"] = serde_json::json!(confidence);
                }
                if let Some(second) = &self.second {
                    object["second"] = serde_json::json!(second);
                }
                if let Some(scores) = &self.outlier_scores {
                    object["outlier_scores"] = serde_json::json!(scores);
                }
                if !self.names.is_empty() {
                    let names: Vec<&str> = self.labels.iter().map(|label| self.name(*label)).collect();
                    object["names"] = serde_json::json!(names);
                }
                for (k, labels) in &self.levels {
                    object["levels"][format!("k{k}")] = serde_json::json!(labels);
                }
                serde_json::to_writer(&mut out, &object)?;
                writeln!(out)
            }
        }
    }
}

/// A label as NumPy and Arrow like it.
pub(crate) fn whole(label: usize) -> i64 {
    i64::try_from(label).unwrap_or(i64::MAX)
}

/// A CSV cell, in quotes when it needs them.
pub(crate) fn quoted(text: &str) -> String {
    let plain = !text.contains([',', '"', '\n', '\r', '#']) && text.trim() == text && !text.is_empty();
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}
