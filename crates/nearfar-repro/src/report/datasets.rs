//! The datasets themselves, as the program reads them, beside what the paper says of them (its first table).

use std::fmt::Write;

use serde::Serialize;

use super::csv::field;
use super::html::{FOOT, escape, head};
use super::{NOT_RUN, latex};
use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::published;
use crate::runner::Host;
use crate::store::Origin;

/// The name of the table and of its files.
pub const NAME: &str = "table-datasets";

const TITLE: &str = "Details of the datasets";
const HEADER: [&str; 6] =
    ["dataset", "features", "samples", "clusters", "in the paper", "SHA-256 of values and classes"];

/// One dataset.
#[derive(Clone, Debug, Serialize)]
pub struct Details {
    /// How tables name it.
    pub title: String,
    /// Features, samples and clusters, in the paper's order.
    pub size: [usize; 3],
    /// The same as the paper has it.
    pub published: Option<[usize; 3]>,
    /// Whether the samples are the paper's.
    pub same_samples: bool,
    /// SHA-256 of values and classes.
    pub hash: String,
}

/// All datasets of a manifest; nothing is run.
///
/// # Errors
/// When one of them cannot be read.
pub fn details<H: Host>(manifest: &Manifest, host: &H) -> Result<Vec<Details>> {
    let one = |spec: &crate::DatasetSpec| {
        let data = host.dataset(spec).map_err(Error::Host)?;
        let clusters = spec.k.unwrap_or_else(|| data.classes());
        Ok(Details {
            title: spec.title().to_owned(),
            size: [data.n_features, data.n_samples, clusters],
            published: spec.published.as_deref().and_then(published::size),
            same_samples: spec.same_samples,
            hash: data.hash(),
        })
    };
    manifest.datasets.iter().map(one).collect()
}

impl Details {
    fn paper(&self) -> String {
        match self.published {
            None => NOT_RUN.to_owned(),
            Some(size) if size == self.size && self.same_samples => "the same".to_owned(),
            Some(size) if size == self.size => "the same sizes, other samples".to_owned(),
            Some([m, n, k]) => format!("{m} features, {n} samples, {k} clusters"),
        }
    }

    fn cells(&self) -> [String; 6] {
        let [m, n, k] = self.size.map(|x| x.to_string());
        [self.title.clone(), m, n, k, self.paper(), self.hash.clone()]
    }
}

/// The table in every form: ending of the file, and text.
///
/// # Errors
/// Never in practice; numbers and strings always serialize.
pub fn forms(all: &[Details], command: &str, origin: &Origin) -> Result<Vec<(&'static str, String)>> {
    #[derive(Serialize)]
    struct Whole<'a> {
        #[serde(flatten)]
        origin: &'a Origin,
        command: &'a str,
        datasets: &'a [Details],
    }
    let rows: Vec<[String; 6]> = all.iter().map(Details::cells).collect();
    let whole = Whole { origin, command, datasets: all };
    let json = serde_json::to_string_pretty(&whole).map_err(|error| Error::Host(error.to_string()))?;
    Ok(vec![
        ("md", markdown(&rows, command)),
        ("csv", csv(&rows)),
        ("tex", tex(&rows, command)),
        ("json", json + "\n"),
        ("html", html(&rows, command)),
    ])
}

fn markdown(rows: &[[String; 6]], command: &str) -> String {
    let mut out =
        format!("# {TITLE}\n\n`{command}`\n\n| {} |\n|{}\n", HEADER.join(" | "), "---|".repeat(HEADER.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

fn csv(rows: &[[String; 6]]) -> String {
    let line = |cells: &[String]| cells.iter().map(|cell| field(cell)).collect::<Vec<_>>().join(",") + "\n";
    let header = line(&HEADER.map(str::to_owned));
    header + &rows.iter().map(|row| line(row)).collect::<String>()
}

fn tex(rows: &[[String; 6]], command: &str) -> String {
    let mut out = format!(
        "% made by: {command}\n% needs \\usepackage{{booktabs}}\n\\begin{{table}}\n  \\centering\n  \\caption{{{TITLE}}}\n  \
         \\begin{{tabular}}{{lrrr}}\n    \\toprule\n    Dataset & Features & Samples ($n$) & Clusters ($r$) \\\\\n    \\midrule\n"
    );
    for [title, m, n, k, ..] in rows {
        let _ = writeln!(out, "    {} & {m} & {n} & {k} \\\\", latex::escape(title));
    }
    out + "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n"
}

fn html(rows: &[[String; 6]], command: &str) -> String {
    let mut out = head(TITLE, command) + "<div class=\"scroll plain\" tabindex=\"0\"><table><thead><tr>";
    for title in HEADER {
        let _ = write!(out, "<th scope=\"col\">{title}</th>");
    }
    out += "</tr></thead><tbody>\n";
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
        let _ = writeln!(out, "<tr><td>{}</td></tr>", cells.join("</td><td>"));
    }
    out + FOOT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_tells_what_differs_from_the_paper() {
        let set = |title: &str, size, same_samples| Details {
            title: title.into(),
            size,
            published: published::size("seeds"),
            same_samples,
            hash: "h".into(),
        };
        let all = [
            set("a_1", [7, 210, 3], true),
            set("b", [7, 210, 3], false),
            set("c|,<", [7, 200, 3], true),
            Details { published: None, ..set("d", [1, 2, 3], true) },
        ];
        let forms = forms(&all, "nearfar-repro table-datasets", &Origin::default()).unwrap();
        let text = |ending: &str| &forms.iter().find(|(known, _)| *known == ending).unwrap().1;
        assert!(text("md").contains("| a_1 | 7 | 210 | 3 | the same | h |"), "{}", text("md"));
        assert!(text("md").contains("the same sizes, other samples") && text("md").contains("c\\|,<"));
        assert!(
            text("csv").contains("\"c|,<\",7,200,3,\"7 features, 210 samples, 3 clusters\",h\n"),
            "{}",
            text("csv")
        );
        assert!(text("csv").contains("d,1,2,3,–,h\n") && text("tex").contains("a\\_1 & 7 & 210 & 3 \\\\"));
        assert!(text("html").contains("<td>c|,&lt;</td>"), "{}", text("html"));
        let json: serde_json::Value = serde_json::from_str(text("json")).unwrap();
        assert_eq!(json["datasets"][2]["size"][1], 200);
    }
}
