//! Tables of results as Markdown, CSV and JSON, with what made them.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::data::mean_std;

/// One table.
pub(crate) struct Page {
    /// Name of its files.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Paragraphs above the table.
    pub(crate) notes: Vec<String>,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Every figure behind it; flat objects with the same keys.
    pub(crate) records: Vec<Value>,
}

impl Page {
    /// Write all three files; `command` is what made them.
    pub(crate) fn write(&self, folder: &Path, command: &str) -> Result<()> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let made = made_by(command);
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let mut text = format!("# {}\n\n{made}\n\n", self.title);
        self.notes.iter().for_each(|note| text += &format!("{note}\n\n"));
        text += &line(&self.header);
        text += &format!("|{}\n", "---|".repeat(self.header.len()));
        self.rows.iter().for_each(|row| text += &line(row));
        let put = |ending: &str, text: &str| {
            let path = folder.join(format!("{}.{ending}", self.name));
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
        };
        put("md", &text)?;
        put("csv", &self.csv())?;
        let whole =
            json!({ "title": self.title, "made": made, "notes": self.notes, "records": self.records });
        put("json", &(serde_json::to_string_pretty(&whole)? + "\n"))?;
        println!("{text}");
        Ok(())
    }

    fn csv(&self) -> String {
        let Some(Value::Object(first)) = self.records.first() else { return String::new() };
        let keys: Vec<&String> = first.keys().collect();
        let cell = |value: Option<&Value>| match value {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) if text.contains([',', '"']) => {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let mut text = keys.iter().map(|key| key.as_str()).collect::<Vec<_>>().join(",") + "\n";
        for record in &self.records {
            text +=
                &(keys.iter().map(|key| cell(record.get(key.as_str()))).collect::<Vec<_>>().join(",") + "\n");
        }
        text
    }
}

/// Version, commit, and machine, in one sentence.
pub(crate) fn made_by(command: &str) -> String {
    let git = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let commit =
        git.ok().filter(|out| out.status.success()).and_then(|out| String::from_utf8(out.stdout).ok());
    let commit = commit.map_or_else(|| "unknown".into(), |commit| commit.trim().to_owned());
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let model = model.trim_start_matches([' ', '\t', ':']).trim();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let on = if model.is_empty() { String::new() } else { format!(" of {model}") };
    format!("Made by `{command}`: nearfar {}, commit {commit}, {cores} cores{on}.", nearfar::VERSION)
}

/// `.812 ± .004`, or only the mean where there is one value; empty where there is none.
pub(crate) fn spread(values: &[f64]) -> String {
    let (mean, std) = mean_std(values);
    match values.len() {
        0 => String::new(),
        1 => short(mean),
        _ => format!("{} ± {}", short(mean), short(std)),
    }
}

/// Three digits, no 0 before the point.
pub(crate) fn short(x: f64) -> String {
    let text = format!("{x:.3}");
    match text.strip_prefix("0.") {
        Some(rest) => format!(".{rest}"),
        None => text.strip_prefix("-0.").map_or(text.clone(), |rest| format!("-.{rest}")),
    }
}

/// The mean; NaN where there is nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
