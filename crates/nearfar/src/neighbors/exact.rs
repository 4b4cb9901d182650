//! Every point against every other, by blocked matrix products.
//!
//! ‖x‖² + ‖y‖² − 2xᵀy loses digits when x and y are close, so that a value below 10⁻³ of its terms, and
//! any two values whose order is within rounding, are computed again from the differences. Integers small enough to be
//! exact in f64 (pixels, counts) need none of that, and where they stay exact in f32 their products take half the
//! time. All values are first scaled by a power of two, which changes no digit, so that neither 1e300 nor 1e-300
//! overflows or vanishes when squared.

use std::borrow::Cow;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::order::{Doubt, RowOrder, RowScale};
use super::{Metric, Neighborhoods, sigma_warnings};
use crate::error::{DataError, Result};
use crate::input::{Samples, Values};
use crate::math::kernel::{
    Entry, distance2_lanes, distance2_of_singles, norm2, norm2_of_singles, normalize, vectorized,
};
use crate::observe::{Event, Observer, Stage, go_on};
use crate::processes::Share;

/// Rows ranked together: a multiple of what the product kernels take at a time.
const BLOCK: usize = 96;

/// Integers up to this size are exact in f32.
const EXACT_IN_F32: f64 = 16_777_216.0; // 2²⁴

/// Products of integers run in f32 when at least this many features can be summed in it without rounding.
const LEAST_RUN: usize = 64;

/// Up to this many features the differences are as cheap as a matrix product.
const FEW_FEATURES: usize = 24;

/// Rank all samples against all.
pub(crate) fn rank<E: Entry>(
    samples: &Samples<'_>,
    metric: Metric,
    observer: &dyn Observer,
) -> Result<Neighborhoods<E>> {
    let points = Points::prepare(samples, metric)?;
    let n = points.n;
    let mut values = vec![E::default(); n * n];
    values.par_chunks_mut(BLOCK * n).enumerate().try_for_each_init(
        Scratch::default,
        |scratch, (block, values)| {
            go_on(observer, Stage::Neighbors)?;
            points.measure_block(block * BLOCK, values, scratch);
            Ok::<(), crate::Error>(())
        },
    )?;
    mirror(&mut values, n);
    let mut rank = vec![0_u16; n * n];
    let precise = points.precision::<E>();
    let scales: Result<Vec<Vec<RowScale>>> = values
        .par_chunks_mut(BLOCK * n)
        .zip(rank.par_chunks_mut(BLOCK * n))
        .enumerate()
        .map(|(block, (values, rank))| {
            go_on(observer, Stage::Neighbors)?;
            let scales = points.rank_block(block * BLOCK, values, rank, precise);
            let (done, total) = (scales.len() as u64, n as u64);
            observer.notice(&Event::Progress { stage: Stage::Neighbors, done, total });
            Ok(scales)
        })
        .collect();
    let scales: Vec<RowScale> = scales?.into_iter().flatten().collect();
    let mut sigma: Vec<f64> = scales.iter().map(|s| s.value.sqrt()).collect();
    let replaced: Vec<bool> = scales.iter().map(|s| s.replaced).collect();
    let warnings = sigma_warnings(n, &mut sigma, &replaced);
    Ok(Neighborhoods { n, values, rank, sigma: Some(sigma), unit: points.unit, warnings })
}

/// Copy the upper triangle (by blocks of rows) to the lower one.
fn mirror<E: Entry>(values: &mut [E], n: usize) {
    for first in (BLOCK..n).step_by(BLOCK) {
        let (above, rest) = values.split_at_mut(first * n);
        let height = BLOCK.min(n - first);
        rest[..height * n].par_chunks_mut(16 * n).enumerate().for_each(|(part, rows)| {
            // Tile by tile, so that the columns read stay in cache.
            for tile in (0..first).step_by(BLOCK) {
                for (a, row) in rows.chunks_exact_mut(n).enumerate() {
                    let i = first + part * 16 + a;
                    for j in tile..tile + BLOCK {
                        row[j] = above[j * n + i];
                    }
                }
            }
        });
    }
}

/// How squared distances are computed.
#[derive(Clone, Debug)]
enum Arithmetic<'a> {
    /// From differences, feature by feature; `by_feature` is m × n.
    Differences { by_feature: Vec<f64> },
    /// By products of exact integers: no rounding anywhere.
    Integers,
    /// The same in f32, `run` features at a time; `shifted` is n × m, the integers less the middle of their range.
    SmallIntegers { shifted: Vec<f32>, run: usize },
    /// By products of centred values; close calls again from differences.
    Products { centred: Vec<f64> },
    /// Pair by pair, by those who search by other means; `singles` has the rows where single precision holds them,
    /// the caller's own where these lie in order.
    Pairs { singles: Cow<'a, [f32]> },
}

/// Working memory of one block, kept from one to the next.
#[derive(Default)]
struct Scratch {
    squared: Vec<f64>,
    products: Vec<f32>,
}

#[derive(Clone, Debug)]
pub(crate) struct Points<'a> {
    pub(super) n: usize,
    pub(super) m: usize,
    /// n × m row-major, scaled; empty where the way has them in its own form.
    pub(super) rows: Vec<f64>,
    norms2: Vec<f64>,
    way: Arithmetic<'a>,
    pub(crate) unit: f64,
    /// Where these are a part of all points.
    pub(super) part: Option<Part>,
}

/// Points that several processes hold together.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) share: Share,
    /// Whether all hold them in single precision.
    pub(super) single: bool,
}

impl<'a> Points<'a> {
    pub(super) fn prepare(samples: &Samples<'_>, metric: Metric) -> Result<Self> {
        let (n, m) = (samples.n_samples(), samples.n_features());
        if n == 0 || m == 0 {
            samples.check()?;
        }
        let mut range = Range::of(n, m, |i, row| samples.copy_row(i, row));
        if !range.finite {
            samples.check()?; // names the place
        }
        if let Some(way) = Arithmetic::of_small_integers(samples, metric, &range) {
            let norms2 = way.norms2(&[], m);
            return Ok(Self { n, m, rows: Vec::new(), norms2, way, unit: 1.0, part: None });
        }
        let mut rows = vec![0.0; n * m];
        rows.par_chunks_mut(m).enumerate().for_each(|(i, row)| samples.copy_row(i, row));
        if metric == Metric::Cosine {
            to_directions(&mut rows, m)?;
            range = Range::of(n, m, |i, row| row.copy_from_slice(&rows[i * m..(i + 1) * m]));
        }
        let whole = range.exact(m);
        let unit = if whole { 1.0 } else { power_of_two_above(range.largest()) };
        if unit != 1.0 {
            rows.par_chunks_mut(m).for_each(|row| row.iter_mut().for_each(|x| *x /= unit));
        }
        let way = if m <= FEW_FEATURES {
            Arithmetic::Differences { by_feature: transposed(&rows, n, m) }
        } else if whole {
            Arithmetic::Integers
        } else {
            Arithmetic::Products { centred: centre(&rows, n, m) }
        };
        let norms2 = way.norms2(&rows, m);
        Ok(Self { n, m, rows, norms2, way, unit, part: None })
    }

    /// The points for a search that needs single distances only: in single precision where that is what the caller has.
    pub(crate) fn rows_only(samples: &Samples<'a>, metric: Metric) -> Result<Self> {
        if samples.n_samples() == 0 || samples.n_features() == 0 {
            samples.check()?;
        }
        Self::rows_of(samples, metric, &Here)
    }

    /// The same of rows that may be a part of all; `all` knows what the others have.
    pub(super) fn rows_of(samples: &Samples<'a>, metric: Metric, all: &impl Overall) -> Result<Self> {
        let (n, m) = (samples.n_samples(), samples.n_features());
        let mut range = all.range(Range::of(n, m, |i, row| samples.copy_row(i, row)));
        if !range.finite {
            all.same(samples.check())?; // names the place
        }
        // Dividing by a power of two moves the exponent alone, unless it leaves the range of f32.
        let modest = (1e-10..1e10).contains(&range.largest());
        let single = all.every(n == 0 || matches!(samples.values(), Values::F32(_)));
        if metric == Metric::Euclidean && modest && single {
            if let Some(rows) = samples.single_rows() {
                return Ok(Self::of_singles(rows, m));
            }
            let mut singles = vec![0.0_f32; n * m];
            singles.par_chunks_mut(m).enumerate().for_each_init(
                || vec![0.0; m],
                |row, (i, single)| {
                    samples.copy_row(i, row);
                    single.iter_mut().zip(row).for_each(|(s, x)| *s = *x as f32);
                },
            );
            return Ok(Self::of_singles(singles, m));
        }
        let mut rows = vec![0.0; n * m];
        rows.par_chunks_mut(m).enumerate().for_each(|(i, row)| samples.copy_row(i, row));
        if metric == Metric::Cosine {
            all.same(to_directions(&mut rows, m))?;
            range = all.range(Range::of(n, m, |i, row| row.copy_from_slice(&rows[i * m..(i + 1) * m])));
        }
        let unit = if range.exact(m) { 1.0 } else { power_of_two_above(range.largest()) };
        if unit != 1.0 {
            rows.par_chunks_mut(m).for_each(|row| row.iter_mut().for_each(|x| *x /= unit));
        }
        Ok(Self::of_doubles(rows, m, unit))
    }

    /// Rows in single precision, as they are.
    pub(super) fn of_singles(singles: impl Into<Cow<'a, [f32]>>, m: usize) -> Self {
        let singles = singles.into();
        let (n, way) = (singles.len() / m, Arithmetic::Pairs { singles });
        Self { n, m, rows: Vec::new(), norms2: Vec::new(), way, unit: 1.0, part: None }
    }

    /// Rows that were divided by `unit`.
    pub(crate) fn of_doubles(rows: Vec<f64>, m: usize, unit: f64) -> Self {
        let way = Arithmetic::Pairs { singles: Cow::Borrowed(&[]) };
        Self { n: rows.len() / m, m, rows, norms2: Vec::new(), way, unit, part: None }
    }

    /// The rows in single precision; empty where they are not held so.
    pub(super) fn singles(&self) -> &[f32] {
        if let Arithmetic::Pairs { singles } = &self.way { singles } else { &[] }
    }

    /// Squared distance of point i to point j of `others`, which are held in the same way; the bits are those of
    /// [`distance2`](Self::distance2).
    pub(crate) fn distance2_to(&self, i: usize, others: &Self, j: usize) -> f64 {
        let m = self.m;
        vectorized(
            #[inline(always)]
            || match (self.singles(), others.singles()) {
                (&[], _) | (_, &[]) => distance2_lanes(self.row(i), others.row(j)),
                (ours, theirs) => {
                    distance2_of_singles(&ours[i * m..(i + 1) * m], &theirs[j * m..(j + 1) * m])
                }
            },
        )
    }

    /// The rows where single precision holds them, as they are or shifted; empty elsewhere.
    fn narrow_rows(&self) -> &[f32] {
        if let Arithmetic::SmallIntegers { shifted, .. } = &self.way { shifted } else { self.singles() }
    }

    /// Whether two points have the same values.
    pub(super) fn same(&self, i: usize, j: usize) -> bool {
        let m = self.m;
        let [i, j] = [i * m..(i + 1) * m, j * m..(j + 1) * m];
        match self.narrow_rows() {
            &[] => self.rows[i] == self.rows[j],
            rows => rows[i] == rows[j],
        }
    }

    /// Whose rows are whose; all are here unless they were read by parts.
    pub(crate) fn share(&self) -> Share {
        self.part.as_ref().map_or_else(|| Share::alone(self.n), |part| part.share.clone())
    }

    /// Numbers of points (here) and features.
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.n, self.m)
    }

    /// Point i, scaled (or shifted, which changes no distance).
    pub(crate) fn copy_row(&self, i: usize, out: &mut [f64]) {
        let at = i * self.m..(i + 1) * self.m;
        match self.narrow_rows() {
            &[] => out.copy_from_slice(&self.rows[at]),
            rows => out.iter_mut().zip(&rows[at]).for_each(|(out, x)| *out = f64::from(*x)),
        }
    }

    /// Point i less the mean, in single precision.
    pub(super) fn copy_centred(&self, i: usize, mean: &[f64], out: &mut [f32]) {
        let at = i * self.m..(i + 1) * self.m;
        let centre = |x: f64, mean: f64| (x - mean) as f32;
        vectorized(
            #[inline(always)]
            || match self.narrow_rows() {
                &[] => {
                    let row = self.rows[at].iter().zip(mean).map(|(x, mean)| centre(*x, *mean));
                    out.iter_mut().zip(row).for_each(|(out, x)| *out = x);
                }
                rows => {
                    let row = rows[at].iter().zip(mean).map(|(x, mean)| centre(f64::from(*x), *mean));
                    out.iter_mut().zip(row).for_each(|(out, x)| *out = x);
                }
            },
        );
    }

    /// The mean point.
    pub(crate) fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.m];
        self.add_rows(&mut mean);
        mean.iter_mut().for_each(|mean| *mean /= self.n as f64);
        mean
    }

    /// Add all points to a sum, one after the other.
    pub(super) fn add_rows(&self, sum: &mut [f64]) {
        let mut row = vec![0.0; self.m];
        for i in 0..self.n {
            self.copy_row(i, &mut row);
            sum.iter_mut().zip(&row).for_each(|(sum, x)| *sum += x);
        }
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.m..(i + 1) * self.m]
    }

    pub(crate) fn distance2(&self, i: usize, j: usize) -> f64 {
        let m = self.m;
        vectorized(
            #[inline(always)]
            || match &self.way {
                Arithmetic::SmallIntegers { shifted, .. } => {
                    let (a, b) = (&shifted[i * m..(i + 1) * m], &shifted[j * m..(j + 1) * m]);
                    a.iter().zip(b).map(|(a, b)| f64::from(a - b) * f64::from(a - b)).sum()
                }
                Arithmetic::Pairs { singles } if !singles.is_empty() => {
                    distance2_of_singles(&singles[i * m..(i + 1) * m], &singles[j * m..(j + 1) * m])
                }
                _ => distance2_lanes(self.row(i), self.row(j)),
            },
        )
    }

    /// What the values were divided by.
    pub(crate) fn unit(&self) -> f64 {
        self.unit
    }

    /// How near two stored values must be for their order to be in doubt; `None` when they are exact.
    fn precision<E: Entry>(&self) -> Option<Doubt> {
        let most = 4.0 * self.norms2.iter().copied().fold(0.0, f64::max);
        match (&self.way, E::BYTES) {
            (Arithmetic::Products { .. }, 8) => Some(Doubt::OfProducts),
            (_, 8) => None,
            (Arithmetic::Integers | Arithmetic::SmallIntegers { .. }, _) if most < 2_f64.powi(24) => None,
            _ => Some(Doubt::OfStorage),
        }
    }

    /// Squared distances of the rows from `first` on to the points from `first` on.
    fn measure_block<E: Entry>(&self, first: usize, values: &mut [E], scratch: &mut Scratch) {
        let (n, height) = (self.n, values.len() / self.n);
        let width = n - first;
        let Scratch { squared, products } = scratch;
        squared.resize(height * width, 0.0);
        match &self.way {
            Arithmetic::Differences { by_feature } => {
                squared.fill(0.0);
                for (a, squared) in squared.chunks_exact_mut(width).enumerate() {
                    let x = self.row(first + a);
                    vectorized(
                        #[inline(always)]
                        || squared_differences(x, by_feature, n, first, squared),
                    );
                }
            }
            Arithmetic::Integers => self.squared_by_products(&self.rows, first, squared),
            Arithmetic::SmallIntegers { shifted, run } => {
                products.resize(height * width, 0.0);
                self.squared_by_singles((shifted, *run), first, squared, products);
            }
            Arithmetic::Products { centred } => self.squared_by_products(centred, first, squared),
            Arithmetic::Pairs { .. } => {
                for (at, squared) in squared.iter_mut().enumerate() {
                    *squared = self.distance2(first + at / width, first + at % width);
                }
            }
        }
        for (a, squared) in squared.chunks_exact(width).enumerate() {
            for (value, squared) in values[a * n + first..(a + 1) * n].iter_mut().zip(squared) {
                *value = E::narrow(*squared);
            }
            values[a * n + first + a] = E::default();
        }
    }

    /// Ranks of the rows from `first` on, as many as `rank` holds.
    fn rank_block<E: Entry>(
        &self,
        first: usize,
        values: &mut [E],
        rank: &mut [u16],
        doubt: Option<Doubt>,
    ) -> Vec<RowScale> {
        let n = self.n;
        let mut order = RowOrder::default();
        let mut wide = vec![0.0; n];
        values
            .chunks_exact_mut(n)
            .zip(rank.chunks_exact_mut(n))
            .enumerate()
            .map(|(a, (values, rank))| {
                let i = first + a;
                for (wide, value) in wide.iter_mut().zip(values.iter()) {
                    *wide = value.wide();
                }
                let exact = |j: usize| self.distance2(i, j);
                let scale =
                    order.rank(i, &mut wide, doubt.map(|d| (d, &exact as &dyn Fn(usize) -> f64)), rank);
                if doubt.is_some() {
                    for (value, wide) in values.iter_mut().zip(&wide) {
                        *value = E::narrow(*wide);
                    }
                }
                scale
            })
            .collect()
    }

    fn squared_by_products(&self, x: &[f64], first: usize, squared: &mut [f64]) {
        let (n, m, width) = (self.n, self.m, self.n - first);
        let height = squared.len() / width;
        let later = MatRef::from_row_major_slice(&x[first * m..n * m], width, m);
        let ours = MatRef::from_row_major_slice(&x[first * m..(first + height) * m], height, m);
        let out = MatMut::from_row_major_slice_mut(squared, height, width);
        matmul(out, Accum::Replace, ours, later.transpose(), -2.0, Par::Seq);
        let rounded = matches!(self.way, Arithmetic::Products { .. });
        for (a, squared) in squared.chunks_exact_mut(width).enumerate() {
            let i = first + a;
            let (own, norms2) = (self.norms2[i], &self.norms2[first..]);
            let mut close = false;
            vectorized(
                #[inline(always)]
                || {
                    for (value, norm) in squared.iter_mut().zip(norms2) {
                        let size = own + norm;
                        *value = (*value + size).max(0.0);
                        close |= *value < 1e-3 * size;
                    }
                },
            );
            if close && rounded {
                for (j, (value, norm)) in squared.iter_mut().zip(norms2).enumerate() {
                    if *value < 1e-3 * (own + norm) {
                        *value = self.distance2(i, first + j);
                    }
                }
            }
        }
    }
}

impl Points<'_> {
    /// The same by products in f32 that do not round: `run` features at a time, added up in f64.
    fn squared_by_singles(
        &self,
        (x, run): (&[f32], usize),
        first: usize,
        squared: &mut [f64],
        products: &mut [f32],
    ) {
        let (n, m, width) = (self.n, self.m, self.n - first);
        let height = squared.len() / width;
        let norms2 = &self.norms2[first..];
        for (squared, own) in squared.chunks_exact_mut(width).zip(norms2) {
            squared.iter_mut().zip(norms2).for_each(|(squared, norm)| *squared = own + norm);
        }
        let x = MatRef::from_row_major_slice(&x[first * m..n * m], width, m);
        for start in (0..m).step_by(run) {
            let x = x.subcols(start, run.min(m - start));
            let out = MatMut::from_row_major_slice_mut(products, height, width);
            matmul(out, Accum::Replace, x.subrows(0, height), x.transpose(), 1.0, Par::Seq);
            vectorized(
                #[inline(always)]
                || {
                    for (squared, product) in squared.iter_mut().zip(&*products) {
                        *squared -= 2.0 * f64::from(*product);
                    }
                },
            );
        }
    }
}

impl Arithmetic<'_> {
    /// Integers of a range so small that products of them add up in f32 without rounding, which halves the time;
    /// read straight from the samples. `None` where the samples are of another kind.
    fn of_small_integers(samples: &Samples<'_>, metric: Metric, range: &Range) -> Option<Self> {
        let (n, m) = (samples.n_samples(), samples.n_features());
        if metric != Metric::Euclidean || m <= FEW_FEATURES || !range.exact(m) {
            return None;
        }
        let middle = (0.5 * (range.low + range.high)).floor();
        let half = (range.high - middle).max(middle - range.low);
        let run = (EXACT_IN_F32 / (half * half)).min(m as f64) as usize;
        if run < LEAST_RUN.min(m) {
            return None;
        }
        let mut shifted = vec![0.0_f32; n * m];
        shifted.par_chunks_mut(m).enumerate().for_each_init(
            || vec![0.0; m],
            |row, (i, shifted)| {
                samples.copy_row(i, row);
                vectorized(
                    #[inline(always)]
                    || shifted.iter_mut().zip(row).for_each(|(s, x)| *s = (*x - middle) as f32),
                );
            },
        );
        Some(Self::SmallIntegers { shifted, run })
    }

    /// ‖x‖² of the points as this way multiplies them; `rows` are the points as they are.
    fn norms2(&self, rows: &[f64], m: usize) -> Vec<f64> {
        match self {
            Self::Products { centred } => centred.par_chunks(m).map(norm2).collect(),
            Self::SmallIntegers { shifted, .. } => shifted.par_chunks(m).map(norm2_of_singles).collect(),
            _ => rows.par_chunks(m).map(norm2).collect(),
        }
    }
}

/// What is known of all rows where this process may hold a part of them.
pub(super) trait Overall {
    /// What the values of all rows have in common.
    fn range(&self, here: Range) -> Range;
    /// The first failure anywhere, for everybody.
    fn same(&self, here: Result<()>) -> Result<()>;
    /// Whether all say so.
    fn every(&self, here: bool) -> bool;
}

/// All rows are here.
struct Here;

impl Overall for Here {
    fn range(&self, here: Range) -> Range {
        here
    }

    fn same(&self, here: Result<()>) -> Result<()> {
        here
    }

    fn every(&self, here: bool) -> bool {
        here
    }
}

/// What the values of a matrix have in common.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) finite: bool,
    pub(super) whole: bool,
}

impl Range {
    /// What two matrices have in common.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            finite: self.finite & other.finite,
            whole: self.whole & other.whole,
        }
    }

    /// Of n rows of m values, which `copy` writes out one by one.
    fn of(n: usize, m: usize, copy: impl Fn(usize, &mut [f64]) + Sync) -> Self {
        let nothing = || Self { low: f64::INFINITY, high: f64::NEG_INFINITY, finite: true, whole: true };
        let of_row = |row: &mut Vec<f64>, i: usize| {
            copy(i, row);
            vectorized(
                #[inline(always)]
                || Self::of_row(row),
            )
        };
        (0..n).into_par_iter().map_init(|| vec![0.0; m], of_row).reduce(nothing, Self::with)
    }

    fn largest(&self) -> f64 {
        self.high.max(-self.low)
    }

    /// Whether squared distances over m features are integers that f64 holds exactly.
    fn exact(&self, m: usize) -> bool {
        let largest = self.largest();
        self.whole && largest > 0.0 && largest * largest * 4.0 * m as f64 <= 2_f64.powi(52)
    }

    #[inline(always)]
    fn of_row(row: &[f64]) -> Self {
        const LANES: usize = 16;
        let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        // 0 · x is 0 unless x is infinite or NaN; the rest is 0 unless x has digits behind the point.
        let (mut strange, mut broken) = ([0.0_f64; LANES], [0.0_f64; LANES]);
        let mut look = |lane: usize, x: f64| {
            low[lane] = if x < low[lane] { x } else { low[lane] };
            high[lane] = if x > high[lane] { x } else { high[lane] };
            strange[lane] += 0.0 * x;
            broken[lane] += (x - x.trunc()).abs();
        };
        let (full, rest) = row.as_chunks::<LANES>();
        for chunk in full {
            for lane in 0..LANES {
                look(lane, chunk[lane]);
            }
        }
        rest.iter().enumerate().for_each(|(lane, x)| look(lane, *x));
        Self {
            low: low.into_iter().fold(f64::INFINITY, f64::min),
            high: high.into_iter().fold(f64::NEG_INFINITY, f64::max),
            finite: strange.iter().all(|x| *x == 0.0),
            whole: broken.iter().all(|x| *x == 0.0),
        }
    }
}

/// Every row divided by its length.
fn to_directions(rows: &mut [f64], m: usize) -> Result<()> {
    for (i, row) in rows.chunks_mut(m).enumerate() {
        if !normalize(row) {
            return Err(DataError::ZeroRow { row: i }.into());
        }
    }
    Ok(())
}

fn transposed(rows: &[f64], n: usize, m: usize) -> Vec<f64> {
    let mut by_feature = vec![0.0; n * m];
    for (i, row) in rows.chunks_exact(m).enumerate() {
        for (f, x) in row.iter().enumerate() {
            by_feature[f * n + i] = *x;
        }
    }
    by_feature
}

/// squared[j] = Σ_f (x[f] − by_feature[f, first + j])².
#[inline(always)]
fn squared_differences(x: &[f64], by_feature: &[f64], n: usize, first: usize, squared: &mut [f64]) {
    for (x, feature) in x.iter().zip(by_feature.chunks_exact(n)) {
        for (squared, y) in squared.iter_mut().zip(&feature[first..]) {
            let d = x - y;
            *squared += d * d;
        }
    }
}

/// A power of two at or above `x` (1 for 0), so that dividing by it only moves the exponent.
pub(crate) fn power_of_two_above(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    2_f64.powi(x.log2().ceil().clamp(-1000.0, 1000.0) as i32)
}

/// The rows less the mean row.
fn centre(rows: &[f64], n: usize, m: usize) -> Vec<f64> {
    let mut mean = vec![0.0; m];
    vectorized(
        #[inline(always)]
        || {
            for row in rows.chunks_exact(m) {
                mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += x);
            }
            mean.iter_mut().for_each(|mean| *mean /= n as f64);
        },
    );
    let mut centred = vec![0.0; rows.len()];
    centred.par_chunks_mut(m).zip(rows.par_chunks(m)).for_each(|(centred, row)| {
        vectorized(
            #[inline(always)]
            || {
                for (centred, (x, mean)) in centred.iter_mut().zip(row.iter().zip(&mean)) {
                    *centred = x - mean;
                }
            },
        );
    });
    centred
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::Stream;
    use crate::observe::Silent;

    #[test]
    fn distances_of_integers_are_exact() {
        // Ranges that are summed in one run, in several, and not in f32 at all; sizes that leave ragged blocks.
        for (half, m, n) in [(1, 30, 5), (127, 100, 97), (300, 400, 130), (5000, 40, 33)] {
            let mut random = Stream::new(half, 0);
            let offset = half as f64 * 3.0;
            let data: Vec<f64> =
                (0..n * m).map(|_| offset + random.below(2 * half as usize + 1) as f64).collect();
            let samples = Samples::from_rows(&data, n, m).unwrap();
            let found = rank::<f64>(&samples, Metric::Euclidean, &Silent).unwrap();
            let points = Points::prepare(&samples, Metric::Euclidean).unwrap();
            assert_eq!(matches!(points.way, Arithmetic::SmallIntegers { .. }), half < 5000, "{half}");
            for i in 0..n {
                for j in 0..n {
                    let pairs = data[i * m..(i + 1) * m].iter().zip(&data[j * m..(j + 1) * m]);
                    let truth: f64 = pairs.map(|(x, y)| (x - y) * (x - y)).sum();
                    assert_eq!(found.values[i * n + j], truth, "range {half}: {i}, {j}");
                    assert_eq!(points.distance2(i, j), truth);
                }
            }
        }
    }
}
