#![doc = include_str!("about.md")]

#[cfg(test)]
mod tests;
pub(crate) mod update;

use super::family::{Fitted, Labeling, Task};
use super::run::{Method, run};
use super::table::{Entry, GRAPH, ITERATIONS, KMEANS, Kind, Needs, STARTS, Setting, TOLERANCE, own};
use super::trace::TraceRow;
use crate::error::Result;
use crate::graph::SparseGraph;
use crate::math::factor::Factor;
use crate::observe::Observer;
use update::{Data, Pair};

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "gnmf",
    line: "NMF of the samples with the graph Laplacian as a regulariser; k-means on V (Cai et al. 2011).",
    about: include_str!("about.md"),
    needs: Needs::Both,
    matrices: 0,
    class: "GNMF",
    settings: &[OWN, GRAPH, STARTS, ITERATIONS, TOLERANCE, KMEANS],
};

const OWN: &[Setting] =
    &[Setting::at("lambda", Kind::STRENGTH, "Weight of the Laplacian term", own!(Gnmf, lambda))
        .named("lambda", "lam")];

/// Settings of the method.
///
#[doc = include_str!("about.md")]
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct GnmfParams {
    /// λ: the weight of the Laplacian term, 0 to 1e9.
    pub lambda: f64,
}

impl Default for GnmfParams {
    fn default() -> Self {
        Self { lambda: 100.0 }
    }
}

/// One start.
#[allow(
    clippy::unnecessary_wraps,
    clippy::trivially_copy_pass_by_ref,
    reason = "one signature for all methods"
)]
pub(crate) fn learn(mut task: Task<'_>, params: &GnmfParams) -> Result<Fitted> {
    let rows = task.rows();
    let basis = update::random_basis(rows.m, task.n_clusters, &mut task.stream);
    let mut method = Gnmf::new(&rows.values, task.graph(), basis, task.start, params.lambda);
    let learned = run(&mut method, task.stop, task.member, task.observer);
    let objective = method.objective();
    Ok(Fitted { learned, factor: method.into_factor(), objective, labeling: Labeling::KMeans })
}

/// The method; see the module.
#[derive(Debug)]
pub struct Gnmf<'a> {
    pair: Pair<'a>,
    graph: &'a SparseGraph,
    degrees: Vec<f64>,
    lambda: f64,
    /// W V of the present V, n × r.
    wv: Vec<f64>,
    factor: Factor,
}

impl<'a> Gnmf<'a> {
    /// Factor the samples (n × m, row-major) from U = `basis` (m × r, row-major) and V = `start`; `lambda` is 0 or
    /// more.
    ///
    /// # Panics
    /// When the sizes of samples, graph, basis and start do not fit.
    pub fn new(
        samples: &'a [f64],
        graph: &'a SparseGraph,
        basis: Vec<f64>,
        start: Factor,
        lambda: f64,
    ) -> Self {
        let mut pair = Pair::new(Data::nonnegative(samples, start.n_samples()), basis, &start);
        pair.normalize();
        let degrees = graph.row_sums();
        let wv = graph.times_rows(pair.v(), pair.r());
        let mut this = Self { pair, graph, degrees, lambda, wv, factor: start };
        this.factor = this.pair.factor();
        this
    }

    /// ‖X − UVᵀ‖² + λ tr(VᵀLV) of the present state.
    pub fn objective(&self) -> f64 {
        self.pair.fit() + self.penalty()
    }

    /// V, with the length of every column of U moved into it.
    pub fn into_factor(mut self) -> Factor {
        self.pair.normalize();
        self.pair.factor()
    }

    fn penalty(&self) -> f64 {
        self.lambda * self.pair.roughness(&self.wv, &self.degrees)
    }

    fn row(&self, iteration: usize, change: f64) -> TraceRow {
        TraceRow {
            penalty: self.penalty(),
            change: [change, 0.0, 0.0],
            ..TraceRow::of_fit(iteration, self.pair.fit())
        }
    }
}

impl Method for Gnmf<'_> {
    fn start(&mut self) -> Option<TraceRow> {
        Some(self.row(0, 1.0))
    }

    fn step(&mut self, iteration: usize, _: &dyn Observer) -> Option<TraceRow> {
        self.pair.update(&self.wv, &self.degrees, self.lambda);
        self.wv = self.graph.times_rows(self.pair.v(), self.pair.r());
        let before = std::mem::replace(&mut self.factor, self.pair.factor());
        Some(self.row(iteration, self.factor.relative_change(&before)))
    }

    fn factor(&self) -> &Factor {
        &self.factor
    }
}
