//! All that a page shows of a run.

use nearfar::explain::{ClusterStory, Explanation};
use serde::{Deserialize, Serialize};

use crate::account::{Account, Confidence, Tree};

/// The format's name, in every record.
const FORMAT: &str = "nearfar-report";
/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;
/// Up to this many clusters are set against each other in a matrix.
pub(crate) const MOST_CROSSED: usize = 60;
/// Entries of a heat map are whole numbers up to this, its largest value.
pub(crate) const FULL: u16 = 9_999;

/// Why a record was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Not a record at all.
    #[error("this is no record of a run ({0}); `nearfar cluster --out-dir` writes one")]
    Foreign(String),
    /// A version that is not known here.
    #[error(
        "the record has version {0}, and this nearfar reads version {VERSION}; use the nearfar that wrote it"
    )]
    Version(u64),
    /// Altered or cut short.
    #[error("the record is damaged ({0}); run the clustering again")]
    Damaged(&'static str),
}

/// All that a page shows of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    pub(crate) format: String,
    pub(crate) version: u32,
    /// Program and version.
    pub program: String,
    /// Name of the method.
    pub method: String,
    /// The data as the user named it.
    pub input: String,
    /// What was read, in words.
    pub source: String,
    /// `samples`, `distances`, `affinities` or `neighbors`.
    pub kind: String,
    /// Samples, features (0 for pairs) and clusters asked for.
    pub size: [usize; 3],
    /// Whether the run came to its end.
    pub complete: bool,
    /// Cluster of every point.
    pub labels: Vec<u32>,
    /// Whether points have names; otherwise they are called by their row.
    pub(crate) named: bool,
    /// Mean agreement of the starts with the result.
    pub agreement: f64,
    /// How every start went.
    pub starts: Vec<Start>,
    /// Which of them is the best.
    pub best: usize,
    /// What a person should know.
    pub warnings: Vec<String>,
    pub(crate) columns: Vec<Column>,
    pub(crate) copies: Option<usize>,
    pub(crate) distances: Option<Distances>,
    pub(crate) sigma: Option<Histogram>,
    /// w, from rank 0, the point itself; empty for methods without.
    #[serde(with = "crate::runs")]
    pub near: Vec<f64>,
    /// p, in the same way; also empty where no rank was learnt to be far.
    #[serde(with = "crate::runs")]
    pub far: Vec<f64>,
    /// Share of pairs at each rank that are of one class, where classes are known; of the nearest ranks alone,
    /// where others were not looked at.
    pub correct: Option<Vec<f64>>,
    pub(crate) trace: Vec<Vec<f64>>,
    pub(crate) maps: Vec<Map>,
    pub(crate) spectrum: Vec<f64>,
    /// Whether points have shares in several clusters, or one each.
    pub(crate) soft: bool,
    pub(crate) membership: Histogram,
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) crossed: Vec<f64>,
    pub(crate) uncertain: Vec<Shown>,
    pub(crate) between: usize,
    pub(crate) truth: Option<Truth>,
    /// Height and width of the pictures that the samples are.
    pub(crate) image: Option<[usize; 2]>,
    pub(crate) views: Vec<View>,
    /// Points of the scatter: all, or those of `rows`; none where an older record has squares.
    pub(crate) points: Vec<Point>,
    /// Which points are drawn, where they are a sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rows: Vec<u32>,
    /// Settings by name.
    pub settings: Vec<(String, String)>,
    /// What makes this run again.
    pub command: String,
    /// Seconds per stage.
    pub seconds: Vec<(String, f64)>,
    pub(crate) memory: [Option<u64>; 2],
    /// How the default method came to its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) account: Option<Account>,
    /// How sure labels are, where the method tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) confidence: Option<Confidence>,
    /// How clusters join, where the method tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tree: Option<Tree>,
    /// What the clusters are, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// Whom the clusters of the explanation show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) portraits: Vec<Portrait>,
}

/// One start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// Iterations.
    pub iterations: usize,
    /// Why it ended.
    pub reason: String,
    /// Its objective.
    pub objective: f64,
    /// Normalised cut, where it was judged.
    pub cut: Option<f64>,
    /// Whether it is part of the result.
    pub kept: bool,
}

/// A column of the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) least: f64,
    pub(crate) mean: f64,
    pub(crate) most: f64,
    pub(crate) deviation: f64,
}

/// Counts between equally spaced edges, one more than there are counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Histogram {
    pub(crate) edges: Vec<f64>,
    pub(crate) counts: Vec<u64>,
}

/// How far apart points lie, within clusters and between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Distances {
    /// `distance` or `affinity`.
    pub(crate) what: String,
    /// Points whose pairs were counted.
    pub(crate) sampled: usize,
    pub(crate) within: Histogram,
    pub(crate) between: Histogram,
}

/// A symmetric matrix, downsampled, its upper triangle row by row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Map {
    /// S, D, VVᵀ or Z.
    pub(crate) name: String,
    pub(crate) size: usize,
    /// What [`FULL`] stands for.
    pub(crate) largest: f64,
    pub(crate) cells: Vec<u16>,
    /// Where clusters end, in cells.
    pub(crate) ends: Vec<f64>,
}

/// A cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cluster {
    pub(crate) size: usize,
    /// Mean share of its points' similarity that lies in it.
    pub(crate) inside: f64,
    /// The cluster that takes most of the rest, and its share.
    pub(crate) nearest: Option<(usize, f64)>,
    pub(crate) representatives: Vec<Shown>,
}

/// A point that is shown by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shown {
    pub(crate) id: String,
    pub(crate) label: u32,
    pub(crate) membership: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) confidence: Option<f64>,
    pub(crate) second: Option<(usize, f64)>,
    /// Base64 of a grey picture, a byte per pixel.
    pub(crate) image: Option<String>,
}

/// Points that show what a cluster is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Portrait {
    /// Base64 of the mean of its images.
    pub(crate) mean: Option<String>,
    pub(crate) typical: Vec<Shown>,
    /// Of every typical point its values in the columns that set the cluster apart.
    pub(crate) values: Vec<Vec<f64>>,
    /// Points that may belong to another cluster.
    pub(crate) borders: Vec<Shown>,
}

/// Known classes against clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Truth {
    pub(crate) names: Vec<String>,
    /// Classes × clusters, row by row; empty where there are too many.
    pub(crate) counts: Vec<u64>,
    pub(crate) accuracy: f64,
    pub(crate) nmi: f64,
    pub(crate) ari: f64,
}

/// A way to see the points in the plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct View {
    pub(crate) name: String,
    pub(crate) axes: [String; 2],
    /// Where older records have too many points: what is drawn instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) squares: Vec<Square>,
}

/// Points that lie close together, of older records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Square {
    pub(crate) at: [f64; 2],
    pub(crate) count: usize,
    pub(crate) label: u32,
    /// Share of `label` among them.
    pub(crate) share: f64,
    /// The surest of them.
    pub(crate) id: String,
    pub(crate) membership: f64,
    /// Mean over all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) confidence: Option<f64>,
}

/// A point of the scatter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    /// Empty where points have no names; then it is the row.
    pub(crate) id: String,
    pub(crate) membership: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) confidence: Option<f64>,
    /// Its place in every view.
    pub(crate) at: Vec<[f64; 2]>,
    /// Most trusted neighbours, rows of the data; of a sample none.
    pub(crate) neighbors: Vec<u32>,
    /// Its leaf in the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) leaf: Option<u32>,
}

impl Record {
    /// As JSON, which [`from_json`](Self::from_json) reads.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Numbers and strings only: this cannot fail.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// Read what [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// When it is no record, of another version, or its parts do not fit together.
    pub fn from_json(text: &str) -> Result<Self, RecordError> {
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| RecordError::Foreign(error.to_string()))?;
        if value["format"] != FORMAT {
            return Err(RecordError::Foreign("its format has another name".to_owned()));
        }
        match value["version"].as_u64() {
            Some(version) if version == u64::from(VERSION) => {}
            other => return Err(RecordError::Version(other.unwrap_or_default())),
        }
        let record: Self = serde_json::from_value(value)
            .map_err(|_| RecordError::Damaged("a part is missing or of another kind"))?;
        record.check()?;
        Ok(record)
    }

    /// Whether the parts fit together, so that drawing needs no further look.
    fn check(&self) -> Result<(), RecordError> {
        let [n, _, r] = self.size;
        let unless = |holds: bool, what| if holds { Ok(()) } else { Err(RecordError::Damaged(what)) };
        unless(self.labels.len() == n && self.clusters.len() == r, "labels and sizes differ")?;
        unless(self.labels.iter().all(|label| (*label as usize) < r), "a label is too large")?;
        let known = self.far.is_empty() || self.near.len() == self.far.len();
        unless(known, "w and p differ in length")?;
        unless(
            self.correct.as_ref().is_none_or(|rate| rate.len() <= self.near.len()),
            "there are rates of more ranks than there are",
        )?;
        let rows = nearfar::internals::TRACE_COLUMNS.len();
        unless(self.trace.iter().all(|row| row.len() == rows), "a row of the trace is short")?;
        let whole = |map: &Map| map.size <= 1024 && map.cells.len() == map.size * (map.size + 1) / 2;
        unless(self.maps.iter().all(whole), "a heat map is short")?;
        let even = |h: &Histogram| h.edges.len() == h.counts.len() + 1 || h.counts.is_empty();
        let pairs = self.distances.iter().flat_map(|d| [&d.within, &d.between]);
        let sure = self.confidence.iter().map(|c| &c.histogram);
        unless(
            pairs.chain(&self.sigma).chain([&self.membership]).chain(sure).all(even),
            "a distribution is short",
        )?;
        let each = |c: &Confidence| c.clusters.len() == r;
        unless(self.confidence.as_ref().is_none_or(each), "a cluster has no confidence")?;
        unless(self.tree.as_ref().is_none_or(|tree| tree.is_sound(n, r)), "its tree is no tree")?;
        unless(self.crossed.is_empty() || self.crossed.len() == r * r, "shares are missing")?;
        let counted = |t: &Truth| t.counts.is_empty() || t.counts.len() == t.names.len() * r;
        unless(self.truth.as_ref().is_none_or(counted), "counts are missing")?;
        let drawn = if self.rows.is_empty() { n } else { self.rows.len() };
        let rising = self.rows.is_sorted_by(|a, b| a < b) && self.rows.iter().all(|i| (*i as usize) < n);
        unless(rising && (self.points.is_empty() || self.points.len() == drawn), "points are missing")?;
        let (views, leaves) = (self.views.len(), self.tree.as_ref().map_or(0, |tree| tree.leaves.len()));
        let hung = |p: &Point| p.leaf.is_none_or(|leaf| (leaf as usize) < leaves);
        let placed =
            |p: &Point| p.at.len() == views && p.neighbors.iter().all(|j| (*j as usize) < drawn) && hung(p);
        unless(self.points.iter().all(placed), "a point has no place")?;
        let known = |s: &Shown| s.second.is_none_or(|(c, _)| c < r);
        let people = self.portraits.iter().flat_map(|p| p.typical.iter().chain(&p.borders));
        let shown = self.uncertain.iter().chain(self.clusters.iter().flat_map(|c| &c.representatives));
        let shown = shown.chain(people);
        unless(
            shown.clone().all(known) && self.clusters.iter().all(|c| c.nearest.is_none_or(|(c, _)| c < r)),
            "a cluster is unknown",
        )?;
        let told = |e: &Explanation| e.clusters.len() == r;
        unless(self.explanation.as_ref().is_none_or(told), "a cluster is not explained")?;
        unless(
            self.image.is_none_or(|[h, w]| (1..=4096).contains(&h) && (1..=4096).contains(&w)),
            "an image has no size",
        )
    }

    /// What somebody has called a cluster.
    pub(crate) fn own_name(&self, cluster: usize) -> Option<&str> {
        self.story(cluster)?.name.as_deref()
    }

    /// What a cluster is called in a sentence.
    pub(crate) fn cluster_name(&self, cluster: usize) -> String {
        self.own_name(cluster).map_or_else(|| format!("cluster {cluster}"), str::to_owned)
    }

    /// What is told of a cluster.
    pub(crate) fn story(&self, cluster: usize) -> Option<&ClusterStory> {
        self.explanation.as_ref()?.clusters.get(cluster)
    }

    /// The row of a point of the scatter.
    pub(crate) fn row_of(&self, drawn: usize) -> usize {
        self.rows.get(drawn).map_or(drawn, |row| *row as usize)
    }

    /// What a point is called in a sentence.
    pub(crate) fn name(&self, id: &str) -> String {
        if self.named { id.to_owned() } else { format!("row {id}") }
    }

    pub(crate) fn head() -> (String, u32) {
        (FORMAT.to_owned(), VERSION)
    }
}
