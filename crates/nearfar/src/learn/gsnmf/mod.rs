#![doc = include_str!("about.md")]

#[cfg(test)]
mod tests;
mod update;

use super::Learned;
use super::family::{Fitted, Labeling, Task};
use super::phals::FixedGraph;
use super::run::{Method, run};
use super::table::{Entry, GRAPH, ITERATIONS, Kind, Needs, STARTS, Setting, TOLERANCE, own, words};
use super::trace::TraceRow;
use crate::error::{Error, Result};
use crate::graph::{SparseGraph, to_rows};
use crate::math::factor::Factor;
use crate::math::kernel::norm2;
use crate::observe::Observer;
use crate::slices::Graph;
use update::Split;

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "gsnmf",
    line: "Symmetric NMF with the graph Laplacian as a regulariser (Gao, Guan, Su 2018).",
    about: include_str!("about.md"),
    needs: Needs::Graph,
    matrices: 0,
    class: "GSNMF",
    settings: &[OWN, GRAPH, STARTS, ITERATIONS, TOLERANCE],
};

const OWN: &[Setting] = &[
    Setting::at("lambda", Kind::STRENGTH, "Weight of the Laplacian term", own!(GsNmf, lambda))
        .named("lambda", "lam"),
    Setting::at(
        "solver",
        Kind::Word(GsNmfSolver::WORDS),
        "How the factor is found; admm is the authors' scheme, which may diverge",
        own!(GsNmf, solver),
    ),
    Setting::at(
        "penalty",
        Kind::Above(0.0, 1e9),
        "Price of two different copies in the solver admm; it diverges below 1",
        own!(GsNmf, penalty),
    ),
];

words!(GsNmfSolver { "multiplicative" => Self::Multiplicative, "admm" => Self::Admm });

/// A loss this many times the first one is no longer an overshoot.
const OVERSHOOT: f64 = 4.0;

/// How V is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GsNmfSolver {
    /// V ← V ⊙ ((2+λ)SV / (2VVᵀV + λDV))^¼; the objective never rises.
    #[default]
    Multiplicative,
    /// The authors' scheme: two copies of V, multipliers, greedy coordinate descent. Not monotone.
    Admm,
}

/// Settings of the method.
///
#[doc = include_str!("about.md")]
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct GsNmfParams {
    /// λ: the weight of the Laplacian term, 0 to 1e9.
    pub lambda: f64,
    /// How V is found.
    pub solver: GsNmfSolver,
    /// μ: the price of two different copies in the authors' scheme, above 0 to 1e9; it diverges below 1, and for λ
    /// large against it.
    pub penalty: f64,
}

impl Default for GsNmfParams {
    fn default() -> Self {
        Self { lambda: 1.0, solver: GsNmfSolver::default(), penalty: 1.0 }
    }
}

/// One start.
pub(crate) fn learn(task: Task<'_>, params: &GsNmfParams) -> Result<Fitted> {
    let size = task.graph().norm2();
    let mut method = GsNmf::new(task.graph(), task.start, params);
    let learned = run(&mut method, task.stop, task.member, task.observer);
    let objective = method.objective();
    if params.solver == GsNmfSolver::Admm && diverged(&learned, size) {
        let cause = format!(
            "the scheme of two copies does so for a penalty (now {}) below 1 or small against lambda (now {}); raise the penalty, or use the multiplicative solver",
            params.penalty, params.lambda
        );
        return Err(Error::Diverged { iteration: learned.iterations, cause });
    }
    Ok(Fitted { learned, factor: method.into_factor(), objective, labeling: Labeling::Largest })
}

/// A run that works overshoots its first loss by a few hundredths at most; one that does not by orders of
/// magnitude, even where it ends at V = 0.
fn diverged(learned: &Learned, size: f64) -> bool {
    // A start that fits already has no loss to compare with.
    let first = learned.trace.first().map_or(0.0, TraceRow::loss).max(0.01 * size);
    learned.trace.iter().any(|row| !(row.loss() <= OVERSHOOT * first))
}

/// The method; see the module.
#[derive(Debug)]
pub struct GsNmf<'a> {
    fixed: FixedGraph<'a, SparseGraph>,
    degrees: Vec<f64>,
    lambda: f64,
    /// The copies and multipliers of the authors' scheme.
    split: Option<Split>,
}

impl<'a> GsNmf<'a> {
    /// Factor `graph` from `start`.
    pub fn new(graph: &'a SparseGraph, start: Factor, params: &GsNmfParams) -> Self {
        let fixed = FixedGraph::rescaled(graph, start);
        let split = (params.solver == GsNmfSolver::Admm).then(|| {
            let (n, r) = (fixed.factor.n_samples(), fixed.factor.n_columns());
            Split::new(to_rows(fixed.factor.values(), n, r), r, params.penalty)
        });
        Self { fixed, degrees: graph.degrees(), lambda: params.lambda, split }
    }

    /// ½‖S − VVᵀ‖² + (λ/2) tr(VᵀLV).
    pub fn objective(&self) -> f64 {
        self.fixed.fit() + self.roughness()
    }

    /// (λ/2) tr(VᵀLV).
    fn roughness(&self) -> f64 {
        if self.lambda == 0.0 {
            return 0.0;
        }
        let roots: Vec<f64> = self.degrees.iter().map(|d| d.sqrt()).collect();
        let n = roots.len().max(1);
        let own: f64 = self
            .fixed
            .factor
            .values()
            .chunks_exact(n)
            .map(|column| norm2(&column.iter().zip(&roots).map(|(v, d)| v * d).collect::<Vec<f64>>()))
            .sum();
        0.5 * self.lambda * (own - self.fixed.inner())
    }

    /// The factor as it stands.
    pub fn into_factor(self) -> Factor {
        self.fixed.factor
    }

    fn row(&self, iteration: usize, change: f64) -> TraceRow {
        let apart = self.split.as_ref().map_or(0.0, Split::price);
        TraceRow {
            penalty: self.roughness() + apart,
            change: [change, 0.0, 0.0],
            ..TraceRow::of_fit(iteration, self.fixed.fit())
        }
    }
}

impl Method for GsNmf<'_> {
    fn start(&mut self) -> Option<TraceRow> {
        Some(self.row(0, 1.0))
    }

    fn step(&mut self, iteration: usize, observer: &dyn Observer) -> Option<TraceRow> {
        let change = match &mut self.split {
            None => self.fixed.replace(update::multiplicative(&self.fixed, &self.degrees, self.lambda)),
            Some(split) => {
                let (next, product) = split.step(self.fixed.graph, &self.degrees, self.lambda, observer)?;
                self.fixed.replace_known(next, product)
            }
        };
        Some(self.row(iteration, change))
    }

    fn factor(&self) -> &Factor {
        &self.fixed.factor
    }

    fn stationary(&self) -> bool {
        self.lambda == 0.0 && self.split.is_none() && self.fixed.exact()
    }
}
