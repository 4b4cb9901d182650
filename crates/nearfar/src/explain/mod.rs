//! Answers, not labels: what the clusters are, in words a person can check.
//!
//! [`Subject`] is what there is to explain: labels, and the samples they belong to where there are any. A
//! [`SavedModel`] makes one of itself ([`Subject::of`]), and so can any labels. [`explain`] gives
//! an [`Explanation`]: for every cluster its size, typical rows, the columns that set it apart, a rule of at most
//! three conditions with its precision and recall, the nearest other cluster, and how sure it is. Everything is plain
//! data that serde writes and reads.
//!
//! ```
//! use nearfar::explain::{Subject, explain};
//! use nearfar::{Input, Params, Samples, SavedModel, model::SaveOptions};
//! use nearfar::generate::{Kind, MakeParams, make};
//! let data = make(Kind::Customers, &MakeParams { n_samples: Some(900), ..MakeParams::default() })?;
//! let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
//! let model = nearfar::fit(samples, &Params::new(5))?;
//! let options = SaveOptions { feature_names: Some(data.feature_names), ..SaveOptions::default() };
//! let saved = SavedModel::new(&model, &Input::from(samples), &options);
//! let told = explain(&Subject::of(&saved)?);
//! assert_eq!(told.clusters.len(), 5);
//! assert!(told.clusters[0].rule.is_some() && told.clusters[0].exemplars.len() == 3);
//! # Ok::<(), nearfar::Error>(())
//! ```
//!
//! Effects are measured in *spreads*: the difference of two means, divided by the root of the mean of the two
//! variances. A rule is a path of a small decision tree, fitted on one half of the rows and scored on the other, so
//! that it does not flatter itself. Work and memory are O(n m) for n rows of m columns.

mod certainty;
mod columns;
mod marks;
mod moments;
pub(crate) mod people;
mod rule;
mod stability;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use crate::error::Result;
use crate::input::Samples;
use crate::model::{Account, SavedModel, Scaling, local_scales};
use crate::views::View;

pub use certainty::{Certainty, Standing};
pub use marks::{Direction, Mark};
pub(crate) use people::second;
pub use people::{Border, Exemplar};
pub use rule::{Condition, Rule};
pub use stability::{SUBSAMPLES, stability};
pub(crate) use words::percent;

use columns::Columns;
use moments::Moments;

/// The format's name, in every explanation.
const FORMAT: &str = "nearfar-explanation";
/// Raised when a field changes its meaning.
const VERSION: u32 = 1;
/// Means are kept up to so many numbers, and of images always.
const MOST_MEANS: usize = 1 << 18;

/// Labels to explain, and what is known beside them.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// Cluster of every row, below [`n_clusters`](Self::n_clusters).
    pub labels: &'a [u32],
    /// Clusters.
    pub n_clusters: usize,
    /// The rows; `None` where only pairs are known.
    pub samples: Option<Samples<'a>>,
    /// What was done to the rows before, which is undone in what is told of them.
    pub scaling: &'a Scaling,
    /// Names of the columns.
    pub feature_names: Option<&'a [String]>,
    /// Names of the rows.
    pub ids: Option<&'a [String]>,
    /// Names of the clusters, empty where they have none.
    pub cluster_names: &'a [String],
    /// Share of each row in each cluster, row by row; may be empty.
    pub membership: &'a [f64],
    /// How sure every label is; may be empty.
    pub confidence: &'a [f64],
    /// The local scale of every row, as the view that is trusted most has it; `None` where it is not known.
    pub sigma: Option<&'a [f64]>,
    /// How far out every row lies, from 0 to 1; may be empty.
    pub outlier_scores: Vec<f64>,
    /// How the default method came to its answer.
    pub account: Option<&'a Account>,
    /// What was done to the clusters by hand.
    pub edits: &'a [String],
    /// Overlap of every cluster with its like in fits of subsamples; may be empty.
    pub stability: &'a [f64],
    /// Whether rows are looked at with every column in units of its deviation.
    pub standard: bool,
    /// Height and width where rows are grey images.
    pub image: Option<[usize; 2]>,
    /// Whether pixels run down the columns of the images instead of along the rows; mean images run along the rows.
    pub by_columns: bool,
}

impl<'a> Subject<'a> {
    /// Labels of these rows, with nothing else known.
    #[must_use]
    pub fn new(labels: &'a [u32], n_clusters: usize, samples: Option<Samples<'a>>) -> Self {
        Self {
            labels,
            n_clusters,
            samples,
            scaling: &Scaling::None,
            feature_names: None,
            ids: None,
            cluster_names: &[],
            membership: &[],
            confidence: &[],
            sigma: None,
            outlier_scores: Vec::new(),
            account: None,
            edits: &[],
            stability: &[],
            standard: true,
            image: None,
            by_columns: false,
        }
    }

    /// A model, with all that it keeps.
    ///
    /// # Errors
    /// Never for a model that was fitted or loaded.
    pub fn of(model: &'a SavedModel) -> Result<Self> {
        let first = model.lenses.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
        let n_clusters = model.about.n_clusters;
        Ok(Self {
            scaling: &model.scaling,
            feature_names: model.about.feature_names.as_deref(),
            membership: &model.membership,
            confidence: &model.confidence,
            account: model.about.account.as_ref(),
            edits: &model.about.edits,
            stability: &model.about.stability,
            cluster_names: &model.about.cluster_names,
            sigma: local_scales(&model.lenses, model.sigma.as_deref()),
            outlier_scores: model.outlier_scores()?,
            standard: first.is_none_or(|lens| matches!(lens.view, View::Standard | View::StandardUnit)),
            ..Self::new(&model.labels, n_clusters, model.samples()?)
        })
    }
}

/// What the clusters are.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Explanation {
    format: String,
    version: u32,
    /// Rows.
    pub n_samples: usize,
    /// Columns; 0 where only pairs are known.
    pub n_features: usize,
    /// Names of the columns, or `column 0` and so on.
    pub feature_names: Vec<String>,
    /// The answer in a sentence: how many groups there are, and how sure they are.
    pub answer: String,
    /// Whether groups stand out from what chance gives; `None` where nobody looked.
    pub groups: Option<bool>,
    /// The clusters in the order of their numbers.
    pub clusters: Vec<ClusterStory>,
    /// The rows that lie farthest out, outermost first, with their outlier scores.
    pub outliers: Vec<(Exemplar, f64)>,
    /// What a reader should know about the numbers.
    pub notes: Vec<String>,
    /// Height and width where rows are grey images.
    pub image: Option<[usize; 2]>,
}

/// What one cluster is.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ClusterStory {
    /// Its number.
    pub cluster: usize,
    /// Its name, where it was given one.
    pub name: Option<String>,
    /// Its rows.
    pub size: usize,
    /// Their share of all rows.
    pub share: f64,
    /// Up to three typical rows.
    pub exemplars: Vec<Exemplar>,
    /// Up to three rows that may belong to another cluster.
    pub borders: Vec<Border>,
    /// The columns that set it apart, the strongest first.
    pub marks: Vec<Mark>,
    /// A rule that finds its rows; `None` where it is too small, or there are no columns.
    pub rule: Option<Rule>,
    /// The nearest other cluster.
    pub nearest: Option<Nearest>,
    /// How sure it is.
    pub certainty: Certainty,
    /// Mean of every column over its rows; of images the mean image. Empty where it would be too large.
    pub mean: Vec<f64>,
}

/// The cluster that is nearest to another one.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Nearest {
    /// Its number.
    pub cluster: usize,
    /// The mean share that rows of this one have in it; `None` where memberships are not known.
    pub share: Option<f64>,
    /// The columns that tell the two apart, the strongest first.
    pub marks: Vec<Mark>,
}

impl ClusterStory {
    /// `cluster 2`, or `cluster 2 (regulars)`.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("cluster {} ({name})", self.cluster),
            None => format!("cluster {}", self.cluster),
        }
    }
}

impl Explanation {
    /// As JSON, which [`from_json`](Self::from_json) reads.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Numbers and strings only: this cannot fail.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// Take over how sure the same clusters are from another explanation of them.
    pub fn certainties_of(&mut self, other: &Self) {
        for (story, known) in self.clusters.iter_mut().zip(&other.clusters) {
            story.certainty = known.certainty.clone();
            story.name.clone_from(&known.name);
        }
        self.answer.clone_from(&other.answer);
        self.groups = other.groups;
    }

    /// Read what [`to_json`](Self::to_json) wrote; `None` where it is something else.
    #[must_use]
    pub fn from_json(text: &str) -> Option<Self> {
        let told: Self = serde_json::from_str(text).ok()?;
        (told.format == FORMAT && told.version == VERSION).then_some(told)
    }
}

/// Say what the clusters are.
///
/// # Panics
/// Never: labels beyond the clusters, and lists of other lengths than the labels, count as not known.
#[must_use]
pub fn explain(subject: &Subject<'_>) -> Explanation {
    let n = subject.labels.len();
    let samples = subject.samples.as_ref().filter(|samples| samples.n_samples() == n && n > 0);
    let m = samples.map_or(0, Samples::n_features);
    let moments = samples.map(|samples| Moments::of(samples, subject.labels, subject.n_clusters));
    let columns =
        samples.zip(moments.as_ref()).map(|(samples, moments)| Columns::of(subject, samples, moments));
    let crossed = people::crossed(subject);
    let mut told = Explanation {
        format: FORMAT.to_owned(),
        version: VERSION,
        n_samples: n,
        n_features: m,
        feature_names: columns.as_ref().map_or_else(Vec::new, Columns::names),
        groups: subject.account.and_then(|account| account.count.as_ref()).map(|count| count.groups),
        clusters: certainty::begun(subject),
        outliers: people::outliers(subject),
        image: subject.image,
        ..Explanation::default()
    };
    if let (Some(samples), Some(moments), Some(columns)) = (samples, &moments, &columns) {
        let rules = rule::rules(samples, subject, columns);
        let rest = marks::Rest::of(columns, moments);
        let keeps_means = subject.image.is_some() || subject.n_clusters * m <= MOST_MEANS;
        for (story, rule) in told.clusters.iter_mut().zip(rules) {
            story.marks = marks::against_the_rest(columns, moments, &rest, story.cluster);
            story.rule = rule;
            if keeps_means {
                let mean = |at: usize| {
                    let j = pixel(subject, at);
                    columns.original(j, moments.mean_of(story.cluster, j))
                };
                story.mean = (0..m).map(mean).collect();
            }
        }
        told.notes.extend(columns.note());
    }
    if !subject.edits.is_empty() {
        told.notes.push(format!("by hand: {}", subject.edits.join("; ")));
    }
    people::find(subject, samples, moments.as_ref(), &mut told);
    people::nearest(moments.as_ref(), columns.as_ref(), &crossed, &mut told);
    told.answer = certainty::answer(subject, &told);
    told
}

/// The column that holds the pixel at this place of an image; of tables the column itself.
fn pixel(subject: &Subject<'_>, at: usize) -> usize {
    match subject.image {
        Some([height, width]) if subject.by_columns => at % width * height + at / width,
        _ => at,
    }
}
