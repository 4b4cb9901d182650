//! What is said of every result, whatever method it came from.

use super::{Model, Source};
use crate::labels::score::adjusted_rand;
use crate::learn::MethodParams;
use crate::model::Warning;

/// Below this mean agreement of the members with their consensus the result is called unsettled.
const SETTLED: f64 = 0.5;
/// Eigenvalues this close to the largest count as pieces of their own.
const PIECE: f64 = 1e-6;

impl Model {
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

    /// Agreement of the members, and what a person should know.
    pub(crate) fn look_back(&mut self) {
        let asked = self.params.n_clusters;
        let own: Vec<f64> = self
            .members
            .iter()
            .filter(|m| m.kept)
            .filter_map(|m| m.labels.as_ref())
            .filter_map(|labels| adjusted_rand(labels, &self.labels).ok())
            .collect();
        if !own.is_empty() {
            self.agreement = own.iter().sum::<f64>() / own.len() as f64;
        }
        if self.agreement < SETTLED {
            self.warnings.push(Warning::Unsettled { agreement: self.agreement });
        }
        if let [largest, .., _] = self.eigenvalues[..] {
            let pieces = self.eigenvalues.iter().filter(|v| **v > largest - PIECE).count();
            if pieces > asked {
                self.warnings.push(Warning::ManyPieces { pieces, n_clusters: asked });
            }
        }
        let (near, _) = self.active_ranks();
        let learns_ranks = self.params.method == MethodParams::Lsdg && !self.members.is_empty();
        if near == 1 && self.n_samples() > 2 && learns_ranks {
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
    }
}
