//! The default method: exactly k clusters from any input, the same bits however the work is shared out, kept trees,
//! saved models, runs that stop and go on.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use nearfar::checkpoint::Checkpoint;
use nearfar::generate::{Generated, blobs, circles, moons};
use nearfar::internals::mixture;
use nearfar::labels::score::accuracy;
use nearfar::learn::{Engine, NearFarParams};
use nearfar::model::{Keeper, SaveOptions};
use nearfar::observe::{Event, Observer, Silent};
use nearfar::processes::Share;
use nearfar::{
    Error, Input, Metric, Model, NeighborLists, Params, Run, Samples, SavedModel, View, Views, fit,
};
use nearfar_testkit::threads::as_team;

fn samples(data: &Generated) -> Samples<'_> {
    Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap()
}

fn graph(k: usize) -> Params {
    Params::of(k, NearFarParams { engine: Engine::Graph, ..NearFarParams::default() })
}

#[test]
fn shapes_that_a_mixture_could_piece_together_are_counted_whole() {
    for (name, k, made) in
        [("circles", 2, circles(300, 0.04, 0.4, 1).unwrap()), ("moons", 2, moons(300, 0.05, 2).unwrap())]
    {
        let model = fit(samples(&made), &Params::auto()).unwrap();
        let count = model.account.as_ref().and_then(|account| account.count.as_ref()).unwrap();
        assert_eq!(model.sizes().len(), k, "{name}: {count:?}");
        assert_eq!(accuracy(&model.labels, &made.truth).unwrap(), 1.0, "{name}");
    }
}

/// Every number of a model that does not measure time, as bits, with its name.
fn bits(model: &Model) -> Vec<(String, Vec<u64>)> {
    let of = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
    let mut all = vec![
        ("labels".to_owned(), model.labels.iter().map(|label| *label as u64).collect()),
        ("membership".into(), of(&model.membership)),
        ("confidence".into(), of(&model.confidence)),
        ("w".into(), of(&model.near_weights)),
        ("p".into(), of(&model.far_weights)),
        ("sigma".into(), of(model.sigma.as_deref().unwrap_or_default())),
        ("similarity".into(), of(&model.similarity().values)),
        ("agreement".into(), of(&[model.agreement])),
    ];
    if let Some(tree) = &model.tree {
        all.push(("leaves".into(), tree.leaves().iter().map(|leaf| u64::from(*leaf)).collect()));
        let merges = tree.merges().iter();
        let merges = merges.flat_map(|m| [u64::from(m.into), u64::from(m.from), m.resolution.to_bits()]);
        all.push(("merges".into(), merges.collect()));
    }
    for (at, member) in model.members.iter().enumerate() {
        all.push((format!("weights of member {at}"), of(&member.near_weights)));
        let labels = member.labels.iter().flatten().map(|label| *label as u64);
        all.push((format!("labels of member {at}"), labels.collect()));
    }
    let account = model.account.as_ref().unwrap();
    all.push(("account".into(), serde_json::to_string(account).unwrap().bytes().map(u64::from).collect()));
    all
}

fn assert_same(what: &str, ours: &[(String, Vec<u64>)], theirs: &[(String, Vec<u64>)]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for ((name, ours), (_, theirs)) in ours.iter().zip(theirs) {
        assert!(ours == theirs, "{what}: {name} differs");
    }
}

/// Sets that take every way: a graph of one view and of four, a mixture, a count.
fn cases() -> Vec<(&'static str, Generated, Params)> {
    vec![
        ("moons", moons(300, 0.06, 1).unwrap(), Params::new(2)),
        ("four views", mixture(900, 12, 5, 1.5, 3).unwrap(), graph(5)),
        ("a mixture", mixture(600, 4, 3, 2.0, 3).unwrap(), Params::new(3)),
        ("auto", circles(400, 0.04, 0.4, 2).unwrap(), Params::auto()),
    ]
}

#[test]
fn the_same_bits_at_any_number_of_threads() {
    for (name, data, params) in cases() {
        let run = |threads| bits(&fit(samples(&data), &params.clone().threads(threads)).unwrap());
        let one = run(1);
        for threads in [2, 3, 8] {
            assert_same(&format!("{name}, {threads} threads"), &run(threads), &one);
        }
    }
}

#[test]
fn processes_that_share_the_rows_find_the_same_bits() {
    let data = mixture(1700, 10, 4, 1.5, 3).unwrap();
    let pieces = blobs(1400, 3, 5, 0.02, 2).unwrap();
    for (name, data, params) in [
        ("graph", &data, graph(4)),
        ("auto", &data, Params::auto()),
        ("mixture", &data, Params::new(4)),
        ("more pieces than clusters", &pieces, graph(2)),
    ] {
        let m = data.n_features;
        let alone = bits(&fit(samples(data), &params).unwrap());
        for size in [1, 2, 3] {
            let all = as_team(size, |team| {
                let share = Share::new(team.clone(), data.n_samples);
                let rows = share.rows();
                let own =
                    Samples::from_rows(&data.data[rows.start * m..rows.end * m], rows.len(), m).unwrap();
                bits(&fit(Input::Part(own, Metric::Euclidean, &share), &params).unwrap())
            });
            for (rank, ours) in all.iter().enumerate() {
                assert_same(&format!("{name}, rank {rank} of {size}"), ours, &alone);
            }
        }
    }
}

#[test]
fn exactly_k_for_every_k() {
    let data = moons(40, 0.05, 3).unwrap();
    for k in [1, 2, 3, 7, 20, 39, 40] {
        for params in [Params::new(k), graph(k)] {
            let model = fit(samples(&data), &params).unwrap();
            assert_eq!(model.labels.iter().max().unwrap() + 1, k, "{k}");
            assert!(model.sizes().iter().all(|size| *size > 0), "{k}");
            assert_eq!(model.labels_at(k).unwrap(), model.labels, "{k}");
            assert!(model.confidence.iter().all(|sure| (0.0..=1.0).contains(sure)), "{k}");
        }
    }
    assert!(fit(samples(&data), &Params::new(41)).is_err());
}

#[test]
fn levels_are_nested_without_fitting_again() {
    let data = mixture(500, 3, 6, 1.5, 5).unwrap();
    let model = fit(samples(&data), &graph(6)).unwrap();
    let most = model.tree.as_ref().unwrap().most();
    assert!(most >= 60, "{most}");
    for k in 1..most {
        let (coarse, fine) = (model.labels_at(k).unwrap(), model.labels_at(k + 1).unwrap());
        let mut parent = vec![None; k + 1];
        for (c, f) in coarse.iter().zip(&fine) {
            assert_eq!(*parent[*f].get_or_insert(*c), *c, "level {k}");
        }
        assert_eq!(fine.iter().max().unwrap() + 1, k + 1);
    }
    assert!(model.labels_at(0).is_none() && model.labels_at(most + 1).is_none());
}

#[test]
fn pairs_of_every_kind_are_clustered() {
    let data = moons(160, 0.05, 4).unwrap();
    let n = data.n_samples;
    let row = |i: usize| &data.data[2 * i..2 * i + 2];
    let apart = |i: usize, j: usize| (row(i)[0] - row(j)[0]).hypot(row(i)[1] - row(j)[1]);
    let distances: Vec<f64> = (0..n * n).map(|at| apart(at / n, at % n)).collect();
    let affinities: Vec<f64> = distances.iter().map(|d| (-d * d / 0.02).exp()).collect();
    let mut lists = (Vec::new(), Vec::new());
    for i in 0..n {
        let mut order: Vec<usize> = (0..n).filter(|j| *j != i).collect();
        order.sort_by(|a, b| apart(i, *a).total_cmp(&apart(i, *b)));
        lists.0.extend(order[..15].iter().map(|j| *j as u32));
        lists.1.extend(order[..15].iter().map(|j| apart(i, *j)));
    }
    let inputs = [
        Input::Distances(Samples::from_rows(&distances, n, n).unwrap()),
        Input::Affinities(Samples::from_rows(&affinities, n, n).unwrap()),
        Input::Neighbors(NeighborLists::new(&lists.0, &lists.1, n, 15).unwrap()),
    ];
    for input in inputs {
        let model = fit(input, &Params::new(2)).unwrap();
        assert!(accuracy(&model.labels, &data.truth).unwrap() > 0.98);
        assert!(model.account.as_ref().unwrap().mixture.is_none());
        assert!(fit(input, &Params::auto()).is_ok());
    }
    let pairs = Input::Distances(Samples::from_rows(&distances, n, n).unwrap());
    for own in [
        NearFarParams { engine: Engine::Mixture, ..NearFarParams::default() },
        NearFarParams { views: Views::of(&[View::Unit]), ..NearFarParams::default() },
    ] {
        let error = fit(pairs, &Params::of(2, own)).unwrap_err().to_string();
        assert!(error.contains("samples"), "{error}");
    }
}

#[test]
fn a_plain_mixture_is_found_out_and_moons_are_not_one() {
    let groups = mixture(900, 5, 4, 1.2, 8).unwrap();
    let model = fit(samples(&groups), &Params::new(4)).unwrap();
    let account = model.account.as_ref().unwrap();
    assert_eq!(account.engine, Engine::Mixture);
    assert!(account.mixture.as_ref().unwrap().explains);
    assert!(accuracy(&model.labels, &groups.truth).unwrap() > 0.95);
    let moons = moons(400, 0.06, 8).unwrap();
    let model = fit(samples(&moons), &Params::new(2)).unwrap();
    assert_eq!(model.account.as_ref().unwrap().engine, Engine::Graph);
    assert_eq!(accuracy(&model.labels, &moons.truth).unwrap(), 1.0);
    // Whoever insists gets a mixture.
    let forced = NearFarParams { engine: Engine::Mixture, ..NearFarParams::default() };
    let model = fit(samples(&moons), &Params::of(2, forced)).unwrap();
    assert_eq!(model.account.as_ref().unwrap().engine, Engine::Mixture);
}

#[test]
fn pieces_that_must_be_joined_are_the_nearest_ones() {
    // Five tight heaps on a line: two pairs of near ones, and one far out.
    let at = [0.0, 3.0, 40.0, 43.0, 200.0];
    let heap = blobs(500, 2, 1, 0.1, 3).unwrap().data;
    let data: Vec<f64> =
        (0..500).flat_map(|i| [heap[2 * i] * 0.01 + at[i / 100], heap[2 * i + 1] * 0.01]).collect();
    let data = Samples::from_rows(&data, 500, 2).unwrap();
    // Standardised, the heaps would overlap.
    let raw = NearFarParams { engine: Engine::Graph, views: Views::of(&[View::Raw]) };
    let model = fit(data, &Params::of(3, raw)).unwrap();
    let of_heap = |h: usize| model.labels[100 * h];
    assert!((0..500).all(|i| model.labels[i] == of_heap(i / 100)));
    assert!(of_heap(0) == of_heap(1) && of_heap(2) == of_heap(3) && of_heap(4) != of_heap(3));
    assert!(model.warnings.iter().any(|w| w.to_string().contains("pieces")), "{:?}", model.warnings);
}

#[test]
fn saved_models_keep_the_tree_and_label_the_training_points_alike() {
    for (name, data, params) in cases() {
        let input = Input::from(samples(&data));
        let model = fit(samples(&data), &params).unwrap();
        let saved = SavedModel::new(&model, &input, &SaveOptions::default());
        let again = SavedModel::from_bytes(&saved.to_bytes(), name).unwrap();
        assert!(again == saved, "{name}");
        assert_eq!(again.predict(&samples(&data), &Silent).unwrap(), model.labels, "{name}");
        for k in [1, 2, 5] {
            let labels = again.labels_at(k).map(|labels| labels.iter().map(|l| *l as usize).collect());
            assert_eq!(labels, model.labels_at(k), "{name}");
        }
        // New points of the same kind get the labels of their neighbourhood.
        let moved: Vec<f64> = data.data.iter().map(|x| x + 1e-4).collect();
        let moved = Samples::from_rows(&moved, data.n_samples, data.n_features).unwrap();
        let predicted = again.predict(&moved, &Silent).unwrap();
        let same = predicted.iter().zip(&model.labels).filter(|(a, b)| a == b).count();
        assert!(same as f64 > 0.97 * data.n_samples as f64, "{name}: {same}");
    }
}

/// Stops at the so-many-th event.
struct StopsAt {
    left: AtomicUsize,
    keeper: Keeper,
}

impl Observer for StopsAt {
    fn notice(&self, event: &Event<'_>) {
        self.keeper.notice(event);
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    }

    fn cancelled(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
}

#[test]
fn a_run_that_is_stopped_anywhere_goes_on_to_the_same_bits() {
    let data = mixture(700, 9, 4, 1.5, 6).unwrap();
    let (input, params) = (Input::from(samples(&data)), graph(4).threads(2));
    let whole = bits(&fit(samples(&data), &params).unwrap());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("default-checkpoint");
    let _ = std::fs::remove_dir_all(&folder);
    let (mut events, mut stopped) = (1, 0);
    loop {
        let checkpoint = Checkpoint::new(&folder).resume(true);
        let observer = StopsAt { left: AtomicUsize::new(events), keeper: Keeper::default() };
        match Run::new(&params).checkpoint(&checkpoint).observe(&observer).fit(input) {
            Ok(model) => {
                assert_same("resumed", &bits(&model), &whole);
                assert!(checkpoint.resumed().is_some_and(|resumed| resumed.starts > 0));
                checkpoint.remove().unwrap();
                break;
            }
            Err(Error::Cancelled { .. }) => (events, stopped) = (events + 3, stopped + 1),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(stopped > 5, "{stopped}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "parts are left");
}

#[test]
fn a_cancelled_run_leaves_its_best_member() {
    let data = mixture(700, 9, 4, 1.5, 6).unwrap();
    let params = graph(4).threads(1);
    let mut kept = 0;
    for events in [1, 10, 30, 45, 60, 80] {
        let observer = StopsAt { left: AtomicUsize::new(events), keeper: Keeper::default() };
        let ended = Run::new(&params).observe(&observer).fit(samples(&data));
        if ended.is_ok() {
            break;
        }
        if let Some(model) = observer.keeper.into_model(&params) {
            kept += 1;
            assert_eq!(model.labels.len(), data.n_samples);
            assert!(accuracy(&model.labels, &data.truth).unwrap() > 0.5);
            let saved = SavedModel::new(&model, &samples(&data).into(), &SaveOptions::default());
            assert!(SavedModel::from_bytes(&saved.to_bytes(), "partial").unwrap() == saved);
        }
    }
    assert!(kept > 0);
}

#[test]
fn degenerate_data_has_an_answer() {
    let alike = vec![0.5; 60];
    let mut outlier: Vec<f64> = (0..60).map(f64::from).collect();
    outlier[7] = 1e300;
    let tiny: Vec<f64> = (0..60).map(|i| f64::from(i) * 1e-310).collect();
    let mut copies = vec![1.0; 40];
    copies.extend(vec![2.0; 20]);
    let mixed: Vec<f64> =
        (0..60).map(|i| if i % 2 == 0 { 1e-30 * f64::from(i) } else { 1e30 * f64::from(i) }).collect();
    for (name, data) in
        [("alike", &alike), ("outlier", &outlier), ("tiny", &tiny), ("copies", &copies), ("mixed", &mixed)]
    {
        for m in [1, 2, 10] {
            let n = data.len() / m;
            for k in [1, 2, n / 2, n] {
                for params in [Params::new(k), graph(k)] {
                    let model = fit(Samples::from_rows(data, n, m).unwrap(), &params).unwrap();
                    assert_eq!(model.labels.iter().max().unwrap() + 1, k, "{name}, {n} x {m}, {k}");
                }
            }
            let model = fit(Samples::from_rows(data, n, m).unwrap(), &Params::auto()).unwrap();
            assert_eq!(model.labels.len(), n, "{name}");
        }
    }
    let one = Samples::from_rows(&[1.0, 2.0], 1, 2).unwrap();
    assert_eq!(fit(one, &Params::new(1)).unwrap().labels, [0]);
    assert_eq!(fit(one, &Params::auto()).unwrap().labels, [0]);
    let two = Samples::from_rows(&[1.0, 2.0], 2, 1).unwrap();
    assert_eq!(fit(two, &Params::new(1)).unwrap().labels, [0, 0]);
    assert_eq!(fit(two, &Params::new(2)).unwrap().labels, [0, 1]);
}

#[test]
fn noise_has_no_groups() {
    let mut random = 12345_u64;
    let mut uniform = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 11) as f64 / (1_u64 << 53) as f64
    };
    let data: Vec<f64> = (0..4000).map(|_| uniform()).collect();
    let model = fit(Samples::from_rows(&data, 800, 5).unwrap(), &Params::auto()).unwrap();
    let account = model.account.clone().unwrap();
    let count = account.count.unwrap();
    assert!(!count.groups && model.params.n_clusters == 1, "{count:?}");
}
