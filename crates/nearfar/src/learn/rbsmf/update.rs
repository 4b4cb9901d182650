//! The steps of RBSMF: eigenvectors for V, weights for Y, and S by the projection of `project.rs`.

use rayon::prelude::*;

use super::RbsMfParams;
use super::project::bistochastic;
use crate::graph::{SparseGraph, to_columns, to_rows};
use crate::math::dense::{ROWS, cross, multiply_transposed, times};
use crate::math::kernel::{add_scaled, norm2, vectorized};
use crate::observe::Observer;
use crate::spectral::eigen::{DenseOperator, EigenParams, Operator, largest};

/// ε of e = √(‖x − Uv‖² + ε²), as a share of the samples' mean length, and at least: keeps the weight of an exactly
/// fitted sample finite. (The loss stays concave in ‖x − Uv‖², so that the argument of the module holds for any ε.)
const SOFT: f64 = 1e-7;
const LEAST_SOFT: f64 = 1e-9;
/// Data larger than this is measured in another unit, lest squares overflow.
const LARGEST: f64 = 1e60;

/// d̂YᵀY − λL_S, whose largest eigenvalues are wanted.
pub(super) struct Pull<'a> {
    pub(super) n: usize,
    pub(super) m: usize,
    /// n × m.
    pub(super) y: &'a [f64],
    pub(super) strength: f64,
    pub(super) s: &'a [f64],
    pub(super) degrees: &'a [f64],
    pub(super) lambda: f64,
}

impl Operator for Pull<'_> {
    fn size(&self) -> usize {
        self.n
    }

    fn apply(&self, x: &[f64], columns: usize, out: &mut [f64]) {
        let (n, m) = (self.n, self.m);
        if columns == 0 {
            return;
        }
        if let Some(s) = DenseOperator::new(self.s, n) {
            s.apply(x, columns, out);
        }
        let rows = to_rows(x, n, columns);
        let small = cross(self.y, &rows, m, columns);
        let pulled = times(self.y, &small, m, columns);
        let mut turned = vec![0.0; pulled.len()];
        to_columns(&pulled, n, columns, &mut turned);
        for ((out, x), pulled) in out.chunks_exact_mut(n).zip(x.chunks_exact(n)).zip(turned.chunks_exact(n)) {
            for (((out, x), pulled), d) in out.iter_mut().zip(x).zip(pulled).zip(self.degrees) {
                *out = self.strength * pulled - self.lambda * (d * x - *out);
            }
        }
    }
}

/// The state: S, and Y with its weight from the last residual.
#[derive(Clone, Debug)]
pub(super) struct Robust<'a> {
    params: RbsMfParams,
    n: usize,
    m: usize,
    r: usize,
    /// n × m.
    x: Vec<f64>,
    /// ε².
    soft2: f64,
    graph: &'a SparseGraph,
    /// Y, n × m, and d̂.
    y: Vec<f64>,
    strength: f64,
    /// n × n; empty before the first step.
    s: Vec<f64>,
    fit: f64,
    penalty: f64,
}

impl<'a> Robust<'a> {
    pub(super) fn new(
        samples: &[f64],
        graph: &'a SparseGraph,
        n: usize,
        r: usize,
        params: RbsMfParams,
    ) -> Self {
        assert_eq!(graph.size(), n, "one vertex per sample");
        let m = samples.len() / n.max(1);
        let largest = samples.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        let unit = if largest > LARGEST { largest } else { 1.0 };
        let x: Vec<f64> = samples.iter().map(|x| x / unit).collect();
        let y = x.clone();
        let soft2 = (SOFT * SOFT * norm2(&x) / n.max(1) as f64).max(LEAST_SOFT * LEAST_SOFT);
        let s = Vec::new();
        Self { params, n, m, r, x, soft2, graph, y, strength: 1.0, s, fit: f64::INFINITY, penalty: 0.0 }
    }

    /// Σ log(1 + ‖x_i − Uv_i‖).
    pub(super) fn fit(&self) -> f64 {
        self.fit
    }

    /// λ tr(VᵀL_SV) + μ‖S − A‖².
    pub(super) fn penalty(&self) -> f64 {
        self.penalty
    }

    pub(super) fn similarity(&self) -> &[f64] {
        &self.s
    }

    fn degrees(&self) -> Vec<f64> {
        self.s.par_chunks(self.n).map(|row| row.iter().sum()).collect()
    }

    /// One iteration: V, U, S, and the next Y. Returns V, column-major; `None` leaves the state as it was.
    pub(super) fn step(&mut self, observer: &dyn Observer) -> Option<Vec<f64>> {
        let (n, m, r) = (self.n, self.m, self.r);
        let RbsMfParams { lambda, mu } = self.params;
        if self.s.is_empty() {
            self.s = bistochastic(&self.held_to_graph(None), n, observer)?;
        }
        let degrees = self.degrees();
        let (y, s) = (&self.y, &self.s);
        let pull = Pull { n, m, y, strength: self.strength, s, degrees: &degrees, lambda };
        let eigen = EigenParams { tolerance: 1e-12, ..EigenParams::default() };
        let v = largest(&pull, r, &eigen, &|| observer.cancelled())?.vectors;
        let rows = to_rows(&v, n, r);
        let u = cross(&self.y, &rows, m, r);
        self.s = bistochastic(&self.held_to_graph(Some((&v, lambda / (4.0 * mu)))), n, observer)?;
        self.weigh(&rows, &u);
        self.penalty = lambda * self.roughness(&v) + mu * self.distance_to_graph();
        Some(v)
    }

    /// A, less `share` · dist(V); exactly symmetric.
    fn held_to_graph(&self, v: Option<(&[f64], f64)>) -> Vec<f64> {
        let n = self.n;
        let mut values = vec![0.0; n * n];
        let norms2: Vec<f64> = v.map_or(Vec::new(), |(v, _)| {
            (0..n).map(|i| v.chunks_exact(n).map(|column| column[i] * column[i]).sum()).collect()
        });
        values.par_chunks_mut(n).enumerate().for_each(|(i, row)| {
            if let Some((v, share)) = v {
                vectorized(
                    #[inline(always)]
                    || {
                        // Column after column: the sum for (i, j) and for (j, i) has the same bits.
                        for column in v.chunks_exact(n) {
                            add_scaled(row, column[i], column);
                        }
                        for (x, norm) in row.iter_mut().zip(&norms2) {
                            let d = (norms2[i] + norm) - 2.0 * *x;
                            *x = if d > 0.0 { -share * d } else { 0.0 };
                        }
                    },
                );
                row[i] = 0.0;
            }
            let (places, weights) = self.graph.row(i);
            places.iter().zip(weights).for_each(|(j, a)| row[*j as usize] += a);
        });
        values
    }

    /// The residual of every sample: its loss, its weight, and the next Y. `v` is n × r and `u` m × r, row-major.
    fn weigh(&mut self, v: &[f64], u: &[f64]) {
        let (m, r) = (self.m, self.r);
        let (width, soft2) = (ROWS * m, self.soft2);
        // Residuals in place of Y.
        self.y.par_chunks_mut(width).zip(self.x.par_chunks(width)).enumerate().for_each(|(block, (y, x))| {
            let height = y.len() / m;
            multiply_transposed(&v[block * ROWS * r..][..height * r], u, r, m, y);
            y.iter_mut().zip(x).for_each(|(y, x)| *y = x - *y);
        });
        let lengths: Vec<f64> = self.y.par_chunks(m).map(|e| (norm2(e) + soft2).sqrt()).collect();
        self.fit = lengths.iter().map(|e| e.ln_1p()).sum();
        let weights: Vec<f64> = lengths.iter().map(|e| 1.0 / (2.0 * e * (1.0 + e))).collect();
        self.strength = weights.iter().copied().fold(0.0, f64::max);
        let strongest = self.strength;
        self.y.par_chunks_mut(m).zip(self.x.par_chunks(m)).zip(&weights).for_each(|((y, x), d)| {
            let drop = 1.0 - d / strongest;
            y.iter_mut().zip(x).for_each(|(e, x)| *e = x - *e * drop);
        });
    }

    /// tr(VᵀL_SV).
    fn roughness(&self, v: &[f64]) -> f64 {
        let n = self.n;
        let mut sv = vec![0.0; v.len()];
        if let Some(s) = DenseOperator::new(&self.s, n) {
            s.apply(v, self.r, &mut sv);
        }
        let degrees = self.degrees();
        let column = |(v, sv): (&[f64], &[f64])| {
            v.iter().zip(sv).zip(&degrees).map(|((v, sv), d)| v * (d * v - sv)).sum::<f64>()
        };
        v.chunks_exact(n).zip(sv.chunks_exact(n)).map(column).sum()
    }

    /// ‖S − A‖².
    fn distance_to_graph(&self) -> f64 {
        let n = self.n;
        let rows: Vec<f64> = (0..n)
            .into_par_iter()
            .map(|i| {
                let mut row = self.s[i * n..(i + 1) * n].to_vec();
                let (places, weights) = self.graph.row(i);
                places.iter().zip(weights).for_each(|(j, a)| row[*j as usize] -= a);
                norm2(&row)
            })
            .collect();
        rows.iter().sum()
    }
}
