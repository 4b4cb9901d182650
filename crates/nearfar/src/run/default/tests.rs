//! Every step but the partition agrees with its NumPy form (golden/fast.py); the partition is as good as igraph's.

use std::path::Path;

use nearfar_testkit::golden::Golden;
use proptest::prelude::*;

use super::*;
use crate::generate::{Kind, MakeParams, make};
use crate::graph::SparseGraph;
use crate::input::{Metric, Samples};
use crate::learn::lsdg::objective::{Coefficients, Objective};
use crate::learn::nearfar::members::LearntMember;
use crate::learn::{Learned, Member, StopReason};
use crate::math::factor::Factor;
use crate::neighbors::search::Lists;
use crate::observe::Silent;
use crate::partition::{Leiden, leiden};
use crate::slices::{SparseRows, ranked};
use crate::tree::Nothing;
use crate::views::{Shown, Standard, Views, worth_a_look};

fn golden(name: &str) -> Golden {
    Golden::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden").join(name))
}

/// Both data sets of the golden file, with their number of points and of features.
const SETS: [(&str, usize, usize); 2] = [("iris", 150, 4), ("moons", 200, 2)];

fn near(what: &str, ours: &[f64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (at, (a, b)) in ours.iter().zip(theirs).enumerate() {
        assert!((a - b).abs() <= 1e-10 * b.abs().max(1.0), "{what}, value {at}: {a} instead of {b}");
    }
}

fn whole(values: &[f64]) -> Vec<u32> {
    values.iter().map(|x| *x as u32).collect()
}

/// Numbered by first appearance.
fn renumbered(labels: &[u32]) -> Vec<u32> {
    let mut names: Vec<u32> = Vec::new();
    let number = |label: &u32| {
        names.iter().position(|name| name == label).unwrap_or_else(|| {
            names.push(*label);
            names.len() - 1
        }) as u32
    };
    labels.iter().map(number).collect()
}

fn dense(rows: &SparseRows) -> Vec<f64> {
    let n = rows.starts.len() - 1;
    let mut all = vec![0.0; n * n];
    for i in 0..n {
        for at in rows.starts[i]..rows.starts[i + 1] {
            all[i * n + rows.columns[at] as usize] += rows.values[at];
        }
    }
    all
}

/// Lists with the golden distances.
fn ranked(golden: &Golden, name: &str, n: usize) -> Ranked {
    let d = golden.array(&format!("{name}_d"));
    let k = d.len() / n;
    let lists = Lists {
        k,
        indices: whole(&golden.array(&format!("{name}_i"))),
        values: d.iter().map(|d| d * d).collect(),
    };
    let sigma = Some(d.chunks_exact(k).map(|row| row[6].max(1e-12)).collect());
    let listed = Listed { lists, sigma, unit: 1.0, warnings: Vec::new(), search: SearchReport::EXACT };
    Ranked::new(&listed, k)
}

#[test]
fn views_agree() {
    let golden = golden("fast.npz");
    let x = golden.array("wide_X");
    let samples = Samples::from_rows(&x, 150, 9).unwrap();
    let spreads = samples.spreads();
    assert_eq!(worth_a_look(&samples, &spreads, Views::AUTO), View::ALL);
    let everybody: Vec<u32> = (0..150).collect();
    for view in View::ALL {
        let Shown::Double(rows) = Shown::rows(&samples, &everybody, view, &Standard::new(&spreads)) else {
            panic!("f64 in, f64 out");
        };
        near(view.name(), &rows, &golden.array(&format!("wide_{}", view.name().replace('-', "_"))));
    }
}

#[test]
fn neighbors_agree_and_ties_go_by_index() {
    let golden = golden("fast.npz");
    for (name, n, m) in SETS {
        let array = |what: &str| golden.array(&format!("{name}_{what}"));
        let (x, d, i) = (array("X"), array("d"), whole(&array("i")));
        let k = d.len() / n;
        let input = Input::Samples(Samples::from_rows(&x, n, m).unwrap(), Metric::Euclidean);
        let ours = listed(&input, k, &Silent).unwrap();
        let distances: Vec<f64> = ours.lists.values.iter().map(|v| v.sqrt() * ours.unit).collect();
        near(name, &distances, &d);
        let sigma: Vec<f64> = ours.sigma.unwrap().iter().map(|s| s * ours.unit).collect();
        near(name, &sigma, &d.iter().skip(6).step_by(k).copied().collect::<Vec<_>>());
        for at in 0..n * k {
            // Distances that are equal but for rounding may change places; equal rows may not.
            let apart = |other: usize| other / k != at / k || (d[other] - d[at]).abs() > 1e-9;
            let alone = (at % k == 0 || apart(at - 1)) && at % k != k - 1 && apart(at + 1);
            assert!(!(alone || d[at] == 0.0) || ours.lists.indices[at] == i[at], "{name}, {at}");
        }
    }
}

#[test]
fn slices_graphs_and_weights_agree() {
    let golden = golden("fast.npz");
    for (name, n, _) in SETS {
        let array = |what: &str| golden.array(&format!("{name}_{what}"));
        let ranked = ranked(&golden, name, n);
        near("slices", &ranked.slices, &array("A"));
        near("start", &dense(&ranked.start_graph()), &array("start"));
        let labels = whole(&array("labels"));
        let agreement = ranked.agreement(&labels);
        near("agreement", &agreement, &array("agreement"));
        for trusted in TRUSTED {
            let weights = ranked::weights(&agreement, trusted);
            near("weights", &weights, &array(&format!("weights_{trusted}")));
            near("similarity", &dense(&ranked.graph(&weights)), &array(&format!("similarity_{trusted}")));
        }
    }
}

#[test]
fn modularity_and_merge_tree_agree() {
    let golden = golden("fast.npz");
    for (name, n, _) in SETS {
        let array = |what: &str| golden.array(&format!("{name}_{what}"));
        let network = Network::new(&ranked(&golden, name, n).start_graph());
        near("modularity", &[network.modularity(&whole(&array("labels")), 1.0)], &array("modularity"));
        let (levels, theirs) = (whole(&array("levels")), whole(&array("tree")));
        assert!(levels.len() > 6, "{name}: {levels:?}");
        let tree = MergeTree::new(&network, &whole(&array("fine")), &Nothing);
        assert_eq!(tree.pieces(), golden.scalar(&format!("{name}_pieces")) as usize);
        let curve = tree.modularities(&network);
        let ours: Vec<f64> = levels.iter().map(|level| curve[*level as usize - 1]).collect();
        near("curve", &ours, &array("curve"));
        for (level, labels) in levels.iter().zip(theirs.chunks_exact(n)) {
            assert_eq!(tree.labels_at(*level as usize), renumbered(labels), "{name}, {level} clusters");
        }
    }
}

#[test]
fn marks_agree() {
    let golden = golden("fast.npz");
    let mark = |pair: &[f64]| {
        Curve { quality: vec![0.0, pair[0]], null: vec![0.0, pair[1]], ..Curve::default() }.mark(2)
    };
    let ours: Vec<f64> = golden.array("judge_pairs").chunks_exact(2).map(mark).collect();
    near("mark", &ours, &golden.array("judge_mark"));
}

/// A member of which only labels and weights are known.
fn member(view: usize, labels: Vec<u32>, weights: Vec<f64>) -> LearntMember {
    let member = Member {
        spectral_start: false,
        view: None,
        neighbors: None,
        coefficients: Coefficients { alpha: 0.0, beta: None, mu: 0.0, eta: 0.0 },
        factor: Factor::default(),
        near_weights: Vec::new(),
        far_weights: Vec::new(),
        started: Learned { iterations: 0, reason: StopReason::Completed, trace: Vec::new() },
        learned: None,
        objective: Objective::default(),
        labels: None,
        votes: Vec::new(),
        cut: None,
        kept: true,
        dead_columns: 0,
    };
    LearntMember { view, labels, weights, member }
}

#[test]
fn consensus_agrees() {
    let golden = golden("fast.npz");
    let views = [View::Raw, View::Standard];
    let of_view = |view: &View| Ranked {
        n: 150,
        k: 20,
        indices: whole(&golden.array(&format!("consensus_{view}_i"))),
        slices: golden.array(&format!("consensus_{view}_A")),
        norms: vec![1.0; 20],
    };
    let ranked: Vec<Ranked> = views.iter().map(of_view).collect();
    let weights = golden.array("consensus_weights");
    let ready: Vec<(View, f64, &Ranked)> = (0..2).map(|at| (views[at], weights[at], &ranked[at])).collect();
    let members: Vec<LearntMember> = (0..4)
        .map(|at| {
            let array = |what: &str| golden.array(&format!("consensus_{}_{what}_{}", views[at / 2], at % 2));
            member(at / 2, whole(&array("labels")), array("w"))
        })
        .collect();
    let ours = Consensus::new(&ready, &members);
    near("consensus", &dense(&ours.graph), &golden.array("consensus_graph"));
}

#[test]
fn a_graph_of_parts_is_the_graph_with_their_points_as_one() {
    let golden = golden("fast.npz");
    for (name, n) in [("iris", 150), ("moons", 200)] {
        let ranked = ranked(&golden, name, n);
        let of: Vec<u32> = (0..n as u32).map(|i| i % 7 * (i / 60) % 9).collect();
        let count = of.iter().max().map_or(0, |part| *part as usize + 1);
        let weights = ranked::weights(&ranked.agreement(&of), 10);
        let whole = dense(&ranked.graph(&weights));
        let mut expected = vec![0.0; count * count];
        for (at, value) in whole.iter().enumerate() {
            expected[of[at / n] as usize * count + of[at % n] as usize] += value;
        }
        near(name, &dense(&ranked.graph_of_parts(&weights, &ranked::Parts::new(of, count))), &expected);
    }
}

/// The graphs that igraph was run on (golden/fast.py).
fn compared(name: &str) -> Network {
    if name == "ring" {
        let within =
            (0..40).flat_map(|c| (0..6).flat_map(move |a| (0..a).map(move |b| (6 * c + a, 6 * c + b, 1.0))));
        let between = (0..40).map(|c| (6 * c, 6 * ((c + 1) % 40) + 1, 1.0));
        let both = within.chain(between).flat_map(|(i, j, w)| [(i, j, w), (j, i, w)]);
        return Network::new(SparseGraph::from_edges(240, both).unwrap().rows());
    }
    let kind: Kind = name.parse().unwrap();
    let (n, features, clusters, noise) = match name {
        "chart" => (600, None, None, None),
        "moons" => (1000, None, None, None),
        "blobs" => (1000, None, None, Some(2.0)),
        "varied" => (1500, Some(8), Some(8), Some(4.0)),
        "uniform" => (1500, Some(3), None, None),
        "heavy" => (1000, Some(16), None, None),
        "mixture" => (1500, Some(16), None, None),
        _ => (1500, None, None, None),
    };
    let made = make(kind, &MakeParams { n_samples: Some(n), features, clusters, noise, seed: 0 }).unwrap();
    let samples = Samples::from_rows(&made.data, n, made.n_features).unwrap();
    let listed = listed(&Input::Samples(samples, Metric::Euclidean), 30, &Silent).unwrap();
    Network::new(&Ranked::new(&listed, 30).start_graph())
}

#[test]
fn modularity_is_within_half_a_percent_of_igraphs() {
    let golden = golden("fast_leiden.npz");
    let mut short = Vec::new();
    for name in ["chart", "moons", "blobs", "varied", "mixture", "customers", "uniform", "heavy", "ring"] {
        let network = compared(name);
        let (total, edges) =
            (golden.scalar(&format!("{name}_total")), golden.scalar(&format!("{name}_edges")));
        assert!(
            (network.total() / total - 1.0).abs() < 1e-6,
            "{name}: {} instead of {total}",
            network.total()
        );
        assert_eq!(network.n_edges(), edges as usize, "{name}");
        for (resolution, best) in [0.5, 1.0, 2.0].into_iter().zip(golden.array(&format!("{name}_best"))) {
            let quality = |seed| {
                network.modularity(&leiden(&network, &Leiden::new(resolution, seed), None), resolution)
            };
            // Best of five against best of five. A heavy-tailed cloud has no clusters, and what modularity makes of
            // it is chance.
            let share = (0..5).map(quality).fold(f64::MIN, f64::max) / best;
            println!("{name} at {resolution}: {share:.5} of igraph's {best:.5}");
            let least = if name == "heavy" { 0.98 } else { 0.995 };
            if share < least {
                short.push((name, resolution, share));
            }
        }
    }
    assert!(short.is_empty(), "{short:?}");
}

proptest! {
    #[test]
    fn weights_lie_on_the_simplex(
        agreement in proptest::collection::vec(0.0_f64..100.0, 1..60),
        trusted in 1_usize..30,
        scale in -12.0_f64..12.0,
    ) {
        let agreement: Vec<f64> = agreement.iter().map(|c| c * scale.exp()).collect();
        let weights = ranked::weights(&agreement, trusted);
        prop_assert!(weights.iter().all(|w| *w >= 0.0), "{weights:?}");
        prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{weights:?}");
        // Trust follows agreement, and no more ranks have it than are to be trusted.
        for (a, wa) in agreement.iter().zip(&weights) {
            for (b, wb) in agreement.iter().zip(&weights) {
                prop_assert!(a <= b || wa >= wb);
            }
        }
        let on = weights.iter().filter(|w| **w > 1e-9).count();
        prop_assert!(on <= trusted.max(1), "{on} of {trusted}: {weights:?}");
    }
}
