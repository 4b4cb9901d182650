//! Neighbours that are learnt along: every row of S is the nearest point of the simplex to −(D_i + λ dist_i(V))/(2γ).
//!
//! That row minimises ½Σ_j (D_ij s_ij + γ s_ij²) + (λ/2)Σ_j dist_ij(V) s_ij, its share of the objective. Entries
//! more than 1 below the largest are 0 in the projection, so that only a few per row are looked at and kept.

use rayon::prelude::*;

use crate::graph::SparseGraph;
use crate::math::dense::{ROWS, multiply_transposed};
use crate::math::kernel::{norm2, vectorized};
use crate::math::simplex;

/// γ is at least this share of the largest squared distance.
const LEAST_GAMMA: f64 = 1e-12;
/// Distances that differ by a smaller share count as equal.
const EQUAL: f64 = 1e-12;

/// Squared distances of all samples, and the γ that the first graph asks for.
#[derive(Clone, Debug)]
pub(crate) struct Neighbors {
    n: usize,
    /// n × n.
    distances: Vec<f64>,
    gamma: f64,
}

/// One row of S: (column, weight, D of the pair), columns ascending.
type Row = Vec<(u32, f64, f64)>;

/// S, row by row; every row sums to 1 and leaves out the point itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weights {
    rows: Vec<Row>,
}

impl Weights {
    /// (S + Sᵀ)/2.
    pub(crate) fn graph(&self) -> SparseGraph {
        let mut entries = Vec::with_capacity(2 * self.rows.iter().map(Vec::len).sum::<usize>());
        for (i, row) in self.rows.iter().enumerate() {
            for (j, weight, _) in row {
                entries.push((i as u32, *j, weight / 2.0));
                entries.push((*j, i as u32, weight / 2.0));
            }
        }
        SparseGraph::from_entries(self.rows.len(), entries, |a, b| a + b)
    }

    #[cfg(test)]
    pub(crate) fn rows(&self) -> impl Iterator<Item = Vec<(usize, f64)>> {
        self.rows.iter().map(|row| row.iter().map(|(j, weight, _)| (*j as usize, *weight)).collect())
    }
}

/// ‖x_i − x_j‖² from products: norms at both ends and the row of inner products become the distances in place.
#[inline(always)]
fn to_distances(own: f64, norms2: &[f64], products: &mut [f64]) {
    for (p, norm) in products.iter_mut().zip(norms2) {
        let value = (own + norm) - 2.0 * *p;
        *p = if value > 0.0 { value } else { 0.0 };
    }
}

impl Neighbors {
    /// Of n rows of m values.
    pub(crate) fn new(x: &[f64], n: usize, m: usize) -> Self {
        let mut centre = vec![0.0; m];
        for row in x.chunks_exact(m.max(1)) {
            centre.iter_mut().zip(row).for_each(|(c, x)| *c += x / n as f64);
        }
        // Distances do not change and lose fewer digits around the mean.
        let centred: Vec<f64> =
            x.chunks_exact(m).flat_map(|row| row.iter().zip(&centre).map(|(x, c)| x - c)).collect();
        let norms2: Vec<f64> = centred.par_chunks(m).map(norm2).collect();
        let mut distances = vec![0.0; n * n];
        distances.par_chunks_mut(ROWS * n).enumerate().for_each(|(block, values)| {
            let first = block * ROWS;
            let height = values.len() / n;
            multiply_transposed(&centred[first * m..(first + height) * m], &centred, m, n, values);
            for (a, values) in values.chunks_exact_mut(n).enumerate() {
                vectorized(
                    #[inline(always)]
                    || to_distances(norms2[first + a], &norms2, values),
                );
                values[first + a] = 0.0;
            }
        });
        Self { n, distances, gamma: 1.0 }
    }

    #[cfg(test)]
    pub(crate) fn gamma(&self) -> f64 {
        self.gamma
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.distances[i * self.n..(i + 1) * self.n]
    }

    /// The graph of the k nearest, weights falling linearly to 0 at the next one; it fixes γ.
    pub(crate) fn first_graph(mut self, k: usize) -> (Self, Weights) {
        let n = self.n;
        let found: Vec<(Row, f64)> = (0..n).into_par_iter().map(|i| self.first_row(i, k)).collect();
        let gamma = found.iter().map(|(_, gamma)| gamma).sum::<f64>() / n as f64;
        let largest = self.distances.iter().fold(0.0_f64, |a, b| a.max(*b));
        self.gamma = gamma.max(LEAST_GAMMA * if largest > 0.0 { largest } else { 1.0 });
        (self, Weights { rows: found.into_iter().map(|(row, _)| row).collect() })
    }

    /// One row and its γ; with fewer than k + 2 points k is smaller, and where all distances are equal so are the
    /// weights.
    fn first_row(&self, i: usize, k: usize) -> (Row, f64) {
        let mut near: Vec<(f64, u32)> =
            self.row(i).iter().zip(0..).filter(|(_, j)| *j as usize != i).map(|(d, j)| (*d, j)).collect();
        let (others, order) =
            (near.len(), |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let k = k.min(others.saturating_sub(1)).max(1);
        if others > k {
            near.select_nth_unstable_by(k, order);
            near.truncate(k + 1);
        }
        near.sort_unstable_by(order);
        let next = near.get(k).map_or(0.0, |(d, _)| *d);
        near.truncate(k);
        let spread = k as f64 * next - near.iter().map(|(d, _)| d).sum::<f64>();
        let share = 1.0 / near.len() as f64;
        // Below this the spread of equal distances is rounding.
        let spread = if spread > EQUAL * k as f64 * next { spread } else { 0.0 };
        let weigh = |d: f64| if spread > 0.0 { (next - d) / spread } else { share };
        let mut row: Row =
            near.into_iter().map(|(d, j)| (j, weigh(d), d)).filter(|(_, weight, _)| *weight > 0.0).collect();
        row.sort_unstable_by_key(|(j, ..)| *j);
        (row, 0.5 * spread)
    }

    /// S for this V (n × r, row-major).
    pub(crate) fn choose(&self, v: &[f64], r: usize, lambda: f64) -> Weights {
        let n = self.n;
        if n < 2 {
            return Weights { rows: vec![Vec::new(); n] };
        }
        let norms2: Vec<f64> = v.chunks_exact(r).map(|v| v.iter().map(|v| v * v).sum()).collect();
        let blocks: Vec<Vec<Row>> = (0..n.div_ceil(ROWS))
            .into_par_iter()
            .map(|block| {
                let first = block * ROWS;
                let height = ROWS.min(n - first);
                let mut values = vec![0.0; height * n];
                multiply_transposed(&v[first * r..(first + height) * r], v, r, n, &mut values);
                let choose = |(a, values): (usize, &mut [f64])| {
                    self.choose_row(first + a, norms2[first + a], &norms2, lambda, values)
                };
                values.chunks_exact_mut(n).enumerate().map(choose).collect()
            })
            .collect();
        Weights { rows: blocks.into_iter().flatten().collect() }
    }

    /// `values` holds the inner products of v_i with all rows of V.
    fn choose_row(&self, i: usize, own: f64, norms2: &[f64], lambda: f64, values: &mut [f64]) -> Row {
        let (distances, scale) = (self.row(i), -0.5 / self.gamma);
        vectorized(
            #[inline(always)]
            || {
                to_distances(own, norms2, values);
                for (y, d) in values.iter_mut().zip(distances) {
                    *y = scale * (d + lambda * *y);
                }
            },
        );
        values[i] = f64::NEG_INFINITY;
        let top = values.iter().fold(f64::NEG_INFINITY, |top, y| if *y > top { *y } else { top });
        let (places, kept): (Vec<u32>, Vec<f64>) =
            (0..).zip(&*values).filter(|(_, y)| **y >= top - 1.0).map(|(j, y)| (j, *y)).unzip();
        let weights = simplex::project(&kept, &vec![1.0; kept.len()]);
        places
            .into_iter()
            .zip(weights)
            .filter(|(_, weight)| *weight > 0.0)
            .map(|(j, weight)| (j, weight, distances[j as usize]))
            .collect()
    }

    /// tr(XL_SXᵀ) + (γ/2)‖S‖².
    pub(crate) fn price(&self, weights: &Weights) -> f64 {
        let row = |row: &Row| row.iter().map(|(_, s, d)| 0.5 * s * (d + self.gamma * s)).sum::<f64>();
        weights.rows.iter().map(row).sum()
    }
}
