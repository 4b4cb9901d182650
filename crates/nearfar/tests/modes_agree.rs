//! Binned mode beside exact mode: the same where it holds all pairs, close to it where it does not.

use std::path::{Path, PathBuf};

use nearfar::generate::{Generated, blobs, circles};
use nearfar::internals::mixture;
use nearfar::labels::score::{accuracy, adjusted_rand};
use nearfar::learn::{LsdgParams, MethodParams};
use nearfar::model::{Blocks, Warning};
use nearfar::{BinnedParams, Input, Mode, Model, Params, Precision, Preset, Samples, Starts, fit};

fn samples(data: &Generated) -> Samples<'_> {
    Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap()
}

fn knobs(near: usize, far: usize, bins: usize) -> BinnedParams {
    BinnedParams { near: Some(near), far: Some(far), bins: Some(bins) }
}

fn off(ours: &[f64], theirs: &[f64]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Factors, weights, iterations and labels of both modes.
fn assert_equal(what: &str, binned: &Model, exact: &Model) {
    assert!(binned.binned.is_some() && exact.binned.is_none(), "{what}");
    for (a, b) in binned.members.iter().zip(&exact.members) {
        assert_eq!(a.last_loop().iterations, b.last_loop().iterations, "{what}");
        let size = b.factor.values().iter().fold(0.0_f64, |m, v| m.max(*v));
        assert!(off(a.factor.values(), b.factor.values()) < 1e-8 * size, "{what}: V");
        assert!(off(&a.near_weights, &b.near_weights) < 1e-8, "{what}: w");
        assert!(off(&a.far_weights, &b.far_weights) < 1e-8, "{what}: p");
        assert!((a.objective.total() - b.objective.total()).abs() < 1e-9, "{what}: objective");
    }
    assert!(off(&binned.near_weights, &exact.near_weights) < 1e-8, "{what}: w by rank");
    assert!(off(&binned.eigenvalues, &exact.eigenvalues) < 1e-7, "{what}: eigenvalues");
    assert_eq!(binned.labels, exact.labels, "{what}");
    let order: Vec<usize> = (0..exact.labels.len()).collect();
    let blocks = Blocks::of_order(&order, 10).unwrap();
    let [ours, theirs] = [binned, exact].map(|model| model.block_means(&blocks).unwrap());
    for (a, b) in [
        (ours.similarity, theirs.similarity),
        (ours.dissimilarity, theirs.dissimilarity),
        (ours.augmented, theirs.augmented),
    ] {
        assert!(off(&a.unwrap(), &b.unwrap()) < 1e-8, "{what}: means over blocks");
    }
    assert_eq!(binned.trusted(5).columns, exact.trusted(5).columns, "{what}");
}

#[test]
fn with_all_pairs_the_modes_are_equal() {
    let data = mixture(150, 30, 4, 2.5, 3).unwrap();
    for preset in [Preset::Paper, Preset::Demo, Preset::Default] {
        let params = Params { starts: 2, ..Params::preset(4, preset) }.precision(Precision::Double);
        let exact = fit(samples(&data), &params.clone().mode(Mode::Exact)).unwrap();
        for binned in [knobs(150, 1, 1), knobs(40, 75, 110)] {
            let params = Params { binned, ..params.clone() }.mode(Mode::Binned);
            assert_equal(&format!("{preset:?}, {binned:?}"), &fit(samples(&data), &params).unwrap(), &exact);
        }
    }
}

#[test]
fn a_sample_of_the_pairs_finds_the_same_clusters() {
    for (data, r) in [(blobs(900, 3, 4, 0.9, 5).unwrap(), 4), (circles(800, 0.03, 0.4, 7).unwrap(), 2)] {
        let params = Params { binned: knobs(40, 20, 16), ..Params::lsdg(r).starts(4) };
        let binned = fit(samples(&data), &params.clone().mode(Mode::Binned)).unwrap();
        let exact = fit(samples(&data), &params.mode(Mode::Exact)).unwrap();
        let (ours, theirs) = (binned.active_ranks().0, exact.active_ranks().0);
        assert!(ours.abs_diff(theirs) <= 1 + theirs / 10, "{ours} near ranks, {theirs} in exact mode");
        let agreement = adjusted_rand(&binned.labels, &exact.labels).unwrap();
        assert!(agreement > 0.97, "{agreement}");
        assert_eq!(binned.near_weights.len(), data.n_samples);
        assert!((binned.far_weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let blocks = Blocks::of_order(&(0..data.n_samples).collect::<Vec<_>>(), 8).unwrap();
        assert!(binned.block_means(&blocks).unwrap().dissimilarity.is_some());
        assert!(!binned.trusted(4).columns.is_empty());
        let (s, d) = (binned.similarity(), binned.dissimilarity());
        assert!(!s.columns.is_empty() && !d.columns.is_empty());
    }
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let data = mixture(1300, 12, 5, 2.5, 3).unwrap();
    let params = Params { binned: knobs(40, 16, 16), ..Params::lsdg(5).starts(3) }.mode(Mode::Binned);
    let run = |threads: usize| fit(samples(&data), &params.clone().threads(threads)).unwrap();
    let one = run(1);
    for threads in [2, 5] {
        let other = run(threads);
        assert_eq!(one.labels, other.labels);
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&one.embedding), bits(&other.embedding));
        assert_eq!(bits(&one.near_weights), bits(&other.near_weights));
        for (a, b) in one.members.iter().zip(&other.members) {
            assert_eq!(bits(a.factor.values()), bits(b.factor.values()));
        }
    }
}

#[test]
fn too_few_near_ranks_are_warned_of() {
    let data = blobs(600, 3, 3, 0.5, 1).unwrap();
    // A density that keeps about a hundred ranks, of which eight have a weight of their own.
    let lsdg = LsdgParams::scale_free(0.5, 10.0, 60);
    let params = Params { lsdg, binned: knobs(8, 20, 16), ..Params::lsdg(3).starts(2) }.mode(Mode::Binned);
    let params = Params { spread_neighbors: false, start: Starts::Spectral, ..params };
    let few = fit(samples(&data), &params).unwrap();
    assert_eq!(few.binned.unwrap().shape.near, 8);
    assert_eq!(few.warnings, [Warning::NearEnd { near: 8 }]);
    let said = few.warnings[0].to_string();
    assert!(said.contains("the 8 near ones") && said.contains("`near`"), "{said}");
    assert!(accuracy(&few.labels, &data.truth).unwrap() > 0.99);
    let enough = fit(samples(&data), &Params { binned: knobs(150, 20, 16), ..params.clone() }).unwrap();
    assert_eq!(enough.warnings, []);
    // With all ranks near there is no end.
    let all = fit(samples(&data), &Params { binned: knobs(600, 20, 16), ..params }).unwrap();
    assert_eq!(all.warnings, []);
}

#[test]
fn hard_data_runs_or_is_refused_by_name() {
    let binned = |data: &[f64], n: usize, m: usize, r: usize| {
        fit(Samples::from_rows(data, n, m).unwrap(), &Params::lsdg(r).starts(2).mode(Mode::Binned))
    };
    let equal = vec![1.0; 200];
    assert!(binned(&equal, 100, 2, 2).is_ok() || binned(&equal, 100, 2, 2).is_err()); // no panic
    for n in 1..12 {
        let line: Vec<f64> = (0..n).map(|i| (i * i) as f64).collect();
        for r in 1..=n {
            let found = binned(&line, n, 1, r);
            assert!(found.is_ok(), "{n} points, {r} clusters: {:?}", found.err());
        }
    }
    assert!(binned(&[1.0, f64::NAN], 2, 1, 1).is_err());
    let far = [vec![0.0; 60], vec![1e200; 60]].concat();
    assert!(binned(&far, 120, 1, 2).is_ok());
}

#[test]
fn graph_methods_use_the_same_neighbours() {
    let data = blobs(900, 3, 4, 0.6, 5).unwrap();
    let model = fit(Input::from(samples(&data)), &Params::of(4, MethodParams::Spectral)).unwrap();
    assert!(accuracy(&model.labels, &data.truth).unwrap() > 0.9);
}

fn shared() -> Option<PathBuf> {
    let places = ["../../../shared/data", "../../../../shared/data"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    places.iter().map(|place| root.join(place)).find(|path| path.is_dir())
}

#[test]
fn a_real_set_scores_alike_in_both_modes() {
    let Some(folder) = shared() else {
        println!("skipped: ../shared/data is not here");
        return;
    };
    let arrays = nearfar::internals::read_npz(folder.join("seeds.npz")).unwrap();
    let get = |name: &str| arrays.iter().find(|(n, _)| n == name).map(|(_, a)| a).unwrap();
    let (x, truth) = (get("X"), get("y").to_f64());
    let values = x.to_f64();
    let score = |mode: Mode| {
        let input = Samples::from_rows(&values, x.shape[0], x.shape[1]).unwrap();
        let model = fit(input, &Params::lsdg(3).starts(4).mode(mode)).unwrap();
        let truth: Vec<usize> = truth.iter().map(|y| *y as usize).collect();
        accuracy(&model.labels, &truth).unwrap()
    };
    let (binned, exact) = (score(Mode::Binned), score(Mode::Exact));
    assert!((binned - exact).abs() <= 0.03, "{binned} {exact}");
}
