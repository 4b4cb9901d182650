//! Distances, affinities and neighbour lists.

use nearfar::observe::Silent;
use nearfar::{
    DataError, Error, Input, Model, NeighborLists, Params, Precision, PreparedSlices, Result, Samples,
    Warning, fit,
};
use nearfar_testkit::hard;

use super::{Expect, Table, is_empty, is_precomputed, is_shape, two_groups};

/// Distances of two groups of six on a line.
fn distances() -> (Vec<f64>, usize, Vec<usize>) {
    let (points, truth) = two_groups(6);
    let n = points.len();
    ((0..n * n).map(|at| (points[at / n] - points[at % n]).abs()).collect(), n, truth)
}

#[test]
fn precomputed_distances() {
    let mut table = Table::default();
    let (good, n, truth) = distances();
    let input = |x: &[f64]| -> Result<Model> {
        fit(Input::Distances(Samples::from_rows(x, n, n)?), &Params::lsdg(2))
    };
    table.case("good distances", &Expect::Works(Some(truth.clone())), || input(&good));
    let narrow: Vec<f32> = good.iter().map(|x| *x as f32).collect();
    table.case("good distances in f32", &Expect::Works(Some(truth.clone())), || {
        fit(Input::Distances(Samples::from_columns(&narrow, n, n)?), &Params::lsdg(2))
    });
    let spoilt = |change: &dyn Fn(&mut Vec<f64>)| {
        let mut x = good.clone();
        change(&mut x);
        x
    };
    let x = spoilt(&|x| x[3 * n + 5] += 1.0);
    table.case(
        "asymmetric",
        &Expect::Refused(is_precomputed, &["distances", "row 5, column 3", "symmetric"]),
        || input(&x),
    );
    let x = spoilt(&|x| (x[3 * n + 5], x[5 * n + 3]) = (-1.0, -1.0));
    table.case("negative", &Expect::Refused(is_precomputed, &["distances", "-1", "0 or more"]), || input(&x));
    let x = spoilt(&|x| x[4 * n + 4] = 0.5);
    table.case("nonzero diagonal", &Expect::Refused(is_precomputed, &["row 4, column 4", "itself"]), || {
        input(&x)
    });
    let x = spoilt(&|x| x[4 * n + 4] = 1e-9);
    table.case("rounding on the diagonal", &Expect::Works(Some(truth.clone())), || input(&x));
    let x = spoilt(&|x| x[3 * n + 5] *= 1.0 + 1e-12);
    table.case("rounding off the diagonal", &Expect::Works(Some(truth.clone())), || input(&x));
    table.case("not square", &Expect::Refused(is_shape, &["x"]), || {
        fit(Input::Distances(Samples::from_rows(&good, 24, 6)?), &Params::lsdg(2))
    });
    for scale in [1e-300, 1e300, 1e306] {
        let x: Vec<f64> = good.iter().map(|x| x * scale).collect();
        table.case(&format!("distances times {scale:e}"), &Expect::Works(Some(truth.clone())), || input(&x));
    }
    table
        .case("all distances zero", &Expect::Warns(|w| *w == Warning::AllEqual), || input(&vec![0.0; n * n]));
    table.case("one point", &Expect::Works(Some(vec![0])), || {
        fit(Input::Distances(Samples::from_rows(&[0.0], 1, 1)?), &Params::lsdg(1))
    });
    table.case("no points", &Expect::Refused(is_empty, &["empty"]), || {
        fit(Input::Distances(Samples::from_rows(&[0.0; 0], 0, 0)?), &Params::lsdg(1))
    });
    table.finish(13);
}

#[test]
fn precomputed_affinities() {
    let mut table = Table::default();
    let (distances, n, truth) = distances();
    let good: Vec<f64> = distances.iter().map(|d| (-d * d / 9.0).exp()).collect();
    let input = |x: &[f64]| -> Result<Model> {
        fit(Input::Affinities(Samples::from_rows(x, n, n)?), &Params::lsdg(2))
    };
    table.case("good affinities", &Expect::Works(Some(truth.clone())), || input(&good));
    let spoilt = |change: &dyn Fn(&mut Vec<f64>)| {
        let mut x = good.clone();
        change(&mut x);
        x
    };
    let x = spoilt(&|x| x[3 * n + 5] += 1.0);
    table.case(
        "asymmetric",
        &Expect::Refused(is_precomputed, &["affinities", "row 5, column 3", "symmetric"]),
        || input(&x),
    );
    let x = spoilt(&|x| (x[3 * n + 5], x[5 * n + 3]) = (-0.1, -0.1));
    table.case("negative", &Expect::Refused(is_precomputed, &["affinities", "-0.1", "0 or more"]), || {
        input(&x)
    });
    let x = spoilt(&|x| (0..n).for_each(|i| x[i * n + i] = i as f64));
    table.case("any diagonal", &Expect::Works(Some(truth.clone())), || input(&x));
    table.case("not square", &Expect::Refused(is_shape, &["x"]), || {
        fit(Input::Affinities(Samples::from_rows(&good, 24, 6)?), &Params::lsdg(2))
    });
    table.case("all zero", &Expect::Refused(is_precomputed, &["affinities", "positive"]), || {
        input(&vec![0.0; n * n])
    });
    let identity: Vec<f64> = (0..n * n).map(|at| if at / n == at % n { 1.0 } else { 0.0 }).collect();
    table.case(
        "zero off the diagonal",
        &Expect::Refused(is_precomputed, &["affinities", "positive"]),
        || input(&identity),
    );
    table.case("all alike", &Expect::Works(None), || input(&vec![0.5; n * n]));
    // A ring inside each group, 0 elsewhere: most entries are 0.
    let side = 40;
    let mut sparse = vec![0.0; side * side];
    for i in 0..side {
        for step in [2, 4, 6] {
            let j = (i + step) % side;
            (sparse[i * side + j], sparse[j * side + i]) = (1.0 / step as f64, 1.0 / step as f64);
        }
    }
    let rings = (0..side).map(|i| i % 2).collect();
    table.case("mostly zero", &Expect::Works(Some(rings)), || {
        fit(Input::Affinities(Samples::from_rows(&sparse, side, side)?), &Params::lsdg(2))
    });
    let x = spoilt(&|x| x.iter_mut().for_each(|x| *x = if *x > 1e-3 { *x * 1e-320 } else { 0.0 }));
    table.case("tiny affinities", &Expect::Works(None), || input(&x));
    let x = spoilt(&|x| x.iter_mut().for_each(|x| *x *= 1e308));
    table.case("huge affinities", &Expect::Works(Some(truth.clone())), || input(&x));
    table.case("one point", &Expect::Works(Some(vec![0])), || {
        fit(Input::Affinities(Samples::from_rows(&[0.0], 1, 1)?), &Params::lsdg(1))
    });
    table.case("two points", &Expect::Works(Some(vec![0, 0])), || {
        fit(Input::Affinities(Samples::from_rows(&[0.0, 1.0, 1.0, 0.0], 2, 2)?), &Params::lsdg(1))
    });
    table.finish(13);
}

/// The `listed` nearest of every point on a line.
fn lists(points: &[f64], listed: usize) -> (Vec<u32>, Vec<f64>) {
    let (mut indices, mut distances) = (Vec::new(), Vec::new());
    for (i, x) in points.iter().enumerate() {
        let mut others: Vec<usize> = (0..points.len()).filter(|j| *j != i).collect();
        others.sort_by(|a, b| (points[*a] - x).abs().total_cmp(&(points[*b] - x).abs()));
        for j in &others[..listed] {
            indices.push(*j as u32);
            distances.push((points[*j] - x).abs());
        }
    }
    (indices, distances)
}

#[test]
fn precomputed_neighbors() {
    let mut table = Table::default();
    let (points, truth) = two_groups(15);
    let n = points.len();
    for listed in [2, 6, 7, 10, 14, n - 1] {
        let (indices, distances) = lists(&points, listed);
        for precision in [Precision::Double, Precision::Single] {
            // A chain of two neighbours each barely holds together: only the shape of the answer is asked for.
            let truth = (listed >= 6).then(|| truth.clone());
            table.case(&format!("{listed} neighbours, {precision:?}"), &Expect::Works(truth), || {
                let lists = NeighborLists::new(&indices, &distances, n, listed)?;
                fit(Input::Neighbors(lists), &Params::lsdg(2).precision(precision))
            });
        }
    }
    let (indices, distances) = lists(&points, 8);
    let run = |indices: &[u32], distances: &[f64]| {
        fit(Input::Neighbors(NeighborLists::new(indices, distances, n, 8)?), &Params::lsdg(2))
    };
    table.case("partial lists warn", &Expect::Warns(|w| *w == Warning::PartialLists { listed: 8 }), || {
        run(&indices, &distances)
    });
    for (name, index, words) in [
        ("an index that is too large", 30, &["neighbors", "row 2, column 3", "30"] as &[&str]),
        ("an index far too large", u32::MAX, &["neighbors", "row 2, column 3"]),
        ("a point in its own list", 2, &["neighbors", "row 2, column 3", "other points"]),
        ("a point listed twice", indices[2 * 8 + 1], &["neighbors", "row 2, column 3", "at most once"]),
    ] {
        let mut bad = indices.clone();
        bad[2 * 8 + 3] = index;
        table.case(name, &Expect::Refused(is_precomputed, words), || run(&bad, &distances));
    }
    for (name, distance, words) in [
        ("a negative distance", -1.0, &["row 2, column 3", "0 or more"] as &[&str]),
        ("a distance that is no number", f64::NAN, &["row 2, column 3", "finite"]),
        ("an infinite distance", f64::INFINITY, &["row 2, column 3", "finite"]),
        ("an unsorted list", 0.5, &["row 2, column 3", "sorted"]),
    ] {
        let mut bad = distances.clone();
        bad[2 * 8 + 3] = distance;
        table.case(name, &Expect::Refused(is_precomputed, words), || run(&indices, &bad));
    }
    table.case("lists of another length", &Expect::Refused(is_shape, &["30 x 7"]), || {
        fit(Input::Neighbors(NeighborLists::new(&indices, &distances, n, 7)?), &Params::lsdg(2))
    });
    table.case("more neighbours than others", &Expect::Refused(is_shape, &["2 x 1"]), || {
        fit(Input::Neighbors(NeighborLists::new(&[1, 0, 0, 1], &[0.0; 4], 2, 2)?), &Params::lsdg(1))
    });
    table.case("empty lists", &Expect::Refused(is_empty, &["5 samples"]), || {
        fit(Input::Neighbors(NeighborLists::new(&[], &[], 5, 0)?), &Params::lsdg(2))
    });
    table.case("no points", &Expect::Refused(is_empty, &["0 samples"]), || {
        fit(Input::Neighbors(NeighborLists::new(&[], &[], 0, 4)?), &Params::lsdg(1))
    });
    table.case("one point", &Expect::Works(Some(vec![0])), || {
        fit(Input::Neighbors(NeighborLists::new(&[], &[], 1, 0)?), &Params::lsdg(1))
    });
    // Pairs of copies: each list holds only points at distance 0.
    let (copies, truth) = hard::repeated(&[0.0, 1.0, 2.0], 9);
    for listed in [5, 8] {
        let (indices, distances) = lists(&copies, listed);
        assert!(distances.iter().all(|d| *d == 0.0));
        table.case(&format!("lists of {listed} copies"), &Expect::Works(Some(truth.clone())), || {
            fit(Input::Neighbors(NeighborLists::new(&indices, &distances, 27, listed)?), &Params::lsdg(3))
        });
    }
    // Scales so far apart that the product of two of them is 0.
    let spread: Vec<f64> =
        (0..20).map(|i| if i < 10 { f64::from(i) * 1e-200 } else { f64::from(i) }).collect();
    for listed in [3, 9] {
        let (indices, distances) = lists(&spread, listed);
        table.case(&format!("{listed} neighbours at 1e-200 and 1"), &Expect::Works(None), || {
            fit(Input::Neighbors(NeighborLists::new(&indices, &distances, 20, listed)?), &Params::lsdg(2))
        });
    }
    table.finish(30);
}

#[test]
fn prepared_data_is_checked_again() {
    let (data, _) = two_groups(10);
    let input = Input::from(Samples::from_rows(&data, 20, 1).unwrap());
    let prepared = PreparedSlices::new(&input, &Params::lsdg(2), &Silent).unwrap();
    assert!(matches!(prepared.fit(&Params::lsdg(0), &Silent), Err(Error::Param(_))));
    assert!(matches!(
        prepared.fit(&Params::lsdg(21), &Silent),
        Err(Error::Data(DataError::TooFewSamples { .. }))
    ));
    assert!(matches!(
        prepared.spectral(&Params::lsdg(21), None, &Silent),
        Err(Error::Data(DataError::TooFewSamples { .. }))
    ));
    for (r, neighbors) in [(1, None), (20, None), (2, Some(0)), (2, Some(usize::MAX))] {
        let labels = prepared.spectral(&Params::lsdg(r), neighbors, &Silent).unwrap();
        assert!(labels.len() == 20 && labels.iter().all(|l| *l < r), "r = {r}: {labels:?}");
    }
    assert!(prepared.correct_rate(&[0; 3]).is_err());
}
