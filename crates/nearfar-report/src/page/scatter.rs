//! The points in the plane.

use maud::{Markup, html};

use super::charts::clipped;
use super::levels::Levels;
use super::number::{count, grouped, percent};
use super::stories::{MOST_CARDS, says_of};
use super::table::{Cell, Table, button};
use crate::account::Tree;
use crate::record::Record;

/// What the layout by the neighbour graph is called in a record.
const MAP: &str = "neighbour map";

/// Shapes of the marks, about ten units across; with eight colours they tell 48 clusters apart, and they are what
/// is left in grey.
const SHAPES: [&str; 6] = [
    "M5 0A5 5 0 1 1 -5 0A5 5 0 1 1 5 0Z",
    "M-4.4 -4.4H4.4V4.4H-4.4Z",
    "M0 -5.8L5.4 4.2H-5.4Z",
    "M0 -6L5 0L0 6L-5 0Z",
    "M0 5.8L5.4 -4.2H-5.4Z",
    "M-1.9 -5.4H1.9V-1.9H5.4V1.9H1.9V5.4H-1.9V1.9H-5.4V-1.9H-1.9Z",
];

/// Clusters that stand beside the picture.
const MOST_LISTED: usize = 200;
/// Numbers of clusters that the slider reaches; the field beside it takes every one.
const MOST_SLID: usize = 60;

/// The mark of a cluster, as the scatter draws it.
pub(crate) fn mark(label: usize) -> Markup {
    let shape = SHAPES[(label % 8 + label / 8) % SHAPES.len()];
    html! { svg.mark viewBox="-7 -7 14 14" aria-hidden="true" { path class=(format!("f{}", label % 8)) d=(shape) {} } }
}

/// The scatter; `name` is its place in the page.
pub(crate) fn scatter(record: &Record, name: &str, title: &str) -> Markup {
    if record.views.is_empty() {
        return html! {};
    }
    let squares = record.points.is_empty();
    let levels = if squares { None } else { Levels::of(record) };
    html! {
        figure.chart id=(name) {
            @if !title.is_empty() { figcaption { h3 { (title) } } }
            div.stage {
                div {
                    (plane(record, squares))
                    @if let Some(levels) = &levels { (slider(name, levels)) }
                    (bar(record, name, squares))
                    @if let Some(says) = says(record) { p.note { (says) } }
                }
                div.side {
                    (list(record))
                    @if levels.is_some() { div.which.level role="group" aria-label="Clusters at this level" hidden {} }
                    div.card aria-live="polite" {
                        p.note { b { "Point at a mark" } " to see its name, its cluster, " @if record.confidence.is_some() { "its confidence" } @else { "its membership" } @if record.points.iter().any(|p| !p.neighbors.is_empty()) { ", and the neighbours it trusts most" } ". With the keyboard: Tab to the picture, then the arrow keys." }
                    }
                }
            }
            template.data { (table(record, levels.as_ref()).csv()) }
            @if let (Some(tree), Some(levels)) = (&record.tree, &levels) { template.joins { (joins(tree, levels)) } }
        }
    }
}

fn plane(record: &Record, squares: bool) -> Markup {
    let words = format!(
        "Scatter of {} coloured by cluster. The arrow keys move from point to point.",
        count(if squares { record.size[0] } else { record.points.len() }, "point")
    );
    let names: Vec<String> = (0..record.clusters.len()).map(|c| on_the_mark(record, c)).collect();
    html! {
        div.plane data-kind=(if squares { "squares" } else { "points" }) data-shapes=(SHAPES.join("|")) data-named=(record.named)
            data-views=(record.views.len()) data-names=(names.join("\n")) {
            canvas tabindex="0" role="img" aria-label=(words) {}
            canvas.top aria-hidden="true" {}
        }
    }
}

/// What stands beside the marks of a cluster: its own name, or its number.
fn on_the_mark(record: &Record, cluster: usize) -> String {
    let own = record.own_name(cluster).map(|name| clipped(&name.replace('\n', " "), 22));
    own.unwrap_or_else(|| cluster.to_string())
}

/// The number of clusters, to be changed.
fn slider(name: &str, levels: &Levels) -> Markup {
    let (k, most) = (levels.k, levels.most);
    html! {
        div.levels role="group" aria-label="Number of clusters" data-k=(k) {
            label for=(format!("{name}-slide")) { "Clusters" }
            input.slide id=(format!("{name}-slide")) type="range" min="1" max=(most.min(MOST_SLID)) value=(k) step="1";
            input.number type="number" min="1" max=(most) value=(k) step="1" aria-label=(format!("Clusters, from 1 to {most}"));
            span.worth.bar { @for other in &levels.worth {
                button type="button" data-k=(other) aria-pressed=(if *other == k { "true" } else { "false" }) { (other) @if *other == k { ", the answer" } }
            } }
            p.note aria-live="polite" { "Slide to see any other number of clusters" @if levels.worth.len() > 1 { "; the buttons are the levels worth a look" } "." }
        }
    }
}

fn bar(record: &Record, name: &str, squares: bool) -> Markup {
    let (views, first) = (&record.views, &record.views[0]);
    let rows = if squares { views.iter().map(|view| view.squares.len()).sum() } else { record.points.len() };
    html! {
        div.bar {
            @if views.len() > 1 {
                span.views.bar role="group" aria-label="How the points are laid out" {
                    @for (at, view) in views.iter().enumerate() {
                        button type="button" data-view=(at) aria-pressed=(if at == 0 { "true" } else { "false" }) { (view.name) }
                    }
                }
            } @else { span.note { "Shown: " (first.name) @if !first.axes[1].is_empty() { " (" (first.axes[0]) " across, " (first.axes[1]) " up)" } "." } }
            @if record.confidence.is_some() {
                span.colors.bar role="group" aria-label="What the colours show" {
                    button type="button" data-color="cluster" aria-pressed="true" { "by cluster" }
                    button type="button" data-color="confidence" aria-pressed="false" { "by confidence" }
                }
                span.key.sure hidden { span.soft { "unsure" } span.ramp {} span.soft { "sure" } }
            }
            (button(name, "the points"))
        }
        details { summary { "Numbers" span.soft { " · " (count(rows, "row")) } } (table(record, None).shown()) }
    }
}

/// What a reader has to know about the picture.
fn says(record: &Record) -> Option<String> {
    let mut says = String::new();
    if record.points.is_empty() {
        says += "A mark stands for all points around it; larger and stronger where there are more. ";
    } else if !record.rows.is_empty() {
        says += &format!(
            "Drawn are {} of {} points, taken by chance; small clusters have more than their share. ",
            grouped(record.points.len()),
            grouped(record.size[0])
        );
    }
    if record.views.iter().any(|view| view.name == MAP) {
        says += "The neighbour map puts points beside their nearest neighbours. How near two groups are tells little, and so does the size of a gap.";
    }
    (!says.is_empty()).then(|| says.trim_end().to_owned())
}

/// The clusters beside the picture: which they are, how large, how sure.
fn list(record: &Record) -> Markup {
    let n = record.size[0].max(1) as f64;
    let clusters = &record.clusters;
    html! {
        div.which role="group" aria-label="Clusters" {
            @for (c, cluster) in clusters.iter().enumerate().take(MOST_LISTED).filter(|(_, cluster)| cluster.size > 0) {
                div.one {
                    button type="button" aria-pressed="true" data-label=(c) title="Show or hide" { (mark(c)) span { (record.cluster_name(c)) } }
                    span.soft { (grouped(cluster.size)) span.share { (percent(cluster.size as f64 / n)) } }
                    @if c < MOST_CARDS { a href=(format!("#cluster-{c}")) { "more" span.hidden { " about " (record.cluster_name(c)) } } }
                    (says_of(record, c))
                }
            }
            @if clusters.len() > MOST_LISTED { p.note { "The first " (MOST_LISTED) " of " (grouped(clusters.len())) " clusters." } }
        }
    }
}

/// The points of every leaf, then the joins, a line each: what ends, and what it goes into.
fn joins(tree: &Tree, levels: &Levels) -> String {
    let mut sizes = vec![0; levels.most];
    tree.leaves.iter().zip(&levels.numbers).for_each(|((size, _), number)| sizes[*number] = *size);
    let mut text = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    for [ended, into] in &levels.joins {
        text += &format!("\n{ended} {into}");
    }
    text
}

/// What the scatter draws.
fn table(record: &Record, levels: Option<&Levels>) -> Table {
    let sure = record.confidence.is_some();
    if record.points.is_empty() {
        let mut table = Table::new(&["view", "x", "y", "points", "cluster", "share", "surest", "membership"]);
        if sure {
            table.columns.push("mean confidence".to_owned());
        }
        for (at, view) in record.views.iter().enumerate() {
            table.rows.extend(view.squares.iter().map(|s| {
                let [x, y] = s.at.map(Cell::Number);
                let (count, label) = (Cell::Count(s.count), Cell::Count(s.label as usize));
                let (share, own) = (Cell::Number(s.share), Cell::Number(s.membership));
                let mut row = vec![Cell::Count(at), x, y, count, label, share, Cell::Text(s.id.clone()), own];
                if sure {
                    row.push(s.confidence.into());
                }
                row
            }));
        }
        return table;
    }
    let mut table = Table::new(&["point", "cluster", "membership", "trusts"]);
    if sure {
        table.columns.push("confidence".to_owned());
    }
    if levels.is_some() {
        table.columns.push("leaf".to_owned());
    }
    for view in &record.views {
        let second = if view.axes[1].is_empty() { "–" } else { &view.axes[1] };
        table.columns.extend([view.axes[0].clone(), second.to_owned()]);
    }
    for (drawn, point) in record.points.iter().enumerate() {
        let row = record.row_of(drawn);
        let id = if point.id.is_empty() { row.to_string() } else { point.id.clone() };
        let trusts: Vec<String> = point.neighbors.iter().map(ToString::to_string).collect();
        let mut cells = vec![
            Cell::Text(id),
            Cell::Count(record.labels[row] as usize),
            Cell::Number(point.membership),
            if trusts.is_empty() { Cell::Nothing } else { Cell::Text(trusts.join(" ")) },
        ];
        if sure {
            cells.push(point.confidence.into());
        }
        if let Some(levels) = levels {
            let number = point.leaf.and_then(|leaf| levels.numbers.get(leaf as usize));
            cells.push(number.map_or(Cell::Nothing, |number| Cell::Count(*number)));
        }
        cells.extend(point.at.iter().flatten().map(|x| Cell::Number(*x)));
        table.rows.push(cells);
    }
    table
}
