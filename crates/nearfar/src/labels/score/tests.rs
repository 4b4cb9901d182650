use super::*;
use proptest::prelude::*;

/// Labels, truth, and accuracy, NMI (arithmetic, geometric, min, max, joint), ARI, purity, precision, recall, F,
/// computed with scikit-learn and SciPy.
type Case = (&'static [i64], &'static [i64], [f64; 11]);

#[allow(clippy::unreadable_literal)]
#[rustfmt::skip]
const CASES: &[Case] = &[
    (&[0, 0, 1, 1, 2, 2, 2, 0], &[1, 1, 0, 0, 0, 2, 2, 2], [0.75, 0.5588730382170324, 0.5588730382170324, 0.5588730382170324, 0.5588730382170324, 0.38780277729700685, 0.23809523809523808, 0.75, 0.42857142857142855, 0.42857142857142855, 0.42857142857142855]),
    (&[0, 1, 2, 3, 4, 4, 3, 2], &[0, 0, 0, 1, 1, 1, 2, 2], [0.5, 0.5569145519180608, 0.5662364415585568, 0.6797495640482293, 0.47167916642628116, 0.38591931798513907, 0.058823529411764705, 0.75, 0.3333333333333333, 0.14285714285714285, 0.2]),
    (&[0, 0, 0, 1, 1, 1, 1, 1], &[0, 1, 2, 3, 0, 1, 2, 3], [0.375, 0.13839131469687238, 0.1479671070911712, 0.21419396448413905, 0.1022170014624823, 0.07433963742725984, -0.12903225806451613, 0.375, 0.07692307692307693, 0.25, 0.11764705882352941]),
    (&[0, 1, 2, 3], &[5, 5, 5, 5], [0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]),
    (&[4, 3, 2, 1, 1, 0, 0, 0, 0, 4, 3, 4, 2, 3, 4, 3, 3, 2, 2, 4, 1, 4, 3, 0], &[1, 2, 1, 0, 2, 2, 2, 0, 0, 2, 0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 2, 1, 1], [0.3333333333333333, 0.1346300035030775, 0.13709033286010244, 0.16592391514484744, 0.11326733308629562, 0.07217335100055558, -0.030697546937097437, 0.5416666666666666, 0.2857142857142857, 0.1590909090909091, 0.20437956204379562]),
];

#[test]
fn agrees_with_scikit_learn() {
    let normalizers =
        [Normalizer::Arithmetic, Normalizer::Geometric, Normalizer::Min, Normalizer::Max, Normalizer::Joint];
    for (labels, truth, expected) in CASES {
        let mut found = vec![accuracy(labels, truth).unwrap()];
        found.extend(normalizers.map(|n| nmi(labels, truth, n).unwrap()));
        found.push(adjusted_rand(labels, truth).unwrap());
        found.push(purity(labels, truth).unwrap());
        let pairs = pair_f1(labels, truth).unwrap();
        found.extend([pairs.precision, pairs.recall, pairs.f1]);
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!((found - expected).abs() < 1e-14, "score {i} of {labels:?}: {found}, not {expected}");
        }
    }
}

#[test]
fn worked_by_hand() {
    // Clusters {0,1,2}, {3,4}; classes {0,1}, {2,3,4}: 4 of 5 match; 2 pairs in both, 4 in each.
    let scores = score(&[0, 0, 0, 1, 1], &[7_usize, 7, 8, 8, 8]).unwrap();
    assert_eq!((scores.accuracy, scores.purity, scores.pair_f1), (0.8, 0.8, 0.5));
    assert!((scores.ari - (2.0 - 1.6) / (4.0 - 1.6)).abs() < 1e-15);
}

#[test]
fn more_clusters_than_classes_and_fewer() {
    assert_eq!(accuracy(&[0, 1, 2, 3], &[0, 0, 1, 1]).unwrap(), 0.5);
    assert_eq!(accuracy(&[0, 0, 1, 1], &[0, 1, 2, 3]).unwrap(), 0.5);
    // A label per sample must stay cheap.
    let own: Vec<usize> = (0..20_000).collect();
    assert_eq!(score(&own, &own).unwrap().accuracy, 1.0);
    assert_eq!(accuracy(&own, &vec!["all"; 20_000]).unwrap(), 1.0 / 20_000.0);
}

#[test]
fn trivial_partitions_have_an_answer() {
    let all =
        [Normalizer::Arithmetic, Normalizer::Geometric, Normalizer::Min, Normalizer::Max, Normalizer::Joint];
    for normalizer in all {
        assert_eq!(nmi(&[0, 0, 0], &[5, 5, 5], normalizer).unwrap(), 1.0);
        assert_eq!(nmi(&[0, 0, 0], &[5, 6, 5], normalizer).unwrap(), 0.0);
        assert_eq!(nmi(&[5, 6, 5], &[1, 1, 1], normalizer).unwrap(), 0.0);
        assert_eq!(nmi(&[1], &[2], normalizer).unwrap(), 1.0);
    }
    for labels in [[0, 0, 0], [0, 1, 2]] {
        let scores = score(&labels, &labels).unwrap();
        let expected = Scores { accuracy: 1.0, nmi: 1.0, ari: 1.0, purity: 1.0, pair_f1: 1.0 };
        assert_eq!(scores, expected);
    }
    assert_eq!(score(&[1], &[9]).unwrap().ari, 1.0);
}

#[test]
fn lengths_are_checked() {
    let empty: [usize; 0] = [];
    assert!(score(&empty, &empty).unwrap_err().to_string().contains("no labels"));
    assert!(score(&[1, 2], &[1]).unwrap_err().to_string().contains("2 against 1"));
}

/// Best matching by trying every order of four clusters.
fn best_of_all_orders(labels: &[usize], truth: &[usize]) -> f64 {
    let mut best = 0;
    for code in 0..256_usize {
        let to = [code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6 & 3];
        if (0..4).all(|i| to.contains(&i)) {
            best = best.max(labels.iter().zip(truth).filter(|(l, t)| to[**l] == **t).count());
        }
    }
    best as f64 / labels.len() as f64
}

proptest! {
    #[test]
    fn rules_that_hold_for_any_labels(
        pairs in prop::collection::vec((0_usize..4, 0_usize..4), 1..60),
        shift in 1_usize..4,
    ) {
        let (labels, truth): (Vec<usize>, Vec<usize>) = pairs.into_iter().unzip();
        let scores = score(&labels, &truth).unwrap();
        prop_assert_eq!(scores.accuracy, best_of_all_orders(&labels, &truth));
        for value in [scores.accuracy, scores.nmi, scores.purity, scores.pair_f1] {
            prop_assert!((0.0..=1.0).contains(&value));
        }
        prop_assert!(scores.ari <= 1.0 + 1e-15 && scores.ari >= -1.0);
        prop_assert!(scores.purity >= scores.accuracy);
        // Names do not matter, and all but purity are the same both ways.
        let renamed: Vec<usize> = labels.iter().map(|l| (l + shift) % 4).collect();
        let again = score(&renamed, &truth).unwrap();
        prop_assert_eq!(again.accuracy, scores.accuracy);
        prop_assert!((again.nmi - scores.nmi).abs() < 1e-13);
        let back = score(&truth, &labels).unwrap();
        prop_assert_eq!(back.accuracy, scores.accuracy);
        prop_assert!((back.nmi - scores.nmi).abs() < 1e-13);
        prop_assert!((back.ari - scores.ari).abs() < 1e-13);
        let same = score(&labels, &renamed).unwrap();
        prop_assert_eq!((same.accuracy, same.ari, same.purity, same.pair_f1), (1.0, 1.0, 1.0, 1.0));
        prop_assert!((same.nmi - 1.0).abs() < 1e-14);
    }
}
