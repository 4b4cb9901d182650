//! Tables of overlapping groups, as people bring them: few columns that mean different things, no gaps between groups.

use super::{Generated, check_noise, check_sizes, numbered, shuffled};
use crate::error::ParamError;
use crate::math::rng::Stream;

/// Stream of what a table draws beside its classes.
const ROWS: u64 = 0;
/// How far apart the centres of neighbouring groups are, in deviations: normal groups, then heavy-tailed ones.
const APART: [f64; 2] = [3.5, 5.0];
/// Degrees of freedom of heavy tails: the variance exists, the fourth moment does not.
const HEAVY: usize = 3;

/// `groups` round Gaussians in a row along the diagonal, neighbouring centres 3.5 deviations apart in any number of
/// columns: the best possible rule errs on 4 % of two groups.
///
/// # Errors
/// When a size is 0 or too large, there are fewer samples than groups, or the spread is not within 0 to 1e6.
pub(crate) fn overlap(
    n_samples: usize,
    n_features: usize,
    groups: usize,
    spread: f64,
    seed: u64,
) -> Result<Generated, ParamError> {
    in_a_row((n_samples, n_features, groups), spread, seed, APART[0], |_| 1.0)
}

/// The same with heavy tails: Student's t with three degrees of freedom in all columns at once, neighbouring centres
/// five scales apart. Outliers are part of their group.
///
/// # Errors
/// When a size is 0 or too large, there are fewer samples than groups, or the spread is not within 0 to 1e6.
pub(crate) fn heavy(
    n_samples: usize,
    n_features: usize,
    groups: usize,
    spread: f64,
    seed: u64,
) -> Result<Generated, ParamError> {
    in_a_row((n_samples, n_features, groups), spread, seed, APART[1], |random| {
        // Three squared normals are 0 only if all of them are.
        let squares: f64 = (0..HEAVY).map(|_| random.normal().powi(2)).sum();
        (HEAVY as f64 / squares.max(f64::MIN_POSITIVE)).sqrt()
    })
}

fn in_a_row(
    (n_samples, n_features, groups): (usize, usize, usize),
    spread: f64,
    seed: u64,
    apart: f64,
    mut wide: impl FnMut(&mut Stream) -> f64,
) -> Result<Generated, ParamError> {
    check_sizes(n_samples, n_features, groups)?;
    check_noise(spread)?;
    let mut random = Stream::new(seed, ROWS);
    let truth = shuffled(&super::share(n_samples, groups), &mut random);
    let step = apart * spread / (n_features as f64).sqrt();
    Generated::from_rows(truth, numbered("x", n_features), |class, row| {
        let width = spread * wide(&mut random);
        row.iter_mut().for_each(|x| *x = step * class as f64 + width * random.normal());
    })
}

/// Parallel stripes in the plane: Gaussians twenty times as long as they are wide, three of them by default, at a
/// distance of 1 between neighbours. `noise` is the deviation across a stripe; along it the deviation is 3.
///
/// # Errors
/// When there are no stripes, fewer samples than stripes or too many, or the noise is not within 0 to 1e6.
pub(crate) fn stripes(
    n_samples: usize,
    stripes: usize,
    noise: f64,
    seed: u64,
) -> Result<Generated, ParamError> {
    check_sizes(n_samples, 2, stripes)?;
    check_noise(noise)?;
    let mut random = Stream::new(seed, ROWS);
    let truth = shuffled(&super::share(n_samples, stripes), &mut random);
    Generated::from_rows(truth, vec!["x".into(), "y".into()], |class, row| {
        let (along, across) = (3.0 * random.normal(), class as f64 + noise * random.normal());
        // A slant, so that no column alone tells the stripes apart.
        (row[0], row[1]) = (0.8 * along - 0.6 * across, 0.6 * along + 0.8 * across);
    })
}

/// Points without any groups, uniform in a cube of the given side; the truth is one class.
///
/// # Errors
/// When a size is 0 or too large, or the side is not within 0 to 1e6.
pub(crate) fn uniform(
    n_samples: usize,
    n_features: usize,
    side: f64,
    seed: u64,
) -> Result<Generated, ParamError> {
    check_sizes(n_samples, n_features, 1)?;
    check_noise(side)?;
    let mut random = Stream::new(seed, ROWS);
    Generated::from_rows(vec![0; n_samples], numbered("x", n_features), |_, row| {
        row.iter_mut().for_each(|x| *x = side * random.uniform());
    })
}

/// Numbers of a customer.
const NUMBERS: [&str; 6] = ["age", "income", "visits", "basket", "tenure", "returns"];
/// Levels of the one category.
const LEVELS: [&str; 3] = ["plan_basic", "plan_plus", "plan_pro"];
/// Where the groups lie, in units of [`STEP`].
const CENTERS: [[f64; 6]; 5] = [
    [1.0, 1.0, 1.0, -1.0, 0.0, -1.0],
    [-1.0, 1.0, -1.0, 1.0, -1.0, 0.0],
    [1.0, -1.0, -1.0, 0.0, 1.0, 1.0],
    [-1.0, -1.0, 0.0, -1.0, 1.0, -1.0],
    [0.0, 0.0, 1.0, 1.0, -1.0, 1.0],
];
const STEP: f64 = 1.6;
/// Deviation within a group, as a multiple of the spread.
const WIDTHS: [f64; 5] = [1.0, 0.9, 1.1, 0.8, 1.0];
/// Share of the customers in each group.
const SHARES: [f64; 5] = [0.28, 0.24, 0.2, 0.16, 0.12];
/// The level that most of a group have, and how many of them do.
const USUAL: ([usize; 5], f64) = ([0, 1, 2, 0, 1], 0.9);
/// How much of what is unusual about the age shows in the income, too.
const AGE_TO_INCOME: f64 = 0.3;

/// A table of customers: six numbers and a category of three levels (one column each), all standardised, in five
/// groups of 28 to 12 %. With a spread of 1 groups are near-Gaussian and overlap: k-means finds about .95 of them.
///
/// # Errors
/// When there are fewer than five samples or too many, or the spread is not within 0 to 1e6.
pub(crate) fn customers(n_samples: usize, spread: f64, seed: u64) -> Result<Generated, ParamError> {
    let (groups, numbers) = (CENTERS.len(), NUMBERS.len());
    check_sizes(n_samples, numbers + LEVELS.len(), groups)?;
    check_noise(spread)?;
    let mut random = Stream::new(seed, ROWS);
    let spare = (n_samples - groups) as f64;
    let mut sizes = SHARES.map(|share| 1 + (spare * share) as usize);
    // Each was rounded down; the first takes the rest.
    sizes[0] += n_samples - sizes.iter().sum::<usize>();
    let names = NUMBERS.iter().chain(&LEVELS).map(ToString::to_string).collect();
    let truth = shuffled(&sizes, &mut random);
    let mut made = Generated::from_rows(truth, names, |group, row| {
        let (values, levels) = row.split_at_mut(numbers);
        for (x, center) in values.iter_mut().zip(CENTERS[group]) {
            *x = STEP * center + spread * WIDTHS[group] * random.normal();
        }
        values[1] += AGE_TO_INCOME * (values[0] - STEP * CENTERS[group][0]);
        let usual = USUAL.0[group];
        let other = 1 + usize::from(random.uniform() < 0.5);
        let level = if random.uniform() < USUAL.1 { usual } else { (usual + other) % LEVELS.len() };
        levels[level] = 1.0;
    })?;
    for j in 0..made.n_features {
        standardise(&mut made.data, made.n_features, j);
    }
    Ok(made)
}

/// Column j less its mean, divided by its deviation where it has one.
fn standardise(data: &mut [f64], m: usize, j: usize) {
    let n = (data.len() / m) as f64;
    let mean = data.iter().skip(j).step_by(m).sum::<f64>() / n;
    let variance = data.iter().skip(j).step_by(m).map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    let deviation = if variance > 0.0 { variance.sqrt() } else { 1.0 };
    data.iter_mut().skip(j).step_by(m).for_each(|x| *x = (*x - mean) / deviation);
}
