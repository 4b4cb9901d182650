//! A card for every cluster: what it is, who is typical, what sets it apart, and how sure it is.

use maud::{Markup, html};
use nearfar::explain::{ClusterStory, Mark, Standing};

use super::charts::clipped;
use super::clusters::face;
use super::number::{count, percent, short};
use super::scatter::mark;
use super::table::{Cell, Figure, Table};
use crate::record::{Portrait, Record, Shown};

/// Clusters that get a card.
pub(crate) const MOST_CARDS: usize = 80;
/// What is said of a cluster beside the map.
const MOST_SAID: usize = 2;
/// Columns of which typical points show their values.
const MOST_VALUES: usize = 4;
/// An effect of so many spreads fills its bar.
const FULL_EFFECT: f64 = 4.0;

/// One word for how sure a cluster is, in its colour.
fn chip(standing: Standing) -> Markup {
    let style = match standing {
        Standing::Unknown => return html! {},
        Standing::Solid => "chip solid",
        Standing::Shaky => "chip shaky",
        Standing::NotThere => "chip gone",
    };
    html! { span class=(style) { (standing.word()) } }
}

/// A line about a cluster for the list beside the map.
pub(crate) fn says_of(record: &Record, cluster: usize) -> Markup {
    let one = record.clusters.len() < 2;
    if let Some(story) = record.story(cluster).filter(|_| !one) {
        let most = if record.image.is_some() { 0 } else { MOST_SAID };
        let marks: Vec<&str> = story.marks.iter().take(most).map(|mark| &*mark.words).collect();
        let sure = story.certainty.confidence.filter(|_| marks.is_empty());
        return html! { p.says {
            (chip(story.certainty.standing)) (marks.join("; "))
            @if let Some(sure) = sure { (percent(sure)) " sure" }
        } };
    }
    let sure = record.confidence.as_ref().filter(|_| !one);
    html! {
        @if let Some((mean, doubtful)) = sure.and_then(|sure| sure.clusters.get(cluster)) {
            p.says { (percent(*mean)) " sure" @if *doubtful > 0 { ", " (count(*doubtful, "point")) " below 50\u{a0}%" } }
        } @else if record.soft && !one { p.says { (percent(record.clusters[cluster].inside)) " of its similarity inside" } }
    }
}

/// The cards, with their numbers.
pub(crate) fn stories(record: &Record) -> Markup {
    let Some(told) = &record.explanation else { return html! {} };
    let mut table =
        Table::new(&["cluster", "what", "column or row", "direction", "effect", "here", "others", "words"]);
    for story in &told.clusters {
        rows(&mut table, story);
    }
    let cards = told.clusters.iter().zip(&record.portraits).filter(|(story, _)| story.size > 0);
    let picture = html! {
        @for (story, portrait) in cards.take(MOST_CARDS) { (card(record, story, portrait)) }
        @if record.clusters.len() > MOST_CARDS { p.note { "The first " (MOST_CARDS) " clusters; the CSV has all." } }
    };
    let note = html! {
        "Effects are in spreads: the difference of two means, divided by the root of the mean of the two variances. "
        "A rule was found on one half of the rows and scored on the other; precision is the share of rows it names that are of the cluster, recall the share of the cluster that it names."
        @for note in &told.notes { " " (note) }
    };
    Figure { name: "stories", title: "What each cluster is", note, picture, table, live: false }.draw_plain()
}

/// What is told of a cluster, a row each.
fn rows(table: &mut Table, story: &ClusterStory) {
    let c = story.cluster;
    let text = |words: &str| Cell::Text(words.to_owned());
    let mut marks = |what: &str, marks: &[Mark]| {
        for mark in marks {
            let direction = serde_json::to_value(mark.direction).unwrap_or_default();
            let numbers = [mark.effect, mark.here, mark.others].map(Cell::Number);
            let head = [Cell::Count(c), text(what), text(&mark.name), text(direction.as_str().unwrap_or(""))];
            table.rows.push(head.into_iter().chain(numbers).chain([text(&mark.words)]).collect());
        }
    };
    marks("sets it apart", &story.marks);
    if let Some(nearest) = &story.nearest {
        marks(&format!("from cluster {}", nearest.cluster), &nearest.marks);
    }
    let mut plain = |what: &str, name: &str, number: Option<f64>, words: &str| {
        let numbers = [number.into(), Cell::Nothing, Cell::Nothing];
        let head = [Cell::Count(c), text(what), text(name), Cell::Nothing];
        table.rows.push(head.into_iter().chain(numbers).chain([text(words)]).collect());
    };
    if let Some(rule) = &story.rule {
        plain("rule, precision", "", Some(rule.precision), &rule.words());
        plain("rule, recall", "", Some(rule.recall), &rule.words());
    }
    for row in &story.exemplars {
        plain("typical row", &row.title(), row.confidence, "");
    }
    for border in &story.borders {
        plain("row on the border", &border.row.title(), border.row.confidence, "");
    }
    plain("how sure", "", story.certainty.confidence, &story.certainty.sentence);
}

fn card(record: &Record, story: &ClusterStory, portrait: &Portrait) -> Markup {
    let c = story.cluster;
    let name = record.cluster_name(c);
    html! {
        article.story id=(format!("cluster-{c}")) {
            div.head {
                h4 { (mark(c)) (name) }
                span.soft { (count(story.size, "point")) ", " (percent(story.share)) }
                (chip(story.certainty.standing))
            }
            @if record.clusters.len() > 1 { p { (story.certainty.sentence) } }
            div.facets {
                @if !story.marks.is_empty() && record.image.is_none() { div { h5 { "What sets it apart" } ul.effects { @for mark in &story.marks { (effect(mark)) } } } }
                @if let Some(rule) = story.rule.as_ref().filter(|_| record.image.is_none()) {
                    div {
                        h5 { "A rule for it" }
                        p { @for (at, condition) in rule.conditions.iter().enumerate() { @if at > 0 { " and " } b { (condition.words) } } }
                        p.soft { "Right for " (percent(rule.precision)) " of the rows it names; names " (percent(rule.recall)) " of the cluster." }
                    }
                }
                (typical(record, story, portrait))
                @if let Some(nearest) = &story.nearest {
                    div {
                        h5 { "Nearest other cluster" }
                        p { a href=(format!("#cluster-{}", nearest.cluster)) { (record.cluster_name(nearest.cluster)) }
                            @if let Some(share) = nearest.share { ", which has " (percent(share)) " of its similarity" }
                            @if !nearest.marks.is_empty() && record.image.is_none() { ": " (nearest.marks.iter().map(|mark| &*mark.words).collect::<Vec<_>>().join("; ")) } }
                        @if !portrait.borders.is_empty() { p.soft { "On the border: " (names(record, &portrait.borders)) } (faces(record, &portrait.borders)) }
                    }
                }
            }
        }
    }
}

/// How far a column lies above or below, as a bar, and in words.
fn effect(mark: &Mark) -> Markup {
    let length = 50.0 * (mark.effect.abs() / FULL_EFFECT).min(1.0);
    let (from, style) = if mark.effect < 0.0 { (50.0 - length, "far") } else { (50.0, "near") };
    html! {
        li {
            svg viewBox="0 0 100 10" aria-hidden="true" {
                path.axis d="M50 0V10" {}
                rect class=(style) x=(format!("{from:.1}")) y="2" width=(format!("{length:.1}")) height="6" rx="1" {}
            }
            span { (mark.words) }
        }
    }
}

fn typical(record: &Record, story: &ClusterStory, portrait: &Portrait) -> Markup {
    let marks: Vec<&Mark> = story.marks.iter().take(MOST_VALUES).collect();
    let values = portrait.values.len() == portrait.typical.len()
        && portrait.values.iter().all(|row| row.len() >= marks.len())
        && !marks.is_empty();
    html! {
        @if !portrait.typical.is_empty() {
            div {
                h5 { "Typical points" }
                @if record.image.is_some() { (portrait_faces(record, portrait)) }
                @else if values {
                    div.scroll tabindex="0" role="region" aria-label=(format!("Typical points of {}", record.cluster_name(story.cluster))) {
                        table {
                            thead { tr { th scope="col" { "point" } @for mark in &marks { th.n scope="col" title=(mark.name) { (clipped(&mark.name, 16)) } } } }
                            tbody { @for (shown, row) in portrait.typical.iter().zip(&portrait.values) {
                                tr { th scope="row" title=(shown.id) { (clipped(&record.name(&shown.id), 22)) } @for x in row.iter().take(marks.len()) { td.n { (short(*x)) } } }
                            } }
                        }
                    }
                } @else { p { (names(record, &portrait.typical)) } }
            }
        }
    }
}

/// The mean image, then typical ones.
fn portrait_faces(record: &Record, portrait: &Portrait) -> Markup {
    let mean = portrait.mean.as_ref().map(|image| Shown {
        id: String::new(),
        label: 0,
        membership: 0.0,
        confidence: None,
        second: None,
        image: Some(image.clone()),
    });
    html! {
        div.faces {
            @if let Some(mean) = mean.as_ref().and_then(|mean| super::clusters::picture(record, mean, "the mean of all its images")) { (mean) }
            @for shown in &portrait.typical { @if let Some(face) = face(record, shown) { (face) } }
        }
        @if portrait.mean.is_some() { p.soft { "The mean of all its images, then " (names(record, &portrait.typical)) "." } }
    }
}

fn faces(record: &Record, shown: &[Shown]) -> Markup {
    html! { @if record.image.is_some() { div.faces { @for shown in shown { @if let Some(face) = face(record, shown) { (face) } } } } }
}

fn names(record: &Record, shown: &[Shown]) -> String {
    let of = |shown: &Shown| {
        let name = clipped(&record.name(&shown.id), 40);
        match shown.second {
            Some((other, _)) if other != shown.label as usize => {
                format!("{name} (or {})", record.cluster_name(other))
            }
            _ => name,
        }
    };
    shown.iter().map(of).collect::<Vec<_>>().join(", ")
}
