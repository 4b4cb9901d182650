use super::update::Neighbors;
use crate::math::rng::Stream;
use crate::math::simplex;

fn normal(len: usize, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, 0);
    (0..len).map(|_| stream.normal()).collect()
}

fn distance2(x: &[f64], m: usize, i: usize, j: usize) -> f64 {
    (0..m).map(|f| (x[i * m + f] - x[j * m + f]).powi(2)).sum()
}

/// The projection of `y` without entry i, i itself at 0.
fn projected(mut y: Vec<f64>, i: usize) -> Vec<f64> {
    y.remove(i);
    let mut row = simplex::project(&y, &vec![1.0; y.len()]);
    row.insert(i, 0.0);
    row
}

fn assert_row(found: &[(usize, f64)], naive: &[f64]) {
    let mut full = vec![0.0; naive.len()];
    found.iter().for_each(|(j, weight)| full[*j] = *weight);
    let worst = full.iter().zip(naive).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-9, "off by {worst:e}");
}

#[test]
fn first_rows_are_optimal_for_their_own_gamma() {
    let (n, m, k) = (70, 3, 4);
    let x = normal(n * m, 1);
    let (_, weights) = Neighbors::new(&x, n, m).first_graph(k);
    for (i, row) in weights.rows().enumerate() {
        let d: Vec<f64> = (0..n).map(|j| distance2(&x, m, i, j)).collect();
        let mut sorted: Vec<f64> = (0..n).filter(|j| *j != i).map(|j| d[j]).collect();
        sorted.sort_by(f64::total_cmp);
        let gamma = 0.5 * (k as f64 * sorted[k] - sorted[..k].iter().sum::<f64>());
        assert_eq!(row.len(), k);
        assert_row(&row, &projected(d.iter().map(|d| -d / (2.0 * gamma)).collect(), i));
    }
}

#[test]
fn learnt_rows_equal_the_full_projection() {
    let (n, m, r, lambda) = (130, 5, 3, 2.0);
    let (x, v) = (normal(n * m, 2), normal(n * r, 3));
    let (neighbors, _) = Neighbors::new(&x, n, m).first_graph(5);
    let gamma = neighbors.gamma();
    for (i, row) in neighbors.choose(&v, r, lambda).rows().enumerate() {
        let y = (0..n)
            .map(|j| -(distance2(&x, m, i, j) + lambda * distance2(&v, r, i, j)) / (2.0 * gamma))
            .collect();
        assert_row(&row, &projected(y, i));
        assert!((row.iter().map(|(_, s)| s).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn few_and_equal_points_have_rows_that_sum_to_one() {
    // The last has equal distances whose sum is not exactly a multiple of them.
    let mut apart = vec![0.0; 8];
    apart[6] = 1.480_637_407_195_743;
    for (x, n) in [(vec![1.0, 4.0], 2), (vec![2.0; 5], 5), (vec![0.0, 1.0, 2.0], 3), (apart, 8)] {
        for k in [1, 3, 6, 100] {
            let (neighbors, first) = Neighbors::new(&x, n, 1).first_graph(k);
            for weights in [first, neighbors.choose(&vec![0.5; n], 1, 10.0)] {
                for (i, row) in weights.rows().enumerate() {
                    assert!((row.iter().map(|(_, s)| s).sum::<f64>() - 1.0).abs() < 1e-12, "{row:?}");
                    assert!(row.iter().all(|(j, _)| *j != i));
                }
                assert!(neighbors.price(&weights).is_finite());
            }
        }
    }
    let (neighbors, alone) = Neighbors::new(&[7.0], 1, 1).first_graph(5);
    assert_eq!(alone.rows().next(), Some(vec![]));
    assert_eq!(neighbors.choose(&[1.0], 1, 1.0).rows().next(), Some(vec![]));
}
