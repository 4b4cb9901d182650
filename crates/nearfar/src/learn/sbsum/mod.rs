#![doc = include_str!("about.md")]

#[cfg(test)]
mod tests;
mod update;

use super::family::{Fitted, Labeling, Task};
use super::phals::FixedGraph;
use super::run::{Method, run};
use super::table::{Entry, GRAPH, ITERATIONS, Kind, Needs, STARTS, Setting, TOLERANCE, own, words};
use super::trace::TraceRow;
use crate::graph::{SparseGraph, to_columns, to_rows};
use crate::math::factor::Factor;
use crate::observe::Observer;

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "sbsum",
    line: "Symmetric NMF one entry (or one row) at a time, each step an exact minimum of a bound (Shi et al. 2017).",
    about: include_str!("about.md"),
    needs: Needs::Graph,
    matrices: 0,
    class: "SBSUM",
    settings: &[OWN, GRAPH, STARTS, ITERATIONS, TOLERANCE],
};

const OWN: &[Setting] = &[Setting::at(
    "solver",
    Kind::Word(SBsumBlock::WORDS),
    "What is updated at once: an entry or a row of the factor",
    own!(SBsum, block),
)];

words!(SBsumBlock { "scalar" => Self::Scalar, "vector" => Self::Vector });

/// What is updated at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SBsumBlock {
    /// One entry of V.
    #[default]
    Scalar,
    /// One row of V.
    Vector,
}

/// Settings of the method.
///
#[doc = include_str!("about.md")]
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct SBsumParams {
    /// What is updated at once.
    pub block: SBsumBlock,
}

/// One start.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "one signature for all methods")]
pub(crate) fn learn(task: Task<'_>, params: &SBsumParams) -> Fitted {
    let mut method = SBsum::new(task.graph(), task.start, params);
    let learned = run(&mut method, task.stop, task.member, task.observer);
    let objective = method.objective();
    Fitted { learned, factor: method.into_factor(), objective, labeling: Labeling::Largest }
}

/// The method; see the module.
#[derive(Debug)]
pub struct SBsum<'a> {
    fixed: FixedGraph<'a, SparseGraph>,
    block: SBsumBlock,
}

impl<'a> SBsum<'a> {
    /// Factor `graph` from `start`.
    pub fn new(graph: &'a SparseGraph, start: Factor, params: &SBsumParams) -> Self {
        Self { fixed: FixedGraph::rescaled(graph, start), block: params.block }
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

impl Method for SBsum<'_> {
    fn start(&mut self) -> Option<TraceRow> {
        Some(TraceRow::of_fit(0, self.fixed.fit()))
    }

    fn step(&mut self, iteration: usize, observer: &dyn Observer) -> Option<TraceRow> {
        let factor = &self.fixed.factor;
        let (n, r) = (factor.n_samples(), factor.n_columns());
        let mut rows = to_rows(factor.values(), n, r);
        let gram = self.fixed.gram().to_vec();
        match self.block {
            SBsumBlock::Scalar => update::entries(self.fixed.graph, &mut rows, gram, observer)?,
            SBsumBlock::Vector => update::rows(self.fixed.graph, &mut rows, gram, observer)?,
        }
        let mut values = vec![0.0; n * r];
        to_columns(&rows, n, r, &mut values);
        let change = self.fixed.replace(values);
        Some(TraceRow { change: [change, 0.0, 0.0], ..TraceRow::of_fit(iteration, self.fixed.fit()) })
    }

    fn factor(&self) -> &Factor {
        &self.fixed.factor
    }

    fn stationary(&self) -> bool {
        self.fixed.exact()
    }
}
