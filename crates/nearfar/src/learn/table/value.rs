//! Values of settings, and which of them are allowed.

use std::borrow::Cow;
use std::fmt;

use crate::views::Views;

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
    pub(super) fn holds(&self, value: &Value) -> bool {
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
            Self::Views => f.write_str(&Views::allowed()),
        }
    }
}

/// A number as people write it.
fn short(x: f64) -> String {
    if x != 0.0 && !(1e-3..1e5).contains(&x.abs()) { format!("{x:e}") } else { x.to_string() }
}

/// A sentence to stand behind other words.
#[doc(hidden)]
pub fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
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
