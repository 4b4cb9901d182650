//! Two runs side by side, differences first.

use std::collections::BTreeSet;

use maud::{Markup, html};
use nearfar::labels::score::{Scores, score as scores_of};

use super::charts::{Weights, both, weights_chart};
use super::clusters::{matched, matrix};
use super::number::{count, duration, grouped, percent};
use super::svg::WIDE;
use super::table::{Cell, Figure, Table};
use super::{Section, method_title, scatter, score, whole};
use crate::record::{MOST_CROSSED, Record};

/// The page of two runs; `names` are what the user calls them.
#[must_use]
pub fn comparison(a: &Record, b: &Record, names: [&str; 2]) -> String {
    let agreement =
        (a.labels.len() == b.labels.len()).then(|| scores_of(&a.labels, &b.labels).ok()).flatten();
    let sections: Vec<Section> = [
        Section::new("settings-section", "Settings that differ", settings(a, b)),
        Section::new("results", "Results", results(a, b)),
        Section::new("labels", "Clusters of A and of B", contingency(a, b, agreement.is_some())),
        Section::new("weights", "What was learnt about ranks", weights(a, b)),
        Section::new("points", "The points", points(a, b)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let title = format!("{} and {}", names[0], names[1]);
    whole(&title, &head(a, b, names, agreement.as_ref()), &sections)
}

fn differing(a: &Record, b: &Record) -> Vec<(String, String, String)> {
    let keys: BTreeSet<&String> = a.settings.iter().chain(&b.settings).map(|(key, _)| key).collect();
    let of = |record: &Record, key: &String| {
        record
            .settings
            .iter()
            .find(|(known, _)| known == key)
            .map_or_else(|| "–".to_owned(), |(_, value)| value.clone())
    };
    keys.into_iter().map(|key| (key.clone(), of(a, key), of(b, key))).filter(|(_, a, b)| a != b).collect()
}

fn head(a: &Record, b: &Record, names: [&str; 2], agreement: Option<&Scores>) -> Markup {
    let n = a.labels.len();
    let moved = agreement.map(|scores| n - (scores.accuracy * n as f64).round() as usize);
    let headline = match moved {
        None => format!("Two runs on different points: {} and {}", grouped(n), grouped(b.labels.len())),
        Some(0) => "Two runs with the same clusters".to_owned(),
        Some(moved) => {
            format!("Two runs that differ in {} of {} points", grouped(moved), grouped(n))
        }
    };
    let settings = differing(a, b);
    html! {
        p.eyebrow { "A: " (names[0]) " · " (method_title(&a.method)) } p.eyebrow { "B: " (names[1]) " · " (method_title(&b.method)) }
        h1 { (headline) }
        p.lead {
            @if let Some(scores) = agreement { "Their labels agree with an adjusted Rand index of " b { (score(scores.ari)) } " (1 is the same, 0 is chance). " }
            @if settings.is_empty() { "The settings are the same. " }
            @else { (count(settings.len(), "setting")) @if settings.len() == 1 { " differs" } @else { " differ" } ": " (settings.iter().take(6).map(|(key, ..)| key.as_str()).collect::<Vec<_>>().join(", ")) @if settings.len() > 6 { " and more" } ". " }
            @if let (Some(x), Some(y)) = (&a.truth, &b.truth) {
                "Against the known classes A is right for " b { (percent(x.accuracy)) } " of the points and B for " b { (percent(y.accuracy)) } "."
            }
        }
    }
}

fn settings(a: &Record, b: &Record) -> Markup {
    let rows = differing(a, b);
    if rows.is_empty() {
        return html! { p { "None." } };
    }
    let mut table = Table::new(&["setting", "A", "B"]);
    table.rows = rows.into_iter().map(|(key, a, b)| [key, a, b].map(Cell::Text).to_vec()).collect();
    let note = html! { "All others are the same." };
    Figure { name: "settings", title: "Settings", note, picture: table.shown(), table, live: false }
        .draw_plain()
}

fn results(a: &Record, b: &Record) -> Markup {
    let mut table = Table::new(&["", "A", "B", "B − A"]);
    let mut add = |name: &str, of: &dyn Fn(&Record) -> Option<f64>| {
        let (x, y) = (of(a), of(b));
        if x.is_some() || y.is_some() {
            let gap = x.zip(y).map(|(x, y)| y - x);
            table.rows.push(vec![Cell::Text(name.to_owned()), x.into(), y.into(), gap.into()]);
        }
    };
    add("accuracy", &|r| r.truth.as_ref().map(|t| t.accuracy));
    add("NMI", &|r| r.truth.as_ref().map(|t| t.nmi));
    add("ARI", &|r| r.truth.as_ref().map(|t| t.ari));
    add("mean confidence", &|r| r.confidence.as_ref().map(|sure| sure.mean));
    add("points below 50 % confidence", &|r| r.confidence.as_ref().map(|sure| sure.doubtful as f64));
    add("agreement of starts or members", &|r| {
        (r.starts.iter().filter(|s| s.kept).count() > 1).then_some(r.agreement)
    });
    add("mean membership", &|r| {
        let inside: f64 = r.clusters.iter().map(|c| c.inside * c.size as f64).sum();
        r.soft.then(|| inside / r.size[0].max(1) as f64)
    });
    add("points without a clear lead", &|r| r.soft.then_some(r.between as f64));
    add("clusters", &|r| Some(r.clusters.iter().filter(|c| c.size > 0).count() as f64));
    add("ranks trusted as near", &|r| {
        (!r.near.is_empty()).then(|| r.near.iter().filter(|w| **w > 0.0).count() as f64)
    });
    add("ranks trusted as far", &|r| {
        (!r.far.is_empty()).then(|| r.far.iter().filter(|w| **w > 0.0).count() as f64)
    });
    add("eigenvalue gap", &|r| r.spectrum.get(r.size[2]).map(|next| r.spectrum[r.size[2] - 1] - next));
    add("points", &|r| Some(r.size[0] as f64));
    let seconds = |r: &Record| r.seconds.iter().map(|(_, s)| s).sum::<f64>();
    add("seconds", &|r| Some(seconds(r)));
    let note = html! { "A took " (duration(seconds(a))) ", B " (duration(seconds(b))) "." };
    Figure { name: "compared", title: "Numbers", note, picture: table.shown(), table, live: false }
        .draw_plain()
}

fn contingency(a: &Record, b: &Record, same_points: bool) -> Markup {
    let [x, y] = [a, b].map(|record| record.clusters.len());
    if !same_points || x > MOST_CROSSED || y > MOST_CROSSED {
        return html! {};
    }
    let mut counts = vec![0_u64; x * y];
    for (i, j) in a.labels.iter().zip(&b.labels) {
        counts[*i as usize * y + *j as usize] += 1;
    }
    let (columns, partner) = matched(&counts, x, y);
    let mut table = Table::new(&["cluster of A", "cluster of B", "points"]);
    for (at, n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
        table.rows.push(vec![Cell::Count(at / y), Cell::Count(at % y), Cell::Count(*n as usize)]);
    }
    let rows: Vec<String> = (0..x).map(|c| format!("A {c}")).collect();
    let cell = |i: usize, j: usize| {
        let n = counts[i * y + j];
        let size = a.clusters[i].size.max(1) as f64;
        (if n == 0 { String::new() } else { n.to_string() }, n as f64 / size, partner[i] == Some(j))
    };
    let note = html! { "Points of every cluster of A (row) in every cluster of B (column), shaded by their share of the row; what matches best is framed." };
    let picture = matrix(&rows, &columns, "B", &cell);
    Figure { name: "contingency", title: "Points in common", note, picture, table, live: false }.draw()
}

fn weights(a: &Record, b: &Record) -> Markup {
    if a.near.len() < 3 || b.near.len() < 3 {
        return html! {};
    }
    let mut table = Table::new(&["rank", "near (w) of A", "near (w) of B", "far (p) of A", "far (p) of B"]);
    for rank in 0..a.near.len().max(b.near.len()) {
        let of = |weights: &[f64]| Cell::from(weights.get(rank).copied());
        table.rows.push(vec![Cell::Count(rank), of(&a.near), of(&b.near), of(&a.far), of(&b.far)]);
    }
    let of = |r| -> Weights<'_> {
        let r: &Record = r;
        Weights { near: &r.near, far: &r.far, correct: None }
    };
    let picture = both(WIDE, |size, class| weights_chart(&[of(a), of(b)], size, class));
    let note = html! { "A in blue, drawn through; B in orange, dashed. Above the axis trust as near, below it trust as far." };
    Figure { name: "weights-chart", title: "Trust in each neighbour rank", note, picture, table, live: true }
        .draw()
}

fn points(a: &Record, b: &Record) -> Markup {
    html! { (scatter::scatter(a, "points-a", "A")) (scatter::scatter(b, "points-b", "B")) }
}
