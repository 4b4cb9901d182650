//! Tables that were made one by one, by rows or by datasets, put together into one.

#[cfg(test)]
mod tests;

use std::fmt::Write;

use crate::report::Provenance;
use crate::store::Origin;
use crate::study::{BUILT_IN, Choice, RowSpec, Study};
use crate::table::{Cell, Column, Half, ResultTable, TableLine};

/// A finished table with what it is called in messages.
#[derive(Clone, Debug)]
pub struct Part {
    /// Where it came from.
    pub name: String,
    /// The table.
    pub table: ResultTable,
    /// What made it.
    pub provenance: Provenance,
}

/// One table of all the parts: datasets as they come first, rows as in the paper's study of that name, or else as
/// they come first. Best, second and what is not told from the best are found anew.
///
/// # Errors
/// When two parts have the same cell, or other data under the same name; the message names both.
pub fn join(parts: &[Part], origin: Origin) -> Result<(ResultTable, Provenance), String> {
    let Some(first) = parts.first() else { return Err("there are no tables to put together".into()) };
    let columns = columns(parts)?;
    let known = BUILT_IN.iter().any(|(built_in, _)| *built_in == first.table.name);
    let study = if known { Study::open(&first.table.name).ok() } else { None };
    let study = study.map(|study| study.rows).unwrap_or_default();
    let order = rows_in_order(parts, &study);
    let halves = halves(parts, &columns, &order)?;
    // What is known of the paper's rows by now, beside what was known when the parts were run.
    let of_rows = study.iter().filter(|row| has_row(&halves, &row.name)).filter_map(RowSpec::remark);
    let of_parts = parts.iter().flat_map(|part| part.table.notes.clone());
    let notes = once(Vec::new(), of_parts.chain(of_rows));
    let files: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let provenance = Provenance {
        origin,
        command: format!("nearfar-repro {}", files.join(" ")),
        run_seconds: parts.iter().map(|part| part.provenance.run_seconds).sum(),
        runs: Vec::new(),
        // Parts that were put together themselves count by what they were made of.
        parts: parts.iter().flat_map(|part| leaves(&part.provenance)).collect(),
    };
    let ResultTable { name, title, .. } = first.table.clone();
    let protocol = protocol(parts, &columns);
    Ok((ResultTable { name, title, protocol, columns, halves, notes }, provenance))
}

/// Keep these rows and these datasets (by the titles of their columns) alone; all where nothing is said. Best and
/// second are found anew.
///
/// # Errors
/// When the table has no such row or dataset; the message says which there are.
pub fn cut(
    table: &mut ResultTable,
    rows: Option<&[String]>,
    datasets: Option<&[String]>,
) -> Result<(), String> {
    if rows.is_none() && datasets.is_none() {
        return Ok(());
    }
    let lines = table.halves.iter().flat_map(|half| &half.lines);
    wanted("rows", rows, lines.map(|line| line.name.as_str()).collect())?;
    wanted("only", datasets, table.columns.iter().map(|column| column.title.as_str()).collect())?;
    let keeps = |wanted: Option<&[String]>, name: &String| wanted.is_none_or(|wanted| wanted.contains(name));
    let kept: Vec<bool> = table.columns.iter().map(|column| keeps(datasets, &column.title)).collect();
    let mut of_column = kept.iter();
    table.columns.retain(|_| of_column.next() == Some(&true));
    for half in &mut table.halves {
        half.lines.retain(|line| keeps(rows, &line.name));
        for line in &mut half.lines {
            let cells = std::mem::take(&mut line.cells).into_iter().zip(&kept);
            let cells = cells.filter(|(_, kept)| **kept).map(|(cell, _)| cell).collect();
            *line = TableLine::new(line.name.clone(), line.choice, line.tried, cells);
        }
        half.rank(table.columns.len(), &|_, _, _| true);
    }
    let dropped = |note: &String| {
        rows.is_some_and(|rows| !rows.iter().any(|row| note.starts_with(&format!("{row}: "))))
    };
    table.notes.retain(|note| !dropped(note));
    Ok(())
}

fn wanted(flag: &str, names: Option<&[String]>, known: Vec<&str>) -> Result<(), String> {
    let unknown = names.and_then(|names| names.iter().find(|name| !known.contains(&name.as_str())));
    let Some(unknown) = unknown else { return Ok(()) };
    let known = once(Vec::new(), known.into_iter());
    Err(format!("--{flag} {unknown:?} is not in the table; there are {}", known.join(", ")))
}

/// With what is new of these, in their order.
fn once<T: PartialEq>(mut known: Vec<T>, items: impl Iterator<Item = T>) -> Vec<T> {
    for item in items {
        if !known.contains(&item) {
            known.push(item);
        }
    }
    known
}

fn leaves(provenance: &Provenance) -> Vec<Provenance> {
    if provenance.parts.is_empty() { vec![provenance.clone()] } else { provenance.parts.clone() }
}

fn columns(parts: &[Part]) -> Result<Vec<Column>, String> {
    let mut columns: Vec<(Column, &str)> = Vec::new();
    for part in parts {
        for column in &part.table.columns {
            match columns.iter().find(|(known, _)| known.title == column.title) {
                Some((known, whose)) if known.hash != column.hash => {
                    return Err(format!(
                        "{} in {whose} and in {} are other data (their hashes differ): rename one, or leave it out",
                        column.title, part.name
                    ));
                }
                Some(_) => {}
                None => columns.push((column.clone(), part.name.as_str())),
            }
        }
    }
    Ok(columns.into_iter().map(|(column, _)| column).collect())
}

/// Names of rows: those of the paper's study, then all others as they come first.
fn rows_in_order(parts: &[Part], study: &[RowSpec]) -> Vec<String> {
    let lines = parts.iter().flat_map(|part| &part.table.halves).flat_map(|half| &half.lines);
    once(study.iter().map(|row| row.name.clone()).collect(), lines.map(|line| line.name.clone()))
}

fn has_row(halves: &[Half], name: &str) -> bool {
    halves.iter().flat_map(|half| &half.lines).any(|line| line.name == name)
}

/// A line under construction: each cell with the part it came from.
struct Line<'a> {
    name: &'a str,
    choice: Choice,
    tried: usize,
    cells: Vec<Option<(&'a [Cell; 2], &'a str)>>,
}

fn halves(parts: &[Part], columns: &[Column], order: &[String]) -> Result<Vec<Half>, String> {
    let mut halves: Vec<(&str, Vec<Line<'_>>)> = Vec::new();
    for part in parts {
        for half in &part.table.halves {
            let at = halves.iter().position(|(title, _)| *title == half.title).unwrap_or_else(|| {
                halves.push((&half.title, Vec::new()));
                halves.len() - 1
            });
            for line in &half.lines {
                add(&mut halves[at].1, line, part, columns)?;
            }
        }
    }
    copy_what_needs_no_choice(&mut halves);
    let place = |name: &str| order.iter().position(|known| known == name);
    let made = |(title, mut lines): (&str, Vec<Line<'_>>)| {
        lines.sort_by_key(|line| place(line.name));
        let finished = lines.iter().map(|line| {
            let cells = line.cells.iter().map(|cell| cell.map(|(cell, _)| cell.clone())).collect();
            TableLine::new(line.name.to_owned(), line.choice, line.tried, cells)
        });
        let mut half = Half { title: title.to_owned(), lines: finished.collect() };
        let part = |line: usize, d: usize| lines[line].cells[d].map(|(_, whose)| whose);
        half.rank(columns.len(), &|a, b, d| part(a, d) == part(b, d));
        half
    };
    Ok(halves.into_iter().map(made).collect())
}

fn add<'a>(
    lines: &mut Vec<Line<'a>>,
    line: &'a TableLine,
    part: &'a Part,
    columns: &[Column],
) -> Result<(), String> {
    let found = lines.iter().position(|known| known.name == line.name && known.choice == line.choice);
    let at = found.unwrap_or_else(|| {
        let cells = vec![None; columns.len()];
        lines.push(Line { name: &line.name, choice: line.choice, tried: line.tried, cells });
        lines.len() - 1
    });
    let ours = &mut lines[at];
    ours.tried = ours.tried.max(line.tried);
    for (column, cell) in part.table.columns.iter().zip(&line.cells) {
        let (Some(cell), Some(d)) = (cell, columns.iter().position(|known| known.title == column.title))
        else {
            continue;
        };
        if let Some((_, whose)) = ours.cells[d] {
            return Err(format!(
                "{} ({}) on {} is in {whose} and in {}: leave one out",
                line.name,
                line.choice.words(),
                column.title,
                part.name
            ));
        }
        ours.cells[d] = Some((cell, &part.name));
    }
    Ok(())
}

/// Rows without settings stand in every half; a part of such rows alone has only the first.
fn copy_what_needs_no_choice<'a>(halves: &mut [(&'a str, Vec<Line<'a>>)]) {
    let Some(((_, first), rest)) = halves.split_first_mut() else { return };
    for (_, lines) in rest {
        for line in first.iter().filter(|line| line.choice == Choice::Only) {
            match lines.iter_mut().find(|known| known.name == line.name && known.choice == line.choice) {
                Some(known) => known.cells.clone_from(&line.cells),
                None => lines.push(Line { cells: line.cells.clone(), ..*line }),
            }
        }
    }
}

/// How the parts were run: as the first, and whoever says more of the same; the sentences of others that differ are
/// said of their rows and, where those are not all, datasets.
fn protocol(parts: &[Part], columns: &[Column]) -> String {
    let sentences = |text: &str| text.split_inclusive(". ").map(|s| s.trim().to_owned()).collect::<Vec<_>>();
    let common = parts.iter().map(|part| part.table.protocol.as_str());
    let common = common.reduce(|known, other| if other.starts_with(known) { other } else { known });
    let mut text = common.unwrap_or_default().to_owned();
    let known = sentences(&text);
    let mut others: Vec<(String, Vec<String>)> = Vec::new();
    for part in parts {
        let own: Vec<String> = sentences(&part.table.protocol)
            .into_iter()
            .filter(|sentence| !known.contains(sentence))
            .collect();
        let own = own.join(" ");
        if own.is_empty() {
            continue;
        }
        let lines = part.table.halves.iter().flat_map(|half| &half.lines);
        let mut who = once(Vec::new(), lines.map(|line| line.name.as_str())).join(", ");
        if part.table.columns.len() < columns.len() {
            let titles: Vec<&str> = part.table.columns.iter().map(|column| column.title.as_str()).collect();
            let _ = write!(who, " on {}", titles.join(", "));
        }
        match others.iter_mut().find(|(said, _)| *said == own) {
            Some((_, all)) => all.push(who),
            None => others.push((own, vec![who])),
        }
    }
    for (own, all) in others {
        let _ = write!(text, " {}: {own}", all.join("; "));
    }
    text
}
