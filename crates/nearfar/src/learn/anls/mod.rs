#![doc = include_str!("about.md")]

#[cfg(test)]
mod tests;
pub(crate) mod update;

use super::family::{Fitted, Labeling, Task};
use super::phals::FixedGraph;
use super::run::{Method, run};
use super::table::{Entry, GRAPH, ITERATIONS, Kind, Needs, STARTS, Setting, TOLERANCE, own, words};
use super::trace::TraceRow;
use crate::graph::{SparseGraph, to_columns, to_rows};
use crate::math::factor::Factor;
use crate::math::kernel::{dot, norm2};
use crate::observe::Observer;
use crate::slices::Graph;

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "anls",
    line: "Symmetry dropped and priced: alternating least squares by pivoting or by columns (Zhu et al. 2018).",
    about: include_str!("about.md"),
    needs: Needs::Graph,
    matrices: 0,
    class: "ANLS",
    settings: &[OWN, GRAPH, STARTS, ITERATIONS, TOLERANCE],
};

const OWN: &[Setting] = &[
    Setting::at("lambda", Kind::STRENGTH, "Price of two different factors", own!(Anls, lambda))
        .named("lambda", "lam"),
    Setting::at(
        "solver",
        Kind::Word(AnlsSolver::WORDS),
        "How one factor is found given the other: exactly, or by one pass over the columns (SymHALS)",
        own!(Anls, solver),
    ),
];

words!(AnlsSolver { "pivoting" => Self::Pivoting, "columns" => Self::Columns });

/// How one factor is found given the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AnlsSolver {
    /// Exactly, by block principal pivoting.
    #[default]
    Pivoting,
    /// One pass over the columns (SymHALS).
    Columns,
}

/// Settings of the method.
///
#[doc = include_str!("about.md")]
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct AnlsParams {
    /// λ: the price of U ≠ V, 0 to 1e9.
    pub lambda: f64,
    /// How one factor is found given the other.
    pub solver: AnlsSolver,
}

impl Default for AnlsParams {
    fn default() -> Self {
        Self { lambda: 0.5, solver: AnlsSolver::default() }
    }
}

/// One start.
pub(crate) fn learn(task: Task<'_>, params: &AnlsParams) -> Fitted {
    let mut method = Anls::new(task.graph(), task.start, params);
    let learned = run(&mut method, task.stop, task.member, task.observer);
    let objective = method.objective();
    Fitted { learned, factor: method.into_factor(), objective, labeling: Labeling::Largest }
}

/// The method; see the module.
#[derive(Debug)]
pub struct Anls<'a> {
    graph: &'a SparseGraph,
    params: AnlsParams,
    graph_norm2: f64,
    /// U and V: n × r row-major, and Gram matrices.
    u: Side,
    v: Side,
    /// S V, n × r row-major.
    sv: Vec<f64>,
    factor: Factor,
}

/// One of the two factors.
#[derive(Clone, Debug)]
struct Side {
    rows: Vec<f64>,
    gram: Vec<f64>,
}

impl<'a> Anls<'a> {
    /// Factor `graph` from `start`, both factors the same.
    pub fn new(graph: &'a SparseGraph, start: Factor, params: &AnlsParams) -> Self {
        let FixedGraph { factor, .. } = FixedGraph::rescaled(graph, start);
        let (n, r) = (factor.n_samples(), factor.n_columns());
        let v = Side { rows: to_rows(factor.values(), n, r), gram: factor.gram() };
        let sv = graph.times_rows(&v.rows, r);
        Self { graph, params: *params, graph_norm2: graph.norm2(), u: v.clone(), v, sv, factor }
    }

    /// ‖S − UVᵀ‖².
    fn fit(&self) -> f64 {
        self.graph_norm2 - 2.0 * dot(&self.sv, &self.u.rows) + dot(&self.u.gram, &self.v.gram)
    }

    fn difference2(&self) -> f64 {
        let difference: Vec<f64> = self.u.rows.iter().zip(&self.v.rows).map(|(u, v)| u - v).collect();
        norm2(&difference)
    }

    /// ‖S − UVᵀ‖² + λ‖U − V‖².
    pub fn objective(&self) -> f64 {
        self.fit() + self.params.lambda * self.difference2()
    }

    /// ‖U − V‖ / ‖V‖: how far the two factors are apart; 0 where V is 0.
    pub fn asymmetry(&self) -> f64 {
        let length2 = norm2(&self.v.rows);
        if length2 > 0.0 { (self.difference2() / length2).sqrt() } else { 0.0 }
    }

    /// V as it stands.
    pub fn into_factor(self) -> Factor {
        self.factor
    }

    fn row(&self, iteration: usize, change: f64) -> TraceRow {
        TraceRow {
            penalty: self.params.lambda * self.difference2(),
            change: [change, 0.0, 0.0],
            ..TraceRow::of_fit(iteration, self.fit())
        }
    }

    /// With λ = 0 only UVᵀ is determined: columns of both factors are given the same length.
    fn balance(&mut self) {
        let r = self.factor.n_columns();
        let ratio: Vec<f64> = (0..r)
            .map(|k| {
                let ratio = (self.v.gram[k * r + k] / self.u.gram[k * r + k]).sqrt().sqrt();
                if ratio > 0.0 && ratio.is_finite() { ratio } else { 1.0 }
            })
            .collect();
        for (u, v) in self.u.rows.chunks_exact_mut(r).zip(self.v.rows.chunks_exact_mut(r)) {
            for ((u, v), ratio) in u.iter_mut().zip(v).zip(&ratio) {
                *u *= ratio;
                *v /= ratio;
            }
        }
        for a in 0..r {
            for b in 0..r {
                self.u.gram[a * r + b] *= ratio[a] * ratio[b];
                self.v.gram[a * r + b] /= ratio[a] * ratio[b];
            }
        }
    }
}

impl Side {
    /// The best rows (or better ones) given the other side and S times it.
    fn improve(&mut self, other: &Side, product: &[f64], params: &AnlsParams, r: usize) {
        let mut g = other.gram.clone();
        (0..r).for_each(|k| g[k * r + k] += params.lambda);
        let b: Vec<f64> = product.iter().zip(&other.rows).map(|(s, x)| s + params.lambda * x).collect();
        match params.solver {
            AnlsSolver::Pivoting => update::pivot(&g, &b, &mut self.rows, r),
            AnlsSolver::Columns => {
                update::pass(&g, &b, &mut self.rows, r);
                update::revive(&mut self.rows, r);
            }
        }
        self.gram = update::gram(&self.rows, r);
    }
}

impl Method for Anls<'_> {
    fn start(&mut self) -> Option<TraceRow> {
        Some(self.row(0, 1.0))
    }

    fn step(&mut self, iteration: usize, observer: &dyn Observer) -> Option<TraceRow> {
        let (n, r) = (self.factor.n_samples(), self.factor.n_columns());
        let before = self.u.clone();
        self.u.improve(&self.v, &self.sv, &self.params, r);
        if observer.cancelled() {
            self.u = before;
            return None;
        }
        let su = self.graph.times_rows(&self.u.rows, r);
        self.v.improve(&self.u, &su, &self.params, r);
        if self.params.lambda == 0.0 {
            self.balance();
        }
        self.sv = self.graph.times_rows(&self.v.rows, r);
        let mut columns = vec![0.0; n * r];
        to_columns(&self.v.rows, n, r, &mut columns);
        let factor = Factor::new(columns, n, r);
        let change = factor.relative_change(&self.factor);
        self.factor = factor;
        Some(self.row(iteration, change))
    }

    fn factor(&self) -> &Factor {
        &self.factor
    }

    fn stationary(&self) -> bool {
        self.objective() <= 1e-14 * self.graph_norm2
    }
}
