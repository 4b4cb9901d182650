//! AOSymNMF: symmetric NMF of a fixed graph with the paper's orthogonality term (eq:AOSymNMF).
//!
//! $$ \min_{V \ge 0} \tfrac12 \|T - VV^\top\|^2 - \alpha \sum_j R(v_j), \quad R(v_j) = v_j^\top (I - V_{-j}V_{-j}^\dagger) v_j. $$
//! The fit is recorded before each sweep and R during it, as in the authors' program.

use super::phals::FixedGraph;
use super::run::Method;
use super::sweep::Reseed;
use super::trace::TraceRow;
use crate::math::factor::Factor;
use crate::observe::Observer;
use crate::slices::Graph;

/// The method; see the module.
#[derive(Debug)]
pub struct AoSymNmf<'a, G> {
    fixed: FixedGraph<'a, G>,
    alpha: f64,
    reseed: Reseed,
}

impl<'a, G: Graph> AoSymNmf<'a, G> {
    /// Factor `graph` from `start`; `alpha` is 0 or more.
    pub fn new(graph: &'a G, start: Factor, alpha: f64, reseed: Reseed) -> Self {
        Self { fixed: FixedGraph::rescaled(graph, start), alpha, reseed }
    }

    /// The factor as it stands.
    pub fn into_factor(self) -> Factor {
        self.fixed.factor
    }
}

impl<G: Graph> Method for AoSymNmf<'_, G> {
    fn step(&mut self, iteration: usize, observer: &dyn Observer) -> Option<TraceRow> {
        let fit = self.fixed.fit();
        let (orthogonality, change) = self.fixed.sweep(self.alpha, self.reseed, observer)?;
        Some(TraceRow {
            orthogonality: -self.alpha * orthogonality,
            change: [change, 0.0, 0.0],
            ..TraceRow::of_fit(iteration, fit)
        })
    }

    fn factor(&self) -> &Factor {
        &self.fixed.factor
    }
}
