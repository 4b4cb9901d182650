//! How sure the labels are.

use maud::{Markup, html};

use super::charts::{both, clipped, distribution, histogram_table};
use super::clusters::{face, uncertain_table};
use super::number::{count, percent};
use super::scatter::mark;
use super::score;
use super::svg::{Axis, HALF, Plot, Size};
use super::table::{Cell, Figure, Table};
use crate::account::{Bin, Confidence};
use crate::record::Record;

/// Points that are shown with their picture.
const MOST_FACES: usize = 12;

/// How sure, in a few sentences for the head of the page.
pub(crate) fn in_words(record: &Record, sure: &Confidence) -> Markup {
    let n = record.size[0].max(1) as f64;
    let members = record.account.as_ref().map_or(0, |account| account.members.len());
    if record.size[2] == 1 {
        return html! { "With one cluster there is nothing to be in doubt about. " };
    }
    html! {
        "The mean confidence is " b { (percent(sure.mean)) }
        @if sure.doubtful > 0 { ", and " b { (count(sure.doubtful, "point")) } " (" (percent(sure.doubtful as f64 / n)) ") " @if sure.doubtful == 1 { "is" } @else { "are" } " below 50\u{a0}%. " }
        @else { ", and no point is below 50\u{a0}%. " }
        @if members > 1 { "All " (members) " members together agree with the result at " (score(record.agreement)) " on a scale where 1 is complete agreement and 0 is chance. " }
    }
}

pub(crate) fn sure(record: &Record) -> Markup {
    let Some(sure) = record.confidence.as_ref().filter(|_| record.size[2] > 1) else { return html! {} };
    let mixture = record.account.as_ref().is_some_and(crate::account::Account::by_mixture);
    html! {
        p {
            @if mixture { "The confidence of a label is the probability that the mixture gives to it." }
            @else { "The confidence of a label is the mean of two shares: of the members that put the point there, each as much as its view is trusted, and of the point’s neighbours in the averaged graph that lie in the same cluster." }
            " " (in_words(record, sure))
        }
        div.pair {
            (Figure {
                name: "confidence", live: true, title: "Confidence of all points",
                note: html! { "Points by confidence. What lies on the left deserves a look." },
                picture: distribution(&[(&sure.histogram, "soft-bar", "")], "confidence", "Distribution of the confidence of all points"),
                table: histogram_table("confidence", &[("points", &sure.histogram)]),
            }.draw())
            @if sure.bins.iter().any(|bin| bin.points > 0) { (reliability(&sure.bins)) }
            @if sure.clusters.len() > 1 { (by_cluster(record, sure)) }
        }
        @if !record.uncertain.is_empty() { (least(record)) }
    }
}

/// Mean confidence of every cluster.
fn by_cluster(record: &Record, sure: &Confidence) -> Markup {
    let r = sure.clusters.len();
    let mut table = Table::new(&["cluster", "points", "mean confidence", "points below 50 %"]);
    table.rows = sure
        .clusters
        .iter()
        .zip(&record.clusters)
        .enumerate()
        .map(|(at, ((mean, doubtful), cluster))| {
            vec![Cell::Count(at), Cell::Count(cluster.size), Cell::Number(*mean), Cell::Count(*doubtful)]
        })
        .collect();
    let draw = |size: Size, class: &'static str| {
        let axis = Axis::new(-0.6, r as f64 - 0.4, "cluster").whole();
        let mut plot = Plot::new(size, axis, Axis::new(0.0, 1.0, "mean confidence"));
        for (at, (mean, _)) in sure.clusters.iter().enumerate() {
            plot.bar([at as f64 - 0.38, at as f64 + 0.38], *mean, "soft-bar");
        }
        plot.finish(class, "Mean confidence of every cluster")
    };
    let note = html! { "A cluster far below the others has no clear edge, or is two." };
    Figure {
        name: "confidence-clusters",
        title: "Confidence of each cluster",
        live: true,
        note,
        picture: both(HALF, draw),
        table,
    }
    .draw()
}

/// Confidence against the share that is right, where classes are known.
fn reliability(bins: &[Bin]) -> Markup {
    let mut table = Table::new(&["mean confidence", "share right", "points", "from", "to"]);
    let there = || bins.iter().filter(|bin| bin.points > 0);
    let total = there().map(|bin| bin.points).sum::<usize>().max(1) as f64;
    table.rows = there()
        .map(|bin| {
            vec![
                Cell::Number(bin.confidence),
                Cell::Number(bin.right),
                Cell::Count(bin.points),
                Cell::Number(bin.from),
                Cell::Number(bin.to),
            ]
        })
        .collect();
    let apart = there().map(|bin| (bin.confidence - bin.right) * bin.points as f64).sum::<f64>() / total;
    let missed =
        there().map(|bin| (bin.confidence - bin.right).abs() * bin.points as f64).sum::<f64>() / total;
    let draw = |size: Size, class: &'static str| {
        let mut plot = Plot::new(size, Axis::new(0.0, 1.0, "confidence"), Axis::new(0.0, 1.0, "share right"));
        plot.line([[0.0, 0.0], [1.0, 1.0]].into_iter(), "thin");
        plot.line(there().map(|bin| [bin.confidence, bin.right]), "main");
        for bin in there() {
            let (x, y) = (plot.px(bin.confidence), plot.py(bin.right));
            let radius = 3.0 + 9.0 * (bin.points as f64 / total).sqrt();
            plot.push(format_args!("<circle class='near' cx='{x:.1}' cy='{y:.1}' r='{radius:.1}'/>"));
        }
        plot.finish(class, "Share of points that are right over their confidence, in ten bins")
    };
    let note = html! {
        "Ten bins of confidence; larger marks have more points. A cluster counts as the class it is matched with best; on the thin line confidence is the share that is right. "
        @if apart.abs() < 0.02 { "On average the two agree" } @else if apart > 0.0 { "On average labels are " (percent(apart)) " surer than they are right" } @else { "On average labels are right " (percent(-apart)) " more often than they are sure" }
        "; bin by bin they differ by " (percent(missed)) "."
    };
    Figure {
        name: "reliability",
        title: "What confidence is worth",
        live: true,
        note,
        picture: both(HALF, draw),
        table,
    }
    .draw()
}

/// The least certain points.
fn least(record: &Record) -> Markup {
    let table = uncertain_table(record);
    let picture = html! {
        @if record.image.is_some() {
            div.people {
                @for s in record.uncertain.iter().take(MOST_FACES) {
                    div.person { div.face {
                        @if let Some(face) = face(record, s) { (face) }
                        div {
                            h4 { (clipped(&record.name(&s.id), 40)) }
                            p { span.key { (mark(s.label as usize)) } " cluster " (s.label) @if let Some(sure) = s.confidence { " " (percent(sure)) }
                                @if let Some((c, share)) = s.second { span.soft { " · cluster " (c) " has " (percent(share)) " of its neighbours" } } }
                        }
                    } }
                }
            }
        }
        (table.shown())
    };
    let note = html! { "Look at these first. "
    @if record.account.as_ref().is_some_and(crate::account::Account::by_mixture) { "The next cluster is the one that the mixture gives the largest part of the rest." }
    @else { "Inside is the share of a point’s similarity that lies in its own cluster; the next cluster has the largest part of the rest." } };
    Figure { name: "uncertain", title: "Least certain points", note, picture, table, live: false }
        .draw_plain()
}
