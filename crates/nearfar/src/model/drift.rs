//! Drift: how well new rows fit a model, and which of its clusters grew, shrank or are gone.
//!
//! What is usual is found by resampling: a sample of the old rows as large as the new data is set beside one as large
//! as the old data, [`DRAWS`] times. The usual range of a difference is its deviation over the draws times a factor
//! that keeps all clusters inside in 19 of 20 draws or more.

use rayon::prelude::*;

use super::predict::Predictions;
use super::saved::SavedModel;
use crate::error::Result;
use crate::explain::percent;
use crate::input::Samples;
use crate::math::rng::Stream;
use crate::observe::Observer;

/// Draws of the null.
const DRAWS: usize = 200;
/// Stream of the draws.
const STREAM: u64 = 13 << 32;
/// A row without a home lies farther out than all but this share of the old rows.
const HOMELESS: f64 = 0.01;

/// What became of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Its share is what a resample of the old rows would give.
    AsBefore,
    /// It is larger.
    Grew,
    /// It is smaller.
    Shrank,
    /// No new row is in it, and some should be.
    Gone,
}

impl Change {
    /// The words for it.
    pub fn words(self) -> &'static str {
        match self {
            Self::AsBefore => "as before",
            Self::Grew => "grew",
            Self::Shrank => "shrank",
            Self::Gone => "gone",
        }
    }
}

/// A share among the old rows and among the new ones.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Shift {
    /// Among the old rows.
    pub old: f64,
    /// Among the new ones.
    pub new: f64,
    /// What resamples of the old rows would give.
    pub usual: [f64; 2],
}

impl Shift {
    /// Whether the new value lies above what is usual.
    pub fn is_above(&self) -> bool {
        self.new > self.usual[1]
    }

    /// Whether the new value lies below what is usual.
    pub fn is_below(&self) -> bool {
        self.new < self.usual[0]
    }
}

/// One cluster then and now.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ClusterDrift {
    /// Its number.
    pub cluster: usize,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Its share of the rows.
    pub share: Shift,
    /// What became of it.
    pub change: Change,
}

/// How new rows fit a model.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Drift {
    /// Rows the model was fitted on.
    pub n_old: usize,
    /// New rows.
    pub n_new: usize,
    /// The clusters in the order of their numbers.
    pub clusters: Vec<ClusterDrift>,
    /// Share of the rows that lie farther out than 99 % of the old ones; `None` where the model cannot tell.
    pub homeless: Option<Shift>,
    /// Mean outlier score; `None` where the model cannot tell.
    pub outlier_score: Option<Shift>,
    /// The answer in a sentence.
    pub answer: String,
}

/// What is compared of a row: its cluster, whether it has a home, how far out it lies.
struct Rows {
    labels: Vec<u32>,
    scores: Vec<f64>,
}

impl SavedModel {
    /// Set new rows beside those the model was fitted on.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn drift(&self, new: &Samples<'_>, observer: &dyn Observer) -> Result<Drift> {
        let old = Rows { labels: self.labels.clone(), scores: self.outlier_scores()? };
        Ok(self.drift_of(&old, self.predictions(new, observer)?))
    }

    fn drift_of(&self, old: &Rows, new: Predictions) -> Drift {
        let k = self.about.n_clusters;
        let (n_old, n_new) = (old.labels.len(), new.labels.len());
        let known = old.scores.len() == n_old && new.outlier_scores.len() == n_new;
        let limit = if known { quantile(&old.scores, 1.0 - HOMELESS) } else { f64::INFINITY };
        let new = Rows {
            labels: new.labels.iter().map(|label| *label as u32).collect(),
            scores: new.outlier_scores,
        };
        let measured =
            |rows: &Rows, which: &mut dyn FnMut() -> Option<usize>| measure(rows, known, limit, k, which);
        let all = |rows: &Rows| {
            let mut next = 0..rows.labels.len();
            measured(rows, &mut || next.next())
        };
        let (before, now) = (all(old), all(&new));
        // Differences of two resamples of the old rows, as large as both data sets.
        let differences: Vec<Vec<f64>> = (0..DRAWS)
            .into_par_iter()
            .map(|draw| {
                let mut random = Stream::new(0, STREAM + draw as u64);
                let mut resample = |count: usize| {
                    let mut left = count;
                    measured(old, &mut || {
                        left = left.checked_sub(1)?;
                        Some(random.below(n_old))
                    })
                };
                let (a, b) = (resample(n_new), resample(n_old));
                a.iter().zip(&b).map(|(a, b)| a - b).collect()
            })
            .collect();
        let factor = (2.0 * (40.0 * k as f64).ln()).sqrt();
        let shift = |at: usize| {
            let deviation = (differences.iter().map(|d| d[at].powi(2)).sum::<f64>() / DRAWS as f64).sqrt();
            let usual =
                [(before[at] - factor * deviation).max(0.0), (before[at] + factor * deviation).min(1.0)];
            Shift { old: before[at], new: now[at], usual }
        };
        let clusters: Vec<ClusterDrift> = (0..k)
            .map(|cluster| {
                let share = shift(cluster);
                let change = match share {
                    share if n_new == 0 || share.old == share.new => Change::AsBefore,
                    share if share.is_below() && share.new == 0.0 => Change::Gone,
                    share if share.is_below() => Change::Shrank,
                    share if share.is_above() => Change::Grew,
                    _ => Change::AsBefore,
                };
                ClusterDrift { cluster, name: self.cluster_name(cluster).map(str::to_owned), share, change }
            })
            .collect();
        let [homeless, outlier_score] = [k, k + 1].map(|at| known.then(|| shift(at)));
        let answer = answer(n_new, &clusters, homeless.as_ref());
        Drift { n_old, n_new, clusters, homeless, outlier_score, answer }
    }
}

/// Shares of the clusters, share without a home, mean score, of the rows that `which` names.
fn measure(
    rows: &Rows,
    known: bool,
    limit: f64,
    k: usize,
    which: &mut dyn FnMut() -> Option<usize>,
) -> Vec<f64> {
    let mut sums = vec![0.0; k + 2];
    let mut count: usize = 0;
    while let Some(i) = which() {
        count += 1;
        sums[rows.labels[i] as usize] += 1.0;
        if known {
            sums[k] += f64::from(u8::from(rows.scores[i] > limit));
            sums[k + 1] += rows.scores[i];
        }
    }
    sums.iter_mut().for_each(|sum| *sum /= count.max(1) as f64);
    sums
}

/// The value that this share of all does not exceed; infinite where there are none.
#[must_use]
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = (share.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
    sorted.get(at.max(1) - 1).copied().unwrap_or(f64::INFINITY)
}

fn answer(n_new: usize, clusters: &[ClusterDrift], homeless: Option<&Shift>) -> String {
    let of = |change: Change| -> Vec<String> {
        clusters.iter().filter(|c| c.change == change).map(|c| c.cluster.to_string()).collect()
    };
    let mut found = Vec::new();
    for change in [Change::Grew, Change::Shrank, Change::Gone] {
        let which = of(change);
        if !which.is_empty() {
            let word = if change == Change::Gone { "is gone" } else { change.words() };
            let noun = if which.len() == 1 { "cluster" } else { "clusters" };
            let word = if which.len() > 1 && change == Change::Gone { "are gone" } else { word };
            found.push(format!("{noun} {} {word}", which.join(", ")));
        }
    }
    if let Some(homeless) = homeless.filter(|homeless| homeless.is_above()) {
        found.push(format!("{} of the rows lack a home", percent(homeless.new)));
    }
    if found.is_empty() {
        format!(
            "The {n_new} new rows fit: they differ from the old ones no more than a resample of those would."
        )
    } else {
        format!("The {n_new} new rows differ from the old ones: {}.", found.join("; "))
    }
}
