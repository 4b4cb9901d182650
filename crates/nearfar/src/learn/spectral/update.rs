//! Labels from the leading eigenvectors of D^-½ S D^-½, and the normalised cut they make; see [`crate::spectral`].

use crate::error::Result;
use crate::graph::SparseGraph;
use crate::observe::Observer;
use crate::spectral;

/// Labels and their cut.
pub(super) fn cluster(
    graph: &SparseGraph,
    r: usize,
    restarts: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<(Vec<usize>, f64)> {
    let found = spectral::cluster(graph, r, restarts, seed, observer)?;
    let cut = spectral::normalized_cut(graph, &found.labels, r);
    Ok((found.labels, cut))
}
