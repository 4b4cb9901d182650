//! One page, self-contained: the tables, then the figures.

use std::fmt::Write;

use nearfar_report::{STYLE, chrome};

pub(crate) use nearfar_report::escape;

use super::{NOT_RUN, Provenance, distance, legend, mean, number, records};
use crate::table::{Cell, METRICS, ResultTable};

/// A page up to where its text begins.
pub(super) fn head(title: &str, command: &str) -> String {
    let (title, command, chrome) = (escape(title), escape(command), chrome(None, None));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>{chrome}<title>{title}</title><style>{STYLE}</style></head>\n<body>\n\
         <header class=\"top\"><p class=\"eyebrow\">a study of nearfar</p><h1>{title}</h1></header>\n<main>\n<pre><code>{command}</code></pre>\n"
    )
}

/// What ends a page whose last thing is a table.
pub(super) const FOOT: &str = "</tbody></table></div>\n</main>\n<footer>Made by nearfar. One file, no network.</footer>\n</body>\n</html>\n";

/// The page; `figures` are titles with SVG text.
pub fn html(table: &ResultTable, provenance: &Provenance, figures: &[(String, String)]) -> String {
    let mut out = head(&table.title, &provenance.command) + "<ul class=\"note\">\n";
    for line in legend(table) {
        let _ = writeln!(out, "<li>{}</li>", escape(&line));
    }
    out += "</ul>\n";
    for half in &table.halves {
        for (m, metric) in METRICS.into_iter().enumerate() {
            let _ = writeln!(
                out,
                "<h2>{}: {}</h2>\n<div class=\"scroll plain\" tabindex=\"0\"><table><thead><tr><th>method</th>",
                escape(&half.title),
                metric.name()
            );
            for column in &table.columns {
                let _ = write!(out, "<th scope=\"col\">{}</th>", escape(&column.title));
            }
            out += "<th scope=\"col\">mean</th></tr></thead><tbody>\n";
            for line in &half.lines {
                let of = if line.tried > 1 { format!(" (of {})", line.tried) } else { String::new() };
                let how = format!("{}{of}", escape(line.choice.words()));
                let _ = write!(out, "<tr><th scope=\"row\">{}<small>{how}</small></th>", escape(&line.name));
                for cell in &line.cells {
                    out +=
                        &cell.as_ref().map_or_else(|| format!("<td>{NOT_RUN}</td>"), |cell| show(&cell[m]));
                }
                let _ = writeln!(out, "<td>{}</td></tr>", mean(line, m));
            }
            out += "</tbody></table></div>\n";
        }
    }
    for (title, svg) in figures {
        let _ = writeln!(out, "<h2>{}</h2>\n<figure class=\"plot\">{svg}</figure>", escape(title));
    }
    out += "<h2>Record</h2>\n<ul class=\"note\">\n";
    for record in records(provenance) {
        let _ = writeln!(out, "<li>{}</li>", escape(&record));
    }
    out += "</ul>\n";
    out += "<div class=\"scroll plain\" tabindex=\"0\"><table><thead><tr><th>dataset</th><th>samples</th><th>features</th><th>clusters</th><th>SHA-256 of values and classes</th></tr></thead><tbody>\n";
    for column in &table.columns {
        let [n, m, k] = column.size;
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{n}</td><td>{m}</td><td>{k}</td><td><code>{}</code></td></tr>",
            escape(&column.title),
            column.hash
        );
    }
    out + FOOT
}

fn show(cell: &Cell) -> String {
    let mean = number(cell.mean);
    let (class, mean) = match cell.place {
        Some(1) => (" class=\"best\"", format!("<b>{mean}</b>")),
        Some(2) => ("", format!("<u>{mean}</u>")),
        _ => ("", mean),
    };
    let tied = if cell.equals_best && cell.place != Some(1) { " ≈" } else { "" };
    let mut text =
        format!("<td{class} title=\"{}\">{mean} ± {}{tied}", escape(&cell.setting), number(cell.std));
    if let Some((mean, std)) = cell.repeats {
        let _ = write!(text, "<small>on one Z {} ± {}</small>", number(mean), number(std));
    }
    if let Some((mean, std)) = cell.published {
        let distance = distance(cell).map_or_else(String::new, |distance| format!(" ({distance})"));
        let _ = write!(text, "<small>paper {} ± {}{distance}</small>", number(mean), number(std));
    }
    text + "</td>"
}
