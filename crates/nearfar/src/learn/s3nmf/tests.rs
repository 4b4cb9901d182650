use super::update::{Votes, weigh};
use super::*;
use crate::spectral::eigen::Operator;

fn check(votes: &Votes, full: &[f64], n: usize) {
    let mut stream = Stream::new(8, 0);
    let factor = Factor::new((0..n * 3).map(|_| stream.normal()).collect(), n, 3);
    let mut out = vec![0.0; n * 3];
    votes.times(&factor, &mut out);
    for i in 0..n {
        for c in 0..3 {
            let naive: f64 = (0..n).map(|j| full[i * n + j] * factor.get(j, c)).sum();
            assert!((naive - out[c * n + i]).abs() < 1e-11);
        }
        assert!((votes.degrees()[i] - full[i * n..][..n].iter().sum::<f64>()).abs() < 1e-11);
        assert!((0..n).all(|j| (votes.get(i, j) - full[i * n + j]).abs() < 1e-13));
    }
    let d = factor.column(0);
    let naive: f64 = (0..n * n).map(|at| full[at] * d[at / n] * d[at % n]).sum();
    assert!((votes.quadratic(d) - naive).abs() < 1e-10 * (1.0 + naive.abs()));
    let square: f64 = full.iter().map(|s| s * s).sum();
    assert!((votes.norm2() - square).abs() < 1e-11 * square);
    let mut cleared = votes.clone();
    cleared.clear();
    assert_eq!((cleared.norm2(), cleared.size()), (0.0, n));
}

#[test]
fn votes_equal_their_full_matrix() {
    let (n, r) = (33, 4);
    let mut stream = Stream::new(7, 0);
    let weights = [0.5, 0.3, 0.2];
    let labels: Vec<Vec<usize>> = (0..3).map(|_| (0..n).map(|_| stream.below(r)).collect()).collect();
    let agree =
        |at: usize| labels.iter().zip(weights).filter(|(l, _)| l[at / n] == l[at % n]).map(|(_, w)| w).sum();
    check(&Votes::of_labels(&labels, weights.to_vec()), &(0..n * n).map(agree).collect::<Vec<f64>>(), n);

    let factors: Vec<Factor> = (0..3).map(|_| start::random(n, r, &mut stream)).collect();
    let powers = weights.map(|w: f64| w.powf(1.5));
    let outer = |at: usize| {
        let one = |f: &Factor| (0..r).map(|c| f.get(at / n, c) * f.get(at % n, c)).sum::<f64>();
        factors.iter().zip(powers).map(|(f, w)| w * one(f)).sum::<f64>() / powers.iter().sum::<f64>()
    };
    let full: Vec<f64> = (0..n * n).map(outer).collect();
    check(&Votes::of_factors(&factors.iter().collect::<Vec<_>>(), &weights, 1.5), &full, n);
}

#[test]
fn weights_sum_to_one_for_any_tau_and_any_residual() {
    for tau in [1.0 + 1e-12, 1.1, 2.0, 1e3] {
        for h in [vec![1.0, 2.0, 4.0], vec![0.0, 0.0, 1.0], vec![-1e-18, 3.0], vec![1e-300, 1e300], vec![5.0]]
        {
            for norm2 in [0.0, 1.0, 1e12] {
                let (weights, floored) = weigh(&h, norm2, tau);
                assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{tau} {h:?} {weights:?}");
                assert!(floored.iter().all(|h| *h > 0.0) && weights.iter().all(|w| *w >= 0.0));
            }
        }
    }
    let (weights, _) = weigh(&[1.0, 2.0, 4.0], 1.0, 2.0);
    assert!((weights[0] - 4.0 / 7.0).abs() < 1e-14 && (weights[2] - 1.0 / 7.0).abs() < 1e-14);
}
