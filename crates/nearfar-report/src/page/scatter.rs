//! The points in the plane.

use maud::{Markup, html};

use super::number::{count, grouped};
use super::table::{Cell, Table, button};
use crate::record::Record;

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

/// The mark of a cluster, as the scatter draws it.
pub(crate) fn mark(label: usize) -> Markup {
    let shape = SHAPES[(label % 8 + label / 8) % SHAPES.len()];
    html! { svg viewBox="-7 -7 14 14" aria-hidden="true" { path d=(shape) style=(format!("fill:var(--c{})", label % 8)) {} } }
}

/// The scatter; `name` is its place in the page.
pub(crate) fn scatter(record: &Record, name: &str, title: &str) -> Markup {
    if record.views.is_empty() {
        return html! {};
    }
    let squares = record.points.is_empty();
    let (n, views) = (record.size[0], &record.views);
    let words = format!(
        "Scatter of {} coloured by cluster. The arrow keys move from point to point.",
        count(n, "point")
    );
    let first = &views[0];
    html! {
        figure.chart id=(name) {
            @if !title.is_empty() { figcaption { h3 { (title) } } }
            div.stage {
                div {
                    div.plane data-kind=(if squares { "squares" } else { "points" }) data-shapes=(SHAPES.join("|")) data-named=(record.named) data-sure=(record.confidence.is_some()) {
                        canvas tabindex="0" role="img" aria-label=(words) {}
                        canvas.top aria-hidden="true" {}
                    }
                    div.bar {
                        @if views.len() > 1 {
                            span.views.bar style="margin:0" role="group" aria-label="How the points are laid out" {
                                @for (at, view) in views.iter().enumerate() {
                                    button type="button" data-view=(at) aria-pressed=(if at == 0 { "true" } else { "false" }) { (view.name) }
                                }
                            }
                        } @else { span.note { "Shown: " (first.name) @if !first.axes[1].is_empty() { " (" (first.axes[0]) " across, " (first.axes[1]) " up)" } "." } }
                        @if record.confidence.is_some() {
                            span.colors.bar style="margin:0" role="group" aria-label="What the colours show" {
                                button type="button" data-color="cluster" aria-pressed="true" { "by cluster" }
                                button type="button" data-color="confidence" aria-pressed="false" { "by confidence" }
                            }
                            span.key.sure hidden { span.soft { "unsure" } span.ramp {} span.soft { "sure" } }
                        }
                        (button(name, "the points"))
                        @if squares { span.note { "A mark stands for all points around it; larger and stronger where there are more." } }
                        details style="flex-basis:100%;margin:0" { summary { "Numbers" span.soft { " · " (count(table(record).rows.len(), "row")) } } (table(record).shown()) }
                    }
                }
                div.side {
                    div.card aria-live="polite" {
                        h3 { "Point at a mark" }
                        p.note { "to see its name, its cluster, " @if record.confidence.is_some() { "its confidence" } @else { "its membership" } @if record.points.iter().any(|p| !p.neighbors.is_empty()) { ", and the neighbours it trusts most" } ". With the keyboard: Tab to the picture, then the arrow keys." }
                    }
                    div.legend role="group" aria-label="Clusters to show" {
                        @for (label, cluster) in record.clusters.iter().enumerate().take(200) {
                            button type="button" aria-pressed="true" data-label=(label) {
                                (mark(label)) "cluster " (label) span.soft { (grouped(cluster.size)) }
                            }
                        }
                    }
                }
            }
            template.data { (table(record).csv()) }
        }
    }
}

/// What the scatter draws.
fn table(record: &Record) -> Table {
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
    for view in &record.views {
        let second = if view.axes[1].is_empty() { "–" } else { &view.axes[1] };
        table.columns.extend([view.axes[0].clone(), second.to_owned()]);
    }
    for (i, (point, label)) in record.points.iter().zip(&record.labels).enumerate() {
        let id = if point.id.is_empty() { i.to_string() } else { point.id.clone() };
        let trusts: Vec<String> = point.neighbors.iter().map(ToString::to_string).collect();
        let mut row = vec![
            Cell::Text(id),
            Cell::Count(*label as usize),
            Cell::Number(point.membership),
            if trusts.is_empty() { Cell::Nothing } else { Cell::Text(trusts.join(" ")) },
        ];
        if sure {
            row.push(point.confidence.into());
        }
        row.extend(point.at.iter().flatten().map(|x| Cell::Number(*x)));
        table.rows.push(row);
    }
    table
}
