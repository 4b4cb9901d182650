use super::*;
use crate::math::rng::Stream;
use proptest::prelude::*;

fn blobs(n: usize, d: usize, k: usize, spread: f64, seed: u64) -> (Vec<f64>, Vec<usize>) {
    let mut random = Stream::new(seed, 99);
    let centers: Vec<f64> = (0..k * d).map(|_| 20.0 * random.uniform()).collect();
    let truth: Vec<usize> = (0..n).map(|i| i % k).collect();
    let points = truth
        .iter()
        .flat_map(|label| centers[label * d..(label + 1) * d].to_vec())
        .map(|c| c + spread * random.normal())
        .collect();
    (points, truth)
}

/// Everything a result promises, by the plainest means.
fn examine(found: &KMeans, points: &[f64], d: usize, k: usize) {
    let n = points.len() / d;
    assert_eq!((found.labels.len(), found.centers.len()), (n, k * d));
    let mut means = vec![0.0; k * d];
    let mut counts = vec![0_usize; k];
    for (point, label) in points.chunks_exact(d).zip(&found.labels) {
        counts[*label] += 1;
        (0..d).for_each(|j| means[label * d + j] += point[j]);
    }
    assert!(counts.iter().all(|c| *c > 0), "{counts:?}");
    let size = points.iter().fold(1e-300_f64, |m, v| m.max(v.abs()));
    for (i, mean) in means.iter().enumerate() {
        let mean = mean / counts[i / d] as f64;
        assert!((mean - found.centers[i]).abs() <= 1e-12 * size);
    }
    let square = |i: usize, c: usize| -> f64 {
        (0..d).map(|j| (points[i * d + j] - found.centers[c * d + j]).powi(2)).sum()
    };
    let inertia: f64 = (0..n).map(|i| square(i, found.labels[i])).sum();
    assert!((inertia - found.inertia).abs() <= 1e-12 * inertia.max(1e-300));
    if found.iterations < 300 {
        for i in 0..n {
            let nearest = (0..k).map(|c| square(i, c)).fold(f64::INFINITY, f64::min);
            // A point alone in its cluster is at its centre; others are with their nearest.
            assert!(square(i, found.labels[i]) <= nearest + 1e-10 * size * size, "point {i}");
        }
    }
}

#[test]
fn finds_separated_blobs() {
    for (n, d, k) in [(600, 2, 5), (500, 10, 10), (97, 3, 1), (403, 33, 7), (120, 1, 3)] {
        for seed in 0..5 {
            let (points, truth) = blobs(n, d, k, 0.01, seed);
            let found = KMeansParams::new(k).fit(&points, n, d, seed).unwrap();
            examine(&found, &points, d, k);
            if d > 1 {
                let names = crate::labels::canonical::renumber(&found.labels);
                assert_eq!(names, truth, "{n} {d} {k} {seed}");
            }
        }
    }
}

#[test]
fn as_many_clusters_as_points() {
    let (points, _) = blobs(30, 3, 3, 1.0, 4);
    let found = KMeansParams::new(30).fit(&points, 30, 3, 1).unwrap();
    examine(&found, &points, 3, 30);
    assert_eq!(found.inertia, 0.0);
}

#[test]
fn one_cluster_is_the_mean() {
    let found = KMeansParams::new(1).fit(&[1.0, 2.0, 6.0], 3, 1, 0).unwrap();
    assert_eq!((found.centers[0], found.inertia, found.restart), (3.0, 14.0, 0));
}

#[test]
fn fewer_distinct_points_than_clusters() {
    for seeding in [Seeding::Greedy, Seeding::Plain] {
        let params = KMeansParams::new(6).seeding(seeding);
        let constant = params.fit(&[3.5; 40], 20, 2, 0).unwrap();
        examine(&constant, &[3.5; 40], 2, 6);
        assert_eq!(constant.inertia, 0.0);
        assert!(constant.iterations < 5, "{}", constant.iterations);
        let two: Vec<f64> = (0..20).map(|i| f64::from(i % 2)).collect();
        let found = params.fit(&two, 20, 1, 3).unwrap();
        examine(&found, &two, 1, 6);
        assert_eq!(found.inertia, 0.0);
    }
}

#[test]
fn tight_clusters_far_from_the_origin_are_told_apart() {
    let points: Vec<f64> = (0..40).map(|i| 1e6 + f64::from(i % 4) * 1e-3 + f64::from(i) * 1e-8).collect();
    let found = KMeansParams::new(4).fit(&points, 40, 1, 0).unwrap();
    for i in 4..40 {
        assert_eq!(found.labels[i], found.labels[i - 4]);
    }
}

#[test]
fn greedy_seeding_is_no_worse_with_many_clusters() {
    let (points, _) = blobs(800, 8, 40, 0.3, 11);
    let inertia =
        |seeding| KMeansParams::new(40).restarts(5).seeding(seeding).fit(&points, 800, 8, 1).unwrap().inertia;
    assert!(inertia(Seeding::Greedy) <= inertia(Seeding::Plain));
}

#[test]
fn bounds_change_nothing() {
    for (n, d, k, spread) in [(1001, 4, 7, 3.0), (300, 1, 5, 8.0), (500, 20, 12, 6.0), (64, 2, 30, 5.0)] {
        for seed in 0..6 {
            let (mut points, _) = blobs(n, d, k, spread, seed);
            if seed % 2 == 1 {
                // A coarse grid: ties and duplicates everywhere.
                for v in &mut points {
                    *v = (*v / 4.0).round();
                }
            }
            let params = KMeansParams::new(k);
            let tiles = Tiles::new(&points, n, d);
            // Distances looked up and bounds in use, against neither.
            let pairs = kernel::pairs(&tiles, &points);
            let bounded = Restart::new(&params, &points, &tiles, &pairs).run(seed, 0, &Silent);
            let mut full = Restart::new(&params, &points, &tiles, &[]);
            full.bounds.used = false;
            assert_eq!(bounded, full.run(seed, 0, &Silent), "{n} {d} {k} {seed}");
        }
    }
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let (points, _) = blobs(1003, 5, 6, 4.0, 2);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let found = KMeansParams::new(6).fit(&points, 1003, 5, 7).unwrap();
            let labels = assign(&points, 1003, 5, &found.centers).unwrap();
            (found, labels)
        })
    };
    let one = run(1);
    assert_eq!(one.0.labels, one.1);
    for threads in [2, 3, 8] {
        assert_eq!(one, run(threads), "{threads} threads");
    }
}

#[test]
fn bad_input_is_named() {
    let says =
        |params: KMeansParams, points: &[f64], n, d| params.fit(points, n, d, 0).unwrap_err().to_string();
    let two = KMeansParams::new(2);
    assert!(says(KMeansParams::new(0), &[1.0], 1, 1).contains("n_clusters = 0"));
    assert!(says(two.restarts(0), &[1.0, 2.0], 2, 1).contains("restarts = 0"));
    assert!(says(two.max_iter(0), &[1.0, 2.0], 2, 1).contains("max_iter = 0"));
    assert!(says(two, &[1.0], 1, 1).contains("2 clusters were asked for"));
    assert!(says(two, &[1.0, 2.0], 3, 1).contains("does not fit"));
    assert!(says(two, &[1.0, f64::NAN], 2, 1).contains("row 1, column 0"));
    assert!(says(two, &[], 0, 0).contains("empty"));
    assert!(says(two, &[], 3, 0).contains("empty"));
    assert!(assign(&[1.0], 1, 1, &[]).is_err());
    assert!(assign(&[1.0, 2.0], 1, 2, &[1.0, 2.0, 3.0]).is_err());
    assert!(assign(&[], 0, 0, &[1.0]).is_err());
    assert_eq!(assign(&[1.0, 5.0, 3.0], 3, 1, &[1.0, 5.0]).unwrap(), [0, 1, 0]);
}

#[test]
fn one_iteration_still_gives_the_means_of_its_labels() {
    let (points, _) = blobs(300, 2, 3, 5.0, 1);
    let found = KMeansParams::new(3).max_iter(1).restarts(1).fit(&points, 300, 2, 0).unwrap();
    assert_eq!(found.iterations, 1);
    let mut sums = [0.0; 3];
    let mut counts = [0.0; 3];
    for (point, label) in points.chunks_exact(2).zip(&found.labels) {
        sums[*label] += point[0];
        counts[*label] += 1.0;
    }
    for c in 0..3 {
        assert!((sums[c] / counts[c] - found.centers[2 * c]).abs() < 1e-12);
    }
}

proptest! {
    #[test]
    fn any_points_are_clustered(
        grid in prop::collection::vec(-3_i32..3, 2..60),
        d in 1_usize..4,
        k in 1_usize..9,
        seed in any::<u64>(),
    ) {
        let n = grid.len() / d;
        prop_assume!(n >= k);
        let points: Vec<f64> = grid[..n * d].iter().map(|v| f64::from(*v)).collect();
        let found = KMeansParams::new(k).restarts(3).fit(&points, n, d, seed).unwrap();
        examine(&found, &points, d, k);
    }
}

#[test]
fn stops_when_asked() {
    struct Tired;
    impl crate::observe::Observer for Tired {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let points = [0.0, 1.0, 9.0];
    let stopped = KMeansParams::new(2).fit_observed(&points, 3, 1, 0, &Tired);
    assert!(matches!(stopped, Err(crate::Error::Cancelled { stage: "labels" })), "{stopped:?}");
}
