//! Means, spreads, and a paired test.

/// Mean and standard deviation (of a sample; 0 for a single value).
pub fn mean_std(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 })
}

/// Two-sided p of Wilcoxon's signed-rank test for paired values; 1 where all pairs are equal.
///
/// Exact, ties included: of the 2ⁿ ways to give signs to the (doubled, tied) ranks those as far from the middle are
/// counted.
pub fn signed_rank_p(a: &[f64], b: &[f64]) -> f64 {
    let mut differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).filter(|d| *d != 0.0).collect();
    differences.sort_by(|x, y| x.abs().total_cmp(&y.abs()));
    let n = differences.len();
    if n == 0 {
        return 1.0;
    }
    // Twice the mean rank of each tied group, so that ranks are whole.
    let mut ranks = vec![0_usize; n];
    let mut from = 0;
    while from < n {
        let to = from + differences[from..].iter().take_while(|d| d.abs() == differences[from].abs()).count();
        ranks[from..to].fill(from + 1 + to);
        from = to;
    }
    let total: usize = ranks.iter().sum();
    let positive: usize = ranks.iter().zip(&differences).filter(|(_, d)| **d > 0.0).map(|(r, _)| r).sum();
    let mut ways = vec![0.0_f64; total + 1];
    ways[0] = 1.0;
    for &rank in &ranks {
        for sum in (rank..=total).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let far = positive.abs_diff(total - positive);
    let as_far: f64 = (0..=total).filter(|sum| sum.abs_diff(total - sum) >= far).map(|sum| ways[sum]).sum();
    (as_far / (n as f64).exp2()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviation_is_that_of_a_sample() {
        assert_eq!(mean_std(&[1.0, 3.0]), (2.0, 2.0_f64.sqrt()));
        assert_eq!(mean_std(&[1.0]), (1.0, 0.0));
    }

    #[test]
    fn signed_rank_agrees_with_known_values() {
        // Five pairs all one way: 2 of 32 sign patterns are as extreme.
        assert_eq!(signed_rank_p(&[1.0, 2.0, 3.0, 4.0, 5.0], &[0.0; 5]), 2.0 / 32.0);
        assert_eq!(signed_rank_p(&[1.0, 2.0], &[1.0, 2.0]), 1.0);
        // scipy.stats.wilcoxon([6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]) = 0.041259765625
        let d = [6.0, 8.0, 14.0, 16.0, 23.0, 24.0, 28.0, 29.0, 41.0, -48.0, 49.0, 56.0, 60.0, -67.0, 75.0];
        assert!((signed_rank_p(&d, &[0.0; 15]) - 0.041_259_765_625).abs() < 1e-12);
    }

    #[test]
    fn order_of_the_two_does_not_matter() {
        let (a, b) = ([0.3, 0.7, 0.7, 0.9, 0.2], [0.1, 0.8, 0.6, 0.9, 0.5]);
        assert_eq!(signed_rank_p(&a, &b), signed_rank_p(&b, &a));
    }
}
