//! The dense products of the eigensolver: tall column-major matrices (n rows) against small ones.
//!
//! Rows are split into blocks whose size depends on n only, each block is multiplied by one thread, and
//! partial sums are added in block order: the bits do not depend on the number of threads.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::tridiag::{tridiag_in_place, tridiag_in_place_scratch};
use faer::linalg::evd::{
    ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch, tridiagonal_self_adjoint_evd,
};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as turn_back_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as turn_back,
};
use faer::linalg::matmul::matmul;
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::{Accum, Conj, Mat, MatMut, MatRef, Par, Spec};
use rayon::prelude::*;

use crate::math::kernel::added_up;
use crate::processes::{Share, unit};

/// The rows of tall matrices: how many are here, of how many, and who has the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    /// Rows here.
    pub(super) n: usize,
    /// Rows of one block: at least 512, and at most 256 blocks of all rows.
    block: usize,
    /// Where others have the rest.
    share: Option<&'a Share>,
}

impl<'a> Rows<'a> {
    /// All n rows are here, unless they are shared.
    pub(crate) fn new(n: usize, share: Option<&'a Share>) -> Self {
        let share = share.filter(|share| share.is_split());
        Self { n: share.map_or(n, |share| share.rows().len()), block: unit(n), share }
    }

    /// The rows here, by number.
    pub(super) fn here(&self) -> std::ops::Range<usize> {
        self.share.map_or(0..self.n, Share::rows)
    }

    /// Sums over all rows, `width` at a time, from what every block here adds.
    fn sums(&self, width: usize, of_block: impl Fn(usize, usize) -> Vec<f64> + Sync) -> Vec<f64> {
        let blocks = (0..self.n.div_ceil(self.block)).into_par_iter();
        let parts: Vec<Vec<f64>> = blocks
            .map(|block| of_block(block * self.block, self.block.min(self.n - block * self.block)))
            .collect();
        let own = parts.concat();
        match self.share {
            None => added_up(&own, width),
            Some(share) => added_up(&share.gather_blocks("small products", &own, self.block, width), width),
        }
    }
}

/// A tall matrix seen in a slice.
pub(super) fn tall(values: &[f64], n: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(values, n, values.len() / n)
}

/// QᵀW, p × b, from Q (n × p) and W (n × b), given with their numbers of columns: there may be no row here.
pub(super) fn cross((q, p): (&[f64], usize), (w, b): (&[f64], usize), rows: Rows<'_>) -> Mat<f64> {
    let n = rows.n;
    let sum = rows.sums(p * b, |start, count| {
        let mut part = vec![0.0; p * b];
        let (q, w) = (tall(q, n).subrows(start, count), tall(w, n).subrows(start, count));
        let out = MatMut::from_column_major_slice_mut(&mut part, p, b);
        matmul(out, Accum::Replace, q.transpose(), w, 1.0, Par::Seq);
        part
    });
    MatRef::from_column_major_slice(&sum, p, b).to_owned()
}

/// W ← W − Q C, with W (n × b), Q (n × p), C (p × b).
pub(super) fn subtract(w: &mut [f64], q: &[f64], c: MatRef<'_, f64>, rows: Rows<'_>) {
    let n = rows.n;
    if n == 0 {
        return;
    }
    let (q, columns) = (tall(q, n), w.len() / n);
    MatMut::from_column_major_slice_mut(w, n, columns).par_row_chunks_mut(rows.block).enumerate().for_each(
        |(block, w)| {
            let q = q.subrows(block * rows.block, w.nrows());
            matmul(w, Accum::Add, q, c, -1.0, Par::Seq);
        },
    );
}

/// The first columns of Q (n × p) become Q Y, with Y (p × c) and c ≤ p; no second tall matrix is needed.
pub(super) fn rotate(q: &mut [f64], y: MatRef<'_, f64>, rows: Rows<'_>) {
    let n = rows.n;
    if n == 0 {
        return;
    }
    let columns = q.len() / n;
    MatMut::from_column_major_slice_mut(q, n, columns).par_row_chunks_mut(rows.block).for_each(|q| {
        let mut turned = Mat::zeros(q.nrows(), y.ncols());
        matmul(turned.as_mut(), Accum::Replace, q.as_ref(), y, 1.0, Par::Seq);
        q.subcols_mut(0, y.ncols()).copy_from(&turned);
    });
}

/// Q Y as a new tall matrix.
pub(crate) fn combine(q: &[f64], y: MatRef<'_, f64>, rows: Rows<'_>) -> Vec<f64> {
    let n = rows.n;
    let mut x = vec![0.0; n * y.ncols()];
    if n == 0 {
        return x;
    }
    let q = tall(q, n);
    MatMut::from_column_major_slice_mut(&mut x, n, y.ncols())
        .par_row_chunks_mut(rows.block)
        .enumerate()
        .for_each(|(block, x)| {
            let q = q.subrows(block * rows.block, x.nrows());
            matmul(x, Accum::Replace, q, y, 1.0, Par::Seq);
        });
    x
}

/// ‖A xⱼ − λⱼ xⱼ‖ for every column.
pub(super) fn residuals(ax: &[f64], x: &[f64], values: &[f64], rows: Rows<'_>) -> Vec<f64> {
    let squares = rows.sums(values.len(), |start, count| {
        let column = |(j, value): (usize, &f64)| {
            let at = j * rows.n + start..j * rows.n + start + count;
            ax[at.clone()].iter().zip(&x[at]).map(|(a, x)| (a - value * x).powi(2)).sum::<f64>()
        };
        values.iter().enumerate().map(column).collect()
    });
    squares.into_iter().map(f64::sqrt).collect()
}

/// All eigenvalues, descending, and eigenvectors (columns) of a small symmetric matrix, of which the lower
/// half is read; `None` when it holds a NaN or an infinity.
pub(crate) fn small_eigen(h: MatRef<'_, f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let n = h.nrows();
    if h.col_iter().any(|column| column.iter().any(|v| !v.is_finite())) {
        return None;
    }
    let (mut vectors, mut values) = (Mat::zeros(n, n), Diag::zeros(n));
    // Not `self_adjoint_eigen`: that one asks for the global number of threads.
    let wanted = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
    self_adjoint_evd(
        h,
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(wanted)),
        Spec::default(),
    )
    .ok()?;
    let descending = values.column_vector().iter().rev().copied().collect();
    Some((descending, vectors.as_ref().reverse_cols().to_owned()))
}

/// All eigenvalues, descending, and the first k eigenvectors (n × k) of a symmetric matrix, of which the lower half
/// is read and which is overwritten; `None` when it holds a NaN or an infinity.
pub(super) fn leading_eigen(a: &mut [f64], n: usize, k: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    if a.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let mut a = MatMut::from_column_major_slice_mut(a, n, n);
    let mut x = vec![0.0; n * k];
    let mut wanted = MatMut::from_column_major_slice_mut(&mut x, n, k);
    if 2 * k > n {
        let (values, vectors) = small_eigen(a.as_ref())?;
        wanted.copy_from(vectors.subcols(0, k));
        return Some((values, x));
    }
    // A = Q T Qᵀ with T tridiagonal; only the wanted eigenvectors of T are turned back by Q.
    let block = recommended_block_size::<f64>(n, n);
    let mut reflections = Mat::zeros(block, n - 1);
    let room = tridiag_in_place_scratch::<f64>(n, Par::Seq, Spec::default());
    let mut memory = MemBuffer::new(room);
    tridiag_in_place(a.as_mut(), reflections.as_mut(), Par::Seq, MemStack::new(&mut memory), Spec::default());
    let (values, vectors) = tridiagonal_eigen(a.as_ref())?;
    wanted.copy_from(vectors.reverse_cols().subcols(0, k));
    let mut memory = MemBuffer::new(turn_back_scratch::<f64>(n - 1, block, k));
    turn_back(
        a.as_ref().submatrix(1, 0, n - 1, n - 1),
        reflections.as_ref(),
        Conj::No,
        wanted.subrows_mut(1, n - 1),
        Par::Seq,
        MemStack::new(&mut memory),
    );
    Some((values, x))
}

/// Eigenvalues, descending, and eigenvectors, ascending, of the tridiagonal matrix that stands on the diagonal of
/// `t` and below it.
fn tridiagonal_eigen(t: MatRef<'_, f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let n = t.nrows();
    let (mut diagonal, mut below) = (Diag::zeros(n), Diag::zeros(n));
    for i in 0..n {
        diagonal[i] = t[(i, i)];
        below[i] = if i + 1 < n { t[(i + 1, i)] } else { 0.0 };
    }
    let (mut vectors, mut values) = (Mat::zeros(n, n), Diag::zeros(n));
    let room = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
    tridiagonal_self_adjoint_evd(
        diagonal.as_ref(),
        below.as_ref(),
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(room)),
        Spec::default(),
    )
    .ok()?;
    Some((values.column_vector().iter().rev().copied().collect(), vectors))
}

/// The product of two small matrices, by this thread.
pub(super) fn small_times(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut product = Mat::zeros(a.nrows(), b.ncols());
    matmul(product.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    product
}

/// A X for a symmetric n × n matrix: one block of rows of A per task.
pub(super) fn symmetric_times(a: &[f64], x: &[f64], n: usize, y: &mut [f64]) {
    let columns = y.len() / n;
    let (a, x) = (tall(a, n), tall(x, n));
    // Half of the least block: A has n columns, so 256 rows are work enough.
    MatMut::from_column_major_slice_mut(y, n, columns).par_row_chunks_mut(256).enumerate().for_each(
        |(block, y)| {
            // A is its own transpose: these columns of A are the rows wanted, and lie together.
            let a = a.subcols(block * 256, y.nrows());
            matmul(y.transpose_mut(), Accum::Replace, x.transpose(), a, 1.0, Par::Seq);
        },
    );
}
