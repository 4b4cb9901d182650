//! One line per method, choice, dataset and metric: what a spreadsheet or a data frame wants.

use std::fmt::Write;

use crate::table::{METRICS, ResultTable};

/// The whole table.
pub fn csv(table: &ResultTable) -> String {
    let mut out = String::from(
        "part,method,choice,settings_tried,dataset,metric,mean,std,one_z_mean,one_z_std,paper_mean,paper_std,sigmas,place,equals_best,seconds,setting\n",
    );
    for half in &table.halves {
        for line in &half.lines {
            for (column, cells) in table.columns.iter().zip(&line.cells) {
                for (metric, cell) in METRICS.into_iter().zip(cells.iter().flatten()) {
                    let pair = |pair: Option<(f64, f64)>| {
                        pair.map_or_else(|| ",".into(), |(a, b)| format!("{a},{b}"))
                    };
                    let optional = |x: Option<String>| x.unwrap_or_default();
                    let _ = writeln!(
                        out,
                        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                        field(&half.title),
                        field(&line.name),
                        field(line.choice.words()),
                        line.tried,
                        field(&column.title),
                        metric.name(),
                        cell.mean,
                        cell.std,
                        pair(cell.repeats),
                        pair(cell.published),
                        optional(cell.sigmas.map(|x| x.to_string())),
                        optional(cell.place.map(|x| x.to_string())),
                        cell.equals_best,
                        cell.seconds,
                        field(&cell.setting),
                    );
                }
            }
        }
    }
    out
}

pub(super) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
