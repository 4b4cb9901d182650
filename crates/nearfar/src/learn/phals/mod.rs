#![doc = include_str!("about.md")]

use super::family::{Fitted, Labeling, Task};
use super::run::{Method, run};
use super::sweep::{Reseed, SweepParams, sweep};
use super::trace::TraceRow;
use crate::math::factor::Factor;
use crate::math::kernel::{dot, norm2};
use crate::observe::Observer;
use crate::slices::Graph;

/// A fixed graph with the product T V at hand; shared by the methods that factor one graph.
#[derive(Debug)]
pub(crate) struct FixedGraph<'a, G> {
    pub(crate) graph: &'a G,
    pub(crate) factor: Factor,
    tv: Vec<f64>,
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
        let (inner, square) = (this.inner(), norm2(&this.gram));
        if inner > 0.0 && square > 0.0 {
            let scale = inner.sqrt() / square.sqrt();
            this.factor.scale(scale);
            this.tv.iter_mut().for_each(|t| *t *= scale);
            this.gram = this.factor.gram();
        }
        this
    }

    /// As it stood behind an iteration that left this factor.
    pub(crate) fn resumed(graph: &'a G, factor: Factor) -> Self {
        Self::with(graph, factor, graph.norm2())
    }

    fn with(graph: &'a G, factor: Factor, norm2: f64) -> Self {
        let mut this = Self { graph, tv: vec![0.0; factor.values().len()], factor, gram: Vec::new(), norm2 };
        this.multiply();
        this
    }

    /// The same graph with another V, column-major.
    pub(crate) fn at(&self, values: Vec<f64>) -> Self {
        let (n, r) = (self.factor.n_samples(), self.factor.n_columns());
        Self::with(self.graph, Factor::new(values, n, r), self.norm2)
    }

    fn multiply(&mut self) {
        self.graph.times(&self.factor, &mut self.tv);
        self.gram = self.factor.gram();
    }

    /// ⟨T, VVᵀ⟩.
    pub(crate) fn inner(&self) -> f64 {
        dot(self.factor.values(), &self.tv)
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
        0.5 * self.norm2 - self.inner() + 0.5 * norm2(&self.gram)
    }

    /// T V of the present factor, column-major.
    pub(crate) fn product(&self) -> &[f64] {
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
        (self.gram, self.tv) = (self.factor.gram(), tv);
        self.factor.relative_change(&before)
    }

    /// Sweep, and multiply again. Returns Σ R and the relative change of V.
    pub(crate) fn sweep(
        &mut self,
        alpha: f64,
        reseed: Reseed,
        observer: &dyn Observer,
    ) -> Option<(f64, f64)> {
        let before = self.factor.clone();
        let params = SweepParams { alpha, guard: 0.0, reseed };
        let Some(orthogonality) = sweep(self.graph, &mut self.factor, &self.tv, &params, observer) else {
            self.factor = before;
            return None;
        };
        self.multiply();
        Some((orthogonality, self.factor.relative_change(&before)))
    }
}

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
        let (_, change) = self.0.sweep(0.0, Reseed::Never, observer)?;
        Some(TraceRow { change: [change, 0.0, 0.0], ..TraceRow::of_fit(iteration, self.0.fit()) })
    }

    fn factor(&self) -> &Factor {
        &self.0.factor
    }

    fn increase_stops(&self) -> bool {
        true
    }
}
