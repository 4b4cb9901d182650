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

pub use leiden::{Leiden, Null, leiden};
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
/// Parts that there must be for each cluster wanted, so that clusters can be made of them.
const PARTS: usize = 8;

/// A partition with at least so many clusters: the resolution is raised until there are. Every point alone where no
/// resolution does it.
///
/// Of a graph of many nodes the resolution is sought on small parts of it; then the nodes move once more by themselves.
#[must_use]
pub fn fine(network: &Network, at_least: usize, seed: u64) -> Vec<u32> {
    let n = network.n_nodes();
    let found = if at_least < n { sought(network, at_least, seed, 1.0) } else { None };
    found.map_or_else(|| (0..n as u32).collect(), |(labels, _)| labels)
}

/// The partition with the resolution that gave it, the first from this one upwards.
fn sought(network: &Network, at_least: usize, seed: u64, from: f64) -> Option<(Vec<u32>, f64)> {
    if let Some((small, parts)) = by_parts(network, at_least, seed) {
        let (of_parts, resolution) = sought(&small, at_least, seed, from)?;
        let coarse: Vec<u32> = parts.iter().map(|part| of_parts[*part as usize]).collect();
        let labels = leiden::settled(network, &Leiden::new(resolution, seed), &coarse);
        let labels = if count(&labels) >= at_least { labels } else { coarse };
        return Some((labels, resolution));
    }
    let mut settings = Leiden::new(from, seed);
    let (mut before, mut step) = (0, FINER);
    for _ in 0..STEPS {
        let labels = leiden(network, &settings, None);
        let found = count(&labels);
        if found >= at_least {
            return Some((labels, settings.resolution));
        }
        // Clusters that lie apart are divided at a far higher resolution: longer steps, until there are more.
        step = if found > before { FINER } else { step * step };
        before = found;
        settings.resolution *= step;
    }
    None
}

/// The graph of small parts, and the part of every node; `None` where there are few nodes, or too few parts for so
/// many clusters.
pub(crate) fn by_parts(network: &Network, at_least: usize, seed: u64) -> Option<(Network, Vec<u32>)> {
    let n = network.n_nodes();
    if n <= MANY {
        return None;
    }
    let (parts, n_parts) = leiden::parts(network, seed);
    let of_use = n_parts < n && n_parts >= PARTS * at_least;
    of_use.then(|| (network.aggregated(&parts, n_parts), parts))
}

fn count(labels: &[u32]) -> usize {
    labels.iter().max().map_or(0, |label| *label as usize + 1)
}

/// The merge tree of a partition fine enough for k clusters.
#[must_use]
pub fn tree_for(network: &Network, k: usize, seed: u64, evidence: &dyn Evidence) -> MergeTree {
    MergeTree::new(network, &fine(network, fine_for(k, network.n_nodes()), seed), evidence)
}

/// Clusters of the fine partition that k of n nodes are made of.
pub(crate) fn fine_for(k: usize, n: usize) -> usize {
    ((FINE * k as f64).ceil() as usize).min(n)
}

/// Exactly k clusters (as many as there are points, where k is more), numbered by first appearance.
#[must_use]
pub fn into_exactly(network: &Network, k: usize, seed: u64, evidence: &dyn Evidence) -> Vec<u32> {
    tree_for(network, k, seed, evidence).labels_at(k)
}

/// The same from this resolution upwards, with the one that the clusters were made at: a place to begin for graphs
/// of the same points.
pub(crate) fn into_exactly_from(
    network: &Network,
    k: usize,
    seed: u64,
    evidence: &dyn Evidence,
    from: f64,
) -> (Vec<u32>, f64) {
    let n = network.n_nodes();
    let at_least = fine_for(k, n);
    let found = if at_least < n { sought(network, at_least, seed, from) } else { None };
    let (fine, resolution) = found.unwrap_or_else(|| ((0..n as u32).collect(), from));
    (MergeTree::new(network, &fine, evidence).labels_at(k), resolution)
}
