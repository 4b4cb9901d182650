#![doc = include_str!("about.md")]

#[cfg(test)]
mod tests;
mod update;

use super::family::{Fitted, Labeling, Task};
use super::table::{Entry, ITERATIONS, KMEANS, Needs, STARTS};
use super::{Learned, StopReason, TraceRow};
use crate::error::Result;
use crate::labels::kmeans::KMeansParams;
use crate::learn::member::while_learning;
use crate::observe::{Stage, go_on};
pub(crate) use update::indicator;

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "kmeans",
    line: "k-means++ on the samples.",
    about: include_str!("about.md"),
    needs: Needs::Samples,
    matrices: 0,
    class: "KMeans",
    settings: &[STARTS, ITERATIONS, KMEANS],
};

/// One start: all restarts of k-means.
pub(crate) fn learn(mut task: Task<'_>) -> Result<Fitted> {
    go_on(task.observer, Stage::Learn)?;
    let (rows, r) = (task.rows(), task.n_clusters);
    let params = KMeansParams::new(r).restarts(task.kmeans_restarts).max_iter(task.stop.max_iter);
    let seed = task.own_seed();
    let found =
        params.fit_observed(&rows.values, rows.n, rows.m, seed, task.observer).map_err(while_learning)?;
    let stopped = found.iterations >= task.stop.max_iter;
    let learned = Learned {
        iterations: found.iterations,
        reason: if stopped { StopReason::MaxIterations } else { StopReason::LossSettled },
        trace: vec![TraceRow::of_fit(found.iterations, found.inertia)],
    };
    let factor = indicator(&found.labels, r);
    Ok(Fitted { learned, factor, objective: found.inertia, labeling: Labeling::Given(found.labels) })
}
