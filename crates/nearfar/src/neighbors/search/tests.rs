//! Searches find what a full sort finds, and tell how much of it.

use rayon::prelude::*;

use super::*;
use crate::generate::mixture;
use crate::input::{Metric, Samples};
use crate::math::rng::Stream;
use crate::observe::Silent;

fn naive(points: &Points<'_>, n: usize, k: usize) -> Vec<u32> {
    (0..n)
        .flat_map(|i| {
            let mut row: Vec<(f64, u32)> =
                (0..n).filter(|j| *j != i).map(|j| (points.distance2(i, j), j as u32)).collect();
            row.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            row.into_iter().take(k).map(|(_, j)| j).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn blocks_find_what_a_full_sort_finds() {
    // Far from the origin; tied integers; duplicates; one far outlier; all equal.
    type Shape = fn(f64, usize) -> f64;
    let cases: [(usize, usize, Shape); 6] = [
        (300, 30, |x, _| x + 1e3),
        (260, 3, |x, _| (3.0 * x).round()),
        (150, 40, |x, _| (8.0 * x).round()),
        (200, 5, |x, i| if i < 5 { 1e12 } else { x }),
        (140, 2, |_, _| 0.25),
        (3, 2, |x, _| x),
    ];
    let mut random = Stream::new(4, 4);
    for (n, m, shape) in cases {
        let data: Vec<f64> = (0..n * m).map(|at| shape(random.normal(), at)).collect();
        let samples = Samples::from_rows(&data, n, m).unwrap();
        let points = Points::rows_only(&samples, Metric::Euclidean).unwrap();
        for k in [1, 7, n - 1] {
            let (found, report) = search(&points, k, (SearchBy::Auto, None), &Silent).unwrap();
            assert_eq!(found.indices, naive(&points, n, k), "{n} x {m}, k = {k}");
            assert_eq!(report, SearchReport::EXACT);
        }
    }
}

#[test]
fn many_copies_of_one_point_change_no_list() {
    // Three of four are copies of one row, some with its zero negative; a few are copies of another; distances
    // far below what products can tell.
    let (n, m) = (3000, 6);
    let mut random = Stream::new(5, 5);
    let row = |i: usize| match i % 8 {
        0 if i.is_multiple_of(16) => [0.5; 6],
        0 | 1 => [0.0; 6].map(|_| random.normal()),
        2 => [1.0, -0.0, 3.0, 4.0, 5.0, 6.0],
        3 => [1.0, 0.0, 3.0, 4.0, 5.0, 6.0 + 1e-9 * (i / 800) as f64],
        _ => [1.0, 0.0, 3.0, 4.0, 5.0, 6.0],
    };
    let data: Vec<f64> = (0..n).flat_map(row).collect();
    let samples = Samples::from_rows(&data, n, m).unwrap();
    let points = Points::rows_only(&samples, Metric::Euclidean).unwrap();
    let mean = points.mean();
    let rows = Centred { points: &points, mean: &mean };
    let singles = Singles::new(rows, (0..n as u32).rev().collect(), 0, 9);
    let hidden = singles.low.iter().filter(|low| low.is_nan()).count();
    assert!(hidden > n / 2, "only {hidden} copies are left out");
    for k in [1, 9, 40] {
        let (found, _) = search(&points, k, (SearchBy::Exact, None), &Silent).unwrap();
        assert!(found.indices == naive(&points, n, k), "k = {k}");
    }
}

#[test]
fn cells_reach_the_recall_they_report() {
    let n = 6000;
    let data = mixture(n, 12, 9, 3.0, 2).unwrap();
    let samples = Samples::from_rows(&data.data, n, 12).unwrap();
    let points = Points::rows_only(&samples, Metric::Euclidean).unwrap();
    let (found, report) = search(&points, 20, (SearchBy::Cells, None), &Silent).unwrap();
    let (truth, _) = search(&points, 20, (SearchBy::Exact, None), &Silent).unwrap();
    let hits =
        (0..n).map(|i| truth.row(i).0.iter().filter(|j| found.row(i).0.contains(j)).count()).sum::<usize>();
    let recall = hits as f64 / (n * 20) as f64;
    assert!(report.approximate, "a mixture has cells that need no look");
    assert!(recall >= 0.97 && (recall - report.recall).abs() < 0.02, "{recall} {report:?}");
    let again = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let again = again.install(|| search(&points, 20, (SearchBy::Cells, None), &Silent).unwrap());
    assert!(again == (found, report), "lists depend on the number of threads");
}

#[test]
fn neighbours_of_neighbours_reach_the_recall_they_report() {
    let (n, k) = (4000, 40);
    // Few features, as they are; many, of which a sketch is made; and copies, whose ties are settled by number.
    let wide = mixture(n, 200, 8, 3.0, 5).unwrap().data;
    let cases = [
        ("surface", 32, surface(n)),
        ("wide", 200, wide),
        ("copies", 2, (0..n * 2).map(|at| (at / 2 % 13) as f64).collect()),
    ];
    for (name, m, data) in cases {
        let samples = Samples::from_rows(&data, n, m).unwrap();
        let points = Points::rows_only(&samples, Metric::Euclidean).unwrap();
        let (truth, _) = search(&points, k, (SearchBy::Exact, None), &Silent).unwrap();
        let everybody: Vec<usize> = (0..n).collect();
        let found = |guess, threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| search(&points, k, (SearchBy::Descent, guess), &Silent).unwrap())
        };
        let (lists, report) = found(None, 2);
        let recall = lists.recall(&everybody, &truth.indices);
        assert!(report.approximate, "{name}: {report:?}");
        assert!(recall > 0.95 && (recall - report.recall).abs() < 0.03, "{name}: {recall}, {report:?}");
        assert!(found(None, 3) == (lists, report), "{name}: lists depend on the number of threads");
        let near = |i: usize| {
            let row = truth.row(i);
            row.1.iter().all(|value| value.is_finite()) && row.0.iter().all(|j| *j as usize != i)
        };
        assert!(everybody.iter().all(|i| near(*i)), "{name}: somebody is its own neighbour");
        // A guess that is right is not lost.
        let (guessed, _) = found(Some(Guess { k, indices: &truth.indices }), 2);
        assert!(guessed.recall(&everybody, &truth.indices) > 0.97, "{name}: a good guess was lost");
    }
}

/// A surface of three parameters, bent through 32 features.
fn surface(n: usize) -> Vec<f64> {
    let mut random = Stream::new(6, 1);
    let bend = |at: [f64; 3], j: usize| {
        let j = j as f64;
        (at[0] * (1.0 + 0.1 * j) + j).sin() + (at[1] * 0.7 - j).cos() * at[2]
    };
    let place = |_| {
        let at = [0.0; 3].map(|_| 3.0 * random.uniform());
        (0..32).map(move |j| bend(at, j)).collect::<Vec<_>>()
    };
    (0..n).flat_map(place).collect()
}

#[test]
fn cells_find_95_of_100_neighbours_in_larger_sets() {
    let (n, k) = (24_000, 64);
    let sets = [
        ("a surface of 3 parameters", 32, surface(n)),
        ("a mixture in 64 features", 64, mixture(n, 64, 20, 3.0, 7).unwrap().data),
    ];
    for (name, m, data) in sets {
        let data: Vec<f32> = data.iter().map(|x| *x as f32).collect();
        let samples = Samples::from_rows(&data, n, m).unwrap();
        let points = Points::rows_only(&samples, Metric::Euclidean).unwrap();
        let (found, report) = search(&points, k, (SearchBy::Cells, None), &Silent).unwrap();
        assert!(report.approximate, "{name}: cells made one look at most pairs");
        let asked: Vec<usize> = (0..n).step_by(61).collect();
        let of = |i: &usize| {
            let mut row: Vec<(f64, u32)> =
                (0..n).filter(|j| j != i).map(|j| (points.distance2(*i, j), j as u32)).collect();
            row.select_nth_unstable_by(k - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            row[..k].iter().filter(|(_, j)| found.row(*i).0.contains(j)).count()
        };
        let hits: usize = asked.par_iter().map(of).sum();
        let recall = hits as f64 / (asked.len() * k) as f64;
        assert!(recall >= 0.95 && (recall - report.recall).abs() < 0.02, "{name}: {recall} {report:?}");
    }
}
