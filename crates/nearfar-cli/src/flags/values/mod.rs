//! The values of flags.

mod amounts;
#[cfg(test)]
mod tests;

use std::str::FromStr;

use clap::ValueEnum;
use nearfar::Metric;
use nearfar::learn::MethodKind;
use serde::{Deserialize, Serialize};

pub(crate) use amounts::{Pause, Portion, Size};
pub(super) use amounts::{count, level, rate, seconds};

/// Words for a flag, each with the library's value.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident => $library:ty { $($(#[$about:meta])* $word:ident => $value:expr),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
        #[serde(rename_all = "lowercase")]
        #[value(rename_all = "lowercase")]
        pub(crate) enum $name { $($(#[$about])* $word),* }

        impl $name {
            /// The library's value for this word.
            pub(crate) fn value(self) -> $library {
                match self { $(Self::$word => $value),* }
            }

            /// The word for a value of the library.
            pub(crate) fn of(value: $library) -> Option<Self> {
                Self::value_variants().iter().copied().find(|word| word.value() == value)
            }
        }
    };
}

/// A method.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct MethodName(pub(crate) MethodKind);

impl FromStr for MethodName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        MethodKind::named(text)
            .map(Self)
            .ok_or_else(|| format!("there is no method {text:?}; `nearfar methods` lists them"))
    }
}

impl TryFrom<String> for MethodName {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<MethodName> for String {
    fn from(name: MethodName) -> Self {
        name.0.name().to_owned()
    }
}

words!(
    /// Metrics.
    MetricName => Metric { Euclidean => Metric::Euclidean, Cosine => Metric::Cosine }
);
/// The kind of input.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum InputKind {
    /// Points, one per row
    #[default]
    Samples,
    /// A square matrix of distances
    Distances,
    /// A square matrix of affinities
    Affinities,
}

/// How the data is rescaled first.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scale {
    #[default]
    None,
    Standard,
    Minmax,
    Unit,
}

/// A learnt graph.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ExportedGraph {
    #[default]
    S,
    D,
    Z,
}

impl ExportedGraph {
    /// The name of its column.
    pub(crate) fn letter(self) -> &'static str {
        match self {
            Self::S => "s",
            Self::D => "d",
            Self::Z => "z",
        }
    }
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ProgressKind {
    #[default]
    Auto,
    Json,
    None,
}

/// A number of clusters, or auto to find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clusters {
    Auto,
    Number(usize),
}

/// The values that are allowed there.
const HOW_MANY: &str = "clusters must be a number or auto";

impl FromStr for Clusters {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            word if word.eq_ignore_ascii_case("auto") => Ok(Self::Auto),
            word => word.parse().map(Self::Number).map_err(|_| HOW_MANY.to_owned()),
        }
    }
}

impl Serialize for Clusters {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Number(number) => serializer.serialize_u64(*number as u64),
        }
    }
}

impl<'de> Deserialize<'de> for Clusters {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        OneWord::deserialize(deserializer)?.text(HOW_MANY)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A value of a settings file that may be written as a number or as a word.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneWord {
    Whole(i64),
    Number(f64),
    Word(String),
    Other(serde::de::IgnoredAny),
}

impl OneWord {
    /// The value as it is written on the command line.
    fn text<E: serde::de::Error>(self, allowed: &str) -> Result<String, E> {
        match self {
            Self::Whole(number) => Ok(number.to_string()),
            Self::Number(number) => Ok(number.to_string()),
            Self::Word(word) => Ok(word),
            Self::Other(_) => Err(E::custom(allowed)),
        }
    }
}

/// Height and width of images, with their original text.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct ImageShape {
    pub(crate) picture: nearfar_report::Picture,
    text: String,
}

impl FromStr for ImageShape {
    type Err = String;

    /// Height, x, width; a `t` after them means that pixels run down the columns.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is not a height and width; write it as 28x28, or 32x32t if pixels run down the columns"
            )
        };
        let (sizes, by_columns) = text.strip_suffix('t').map_or((text, false), |sizes| (sizes, true));
        let (height, width) = sizes.split_once(['x', 'X', '×']).ok_or_else(wrong)?;
        let size = |word: &str| {
            word.parse::<usize>().ok().filter(|size| (1..=4096).contains(size)).ok_or_else(wrong)
        };
        let picture = nearfar_report::Picture { height: size(height)?, width: size(width)?, by_columns };
        Ok(Self { picture, text: text.to_owned() })
    }
}

impl TryFrom<String> for ImageShape {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ImageShape> for String {
    fn from(shape: ImageShape) -> Self {
        shape.text
    }
}

/// The separator of cells.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Delimiter(pub(crate) u8);

impl FromStr for Delimiter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.as_bytes()) {
            ("tab" | "\\t", _) => Ok(Self(b'\t')),
            ("space", _) => Ok(Self(b' ')),
            (_, [only])
                if only.is_ascii() && !only.is_ascii_alphanumeric() && !b"\"\r\n.-+".contains(only) =>
            {
                Ok(Self(*only))
            }
            _ => Err(format!(
                "{text:?} cannot separate cells; use one character such as , ; | or \"tab\" or \"space\""
            )),
        }
    }
}

impl TryFrom<String> for Delimiter {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Delimiter> for String {
    fn from(delimiter: Delimiter) -> Self {
        match delimiter.0 {
            b'\t' => "tab".to_owned(),
            b' ' => "space".to_owned(),
            other => char::from(other).to_string(),
        }
    }
}
