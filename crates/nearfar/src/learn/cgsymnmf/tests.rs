use super::update::Expression;
use super::*;
use crate::math::dense::Cell;
use crate::math::rng::Stream;

fn normal(len: usize, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, 0);
    (0..len).map(|_| stream.normal()).collect()
}

struct Naive {
    n: usize,
    k: Vec<f64>,
    s0: Vec<f64>,
    params: CgSymNmfParams,
}

impl Naive {
    fn times(&self, a: impl Fn(usize) -> f64, s: &[f64], at: usize) -> f64 {
        let n = self.n;
        (0..n).map(|l| a(at / n * n + l) * s[l * n + at % n]).sum()
    }

    fn step(&self, s: &[f64], y: &[f64]) -> Vec<f64> {
        let CgSymNmfParams { alpha, beta } = self.params;
        let signed = self.k.iter().any(|k| *k < 0.0);
        let (plus, minus) = (|at: usize| self.k[at].max(0.0), |at: usize| (-self.k[at]).max(0.0));
        (0..self.n * self.n)
            .map(|at| {
                let mut up = y[at] + alpha * plus(at) + beta * self.s0[at];
                let mut down = (1.0 + beta) * s[at] + alpha * self.times(plus, s, at) + 1e-12;
                if signed {
                    up += alpha * self.times(minus, s, at);
                    down += alpha * minus(at);
                }
                let ratio = if signed { (up / down).sqrt() } else { up / down };
                if at / self.n == at % self.n { 0.0 } else { s[at] * ratio }
            })
            .collect()
    }

    fn objective(&self, s: &[f64], y: &[f64]) -> f64 {
        let CgSymNmfParams { alpha, beta } = self.params;
        let n = self.n;
        (0..n * n)
            .map(|at| {
                let expressed = s[at] * self.times(|at| self.k[at], s, at) - 2.0 * self.k[at] * s[at]
                    + if at / n == at % n { self.k[at] } else { 0.0 };
                (s[at] - y[at]).powi(2) + alpha * expressed + beta * (s[at] - self.s0[at]).powi(2)
            })
            .sum()
    }
}

/// The largest differences from the formulas, of S over the largest entry and of the objective over itself.
fn distance<E: Cell>(n: usize, m: usize, signed: bool, zeros: f64) -> [f64; 2] {
    let drawn = normal(n * m, 1);
    let mut stream = Stream::new(5, 0);
    let x: Vec<f64> = drawn
        .iter()
        .map(|x| if stream.uniform() < zeros { 0.0 } else { *x })
        .map(|x| if signed { x } else { x.abs() })
        .collect();
    let mut s0 = vec![0.0; n * n];
    for i in 0..n - 1 {
        (s0[i * n + i + 1], s0[(i + 1) * n + i]) = (0.4, 0.4);
    }
    let edges = s0.iter().enumerate().filter(|(_, s)| **s > 0.0).map(|(at, s)| (at / n, at % n, *s));
    let graph = SparseGraph::from_edges(n, edges).unwrap();
    let length = |i: usize| norm2(&x[i * m..][..m]).sqrt().max(1e-300);
    let cosine =
        |at: usize| dot(&x[at / n * m..][..m], &x[at % n * m..][..m]) / length(at / n) / length(at % n);
    let k: Vec<f64> = (0..n * n).map(cosine).collect();
    let params = CgSymNmfParams { alpha: 0.7, beta: 0.3 };
    let naive = Naive { n, k, s0, params };
    let noise = normal(n * n, 2).iter().map(|x| E::narrow(x.abs())).collect();
    let mut expression = Expression::<E>::new(&x, &graph, noise, n, params);
    let factor = Factor::new(normal(n * 2, 3).iter().map(|x| x.abs()).collect(), n, 2);
    let y: Vec<f64> =
        (0..n * n).map(|at| (0..2).map(|c| factor.get(at / n, c) * factor.get(at % n, c)).sum()).collect();
    let wide = |s: &[E]| s.iter().map(|s| s.wide()).collect::<Vec<f64>>();
    let mut worst = [0.0_f64; 2];
    for _ in 0..3 {
        let wanted = naive.step(&wide(expression.similarity()), &y);
        expression.update(&factor);
        let found = wide(expression.similarity());
        let largest = wanted.iter().fold(0.0_f64, |a, b| a.max(*b));
        for (a, b) in wanted.iter().zip(&found) {
            worst[0] = worst[0].max((a - b).abs() / largest);
        }
        let (measured, wanted) = (expression.measure(&factor), naive.objective(&found, &y));
        worst[1] = worst[1].max((measured.fit + measured.penalty - wanted).abs() / wanted);
    }
    worst
}

#[test]
fn steps_and_objective_equal_the_formulas() {
    // Few and many features (both ways to KS), with and without negative entries of K, with and without features
    // that are 0 everywhere.
    for (n, m, signed) in
        [(15, 3, false), (15, 3, true), (15, 20, false), (15, 20, true), (70, 8, true), (64, 9, false)]
    {
        for zeros in [0.0, 0.95] {
            let [s, objective] = distance::<f64>(n, m, signed, zeros);
            assert!(s < 1e-12 && objective < 1e-10, "{n} {m} {signed} {zeros}: {s:e} {objective:e}");
            let [s, objective] = distance::<f32>(n, m, signed, zeros);
            assert!(s < 1e-5 && objective < 1e-5, "{n} {m} {signed} {zeros}: {s:e} {objective:e}");
            assert!(s > 1e-12, "single precision was not used");
        }
    }
}

#[test]
fn entries_that_vanish_become_zero() {
    // Two pairs of samples at right angles, and a V that joins neither: S between the pairs is multiplied by ever
    // smaller numbers.
    let x = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0];
    let graph = SparseGraph::from_edges(4, [(0, 1, 1.0), (1, 0, 1.0), (2, 3, 1.0), (3, 2, 1.0)]).unwrap();
    let factor = Factor::new(vec![1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0], 4, 2);
    let mut expression = Expression::<f32>::new(&x, &graph, vec![1.0; 16], 4, CgSymNmfParams::default());
    assert!(expression.similarity()[2] > 0.0);
    for _ in 0..200 {
        expression.update(&factor);
    }
    assert_eq!(expression.similarity()[2], 0.0);
    assert!(expression.similarity()[1] > 0.1);
}
