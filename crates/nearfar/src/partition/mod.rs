//! partition: a graph into clusters.
//!
//! With a hard factor V = s·H the paper's model is the constant Potts model: ½‖S − s²HHᵀ‖² = const − s²⟨S, HHᵀ⟩ + ½s⁴ Σ n_c², so the
//! clusters that minimise it are those a resolution of s²/2 gives. [`leiden`] finds such clusters (with degrees in place of sizes:
//! modularity), [`MergeTree`] joins them until exactly k are left, whatever the resolution was: the number of clusters fixes s.

mod leiden;
mod network;
#[cfg(test)]
mod tests;
mod tree;

pub use leiden::{Leiden, Null, leiden};
pub use network::Network;
pub use tree::{Evidence, Merge, MergeTree, Nothing};

/// The resolution is multiplied by this until there are clusters enough.
const FINER: f64 = 1.6;
/// So often; what is not reached then begins with every point alone.
const STEPS: usize = 12;
/// Clusters of the first, fine partition for each one wanted.
const FINE: f64 = 1.5;

/// A partition with at least so many clusters: the resolution is raised until there are. Every point alone where no resolution does it.
#[must_use]
pub fn fine(network: &Network, at_least: usize, seed: u64) -> Vec<u32> {
    let n = network.n_nodes();
    if at_least < n {
        let mut settings = Leiden::new(1.0, seed);
        for _ in 0..STEPS {
            let labels = leiden(network, &settings, None);
            if labels.iter().max().map_or(0, |label| *label as usize + 1) >= at_least {
                return labels;
            }
            settings.resolution *= FINER;
        }
    }
    (0..n as u32).collect()
}

/// The merge tree of a partition fine enough for k clusters.
#[must_use]
pub fn tree_for(network: &Network, k: usize, seed: u64, evidence: &dyn Evidence) -> MergeTree {
    let wanted = ((FINE * k as f64).ceil() as usize).min(network.n_nodes());
    MergeTree::new(network, &fine(network, wanted, seed), evidence)
}

/// Exactly k clusters (as many as there are points, where k is more), numbered by first appearance.
#[must_use]
pub fn into_exactly(network: &Network, k: usize, seed: u64, evidence: &dyn Evidence) -> Vec<u32> {
    tree_for(network, k, seed, evidence).labels_at(k)
}
