use super::update::{Data, Pair};
use super::*;
use crate::math::rng::Stream;

fn uniform(len: usize, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, 0);
    (0..len).map(|_| stream.uniform()).collect()
}

#[test]
fn negative_and_far_data_is_moved_once() {
    let plain = [0.0, 2.0, 3.0, 1.0];
    assert_eq!(Data::nonnegative(&plain, 2).x, &plain[..]);
    assert_eq!(Data::nonnegative(&[-1.0, 2.0, 3.0, 1.0], 2).x, &[0.0, 3.0, 4.0, 2.0][..]);
    let far = Data::nonnegative(&[-1e308, 1e308], 2).x;
    assert!(far[0] == 0.0 && (0.5..=4.0).contains(&far[1]), "{far:?}");
    let close = Data::nonnegative(&[0.0, 1e-200, 2e-200], 3).x;
    assert!((close[2] / close[1] - 2.0).abs() < 1e-12 && close[2] >= 0.5, "{close:?}");
    assert_eq!(Data::nonnegative(&[0.0; 3], 3).x, &[0.0; 3][..]);
}

#[test]
fn fit_equals_the_plain_residual_and_normalising_keeps_the_product() {
    let (n, m, r) = (70, 9, 3);
    let x = uniform(n * m, 1);
    let start = Factor::new(uniform(n * r, 2), n, r);
    let mut pair = Pair::new(Data::nonnegative(&x, n), uniform(m * r, 3), &start);
    let none = vec![0.0; n * r];
    pair.update(&none, &vec![0.0; n], 0.0);
    let before = pair.fit();
    pair.normalize();
    assert!((pair.fit() - before).abs() < 1e-10 * before);
    let v = pair.factor();
    let mut plain = 0.0;
    for i in 0..n {
        for f in 0..m {
            let y: f64 = (0..r).map(|c| pair.u()[f * r + c] * v.get(i, c)).sum();
            plain += (x[i * m + f] - y).powi(2);
        }
    }
    assert!((pair.fit() - plain).abs() < 1e-10 * plain, "{} {plain}", pair.fit());
}

#[test]
fn data_of_low_rank_is_found_again() {
    let (n, m, r) = (40, 6, 2);
    let (u, v) = (uniform(m * r, 4), uniform(n * r, 5));
    let x: Vec<f64> =
        (0..n * m).map(|at| (0..r).map(|c| v[at / m * r + c] * u[at % m * r + c]).sum()).collect();
    let graph = SparseGraph::from_edges(n, []).unwrap();
    let start = Factor::new(uniform(n * r, 6), n, r);
    let mut method = Gnmf::new(&x, &graph, uniform(m * r, 7), start, 1.0);
    let rule = super::super::StopRule { max_iter: 4000, loss_tolerance: -1.0, change_tolerance: -1.0 };
    run(&mut method, &rule, 0, &crate::observe::Silent);
    assert!(method.objective() < 1e-5 * crate::math::kernel::norm2(&x), "{}", method.objective());
}
