//! How clusters join.

use maud::{Markup, html};

use super::charts::{both, clipped};
use super::flow::flow;
use super::levels::Levels;
use super::number::{count, grouped, short};
use super::svg::{Axis, HALF, Plot, Size, WIDE};
use super::table::{Cell, Figure, Table};
use super::{account, listed};
use crate::account::Tree;
use crate::record::Record;

/// Leaves that are drawn.
const MOST_LEAVES: usize = 30;
/// Leaves that are drawn at least, where the tree has so many.
const FEW_LEAVES: usize = 10;
/// Height of a leaf, and of what stands above the first.
const ROW: f64 = 21.0;
const TOP: f64 = 22.0;
/// Width of the branch of all points.
const THICK: f64 = 11.0;
/// Resolutions that are this much smaller than the largest are drawn as if they were not smaller.
const RANGE: f64 = 1e-6;
/// The part of the width that joins without an edge may take.
const MOST_APART: f64 = 0.6;

/// A leaf that is drawn: what of the tree is below it, and the clusters it holds.
struct Leaf {
    size: usize,
    clusters: Vec<usize>,
}

/// A join that is drawn.
struct Join {
    /// Places of the two among leaves and earlier joins.
    parts: [usize; 2],
    /// At least that of every later join, so that nothing joins before its parts; `None` where no edge joins the two.
    resolution: Option<f64>,
}

/// The upper part of a tree, with few enough leaves to be drawn.
struct Drawn {
    /// In the order of the rows.
    leaves: Vec<Leaf>,
    joins: Vec<Join>,
}

pub(crate) fn tree(record: &Record) -> Markup {
    let (Some(tree), Some(levels)) = (&record.tree, Levels::of(record)) else { return html! {} };
    let (k, most) = (levels.k, levels.most);
    let drawn = Drawn::new(tree, k);
    let shown = drawn.leaves.len();
    let apart = drawn.apart();
    let cuts: Vec<usize> = levels.worth.iter().copied().filter(|level| (2..=shown).contains(level)).collect();
    html! {
        p {
            @if record.account.as_ref().is_some_and(crate::account::Account::by_mixture) { "The clusters of the mixture are joined, and divided, along the neighbour graph of the best view. The joins go on below and above " }
            @else { "The clusters were made by joining smaller ones, the pair first at which joining pays first. The joins go on below and above " }
            (count(k, "cluster")) ", so that every number from 1 to " (grouped(most)) " is there without fitting again: slide under " a href="#points" { "the map" } " to see it."
        }
        (flow(record, tree, &levels))
        (Figure {
            name: "merges", title: "Tree of clusters", live: false, table: table(tree),
            note: html! { "From left to right groups of points join; the thicker a branch, the more points. The further right two branches meet, the less joins them; a long stretch without a join is a good place to cut."
                @if cuts.contains(&k) { " The dashed line cuts at " (count(k, "cluster")) @if cuts.len() > 1 { ", dotted ones at the other levels worth a look" } "." }
                @if shown < most { " Shown are the last " (shown) " of " (grouped(most)) " groups; the CSV has all." }
                @if apart > 0 { " Dotted branches: no edge joins the two; what is nearest by neighbours that are not trusted, or by distance, was joined first." } },
            picture: both(WIDE, |size, class| drawn.picture(record.size[0], k, &cuts, size, class)),
        }.draw())
        @if record.account.as_ref().is_none_or(|account| account.count.is_none()) && levels.falls.len() > 1 { (steps(&levels)) }
    }
}

/// Which levels stand out, where the number of clusters was given and no curve made.
fn steps(levels: &Levels) -> Markup {
    let others: Vec<usize> = levels.worth.iter().copied().filter(|k| *k != levels.k).collect();
    let note = html! {
        "The logarithm of how much less it takes to join the clusters than to join those of one number more. A high mark is a good place to cut."
        @if others.is_empty() { " No other number stands out." } @else { " Open marks: other levels worth a look." }
    };
    let names = ["steps", "Which levels stand out", "fall"];
    html! { div.half { (account::curve((levels.k, &others), &levels.falls, names, note, HALF)) } }
}

/// All joins, first to last.
fn table(tree: &Tree) -> Table {
    let columns = ["clusters left", "into", "points of it", "from", "points of that", "resolution"];
    let mut table = Table::new(&columns);
    let mut sizes: Vec<usize> = tree.leaves.iter().map(|(size, _)| *size).collect();
    for (at, (into, from, resolution)) in tree.merges.iter().enumerate() {
        let (a, b) = (*into as usize, *from as usize);
        table.rows.push(vec![
            Cell::Count(tree.merges.len() - at),
            Cell::Count(a),
            Cell::Count(sizes[a]),
            Cell::Count(b),
            Cell::Count(sizes[b]),
            Cell::Number(*resolution),
        ]);
        sizes[a] += sizes[b];
    }
    // The last joins are of most interest.
    table.rows.reverse();
    table
}

impl Drawn {
    fn new(tree: &Tree, k: usize) -> Self {
        let n_leaves = tree.leaves.len();
        let shown = (2 * k).clamp(FEW_LEAVES, MOST_LEAVES).min(n_leaves);
        let below = n_leaves - shown;
        // What the first joins made of the leaves.
        let mut groups: Vec<Option<Leaf>> = tree
            .leaves
            .iter()
            .map(|(size, cluster)| Some(Leaf { size: *size, clusters: vec![*cluster as usize] }))
            .collect();
        for (into, from, _) in &tree.merges[..below] {
            if let Some(ended) = groups[*from as usize].take()
                && let Some(group) = &mut groups[*into as usize]
            {
                group.size += ended.size;
                group.clusters.extend(ended.clusters);
            }
        }
        let mut place = vec![usize::MAX; n_leaves];
        let mut leaves = Vec::with_capacity(shown);
        for (leaf, group) in groups.into_iter().enumerate() {
            if let Some(mut group) = group {
                group.clusters.sort_unstable();
                group.clusters.dedup();
                place[leaf] = leaves.len();
                leaves.push(group);
            }
        }
        let mut joins = Vec::with_capacity(shown);
        for (into, from, resolution) in &tree.merges[below..] {
            let (a, b) = (*into as usize, *from as usize);
            let resolution = (*resolution > 0.0).then_some(*resolution);
            joins.push(Join { parts: [place[a], place[b]], resolution });
            place[a] = shown + joins.len() - 1;
        }
        let mut later: Option<f64> = None;
        for join in joins.iter_mut().rev() {
            join.resolution = match (join.resolution, later) {
                (Some(own), Some(later)) => Some(own.max(later)),
                (own, later) => own.or(later),
            };
            later = join.resolution;
        }
        Self { leaves, joins }.in_order()
    }

    /// The same with leaves as they are met from the root, the larger part first.
    fn in_order(self) -> Self {
        let shown = self.leaves.len();
        let mut sizes: Vec<usize> = self.leaves.iter().map(|leaf| leaf.size).collect();
        for join in &self.joins {
            sizes.push(join.parts.iter().map(|part| sizes[*part]).sum());
        }
        let (mut order, mut open) = (Vec::with_capacity(shown), vec![sizes.len() - 1]);
        while let Some(node) = open.pop() {
            if node < shown {
                order.push(node);
                continue;
            }
            let [a, b] = self.joins[node - shown].parts;
            let (first, second) = if sizes[b] > sizes[a] { (b, a) } else { (a, b) };
            open.extend([second, first]);
        }
        let mut row = vec![0; shown];
        order.iter().enumerate().for_each(|(at, leaf)| row[*leaf] = at);
        let moved = |part: usize| row.get(part).copied().unwrap_or(part);
        let joins =
            self.joins.into_iter().map(|join| Join { parts: join.parts.map(moved), ..join }).collect();
        let mut leaves: Vec<Option<Leaf>> = self.leaves.into_iter().map(Some).collect();
        Self { leaves: order.into_iter().filter_map(|leaf| leaves[leaf].take()).collect(), joins }
    }

    /// Joins without an edge; they come last.
    fn apart(&self) -> usize {
        self.joins.iter().filter(|join| join.resolution.is_none()).count()
    }

    fn picture(&self, n: usize, k: usize, cuts: &[usize], [width, _]: Size, class: &'static str) -> Markup {
        let shown = self.leaves.len();
        let (names, letters) = if class == "wide" { (210.0, 30) } else { (132.0, 18) };
        let bottom = TOP + ROW * shown as f64;
        let known = || self.joins.iter().filter_map(|join| join.resolution);
        let most = known().fold(0.0, f64::max);
        let most = if most > 0.0 { most * 1.15 } else { 1.0 };
        let least = known().fold(most, f64::min).max(most * RANGE) / 1.15;
        // Joins without an edge stand at the end, one step each.
        let (apart, end) = (self.apart(), width - 26.0);
        let step = ((end - names) * MOST_APART / apart.max(1) as f64).min(16.0);
        let zone = if apart > 0 { end - step * (apart - 1) as f64 } else { width };
        let right = if apart > 0 { zone - 34.0 } else { end };
        let inside = [names, right, TOP - 4.0, bottom];
        let mut plot =
            Plot::bare([width, bottom + 44.0], inside, Axis::new(0.0, 1.0, ""), Axis::new(0.0, 1.0, ""));
        let x = |at: usize| match self.joins[at].resolution {
            Some(r) => along(r, [least, most], [names, right]),
            None => end - step * (self.joins.len() - 1 - at) as f64,
        };
        if self.joins.len() > apart {
            ticks(&mut plot, [least, most], [names, right, bottom]);
        }
        if apart > 0 {
            plot.push(format_args!(
                "<path class='axis' d='M{:.1} {bottom:.1}H{:.1}'/>",
                zone - 6.0,
                end + 6.0
            ));
            plot.text([end + 6.0, bottom + 17.0], "end", "tick", "no edge");
        }
        let places: Vec<f64> = (0..shown).map(|row| TOP + ROW * (row as f64 + 0.5)).collect();
        // Of every node its place along and across, its points, and the cluster it lies in, where that is one.
        let one = |leaf: &Leaf| if let [only] = leaf.clusters[..] { Some(only) } else { None };
        let thick = |size: usize| 1.3 + THICK * (size as f64 / n.max(1) as f64).sqrt();
        let mut nodes: Vec<([f64; 2], usize, Option<usize>)> =
            self.leaves.iter().zip(&places).map(|(leaf, y)| ([names, *y], leaf.size, one(leaf))).collect();
        for (row, leaf) in self.leaves.iter().enumerate() {
            plot.text([names - 9.0, places[row] + 4.0], "end", "tick", &clipped(&named(leaf), letters));
        }
        for (number, join) in self.joins.iter().enumerate() {
            let [a, b] = join.parts.map(|part| nodes[part]);
            let at = x(number);
            let same = if a.2 == b.2 { a.2 } else { None };
            for ([from, y], size, cluster) in [a, b] {
                plot.push(format_args!(
                    "<path class='branch{}' stroke-width='{:.1}' d='M{from:.1} {y:.1}H{at:.1}'/>",
                    ink(cluster),
                    thick(size)
                ));
            }
            let dotted = if join.resolution.is_none() { " apart" } else { "" };
            plot.push(format_args!(
                "<path class='branch{}{dotted}' stroke-width='1.6' d='M{at:.1} {:.1}V{:.1}'/>",
                ink(same),
                a.0[1],
                b.0[1]
            ));
            nodes.push(([at, f64::midpoint(a.0[1], b.0[1])], a.1 + b.1, same));
        }
        if let Some(([from, y], size, cluster)) = nodes.last().filter(|_| !self.joins.is_empty()) {
            plot.push(format_args!(
                "<path class='branch{}' stroke-width='{:.1}' d='M{from:.1} {y:.1}h10'/>",
                ink(*cluster),
                thick(*size)
            ));
        }
        let mut last = f64::INFINITY;
        for level in cuts {
            // Between the last join that was made and the next one.
            let done = if *level < shown { x(shown - level - 1) } else { names };
            let at = f64::midpoint(done, x(shown - level));
            let style = if *level == k { "cut" } else { "cut other" };
            plot.push(format_args!("<path class='{style}' d='M{at:.1} {:.1}V{bottom:.1}'/>", TOP - 6.0));
            if last - at > 16.0 || *level == k {
                plot.text(
                    [at, TOP - 10.0],
                    "middle",
                    if *level == k { "strong" } else { "tick" },
                    &level.to_string(),
                );
                last = at;
            }
        }
        let joins = self.joins.iter().rev().filter_map(|join| join.resolution).take(3).map(short);
        let words = format!(
            "Tree of {} groups of points. The last joins are at resolutions {}",
            shown,
            joins.collect::<Vec<_>>().join(", ")
        );
        plot.finish(class, &words)
    }
}

/// The colour of a cluster, as marks have it.
fn ink(cluster: Option<usize>) -> String {
    cluster.map_or_else(String::new, |c| format!(" s{}", c % 8))
}

fn named(leaf: &Leaf) -> String {
    match leaf.clusters[..] {
        [only] => format!("cluster {only} · {}", grouped(leaf.size)),
        _ if leaf.clusters.len() < 4 => format!("{} · {}", listed(&leaf.clusters), grouped(leaf.size)),
        _ => format!("{} · {}", count(leaf.clusters.len(), "cluster"), grouped(leaf.size)),
    }
}

/// The place of a resolution, the largest on the left.
fn along(resolution: f64, [least, most]: [f64; 2], [left, right]: [f64; 2]) -> f64 {
    left + (right - left) * ((most / resolution.max(least)).ln() / (most / least).ln()).clamp(0.0, 1.0)
}

/// Round resolutions along the lower edge.
fn ticks(plot: &mut Plot, range: [f64; 2], [left, right, bottom]: [f64; 3]) {
    plot.push(format_args!("<path class='axis' d='M{left:.1} {bottom:.1}H{right:.1}'/>"));
    let powers = range[0].log10().floor() as i32..=range[1].log10().ceil() as i32;
    let mut last = right + 40.0;
    let round = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10_f64.powi(power)));
    for value in round.filter(|value| (range[0]..=range[1]).contains(value)) {
        let at = along(value, range, [left, right]);
        plot.push(format_args!("<path class='axis' d='M{at:.1} {bottom:.1}v4'/>"));
        if last - at > 38.0 {
            plot.text([at, bottom + 17.0], "middle", "tick", &short(value));
            last = at;
        }
    }
    plot.text([right, bottom + 35.0], "end", "label", "resolution of the join (log scale)");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Tree {
        // 0-2 and 1-3 join first, then both; the last leaf hangs by no edge.
        Tree {
            leaves: vec![(5, 0), (9, 1), (3, 0), (4, 1), (2, 2)],
            merges: vec![(0, 2, 3.0), (1, 3, 2.0), (0, 1, 2.5), (0, 4, 0.0)],
        }
    }

    #[test]
    fn larger_parts_come_first_and_nothing_joins_before_its_parts() {
        let drawn = Drawn::new(&example(), 3);
        let sizes: Vec<usize> = drawn.leaves.iter().map(|leaf| leaf.size).collect();
        assert_eq!(sizes, [9, 4, 5, 3, 2]);
        let resolutions: Vec<_> = drawn.joins.iter().map(|join| join.resolution).collect();
        assert_eq!(resolutions, [Some(3.0), Some(2.5), Some(2.5), None]);
    }

    #[test]
    fn the_table_has_every_join() {
        let csv = table(&example()).csv();
        assert!(csv.ends_with("2,0,8,1,13,2.5\n3,1,9,3,4,2\n4,0,5,2,3,3\n"), "{csv}");
    }

    #[test]
    fn many_leaves_are_drawn_as_groups() {
        let leaves = (0..100).map(|at| (2, at)).collect();
        let merges = (1..100).map(|at| (0, at, 100.0 / f64::from(at))).collect();
        let drawn = Drawn::new(&Tree { leaves, merges }, 100);
        assert_eq!(drawn.leaves.len(), MOST_LEAVES);
        assert_eq!(drawn.leaves.iter().map(|leaf| leaf.size).sum::<usize>(), 200);
        assert!(drawn.leaves.iter().any(|leaf| leaf.clusters.len() == 71));
    }
}
