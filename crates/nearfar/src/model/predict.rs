//! Labels of new points, from a saved model.
//!
//! A new point x ranks the training points by distance. The one at rank k has the vote
//! $$ w_k \, \exp(-d^2(x, x_k) / (\sigma_x \sigma_k)) $$
//! for its cluster: the trust learnt in that rank times the self-tuned affinity, as in S(w); σ_x is the distance of
//! x to its 7th training point. The cluster with most votes wins, the lowest number among equals. Methods without w
//! count the ⌊log₂ n⌋ + 1 nearest alike.
//!
//! A point that equals a training point gets its label (of several such, the commonest), so that the training data
//! gets its own labels back. The answer for one point looks at no other new point: blocked products find who may be
//! near, differences decide, so that not even rounding depends on the batch. Of many training points those in the
//! nearest cells are looked at (`neighbors/search/asked.rs`).

use std::ops::Range;

use rayon::prelude::*;

use super::far_out::Usual;
use super::saved::{InputKind, SavedModel, Training, fingerprint, own_entry};
use crate::error::{DataError, Result};
use crate::input::{Metric, Samples};
use crate::math::kernel::{distance2_lanes, normalize};
use crate::mixture::ByMixture;
use crate::model::Lens;
use crate::neighbors::SIGMA_NEIGHBOR;
use crate::neighbors::exact::{Points, power_of_two_above};
use crate::neighbors::search::Known;
use crate::observe::{Event, Observer, Stage, go_on};
use crate::views::View;

/// New points that one task works on, so that a training point is read once for many of them; and where rows are as
/// long as there are training points.
const BLOCK: usize = 4096;
const ROWS_OF_PAIRS: usize = 16;
/// A point so many times as large as all training points is far outside.
const FAR: f64 = 1e6;

/// What is said of new points.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Predictions {
    /// The cluster of every point.
    pub labels: Vec<usize>,
    /// How sure it is, from 0 to 1: the share of the votes, or the posterior where a mixture decides. A point that
    /// equals a training point is as sure as that.
    pub confidence: Vec<f64>,
    /// The cluster with the next largest share; `None` where no other has any.
    pub second: Vec<Option<usize>>,
    /// How far out the point lies, from 0 to 1, as [`SavedModel::outlier_scores`] has it; empty where the model
    /// cannot tell.
    pub outlier_scores: Vec<f64>,
}

/// What is said of one point.
#[derive(Clone, Copy, Debug)]
struct Said {
    label: usize,
    confidence: f64,
    second: Option<usize>,
    outlier: f64,
}

impl Predictions {
    fn of(said: &[Said], tells_outliers: bool) -> Self {
        let outliers = said.iter().filter(|_| tells_outliers).map(|said| said.outlier);
        Self {
            labels: said.iter().map(|said| said.label).collect(),
            confidence: said.iter().map(|said| said.confidence).collect(),
            second: said.iter().map(|said| said.second).collect(),
            outlier_scores: outliers.collect(),
        }
    }
}

impl SavedModel {
    /// The clusters of new points: samples with the features of the training data, or where the model was learnt
    /// from a pairwise matrix, one row of distances (infinite: not known) or affinities to all training points for
    /// each.
    ///
    /// ```
    /// use nearfar::{Input, Params, Samples, SavedModel, model::SaveOptions};
    /// let data = nearfar::generate::moons(120, 0.05, 3)?;
    /// let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
    /// let model = nearfar::fit(samples, &Params::new(2).seed(1))?;
    /// let saved = SavedModel::new(&model, &Input::from(samples), &SaveOptions::default());
    /// assert_eq!(saved.predict(&samples, &nearfar::observe::Silent)?, model.labels);
    /// # Ok::<(), nearfar::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the model keeps no samples, the new points have another number of columns, hold values that are not
    /// finite, or the observer asks to stop.
    pub fn predict(&self, new: &Samples<'_>, observer: &dyn Observer) -> Result<Vec<usize>> {
        Ok(self.predictions(new, observer)?.labels)
    }

    /// The clusters of new points with how sure they are, the next best cluster, and how far out the point lies.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predictions(&self, new: &Samples<'_>, observer: &dyn Observer) -> Result<Predictions> {
        let (found, n) = (new.n_samples(), self.about.n_samples);
        if self.about.input == InputKind::Samples && self.training == Training::Nothing {
            return Err(DataError::NotKept.into());
        }
        let expected = match self.about.input {
            InputKind::Samples => self.about.n_features,
            _ => n,
        };
        if new.n_features() != expected {
            let (unit, hint) = match self.about.input {
                InputKind::Samples => ("features", "the features it was fitted on, in the same order"),
                _ => ("columns", "one for every training sample"),
            };
            return Err(DataError::WrongWidth { found: new.n_features(), expected, unit, hint }.into());
        }
        if found == 0 {
            return Ok(Predictions::default());
        }
        if let Some(mixture) = self.by_mixture() {
            return self.by_parts(mixture, new, observer);
        }
        let usual = Usual::of_neighbors(self);
        let bases: Vec<Base<'_>> = Base::all(self)?;
        let means: Vec<Vec<f64>> = bases.iter().map(Base::mean).collect();
        let seen: Vec<Seen<'_>> = bases
            .iter()
            .zip(&means)
            .map(|(base, mean)| Seen::new(base, mean, observer))
            .collect::<Result<_>>()?;
        let block = if self.about.input == InputKind::Samples { BLOCK } else { ROWS_OF_PAIRS };
        let said: Result<Vec<Vec<Said>>> = (0..found.div_ceil(block))
            .into_par_iter()
            .map(|at| {
                go_on(observer, Stage::Labels)?;
                let rows = at * block..((at + 1) * block).min(found);
                let said = self.block(new, rows.clone(), &seen, usual.as_ref())?;
                let (done, total) = (rows.len() as u64, found as u64);
                observer.notice(&Event::Progress { stage: Stage::Labels, done, total });
                Ok(said)
            })
            .collect();
        Ok(Predictions::of(&said?.concat(), usual.is_some()))
    }

    /// What is said of some of the new points.
    fn block(
        &self,
        new: &Samples<'_>,
        rows: Range<usize>,
        seen: &[Seen<'_>],
        usual: Option<&Usual>,
    ) -> Result<Vec<Said>> {
        let (height, k) = (rows.len(), self.about.n_clusters);
        let mut votes = vec![0.0; height * k];
        // Training points that a new one equals in every view, and how far its neighbours are in the first.
        let mut equals: Vec<Option<Vec<usize>>> = vec![None; height];
        let mut scales = vec![0.0; height];
        for (view, Seen { base, known }) in seen.iter().enumerate() {
            let near = base.near(new, rows.clone(), known.as_ref())?;
            for (a, near) in near.into_iter().enumerate() {
                let votes = &mut votes[a * k..(a + 1) * k];
                let (same, scale) = base.vote(near, rows.start + a, votes)?;
                if usual.is_some_and(|usual| usual.view == view) {
                    scales[a] = scale;
                }
                equals[a] = Some(match equals[a].take() {
                    Some(before) => before.into_iter().filter(|j| same.contains(j)).collect(),
                    None => same,
                });
            }
        }
        let each = votes.chunks_exact(k).zip(equals).zip(scales);
        Ok(each
            .map(|((votes, equals), scale)| {
                let equals = equals.unwrap_or_default();
                if equals.is_empty() {
                    Self::by_votes(votes, scale, usual)
                } else {
                    self.as_known(&equals, usual)
                }
            })
            .collect())
    }

    fn by_votes(votes: &[f64], scale: f64, usual: Option<&Usual>) -> Said {
        let label = commonest(votes);
        let sum: f64 = votes.iter().sum();
        let confidence = if sum > 0.0 { (votes[label] / sum).clamp(0.0, 1.0) } else { 0.0 };
        let outlier = usual.map_or(0.0, |usual| usual.score(label, scale));
        Said { label, confidence, second: crate::explain::second(votes, label), outlier }
    }

    /// What is said of a point that equals these training points.
    fn as_known(&self, equals: &[usize], usual: Option<&Usual>) -> Said {
        let label = self.label_of(equals);
        let first = equals.iter().copied().find(|j| self.labels[*j] as usize == label).unwrap_or(equals[0]);
        let k = self.about.n_clusters;
        let shares = self.membership.get(first * k..(first + 1) * k).unwrap_or_default();
        Said {
            label,
            confidence: self.confidence.get(first).copied().unwrap_or(1.0),
            second: crate::explain::second(shares, label),
            outlier: usual.map_or(0.0, |usual| usual.score_of_known(self, first)),
        }
    }

    /// The label that most of these training points have, the lowest among equals.
    fn label_of(&self, which: &[usize]) -> usize {
        let mut votes = vec![0.0; self.about.n_clusters];
        which.iter().for_each(|j| votes[self.labels[*j] as usize] += 1.0);
        commonest(&votes)
    }

    /// By the parts of a mixture.
    fn by_parts(
        &self,
        mixture: &ByMixture,
        new: &Samples<'_>,
        observer: &dyn Observer,
    ) -> Result<Predictions> {
        let usual = Usual::of_densities(self, mixture, observer)?;
        let (found, m, k) = (new.n_samples(), self.about.n_features, self.about.n_clusters);
        let said: Result<Vec<Vec<Said>>> = (0..found.div_ceil(BLOCK))
            .into_par_iter()
            .map(|at| {
                let rows = at * BLOCK..((at + 1) * BLOCK).min(found);
                let mut values = vec![0.0; rows.len() * m];
                for (i, row) in rows.clone().zip(values.chunks_exact_mut(m)) {
                    new.copy_row(i, row);
                    check_finite(row, i)?;
                    self.scaling.apply(row);
                }
                let (shares, logs) =
                    mixture.shares(&Samples::from_rows(&values, rows.len(), m)?, k, observer)?;
                let said = shares.chunks_exact(k).zip(logs).map(|(shares, log)| {
                    let label = commonest(shares);
                    let outlier = usual.score_of_log(label, log);
                    Said {
                        label,
                        confidence: shares[label],
                        second: crate::explain::second(shares, label),
                        outlier,
                    }
                });
                Ok(said.collect())
            })
            .collect();
        Ok(Predictions::of(&said?.concat(), true))
    }
}

/// The place of the largest number, the first among equals.
fn commonest(votes: &[f64]) -> usize {
    (1..votes.len()).fold(0, |best, c| if votes[c] > votes[best] { c } else { best })
}

/// One view of the training points: how new ones are measured, and how much who is near counts.
struct Base<'a> {
    model: &'a SavedModel,
    view: View,
    metric: Metric,
    /// The training points, divided by `unit`; `None` where new rows hold distances or affinities themselves.
    points: Option<Points<'a>>,
    /// Trust in the k-th nearest training point, from 0.
    weights: Vec<f64>,
    /// Local scales of the training points; `None` where affinities were given.
    sigma: Option<&'a [f64]>,
    /// How far the view is trusted.
    trust: f64,
}

/// The same, ready to find who is near.
struct Seen<'a> {
    base: &'a Base<'a>,
    known: Option<Known<'a>>,
}

impl<'a> Seen<'a> {
    fn new(base: &'a Base<'a>, mean: &'a [f64], observer: &dyn Observer) -> Result<Self> {
        let known = base.points.as_ref().map(|points| Known::new(points, mean, base.most(), observer));
        Ok(Self { base, known: known.transpose()? })
    }
}

/// Who is near a new point, nearest first, with squared distances divided by the square of a unit; or, where the row
/// is known, the training points that it equals.
enum Near {
    Apart(Vec<(f64, u32)>, f64),
    Same(Vec<usize>),
}

impl<'a> Base<'a> {
    /// All views of a model; of most methods the samples as they are.
    fn all(model: &'a SavedModel) -> Result<Vec<Self>> {
        if model.lenses.is_empty() {
            let learnt = model.near_weights.get(1..).unwrap_or_default();
            return Ok(vec![Self::new(model, View::Raw, learnt, model.sigma.as_deref(), 1.0)?]);
        }
        let of_lens = |lens: &'a Lens| {
            // The search itself makes directions of rows where the metric is the cosine.
            let view = if model.metric() == Metric::Cosine { View::Raw } else { lens.view };
            Self::new(model, view, &lens.near_weights, lens.sigma.as_deref(), lens.weight)
        };
        model.lenses.iter().map(of_lens).collect()
    }

    /// `learnt` are the weights of the nearest others, nearest first.
    fn new(
        model: &'a SavedModel,
        view: View,
        learnt: &[f64],
        sigma: Option<&'a [f64]>,
        trust: f64,
    ) -> Result<Self> {
        let n = model.about.n_samples;
        let weights = match learnt.iter().rposition(|w| *w > 0.0) {
            Some(last) => learnt[..=last].to_vec(),
            None => vec![1.0; (n.max(1).ilog2() as usize + 1).min(n)],
        };
        let metric = model.metric();
        let points = if model.about.input == InputKind::Samples {
            let mut rows: Vec<f64> = match &model.training {
                Training::Double(values) => values.clone(),
                Training::Single(values) => values.iter().copied().map(f64::from).collect(),
                Training::Nothing => Vec::new(),
            };
            let m = model.about.n_features;
            rows.par_chunks_mut(m).for_each(|row| model.standard.show(view, row));
            if metric == Metric::Cosine {
                for (row, values) in rows.chunks_exact_mut(m).enumerate() {
                    if !normalize(values) {
                        return Err(DataError::ZeroRow { row }.into());
                    }
                }
            }
            let unit = power_of_two_above(rows.iter().fold(0.0, |most, x| x.abs().max(most)));
            rows.iter_mut().for_each(|x| *x /= unit);
            Some(Points::of_doubles(rows, m, unit))
        } else {
            None
        };
        Ok(Self { model, view, metric, points, weights, sigma, trust })
    }

    fn mean(&self) -> Vec<f64> {
        self.points.as_ref().map_or_else(Vec::new, Points::mean)
    }

    /// So many nearest training points are wanted.
    fn most(&self) -> usize {
        self.weights.len().max(SIGMA_NEIGHBOR)
    }

    /// Who is near each of some new rows.
    fn near(&self, new: &Samples<'_>, which: Range<usize>, known: Option<&Known<'_>>) -> Result<Vec<Near>> {
        let width = new.n_features();
        let mut rows = vec![0.0; which.len() * width];
        for (i, row) in which.clone().zip(rows.chunks_exact_mut(width)) {
            new.copy_row(i, row);
        }
        let (Some(known), Some(points)) = (known, &self.points) else {
            let near = rows.chunks_exact_mut(width).zip(which).map(|(row, i)| self.of_pairs(row, i));
            return near.collect();
        };
        let unit = points.unit;
        let mut units = vec![unit; which.len()];
        for ((i, row), own) in which.zip(rows.chunks_exact_mut(width)).zip(&mut units) {
            check_finite(row, i)?;
            self.model.scaling.apply(row);
            self.model.standard.show(self.view, row);
            if self.metric == Metric::Cosine && !normalize(row) {
                return Err(DataError::ZeroRow { row: i }.into());
            }
            // A point far outside the training data brings its own unit, so that no square overflows.
            let size = row.iter().fold(0.0, |most: f64, x| x.abs().max(most));
            if size > FAR * unit {
                *own = power_of_two_above(size);
            }
            row.iter_mut().for_each(|x| *x /= *own);
        }
        let apart = known.nearest(&rows, |a| units[a] == unit);
        let near = rows.chunks_exact(width).zip(&units).zip(apart).map(|((row, own), near)| {
            if *own == unit {
                return Near::Apart(near, unit);
            }
            let shrink = unit / own;
            let shrunk = |j: usize| points.row(j).iter().map(|y| y * shrink).collect::<Vec<_>>();
            let values: Vec<f64> =
                (0..self.model.about.n_samples).map(|j| distance2_lanes(row, &shrunk(j))).collect();
            Near::Apart(nearest(&values, self.most()), *own)
        });
        Ok(near.collect())
    }

    /// Who is near by a row of distances or affinities to all training points.
    fn of_pairs(&self, values: &mut [f64], row: usize) -> Result<Near> {
        let same = known_row(self.model, values);
        if !same.is_empty() {
            return Ok(Near::Same(same));
        }
        if self.model.about.input == InputKind::Affinities {
            check_row("affinities", values, row, false)?;
            values.iter_mut().for_each(|x| *x = -x.ln());
        } else {
            check_row("distances", values, row, true)?;
            let same: Vec<usize> = (0..values.len()).filter(|j| values[*j] == 0.0).collect();
            if !same.is_empty() {
                return Ok(Near::Same(same));
            }
            values.iter_mut().for_each(|x| *x *= *x);
        }
        Ok(Near::Apart(nearest(values, self.most()), 1.0))
    }

    /// Add the votes for one new point, of which the sum is the trust in the view. Gives the training points that it
    /// equals, and the distance to its 7th neighbour.
    fn vote(&self, near: Near, row: usize, votes: &mut [f64]) -> Result<(Vec<usize>, f64)> {
        let (near, unit) = match near {
            Near::Same(same) => return Ok((same, 0.0)),
            Near::Apart(near, unit) => (near, unit),
        };
        let tuned = self.model.about.input != InputKind::Affinities;
        let same: Vec<usize> = if self.points.is_some() {
            near.iter().take_while(|(value, _)| *value == 0.0).map(|(_, j)| *j as usize).collect()
        } else {
            Vec::new()
        };
        let scale = near.get(SIGMA_NEIGHBOR - 1).or(near.last()).map(|(value, _)| value.sqrt() * unit);
        let Some(own) = scale else {
            let rule = "at least one training point must be at a known distance or have a positive affinity";
            let what = if tuned { "distances" } else { "affinities" };
            let (column, value) = (0, if tuned { f64::INFINITY } else { 0.0 });
            return Err(DataError::Precomputed { what, row, column, value, rule: rule.into() }.into());
        };
        let sigma = |j: usize| self.sigma.map_or(own, |sigma| sigma[j]);
        // Among copies of the new point distances are 0, whatever the scale.
        let tuning = if own > 0.0 { own } else { 1.0 };
        let voters = near.iter().zip(&self.weights).filter(|(_, weight)| **weight > 0.0);
        let exponents: Vec<(usize, f64, f64)> = voters
            .map(|(&(value, j), weight)| {
                // In this order no factor over- or underflows before the other can make up for it.
                let j = j as usize;
                let exponent = if tuned { (value * (unit / tuning)) * (unit / sigma(j)) } else { value };
                (j, exponent.min(f64::MAX), *weight)
            })
            .collect();
        // Relative to the loudest, so that far from all training points there is still a vote.
        let least = exponents.iter().fold(f64::INFINITY, |least, (_, e, _)| least.min(*e));
        let voices: Vec<(usize, f64)> =
            exponents.into_iter().map(|(j, e, weight)| (j, weight * (least - e).exp())).collect();
        let sum: f64 = voices.iter().map(|(_, voice)| voice).sum();
        for (j, voice) in voices {
            votes[self.model.labels[j] as usize] += self.trust * voice / sum.max(f64::MIN_POSITIVE);
        }
        Ok((same, own))
    }
}

/// The rows of the very matrix that was clustered that this row equals; its own entry is not looked at.
fn known_row(model: &SavedModel, values: &[f64]) -> Vec<usize> {
    let whole = fingerprint(values);
    let equals = model.fingerprints.iter().enumerate();
    equals
        .filter(|(i, known)| whole.wrapping_sub(own_entry(*i, values[*i])) == **known)
        .map(|(i, _)| i)
        .collect()
}

/// Every value of a new point a finite number.
fn check_finite(values: &[f64], row: usize) -> Result<()> {
    match values.iter().position(|x| !x.is_finite()) {
        Some(column) => {
            let value = values[column];
            Err(DataError::NotFinite { what: "new points", row, column, value }.into())
        }
        None => Ok(()),
    }
}

/// Every value a number, 0 or more.
fn check_row(what: &'static str, values: &[f64], row: usize, infinite: bool) -> Result<()> {
    for (column, &value) in values.iter().enumerate() {
        if value.is_nan() || (value == f64::INFINITY && !infinite) {
            return Err(DataError::NotFinite { what, row, column, value }.into());
        }
        if value < 0.0 {
            let rule = "every value must be 0 or more".into();
            return Err(DataError::Precomputed { what, row, column, value, rule }.into());
        }
    }
    Ok(())
}

/// The `k` smallest finite values with their places, smallest first, the lowest place among equals.
fn nearest(values: &[f64], k: usize) -> Vec<(f64, u32)> {
    let mut all: Vec<(f64, u32)> =
        values.iter().copied().zip(0..).filter(|(value, _)| value.is_finite()).collect();
    let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if all.len() > k {
        all.select_nth_unstable_by(k - 1, order);
        all.truncate(k);
    }
    all.sort_unstable_by(order);
    all
}
