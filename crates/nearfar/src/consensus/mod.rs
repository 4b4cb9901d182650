//! The members as one graph: the mean of theirs, every edge times the share of members that put its ends together.

use rayon::prelude::*;

use crate::learn::nearfar::members::LearntMember;
use crate::model::Findings;
use crate::slices::SparseRows;
use crate::slices::ranked::Ranked;
use crate::views::View;

/// Rows that one task works on.
const ROWS: usize = 1024;

pub(crate) struct Consensus {
    /// The mean of the members' graphs.
    pub(crate) mean: SparseRows,
    /// The same, every edge times the share of members that agree on it.
    pub(crate) graph: SparseRows,
    /// What every member counts; they sum to 1.
    shares: Vec<f64>,
}

impl Consensus {
    pub(crate) fn new(views: &[(View, f64, &Ranked)], members: &[LearntMember]) -> Self {
        let total: f64 = members.iter().map(|found| views[found.view].1).sum();
        let shares: Vec<f64> = members.iter().map(|found| views[found.view].1 / total).collect();
        // S is linear in w, so that the members of a view are one graph.
        let of_view = |(view, (_, _, ranked)): (usize, &(View, f64, &Ranked))| {
            let mut weights = vec![0.0; ranked.k];
            for (found, share) in members.iter().zip(&shares).filter(|(found, _)| found.view == view) {
                let scale = share / ranked.total(&found.weights).max(f64::MIN_POSITIVE);
                weights.iter_mut().zip(&found.weights).for_each(|(sum, w)| *sum += scale * w);
            }
            ranked.graph(&weights)
        };
        let mean = views.iter().enumerate().map(of_view).reduce(|a, b| a.plus(&b)).unwrap_or_default();
        let mut graph = mean.clone();
        let labels = side_by_side(members);
        let width = members.len();
        let together = |i: usize, j: usize| -> f64 {
            let (own, other) = (&labels[i * width..(i + 1) * width], &labels[j * width..(j + 1) * width]);
            let agree = own.iter().zip(other).zip(&shares).filter(|((own, other), _)| own == other);
            agree.map(|(_, share)| share).sum()
        };
        let (starts, columns) = (&mean.starts, &mean.columns);
        let row_of = |at: usize| starts.partition_point(|start| *start <= at) - 1;
        graph.values.par_chunks_mut(ROWS * 16).enumerate().for_each(|(block, values)| {
            let first = block * ROWS * 16;
            let mut i = row_of(first);
            for (place, value) in values.iter_mut().enumerate() {
                while starts[i + 1] <= first + place {
                    i += 1;
                }
                *value *= together(i, columns[first + place] as usize);
            }
        });
        Self { mean, graph, shares }
    }

    /// The mean weights of the members of one view.
    pub(crate) fn weights_of(&self, view: usize, members: &[LearntMember]) -> Vec<f64> {
        let own = || members.iter().zip(&self.shares).filter(|(found, _)| found.view == view);
        let total: f64 = own().map(|(_, share)| share).sum();
        let mut near = vec![0.0; own().map(|(found, _)| found.weights.len()).max().unwrap_or(0)];
        for (found, share) in own() {
            near.iter_mut().zip(&found.weights).for_each(|(sum, w)| *sum += share / total * w);
        }
        near
    }

    /// Labels, memberships, confidence and weights of the model.
    pub(crate) fn tell(
        &self,
        findings: &mut Findings,
        labels: &[u32],
        members: &[LearntMember],
        views: &[(View, f64, &Ranked)],
    ) {
        let (n, k) = (labels.len(), findings.params.n_clusters);
        findings.labels = labels.iter().map(|label| *label as usize).collect();
        findings.membership = vec![0.0; n * k];
        findings.membership.par_chunks_mut(k).enumerate().for_each(|(i, row)| {
            let edges = self.mean.starts[i]..self.mean.starts[i + 1];
            let sum: f64 = self.mean.values[edges.clone()].iter().sum();
            if sum > 0.0 {
                for at in edges {
                    row[labels[self.mean.columns[at] as usize] as usize] += self.mean.values[at] / sum;
                }
            } else {
                row[labels[i] as usize] = 1.0;
            }
        });
        let maps: Vec<Vec<u32>> = members.iter().map(|found| matched(&found.labels, labels)).collect();
        let agreeing = |i: usize| -> f64 {
            let votes = members.iter().zip(&maps).zip(&self.shares);
            let agree = votes.filter(|((found, map), _)| map[found.labels[i] as usize] == labels[i]);
            agree.map(|(_, share)| share).sum()
        };
        // Both must agree: their mean is too sure, their product is about as often right as it says (docs/defaults.md).
        let membership = &findings.membership;
        findings.confidence = (0..n)
            .into_par_iter()
            .map(|i| (agreeing(i) * membership[i * k + labels[i] as usize]).clamp(0.0, 1.0))
            .collect();
        let width = views.iter().map(|(_, _, ranked)| ranked.k).max().unwrap_or(0);
        let mut near = vec![0.0; width];
        for (found, share) in members.iter().zip(&self.shares) {
            near.iter_mut().zip(&found.weights).for_each(|(sum, w)| *sum += share * w);
        }
        findings.near_weights = crate::slices::ranked::of_all_ranks(&near, n);
        let best = |a: usize, b: usize| {
            let key = |m: usize| (views[members[m].view].1, -members[m].member.objective.fit);
            key(b).0 > key(a).0 || (key(b).0 == key(a).0 && key(b).1 > key(a).1)
        };
        findings.best = (1..members.len()).fold(0, |so_far, m| if best(so_far, m) { m } else { so_far });
        findings.members = members.iter().map(|found| found.member.clone()).collect();
    }
}

/// The labels of all members, point by point: edges are looked at in the order of one end, and the other is anywhere.
fn side_by_side(members: &[LearntMember]) -> Vec<u32> {
    let width = members.len();
    let n = members.first().map_or(0, |found| found.labels.len());
    let mut labels = vec![0; n * width];
    labels.par_chunks_mut(width.max(1)).enumerate().for_each(|(i, row)| {
        row.iter_mut().zip(members).for_each(|(label, found)| *label = found.labels[i]);
    });
    labels
}

/// For every cluster of `from` the one of `to` that it shares most points with.
fn matched(from: &[u32], to: &[u32]) -> Vec<u32> {
    let count = |labels: &[u32]| labels.iter().max().map_or(0, |label| *label as usize + 1);
    let (rows, columns) = (count(from), count(to));
    let mut shared = vec![0_u32; rows * columns];
    from.iter().zip(to).for_each(|(a, b)| shared[*a as usize * columns + *b as usize] += 1);
    let most =
        |row: &[u32]| (1..row.len()).fold(0, |best, c| if row[c] > row[best] { c } else { best }) as u32;
    shared.chunks_exact(columns.max(1)).map(most).collect()
}
