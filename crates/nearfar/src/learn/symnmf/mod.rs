#![doc = include_str!("about.md")]

mod newton;
#[cfg(test)]
mod tests;
mod update;

use super::family::{Fitted, Labeling, Task};
use super::phals::FixedGraph;
use super::run::{Method, run};
use super::table::{Entry, GRAPH, ITERATIONS, Kind, Needs, STARTS, Setting, TOLERANCE, own, words};
use super::trace::TraceRow;
use crate::graph::SparseGraph;
use crate::math::factor::Factor;
use crate::observe::Observer;
use newton::Newton;

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "symnmf",
    line: "Symmetric NMF of a fixed graph: multiplicative, projected gradient or Newton-like (Kuang et al. \
           2012, 2015).",
    about: include_str!("about.md"),
    needs: Needs::Graph,
    matrices: 0,
    class: "SymNMF",
    settings: &[OWN, GRAPH, STARTS, ITERATIONS, TOLERANCE],
};

const OWN: &[Setting] = &[Setting::at(
    "solver",
    Kind::Word(SymNmfSolver::WORDS),
    "How the factor is found",
    own!(SymNmf, solver),
)];

words!(SymNmfSolver {
    "multiplicative" => Self::Multiplicative,
    "gradient" => Self::Gradient,
    "newton" => Self::Newton,
});

/// How V is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SymNmfSolver {
    /// V ← V ⊙ (SV / VVᵀV)^¼: most likely the paper's "SymNMF".
    #[default]
    Multiplicative,
    /// Projected gradient with Armijo's rule.
    Gradient,
    /// Newton-like, column by column, as in the original program.
    Newton,
}

/// Settings of the method.
///
#[doc = include_str!("about.md")]
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct SymNmfParams {
    /// How V is found.
    pub solver: SymNmfSolver,
}

impl SymNmfParams {
    /// Most bytes of one start beyond graph and factors: the Hessian blocks of Newton's free sets.
    pub fn working_bytes(&self, n: usize, r: usize) -> u64 {
        match self.solver {
            SymNmfSolver::Newton => newton::bytes(n, r),
            SymNmfSolver::Multiplicative | SymNmfSolver::Gradient => 0,
        }
    }
}

/// One start.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "one signature for all methods")]
pub(crate) fn learn(task: Task<'_>, params: &SymNmfParams) -> Fitted {
    let mut method = SymNmf::new(task.graph(), task.start, params);
    let learned = run(&mut method, task.stop, task.member, task.observer);
    let objective = method.objective();
    Fitted { learned, factor: method.into_factor(), objective, labeling: Labeling::Largest }
}

/// The method; see the module.
#[derive(Debug)]
pub struct SymNmf<'a> {
    fixed: FixedGraph<'a, SparseGraph>,
    solver: Solver,
}

#[derive(Debug)]
enum Solver {
    Multiplicative,
    /// With the step length accepted last.
    Gradient(f64),
    Newton(Newton),
}

impl<'a> SymNmf<'a> {
    /// Factor `graph` from `start`.
    pub fn new(graph: &'a SparseGraph, start: Factor, params: &SymNmfParams) -> Self {
        let fixed = FixedGraph::rescaled(graph, start);
        let solver = match params.solver {
            SymNmfSolver::Multiplicative => Solver::Multiplicative,
            SymNmfSolver::Gradient => Solver::Gradient(1.0),
            SymNmfSolver::Newton => Solver::Newton(Newton::new(&fixed)),
        };
        Self { fixed, solver }
    }

    /// ½‖S − VVᵀ‖².
    pub fn objective(&self) -> f64 {
        self.fixed.fit()
    }

    /// The factor as it stands.
    pub fn into_factor(self) -> Factor {
        self.fixed.factor
    }
}

impl Method for SymNmf<'_> {
    fn start(&mut self) -> Option<TraceRow> {
        Some(TraceRow::of_fit(0, self.fixed.fit()))
    }

    fn step(&mut self, iteration: usize, observer: &dyn Observer) -> Option<TraceRow> {
        let change = match &mut self.solver {
            Solver::Multiplicative => self.fixed.replace(update::multiplicative(&self.fixed)),
            Solver::Gradient(length) => update::gradient_step(&mut self.fixed, length, observer)?,
            Solver::Newton(newton) => newton.step(&mut self.fixed, observer)?,
        };
        Some(TraceRow { change: [change, 0.0, 0.0], ..TraceRow::of_fit(iteration, self.fixed.fit()) })
    }

    fn factor(&self) -> &Factor {
        &self.fixed.factor
    }

    fn stationary(&self) -> bool {
        let by_gradient = match &self.solver {
            Solver::Newton(newton) => newton.stationary(&self.fixed.factor),
            _ => false,
        };
        by_gradient || self.fixed.exact()
    }
}
