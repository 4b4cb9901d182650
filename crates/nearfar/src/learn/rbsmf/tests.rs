use super::project::{conjugate_step, newton_step};
use super::update::Pull;
use super::*;
use crate::math::rng::Stream;
use crate::observe::{CancelFlag, Silent};
use crate::slices::Graph;
use crate::spectral::eigen::Operator;

fn symmetric(n: usize, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, 0);
    let raw: Vec<f64> = (0..n * n).map(|_| stream.normal()).collect();
    (0..n * n).map(|at| raw[at] + raw[at % n * n + at / n]).collect()
}

#[test]
fn both_solvers_give_the_newton_step() {
    let n = 90;
    let m = symmetric(n, 1);
    let mut stream = Stream::new(2, 0);
    let y: Vec<f64> = (0..n).map(|_| 0.3 * stream.normal()).collect();
    let g: Vec<f64> = (0..n).map(|_| 1e-6 * stream.normal()).collect();
    let direct = newton_step(&m, &y, &g, 1e-6);
    let iterated = conjugate_step(&m, &y, &g, 1e-6, &Silent).unwrap();
    for (a, b) in direct.iter().zip(&iterated) {
        assert!((a - b).abs() < 1e-13, "{a} {b}");
    }
    // H d = g, from the definition.
    for i in 0..n {
        let active = |j: usize| m[i * n + j] + (y[i] + y[j]) > 0.0;
        let row: f64 = (0..n).filter(|j| active(*j)).map(|j| direct[j] + direct[i]).sum();
        assert!((row + 1e-6 * direct[i] - g[i]).abs() < 1e-15);
    }
}

#[test]
fn the_operator_equals_its_matrix() {
    let (n, m, columns) = (20, 3, 2);
    let s: Vec<f64> = symmetric(n, 3).iter().map(|s| s.abs()).collect();
    let mut stream = Stream::new(4, 0);
    let mut draw = |len: usize| (0..len).map(|_| stream.normal()).collect::<Vec<f64>>();
    let (y, x) = (draw(n * m), draw(n * columns));
    let degrees: Vec<f64> = s.chunks_exact(n).map(|row| row.iter().sum()).collect();
    let pull = Pull { n, m, y: &y, strength: 0.7, s: &s, degrees: &degrees, lambda: 1.3 };
    let mut out = vec![0.0; n * columns];
    pull.apply(&x, columns, &mut out);
    for i in 0..n {
        for c in 0..columns {
            let entry = |j: usize| {
                let gram: f64 = (0..m).map(|f| y[i * m + f] * y[j * m + f]).sum();
                0.7 * gram + 1.3 * s[i * n + j] - if i == j { 1.3 * degrees[i] } else { 0.0 }
            };
            let naive: f64 = (0..n).map(|j| entry(j) * x[c * n + j]).sum();
            assert!((naive - out[c * n + i]).abs() < 1e-11);
        }
    }
}

#[test]
fn tiles_hold_the_same_matrix() {
    let n = 140;
    let s = symmetric(n, 5);
    let tiles = tiles(&s, n);
    assert!((0..n * n).all(|at| Graph::get(&tiles, at / n, at % n) == s[at]));
}

#[test]
fn a_projection_can_be_stopped() {
    let flag = CancelFlag::default();
    flag.cancel();
    assert!(bistochastic(&symmetric(40, 6), 40, &flag).is_none());
    assert!(bistochastic(&symmetric(300, 6), 300, &flag).is_none());
}
