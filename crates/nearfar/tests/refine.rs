//! Models refined by hand, matched with older ones and set beside new rows; what is said of new points.

use nearfar::generate::{Kind, MakeParams, blobs, make, moons};
use nearfar::internals::mixture;
use nearfar::learn::{Engine, NearFarParams};
use nearfar::model::{Change, SaveOptions};
use nearfar::observe::Silent;
use nearfar::{Input, Params, Samples, SavedModel};

fn saved(data: &[f64], n: usize, params: &Params) -> SavedModel {
    let input = Input::from(Samples::from_rows(data, n, data.len() / n).unwrap());
    let model = nearfar::fit(input, params).unwrap();
    SavedModel::new(&model, &input, &SaveOptions { similarity: true, ..SaveOptions::default() })
}

fn by_graph(k: usize) -> Params {
    Params::of(k, NearFarParams { engine: Engine::Graph, ..NearFarParams::default() })
}

fn sizes(model: &SavedModel) -> Vec<usize> {
    let mut sizes = vec![0; model.about.n_clusters];
    model.labels.iter().for_each(|label| sizes[*label as usize] += 1);
    sizes
}

/// What holds of every model, whatever was done to it.
fn check(model: &SavedModel) {
    let (n, r) = (model.about.n_samples, model.about.n_clusters);
    assert_eq!(model.membership.len(), n * r);
    for row in model.membership.chunks_exact(r) {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{row:?}");
    }
    assert!(model.confidence.iter().all(|sure| (0.0..=1.0).contains(sure)));
    assert_eq!(&SavedModel::from_bytes(&model.to_bytes(), "model").unwrap(), model);
    let samples = model.samples().unwrap().unwrap();
    let labels: Vec<usize> = model.labels.iter().map(|label| *label as usize).collect();
    assert_eq!(model.predict(&samples, &Silent).unwrap(), labels, "training points get their labels back");
}

#[test]
fn clusters_are_merged_split_and_named() {
    let made = blobs(240, 2, 4, 0.3, 1).unwrap();
    for params in [by_graph(4), Params::new(4)] {
        let model = saved(&made.data, 240, &params);
        let named = model.rename(&[(1, "one".into()), (3, "three".into())]).unwrap();
        assert_eq!(named.cluster_name(3), Some("three"));
        let merged = named.merge(&[3, 1]).unwrap();
        check(&merged);
        assert_eq!(sizes(&merged), [60, 120, 60]);
        assert_eq!(merged.cluster_name(1), Some("one + three"));
        assert_eq!(merged.about.edits, ["merged 3 1 into 1"]);
        // The tree joined the two last, so it divides them as they were.
        let split = merged.split(1).unwrap();
        check(&split);
        assert_eq!(split.about.n_clusters, 4);
        assert_eq!(sizes(&split)[1] + sizes(&split)[3], 120);
        assert_eq!(sizes(&split)[1], 60, "the parts are the clusters that were joined");
        assert!(named.rename(&[(0, "one".into())]).is_err(), "two clusters of one name");
        for wrong in [model.merge(&[1]), model.merge(&[1, 1]), model.merge(&[0, 4]), model.split(4)] {
            assert!(wrong.unwrap_err().to_string().contains("is not allowed"));
        }
    }
}

#[test]
fn numbers_and_names_stay_over_refits() {
    let made = blobs(400, 2, 5, 0.3, 2).unwrap();
    let older = saved(&made.data[..400], 200, &by_graph(5));
    let older = older.rename(&(0..5).map(|c| (c, format!("group {c}"))).collect::<Vec<_>>()).unwrap();
    let newer = saved(&made.data[400..], 200, &by_graph(5));
    let (matched, found) = newer.with_numbers_of(&older, &Silent).unwrap();
    assert!(found.overlap.iter().all(|overlap| overlap.unwrap() > 0.9), "{found:?}");
    let of = |model: &SavedModel, truth: usize, from: usize| {
        let at = made.truth[from..from + 200].iter().position(|class| *class == truth).unwrap();
        model.labels[at]
    };
    for truth in 0..5 {
        assert_eq!(of(&matched, truth, 200), of(&older, truth, 0), "class {truth}");
    }
    assert_eq!(matched.about.cluster_names, older.about.cluster_names);
    check(&matched);
    // With a cluster less the number that has no cluster stays free.
    let four: Vec<usize> = (0..200).filter(|i| made.truth[200 + i] != 0).collect();
    let rows: Vec<f64> = four.iter().flat_map(|i| made.data[400 + 2 * i..402 + 2 * i].to_vec()).collect();
    let (fewer, found) = saved(&rows, four.len(), &by_graph(4)).with_numbers_of(&older, &Silent).unwrap();
    assert!(found.overlap.iter().all(Option::is_some));
    let free = of(&older, 0, 0);
    assert!(fewer.labels.iter().all(|label| *label != free));
}

#[test]
fn new_points_come_with_a_second_choice_and_far_ones_are_told() {
    let made = moons(300, 0.05, 1).unwrap();
    for params in [by_graph(2), Params::new(2)] {
        let model = saved(&made.data, 300, &params);
        let new = [made.data[0] + 0.01, made.data[1], 100.0, 100.0, 1e300, -1e300];
        let said = model.predictions(&Samples::from_rows(&new, 3, 2).unwrap(), &Silent).unwrap();
        assert_eq!(said.labels[0], model.labels[0] as usize);
        assert!(said.confidence.iter().all(|sure| (0.0..=1.0).contains(sure)), "{said:?}");
        assert!(
            said.outlier_scores[0] < 0.8 && said.outlier_scores[1] > 0.95 && said.outlier_scores[2] > 0.95
        );
        let own = model.outlier_scores().unwrap();
        assert!(own.iter().all(|score| (0.0..1.0).contains(score)));
        // Half of the points of a cluster are as its median or nearer.
        assert!(own.iter().filter(|score| **score == 0.0).count() >= 140);
        // What is said of a point does not depend on who else is asked about.
        let alone = model.predictions(&Samples::from_rows(&new[..2], 1, 2).unwrap(), &Silent).unwrap();
        assert_eq!((alone.labels[0], alone.confidence[0]), (said.labels[0], said.confidence[0]));
    }
    // Between two groups the other one is the second choice.
    let two = blobs(200, 1, 2, 0.5, 3).unwrap();
    let model = saved(&two.data, 200, &by_graph(2));
    let mean = |c: usize| {
        let own: Vec<f64> = (0..200).filter(|i| two.truth[*i] == c).map(|i| two.data[i]).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    let middle = [f64::midpoint(mean(0), mean(1))];
    let said = model.predictions(&Samples::from_rows(&middle, 1, 1).unwrap(), &Silent).unwrap();
    if let Some(second) = said.second[0] {
        assert_ne!(second, said.labels[0]);
    }
}

#[test]
fn many_training_points_are_searched_by_cells_with_the_same_labels() {
    let made = mixture(6_500, 16, 8, 1.0, 4).unwrap();
    let model = saved(&made.data[..6_000 * 16], 6_000, &by_graph(8));
    check(&model);
    let new = Samples::from_rows(&made.data[6_000 * 16..], 500, 16).unwrap();
    let labels = model.predict(&new, &Silent).unwrap();
    let scores = nearfar::labels::score::score(&labels, &made.truth[6_000..]).unwrap();
    assert!(scores.accuracy > 0.99, "{scores:?}");
    for at in [0, 17, 499] {
        let one = Samples::from_rows(&made.data[(6_000 + at) * 16..(6_001 + at) * 16], 1, 16).unwrap();
        assert_eq!(model.predict(&one, &Silent).unwrap()[0], labels[at]);
    }
}

#[test]
fn drift_is_told_from_chance() {
    let old = make(Kind::Customers, &MakeParams { n_samples: Some(3_000), ..MakeParams::default() }).unwrap();
    let model = saved(&old.data, 3_000, &Params::new(5));
    let rows = |data: &[f64], keep: &dyn Fn(usize) -> bool| -> Vec<f64> {
        data.chunks_exact(9).enumerate().filter(|(i, _)| keep(*i)).flat_map(|(_, row)| row.to_vec()).collect()
    };
    let drift =
        |data: &[f64]| model.drift(&Samples::from_rows(data, data.len() / 9, 9).unwrap(), &Silent).unwrap();
    // The same rows in another draw: nothing is to be told.
    let same = drift(&rows(&old.data, &|i| i % 3 == 0));
    assert!(same.clusters.iter().all(|found| found.change == Change::AsBefore), "{}", same.answer);
    assert!(same.answer.contains("fit"), "{}", same.answer);
    // One cluster is left out, and every fifth row is far away.
    let gone = model.labels[0];
    let mut left = rows(&old.data, &|i| model.labels[i] != gone);
    left.chunks_exact_mut(9).step_by(5).for_each(|row| row[0] += 30.0);
    let other = drift(&left);
    let of_gone = &other.clusters[gone as usize];
    assert!([Change::Gone, Change::Shrank].contains(&of_gone.change), "{other:?}");
    assert!(other.clusters.iter().any(|found| found.change == Change::Grew));
    let homeless = other.homeless.unwrap();
    assert!(homeless.is_above() && homeless.new > 0.15, "{homeless:?}");
    assert!(other.answer.contains("differ") && other.answer.contains("lack a home"), "{}", other.answer);
}
