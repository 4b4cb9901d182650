//! A method of your own: an entry of the table, and a function that makes labels of one start.
//!
//! `examples/toy_method.rs` has one in a file, and docs/adding-a-method.md walks through it.

use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeMap;

use super::family::{Fitted, Labeling, MethodParams, Task};
use super::table::{Entry, Needs, Value};
use super::{Learned, StopRule};
use crate::error::{ParamError, Result};
use crate::graph::SparseGraph;
use crate::math::factor::Factor;
pub use crate::math::rng::Stream;
use crate::observe::Observer;
use crate::params::Params;

/// A method of your own.
pub trait CustomMethod: Send + Sync {
    /// Its name, its line, what it needs, and its settings: a graph, samples, or both; and settings made by
    /// [`Setting::new`](super::table::Setting::new), beside the groups of [`table`](super::table) that it uses.
    fn entry(&self) -> &'static Entry;

    /// One start. Long work asks the observer now and then whether it is to go on; [`run`](super::run) does that for
    /// a [`Method`](super::Method).
    ///
    /// # Errors
    /// Whatever keeps it from an answer.
    fn learn(&self, start: Start<'_>) -> Result<Found>;
}

/// What one start begins with.
#[non_exhaustive]
pub struct Start<'a> {
    /// The graph, where the entry says that it is needed.
    pub graph: Option<&'a SparseGraph>,
    /// The samples, where the entry says that they are needed.
    pub samples: Option<Rows<'a>>,
    /// How many clusters are asked for.
    pub n_clusters: usize,
    /// A random V, n × r: the same for every method with this seed and start.
    pub factor: Factor,
    /// More random numbers.
    pub stream: Stream,
    /// When a loop is to end.
    pub stop: &'a StopRule,
    /// Which start it is, from 0.
    pub member: usize,
    /// Who watches, and may ask to stop.
    pub observer: &'a dyn Observer,
    settings: &'a CustomParams,
}

impl fmt::Debug for Start<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Start")
            .field("n_clusters", &self.n_clusters)
            .field("member", &self.member)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Start<'_> {
    /// A setting of the method that is a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.settings.get(name) {
            Some(Value::Number(x)) => Some(x),
            Some(Value::Whole(x)) => Some(x as f64),
            _ => None,
        }
    }

    /// A setting of the method.
    pub fn setting(&self, name: &str) -> Option<Value> {
        self.settings.get(name)
    }
}

/// Samples, row by row.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// n × m numbers.
    pub values: &'a [f64],
    /// n.
    pub n_samples: usize,
    /// m.
    pub n_features: usize,
}

/// What one start ends with.
#[derive(Clone, Debug)]
pub struct Found {
    /// V, n × r. Rows of it are memberships.
    pub factor: Factor,
    /// The method's own objective; of several starts the one with the smallest gives the labels.
    pub objective: f64,
    /// How the loop went.
    pub learned: Learned,
    /// Labels below r, one for each point; `None`: the largest entry of every row of V.
    pub labels: Option<Vec<usize>>,
}

/// A method of your own, with its settings.
#[derive(Clone)]
pub struct CustomParams {
    method: Arc<dyn CustomMethod>,
    /// Those that were set.
    values: Vec<(&'static str, Value)>,
}

impl CustomParams {
    /// With the defaults of its entry.
    pub fn new(method: Arc<dyn CustomMethod>) -> Self {
        Self { method, values: Vec::new() }
    }

    pub(crate) fn entry(&self) -> &'static Entry {
        self.method.entry()
    }

    /// What was set, else the default.
    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        let given = self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        given.or_else(|| {
            let entry = self.entry();
            entry.setting(name).and_then(|setting| entry.default_of(setting))
        })
    }

    /// The value was judged before.
    pub(crate) fn set(&mut self, name: &'static str, value: Value) {
        self.values.retain(|(known, _)| *known != name);
        self.values.push((name, value));
    }

    /// The settings that are kept here.
    fn own(&self) -> impl Iterator<Item = (&'static str, Option<Value>)> + '_ {
        let own = self.entry().settings().filter(|setting| setting.place.is_none());
        own.map(|setting| (setting.name, self.get(setting.name)))
    }

    pub(crate) fn check(&self) -> Result<(), ParamError> {
        let needs = self.entry().needs;
        let known = !matches!(needs, Needs::Lists | Needs::Slices);
        ParamError::unless(known, "needs", needs.words(), "a graph, samples or both for a method of your own")
    }

    pub(crate) fn learn(&self, task: Task<'_>) -> Result<Fitted> {
        let samples =
            task.rows.map(|rows| Rows { values: &rows.values, n_samples: rows.n, n_features: rows.m });
        let (n, r) = (task.start.n_samples(), task.n_clusters);
        let start = Start {
            graph: task.graph,
            samples,
            n_clusters: r,
            factor: task.start,
            stream: task.stream,
            stop: task.stop,
            member: task.member,
            observer: task.observer,
            settings: self,
        };
        let Found { factor, objective, learned, labels } = self.method.learn(start)?;
        let shape = (factor.n_samples(), factor.n_columns());
        let found = format!("{} x {}", shape.0, shape.1);
        ParamError::unless(shape == (n, r), "factor", found, format!("{n} x {r}, samples by clusters"))?;
        let finite = objective.is_finite() && factor.values().iter().all(|v| v.is_finite());
        ParamError::unless(finite, "factor", "not finite", "finite, and its objective, too")?;
        if let Some(labels) = &labels {
            let fits = labels.len() == n && labels.iter().all(|label| *label < r);
            let found = format!("{} labels, the largest {:?}", labels.len(), labels.iter().max());
            ParamError::unless(fits, "labels", found, format!("{n} numbers below {r}"))?;
        }
        let labeling = labels.map_or(Labeling::Largest, Labeling::Given);
        Ok(Fitted { learned, factor, objective, labeling })
    }
}

impl fmt::Debug for CustomParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomParams")
            .field("method", &self.entry().name)
            .field("values", &self.values)
            .finish()
    }
}

impl PartialEq for CustomParams {
    fn eq(&self, other: &Self) -> bool {
        self.entry().name == other.entry().name && self.own().eq(other.own())
    }
}

impl serde::Serialize for CustomParams {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("method", self.entry().name)?;
        for (name, value) in self.own() {
            map.serialize_entry(name, &value)?;
        }
        map.end()
    }
}

impl From<CustomParams> for MethodParams {
    fn from(params: CustomParams) -> Self {
        Self::Custom(params)
    }
}

impl Params {
    /// One start of a method of your own, with the defaults of its entry.
    ///
    /// # Examples
    /// See `examples/toy_method.rs`.
    #[must_use]
    pub fn custom(n_clusters: usize, method: Arc<dyn CustomMethod>) -> Self {
        Self::of(n_clusters, CustomParams::new(method))
    }
}
