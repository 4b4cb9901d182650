#![doc = include_str!("about.md")]

use rayon::prelude::*;

use super::family::{Fitted, Labeling, Task};
use super::run::{Method, run};
use super::sweep::{Reseed, SweepParams, Swept, gram, sweep};
use super::table::{Entry, GRAPH, ITERATIONS, Needs, STARTS, TOLERANCE};
use super::trace::TraceRow;
use crate::math::factor::Factor;
use crate::math::kernel::{dot, norm2};
use crate::observe::Observer;
use crate::processes::unit;
use crate::slices::Graph;

/// A fixed graph with the product T V at hand; shared by the methods that factor one graph.
#[derive(Debug)]
pub(crate) struct FixedGraph<'a, G> {
    pub(crate) graph: &'a G,
    pub(crate) factor: Factor,
    /// The rows of T V that are here, column-major.
    tv: Vec<f64>,
    /// ⟨T, VVᵀ⟩.
    inner: f64,
    /// VᵀV, r × r.
    gram: Vec<f64>,
    norm2: f64,
}

/// Share of ‖T‖² below which the fit is rounding.
const EXACT: f64 = 1e-14;

impl<'a, G: Graph> FixedGraph<'a, G> {
    /// From a start that is first rescaled to the best scalar multiple.
    pub(crate) fn rescaled(graph: &'a G, factor: Factor) -> Self {
        let mut this = Self::with(graph, factor, graph.norm2());
        let (inner, square) = (this.inner, norm2(&this.gram));
        if inner > 0.0 && square > 0.0 {
            let scale = inner.sqrt() / square.sqrt();
            this.factor.scale(scale);
            this.tv.iter_mut().for_each(|t| *t *= scale);
            this.measure();
        }
        this
    }

    /// As it stood behind an iteration that left this factor.
    pub(crate) fn resumed(graph: &'a G, factor: Factor) -> Self {
        Self::with(graph, factor, graph.norm2())
    }

    fn with(graph: &'a G, factor: Factor, norm2: f64) -> Self {
        let mut this = Self { graph, tv: Vec::new(), inner: 0.0, factor, gram: Vec::new(), norm2 };
        this.multiply();
        this
    }

    /// The same graph with another V, column-major.
    pub(crate) fn at(&self, values: Vec<f64>) -> Self {
        let (n, r) = (self.factor.n_samples(), self.factor.n_columns());
        Self::with(self.graph, Factor::new(values, n, r), self.norm2)
    }

    fn multiply(&mut self) {
        self.tv = self.graph.times_own(&self.factor);
        self.measure();
    }

    /// The sums that belong to the present V and T V.
    fn measure(&mut self) {
        self.gram = gram(self.graph, &self.factor);
        self.inner = inner(self.graph, &self.factor, &self.tv);
    }

    /// ⟨T, VVᵀ⟩.
    pub(crate) fn inner(&self) -> f64 {
        self.inner
    }

    /// VᵀV of the present factor, r × r.
    pub(crate) fn gram(&self) -> &[f64] {
        &self.gram
    }

    /// Whether VVᵀ is T but for rounding, so that the loss can tell nothing more.
    pub(crate) fn exact(&self) -> bool {
        self.fit() <= EXACT * self.norm2
    }

    /// ½‖T − VVᵀ‖², from the product at hand.
    pub(crate) fn fit(&self) -> f64 {
        0.5 * self.norm2 - self.inner + 0.5 * norm2(&self.gram)
    }

    /// T V of the present factor, column-major; of a graph all of which is here.
    pub(crate) fn product(&self) -> &[f64] {
        debug_assert_eq!(self.tv.len(), self.factor.values().len(), "rows of the graph are elsewhere");
        &self.tv
    }

    /// Take another V, and multiply again. Returns its relative change.
    pub(crate) fn replace(&mut self, values: Vec<f64>) -> f64 {
        let next = self.at(values);
        let before = std::mem::replace(self, next).factor;
        self.factor.relative_change(&before)
    }

    /// Take another V whose product with T is known. Returns its relative change.
    pub(crate) fn replace_known(&mut self, values: Vec<f64>, tv: Vec<f64>) -> f64 {
        let (n, r) = (self.factor.n_samples(), self.factor.n_columns());
        let before = std::mem::replace(&mut self.factor, Factor::new(values, n, r));
        self.tv = tv;
        self.measure();
        self.factor.relative_change(&before)
    }

    /// Sweep, and multiply again.
    pub(crate) fn sweep(&mut self, alpha: f64, reseed: Reseed, observer: &dyn Observer) -> Option<Swept> {
        let before = self.factor.clone();
        let params = SweepParams { alpha, guard: 0.0, reseed };
        let swept = sweep(self.graph, &mut self.factor, &self.tv, self.gram.clone(), &params, observer);
        match swept {
            None => self.factor = before,
            Some(_) => self.multiply(),
        }
        swept
    }
}

/// ⟨T, VVᵀ⟩ from the rows of T V that are here.
fn inner<G: Graph>(graph: &G, factor: &Factor, tv: &[f64]) -> f64 {
    let Some(share) = graph.split() else { return dot(factor.values(), tv) };
    let (here, unit) = (share.rows(), unit(share.n_rows()));
    let part = |start: usize| {
        let rows = start..(start + unit).min(here.end);
        let column = |c: usize| {
            let own = c * here.len() + start - here.start;
            dot(&factor.column(c)[rows.clone()], &tv[own..own + rows.len()])
        };
        (0..factor.n_columns()).map(column).sum::<f64>()
    };
    let starts: Vec<usize> = here.clone().step_by(unit).collect();
    let parts: Vec<f64> = starts.into_par_iter().map(part).collect();
    share.gather_blocks("fit", &parts, unit, 1).iter().sum()
}

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "phals",
    line: "Symmetric NMF of a fixed graph, column by column with exact line search (Hou, Chu, Liao 2023).",
    about: include_str!("about.md"),
    needs: Needs::Graph,
    matrices: 0,
    class: "PHALS",
    settings: &[GRAPH, STARTS, ITERATIONS, TOLERANCE],
};

/// One start.
pub(crate) fn learn(task: Task<'_>) -> Fitted {
    let mut method = Phals::new(task.graph(), task.start);
    let learned = run(&mut method, task.stop, task.member, task.observer);
    let objective = method.0.fit();
    Fitted { learned, factor: method.into_factor(), objective, labeling: Labeling::Largest }
}

/// The method; see the module.
#[derive(Debug)]
pub struct Phals<'a, G>(FixedGraph<'a, G>);

impl<'a, G: Graph> Phals<'a, G> {
    /// Factor `graph` from `start`.
    pub fn new(graph: &'a G, start: Factor) -> Self {
        Self(FixedGraph::rescaled(graph, start))
    }

    /// As it stood behind an iteration that left this factor.
    pub(crate) fn resumed(graph: &'a G, factor: Factor) -> Self {
        Self(FixedGraph::resumed(graph, factor))
    }

    /// The factor as it stands.
    pub fn into_factor(self) -> Factor {
        self.0.factor
    }
}

impl<G: Graph> Method for Phals<'_, G> {
    fn start(&mut self) -> Option<TraceRow> {
        Some(TraceRow::of_fit(0, self.0.fit()))
    }

    fn step(&mut self, iteration: usize, observer: &dyn Observer) -> Option<TraceRow> {
        let Swept { change, .. } = self.0.sweep(0.0, Reseed::Never, observer)?;
        Some(TraceRow { change: [change, 0.0, 0.0], ..TraceRow::of_fit(iteration, self.0.fit()) })
    }

    fn factor(&self) -> &Factor {
        &self.0.factor
    }

    fn increase_stops(&self) -> bool {
        true
    }
}
