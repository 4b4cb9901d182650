//! LaTeX with booktabs: a table per half and metric, best in bold, second underlined, as in the paper.

use std::fmt::Write;

use super::{Provenance, legend, number};
use crate::table::{Cell, METRICS, ResultTable};

/// The whole table.
pub fn latex(table: &ResultTable, provenance: &Provenance) -> String {
    let mut out = format!("% made by: {}\n% needs \\usepackage{{booktabs}}\n", provenance.command);
    for line in legend(table) {
        let _ = writeln!(out, "% {line}");
    }
    for half in &table.halves {
        for (m, metric) in METRICS.into_iter().enumerate() {
            let caption = format!("{} {}: {}.", escape(&table.title), metric.name(), escape(&half.title));
            let _ = writeln!(out, "\n\\begin{{table*}}\n  \\centering\n  \\caption{{{caption}}}");
            let _ =
                writeln!(out, "  \\begin{{tabular}}{{l{}}}\n    \\toprule", "c".repeat(table.columns.len()));
            let titles: Vec<String> = table.columns.iter().map(|column| escape(&column.title)).collect();
            let _ = writeln!(out, "    Method & {} \\\\\n    \\midrule", titles.join(" & "));
            for line in &half.lines {
                let cells: Vec<String> = line
                    .cells
                    .iter()
                    .map(|cell| cell.as_ref().map_or("--".into(), |cell| show(&cell[m])))
                    .collect();
                let name = format!("{} ({})", escape(&line.name), escape(line.choice.words()));
                let _ = writeln!(out, "    {name} & {} \\\\", cells.join(" & "));
            }
            let _ = writeln!(out, "    \\bottomrule\n  \\end{{tabular}}\n\\end{{table*}}");
        }
    }
    out
}

fn show(cell: &Cell) -> String {
    let mean = number(cell.mean);
    let mean = match cell.place {
        Some(1) => format!("\\textbf{{{mean}}}"),
        Some(2) => format!("\\underline{{{mean}}}"),
        _ => mean,
    };
    let tied = if cell.equals_best && cell.place != Some(1) { "$^{\\approx}$" } else { "" };
    format!("{mean} $\\pm$ {}{tied}", number(cell.std))
}

pub(super) fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '~' => out += "\\textasciitilde{}",
            '^' => out += "\\textasciicircum{}",
            '\\' => out += "\\textbackslash{}",
            '<' => out += "\\textless{}",
            '>' => out += "\\textgreater{}",
            '|' => out += "\\textbar{}",
            other => out.push(other),
        }
    }
    out
}
