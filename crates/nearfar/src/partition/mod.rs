//! partition: a graph into clusters.
//!
//! With a hard factor V = s·H the paper's model is the constant Potts model: ½‖S − s²HHᵀ‖² = const − s²⟨S, HHᵀ⟩ +
//! ½s⁴ Σ n_c², so the clusters that minimise it are those a resolution of s²/2 gives. [`leiden`] finds such
//! clusters (with degrees in place of sizes: modularity), [`MergeTree`] joins them until exactly k are left,
//! whatever the resolution was: the number of clusters fixes s.

mod leiden;
mod network;
#[cfg(test)]
mod tests;

pub use leiden::{Leiden, leiden};
pub use network::Network;
pub(crate) use network::{grouped, renumber};

use crate::tree::{Evidence, MergeTree};

/// The resolution is multiplied by this until there are clusters enough.
const FINER: f64 = 1.6;
/// So often; what is not reached then begins with every point alone.
const STEPS: usize = 12;
/// Clusters of the first, fine partition for each one wanted.
const FINE: f64 = 1.5;

/// More nodes than this are many: the resolution is then sought on small parts of the graph.
const MANY: usize = 1_500;
/// Parts are made of parts while there are more than this.
const MANY_PARTS: usize = 1_500;
/// Parts that there must be for each cluster wanted, so that clusters can be made of them.
const PARTS: usize = 8;

/// A partition with at least so many clusters: the resolution is raised until there are. Every point alone where no
/// resolution does it.
///
/// Of a graph of many nodes the resolution is sought on small parts of it; then the nodes move once more by themselves.
#[must_use]
pub(crate) fn fine(network: &Network, at_least: usize, seed: u64) -> Vec<u32> {
    let small = by_parts(network, at_least, seed);
    fine_of(network, at_least, seed, small.as_ref())
}

/// The same with the graph of small parts and the part of every node, where there is one.
fn fine_of(network: &Network, at_least: usize, seed: u64, small: Option<&(Network, Vec<u32>)>) -> Vec<u32> {
    let Some((small, parts)) = small else { return raised(network, at_least, seed, 1.0).0 };
    let (of_parts, resolution) = raised(small, at_least, seed, 1.0);
    let coarse: Vec<u32> = parts.iter().map(|part| of_parts[*part as usize]).collect();
    let labels = leiden::settled(network, &Leiden::new(resolution, seed), &coarse);
    if count(&labels) >= at_least { labels } else { coarse }
}

/// The same within clusters that stay as they are, of which `inner` has the edges; small parts of the whole graph,
/// where there were any, are cut at the bounds of clusters and serve again.
pub(crate) fn fine_within(
    inner: &Network,
    clusters: &[u32],
    (at_least, seed): (usize, u64),
    parts: Option<&[u32]>,
) -> Vec<u32> {
    let small = parts.map(|parts| {
        let (cut, n_cut) = crossed(parts, clusters);
        (inner.aggregated(&cut, n_cut), cut)
    });
    match small.filter(|(small, _)| small.n_nodes() >= PARTS * at_least) {
        Some(small) => fine_of(inner, at_least, seed, Some(&small)),
        None => fine(inner, at_least, seed),
    }
}

/// Labels by which nodes are the same where both of these are, numbered by first appearance, and how many there are.
fn crossed(a: &[u32], b: &[u32]) -> (Vec<u32>, usize) {
    let mut known: Vec<Vec<(u32, u32)>> = vec![Vec::new(); count(a)];
    let mut next = 0;
    let mut both = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(b) {
        let known = &mut known[*a as usize];
        let label = known.iter().find(|(other, _)| other == b).map(|(_, label)| *label);
        both.push(label.unwrap_or_else(|| {
            known.push((*b, next));
            next += 1;
            next - 1
        }));
    }
    (both, next as usize)
}

/// The partition of all nodes with the first resolution, from this one upwards, that gives clusters enough.
fn raised(network: &Network, at_least: usize, seed: u64, from: f64) -> (Vec<u32>, f64) {
    let alone = || (0..network.n_nodes() as u32).collect();
    let mut settings = Leiden::new(from, seed);
    if at_least >= network.n_nodes() {
        return (alone(), from);
    }
    let (mut before, mut step) = (0, FINER);
    for _ in 0..STEPS {
        let labels = leiden(network, &settings, None);
        let found = count(&labels);
        if found >= at_least {
            return (labels, settings.resolution);
        }
        // Clusters that lie apart are divided at a far higher resolution: longer steps, until there are more.
        step = if found > before { FINER } else { step * step };
        before = found;
        settings.resolution *= step;
    }
    (alone(), from)
}

/// The graph of small parts, and the part of every node; `None` where there are few nodes, or too few parts for so
/// many clusters.
pub(crate) fn by_parts(network: &Network, at_least: usize, seed: u64) -> Option<(Network, Vec<u32>)> {
    let made = |network: &Network| {
        let (parts, n_parts) = leiden::parts(network, seed);
        let of_use = n_parts < network.n_nodes() && n_parts >= PARTS * at_least;
        of_use.then(|| (network.aggregated(&parts, n_parts), parts))
    };
    if network.n_nodes() <= MANY {
        return None;
    }
    let (mut small, mut parts) = made(network)?;
    while small.n_nodes() > MANY_PARTS
        && let Some((smaller, of)) = made(&small)
    {
        parts.iter_mut().for_each(|part| *part = of[*part as usize]);
        small = smaller;
    }
    Some((small, parts))
}

fn count(labels: &[u32]) -> usize {
    labels.iter().max().map_or(0, |label| *label as usize + 1)
}

/// The merge tree of a partition fine enough for k clusters.
#[must_use]
pub(crate) fn tree_for(network: &Network, k: usize, seed: u64, evidence: &dyn Evidence) -> MergeTree {
    tree_and_parts(network, k, seed, evidence).0
}

/// The same, with the small parts of a graph of many nodes.
pub(crate) fn tree_and_parts(
    network: &Network,
    k: usize,
    seed: u64,
    evidence: &dyn Evidence,
) -> (MergeTree, Option<Vec<u32>>) {
    let at_least = fine_for(k, network.n_nodes());
    let small = by_parts(network, at_least, seed);
    let fine = fine_of(network, at_least, seed, small.as_ref());
    (MergeTree::new(network, &fine, evidence), small.map(|(_, parts)| parts))
}

/// Clusters of the fine partition that k of n nodes are made of.
pub(crate) fn fine_for(k: usize, n: usize) -> usize {
    ((FINE * k as f64).ceil() as usize).min(n)
}

/// Exactly k clusters (as many as there are points, where k is more), numbered by first appearance.
#[must_use]
pub(crate) fn into_exactly(network: &Network, k: usize, seed: u64, evidence: &dyn Evidence) -> Vec<u32> {
    let fine = fine(network, fine_for(k, network.n_nodes()), seed);
    MergeTree::exactly(k, network, &fine, evidence)
}

/// The same from this resolution upwards, with the one that the clusters were made at: a place to begin for graphs
/// of the same points. The nodes are taken as they are, however many there are.
pub(crate) fn into_exactly_from(
    network: &Network,
    k: usize,
    seed: u64,
    evidence: &dyn Evidence,
    from: f64,
) -> (Vec<u32>, f64) {
    let (fine, resolution) = raised(network, fine_for(k, network.n_nodes()), seed, from);
    (MergeTree::exactly(k, network, &fine, evidence), resolution)
}
