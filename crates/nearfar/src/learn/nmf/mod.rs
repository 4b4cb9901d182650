#![doc = include_str!("about.md")]

#[cfg(test)]
mod tests;
mod update;

use super::family::{Fitted, Labeling, Task};
use super::run::{Method, run};
use super::table::{Entry, ITERATIONS, KMEANS, Needs, STARTS, TOLERANCE};
use super::trace::TraceRow;
use crate::graph::{to_columns, to_rows};
use crate::math::factor::Factor;
use crate::math::kernel::{dot, norm2};
use crate::observe::Observer;
use update::Shifted;

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "nmf",
    line: "Plain NMF of the samples; k-means on V.",
    about: include_str!("about.md"),
    needs: Needs::Samples,
    matrices: 0,
    class: "NMF",
    settings: &[STARTS, ITERATIONS, TOLERANCE, KMEANS],
};

/// One start.
pub(crate) fn learn(mut task: Task<'_>) -> Fitted {
    let samples = Shifted::new(task.rows());
    let start = (0..samples.m * task.n_clusters).map(|_| task.stream.uniform()).collect();
    let mut method = Nmf::new(samples, &task.start, start);
    let learned = run(&mut method, task.stop, task.member, task.observer);
    let objective = method.objective();
    Fitted { learned, factor: method.into_factor(), objective, labeling: Labeling::KMeans }
}

/// The method; see the module. Samples are rows: X (n × m) ≈ V Uᵀ.
#[derive(Debug)]
pub(crate) struct Nmf<'a> {
    samples: Shifted<'a>,
    /// n × r and m × r, row-major, and their Gram matrices.
    v: Vec<f64>,
    u: Vec<f64>,
    v_gram: Vec<f64>,
    u_gram: Vec<f64>,
    /// Xᵀ V, m × r row-major.
    xv: Vec<f64>,
    norm2: f64,
    factor: Factor,
}

impl<'a> Nmf<'a> {
    /// From a start of V and of U (m × r row-major).
    pub(crate) fn new(samples: Shifted<'a>, start: &Factor, u: Vec<f64>) -> Self {
        let (n, r) = (start.n_samples(), start.n_columns());
        let mut this = Self {
            norm2: norm2(samples.values()),
            v: to_rows(start.values(), n, r),
            u_gram: update::gram(&u, r),
            v_gram: Vec::new(),
            xv: Vec::new(),
            u,
            factor: start.clone(),
            samples,
        };
        this.multiply();
        this
    }

    /// Renew what hangs on V.
    fn multiply(&mut self) {
        let r = self.factor.n_columns();
        self.v_gram = update::gram(&self.v, r);
        self.xv = self.samples.transposed_times(&self.v, r);
    }

    /// ‖X − VUᵀ‖².
    pub(crate) fn objective(&self) -> f64 {
        let objective = self.norm2 - 2.0 * dot(&self.xv, &self.u) + dot(&self.v_gram, &self.u_gram);
        if objective < 0.0 { 0.0 } else { objective } // below rounding; NaN stays
    }

    /// V with the lengths of U's columns in it.
    pub(crate) fn into_factor(self) -> Factor {
        let (n, r) = (self.factor.n_samples(), self.factor.n_columns());
        let mut values = self.factor.values().to_vec();
        for (k, column) in values.chunks_exact_mut(n).enumerate() {
            let length = self.u_gram[k * r + k].sqrt();
            column.iter_mut().for_each(|v| *v *= length);
        }
        Factor::new(values, n, r)
    }

    fn row(&self, iteration: usize, change: f64) -> TraceRow {
        TraceRow { change: [change, 0.0, 0.0], ..TraceRow::of_fit(iteration, self.objective()) }
    }
}

impl Method for Nmf<'_> {
    fn start(&mut self) -> Option<TraceRow> {
        Some(self.row(0, 1.0))
    }

    fn step(&mut self, iteration: usize, observer: &dyn Observer) -> Option<TraceRow> {
        let (n, r) = (self.factor.n_samples(), self.factor.n_columns());
        let product = self.samples.times(&self.u, r);
        if observer.cancelled() {
            return None;
        }
        update::pass(&self.u_gram, &product, &mut self.v, r);
        self.multiply();
        update::pass(&self.v_gram, &self.xv, &mut self.u, r);
        self.u_gram = update::gram(&self.u, r);
        let mut columns = vec![0.0; n * r];
        to_columns(&self.v, n, r, &mut columns);
        let factor = Factor::new(columns, n, r);
        let change = factor.relative_change(&self.factor);
        self.factor = factor;
        Some(self.row(iteration, change))
    }

    fn factor(&self) -> &Factor {
        &self.factor
    }

    fn stationary(&self) -> bool {
        self.objective() <= 1e-14 * self.norm2
    }
}
