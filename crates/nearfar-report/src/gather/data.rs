//! The data: columns, copies, distances, pictures.

use nearfar::{Input, Metric, Samples, Spread};

use super::{Picture, finite};
use crate::record::{Column, Distances, Histogram};

/// Bars of a distribution.
const BARS: usize = 48;
/// Columns that are told one by one.
const MOST_COLUMNS: usize = 2_000;
/// Multiplications that distances may take.
const WORK: usize = 200_000_000;
/// Pairs of points that are counted.
const MOST_SAMPLED: usize = 1_000;

/// Counts of these values between equally spaced edges.
pub(crate) fn histogram(values: &[f64], range: Option<[f64; 2]>) -> Histogram {
    let sane = || values.iter().copied().filter(|x| x.is_finite());
    let [least, most] = range
        .unwrap_or_else(|| sane().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)]));
    if values.is_empty() || !(least <= most) {
        return Histogram::default();
    }
    // Equal values make one bar with some width.
    let most = if most > least { most } else { least + least.abs().max(1e-300) };
    // Halves, so that the width of a range of the largest numbers is one.
    let width = (most / BARS as f64) - (least / BARS as f64);
    let mut counts = vec![0; BARS];
    for x in sane() {
        let bar = ((x / width - least / width).floor().max(0.0) as usize).min(BARS - 1);
        counts[bar] += 1;
    }
    let edges = (0..=BARS).map(|at| finite(least + width * at as f64)).collect();
    Histogram { edges, counts }
}

/// Range, mean and deviation of every column.
pub(crate) fn columns(samples: &Samples<'_>, names: Option<&[String]>) -> Vec<Column> {
    let name =
        |j: usize| names.and_then(|names| names.get(j).cloned()).unwrap_or_else(|| format!("column {j}"));
    let of = |(j, spread): (usize, Spread)| Column {
        name: name(j),
        least: finite(spread.least),
        mean: finite(spread.mean),
        most: finite(spread.most),
        deviation: finite(spread.deviation),
    };
    samples.spreads().into_iter().enumerate().take(MOST_COLUMNS).map(of).collect()
}

/// The distance, or affinity, of two of the chosen points.
type Pairwise<'a> = Box<dyn Fn(usize, usize) -> f64 + 'a>;

/// How far apart points lie, within clusters and between them, on evenly taken points.
pub(crate) fn distances(input: &Input<'_>, labels: &[usize]) -> Option<Distances> {
    let n = labels.len();
    let m = input.n_features().max(1);
    let most = MOST_SAMPLED.min((2 * WORK / m).isqrt()).max(2);
    let step = n.div_ceil(most).max(1);
    let chosen: Vec<usize> = (0..n).step_by(step).collect();
    let (what, far): (&str, Pairwise<'_>) = match input {
        Input::Samples(samples, metric) => {
            let mut rows = vec![0.0; chosen.len() * m];
            for (row, i) in rows.chunks_exact_mut(m).zip(&chosen) {
                samples.copy_row(*i, row);
            }
            let metric = *metric;
            (
                "distance",
                Box::new(move |a, b| between(&rows[a * m..(a + 1) * m], &rows[b * m..(b + 1) * m], metric)),
            )
        }
        Input::Distances(matrix) => ("distance", Box::new(|a, b| matrix.get(chosen[a], chosen[b]))),
        Input::Affinities(matrix) => ("affinity", Box::new(|a, b| matrix.get(chosen[a], chosen[b]))),
        // Lists hold the nearest pairs only, which would mislead.
        _ => return None,
    };
    let [mut within, mut apart] = [Vec::new(), Vec::new()];
    for a in 0..chosen.len() {
        for b in a + 1..chosen.len() {
            let list = if labels[chosen[a]] == labels[chosen[b]] { &mut within } else { &mut apart };
            list.push(finite(far(a, b)));
        }
    }
    let all = || within.iter().chain(&apart).copied();
    let range = [all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max)];
    (range[0] <= range[1]).then(|| Distances {
        what: what.to_owned(),
        sampled: chosen.len(),
        within: histogram(&within, Some(range)),
        between: histogram(&apart, Some(range)),
    })
}

fn between(x: &[f64], y: &[f64], metric: Metric) -> f64 {
    let sum = |of: &dyn Fn(f64, f64) -> f64| x.iter().zip(y).map(|(x, y)| of(*x, *y)).sum::<f64>();
    if metric == Metric::Cosine {
        let (xx, yy) = (sum(&|x, _| x * x), sum(&|_, y| y * y));
        return (1.0 - sum(&|x, y| x * y) / (xx * yy).sqrt()).max(0.0);
    }
    sum(&|x, y| (x - y) * (x - y)).sqrt()
}

/// Where samples look like square pictures: pixels beside and above each other are much more alike than others.
pub(crate) fn find_picture(samples: &Samples<'_>) -> Option<Picture> {
    const ALIKE: f64 = 0.6;
    let (n, m) = (samples.n_samples(), samples.n_features());
    let side = m.isqrt();
    if side * side != m || !(8..=512).contains(&side) {
        return None;
    }
    let mut row = vec![0.0; m];
    let [mut beside, mut above, mut apart] = [0.0; 3];
    for i in (0..n).step_by(n.div_ceil(50).max(1)) {
        samples.copy_row(i, &mut row);
        let scale = row.iter().fold(0.0_f64, |most, x| most.max(x.abs())).max(f64::MIN_POSITIVE);
        let gap = |a: usize, b: usize| (row[a] / scale - row[b] / scale).abs();
        for at in (0..m).filter(|at| at % side + 1 < side && at / side + 1 < side) {
            beside += gap(at, at + 1);
            above += gap(at, at + side);
            // Far away in both directions, without chance.
            apart += gap(at, (at + (side / 2) * side + side / 2 + at % 7) % m);
        }
    }
    (apart > 0.0 && beside < ALIKE * apart && above < ALIKE * apart).then_some(Picture {
        height: side,
        width: side,
        by_columns: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_count_every_value() {
        let h = histogram(&[0.0, 0.5, 1.0, 1.0], None);
        assert_eq!((h.counts.iter().sum::<u64>(), h.counts[BARS - 1], h.edges.len()), (4, 2, BARS + 1));
        assert_eq!(histogram(&[3.0; 7], None).counts.iter().sum::<u64>(), 7);
        assert_eq!(histogram(&[0.0; 7], None).counts.iter().sum::<u64>(), 7);
        assert_eq!(histogram(&[-1e308, 1e308], None).counts.iter().sum::<u64>(), 2);
        assert!(histogram(&[], None).counts.is_empty());
    }

    #[test]
    fn pictures_are_told_from_noise() {
        let smooth: Vec<f64> = (0..30 * 144)
            .map(|at| {
                let (i, x, y) = (at / 144, at % 144 % 12, at % 144 / 12);
                ((x + i) as f64 / 3.0).sin() + (y as f64 / 3.0).cos()
            })
            .collect();
        let noise: Vec<f64> = (0..30 * 144).map(|at| f64::from((at * 7919 + at * at * 31) % 101)).collect();
        let found = find_picture(&Samples::from_rows(&smooth, 30, 144).unwrap());
        assert_eq!(found.map(|picture| [picture.height, picture.width]), Some([12, 12]));
        assert_eq!(find_picture(&Samples::from_rows(&noise, 30, 144).unwrap()), None);
        assert_eq!(find_picture(&Samples::from_rows(&smooth, 45, 96).unwrap()), None);
    }
}
