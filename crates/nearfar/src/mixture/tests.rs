//! Against the prototype, on planted mixtures, on shapes that are none, and on bad tables.

use std::path::Path;

use nearfar_testkit::golden::Golden;

use super::columns::Columns;
use super::fit::{TAILS, expected};
use super::parts::{Block, Kind, Parts, Sums};
use super::{BLOCK, Covariance, Effort, Fit, MixtureReport, count_by_mixture, some_rows, try_mixture};
use crate::generate::{circles, moons};
use crate::input::Samples;
use crate::labels::score::adjusted_rand;
use crate::math::rng::Stream;
use crate::observe::{CancelFlag, Silent};

const KINDS: [(&str, Covariance); 4] = [
    ("full", Covariance::Full),
    ("tied", Covariance::Tied),
    ("diag", Covariance::Diag),
    ("spherical", Covariance::Spherical),
];

fn near(what: &str, ours: &[f64], theirs: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), theirs.len(), "{what}: lengths differ");
    let worst = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs() / b.abs().max(1.0)).fold(0.0, f64::max);
    assert!(worst <= tolerance, "{what}: off by {worst:e}, allowed {tolerance:e}");
}

/// k × rows to rows × k.
fn turned(values: &[f64], k: usize) -> Vec<f64> {
    let n = values.len() / k;
    (0..n).flat_map(|i| (0..k).map(move |a| values[a * n + i])).collect()
}

fn covariance_of(parts: &Parts) -> Vec<f64> {
    let m = parts.m;
    let of = |factor: &[f64]| -> Vec<f64> {
        let l = |i: usize, j: usize| match parts.covariance {
            _ if j > i => 0.0,
            Covariance::Full | Covariance::Tied => factor[i * (i + 1) / 2 + j],
            _ => {
                if i == j {
                    factor[i]
                } else {
                    0.0
                }
            }
        };
        (0..m * m).map(|at| (0..m).map(|t| l(at / m, t) * l(at % m, t)).sum()).collect()
    };
    (0..parts.k).flat_map(|a| of(&parts.factors[a.min(parts.factors.len() - 1)])).collect()
}

#[test]
fn steps_agree_with_the_prototype() {
    let golden =
        Golden::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/fast_mixture.npz"));
    let (n, k) = (150, 3);
    let x = golden.array("X");
    let samples = Samples::from_rows(&x, n, x.len() / n).unwrap();
    let which = some_rows(n, n, 0);
    let columns = Columns::of(&samples, &which, true, &Silent).unwrap().unwrap();
    let starts: Vec<f64> = columns.categories.iter().map(|c| c.columns[0] as f64).collect();
    let sizes: Vec<f64> = columns.categories.iter().map(|c| c.columns.len() as f64).collect();
    // The prototype numbers them without the constant column, which is the fourth.
    let theirs: Vec<f64> =
        golden.array("group_starts").iter().map(|j| if *j < 3.0 { *j } else { j + 1.0 }).collect();
    assert_eq!((starts, sizes), (theirs, golden.array("group_sizes")));
    let table = columns.show(&samples, &which);
    near("Y", &turned(&table.numbers, table.m), &golden.array("Y"), 1e-12);
    let codes: Vec<f64> = (0..n).flat_map(|i| table.codes.iter().map(move |c| f64::from(c[i]))).collect();
    assert_eq!(codes, golden.array("C"));

    let (r, pull) = (golden.array("R"), golden.array("pull"));
    for (name, covariance) in KINDS {
        for tail in TAILS {
            let name = format!("{name}_{}", tail.map_or("normal".into(), |nu| format!("{nu}")));
            let kind = Kind { covariance, tail };
            let mut block = Block::default();
            let sums = Sums::over(&table, k, covariance, &mut block, |start, block| {
                let at = |a: usize, i: usize| (start + i) * k + a;
                let places: Vec<usize> =
                    (0..k).flat_map(|a| (0..block.count).map(move |i| at(a, i))).collect();
                block.r = places.iter().map(|at| r[*at]).collect();
                block.w = places.iter().map(|at| r[*at] * pull[*at]).collect();
            });
            let parts = Parts::of(&sums, kind, &table);
            near(&format!("{name} mean"), &parts.mean, &golden.array(&format!("{name}_mean")), 1e-10);
            near(
                &format!("{name} cov"),
                &covariance_of(&parts),
                &golden.array(&format!("{name}_cov")),
                1e-10,
            );
            for (g, table) in parts.tables.iter().enumerate() {
                near(&format!("{name} table"), table, &golden.array(&format!("{name}_table{g}")), 1e-10);
            }
            let (theirs, their_pull) =
                (golden.array(&format!("{name}_lp")), golden.array(&format!("{name}_pull")));
            assert!(n <= BLOCK, "one block");
            block.look(&table, 0, covariance);
            parts.log_joint_fast(&parts.distances(), &table, 0, &mut block);
            near(&format!("{name} fast"), &turned(&block.r, k), &theirs, 1e-10);
            near(&format!("{name} fast pull"), &turned(&block.w, k), &their_pull, 1e-10);
            let codes: Vec<&[u16]> = table.codes.iter().map(Vec::as_slice).collect();
            parts.log_joint(&table.numbers, &codes, n, &mut block);
            near(&format!("{name} log joint"), &turned(&block.r, k), &theirs, 1e-10);
            near(&format!("{name} pull"), &turned(&block.w, k), &their_pull, 1e-10);

            let sums = Sums::over(&table, k, covariance, &mut block, |start, block| {
                let label = |i: usize| (start + i) * k / n;
                block.r = (0..k)
                    .flat_map(|a| (0..block.count).map(move |i| f64::from(u8::from(label(i) == a))))
                    .collect();
                block.w = block.r.clone();
            });
            let parts = Parts::of(&sums, kind, &table);
            let mut logs = 0.0;
            expected(&table, &parts, &mut block, &mut logs);
            let bic = parts.bic(&table, logs / n as f64);
            near(&format!("{name} bic"), &[bic], &golden.array(&format!("{name}_bic")), 1e-10);
        }
    }
}

/// Rows around planted centres: k groups of unequal size and shape, with tails of Student's t.
fn planted(n: usize, m: usize, k: usize, tail: Option<u32>, apart: f64, seed: u64) -> (Vec<f64>, Vec<u32>) {
    let mut random = Stream::new(seed, 77);
    let centers: Vec<f64> = (0..k * m).map(|_| apart * random.normal()).collect();
    let turns: Vec<f64> = (0..k * m * m).map(|_| 0.6 * random.normal() / (m as f64).sqrt()).collect();
    let (mut rows, mut truth) = (Vec::new(), Vec::new());
    for i in 0..n {
        let part = if i < k { i } else { (random.uniform().powf(1.3) * k as f64) as usize };
        let wide = tail.map_or(1.0, |nu| {
            let squares: f64 = (0..nu).map(|_| random.normal().powi(2)).sum();
            (f64::from(nu) / squares).sqrt()
        });
        let z: Vec<f64> = (0..m).map(|_| wide * random.normal()).collect();
        for j in 0..m {
            let turn = &turns[(part * m + j) * m..(part * m + j + 1) * m];
            let mixed: f64 = turn.iter().zip(&z).map(|(a, z)| a * z).sum();
            rows.push(centers[part * m + j] + 0.7 * z[j] + mixed);
        }
        truth.push(part as u32);
    }
    (rows, truth)
}

fn agreement(a: &[u32], b: &[u32]) -> f64 {
    let wide = |labels: &[u32]| labels.iter().map(|label| *label as usize).collect::<Vec<usize>>();
    adjusted_rand(&wide(a), &wide(b)).unwrap()
}

fn tried(rows: &[f64], n: usize, k: usize, effort: Effort) -> (Vec<u32>, Vec<f64>, MixtureReport, Fit) {
    let samples = Samples::from_rows(rows, n, rows.len() / n).unwrap();
    let (fit, report) = try_mixture(&samples, k, 0, effort, &Silent).unwrap().unwrap();
    let (labels, posteriors) = fit.label(&samples, &Silent).unwrap();
    assert!(labels.iter().all(|label| (*label as usize) < k));
    assert!(posteriors.iter().all(|p| (0.0..=1.0).contains(p)), "a posterior is no share");
    (labels, posteriors, report, fit)
}

#[test]
fn planted_mixtures_are_recovered() {
    for (n, m, k, tail, apart) in [
        (600, 2, 3, None, 8.0),
        (1500, 5, 6, None, 5.0),
        (1200, 4, 4, Some(5), 8.0),
        (1500, 3, 3, Some(2), 12.0),
    ] {
        let (rows, truth) = planted(n, m, k, tail, apart, 3);
        let (labels, _, report, _) = tried(&rows, n, k, Effort::Test);
        assert!(report.explains, "{n} × {m}, {k} parts: {report:?}");
        assert_eq!(report.tail.is_some(), tail.is_some(), "{report:?}");
        let found = agreement(&labels, &truth);
        assert!(found > 0.9, "{n} × {m}, {k} parts: ARI {found}");
    }
}

#[test]
fn shapes_are_refused() {
    for (what, made) in [("moons", moons(1000, 0.05, 0)), ("circles", circles(1000, 0.03, 0.5, 0))] {
        let made = made.unwrap();
        let (_, _, report, _) = tried(&made.data, 1000, 2, Effort::Test);
        assert!(!report.explains, "{what}: {report:?}");
        let samples = Samples::from_rows(&made.data, 1000, 2).unwrap();
        let counted = count_by_mixture(&samples, 0, &Silent).unwrap();
        assert!(counted.is_none(), "{what}: {:?}", counted.map(|found| found.1));
    }
}

#[test]
fn parts_are_counted() {
    for (n, m, k) in [(600, 2, 3), (1500, 4, 7)] {
        let (rows, _) = planted(n, m, k, None, 9.0, 5);
        let samples = Samples::from_rows(&rows, n, m).unwrap();
        let found = count_by_mixture(&samples, 0, &Silent).unwrap().map(|(_, report)| report.parts);
        assert_eq!(found, Some(k));
    }
}

#[test]
fn drawn_rows_pass_their_own_test() {
    let (rows, _) = planted(800, 3, 4, Some(5), 4.0, 9);
    let (_, _, _, fit) = tried(&rows, 800, 4, Effort::Fit);
    let mut random = Stream::new(4, 4);
    let mut row = vec![0.0; 3];
    let mut drawn_rows = Vec::new();
    for _ in 0..800 {
        fit.parts.draw(&mut random, &mut row, &mut []);
        drawn_rows.extend_from_slice(&row);
    }
    let (_, _, report, _) = tried(&drawn_rows, 800, 4, Effort::Test);
    assert!(report.explains, "{report:?}");
}

/// 4,500 customers: six numbers in five groups, a category of three levels that leans on the group.
fn customers(seed: u64) -> (Vec<f64>, Vec<u32>) {
    let (n, m) = (4500, 6);
    let (numbers, truth) = planted(n, m, 5, None, 2.2, seed);
    let mut random = Stream::new(seed, 78);
    let mut rows = Vec::with_capacity(n * 9);
    for i in 0..n {
        rows.extend_from_slice(&numbers[i * m..(i + 1) * m]);
        let level = if random.uniform() < 0.6 { truth[i] as usize % 3 } else { random.below(3) };
        rows.extend((0..3).map(|j| f64::from(u8::from(j == level))));
    }
    for j in 0..9 {
        let mean = rows.iter().skip(j).step_by(9).sum::<f64>() / n as f64;
        let square = rows.iter().skip(j).step_by(9).map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        rows.iter_mut().skip(j).step_by(9).for_each(|x| *x = (*x - mean) / square.sqrt());
    }
    (rows, truth)
}

#[test]
fn customers_are_recovered() {
    let (rows, truth) = customers(1);
    let (labels, _, report, fit) = tried(&rows, 4500, 5, Effort::Test);
    assert_eq!(fit.columns.categories.len(), 1);
    assert_eq!(fit.columns.numbers.len(), 6);
    assert!(report.explains, "{report:?}");
    let found = agreement(&labels, &truth);
    assert!(found > 0.8, "ARI {found}, {report:?}");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (rows, _) = customers(2);
    let at = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| tried(&rows[..1500 * 9], 1500, 5, Effort::Test))
    };
    let one = at(1);
    assert_eq!(one, at(2));
    assert_eq!(one, at(3));
}

#[test]
fn a_saved_fit_labels_the_same() {
    let (rows, _) = customers(3);
    let (labels, posteriors, _, fit) = tried(&rows[..900 * 9], 900, 4, Effort::Fit);
    let again: Fit = serde_json::from_str(&serde_json::to_string(&fit).unwrap()).unwrap();
    assert_eq!(again, fit);
    // One row at a time gets what it got among the others.
    for i in [0, 1, 300, 899] {
        let one = Samples::from_rows(&rows[i * 9..(i + 1) * 9], 1, 9).unwrap();
        assert_eq!(again.label(&one, &Silent).unwrap(), (vec![labels[i]], vec![posteriors[i]]));
    }
    assert!(again.label(&Samples::from_rows(&rows[..8], 1, 8).unwrap(), &Silent).is_err());
    // A row far outside all that was seen, and one with no level of the category.
    let far = [f64::MAX, f64::MIN, 1e200, 0.0, 1e-300, -1e300, 0.0, 0.0, 0.0];
    let (_, posterior) = again.label(&Samples::from_rows(&far, 1, 9).unwrap(), &Silent).unwrap();
    assert!((0.0..=1.0).contains(&posterior[0]), "{posterior:?}");
}

#[test]
fn bad_tables_get_a_clean_answer() {
    let mut random = Stream::new(1, 1);
    let mut normal = |len: usize, by: f64| -> Vec<f64> { (0..len).map(|_| by * random.normal()).collect() };
    let mut outlier = normal(200, 1.0);
    outlier[17] = 1e12;
    let mut constant = normal(200, 1.0);
    constant.iter_mut().step_by(2).for_each(|x| *x = 0.1);
    let categories: Vec<f64> = (0..300).map(|i| f64::from(i % 3 == i / 100 || i % 7 == 2)).collect();
    let mut repeated = normal(8, 1.0);
    repeated = repeated.repeat(25);
    let cases: Vec<(&str, Vec<f64>, usize, usize)> = vec![
        ("huge", normal(200, 1e300), 100, 2),
        ("tiny", normal(200, 1e-300), 100, 2),
        ("smallest", normal(200, 1e-310), 100, 2),
        ("outlier", outlier, 100, 2),
        ("constant column", constant, 100, 2),
        ("copies", repeated, 100, 4),
        ("one column", normal(100, 1.0), 100, 3),
        ("categories only", categories, 100, 2),
        ("few rows", normal(12, 1.0), 6, 5),
        ("as many parts as rows", normal(12, 1.0), 6, 6),
        ("one part", normal(100, 3.0), 50, 1),
        ("wide", normal(50 * 40, 1.0), 50, 3),
        ("very wide", normal(20 * 300, 1.0), 20, 2),
    ];
    for (what, rows, n, k) in cases {
        println!("{what}");
        for effort in [Effort::Fit, Effort::Test] {
            let samples = Samples::from_rows(&rows, n, rows.len() / n).unwrap();
            if try_mixture(&samples, k, 0, effort, &Silent).unwrap().is_some() {
                let (labels, _, report, _) = tried(&rows, n, k, effort);
                assert_eq!(labels.len(), n);
                let shown = [report.told, report.sharpness, report.drawn_sharpness, report.certainty];
                assert!(shown.iter().all(|x| x.is_finite()), "{what}: {report:?}");
            } else {
                assert!(effort == Effort::Test, "{what}: nothing was fitted");
            }
            count_by_mixture(&samples, 0, &Silent).unwrap();
        }
    }
    let flat = [2.5; 60];
    let samples = Samples::from_rows(&flat, 30, 2).unwrap();
    assert!(try_mixture(&samples, 2, 0, Effort::Fit, &Silent).unwrap().is_none());
    assert!(count_by_mixture(&samples, 0, &Silent).unwrap().is_none());
    let few = normal(10, 1.0);
    assert!(
        try_mixture(&Samples::from_rows(&few, 5, 2).unwrap(), 6, 0, Effort::Fit, &Silent).unwrap().is_none()
    );
}

#[test]
fn a_run_can_be_stopped() {
    let (rows, _) = planted(500, 3, 3, None, 5.0, 1);
    let samples = Samples::from_rows(&rows, 500, 3).unwrap();
    let flag = CancelFlag::default();
    flag.cancel();
    assert!(try_mixture(&samples, 3, 0, Effort::Test, &flag).is_err());
    assert!(count_by_mixture(&samples, 0, &flag).is_err());
}

#[test]
fn wide_overlapping_groups_are_a_mixture_although_their_graphs_vary() {
    // In 128 columns the sharpness of one draw is no measure of the next one's.
    for seed in [1002, 1004] {
        let made = crate::generate::overlap(1000, 128, 2, 1.0, seed).unwrap();
        let samples = Samples::from_rows(&made.data, 1000, 128).unwrap();
        let (fit, report) = try_mixture(&samples, 2, 0, Effort::Test, &Silent).unwrap().unwrap();
        let (labels, _) = fit.label(&samples, &Silent).unwrap();
        let truth: Vec<u32> = made.truth.iter().map(|class| *class as u32).collect();
        let found = agreement(&labels, &truth);
        assert!(report.explains && found > 0.75, "{seed}: {found} {report:?}");
    }
}
#[test]
fn overlapping_groups_are_counted() {
    for seed in 0..4 {
        let made = crate::generate::blobs(1500, 2, 5, 1.2, seed).unwrap();
        let samples = Samples::from_rows(&made.data, 1500, 2).unwrap();
        let found = count_by_mixture(&samples, 0, &Silent).unwrap().map(|(_, report)| report.parts);
        assert_eq!(found, Some(5), "seed {seed}");
    }
}

#[test]
fn rows_that_take_turns_are_a_mixture_like_any_other() {
    // Every twentieth row is of the same group: looking at every so-many-th row would miss most of the groups.
    let made = crate::generate::mixture(5000, 16, 20, 1.0, 1).unwrap();
    let (labels, _, report, _) = tried(&made.data, 5000, 20, Effort::Test);
    assert!(report.explains, "{report:?}");
    let truth: Vec<u32> = made.truth.iter().map(|class| *class as u32).collect();
    assert!(agreement(&labels, &truth) > 0.999);
}
