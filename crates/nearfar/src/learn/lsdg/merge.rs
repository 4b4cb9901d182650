//! Other ways to merge than the default's: members of one's own choice, labellings, graphs. For studies of the method.

use crate::error::{DataError, ParamError, Result};
use crate::learn::Member;
use crate::learn::lsdg::PreparedSlices;
use crate::math::factor::Factor;
use crate::model::weighted;
use crate::observe::Observer;
use crate::params::{Params, Settled};
use crate::run::in_pool;
use crate::slices::{Graph, Slices, with_slices};
use crate::spectral;

impl PreparedSlices {
    /// Labels from the mean of these members' Z, each with its weight.
    ///
    /// # Errors
    /// When there are no members, a weight is not positive, they belong to other data, or the observer asks to stop.
    pub fn merge_members(
        &self,
        members: &[(&Member, f64)],
        params: &Params,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        ParamError::unless(!members.is_empty(), "members", 0, "1 or more")?;
        for (member, weight) in members {
            ParamError::unless(*weight > 0.0 && weight.is_finite(), "weight", *weight, "above 0 and finite")?;
            self.same_length(member.factor.n_samples())?;
        }
        with_slices!(&*self.pairs, slices => {
            label(&params.settle(self.n_samples(), self.n_features)?, observer, || weighted(slices, members))
        })
    }

    /// Labels from the co-membership of these labellings: how often two samples share a cluster.
    ///
    /// # Errors
    /// When there are no labellings, they belong to other data, or the observer asks to stop.
    pub fn merge_labelings(
        &self,
        labelings: &[Vec<usize>],
        params: &Params,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        ParamError::unless(!labelings.is_empty(), "labelings", 0, "1 or more")?;
        labelings.iter().try_for_each(|labels| self.same_length(labels.len()))?;
        let share = 1.0 / labelings.len() as f64;
        with_slices!(&*self.pairs, slices => {
            let nothing = vec![0.0; slices.multiplicity().len()];
            label(&params.settle(self.n_samples(), self.n_features)?, observer, || {
                let mut graph = slices.new_graph();
                for labels in labelings {
                    slices.augment(&nothing, &nothing, &indicator(labels), share, &mut graph);
                }
                graph
            })
        })
    }

    /// Labels from the graph sym(Σ_k weights_k A⁽ᵏ⁾) of any weights, nothing learnt.
    ///
    /// # Errors
    /// When there are more or fewer weights than ranks, or the observer asks to stop.
    pub fn spectral_weighted(
        &self,
        weights: &[f64],
        params: &Params,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        with_slices!(&*self.pairs, slices => {
            let expected = slices.multiplicity().len();
            ParamError::unless(weights.len() == expected, "weights", weights.len(), "one for every rank")?;
            label(&params.settle(self.n_samples(), self.n_features)?, observer, || {
                let mut graph = slices.new_graph();
                slices.combine(weights, &mut graph);
                graph
            })
        })
    }

    fn same_length(&self, found: usize) -> Result<()> {
        let n = self.n_samples();
        if found == n { Ok(()) } else { Err(DataError::LabelLengths { labels: found, truth: n }.into()) }
    }
}

/// Spectral clustering of a graph, on as many threads as asked for.
fn label<G: Graph>(
    params: &Settled,
    observer: &dyn Observer,
    graph: impl FnOnce() -> G + Send,
) -> Result<Vec<usize>> {
    in_pool(params, || {
        let (r, restarts) = (params.n_clusters, params.kmeans_restarts);
        Ok(spectral::cluster(&graph(), r, restarts, params.seed, observer)?.labels)
    })
}

/// One column per label, 1 where a sample has it.
fn indicator(labels: &[usize]) -> Factor {
    let (n, r) = (labels.len(), labels.iter().max().map_or(1, |l| l + 1));
    let mut values = vec![0.0; n * r];
    for (i, label) in labels.iter().enumerate() {
        values[label * n + i] = 1.0;
    }
    Factor::new(values, n, r)
}
