//! What a caller may set for a whole run, judged once, at the edge.

use crate::error::{DataError, ParamError, Result};
use crate::graph::GraphParams;
use crate::learn::lsdg::{Density, LsdgParams};
use crate::learn::nearfar::NearFarParams;
use crate::learn::{MethodKind, MethodParams, StopRule};
use crate::plan::Precision;
use crate::slices::BinnedShape;

/// Trusted ranks of a default run; members of the consensus spread around it.
pub(crate) const DEFAULT_NEIGHBORS: usize = 12;
/// Members of a default run.
pub(crate) const DEFAULT_STARTS: usize = 12;
/// α₀ of a default run, as a share of the leading eigenvalue.
pub(crate) const DEFAULT_ALPHA: f64 = 0.5;
/// β of a default run.
pub(crate) const DEFAULT_BETA: f64 = 10.0;

/// A member whose cut is above this many times the best one's is an outlier.
pub const OUTLIER_CUT: f64 = 3.0;

/// Trusted ranks of the members, in twelfths of [`Params::neighbors`]'s value.
const SPREAD: [usize; 6] = [8, 10, 12, 14, 16, 20];

/// Named settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Scale-free, a consensus of several starts; needs no tuning and no labels.
    #[default]
    Default,
    /// The paper's advice, α = 0.1, β = 10, μ = 0.1; one start.
    Paper,
    /// The authors' demonstration, α = 0.1, β = 1, μ = 0.5; one start.
    Demo,
}

/// Where the members start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Starts {
    /// Uniform random factors.
    Random,
    /// Labels of spectral clustering of the member's graph.
    Spectral,
    /// Random and spectral ones in turn, random first.
    #[default]
    Both,
}

/// Which members the consensus is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pruning {
    /// All.
    None,
    /// The better three quarters by normalised cut on the starting graph.
    Quarter,
    /// The better half.
    Half,
    /// All but those whose cut is more than [`OUTLIER_CUT`] times the best one's: starts that missed what others found.
    #[default]
    Outliers,
}

/// How the pairs of the data are held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Exact where it fits in memory and does not take long, else binned.
    #[default]
    Auto,
    /// Every pair: n² memory.
    Exact,
    /// Near ranks one by one, far ranks in bins by a sample: memory and time grow with n.
    Binned,
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Exact => "exact",
            Self::Binned => "binned",
        })
    }
}

/// Near ranks of a binned run where nothing is said, and partners drawn for every point: for few points, and for many.
pub(crate) const DEFAULT_NEAR: [usize; 2] = [128, 64];
/// More points than this are many: there a bin has samples enough with fewer for each point.
pub(crate) const MANY_POINTS: usize = 50_000;
/// Bins of a binned run.
pub(crate) const DEFAULT_BINS: usize = 64;
/// Most near ranks and bins together, and most partners: they are counted in 16 bits.
pub(crate) const MOST_BINNED: usize = 30_000;

/// The knobs of binned mode; `None` leaves the choice to the run. With all ranks near it is the exact mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct BinnedParams {
    /// K: ranks with a weight of their own, the point itself among them; 8 to 30,000.
    pub near: Option<usize>,
    /// T: partners drawn for every point; 1 to 30,000.
    pub far: Option<usize>,
    /// B: bins that share the other ranks; 1 to 30,000.
    pub bins: Option<usize>,
}

/// Settings of a run; every run judges them first, for the size of its data.
///
/// ```
/// use nearfar::Params;
/// assert!(Params::new(3).check().is_ok());
/// let error = Params::new(0).check().unwrap_err();
/// assert_eq!(error.to_string(), "n_clusters = 0 is not allowed: it must be 1 or more");
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Params {
    /// Number of clusters, r.
    pub n_clusters: usize,
    /// Whether the number of clusters is to be found, whatever [`n_clusters`](Self::n_clusters) says; the default
    /// method alone can.
    pub find_clusters: bool,
    /// The settings' name.
    pub preset: Preset,
    /// Which model is learnt, with the settings of its own.
    pub method: MethodParams,
    /// The settings of the main method, LSDG.
    pub lsdg: LsdgParams,
    /// The graph of the methods that factor a fixed one.
    pub graph: GraphParams,
    /// Members: independent starts. More than one make a consensus.
    pub starts: usize,
    /// Where members start.
    pub start: Starts,
    /// Whether members differ in how many ranks they trust (only with [`Density::Neighbors`]).
    pub spread_neighbors: bool,
    /// Whether V starts from a loop with the orthogonality term on, instead of plain PHALS.
    pub orthogonal_start: bool,
    /// Which members are kept.
    pub pruning: Pruning,
    /// When the loops stop.
    pub stop: StopRule,
    /// Restarts of k-means on the embedding.
    pub kmeans_restarts: usize,
    /// One seed for everything random.
    pub seed: u64,
    /// Worker threads; all cores when `None`. The result does not depend on it.
    pub threads: Option<usize>,
    /// Bytes the run may use; 80 % of what is free when `None`.
    pub memory: Option<u64>,
    /// Storage of the n × n matrices, or of the known pairs in binned mode (single unless asked otherwise).
    pub precision: Precision,
    /// How the pairs are held.
    pub mode: Mode,
    /// The knobs of binned mode.
    pub binned: BinnedParams,
}

impl Params {
    /// The default method with this many clusters.
    #[must_use]
    pub fn new(n_clusters: usize) -> Self {
        Self::of(n_clusters, NearFarParams::default())
    }

    /// The default method, which finds the number of clusters, too.
    #[must_use]
    pub fn auto() -> Self {
        Self { find_clusters: true, ..Self::new(1) }
    }

    /// The paper's model, LSDG, with settings that need no tuning: a consensus of several starts.
    #[must_use]
    pub fn lsdg(n_clusters: usize) -> Self {
        Self::preset(n_clusters, Preset::Default)
    }

    /// The paper's model, LSDG, with named settings.
    #[must_use]
    pub fn preset(n_clusters: usize, preset: Preset) -> Self {
        let scale_free = preset == Preset::Default;
        Self {
            n_clusters,
            find_clusters: false,
            preset,
            method: MethodParams::Lsdg,
            lsdg: match preset {
                Preset::Default => LsdgParams::scale_free(DEFAULT_ALPHA, DEFAULT_BETA, DEFAULT_NEIGHBORS),
                Preset::Paper => LsdgParams::paper(),
                Preset::Demo => LsdgParams::demo(),
            },
            graph: GraphParams::default(),
            starts: if scale_free { DEFAULT_STARTS } else { 1 },
            start: if scale_free { Starts::Both } else { Starts::Random },
            spread_neighbors: scale_free,
            orthogonal_start: scale_free,
            pruning: if scale_free { Pruning::Outliers } else { Pruning::None },
            stop: StopRule::default(),
            kmeans_restarts: 20,
            seed: 0,
            threads: None,
            memory: None,
            precision: Precision::Auto,
            mode: Mode::Auto,
            binned: BinnedParams::default(),
        }
    }

    /// One start of another method, by the settings of its own; stopping is that of the compared methods.
    ///
    /// ```
    /// use nearfar::learn::SymNmfParams;
    /// use nearfar::{Params, Samples};
    /// let data = nearfar::generate::blobs(90, 3, 2, 0.4, 1)?;
    /// let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
    /// let model = nearfar::fit(samples, &Params::of(3, SymNmfParams::default()))?;
    /// assert_eq!(model.sizes().len(), 3);
    /// # Ok::<(), nearfar::Error>(())
    /// ```
    #[must_use]
    pub fn of(n_clusters: usize, method: impl Into<MethodParams>) -> Self {
        let method = method.into();
        if method == MethodParams::Lsdg {
            return Self::lsdg(n_clusters);
        }
        Self { method, stop: StopRule::of_family(), ..Self::preset(n_clusters, Preset::Paper) }
    }

    /// The settings of the default method; its defaults where another method is set.
    pub fn nearfar(&self) -> NearFarParams {
        if let MethodParams::NearFar(own) = &self.method { *own } else { NearFarParams::default() }
    }

    /// Trust this many ranks; μ follows.
    #[must_use]
    pub fn neighbors(mut self, neighbors: usize) -> Self {
        self.lsdg.density = Density::Neighbors(neighbors);
        self
    }

    /// Use this many starts.
    #[must_use]
    pub fn starts(self, starts: usize) -> Self {
        Self { starts, ..self }
    }

    /// Use this seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Use this many threads.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Use this storage.
    #[must_use]
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Hold the pairs this way.
    #[must_use]
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Near ranks, partners and bins for n samples. Where near and sampled pairs would be most of all pairs, all
    /// are taken.
    pub fn binned_shape(&self, n_samples: usize) -> BinnedShape {
        let trusted = (0..self.starts).map(|member| match self.member(member).density {
            Density::Neighbors(k) => k,
            Density::Mu { .. } => 0,
        });
        let trusted = trusted.max().unwrap_or(0).max(self.lsdg.resolved_start_ranks(n_samples));
        let default = DEFAULT_NEAR[usize::from(n_samples > MANY_POINTS)];
        let near = self.binned.near.unwrap_or_else(|| default.max(2 * trusted + 2).min(MOST_BINNED));
        let near = near.clamp(1, n_samples.max(1));
        let far = self.binned.far.unwrap_or(default);
        let all = near + 2 * far >= n_samples;
        let bins = self.binned.bins.unwrap_or(DEFAULT_BINS).min(n_samples - near);
        BinnedShape { near, far: if all { n_samples / 2 } else { far }, bins }
    }

    /// Every setting that the method uses is in its range ([`learn::table`](crate::learn::table)), and none that it
    /// does not use is set. Each test is written so that NaN fails it.
    ///
    /// # Errors
    /// Names the first parameter out of range, its value, and what is allowed.
    pub fn check(&self) -> Result<(), ParamError> {
        ParamError::unless(self.n_clusters >= 1, "n_clusters", self.n_clusters, "1 or more")?;
        let allowed = "a number where the method is not nearfar, which alone finds it";
        let finds = self.method.kind() == MethodKind::NearFar;
        ParamError::unless(!self.find_clusters || finds, "n_clusters", "auto", allowed)?;
        if let Some(threads) = self.threads {
            ParamError::unless((1..=1024).contains(&threads), "threads", threads, "1 to 1024")?;
        }
        self.check_settings()?;
        self.stop.check()?;
        self.method.check()?;
        self.lsdg.check()
    }

    /// Judge everything for a data set of this size; what comes back is all that a run works with.
    ///
    /// # Errors
    /// As [`check`](Self::check), when there are no samples, and when there are fewer than clusters.
    pub(crate) fn settle(&self, n_samples: usize, n_features: usize) -> Result<Settled> {
        self.check()?;
        if n_samples == 0 {
            return Err(DataError::Empty { n_samples, n_features }.into());
        }
        let n_clusters = self.n_clusters;
        if !self.find_clusters && n_clusters > n_samples {
            return Err(DataError::TooFewSamples { n_samples, n_clusters }.into());
        }
        Ok(Settled(self.clone()))
    }

    /// The model's settings for one member.
    pub(crate) fn member(&self, member: usize) -> LsdgParams {
        let mut lsdg = self.lsdg;
        if let Density::Neighbors(k) = lsdg.density
            && self.starts > 1
            && self.spread_neighbors
        {
            // Random and spectral members take turns, so each pair of them shares one place of the spread.
            let place = if self.start == Starts::Both { member / 2 } else { member };
            lsdg.density =
                Density::Neighbors(k.saturating_mul(SPREAD[place % SPREAD.len()]).div_ceil(12).max(1));
        }
        lsdg
    }

    /// Whether this member starts from spectral clustering.
    pub(crate) fn starts_spectral(&self, member: usize) -> bool {
        match self.start {
            Starts::Random => false,
            Starts::Spectral => true,
            Starts::Both => member % 2 == 1,
        }
    }

    /// How many members are kept, of all whose cuts are given, smallest first.
    pub(crate) fn kept(&self, cuts: &[f64]) -> usize {
        let kept = match self.pruning {
            Pruning::None => self.starts,
            Pruning::Half => self.starts.div_ceil(2),
            Pruning::Quarter => (3 * self.starts).div_ceil(4),
            Pruning::Outliers => {
                // Where the best cut is 0, up to rounding, so is every other that is as good.
                let most = cuts.first().map_or(0.0, |best| OUTLIER_CUT * best.max(0.0) + 1e-9);
                cuts.iter().filter(|cut| **cut <= most).count()
            }
        };
        kept.min(cuts.len())
    }
}

/// Settings that passed [`Params::settle`] for the data at hand. The mathematics takes no others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settled(Params);

impl std::ops::Deref for Settled {
    type Target = Params;

    fn deref(&self) -> &Params {
        &self.0
    }
}

impl Settled {
    /// With the number of clusters that was found, 1 to n.
    pub(crate) fn found_clusters(&mut self, n_clusters: usize) {
        self.0.n_clusters = n_clusters;
    }

    /// With a smaller β.
    pub(crate) fn weaker_beta(&mut self, beta: f64) {
        self.0.lsdg.beta = beta;
    }

    /// With the mode that the data was prepared in.
    pub(crate) fn in_mode(&self, mode: Mode) -> Self {
        Self(Params { mode, ..self.0.clone() })
    }

    /// As a finished model keeps them.
    pub(crate) fn into_params(self) -> Params {
        self.0
    }
}
