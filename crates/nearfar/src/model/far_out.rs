//! How far out a point lies: its neighbours are so many times as far as is usual in its cluster.
//!
//! The score is 1 − usual / own, and 0 where its own distance is the smaller one: ½ is twice as far as usual. The
//! distance is that to the 7th neighbour in the view that is trusted most; where a mixture is the answer it is the
//! radius in which as many points would lie, density^(−1/d) in d dimensions. What is usual is the median over the
//! cluster.

use super::saved::{InputKind, SavedModel, Training};
use crate::error::Result;
use crate::mixture::ByMixture;
use crate::model::Lens;
use crate::observe::{Observer, Silent};

/// What is usual in every cluster.
pub(super) struct Usual {
    /// Of distances: which view they are measured in.
    pub(super) view: usize,
    /// The median distance, or log of density, of every cluster.
    medians: Vec<f64>,
    dimensions: f64,
}

impl SavedModel {
    /// How far out every training point lies, from 0 (as its cluster) to 1: the distance to its neighbours beside
    /// what is usual in its cluster. ½ is twice as far. Empty where the model was learnt from affinities, or keeps
    /// no scales.
    ///
    /// # Errors
    /// Never for a model that was fitted or loaded.
    pub fn outlier_scores(&self) -> Result<Vec<f64>> {
        let n = self.about.n_samples;
        if let Some(mixture) = self.by_mixture() {
            let Some(logs) = self.logs(mixture, &Silent)? else { return Ok(Vec::new()) };
            let usual = Usual::of_logs(self, mixture, &logs);
            return Ok((0..n).map(|i| usual.score_of_log(self.labels[i] as usize, logs[i])).collect());
        }
        let Some(usual) = Usual::of_neighbors(self) else { return Ok(Vec::new()) };
        Ok((0..n).map(|i| usual.score_of_known(self, i)).collect())
    }

    /// Logs of the densities of the training points.
    fn logs(&self, mixture: &ByMixture, observer: &dyn Observer) -> Result<Option<Vec<f64>>> {
        let Some(samples) = self.samples()? else { return Ok(None) };
        Ok(Some(mixture.shares(&samples, self.about.n_clusters, observer)?.1))
    }

    /// The view that is trusted most, and the local scales in it.
    fn scales(&self) -> Option<(usize, &[f64])> {
        if self.about.input == InputKind::Affinities {
            return None;
        }
        Some((most_trusted(&self.lenses).unwrap_or(0), local_scales(&self.lenses, self.sigma.as_deref())?))
    }
}

fn most_trusted(lenses: &[Lens]) -> Option<usize> {
    (0..lenses.len()).reduce(|a, b| if lenses[b].weight > lenses[a].weight { b } else { a })
}

/// The local scales in the view that is trusted most, or without views those of the samples.
#[must_use]
pub fn local_scales<'a>(lenses: &'a [Lens], sigma: Option<&'a [f64]>) -> Option<&'a [f64]> {
    match most_trusted(lenses) {
        Some(view) => lenses[view].sigma.as_deref(),
        None => sigma,
    }
}

impl Usual {
    /// By distances to neighbours; `None` where the model has none.
    pub(super) fn of_neighbors(model: &SavedModel) -> Option<Self> {
        let (view, sigma) = model.scales()?;
        Some(Self { view, medians: medians(model, sigma), dimensions: 1.0 })
    }

    /// By densities of a mixture.
    pub(super) fn of_densities(
        model: &SavedModel,
        mixture: &ByMixture,
        observer: &dyn Observer,
    ) -> Result<Self> {
        debug_assert!(model.training != Training::Nothing, "predicting has asked for them");
        Ok(Self::of_logs(model, mixture, &model.logs(mixture, observer)?.unwrap_or_default()))
    }

    fn of_logs(model: &SavedModel, mixture: &ByMixture, logs: &[f64]) -> Self {
        Self { view: 0, medians: medians(model, logs), dimensions: mixture.dimensions() as f64 }
    }

    /// Of a point in this cluster whose neighbours are so far away.
    pub(super) fn score(&self, label: usize, scale: f64) -> f64 {
        let usual = self.medians[label];
        if scale > usual { 1.0 - usual / scale } else { 0.0 }
    }

    /// Of a training point.
    pub(super) fn score_of_known(&self, model: &SavedModel, i: usize) -> f64 {
        let sigma = model.scales().map_or(0.0, |(_, sigma)| sigma[i]);
        self.score(model.labels[i] as usize, sigma)
    }

    /// Of a point in this cluster where the log of the density is so large.
    pub(super) fn score_of_log(&self, label: usize, log: f64) -> f64 {
        let behind = (self.medians[label] - log) / self.dimensions;
        if behind > 0.0 { 1.0 - (-behind).exp() } else { 0.0 }
    }
}

/// The median over the points of every cluster.
fn medians(model: &SavedModel, values: &[f64]) -> Vec<f64> {
    let mut own: Vec<Vec<f64>> = vec![Vec::new(); model.about.n_clusters];
    model.labels.iter().zip(values).for_each(|(label, x)| own[*label as usize].push(*x));
    let median = |values: &mut Vec<f64>| {
        let middle = values.len() / 2;
        if values.is_empty() { 0.0 } else { *values.select_nth_unstable_by(middle, f64::total_cmp).1 }
    };
    own.iter_mut().map(median).collect()
}
