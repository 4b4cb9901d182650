//! Does a mixture explain the rows? Rows drawn from it are held beside the data.

use super::columns::Table;
use super::parts::{Block, Parts};
use super::{BLOCK, MixtureReport};
use crate::error::Result;
use crate::input::{Input, Metric, Samples};
use crate::math::rng::Stream;
use crate::neighbors::nearest::listed;
use crate::observe::Observer;
use crate::views::judge::sharpness;

/// Draws, at most.
const DRAWS: usize = 3;
/// Neighbours of every row that T looks at.
const NEIGHBORS: usize = 5;
/// T from which on the draw is told from the data.
const TOLD: f64 = 0.54;
/// How far the data may be sharper than the sharpest draw; if it is further, draws enough are made to know how much
/// they vary, and so many deviations above their mean are allowed.
const SHARPER: f64 = 0.01;
const SHARPNESS_DRAWS: usize = 6;
const DEVIATIONS: f64 = 3.0;
/// Sharper by so much than the first draws it is in any case.
const FAR_SHARPER: f64 = 0.08;
/// Rows that graphs are compared on, at most.
const SHARP_ROWS: usize = 2_500;
/// Rows of each kind that T is found on, at most.
const TOLD_ROWS: usize = 5_000;
/// A column of no more than so many values, or one in so many rows, keeps its values.
const FEW_VALUES: usize = 20;
const FEW_SHARE: usize = 20;
/// Rows are moved by so little that only ties of equal rows are broken.
const JITTER: f64 = 1e-9;
/// Fewer draws decide about T where it is this many deviations away from [`TOLD`].
const CLEAR: f64 = 3.0;
/// What is still to come for a fit that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    /// More rounds, and other starts.
    Rounds,
    /// Other starts.
    Starts,
}

impl Better {
    /// How much it may lower T, at most.
    fn lower(self) -> f64 {
        match self {
            Self::Rounds => 0.02,
            Self::Starts => 0.01,
        }
    }

    /// Rows of each kind that are looked at.
    fn rows(self) -> usize {
        match self {
            Self::Rounds => 1_500,
            Self::Starts => 3_000,
        }
    }
}

/// Stream of the first draw; those after it are next to it, those that sharpness alone needs further on.
const STREAM: u64 = 10 << 32;
const SHARPNESS_STREAM: u64 = 1 << 16;

/// Values of the columns that have few: what drawn rows are moved to.
fn few_values(table: &Table) -> Vec<Option<Vec<f64>>> {
    (0..table.m)
        .map(|j| {
            let mut values = table.number(j).to_vec();
            values.sort_by(f64::total_cmp);
            values.dedup();
            (values.len() <= FEW_VALUES.max(table.n / FEW_SHARE)).then_some(values)
        })
        .collect()
}

fn nearest_value(values: &[f64], x: f64) -> f64 {
    let at = values.partition_point(|value| *value < x);
    let after = values.get(at).copied();
    match (at.checked_sub(1).map(|at| values[at]), after) {
        (Some(low), Some(high)) => {
            if x - low <= high - x {
                low
            } else {
                high
            }
        }
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => x,
    }
}

/// `n` rows drawn from a mixture, as a table.
fn draw(table: &Table, parts: &Parts, n: usize, random: &mut Stream) -> Table {
    let m = table.m;
    let mut drawn = Table {
        n,
        m,
        numbers: vec![0.0; n * m],
        codes: vec![Vec::with_capacity(n); table.codes.len()],
        levels: table.levels.clone(),
    };
    let (mut row, mut codes) = (vec![0.0; m], vec![0; table.codes.len()]);
    for i in 0..n {
        parts.draw(random, &mut row, &mut codes);
        row.iter().enumerate().for_each(|(j, y)| drawn.numbers[j * n + i] = *y);
        drawn.codes.iter_mut().zip(&codes).for_each(|(all, code)| all.push(*code));
    }
    for (j, values) in few_values(table).iter().enumerate() {
        if let Some(values) = values {
            drawn.numbers[j * n..(j + 1) * n].iter_mut().for_each(|y| *y = nearest_value(values, *y));
        }
    }
    drawn
}

/// The share of nearest neighbours of the same origin, of two sets of rows of the same width.
fn told(a: &[f64], b: &[f64], width: usize, random: &mut Stream, observer: &dyn Observer) -> Result<f64> {
    let (n, n_both) = (a.len() / width, (a.len() + b.len()) / width);
    let both: Vec<f64> = a.iter().chain(b).map(|x| x + JITTER * random.normal()).collect();
    let input = Input::Samples(Samples::from_rows(&both, n_both, width)?, Metric::Euclidean);
    let lists = listed(&input, NEIGHBORS, observer)?.lists;
    let k = NEIGHBORS.min(lists.k);
    let same = |i: usize| lists.row(i).0[..k].iter().filter(|j| ((**j as usize) < n) == (i < n)).count();
    Ok((0..n_both).map(same).sum::<usize>() as f64 / (k * n_both).max(1) as f64)
}

fn everybody(n: usize) -> Vec<u32> {
    (0..n as u32).collect()
}

/// How much T varies by chance, at most, with n rows of each kind.
fn deviation(n: usize) -> f64 {
    0.5 / (2.0 * n as f64).sqrt()
}

/// A look at a fit that is still to get better: T on some of the rows, if it is so far off that no better fit would
/// pass.
///
/// With fewer rows neighbours are farther away and T is nearer to one half, so that this is the milder test.
pub(super) fn out_of_reach(
    table: &Table,
    parts: &Parts,
    better: Better,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Option<f64>> {
    let mut random = Stream::new(seed, STREAM + DRAWS as u64 + u64::from(better == Better::Starts));
    let some = some_of(table.n, better.rows(), seed);
    let n = some.len();
    let drawn = draw(table, parts, n, &mut random).joined(&everybody(n));
    let told = told(&table.joined(&some), &drawn, table.width(), &mut random, observer)?;
    Ok((told > TOLD + better.lower() + CLEAR * deviation(n)).then_some(told))
}

/// At most so many of n rows, by chance: every so-many-th would see few groups of rows that take turns.
fn some_of(n: usize, most: usize, seed: u64) -> Vec<u32> {
    super::chosen(&everybody(n), most, seed)
}

/// Both questions.
pub(super) fn test(
    table: &Table,
    parts: &Parts,
    seed: u64,
    observer: &dyn Observer,
) -> Result<MixtureReport> {
    let (width, k) = (table.width(), parts.k);
    let compared = some_of(table.n, TOLD_ROWS, seed);
    let n = compared.len();
    let data = table.joined(&compared);
    let mut report = MixtureReport::default();
    let mut draws: Vec<Vec<f64>> = Vec::new();
    let mut total = 0.0;
    // As many draws as it takes to be sure.
    while draws.len() < DRAWS {
        let mut random = Stream::new(seed, STREAM + draws.len() as u64);
        let drawn = draw(table, parts, n, &mut random).joined(&everybody(n));
        total += told(&data, &drawn, width, &mut random, observer)?;
        draws.push(drawn);
        report.told = total / draws.len() as f64;
        if (report.told - TOLD).abs() > CLEAR * deviation(n) / (draws.len() as f64).sqrt() {
            break;
        }
    }
    if report.told >= TOLD {
        return Ok(report);
    }
    let few = some_of(n, SHARP_ROWS, seed);
    let sharp = |rows: &[f64]| {
        let rows: Vec<f64> =
            few.iter().flat_map(|i| &rows[*i as usize * width..(*i as usize + 1) * width]).copied().collect();
        sharpness(&rows, few.len(), width, k, seed, observer)
    };
    let (own, first) = rayon::join(|| sharp(&data), || sharp(&draws[0]));
    (report.sharpness, report.drawn_sharpness) = (own?, first?);
    let mut sharpnesses = vec![report.drawn_sharpness];
    while report.sharpness > allowed(&sharpnesses) && sharpnesses.len() < SHARPNESS_DRAWS {
        if sharpnesses.len() >= 2 && report.sharpness > report.drawn_sharpness + FAR_SHARPER {
            break;
        }
        let next = sharpnesses.len();
        if next == draws.len() {
            let mut random = Stream::new(seed, STREAM + SHARPNESS_STREAM + next as u64);
            draws.push(draw(table, parts, n, &mut random).joined(&everybody(n)));
        }
        sharpnesses.push(sharp(&draws[next])?);
        report.drawn_sharpness = report.drawn_sharpness.max(sharpnesses[next]);
    }
    report.explains = report.sharpness <= allowed(&sharpnesses);
    Ok(report)
}

/// How sharp the data may be, beside draws of this sharpness.
fn allowed(drawn: &[f64]) -> f64 {
    let most = drawn.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if drawn.len() < SHARPNESS_DRAWS {
        return most + SHARPER;
    }
    let count = drawn.len() as f64;
    let mean = drawn.iter().sum::<f64>() / count;
    let deviation = (drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
    (most + SHARPER).max(mean + DEVIATIONS * deviation)
}

/// The likeliest part of every row, and its posterior.
pub(super) fn likeliest_parts(table: &Table, parts: &Parts) -> Vec<(u32, f64)> {
    let mut found = Vec::with_capacity(table.n);
    let mut block = Block::default();
    for start in (0..table.n).step_by(BLOCK) {
        let count = BLOCK.min(table.n - start);
        let numbers: Vec<f64> =
            (0..table.m).flat_map(|j| table.number(j)[start..start + count].iter().copied()).collect();
        let codes: Vec<u16> =
            table.codes.iter().flat_map(|codes| codes[start..start + count].iter().copied()).collect();
        found.extend(super::fit::likeliest(parts, &numbers, &codes, count, &mut block));
    }
    found
}

/// How many parts are the likeliest of some row, and the mean posterior of the likeliest part.
pub(super) fn certainty(table: &Table, parts: &Parts) -> (usize, f64) {
    let (mut used, mut sum) = (vec![false; parts.k], 0.0);
    for (part, posterior) in likeliest_parts(table, parts) {
        used[part as usize] = true;
        sum += posterior;
    }
    (used.iter().filter(|used| **used).count(), sum / table.n.max(1) as f64)
}
