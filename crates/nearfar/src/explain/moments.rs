//! Means and variances of every column in every cluster, in one pass over the rows.
//!
//! Columns are seen in units of their width, from 0 to 1, so that no square overflows and little is lost where all
//! values are large.

use rayon::prelude::*;

use crate::input::Samples;

/// Partial sums, at most.
const BLOCKS: usize = 16;
/// Rows of a partial sum, at least.
const LEAST_ROWS: usize = 1024;
/// Below this, in units of the width, a deviation is none.
pub(super) const CONSTANT: f64 = 1e-9;

/// Sums over one cluster, or several: rows, mean and variance of a column.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    pub(super) rows: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

impl Group {
    /// Both together.
    pub(super) fn and(self, other: Self) -> Self {
        let rows = self.rows + other.rows;
        if rows <= 0.0 {
            return self;
        }
        let share = other.rows / rows;
        let apart = other.mean - self.mean;
        let within = self.variance * (1.0 - share) + other.variance * share;
        Self {
            rows,
            mean: self.mean + share * apart,
            variance: within + share * (1.0 - share) * apart * apart,
        }
    }

    /// How far this one lies above the other, in spreads; at most 99.
    pub(super) fn effect(self, other: Self) -> f64 {
        let spread = f64::midpoint(self.variance, other.variance).max(0.0).sqrt();
        let apart = self.mean - other.mean;
        if apart.abs() <= CONSTANT { 0.0 } else { (apart / spread.max(CONSTANT)).clamp(-99.0, 99.0) }
    }
}

/// Means and variances of every column in every cluster.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    /// Rows of every cluster.
    pub(super) rows: Vec<f64>,
    /// Least and largest value of every column.
    pub(super) frame: Vec<(f64, f64)>,
    /// Whether a column has no other values than its least and its largest one.
    pub(super) two: Vec<bool>,
    /// Share of values that are 0, over all columns.
    pub(super) zeros: f64,
    /// Clusters × columns.
    groups: Vec<Group>,
    /// Clusters × columns: share of rows that are not 0.
    filled: Vec<f64>,
    m: usize,
}

/// What a block of rows adds.
struct Part {
    rows: Vec<f64>,
    sums: Vec<[f64; 2]>,
    filled: Vec<u32>,
    two: Vec<bool>,
}

impl Moments {
    pub(super) fn of(samples: &Samples<'_>, labels: &[u32], k: usize) -> Self {
        let (n, m) = (samples.n_samples(), samples.n_features());
        let size = n.div_ceil(BLOCKS).max(LEAST_ROWS);
        let starts: Vec<usize> = (0..n).step_by(size).collect();
        let rows_of = |start: usize| start..(start + size).min(n);
        let frames = starts.par_iter().map(|start| {
            let (mut row, mut frame) = (vec![0.0; m], vec![(f64::INFINITY, f64::NEG_INFINITY); m]);
            for i in rows_of(*start) {
                samples.copy_row(i, &mut row);
                frame.iter_mut().zip(&row).for_each(|(f, x)| *f = (f.0.min(*x), f.1.max(*x)));
            }
            frame
        });
        let frame: Vec<(f64, f64)> = frames.reduce(
            || vec![(f64::INFINITY, f64::NEG_INFINITY); m],
            |a, b| a.iter().zip(&b).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).collect(),
        );
        let parts: Vec<Part> = starts
            .par_iter()
            .map(|start| {
                let mut row = vec![0.0; m];
                let mut part = Part {
                    rows: vec![0.0; k],
                    sums: vec![[0.0; 2]; k * m],
                    filled: vec![0; k * m],
                    two: vec![true; m],
                };
                for i in rows_of(*start) {
                    let c = labels[i] as usize;
                    if c >= k {
                        continue;
                    }
                    samples.copy_row(i, &mut row);
                    part.add(c, &row, &frame);
                }
                part
            })
            .collect();
        Self::made(&parts, frame, k, m)
    }

    fn made(parts: &[Part], frame: Vec<(f64, f64)>, k: usize, m: usize) -> Self {
        let mut rows = vec![0.0; k];
        let mut two: Vec<bool> = frame.iter().map(|(least, most)| most > least).collect();
        for part in parts {
            rows.iter_mut().zip(&part.rows).for_each(|(sum, own)| *sum += own);
            two.iter_mut().zip(&part.two).for_each(|(two, own)| *two &= own);
        }
        let (mut groups, mut filled) = (vec![Group::default(); k * m], vec![0.0; k * m]);
        let mut not_zero = 0.0;
        for (at, (group, filled)) in groups.iter_mut().zip(&mut filled).enumerate() {
            let count: f64 = rows[at / m];
            if count > 0.0 {
                let sum = |which: usize| parts.iter().map(|part| part.sums[at][which]).sum::<f64>() / count;
                let mean = sum(0);
                *group = Group { rows: count, mean, variance: (sum(1) - mean * mean).max(0.0) };
                let full: f64 = parts.iter().map(|part| f64::from(part.filled[at])).sum();
                (*filled, not_zero) = (full / count, not_zero + full);
            }
        }
        let values = rows.iter().sum::<f64>() * m as f64;
        let zeros = if values > 0.0 { 1.0 - not_zero / values } else { 0.0 };
        Self { rows, frame, two, zeros, groups, filled, m }
    }

    /// One column of one cluster, in units of the width.
    pub(super) fn group(&self, c: usize, j: usize) -> Group {
        self.groups[c * self.m + j]
    }

    /// The mean of a column in a cluster, as the rows have it.
    pub(super) fn mean_of(&self, c: usize, j: usize) -> f64 {
        self.value(j, self.group(c, j).mean)
    }

    /// From units of the width to the values of the rows.
    pub(super) fn value(&self, j: usize, x: f64) -> f64 {
        let (least, most) = self.frame[j];
        least * (1.0 - x) + most * x
    }

    /// A column of all rows.
    pub(super) fn all(&self, j: usize) -> Group {
        (0..self.rows.len()).fold(Group::default(), |sum, c| sum.and(self.group(c, j)))
    }

    /// Of every cluster the rest: all others as one group.
    pub(super) fn rests(&self, j: usize) -> Vec<Group> {
        let k = self.rows.len();
        let mut rests = vec![Group::default(); k];
        let mut sum = Group::default();
        for c in 0..k {
            rests[c] = sum;
            sum = sum.and(self.group(c, j));
        }
        sum = Group::default();
        for c in (0..k).rev() {
            rests[c] = rests[c].and(sum);
            sum = sum.and(self.group(c, j));
        }
        rests
    }

    /// Share of the rows of a cluster in which a column is not 0.
    pub(super) fn filled(&self, c: usize, j: usize) -> f64 {
        self.filled[c * self.m + j]
    }
}

impl Part {
    fn add(&mut self, c: usize, row: &[f64], frame: &[(f64, f64)]) {
        let m = row.len();
        self.rows[c] += 1.0;
        let sums = &mut self.sums[c * m..(c + 1) * m];
        let filled = &mut self.filled[c * m..(c + 1) * m];
        for ((((sum, filled), two), x), (least, most)) in
            sums.iter_mut().zip(filled).zip(&mut self.two).zip(row).zip(frame)
        {
            let width = (most - least).min(f64::MAX);
            let y = if width > 0.0 { (x / width - least / width).clamp(0.0, 1.0) } else { 0.0 };
            sum[0] += y;
            sum[1] += y * y;
            *filled += u32::from(*x != 0.0);
            *two &= x == least || x == most;
        }
    }
}
