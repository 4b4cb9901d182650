//! What the default method tells of its answer. Every part has a default, so that records of older and newer
//! versions can be read.

use serde::{Deserialize, Serialize};

use crate::record::Histogram;

/// How the answer was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Account {
    /// `graph` or `mixture`: which way was taken.
    pub(crate) engine: String,
    /// Whether the user asked for this way.
    pub(crate) asked: bool,
    pub(crate) views: Vec<ViewTrust>,
    /// Rows that views were judged on.
    pub(crate) judged_on: usize,
    pub(crate) count: Option<Count>,
    /// Pieces of the consensus graph.
    pub(crate) pieces: usize,
    pub(crate) mixture: Option<Mixture>,
    pub(crate) members: Vec<MemberRow>,
    /// Where the share of one class per rank was counted: the view, and the number of points.
    pub(crate) ranked: Option<(String, usize)>,
}

impl Account {
    /// Whether the mixture answered.
    pub(crate) fn by_mixture(&self) -> bool {
        self.engine == "mixture"
    }

    /// Views that members were learnt on.
    pub(crate) fn learnt(&self) -> usize {
        self.views.iter().filter(|view| view.members > 0).count()
    }
}

/// A scaling of the data, and how far it was trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ViewTrust {
    pub(crate) name: String,
    /// Weight, quality and null, where the view was judged.
    pub(crate) judged: Option<[f64; 3]>,
    /// Members that were learnt on it.
    pub(crate) members: usize,
}

/// How the number of clusters was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Count {
    pub(crate) found: usize,
    pub(crate) others: Vec<usize>,
    /// The null gap of 2, 3, … clusters.
    pub(crate) gaps: Vec<f64>,
    /// How far the resolution falls there; empty in older records.
    pub(crate) falls: Vec<f64>,
    /// Whether any groups stand out.
    pub(crate) groups: bool,
    /// Whether a mixture that explains the rows has so many parts; else gap and fall decided.
    pub(crate) by_mixture: bool,
}

/// What came of trying a mixture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Mixture {
    pub(crate) explains: bool,
    pub(crate) parts: usize,
    /// `full`, `tied`, `diag` or `spherical`.
    pub(crate) covariance: String,
    /// Degrees of freedom of Student's t; `None` for normal tails.
    pub(crate) tail: Option<f64>,
    /// T.
    pub(crate) told: f64,
    /// 0 where T alone decided, as is that of drawn rows.
    pub(crate) sharpness: f64,
    pub(crate) drawn_sharpness: f64,
    /// Mean probability of the likeliest part.
    pub(crate) certainty: f64,
}

impl Mixture {
    /// Whether the graphs were compared at all.
    pub(crate) fn compared(&self) -> bool {
        self.sharpness != 0.0 || self.drawn_sharpness != 0.0
    }
}

/// A member of the consensus.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct MemberRow {
    pub(crate) view: String,
    /// Ranks it was to trust.
    pub(crate) trusted: usize,
    pub(crate) modularity: f64,
    /// Adjusted Rand index of its labels with the result, where it is known.
    pub(crate) agreement: Option<f64>,
}

/// How sure the labels are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Confidence {
    pub(crate) histogram: Histogram,
    pub(crate) mean: f64,
    /// Points below one half.
    pub(crate) doubtful: usize,
    /// Mean of every cluster, and its points below one half.
    pub(crate) clusters: Vec<(f64, usize)>,
    /// Where classes are known: what confidence is worth.
    pub(crate) bins: Vec<Bin>,
}

/// Points of about the same confidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Bin {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) points: usize,
    /// Mean confidence.
    pub(crate) confidence: f64,
    /// Share of them whose cluster is matched to their class.
    pub(crate) right: f64,
}

/// How clusters join.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Tree {
    /// Points of every leaf, and the cluster most of them are in.
    pub(crate) leaves: Vec<(usize, u32)>,
    /// The leaf that goes on, the one that ends, and the resolution at which joining begins to pay; first to last.
    pub(crate) merges: Vec<(u32, u32, f64)>,
}

impl Tree {
    /// Whether it is a tree of n points in r clusters.
    pub(crate) fn is_sound(&self, n: usize, r: usize) -> bool {
        let mut alive = vec![true; self.leaves.len()];
        let joined = self.merges.iter().all(|(into, from, resolution)| {
            let (into, from) = (*into as usize, *from as usize);
            let sound = into < from && from < alive.len() && alive[into] && alive[from] && *resolution >= 0.0;
            if sound {
                alive[from] = false;
            }
            sound
        });
        let points = self.leaves.iter().try_fold(0_usize, |sum, (size, _)| sum.checked_add(*size));
        joined
            && self.merges.len() + 1 == self.leaves.len()
            && points == Some(n)
            && self.leaves.iter().all(|(_, cluster)| (*cluster as usize) < r)
    }
}
