//! Datasets made on the spot: shapes to look at, control charts, tables of overlapping groups, mixtures of any size.
//!
//! Every generator is a plain function of its parameters and a seed, and gives the same values for ever. [`make`]
//! reaches all of them by [`Kind`]; some are functions of this module, too.

pub(crate) mod blobs;
mod chart;
mod shapes;
mod tables;
#[cfg(test)]
mod tests;

pub use blobs::blobs;
pub(crate) use blobs::{mixture, varied};
pub use chart::chart;
pub use shapes::{circles, moons};
pub(crate) use shapes::{rings, spirals};
pub(crate) use tables::{customers, heavy, overlap, stripes, uniform};

use crate::error::ParamError;
use crate::math::rng::Stream;
use std::fmt;
use std::str::FromStr;

/// A dataset with its truth.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Generated {
    /// n × m, row-major, all finite.
    pub data: Vec<f64>,
    /// Rows, n.
    pub n_samples: usize,
    /// Columns, m.
    pub n_features: usize,
    /// Class of every sample, from 0.
    pub truth: Vec<usize>,
    /// Name of every column.
    pub feature_names: Vec<String>,
}

/// The generators by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Control charts: six kinds of time series; see [`chart`].
    Chart,
    /// Two half circles that reach into each other; see [`moons`].
    Moons,
    /// A circle inside another; see [`circles`].
    Circles,
    /// Round clusters of one width and size; see [`blobs`].
    Blobs,
    /// Spirals of one and a quarter turns that wind around each other; points are evenly dense along an arm.
    Spirals,
    /// A dense blob of a sixth of the samples (class 0) inside two rings of radius 1 (a third) and 2 (the rest).
    Rings,
    /// Like [`blobs`], but cluster c of k has a width between 0.3 and 2 times `noise` and a size that falls as
    /// 1/(c + 1), at least one sample.
    Varied,
    /// Round Gaussians, no two centres closer than ten deviations, so that the truth can be found at any size.
    /// Values are rounded to f32, and so are the same in both precisions.
    Mixture,
    /// A table of customers: six numbers and a category of three levels (one column each), all standardised, in
    /// five groups of 28 to 12 %. Groups are near-Gaussian and overlap: k-means finds about .95 of them.
    Customers,
    /// Parallel stripes in the plane: Gaussians twenty times as long as they are wide.
    Stripes,
    /// Round Gaussians in a row along the diagonal, neighbouring centres 3.5 deviations apart in any number of
    /// columns: the best possible rule errs on 4 % of two groups.
    Overlap,
    /// The same with heavy tails: Student's t with three degrees of freedom in all columns at once. Outliers are
    /// part of their group.
    Heavy,
    /// Points without any groups, uniform in a cube; the truth is one class.
    Uniform,
}

/// What [`make`] may be told; each kind has its own defaults for the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MakeParams {
    /// Number of samples.
    pub n_samples: Option<usize>,
    /// Standard deviation of the noise, or width of the clusters.
    pub noise: Option<f64>,
    /// Number of clusters, where it can be chosen.
    pub clusters: Option<usize>,
    /// Number of features (time steps of a chart), where it can be chosen.
    pub features: Option<usize>,
    /// Seed of everything random.
    pub seed: u64,
}

impl Kind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 13] = [
        Self::Moons,
        Self::Circles,
        Self::Spirals,
        Self::Rings,
        Self::Blobs,
        Self::Varied,
        Self::Stripes,
        Self::Overlap,
        Self::Heavy,
        Self::Uniform,
        Self::Customers,
        Self::Chart,
        Self::Mixture,
    ];

    /// The name users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Chart => "chart",
            Self::Moons => "moons",
            Self::Circles => "circles",
            Self::Blobs => "blobs",
            Self::Spirals => "spirals",
            Self::Rings => "rings",
            Self::Varied => "varied",
            Self::Mixture => "mixture",
            Self::Customers => "customers",
            Self::Stripes => "stripes",
            Self::Overlap => "overlap",
            Self::Heavy => "heavy",
            Self::Uniform => "uniform",
        }
    }

    /// One line about it.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Chart => "control charts: six kinds of time series (normal, cyclic, trends, shifts)",
            Self::Moons => "two half moons that reach into each other",
            Self::Circles => "a circle inside another",
            Self::Blobs => "round clusters of one width and size",
            Self::Spirals => "arms that wind around each other",
            Self::Rings => "two rings around a small dense blob, of different sizes",
            Self::Varied => "round clusters of different widths and sizes",
            Self::Mixture => "separable Gaussian components of any size and dimension, exact in f32",
            Self::Customers => {
                "a table of customers: six numbers and a category, five overlapping groups, standardised"
            }
            Self::Stripes => "long, narrow, parallel Gaussians",
            Self::Overlap => "Gaussian groups that overlap, in any number of columns",
            Self::Heavy => "overlapping groups with heavy tails (Student's t), in any number of columns",
            Self::Uniform => "uniform noise: no groups at all",
        }
    }

    /// All names.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|kind| kind.name()).collect()
    }

    /// Default samples, features and clusters, and whether features and clusters may be chosen.
    fn shape(self) -> (usize, usize, usize, bool, bool) {
        match self {
            Self::Chart => (600, 60, 6, true, false),
            Self::Moons | Self::Circles => (300, 2, 2, false, false),
            Self::Blobs => (500, 2, 5, true, true),
            Self::Spirals => (400, 2, 2, false, true),
            Self::Rings => (600, 2, 3, false, false),
            Self::Varied => (500, 2, 4, true, true),
            Self::Mixture => (10_000, 32, 10, true, true),
            Self::Customers => (4_500, 9, 5, false, false),
            Self::Stripes => (450, 2, 3, false, true),
            Self::Overlap | Self::Heavy => (1_000, 8, 2, true, true),
            Self::Uniform => (500, 2, 1, true, false),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kind {
    type Err = ParamError;

    fn from_str(name: &str) -> Result<Self, ParamError> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| ParamError::new("kind", name, format!("one of {}", Self::names().join(", "))))
    }
}

/// Make a dataset of the given kind.
///
/// ```
/// use nearfar::generate::{Kind, MakeParams, make};
/// let kind: Kind = "moons".parse()?;
/// let moons = make(kind, &MakeParams { n_samples: Some(80), ..MakeParams::default() })?;
/// assert_eq!((moons.n_samples, moons.n_features, moons.truth.len()), (80, 2, 80));
/// # Ok::<(), nearfar::ParamError>(())
/// ```
///
/// # Errors
/// Names the first parameter out of range, or set where the kind leaves no choice.
pub fn make(kind: Kind, params: &MakeParams) -> Result<Generated, ParamError> {
    let (n, features, clusters, choose_features, choose_clusters) = kind.shape();
    let fixed = |free, value: Option<usize>, only, name| {
        let allowed = || format!("{only} for {kind}");
        ParamError::unless(free || value.is_none_or(|v| v == only), name, value.unwrap_or(only), allowed())
    };
    fixed(choose_features, params.features, features, "features")?;
    fixed(choose_clusters, params.clusters, clusters, "clusters")?;
    let n = params.n_samples.unwrap_or(n);
    let m = params.features.unwrap_or(features);
    let k = params.clusters.unwrap_or(clusters);
    let noise = |default: f64| params.noise.unwrap_or(default);
    let seed = params.seed;
    match kind {
        Kind::Chart => {
            check_sizes(n, m, 6)?;
            chart::charts(&share(n, 6), m, noise(2.0), seed)
        }
        Kind::Moons => moons(n, noise(0.05), seed),
        Kind::Circles => circles(n, noise(0.04), 0.5, seed),
        Kind::Blobs => blobs(n, m, k, noise(1.0), seed),
        Kind::Spirals => spirals(n, k, noise(0.02), seed),
        Kind::Rings => rings(n, noise(0.05), seed),
        Kind::Varied => varied(n, m, k, noise(1.0), seed),
        Kind::Mixture => mixture(n, m, k, noise(1.0), seed),
        Kind::Customers => customers(n, noise(1.0), seed),
        Kind::Stripes => stripes(n, k, noise(0.15), seed),
        Kind::Overlap => overlap(n, m, k, noise(1.0), seed),
        Kind::Heavy => heavy(n, m, k, noise(1.0), seed),
        Kind::Uniform => uniform(n, m, noise(1.0), seed),
    }
}

/// Most values of a dataset (32 GiB): a slip of the keyboard should be an error, not a dead machine.
const MOST_VALUES: usize = 1 << 32;

fn check_sizes(n: usize, m: usize, clusters: usize) -> Result<(), ParamError> {
    ParamError::unless(clusters > 0, "clusters", clusters, "1 or more")?;
    ParamError::unless(m > 0, "features", m, "1 or more")?;
    ParamError::unless(n >= clusters, "n_samples", n, format!("{clusters} or more: one per cluster"))?;
    let fits = n.checked_mul(m).is_some_and(|values| values <= MOST_VALUES);
    ParamError::unless(fits, "n_samples", n, format!("so that samples x features is at most {MOST_VALUES}"))
}

fn check_noise(noise: f64) -> Result<(), ParamError> {
    ParamError::unless((0.0..=1e6).contains(&noise), "noise", noise, "0 to 1e6")
}

/// `n` samples in `parts` classes whose sizes differ by one at most.
fn share(n: usize, parts: usize) -> Vec<usize> {
    (0..parts).map(|i| n / parts + usize::from(i < n % parts)).collect()
}

/// Every class as often as its size says, in order.
fn in_order(sizes: &[usize]) -> Vec<usize> {
    sizes.iter().enumerate().flat_map(|(class, size)| std::iter::repeat_n(class, *size)).collect()
}

/// The same in random order.
fn shuffled(sizes: &[usize], random: &mut Stream) -> Vec<usize> {
    let mut truth = in_order(sizes);
    random.shuffle(&mut truth);
    truth
}

impl Generated {
    /// One row per entry of `truth`; `row` fills a row, given its class.
    fn from_rows(
        truth: Vec<usize>,
        feature_names: Vec<String>,
        mut row: impl FnMut(usize, &mut [f64]),
    ) -> Result<Self, ParamError> {
        let (n_samples, n_features) = (truth.len(), feature_names.len());
        let mut data = Vec::new();
        let reserved = data.try_reserve_exact(n_samples * n_features);
        ParamError::unless(reserved.is_ok(), "n_samples", n_samples, "few enough to fit in memory")?;
        data.resize(n_samples * n_features, 0.0);
        for (class, values) in truth.iter().zip(data.chunks_exact_mut(n_features)) {
            row(*class, values);
        }
        Ok(Self { data, n_samples, n_features, truth, feature_names })
    }
}

/// `prefix` with the numbers 0 to m − 1.
fn numbered(prefix: &str, m: usize) -> Vec<String> {
    (0..m).map(|j| format!("{prefix}{j}")).collect()
}
