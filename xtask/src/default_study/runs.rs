//! Runs of the library on one set, and what is told of them.

use anyhow::{Context, Result};
use nearfar::labels::score::score;
use nearfar::learn::Engine;
use nearfar::{Model, Params, fit};

use crate::clock::{process_seconds, timed};
use crate::data::Dataset;
use crate::page::short;

/// Runs of one setting on one set.
pub(super) struct Runs {
    pub(super) acc: Vec<f64>,
    pub(super) nmi: Vec<f64>,
    pub(super) ari: Vec<f64>,
    pub(super) seconds: Vec<f64>,
    /// Of the processor, all threads together: what a busy machine does not change.
    pub(super) processor: Vec<f64>,
    pub(super) by_mixture: usize,
    pub(super) last: Model,
}

impl Runs {
    pub(super) fn of(data: &Dataset, params: impl Fn(u64) -> Params, seeds: u64) -> Result<Self> {
        let (mut acc, mut nmi, mut ari) = (Vec::new(), Vec::new(), Vec::new());
        let (mut seconds, mut processor) = (Vec::new(), Vec::new());
        let (mut by_mixture, mut last) = (0, None);
        for seed in 0..seeds.max(1) {
            let before = process_seconds();
            let (model, taken) = timed(|| fit(data.samples(), &params(seed)));
            let model = model?;
            let found = score(&model.labels, &data.truth)?;
            acc.push(found.accuracy);
            nmi.push(found.nmi);
            ari.push(found.ari);
            seconds.push(taken.wall);
            processor.push(process_seconds() - before);
            let mixture = model.account.as_ref().is_some_and(|account| account.engine == Engine::Mixture);
            by_mixture += usize::from(mixture);
            last = Some(model);
        }
        Ok(Self { acc, nmi, ari, seconds, processor, by_mixture, last: last.context("no seed")? })
    }

    /// Which way answered.
    pub(super) fn way(&self) -> String {
        match self.by_mixture {
            0 => "graph".to_owned(),
            all if all == self.acc.len() => "mixture".to_owned(),
            some => format!("mixture ({some} of {})", self.acc.len()),
        }
    }
}

/// The views of a run with their weights.
pub(super) fn views(model: &Model) -> String {
    let trusted = model.account.iter().flat_map(|account| &account.views);
    trusted.map(|trust| format!("{} {}", trust.view, short(trust.weight))).collect::<Vec<_>>().join("; ")
}
