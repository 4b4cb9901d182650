//! The same points at several numbers of clusters, side by side: which clusters part on the way from few to many.

use maud::{Markup, html};

use super::charts::both;
use super::levels::Levels;
use super::number::{count, grouped};
use super::svg::{Axis, Plot, Size, WIDE};
use super::table::{Cell, Figure, Table};
use crate::account::Tree;
use crate::record::Record;

/// Columns on a desk and in a hand.
const COLUMNS: [usize; 2] = [7, 4];
/// A column with more clusters is no picture.
const MOST_CLUSTERS: usize = 40;
/// Height of the pictures, and room between two clusters.
const HEIGHT: f64 = 400.0;
const ROOM: f64 = 7.0;
/// Width of a cluster.
const BLOCK: f64 = 12.0;

/// A cluster of one level: where it begins among the leaves in their order, and where it ends.
struct Part {
    number: usize,
    leaves: [usize; 2],
    size: usize,
}

/// The clusters of a level from top to bottom.
struct Column {
    k: usize,
    parts: Vec<Part>,
}

pub(crate) fn flow(record: &Record, tree: &Tree, levels: &Levels) -> Markup {
    let order = order(tree);
    let columns = |most: usize| -> Vec<Column> {
        chosen(levels, most).into_iter().map(|k| Column::new(tree, levels, &order, k)).collect()
    };
    let all = columns(COLUMNS[0]);
    if all.len() < 2 {
        return html! {};
    }
    let mut table = Table::new(&["clusters", "cluster", "points", "part of"]);
    for (at, column) in all.iter().enumerate() {
        for part in &column.parts {
            let from = at.checked_sub(1).and_then(|before| all[before].holding(part.leaves[0]));
            let number = from.map_or(Cell::Nothing, |parent| Cell::Count(parent.number));
            table.rows.push(vec![
                Cell::Count(column.k),
                Cell::Count(part.number),
                Cell::Count(part.size),
                number,
            ]);
        }
    }
    let note = html! {
        "Every column is one number of clusters; the height of a block is the number of its points, and a band leads from a cluster to what becomes of it."
        @if levels.k <= MOST_CLUSTERS { " The column in a frame is the answer." }
        " Of a cluster that parts, the larger part keeps number and colour."
    };
    html! {
        (Figure {
            name: "levels", title: "From few clusters to many", live: false, note, table,
            picture: both(WIDE, |size, class| {
                let most = COLUMNS[usize::from(class != "wide")];
                picture(record.size[0], levels.k, &columns(most), size, class)
            }),
        }.draw())
        div.bar role="group" aria-label="Show a level on the map" {
            span.soft { "On the map:" }
            @for column in &all { button type="button" data-shows="points" data-k=(column.k) { (count(column.k, "cluster")) } }
        }
    }
}

/// The levels that are shown: the answer, what else is worth a look, and a few beside them.
fn chosen(levels: &Levels, columns: usize) -> Vec<usize> {
    let most = levels.most.min(MOST_CLUSTERS);
    let mut chosen: Vec<usize> = Vec::new();
    let answer = levels.worth.iter().filter(|k| **k == levels.k);
    let others = levels.worth.iter().filter(|k| **k != levels.k);
    let k = levels.k;
    let beside = [k + 1, 2, k.saturating_sub(1), k + 2, 2 * k, 3, k / 2, 4, 6, 8];
    for level in answer.chain(others).copied().chain(beside) {
        if (2..=most).contains(&level) && !chosen.contains(&level) && chosen.len() < columns {
            chosen.push(level);
        }
    }
    chosen.sort_unstable();
    chosen
}

/// The leaves as they are met from the root, the larger part first, so that no two bands cross.
fn order(tree: &Tree) -> Vec<usize> {
    let mut lists: Vec<Vec<usize>> = (0..tree.leaves.len()).map(|leaf| vec![leaf]).collect();
    let mut sizes: Vec<usize> = tree.leaves.iter().map(|(size, _)| *size).collect();
    for (into, from, _) in &tree.merges {
        let (into, from) = (*into as usize, *from as usize);
        let ended = std::mem::take(&mut lists[from]);
        let kept = std::mem::take(&mut lists[into]);
        lists[into] = if sizes[from] > sizes[into] { [ended, kept].concat() } else { [kept, ended].concat() };
        sizes[into] += sizes[from];
    }
    lists.swap_remove(0)
}

impl Column {
    fn new(tree: &Tree, levels: &Levels, order: &[usize], k: usize) -> Self {
        let number = levels.at(k);
        let mut parts: Vec<Part> = Vec::with_capacity(k);
        for (at, leaf) in order.iter().enumerate() {
            match parts.last_mut().filter(|part| part.number == number[*leaf]) {
                Some(part) => {
                    part.leaves[1] = at + 1;
                    part.size += tree.leaves[*leaf].0;
                }
                None => parts.push(Part {
                    number: number[*leaf],
                    leaves: [at, at + 1],
                    size: tree.leaves[*leaf].0,
                }),
            }
        }
        Self { k, parts }
    }

    /// The cluster that has this leaf.
    fn holding(&self, leaf: usize) -> Option<&Part> {
        self.parts.iter().find(|part| (part.leaves[0]..part.leaves[1]).contains(&leaf))
    }

    /// Top and bottom of every cluster.
    fn places(&self, n: usize, [top, bottom]: [f64; 2]) -> Vec<[f64; 2]> {
        let room = ROOM.min((bottom - top) * 0.4 / self.parts.len() as f64);
        let unit = (bottom - top - room * (self.parts.len() - 1) as f64) / n.max(1) as f64;
        let mut y = top;
        self.parts
            .iter()
            .map(|part| {
                let from = y;
                y += unit * part.size as f64 + room;
                [from, from + (unit * part.size as f64).max(1.0)]
            })
            .collect()
    }
}

fn picture(n: usize, k: usize, columns: &[Column], [width, _]: Size, class: &'static str) -> Markup {
    let (top, bottom) = (30.0, HEIGHT - 8.0);
    let (left, right) = (8.0, width - 74.0);
    let inside = [left, right, top, bottom];
    let nothing = || Axis::new(0.0, 1.0, "");
    let mut plot = Plot::bare([width, HEIGHT], inside, nothing(), nothing());
    let step = (right - left) / (columns.len() - 1).max(1) as f64;
    let x = |at: usize| left + step * at as f64;
    let places: Vec<Vec<[f64; 2]>> = columns.iter().map(|column| column.places(n, [top, bottom])).collect();
    for (at, pair) in columns.windows(2).enumerate() {
        for (part, [to, to_end]) in pair[1].parts.iter().zip(&places[at + 1]) {
            let Some(row) =
                pair[0].parts.iter().position(|p| (p.leaves[0]..p.leaves[1]).contains(&part.leaves[0]))
            else {
                continue;
            };
            // The part of the left block that goes here.
            let (parent, [from, end]) = (&pair[0].parts[row], places[at][row]);
            let before: usize = pair[1]
                .parts
                .iter()
                .filter(|p| p.leaves[0] >= parent.leaves[0] && p.leaves[0] < part.leaves[0])
                .map(|p| p.size)
                .sum();
            let unit = (end - from) / parent.size.max(1) as f64;
            let (a, b) = (from + unit * before as f64, from + unit * (before + part.size) as f64);
            let (x0, x1) = (x(at) + BLOCK, x(at + 1));
            let middle = f64::midpoint(x0, x1);
            plot.push(format_args!(
                "<path class='stream f{}' d='M{x0:.1} {a:.1}C{middle:.1} {a:.1} {middle:.1} {to:.1} {x1:.1} {to:.1}V{to_end:.1}C{middle:.1} {to_end:.1} {middle:.1} {b:.1} {x0:.1} {b:.1}Z'/>",
                part.number % 8
            ));
        }
    }
    for (at, column) in columns.iter().enumerate() {
        let last = at + 1 == columns.len();
        if column.k == k {
            plot.push(format_args!(
                "<rect class='frame' x='{:.1}' y='3' width='{:.1}' height='{:.1}' rx='5'/>",
                x(at) - 6.0,
                BLOCK + 12.0 + if last { 60.0 } else { 26.0 },
                HEIGHT - 4.0
            ));
        }
        plot.text([x(at) - 1.0, 18.0], "start", "label", &format!("k = {}", column.k));
        for (part, [from, to]) in column.parts.iter().zip(&places[at]) {
            plot.push(format_args!(
                "<rect class='f{}' x='{:.1}' y='{from:.1}' width='{BLOCK}' height='{:.1}' rx='1.5'/>",
                part.number % 8,
                x(at),
                to - from
            ));
            if to - from > 11.0 {
                let words = if last {
                    format!("{} · {}", part.number, grouped(part.size))
                } else {
                    part.number.to_string()
                };
                plot.text([x(at) + BLOCK + 5.0, f64::midpoint(*from, *to) + 4.0], "start", "strong", &words);
            }
        }
    }
    let shown: Vec<usize> = columns.iter().map(|column| column.k).collect();
    let words = format!(
        "What becomes of every cluster at {} clusters; the numbers are in the table",
        super::listed(&shown)
    );
    plot.finish(class, &words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_all_points_and_no_bands_cross() {
        let tree = Tree {
            leaves: vec![(5, 1), (9, 0), (3, 1), (4, 0), (2, 2)],
            merges: vec![(0, 2, 3.0), (1, 3, 2.0), (0, 1, 0.5), (0, 4, 0.0)],
        };
        let order = order(&tree);
        assert_eq!(order, [1, 3, 0, 2, 4]);
        let levels = Levels {
            k: 3,
            most: 5,
            numbers: vec![1, 0, 4, 3, 2],
            joins: vec![[4, 1], [3, 0], [1, 0], [2, 0]],
            worth: vec![3],
            falls: Vec::new(),
        };
        for k in 1..=5 {
            let column = Column::new(&tree, &levels, &order, k);
            assert_eq!(column.parts.len(), k, "a cluster is in two places");
            assert_eq!(column.parts.iter().map(|part| part.size).sum::<usize>(), 23);
        }
        assert_eq!(chosen(&levels, 3), [2, 3, 4]);
    }
}
