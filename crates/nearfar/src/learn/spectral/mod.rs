#![doc = include_str!("about.md")]

#[cfg(test)]
mod tests;
mod update;

use super::family::{Fitted, Labeling, Task};
use super::kmeans::indicator;
use super::table::{Entry, GRAPH, KMEANS, Needs, STARTS};
use super::{Learned, StopReason, TraceRow};
use crate::error::Result;

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "spectral",
    line: "Spectral clustering of the same self-tuned graph (Ng, Jordan, Weiss).",
    about: include_str!("about.md"),
    needs: Needs::Graph,
    matrices: 0,
    class: "SpectralClustering",
    settings: &[GRAPH, STARTS, KMEANS],
};

/// One start: one embedding and all restarts of k-means on it.
pub(crate) fn learn(mut task: Task<'_>) -> Result<Fitted> {
    let (graph, r) = (task.graph(), task.n_clusters);
    let seed = task.own_seed();
    let (labels, cut) = update::cluster(graph, r, task.kmeans_restarts, seed, task.observer)?;
    let learned =
        Learned { iterations: 1, reason: StopReason::LossSettled, trace: vec![TraceRow::of_fit(1, cut)] };
    let factor = indicator(&labels, r);
    Ok(Fitted { learned, factor, objective: cut, labeling: Labeling::Given(labels) })
}
