//! An explanation as text for a screen, as Markdown, and as HTML; and how a model is explained where its rows may be
//! images.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use nearfar::SavedModel;
use nearfar::explain::{ClusterStory, Explanation, Mark, Rule, Subject, explain};
use nearfar::internals::percent;

use crate::gather::{Picture, find_picture};
use crate::page::number::grouped as whole_number;
use crate::page::png;

/// Marks that stand in a table, where there is little room.
const MARKS_IN_TABLE: usize = 3;
/// Width of the text on a screen, and of the names before it.
const WIDTH: usize = 96;
const INDENT: usize = 12;

/// What the clusters of a model are. Rows are images where `picture` says so; squares are found out.
///
/// # Errors
/// Never for a model that was fitted or loaded.
pub fn explain_model(
    model: &SavedModel,
    ids: Option<&[String]>,
    picture: Option<Picture>,
) -> nearfar::Result<Explanation> {
    let subject = Subject { ids, ..Subject::of(model)? };
    let picture = picture.or_else(|| subject.samples.as_ref().and_then(find_picture));
    let picture = picture.filter(|picture| picture.height * picture.width == model.about.n_features);
    Ok(explain(&Subject {
        image: picture.map(|picture| [picture.height, picture.width]),
        by_columns: picture.is_some_and(|picture| picture.by_columns),
        ..subject
    }))
}

/// Text for a screen: a paragraph for every cluster.
#[must_use]
pub fn explained_text(told: &Explanation) -> String {
    let mut text = format!("{}\n", told.answer);
    for story in &told.clusters {
        text += &format!(
            "\n{}: {} rows ({}), {}\n",
            story.title(),
            whole_number(story.size),
            percent(story.share),
            story.certainty.standing.word()
        );
        for (name, words) in lines(told, story) {
            text += &format!("  {name:<width$}{}\n", wrapped(&words), width = INDENT - 2);
        }
    }
    if !told.outliers.is_empty() {
        let rows: Vec<String> =
            told.outliers.iter().map(|(row, score)| format!("{} ({score:.2})", row.title())).collect();
        text += &format!("\n{:<INDENT$}{}\n", "far out", wrapped(&rows.join(", ")));
    }
    for note in &told.notes {
        text += &format!("\nnote: {note}\n");
    }
    text
}

/// What there is to say of a cluster, by name.
fn lines(told: &Explanation, story: &ClusterStory) -> Vec<(&'static str, String)> {
    let mut lines = vec![("how sure", story.certainty.sentence.clone())];
    // Single pixels tell a reader nothing.
    if told.image.is_none() {
        lines.push(("marks", marks(&story.marks, story.marks.len())));
        lines.extend(story.rule.as_ref().map(|rule| ("rule", rule_words(rule))));
    }
    if let Some(nearest) = &story.nearest {
        let share = nearest.share.filter(|share| *share > 0.0);
        let share = share.map_or_else(String::new, |share| format!(" (has {} of it)", percent(share)));
        let apart =
            if told.image.is_none() { marks(&nearest.marks, nearest.marks.len()) } else { String::new() };
        let colon = if apart.is_empty() { "" } else { ": " };
        lines.push(("nearest", format!("cluster {}{share}{colon}{apart}", nearest.cluster)));
    }
    let typical: Vec<String> = story.exemplars.iter().map(nearfar::explain::Exemplar::title).collect();
    lines.push(("typical", typical.join(", ")));
    lines.push(("border", borders(story)));
    lines.retain(|(_, words)| !words.is_empty());
    lines
}

fn marks(marks: &[Mark], most: usize) -> String {
    let words: Vec<&str> = marks.iter().take(most).map(|mark| &*mark.words).collect();
    words.join("; ")
}

fn borders(story: &ClusterStory) -> String {
    let words = |border: &nearfar::explain::Border| match border.second {
        Some(second) => format!("{} (or cluster {second})", border.row.title()),
        None => border.row.title(),
    };
    story.borders.iter().map(words).collect::<Vec<_>>().join(", ")
}

fn rule_words(rule: &Rule) -> String {
    format!(
        "{} ({} of what it takes is right, it finds {})",
        rule.words(),
        percent(rule.precision),
        percent(rule.recall)
    )
}

/// Words in lines that fit a screen, all but the first indented.
fn wrapped(text: &str) -> String {
    let (mut lines, mut width) = (String::new(), INDENT);
    for word in text.split(' ') {
        let letters = word.chars().count();
        if width > INDENT && width + 1 + letters > WIDTH {
            lines += &format!("\n{:INDENT$}{word}", "");
            width = INDENT + letters;
        } else {
            let space = if width > INDENT { " " } else { "" };
            lines += &format!("{space}{word}");
            width += space.len() + letters;
        }
    }
    lines
}

/// A Markdown table, a row for every cluster.
#[must_use]
pub fn explained_markdown(told: &Explanation) -> String {
    let mut text = format!("{}\n\n", in_markdown(&told.answer));
    text += "| cluster | rows | how sure | what sets it apart | rule | right | finds | nearest | typical rows |\n";
    text += "|---|---:|---|---|---|---:|---:|---|---|\n";
    for story in &told.clusters {
        let cells = table_cells(story).map(|cell| in_markdown(&cell));
        text += &format!("| {} |\n", cells.join(" | "));
    }
    for note in &told.notes {
        text += &format!("\n{}\n", in_markdown(note));
    }
    text
}

/// The cells of a table row: cluster, rows, how sure, marks, rule, precision, recall, nearest, typical rows.
fn table_cells(story: &ClusterStory) -> [String; 9] {
    let rule = story.rule.as_ref();
    let typical: Vec<String> = story.exemplars.iter().map(nearfar::explain::Exemplar::title).collect();
    let name = story.name.as_ref().map_or_else(String::new, |name| format!(" {name}"));
    [
        format!("{}{name}", story.cluster),
        whole_number(story.size),
        story.certainty.standing.word().to_owned(),
        marks(&story.marks, MARKS_IN_TABLE),
        rule.map_or_else(String::new, Rule::words),
        rule.map_or_else(String::new, |rule| percent(rule.precision)),
        rule.map_or_else(String::new, |rule| percent(rule.recall)),
        story.nearest.as_ref().map_or_else(String::new, |nearest| nearest.cluster.to_string()),
        typical.join(", "),
    ]
}

/// Text that Markdown takes as it is: names of columns may hold anything.
fn in_markdown(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '`' | '[' | ']' | '<' | '>' | '\\' => out.extend(['\\', c]),
            '\n' | '\r' => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}

/// A part of an HTML page: the answer and a table, as a notebook shows it.
#[must_use]
pub fn explained_html(told: &Explanation) -> String {
    part(told).into_string()
}

/// A page of its own.
#[must_use]
pub fn explained_page(told: &Explanation, title: &str) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(PAGE_STYLE)) }
            }
            body { main { h1 { (title) } (part(told)) } }
        }
    }
    .into_string()
}

fn part(told: &Explanation) -> Markup {
    html! {
        div.nearfar-explained {
            style { (PreEscaped(STYLE)) }
            p { strong { (told.answer) } }
            div.wide tabindex="0" role="region" aria-label="The clusters" { table {
                thead { tr {
                    th scope="col" { "cluster" } th scope="col" { "rows" } th scope="col" { "how sure" }
                    @if told.image.is_some() { th scope="col" { "mean image" } }
                    @else { th scope="col" { "what sets it apart" } th scope="col" { "rule" } }
                    th scope="col" { "nearest" } th scope="col" { "typical rows" } th scope="col" { "on the border" }
                } }
                tbody { @for story in &told.clusters { (row(told, story)) } }
            } }
            @if !told.outliers.is_empty() {
                p { "Farthest out: " @for (at, (row, score)) in told.outliers.iter().enumerate() {
                    @if at > 0 { ", " } (row.title()) " (" (format!("{score:.2}")) ")"
                } "." }
            }
            @for note in &told.notes { p { (note) } }
        }
    }
}

fn row(told: &Explanation, story: &ClusterStory) -> Markup {
    let typical: Vec<String> = story.exemplars.iter().map(nearfar::explain::Exemplar::title).collect();
    html! {
        tr {
            th scope="row" { (story.cluster) @if let Some(name) = &story.name { " " (name) } }
            td { (whole_number(story.size)) " (" (percent(story.share)) ")" }
            td { (story.certainty.sentence) }
            @if told.image.is_some() { td { (mean_image(told, story)) } }
            @else {
                td { @for mark in &story.marks { div { (mark.words) } } }
                td { @if let Some(rule) = &story.rule {
                    (rule.words())
                    div.soft { (percent(rule.precision)) " of what it takes is right, it finds " (percent(rule.recall)) }
                } }
            }
            td { @if let Some(nearest) = &story.nearest {
                "cluster " (nearest.cluster)
                @if told.image.is_none() { @for mark in &nearest.marks { div.soft { (mark.words) } } }
            } }
            td { (typical.join(", ")) }
            td { (borders(story)) }
        }
    }
}

fn mean_image(told: &Explanation, story: &ClusterStory) -> Markup {
    let most = told.clusters.iter().flat_map(|s| &s.mean).copied().fold(f64::NEG_INFINITY, f64::max);
    let least = told.clusters.iter().flat_map(|s| &s.mean).copied().fold(f64::INFINITY, f64::min);
    let range = if most > least { most - least } else { 1.0 };
    let pixels: Vec<u8> = story.mean.iter().map(|x| ((x - least) / range * 255.0).round() as u8).collect();
    let picture = told.image.and_then(|shape| png::grey(&pixels, shape));
    html! { @if let Some(picture) = picture { img src=(picture) alt={ "mean image of " (story.title()) } width="64"; } }
}

const STYLE: &str = "\
.nearfar-explained .wide{overflow-x:auto}\
.nearfar-explained table{border-collapse:collapse}\
.nearfar-explained th,.nearfar-explained td{text-align:left;vertical-align:top;padding:.3em .7em;border-bottom:1px solid #8886;white-space:normal}\
.nearfar-explained img{image-rendering:pixelated}\
.nearfar-explained .soft{opacity:.75}";

const PAGE_STYLE: &str = "\
:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0}main{max-width:90rem;margin:auto;padding:1rem}";
