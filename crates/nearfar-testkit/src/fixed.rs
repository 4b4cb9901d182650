//! The methods that factor one fixed graph, and plain NMF, with full matrices and plain loops. Everything is row-major.

use crate::oracle::{Square, inner};

/// A B, with A a × b and B b × c.
#[must_use]
pub fn times(x: &[f64], y: &[f64], b: usize) -> Vec<f64> {
    let (a, c) = (x.len() / b, y.len() / b);
    let mut out = vec![0.0; a * c];
    for i in 0..a {
        for j in 0..c {
            for k in 0..b {
                out[i * c + j] += x[i * b + k] * y[k * c + j];
            }
        }
    }
    out
}

/// Aᵀ of a matrix with this many columns.
#[must_use]
pub fn transposed(x: &[f64], columns: usize) -> Vec<f64> {
    let rows = x.len() / columns;
    (0..x.len()).map(|at| x[at % rows * columns + at / rows]).collect()
}

/// ‖A − BCᵀ‖² for B and C of r columns.
#[must_use]
pub fn misfit(a: &[f64], b: &[f64], c: &[f64], r: usize) -> f64 {
    let product = times(b, &transposed(c, r), r);
    let rest: Vec<f64> = a.iter().zip(&product).map(|(a, p)| a - p).collect();
    inner(&rest, &rest)
}

/// V times the scalar that brings VVᵀ nearest to S.
#[must_use]
pub fn rescaled(s: &[f64], v: &[f64], r: usize) -> Vec<f64> {
    let n = v.len() / r;
    let outer = times(v, &transposed(v, r), r);
    let scale = (inner(s, &outer) / inner(&outer, &outer)).sqrt();
    debug_assert_eq!(outer.len(), n * n, "a square");
    v.iter().map(|v| v * scale).collect()
}

/// L = D − S.
#[must_use]
pub fn laplacian(s: &[f64], n: usize) -> Square {
    let mut l: Square = s.iter().map(|s| -s).collect();
    for i in 0..n {
        l[i * n + i] += s[i * n..(i + 1) * n].iter().sum::<f64>();
    }
    l
}

/// The row form of sBSUM: `bounds` bounds per row, each minimised by bisection on the length. Returns V after the
/// sweeps.
#[must_use]
pub fn sbsum_rows(s: &[f64], start: &[f64], r: usize, sweeps: usize, bounds: usize) -> Vec<f64> {
    let n = start.len() / r;
    let mut v = rescaled(s, start, r);
    for _ in 0..sweeps {
        for i in 0..n {
            let mut q = vec![0.0; r * r];
            let mut t = vec![0.0; r];
            for j in (0..n).filter(|j| *j != i) {
                for a in 0..r {
                    t[a] += s[i * n + j] * v[j * r + a];
                    for b in 0..r {
                        q[a * r + b] += v[j * r + a] * v[j * r + b];
                    }
                }
            }
            let rho = (0..r).map(|a| q[a * r..(a + 1) * r].iter().sum::<f64>()).fold(0.0, f64::max);
            for _ in 0..bounds {
                let row = v[i * r..(i + 1) * r].to_vec();
                let qv = times(&q, &row, r);
                let b: Vec<f64> =
                    (0..r).map(|a| (t[a] + (s[i * n + i] + rho) * row[a] - qv[a]).max(0.0)).collect();
                let length = inner(&b, &b).sqrt();
                let (mut low, mut high) = (0.0, 1.0 + length);
                for _ in 0..200 {
                    let middle: f64 = 0.5 * (low + high);
                    if middle.powi(3) + rho * middle < length { low = middle } else { high = middle }
                }
                for a in 0..r {
                    v[i * r + a] = if length > 0.0 { low * b[a] / length } else { 0.0 };
                }
            }
        }
    }
    v
}

/// GSNMF by two copies, multipliers and greedy coordinate descent: H after the rounds. `lambda` is that of the
/// objective ½‖S − VVᵀ‖² + (λ/2) tr(VᵀLV).
#[must_use]
pub fn gsnmf_two_copies(s: &[f64], start: &[f64], r: usize, rounds: usize, lambda: f64, mu: f64) -> Vec<f64> {
    let n = start.len() / r;
    let l = laplacian(s, n);
    let mut h = rescaled(s, start, r);
    let mut h1 = h.clone();
    let mut y = vec![0.0; n * r];
    for _ in 0..rounds {
        copy_step(s, &l, &mut h, &h1, &y, r, lambda, mu);
        let minus: Vec<f64> = y.iter().map(|y| -y).collect();
        copy_step(s, &l, &mut h1, &h, &minus, r, lambda, mu);
        for at in 0..n * r {
            y[at] += h[at] - h1[at];
        }
    }
    h
}

#[allow(clippy::too_many_arguments)] // the letters of one formula
fn copy_step(s: &[f64], l: &[f64], h: &mut [f64], h1: &[f64], y: &[f64], r: usize, lambda: f64, mu: f64) {
    let n = h.len() / r;
    let gram = times(&transposed(h1, r), h1, n);
    let (sh, lh, hg) = (times(s, h1, n), times(l, h1, n), times(h, &gram, r));
    let mut g: Vec<f64> = (0..n * r)
        .map(|at| -sh[at] + hg[at] + 0.5 * lambda * lh[at] + y[at] + mu * (h[at] - h1[at]))
        .collect();
    let gain = |h: f64, g: f64, k: usize| {
        let q = gram[k * r + k] + mu;
        let step = (h - g / q).max(0.0) - h;
        (step, -(step * g + 0.5 * q * step * step))
    };
    let first = (0..n * r).map(|at| gain(h[at], g[at], at % r).1).fold(0.0, f64::max);
    for i in 0..n {
        for _ in 0..r * r {
            let mut best = (0.0, 0.0, r);
            for k in 0..r {
                let (step, gained) = gain(h[i * r + k], g[i * r + k], k);
                if gained > best.1 {
                    best = (step, gained, k);
                }
            }
            let (step, gained, k) = best;
            if k == r {
                break;
            }
            h[i * r + k] += step;
            for a in 0..r {
                g[i * r + a] += step * (gram[k * r + a] + if a == k { mu } else { 0.0 });
            }
            if gained < 0.01 * first {
                break;
            }
        }
    }
}

/// Plain NMF, X (n × m) ≈ VUᵀ, column after column: V first, then U. Returns both.
#[must_use]
pub fn nmf_columns(x: &[f64], v: &[f64], u: &[f64], r: usize, rounds: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut v, mut u) = (v.to_vec(), u.to_vec());
    let m = u.len() / r;
    let xt = transposed(x, m);
    for _ in 0..rounds {
        column_pass(x, &mut v, &u, r);
        column_pass(&xt, &mut u, &v, r);
    }
    (v, u)
}

fn column_pass(x: &[f64], own: &mut [f64], other: &[f64], r: usize) {
    let (rows, columns) = (own.len() / r, other.len() / r);
    for k in 0..r {
        let length: f64 = (0..columns).map(|j| other[j * r + k].powi(2)).sum();
        if length == 0.0 {
            continue;
        }
        for i in 0..rows {
            let mut slope = 0.0;
            for j in 0..columns {
                let fitted: f64 = (0..r).map(|l| own[i * r + l] * other[j * r + l]).sum();
                slope += (x[i * columns + j] - fitted) * other[j * r + k];
            }
            own[i * r + k] = (own[i * r + k] + slope / length).max(0.0);
        }
    }
}
