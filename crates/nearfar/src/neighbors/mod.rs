//! neighbors: every point ranks all others, nearest first.
//!
//! Rank 0 is the point itself, by index and not by distance; equal distances are ordered by index, so
//! that results repeat. The affinity is self-tuned (Zelnik-Manor and Perona):
//! $$ \kappa(x_i, x_j) = \exp(-d_{ij}^2 / (\sigma_i \sigma_j)), \quad \sigma_i = \text{distance to the 7th neighbour.} $$
//! Where that distance is 0 (eight copies of a point) the smallest positive distance of the point takes
//! its place, with fewer than eight points the farthest one; both are reported as a [`Warning`].

pub(crate) mod descent;
pub(crate) mod exact;
pub mod nearest;
mod order;
pub(crate) mod precomputed;
pub(crate) mod search;
pub(crate) mod split;

pub use precomputed::NeighborLists;
pub use search::SearchReport;

use crate::crew::Share;
use crate::error::{DataError, ParamError, Result};
use crate::math::kernel::Entry;
use crate::observe::Observer;
use crate::plan::Held;
use crate::samples::Samples;

/// Which neighbour sets the local scale σ (self not counted).
pub const SIGMA_NEIGHBOR: usize = 7;

/// Exact mode keeps ranks in 16 bits.
pub const MAX_EXACT_SAMPLES: usize = 1 << 16;

/// How far apart two samples are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Metric {
    /// ‖x − y‖.
    #[default]
    Euclidean,
    /// ‖x/‖x‖ − y/‖y‖‖ = √(2 − 2 cos): the chord between directions, in the order of the cosine.
    Cosine,
}

/// What the ranking starts from.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Input<'a> {
    /// Samples and a metric.
    Samples(Samples<'a>, Metric),
    /// A symmetric n × n matrix of distances with zero diagonal.
    Distances(Samples<'a>),
    /// A symmetric n × n matrix of affinities, 0 or more; its diagonal is not looked at.
    Affinities(Samples<'a>),
    /// For every point its K nearest others with distances.
    Neighbors(NeighborLists<'a>),
    /// The rows of this process, of samples that a team of processes holds together, and whose rows are whose.
    Part(Samples<'a>, Metric, &'a Share),
}

impl<'a> From<Samples<'a>> for Input<'a> {
    fn from(samples: Samples<'a>) -> Self {
        Self::Samples(samples, Metric::Euclidean)
    }
}

impl Input<'_> {
    /// Number of samples, n.
    pub fn n_samples(&self) -> usize {
        match self {
            Self::Samples(x, _) | Self::Distances(x) | Self::Affinities(x) => x.n_samples(),
            Self::Neighbors(lists) => lists.n_samples(),
            Self::Part(_, _, share) => share.n_rows(),
        }
    }

    /// Whose rows are whose, where processes hold a part each.
    pub fn share(&self) -> Option<&Share> {
        if let Self::Part(_, _, share) = self { Some(share) } else { None }
    }

    /// How the samples are held; pairs count as doubles.
    pub fn held(&self) -> Held {
        match self {
            Self::Samples(x, metric) | Self::Part(x, metric, _) => x.held(*metric),
            _ => Held::Double,
        }
    }

    /// Number of features, or 0 where the input is pairwise.
    pub fn n_features(&self) -> usize {
        match self {
            Self::Samples(x, _) | Self::Part(x, _, _) => x.n_features(),
            _ => 0,
        }
    }
}

/// Something about the data that a person should know.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Warning {
    /// Points with seven or more copies: their σ is the smallest positive distance instead.
    Duplicates {
        /// How many points.
        points: usize,
        /// The first of them.
        first: usize,
    },
    /// All points are the same; every affinity is 1.
    AllEqual,
    /// Fewer than eight points: σ is the distance to the farthest.
    FewSamples {
        /// How many samples.
        n_samples: usize,
    },
    /// Only the K listed neighbours are known; the others are ranked in a seeded random order.
    PartialLists {
        /// Neighbours listed per point.
        listed: usize,
    },
    /// w ended on fewer ranks than it takes to connect the data: Z is nearly a permutation.
    OneRank,
    /// Columns of V that became zero.
    DeadColumns {
        /// How many.
        columns: usize,
    },
    /// Z falls into more nearly separate pieces than there are clusters.
    ManyPieces {
        /// Eigenvalues within 1e-6 of the largest one.
        pieces: usize,
        /// Clusters asked for.
        n_clusters: usize,
    },
    /// The graph falls into more pieces than clusters; some were joined by distance alone.
    JoinedPieces {
        /// Pieces of the graph.
        pieces: usize,
        /// Clusters asked for.
        n_clusters: usize,
    },
    /// The eigensolver stopped before its tolerance.
    Spectrum {
        /// Largest residual left.
        residual: f64,
    },
    /// Fewer distinct labels than clusters asked for.
    FewerClusters {
        /// Labels found.
        found: usize,
        /// Clusters asked for.
        asked: usize,
    },
    /// The dissimilarity pushed every V to zero; it was given less weight.
    WeakerBeta {
        /// β asked for.
        asked: f64,
        /// β in force.
        used: f64,
    },
    /// The learnt weights reach the end of the near ranks; those behind it share weights.
    NearEnd {
        /// Near ranks in force.
        near: usize,
    },
    /// Double precision would not fit; single precision is used.
    Narrowed,
    /// The members of the consensus disagree.
    Unsettled {
        /// Mean agreement (adjusted Rand index) of the kept members with the result.
        agreement: f64,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Duplicates { points, first } => write!(
                f,
                "{points} points (the first is row {first}) have 7 or more exact copies; drop duplicates if they mean nothing"
            ),
            Self::AllEqual => write!(f, "all points are equal: any grouping is as good as any other"),
            Self::FewSamples { n_samples } => {
                write!(
                    f,
                    "only {n_samples} samples: local scales use the farthest neighbour instead of the 7th"
                )
            }
            Self::PartialLists { listed } => write!(
                f,
                "only {listed} neighbours per point are known; the others stand in a random order behind them"
            ),
            Self::OneRank => {
                write!(
                    f,
                    "only one neighbour rank is trusted, so the graph barely connects; try a larger mu or more neighbors"
                )
            }
            Self::DeadColumns { columns } => {
                write!(
                    f,
                    "{columns} column{} of the factor died; try fewer clusters, a smaller beta or --reseed",
                    if *columns == 1 { "" } else { "s" }
                )
            }
            Self::ManyPieces { pieces, n_clusters } => write!(
                f,
                "the graph falls into at least {pieces} nearly separate pieces, more than the {n_clusters} clusters asked for; try more clusters or more neighbors"
            ),
            Self::JoinedPieces { pieces, n_clusters } => write!(
                f,
                "the graph falls into {pieces} pieces, more than the {n_clusters} clusters asked for: the nearest ones were joined; {pieces} clusters would need no such joining"
            ),
            Self::Spectrum { residual } => {
                write!(f, "the eigenvectors are only good to {residual:.1e}; labels may depend on the seed")
            }
            Self::FewerClusters { found, asked } => {
                write!(
                    f,
                    "{found} distinct clusters instead of {asked}: the data has fewer distinct points than that"
                )
            }
            Self::WeakerBeta { asked, used } => write!(
                f,
                "with beta = {asked} the factor became zero, so beta = {used} is used; the data hardly separates near from far"
            ),
            Self::NearEnd { near } => write!(
                f,
                "trusted ranks reach the end of the {near} near ones, behind which ranks share weights; raise near (--near), or trust fewer (--neighbors)"
            ),
            Self::Narrowed => write!(f, "double precision does not fit in memory; single precision is used"),
            Self::Unsettled { agreement } => write!(
                f,
                "the members of the consensus agree little with it (mean adjusted Rand index {agreement:.2}); the grouping is not settled: try another number of clusters"
            ),
        }
    }
}

/// Rank all points against all, from whatever the input is. `seed` orders what neighbour lists leave out.
///
/// # Errors
/// Names the row and column of a value that breaks the rules of its kind of input.
pub fn rank<E: Entry>(input: &Input<'_>, seed: u64, observer: &dyn Observer) -> Result<Neighborhoods<E>> {
    check_count(input.n_samples())?;
    match input {
        Input::Samples(samples, metric) => exact::rank(samples, *metric, observer),
        Input::Distances(x) => precomputed::from_distances(x, observer),
        Input::Affinities(x) => precomputed::from_affinities(x, observer),
        Input::Neighbors(lists) => precomputed::from_lists(lists, seed, observer),
        Input::Part(..) => Err(needs_all("exact mode").into()),
    }
}

/// What needs all rows in one process.
pub(crate) fn needs_all(what: &'static str) -> DataError {
    DataError::NeedsAllRows { what }
}

/// Exact mode has a largest n; judged before anything is planned or allocated.
pub(crate) fn check_count(n_samples: usize) -> Result<(), ParamError> {
    let allowed = format!("at most {MAX_EXACT_SAMPLES} in exact mode");
    ParamError::unless(n_samples <= MAX_EXACT_SAMPLES, "n_samples", n_samples, allowed)
}

/// Binned mode numbers points in 32 bits.
pub const MAX_BINNED_SAMPLES: usize = 1 << 31;

/// Binned mode has a largest n as well.
pub(crate) fn check_binned_count(n_samples: usize) -> Result<(), ParamError> {
    let allowed = format!("at most {MAX_BINNED_SAMPLES}");
    ParamError::unless(n_samples <= MAX_BINNED_SAMPLES, "n_samples", n_samples, allowed)
}

/// Ranks of all pairs, with what the affinities are made of.
#[derive(Clone, Debug)]
pub struct Neighborhoods<E> {
    pub(crate) n: usize,
    /// n × n, row-major: d²_ij, or −ln κ_ij where κ was given.
    pub(crate) values: Vec<E>,
    /// n × n, row-major: the rank of j as seen from i.
    pub(crate) rank: Vec<u16>,
    /// Local scales, in the units of `values`; `None` where `values` are exponents already.
    pub(crate) sigma: Option<Vec<f64>>,
    /// Multiply a scale by this to have it in the units of the data.
    pub(crate) unit: f64,
    pub(crate) warnings: Vec<Warning>,
}

impl<E: Entry> Neighborhoods<E> {
    /// The rank of j as seen from i.
    pub fn rank(&self, i: usize, j: usize) -> usize {
        self.rank[i * self.n + j] as usize
    }

    /// Local scales σ, in the units of the data; `None` where affinities were given.
    pub fn sigma(&self) -> Option<Vec<f64>> {
        self.sigma.as_ref().map(|sigma| sigma.iter().map(|s| s * self.unit).collect())
    }

    /// What a person should know about the data.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

/// Bytes of [`Neighborhoods`] of n samples.
pub(crate) fn bytes<E: Entry>(n: u64) -> u64 {
    n * n * (E::BYTES + 2)
}

/// Collects what single rows found about σ.
pub(crate) fn sigma_warnings(n: usize, sigma: &mut [f64], replaced: &[bool]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if n > 1 && sigma.iter().all(|s| *s == 0.0) {
        warnings.push(Warning::AllEqual);
    } else if let Some(first) = replaced.iter().position(|r| *r) {
        warnings.push(Warning::Duplicates { points: replaced.iter().filter(|r| **r).count(), first });
    }
    if n <= SIGMA_NEIGHBOR {
        warnings.push(Warning::FewSamples { n_samples: n });
    }
    for s in sigma {
        if *s == 0.0 {
            *s = 1.0; // no positive distance at all: every exponent is 0 whatever the scale
        }
    }
    warnings
}
