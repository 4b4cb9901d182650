use super::*;
use crate::{NeighborLists, Params, model::SaveOptions};

fn model(data: &crate::generate::Generated, k: usize) -> (Vec<f64>, SavedModel) {
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap();
    let params = Params::of(k, crate::learn::MethodKind::KMeans).starts(1);
    let model = crate::fit(samples, &params).unwrap();
    (data.data.clone(), SavedModel::new(&model, &Input::from(samples), &SaveOptions::default()))
}

/// Share of the nearest neighbours in the plane that are of the same class.
fn kept(layout: &Layout, truth: &[usize]) -> f64 {
    let of = |i: usize| truth[layout.rows[i] as usize];
    let far =
        |i: usize, j: usize| (layout.at[i][0] - layout.at[j][0]).hypot(layout.at[i][1] - layout.at[j][1]);
    let n = layout.at.len();
    let same = (0..n).filter(|i| {
        let nearest = (0..n).filter(|j| j != i).min_by(|a, b| far(*i, *a).total_cmp(&far(*i, *b)));
        nearest.is_some_and(|j| of(j) == of(*i))
    });
    same.count() as f64 / n as f64
}

#[test]
fn groups_stay_together_and_nobody_sets_the_scale() {
    let mut data = crate::generate::blobs(300, 10, 6, 0.5, 1).unwrap();
    data.data[..10].fill(1e6);
    let layout = model(&data, 6).1.layout(None).unwrap().unwrap();
    assert!(kept(&layout, &data.truth) > 0.97);
    // Away from the outlier the points fill the picture.
    let mut across: Vec<f64> = layout.at.iter().map(|at| at[0]).collect();
    across.sort_by(f64::total_cmp);
    assert!(across[285] - across[15] > 1.0, "{} to {}", across[15], across[285]);
    assert!(layout.at.iter().flatten().all(|x| x.abs() <= 1.0 + 1e-9));
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let data = crate::generate::blobs(500, 5, 4, 0.5, 2).unwrap();
    let (_, saved) = model(&data, 4);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| saved.layout(None).unwrap().unwrap())
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn many_points_are_sampled_and_small_clusters_are_seen() {
    let data = crate::generate::blobs(9_000, 3, 3, 0.3, 1).unwrap();
    let (_, mut saved) = model(&data, 3);
    // A cluster of twenty points, and two that share the rest.
    saved.labels = (0..9_000).map(|i| if i % 450 == 7 { 2 } else { i / 4_500 }).collect();
    let layout = saved.layout(None).unwrap().unwrap();
    assert!(layout.rows.len() <= MOST_PLACED && layout.rows.len() > MOST_PLACED - 10);
    assert!(layout.rows.is_sorted_by(|a, b| a < b));
    assert_eq!(layout.rows.iter().filter(|i| saved.labels[**i as usize] == 2).count(), 20);
}

#[test]
fn pairs_and_lists_have_a_layout_too() {
    let data = crate::generate::blobs(120, 2, 3, 0.3, 1).unwrap();
    let (rows, mut saved) = model(&data, 3);
    let far = |i: usize, j: usize| (rows[2 * i] - rows[2 * j]).hypot(rows[2 * i + 1] - rows[2 * j + 1]);
    let distances: Vec<f64> = (0..120 * 120).map(|at| far(at / 120, at % 120)).collect();
    let affinities: Vec<f64> = distances.iter().map(|d| (-d * d).exp()).collect();
    let (mut indices, mut lengths) = (Vec::new(), Vec::new());
    let mut graph = SparseRows { starts: vec![0], columns: Vec::new(), values: Vec::new() };
    for i in 0..120 {
        let mut order: Vec<usize> = (0..120).filter(|j| *j != i).collect();
        order.sort_by(|a, b| far(i, *a).total_cmp(&far(i, *b)));
        for j in &order[..8] {
            indices.push(*j as u32);
            lengths.push(far(i, *j));
            graph.columns.push(*j as u32);
            graph.values.push(1.0 / (1.0 + far(i, *j)));
        }
        graph.starts.push(graph.columns.len());
    }
    let lists = NeighborLists::new(&indices, &lengths, 120, 8).unwrap();
    for input in [
        Input::Distances(Samples::from_rows(&distances, 120, 120).unwrap()),
        Input::Affinities(Samples::from_rows(&affinities, 120, 120).unwrap()),
        Input::Neighbors(lists),
    ] {
        let layout = saved.layout(Some(&input)).unwrap().unwrap();
        assert!(kept(&layout, &data.truth) > 0.95, "{}", kept(&layout, &data.truth));
    }
    saved.training = crate::model::Training::Nothing;
    assert!(saved.layout(None).unwrap().is_none());
    saved.similarity = Some(graph);
    assert!(kept(&saved.layout(None).unwrap().unwrap(), &data.truth) > 0.95);
}

#[test]
fn few_and_equal_points_have_places() {
    for n in [1, 2, 5] {
        let data = crate::generate::Generated {
            data: vec![1.5; 3 * n],
            ..crate::generate::blobs(n, 3, 1, 0.1, 1).unwrap()
        };
        let layout = model(&data, 1).1.layout(None).unwrap().unwrap();
        assert_eq!(layout.at.len(), n);
        assert!(layout.at.iter().flatten().all(|x| x.is_finite()), "{:?}", layout.at);
    }
}

#[test]
fn principal_axes_of_a_flat_cloud() {
    let data: Vec<[f64; 3]> = (0..50).map(|i| [f64::from(i), f64::from(i * 13 % 7) * 0.5, 0.0]).collect();
    let at = principal(50, 3, &|i, out| out.copy_from_slice(&data[i]));
    let spread = |axis: usize| at.iter().map(|at| at[axis] * at[axis]).sum::<f64>();
    assert!(spread(0) > 50.0 * spread(1) && spread(1) > 0.0);
    let crossed: f64 = at.iter().map(|at| at[0] * at[1]).sum();
    assert!(crossed.abs() < 1e-6 * spread(0));
    let at = principal(5, 4, &|_, out| out.fill(3.0));
    assert!(at.iter().all(|at| *at == [0.0, 0.0]));
}
