//! The flags of the methods.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::values::{
    Clusters, EngineName, GraphKindName, MethodName, ModeName, PrecisionName, PresetName, Prune,
    RegularizerName, Size, SolverName, StartName, ViewNames,
};

/// Headings of the flags that only some methods take.
const NEARFAR: &str = "The default method (nearfar)";
const LSDG: &str = "The paper's model (lsdg)";
const ITERATED: &str = "All methods but nearfar";
const OTHERS: &str = "Other methods";

/// The settings of the model.
#[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
#[command(next_help_heading = "Learning")]
#[serde(default, rename_all = "kebab-case")]
#[allow(clippy::struct_excessive_bools, reason = "one per switch on the command line")]
pub(crate) struct LearnArgs {
    /// Number of clusters, or auto to find it, which only nearfar can do [default: auto]
    #[arg(short = 'k', long, value_name = "K|auto", allow_negative_numbers = true)]
    pub(crate) clusters: Option<Clusters>,
    /// The method; `nearfar methods` lists them all [default: nearfar]
    #[arg(long, value_enum, hide_possible_values = true)]
    pub(crate) method: Option<MethodName>,
    /// Seed of everything random [default: 0]
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: Option<u64>,
    /// Worker threads; the result does not depend on their number [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Memory the run may use, such as 500M or 4G; data larger than half of it is mapped, or narrowed to single
    /// precision [default: 80 % of the free memory]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Size>,
    /// How nearfar finds its answer: by neighbour graphs, by a mixture of Gaussian or heavy-tailed groups, or auto,
    /// which uses the mixture if it explains the points and graphs otherwise [default: auto]
    #[arg(long, value_enum, hide_possible_values = true, value_name = "auto|graph|mixture", help_heading = NEARFAR)]
    pub(crate) engine: Option<EngineName>,
    /// Scalings of the data that nearfar tries: auto, or any of raw, standard, unit and standard-unit, separated by
    /// commas; --scale fixes one instead [default: auto]
    #[arg(long, value_name = "A,B,...", help_heading = NEARFAR)]
    pub(crate) views: Option<ViewNames>,
    /// Named settings of lsdg: default (scale-free, consensus of 12 starts), paper or demo (the published ones, one
    /// start); paper and demo need no --method lsdg
    #[arg(long, value_enum, hide_possible_values = true, value_name = "NAME", help_heading = LSDG)]
    pub(crate) preset: Option<PresetName>,
    /// Neighbour ranks to trust; mu follows from it; also for nmfan [default: 12, in the preset default]
    #[arg(long, value_name = "N", conflicts_with_all = ["mu", "eta"], help_heading = LSDG)]
    pub(crate) neighbors: Option<usize>,
    /// Strength of orthogonality; also for aosymnmf and cgsymnmf. In the preset default a share of the graph's leading
    /// eigenvalue [0.5]; in the others the published number [0.1]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = LSDG)]
    pub(crate) alpha: Option<f64>,
    /// Take alpha as a share of the leading eigenvalue, in any preset
    #[arg(long, overrides_with = "absolute_alpha", help_heading = LSDG)]
    pub(crate) relative_alpha: bool,
    /// Take alpha as it is, in any preset
    #[arg(long, overrides_with = "relative_alpha", help_heading = LSDG)]
    pub(crate) absolute_alpha: bool,
    /// Weight of the dissimilarity; also for cgsymnmf [default: 10; demo: 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = LSDG)]
    pub(crate) beta: Option<f64>,
    /// Density of the weights, instead of --neighbors; also for rbsmf [paper: 0.1; demo: 0.5]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = LSDG)]
    pub(crate) mu: Option<f64>,
    /// Penalty on overlap of near and far weights, below mu [default: 0.99 mu]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = LSDG)]
    pub(crate) eta: Option<f64>,
    /// Leave the dissimilarity out
    #[arg(long, help_heading = LSDG)]
    pub(crate) no_dissimilarity: bool,
    /// Leave the orthogonality term out
    #[arg(long, help_heading = LSDG)]
    pub(crate) no_orthogonality: bool,
    /// Restart columns of the factor that become zero
    #[arg(long, help_heading = LSDG)]
    pub(crate) reseed: bool,
    /// How starts begin [default: both; paper, demo: random]
    #[arg(long, value_enum, help_heading = LSDG)]
    pub(crate) start: Option<StartName>,
    /// Starts to leave out of the consensus: outliers (a cut more than three times the best), the worse quarter or the
    /// worse half [default: outliers; paper, demo: none]
    #[arg(long, value_enum, help_heading = LSDG)]
    pub(crate) prune: Option<Prune>,
    /// How pairs are stored: exact (grows with n squared) or binned (grows with n) [default: auto, which is exact if
    /// that fits in memory and does not take long]
    #[arg(long, value_enum, help_heading = LSDG)]
    pub(crate) mode: Option<ModeName>,
    /// Neighbour ranks with a weight of their own, in binned mode [default: 128, or 64 for more than 50,000 points]
    #[arg(long, value_name = "K", help_heading = LSDG)]
    pub(crate) near: Option<usize>,
    /// Far partners drawn for every point, in binned mode [default: 128, or 64 for more than 50,000 points]
    #[arg(long, value_name = "T", help_heading = LSDG)]
    pub(crate) far: Option<usize>,
    /// Bins that share the far ranks, in binned mode [default: 64]
    #[arg(long, value_name = "B", help_heading = LSDG)]
    pub(crate) bins: Option<usize>,
    /// Independent starts; with lsdg, several make a consensus [default: 1; lsdg in the preset default: 12]
    #[arg(long, value_name = "N", help_heading = ITERATED)]
    pub(crate) starts: Option<usize>,
    /// Maximum number of iterations of a start [default: 1000]
    #[arg(long, value_name = "N", help_heading = ITERATED)]
    pub(crate) max_iter: Option<usize>,
    /// Stop when the loss, or the variables, change by no more than this share [default: 1e-4]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = ITERATED)]
    pub(crate) tol: Option<f64>,
    /// Precision in which pairs are stored [default: auto, which is double if it fits in memory, and single for
    /// cgsymnmf]
    #[arg(long, value_enum, help_heading = ITERATED)]
    pub(crate) precision: Option<PrecisionName>,
    /// How the factor is found, for methods with a choice (`nearfar methods NAME`)
    #[arg(long, value_enum, help_heading = OTHERS)]
    pub(crate) solver: Option<SolverName>,
    /// What keeps the columns of the factor apart, for lsdg and aosymnmf [default: proposed]
    #[arg(long, value_enum, help_heading = OTHERS)]
    pub(crate) regularizer: Option<RegularizerName>,
    /// Weight of the penalty, for anls, gsnmf, gnmf, nmfan and rbsmf
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = OTHERS)]
    pub(crate) lambda: Option<f64>,
    /// How evenly members are weighted, for s3nmf [default: 2]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = OTHERS)]
    pub(crate) tau: Option<f64>,
    /// Factorisations per round, for s3nmf [default: 20]
    #[arg(long, value_name = "N", help_heading = OTHERS)]
    pub(crate) members: Option<usize>,
    /// Rounds, for s3nmf [default: 2]
    #[arg(long, value_name = "N", help_heading = OTHERS)]
    pub(crate) rounds: Option<usize>,
    /// Let members of s3nmf vote with their factors instead of their labels
    #[arg(long, help_heading = OTHERS)]
    pub(crate) soft_votes: bool,
    /// The graph to factor: ncut (normalised, no self-loops) or lsdg (the starting graph of lsdg) [default: ncut]
    #[arg(long, value_enum, help_heading = OTHERS)]
    pub(crate) graph_kind: Option<GraphKindName>,
    /// Nearest others that count in that graph [default: depends on the number of points]
    #[arg(long, value_name = "N", help_heading = OTHERS)]
    pub(crate) graph_neighbors: Option<usize>,
}
