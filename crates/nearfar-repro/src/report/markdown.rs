//! Markdown, as on the project's pages.

use std::fmt::Write;

use super::{NOT_RUN, Provenance, distance, legend, mean, number, records};
use crate::table::{Cell, METRICS, ResultTable};

/// The whole table.
pub fn markdown(table: &ResultTable, provenance: &Provenance) -> String {
    let mut out = format!("# {}\n\n", table.title);
    let _ = writeln!(out, "`{}`\n", provenance.command);
    for line in legend(table) {
        let _ = writeln!(out, "- {line}");
    }
    let titles: Vec<String> = table.columns.iter().map(|column| column.title.replace('|', "\\|")).collect();
    for half in &table.halves {
        for (m, metric) in METRICS.into_iter().enumerate() {
            let _ = writeln!(out, "\n## {}: {}\n", half.title, metric.name());
            let _ = writeln!(out, "| method | setting | {} | mean |", titles.join(" | "));
            let _ = writeln!(out, "|---|---|{}---|", "---|".repeat(titles.len()));
            for line in &half.lines {
                let cells: Vec<String> = line
                    .cells
                    .iter()
                    .map(|cell| cell.as_ref().map_or(NOT_RUN.into(), |cell| show(&cell[m])))
                    .collect();
                let (name, how) = (line.name.replace('|', "\\|"), line.choice.words());
                let of = if line.tried > 1 && !cells.is_empty() {
                    format!(" (of {})", line.tried)
                } else {
                    String::new()
                };
                let _ = writeln!(out, "| {name} | {how}{of} | {} | {} |", cells.join(" | "), mean(line, m));
            }
        }
    }
    settings(table, &titles, &mut out);
    provenance_lines(table, provenance, &mut out);
    out
}

fn show(cell: &Cell) -> String {
    let mean = number(cell.mean);
    let mut text = match cell.place {
        Some(1) => format!("**{mean}**"),
        Some(2) => format!("<u>{mean}</u>"),
        _ => mean,
    };
    let _ = write!(text, " ± {}", number(cell.std));
    if cell.equals_best && cell.place != Some(1) {
        text += " ≈";
    }
    if let Some((mean, std)) = cell.repeats {
        let _ = write!(text, "<br>on one Z {} ± {}", number(mean), number(std));
    }
    if let Some((mean, std)) = cell.published {
        let _ = write!(text, "<br>paper {} ± {}", number(mean), number(std));
        if let Some(distance) = distance(cell) {
            let _ = write!(text, " ({distance})");
        }
    }
    text
}

fn settings(table: &ResultTable, titles: &[String], out: &mut String) {
    let chosen = || {
        table
            .halves
            .iter()
            .flat_map(|half| &half.lines)
            .filter(|line| line.cells.iter().flatten().any(|cell| !cell[0].setting.is_empty()))
    };
    if chosen().next().is_none() {
        return;
    }
    let _ = writeln!(out, "\n## Settings that were chosen\n\n| method | by | {} |", titles.join(" | "));
    let _ = writeln!(out, "|---|---|{}", "---|".repeat(titles.len()));
    for line in chosen() {
        let cells: Vec<&str> = line
            .cells
            .iter()
            .map(|cell| cell.as_ref().map_or(NOT_RUN, |cell| cell[0].setting.as_str()))
            .collect();
        let _ = writeln!(out, "| {} | {} | {} |", line.name, line.choice.words(), cells.join(" | "));
    }
}

fn provenance_lines(table: &ResultTable, provenance: &Provenance, out: &mut String) {
    let bullet = if provenance.parts.is_empty() { "" } else { "- " };
    out.push_str("\n## Record\n\n");
    for record in records(provenance) {
        let _ = writeln!(out, "{bullet}{record}");
    }
    out.push('\n');
    let _ = writeln!(
        out,
        "| dataset | samples | features | clusters | SHA-256 of values and classes |\n|---|---|---|---|---|"
    );
    for column in &table.columns {
        let [n, m, k] = column.size;
        let _ =
            writeln!(out, "| {} | {n} | {m} | {k} | `{}` |", column.title.replace('|', "\\|"), column.hash);
    }
}
