use proptest::prelude::*;

use super::leiden::{Null, Rule, Scratch, refine};
use super::network::renumber;
use super::*;
use crate::graph::SparseGraph;
use crate::math::rng::Stream;
use crate::tree::Nothing;

fn network(n: usize, edges: &[(usize, usize, f64)]) -> Network {
    let both = edges.iter().flat_map(|&(i, j, w)| [(i, j, w), (j, i, w)]);
    Network::new(SparseGraph::from_edges(n, both).unwrap().rows())
}

/// Cliques of `size`, each tied to the next by one edge.
fn cliques(count: usize, size: usize) -> Network {
    let mut edges = Vec::new();
    for c in 0..count {
        for a in 0..size {
            for b in a + 1..size {
                edges.push((c * size + a, c * size + b, 1.0));
            }
        }
        edges.push((c * size, ((c + 1) % count) * size + 1, 1.0));
    }
    network(count * size, &edges)
}

/// A random graph with a weak planted partition.
fn random(n: usize, density: f64, seed: u64) -> Network {
    let mut stream = Stream::new(seed, 0);
    let mut edges = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            let likely = if i % 4 == j % 4 { 3.0 * density } else { density };
            if stream.uniform() < likely {
                edges.push((i, j, 0.1 + stream.uniform()));
            }
        }
    }
    network(n, &edges)
}

fn count(labels: &[u32]) -> usize {
    labels.iter().max().map_or(0, |label| *label as usize + 1)
}

#[test]
fn cliques_in_a_ring_are_the_clusters() {
    let graph = cliques(8, 6);
    let labels = leiden(&graph, &Leiden::new(1.0, 3), None);
    assert_eq!(labels, (0..48).map(|i| i / 6).collect::<Vec<u32>>());
    // 16 inner ends of 17 in every clique, of one part in 8: by hand.
    let expected = 8.0 * (30.0 / 32.0 / 8.0 - (1.0_f64 / 8.0).powi(2));
    assert!((graph.modularity(&labels, 1.0) - expected).abs() < 1e-12);
}

#[test]
fn of_many_nodes_parts_are_partitioned_and_nodes_move_after() {
    // A ring of cliques of 8, tied to those around them: no piece of it stands out, so that resolution alone sets
    // the number of clusters.
    let (cliques, size) = (2000, 8);
    let mut edges = Vec::new();
    for c in 0..cliques {
        for a in 0..size {
            edges.extend((a + 1..size).map(|b| (c * size + a, c * size + b, 1.0)));
            edges.extend((1..4).map(|next| (c * size + a, (c + next) % cliques * size + a, 0.3)));
        }
    }
    let graph = network(cliques * size, &edges);
    assert!(graph.n_nodes() > MANY, "too few nodes for this test");
    let (small, parts) = by_parts(&graph, 30, 1).expect("parts of many nodes");
    assert!(small.n_nodes() < graph.n_nodes() / 2 && connected(&graph, &parts));
    assert!((small.total() / graph.total() - 1.0).abs() < 1e-12);
    let labels = fine(&graph, 30, 1);
    assert!(count(&labels) >= 30);
    let direct = leiden(&graph, &Leiden::new(1.0, 1), None);
    let (ours, theirs) = (graph.modularity(&labels, 1.0), graph.modularity(&direct, 1.0));
    assert!(ours > 0.98 * theirs, "{ours} by parts, {theirs} by nodes");
    assert_eq!(count(&into_exactly(&graph, 7, 1, &Nothing)), 7);
}

#[test]
fn sizes_as_null_are_the_constant_potts_model() {
    let graph = cliques(8, 6);
    let potts =
        |resolution| leiden(&graph, &Leiden { null: Null::Sizes, ..Leiden::new(resolution, 3) }, None);
    assert_eq!(count(&potts(0.5)), 8);
    assert_eq!(count(&potts(1.5)), 48);
    assert_eq!(count(&potts(0.001)), 1);
}

#[test]
fn a_good_start_is_kept() {
    let graph = cliques(8, 6);
    let truth: Vec<u32> = (0..48).map(|i| i / 6).collect();
    assert_eq!(leiden(&graph, &Leiden::new(1.0, 9), Some(&truth)), truth);
}

#[test]
fn exactly_k_whatever_k_is() {
    let graph = random(60, 0.1, 4);
    for k in [1, 2, 3, 7, 30, 59, 60] {
        assert_eq!(count(&into_exactly(&graph, k, 1, &Nothing)), k, "{k}");
    }
    assert_eq!(count(&into_exactly(&graph, 61, 1, &Nothing)), 60);
}

/// Weaker edges and spans that are known.
struct FixedEvidence(Vec<(u32, u32, f64)>, Vec<(u32, u32)>);

impl Evidence for FixedEvidence {
    fn weak_edges(&self, visit: &mut dyn FnMut(u32, u32, f64)) {
        self.0.iter().for_each(|(i, j, weight)| visit(*i, *j, *weight));
    }

    fn spans(&self) -> &[(u32, u32)] {
        &self.1
    }
}

#[test]
fn pieces_are_joined_by_weaker_edges_and_then_by_what_is_nearest() {
    let graph = network(8, &[(0, 1, 1.0), (2, 3, 1.0), (4, 5, 1.0), (6, 7, 1.0)]);
    let known = FixedEvidence(vec![(5, 0, 0.1), (2, 3, 9.0)], vec![(3, 6), (1, 7)]);
    let tree = MergeTree::new(&graph, &[0, 0, 1, 1, 2, 2, 3, 3], &known);
    assert_eq!(tree.pieces(), 4);
    assert_eq!(tree.labels_at(3), [0, 0, 1, 1, 0, 0, 2, 2]);
    assert_eq!(tree.labels_at(2), [0, 0, 1, 1, 0, 0, 1, 1]);
    assert_eq!(tree.labels_at(1), [0; 8]);
    let blind = MergeTree::new(&graph, &[0, 0, 1, 1, 2, 2, 3, 3], &Nothing);
    assert_eq!(blind.labels_at(3), [0, 0, 0, 0, 1, 1, 2, 2]);
}

#[test]
fn pieces_are_counted() {
    let graph = network(6, &[(0, 4, 1.0), (2, 3, 1.0)]);
    assert_eq!(graph.pieces(), (vec![0, 1, 2, 2, 0, 3], 4));
}

#[test]
fn graphs_without_edges_have_an_answer() {
    let graph = network(5, &[]);
    assert_eq!(leiden(&graph, &Leiden::new(1.0, 0), None), [0, 1, 2, 3, 4]);
    assert_eq!(count(&into_exactly(&graph, 2, 0, &Nothing)), 2);
    assert_eq!(graph.modularity(&[0, 0, 0, 0, 0], 1.0), 0.0);
    assert!(leiden(&network(0, &[]), &Leiden::new(1.0, 0), None).is_empty());
}

fn connected(graph: &Network, labels: &[u32]) -> bool {
    let mut reached: Vec<u32> = (0..labels.len() as u32).collect();
    for _ in 0..labels.len() {
        for i in 0..labels.len() {
            for (j, _) in graph.edges(i) {
                if labels[i] == labels[j as usize] {
                    let least = reached[i].min(reached[j as usize]);
                    (reached[i], reached[j as usize]) = (least, least);
                }
            }
        }
    }
    let mut heads = reached;
    renumber(&mut heads) == count(labels)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn modularity_along_the_tree_is_that_of_its_labels(seed in 0_u64..1000, n in 5_usize..50) {
        let graph = random(n, 0.15, seed);
        let tree = tree_for(&graph, 3, seed, &Nothing);
        for (k, tracked) in (1..).zip(tree.modularities(&graph)) {
            let anew = graph.modularity(&tree.labels_at(k), 1.0);
            prop_assert!((tracked - anew).abs() < 1e-12, "{} {} {}", k, tracked, anew);
        }
    }

    #[test]
    fn joins_pay_at_falling_resolutions(seed in 0_u64..1000, n in 5_usize..50) {
        let graph = random(n, 0.15, seed);
        let tree = MergeTree::new(&graph, &(0..n as u32).collect::<Vec<_>>(), &Nothing);
        prop_assert!(tree.merges().windows(2).all(|pair| pair[1].resolution <= pair[0].resolution * (1.0 + 1e-12)));
        prop_assert_eq!(tree.merges().len(), n - 1);
    }

    #[test]
    fn labels_of_a_tree_are_nested(seed in 0_u64..1000, n in 5_usize..50) {
        let graph = random(n, 0.15, seed);
        let tree = tree_for(&graph, 4, seed, &Nothing);
        for k in 1..tree.most() {
            let (coarse, fine) = (tree.labels_at(k), tree.labels_at(k + 1));
            prop_assert_eq!((count(&coarse), count(&fine)), (k, k + 1));
            let mut parent = vec![u32::MAX; k + 1];
            for (c, f) in coarse.iter().zip(&fine) {
                let parent = &mut parent[*f as usize];
                prop_assert!(*parent == u32::MAX || *parent == *c);
                *parent = *c;
            }
        }
    }

    #[test]
    fn refinement_divides_clusters_and_keeps_parts_together(seed in 0_u64..1000, n in 5_usize..50) {
        let graph = random(n, 0.15, seed);
        let clusters = leiden(&graph, &Leiden { passes: 1, ..Leiden::new(1.0, seed) }, None);
        let rule = Rule { price: 1.0 / graph.total(), null: Null::Degrees, freedom: 0.05 };
        let mut random = Stream::new(seed, 1);
        let mut refined = refine(&graph, &rule, &clusters, count(&clusters), &mut random, &mut Scratch::default());
        renumber(&mut refined);
        prop_assert!(connected(&graph, &refined));
        for i in 0..n {
            for j in 0..n {
                prop_assert!(refined[i] != refined[j] || clusters[i] == clusters[j]);
            }
        }
    }

    #[test]
    fn passes_never_lose_quality(seed in 0_u64..1000, n in 5_usize..50) {
        let graph = random(n, 0.15, seed);
        let start: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
        let found = leiden(&graph, &Leiden::new(1.0, seed), Some(&start));
        prop_assert!(graph.modularity(&found, 1.0) >= graph.modularity(&start, 1.0) - 1e-12);
    }
}
