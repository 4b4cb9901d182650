use super::*;
use crate::labels::kmeans::KMeansParams;
use crate::labels::score::score;
use proptest::prelude::*;

fn with(n: usize) -> MakeParams {
    MakeParams { n_samples: Some(n), ..MakeParams::default() }
}

#[test]
fn every_kind_has_a_name_a_line_and_sound_data() {
    for kind in Kind::ALL {
        assert_eq!(kind.name().parse::<Kind>().unwrap(), kind);
        assert!(kind.description().len() > 10);
        let (n, m, k, ..) = kind.shape();
        let made = make(kind, &MakeParams::default()).unwrap();
        assert_eq!((made.n_samples, made.n_features, made.truth.len()), (n, m, n), "{kind}");
        assert_eq!((made.data.len(), made.feature_names.len()), (n * m, m));
        assert!(made.data.iter().all(|v| v.is_finite()));
        assert!((0..k).all(|class| made.truth.contains(&class)) && made.truth.iter().all(|t| *t < k));
        assert_eq!(made, make(kind, &MakeParams::default()).unwrap());
        assert_ne!(made.data, make(kind, &MakeParams { seed: 1, ..MakeParams::default() }).unwrap().data);
    }
    let unknown = "moon".parse::<Kind>().unwrap_err().to_string();
    assert!(unknown.contains("moons, circles"), "{unknown}");
}

#[test]
fn parameters_out_of_range_are_named() {
    let says = |kind, params: MakeParams| make(kind, &params).unwrap_err().to_string();
    for kind in Kind::ALL {
        for noise in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(says(kind, MakeParams { noise: Some(noise), ..with(60) }).contains("noise"), "{kind}");
        }
        assert!(says(kind, with(0)).contains("n_samples = 0"), "{kind}");
        assert!(says(kind, with(usize::MAX)).contains("n_samples"), "{kind}");
    }
    assert!(says(Kind::Moons, MakeParams { clusters: Some(3), ..with(60) }).contains("2 for moons"));
    assert!(says(Kind::Rings, MakeParams { features: Some(3), ..with(60) }).contains("2 for rings"));
    assert!(says(Kind::Blobs, MakeParams { clusters: Some(0), ..with(60) }).contains("clusters = 0"));
    assert!(says(Kind::Blobs, MakeParams { features: Some(0), ..with(60) }).contains("features = 0"));
    assert!(says(Kind::Spirals, MakeParams { clusters: Some(61), ..with(60) }).contains("61 or more"));
    assert!(circles(10, 0.0, f64::NAN, 0).is_err() && circles(10, 0.0, 1.0, 0).is_err());
    assert!(chart(0, 60, 2.0, 0).is_err() && chart(usize::MAX, 60, 2.0, 0).is_err());
}

#[test]
fn charts_have_their_patterns() {
    let made = chart(100, 60, 2.0, 3).unwrap();
    assert_eq!((made.n_samples, made.n_features), (600, 60));
    for (class, chart) in made.truth.iter().zip(made.data.chunks_exact(60)) {
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let change = mean(&chart[40..]) - mean(&chart[..20]);
        let right = match class {
            0 => chart.iter().all(|v| (24.0..=36.0).contains(v)),
            1 => chart.iter().any(|v| *v > 36.0) || chart.iter().any(|v| *v < 24.0),
            2 => change > 4.0,
            3 => change < -4.0,
            4 => change > 3.0,
            _ => change < -3.0,
        };
        assert!(right, "class {class}: {change}");
    }
    // Without noise the patterns are bare.
    let bare = chart(5, 60, 0.0, 3).unwrap();
    assert!(bare.data[..5 * 60].iter().all(|v| *v == 30.0));
    let shifted = &bare.data[4 * 5 * 60..][..60];
    assert_eq!(shifted[18], 30.0);
    assert!(shifted[41] - 30.0 >= 7.5 && shifted[41] - 30.0 <= 20.0);
}

#[test]
fn shapes_lie_where_they_should() {
    let radius = |p: &[f64]| p[0].hypot(p[1]);
    let made = circles(101, 0.0, 0.3, 1).unwrap();
    for (class, p) in made.truth.iter().zip(made.data.chunks_exact(2)) {
        assert!((radius(p) - [1.0, 0.3][*class]).abs() < 1e-14);
    }
    let made = moons(101, 0.0, 1).unwrap();
    for (class, p) in made.truth.iter().zip(made.data.chunks_exact(2)) {
        let center = [[0.0, 0.0], [1.0, 0.5]][*class];
        assert!((radius(&[p[0] - center[0], p[1] - center[1]]) - 1.0).abs() < 1e-14);
    }
    let made = rings(600, 0.0, 1).unwrap();
    let sizes = [0, 1, 2].map(|class| made.truth.iter().filter(|t| **t == class).count());
    assert_eq!(sizes, [100, 200, 300]);
    // On a spiral the nearest other point is on the same arm.
    let made = spirals(300, 3, 0.0, 1).unwrap();
    let points: Vec<&[f64]> = made.data.chunks_exact(2).collect();
    for i in 0..300 {
        let distance = |j: usize| (points[i][0] - points[j][0]).hypot(points[i][1] - points[j][1]);
        let near = (0..300).filter(|j| *j != i).min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap();
        assert_eq!(made.truth[i], made.truth[near]);
    }
}

#[test]
fn varied_blobs_differ_in_size() {
    let made = varied(1000, 3, 4, 1.0, 2).unwrap();
    let sizes: Vec<usize> = (0..4).map(|c| made.truth.iter().filter(|t| **t == c).count()).collect();
    assert!(sizes[0] > 3 * sizes[3] && sizes.iter().sum::<usize>() == 1000, "{sizes:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn mixtures_can_be_found_again(seed in any::<u64>(), m in 1_usize..12, k in 1_usize..9) {
        let made = mixture(400, m, k, 1.0, seed).unwrap();
        prop_assert!(made.data.iter().all(|v| f64::from(*v as f32) == *v));
        // Started from the true centres, nothing can go wrong but a point beyond five deviations.
        let mut centers = vec![0.0; k * m];
        let sizes = share(400, k);
        for (class, row) in made.truth.iter().zip(made.data.chunks_exact(m)) {
            (0..m).for_each(|j| centers[class * m + j] += row[j] / sizes[*class] as f64);
        }
        let labels = crate::labels::kmeans::assign(&made.data, 400, m, &centers).unwrap();
        prop_assert!(score(&labels, &made.truth).unwrap().accuracy > 0.98);
    }

    #[test]
    fn any_sizes_are_met(n in 6_usize..70, k in 1_usize..7, m in 1_usize..5, seed in any::<u64>()) {
        for kind in Kind::ALL {
            let (_, _, fixed_k, choose_m, choose_k) = kind.shape();
            let params = MakeParams {
                n_samples: Some(n),
                clusters: choose_k.then_some(k),
                features: choose_m.then_some(m),
                noise: None,
                seed,
            };
            let made = make(kind, &params).unwrap();
            prop_assert_eq!(made.truth.len(), n);
            let k = if choose_k { k } else { fixed_k };
            prop_assert!((0..k).all(|class| made.truth.contains(&class)), "{} {:?}", kind, made.truth);
            prop_assert!(made.data.iter().all(|v| v.is_finite()));
        }
    }
}

#[test]
fn kmeans_finds_a_mixture() {
    let made = mixture(2000, 8, 6, 1.0, 5).unwrap();
    let found = KMeansParams::new(6).fit(&made.data, 2000, 8, 0).unwrap();
    assert!(score(&found.labels, &made.truth).unwrap().accuracy > 0.999);
}

#[test]
fn kmeans_finds_most_customers() {
    for seed in 0..3 {
        let made = customers(4500, 1.0, seed).unwrap();
        let found = KMeansParams::new(5).restarts(10).fit(&made.data, 4500, 9, seed).unwrap();
        let accuracy = score(&found.labels, &made.truth).unwrap().accuracy;
        assert!((0.92..0.98).contains(&accuracy), "seed {seed}: {accuracy}");
    }
}

#[test]
fn customers_are_standardised_and_have_one_plan() {
    let made = customers(500, 1.0, 3).unwrap();
    for j in 0..9 {
        let column = || made.data.iter().skip(j).step_by(9);
        let mean = column().sum::<f64>() / 500.0;
        let variance = column().map(|x| (x - mean).powi(2)).sum::<f64>() / 500.0;
        assert!(mean.abs() < 1e-12 && (variance - 1.0).abs() < 1e-12, "column {j}: {mean} {variance}");
    }
    assert!(made.data.chunks_exact(9).all(|row| row[6..].iter().filter(|x| **x > 0.0).count() == 1));
}

#[test]
fn overlapping_groups_overlap_alike_in_any_number_of_columns() {
    for m in [2, 16, 128] {
        // The best rule: on which side of the middle of both centres.
        let wrong = |made: &Generated, apart: f64| {
            let middle = apart / 2.0 * (m as f64).sqrt();
            let side = |row: &[f64]| usize::from(row.iter().sum::<f64>() > middle);
            let rows = made.data.chunks_exact(m).zip(&made.truth);
            rows.filter(|(row, class)| side(row) != **class).count() as f64 / made.n_samples as f64
        };
        let (normal, heavy) = (
            wrong(&overlap(4000, m, 2, 1.0, 1).unwrap(), 3.5),
            wrong(&heavy(4000, m, 2, 1.0, 1).unwrap(), 5.0),
        );
        assert!((0.03..0.05).contains(&normal) && (0.03..0.06).contains(&heavy), "{m}: {normal} {heavy}");
    }
    // Heavy tails: the farthest of 1000 points is far beyond what normal ones reach.
    let most = |made: Generated| made.data.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    assert!(most(heavy(1000, 2, 1, 1.0, 1).unwrap()) > 3.0 * most(overlap(1000, 2, 1, 1.0, 1).unwrap()));
}

#[test]
fn stripes_are_long_and_lie_beside_each_other() {
    let made = stripes(900, 3, 0.15, 2).unwrap();
    for (class, p) in made.truth.iter().zip(made.data.chunks_exact(2)) {
        let across = 0.8 * p[1] - 0.6 * p[0];
        assert!((across - *class as f64).abs() < 0.75, "{class}: {across}");
    }
    assert!(made.data.chunks_exact(2).any(|p| 0.8 * p[0] + 0.6 * p[1] > 6.0));
}

/// Results in papers and in the tests of others hang on these values: they may never change.
#[test]
fn values_stay_the_same_for_ever() {
    let mut wrong = Vec::new();
    for (kind, value, class) in FROZEN {
        let made = make(kind, &MakeParams { seed: 7, ..MakeParams::default() }).unwrap();
        let sum: f64 = made.data.iter().enumerate().map(|(i, x)| x * ((i % 97) as f64 - 40.0)).sum();
        let classes: usize = made.truth.iter().enumerate().map(|(i, c)| c * (i % 97)).sum();
        if (sum / value - 1.0).abs() > 1e-9 || classes != class {
            wrong.push((kind, sum, classes));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

const FROZEN: [(Kind, f64, usize); 1] = [(Kind::Customers, -5_887.801_459_304_603, 345_880)];
