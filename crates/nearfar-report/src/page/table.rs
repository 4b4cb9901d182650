//! The numbers of a figure: shown as a table, taken away as CSV.

use maud::{Markup, html};

use super::number::{grouped, short};

/// Rows that are written out; the CSV has all.
const MOST_ROWS: usize = 60;

/// One number, or none.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Number(f64),
    Count(usize),
    Text(String),
    Nothing,
}

impl From<Option<f64>> for Cell {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::Nothing, Self::Number)
    }
}

impl Cell {
    fn shown(&self) -> String {
        match self {
            Self::Number(x) => short(*x),
            Self::Count(n) => grouped(*n),
            Self::Text(text) => text.clone(),
            Self::Nothing => "–".to_owned(),
        }
    }

    /// In full, so that nothing is lost.
    fn csv(&self) -> String {
        match self {
            Self::Number(x) => x.to_string(),
            Self::Count(n) => n.to_string(),
            Self::Text(text) => quoted(text),
            Self::Nothing => String::new(),
        }
    }
}

fn quoted(text: &str) -> String {
    let plain = !text.contains([',', '"', '\n', '\r']) && text.trim() == text && !text.is_empty();
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

/// The numbers of a figure.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|name| (*name).to_owned()).collect(), rows: Vec::new() }
    }

    pub(crate) fn csv(&self) -> String {
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let mut text = line(self.columns.iter().map(|name| quoted(name)).collect());
        for row in &self.rows {
            text += &line(row.iter().map(Cell::csv).collect());
        }
        text
    }

    /// The first rows, written out.
    pub(crate) fn shown(&self) -> Markup {
        let number = |cell: &Cell| !matches!(cell, Cell::Text(_));
        html! {
            div.scroll tabindex="0" {
                table {
                    thead { tr { @for name in &self.columns { th scope="col" { (name) } } } }
                    tbody {
                        @for row in self.rows.iter().take(MOST_ROWS) {
                            tr { @for cell in row { td.n[number(cell)] { (cell.shown()) } } }
                        }
                    }
                }
            }
            @if self.rows.len() > MOST_ROWS {
                p.note { "The first " (MOST_ROWS) " of " (grouped(self.rows.len())) " rows; the CSV has all." }
            }
        }
    }
}

/// A figure: what it is, the picture, its numbers.
pub(crate) struct Figure<'a> {
    /// Its place in the page, and the name of its CSV.
    pub(crate) name: &'a str,
    pub(crate) title: &'a str,
    pub(crate) note: Markup,
    pub(crate) picture: Markup,
    pub(crate) table: Table,
    /// Whether the pointer reads numbers off it.
    pub(crate) live: bool,
}

impl Figure<'_> {
    /// Where the picture is the table itself.
    pub(crate) fn draw_plain(self) -> Markup {
        html! {
            figure.chart id=(self.name) {
                figcaption { h3 { (self.title) } p.note { (self.note) } }
                (self.picture)
                (button(self.name, self.title))
                template.data { (self.table.csv()) }
            }
        }
    }

    pub(crate) fn draw(self) -> Markup {
        let rows = self.table.rows.len();
        html! {
            figure.chart id=(self.name) {
                figcaption { h3 { (self.title) } p.note { (self.note) } }
                (self.picture)
                @if self.live { p.readout aria-live="polite" {} }
                details {
                    summary { "Numbers" span.soft { " · " (super::number::count(rows, "row")) } }
                    (self.table.shown())
                }
                (button(self.name, self.title))
                template.data { (self.table.csv()) }
            }
        }
    }
}

/// What takes the numbers away.
pub(crate) fn button(name: &str, title: &str) -> Markup {
    html! { button.csv type="button" data-name=(name) { "CSV" span.hidden { " of " (title) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_keeps_every_digit_and_quotes() {
        let mut table = Table::new(&["a", "b,c"]);
        table.rows.push(vec![Cell::Number(0.1 + 0.2), Cell::Text("say \"x\"\n".to_owned())]);
        table.rows.push(vec![Cell::Nothing, Cell::Count(3)]);
        assert_eq!(table.csv(), "a,\"b,c\"\n0.30000000000000004,\"say \"\"x\"\"\n\"\n,3\n");
    }
}
