#![doc = include_str!("about.md")]

use super::family::{Fitted, Labeling, MethodParams, Task};
use super::multiplicative::{Regularizer, quarter_step};
use super::phals::FixedGraph;
use super::run::{Method, run};
use super::sweep::{Reseed, Swept};
use super::table::{
    Entry, GRAPH, Held, ITERATIONS, Kind, Needs, Place, STARTS, Setting, TOLERANCE, own, words,
};
use super::trace::TraceRow;
use crate::error::{ParamError, Result};
use crate::math::factor::Factor;
use crate::observe::Observer;
use crate::slices::Graph;

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "aosymnmf",
    line: "Symmetric NMF with an orthogonality term: the paper's own by column steps, or one of three by \
           multiplicative updates.",
    about: include_str!("about.md"),
    needs: Needs::Graph,
    matrices: 0,
    class: "AOSymNMF",
    settings: &[OWN, GRAPH, STARTS, ITERATIONS, TOLERANCE],
};

const OWN: &[Setting] = &[
    Setting::at(
        "alpha",
        Kind::STRENGTH,
        "Strength of the regulariser; of use below the graph's leading eigenvalue (1 for ncut)",
        own!(AoSymNmf, alpha),
    ),
    Setting::at(
        "regularizer",
        Kind::Word(Regularizer::WORDS),
        "What keeps the columns of the factor apart",
        Place {
            set: |params, value| {
                if let MethodParams::AoSymNmf(own) = &mut params.method {
                    own.regularizer.put(value);
                    own.solver = FactorSolver::of(own.regularizer);
                }
                Ok(())
            },
            ..own!(AoSymNmf, regularizer)
        },
    ),
    Setting::at("solver", Kind::Word(FactorSolver::WORDS), "How the factor is found", own!(AoSymNmf, solver))
        .said("columns with the proposed regulariser, else multiplicative"),
];

words!(FactorSolver { "columns" => Self::Columns, "multiplicative" => Self::Multiplicative });

impl FactorSolver {
    /// What a regulariser takes where nobody chose: column steps exist for the proposed one alone.
    pub(crate) fn of(regularizer: Regularizer) -> Self {
        if regularizer == Regularizer::Proposed { Self::Columns } else { Self::Multiplicative }
    }
}

/// How V is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FactorSolver {
    /// Column by column with exact line search, as PHALS; with the proposed regulariser only.
    #[default]
    Columns,
    /// Multiplicative updates; with any regulariser.
    Multiplicative,
}

/// Settings of the method.
///
#[doc = include_str!("about.md")]
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct AoSymNmfParams {
    /// α: strength of the regulariser, 0 to 1e9; of use below the graph's leading eigenvalue (1 for `ncut`).
    pub alpha: f64,
    /// What keeps the columns apart.
    pub regularizer: Regularizer,
    /// How V is found.
    pub solver: FactorSolver,
}

impl Default for AoSymNmfParams {
    fn default() -> Self {
        Self { alpha: 0.1, regularizer: Regularizer::Proposed, solver: FactorSolver::Columns }
    }
}

/// Column steps exist for the proposed regulariser alone.
pub(crate) fn check_pair(solver: FactorSolver, regularizer: Regularizer) -> Result<(), ParamError> {
    ParamError::unless(
        solver == FactorSolver::Multiplicative || regularizer == Regularizer::Proposed,
        "regularizer",
        format!("{regularizer:?}").to_lowercase(),
        "\"proposed\" with the solver \"columns\" (the others need \"multiplicative\")",
    )
}

/// One start.
pub(crate) fn learn(task: Task<'_>, params: &AoSymNmfParams) -> Fitted {
    let graph = task.graph();
    let (learned, fixed) = match params.solver {
        FactorSolver::Columns => {
            let mut method = AoSymNmf::new(graph, task.start, params.alpha, Reseed::Never);
            (run(&mut method, task.stop, task.member, task.observer), method.fixed)
        }
        FactorSolver::Multiplicative => {
            let mut method = ByProducts::new(graph, task.start, params.alpha, params.regularizer);
            (run(&mut method, task.stop, task.member, task.observer), method.fixed)
        }
    };
    let objective = fixed.fit() + params.regularizer.penalty(&fixed.factor, params.alpha);
    Fitted { learned, objective, factor: fixed.factor, labeling: Labeling::Largest }
}

/// By column steps; see the module.
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

    /// As it stood behind an iteration that left this factor.
    pub(crate) fn resumed(graph: &'a G, factor: Factor, alpha: f64, reseed: Reseed) -> Self {
        Self { fixed: FixedGraph::resumed(graph, factor), alpha, reseed }
    }

    /// The factor as it stands.
    pub fn into_factor(self) -> Factor {
        self.fixed.factor
    }
}

impl<G: Graph> Method for AoSymNmf<'_, G> {
    /// The fit is recorded before each sweep and R during it, as in the authors' program.
    fn step(&mut self, iteration: usize, observer: &dyn Observer) -> Option<TraceRow> {
        let fit = self.fixed.fit();
        let Swept { orthogonality, change } = self.fixed.sweep(self.alpha, self.reseed, observer)?;
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

/// By multiplicative updates; see the module.
#[derive(Debug)]
pub struct ByProducts<'a, G> {
    fixed: FixedGraph<'a, G>,
    alpha: f64,
    regularizer: Regularizer,
}

impl<'a, G: Graph> ByProducts<'a, G> {
    /// Factor `graph` from `start`; `alpha` is 0 or more.
    pub fn new(graph: &'a G, start: Factor, alpha: f64, regularizer: Regularizer) -> Self {
        Self { fixed: FixedGraph::rescaled(graph, start), alpha, regularizer }
    }

    fn row(&self, iteration: usize, change: f64) -> TraceRow {
        TraceRow {
            penalty: self.regularizer.penalty(&self.fixed.factor, self.alpha),
            change: [change, 0.0, 0.0],
            ..TraceRow::of_fit(iteration, self.fixed.fit())
        }
    }
}

impl<G: Graph> Method for ByProducts<'_, G> {
    fn start(&mut self) -> Option<TraceRow> {
        Some(self.row(0, 1.0))
    }

    fn step(&mut self, iteration: usize, _: &dyn Observer) -> Option<TraceRow> {
        let fixed = &self.fixed;
        let next =
            quarter_step(&fixed.factor, fixed.gram(), fixed.product(), None, self.alpha, self.regularizer);
        let change = self.fixed.replace(next);
        Some(self.row(iteration, change))
    }

    fn factor(&self) -> &Factor {
        &self.fixed.factor
    }
}
