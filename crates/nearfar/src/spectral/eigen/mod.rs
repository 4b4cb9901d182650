//! The k largest eigenvalues of a symmetric operator, with their eigenvectors.
//!
//! Block Krylov–Schur: a basis Q of at most m = 6b columns grows by blocks of b ≥ k columns,
//! W = A·(last block), made orthogonal to Q; Rayleigh–Ritz on H = QᵀAQ; a thick restart keeps the upper
//! half of the Ritz vectors and the newest block. The block is as wide as the number of wanted vectors because
//! one starting vector cannot see a repeated eigenvalue, and separated clusters are just that case.
//!
//! Symbols: `q` basis (n × m), `h` its projection of A, `theta` Ritz values, `y` Ritz vectors in the basis,
//! `x = q y`. Since A Q = Q H + (next block)·B on the newest columns and zero elsewhere, ‖B y‖ over those rows
//! estimates a residual without a product; a result is handed out only after ‖A X − X Λ‖ was measured.
//!
//! Small problems (n ≤ 320, or n ≤ 2m) are formed and decomposed in full.

pub(crate) mod products;
mod solver;
#[cfg(test)]
mod tests;

use crate::processes::Share;
use products::{Rows, leading_eigen, residuals};
use solver::Solver;

/// A symmetric linear operator, known by its products only.
pub trait Operator: Sync {
    /// Number of rows, n.
    fn size(&self) -> usize;
    /// `y` ← A `x`; both hold `columns` columns of length n, one after the other. All of `y` is overwritten.
    fn apply(&self, x: &[f64], columns: usize, y: &mut [f64]);

    /// Whose rows are whose, where processes share the rows of A and of the vectors; `None`: all are here.
    fn share(&self) -> Option<&Share> {
        None
    }

    /// As [`apply`](Self::apply), where `x` and `y` have the rows that are here.
    fn apply_own(&self, x: &[f64], columns: usize, y: &mut [f64]) {
        self.apply(x, columns, y);
    }

    /// Columns whose span may be near that of the leading eigenvectors, the rows that are here, and how many
    /// columns they are: the solver starts from them.
    fn guess(&self) -> (Vec<f64>, usize) {
        (Vec::new(), 0)
    }

    /// `a` ← A, n × n. By products with unit vectors, where an operator has no quicker way.
    fn matrix(&self, a: &mut [f64]) {
        const COLUMNS: usize = 64;
        let n = self.size();
        let mut unit = vec![0.0; n * COLUMNS.min(n)];
        for (block, a) in a.chunks_mut(n * COLUMNS).enumerate() {
            let columns = a.len() / n;
            unit.fill(0.0);
            for j in 0..columns {
                unit[j * n + block * COLUMNS + j] = 1.0;
            }
            self.apply(&unit[..columns * n], columns, a);
        }
    }
}

/// A symmetric matrix in memory; rows and columns are interchangeable.
#[derive(Clone, Copy, Debug)]
pub struct DenseOperator<'a> {
    values: &'a [f64],
    n: usize,
}

impl<'a> DenseOperator<'a> {
    /// The n × n matrix `values`; `None` when the length is not n².
    pub fn new(values: &'a [f64], n: usize) -> Option<Self> {
        (n.checked_mul(n) == Some(values.len())).then_some(Self { values, n })
    }
}

impl Operator for DenseOperator<'_> {
    fn size(&self) -> usize {
        self.n
    }

    fn apply(&self, x: &[f64], columns: usize, y: &mut [f64]) {
        if columns > 0 && self.n > 0 {
            products::symmetric_times(self.values, x, self.n, y);
        }
    }

    fn matrix(&self, a: &mut [f64]) {
        a.copy_from_slice(self.values);
    }
}

/// What a caller may set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EigenParams {
    /// Largest residual ‖Ax − λx‖ of a wanted pair, relative to the largest |λ| seen; below 1e-13 (or NaN) it
    /// is taken as 1e-13, which rounding allows. Default 1e-10.
    pub tolerance: f64,
    /// Give up after multiplying this many columns. Default 20,000.
    pub max_products: usize,
    /// Seed of the starting block.
    pub seed: u64,
    /// How many of the leading pairs must meet the tolerance; the others come as they are by then. Default: all.
    pub judged: usize,
}

impl Default for EigenParams {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_products: 20_000, seed: 0, judged: usize::MAX }
    }
}

/// Leading eigenpairs. Running out of products is a fact to report, not an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigen {
    /// The largest eigenvalues, descending. NaN when the operator answered with NaN or infinity.
    pub values: Vec<f64>,
    /// Their eigenvectors, n × k, column-major; the entry of largest magnitude in each is positive.
    pub vectors: Vec<f64>,
    /// ‖Ax − λx‖ of each pair, measured.
    pub residuals: Vec<f64>,
    /// Columns multiplied by the operator.
    pub products: usize,
    /// Whether every judged residual is within the tolerance.
    pub converged: bool,
}

/// Up to this size the full decomposition is faster.
const SMALL: usize = 320;
/// The `k` largest eigenpairs of `op`; all of them when `k` is n or more.
///
/// `stop` is asked before every block of products; when it answers true, so is the result `None`.
///
/// ```
/// use nearfar::internals::{DenseOperator, EigenParams, largest};
/// let matrix = [2.0, 1.0, 1.0, 2.0];
/// let op = DenseOperator::new(&matrix, 2).unwrap();
/// let eigen = largest(&op, 1, &EigenParams::default(), &|| false).unwrap();
/// assert!((eigen.values[0] - 3.0).abs() < 1e-14);
/// ```
pub fn largest(op: &dyn Operator, k: usize, params: &EigenParams, stop: &dyn Fn() -> bool) -> Option<Eigen> {
    let n = op.size();
    let k = k.min(n);
    if k == 0 {
        let (values, vectors, residuals) = (vec![], vec![], vec![]);
        return Some(Eigen { values, vectors, residuals, products: 0, converged: true });
    }
    let block = k.max(4);
    let width = (6 * block).max(40);
    if n <= SMALL.max(2 * width) {
        return full(op, k, params, stop);
    }
    Solver::new(op, k, block, width, params).run(stop)
}

/// Form the matrix and decompose it.
fn full(op: &dyn Operator, k: usize, params: &EigenParams, stop: &dyn Fn() -> bool) -> Option<Eigen> {
    let n = op.size();
    if stop() {
        return None;
    }
    let mut a = vec![0.0; n * n];
    op.matrix(&mut a);
    let Some((theta, x)) = leading_eigen(&mut a, n, k) else { return Some(Eigen::failed(n, k, n)) };
    let here = Rows::new(n, op.share()).here();
    let own = x.chunks_exact(n).flat_map(|x| &x[here.clone()]).copied().collect();
    let allowed = Allowed { residual: largest_magnitude(&theta) * tolerance(params), judged: params.judged };
    Some(Eigen::measured(op, own, theta[..k].to_vec(), &allowed, n))
}

/// What counts as converged.
struct Allowed {
    residual: f64,
    judged: usize,
}

fn tolerance(params: &EigenParams) -> f64 {
    params.tolerance.max(1e-13)
}

fn largest_magnitude(values: &[f64]) -> f64 {
    values.iter().fold(0.0_f64, |m, v| m.max(v.abs()))
}

impl Eigen {
    /// Fix the signs and measure the residuals of the pairs (`x`, `values`), of which the own rows are given.
    fn measured(
        op: &dyn Operator,
        mut x: Vec<f64>,
        values: Vec<f64>,
        allowed: &Allowed,
        products: usize,
    ) -> Self {
        let rows = Rows::new(op.size(), op.share());
        let (n, k) = (rows.n, values.len());
        let column = |x: &[f64], j: usize| j * n..j * n + if x.is_empty() { 0 } else { n };
        let larger = |m: f64, v: f64| if v.abs() > m.abs() { v } else { m };
        let leader = |x: &[f64], j| x[column(x, j)].iter().copied().fold(0.0_f64, larger);
        let mut leaders: Vec<f64> = (0..k).map(|j| leader(&x, j)).collect();
        if let Some(share) = op.share() {
            let all = share.team().gather_even("signs", &leaders);
            leaders = (0..k).map(|j| all.iter().skip(j).step_by(k).copied().fold(0.0, larger)).collect();
        }
        for (j, _) in leaders.iter().enumerate().filter(|(_, leader)| **leader < 0.0) {
            let at = column(&x, j);
            x[at].iter_mut().for_each(|v| *v = -*v);
        }
        let mut ax = vec![0.0; x.len()];
        op.apply_own(&x, k, &mut ax);
        let residuals = residuals(&ax, &x, &values, rows);
        // Written so that NaN fails; a zero operator has residuals of exactly 0.
        let converged = residuals.iter().take(allowed.judged).all(|r| *r <= allowed.residual);
        let products = products + k;
        Self { values, vectors: everywhere(op, x, k), residuals, products, converged }
    }

    /// The answer when the operator gave NaN or infinity.
    fn failed(n: usize, k: usize, products: usize) -> Self {
        let (values, vectors, residuals) = (vec![f64::NAN; k], vec![0.0; n * k], vec![f64::NAN; k]);
        Self { values, vectors, residuals, products, converged: false }
    }
}

/// All rows of k vectors of which the own rows are given.
fn everywhere(op: &dyn Operator, own: Vec<f64>, k: usize) -> Vec<f64> {
    let Some(share) = op.share().filter(|share| share.is_split()) else { return own };
    let n = own.len() / k.max(1);
    let rows: Vec<f64> = (0..n).flat_map(|i| own.iter().skip(i).step_by(n).copied()).collect();
    let rows = share.gather_rows("eigenvectors", &rows, k);
    (0..k).flat_map(|j| rows.iter().skip(j).step_by(k).copied()).collect()
}
