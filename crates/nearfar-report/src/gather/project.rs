//! The points in the plane: as they are, in the spectral embedding, or along their principal axes.

use std::collections::BTreeMap;

use nearfar::internals::Standard;
use nearfar::{Samples, SavedModel, View};

use super::clusters::People;
use super::{finite, rounded};
use crate::record::{self, MOST_POINTS, Square};

/// Squares along a side of the plane.
const SIDE: usize = 72;
/// Rows from which axes are found.
const MOST_ROWS: usize = 2_000;
/// Steps of the power method; enough to look at.
const STEPS: usize = 60;

/// Every point's place in the plane.
pub(crate) struct Plane {
    name: &'static str,
    axes: [String; 2],
    pub(crate) at: Vec<[f64; 2]>,
}

/// The ways to see these points, the most telling first.
pub(crate) fn views(
    model: &SavedModel,
    samples: Option<&Samples<'_>>,
    names: Option<&[String]>,
    shown: Option<View>,
) -> Vec<Plane> {
    let (n, r, v) = (model.about.n_samples, model.about.n_clusters, model.about.n_columns);
    let mut planes = Vec::new();
    let m = samples.map_or(0, Samples::n_features);
    let column =
        |j: usize| names.and_then(|names| names.get(j).cloned()).unwrap_or_else(|| format!("column {j}"));
    let rows = |values: &[f64], width: usize, name, axis: &str| {
        let get = |i: usize, out: &mut [f64]| out.copy_from_slice(&values[i * width..(i + 1) * width]);
        Plane { name, axes: [format!("{axis} 1"), format!("{axis} 2")], at: principal(n, width, &get) }
    };
    if let Some(samples) = samples
        && m <= 2
    {
        let at = (0..n).map(|i| [samples.get(i, 0), if m == 2 { samples.get(i, 1) } else { 0.0 }]).collect();
        let second = if m == 2 { column(1) } else { String::new() };
        planes.push(Plane { name: "the data itself", axes: [column(0), second], at });
    }
    if r > 1 && model.embedding.len() == n * r {
        planes.push(rows(&model.embedding, r, "spectral embedding", "embedding axis"));
    }
    if let (Some(samples), Some(view)) = (samples, shown)
        && m > 2
        && view != View::Raw
    {
        let standard = Standard::new(&samples.spreads());
        let get = |i: usize, out: &mut [f64]| {
            samples.copy_row(i, out);
            standard.show(view, out);
        };
        let name = match view {
            View::Standard => "principal axes of the standardised data",
            View::Unit => "principal axes of the rows of unit length",
            _ => "principal axes of the standardised rows of unit length",
        };
        let axes = ["principal axis 1".to_owned(), "principal axis 2".to_owned()];
        planes.push(Plane { name, axes, at: principal(n, m, &get) });
    }
    if let Some(samples) = samples
        && m > 2
    {
        let get = |i: usize, out: &mut [f64]| samples.copy_row(i, out);
        let axes = ["principal axis 1".to_owned(), "principal axis 2".to_owned()];
        planes.push(Plane { name: "principal axes of the data", axes, at: principal(n, m, &get) });
    }
    if planes.is_empty() && v > 1 && model.factor.len() == n * v {
        planes.push(rows(&model.factor, v, "the factor", "factor axis"));
    }
    if planes.is_empty() && r > 1 && model.membership.len() == n * r {
        planes.push(rows(&model.membership, r, "membership", "membership axis"));
    }
    planes
}

/// Coordinates along the two directions in which the rows vary most.
fn principal(n: usize, m: usize, get: &dyn Fn(usize, &mut [f64])) -> Vec<[f64; 2]> {
    let chosen: Vec<usize> = (0..n).step_by(n.div_ceil(MOST_ROWS).max(1)).collect();
    let mut rows = vec![0.0; chosen.len() * m];
    for (row, i) in rows.chunks_exact_mut(m).zip(&chosen) {
        get(*i, row);
    }
    let mut mean = vec![0.0; m];
    for row in rows.chunks_exact(m) {
        mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / chosen.len() as f64);
    }
    // In units of the largest deviation, so that no square overflows.
    let largest =
        rows.chunks_exact(m).flat_map(|row| row.iter().zip(&mean).map(|(x, mean)| (x - mean).abs()));
    let unit = finite(largest.fold(0.0, f64::max)).max(f64::MIN_POSITIVE);
    for row in rows.chunks_exact_mut(m) {
        row.iter_mut().zip(&mean).for_each(|(x, mean)| *x = finite((*x - mean) / unit));
    }
    let first = direction(&rows, m, None);
    let second = direction(&rows, m, Some(&first));
    let mut row = vec![0.0; m];
    (0..n)
        .map(|i| {
            get(i, &mut row);
            row.iter_mut().zip(&mean).for_each(|(x, mean)| *x = finite(*x - mean));
            [finite(dot(&row, &first)), finite(dot(&row, &second))]
        })
        .collect()
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// The leading direction of XᵀX, or the one after `first`; the power method from a fixed start.
fn direction(rows: &[f64], m: usize, first: Option<&[f64]>) -> Vec<f64> {
    let mut d: Vec<f64> = (0..m).map(|j| 1.0 + ((j * 7919 + 13) % 101) as f64 / 101.0).collect();
    for _ in 0..STEPS {
        if let Some(first) = first {
            let along = dot(&d, first);
            d.iter_mut().zip(first).for_each(|(d, first)| *d -= along * first);
        }
        let mut next = vec![0.0; m];
        for row in rows.chunks_exact(m) {
            let along = dot(row, &d);
            next.iter_mut().zip(row).for_each(|(next, x)| *next += along * x);
        }
        let length = dot(&next, &next).sqrt();
        if !(length > 0.0) {
            // No variance is left: any direction is as good.
            return vec![0.0; m];
        }
        d = next.into_iter().map(|x| x / length).collect();
    }
    if let Some(first) = first {
        let along = dot(&d, first);
        d.iter_mut().zip(first).for_each(|(d, first)| *d -= along * first);
    }
    // The largest component points up, whatever the start.
    let sign =
        d.iter().copied().fold(0.0, |most: f64, x| if x.abs() > most.abs() { x } else { most }).signum();
    d.iter().map(|x| x * sign).collect()
}

impl Plane {
    /// As the record keeps it: with squares where points are too many.
    pub(crate) fn drawn(&self, people: &People<'_>) -> record::View {
        let squares = if self.at.len() > MOST_POINTS { self.squares(people) } else { Vec::new() };
        record::View { name: self.name.to_owned(), axes: self.axes.clone(), squares }
    }

    fn squares(&self, people: &People<'_>) -> Vec<Square> {
        let range = |axis: usize| {
            let values = self.at.iter().map(|at| at[axis]);
            let (least, most) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
            (least, (finite(most - least)).max(f64::MIN_POSITIVE))
        };
        let ranges = [range(0), range(1)];
        let mut cells: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
        for (i, at) in self.at.iter().enumerate() {
            let cell = [0, 1].map(|axis| {
                let (least, width) = ranges[axis];
                ((((at[axis] - least) / width) * SIDE as f64) as usize).min(SIDE - 1)
            });
            cells.entry(cell).or_default().push(i);
        }
        cells
            .into_iter()
            .map(|(cell, points)| {
                let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
                points.iter().for_each(|i| *counts.entry(people.labels[*i]).or_default() += 1);
                // The commonest label, the smallest of equals.
                let (label, most) =
                    counts.iter().fold(
                        (0, 0),
                        |best, (label, count)| if *count > best.1 { (*label, *count) } else { best },
                    );
                let surest =
                    points.iter().copied().reduce(|a, b| if people.sure(b) > people.sure(a) { b } else { a });
                let surest = surest.unwrap_or(0);
                Square {
                    at: [0, 1].map(|axis| {
                        let (least, width) = ranges[axis];
                        rounded(least + width * (cell[axis] as f64 + 0.5) / SIDE as f64, 5)
                    }),
                    count: points.len(),
                    label: label as u32,
                    share: rounded(most as f64 / points.len() as f64, 3),
                    id: people.id(surest),
                    membership: rounded(people.own(surest), 4),
                    confidence: mean(points.iter().map(|i| people.confidence(*i))),
                }
            })
            .collect()
    }
}

/// The mean, where all are there.
fn mean(values: impl ExactSizeIterator<Item = Option<f64>>) -> Option<f64> {
    let n = values.len().max(1) as f64;
    values.sum::<Option<f64>>().map(|sum| rounded(sum / n, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principal_axes_of_a_flat_cloud() {
        let data: Vec<[f64; 3]> = (0..50).map(|i| [f64::from(i), f64::from(i * 13 % 7) * 0.5, 0.0]).collect();
        let at = principal(50, 3, &|i, out| out.copy_from_slice(&data[i]));
        let spread = |axis: usize| at.iter().map(|at| at[axis] * at[axis]).sum::<f64>();
        assert!(spread(0) > 50.0 * spread(1) && spread(1) > 0.0);
        let crossed: f64 = at.iter().map(|at| at[0] * at[1]).sum();
        assert!(crossed.abs() < 1e-6 * spread(0));
    }

    #[test]
    fn equal_points_have_one_place() {
        let at = principal(5, 4, &|_, out| out.fill(3.0));
        assert!(at.iter().all(|at| *at == [0.0, 0.0]));
    }
}
