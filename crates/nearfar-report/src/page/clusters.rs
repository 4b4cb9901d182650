//! The clusters, who stands for them, who lies between them, and what is known about the truth.

use maud::{Markup, html};

use super::number::{count, percent};
use super::scatter::mark;
use super::stories::{self, MOST_CARDS};
use super::table::{Cell, Figure, Table};
use super::{charts, png, score};
use crate::gather::decode;
use crate::record::{Record, Shown};

pub(crate) fn clusters(record: &Record) -> Markup {
    html! {
        @if record.explanation.is_some() { (stories::stories(record)) } @else { (representatives(record)) }
        @if record.soft && record.confidence.is_none() { div.pair { (charts::sizes(record)) (charts::membership(record)) } }
        @else { div.half { (charts::sizes(record)) } }
        @if !record.uncertain.is_empty() && record.confidence.is_none() { (uncertain(record)) }
        @if record.soft && record.crossed.len() > 1 { (separation(record)) }
    }
}

pub(crate) fn face(record: &Record, shown: &Shown) -> Option<Markup> {
    let sure = percent(shown.confidence.unwrap_or(shown.membership));
    picture(record, shown, &format!("{}, {sure}", record.name(&shown.id)))
}

/// A grey picture with what it is in words.
pub(crate) fn picture(record: &Record, shown: &Shown, words: &str) -> Option<Markup> {
    let picture = png::grey(&decode(shown.image.as_deref()?), record.image?)?;
    Some(html! { img src=(picture) alt=(words) title=(words); })
}

/// The clusters of records that are too old to explain them.
fn representatives(record: &Record) -> Markup {
    let mut table = Table::new(&["cluster", "point", "membership"]);
    for (c, cluster) in record.clusters.iter().enumerate() {
        let rows = cluster.representatives.iter();
        table
            .rows
            .extend(rows.map(|s| vec![Cell::Count(c), Cell::Text(s.id.clone()), Cell::Number(s.membership)]));
    }
    let picture = html! {
        div.people {
            @for (c, cluster) in record.clusters.iter().enumerate().take(MOST_CARDS) {
                div.person id=(format!("cluster-{c}")) {
                    h4 { (mark(c)) "Cluster " (c) span.soft { (count(cluster.size, "point")) } }
                    @if let Some((mean, _)) = record.confidence.as_ref().and_then(|sure| sure.clusters.get(c)) {
                        p.soft { "confidence " (percent(*mean)) @if let Some((other, share)) = cluster.nearest { ", " (percent(share)) " of the similarity to cluster " (other) } }
                    } @else if record.soft {
                        p.soft { (percent(cluster.inside)) " inside" @if let Some((other, share)) = cluster.nearest { ", " (percent(share)) " to cluster " (other) } }
                    }
                    @if record.image.is_some() { div.faces { @for s in &cluster.representatives { @if let Some(face) = face(record, s) { (face) } } } }
                    @else if !cluster.representatives.is_empty() {
                        p { "for example " (cluster.representatives.iter().map(|s| charts::clipped(&record.name(&s.id), 40)).collect::<Vec<_>>().join(", ")) }
                    }
                }
            }
        }
        @if record.clusters.len() > MOST_CARDS { p.note { "The first " (MOST_CARDS) " clusters; the CSV has all." } }
    };
    let note = html! { @if record.confidence.is_some() { "The points whose label is surest." } @else { "The points that have most of their similarity inside their cluster." } };
    Figure { name: "representatives", title: "Representatives", note, picture, table, live: false }
        .draw_plain()
}

/// The least certain points and where else they could be.
pub(crate) fn uncertain_table(record: &Record) -> Table {
    let sure = record.confidence.is_some();
    let mut columns = vec!["point", "cluster"];
    columns.extend(if sure { ["confidence", "inside"].as_slice() } else { &["membership"] });
    columns.extend(["next cluster", "its share"]);
    let mut table = Table::new(&columns);
    table.rows =
        record
            .uncertain
            .iter()
            .map(|s| {
                let mut row = vec![Cell::Text(s.id.clone()), Cell::Count(s.label as usize)];
                if sure {
                    row.push(s.confidence.into());
                }
                row.push(Cell::Number(s.membership));
                row.extend(s.second.map_or([Cell::Nothing, Cell::Nothing], |(c, share)| {
                    [Cell::Count(c), Cell::Number(share)]
                }));
                row
            })
            .collect();
    table
}

fn uncertain(record: &Record) -> Markup {
    let table = uncertain_table(record);
    let picture = html! {
        div.people {
            @for s in &record.uncertain {
                div.person { div.face {
                    @if let Some(face) = face(record, s) { (face) }
                    div {
                        h4 { (charts::clipped(&record.name(&s.id), 40)) }
                        p { span.key { (mark(s.label as usize)) } " cluster " (s.label) " " (percent(s.membership))
                            @if let Some((c, share)) = s.second { span.soft { " · cluster " (c) " " (percent(share)) } } }
                    }
                } }
            }
        }
    };
    let note = html! { "Points whose own cluster leads the next one by least: look at these first." };
    Figure { name: "uncertain", title: "Least certain points", note, picture, table, live: false }
        .draw_plain()
}

/// A matrix whose cells are shaded by their share.
pub(crate) fn matrix(
    rows: &[String],
    columns: &[usize],
    corner: &str,
    cell: &dyn Fn(usize, usize) -> (String, f64, bool),
) -> Markup {
    let tiny = columns.len() > 16;
    html! {
        div.scroll tabindex="0" {
            table.matrix.tiny[tiny] {
                thead { tr { th scope="col" { (corner) } @for c in columns { th.n scope="col" { (c) } } } }
                tbody {
                    @for (a, name) in rows.iter().enumerate() {
                        tr {
                            th scope="row" title=(name) { (charts::clipped(name, 28)) }
                            @for c in columns {
                                @let (text, share, hit) = cell(a, *c);
                                td.hit[hit] class=(format!("v{:.0}", 20.0 * share.clamp(0.0, 1.0))) { (text) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn separation(record: &Record) -> Markup {
    let r = record.clusters.len();
    let mut table = Table::new(&["cluster", "in cluster", "mean share"]);
    for at in 0..r * r {
        table.rows.push(vec![Cell::Count(at / r), Cell::Count(at % r), Cell::Number(record.crossed[at])]);
    }
    let rows: Vec<String> = (0..r).map(|c| format!("cluster {c}")).collect();
    let columns: Vec<usize> = (0..r).collect();
    let cell = |a: usize, b: usize| {
        let share = record.crossed[a * r + b];
        let text = if share < 0.005 { String::new() } else { format!("{:.0}", 100.0 * share) };
        (text, share, false)
    };
    let note = html! { "Of the similarity of a cluster’s points (row), the part in per cent that lies in each cluster (column)." };
    let picture = matrix(&rows, &columns, "", &cell);
    Figure { name: "separation", title: "Separation", note, picture, table, live: false }.draw()
}

pub(crate) fn truth(record: &Record) -> Markup {
    let Some(truth) = &record.truth else { return html! {} };
    let (k, r) = (truth.names.len(), record.clusters.len());
    let mut table = Table::new(&["class", "cluster", "points"]);
    for (at, n) in truth.counts.iter().enumerate().filter(|(_, n)| **n > 0) {
        table.rows.push(vec![
            Cell::Text(truth.names[at / r].clone()),
            Cell::Count(at % r),
            Cell::Count(*n as usize),
        ]);
    }
    let (columns, partner) = matched(&truth.counts, k, r);
    let total = |class: usize| truth.counts[class * r..(class + 1) * r].iter().sum::<u64>().max(1) as f64;
    let cell = |class: usize, cluster: usize| {
        let n = truth.counts[class * r + cluster];
        let text = if n == 0 { String::new() } else { n.to_string() };
        (text, n as f64 / total(class), partner[class] == Some(cluster))
    };
    html! {
        p { "On the best matching of clusters and classes " b { (percent(truth.accuracy)) } " of the points are right (ACC " (score(truth.accuracy)) "). NMI " (score(truth.nmi)) ", ARI " (score(truth.ari)) "." }
        @if truth.counts.is_empty() { p.note { "There are too many classes or clusters for a matrix (" (k) " and " (r) ")." } }
        @else {
            (Figure { name: "confusion", title: "Classes and clusters", table, live: false,
                note: html! { "Points of every class (row) in every cluster (column), shaded by their share of the class; columns stand in the order that matches rows best, and what it matches is framed." },
                picture: matrix(&truth.names, &columns, "class", &cell) }.draw())
        }
    }
}

/// Columns in an order that puts large counts on the diagonal, and the column of every row that has one: the
/// largest count takes its row and column first.
pub(crate) fn matched(counts: &[u64], rows: usize, columns: usize) -> (Vec<usize>, Vec<Option<usize>>) {
    let mut cells: Vec<usize> = (0..counts.len()).filter(|at| counts[*at] > 0).collect();
    cells.sort_by(|a, b| counts[*b].cmp(&counts[*a]).then(a.cmp(b)));
    let (mut partner, mut taken) = (vec![None; rows], vec![false; columns]);
    for at in cells {
        let (row, column) = (at / columns, at % columns);
        if partner[row].is_none() && !taken[column] {
            (partner[row], taken[column]) = (Some(column), true);
        }
    }
    // Rows without a partner take what is left, so that the others keep their places.
    let mut left = (0..columns).filter(|c| !taken[*c]);
    let mut order: Vec<usize> = partner.iter().filter_map(|column| column.or_else(|| left.next())).collect();
    order.extend(left);
    (order, partner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_come_to_the_diagonal() {
        assert_eq!(matched(&[0, 9, 1, 8, 0, 0], 2, 3), (vec![1, 0, 2], vec![Some(1), Some(0)]));
        assert_eq!(matched(&[0, 0, 5, 5], 2, 2), (vec![1, 0], vec![None, Some(0)]));
        assert_eq!(matched(&[1, 2, 3], 3, 1), (vec![0], vec![None, None, Some(0)]));
    }
}
