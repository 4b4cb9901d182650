//! Neighbours, weights, learning, spectrum: the charts with axes.

use maud::{Markup, PreEscaped, html};
use nearfar::internals::TRACE_COLUMNS;

use super::number::{brief, count, duration, percent, short};
use super::svg::{Axis, HALF, Plot, SMALL, Size, WIDE, steps};
use super::table::{Cell, Figure, Table};
use crate::record::{Column, Histogram, Record};

/// Columns that have a line of their own.
const MOST_RANGES: usize = 40;
/// Ranks up to which they stand at equal distances.
const MOST_LINEAR: f64 = 60.0;

/// A chart in the size for a desk and in the size for a hand.
pub(crate) fn both(sizes: [Size; 2], draw: impl Fn(Size, &'static str) -> Markup) -> Markup {
    html! { (draw(sizes[0], "wide")) (draw(sizes[1], "narrow")) }
}

/// From least to most, with mean and deviation, a line for every column.
pub(crate) fn ranges(columns: &[Column]) -> Markup {
    if columns.len() > MOST_RANGES {
        return profile(columns);
    }
    let shown = columns;
    let least = shown.iter().map(|c| c.least).fold(f64::INFINITY, f64::min);
    let most = shown.iter().map(|c| c.most).fold(f64::NEG_INFINITY, f64::max);
    let draw = |[width, _]: Size, class: &'static str| {
        let name_width = if class == "wide" { 190.0 } else { 104.0 };
        let row = if shown.len() > 12 { 15.0 } else { 22.0 };
        let bottom = 8.0 + row * shown.len() as f64;
        let inside = [name_width, width - 18.0, 8.0, bottom];
        let axis = Axis::new(least, most, "");
        let mut plot = Plot::bare([width, bottom + 26.0], inside, axis, Axis::new(0.0, 1.0, ""));
        plot.x_axis(bottom);
        for (at, column) in shown.iter().enumerate() {
            let y = 8.0 + row * (at as f64 + 0.5);
            let (a, b) = (plot.px(column.least), plot.px(column.most));
            let (c, d) = (plot.px(column.mean - column.deviation), plot.px(column.mean + column.deviation));
            let mean = plot.px(column.mean);
            plot.push(format_args!("<path class='axis' d='M{a:.1} {y:.1}H{b:.1}'/>"));
            let width = (d - c).max(1.0);
            plot.push(format_args!(
                "<rect class='soft-bar' x='{c:.1}' y='{:.1}' width='{width:.1}' height='6' rx='2'/>",
                y - 3.0
            ));
            plot.push(format_args!(
                "<path class='axis' style='stroke:var(--ink);stroke-width:2' d='M{mean:.1} {:.1}v10'/>",
                y - 5.0
            ));
            let most = if class == "wide" { 28 } else { 14 };
            plot.text([name_width - 10.0, y + 4.0], "end", "tick", &clipped(&column.name, most));
        }
        plot.finish(class, &format!("Ranges of {}", count(shown.len(), "column")))
    };
    both(WIDE, draw)
}

/// The same of many columns: a band along their numbers.
fn profile(columns: &[Column]) -> Markup {
    let least = columns.iter().map(|c| c.least).fold(f64::INFINITY, f64::min);
    let most = columns.iter().map(|c| c.most).fold(f64::NEG_INFINITY, f64::max);
    let draw = |size: Size, class: &'static str| {
        let axis = Axis::new(0.0, columns.len() as f64, "column").whole();
        let mut plot = Plot::new([size[0], 280.0], axis, Axis::new(least, most, "value"));
        let mut band = |of: &dyn Fn(&Column) -> [f64; 2], class: &str| {
            let mut path = String::new();
            let there = columns.iter().enumerate().map(|(at, c)| (at, of(c)[1]));
            let back = columns.iter().enumerate().rev().map(|(at, c)| (at, of(c)[0]));
            for (at, y) in there.chain(back) {
                let letter = if path.is_empty() { 'M' } else { 'L' };
                path += &format!("{letter}{:.1} {:.1}", plot.px(at as f64 + 0.5), plot.py(y));
            }
            plot.push(format_args!("<path class='{class}' d='{path}Z'/>"));
        };
        band(&|c| [c.least, c.most], "band");
        band(&|c| [(c.mean - c.deviation).max(c.least), (c.mean + c.deviation).min(c.most)], "soft-bar");
        plot.line(columns.iter().enumerate().map(|(at, c)| [at as f64 + 0.5, c.mean]), "mean");
        plot.finish(class, &format!("Ranges of {}", count(columns.len(), "column")))
    };
    both(WIDE, draw)
}

/// At most so many letters.
pub(crate) fn clipped(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Bars of one or two distributions over the same edges.
pub(crate) fn distribution(parts: &[(&Histogram, &str, &str)], label: &str, words: &str) -> Markup {
    both(HALF, |size, class| bars(parts, size, class, label, words))
}

fn bars(parts: &[(&Histogram, &str, &str)], size: Size, class: &str, label: &str, words: &str) -> Markup {
    let edges = &parts[0].0.edges;
    let (Some(first), Some(last)) = (edges.first(), edges.last()) else { return html! {} };
    let total = |h: &Histogram| h.counts.iter().sum::<u64>().max(1) as f64;
    let most = parts
        .iter()
        .flat_map(|(h, ..)| h.counts.iter().map(move |c| *c as f64 / total(h)))
        .fold(0.0, f64::max);
    let mut plot = Plot::new(size, Axis::new(*first, *last, label), Axis::new(0.0, most * 1.06, "share"));
    for (histogram, color, _) in parts {
        let heights = || histogram.counts.iter().map(|c| *c as f64 / total(histogram)).enumerate();
        if *color == "far-line" {
            // An outline over bars: two fills would be one grey in print.
            let [.., bottom] = plot.inside;
            let along: Vec<_> =
                heights().map(|(at, y)| (plot.px(edges[at]), plot.px(edges[at + 1]), plot.py(y))).collect();
            plot.push(format_args!("<path class='{color}' d='{}'/>", steps(bottom, along.into_iter())));
        } else {
            heights().for_each(|(at, y)| plot.bar([edges[at], edges[at + 1]], y, color));
        }
    }
    let [_, right, top, _] = plot.inside;
    // Right to left, above the bars.
    let mut end = right;
    for (_, color, name) in parts.iter().rev().filter(|part| !part.2.is_empty()) {
        let x = end - 6.0 * name.len() as f64 - 18.0;
        plot.text([end, top - 9.0], "end", "tick", name);
        plot.push(format_args!(
            "<rect class='{color}' x='{x:.1}' y='{:.1}' width='10' height='9' rx='2'/>",
            top - 17.5
        ));
        end = x - 14.0;
    }
    plot.finish(class, words)
}

pub(crate) fn histogram_table(name: &str, parts: &[(&str, &Histogram)]) -> Table {
    let mut columns = vec![name, "to"];
    columns.extend(parts.iter().map(|(name, _)| *name));
    let mut table = Table::new(&columns);
    for (at, edge) in parts[0].1.edges.windows(2).enumerate() {
        let counts = parts.iter().map(|(_, h)| Cell::Count(h.counts.get(at).copied().unwrap_or(0) as usize));
        table.rows.push([Cell::Number(edge[0]), Cell::Number(edge[1])].into_iter().chain(counts).collect());
    }
    table
}

/// Distances and local scales.
pub(crate) fn neighbors(record: &Record) -> Markup {
    let sampled = |n: usize| {
        if n < record.size[0] { format!(" of {}, evenly taken", count(n, "point")) } else { String::new() }
    };
    html! {
        @if record.distances.is_some() || record.sigma.is_some() { div.pair {
            @if let Some(d) = &record.distances {
                (Figure {
                    name: "distances", live: true,
                    title: if d.what == "affinity" { "Affinities of pairs" } else { "Distances of pairs" },
                    note: html! { "Pairs" (sampled(d.sampled)) ", each kind to its own total. The less the two overlap, the easier the clusters are to see in the distances alone." },
                    picture: distribution(&[(&d.within, "soft-bar", "same cluster"), (&d.between, "far-line", "different clusters")], &d.what, "Distribution of distances within clusters and between clusters"),
                    table: histogram_table(&d.what, &[("same cluster", &d.within), ("different clusters", &d.between)]),
                }.draw())
            }
            @if let Some(sigma) = &record.sigma && !sigma.counts.is_empty() {
                (Figure {
                    name: "sigma", live: true, title: "Local scale σ of each point",
                    note: html! { "The distance at which a point’s affinity to others begins to fade: small where points are dense. A long tail means outliers." },
                    picture: distribution(&[(sigma, "soft-bar", "")], "σ", "Distribution of the local scales"),
                    table: histogram_table("σ", &[("points", sigma)]),
                }.draw())
            }
        } }
    }
}

/// One learnt pair of w and p.
pub(crate) struct Weights<'a> {
    pub(crate) near: &'a [f64],
    pub(crate) far: &'a [f64],
    pub(crate) correct: Option<&'a [f64]>,
}

/// The mean of the weights within each pixel between two ranks on the logarithmic axis.
fn pixels(plot: &Plot, weights: &[f64]) -> Vec<(f64, f64, f64)> {
    let last = weights.len().saturating_sub(1);
    let mut out: Vec<(f64, f64, f64)> = Vec::new();
    let mut rank = 1;
    while rank <= last {
        let from = plot.px(rank as f64 - 0.5);
        let (mut end, mut sum) = (rank, 0.0);
        while end <= last && (end == rank || plot.px(end as f64 + 0.5) - from <= 1.0) {
            sum += weights[end];
            end += 1;
        }
        out.push((from, plot.px(end as f64 - 0.5), sum / (end - rank) as f64));
        rank = end;
    }
    out
}

/// w above the axis, p below it, over ranks; the correct rate as a line where it is known.
pub(crate) fn weights_chart(sets: &[Weights<'_>], size: Size, class: &'static str) -> Markup {
    let [width, height] = size;
    let last = sets.iter().map(|s| s.near.len()).max().unwrap_or(2).saturating_sub(1).max(1) as f64;
    // Where nothing is trusted as far there is no room for it.
    let one_sided = sets.iter().all(|s| s.far.iter().all(|p| *p <= 0.0));
    let (top, bottom) = (26.0, height - if one_sided { 44.0 } else { 10.0 });
    let middle = if one_sided { bottom } else { top + (bottom - top - 42.0) * 0.56 };
    let below = middle + 42.0;
    let most = |of: &dyn Fn(&Weights<'_>) -> f64| sets.iter().map(of).fold(f64::MIN_POSITIVE, f64::max);
    let peak = |weights: &[f64]| weights.iter().skip(1).copied().fold(0.0, f64::max);
    let (most_near, most_far) = (most(&|s| peak(s.near)), most(&|s| peak(s.far)));
    let correct = sets.iter().any(|s| s.correct.is_some());
    let inside = [58.0, width - if correct { 46.0 } else { 14.0 }, top, middle];
    let log = last > MOST_LINEAR;
    let along = if log { Axis::log(0.5, last + 0.5, "") } else { Axis::new(0.5, last + 0.5, "").whole() };
    let mut plot = Plot::bare(size, inside, along, Axis::new(0.0, 1.0, ""));
    let [left, right, ..] = plot.inside;
    plot.text([0.0, 13.0], "start", "label near", "w: trusted as near");
    plot.text([left - 7.0, top + 5.0], "end", "tick", &brief(most_near));
    if !one_sided {
        plot.text([left - 7.0, bottom], "end", "tick", &brief(most_far));
    }
    plot.text([left - 7.0, middle + 1.0], "end", "tick", "0");
    for (at, set) in sets.iter().enumerate() {
        let line = sets.len() > 1;
        let up: Vec<_> = pixels(&plot, set.near)
            .into_iter()
            .map(|(a, b, w)| (a, b, middle - (middle - top) * w / most_near))
            .collect();
        let down: Vec<_> = pixels(&plot, set.far)
            .into_iter()
            .map(|(a, b, p)| (a, b, below + (bottom - below) * p / most_far))
            .collect();
        let style = match (line, at) {
            (false, _) => ["class='near'", "class='far'"],
            (true, 0) => ["class='near-line'", "class='near-line'"],
            (true, _) => ["class='far-line'", "class='far-line'"],
        };
        plot.push(format_args!("<path {} d='{}'/>", style[0], steps(middle, up.into_iter())));
        if !one_sided {
            plot.push(format_args!("<path {} d='{}'/>", style[1], steps(below, down.into_iter())));
        }
        if let Some(rate) = set.correct {
            let mut path = String::new();
            for (a, b, x) in pixels(&plot, rate) {
                let letter = if path.is_empty() { 'M' } else { 'L' };
                path += &format!("{letter}{:.1} {:.1}", f64::midpoint(a, b), middle - (middle - top) * x);
            }
            plot.push(format_args!("<path class='right-line' d='{path}'/>"));
        }
    }
    if correct {
        plot.text(
            [width, 13.0],
            "end",
            "label right",
            if class == "wide" { "share of pairs of one class" } else { "of one class" },
        );
        for (share, words) in [(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")] {
            plot.text([right + 6.0, middle - (middle - top) * share + 4.0], "start", "tick", words);
        }
    }
    if !one_sided {
        plot.push(format_args!("<path class='axis' d='M{left:.1} {below:.1}H{right:.1}'/>"));
    }
    plot.x_axis(middle);
    let x = if class == "wide" { f64::midpoint(left, right) } else { right };
    plot.text(
        [x, middle + 33.0],
        if class == "wide" { "middle" } else { "end" },
        "label",
        if log { "neighbour rank (log scale)" } else { "neighbour rank" },
    );
    if one_sided {
        return plot.finish(class, "Weights over ranks: how far each is trusted as near");
    }
    plot.text(
        [left + 4.0, middle + 36.0],
        "start",
        "label far",
        if class == "wide" { "p: trusted as far" } else { "p: far" },
    );
    plot.inside[3] = bottom;
    plot.finish(class, "Weights over ranks: trust as near above the axis, trust as far below it")
}

/// A row for every rank; of the default method one for all far ranks of a bin, which share their weight.
fn weights_table(record: &Record) -> Table {
    let (rate, ranks) = (record.correct.as_deref(), record.near.len());
    let binned = record.account.is_some() && !record.far.is_empty();
    let mut table = Table::new(&["rank", "near (w)"]);
    if !record.far.is_empty() {
        table.columns.push("far (p)".to_owned());
    }
    if rate.is_some() {
        table.columns.push("share of one class".to_owned());
    }
    if binned {
        table.columns.push("up to rank".to_owned());
    }
    let far = |rank: usize| record.far.get(rank).copied();
    let alike = |a: usize, b: usize| {
        let known = |rank: usize| record.near[rank] > 0.0 || rate.is_some_and(|rate| rank < rate.len());
        binned && !known(a) && !known(b) && far(a) == far(b)
    };
    let mut rank = 0;
    while rank < ranks {
        let last = (rank + 1..ranks).find(|next| !alike(rank, *next)).unwrap_or(ranks) - 1;
        let mut row = vec![Cell::Count(rank), Cell::Number(record.near[rank])];
        row.extend(far(rank).map(Cell::Number));
        row.extend(rate.map(|rate| Cell::from(rate.get(rank).copied())));
        if binned {
            row.push(Cell::Count(last));
        }
        table.rows.push(row);
        rank = last + 1;
    }
    table
}

pub(crate) fn weights(record: &Record) -> Markup {
    if record.near.len() < 3 {
        return html! {};
    }
    let active = |weights: &[f64]| weights.iter().filter(|w| **w > 0.0).count();
    let (near, far, ranks) = (active(&record.near), active(&record.far), record.near.len());
    let table = weights_table(record);
    let set = || [Weights { near: &record.near, far: &record.far, correct: record.correct.as_deref() }];
    let others = record.size[0].saturating_sub(1);
    html! {
        @if let Some(account) = &record.account {
            p { "Rank 1 is everybody’s nearest neighbour. "
                @if account.members.is_empty() { "Labels were not made of these weights; they are what the labels tell of the ranks. " }
                @else { "Weights are learnt by every member and shown as their mean, each member as much as its view is trusted. " } b { (near) } " ranks are trusted to be of the same cluster"
                @if far > 0 { ", and " b { (far) } " of those farther away to be of another" } "."
                @if ranks <= others { " Ranks beyond " (ranks - 1) " were not looked at." } }
            @if record.correct.is_some() && let Some((view, points)) = &account.ranked {
                p.note { "The share of one class is counted in the view " b { (view) } ", for the neighbours of " (count(*points, "point")) @if *points < record.size[0] { ", evenly taken" } "." }
            }
        } @else {
            p { "Rank 1 is everybody’s nearest neighbour, rank " (ranks - 1) " everybody’s farthest. Of " (ranks) " ranks (the point itself is rank 0), " b { (near) } " are trusted to be of the same cluster and " b { (far) } " to be of another." }
        }
        (Figure {
            name: "weights-chart", title: "Trust in each neighbour rank", live: true, table,
            note: html! { "Blue bars up: how far a rank is trusted as near."
                @if far > 0 { " Orange bars down: how far it is trusted as far; both sum to one." } @else { " They sum to one." }
                @if record.correct.is_some() { " The green line is the share of pairs at that rank that are truly of one class: good weights stand high where it is high" @if far > 0 && record.correct.as_ref().is_some_and(|rate| rate.len() == ranks) { ", and hang low where it is low" } "." } },
            picture: both(WIDE, |size, class| weights_chart(&set(), size, class)),
        }.draw())
    }
}

/// A name, and what it says.
const TERMS: [(usize, &str, &str); 7] = [
    (2, "Loss", "All terms together; thin lines are the other starts."),
    (3, "Fit", "How far VVᵀ is from the similarity."),
    (4, "Dissimilarity", "How much of VVᵀ lies where points should be apart."),
    (5, "Overlap", "Ranks that are trusted both ways."),
    (6, "Density", "What keeps the weights from a single rank."),
    (7, "Orthogonality", "Reward for columns of V that stand apart (below 0)."),
    (8, "Penalty", "What the method adds to its fit."),
];

pub(crate) fn learning(record: &Record) -> Markup {
    let best: Vec<&Vec<f64>> = record.trace.iter().filter(|row| row[0] as usize == record.best).collect();
    if best.len() < 2 {
        return html! {};
    }
    let told = |term: usize| best.iter().any(|row| row[term] != 0.0);
    let start = &record.starts.get(record.best);
    let kept = record.starts.iter().filter(|s| s.kept).count();
    let changing: Vec<(usize, &str)> =
        [(9, "V"), (10, "w"), (11, "p")].into_iter().filter(|(c, _)| told(*c)).collect();
    html! {
        p {
            (count(record.starts.len(), "start")) @if record.starts.len() > 1 { ", of which " (kept) @if kept == 1 { " is" } @else { " are" } " part of the result" } "."
            @if let Some(start) = start { " The best (number " (record.best) ") ended after " (count(start.iterations, "iteration")) ": " (start.reason) "." }
        }
        div.grid {
            @for (term, name, says) in TERMS.iter().filter(|(term, ..)| told(*term) && (*term != 3 || (4..9).any(told))) { (term_figure(record, &best, *term, name, says)) }
            @if !changing.is_empty() { (change_figure(&best, &changing)) }
        }
        @if record.starts.len() > 1 { (starts(record)) }
    }
}

fn term_figure(record: &Record, best: &[&Vec<f64>], term: usize, name: &str, says: &str) -> Markup {
    let others =
        || record.trace.chunk_by(|a, b| a[0] == b[0]).filter(|rows| rows[0][0] as usize != record.best);
    let all = term == 2;
    let values =
        || best.iter().map(|row| row[term]).chain(others().filter(|_| all).flatten().map(|row| row[term]));
    let (least, most) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let last = record.trace.iter().map(|row| row[1]).fold(2.0, f64::max);
    let end = if all { last } else { best.iter().map(|row| row[1]).fold(2.0, f64::max) };
    let room = if most > least { 0.04 * (most - least) } else { 0.0 };
    let mut plot =
        Plot::new(SMALL, Axis::log(1.0, end, "iteration"), Axis::new(least - room, most + room, ""));
    if all {
        others().for_each(|rows| plot.line(rows.iter().map(|row| [row[1].max(1.0), row[term]]), "thin"));
    }
    plot.line(best.iter().map(|row| [row[1].max(1.0), row[term]]), "main");
    let words = format!(
        "{name} over iterations, from {} to {}",
        short(best[0][term]),
        short(best[best.len() - 1][term])
    );
    let mut table = Table::new(&["iteration", TRACE_COLUMNS[term]]);
    table.rows = best.iter().map(|row| vec![Cell::Count(row[1] as usize), Cell::Number(row[term])]).collect();
    let anchor = format!("trace-{}", TRACE_COLUMNS[term]);
    Figure {
        name: &anchor,
        title: name,
        note: html! { (says) },
        picture: plot.finish("", &words),
        table,
        live: true,
    }
    .draw()
}

/// How much V, w and p still moved.
fn change_figure(best: &[&Vec<f64>], parts: &[(usize, &str)]) -> Markup {
    let least = best
        .iter()
        .flat_map(|row| parts.iter().map(|(c, _)| row[*c]))
        .filter(|x| *x > 0.0)
        .fold(1.0, f64::min);
    let least = least.max(1e-12).log10().floor();
    let most =
        best.iter().flat_map(|row| parts.iter().map(|(c, _)| row[*c])).fold(1e-12, f64::max).log10().ceil();
    let end = best.iter().map(|row| row[1]).fold(2.0, f64::max);
    let mut plot =
        Plot::new(SMALL, Axis::log(1.0, end, "iteration"), Axis::new(least, most, "log₁₀").whole());
    let [_, right, top, _] = plot.inside;
    for (at, (column, name)) in parts.iter().enumerate() {
        let class = ["main", "far-line", "right-line"][at.min(2)];
        plot.line(
            best.iter().filter(|row| row[*column] > 0.0).map(|row| [row[1].max(1.0), row[*column].log10()]),
            class,
        );
        let x = right - 34.0 * (parts.len() - 1 - at) as f64;
        plot.push(format_args!("<path class='{class}' d='M{:.1} {:.1}h14'/>", x - 28.0, top - 13.0));
        plot.text([x, top - 9.0], "end", "tick", name);
    }
    let mut table = Table::new(&["iteration"]);
    table.columns.extend(parts.iter().map(|(c, _)| TRACE_COLUMNS[*c].to_owned()));
    table.rows = best
        .iter()
        .map(|row| {
            std::iter::once(Cell::Count(row[1] as usize))
                .chain(parts.iter().map(|(c, _)| Cell::Number(row[*c])))
                .collect()
        })
        .collect();
    let picture = plot.finish("", "Relative change of what is learnt, over iterations");
    let note = html! { "Relative change from one iteration to the next." };
    Figure { name: "trace-change", title: "Movement", note, picture, table, live: true }.draw()
}

fn starts(record: &Record) -> Markup {
    let mut table = Table::new(&["start", "iterations", "ended", "objective", "cut", "part of the result"]);
    table.rows = record
        .starts
        .iter()
        .enumerate()
        .map(|(at, s)| {
            let kept = Cell::Text(if s.kept { "yes" } else { "no" }.to_owned());
            vec![
                Cell::Count(at),
                Cell::Count(s.iterations),
                Cell::Text(s.reason.clone()),
                Cell::Number(s.objective),
                s.cut.into(),
                kept,
            ]
        })
        .collect();
    let note = html! { "Starts are judged without labels, by the normalised cut of their own clusters where there is one." };
    Figure { name: "starts", title: "All starts", note, picture: table.shown(), table, live: false }
        .draw_plain()
}

pub(crate) fn spectrum(record: &Record) -> Markup {
    let values = &record.spectrum;
    let r = record.size[2];
    if values.len() < 2 {
        return html! {};
    }
    let gap = values.get(r).map(|next| values[r - 1] - next);
    let least = values.iter().copied().fold(1.0, f64::min);
    let floor = if least > 0.5 { (least * 10.0 - 0.5).floor() / 10.0 } else { least.min(0.0) };
    let draw = |size: Size, class: &'static str| {
        let axis = Axis::new(0.4, values.len() as f64 + 0.6, "eigenvalue, largest first").whole();
        let mut plot = Plot::new(size, axis, Axis::new(floor, 1.0_f64.max(values[0]), "value"));
        let [.., top, bottom] = plot.inside;
        if gap.is_some() {
            let (a, b) = (plot.px(r as f64), plot.px(r as f64 + 1.0));
            let (high, low) = (plot.py(values[r - 1]), plot.py(values[r]));
            plot.push(format_args!(
                "<rect class='gap' x='{a:.1}' y='{top:.1}' width='{:.1}' height='{:.1}'/>",
                b - a,
                bottom - top
            ));
            plot.push(format_args!("<path class='far-line' d='M{a:.1} {high:.1}H{b:.1}V{low:.1}'/>"));
        }
        for (at, value) in values.iter().enumerate() {
            let (x, y) = (plot.px(at as f64 + 1.0), plot.py(*value));
            let inside = if at < r { "near" } else { "far" };
            plot.push(format_args!("<path class='axis' d='M{x:.1} {bottom:.1}V{y:.1}'/><circle class='{inside}' cx='{x:.1}' cy='{y:.1}' r='4.5'/>"));
        }
        plot.finish(class, "Leading eigenvalues, and the gap after as many as there are clusters")
    };
    let mut table = Table::new(&["number", "eigenvalue"]);
    table.rows =
        values.iter().enumerate().map(|(at, v)| vec![Cell::Count(at + 1), Cell::Number(*v)]).collect();
    html! {
        @if let Some(gap) = gap {
            p { "After " (count(r, "eigenvalue")) " the next is lower by " b { (short(gap)) } ". A wide gap there says that " (count(r, "cluster")) @if r == 1 { " suits" } @else { " suit" } " the data; a wider one elsewhere would say another number." }
        }
        (Figure { name: "eigenvalues", title: "Leading eigenvalues of the normalised Z", live: true, table,
            note: html! { "As many values near 1 as there are groups without similarity between them; the shaded step is the gap." },
            picture: if values.len() > 14 { both(WIDE, draw) } else { html! { div.half { (both(HALF, draw)) } } } }.draw())
    }
}

/// Bars of equal height, one under the other.
pub(crate) fn times(seconds: &[(String, f64)]) -> Markup {
    both(HALF, |[width, _], class| stages(seconds, width, class))
}

fn stages(seconds: &[(String, f64)], room: f64, class: &str) -> Markup {
    let most = seconds.iter().map(|(_, s)| *s).fold(f64::MIN_POSITIVE, f64::max);
    let height = 24.0 * seconds.len().max(1) as f64;
    let mut body = String::new();
    for (at, (stage, s)) in seconds.iter().enumerate() {
        let (y, width) = (24.0 * at as f64, ((room - 160.0) * s / most).max(1.0));
        let stage = super::style::escape(&clipped(stage, 14));
        body += &format!(
            "<text x='0' y='{:.0}' class='tick'>{stage}</text><rect class='soft-bar' x='84' y='{:.0}' width='{width:.1}' height='13' rx='2'/><text x='{:.1}' y='{:.0}' class='tick'>{}</text>",
            y + 16.0,
            y + 6.0,
            92.0 + width,
            y + 16.0,
            duration(*s)
        );
    }
    html! { svg class=(class) viewBox=(format!("0 0 {room} {height}")) role="img" aria-label="Time per stage" { (PreEscaped(body)) } }
}

/// Memberships of all points.
pub(crate) fn membership(record: &Record) -> Markup {
    let words = "Distribution of the share of similarity inside the own cluster";
    Figure {
        name: "membership", live: true, title: "How sure the points are",
        note: html! { "Share of a point’s similarity that lies in its own cluster. " (percent(1.0)) " is no doubt; " (percent(1.0 / record.size[2].max(1) as f64)) " would be a guess." },
        picture: distribution(&[(&record.membership, "soft-bar", "")], "membership", words),
        table: histogram_table("membership", &[("points", &record.membership)]),
    }.draw()
}

/// Sizes of the clusters.
pub(crate) fn sizes(record: &Record) -> Markup {
    let r = record.clusters.len();
    let most = record.clusters.iter().map(|c| c.size).max().unwrap_or(1) as f64;
    let draw = |size: Size, class: &'static str| {
        let axis = Axis::new(-0.6, r as f64 - 0.4, "cluster").whole();
        let mut plot = Plot::new(size, axis, Axis::new(0.0, most * 1.06, "points").whole());
        for (at, cluster) in record.clusters.iter().enumerate() {
            plot.bar([at as f64 - 0.38, at as f64 + 0.38], cluster.size as f64, "soft-bar");
        }
        plot.finish(class, "Number of points in every cluster")
    };
    let mut table = Table::new(&["cluster", "points", "inside", "next cluster", "its share"]);
    table.rows = record
        .clusters
        .iter()
        .enumerate()
        .map(|(at, c)| {
            let next = c.nearest.map_or([Cell::Nothing, Cell::Nothing], |(other, share)| {
                [Cell::Count(other), Cell::Number(share)]
            });
            [Cell::Count(at), Cell::Count(c.size), Cell::Number(c.inside)].into_iter().chain(next).collect()
        })
        .collect();
    let picture = both(HALF, draw);
    Figure {
        name: "sizes",
        title: "Sizes",
        live: true,
        note: html! { "Points in every cluster." },
        picture,
        table,
    }
    .draw()
}
