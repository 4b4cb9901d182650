//! The page: the answer first, then the path in its order.

mod account;
mod answer;
mod charts;
mod clusters;
mod compare;
mod flow;
mod graphs;
mod levels;
pub(crate) mod number;
pub(crate) mod png;
mod scatter;
mod stories;
pub(crate) mod style;
mod sure;
mod svg;
mod table;
mod tree;

pub use compare::comparison;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::record::Record;
use number::{count, grouped, short};
use style::{SCRIPT, STYLE, chrome};
use table::{Cell, Figure, Table};

/// A section: its anchor, its name, what it says about itself, and what is in it.
struct Section {
    anchor: &'static str,
    title: &'static str,
    body: Markup,
}

impl Section {
    fn new(anchor: &'static str, title: &'static str, body: Markup) -> Option<Self> {
        (!body.0.is_empty()).then_some(Self { anchor, title, body })
    }
}

/// The page of a run, ready to be written to a file.
///
/// ```
/// use nearfar::model::SaveOptions;
/// use nearfar::{Input, Params, Samples, SavedModel};
/// use nearfar_report::{Extras, gather, page};
/// let data = nearfar::generate::moons(60, 0.05, 3)?;
/// let input = Input::from(Samples::from_rows(&data.data, data.n_samples, data.n_features)?);
/// let model = nearfar::Run::new(&Params::lsdg(2).starts(1)).observe(&nearfar::observe::Silent).fit(input)?;
/// let saved = SavedModel::new(&model, &input, &SaveOptions::default());
/// let record = gather(&saved, Some(&input), Extras { input: "moons".to_owned(), ..Extras::default() })?;
/// assert!(page(&record).starts_with("<!DOCTYPE html>"));
/// # Ok::<(), nearfar::Error>(())
/// ```
#[must_use]
pub fn page(record: &Record) -> String {
    let sections: Vec<Section> = [
        Section::new("clusters", "Clusters", clusters::clusters(record)),
        Section::new("sure", "How sure", sure::sure(record)),
        Section::new("count", "How many clusters", account::number(record)),
        Section::new("tree", "How clusters join", tree::tree(record)),
        Section::new("truth", "Truth against found", clusters::truth(record)),
        Section::new("data", "Data", data(record)),
        Section::new("neighbors", "Neighbours", charts::neighbors(record)),
        Section::new("views", "Views and tests", account::views(record)),
        Section::new("weights", "What was learnt about ranks", charts::weights(record)),
        Section::new("learning", "Learning", charts::learning(record)),
        Section::new("graphs", "Graphs", graphs::graphs(record)),
        Section::new("spectrum", "Spectrum", charts::spectrum(record)),
        Section::new("members", "Members", account::members(record)),
        Section::new("run", "The run", run(record)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let title = format!("{}: {}", record.input, count(record.size[2], "cluster"));
    let head = html! {
        (answer::answer(record))
        (scatter::scatter(record, "points", ""))
        (answer::more(record))
    };
    whole(&title, &head, &sections)
}

/// A page of a head and sections.
fn whole(title: &str, head: &Markup, sections: &[Section]) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head { (PreEscaped(chrome(Some(STYLE), Some(SCRIPT)))) title { (title) } style { (PreEscaped(STYLE)) } }
            body {
                a.skip href="#main" { "Skip to the sections" }
                header.top { (head) }
                nav aria-label="Sections" { div { @for s in sections { a href={ "#" (s.anchor) } { (s.title) } } } }
                main id="main" {
                    @for s in sections { section id=(s.anchor) { h2 { (s.title) } (s.body) } }
                }
                footer { "Made by nearfar. One file, no network: it can be kept, sent and printed as it is." }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

/// What the method is called where people meet it.
fn method_title(name: &str) -> &str {
    if name == "lsdg" { "LSDG-SymNMF" } else { name }
}

fn data(record: &Record) -> Markup {
    let [n, m, _] = record.size;
    let what = match record.kind.as_str() {
        "distances" => "a matrix of distances".to_owned(),
        "affinities" => "a matrix of affinities".to_owned(),
        "neighbors" => "lists of neighbours".to_owned(),
        _ => count(m, "feature"),
    };
    let mut table = Table::new(&["column", "least", "mean", "most", "deviation"]);
    table.rows = record
        .columns
        .iter()
        .map(|c| {
            let numbers = [c.least, c.mean, c.most, c.deviation].map(Cell::Number);
            std::iter::once(Cell::Text(c.name.clone())).chain(numbers).collect()
        })
        .collect();
    html! {
        p {
            (count(n, "point")) " with " (what) " from " code { (record.input) }
            @if !record.source.is_empty() { " (" (record.source) ")" } "."
            @if let Some(copies) = record.copies {
                @if copies == 0 { " No row is a copy of another." }
                @else { " " (count(copies, "row")) @if copies == 1 { " is an exact copy" } @else { " are exact copies" } " of an earlier one." }
            }
        }
        @if record.warnings.is_empty() { p.note { "Nothing about data or result called for a warning." } }
        @else { ul.warnings { @for warning in &record.warnings { li { (warning) } } } }
        @if !record.columns.is_empty() {
            (Figure {
                name: "columns", title: "Ranges of the columns", live: false, table,
                note: html! { "From the least to the most value; the blue part is one deviation to either side of the mean. After rescaling, where there was any." },
                picture: charts::ranges(&record.columns),
            }.draw())
        }
    }
}

/// Parameters, versions and the command. Times and memory differ from run to run and stay in the record, so that
/// equal runs have equal pages.
fn run(record: &Record) -> Markup {
    let mut settings = Table::new(&["setting", "value"]);
    settings.rows =
        record.settings.iter().map(|(k, v)| vec![Cell::Text(k.clone()), Cell::Text(v.clone())]).collect();
    html! {
        p { "Made by " (record.program) " with the method " b { (method_title(&record.method)) } "." }
        @if !record.command.is_empty() { h3 { "Run it again" } pre { code { (record.command) } } }
        @if !record.settings.is_empty() {
            (Figure { name: "settings", title: "Settings", live: false, picture: settings.shown(), table: settings,
                note: html! { "Everything that was in force, defaults included." } }.draw_plain())
        }
    }
}

/// Numbers beside each other in words: 3, 4 and 5.
fn listed(numbers: &[usize]) -> String {
    let words: Vec<String> = numbers.iter().map(|n| grouped(*n)).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn score(x: f64) -> String {
    if (0.0..0.9995).contains(&x) { format!("{x:.3}") } else { short(x) }
}
