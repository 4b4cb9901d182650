//! Settings that methods share, in groups.

use super::{Held, Kind, Place, Setting, of_run, words};
use crate::graph::GraphKind;
use crate::plan::Precision;

/// The graph of the methods that factor or cut a fixed one.
pub const GRAPH: &[Setting] = &[
    Setting::at(
        "graph_kind",
        Kind::Word(GraphKind::WORDS),
        "Which graph of nearest neighbours: ncut (normalised, no self-loops) or lsdg (the starting graph of lsdg)",
        of_run!(graph.kind),
    )
    .named("graph-kind", "graph"),
    Setting::at(
        "graph_neighbors",
        Kind::POSITIVE,
        "Nearest others that count in the graph",
        of_run!(graph.neighbors),
    )
    .named("graph-neighbors", "n_neighbors")
    .said("by the number of points"),
];

/// Starts, of which the one with the smallest objective gives the labels.
pub const STARTS: &[Setting] =
    &[Setting::at("starts", Kind::Whole(1, 1000), "Independent starts", of_run!(starts))
        .named("starts", "n_init")];

/// The length of the loop.
pub const ITERATIONS: &[Setting] = &[Setting::at(
    "max_iter",
    Kind::POSITIVE,
    "Maximum number of iterations of a start",
    of_run!(stop.max_iter),
)
.named("max-iter", "max_iter")];

/// When the loop has settled.
pub const TOLERANCE: &[Setting] = &[Setting::at(
    "tol",
    Kind::Below(1.0),
    "Stop when the loss, or the variables, change by no more than this share (below 0: never)",
    Place {
        get: |params| Some(params.stop.loss_tolerance.into()),
        set: |params, value| {
            params.stop.loss_tolerance.put(value);
            // Negative: the method stops by its loss alone.
            if params.stop.change_tolerance >= 0.0 {
                params.stop.change_tolerance.put(value);
            }
            Ok(())
        },
    },
)];

/// k-means on the samples, on V or on an embedding.
pub const KMEANS: &[Setting] = &[Setting::at(
    "kmeans_restarts",
    Kind::POSITIVE,
    "Runs of k-means, the best of which counts",
    of_run!(kmeans_restarts),
)
.named("kmeans-restarts", "kmeans_restarts")];

/// Numbers that n × n matrices are held in.
pub(crate) const PRECISION: &[Setting] = &[Setting::at(
    "precision",
    Kind::Word(Precision::WORDS),
    "Storage of the pairs, or of n x n matrices; auto is double where it fits, and single for cgsymnmf",
    of_run!(precision),
)];

words!(Precision { "auto" => Self::Auto, "double" => Self::Double, "single" => Self::Single });
words!(GraphKind { "ncut" => Self::Ncut, "lsdg" => Self::Lsdg });
