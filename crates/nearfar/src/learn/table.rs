//! The table of the methods: for each its name, one line, what it needs, and its settings as data.
//!
//! Whatever spells a method or one of its settings reads it here: the program's flags, the Python estimators,
//! `nearfar methods`, docs/methods.md, the keys of studies and the errors. A method's [`Entry`] stands in the `mod.rs`
//! of its folder; [`MethodKind::ALL`] lists them.
//!
//! ```
//! use nearfar::Params;
//! use nearfar::learn::MethodKind;
//!
//! let mut params = Params::of(3, MethodKind::Anls);
//! params.set("lambda", 2.0)?;
//! assert_eq!(params.get("lambda"), Some(2.0.into()));
//! let error = params.set("tau", 2.0).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "tau = 2 is not allowed: it must be left out, because anls does not use it (s3nmf does)"
//! );
//! # Ok::<(), nearfar::ParamError>(())
//! ```

use std::borrow::Cow;
use std::fmt;

use super::family::{MethodKind, MethodParams};
use crate::error::ParamError;
use crate::graph::GraphKind;
use crate::params::Params;
use crate::plan::Precision;
use crate::views::Views;

/// The place of a field in the settings of a method.
macro_rules! own {
    ($variant:ident, $($field:ident).+) => {
        $crate::learn::table::Place {
            get: |params| match &params.method {
                $crate::learn::MethodParams::$variant(own) => $crate::learn::table::Held::shown(&own.$($field).+),
                _ => None,
            },
            set: |params, value| {
                if let $crate::learn::MethodParams::$variant(own) = &mut params.method {
                    $crate::learn::table::Held::put(&mut own.$($field).+, value);
                }
                Ok(())
            },
        }
    };
}

/// The place of a field in the settings of a run.
macro_rules! of_run {
    ($($field:ident).+) => {
        $crate::learn::table::Place {
            get: |params| $crate::learn::table::Held::shown(&params.$($field).+),
            set: |params, value| {
                $crate::learn::table::Held::put(&mut params.$($field).+, value);
                Ok(())
            },
        }
    };
}

/// The words for the values of a type.
macro_rules! words {
    ($type:ty { $($word:literal => $value:expr),+ $(,)? }) => {
        impl $type {
            /// The words for its values.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl $crate::learn::table::Held for $type {
            fn shown(&self) -> Option<$crate::learn::table::Value> {
                let known = [$(($word, $value)),+];
                known.into_iter().find(|(_, value)| value == self).map(|(word, _)| word.into())
            }

            fn put(&mut self, value: &$crate::learn::table::Value) {
                if let $crate::learn::table::Value::Text(text) = value {
                    match text.as_ref() {
                        $($word => *self = $value,)+
                        _ => {}
                    }
                }
            }
        }
    };
}

pub(crate) use {of_run, own, words};

/// What a method works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nearest neighbours, in several scalings where there are samples.
    Lists,
    /// All ranks and affinities: n² memory, unless pairs are binned.
    Slices,
    /// A sparse graph of nearest neighbours.
    Graph,
    /// The samples.
    Samples,
    /// Graph and samples.
    Both,
}

impl Needs {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Lists => "neighbour lists of several views",
            Self::Slices => "all ranks and affinities",
            Self::Graph => "sparse graph",
            Self::Samples => "samples",
            Self::Both => "samples and sparse graph",
        }
    }
}

/// A method as data.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The word for it.
    pub name: &'static str,
    /// What it does, in one line.
    pub line: &'static str,
    /// Formula, parameters, cost, reference and when to use it, as Markdown.
    pub about: &'static str,
    /// What it works on.
    pub needs: Needs,
    /// Matrices of n × n numbers that a start holds.
    pub matrices: u64,
    /// The class in Python.
    pub class: &'static str,
    /// The settings that it uses, in groups: its own ones, then those that it shares.
    pub settings: &'static [&'static [Setting]],
}

impl Entry {
    /// The settings that it uses, its own ones first.
    pub fn settings(&self) -> impl Iterator<Item = &'static Setting> + use<> {
        self.settings.iter().copied().flatten()
    }

    /// The setting of this name.
    pub fn setting(&self, name: &str) -> Option<&'static Setting> {
        self.settings().find(|setting| setting.name == name)
    }

    /// What a setting is where nobody sets it; `None` where the run decides.
    pub fn default_of(&self, setting: &Setting) -> Option<Value> {
        match (&setting.default, MethodKind::named(self.name)) {
            (Fallback::Is(value), _) => Some(value.clone()),
            (Fallback::Held, Some(kind)) => setting.read(&Params::of(1, kind)),
            _ => None,
        }
    }

    /// Its page: what [`about`](Self::about) says, with its parameters, as Markdown.
    pub fn page(&self) -> String {
        let place =
            ["# Choosing parameters\n", "# Labels\n"].iter().find_map(|heading| self.about.find(heading));
        let (before, after) = self.about.split_at(place.unwrap_or(self.about.len()));
        let line = |setting: &Setting| {
            let (flag, help) = (setting.flag, setting.help);
            match (setting.kind, self.default_text(setting)) {
                (Kind::Switch, default) if default == "true" => {
                    format!("* `--{flag}` Do not {}\n", lower(help))
                }
                (Kind::Switch, _) => format!("* `--{flag}` {help}\n"),
                (kind, default) => format!("* `--{flag}` {help}; {kind}; default {default}\n"),
            }
        };
        let lines: String = self.settings().filter(|setting| !setting.flag.is_empty()).map(line).collect();
        format!("{before}# Parameters\n\n{lines}\n{after}")
    }

    /// The default in words.
    pub fn default_text(&self, setting: &Setting) -> String {
        match &setting.default {
            Fallback::Said(words) => (*words).to_owned(),
            _ => self.default_of(setting).map_or_else(String::new, |value| value.to_string()),
        }
    }
}

/// Methods that use a setting of this name, in the order of the table.
pub fn takers(name: &str) -> Vec<MethodKind> {
    MethodKind::ALL.into_iter().filter(|kind| kind.entry().setting(name).is_some()).collect()
}

/// One setting of a method.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its name in the library, in errors and in saved settings.
    pub name: &'static str,
    /// The program's flag without its dashes; empty where it has none.
    pub flag: &'static str,
    /// The keyword in Python; empty where it has none.
    pub keyword: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// What it is where nobody sets it.
    pub default: Fallback,
    /// What it does, in a sentence.
    pub help: &'static str,
    /// Where it is kept; `None` beside the custom method that it belongs to.
    pub(crate) place: Option<Place>,
}

/// Values that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number within these bounds, both allowed.
    Number(f64, f64),
    /// A number above the first and up to the second.
    Above(f64, f64),
    /// A number below this one.
    Below(f64),
    /// A number, 0 or more and below the setting of this name.
    Under(&'static str),
    /// A whole number from the first to the second.
    Whole(usize, usize),
    /// One of these words.
    Word(&'static [&'static str]),
    /// On or off.
    Switch,
    /// Scalings of the data, with commas between them, or `auto`.
    Views,
}

impl Kind {
    /// A strength: small enough that products of a few stay in range.
    pub const STRENGTH: Self = Self::Number(0.0, 1e9);
    /// A whole number, at least 1.
    pub const POSITIVE: Self = Self::Whole(1, usize::MAX);

    /// Whether the value is one of them.
    fn holds(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Number(least, most), Value::Number(x)) => (*least..=*most).contains(x),
            (Self::Above(least, most), Value::Number(x)) => x > least && x <= most,
            (Self::Below(most), Value::Number(x)) => x < most && x.is_finite(),
            (Self::Under(_), Value::Number(x)) => *x >= 0.0 && x.is_finite(),
            (Self::Whole(least, most), Value::Whole(x)) => (*least..=*most).contains(x),
            (Self::Word(words), Value::Text(text)) => words.contains(&text.as_ref()),
            (Self::Switch, Value::Switch(_)) => true,
            (Self::Views, Value::Text(text)) => text.parse::<Views>().is_ok(),
            _ => false,
        }
    }
}

impl fmt::Display for Kind {
    /// What is allowed, in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(least, most) => write!(f, "{} to {}", short(*least), short(*most)),
            Self::Above(least, most) => write!(f, "above {}, at most {}", short(*least), short(*most)),
            Self::Below(most) => write!(f, "below {}", short(*most)),
            Self::Under(other) => write!(f, "0 or more and below {other}"),
            Self::Whole(least, usize::MAX) => write!(f, "{least} or more"),
            Self::Whole(least, most) => write!(f, "{least} to {most}"),
            Self::Word(words) => write!(f, "one of {}", words.join(", ")),
            Self::Switch => f.write_str("true or false"),
            Self::Views => {
                f.write_str("auto, or some of raw, standard, unit and standard-unit with commas between")
            }
        }
    }
}

/// A number as people write it.
fn short(x: f64) -> String {
    if x != 0.0 && !(1e-3..1e5).contains(&x.abs()) { format!("{x:e}") } else { x.to_string() }
}

/// A sentence to stand behind other words.
pub fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// What a setting is where nobody sets it.
#[derive(Clone, Debug, PartialEq)]
pub enum Fallback {
    /// This value.
    Is(Value),
    /// What the method's settings hold.
    Held,
    /// What the run decides; how, in words.
    Said(&'static str),
}

/// A value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(usize),
    /// A word, or words with commas between them.
    Text(Cow<'static, str>),
    /// On or off.
    Switch(bool),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(x) => f.write_str(&short(*x)),
            Self::Whole(x) => x.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Switch(on) => on.fmt(f),
        }
    }
}

impl serde::Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(x) => serializer.serialize_f64(*x),
            Self::Whole(x) => serializer.serialize_u64(*x as u64),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Switch(on) => serializer.serialize_bool(*on),
        }
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}

impl From<usize> for Value {
    fn from(x: usize) -> Self {
        Self::Whole(x)
    }
}

impl From<bool> for Value {
    fn from(on: bool) -> Self {
        Self::Switch(on)
    }
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl Setting {
    /// A setting with this value where nobody sets it. Flag and keyword are the name; see
    /// [`named`](Self::named).
    #[must_use]
    pub const fn new(name: &'static str, kind: Kind, default: Value, help: &'static str) -> Self {
        Self { name, flag: name, keyword: name, kind, default: Fallback::Is(default), help, place: None }
    }

    /// A setting that is kept in the settings of a run.
    pub(crate) const fn at(name: &'static str, kind: Kind, help: &'static str, place: Place) -> Self {
        Self { name, flag: name, keyword: name, kind, default: Fallback::Held, help, place: Some(place) }
    }

    /// With this flag of the program and this keyword in Python.
    #[must_use]
    pub const fn named(self, flag: &'static str, keyword: &'static str) -> Self {
        // A const function cannot drop what `..self` leaves behind.
        let mut this = self;
        this.flag = flag;
        this.keyword = keyword;
        this
    }

    /// The run decides where nobody sets it: how, in words.
    pub(crate) const fn said(self, words: &'static str) -> Self {
        let Self { name, flag, keyword, kind, help, place, .. } = self;
        // A const function cannot drop.
        std::mem::forget(self);
        Self { name, flag, keyword, kind, default: Fallback::Said(words), help, place }
    }

    /// Judge a value.
    ///
    /// # Errors
    /// Names the setting, the value, and what is allowed.
    pub fn check(&self, value: &Value) -> Result<(), ParamError> {
        ParamError::unless(self.kind.holds(value), self.name, value, self.kind.to_string())
    }

    /// Its value in these settings; `None` where the run decides, or where these are of a method without it.
    pub fn read(&self, params: &Params) -> Option<Value> {
        match (&self.place, &params.method) {
            (Some(place), _) => (place.get)(params),
            (None, MethodParams::Custom(own)) => own.get(self.name),
            (None, _) => None,
        }
    }
}

/// The graph of the methods that factor or cut a fixed one.
pub const GRAPH: &[Setting] = &[
    Setting::at(
        "graph_kind",
        Kind::Word(GraphKind::WORDS),
        "Which graph of nearest neighbours: ncut (normalised, no self-loops) or lsdg (the starting graph of lsdg)",
        of_run!(graph.kind),
    )
    .named("graph-kind", "graph"),
    Setting::at(
        "graph_neighbors",
        Kind::POSITIVE,
        "Nearest others that count in the graph",
        of_run!(graph.neighbors),
    )
    .named("graph-neighbors", "n_neighbors")
    .said("by the number of points"),
];

/// Starts, of which the one with the smallest objective gives the labels.
pub const STARTS: &[Setting] =
    &[Setting::at("starts", Kind::Whole(1, 1000), "Independent starts", of_run!(starts))
        .named("starts", "n_init")];

/// The length of the loop.
pub const ITERATIONS: &[Setting] = &[Setting::at(
    "max_iter",
    Kind::POSITIVE,
    "Maximum number of iterations of a start",
    of_run!(stop.max_iter),
)
.named("max-iter", "max_iter")];

/// When the loop has settled.
pub const TOLERANCE: &[Setting] = &[Setting::at(
    "tol",
    Kind::Below(1.0),
    "Stop when the loss, or the variables, change by no more than this share (below 0: never)",
    Place {
        get: |params| Some(params.stop.loss_tolerance.into()),
        set: |params, value| {
            params.stop.loss_tolerance.put(value);
            // Negative: the method stops by its loss alone.
            if params.stop.change_tolerance >= 0.0 {
                params.stop.change_tolerance.put(value);
            }
            Ok(())
        },
    },
)];

/// k-means on the samples, on V or on an embedding.
pub const KMEANS: &[Setting] = &[Setting::at(
    "kmeans_restarts",
    Kind::POSITIVE,
    "Runs of k-means, the best of which counts",
    of_run!(kmeans_restarts),
)
.named("kmeans-restarts", "kmeans_restarts")];

/// Numbers that n × n matrices are held in.
pub(crate) const PRECISION: &[Setting] = &[Setting::at(
    "precision",
    Kind::Word(Precision::WORDS),
    "Storage of the pairs, or of n x n matrices; auto is double where it fits, and single for cgsymnmf",
    of_run!(precision),
)];

words!(Precision { "auto" => Self::Auto, "double" => Self::Double, "single" => Self::Single });
words!(GraphKind { "ncut" => Self::Ncut, "lsdg" => Self::Lsdg });

/// Where a setting is kept.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) get: fn(&Params) -> Option<Value>,
    /// The value was judged before.
    pub(crate) set: fn(&mut Params, &Value) -> Result<(), ParamError>,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Place")
    }
}

/// What a setting may be kept as.
pub(crate) trait Held {
    /// As a value; `None` where the run decides.
    fn shown(&self) -> Option<Value>;
    /// Take a value that was judged before.
    fn put(&mut self, value: &Value);
}

impl Held for f64 {
    fn shown(&self) -> Option<Value> {
        Some((*self).into())
    }

    fn put(&mut self, value: &Value) {
        if let Value::Number(x) = value {
            *self = *x;
        }
    }
}

impl Held for usize {
    fn shown(&self) -> Option<Value> {
        Some((*self).into())
    }

    fn put(&mut self, value: &Value) {
        if let Value::Whole(x) = value {
            *self = *x;
        }
    }
}

impl Held for Option<usize> {
    fn shown(&self) -> Option<Value> {
        self.map(Value::from)
    }

    fn put(&mut self, value: &Value) {
        if let Value::Whole(x) = value {
            *self = Some(*x);
        }
    }
}

impl Held for bool {
    fn shown(&self) -> Option<Value> {
        Some((*self).into())
    }

    fn put(&mut self, value: &Value) {
        if let Value::Switch(on) = value {
            *self = *on;
        }
    }
}

impl Held for Views {
    fn shown(&self) -> Option<Value> {
        Some(self.to_string().into())
    }

    fn put(&mut self, value: &Value) {
        if let Value::Text(text) = value
            && let Ok(views) = text.parse()
        {
            *self = views;
        }
    }
}

impl Params {
    /// Set one of the method's settings by its name in the table.
    ///
    /// # Errors
    /// When the method does not use the setting, or the value is out of its range.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) -> Result<(), ParamError> {
        let (entry, value) = (self.method.entry(), value.into());
        let Some(setting) = entry.setting(name) else {
            return Err(match takers(name).first().and_then(|kind| kind.entry().setting(name)) {
                Some(other) => not_used(entry, other.name, &value),
                None => ParamError::new("setting", name, format!("one of {}", names(entry).join(", "))),
            });
        };
        setting.check(&value)?;
        match (&setting.place, &mut self.method) {
            (Some(place), _) => (place.set)(self, &value)?,
            (None, MethodParams::Custom(own)) => own.set(setting.name, value),
            (None, _) => {}
        }
        Ok(())
    }

    /// The same where the method uses the setting, and nothing where it does not: for several methods in a row.
    ///
    /// # Errors
    /// When the value is out of its range.
    pub fn set_if_used(&mut self, name: &str, value: impl Into<Value>) -> Result<(), ParamError> {
        if self.method.entry().setting(name).is_some() { self.set(name, value) } else { Ok(()) }
    }

    /// One of the method's settings by its name in the table; `None` where the run decides, or where the method does
    /// not use it.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.method.entry().setting(name).and_then(|setting| setting.read(self))
    }

    /// Every setting that the method uses is in its range, and every other as it was.
    pub(crate) fn check_settings(&self) -> Result<(), ParamError> {
        let entry = self.method.entry();
        for setting in entry.settings() {
            setting.read(self).map_or(Ok(()), |value| setting.check(&value))?;
        }
        let fresh = Self::of(self.n_clusters, self.method.clone());
        let others = MethodKind::ALL.iter().flat_map(|kind| kind.entry().settings());
        for setting in others.filter(|setting| entry.setting(setting.name).is_none()) {
            let (found, left) = (setting.read(self), setting.read(&fresh));
            if let Some(value) = found.filter(|value| left.as_ref() != Some(value)) {
                return Err(not_used(entry, setting.name, &value));
            }
        }
        Ok(())
    }
}

fn names(entry: &Entry) -> Vec<&'static str> {
    entry.settings().map(|setting| setting.name).collect()
}

/// A setting that the method would ignore.
fn not_used(entry: &Entry, name: &'static str, value: &Value) -> ParamError {
    let takers = takers(name);
    let does = if takers.len() == 1 { "does" } else { "do" };
    let allowed = format!("left out, because {} does not use it ({} {does})", entry.name, listed(&takers));
    ParamError::new(name, value, allowed)
}

/// Names of methods, as a sentence lists them.
pub fn listed(kinds: &[MethodKind]) -> String {
    match kinds {
        [] => String::new(),
        [only] => only.name().to_owned(),
        [others @ .., last] => {
            let others: Vec<&str> = others.iter().map(|kind| kind.name()).collect();
            format!("{} and {last}", others.join(", "))
        }
    }
}
