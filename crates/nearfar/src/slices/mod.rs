//! slices: rank k of everybody, as one matrix of norm 1, seen only through a few operations.
//!
//! $A^{(k)}$ holds $\kappa(x_i, x_j)$ where j is the k-th neighbour of i, divided by its Frobenius norm.
//! Slices are orthonormal, so $\|S(w)\|^2 = \sum_k w_k^2$ and every loss term is a sum over ranks of
//! the agreement $c_k = \langle A^{(k)}, VV^\top \rangle$. A method sees the data through [`Slices`] and
//! [`Graph`] alone: exact, binned and distributed data are implementations of these two.

pub(crate) mod binned;
pub(crate) mod full;
pub(crate) mod pairs;
pub(crate) mod ranked;
pub(crate) mod tiles;

pub use binned::BinnedShape;
pub(crate) use binned::BinnedSlices;
pub use full::FullSlices;
pub use pairs::BinnedReport;
pub(crate) use pairs::{Pairs, with_slices};
pub use tiles::SymmetricTiles;

use rayon::prelude::*;

use crate::math::factor::Factor;
use crate::processes::Share;
use crate::spectral::eigen::Operator;

/// The slices of a data set: weights in, graphs and agreements out.
pub trait Slices: Sync {
    /// A symmetric graph on the samples.
    type Graph: Graph;

    /// Number of samples, n.
    fn n_samples(&self) -> usize;

    /// How many ranks share each weight; its length is the number of weights. All ones in exact mode.
    fn multiplicity(&self) -> &[f64];

    /// An empty graph to combine slices into.
    fn new_graph(&self) -> Self::Graph;

    /// `graph` ← sym(Σ_k weights_k A⁽ᵏ⁾). (eq:S_w, eq:D_p)
    fn combine(&self, weights: &[f64], graph: &mut Self::Graph);

    /// c_k = ⟨A⁽ᵏ⁾, VVᵀ⟩ for every weight.
    fn agreement(&self, factor: &Factor) -> Vec<f64>;

    /// `z` ← z + share · Z(S(w), D(p), V). (eq:aug_affinity)
    fn augment(&self, near: &[f64], far: &[f64], factor: &Factor, share: f64, z: &mut Self::Graph);

    /// Entries of sym(Σ_k weights_k A⁽ᵏ⁾) that are known and not 0.
    fn edges(&self, weights: &[f64]) -> SparseRows;

    /// These weights, one for each of the n ranks.
    fn per_rank(&self, weights: &[f64]) -> Vec<f64> {
        weights.to_vec()
    }

    /// The other way: weights of n ranks, added up where ranks share one.
    fn per_weight(&self, ranks: &[f64]) -> Vec<f64> {
        ranks.to_vec()
    }

    /// The last rank that has a weight of its own, where others share one.
    fn near_end(&self) -> Option<usize> {
        None
    }
}

/// A symmetric graph on the samples.
pub trait Graph: Operator + Send {
    /// T V, n × r column-major.
    fn times(&self, factor: &Factor, out: &mut [f64]);

    /// dᵀ T d.
    fn quadratic(&self, d: &[f64]) -> f64;

    /// Who holds which rows of T, where they may be split over processes: then sums over rows are made by units of
    /// rows. `None`: all are here.
    fn split(&self) -> Option<&Share> {
        None
    }

    /// The rows of T V that are here, column-major.
    fn times_own(&self, factor: &Factor) -> Vec<f64> {
        let mut out = vec![0.0; factor.values().len()];
        self.times(factor, &mut out);
        out
    }

    /// dᵀ T d as a sum for every unit of the rows that are here; one for all of them where rows are not split.
    fn quadratic_sums(&self, d: &[f64]) -> Vec<f64> {
        vec![self.quadratic(d)]
    }

    /// ‖T‖².
    fn norm2(&self) -> f64;

    /// T 1.
    fn degrees(&self) -> Vec<f64>;

    /// Entry (i, j); of a graph that is split over processes, only where row i is here.
    fn get(&self, i: usize, j: usize) -> f64;

    /// Set every entry to 0.
    fn clear(&mut self);
}

/// A sparse matrix, row after row, columns ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseRows {
    /// Row i holds entries `starts[i]..starts[i + 1]`.
    pub starts: Vec<usize>,
    /// Column of each entry.
    pub columns: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<f64>,
}

/// Some rows of a sparse matrix: their lengths, columns and values.
pub(crate) type RowBlock = (Vec<usize>, Vec<u32>, Vec<f64>);

impl SparseRows {
    /// The same without entries that are 0.
    pub(crate) fn without_zeros(mut self) -> Self {
        let (mut kept, mut start) = (0, 0);
        for end in self.starts.iter_mut().skip(1) {
            for at in start..*end {
                if self.values[at] != 0.0 {
                    (self.columns[kept], self.values[kept]) = (self.columns[at], self.values[at]);
                    kept += 1;
                }
            }
            start = std::mem::replace(end, kept);
        }
        self.columns.truncate(kept);
        self.values.truncate(kept);
        self
    }

    /// Columns as rows. A matrix has as many of both.
    pub(crate) fn transposed(&self) -> Self {
        let n = self.starts.len().saturating_sub(1);
        let mut starts = vec![0; n + 1];
        self.columns.iter().for_each(|column| starts[*column as usize + 1] += 1);
        for row in 0..n {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut this =
            Self { starts, columns: vec![0; self.columns.len()], values: vec![0.0; self.values.len()] };
        for row in 0..n {
            for at in self.starts[row]..self.starts[row + 1] {
                let place = &mut next[self.columns[at] as usize];
                (this.columns[*place], this.values[*place]) = (row as u32, self.values[at]);
                *place += 1;
            }
        }
        this
    }

    /// The sum of two matrices.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        const ROWS: usize = 1024;
        let n = self.starts.len().saturating_sub(1);
        let blocks: Vec<RowBlock> = (0..n.div_ceil(ROWS))
            .into_par_iter()
            .map(|block| {
                let (mut lengths, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
                for i in block * ROWS..((block + 1) * ROWS).min(n) {
                    let before = columns.len();
                    let (mut x, mut y) = (self.starts[i], other.starts[i]);
                    let (x_end, y_end) = (self.starts[i + 1], other.starts[i + 1]);
                    while x < x_end || y < y_end {
                        let ours = if x < x_end { self.columns[x] } else { u32::MAX };
                        let theirs = if y < y_end { other.columns[y] } else { u32::MAX };
                        let mut value = 0.0;
                        if ours <= theirs {
                            value += self.values[x];
                            x += 1;
                        }
                        if theirs <= ours {
                            value += other.values[y];
                            y += 1;
                        }
                        columns.push(ours.min(theirs));
                        values.push(value);
                    }
                    lengths.push(columns.len() - before);
                }
                (lengths, columns, values)
            })
            .collect();
        Self::of_blocks(blocks)
    }

    /// Blocks of rows one after the other.
    pub(crate) fn of_blocks(blocks: Vec<RowBlock>) -> Self {
        let mut rows = Self { starts: vec![0], ..Self::default() };
        let mut end = 0;
        for (lengths, columns, values) in blocks {
            for length in lengths {
                end += length;
                rows.starts.push(end);
            }
            rows.columns.extend(columns);
            rows.values.extend(values);
        }
        rows
    }
}
