//! Labels of new points, from a saved model.
//!
//! A new point x ranks the training points by distance. The one at rank k has the vote
//! $$ w_k \, \exp(-d^2(x, x_k) / (\sigma_x \sigma_k)) $$
//! for its cluster: the trust learnt in that rank times the self-tuned affinity, as in S(w); σ_x is the distance of
//! x to its 7th training point. The cluster with most votes wins, the lowest number among equals. Methods without w
//! count the ⌊log₂ n⌋ + 1 nearest alike.
//!
//! A point that equals a training point gets its label (of several such, the commonest), so that the training data
//! gets its own labels back. The answer for one point looks at no other new point; it is made from differences,
//! never from blocked products, so that not even rounding depends on the batch.

use rayon::prelude::*;

use super::saved::{InputKind, SavedModel, Training, fingerprint, own_entry};
use crate::error::{DataError, Result};
use crate::input::{Metric, Samples};
use crate::math::kernel::{distance2_lanes, normalize, vectorized};
use crate::model::Lens;
use crate::neighbors::SIGMA_NEIGHBOR;
use crate::neighbors::exact::power_of_two_above;
use crate::observe::{Event, Observer, Stage, go_on};
use crate::views::View;

/// New points that one task works on, so that a training point is read once for all of them.
const BLOCK: usize = 16;

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
            return Ok(Vec::new());
        }
        if let Some(mixture) = self.by_mixture() {
            let mut rows = vec![0.0; found * expected];
            rows.par_chunks_mut(expected).enumerate().try_for_each(|(i, row)| {
                new.copy_row(i, row);
                check_finite(row, i)?;
                self.scaling.apply(row);
                Ok::<(), crate::Error>(())
            })?;
            return mixture.predict(&Samples::from_rows(&rows, found, expected)?, observer);
        }
        let seen = Seen::all(self)?;
        let mut labels = vec![0; found];
        labels.par_chunks_mut(BLOCK).enumerate().try_for_each(|(block, labels)| {
            go_on(observer, Stage::Labels)?;
            let first = block * BLOCK;
            let (height, mut votes) = (labels.len(), vec![0.0; labels.len() * self.about.n_clusters]);
            // Training points that a new one equals in every view.
            let mut equals: Vec<Option<Vec<usize>>> = vec![None; height];
            for Seen { voter, measure, weight } in &seen {
                let (mut values, units) = measure.block(new, first, height)?;
                for (a, values) in values.chunks_exact_mut(n).enumerate() {
                    let votes = &mut votes[a * self.about.n_clusters..(a + 1) * self.about.n_clusters];
                    let same = voter.vote(values, units[a], first + a, measure, *weight, votes)?;
                    equals[a] = Some(match equals[a].take() {
                        Some(before) => before.into_iter().filter(|j| same.contains(j)).collect(),
                        None => same,
                    });
                }
            }
            let votes = votes.chunks_exact(self.about.n_clusters);
            for ((label, equals), votes) in labels.iter_mut().zip(equals).zip(votes) {
                let equals = equals.unwrap_or_default();
                *label = if equals.is_empty() { commonest(votes) } else { self.label_of(&equals) };
            }
            let (done, total) = (height as u64, found as u64);
            observer.notice(&Event::Progress { stage: Stage::Labels, done, total });
            Ok::<(), crate::Error>(())
        })?;
        Ok(labels)
    }

    /// The label that most of these training points have, the lowest among equals.
    fn label_of(&self, which: &[usize]) -> usize {
        let mut votes = vec![0.0; self.about.n_clusters];
        which.iter().for_each(|j| votes[self.labels[*j] as usize] += 1.0);
        commonest(&votes)
    }
}

/// The place of the largest number, the first among equals.
fn commonest(votes: &[f64]) -> usize {
    (1..votes.len()).fold(0, |best, c| if votes[c] > votes[best] { c } else { best })
}

/// One view of the training points: who is near, and how much that counts.
struct Seen<'a> {
    voter: Voter<'a>,
    measure: Measure<'a>,
    weight: f64,
}

impl<'a> Seen<'a> {
    /// All views of a model; of most methods the samples as they are.
    fn all(model: &'a SavedModel) -> Result<Vec<Self>> {
        let own_weights = model.near_weights.get(1..).unwrap_or_default();
        if model.lenses.is_empty() {
            let voter = Voter::new(model, own_weights, model.sigma.as_deref());
            return Ok(vec![Self { voter, measure: Measure::new(model, View::Raw)?, weight: 1.0 }]);
        }
        let of_lens = |lens: &'a Lens| {
            let voter = Voter::new(model, &lens.near_weights, lens.sigma.as_deref());
            // The search itself makes directions of rows where the metric is the cosine.
            let view = if model.metric() == Metric::Cosine { View::Raw } else { lens.view };
            Ok(Self { voter, measure: Measure::new(model, view)?, weight: lens.weight })
        };
        model.lenses.iter().map(of_lens).collect()
    }
}

/// How a new row becomes squared distances (or −ln κ) to all training points.
enum Measure<'a> {
    /// From training samples, n × m, divided by `unit`.
    Samples { model: &'a SavedModel, view: View, rows: Vec<f64>, unit: f64, metric: Metric },
    /// The row holds distances.
    Distances { model: &'a SavedModel },
    /// The row holds affinities.
    Affinities { model: &'a SavedModel },
}

impl<'a> Measure<'a> {
    fn new(model: &'a SavedModel, view: View) -> Result<Self> {
        Ok(match model.about.input {
            InputKind::Distances | InputKind::Neighbors => Self::Distances { model },
            InputKind::Affinities => Self::Affinities { model },
            InputKind::Samples => {
                let mut rows: Vec<f64> = match &model.training {
                    Training::Double(values) => values.clone(),
                    Training::Single(values) => values.iter().copied().map(f64::from).collect(),
                    Training::Nothing => Vec::new(),
                };
                let (metric, m) = (model.metric(), model.about.n_features);
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
                Self::Samples { model, view, rows, unit, metric }
            }
        })
    }

    /// For `height` new rows from `first` on: values to all training points, row after row, and what distances were
    /// divided by.
    fn block(&self, new: &Samples<'_>, first: usize, height: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        let width = new.n_features();
        let mut rows = vec![0.0; height * width];
        for (a, row) in rows.chunks_exact_mut(width).enumerate() {
            new.copy_row(first + a, row);
        }
        let Self::Samples { model, view, rows: training, unit, metric } = self else {
            return Ok((rows, vec![1.0; height]));
        };
        let mut units = vec![*unit; height];
        for (a, row) in rows.chunks_exact_mut(width).enumerate() {
            check_finite(row, first + a)?;
            model.scaling.apply(row);
            model.standard.show(*view, row);
            if *metric == Metric::Cosine && !normalize(row) {
                return Err(DataError::ZeroRow { row: first + a }.into());
            }
            // A point far outside the training data brings its own unit, so that no square overflows.
            units[a] = unit.max(power_of_two_above(row.iter().fold(0.0, |most, x| x.abs().max(most))));
            row.iter_mut().for_each(|x| *x /= units[a]);
        }
        let n = model.about.n_samples;
        let mut values = vec![0.0; height * n];
        let shrink: Vec<f64> = units.iter().map(|own| unit / own).collect();
        vectorized(
            #[inline(always)]
            || {
                let mut shrunk = vec![0.0; width];
                for (j, y) in training.chunks_exact(width).enumerate() {
                    for (a, x) in rows.chunks_exact(width).enumerate() {
                        values[a * n + j] = if shrink[a] == 1.0 {
                            distance2_lanes(x, y)
                        } else {
                            shrunk.iter_mut().zip(y).for_each(|(s, y)| *s = y * shrink[a]);
                            distance2_lanes(x, &shrunk)
                        };
                    }
                }
            },
        );
        Ok((values, units))
    }
}

/// Who may vote, and how loudly.
struct Voter<'a> {
    model: &'a SavedModel,
    /// Trust in the k-th nearest training point, from 0.
    weights: Vec<f64>,
    /// Local scales of the training points; `None` where affinities were given.
    sigma: Option<&'a [f64]>,
}

impl<'a> Voter<'a> {
    /// `learnt` are the weights of the nearest others, nearest first.
    fn new(model: &'a SavedModel, learnt: &[f64], sigma: Option<&'a [f64]>) -> Self {
        let n = model.about.n_samples;
        let weights = match learnt.iter().rposition(|w| *w > 0.0) {
            Some(last) => learnt[..=last].to_vec(),
            None => vec![1.0; (n.max(1).ilog2() as usize + 1).min(n)],
        };
        Self { model, weights, sigma }
    }

    /// Add the votes for one new point, of which the sum is `weight`, by its values to all training points. Gives
    /// the training points that it equals; then nobody votes.
    fn vote(
        &self,
        values: &mut [f64],
        unit: f64,
        row: usize,
        measure: &Measure<'_>,
        weight: f64,
        votes: &mut [f64],
    ) -> Result<Vec<usize>> {
        let tuned = match measure {
            Measure::Samples { .. } => true,
            Measure::Distances { model } => {
                let same = known_row(model, values);
                if !same.is_empty() {
                    return Ok(same);
                }
                check_row("distances", values, row, true)?;
                values.iter_mut().for_each(|x| *x *= *x);
                true
            }
            Measure::Affinities { model } => {
                let same = known_row(model, values);
                if !same.is_empty() {
                    return Ok(same);
                }
                check_row("affinities", values, row, false)?;
                values.iter_mut().for_each(|x| *x = -x.ln());
                false
            }
        };
        let same: Vec<usize> = (0..values.len()).filter(|j| tuned && values[*j] == 0.0).collect();
        if !same.is_empty() && !matches!(measure, Measure::Samples { .. }) {
            return Ok(same);
        }
        let near = nearest(values, self.weights.len().max(SIGMA_NEIGHBOR));
        let scale = near.get(SIGMA_NEIGHBOR - 1).or(near.last()).map(|(value, _)| value.sqrt() * unit);
        let Some(own) = scale else {
            let rule = "at least one training point must be at a known distance or have a positive affinity";
            let what = if tuned { "distances" } else { "affinities" };
            let (column, value) = (0, if tuned { f64::INFINITY } else { 0.0 });
            return Err(DataError::Precomputed { what, row, column, value, rule: rule.into() }.into());
        };
        let sigma = |j: usize| self.sigma.map_or(own, |sigma| sigma[j]);
        // Among copies of the new point distances are 0, whatever the scale.
        let own = if own > 0.0 { own } else { 1.0 };
        let voters = near.iter().zip(&self.weights).filter(|(_, weight)| **weight > 0.0);
        let exponents: Vec<(usize, f64, f64)> = voters
            .map(|(&(value, j), weight)| {
                // In this order no factor over- or underflows before the other can make up for it.
                let j = j as usize;
                let exponent = if tuned { (value * (unit / own)) * (unit / sigma(j)) } else { value };
                (j, exponent.min(f64::MAX), *weight)
            })
            .collect();
        // Relative to the loudest, so that far from all training points there is still a vote.
        let least = exponents.iter().fold(f64::INFINITY, |least, (_, e, _)| least.min(*e));
        let voices: Vec<(usize, f64)> =
            exponents.into_iter().map(|(j, e, weight)| (j, weight * (least - e).exp())).collect();
        let sum: f64 = voices.iter().map(|(_, voice)| voice).sum();
        for (j, voice) in voices {
            votes[self.model.labels[j] as usize] += weight * voice / sum.max(f64::MIN_POSITIVE);
        }
        Ok(same)
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
