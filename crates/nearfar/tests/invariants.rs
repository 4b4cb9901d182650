//! Properties that hold for any data and seed, against slow oracles.
//!
//! One file, although long: all properties draw their data and factors by the same strategies.

use nearfar::internals::{
    AoSymNmf, Coefficients, Entry, FullSlices, Graph, Lsdg, Phals, Slices, Stream, rank,
};
use nearfar::labels::score::adjusted_rand;
use nearfar::learn::{Density, Factor, LsdgParams, Method, Reseed, StopRule, TraceRow, run};
use nearfar::observe::Silent;
use nearfar::{Input, Model, Params, Precision, PreparedSlices, Preset, Samples, fit};
use nearfar_testkit::hard::{blobs_on_a_line, random_order, reordered};
use nearfar_testkit::oracle::{self, NaiveSlices, inner, largest_difference};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

/// This many cases, or as many as PROPTEST_CASES asks for; a failure's seed is kept beside this file.
fn config(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    let failure_persistence = Some(Box::new(FileFailurePersistence::WithSource("regressions")) as _);
    ProptestConfig { cases: asked.unwrap_or(cases), failure_persistence, ..ProptestConfig::default() }
}

/// Small random samples: clouds, lattices full of ties, clouds with copies.
fn samples() -> impl Strategy<Value = (Vec<f64>, usize, usize)> {
    (2..45_usize, 1..4_usize, 0..3_u32, any::<u64>()).prop_map(|(n, m, kind, seed)| {
        let mut s = Stream::new(seed, 1);
        let mut data: Vec<f64> = match kind {
            0 => (0..n * m).map(|_| s.normal()).collect(),
            1 => (0..n * m).map(|_| s.below(4) as f64).collect(),
            _ => (0..n * m).map(|_| s.uniform() * 3.0).collect(),
        };
        if kind == 2 {
            for _ in 0..n / 3 {
                let (from, to) = (s.below(n), s.below(n));
                data.copy_within(from * m..(from + 1) * m, to * m);
            }
        }
        (data, n, m)
    })
}

fn slices<E: Entry>(data: &[f64], n: usize, m: usize) -> FullSlices<E> {
    let samples = Samples::from_rows(data, n, m).unwrap();
    FullSlices::new(rank::<E>(&Input::from(samples), 0, &Silent).unwrap(), &Silent).unwrap()
}

/// A random point of the simplex; about half of it is 0.
fn weights(n: usize, s: &mut Stream) -> Vec<f64> {
    let mut w: Vec<f64> = (0..n).map(|_| if s.uniform() < 0.5 { s.uniform() } else { 0.0 }).collect();
    w[s.below(n)] += 0.5;
    let sum: f64 = w.iter().sum();
    w.iter().map(|w| w / sum).collect()
}

/// A random factor in which this share of the entries is not 0.
fn factor(n: usize, r: usize, density: f64, s: &mut Stream) -> Factor {
    let entry = |s: &mut Stream| if s.uniform() < density { s.uniform() } else { 0.0 };
    Factor::new((0..n * r).map(|_| entry(s)).collect(), n, r)
}

fn dense(graph: &impl Graph, n: usize) -> Vec<f64> {
    (0..n * n).map(|at| graph.get(at / n, at % n)).collect()
}

/// The oracle's slices, where none of them is lost to underflow.
fn naive(data: &[f64], n: usize) -> Option<NaiveSlices> {
    Some(NaiveSlices::new(data, n)).filter(|s| s.theta.iter().all(|theta| *theta > 1e-100))
}

fn assert_simplex(x: &[f64]) {
    assert!(x.iter().all(|x| *x >= 0.0), "{x:?}");
    assert!((x.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{x:?}");
}

fn assert_factor(factor: &Factor) {
    assert!(factor.values().iter().all(|v| *v >= 0.0 && v.is_finite()), "{factor:?}");
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn ranks_are_permutations_and_equal_the_naive_ones((data, n, m) in samples()) {
        let found = slices::<f64>(&data, n, m);
        let d2 = oracle::squared_distances(&data, n);
        let naive = oracle::ranks(&d2, n);
        for i in 0..n {
            let mut seen = vec![false; n];
            for j in 0..n {
                seen[found.rank(i, j)] = true;
                prop_assert_eq!(found.rank(i, j), naive[i * n + j], "row {}, column {}", i, j);
            }
            prop_assert!(seen.iter().all(|s| *s) && found.rank(i, i) == 0);
        }
    }

    #[test]
    fn ranks_by_products_put_no_point_before_a_nearer_one(
        n in 2..170_usize, m in 25..50_usize, kind in 0..4_u32, seed in any::<u64>(),
    ) {
        // Far from the origin, with near-copies: what a product of matrices gets wrong.
        let mut s = Stream::new(seed, 8);
        let offset = if kind == 2 { 1e5 } else { 0.0 };
        let draw = |s: &mut Stream| if kind == 0 { s.below(3) as f64 } else { offset + s.normal() };
        let mut data: Vec<f64> = (0..n * m).map(|_| draw(&mut s)).collect();
        if kind == 3 {
            for i in 1..n / 2 {
                data.copy_within(0..m, i * m);
                data[i * m + s.below(m)] += 1e-7 * s.uniform();
            }
        }
        let found = slices::<f64>(&data, n, m);
        let d2 = oracle::squared_distances(&data, n);
        for i in 0..n {
            let mut order = vec![n; n];
            for j in 0..n {
                order[found.rank(i, j)] = j;
            }
            prop_assert!(order[0] == i && order.iter().all(|j| *j < n));
            for pair in order[1..].windows(2) {
                let [near, far] = [pair[0], pair[1]].map(|j| d2[i * n + j]);
                if kind == 0 {
                    prop_assert!((near, pair[0]) < (far, pair[1]), "exact numbers: ties by index");
                }
                prop_assert!(near <= far * (1.0 + 1e-13), "row {}: {} before {}", i, near, far);
            }
        }
    }

    #[test]
    fn graphs_from_ranks_equal_dense_ones((data, n, m) in samples(), beta in 0.0..20.0_f64, seed in any::<u64>()) {
        let Some(naive) = naive(&data, n) else { return Ok(()) };
        let found = slices::<f64>(&data, n, m);
        let mut s = Stream::new(seed, 2);
        let (w, p) = (weights(n, &mut s), weights(n, &mut s));
        let combined: Vec<f64> = w.iter().zip(&p).map(|(w, p)| w - beta * p).collect();
        let mut graph = found.new_graph();
        found.combine(&combined, &mut graph);
        let t = naive.graph(&w, &p, beta);
        prop_assert!(largest_difference(&dense(&graph, n), &t) <= 1e-12 * (1.0 + beta));
        prop_assert!((graph.norm2() - inner(&t, &t)).abs() <= 1e-11 * (1.0 + inner(&t, &t)));
        // S on demand is the same matrix without its zeros.
        let sparse = found.edges(&w);
        let mut full = vec![0.0; n * n];
        for i in 0..n {
            for at in sparse.starts[i]..sparse.starts[i + 1] {
                full[i * n + sparse.columns[at] as usize] = sparse.values[at];
            }
        }
        prop_assert!(largest_difference(&full, &oracle::symmetric(&naive.weighted(&w), n)) <= 1e-13);
    }

    #[test]
    fn slices_are_orthonormal((data, n, m) in samples()) {
        let found = slices::<f64>(&data, n, m);
        let mut norms = vec![0.0; n];
        for i in 0..n {
            for j in 0..n {
                norms[found.rank(i, j)] += found.normalized(i, j).powi(2);
            }
        }
        prop_assert!(largest_difference(&norms, &vec![1.0; n]) <= 1e-12);
    }

    #[test]
    fn agreement_equals_the_naive_one((data, n, m) in samples(), r in 1..6_usize, seed in any::<u64>()) {
        let Some(naive) = naive(&data, n) else { return Ok(()) };
        let found = slices::<f64>(&data, n, m);
        let mut s = Stream::new(seed, 3);
        for density in [0.0, 0.1, 0.5, 1.0] {
            let v = factor(n, r, density, &mut s);
            let c = found.agreement(&v);
            prop_assert!(largest_difference(&c, &naive.agreement(&v)) <= 1e-11 * (n * r) as f64);
        }
    }

    #[test]
    fn augmented_equals_the_naive_one((data, n, m) in samples(), r in 1..6_usize, seed in any::<u64>()) {
        let Some(naive) = naive(&data, n) else { return Ok(()) };
        let mut s = Stream::new(seed, 4);
        let (w, p) = (weights(n, &mut s), weights(n, &mut s));
        for density in [0.0, 0.3, 1.0] {
            let v = factor(n, r, density, &mut s);
            let expected = naive.augmented(&w, &p, &v);
            let wide = slices::<f64>(&data, n, m);
            let mut z = wide.new_graph();
            wide.augment(&w, &p, &v, 1.0, &mut z);
            // Where VVᵀ and D are equal rounding chooses the branch; both give the same value there.
            prop_assert!(largest_difference(&dense(&z, n), &expected) <= 1e-11);
            prop_assert!(dense(&z, n).iter().all(|z| (0.0..=1.0 + 1e-12).contains(z)));
            let narrow = slices::<f32>(&data, n, m);
            let mut z = narrow.new_graph();
            narrow.augment(&w, &p, &v, 1.0, &mut z);
            prop_assert!(largest_difference(&dense(&z, n), &expected) <= 1e-4);
        }
    }

    #[test]
    fn the_objective_equals_the_naive_one(
        (data, n, m) in samples(), r in 1..6_usize, seed in any::<u64>(),
        (alpha, beta, mu) in (0.0..2.0_f64, 0.0..20.0_f64, 0.01..2.0_f64), with in any::<[bool; 2]>(),
    ) {
        let Some(naive) = naive(&data, n) else { return Ok(()) };
        let found = slices::<f64>(&data, n, m);
        let mut s = Stream::new(seed, 5);
        let (w, p, mut v) = (weights(n, &mut s), weights(n, &mut s), factor(n, r, 0.6, &mut s));
        if r > 2 && s.uniform() < 0.3 {
            // A dead column and a pair of twins: the span of the others loses rank.
            let mut values = v.values().to_vec();
            values[..n].fill(0.0);
            values.copy_within(n..2 * n, 2 * n);
            v = Factor::new(values, n, r);
        }
        let params = LsdgParams { dissimilarity: with[0], orthogonality: with[1], ..LsdgParams::absolute(alpha, beta, mu) };
        let state = Lsdg::new(&found, found.new_graph(), v.clone(), (w.clone(), p.clone()), params, alpha);
        let expected = naive.objective(&state.coefficients(), &w, &p, &v);
        let ours = state.objective();
        let terms = |o: &nearfar::internals::Objective| [o.fit, o.dissimilarity, o.overlap, o.density, o.orthogonality];
        let size = 1.0 + terms(&expected).iter().map(|t| t.abs()).sum::<f64>();
        prop_assert!(largest_difference(&terms(&ours), &terms(&expected)) <= 1e-8 * size, "{:?} {:?}", ours, expected);
        prop_assert!(largest_difference(&terms(&ours)[..4], &terms(&expected)[..4]) <= 1e-11 * size);
    }

    #[test]
    fn learners_stay_feasible_and_sub_problems_never_rise(
        (data, n, m) in samples(), r in 1..5_usize, seed in any::<u64>(),
        (alpha, beta, mu) in (0.0..1.0_f64, 0.0..20.0_f64, 0.05..1.0_f64),
    ) {
        let Some(naive) = naive(&data, n) else { return Ok(()) };
        let r = r.min(n);
        let found = slices::<f64>(&data, n, m);
        let mut s = Stream::new(seed, 6);
        let (w, p, v) = (weights(n, &mut s), weights(n, &mut s), factor(n, r, 1.0, &mut s));
        let mut graph = found.new_graph();
        found.combine(&w, &mut graph);

        let mut phals = Phals::new(&graph, v.clone());
        let mut last = phals.start().map_or(f64::INFINITY, |row| row.loss());
        for iteration in 1..8 {
            let row = phals.step(iteration, &Silent).unwrap();
            assert_factor(phals.factor());
            prop_assert!(row.loss() <= last + 1e-11 * (1.0 + last.abs()), "PHALS rose from {} to {}", last, row.loss());
            last = row.loss();
        }
        let rest: Vec<f64> = dense(&graph, n).iter().zip(oracle::outer(phals.factor())).map(|(t, y)| t - y).collect();
        prop_assert!((0.5 * inner(&rest, &rest) - last).abs() <= 1e-11 * (1.0 + last));

        for reseed in [Reseed::Never, Reseed::WorstFitted] {
            let mut ao = AoSymNmf::new(&graph, v.clone(), alpha, reseed);
            for iteration in 1..5 {
                prop_assert!(ao.step(iteration, &Silent).unwrap().loss().is_finite());
                assert_factor(ao.factor());
            }
        }

        // With the orthogonality term the sum of R has no total form, so the sub-problems are judged without it.
        for orthogonality in [false, true] {
            let params = LsdgParams { orthogonality, ..LsdgParams::absolute(alpha, beta, mu) };
            let mut lsdg = Lsdg::new(&found, found.new_graph(), phals.factor().clone(), (w.clone(), p.clone()), params, alpha);
            for iteration in 1..6 {
                let (w, p) = (lsdg.near_weights().to_vec(), lsdg.far_weights().to_vec());
                let q = Coefficients { alpha: 0.0, ..lsdg.coefficients() };
                let before = naive.objective(&q, &w, &p, lsdg.factor()).total();
                let row: TraceRow = lsdg.step(iteration, &Silent).unwrap();
                assert_factor(lsdg.factor());
                assert_simplex(lsdg.near_weights());
                assert_simplex(lsdg.far_weights());
                prop_assert!((row.overlap - q.eta * inner(&w, &p)).abs() <= 1e-14);
                let overlap = q.eta * inner(lsdg.near_weights(), lsdg.far_weights());
                prop_assert!((lsdg.objective().overlap - overlap).abs() <= 1e-14);
                let swept = naive.objective(&q, &w, &p, lsdg.factor()).total();
                let weighed = naive.objective(&q, lsdg.near_weights(), lsdg.far_weights(), lsdg.factor()).total();
                let slack = 1e-11 * (1.0 + before.abs());
                if !orthogonality {
                    prop_assert!(swept <= before + slack, "the sweep rose from {} to {}", before, swept);
                }
                prop_assert!(weighed <= swept + slack, "(w, p) rose from {} to {}", swept, weighed);
                if lsdg.factor().values().iter().all(|v| *v == 0.0) {
                    break;
                }
            }
        }
    }

    #[test]
    fn following_mu_keeps_the_number_of_ranks(seed in any::<u64>(), neighbors in 1..8_usize) {
        let (data, _) = blobs_on_a_line(&[20, 20], 2, 1.0, 6.0, seed);
        let found = slices::<f64>(&data, 40, 2);
        let mut s = Stream::new(seed, 7);
        let params = LsdgParams { density: Density::Neighbors(neighbors), level_self: true, ..LsdgParams::absolute(0.0, 1.0, 1.0) };
        let start = (weights(40, &mut s), weights(40, &mut s));
        let mut lsdg = Lsdg::new(&found, found.new_graph(), factor(40, 2, 1.0, &mut s), start, params, 0.01);
        run(&mut lsdg, &StopRule { max_iter: 6, ..StopRule::default() }, 0, &Silent);
        assert_factor(lsdg.factor());
        assert_simplex(lsdg.near_weights());
        assert_simplex(lsdg.far_weights());
        let active = lsdg.near_weights().iter().filter(|w| **w > 1e-9).count();
        // Ties of c may bring one more or less (rank 0 counts as rank 1 does).
        prop_assert!(active <= neighbors + 2, "{} active, {} asked for", active, neighbors);
    }
}

/// Three blobs that any method must find, in a random order.
fn easy(seed: u64) -> (Vec<f64>, usize, Vec<usize>) {
    let (data, truth) = blobs_on_a_line(&[22, 22, 22], 2, 1.0, 14.0, seed);
    let order = random_order(66, seed);
    (reordered(&data, 2, &order), 66, order.iter().map(|i| truth[*i]).collect())
}

fn cluster(data: &[f64], n: usize, params: &Params) -> Model {
    fit(Samples::from_rows(data, n, data.len() / n).unwrap(), params).unwrap()
}

proptest! {
    #![proptest_config(config(10))]

    #[test]
    fn scale_does_not_matter(seed in any::<u64>()) {
        let (data, n, truth) = easy(seed);
        let gap = oracle::smallest_gap(&oracle::squared_distances(&data, n), n);
        let params = Params::lsdg(3).starts(4).seed(seed);
        let plain = cluster(&data, n, &params);
        prop_assert_eq!(adjusted_rand(&plain.labels, &truth).unwrap(), 1.0);
        let ranks = slices::<f64>(&data, n, 2);
        for scale in [2_f64.powi(40), 2_f64.powi(-300), 3.7e-150, 1e120, -1.3] {
            let scaled: Vec<f64> = data.iter().map(|x| x * scale).collect();
            if gap > 1e-9 {
                let scaled_ranks = slices::<f64>(&scaled, n, 2);
                for at in 0..n * n {
                    prop_assert_eq!(ranks.rank(at / n, at % n), scaled_ranks.rank(at / n, at % n));
                }
            }
            let model = cluster(&scaled, n, &params);
            prop_assert_eq!(&model.labels, &plain.labels, "times {}", scale);
            if scale.log2().fract() == 0.0 {
                prop_assert_eq!(&model.membership, &plain.membership, "a power of two changes no bit");
            }
        }
    }

    #[test]
    fn the_order_of_samples_does_not_matter(seed in any::<u64>()) {
        let (data, n, truth) = easy(seed);
        let order = random_order(n, seed ^ 1);
        let moved = reordered(&data, 2, &order);
        let (here, there) = (slices::<f64>(&data, n, 2), slices::<f64>(&moved, n, 2));
        if oracle::smallest_gap(&oracle::squared_distances(&data, n), n) > 0.0 {
            for at in 0..n * n {
                prop_assert_eq!(there.rank(at / n, at % n), here.rank(order[at / n], order[at % n]));
            }
        }
        let plain = cluster(&data, n, &Params::lsdg(3).starts(4));
        let model = cluster(&moved, n, &Params::lsdg(3).starts(4));
        let back: Vec<usize> = order.iter().map(|i| plain.labels[*i]).collect();
        prop_assert_eq!(adjusted_rand(&model.labels, &back).unwrap(), 1.0);
        prop_assert_eq!(adjusted_rand(&plain.labels, &truth).unwrap(), 1.0);
    }

    #[test]
    fn views_of_the_same_numbers_give_the_same_bits(seed in any::<u64>(), wide in any::<bool>()) {
        let (n, m) = (48, if wide { 30 } else { 2 });
        let (data, _) = blobs_on_a_line(&[16, 16, 16], m, 1.0, 14.0, seed);
        // Numbers that f32 holds exactly.
        let narrow: Vec<f32> = data.iter().map(|x| *x as f32).collect();
        let data: Vec<f64> = narrow.iter().map(|x| f64::from(*x)).collect();
        let columns: Vec<f64> = (0..n * m).map(|at| data[at % n * m + at / n]).collect();
        let narrow_columns: Vec<f32> = columns.iter().map(|x| *x as f32).collect();
        let padded: Vec<f64> = data.chunks_exact(m).flat_map(|row| row.iter().copied().chain([f64::NAN])).collect();
        let params = Params::preset(3, Preset::Demo).seed(seed);
        let first = cluster(&data, n, &params);
        for view in [
            Samples::from_columns(&columns, n, m),
            Samples::from_rows(&narrow, n, m),
            Samples::from_columns(&narrow_columns, n, m),
            Samples::strided(&padded, (n, m), (m + 1, 1)),
        ] {
            let model = fit(view.unwrap(), &params).unwrap();
            prop_assert_eq!(&model.labels, &first.labels);
            prop_assert_eq!(&model.membership, &first.membership);
            prop_assert_eq!(&model.members[0].factor, &first.members[0].factor);
        }
    }

    #[test]
    fn storage_in_single_precision_agrees(seed in any::<u64>()) {
        let (data, n, truth) = easy(seed);
        let params = Params::lsdg(3).starts(4).seed(seed);
        let [double, single] = [Precision::Double, Precision::Single].map(|p| cluster(&data, n, &params.clone().precision(p)));
        prop_assert_eq!(single.precision, Precision::Single);
        prop_assert!(adjusted_rand(&double.labels, &single.labels).unwrap() >= 0.9);
        prop_assert_eq!(adjusted_rand(&single.labels, &truth).unwrap(), 1.0);
    }
}

#[test]
fn remembered_starts_change_nothing() {
    let data = nearfar::generate::chart(20, 60, 2.0, 5).unwrap();
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap();
    let plain = PreparedSlices::new(&Input::from(samples), &Params::lsdg(6), &Silent).unwrap();
    let remembers = plain.clone().remember_starts();
    for (alpha, mu, seed) in [(0.1, 0.5, 0), (1.0, 0.5, 0), (0.1, 0.1, 0), (0.1, 0.5, 1)] {
        let mut params = Params::preset(6, Preset::Demo).seed(seed);
        params.lsdg = LsdgParams::absolute(alpha, 1.0, mu);
        let (a, b) = (plain.fit(&params, &Silent).unwrap(), remembers.fit(&params, &Silent).unwrap());
        assert_eq!((&a.labels, &a.near_weights), (&b.labels, &b.near_weights));
        assert_eq!(a.members[0].factor.values(), b.members[0].factor.values());
        assert_eq!(a.members[0].started.iterations, b.members[0].started.iterations);
    }
}
