//! The methods by name: their settings, what they need, and what a finished start hands over.

use super::anls::AnlsParams;
use super::aosymnmf::AoSymNmfParams;
use super::cgsymnmf::CgSymNmfParams;
use super::gnmf::GnmfParams;
use super::gsnmf::GsNmfParams;
use super::nmfan::NmfAnParams;
use super::rbsmf::RbsMfParams;
use super::s3nmf::S3NmfParams;
use super::sbsum::SBsumParams;
use super::symnmf::SymNmfParams;
use super::{Learned, StopRule};
use crate::error::{Error, ParamError, Result};
use crate::graph::SparseGraph;
use crate::learn::nearfar::NearFarParams;
use crate::math::factor::Factor;
use crate::math::rng::Stream;
use crate::observe::{Observer, Stage};
use crate::plan::Precision;

/// Which model is learnt, with the settings of its own.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(tag = "name", rename_all = "lowercase")]
#[non_exhaustive]
pub enum MethodParams {
    /// Several scalings of the data, weighed without labels; neighbour weights and a partition into k learnt in
    /// turn; a consensus. The default.
    NearFar(NearFarParams),
    /// The paper's model: learns which neighbour ranks to trust as near and far, together with V; labels from the
    /// spectrum of Z.
    Lsdg,
    /// Symmetric NMF of a fixed graph, column by column with exact line search (Hou, Chu, Liao 2023).
    Phals,
    /// Symmetric NMF with an orthogonality term: the paper's own by column steps, or one of three by multiplicative
    /// updates.
    AoSymNmf(AoSymNmfParams),
    /// Symmetric NMF of a fixed graph: multiplicative, projected gradient or Newton-like (Kuang et al. 2012, 2015).
    SymNmf(SymNmfParams),
    /// Symmetry dropped and priced: alternating least squares by pivoting or by columns (Zhu et al. 2018).
    Anls(AnlsParams),
    /// Symmetric NMF one entry (or one row) at a time, each step an exact minimum of a bound (Shi et al. 2017).
    SBsum(SBsumParams),
    /// Symmetric NMF with the graph Laplacian as a regulariser (Gao, Guan, Su 2018).
    GsNmf(GsNmfParams),
    /// NMF of the samples with the graph Laplacian as a regulariser; k-means on V (Cai et al. 2011).
    Gnmf(GnmfParams),
    /// NMF of the samples with a neighbour graph that is learnt along (Huang et al. 2017).
    NmfAn(NmfAnParams),
    /// Symmetric NMF of a graph learnt by self-expression (Jia et al. 2020; a reconstruction).
    CgSymNmf(CgSymNmfParams),
    /// Robust factorisation with a bi-stochastic graph that is learnt along (Wang et al. 2022; a reconstruction).
    RbsMf(RbsMfParams),
    /// Rounds of many symmetric NMFs; each round's graph is the vote of the last (Jia et al. 2022).
    S3Nmf(S3NmfParams),
    /// k-means++ on the samples.
    KMeans,
    /// Spectral clustering of the same self-tuned graph (Ng, Jordan, Weiss).
    Spectral,
    /// Plain NMF of the samples; k-means on V.
    Nmf,
}

/// What a method works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nearest neighbours, in several scalings where there are samples.
    Lists,
    /// All ranks and affinities: n² memory.
    Slices,
    /// A sparse graph of nearest neighbours.
    Graph,
    /// The samples.
    Samples,
    /// Graph and samples.
    Both,
}

/// The name of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
#[allow(missing_docs, reason = "each is described by its line")]
pub enum MethodKind {
    NearFar,
    Lsdg,
    Phals,
    AoSymNmf,
    SymNmf,
    Anls,
    SBsum,
    GsNmf,
    Gnmf,
    NmfAn,
    CgSymNmf,
    RbsMf,
    S3Nmf,
    KMeans,
    Spectral,
    Nmf,
}

impl MethodKind {
    /// All of them, the default first.
    pub const ALL: [Self; 16] = [
        Self::NearFar,
        Self::Lsdg,
        Self::Phals,
        Self::AoSymNmf,
        Self::SymNmf,
        Self::Anls,
        Self::SBsum,
        Self::GsNmf,
        Self::Gnmf,
        Self::NmfAn,
        Self::CgSymNmf,
        Self::RbsMf,
        Self::S3Nmf,
        Self::KMeans,
        Self::Spectral,
        Self::Nmf,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NearFar => "nearfar",
            Self::Lsdg => "lsdg",
            Self::Phals => "phals",
            Self::AoSymNmf => "aosymnmf",
            Self::SymNmf => "symnmf",
            Self::Anls => "anls",
            Self::SBsum => "sbsum",
            Self::GsNmf => "gsnmf",
            Self::Gnmf => "gnmf",
            Self::NmfAn => "nmfan",
            Self::CgSymNmf => "cgsymnmf",
            Self::RbsMf => "rbsmf",
            Self::S3Nmf => "s3nmf",
            Self::KMeans => "kmeans",
            Self::Spectral => "spectral",
            Self::Nmf => "nmf",
        }
    }

    /// What it does, in one line.
    pub fn line(self) -> &'static str {
        match self {
            Self::NearFar => {
                "Several scalings of the data, weighed without labels; neighbour weights and a partition learnt in turn; a consensus. The default."
            }
            Self::Lsdg => {
                "The paper's model: learns which neighbour ranks to trust as near and far, together with V; labels from the spectrum of Z."
            }
            Self::Phals => {
                "Symmetric NMF of a fixed graph, column by column with exact line search (Hou, Chu, Liao 2023)."
            }
            Self::AoSymNmf => {
                "Symmetric NMF with an orthogonality term: the paper's own by column steps, or one of three by multiplicative updates."
            }
            Self::SymNmf => {
                "Symmetric NMF of a fixed graph: multiplicative, projected gradient or Newton-like (Kuang et al. 2012, 2015)."
            }
            Self::Anls => {
                "Symmetry dropped and priced: alternating least squares by pivoting or by columns (Zhu et al. 2018)."
            }
            Self::SBsum => {
                "Symmetric NMF one entry (or one row) at a time, each step an exact minimum of a bound (Shi et al. 2017)."
            }
            Self::GsNmf => "Symmetric NMF with the graph Laplacian as a regulariser (Gao, Guan, Su 2018).",
            Self::Gnmf => {
                "NMF of the samples with the graph Laplacian as a regulariser; k-means on V (Cai et al. 2011)."
            }
            Self::NmfAn => {
                "NMF of the samples with a neighbour graph that is learnt along (Huang et al. 2017)."
            }
            Self::CgSymNmf => {
                "Symmetric NMF of a graph learnt by self-expression (Jia et al. 2020; a reconstruction)."
            }
            Self::RbsMf => {
                "Robust factorisation with a bi-stochastic graph that is learnt along (Wang et al. 2022; a reconstruction)."
            }
            Self::S3Nmf => {
                "Rounds of many symmetric NMFs; each round's graph is the vote of the last (Jia et al. 2022)."
            }
            Self::KMeans => "k-means++ on the samples.",
            Self::Spectral => "Spectral clustering of the same self-tuned graph (Ng, Jordan, Weiss).",
            Self::Nmf => "Plain NMF of the samples; k-means on V.",
        }
    }

    /// Formula, parameters, cost, reference and when to use it, as Markdown.
    pub fn about(self) -> &'static str {
        match self {
            Self::NearFar => include_str!("nearfar/about.md"),
            Self::Lsdg => include_str!("lsdg/about.md"),
            Self::Phals => include_str!("phals/about.md"),
            Self::AoSymNmf => include_str!("aosymnmf/about.md"),
            Self::SymNmf => include_str!("symnmf/about.md"),
            Self::Anls => include_str!("anls/about.md"),
            Self::SBsum => include_str!("sbsum/about.md"),
            Self::GsNmf => include_str!("gsnmf/about.md"),
            Self::Gnmf => include_str!("gnmf/about.md"),
            Self::NmfAn => include_str!("nmfan/about.md"),
            Self::CgSymNmf => include_str!("cgsymnmf/about.md"),
            Self::RbsMf => include_str!("rbsmf/about.md"),
            Self::S3Nmf => include_str!("s3nmf/about.md"),
            Self::KMeans => include_str!("kmeans/about.md"),
            Self::Spectral => include_str!("spectral/about.md"),
            Self::Nmf => include_str!("nmf/about.md"),
        }
    }

    /// What it works on.
    pub fn needs(self) -> Needs {
        match self {
            Self::NearFar => Needs::Lists,
            Self::Lsdg => Needs::Slices,
            Self::Phals
            | Self::AoSymNmf
            | Self::SymNmf
            | Self::Anls
            | Self::SBsum
            | Self::GsNmf
            | Self::S3Nmf
            | Self::Spectral => Needs::Graph,
            Self::NmfAn | Self::KMeans | Self::Nmf => Needs::Samples,
            Self::Gnmf | Self::CgSymNmf | Self::RbsMf => Needs::Both,
        }
    }

    /// Its settings where nothing else is said.
    pub fn default_params(self) -> MethodParams {
        match self {
            Self::NearFar => MethodParams::NearFar(NearFarParams::default()),
            Self::Lsdg => MethodParams::Lsdg,
            Self::Phals => MethodParams::Phals,
            Self::AoSymNmf => MethodParams::AoSymNmf(AoSymNmfParams::default()),
            Self::SymNmf => MethodParams::SymNmf(SymNmfParams::default()),
            Self::Anls => MethodParams::Anls(AnlsParams::default()),
            Self::SBsum => MethodParams::SBsum(SBsumParams::default()),
            Self::GsNmf => MethodParams::GsNmf(GsNmfParams::default()),
            Self::Gnmf => MethodParams::Gnmf(GnmfParams::default()),
            Self::NmfAn => MethodParams::NmfAn(NmfAnParams::default()),
            Self::CgSymNmf => MethodParams::CgSymNmf(CgSymNmfParams::default()),
            Self::RbsMf => MethodParams::RbsMf(RbsMfParams::default()),
            Self::S3Nmf => MethodParams::S3Nmf(S3NmfParams::default()),
            Self::KMeans => MethodParams::KMeans,
            Self::Spectral => MethodParams::Spectral,
            Self::Nmf => MethodParams::Nmf,
        }
    }
}

impl std::fmt::Display for MethodKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl MethodParams {
    /// The method's name.
    pub fn kind(&self) -> MethodKind {
        match self {
            Self::NearFar(_) => MethodKind::NearFar,
            Self::Lsdg => MethodKind::Lsdg,
            Self::Phals => MethodKind::Phals,
            Self::AoSymNmf(_) => MethodKind::AoSymNmf,
            Self::SymNmf(_) => MethodKind::SymNmf,
            Self::Anls(_) => MethodKind::Anls,
            Self::SBsum(_) => MethodKind::SBsum,
            Self::GsNmf(_) => MethodKind::GsNmf,
            Self::Gnmf(_) => MethodKind::Gnmf,
            Self::NmfAn(_) => MethodKind::NmfAn,
            Self::CgSymNmf(_) => MethodKind::CgSymNmf,
            Self::RbsMf(_) => MethodKind::RbsMf,
            Self::S3Nmf(_) => MethodKind::S3Nmf,
            Self::KMeans => MethodKind::KMeans,
            Self::Spectral => MethodKind::Spectral,
            Self::Nmf => MethodKind::Nmf,
        }
    }

    /// What the n × n matrices of a method of the family are held in where this was asked for.
    pub(crate) fn precision(&self, asked: Precision) -> Precision {
        match self {
            Self::CgSymNmf(_) if asked != Precision::Double => Precision::Single,
            _ => Precision::Double,
        }
    }

    /// Multiplications in products of n × n matrices that a start usually takes; only CGSymNMF makes such products.
    pub(crate) fn dense_work(&self, n: usize, m: usize) -> f64 {
        const ITERATIONS: f64 = 400.0; // as on the paper's datasets
        match self {
            Self::CgSymNmf(_) => ITERATIONS * (n as f64).powi(2) * (2 * m).min(n) as f64,
            _ => 0.0,
        }
    }

    /// Bytes that a start of the method holds besides graph, samples and factors.
    pub(crate) fn working_bytes(&self, n: usize, r: usize, asked: Precision) -> u64 {
        let cell = if self.precision(asked) == Precision::Single { 4 } else { 8 };
        let matrix = (n as u64).saturating_mul(n as u64).saturating_mul(cell);
        match self {
            Self::SymNmf(own) => own.working_bytes(n, r),
            Self::NmfAn(_) => 2 * matrix,
            Self::CgSymNmf(_) | Self::RbsMf(_) => 6 * matrix,
            Self::S3Nmf(own) => (own.members * n * r * 8 * 2) as u64,
            _ => 0,
        }
    }

    /// Judge the ranges of the method's own settings.
    ///
    /// # Errors
    /// Names the first parameter out of range, its value, and what is allowed.
    pub fn check(&self) -> Result<(), ParamError> {
        match self {
            Self::NearFar(_) | Self::Lsdg | Self::Phals | Self::KMeans | Self::Spectral | Self::Nmf => Ok(()),
            Self::AoSymNmf(params) => params.check(),
            Self::SymNmf(params) => params.check(),
            Self::Anls(params) => params.check(),
            Self::SBsum(params) => params.check(),
            Self::GsNmf(params) => params.check(),
            Self::Gnmf(params) => params.check(),
            Self::NmfAn(params) => params.check(),
            Self::CgSymNmf(params) => params.check(),
            Self::RbsMf(params) => params.check(),
            Self::S3Nmf(params) => params.check(),
        }
    }
}

impl Default for MethodParams {
    fn default() -> Self {
        Self::NearFar(NearFarParams::default())
    }
}

impl From<NearFarParams> for MethodParams {
    fn from(params: NearFarParams) -> Self {
        Self::NearFar(params)
    }
}

impl From<AoSymNmfParams> for MethodParams {
    fn from(params: AoSymNmfParams) -> Self {
        Self::AoSymNmf(params)
    }
}

impl From<SymNmfParams> for MethodParams {
    fn from(params: SymNmfParams) -> Self {
        Self::SymNmf(params)
    }
}

impl From<AnlsParams> for MethodParams {
    fn from(params: AnlsParams) -> Self {
        Self::Anls(params)
    }
}

impl From<SBsumParams> for MethodParams {
    fn from(params: SBsumParams) -> Self {
        Self::SBsum(params)
    }
}

impl From<GsNmfParams> for MethodParams {
    fn from(params: GsNmfParams) -> Self {
        Self::GsNmf(params)
    }
}

impl From<GnmfParams> for MethodParams {
    fn from(params: GnmfParams) -> Self {
        Self::Gnmf(params)
    }
}

impl From<NmfAnParams> for MethodParams {
    fn from(params: NmfAnParams) -> Self {
        Self::NmfAn(params)
    }
}

impl From<CgSymNmfParams> for MethodParams {
    fn from(params: CgSymNmfParams) -> Self {
        Self::CgSymNmf(params)
    }
}

impl From<RbsMfParams> for MethodParams {
    fn from(params: RbsMfParams) -> Self {
        Self::RbsMf(params)
    }
}

impl From<S3NmfParams> for MethodParams {
    fn from(params: S3NmfParams) -> Self {
        Self::S3Nmf(params)
    }
}

impl From<MethodKind> for MethodParams {
    fn from(kind: MethodKind) -> Self {
        kind.default_params()
    }
}

/// A parameter of the family: finite, 0 or more, and small enough that products of a few stay in range.
pub(crate) fn check_strength(name: &'static str, value: f64) -> Result<(), ParamError> {
    ParamError::unless((0.0..=1e9).contains(&value), name, value, "0 to 1e9")
}

/// Samples as the factorising methods see them: n × m, row-major.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub(crate) values: Vec<f64>,
    pub(crate) n: usize,
    pub(crate) m: usize,
}

/// One start of one method.
pub(crate) struct Task<'a> {
    /// Present where the method needs it.
    pub(crate) graph: Option<&'a SparseGraph>,
    /// Present where the method needs it; as given, so possibly negative.
    pub(crate) rows: Option<&'a Rows>,
    pub(crate) n_clusters: usize,
    /// V before anything: uniform random, the same for every method with this seed and member.
    pub(crate) start: Factor,
    /// More random numbers, where a method needs them.
    pub(crate) stream: Stream,
    pub(crate) stop: &'a StopRule,
    pub(crate) kmeans_restarts: usize,
    /// Of n × n matrices.
    pub(crate) precision: Precision,
    pub(crate) seed: u64,
    pub(crate) member: usize,
    /// What RBSMF learnt before, which no seed changes.
    pub(crate) known: &'a super::rbsmf::LearntGraphs,
    pub(crate) observer: &'a dyn Observer,
}

impl<'a> Task<'a> {
    /// The graph, of a method whose [`Needs`] say so.
    pub(crate) fn graph(&self) -> &'a SparseGraph {
        self.graph.expect("family::fit builds what a method needs")
    }

    /// The samples, of a method whose [`Needs`] say so.
    pub(crate) fn rows(&self) -> &'a Rows {
        self.rows.expect("family::fit builds what a method needs")
    }

    /// The seed of a method that draws its own starts: the run's for the first member, another for each further one.
    pub(crate) fn own_seed(&mut self) -> u64 {
        if self.member == 0 { self.seed } else { self.stream.bits() }
    }

    /// An error where the loop was stopped from outside.
    pub(crate) fn unless_cancelled(learned: &Learned) -> Result<()> {
        if learned.reason == super::StopReason::Cancelled {
            return Err(Error::Cancelled { stage: Stage::Learn.name() });
        }
        Ok(())
    }
}

/// How labels come out of a start.
pub(crate) enum Labeling {
    /// The largest entry of every row of V.
    Largest,
    /// k-means on the rows of V.
    KMeans,
    /// The method has them.
    Given(Vec<usize>),
    /// The largest entry of every row of V; beside it the labels of every equal of this V, for those who average
    /// scores.
    Voted(Vec<Vec<usize>>),
}

/// A finished start.
pub(crate) struct Fitted {
    pub(crate) learned: Learned,
    pub(crate) factor: Factor,
    /// The method's own objective at the end; smaller is better.
    pub(crate) objective: f64,
    pub(crate) labeling: Labeling,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cgsymnmf_is_planned_in_the_precision_that_it_runs_in() {
        let method = MethodParams::from(CgSymNmfParams::default());
        assert_eq!(method.working_bytes(100, 3, Precision::Auto), 6 * 100 * 100 * 4);
        assert_eq!(method.working_bytes(100, 3, Precision::Double), 6 * 100 * 100 * 8);
        assert_eq!(
            MethodParams::from(RbsMfParams::default()).working_bytes(100, 3, Precision::Single),
            6 * 100 * 100 * 8
        );
        // Few features make a product cheaper, more than n / 2 do not make it dearer.
        assert_eq!(method.dense_work(100, 10), 0.2 * method.dense_work(100, 1000));
        assert_eq!((method.dense_work(100, 50), MethodParams::Phals.dense_work(100, 50)), (4e8, 0.0));
    }
}
