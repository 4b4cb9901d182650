#![doc = include_str!("about.md")]

#[cfg(test)]
mod tests;
pub(crate) mod update;

use super::family::{Fitted, Labeling, Task};
use super::gnmf::update::{Data, Pair, random_basis};
use super::run::{Method, run};
use super::table::{Entry, ITERATIONS, KMEANS, Kind, Needs, STARTS, Setting, TOLERANCE, own};
use super::trace::TraceRow;
use crate::error::Result;
use crate::graph::SparseGraph;
use crate::math::factor::Factor;
use crate::observe::Observer;
use update::{Neighbors, Weights};

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "nmfan",
    line: "NMF of the samples with a neighbour graph that is learnt along (Huang et al. 2017).",
    about: include_str!("about.md"),
    needs: Needs::Samples,
    matrices: 2,
    class: "NMFAN",
    settings: &[OWN, STARTS, ITERATIONS, TOLERANCE, KMEANS],
};

const OWN: &[Setting] = &[
    Setting::at("lambda", Kind::STRENGTH, "Weight of the Laplacian term", own!(NmfAn, lambda))
        .named("lambda", "lam"),
    Setting::at("neighbors", Kind::POSITIVE, "Neighbours of the first graph", own!(NmfAn, neighbors))
        .named("neighbors", "n_neighbors"),
];

/// Settings of the method.
///
#[doc = include_str!("about.md")]
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct NmfAnParams {
    /// λ: the weight of the Laplacian term, 0 to 1e9.
    pub lambda: f64,
    /// Neighbours of the first graph, at least 1.
    pub neighbors: usize,
}

impl Default for NmfAnParams {
    fn default() -> Self {
        Self { lambda: 100.0, neighbors: 5 }
    }
}

/// One start.
#[allow(clippy::unnecessary_wraps, reason = "one signature for all methods")]
pub(crate) fn learn(mut task: Task<'_>, params: &NmfAnParams) -> Result<Fitted> {
    let rows = task.rows();
    let basis = random_basis(rows.m, task.n_clusters, &mut task.stream);
    let mut method = NmfAn::new(&rows.values, basis, task.start, params);
    let learned = run(&mut method, task.stop, task.member, task.observer);
    let objective = method.objective();
    Ok(Fitted { learned, factor: method.factor, objective, labeling: Labeling::KMeans })
}

/// The method; see the module.
#[derive(Debug)]
pub struct NmfAn<'a> {
    pair: Pair<'a>,
    neighbors: Neighbors,
    lambda: f64,
    weights: Weights,
    /// (S + Sᵀ)/2 and its row sums.
    graph: SparseGraph,
    degrees: Vec<f64>,
    /// W V of the present V, n × r.
    wv: Vec<f64>,
    factor: Factor,
}

impl<'a> NmfAn<'a> {
    /// Factor the samples (n × m, row-major) from U = `basis` (m × r, row-major) and V = `start`, both moved once
    /// on the first graph.
    ///
    /// # Panics
    /// When the sizes of samples, basis and start do not fit.
    pub fn new(samples: &'a [f64], basis: Vec<f64>, start: Factor, params: &NmfAnParams) -> Self {
        let data = Data::nonnegative(samples, start.n_samples());
        let neighbors = Neighbors::new(&data.x, start.n_samples(), data.m);
        let (neighbors, weights) = neighbors.first_graph(params.neighbors);
        let mut this = Self {
            pair: Pair::new(data, basis, &start),
            neighbors,
            lambda: params.lambda,
            graph: SparseGraph::default(),
            degrees: Vec::new(),
            wv: Vec::new(),
            weights,
            factor: start,
        };
        this.factorize();
        this
    }

    /// The objective of the present state.
    pub fn objective(&self) -> f64 {
        self.pair.fit() + self.penalty()
    }

    /// V as it stands.
    pub fn into_factor(self) -> Factor {
        self.factor
    }

    /// One step of V and U on the present S.
    fn factorize(&mut self) {
        let r = self.pair.r();
        self.graph = self.weights.graph();
        self.degrees = self.graph.row_sums();
        let wv = self.graph.times_rows(self.pair.v(), r);
        self.pair.update(&wv, &self.degrees, self.lambda);
        self.wv = self.graph.times_rows(self.pair.v(), r);
        self.factor = self.pair.factor();
    }

    fn penalty(&self) -> f64 {
        self.lambda * self.pair.roughness(&self.wv, &self.degrees) + self.neighbors.price(&self.weights)
    }

    fn row(&self, iteration: usize, change: f64) -> TraceRow {
        TraceRow {
            penalty: self.penalty(),
            change: [change, 0.0, 0.0],
            ..TraceRow::of_fit(iteration, self.pair.fit())
        }
    }
}

impl Method for NmfAn<'_> {
    fn start(&mut self) -> Option<TraceRow> {
        Some(self.row(0, 1.0))
    }

    fn step(&mut self, iteration: usize, observer: &dyn Observer) -> Option<TraceRow> {
        self.weights = self.neighbors.choose(self.pair.v(), self.pair.r(), self.lambda);
        if observer.cancelled() {
            return None;
        }
        let before = self.factor.clone();
        self.factorize();
        Some(self.row(iteration, self.factor.relative_change(&before)))
    }

    fn factor(&self) -> &Factor {
        &self.factor
    }
}
