//! Rows as a mixture sees them: standardised numbers (or their leading principal components) and categories.
//!
//! Columns, centres, widths, components and categories are found on a sample of rows; [`Columns::show`] then
//! prepares any rows in the same way, new ones too.
//!
//! Departs from the prototype: everything is found on the sample, where the prototype standardises by all rows;
//! both are the same up to 10,000 rows. Of more than [`EXACT_COMPONENTS`] numbers the components are approximate
//! (subspace iteration), which a mixture does not notice.

use rayon::prelude::*;

use super::BLOCK;
use crate::error::Result;
use crate::input::{Samples, Spread};
use crate::math::dense::{cross, times};
use crate::math::rng::Stream;
use crate::observe::{Observer, Stage, go_on};
use crate::spectral::eigen::products::small_eigen;
use faer::MatRef;

/// More numbers than this are replaced by as many principal components.
pub(super) const MOST_NUMBERS: usize = 30;
/// With more categories than this a mixture is out of the question.
pub(super) const MOST_CATEGORIES: usize = 40;
/// Up to so many numbers the components are those of all eigenvectors.
const EXACT_COMPONENTS: usize = 256;
/// Values that components are found from; rows beyond are left out.
const COMPONENT_VALUES: usize = 1 << 24;
/// Directions kept beyond those wanted, and rounds of the subspace iteration.
const SPARE: usize = 10;
const ROUNDS: usize = 6;
/// Stream of the first directions.
const STREAM: u64 = 9 << 32;

/// One category: a two-valued column, or a run of them of which exactly one is high in every row (one-hot).
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Category {
    /// Its columns.
    pub(super) columns: Vec<usize>,
    /// The lowest value of each that counts as high.
    pub(super) splits: Vec<f64>,
}

impl Category {
    /// Different values.
    pub(super) fn levels(&self) -> usize {
        self.columns.len().max(2)
    }

    /// The value of a row.
    fn code(&self, row: &[f64]) -> u16 {
        let mut high = self.columns.iter().zip(&self.splits).map(|(column, split)| row[*column] >= *split);
        if self.columns.len() == 1 {
            u16::from(high.next() == Some(true))
        } else {
            high.position(|high| high).unwrap_or(0) as u16
        }
    }
}

/// How rows become numbers and categories.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Columns {
    /// Columns of numbers.
    pub(super) numbers: Vec<usize>,
    /// Their means and deviations.
    pub(super) mean: Vec<f64>,
    pub(super) deviation: Vec<f64>,
    /// Numbers × components, row by row; empty where the numbers themselves are used.
    pub(super) basis: Vec<f64>,
    /// Categories.
    pub(super) categories: Vec<Category>,
}

/// Rows ready for a mixture.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    /// Rows.
    pub(super) n: usize,
    /// Numbers of a row.
    pub(super) m: usize,
    /// m × n: one number of all rows after the other.
    pub(super) numbers: Vec<f64>,
    /// The value of every row, one category after the other.
    pub(super) codes: Vec<Vec<u16>>,
    /// Different values of every category.
    pub(super) levels: Vec<usize>,
}

impl Table {
    /// One number of all rows.
    pub(super) fn number(&self, j: usize) -> &[f64] {
        &self.numbers[j * self.n..(j + 1) * self.n]
    }

    /// Width of a row of [`joined`](Self::joined).
    pub(super) fn width(&self) -> usize {
        self.m + self.levels.iter().sum::<usize>()
    }

    /// Numbers and categories of these rows as one matrix, row by row, in which two unequal categories are a
    /// distance of 1 apart.
    pub(super) fn joined(&self, which: &[u32]) -> Vec<f64> {
        let width = self.width();
        let mut rows = vec![0.0; which.len() * width];
        for (row, i) in rows.chunks_exact_mut(width.max(1)).zip(which) {
            let i = *i as usize;
            let (numbers, mut rest) = row.split_at_mut(self.m);
            numbers.iter_mut().enumerate().for_each(|(j, y)| *y = self.number(j)[i]);
            for (codes, levels) in self.codes.iter().zip(&self.levels) {
                let own;
                (own, rest) = rest.split_at_mut(*levels);
                own[codes[i] as usize] = std::f64::consts::FRAC_1_SQRT_2;
            }
        }
        rows
    }
}

impl Columns {
    /// Of these rows. `None` where no column has a spread, or `strict` and there are too many categories; otherwise
    /// those are taken for numbers.
    pub(super) fn of(
        samples: &Samples<'_>,
        which: &[u32],
        strict: bool,
        observer: &dyn Observer,
    ) -> Result<Option<Self>> {
        let spreads = spreads(samples, which);
        let wide: Vec<usize> =
            (0..spreads.len()).filter(|j| spreads[*j].width() > 0.0 && spreads[*j].deviation > 0.0).collect();
        if wide.is_empty() {
            return Ok(None);
        }
        go_on(observer, Stage::Mixture)?;
        let mut categories = categories(samples, which, &spreads, &wide);
        if categories.len() > MOST_CATEGORIES {
            if strict {
                return Ok(None);
            }
            categories.clear();
        }
        let taken: Vec<usize> =
            categories.iter().flat_map(|category| category.columns.iter().copied()).collect();
        let numbers: Vec<usize> = wide.into_iter().filter(|j| !taken.contains(j)).collect();
        let mean = numbers.iter().map(|j| spreads[*j].mean).collect();
        let deviation = numbers.iter().map(|j| spreads[*j].deviation).collect();
        let mut this = Self { numbers, mean, deviation, basis: Vec::new(), categories };
        if this.numbers.len() > MOST_NUMBERS {
            this.basis = this.components(samples, which, observer)?;
        }
        Ok(Some(this))
    }

    /// Numbers of a prepared row.
    pub(super) fn width(&self) -> usize {
        self.numbers.len().min(MOST_NUMBERS)
    }

    /// The numbers of a row, standardised.
    fn standardise(&self, row: &[f64], out: &mut [f64]) {
        let scales = self.mean.iter().zip(&self.deviation);
        for ((out, j), (mean, deviation)) in out.iter_mut().zip(&self.numbers).zip(scales) {
            // A new value may lie so far out that no square of it is finite.
            *out = (row[*j] / deviation - mean / deviation).clamp(-1e100, 1e100);
        }
    }

    /// The directions of largest spread of the standardised numbers.
    fn components(&self, samples: &Samples<'_>, which: &[u32], observer: &dyn Observer) -> Result<Vec<f64>> {
        let wide = self.numbers.len();
        let n = which.len().min((COMPONENT_VALUES / wide).max(4 * MOST_NUMBERS));
        let mut rows = vec![0.0; n * wide];
        rows.par_chunks_mut(wide).enumerate().for_each_init(
            || vec![0.0; samples.n_features()],
            |row, (i, out)| {
                samples.copy_row(which[i * which.len() / n] as usize, row);
                self.standardise(row, out);
            },
        );
        let mut directions;
        let kept = if wide <= EXACT_COMPONENTS {
            directions = identity(wide);
            wide
        } else {
            let kept = MOST_NUMBERS + SPARE;
            let mut random = Stream::new(0, STREAM);
            directions = (0..wide * kept).map(|_| random.normal()).collect();
            for _ in 0..ROUNDS {
                go_on(observer, Stage::Mixture)?;
                directions = cross(&rows, &times(&rows, &directions, wide, kept), wide, kept);
                orthonormalise(&mut directions, kept);
            }
            kept
        };
        let seen = if kept == wide { rows } else { times(&rows, &directions, wide, kept) };
        let gram = cross(&seen, &seen, kept, kept);
        let Some((_, vectors)) = small_eigen(MatRef::from_row_major_slice(&gram, kept, kept)) else {
            // Never with finite values.
            return Ok(identity(wide)
                .chunks_exact(wide)
                .flat_map(|row| row[..MOST_NUMBERS].to_vec())
                .collect());
        };
        let turn: Vec<f64> =
            (0..kept).flat_map(|i| (0..MOST_NUMBERS).map(move |j| (i, j))).map(|at| vectors[at]).collect();
        Ok(if kept == wide { turn } else { times(&directions, &turn, kept, MOST_NUMBERS) })
    }

    /// These rows, prepared.
    pub(crate) fn show(&self, samples: &Samples<'_>, which: &[u32]) -> Table {
        let (n, m) = (which.len(), self.width());
        let blocks: Vec<(Vec<f64>, Vec<u16>)> = which
            .par_chunks(BLOCK)
            .map(|which| self.show_block(samples, which.iter().map(|i| *i as usize)))
            .collect();
        let mut table = Table {
            n,
            m,
            numbers: vec![0.0; n * m],
            codes: vec![Vec::with_capacity(n); self.categories.len()],
            levels: self.categories.iter().map(Category::levels).collect(),
        };
        for (b, (numbers, codes)) in blocks.iter().enumerate() {
            let (start, count) = (b * BLOCK, BLOCK.min(n - b * BLOCK));
            for (j, from) in numbers.chunks_exact(count).enumerate() {
                table.numbers[j * n + start..][..count].copy_from_slice(from);
            }
            for (to, from) in table.codes.iter_mut().zip(codes.chunks_exact(count)) {
                to.extend_from_slice(from);
            }
        }
        table
    }

    /// A block of rows: m × count numbers and count codes of each category.
    pub(super) fn show_block(
        &self,
        samples: &Samples<'_>,
        which: impl ExactSizeIterator<Item = usize>,
    ) -> (Vec<f64>, Vec<u16>) {
        let (count, m) = (which.len(), self.width());
        let mut row = vec![0.0; samples.n_features()];
        let (mut own, mut turned) = (vec![0.0; self.numbers.len()], vec![0.0; m]);
        let mut numbers = vec![0.0; m * count];
        let mut codes = vec![0; self.categories.len() * count];
        for (at, i) in which.enumerate() {
            samples.copy_row(i, &mut row);
            self.standardise(&row, &mut own);
            let shown = if self.basis.is_empty() {
                &own
            } else {
                turned.fill(0.0);
                for (y, to) in own.iter().zip(self.basis.chunks_exact(m)) {
                    turned.iter_mut().zip(to).for_each(|(turned, to)| *turned += y * to);
                }
                &turned
            };
            shown.iter().enumerate().for_each(|(j, y)| numbers[j * count + at] = *y);
            for (g, category) in self.categories.iter().enumerate() {
                codes[g * count + at] = category.code(&row);
            }
        }
        (numbers, codes)
    }
}

/// Smallest and largest value, mean and deviation of every column over these rows.
fn spreads(samples: &Samples<'_>, which: &[u32]) -> Vec<Spread> {
    let (n, m) = (which.len() as f64, samples.n_features());
    let mut row = vec![0.0; m];
    let mut spreads =
        vec![Spread { least: f64::INFINITY, most: f64::NEG_INFINITY, mean: 0.0, deviation: 0.0 }; m];
    for i in which {
        samples.copy_row(*i as usize, &mut row);
        for (spread, x) in spreads.iter_mut().zip(&row) {
            (spread.least, spread.most) = (spread.least.min(*x), spread.most.max(*x));
            spread.mean += x / n;
        }
    }
    let widths: Vec<f64> = spreads.iter().map(Spread::width).collect();
    for i in which {
        samples.copy_row(*i as usize, &mut row);
        for ((spread, width), x) in
            spreads.iter_mut().zip(&widths).zip(&row).filter(|((_, width), _)| **width > 0.0)
        {
            // In units of the width, so that no square overflows.
            spread.deviation += (x / width - spread.mean / width).powi(2) / n;
        }
    }
    spreads
        .iter_mut()
        .zip(widths)
        .for_each(|(spread, width)| spread.deviation = spread.deviation.sqrt() * width);
    spreads
}

/// Runs of two-valued columns with exactly one high per row, else single two-valued columns; `wide` are the columns
/// with spread.
fn categories(samples: &Samples<'_>, which: &[u32], spreads: &[Spread], wide: &[usize]) -> Vec<Category> {
    let n = which.len();
    let mut row = vec![0.0; samples.n_features()];
    let mut two: Vec<bool> = vec![true; wide.len()];
    for i in which {
        samples.copy_row(*i as usize, &mut row);
        for (two, j) in two.iter_mut().zip(wide).filter(|(two, _)| **two) {
            *two = row[*j] == spreads[*j].least || row[*j] == spreads[*j].most;
        }
    }
    let split = |j: usize| {
        let Spread { least, most, .. } = spreads[j];
        let middle = least / 2.0 + most / 2.0;
        if middle > least && middle <= most { middle } else { most }
    };
    // Of two-valued columns only: whether each row is high, one column after the other.
    let mut high: Vec<Vec<bool>> =
        two.iter().map(|two| Vec::with_capacity(if *two { n } else { 0 })).collect();
    for i in which {
        samples.copy_row(*i as usize, &mut row);
        for ((high, j), _) in high.iter_mut().zip(wide).zip(&two).filter(|(_, two)| **two) {
            high.push(row[*j] == spreads[*j].most);
        }
    }
    let mut found = Vec::new();
    let mut at = 0;
    while at < wide.len() {
        if two[at] {
            let run = one_hot(&high[at..], &two[at..], n).unwrap_or(1);
            let columns = wide[at..at + run].to_vec();
            let splits = columns.iter().map(|j| split(*j)).collect();
            found.push(Category { columns, splits });
            if found.len() > MOST_CATEGORIES {
                return found;
            }
            at += run;
        } else {
            at += 1;
        }
    }
    found
}

/// The shortest run of columns from the first on, two at least, with exactly one high in every row.
fn one_hot(high: &[Vec<bool>], two: &[bool], n: usize) -> Option<usize> {
    let mut taken = vec![false; n];
    let mut covered = 0;
    for (run, high) in high.iter().enumerate().take_while(|(run, _)| two[*run]) {
        for (taken, high) in taken.iter_mut().zip(high) {
            if *taken && *high {
                return None;
            }
            covered += usize::from(*high);
            *taken |= *high;
        }
        if run > 0 && covered == n {
            return Some(run + 1);
        }
    }
    None
}

fn identity(n: usize) -> Vec<f64> {
    let mut values = vec![0.0; n * n];
    values.iter_mut().step_by(n + 1).for_each(|x| *x = 1.0);
    values
}

/// Columns of length 1 at right angles (Gram and Schmidt, twice); `width` columns, row by row.
fn orthonormalise(values: &mut [f64], width: usize) {
    let rows = values.len() / width;
    let mut columns: Vec<Vec<f64>> =
        (0..width).map(|j| (0..rows).map(|i| values[i * width + j]).collect()).collect();
    for j in 0..width {
        let (before, rest) = columns.split_at_mut(j);
        let own = &mut rest[0];
        crate::math::kernel::normalize(own);
        for _ in 0..2 {
            for other in before.iter() {
                let along = crate::math::kernel::dot(own, other);
                own.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
            }
        }
        crate::math::kernel::normalize(own);
    }
    for (j, column) in columns.iter().enumerate() {
        column.iter().enumerate().for_each(|(i, x)| values[i * width + j] = *x);
    }
}
