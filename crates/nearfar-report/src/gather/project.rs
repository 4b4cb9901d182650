//! The points in the plane: as they are, by their neighbour graph, or along principal axes.

use nearfar::internals::{MOST_PLACED, Standard, principal};
use nearfar::{Input, Samples, SavedModel, View};

use crate::record;

/// Longest name of a point that is kept for the scatter.
const LONGEST_NAME: usize = 80;

/// The points that are drawn, and their places.
pub(crate) struct Drawn {
    /// Ascending; all points, or a sample.
    pub(crate) rows: Vec<u32>,
    /// The most telling first.
    pub(crate) planes: Vec<Plane>,
}

/// A way to see the points.
pub(crate) struct Plane {
    name: &'static str,
    axes: [String; 2],
    pub(crate) at: Vec<[f64; 2]>,
}

impl Plane {
    fn new(name: &'static str, axis: &str, at: Vec<[f64; 2]>) -> Self {
        Self { name, axes: [format!("{axis} 1"), format!("{axis} 2")], at }
    }

    /// As the record keeps it.
    pub(crate) fn kept(&self) -> record::View {
        record::View { name: self.name.to_owned(), axes: self.axes.clone(), squares: Vec::new() }
    }
}

/// The ways to see these points. Two columns are shown as they are; more by the neighbour graph.
///
/// # Errors
/// When the input breaks the rules of its kind.
pub(crate) fn drawn(
    model: &SavedModel,
    input: Option<&Input<'_>>,
    names: Option<&[String]>,
    trusted: Option<View>,
) -> nearfar::Result<Drawn> {
    let n = model.about.n_samples;
    let layout = model.layout(input)?;
    let rows = layout.as_ref().map_or_else(|| some(n), |layout| layout.rows.clone());
    let samples = input.and_then(|input| match input {
        Input::Samples(samples, _) => Some(samples),
        _ => None,
    });
    let mut planes = Vec::new();
    let m = samples.map_or(0, Samples::n_features);
    let column =
        |j: usize| names.and_then(|names| names.get(j).cloned()).unwrap_or_else(|| format!("column {j}"));
    if let Some(samples) = samples.filter(|_| m <= 2) {
        let get = |i: &u32| [0, 1].map(|j| if j < m { samples.get(*i as usize, j) } else { 0.0 });
        let axes = [column(0), if m == 2 { column(1) } else { String::new() }];
        planes.push(Plane { name: "the data itself", axes, at: rows.iter().map(get).collect() });
    }
    planes.extend(layout.map(|layout| Plane::new("neighbour map", "map axis", layout.at)));
    if let Some(samples) = samples.filter(|_| m > 2) {
        let standard = Standard::new(&samples.spreads());
        for view in trusted.into_iter().filter(|view| *view != View::Raw).chain([View::Raw]) {
            let get = |i: usize, out: &mut [f64]| {
                samples.copy_row(rows[i] as usize, out);
                standard.show(view, out);
            };
            let name = match view {
                View::Raw => "principal axes of the data",
                View::Standard => "principal axes of the standardised data",
                View::Unit => "principal axes of the rows of unit length",
                View::StandardUnit => "principal axes of the standardised rows of unit length",
            };
            planes.push(Plane::new(name, "principal axis", principal(rows.len(), m, &get)));
        }
    }
    if planes.is_empty() {
        planes.extend(learnt(model, &rows));
    }
    Ok(Drawn { rows, planes })
}

/// What is left where neither samples nor pairs are known: columns of what was learnt.
fn learnt(model: &SavedModel, rows: &[u32]) -> Option<Plane> {
    let (n, r, v) = (model.about.n_samples, model.about.n_clusters, model.about.n_columns);
    let known = [
        (&model.embedding, r, "spectral embedding", "embedding axis"),
        (&model.factor, v, "the factor", "factor axis"),
        (&model.membership, r, "membership", "membership axis"),
    ];
    let (values, width, name, axis) =
        known.into_iter().find(|(values, width, ..)| *width > 1 && values.len() == n * width)?;
    let get = |i: usize, out: &mut [f64]| {
        out.copy_from_slice(&values[rows[i] as usize * width..(rows[i] as usize + 1) * width]);
    };
    Some(Plane::new(name, axis, principal(rows.len(), width, &get)))
}

/// All points, or some of them, evenly taken.
fn some(n: usize) -> Vec<u32> {
    let most = MOST_PLACED.min(n);
    (0..most).map(|at| (at * n / most) as u32).collect()
}

/// A name of at most so many letters, as many points have one.
pub(crate) fn short_name(name: &str) -> String {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}
