//! A finished run at rest, and the file it is kept in.
//!
//! A `.nearfar` file is a safetensors file: named arrays behind a JSON header. Its one metadata entry, `nearfar`,
//! holds the format's name and version, a checksum, and what is no array ([`About`]). Nothing in it is ever
//! executed. A file is taken only when name, version, checksum, every length and every number are right, so that
//! what was loaded can be used without a further look. The checksum finds damage; it is no signature.

mod read;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use super::Model;
use crate::error::Result;
use crate::input::{Input, Metric, Samples, Values};
use crate::labels::score::adjusted_rand;
use crate::learn::Member;
use crate::learn::lsdg::PreparedSlices;
use crate::math::kernel::normalize;
use crate::mixture::ByMixture;
use crate::model::tensors::{Array, Format, Sum, pack, write_whole};
use crate::model::{Account, Lens};
use crate::observe::Observer;
use crate::params::Params;
use crate::slices::{Slices, SparseRows, with_slices};
use crate::tree::MergeTree;
use crate::views::{Standard, View};

/// The version this library writes, and the only one it reads.
const VERSION: u32 = 1;
/// The format's name and version, in every file.
const FORMAT: Format = Format { name: "nearfar-model", version: VERSION };

/// The columns of [`SavedModel::trace`], a row for every iteration of every start.
pub const TRACE_COLUMNS: [&str; 12] = [
    "member",
    "iteration",
    "loss",
    "fit",
    "dissimilarity",
    "overlap",
    "density",
    "orthogonality",
    "penalty",
    "change_factor",
    "change_near",
    "change_far",
];

/// Why a model file was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// The file system said no.
    #[error("{path}: the model cannot be {verb}: {source}")]
    Io {
        /// The file.
        path: String,
        /// `read` or `written`.
        verb: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// Another kind of file.
    #[error("{name}: this is no nearfar model ({reason}); name a file that `save_model` wrote")]
    Foreign {
        /// The file, or `model` for bytes from elsewhere.
        name: String,
        /// What is missing.
        reason: String,
    },
    /// A version of the format that is not known here.
    #[error(
        "{name}: the model has format version {found}, and this nearfar reads version {VERSION}; use the nearfar that wrote it, or a newer one"
    )]
    Version {
        /// The file, or `model`.
        name: String,
        /// The version found.
        found: u64,
    },
    /// Cut short, altered or made up.
    #[error("{name}: the model is damaged ({reason}); copy it again or fit anew")]
    Damaged {
        /// The file, or `model`.
        name: String,
        /// What does not hold.
        reason: String,
    },
}

/// What the model was learnt from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputKind {
    /// Samples with features.
    Samples,
    /// A matrix of distances.
    Distances,
    /// A matrix of affinities.
    Affinities,
    /// Lists of nearest neighbours with distances.
    Neighbors,
}

/// What was done to the samples before they were clustered, and is done to new ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scaling {
    /// Nothing.
    #[default]
    None,
    /// Every column: (x − origin) / unit, and 0 where the unit is 0.
    Columns {
        /// What becomes 0.
        origin: Vec<f64>,
        /// What becomes 1.
        unit: Vec<f64>,
    },
    /// Every row to length 1; a row of zeros stays.
    Unit,
}

impl Scaling {
    /// Rescale one row in place.
    pub fn apply(&self, row: &mut [f64]) {
        match self {
            Self::None => {}
            Self::Columns { origin, unit } => {
                for (x, (origin, unit)) in row.iter_mut().zip(origin.iter().zip(unit)) {
                    *x = if *unit > 0.0 { *x / unit - origin / unit } else { 0.0 };
                }
            }
            Self::Unit => {
                normalize(row);
            }
        }
    }

    /// Take back what [`apply`](Self::apply) did, as far as that can be: rows of length 1 stay so.
    pub fn undo(&self, row: &mut [f64]) {
        if let Self::Columns { origin, unit } = self {
            row.iter_mut()
                .zip(origin.iter().zip(unit))
                .for_each(|(x, (origin, unit))| *x = origin + unit * *x);
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Columns { .. } => "columns",
            Self::Unit => "unit",
        }
    }
}

/// Training samples, n × m, row-major, as precise as they were given.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Training {
    /// The model was learnt from pairs, or by processes of which none held all samples.
    #[default]
    Nothing,
    /// Single precision.
    Single(Vec<f32>),
    /// Double precision.
    Double(Vec<f64>),
}

/// What a model is besides its arrays.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct About {
    /// Version of the library that fitted it.
    pub library: String,
    /// Name of the method, as in `nearfar methods`.
    pub method: String,
    /// Training samples.
    pub n_samples: usize,
    /// Features; 0 for pairwise input.
    pub n_features: usize,
    /// Clusters asked for; every label is below it.
    pub n_clusters: usize,
    /// Columns of the factor.
    pub n_columns: usize,
    /// What it was learnt from.
    pub input: InputKind,
    /// `euclidean` or `cosine`.
    pub metric: String,
    /// `none`, `columns` or `unit`.
    pub scaling: String,
    /// Whether the run came to its end; otherwise the model is what a cancelled run left.
    pub complete: bool,
    /// Iterations of the best start.
    pub n_iter: usize,
    /// Why it ended.
    pub stop_reason: String,
    /// Objective of the best start.
    pub objective: f64,
    /// Mean agreement of the starts with the result.
    pub agreement: f64,
    /// Seconds per stage.
    pub timings: Vec<(String, f64)>,
    /// What a person should know: kind and text.
    pub warnings: Vec<(String, String)>,
    /// Names of the features, where they are known.
    pub feature_names: Option<Vec<String>>,
    /// The settings in force.
    pub params: serde_json::Value,
    /// How every start went, without its arrays and its trace.
    pub members: serde_json::Value,
    /// How the default method came to its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<Account>,
    /// Pieces of the graph that the tree was made of; `None` without a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_pieces: Option<usize>,
    /// Views that label new points, with their weights.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lenses: Vec<(View, f64)>,
    /// Names of the clusters, one each, empty for one without; none where no cluster has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cluster_names: Vec<String>,
    /// Overlap of every cluster with its like in fits of subsamples, where these were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stability: Vec<f64>,
    /// What was done to the clusters by hand, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<String>,
    /// The mixture that labels new points, where one was the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mixture: Option<ByMixture>,
}

/// What to keep besides what predicting needs.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "things to keep or not, each on its own")]
pub struct SaveOptions {
    /// The learnt similarity S: a few entries per sample.
    pub similarity: bool,
    /// The learnt dissimilarity D, which may be nearly full: n × n.
    pub dissimilarity: bool,
    /// Z, n × n.
    pub affinity: bool,
    /// Names of the features.
    pub feature_names: Option<Vec<String>>,
    /// What was done to the samples first.
    pub scaling: Scaling,
    /// The run was cancelled, and this is what it left.
    pub partial: bool,
    /// Names of the clusters, one each; or none.
    pub cluster_names: Vec<String>,
    /// Stability of every cluster ([`crate::explain::stability`]); or none.
    pub stability: Vec<f64>,
}

/// A finished run at rest: everything that predicting and looking at it need, without the pairs it was learnt from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SavedModel {
    /// What is no array.
    pub about: About,
    /// One label per training sample.
    pub labels: Vec<u32>,
    /// n × r, row-major.
    pub membership: Vec<f64>,
    /// w; empty for methods without.
    pub near_weights: Vec<f64>,
    /// p; empty for methods without.
    pub far_weights: Vec<f64>,
    /// V of the best start, n × `n_columns`, row-major.
    pub factor: Vec<f64>,
    /// Spectral coordinates, n × r, row-major; empty for methods without.
    pub embedding: Vec<f64>,
    /// Leading eigenvalues of the normalised Z.
    pub eigenvalues: Vec<f64>,
    /// Local scales in the units of the data, where there are any.
    pub sigma: Option<Vec<f64>>,
    /// Rows of [`TRACE_COLUMNS`], all starts one after the other.
    pub trace: Vec<f64>,
    /// S, where it was kept.
    pub similarity: Option<SparseRows>,
    /// D, where it was kept.
    pub dissimilarity: Option<SparseRows>,
    /// Z, n × n, where it was kept.
    pub affinity: Option<Vec<f64>>,
    /// The samples.
    pub training: Training,
    /// What was done to the samples first.
    pub scaling: Scaling,
    /// Of a pairwise matrix, a number for every row by which it is known again.
    pub fingerprints: Vec<u64>,
    /// How sure every label is, in 0 to 1; of the default method, empty elsewhere.
    pub confidence: Vec<f64>,
    /// How clusters join; of the default method.
    pub tree: Option<MergeTree>,
    /// What labels new points, view by view; of the default method, empty elsewhere.
    pub lenses: Vec<Lens>,
    /// How the columns are standardised in views that do.
    pub standard: Standard,
}

impl SavedModel {
    /// The mixture that labels new points, where one was the answer.
    pub(super) fn by_mixture(&self) -> Option<&ByMixture> {
        self.about.mixture.as_ref()
    }

    /// The labels of the training samples with k clusters, without fitting again, as [`Model::labels_at`].
    pub fn labels_at(&self, k: usize) -> Option<Vec<u32>> {
        self.tree.as_ref().filter(|tree| (1..=tree.most()).contains(&k)).map(|tree| tree.labels_at(k))
    }

    /// Take what is worth keeping of a model, and the samples it was learnt from.
    #[must_use]
    pub fn new(model: &Model, input: &Input<'_>, options: &SaveOptions) -> Self {
        let clock = Instant::now();
        let best = model.best_member();
        let factor = best.map(|member| &member.factor);
        let learned = best.map(crate::learn::Member::last_loop);
        let (kind, metric) = match input {
            Input::Samples(_, metric) | Input::Part(_, metric, _) => (InputKind::Samples, *metric),
            Input::Distances(_) => (InputKind::Distances, Metric::Euclidean),
            Input::Affinities(_) => (InputKind::Affinities, Metric::Euclidean),
            Input::Neighbors(_) => (InputKind::Neighbors, Metric::Euclidean),
        };
        let warnings = model.warnings.iter().map(|warning| {
            let kind = serde_json::to_value(warning).ok();
            let kind = kind.and_then(|kind| kind["kind"].as_str().map(str::to_owned));
            (kind.unwrap_or_default(), warning.to_string())
        });
        let about = About {
            library: env!("CARGO_PKG_VERSION").to_owned(),
            method: model.params.method.kind().name().to_owned(),
            n_samples: model.n_samples(),
            n_features: input.n_features(),
            n_clusters: model.params.n_clusters,
            n_columns: factor.map_or(0, crate::math::factor::Factor::n_columns),
            input: kind,
            metric: serde_json::to_value(metric)
                .ok()
                .and_then(|name| name.as_str().map(str::to_owned))
                .unwrap_or_default(),
            scaling: options.scaling.name().to_owned(),
            complete: !options.partial,
            n_iter: learned.map_or(0, |learned| learned.iterations),
            stop_reason: learned.map_or("nothing_to_learn".to_owned(), |learned| {
                let name = serde_json::to_value(learned.reason).ok();
                name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
            }),
            objective: best.map_or(0.0, |member| finite(member.objective.total())),
            agreement: model.agreement,
            timings: model.timings.iter().map(|(stage, s)| (stage.name().to_owned(), *s)).collect(),
            warnings: warnings.collect(),
            feature_names: options.feature_names.clone(),
            params: serde_json::to_value(&model.params).unwrap_or_default(),
            members: members_without_traces(model),
            account: model.account.clone(),
            tree_pieces: model.tree.as_ref().map(MergeTree::pieces),
            lenses: model.lenses.iter().map(|lens| (lens.view, lens.weight)).collect(),
            cluster_names: options.cluster_names.clone(),
            stability: options.stability.clone(),
            edits: Vec::new(),
            mixture: model.mixture.clone(),
        };
        let graph = |graph: SparseRows| (!graph.columns.is_empty()).then_some(graph);
        let mut saved = Self {
            about,
            labels: model.labels.iter().map(|label| *label as u32).collect(),
            membership: model.membership.clone(),
            near_weights: model.near_weights.clone(),
            far_weights: model.far_weights.clone(),
            factor: factor
                .map_or_else(Vec::new, |v| crate::graph::to_rows(v.values(), v.n_samples(), v.n_columns())),
            embedding: model.embedding.clone(),
            eigenvalues: model.eigenvalues.clone(),
            sigma: model.sigma.clone(),
            trace: trace_of(model),
            similarity: if options.similarity { graph(model.similarity()) } else { None },
            dissimilarity: if options.dissimilarity { graph(model.dissimilarity()) } else { None },
            affinity: if options.affinity { model.augmented() } else { None },
            training: training_of(input),
            scaling: options.scaling.clone(),
            fingerprints: fingerprints_of(input),
            confidence: model.confidence.clone(),
            tree: model.tree.clone(),
            lenses: model.lenses.clone(),
            standard: model.standard.clone(),
        };
        // Making the graphs takes as long as a stage of the run.
        saved.about.timings.push(("graphs".to_owned(), clock.elapsed().as_secs_f64()));
        saved
    }

    /// D: as it was kept, or else made anew from the training samples. `None` for methods without D, and where the
    /// model was learnt from pairs that are not kept.
    ///
    /// # Errors
    /// When memory does not suffice, or the observer asks to stop.
    pub fn dissimilarity_again(&self, observer: &dyn Observer) -> Result<Option<SparseRows>> {
        if self.dissimilarity.is_some() || self.far_weights.is_empty() {
            return Ok(self.dissimilarity.clone());
        }
        let Some(samples) = self.samples()? else { return Ok(None) };
        let input = Input::Samples(samples, self.metric());
        let prepared = PreparedSlices::new(&input, &Params::lsdg(self.about.n_clusters).starts(1), observer)?;
        Ok(Some(
            with_slices!(&*prepared.pairs, slices => slices.edges(&slices.per_weight(&self.far_weights))),
        ))
    }

    /// The samples it was learnt from; `None` where it was learnt from pairs, or by processes of which none held
    /// all samples.
    ///
    /// # Errors
    /// Never for a model that was fitted or loaded.
    pub fn samples(&self) -> Result<Option<Samples<'_>>> {
        let (n, m) = (self.about.n_samples, self.about.n_features);
        match &self.training {
            Training::Nothing => Ok(None),
            Training::Single(x) => Samples::from_rows(x, n, m).map(Some),
            Training::Double(x) => Samples::from_rows(x, n, m).map(Some),
        }
    }

    /// The metric of the samples.
    pub fn metric(&self) -> Metric {
        if self.about.metric == "cosine" { Metric::Cosine } else { Metric::Euclidean }
    }

    /// Write to a file: under a temporary name first, so that a half-written model never has the right name.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let io = |source| ModelFileError::Io { path: path.display().to_string(), verb: "written", source };
        write_whole(path, &self.to_bytes()).map_err(|error| io(error).into())
    }

    /// Read a file.
    ///
    /// # Errors
    /// When it cannot be read, is no model, is of another version, or is damaged.
    pub fn load(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|source| {
            crate::Error::from(ModelFileError::Io { path: name.clone(), verb: "read", source })
        })?;
        Self::from_bytes(&bytes, &name)
    }

    /// The bytes of a file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let arrays = self.arrays();
        // Numbers and strings only: this cannot fail.
        let about = serde_json::to_string(&self.about).unwrap_or_default();
        pack(&FORMAT, &about, arrays)
    }

    /// Read the bytes of a file; `name` is for messages.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self> {
        Ok(read::read(bytes, name)?)
    }

    fn arrays(&self) -> BTreeMap<&'static str, Array<'_>> {
        let n = self.about.n_samples;
        let mut arrays = BTreeMap::new();
        arrays.insert("labels", Array::of(&self.labels, &[n]));
        arrays.insert("membership", Array::of(&self.membership, &[n, self.about.n_clusters]));
        arrays.insert("near_weights", Array::of(&self.near_weights, &[self.near_weights.len()]));
        arrays.insert("far_weights", Array::of(&self.far_weights, &[self.far_weights.len()]));
        let columns = self.about.n_columns;
        let rows = if columns == 0 { 0 } else { n };
        arrays.insert("factor", Array::of(&self.factor, &[rows, columns]));
        let rows = if self.embedding.is_empty() { 0 } else { n };
        arrays.insert("embedding", Array::of(&self.embedding, &[rows, self.about.n_clusters]));
        arrays.insert("eigenvalues", Array::of(&self.eigenvalues, &[self.eigenvalues.len()]));
        let width = TRACE_COLUMNS.len();
        arrays.insert("trace", Array::of(&self.trace, &[self.trace.len() / width, width]));
        if let Some(sigma) = &self.sigma {
            arrays.insert("sigma", Array::of(sigma, &[n]));
        }
        for (names, graph) in [(GRAPHS[0], &self.similarity), (GRAPHS[1], &self.dissimilarity)] {
            if let Some(SparseRows { starts, columns, values }) = graph {
                let starts: Vec<u64> = starts.iter().map(|start| *start as u64).collect();
                arrays.insert(names[0], Array::of(&starts, &[n + 1]).owned());
                arrays.insert(names[1], Array::of(columns, &[columns.len()]));
                arrays.insert(names[2], Array::of(values, &[values.len()]));
            }
        }
        if let Some(affinity) = &self.affinity {
            arrays.insert("affinity", Array::of(affinity, &[n, n]));
        }
        match &self.training {
            Training::Nothing => {}
            Training::Single(x) => {
                arrays.insert("training", Array::of(x, &[n, self.about.n_features]));
            }
            Training::Double(x) => {
                arrays.insert("training", Array::of(x, &[n, self.about.n_features]));
            }
        }
        if let Scaling::Columns { origin, unit } = &self.scaling {
            arrays.insert("scaling.origin", Array::of(origin, &[origin.len()]));
            arrays.insert("scaling.unit", Array::of(unit, &[unit.len()]));
        }
        if !self.fingerprints.is_empty() {
            arrays.insert("fingerprints", Array::of(&self.fingerprints, &[n]));
        }
        if !self.confidence.is_empty() {
            arrays.insert("confidence", Array::of(&self.confidence, &[n]));
        }
        if let Some(tree) = &self.tree {
            let pairs: Vec<u32> = tree.merges().iter().flat_map(|merge| [merge.into, merge.from]).collect();
            let resolutions: Vec<f64> = tree.merges().iter().map(|merge| merge.resolution).collect();
            arrays.insert("tree.leaves", Array::of(tree.leaves(), &[n]));
            arrays.insert("tree.merges", Array::of(&pairs, &[resolutions.len(), 2]).owned());
            arrays.insert("tree.resolutions", Array::of(&resolutions, &[resolutions.len()]).owned());
        }
        for (lens, names) in self.lenses.iter().zip(LENSES) {
            arrays.insert(names[0], Array::list(&lens.near_weights));
            if let Some(sigma) = &lens.sigma {
                arrays.insert(names[1], Array::of(sigma, &[n]));
            }
        }
        if !self.standard.mean.is_empty() {
            arrays.insert("standard.mean", Array::list(&self.standard.mean));
            arrays.insert("standard.deviation", Array::list(&self.standard.deviation));
        }
        arrays
    }
}

/// Names of the arrays of S and of D.
const GRAPHS: [[&str; 3]; 2] = [
    ["similarity.starts", "similarity.columns", "similarity.values"],
    ["dissimilarity.starts", "dissimilarity.columns", "dissimilarity.values"],
];

/// Names of the arrays of the lenses: weights, and local scales.
const LENSES: [[&str; 2]; 4] = [
    ["lens.0.near_weights", "lens.0.sigma"],
    ["lens.1.near_weights", "lens.1.sigma"],
    ["lens.2.near_weights", "lens.2.sigma"],
    ["lens.3.near_weights", "lens.3.sigma"],
];

fn members_without_traces(model: &Model) -> serde_json::Value {
    let mut members = serde_json::to_value(&model.members).unwrap_or_default();
    for (member, own) in members.as_array_mut().into_iter().flatten().zip(&model.members) {
        // Labels of members are not kept; how far they agree with the result is.
        let labels = own.labels.as_ref();
        if let Some(agreement) = labels.and_then(|labels| adjusted_rand(labels, &model.labels).ok()) {
            member["agreement"] = agreement.into();
        }
        for name in ["started", "learned"] {
            if let Some(learned) = member.get_mut(name).and_then(serde_json::Value::as_object_mut) {
                learned.remove("trace");
            }
        }
    }
    members
}

/// A file holds finite numbers only; a change from nothing is infinite.
fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { f64::MAX }
}

fn trace_of(model: &Model) -> Vec<f64> {
    let members = model.members.iter().enumerate();
    let rows = |(m, member): (usize, &Member)| {
        member.last_loop().trace.iter().flat_map(move |row| row.numbers(m)).map(finite).collect::<Vec<f64>>()
    };
    members.flat_map(rows).collect()
}

fn training_of(input: &Input<'_>) -> Training {
    let Input::Samples(samples, _) = input else { return Training::Nothing };
    let (n, m) = (samples.n_samples(), samples.n_features());
    match samples.values() {
        Values::F64(_) => {
            let mut rows = vec![0.0; n * m];
            rows.chunks_exact_mut(m.max(1)).enumerate().for_each(|(i, row)| samples.copy_row(i, row));
            Training::Double(rows)
        }
        Values::F32(_) => {
            let mut row = vec![0.0; m];
            let mut rows = Vec::with_capacity(n * m);
            for i in 0..n {
                samples.copy_row(i, &mut row);
                rows.extend(row.iter().map(|x| *x as f32)); // widened a moment ago
            }
            Training::Single(rows)
        }
    }
}

/// What row i of a pairwise matrix is known by: a sum over its entries, so that any one can be taken out again.
pub(super) fn fingerprint(row: &[f64]) -> u64 {
    row.iter().enumerate().fold(0, |sum, (j, value)| sum.wrapping_add(own_entry(j, *value)))
}

/// The part of one entry in it.
pub(super) fn own_entry(j: usize, value: f64) -> u64 {
    // −0 is 0.
    let mut sum = Sum(j as u64 + 1);
    sum.word((value + 0.0).to_bits());
    sum.word(j as u64);
    sum.0 ^ (sum.0 >> 29)
}

fn fingerprints_of(input: &Input<'_>) -> Vec<u64> {
    let of_matrix = |x: &Samples<'_>| {
        let n = x.n_samples();
        let mut row = vec![0.0; n];
        (0..n)
            .map(|i| {
                x.copy_row(i, &mut row);
                fingerprint(&row).wrapping_sub(own_entry(i, row[i]))
            })
            .collect()
    };
    match input {
        Input::Samples(..) | Input::Part(..) => Vec::new(),
        Input::Distances(x) | Input::Affinities(x) => of_matrix(x),
        Input::Neighbors(lists) => {
            let n = lists.n_samples();
            let unknown: Vec<u64> = (0..n).map(|j| own_entry(j, f64::INFINITY)).collect();
            let all = unknown.iter().fold(0_u64, |sum, part| sum.wrapping_add(*part));
            (0..n)
                .map(|i| {
                    lists.row(i).fold(all.wrapping_sub(unknown[i]), |sum, (j, d)| {
                        sum.wrapping_sub(unknown[j as usize]).wrapping_add(own_entry(j as usize, d))
                    })
                })
                .collect()
        }
    }
}
