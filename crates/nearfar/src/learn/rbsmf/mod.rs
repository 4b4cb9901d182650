#![doc = include_str!("about.md")]
//! # Derivation
//!
//! LearntGraphs: the loss Σ log(1 + ‖x_i − Uv_i‖) with its weights d_i = 1/(2e_i(1 + e_i)), and a bi-stochastic S that is
//! learnt from a first graph A. Guessed: the coupling terms, VᵀV = I instead of V ≥ 0 (with U, V ≥ 0 alone, (cU,
//! V/c) removes the graph term), and the label rule.
//!
//! *U, V.* log(1 + √s) is concave in s = e_i²: its tangent bounds the loss by Σ d_i‖x_i − Uv_i‖² + const. As d_i ≤
//! d̂ = max d_i, that is at most d̂‖Y − UVᵀ‖² + const with Y = UVᵀ + E Diag(d_i/d̂), E = X − UVᵀ the present
//! residual; both bounds touch at the present point. For VᵀV = I the best U is YV, and what remains is tr(Vᵀ(λL_S −
//! d̂YᵀY)V): the eigenvectors of the r smallest eigenvalues. In the first round Y = X and d̂ = 1.
//!
//! *S.* tr(VᵀL_SV) = ½Σ s_ij dist_ij, so that S is the projection of A − (λ/4μ) dist(V) on the symmetric
//! bi-stochastic matrices, see `update`.
//!
//! Neither step raises the objective, provided that the projection is carried to its end.

mod project;
#[cfg(test)]
mod tests;
mod update;

pub use project::bistochastic;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::family::{Fitted, Labeling, Task};
use super::run::{Learned, Method, run};
use super::stop::StopRule;
use super::table::{Entry, GRAPH, ITERATIONS, KMEANS, Kind, Needs, STARTS, Setting, TOLERANCE, own};
use super::trace::TraceRow;
use crate::error::Result;
use crate::graph::SparseGraph;
use crate::math::factor::Factor;
use crate::observe::Observer;
use crate::slices::SymmetricTiles;
use crate::slices::tiles::TILE;
use update::Robust;

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "rbsmf",
    line: "Robust factorisation with a bi-stochastic graph that is learnt along (Wang et al. 2022; a reconstruction).",
    about: include_str!("about.md"),
    needs: Needs::Both,
    matrices: 6,
    class: "RBSMF",
    settings: &[OWN, GRAPH, STARTS, ITERATIONS, TOLERANCE, KMEANS],
};

const OWN: &[Setting] = &[
    Setting::at("lambda", Kind::STRENGTH, "Weight of the Laplacian term", own!(RbsMf, lambda))
        .named("lambda", "lam"),
    Setting::at(
        "mu",
        Kind::Number(1e-9, 1e9),
        "How strongly the graph is held to the first one",
        own!(RbsMf, mu),
    ),
];

/// Settings of the method.
///
#[doc = include_str!("about.md")]
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct RbsMfParams {
    /// λ: the weight of the Laplacian term, 0 to 1e9.
    pub lambda: f64,
    /// μ: how strongly S is held to the first graph, 1e-9 to 1e9.
    pub mu: f64,
}

impl Default for RbsMfParams {
    fn default() -> Self {
        Self { lambda: 1.0, mu: 1.0 }
    }
}

/// One start. Nothing is random before the labels: all starts agree, and share what the first one learns.
#[allow(clippy::needless_pass_by_value, reason = "one signature for all methods")]
pub(crate) fn learn(task: Task<'_>, params: &RbsMfParams) -> Result<Fitted> {
    let (rows, r) = (task.rows(), task.n_clusters);
    let key = Key { params: *params, n_clusters: r, stop: *task.stop };
    let learnt = match task.known.get(&key) {
        Some(learnt) => learnt,
        None => {
            let mut method = RbsMf::new(&rows.values, task.graph(), rows.n, r, params);
            let learned = run(&mut method, task.stop, task.member, task.observer);
            Task::unless_cancelled(&learned)?;
            let (graph, objective) = (tiles(method.similarity(), rows.n), method.objective());
            task.known.put(key, Learnt { learned, objective, graph, factor: method.factor })
        }
    };
    let Learnt { learned, objective, graph, factor } = &*learnt;
    let labels = crate::spectral::cluster(graph, r, task.kmeans_restarts, task.seed, task.observer)?.labels;
    let labeling = Labeling::Given(labels);
    Ok(Fitted { learned: learned.clone(), factor: factor.clone(), objective: *objective, labeling })
}

/// All that a learnt graph depends on, beside the data.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Key {
    params: RbsMfParams,
    n_clusters: usize,
    stop: StopRule,
}

#[derive(Debug)]
struct Learnt {
    learned: Learned,
    objective: f64,
    graph: SymmetricTiles<f64>,
    factor: Factor,
}

/// What earlier starts learnt on the same data.
#[derive(Debug)]
pub(crate) struct LearntGraphs {
    most: usize,
    learnt: Mutex<Vec<(Key, Arc<Learnt>)>>,
}

impl LearntGraphs {
    /// Of this many settings at most; the oldest goes first.
    pub(crate) fn up_to(most: usize) -> Self {
        Self { most, learnt: Mutex::default() }
    }

    fn entries(&self) -> MutexGuard<'_, Vec<(Key, Arc<Learnt>)>> {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, key: &Key) -> Option<Arc<Learnt>> {
        self.entries().iter().find(|(known, _)| known == key).map(|(_, learnt)| Arc::clone(learnt))
    }

    fn put(&self, key: Key, learnt: Learnt) -> Arc<Learnt> {
        let learnt = Arc::new(learnt);
        let mut entries = self.entries();
        if entries.len() == self.most {
            entries.remove(0);
        }
        entries.push((key, Arc::clone(&learnt)));
        learnt
    }
}

/// A full symmetric matrix as a graph.
fn tiles(s: &[f64], n: usize) -> SymmetricTiles<f64> {
    let mut tiles = SymmetricTiles::zeros(n);
    tiles.fill(|rows, columns, tile| {
        for (a, i) in rows.enumerate() {
            tile[a * TILE..][..columns.len()].copy_from_slice(&s[i * n..][columns.clone()]);
        }
    });
    tiles
}

/// The method; see the module.
#[derive(Debug)]
pub struct RbsMf<'a> {
    robust: Robust<'a>,
    factor: Factor,
}

impl<'a> RbsMf<'a> {
    /// Factor the n samples (n × m, row-major) into r columns, S held to `graph`.
    ///
    /// # Panics
    /// When the sizes of samples and graph do not fit.
    pub fn new(samples: &[f64], graph: &'a SparseGraph, n: usize, r: usize, params: &RbsMfParams) -> Self {
        let robust = Robust::new(samples, graph, n, r.min(n), *params);
        Self { robust, factor: Factor::new(vec![0.0; n * r.min(n)], n, r.min(n)) }
    }

    /// The objective of the present state; infinite before the first step.
    pub fn objective(&self) -> f64 {
        self.robust.fit() + self.robust.penalty()
    }

    /// S, n × n, symmetric, every row sums to 1; empty before the first step.
    pub fn similarity(&self) -> &[f64] {
        self.robust.similarity()
    }

    /// V as it stands: orthonormal columns, entries of both signs.
    pub fn into_factor(self) -> Factor {
        self.factor
    }
}

impl Method for RbsMf<'_> {
    fn step(&mut self, iteration: usize, observer: &dyn Observer) -> Option<TraceRow> {
        let values = self.robust.step(observer)?;
        let (n, r) = (self.factor.n_samples(), self.factor.n_columns());
        let before = std::mem::replace(&mut self.factor, Factor::new(values, n, r));
        let change = if iteration == 1 { 1.0 } else { self.factor.relative_change(&before) };
        Some(TraceRow {
            penalty: self.robust.penalty(),
            change: [change, 0.0, 0.0],
            ..TraceRow::of_fit(iteration, self.robust.fit())
        })
    }

    fn factor(&self) -> &Factor {
        &self.factor
    }

    /// A rise is rounding: the weight of a sample that is fitted exactly dwarfs the graph's.
    fn increase_stops(&self) -> bool {
        true
    }
}
