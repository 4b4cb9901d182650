//! A method of one's own in one file: its line in the table, and what it does.
//!
//! Run it with `cargo run --release --example toy_method`. docs/adding-a-method.md walks through it.

use std::sync::Arc;

use nearfar::learn::custom::{CustomMethod, Found, Rows, Start};
use nearfar::learn::table::{Entry, Kind, STARTS, Setting, Value};
use nearfar::learn::{Factor, Learned, Method, Needs, TraceRow, run};
use nearfar::observe::Observer;
use nearfar::{Params, Samples};

/// Its line in the table.
static ENTRY: Entry = Entry {
    name: "farthest",
    line: "The farthest points become centres, which then move towards the mean of their points.",
    about: "Farthest-first traversal (Gonzalez 1985), and some rounds of Lloyd's iteration.",
    needs: Needs::Samples,
    matrices: 0,
    class: "",
    settings: &[OWN, STARTS],
};

/// Settings of its own: name, range, default, help.
const OWN: &[Setting] = &[
    Setting::new("rounds", Kind::Whole(1, 100), Value::Whole(10), "How often the centres move"),
    Setting::new("pull", Kind::Number(0.0, 1.0), Value::Number(1.0), "Which part of the way they move"),
];

/// The method.
struct Farthest;

impl CustomMethod for Farthest {
    fn entry(&self) -> &'static Entry {
        &ENTRY
    }

    fn learn(&self, mut start: Start<'_>) -> nearfar::Result<Found> {
        let Some(rows) = start.samples else {
            return Err(nearfar::ParamError::new("needs", "a graph", "samples").into());
        };
        let first = start.stream.below(rows.n_samples);
        let pull = start.number("pull").unwrap_or(1.0);
        let mut method = Moving::new(rows, start.n_clusters, first, pull);
        let mut stop = *start.stop;
        if let Some(Value::Whole(rounds)) = start.setting("rounds") {
            stop.max_iter = rounds;
        }
        // The one loop of the library: it records, stops, and asks the observer.
        let learned: Learned = run(&mut method, &stop, start.member, start.observer);
        let labels = Some(method.labels.clone());
        Ok(Found { objective: method.inertia, factor: method.factor, learned, labels })
    }
}

/// Centres, and the points that are nearest to each.
struct Moving<'a> {
    rows: Rows<'a>,
    centres: Vec<Vec<f64>>,
    pull: f64,
    labels: Vec<usize>,
    inertia: f64,
    factor: Factor,
}

impl<'a> Moving<'a> {
    fn new(rows: Rows<'a>, n_clusters: usize, first: usize, pull: f64) -> Self {
        let point = |i: usize| &rows.values[i * rows.n_features..(i + 1) * rows.n_features];
        let mut centres = vec![point(first).to_vec()];
        while centres.len() < n_clusters {
            let gap = |i: usize| centres.iter().map(|c| squared(point(i), c)).fold(f64::INFINITY, f64::min);
            let next = (0..rows.n_samples).fold(0, |far, i| if gap(i) > gap(far) { i } else { far });
            centres.push(point(next).to_vec());
        }
        let factor = Factor::default();
        let mut this = Self { rows, centres, pull, labels: Vec::new(), inertia: 0.0, factor };
        this.assign();
        this
    }

    fn point(&self, i: usize) -> &'a [f64] {
        &self.rows.values[i * self.rows.n_features..(i + 1) * self.rows.n_features]
    }

    /// Every point belongs to the nearest centre; V is 1 there and 0 elsewhere.
    fn assign(&mut self) {
        let (n, r) = (self.rows.n_samples, self.centres.len());
        let nearest = |i: usize| {
            let gaps = self.centres.iter().map(|centre| squared(self.point(i), centre));
            gaps.enumerate().fold((0, f64::INFINITY), |best, now| if now.1 < best.1 { now } else { best })
        };
        let found: Vec<(usize, f64)> = (0..n).map(nearest).collect();
        let mut values = vec![0.0; n * r];
        found.iter().enumerate().for_each(|(i, (label, _))| values[label * n + i] = 1.0);
        self.inertia = found.iter().map(|(_, gap)| gap).sum();
        self.labels = found.into_iter().map(|(label, _)| label).collect();
        self.factor = Factor::new(values, n, r);
    }
}

impl Method for Moving<'_> {
    fn start(&mut self) -> Option<TraceRow> {
        Some(TraceRow::of_fit(0, self.inertia))
    }

    fn step(&mut self, iteration: usize, _: &dyn Observer) -> Option<TraceRow> {
        for label in 0..self.centres.len() {
            let members: Vec<usize> = (0..self.labels.len()).filter(|i| self.labels[*i] == label).collect();
            for (j, x) in self.centres[label].clone().into_iter().enumerate() {
                let sum: f64 = members.iter().map(|i| self.point(*i)[j]).sum();
                let mean = if members.is_empty() { x } else { sum / members.len() as f64 };
                self.centres[label][j] = x + self.pull * (mean - x);
            }
        }
        self.assign();
        Some(TraceRow::of_fit(iteration, self.inertia))
    }

    fn factor(&self) -> &Factor {
        &self.factor
    }
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Three blobs, and what the method makes of them.
pub(crate) fn found() -> nearfar::Result<(nearfar::Model, Vec<usize>)> {
    let data = nearfar::generate::blobs(150, 2, 3, 0.4, 1)?;
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
    let mut params = Params::custom(3, Arc::new(Farthest)).seed(7);
    params.set("pull", 0.8)?;
    params.set("starts", 4_usize)?;
    Ok((nearfar::fit(samples, &params)?, data.truth))
}

/// Settings of the method that cannot be.
pub(crate) fn wrong() -> [nearfar::ParamError; 2] {
    let mut params = Params::custom(3, Arc::new(Farthest));
    let refused = |outcome: Result<(), nearfar::ParamError>| outcome.expect_err("it is out of range");
    [refused(params.set("pull", 2.0)), refused(params.set("lambda", 1.0))]
}

fn main() -> nearfar::Result<()> {
    let (model, truth) = found()?;
    println!("{}: clusters of {:?} points", model.params.method.kind(), model.sizes());
    println!("accuracy {}", nearfar::labels::score::score(&model.labels, &truth)?.accuracy);
    for error in wrong() {
        println!("{error}");
    }
    Ok(())
}
