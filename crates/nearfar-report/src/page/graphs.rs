//! The learnt graphs as heat maps, points ordered by cluster.

use maud::{Markup, html};

use super::number::short;
use super::png;
use super::table::{Cell, Figure, Table};
use crate::record::{FULL, Map, Record};

/// The one colour of heat maps, dark enough on white and bright enough on black.
const BLUE: [u8; 3] = [0x1f, 0x77, 0xc8];
/// Clusters that are told apart by lines.
const MOST_LINES: usize = 24;

pub(crate) fn graphs(record: &Record) -> Markup {
    if record.maps.is_empty() {
        return html! {};
    }
    let coarse = record.maps.iter().any(|map| map.size < record.size[0]);
    html! {
        p { "Rows and columns are the points, ordered by cluster, the surest first. Blocks along the diagonal are what makes a cluster; colour outside them is what joins two."
            @if coarse { " Cells are means over neighbouring points." } " The colour grows with the square root of the value; the diagonal itself is left out." }
        @if let [only] = &record.maps[..] { div.half { (draw(record, only)) } }
        @else { div.grid.four { @for map in &record.maps { (draw(record, map)) } } }
    }
}

fn about(name: &str, members: Option<usize>) -> (&'static str, &'static str, &'static str) {
    match name {
        "S" if members == Some(0) => {
            ("map-s", "Neighbour graph", "Who is near whom in the best view; the labels were not made of it.")
        }
        "S" if members.is_some() => (
            "map-s",
            "Consensus graph",
            "The members’ neighbour graphs, averaged; every edge times the share of members that put its ends together.",
        ),
        "S" => ("map-s", "S: similarity", "Who is near whom, by the trusted ranks."),
        "D" => ("map-d", "D: dissimilarity", "Who is far from whom, by the ranks trusted as far."),
        "Z" => (
            "map-z",
            "Z: all together",
            "S, raised and lowered by the factor and D; its spectrum gives the labels.",
        ),
        _ => ("map-v", "VVᵀ: the factor", "Who shares a column of the best start’s factor."),
    }
}

fn draw(record: &Record, map: &Map) -> Markup {
    let (anchor, title, says) =
        about(&map.name, record.account.as_ref().map(|account| account.members.len()));
    let size = map.size;
    let at = |a: usize, b: usize| map.cells[a * size - a * a.saturating_sub(1) / 2 + b - a];
    let full = strong(&map.cells);
    let shade = |value: u16| (f64::from(value) / f64::from(full)).min(1.0).sqrt() * 255.0;
    let pixels: Vec<u8> = (0..size * size)
        .map(|cell| shade(at((cell / size).min(cell % size), (cell / size).max(cell % size))).round() as u8)
        .collect();
    let ends: Vec<String> = map.ends.iter().map(|end| format!("{}", (end * 100.0).round() / 100.0)).collect();
    let mut lines = String::new();
    if map.ends.len() <= MOST_LINES {
        let inner = map.ends.iter().take(map.ends.len().saturating_sub(1));
        inner.for_each(|end| lines += &format!("M{end:.2} 0V{size}M0 {end:.2}H{size}"));
    }
    let cells: Vec<String> = map.cells.iter().map(ToString::to_string).collect();
    let words = format!(
        "Heat map of {title}, points ordered by cluster; the largest value is {}",
        short(map.largest)
    );
    Figure {
        name: anchor, title, note: html! { (says) }, live: true, table: by_cluster(map, &at),
        picture: html! {
            svg.map viewBox=(format!("0 0 {size} {size}")) role="img" aria-label=(words) tabindex="0"
                data-size=(size) data-largest=(map.largest) data-n=(record.size[0]) data-ends=(ends.join(" ")) {
                image href=(png::shades(&pixels, size, BLUE)) width=(size) height=(size) preserveAspectRatio="none" {}
                path d=(lines) {}
            }
            div.ramp {} div.ends { span { "0" } span { (short(map.largest * f64::from(full) / f64::from(FULL))) @if full < FULL { " or more" } } }
            template.cells { (cells.join(",")) }
        },
    }.draw()
}

/// The value from which the colour is full: few cells lie above it, and they must not make all others pale.
fn strong(cells: &[u16]) -> u16 {
    let mut seen: Vec<u16> = cells.iter().copied().filter(|cell| *cell > 0).collect();
    seen.sort_unstable();
    seen.get(seen.len() * 99 / 100).copied().unwrap_or(FULL).max(1)
}

/// Means by pair of clusters, as near as the cells tell.
fn by_cluster(map: &Map, at: &dyn Fn(usize, usize) -> u16) -> Table {
    let mut table = Table::new(&["cluster", "with", "mean"]);
    let r = map.ends.len();
    if r > 30 {
        return table;
    }
    let of = |cell: usize| {
        map.ends.iter().position(|end| (cell as f64 + 0.5) < *end).unwrap_or(r.saturating_sub(1))
    };
    let (mut sums, mut counts) = (vec![0.0; r * r], vec![0_usize; r * r]);
    for a in 0..map.size {
        for b in a..map.size {
            let pair = of(a) * r + of(b);
            sums[pair] += f64::from(at(a, b));
            counts[pair] += 1;
        }
    }
    for pair in (0..r * r).filter(|pair| counts[*pair] > 0) {
        let mean = sums[pair] / counts[pair] as f64 / f64::from(FULL) * map.largest;
        table.rows.push(vec![Cell::Count(pair / r), Cell::Count(pair % r), Cell::Number(mean)]);
    }
    table
}
