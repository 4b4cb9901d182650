//! The methods by name: their settings, and what a finished start hands over.

use super::anls::AnlsParams;
use super::aosymnmf::AoSymNmfParams;
use super::cgsymnmf::CgSymNmfParams;
use super::custom::CustomParams;
use super::gnmf::GnmfParams;
use super::gsnmf::GsNmfParams;
use super::nmfan::NmfAnParams;
use super::rbsmf::RbsMfParams;
use super::s3nmf::S3NmfParams;
use super::sbsum::SBsumParams;
use super::symnmf::SymNmfParams;
use super::table::{Entry, Needs};
use super::{Learned, StopRule};
use crate::error::{Error, ParamError, Result};
use crate::graph::SparseGraph;
use crate::learn::nearfar::NearFarParams;
use crate::math::factor::Factor;
use crate::math::rng::Stream;
use crate::observe::{Observer, Stage};
use crate::plan::Precision;

/// The one list of the methods. A line is a variant, its settings, and the folder that has its entry; those of the
/// family have a function `learn` there too.
macro_rules! methods {
    (
        whole { $($whole:ident $(($w:ident: $whole_params:ty))? in $($whole_path:ident)::+;)+ }
        family { $($name:ident $(($own:ident: $params:ty))? in $($path:ident)::+;)+ }
    ) => {
        /// Which model is learnt, with the settings of its own.
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[serde(tag = "name", rename_all = "lowercase")]
        #[non_exhaustive]
        pub enum MethodParams {
            $(#[doc = concat!("`", stringify!($whole), "`; [`MethodKind::about`] describes it.")]
            $whole $(($whole_params))?,)+
            $(#[doc = concat!("`", stringify!($name), "`; [`MethodKind::about`] describes it.")]
            $name $(($params))?,)+
            /// A method of your own.
            Custom(CustomParams),
        }

        /// The name of a method.
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub enum MethodKind {
            $(#[doc = concat!("`", stringify!($whole), "`; [`MethodKind::about`] describes it.")]
            $whole,)+
            $(#[doc = concat!("`", stringify!($name), "`; [`MethodKind::about`] describes it.")]
            $name,)+
            /// A method of your own.
            Custom(&'static Entry),
        }

        impl MethodKind {
            /// All that come with the library, the default first.
            pub const ALL: [Self; [$(stringify!($whole),)+ $(stringify!($name)),+].len()] =
                [$(Self::$whole,)+ $(Self::$name),+];

            /// Its place in the table.
            pub fn entry(self) -> &'static Entry {
                match self {
                    $(Self::$whole => &$($whole_path)::+::ENTRY,)+
                    $(Self::$name => &$($path)::+::ENTRY,)+
                    Self::Custom(entry) => entry,
                }
            }
        }

        impl MethodParams {
            /// The method's name.
            pub fn kind(&self) -> MethodKind {
                match self {
                    $(Self::$whole { .. } => MethodKind::$whole,)+
                    $(Self::$name { .. } => MethodKind::$name,)+
                    Self::Custom(own) => MethodKind::Custom(own.entry()),
                }
            }

            /// One start of a method of the family.
            pub(crate) fn learn(&self, task: Task<'_>) -> Result<Fitted> {
                match self {
                    // These have ways of their own.
                    $(Self::$whole { .. })|+ => {
                        Err(ParamError::new("method", self.kind(), "a method of the family").into())
                    }
                    $(Self::$name $(($own))? => $($path)::+::learn(task $(, $own)?).into(),)+
                    Self::Custom(own) => own.learn(task),
                }
            }
        }

        $($(
            impl From<$whole_params> for MethodParams {
                fn from($w: $whole_params) -> Self {
                    Self::$whole($w)
                }
            }
        )?)+
        $($(
            impl From<$params> for MethodParams {
                fn from($own: $params) -> Self {
                    Self::$name($own)
                }
            }
        )?)+

        impl From<MethodKind> for MethodParams {
            /// With its defaults; a method of one's own comes with [`Params::custom`](crate::Params::custom).
            fn from(kind: MethodKind) -> Self {
                match kind {
                    $(MethodKind::$whole => Self::$whole $((<$whole_params>::default()))?,)+
                    $(MethodKind::$name => Self::$name $((<$params>::default()))?,)+
                    MethodKind::Custom(_) => Self::default(),
                }
            }
        }
    };
}

methods! {
    whole {
        NearFar(own: NearFarParams) in crate::learn::nearfar;
        Lsdg in crate::learn::lsdg;
    }
    family {
        Phals in crate::learn::phals;
        AoSymNmf(own: AoSymNmfParams) in crate::learn::aosymnmf;
        SymNmf(own: SymNmfParams) in crate::learn::symnmf;
        Anls(own: AnlsParams) in crate::learn::anls;
        SBsum(own: SBsumParams) in crate::learn::sbsum;
        GsNmf(own: GsNmfParams) in crate::learn::gsnmf;
        Gnmf(own: GnmfParams) in crate::learn::gnmf;
        NmfAn(own: NmfAnParams) in crate::learn::nmfan;
        CgSymNmf(own: CgSymNmfParams) in crate::learn::cgsymnmf;
        RbsMf(own: RbsMfParams) in crate::learn::rbsmf;
        S3Nmf(own: S3NmfParams) in crate::learn::s3nmf;
        KMeans in crate::learn::kmeans;
        Spectral in crate::learn::spectral;
        Nmf in crate::learn::nmf;
    }
}

impl MethodKind {
    /// The method of this name, of those that come with the library.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// What it does, in one line.
    pub fn line(self) -> &'static str {
        self.entry().line
    }

    /// Formula, parameters, cost, reference and when to use it, as Markdown.
    pub fn about(self) -> &'static str {
        self.entry().about
    }

    /// What it works on.
    pub fn needs(self) -> Needs {
        self.entry().needs
    }

    /// Whether it uses the setting of this name.
    pub fn takes(self, setting: &str) -> bool {
        self.entry().setting(setting).is_some()
    }

    /// Its settings where nothing else is said.
    pub fn default_params(self) -> MethodParams {
        self.into()
    }
}

impl PartialEq for MethodKind {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for MethodKind {}

impl serde::Serialize for MethodKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl std::fmt::Display for MethodKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl MethodParams {
    /// Its place in the table.
    pub fn entry(&self) -> &'static Entry {
        self.kind().entry()
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
        let own = match self {
            Self::SymNmf(own) => own.working_bytes(n, r),
            Self::S3Nmf(own) => (own.members * n * r * 8 * 2) as u64,
            _ => 0,
        };
        self.entry().matrices.saturating_mul(matrix).saturating_add(own)
    }

    /// Judge what the ranges in the table do not tell: settings that do not go together.
    pub(crate) fn check(&self) -> Result<(), ParamError> {
        match self {
            Self::AoSymNmf(own) => super::aosymnmf::check_pair(own.solver, own.regularizer),
            Self::Custom(own) => own.check(),
            _ => Ok(()),
        }
    }
}

impl Default for MethodParams {
    fn default() -> Self {
        Self::NearFar(NearFarParams::default())
    }
}

impl From<Fitted> for Result<Fitted> {
    fn from(fitted: Fitted) -> Self {
        Ok(fitted)
    }
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
