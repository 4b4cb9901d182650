//! The parts of a mixture: numbers with a mean and a covariance, normal or with the tails of Student's t, times a
//! table for every category.
//!
//! Part a has the density π_a N(y; μ_a, Σ_a) Π_g t_ga(c_g), or Student's t in place of N. EM sees the rows through
//! products of two small matrices only: squared distances are linear in 1, y_i and y_i y_j, and so are the sums
//! that means and covariances are made of.
//! [`Sums`] holds those sums, [`Parts::of`] is the M step, [`Parts::distances`] with [`Parts::log_joint`] the E step.
//!
//! Symbols: `r` responsibilities, k × rows; `w` the same times the pull (ν + m)/(ν + d²) of a row, below 1 far out
//! in a heavy tail.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::columns::Table;
use super::{BLOCK, Covariance};
use crate::math::exp::exp_negative;
use crate::math::kernel::vectorized;
use crate::math::rng::Stream;

/// Added to every variance, so that no part shrinks to a point.
pub(super) const FLOOR: f64 = 1e-4;
/// Added to the weight of a part, so that an empty one divides by something.
const EMPTY: f64 = 1e-10;

/// The fitted parts.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Parts {
    /// Number of parts.
    pub(crate) k: usize,
    /// Numbers of a row.
    pub(super) m: usize,
    /// Their shape.
    pub(crate) covariance: Covariance,
    /// Degrees of freedom of Student's t; `None`: normal.
    pub(crate) tail: Option<f64>,
    /// Share of every part; sums to 1.
    pub(crate) share: Vec<f64>,
    /// k × m.
    pub(crate) mean: Vec<f64>,
    /// Cholesky factors, one for each part or one for all: lower triangles row by row, or diagonals alone.
    pub(super) factors: Vec<Vec<f64>>,
    /// For every category k × levels: the chance of a value in a part.
    pub(super) tables: Vec<Vec<f64>>,
}

/// What kind of parts are fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kind {
    pub(super) covariance: Covariance,
    pub(super) tail: Option<f64>,
}

impl Covariance {
    /// Whether off-diagonal entries count.
    fn crossed(self) -> bool {
        matches!(self, Self::Full | Self::Tied)
    }

    /// Shapes among k parts.
    fn shapes(self, k: usize) -> usize {
        if self == Self::Tied { 1 } else { k }
    }

    /// Products of numbers that distances are made of.
    fn squares(self, m: usize) -> usize {
        match self {
            Self::Full | Self::Tied => m * (m + 1) / 2,
            Self::Diag => m,
            Self::Spherical => 1,
        }
    }

    /// Free parameters of the shapes of k parts.
    fn freedom(self, k: usize, m: usize) -> usize {
        match self {
            Self::Full => k * m * (m + 1) / 2,
            Self::Tied => m * (m + 1) / 2,
            Self::Diag => k * m,
            Self::Spherical => k,
        }
    }
}

/// Memory for one block of rows.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Rows of the block.
    pub(super) count: usize,
    /// (1 + m) × count: 1 and the numbers.
    lines: Vec<f64>,
    /// Products of two numbers, × count.
    squares: Vec<f64>,
    /// k × count.
    pub(super) r: Vec<f64>,
    /// k × count; the pull alone after [`Parts::log_joint`].
    pub(super) w: Vec<f64>,
    distance: Vec<f64>,
    shared: Vec<f64>,
    /// count: log of the density of every row.
    pub(super) log: Vec<f64>,
}

impl Block {
    /// The rows from `start` on.
    pub(super) fn look(&mut self, table: &Table, start: usize, covariance: Covariance) {
        let (m, count) = (table.m, BLOCK.min(table.n - start));
        self.count = count;
        self.lines.clear();
        self.lines.resize(count, 1.0);
        for j in 0..m {
            self.lines.extend_from_slice(&table.number(j)[start..start + count]);
        }
        self.squares.clear();
        self.squares.resize(covariance.squares(m) * count, 0.0);
        let number = |j: usize| &self.lines[(1 + j) * count..(2 + j) * count];
        let squares = &mut self.squares;
        vectorized(
            #[inline(always)]
            || {
                if covariance.crossed() {
                    let mut out = squares.chunks_exact_mut(count);
                    for i in 0..m {
                        for j in 0..=i {
                            let Some(out) = out.next() else { return };
                            multiply(out, number(i), number(j));
                        }
                    }
                } else {
                    for j in 0..m {
                        let at = if covariance == Covariance::Diag { j } else { 0 };
                        let out = &mut squares[at * count..(at + 1) * count];
                        out.iter_mut().zip(number(j)).for_each(|(out, y)| *out += y * y);
                    }
                }
            },
        );
    }
}

#[inline(always)]
fn multiply(out: &mut [f64], a: &[f64], b: &[f64]) {
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out = a * b;
    }
}

/// out ← out + A B or A B, by this thread: A is h × k, B is k × m, all row by row.
fn product(out: &mut [f64], a: &[f64], b: &[f64], (h, k, m): (usize, usize, usize), add: bool) {
    if k == 0 {
        if !add {
            out.fill(0.0);
        }
        return;
    }
    let (a, b) = (MatRef::from_row_major_slice(a, h, k), MatRef::from_row_major_slice(b, k, m));
    let how = if add { Accum::Add } else { Accum::Replace };
    matmul(MatMut::from_row_major_slice_mut(out, h, m), how, a, b, 1.0, Par::Seq);
}

/// out ← out + A Bᵀ: A is h × k, B is m × k.
fn add_transposed(out: &mut [f64], a: &[f64], b: &[f64], (h, k, m): (usize, usize, usize)) {
    let (a, b) = (MatRef::from_row_major_slice(a, h, k), MatRef::from_row_major_slice(b, m, k));
    matmul(MatMut::from_row_major_slice_mut(out, h, m), Accum::Add, a, b.transpose(), 1.0, Par::Seq);
}

/// What the M step needs to know of all rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sums {
    /// Σ r, for every part.
    mass: Vec<f64>,
    /// k × (1 + m): Σ w and Σ w y.
    lines: Vec<f64>,
    /// Σ w times products of two numbers, for every shape.
    squares: Vec<f64>,
    /// For every category k × levels: Σ r.
    tables: Vec<Vec<f64>>,
}

impl Sums {
    /// Over all rows; `fill` puts `r` and `w` of a block in place, in which the rows have been looked at already.
    pub(super) fn over(
        table: &Table,
        k: usize,
        covariance: Covariance,
        block: &mut Block,
        mut fill: impl FnMut(usize, &mut Block),
    ) -> Self {
        let m = table.m;
        let (shapes, squares) = (covariance.shapes(k), covariance.squares(m));
        let mut sums = Self {
            mass: vec![0.0; k],
            lines: vec![0.0; k * (1 + m)],
            squares: vec![0.0; shapes * squares],
            tables: table.levels.iter().map(|levels| vec![0.0; k * levels]).collect(),
        };
        for start in (0..table.n).step_by(BLOCK) {
            block.look(table, start, covariance);
            fill(start, block);
            let count = block.count;
            for (mass, r) in sums.mass.iter_mut().zip(block.r.chunks_exact(count)) {
                *mass += r.iter().sum::<f64>();
            }
            add_transposed(&mut sums.lines, &block.w, &block.lines, (k, count, 1 + m));
            if squares > 0 {
                if shapes == k {
                    add_transposed(&mut sums.squares, &block.w, &block.squares, (k, count, squares));
                } else {
                    block.shared.clear();
                    block.shared.resize(count, 0.0);
                    for w in block.w.chunks_exact(count) {
                        block.shared.iter_mut().zip(w).for_each(|(sum, w)| *sum += w);
                    }
                    add_transposed(&mut sums.squares, &block.shared, &block.squares, (1, count, squares));
                }
            }
            for ((sum, codes), levels) in sums.tables.iter_mut().zip(&table.codes).zip(&table.levels) {
                let codes = &codes[start..start + count];
                for (sum, r) in sum.chunks_exact_mut(*levels).zip(block.r.chunks_exact(count)) {
                    codes.iter().zip(r).for_each(|(code, r)| sum[*code as usize] += r);
                }
            }
        }
        sums
    }
}

/// The place of (i, j) in a lower triangle, j ≤ i.
fn place(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}

/// L with L Lᵀ = A, lower triangles row by row, in place.
fn cholesky(a: &mut [f64], m: usize) {
    for i in 0..m {
        for j in 0..=i {
            let inner: f64 = (0..j).map(|l| a[place(i, l)] * a[place(j, l)]).sum();
            let rest = a[place(i, j)] - inner;
            // The floor keeps pivots positive but for rounding.
            a[place(i, j)] = if i == j { rest.max(1e-12).sqrt() } else { rest / a[place(j, j)] };
        }
    }
}

/// L⁻¹ of a lower triangle.
fn inverse(l: &[f64], m: usize) -> Vec<f64> {
    let mut out = vec![0.0; l.len()];
    for j in 0..m {
        out[place(j, j)] = 1.0 / l[place(j, j)];
        for i in j + 1..m {
            let inner: f64 = (j..i).map(|t| l[place(i, t)] * out[place(t, j)]).sum();
            out[place(i, j)] = -inner / l[place(i, i)];
        }
    }
    out
}

/// ln Γ(h/2).
fn ln_gamma_half(h: usize) -> f64 {
    let (mut value, mut at) =
        if h.is_multiple_of(2) { (0.0, 2) } else { (0.5 * std::f64::consts::PI.ln(), 1) };
    while at < h {
        value += (at as f64 / 2.0).ln();
        at += 2;
    }
    value
}

/// Coefficients of squared distances in 1, numbers and their products, for EM.
pub(super) struct Distances {
    /// k × (1 + m).
    lines: Vec<f64>,
    /// shapes × products.
    squares: Vec<f64>,
}

impl Parts {
    /// The M step.
    pub(super) fn of(sums: &Sums, kind: Kind, table: &Table) -> Self {
        let (k, m) = (sums.mass.len(), table.m);
        let Kind { covariance, tail } = kind;
        let mass: Vec<f64> = sums.mass.iter().map(|mass| mass + EMPTY).collect();
        let total: f64 = mass.iter().sum();
        let mut mean = Vec::with_capacity(k * m);
        for line in sums.lines.chunks_exact(1 + m) {
            mean.extend(line[1..].iter().map(|sum| sum / (line[0] + EMPTY)));
        }
        // Σ w (y − μ)(y − μ)ᵀ less Σ w y yᵀ.
        let around = |a: usize, i: usize, j: usize| {
            let (line, mean) = (&sums.lines[a * (1 + m)..(a + 1) * (1 + m)], &mean[a * m..(a + 1) * m]);
            line[0] * mean[i] * mean[j] - line[1 + i] * mean[j] - line[1 + j] * mean[i]
        };
        let factors = (0..covariance.shapes(k))
            .map(|s| {
                let squares = covariance.squares(m);
                let sum = &sums.squares[s * squares..(s + 1) * squares];
                match covariance {
                    Covariance::Full | Covariance::Tied => {
                        let tied = covariance == Covariance::Tied;
                        let mut factor = Vec::with_capacity(squares);
                        for i in 0..m {
                            for j in 0..=i {
                                let less: f64 = if tied {
                                    (0..k).map(|a| around(a, i, j)).sum()
                                } else {
                                    around(s, i, j)
                                };
                                let value = (sum[place(i, j)] + less) / if tied { total } else { mass[s] };
                                factor.push(if i == j { value.max(0.0) + FLOOR } else { value });
                            }
                        }
                        cholesky(&mut factor, m);
                        factor
                    }
                    Covariance::Diag => {
                        let variance = |j: usize| ((sum[j] + around(s, j, j)) / mass[s]).max(0.0) + FLOOR;
                        (0..m).map(|j| variance(j).sqrt()).collect()
                    }
                    Covariance::Spherical => {
                        let less: f64 = (0..m).map(|j| around(s, j, j)).sum();
                        let variance = ((sum[0] + less) / mass[s] / m.max(1) as f64).max(0.0) + FLOOR;
                        vec![variance.sqrt(); m]
                    }
                }
            })
            .collect();
        let tables = sums
            .tables
            .iter()
            .zip(&table.levels)
            .map(|(sums, levels)| {
                let rows = sums.chunks_exact(*levels);
                rows.flat_map(|row| {
                    let extra = 1.0 / *levels as f64;
                    let total: f64 = row.iter().map(|r| r + extra).sum();
                    row.iter().map(move |r| (r + extra) / total)
                })
                .collect()
            })
            .collect();
        let share = mass.iter().map(|mass| mass / total).collect();
        Self { k, m, covariance, tail, share, mean, factors, tables }
    }

    /// The Cholesky factor of a part.
    fn factor(&self, part: usize) -> &[f64] {
        &self.factors[part.min(self.factors.len() - 1)]
    }

    fn mean_of(&self, part: usize) -> &[f64] {
        &self.mean[part * self.m..(part + 1) * self.m]
    }

    /// ln √|Σ|.
    fn log_root(&self, part: usize) -> f64 {
        let factor = self.factor(part);
        let crossed = self.covariance.crossed();
        (0..self.m).map(|j| factor[if crossed { place(j, j) } else { j }].ln()).sum()
    }

    /// Free parameters times ln n less twice the log-likelihood: lower is better.
    pub(super) fn bic(&self, table: &Table, mean_log: f64) -> f64 {
        let (n, k, m) = (table.n as f64, self.k, self.m);
        let tables: usize = table.levels.iter().map(|levels| k * (levels - 1)).sum();
        let freedom = k - 1 + k * m + self.covariance.freedom(k, m) + tables;
        -2.0 * n * mean_log + freedom as f64 * n.ln()
    }

    /// Distances as EM takes them, by products alone.
    pub(super) fn distances(&self) -> Distances {
        let (k, m) = (self.k, self.m);
        let products = self.covariance.squares(m);
        let mut squares = Vec::with_capacity(self.factors.len() * products);
        let mut precisions: Vec<Vec<f64>> = Vec::with_capacity(self.factors.len());
        for factor in &self.factors {
            if self.covariance.crossed() {
                // Λ = L⁻ᵀ L⁻¹; what stands beside the diagonal counts twice.
                let own = inverse(factor, m);
                let mut precision = vec![0.0; products];
                for i in 0..m {
                    for j in 0..=i {
                        precision[place(i, j)] = (i..m).map(|t| own[place(t, i)] * own[place(t, j)]).sum();
                        squares.push(precision[place(i, j)] * if i == j { 1.0 } else { 2.0 });
                    }
                }
                precisions.push(precision);
            } else {
                let precision: Vec<f64> = factor.iter().map(|x| 1.0 / (x * x)).collect();
                squares.extend_from_slice(&precision[..products.min(m)]);
                squares.resize(squares.len() + products - products.min(m), 0.0);
                precisions.push(precision);
            }
        }
        let mut lines = Vec::with_capacity(k * (1 + m));
        for a in 0..k {
            let (mean, precision) = (self.mean_of(a), &precisions[a.min(precisions.len() - 1)]);
            let times_mean = |i: usize| -> f64 {
                if self.covariance.crossed() {
                    let entry = |j: usize| precision[place(i.max(j), i.min(j))];
                    (0..m).map(|j| entry(j) * mean[j]).sum()
                } else {
                    precision[i] * mean[i]
                }
            };
            let turned: Vec<f64> = (0..m).map(times_mean).collect();
            lines.push(turned.iter().zip(mean).map(|(x, y)| x * y).sum());
            lines.extend(turned.iter().map(|x| -2.0 * x));
        }
        Distances { lines, squares }
    }

    /// Of a block that was looked at: `r` ← log of share times density, `w` ← the pull. The distances are those of EM.
    pub(super) fn log_joint_fast(
        &self,
        distances: &Distances,
        table: &Table,
        start: usize,
        block: &mut Block,
    ) {
        let (k, m, count) = (self.k, self.m, block.count);
        let products = self.covariance.squares(m);
        block.distance.clear();
        block.distance.resize(k * count, 0.0);
        if self.covariance.shapes(k) == k {
            product(&mut block.distance, &distances.squares, &block.squares, (k, products, count), false);
        } else {
            block.shared.clear();
            block.shared.resize(count, 0.0);
            product(&mut block.shared, &distances.squares, &block.squares, (1, products, count), false);
            for distance in block.distance.chunks_exact_mut(count) {
                distance.copy_from_slice(&block.shared);
            }
        }
        product(&mut block.distance, &distances.lines, &block.lines, (k, 1 + m, count), true);
        let codes: Vec<&[u16]> = table.codes.iter().map(|codes| &codes[start..start + count]).collect();
        self.weigh(&codes, block);
    }

    /// The same from the rows themselves, by forward substitution: what a row gets does not depend on who else is
    /// in the block.
    pub(super) fn log_joint(&self, numbers: &[f64], codes: &[&[u16]], count: usize, block: &mut Block) {
        let (k, m) = (self.k, self.m);
        block.count = count;
        block.distance.clear();
        block.distance.resize(k * count, 0.0);
        let mut z = vec![0.0; m * count];
        for (a, distance) in block.distance.chunks_exact_mut(count.max(1)).enumerate() {
            let (mean, factor) = (self.mean_of(a), self.factor(a));
            let crossed = self.covariance.crossed();
            vectorized(
                #[inline(always)]
                || {
                    for i in 0..m {
                        let (before, rest) = z.split_at_mut(i * count);
                        let own = &mut rest[..count];
                        let y = &numbers[i * count..(i + 1) * count];
                        own.iter_mut().zip(y).for_each(|(z, y)| *z = y - mean[i]);
                        let pivot = factor[if crossed { place(i, i) } else { i }];
                        if crossed {
                            for (j, z) in before.chunks_exact(count).enumerate() {
                                let l = factor[place(i, j)];
                                own.iter_mut().zip(z).for_each(|(own, z)| *own -= l * z);
                            }
                        }
                        for (z, distance) in own.iter_mut().zip(distance.iter_mut()) {
                            *z /= pivot;
                            *distance += *z * *z;
                        }
                    }
                },
            );
        }
        self.weigh(codes, block);
    }

    /// From distances to logs of share times density, and to pulls.
    fn weigh(&self, codes: &[&[u16]], block: &mut Block) {
        let (k, m, count) = (self.k, self.m, block.count);
        block.r.clear();
        block.r.resize(k * count, 0.0);
        block.w.clear();
        block.w.resize(k * count, 1.0);
        let wide = m as f64;
        let both = block.r.chunks_exact_mut(count.max(1)).zip(block.w.chunks_exact_mut(count.max(1)));
        let both = both.zip(block.distance.chunks_exact(count.max(1)));
        for (a, ((out, pull), distance)) in both.enumerate() {
            let start = self.share[a].ln() - self.log_root(a);
            if let Some(nu) = self.tail {
                let start = start + ln_gamma_half(nu as usize + m)
                    - ln_gamma_half(nu as usize)
                    - 0.5 * wide * (nu * std::f64::consts::PI).ln();
                for ((out, pull), d) in out.iter_mut().zip(pull).zip(distance) {
                    let d = d.max(0.0);
                    *out = start - 0.5 * (nu + wide) * (d / nu).ln_1p();
                    *pull = (nu + wide) / (nu + d);
                }
            } else {
                let start = start - 0.5 * wide * (2.0 * std::f64::consts::PI).ln();
                out.iter_mut().zip(distance).for_each(|(out, d)| *out = start - 0.5 * d.max(0.0));
            }
        }
        for (table, codes) in self.tables.iter().zip(codes) {
            let levels = table.len() / k;
            for (out, chances) in block.r.chunks_exact_mut(count.max(1)).zip(table.chunks_exact(levels)) {
                let logs: Vec<f64> = chances.iter().map(|chance| chance.ln()).collect();
                out.iter_mut().zip(*codes).for_each(|(out, code)| *out += logs[*code as usize]);
            }
        }
    }

    /// A row drawn from the mixture: numbers into `out`, values into `codes`.
    pub(super) fn draw(&self, random: &mut Stream, out: &mut [f64], codes: &mut [u16]) {
        let part = pick(&self.share, random);
        let factor = self.factor(part);
        // Student's t is a normal of which the width varies.
        let wide = self.tail.map_or(1.0, |nu| {
            let squares: f64 = (0..nu as usize).map(|_| random.normal().powi(2)).sum();
            (nu / squares.max(f64::MIN_POSITIVE)).sqrt()
        });
        let z: Vec<f64> = (0..self.m).map(|_| random.normal()).collect();
        for (i, (out, mean)) in out.iter_mut().zip(self.mean_of(part)).enumerate() {
            let turned: f64 = if self.covariance.crossed() {
                (0..=i).map(|j| factor[place(i, j)] * z[j]).sum()
            } else {
                factor[i] * z[i]
            };
            *out = mean + turned * wide;
        }
        for (code, table) in codes.iter_mut().zip(&self.tables) {
            let levels = table.len() / self.k;
            *code = pick(&table[part * levels..(part + 1) * levels], random) as u16;
        }
    }
}

/// A number by its chance.
fn pick(chances: &[f64], random: &mut Stream) -> usize {
    let mut rest = random.uniform();
    for (at, chance) in chances.iter().enumerate() {
        rest -= chance;
        if rest < 0.0 {
            return at;
        }
    }
    chances.len() - 1
}

/// `r`: from logs of share times density to posteriors; `log`: the log of the density of every row.
pub(super) fn soften(block: &mut Block, k: usize) {
    let Block { count, r, distance, log, .. } = block;
    let count = *count;
    // The distances have done their work; their place holds the largest of each row and then the sums.
    distance.resize((2 * count).max(k * count), 0.0);
    let (most, rest) = distance.split_at_mut(count);
    let sum = &mut rest[..count];
    vectorized(
        #[inline(always)]
        || {
            most.fill(f64::NEG_INFINITY);
            sum.fill(0.0);
            for r in r.chunks_exact(count.max(1)) {
                most.iter_mut().zip(r).for_each(|(most, r)| *most = if *r > *most { *r } else { *most });
            }
            for r in r.chunks_exact_mut(count.max(1)) {
                for ((r, most), sum) in r.iter_mut().zip(most.iter()).zip(sum.iter_mut()) {
                    *r = exp_negative(*r - most);
                    *sum += *r;
                }
            }
            for r in r.chunks_exact_mut(count.max(1)) {
                r.iter_mut().zip(sum.iter()).for_each(|(r, sum)| *r /= sum);
            }
        },
    );
    log.clear();
    log.extend(most.iter().zip(sum.iter()).map(|(most, sum)| most + sum.ln()));
}
