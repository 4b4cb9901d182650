//! The Newton-like step: every column by the Hessian of its free entries.
//!
//! The free set of column k is F = {i : g_ik ≤ ε or V_ik > ε}; there $H = 4\,[(VV^\top - S) + v_k v_k^\top +
//! \|v_k\|^2 I]_{FF}$ and the direction solves Hp = g by Cholesky. Entries at 0 do not move further down. A column
//! whose H is not positive definite, or whose direction is not one of descent, goes along its gradient. One Armijo
//! search serves all columns.
//!
//! H is made again where the free set changed, as in the original program, and here also once it is ten iterations
//! old: with a steady set the original keeps its first Hessian for good. Every hundredth iteration is a gradient
//! step. A free set above
//! [`MOST_FREE`] takes the gradient too, so that memory stays bounded; V is sparse after a few steps.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{
    LltParams, LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::cholesky::llt::solve::solve_in_place;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatMut, Par, Spec};
use rayon::prelude::*;

use super::super::phals::FixedGraph;
use super::update::{gradient, search};
use crate::graph::SparseGraph;
use crate::math::factor::Factor;
use crate::math::kernel::{dot, norm2};
use crate::observe::Observer;

/// Below this an entry is at its bound.
const EPSILON: f64 = 2.2e-16;
/// The run is over when the projected gradient is below this share of the first gradient.
const SMALL_GRADIENT: f64 = 1e-4;
/// Iterations that a Hessian may serve.
const OLDEST: usize = 10;
/// Iterations between two pure gradient steps.
const GRADIENT_EVERY: usize = 100;
/// Largest free set whose Hessian is formed.
pub(super) const MOST_FREE: usize = 2048;

/// Most bytes the Hessians take.
pub(super) fn bytes(n: usize, r: usize) -> u64 {
    let free = n.min(MOST_FREE) as u64;
    8 * r as u64 * free * free
}

/// The state between steps.
#[derive(Debug)]
pub(super) struct Newton {
    columns: Vec<Column>,
    /// 4(VVᵀV − SV) of the present V.
    gradient: Vec<f64>,
    first_norm: f64,
    iteration: usize,
}

/// One column: its free set, and the Cholesky factor of the Hessian on it where there is one.
#[derive(Clone, Debug, Default)]
struct Column {
    free: Vec<u32>,
    factor: Option<Mat<f64>>,
    /// Iterations the factor has served; none before the first.
    age: Option<usize>,
}

impl Newton {
    pub(super) fn new(fixed: &FixedGraph<'_, SparseGraph>) -> Self {
        let gradient = gradient(fixed);
        let first_norm = norm2(&gradient).sqrt();
        let columns = vec![Column::default(); fixed.factor.n_columns()];
        Self { columns, gradient, first_norm, iteration: 0 }
    }

    /// Whether the projected gradient is small against the first one.
    pub(super) fn stationary(&self, factor: &Factor) -> bool {
        let free = |(g, v): &(&f64, &f64)| is_free(**g, **v);
        let projected =
            self.gradient.iter().zip(factor.values()).filter(free).map(|(g, _)| g * g).sum::<f64>();
        projected.sqrt() < SMALL_GRADIENT * self.first_norm
    }

    /// One step. Returns the relative change of V.
    pub(super) fn step(
        &mut self,
        fixed: &mut FixedGraph<'_, SparseGraph>,
        observer: &dyn Observer,
    ) -> Option<f64> {
        self.iteration += 1;
        let plain = self.iteration.is_multiple_of(GRADIENT_EVERY);
        let n = fixed.factor.n_samples();
        let parts: Option<Vec<Vec<f64>>> = self
            .columns
            .par_iter_mut()
            .zip(self.gradient.par_chunks(n))
            .enumerate()
            .map(|(k, (column, g))| {
                if observer.cancelled() {
                    return None;
                }
                if plain {
                    column.age = None;
                    return Some(g.to_vec());
                }
                column.refresh(fixed, k, g);
                Some(column.direction(g, fixed.factor.column(k)).unwrap_or_else(|| g.to_vec()))
            })
            .collect();
        let p = parts?.concat();
        let (accepted, change) = search(fixed, &self.gradient, &p, 1.0, observer)?;
        if accepted.is_none() {
            // No direction of descent is left but, perhaps, the gradient.
            self.columns.iter_mut().for_each(|column| (column.factor, column.age) = (None, Some(0)));
        }
        self.gradient = gradient(fixed);
        Some(change)
    }
}

fn is_free(g: f64, v: f64) -> bool {
    g <= EPSILON || v > EPSILON
}

impl Column {
    /// Bring free set and Hessian up to date.
    fn refresh(&mut self, fixed: &FixedGraph<'_, SparseGraph>, k: usize, g: &[f64]) {
        let v = fixed.factor.column(k);
        let free: Vec<u32> = (0..v.len()).filter(|i| is_free(g[*i], v[*i])).map(|i| i as u32).collect();
        let kept = self.age.is_some_and(|age| age < OLDEST) && free == self.free;
        if kept {
            self.age = self.age.map(|age| age + 1);
            return;
        }
        self.factor = None; // its memory first
        self.factor = if free.len() <= MOST_FREE { decompose(hessian(fixed, k, &free)) } else { None };
        (self.free, self.age) = (free, Some(1));
    }

    /// The Newton direction; `None` where there is none of descent.
    fn direction(&mut self, g: &[f64], v: &[f64]) -> Option<Vec<f64>> {
        let factor = self.factor.as_ref()?;
        let mut solved: Vec<f64> = self.free.iter().map(|i| g[*i as usize]).collect();
        if !solved.is_empty() {
            let len = solved.len();
            let right = MatMut::from_column_major_slice_mut(&mut solved, len, 1);
            solve_in_place(factor.as_ref(), right, Par::Seq, MemStack::new(&mut []));
        }
        let mut p = vec![0.0; g.len()];
        for (i, s) in self.free.iter().zip(&solved) {
            let at_bound_and_down = *s > -EPSILON && v[*i as usize] <= EPSILON;
            p[*i as usize] = if at_bound_and_down { 0.0 } else { *s };
        }
        let cosine = dot(g, &p) / (norm2(g).sqrt() * norm2(&p).sqrt() + 1e-300);
        if cosine > EPSILON {
            return Some(p);
        }
        self.factor = None;
        None
    }
}

/// H on the free set, lower half.
fn hessian(fixed: &FixedGraph<'_, SparseGraph>, k: usize, free: &[u32]) -> Mat<f64> {
    let (factor, r) = (&fixed.factor, fixed.factor.n_columns());
    // [V v_k] on the free rows: its Gram matrix holds VVᵀ + v_k v_kᵀ.
    let rows =
        Mat::from_fn(free.len(), r + 1, |a, c| factor.get(free[a] as usize, if c < r { c } else { k }));
    let mut h = Mat::zeros(free.len(), free.len());
    let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    triangular::matmul(h.as_mut(), lower, Accum::Replace, &rows, full, rows.transpose(), full, 4.0, Par::Seq);
    let own = 4.0 * norm2(factor.column(k));
    for (a, i) in free.iter().enumerate() {
        h[(a, a)] += own;
        let (places, values) = fixed.graph.row(*i as usize);
        // Both lists ascend.
        let mut b = 0;
        for (j, s) in places.iter().zip(values) {
            b += free[b..].partition_point(|f| f < j);
            if b > a || b == free.len() {
                break;
            }
            if free[b] == *j {
                h[(a, b)] -= 4.0 * s;
            }
        }
    }
    h
}

/// The Cholesky factor, lower half; `None` where the matrix is not positive definite.
fn decompose(mut h: Mat<f64>) -> Option<Mat<f64>> {
    let params = Spec::<LltParams, f64>::default();
    let scratch = cholesky_in_place_scratch::<f64>(h.nrows(), Par::Seq, params);
    let mut memory = MemBuffer::new(scratch);
    cholesky_in_place(h.as_mut(), LltRegularization::default(), Par::Seq, MemStack::new(&mut memory), params)
        .ok()
        .map(|_| h)
}
