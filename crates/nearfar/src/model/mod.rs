//! The fitted thing: labels, and everything they were made of.

mod account;
pub(crate) mod drift;
pub(crate) mod far_out;
mod findings;
mod inspect;
mod partial;
mod predict;
mod refine;
pub(crate) mod saved;
pub(crate) mod tensors;
mod warning;

pub use crate::layout::Layout;
pub use crate::mixture::{Covariance, MixtureReport};
pub use crate::neighbors::SearchReport;
pub use crate::slices::{BinnedReport, SparseRows};
pub use crate::tree::{Merge, MergeTree};
pub use crate::views::Counted;
pub use account::{Account, Lens, Trust};
pub use drift::{Change, ClusterDrift, Drift, Shift};
pub(crate) use far_out::local_scales;
pub(crate) use findings::Findings;
pub use inspect::{BlockMeans, Blocks};
pub use partial::Keeper;
pub use predict::Predictions;
pub use refine::Renumbering;
pub use saved::{About, InputKind, ModelFileError, SaveOptions, SavedModel, Scaling, Training};
pub use warning::Warning;

use std::ops::Deref;
use std::sync::Arc;

use crate::graph::SparseGraph;
use crate::learn::Member;
use crate::mixture::ByMixture;
use crate::observe::Stage;
use crate::params::Params;
use crate::plan::Precision;
use crate::slices::{Graph, Pairs, Slices, with_slices};
use crate::views::Standard;

/// A finished run. Its fields are those of [`Fields`]: read them as `model.labels`. Nobody changes them, so that a
/// model stays what a run found.
#[derive(Clone, Debug)]
pub struct Model(Fields);

impl Deref for Model {
    type Target = Fields;

    fn deref(&self) -> &Fields {
        &self.0
    }
}

/// The fields of a [`Model`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fields {
    /// One label per sample, numbered by first appearance.
    pub labels: Vec<usize>,
    /// Share of each sample's similarity that lies in each cluster; n × r, row-major, rows sum to 1.
    pub membership: Vec<f64>,
    /// w: trust in each rank as a neighbour, the mean over the kept members; sums to 1.
    pub near_weights: Vec<f64>,
    /// p: trust in each rank as a stranger, the mean over the kept members; sums to 1.
    pub far_weights: Vec<f64>,
    /// All members; more than one make a consensus.
    pub members: Vec<Member>,
    /// Which member's factor fits best (smallest cut among the kept ones).
    pub best: usize,
    /// Mean adjusted Rand index of the kept members' own labels with the result; 1 for a single member.
    pub agreement: f64,
    /// Leading eigenvalues of the normalised Z, one more than there are clusters; empty for methods without Z.
    pub eigenvalues: Vec<f64>,
    /// Spectral coordinates, n × r, row-major; empty for methods without Z.
    pub embedding: Vec<f64>,
    /// Local scales σ in the units of the data; `None` where affinities were given.
    pub sigma: Option<Vec<f64>>,
    /// Seconds per stage, in order.
    pub timings: Vec<(Stage, f64)>,
    /// What a person should know about data and result.
    pub warnings: Vec<Warning>,
    /// The settings in force.
    pub params: Params,
    /// Storage that was used.
    pub precision: Precision,
    /// Number of features; 0 for pairwise input.
    pub n_features: usize,
    /// How the data was seen, in binned mode.
    pub binned: Option<BinnedReport>,
    /// How the nearest neighbours were found; `None` where every pair was ranked, or none.
    pub search: Option<SearchReport>,
    /// How clusters join; of the default method.
    pub tree: Option<MergeTree>,
    /// How sure every label is, in 0 to 1: the share of members that agree with it times the share of the point's
    /// neighbourhood that does; the posterior where a mixture is the answer. Of the default method; empty
    /// elsewhere.
    pub confidence: Vec<f64>,
    /// How the default method came to its answer.
    pub account: Option<Account>,
    /// What labels new points, view by view; of the default method, empty elsewhere.
    pub lenses: Vec<Lens>,
    /// How the columns are standardised in views that do.
    pub standard: Standard,
    /// The mixture that labels new points, where one was the answer.
    pub(crate) mixture: Option<ByMixture>,
    pub(crate) source: Source,
}

/// What the similarity is made of.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// All slices.
    Pairs(Arc<Pairs>),
    /// One sparse graph.
    Graph(Arc<SparseGraph>),
    /// Neither: the method worked on the samples.
    Nothing,
}

impl Model {
    /// Number of samples, n.
    pub fn n_samples(&self) -> usize {
        self.labels.len()
    }

    /// Size of every cluster.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.params.n_clusters];
        for label in &self.labels {
            sizes[*label] += 1;
        }
        sizes
    }

    /// Give the clusters other numbers, as of an older fit.
    pub fn renumber(&mut self, found: &Renumbering) {
        let (r, r_new) = (self.params.n_clusters, found.n_clusters);
        let fields = &mut self.0;
        fields.labels.iter_mut().for_each(|label| *label = found.to[*label]);
        fields.membership = refine::moved(&fields.membership, r, &found.to, r_new);
        if r_new != r {
            fields.embedding = Vec::new(); // r coordinates, which nobody has in another number
        }
        if let Some(mixture) = &mut fields.mixture {
            mixture.relabel(&found.to);
        }
        fields.params.n_clusters = r_new;
    }

    /// The labels with k clusters, without fitting again; every level is nested in the next coarser one. `None` for
    /// methods without a tree, and where k is 0 or more than the tree has leaves ([`MergeTree::most`]).
    pub fn labels_at(&self, k: usize) -> Option<Vec<usize>> {
        let tree = self.tree.as_ref().filter(|tree| (1..=tree.most()).contains(&k))?;
        Some(tree.labels_at(k).into_iter().map(|label| label as usize).collect())
    }

    /// The member whose factor fits best; `None` where nothing had to be learnt (as many clusters as points).
    pub fn best_member(&self) -> Option<&Member> {
        self.members.get(self.best)
    }

    /// Ranks with any weight in w and in p.
    pub fn active_ranks(&self) -> (usize, usize) {
        let count = |weights: &[f64]| weights.iter().filter(|w| **w > 0.0).count();
        (count(&self.near_weights), count(&self.far_weights))
    }

    /// sym S(w): the learnt similarity, or the graph that was factored, as a sparse matrix; empty for methods
    /// without a graph.
    pub fn similarity(&self) -> SparseRows {
        match &self.source {
            Source::Pairs(pairs) => {
                with_slices!(&**pairs, slices => slices.edges(&slices.per_weight(&self.near_weights)))
            }
            Source::Graph(graph) => graph.rows().clone(),
            Source::Nothing => self.no_edges(),
        }
    }

    /// sym D(p): the learnt dissimilarity, as a sparse matrix; empty for methods without one.
    pub fn dissimilarity(&self) -> SparseRows {
        match &self.source {
            Source::Pairs(pairs) => {
                with_slices!(&**pairs, slices => slices.edges(&slices.per_weight(&self.far_weights)))
            }
            Source::Graph(_) | Source::Nothing => self.no_edges(),
        }
    }

    fn no_edges(&self) -> SparseRows {
        SparseRows { starts: vec![0; self.n_samples() + 1], ..SparseRows::default() }
    }

    /// Z: the augmented similarity, n × n, row-major, made anew from the kept members; `None` for methods without Z.
    pub fn augmented(&self) -> Option<Vec<f64>> {
        let Source::Pairs(pairs) = &self.source else { return None };
        with_slices!(&**pairs, slices => {
            let z = merged(slices, &self.members);
            let n = self.n_samples();
            let mut full = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..n {
                    full[i * n + j] = z.get(i, j);
                }
            }
            Some(full)
        })
    }
}

/// Z, the mean over the kept members.
pub(crate) fn merged<S: Slices>(slices: &S, members: &[Member]) -> S::Graph {
    let kept: Vec<(&Member, f64)> = members.iter().filter(|m| m.kept).map(|m| (m, 1.0)).collect();
    weighted(slices, &kept)
}

/// Z, the mean over these members, each with its weight.
pub(crate) fn weighted<S: Slices>(slices: &S, members: &[(&Member, f64)]) -> S::Graph {
    let mut z = slices.new_graph();
    let total: f64 = members.iter().map(|(_, weight)| weight).sum();
    for (member, weight) in members {
        slices.augment(&member.near_weights, &member.far_weights, &member.factor, weight / total, &mut z);
    }
    z
}
