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

mod groups;
mod held;
mod set;
mod value;

use super::family::{MethodKind, MethodParams};
use crate::error::ParamError;
use crate::params::Params;

pub(crate) use groups::PRECISION;
pub use groups::{GRAPH, ITERATIONS, KMEANS, STARTS, TOLERANCE};
pub(crate) use held::{Held, Place};
pub use set::{listed, takers};
pub use value::{Kind, Value, lower};

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
