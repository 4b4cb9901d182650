//! What joins pieces that the trusted neighbours leave apart: neighbours that are not trusted, and then the
//! shortest spans between points.

use rayon::prelude::*;

use crate::input::{Input, Samples};
use crate::math::kernel::{distance2_lanes, vectorized};
use crate::slices::ranked::Ranked;
use crate::tree::Evidence;
use crate::views::View;
use crate::views::data::Data;

/// Pairs of points that are compared at most.
const MOST_PAIRS: f64 = 2e6;
/// Points of a piece that are looked at, at most.
const MOST_POINTS: usize = 256;
/// More pieces than this are spanned as far as the largest go; the others are joined in the order of points.
const MOST_PIECES: usize = 10_000;

/// All neighbours of a view, and spans between the pieces of the graph that these make.
#[derive(Clone, Debug)]
pub(crate) struct Bridges<'a> {
    ranked: &'a Ranked,
    spans: Vec<(u32, u32)>,
}

impl Evidence for Bridges<'_> {
    fn weak_edges(&self, visit: &mut dyn FnMut(u32, u32, f64)) {
        let Ranked { k, indices, slices, norms, .. } = self.ranked;
        for (i, (row, values)) in indices.chunks_exact(*k).zip(slices.chunks_exact(*k)).enumerate() {
            for ((j, value), norm) in row.iter().zip(values).zip(norms) {
                visit(i as u32, *j, value * norm);
            }
        }
    }

    fn spans(&self) -> &[(u32, u32)] {
        &self.spans
    }
}

/// The same between parts of the points.
#[derive(Clone, Debug)]
pub(crate) struct BetweenParts<'a> {
    bridges: &'a Bridges<'a>,
    part_of: &'a [u32],
    spans: Vec<(u32, u32)>,
}

impl Evidence for BetweenParts<'_> {
    fn weak_edges(&self, visit: &mut dyn FnMut(u32, u32, f64)) {
        let of = self.part_of;
        self.bridges.weak_edges(&mut |i, j, weight| visit(of[i as usize], of[j as usize], weight));
    }

    fn spans(&self) -> &[(u32, u32)] {
        &self.spans
    }
}

impl<'a> Bridges<'a> {
    /// Of parts of the points.
    pub(crate) fn between(&'a self, part_of: &'a [u32]) -> BetweenParts<'a> {
        let spans = self.spans.iter().map(|(i, j)| (part_of[*i as usize], part_of[*j as usize])).collect();
        BetweenParts { bridges: self, part_of, spans }
    }

    /// Of one view. All processes that share the rows must ask.
    pub(crate) fn new(ranked: &'a Ranked, view: View, input: &Input<'_>, data: Option<&Data<'_>>) -> Self {
        let some = representatives(ranked);
        let spans = if some.len() < 2 { Vec::new() } else { spans(&some, view, input, data) };
        Self { ranked, spans }
    }
}

/// A few points of every piece of the graph of all neighbours, spread evenly over it; the largest pieces where
/// there are very many.
fn representatives(ranked: &Ranked) -> Vec<Vec<u32>> {
    let mut above: Vec<u32> = (0..ranked.n as u32).collect();
    for (i, row) in ranked.indices.chunks_exact(ranked.k.max(1)).enumerate() {
        for j in row {
            let (a, b) = (top(&mut above, i as u32), top(&mut above, *j));
            above[a.max(b) as usize] = a.min(b);
        }
    }
    let mut place = vec![u32::MAX; ranked.n];
    let mut pieces: Vec<Vec<u32>> = Vec::new();
    for i in 0..ranked.n as u32 {
        let head = top(&mut above, i) as usize;
        if place[head] == u32::MAX {
            place[head] = pieces.len() as u32;
            pieces.push(Vec::new());
        }
        pieces[place[head] as usize].push(i);
    }
    if pieces.len() > MOST_PIECES {
        pieces.sort_by_key(|piece| std::cmp::Reverse(piece.len())); // stable: the first among equals
        pieces.truncate(MOST_PIECES);
    }
    let most = ((MOST_PAIRS.sqrt() / pieces.len() as f64) as usize).clamp(1, MOST_POINTS);
    for piece in &mut pieces {
        let taken = piece.len().min(most);
        *piece = (0..taken).map(|at| piece[at * piece.len() / taken]).collect();
    }
    pieces
}

/// The edges of a shortest tree over the pieces (Prim), shortest first, each by the nearest points that were looked at.
fn spans(some: &[Vec<u32>], view: View, input: &Input<'_>, data: Option<&Data<'_>>) -> Vec<(u32, u32)> {
    let mut which: Vec<u32> = some.concat();
    which.sort_unstable();
    let shown = data.map(|data| data.picked(&which, view));
    let rows: Vec<Vec<f64>> = match (&shown, data) {
        (Some(shown), Some(data)) => {
            let m = data.rows.n_features();
            shown.samples(which.len(), m).map_or_else(|_| Vec::new(), |rows| all_rows(&rows))
        }
        _ => Vec::new(),
    };
    let place = |i: u32| which.partition_point(|other| *other < i);
    let distance = |i: u32, j: u32| match input {
        Input::Distances(x) => x.get(i as usize, j as usize),
        Input::Affinities(x) => -x.get(i as usize, j as usize),
        Input::Neighbors(_) => f64::INFINITY,
        Input::Samples(..) | Input::Part(..) => distance2_lanes(&rows[place(i)], &rows[place(j)]),
    };
    let nearest = |a: &[u32], b: &[u32]| {
        let mut best = (f64::INFINITY, a[0], b[0]);
        vectorized(
            #[inline(always)]
            || {
                for i in a {
                    for j in b {
                        let d = distance(*i, *j);
                        if d < best.0 {
                            best = (d, *i, *j);
                        }
                    }
                }
            },
        );
        best
    };
    let count = some.len();
    let mut best = vec![(f64::INFINITY, 0, 0); count];
    let mut within = vec![false; count];
    let mut tree = Vec::with_capacity(count - 1);
    let mut last = 0;
    for _ in 1..count {
        within[last] = true;
        best.par_iter_mut().enumerate().filter(|(p, _)| !within[*p]).for_each(|(p, best)| {
            let found = nearest(&some[last], &some[p]);
            if found.0 < best.0 || best.1 == best.2 {
                *best = found;
            }
        });
        let outside = (0..count).filter(|p| !within[*p]);
        let Some(next) = outside.min_by(|a, b| best[*a].0.total_cmp(&best[*b].0).then(a.cmp(b))) else {
            break;
        };
        tree.push(best[next]);
        last = next;
    }
    tree.sort_by(|x, y| x.0.total_cmp(&y.0));
    tree.into_iter().map(|(_, i, j)| (i, j)).collect()
}

fn all_rows(rows: &Samples<'_>) -> Vec<Vec<f64>> {
    let row = |i: usize| {
        let mut row = vec![0.0; rows.n_features()];
        rows.copy_row(i, &mut row);
        row
    };
    (0..rows.n_samples()).map(row).collect()
}

/// The head of the piece of a point, with shorter ways to it from now on.
fn top(above: &mut [u32], mut i: u32) -> u32 {
    while above[i as usize] != i {
        above[i as usize] = above[above[i as usize] as usize];
        i = above[i as usize];
    }
    i
}
