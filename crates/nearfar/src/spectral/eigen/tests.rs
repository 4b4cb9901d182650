//! LAPACK's way of testing: residuals and orthogonality scaled by n, ε and the norm of A, and all wanted
//! eigenvalues against the full decomposition, so that a missed copy of a repeated one fails.

use super::products::{cross, small_eigen};
use super::*;
use crate::math::rng::Stream;
use proptest::prelude::*;
use std::cell::Cell;

/// A symmetric matrix from its lower half.
fn symmetric(n: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Vec<f64> {
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let value = entry(i, j);
            a[i * n + j] = value;
            a[j * n + i] = value;
        }
    }
    a
}

/// D^-1/2 A D^-1/2 with D the row sums: largest eigenvalue 1 on every component.
fn normalised(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    let degrees: Vec<f64> = a.chunks_exact(n).map(|row| row.iter().sum::<f64>()).collect();
    for i in 0..n {
        for j in 0..n {
            a[i * n + j] /= (degrees[i] * degrees[j]).sqrt();
        }
    }
    a
}

/// `parts` equal random components, joined by entries of `bridge`.
fn copies(parts: usize, size: usize, bridge: f64) -> Vec<f64> {
    let n = parts * size;
    let mut random = Stream::new(5, 0);
    let piece = symmetric(size, |_, _| random.uniform());
    let a =
        symmetric(n, |i, j| if i / size == j / size { piece[(i % size) * size + j % size] } else { bridge });
    normalised(a, n)
}

/// Q diag(spectrum) Qᵀ with Q two random reflections.
fn with_spectrum(spectrum: &[f64], seed: u64) -> Vec<f64> {
    let n = spectrum.len();
    let mut random = Stream::new(seed, 1);
    let mut a = symmetric(n, |i, j| if i == j { spectrum[i] } else { 0.0 });
    for _ in 0..2 {
        let mut u: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let length = u.iter().map(|v| v * v).sum::<f64>().sqrt();
        for v in &mut u {
            *v /= length;
        }
        // H A H = A − 2 u vᵀ − 2 v uᵀ + 4 (uᵀv) u uᵀ with v = A u
        let v: Vec<f64> =
            a.chunks_exact(n).map(|row| row.iter().zip(&u).map(|(a, u)| a * u).sum::<f64>()).collect();
        let uv: f64 = u.iter().zip(&v).map(|(u, v)| u * v).sum();
        a = symmetric(n, |i, j| {
            a[i * n + j] - 2.0 * u[i] * v[j] - 2.0 * v[i] * u[j] + 4.0 * uv * u[i] * u[j]
        });
    }
    a
}

fn full_values(a: &[f64], n: usize) -> Vec<f64> {
    small_eigen(products::tall(a, n)).unwrap().0
}

/// Solve and hold everything that is promised against the full decomposition.
fn examine(name: &str, a: &[f64], n: usize, k: usize, seed: u64) -> Eigen {
    let op = DenseOperator::new(a, n).unwrap();
    let params = EigenParams { seed, ..EigenParams::default() };
    let eigen = largest(&op, k, &params, &|| false).unwrap();
    let truth = full_values(a, n);
    let size = largest_magnitude(&truth);
    assert!(eigen.converged, "{name}: {:?} after {}", eigen.residuals, eigen.products);
    for (j, (value, truth)) in eigen.values.iter().zip(&truth).enumerate() {
        assert!((value - truth).abs() <= 1e-10 * size, "{name}: value {j} is {value}, not {truth}");
    }
    let ratio = n as f64 * f64::EPSILON;
    let mut ax = vec![0.0; n * k];
    op.apply(&eigen.vectors, k, &mut ax);
    for (j, residual) in residuals(&ax, &eigen.vectors, &eigen.values, Rows::new(n, None)).iter().enumerate()
    {
        assert!(*residual <= params.tolerance * size, "{name}: residual {j} is {residual:e}");
        assert!((residual - eigen.residuals[j]).abs() <= ratio * size);
    }
    let gram =
        cross((&eigen.vectors, eigen.values.len()), (&eigen.vectors, eigen.values.len()), Rows::new(n, None));
    for i in 0..k {
        for j in 0..k {
            let off = (gram[(i, j)] - f64::from(i == j)).abs();
            assert!(off <= 8.0 * ratio, "{name}: XᵀX is off by {off:e} at {i}, {j}");
        }
    }
    for x in eigen.vectors.chunks_exact(n) {
        let (low, high) = x.iter().fold((0.0_f64, 0.0_f64), |(l, h), v| (l.min(*v), h.max(*v)));
        assert!(high >= -low, "{name}: sign");
    }
    eigen
}

fn spectra() -> Vec<(&'static str, Vec<f64>, usize)> {
    let spectrum = |n: usize, f: &dyn Fn(usize) -> f64| (0..n).map(f).collect::<Vec<_>>();
    let ring = |n: usize| {
        let a = symmetric(n, |i, j| {
            let step = (i - j).min(n - (i - j)) as f64 / 5.0;
            (-step * step).exp()
        });
        normalised(a, n)
    };
    let mut random = Stream::new(3, 0);
    let diagonal = spectrum(500, &|i| [3.0, 3.0, 3.0, 2.0, 2.0, 1.0 + 1e-9, 1.0, 1.0, -4.0][i % 9]);
    vec![
        ("separated", with_spectrum(&spectrum(400, &|i| 0.8_f64.powf(i as f64)), 1), 400),
        ("ten copies", copies(10, 50, 0.0), 500),
        ("weakly joined", copies(10, 50, 1e-10), 500),
        ("ring", ring(450), 450),
        ("clusters on the diagonal", symmetric(500, |i, j| if i == j { diagonal[i] } else { 0.0 }), 500),
        ("low rank", with_spectrum(&spectrum(420, &|i| if i < 5 { 5.0 - i as f64 } else { 0.0 }), 2), 420),
        ("negative", with_spectrum(&spectrum(400, &|i| -1.0 - i as f64), 4), 400),
        ("random", symmetric(600, |_, _| random.normal()), 600),
    ]
}

#[test]
fn all_wanted_values_are_found_on_every_spectrum() {
    for (name, a, n) in spectra() {
        for seed in 0..2 {
            examine(name, &a, n, 12, seed);
        }
    }
}

#[test]
fn one_vector_is_enough_to_ask_for() {
    for (name, a, n) in spectra() {
        for k in [1, 3] {
            examine(name, &a, n, k, 7);
        }
    }
}

#[test]
fn small_sizes_and_too_many_wanted() {
    for n in [1, 2, 5, 63, 64, 65, 130, 320] {
        let mut random = Stream::new(n as u64, 0);
        let a = symmetric(n, |_, _| random.normal());
        for k in [1, n.div_ceil(2), n] {
            examine("small", &a, n, k, 0);
        }
        let op = DenseOperator::new(&a, n).unwrap();
        let all = largest(&op, n + 7, &EigenParams::default(), &|| false).unwrap();
        assert_eq!(all.values.len(), n);
    }
    let nothing =
        largest(&DenseOperator::new(&[], 0).unwrap(), 3, &EigenParams::default(), &|| false).unwrap();
    assert!(nothing.values.is_empty() && nothing.converged);
    assert!(DenseOperator::new(&[1.0; 3], 2).is_none());
}

#[test]
fn zero_and_not_finite_operators_end() {
    for n in [7, 400] {
        let zero = vec![0.0; n * n];
        let eigen =
            largest(&DenseOperator::new(&zero, n).unwrap(), 5, &EigenParams::default(), &|| false).unwrap();
        assert!(eigen.converged);
        assert!(eigen.values.iter().all(|v| v.abs() < 1e-300));
        let gram = cross(
            (&eigen.vectors, eigen.values.len()),
            (&eigen.vectors, eigen.values.len()),
            Rows::new(n, None),
        );
        assert!((gram[(4, 4)] - 1.0).abs() < 1e-13 && gram[(3, 4)].abs() < 1e-13);

        for bad in [f64::NAN, f64::INFINITY] {
            let bad = vec![bad; n * n];
            let eigen = largest(&DenseOperator::new(&bad, n).unwrap(), 5, &EigenParams::default(), &|| false)
                .unwrap();
            assert!(!eigen.converged && eigen.values[0].is_nan());
        }
    }
}

#[test]
fn stops_when_told_and_when_out_of_products() {
    let (_, a, n) = spectra().swap_remove(3);
    let op = DenseOperator::new(&a, n).unwrap();
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 2
    };
    assert!(largest(&op, 12, &EigenParams::default(), &stop).is_none());
    assert_eq!(asked.get(), 3);
    assert!(largest(&DenseOperator::new(&[1.0], 1).unwrap(), 1, &EigenParams::default(), &|| true).is_none());

    let short = EigenParams { max_products: 24, ..EigenParams::default() };
    let eigen = largest(&op, 12, &short, &|| false).unwrap();
    assert!(!eigen.converged && eigen.products <= 36);
    assert!(eigen.residuals.iter().all(|r| r.is_finite()));
}

#[test]
fn tolerances_rounding_cannot_meet_are_raised() {
    let (_, a, n) = spectra().swap_remove(0);
    let op = DenseOperator::new(&a, n).unwrap();
    for tolerance in [0.0, f64::NAN] {
        let eigen = largest(&op, 6, &EigenParams { tolerance, ..EigenParams::default() }, &|| false).unwrap();
        assert!(eigen.converged, "{:?} after {}", eigen.residuals, eigen.products);
    }
}

#[test]
fn same_bits_for_any_number_of_threads() {
    // Sizes with a ragged last block of rows; one matrix of each path.
    let sparse = |n: usize| Chain { n };
    let solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let chain = largest(&sparse(3001), 5, &EigenParams::default(), &|| false).unwrap();
            let a = copies(10, 70, 0.0);
            let op = DenseOperator::new(&a, 700).unwrap();
            let dense = largest(&op, 12, &EigenParams::default(), &|| false).unwrap();
            let small = largest(&sparse(300), 5, &EigenParams::default(), &|| false).unwrap();
            [chain, dense, small]
        })
    };
    let one = solve(1);
    assert!(one[0].converged && one[1].converged);
    for threads in [2, 3, 8] {
        assert_eq!(one, solve(threads), "{threads} threads");
    }
}

/// Weighted chain: 1/(1 + i) on the diagonal, 0.01 beside it.
struct Chain {
    n: usize,
}

impl Operator for Chain {
    fn size(&self) -> usize {
        self.n
    }
    fn apply(&self, x: &[f64], _: usize, y: &mut [f64]) {
        for (x, y) in x.chunks_exact(self.n).zip(y.chunks_exact_mut(self.n)) {
            for i in 0..self.n {
                let (before, after) =
                    (i.checked_sub(1).map_or(0.0, |j| x[j]), x.get(i + 1).copied().unwrap_or(0.0));
                y[i] = x[i] / (1.0 + i as f64) + 0.01 * (before + after);
            }
        }
    }
}

/// A matrix with a guess of its leading eigenvectors.
struct Guessed<'a> {
    matrix: DenseOperator<'a>,
    guess: Vec<f64>,
}

impl Operator for Guessed<'_> {
    fn size(&self) -> usize {
        self.matrix.size()
    }
    fn apply(&self, x: &[f64], columns: usize, y: &mut [f64]) {
        self.matrix.apply(x, columns, y);
    }
    fn guess(&self) -> (Vec<f64>, usize) {
        (self.guess.clone(), self.guess.len() / self.size())
    }
}

#[test]
fn a_good_guess_saves_products_and_a_bad_one_loses_no_eigenvector() {
    const N: usize = 700;
    let spectrum: Vec<f64> =
        (0..N).map(|i| if i < 5 { 1.0 - 0.02 * i as f64 } else { 0.8 - 0.001 * i as f64 }).collect();
    let a = with_spectrum(&spectrum, 11);
    let (_, vectors) = small_eigen(products::tall(&a, N)).unwrap();
    let column = |j: usize| (0..N).map(|i| vectors[(i, j)]).collect::<Vec<f64>>();
    let columns = |chosen: &[usize]| chosen.iter().flat_map(|j| column(*j)).collect::<Vec<f64>>();
    let solve = |guess: Vec<f64>| {
        let op = Guessed { matrix: DenseOperator::new(&a, N).unwrap(), guess };
        let params = EigenParams { tolerance: 1e-6, ..EigenParams::default() };
        let eigen = largest(&op, 5, &params, &|| false).unwrap();
        assert!(eigen.converged);
        for (value, truth) in eigen.values.iter().zip(&spectrum) {
            assert!((value - truth).abs() < 1e-6, "{value} instead of {truth}");
        }
        eigen.products
    };
    let plain = solve(Vec::new());
    assert!(solve(columns(&[0, 1, 2, 3, 4])) < plain * 3 / 4);
    // The second is missing; only the last ones are there; a column is 0; more columns than are wanted.
    solve(columns(&[0, 2, 3, 4, 5]));
    solve(columns(&[N - 5, N - 4, N - 3, N - 2, N - 1]));
    solve([vec![0.0; N], columns(&[0, 1])].concat());
    solve(columns(&[0, 1, 2, 3, 4, 5, 6, 7]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn repeated_values_are_all_found(seed in any::<u64>(), copies in 1_usize..8, k in 2_usize..9) {
        let spectrum: Vec<f64> = (0..330).map(|i| if i < copies { 1.0 } else { 0.9 - 0.002 * i as f64 }).collect();
        let a = with_spectrum(&spectrum, seed);
        examine("repeated", &a, 330, k, seed);
    }
}
