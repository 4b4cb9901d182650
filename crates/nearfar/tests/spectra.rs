//! Separated data, end to end: graphs in pieces, whose leading eigenvalue is repeated.

use nearfar::labels::score::adjusted_rand;
use nearfar::{Input, Model, Params, Precision, Preset, Samples, Warning, fit};
use nearfar_testkit::hard::{blobs_on_a_line, random_order, reordered};

/// Blobs very far apart, in a random order.
fn separated(sizes: &[usize], seed: u64) -> (Vec<f64>, Vec<usize>) {
    let (data, truth) = blobs_on_a_line(sizes, 2, 1.0, 1e4, seed);
    let order = random_order(truth.len(), seed);
    (reordered(&data, 2, &order), order.iter().map(|i| truth[*i]).collect())
}

fn run(data: &[f64], params: &Params) -> Model {
    let n = data.len() / 2;
    fit(Samples::from_rows(data, n, 2).unwrap(), params).unwrap()
}

/// How many eigenvalues are 1 up to `tolerance`.
fn ones(model: &Model, tolerance: f64) -> usize {
    model.eigenvalues.iter().filter(|v| (**v - 1.0).abs() < tolerance).count()
}

#[test]
fn as_many_pieces_as_clusters() {
    // Below and above the size at which the partial eigensolver takes over.
    for (sizes, seed) in [
        (&[30, 30, 30][..], 0),
        (&[45, 45], 1),
        (&[25, 40, 55, 30, 25], 2),
        (&[100, 90, 110, 100], 3),
        (&[50; 10], 4),
    ] {
        let (data, truth) = separated(sizes, seed);
        for precision in [Precision::Double, Precision::Single] {
            let model = run(&data, &Params::lsdg(sizes.len()).seed(seed).precision(precision));
            let ari = adjusted_rand(&model.labels, &truth).unwrap();
            assert_eq!(ari, 1.0, "{sizes:?}, {precision:?}: eigenvalues {:?}", model.eigenvalues);
            assert!(model.eigenvalues.windows(2).all(|v| v[0] >= v[1]), "{:?}", model.eigenvalues);
            assert!(
                !model.warnings.iter().any(|w| matches!(w, Warning::Spectrum { .. })),
                "{:?}",
                model.warnings
            );
            // Every cluster is a piece of its own: r eigenvalues near 1, a gap, and sure memberships.
            let (r, values) = (sizes.len(), &model.eigenvalues);
            assert!(values[r - 1] - values[r] > 0.02, "{sizes:?}: no gap in {values:?}");
            for (row, label) in model.membership.chunks_exact(r).zip(&model.labels) {
                assert!(row[*label] > 0.6, "{row:?}");
            }
        }
    }
}

/// Rings of equal size that are not connected at all: an exactly repeated eigenvalue.
fn ring_affinities(rings: usize, side: usize) -> (Vec<f64>, Vec<usize>) {
    let n = rings * side;
    let mut affinities = vec![0.0; n * n];
    for ring in 0..rings {
        for i in 0..side {
            for step in 1..=5 {
                // Point i of a ring stands at i · rings + ring: rings are interleaved.
                let (a, b) = (i * rings + ring, (i + step) % side * rings + ring);
                (affinities[a * n + b], affinities[b * n + a]) = (1.0, 1.0);
            }
        }
    }
    (affinities, (0..n).map(|i| i % rings).collect())
}

#[test]
fn exactly_repeated_eigenvalues() {
    for (rings, side) in [(2, 40), (3, 60), (5, 90)] {
        let (affinities, truth) = ring_affinities(rings, side);
        let n = rings * side;
        let input = Input::Affinities(Samples::from_rows(&affinities, n, n).unwrap());
        let model = fit(input, &Params::lsdg(rings)).unwrap();
        assert_eq!(adjusted_rand(&model.labels, &truth).unwrap(), 1.0, "{rings} rings of {side}");
    }
}

#[test]
fn more_pieces_than_clusters() {
    let sizes = [40; 9];
    let (data, truth) = separated(&sizes, 7);
    for preset in [Preset::Default, Preset::Demo] {
        let model = run(&data, &Params::preset(4, preset));
        let found = model.labels.iter().max().unwrap() + 1;
        assert_eq!(found, 4, "{preset:?}");
        // No blob is torn apart: which ones go together is open.
        if preset == Preset::Default {
            for class in 0..sizes.len() {
                let labels: Vec<usize> =
                    (0..truth.len()).filter(|i| truth[*i] == class).map(|i| model.labels[i]).collect();
                let most = (0..4).map(|l| labels.iter().filter(|x| **x == l).count()).max().unwrap();
                assert!(most * 10 >= labels.len() * 9, "blob {class} is split: {labels:?}");
            }
        }
        assert!(ones(&model, 0.05) >= 1, "{:?}", model.eigenvalues);
    }
}

#[test]
fn one_cluster_of_many_pieces() {
    let (data, _) = separated(&[50, 60, 70], 3);
    for preset in [Preset::Default, Preset::Paper, Preset::Demo] {
        let model = run(&data, &Params::preset(1, preset));
        assert!(model.labels.iter().all(|l| *l == 0));
        assert!(model.membership.iter().all(|x| (*x - 1.0).abs() < 1e-12));
    }
}

#[test]
fn many_clusters_few_points() {
    // Three points each, twenty clusters: r close to n.
    let (data, truth) = separated(&[3; 20], 1);
    let model = run(&data, &Params::lsdg(20).neighbors(3));
    let ari = adjusted_rand(&model.labels, &truth).unwrap();
    assert!(ari > 0.9, "ARI {ari}");
}
