//! What the stages of a run find, and the one place where a model is made of it.

use super::{Account, Fields, Lens, Model, Source, Warning};
use crate::labels::score::adjusted_rand;
use crate::learn::{Member, MethodParams};
use crate::mixture::ByMixture;
use crate::neighbors::SearchReport;
use crate::observe::Stage;
use crate::params::Settled;
use crate::plan::Precision;
use crate::slices::BinnedReport;
use crate::tree::MergeTree;
use crate::views::Standard;

/// Below this mean agreement of the members with their consensus the result is called unsettled.
const SETTLED: f64 = 0.5;
/// Eigenvalues this close to the largest count as pieces of their own.
const PIECE: f64 = 1e-6;

/// Filled by the stages in their order; what a stage does not find stays as it is. The fields are those of [`Model`].
#[derive(Clone, Debug)]
pub(crate) struct Findings {
    pub(crate) labels: Vec<usize>,
    pub(crate) membership: Vec<f64>,
    pub(crate) near_weights: Vec<f64>,
    pub(crate) far_weights: Vec<f64>,
    pub(crate) members: Vec<Member>,
    pub(crate) best: usize,
    pub(crate) eigenvalues: Vec<f64>,
    pub(crate) embedding: Vec<f64>,
    pub(crate) sigma: Option<Vec<f64>>,
    pub(crate) timings: Vec<(Stage, f64)>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) params: Settled,
    pub(crate) precision: Precision,
    pub(crate) n_features: usize,
    pub(crate) binned: Option<BinnedReport>,
    pub(crate) search: Option<SearchReport>,
    /// Pieces that the data itself falls into; Z joins them, however far apart they are. 0 where nobody counted.
    pub(crate) pieces: usize,
    pub(crate) tree: Option<MergeTree>,
    pub(crate) confidence: Vec<f64>,
    pub(crate) account: Option<Account>,
    pub(crate) lenses: Vec<Lens>,
    pub(crate) standard: Standard,
    pub(crate) mixture: Option<ByMixture>,
    pub(crate) source: Source,
}

impl Findings {
    /// Nothing yet.
    pub(crate) fn of(params: Settled, source: Source) -> Self {
        Self {
            labels: Vec::new(),
            membership: Vec::new(),
            near_weights: Vec::new(),
            far_weights: Vec::new(),
            members: Vec::new(),
            best: 0,
            eigenvalues: Vec::new(),
            embedding: Vec::new(),
            sigma: None,
            timings: Vec::new(),
            warnings: Vec::new(),
            params,
            precision: Precision::Double,
            n_features: 0,
            binned: None,
            search: None,
            pieces: 0,
            tree: None,
            confidence: Vec::new(),
            account: None,
            lenses: Vec::new(),
            standard: Standard::default(),
            mixture: None,
            source,
        }
    }

    /// As many clusters as points: nothing to learn.
    pub(crate) fn every_point_alone(mut self) -> Self {
        let n = self.params.n_clusters;
        self.labels = (0..n).collect();
        self.membership = (0..n * n).map(|at| if at / n == at % n { 1.0 } else { 0.0 }).collect();
        if matches!(self.source, Source::Pairs(_)) {
            let mut first = vec![0.0; n];
            first[0] = 1.0;
            (self.near_weights, self.far_weights) = (first.clone(), first);
        }
        self
    }

    /// The model of a finished run, with all that a person should know.
    pub(crate) fn into_model(mut self) -> Model {
        let agreement = self.agreement();
        self.warn(agreement);
        self.made(agreement)
    }

    /// The model of what a cancelled run left, which nobody judges.
    pub(crate) fn into_partial_model(self) -> Model {
        self.made(1.0)
    }

    fn made(self, agreement: f64) -> Model {
        Model(Fields {
            labels: self.labels,
            membership: self.membership,
            near_weights: self.near_weights,
            far_weights: self.far_weights,
            members: self.members,
            best: self.best,
            agreement,
            eigenvalues: self.eigenvalues,
            embedding: self.embedding,
            sigma: self.sigma,
            timings: self.timings,
            warnings: self.warnings,
            params: self.params.into_params(),
            precision: self.precision,
            n_features: self.n_features,
            binned: self.binned,
            search: self.search,
            tree: self.tree,
            confidence: self.confidence,
            account: self.account,
            lenses: self.lenses,
            standard: self.standard,
            mixture: self.mixture,
            source: self.source,
        })
    }

    /// Mean agreement of the kept members' own labels with the result.
    fn agreement(&self) -> f64 {
        let kept = self.members.iter().filter(|m| m.kept);
        let own: Vec<f64> = kept
            .filter_map(|m| m.labels.as_ref())
            .filter_map(|labels| adjusted_rand(labels, &self.labels).ok())
            .collect();
        if own.is_empty() { 1.0 } else { own.iter().sum::<f64>() / own.len() as f64 }
    }

    fn warn(&mut self, agreement: f64) {
        let asked = self.params.n_clusters;
        if agreement < SETTLED {
            self.warnings.push(Warning::Unsettled { agreement });
        }
        let mut pieces = self.pieces;
        if let [largest, .., _] = self.eigenvalues[..] {
            let of_spectrum = self.eigenvalues.iter().filter(|v| **v > largest - PIECE).count();
            if of_spectrum > asked {
                self.warnings.push(Warning::ManyPieces { pieces: of_spectrum, n_clusters: asked });
                pieces = 0; // one such warning is enough
            }
        }
        let near = self.near_weights.iter().filter(|w| **w > 0.0).count();
        let learns_ranks = self.params.method == MethodParams::Lsdg && !self.members.is_empty();
        if near == 1 && self.labels.len() > 2 && learns_ranks {
            self.warnings.push(Warning::OneRank);
        }
        if let Some(member) = self.members.get(self.best)
            && member.dead_columns > 0
        {
            self.warnings.push(Warning::DeadColumns { columns: member.dead_columns });
        }
        let found = self.labels.iter().max().map_or(0, |l| l + 1);
        if found < asked {
            self.warnings.push(Warning::FewerClusters { found, asked });
        }
        if pieces > asked {
            self.warnings.push(Warning::ManyPieces { pieces, n_clusters: asked });
        }
    }
}
