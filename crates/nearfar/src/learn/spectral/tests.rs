//! Cuts of graphs that fall apart.

use super::update::cluster;
use crate::graph::SparseGraph;
use crate::observe::Silent;

#[test]
fn parts_are_found_and_cut_nothing() {
    let part = |i: usize| usize::from(i >= 4) + usize::from(i >= 9);
    let edges = (0..144).map(|at| (at / 12, at % 12)).filter(|(i, j)| i != j && part(*i) == part(*j));
    let graph = SparseGraph::from_edges(12, edges.map(|(i, j)| (i, j, 1.0))).unwrap();
    let (labels, cut) = cluster(&graph, 3, 5, 1, &Silent).unwrap();
    assert_eq!(labels, (0..12).map(part).collect::<Vec<_>>());
    assert!(cut.abs() < 1e-12, "{cut}");
}

#[test]
fn a_graph_without_edges_has_labels_and_no_cut() {
    let graph = SparseGraph::from_edges(5, []).unwrap();
    let (labels, cut) = cluster(&graph, 2, 3, 1, &Silent).unwrap();
    assert_eq!((labels.len(), cut), (5, 0.0));
}
