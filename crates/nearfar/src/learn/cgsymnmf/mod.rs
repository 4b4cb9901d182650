#![doc = include_str!("about.md")]
//! # Derivation
//!
//! Only the objective is known (from the LSDG paper); solver, scaling of X and start are ours. K = XᵀX, S₀ the
//! first graph.
//!
//! *S, K ≥ 0.* With A = (1 + β)I + αK and N = VVᵀ + αK + βS₀, both nonnegative, the objective in S is tr(SᵀAS) −
//! 2⟨S, N⟩ + const, and for S' > 0, tr(SᵀAS) ≤ Σ (AS')_ij S_ij²/S'_ij with equality at S = S'. The bound separates;
//! its minimum is S' ⊙ N/(AS'). The constraint S_ii = 0 is kept by an entry that starts at 0.
//!
//! *S, K of both signs,* K = K⁺ − K⁻. The additional terms are −α tr(SᵀK⁻S), concave along log S: ≤ −α Σ K⁻_il
//! S'_ij S'_lj (1 + log(S_ij S_lj / S'_ij S'_lj)); and 2α⟨S, K⁻⟩ ≤ α Σ K⁻_ij (S_ij²/S'_ij + S'_ij). With −2⟨S, N⁺⟩
//! ≤ −2 Σ N⁺_ij S'_ij (1 + log(S_ij/S'_ij)) every entry solves S²(…)/S' = S'(…), which gives the square root of the
//! ratio.
//!
//! *V.* ‖S − VVᵀ‖² differs from ‖(S + Sᵀ)/2 − VVᵀ‖² by a constant: the ¼-power step of symmetric NMF on the
//! symmetric part.
//!
//! Each of the three never raises the objective. Making S symmetric after every step would break the argument and
//! is not done.

#[cfg(test)]
mod tests;
mod update;

use super::family::{Fitted, Labeling, Task};
use super::multiplicative::{Regularizer, quarter_step};
use super::run::{Method, run};
use super::table::{Entry, GRAPH, ITERATIONS, Kind, Needs, PRECISION, STARTS, Setting, TOLERANCE, own};
use super::trace::TraceRow;
use crate::graph::SparseGraph;
use crate::math::dense::Cell;
use crate::math::factor::Factor;
use crate::math::kernel::{dot, norm2};
use crate::observe::Observer;
use crate::plan::Precision;
use update::{Expression, Terms};

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "cgsymnmf",
    line: "Symmetric NMF of a graph learnt by self-expression (Jia et al. 2020; a reconstruction).",
    about: include_str!("about.md"),
    needs: Needs::Both,
    matrices: 6,
    class: "CGSymNMF",
    settings: &[OWN, PRECISION, GRAPH, STARTS, ITERATIONS, TOLERANCE],
};

const OWN: &[Setting] = &[
    Setting::at("alpha", Kind::STRENGTH, "Weight of self-expression", own!(CgSymNmf, alpha)),
    Setting::at(
        "beta",
        Kind::STRENGTH,
        "How strongly the graph is held to the first one",
        own!(CgSymNmf, beta),
    ),
];

/// Settings of the method.
///
#[doc = include_str!("about.md")]
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct CgSymNmfParams {
    /// α: the weight of self-expression, 0 to 1e9.
    pub alpha: f64,
    /// β: how strongly S is held to the first graph, 0 to 1e9.
    pub beta: f64,
}

impl Default for CgSymNmfParams {
    fn default() -> Self {
        Self { alpha: 0.1, beta: 1.0 }
    }
}

/// One start.
pub(crate) fn learn(task: Task<'_>, params: &CgSymNmfParams) -> Fitted {
    match task.precision {
        Precision::Single => learn_in::<f32>(task, params),
        _ => learn_in::<f64>(task, params),
    }
}

fn learn_in<E: Cell>(mut task: Task<'_>, params: &CgSymNmfParams) -> Fitted {
    let (rows, stream) = (task.rows(), &mut task.stream);
    let noise = (0..rows.n * rows.n).map(|_| E::narrow(stream.uniform())).collect();
    let mut method = CgSymNmf::<E>::new(&rows.values, task.graph(), noise, task.start, params);
    let learned = run(&mut method, task.stop, task.member, task.observer);
    let objective = method.objective();
    Fitted { learned, factor: method.factor, objective, labeling: Labeling::Largest }
}

/// The method; see the module. The n × n matrices and their products are of numbers `E`.
#[derive(Debug)]
pub struct CgSymNmf<'a, E: Cell = f64> {
    expression: Expression<'a, E>,
    terms: Terms,
    factor: Factor,
}

impl<'a, E: Cell> CgSymNmf<'a, E> {
    /// Learn S from the samples (n × m, row-major) and `graph`, V from `start`; `noise` (n × n, in [0, 1)) lifts
    /// the zeros of the first S.
    ///
    /// # Panics
    /// When the sizes of samples, graph, noise and start do not fit.
    pub fn new(
        samples: &[f64],
        graph: &'a SparseGraph,
        noise: Vec<E>,
        start: Factor,
        params: &CgSymNmfParams,
    ) -> Self {
        let n = start.n_samples();
        let expression = Expression::new(samples, graph, noise, n, *params);
        let mut this = Self { expression, terms: Terms::default(), factor: start };
        let product = this.expression.symmetric_times(&this.factor);
        let (inner, square) = (dot(this.factor.values(), &product), norm2(&this.factor.gram()));
        if inner > 0.0 && square > 0.0 {
            this.factor.scale(inner.sqrt() / square.sqrt());
        }
        this.terms = this.expression.measure(&this.factor);
        this
    }

    /// ‖S − VVᵀ‖² + α‖X − XS‖² + β‖S − S₀‖² of the present state.
    pub fn objective(&self) -> f64 {
        self.terms.fit + self.terms.penalty
    }

    /// S, n × n, row-major.
    pub fn similarity(&self) -> &[E] {
        self.expression.similarity()
    }

    /// V as it stands.
    pub fn into_factor(self) -> Factor {
        self.factor
    }

    fn row(&self, iteration: usize, change: f64) -> TraceRow {
        let Terms { fit, penalty } = self.terms;
        TraceRow { penalty, change: [change, 0.0, 0.0], ..TraceRow::of_fit(iteration, fit) }
    }
}

impl<E: Cell> Method for CgSymNmf<'_, E> {
    fn start(&mut self) -> Option<TraceRow> {
        Some(self.row(0, 1.0))
    }

    fn step(&mut self, iteration: usize, _: &dyn Observer) -> Option<TraceRow> {
        self.expression.update(&self.factor);
        let product = self.expression.symmetric_times(&self.factor);
        let next =
            quarter_step(&self.factor, &self.factor.gram(), &product, None, 0.0, Regularizer::Proposed);
        let (n, r) = (self.factor.n_samples(), self.factor.n_columns());
        let before = std::mem::replace(&mut self.factor, Factor::new(next, n, r));
        self.terms = self.expression.measure(&self.factor);
        Some(self.row(iteration, self.factor.relative_change(&before)))
    }

    fn factor(&self) -> &Factor {
        &self.factor
    }
}
