//! graph: a sparse symmetric graph of nearest neighbours, for methods that factor one fixed graph.
//!
//! Two kinds are in use and they differ (`GraphKind`); which one the compared methods were given in the paper is
//! not known. Memory and every product grow with the number of edges.

mod sparse;

pub use sparse::SparseGraph;
pub(crate) use sparse::{to_columns, to_rows};

use crate::error::Result;
use crate::input::Input;
use crate::neighbors::nearest::{Nearest, nearest};
use crate::observe::Observer;

/// How affinities of neighbours become a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum GraphKind {
    /// Edges where either end counts the other among its nearest, no self-loops, divided by the roots of the
    /// degrees at both ends (Kuang et al.).
    #[default]
    Ncut,
    /// The starting graph of LSDG, S(w₀): the mean of the slices of unit norm, the first of which is the point itself.
    Lsdg,
}

/// Which graph is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct GraphParams {
    /// How affinities become a graph.
    pub kind: GraphKind,
    /// Nearest others that count, at least 1; `None`: ⌊log₂ n⌋ + 1 in `ncut` and one fewer in `lsdg`.
    pub neighbors: Option<usize>,
}

impl GraphParams {
    /// Nearest others that count, for n samples.
    pub fn resolved_neighbors(&self, n: usize) -> usize {
        let luxburg = n.max(1).ilog2() as usize + 1;
        let k = self.neighbors.unwrap_or(match self.kind {
            GraphKind::Ncut => luxburg,
            GraphKind::Lsdg => luxburg - 1,
        });
        k.clamp(1, n.saturating_sub(1).max(1))
    }

    /// The graph of these neighbours.
    pub fn build(&self, near: &Nearest) -> SparseGraph {
        match self.kind {
            GraphKind::Ncut => ncut(near),
            GraphKind::Lsdg => lsdg(near),
        }
    }

    /// Search, then build.
    ///
    /// # Errors
    /// When the input breaks a rule, or the observer asks to stop.
    pub fn of(&self, input: &Input<'_>, observer: &dyn Observer) -> Result<(SparseGraph, Nearest)> {
        let near = nearest(input, self.resolved_neighbors(input.n_samples()), observer)?;
        Ok((self.build(&near).shared(input.share()), near))
    }
}

/// (i, j, κ_ij) of every listed neighbour.
fn listed(near: &Nearest) -> impl Iterator<Item = (usize, usize, f64)> {
    let k = near.n_neighbors.max(1);
    near.indices
        .iter()
        .zip(&near.affinities)
        .enumerate()
        .map(move |(at, (j, affinity))| (at / k, *j as usize, *affinity))
}

fn ncut(near: &Nearest) -> SparseGraph {
    let n = near.n_samples;
    let mut entries: Vec<(u32, u32, f64)> = Vec::with_capacity(2 * near.indices.len());
    for (i, j, affinity) in listed(near).filter(|(.., a)| *a > 0.0) {
        entries.push((i as u32, j as u32, affinity));
        entries.push((j as u32, i as u32, affinity));
    }
    // Both ends may list each other: the same affinity, once.
    let mut graph = SparseGraph::from_entries(n, entries, f64::max);
    let roots: Vec<f64> = graph.row_sums().iter().map(|d| d.max(1e-12).sqrt()).collect();
    graph.scale_entries(|i, j, value| value / (roots[i] * roots[j]));
    graph
}

fn lsdg(near: &Nearest) -> SparseGraph {
    let (n, k) = (near.n_samples, near.n_neighbors);
    let mut squares = vec![0.0; k];
    for (at, affinity) in near.affinities.iter().enumerate() {
        squares[at % k.max(1)] += affinity * affinity;
    }
    let share = 1.0 / (k + 1) as f64;
    let mut entries: Vec<(u32, u32, f64)> = Vec::with_capacity(2 * near.indices.len() + n);
    entries.extend((0..n as u32).map(|i| (i, i, share / (n as f64).sqrt())));
    for (at, (i, j, affinity)) in listed(near).enumerate() {
        let value = 0.5 * share * affinity / squares[at % k].sqrt();
        if value > 0.0 {
            entries.push((i as u32, j as u32, value));
            entries.push((j as u32, i as u32, value));
        }
    }
    SparseGraph::from_entries(n, entries, |a, b| a + b)
}
