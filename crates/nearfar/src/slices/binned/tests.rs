//! Binned mode against exact mode, and its graph against dense arithmetic.

use super::block::half_of_row;
use super::*;
use crate::generate::{blobs, mixture};
use crate::input::{Input, Metric, Samples};
use crate::learn::sweep::{Reseed, SweepParams, gram, sweep};
use crate::math::rng::Stream;
use crate::neighbors::exact::Points;
use crate::neighbors::nearest::scales_of;
use crate::neighbors::rank;
use crate::neighbors::search::{SearchBy, search};
use crate::observe::Silent;
use crate::processes::threads::as_team;
use crate::slices::{FullSlices, Graph};
use crate::spectral::eigen::Operator;

fn binned<E: Entry>(samples: Samples<'_>, shape: BinnedShape) -> BinnedSlices<E> {
    let points = Points::rows_only(&samples, Metric::Euclidean).unwrap();
    let (lists, _) = search(&points, shape.near - 1, (SearchBy::Auto, None), &Silent).unwrap();
    let (sigma, _) = scales_of(&points, &lists);
    BinnedSlices::new(&points, &lists, &sigma, shape, 3, &Silent).unwrap()
}

fn full(samples: Samples<'_>) -> FullSlices<f64> {
    FullSlices::new(rank(&Input::from(samples), 0, &Silent).unwrap(), &Silent).unwrap()
}

fn random_factor(n: usize, r: usize) -> Factor {
    let mut random = Stream::new(8, 1);
    let draw = |_| if random.uniform() < 0.4 { 0.0 } else { random.uniform() };
    Factor::new((0..n * r).map(draw).collect(), n, r)
}

fn close(what: &str, ours: f64, theirs: f64, tolerance: f64) {
    assert!((ours - theirs).abs() <= tolerance * (1.0 + theirs.abs()), "{what}: {ours} is not {theirs}");
}

/// Same weights, same slices: T, c, Z of both modes.
fn compare<E: Entry>(samples: Samples<'_>, shape: BinnedShape, tolerance: f64) {
    let n = samples.n_samples();
    let (ours, theirs) = (binned::<E>(samples, shape), full(samples));
    assert_eq!(ours.multiplicity().len(), n);
    assert!(ours.multiplicity().iter().all(|m| *m == 1.0));
    let factor = random_factor(n, 3);
    let weights: Vec<f64> = (0..n).map(|k| if k % 3 == 0 { 1.0 / (k + 1) as f64 } else { 0.0 }).collect();
    let far: Vec<f64> = (0..n).map(|k| if k > n / 2 { 0.01 * k as f64 } else { 0.0 }).collect();
    let (a, b) = (ours.agreement(&factor), theirs.agreement(&factor));
    a.iter().zip(&b).for_each(|(a, b)| close("agreement", *a, *b, tolerance));
    let (mut t, mut u) = (ours.new_graph(), theirs.new_graph());
    ours.combine(&weights, &mut t);
    theirs.combine(&weights, &mut u);
    let (mut z, mut y) = (ours.new_graph(), theirs.new_graph());
    for share in [0.25, 0.75] {
        ours.augment(&weights, &far, &factor, share, &mut z);
        theirs.augment(&weights, &far, &factor, share, &mut y);
    }
    for i in 0..n {
        for j in 0..n {
            close("entry of T", t.get(i, j), u.get(i, j), tolerance);
            close("entry of Z", z.get(i, j), y.get(i, j), tolerance);
        }
    }
    // What vanishes in single precision has no edge.
    let same = ours.edges(&weights).columns == theirs.edges(&weights).columns;
    assert!(same || E::BYTES == 4, "edges differ");
}

#[test]
fn with_all_ranks_near_it_is_the_exact_mode() {
    let data = blobs(90, 3, 4, 1.3, 5).unwrap();
    let samples = Samples::from_rows(&data.data, 90, 3).unwrap();
    compare::<f64>(samples, BinnedShape { near: 90, far: 1, bins: 1 }, 1e-12);
    compare::<f32>(samples, BinnedShape { near: 90, far: 1, bins: 1 }, 1e-5);
}

#[test]
fn with_all_pairs_and_a_bin_for_every_rank_it_is_the_exact_mode() {
    for n in [61, 80] {
        let data = mixture(n, 30, 3, 2.0, 1).unwrap();
        let samples = Samples::from_rows(&data.data, n, 30).unwrap();
        compare::<f64>(samples, BinnedShape { near: 20, far: n / 2, bins: n - 20 }, 1e-12);
    }
}

#[test]
fn more_partners_come_closer_to_the_exact_agreement() {
    let n = 600;
    let data = mixture(n, 8, 4, 2.0, 1).unwrap();
    let samples = Samples::from_rows(&data.data, n, 8).unwrap();
    // Clusters as V, as the method would have it.
    let mut values = vec![0.0; n * 4];
    data.truth.iter().enumerate().for_each(|(i, c)| values[c * n + i] = 1.0);
    let factor = Factor::new(values, n, 4);
    let truth = full(samples).agreement(&factor);
    let error = |far: usize| {
        let ours = binned::<f64>(samples, BinnedShape { near: 30, far, bins: 16 });
        let found = ours.agreement(&factor);
        let m = (n - 30) as f64 / 16.0;
        let exact = |b: usize| {
            let span = (30.0 + b as f64 * m) as usize..(30.0 + (b + 1) as f64 * m) as usize;
            truth[span.clone()].iter().sum::<f64>() / span.len() as f64
        };
        (0..16).map(|b| (found[30 + b] - exact(b)).abs()).sum::<f64>() / 16.0
    };
    let errors = [10, 40, 300].map(error);
    let scale = truth[30..].iter().sum::<f64>() / (n - 30) as f64;
    assert!(errors[0] > errors[1] && errors[1] > errors[2], "{errors:?}");
    // What is left with all pairs known is that the ranks of a bin share one norm.
    assert!(errors[1] < 0.25 * scale && errors[2] < 0.1 * scale, "{errors:?} of {scale}");
}

#[test]
fn bins_have_their_norm_and_ranks_their_bin() {
    let n = 700;
    let data = mixture(n, 6, 4, 2.0, 7).unwrap();
    let samples = Samples::from_rows(&data.data, n, 6).unwrap();
    let shape = BinnedShape { near: 24, far: 20, bins: 8 };
    let ours = binned::<f64>(samples, shape);
    assert_eq!(ours.shape(), shape);
    // ‖Ā‖² = m, estimated: Σ over samples of (κ/θ)² · pairs that a sample stands for.
    let mut squares = vec![0.0; 33];
    for block in &ours.blocks {
        for at in 0..block.columns.len() {
            let bin = block.own_bin[at] as usize;
            if bin < 32 {
                let entry = block.own[at] * ours.known[bin] * ours.multiplicity[bin];
                squares[bin] += entry * entry / ours.known[bin];
            }
        }
    }
    (0..32).for_each(|b| close("norm", squares[b], ours.multiplicity[b], 1e-9));
    let ones: Vec<f64> = (0..n).map(|_| 1.0 / n as f64).collect();
    let weights = ours.per_weight(&ones);
    close("total", weights.iter().sum(), 1.0, 1e-12);
    ours.per_rank(&weights).iter().for_each(|w| close("weight", *w, 1.0 / n as f64, 0.02));
    for (i, j) in [(0, 5), (3, 600), (511, 512), (699, 2)] {
        assert!(ours.rank(i, j) < n && ours.rank(i, i) == 0);
    }
}

#[test]
fn the_graph_multiplies_like_its_matrix() {
    let n = 560;
    let data = mixture(n, 5, 3, 2.0, 7).unwrap();
    let samples = Samples::from_rows(&data.data, n, 5).unwrap();
    let ours = binned::<f64>(samples, BinnedShape { near: 12, far: 9, bins: 5 });
    let m = ours.multiplicity().len();
    let near: Vec<f64> = (0..m).map(|k| if k < 6 { 0.2 } else { 0.0 }).collect();
    let far: Vec<f64> = (0..m).map(|k| if k > 13 { 0.3 } else { 0.0 }).collect();
    let factor = random_factor(n, 3);
    let mut z = ours.new_graph();
    ours.augment(&near, &far, &factor, 1.0, &mut z);
    let mut dense = vec![0.0; n * n];
    z.matrix(&mut dense);
    let d: Vec<f64> = (0..n).map(|i| if i % 5 == 0 { 0.0 } else { (i as f64).sin() }).collect();
    let (mut quadratic, mut norm2) = (0.0, 0.0);
    for i in 0..n {
        close("degree", z.degrees()[i], dense[i * n..(i + 1) * n].iter().sum(), 1e-11);
        for j in 0..n {
            close("entry", z.get(i, j), dense[i * n + j], 1e-12);
            close("mirror", dense[j * n + i], dense[i * n + j], 1e-12);
            quadratic += d[i] * d[j] * dense[i * n + j];
            norm2 += dense[i * n + j].powi(2);
        }
        if i > 20 {
            break;
        }
    }
    let quadratic_of = |rows: std::ops::Range<usize>| {
        rows.map(|i| (0..n).map(|j| d[i] * d[j] * dense[i * n + j]).sum::<f64>()).sum::<f64>()
    };
    let rest = quadratic_of(22..n);
    close("quadratic", z.quadratic(&d), quadratic + rest, 1e-10);
    norm2 += dense[22 * n..].iter().map(|x| x * x).sum::<f64>();
    close("norm", z.norm2(), norm2, 1e-10);
    let mut product = vec![0.0; n * 3];
    z.times(&factor, &mut product);
    let naive: f64 = (0..n).map(|j| dense[7 * n + j] * factor.get(j, 2)).sum();
    close("product", product[2 * n + 7], naive, 1e-11);
    let mut t = ours.new_graph();
    ours.combine(&near, &mut t);
    t.times(&factor, &mut product);
    let naive: f64 = (0..n).map(|j| t.get(9, j) * factor.get(j, 1)).sum();
    close("product of T", product[n + 9], naive, 1e-11);
}

#[test]
fn each_pair_counts_for_one_of_its_rows_and_all_rows_have_as_many() {
    for n in 1..12 {
        let columns: Vec<u32> = (0..n as u32).collect();
        let mut counted = vec![0; n * n];
        for i in 0..n {
            let half = half_of_row(&columns, i, n);
            assert_eq!(half[0].start, i, "the diagonal is first");
            let found: Vec<usize> = half.into_iter().flatten().collect();
            assert!(found.len() == n / 2 + 1 || found.len() == n.div_ceil(2), "{n} {i}: {found:?}");
            found.into_iter().for_each(|j| counted[i.min(j) * n + i.max(j)] += 1);
        }
        for i in 0..n {
            assert!((i..n).all(|j| counted[i * n + j] == 1), "{n} {counted:?}");
        }
    }
    // Where only some columns are there, the same ones count.
    let (n, some) = (100, [3_u32, 10, 40, 77, 99]);
    for i in 0..n {
        let all: Vec<u32> = (0..n as u32).collect();
        let of = |columns: &[u32]| -> Vec<u32> {
            half_of_row(columns, i, n).into_iter().flat_map(|range| columns[range].to_vec()).collect()
        };
        let wanted: Vec<u32> = of(&all).into_iter().filter(|j| some.contains(j)).collect();
        assert_eq!(of(&some), wanted);
    }
}

/// Points of a ring, each linked to itself and to two others.
fn ring(share: Share) -> BinnedGraph<f64> {
    let (n, first) = (share.n_rows(), share.rows().start);
    let rows = share.rows().len();
    let mut graph = BinnedGraph::empty(share);
    graph.fill(|at, block| {
        for i in (at * ROWS..((at + 1) * ROWS).min(rows)).map(|a| first + a) {
            let mut linked = [(i, 1.0), ((i + 1) % n, 0.4), ((i + n - 1) % n, 0.4)];
            linked.sort_by_key(|(j, _)| *j);
            linked.iter().for_each(|(j, value)| block.push(*j as u32, *value));
            block.end_row();
        }
    });
    graph
}

#[test]
fn a_sweep_has_the_same_bits_however_rows_are_split() {
    let (n, r) = (2000, 4);
    let independent = random_factor(n, r);
    // With twins the steps take the other way, by a basis of the columns.
    let mut twins = independent.values()[..2 * n].to_vec();
    twins.extend_from_slice(&independent.values()[..2 * n]);
    for start in [independent, Factor::new(twins, n, r)] {
        let swept = |share: Share| {
            let (graph, mut factor) = (ring(share), start.clone());
            let params = SweepParams { alpha: 0.3, guard: 0.0, reseed: Reseed::WorstFitted };
            let (tv, inner) = (graph.times_own(&factor), gram(&graph, &factor));
            let swept = sweep(&graph, &mut factor, &tv, inner, &params, &Silent).unwrap();
            (factor, swept.change, swept.orthogonality)
        };
        let alone = swept(Share::alone(n));
        // What the sweep says of its way is what the factors say.
        let change = alone.0.relative_change(&start);
        assert!(change > 1e-3 && (alone.1 - change).abs() < 1e-12, "{} and {change}", alone.1);
        for size in [2, 3] {
            for split in as_team(size, |team| swept(Share::new(team.clone(), n))) {
                assert_eq!(split, alone, "{size} processes");
            }
        }
    }
}
