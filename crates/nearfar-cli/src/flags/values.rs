//! The values of flags.

use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use nearfar::Metric;
use nearfar::learn::MethodKind;
use serde::{Deserialize, Serialize};

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

/// A share of the points, above 0 and below 1, with its original text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "String")]
pub(crate) struct Portion {
    pub(crate) share: f64,
    text: String,
}

impl FromStr for Portion {
    type Err = String;

    /// A number below 1, or one below 100 followed by %.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text:?} is not a share of the points; write it as 5% or 0.05, above 0 and below 1");
        let trimmed = text.trim();
        let (number, unit) = trimmed.strip_suffix('%').map_or((trimmed, 1.0), |number| (number, 100.0));
        let share = number.trim().parse::<f64>().map_err(|_| wrong())? / unit;
        if !(share > 0.0 && share < 1.0) {
            return Err(wrong());
        }
        Ok(Self { share, text: trimmed.to_owned() })
    }
}

impl<'de> Deserialize<'de> for Portion {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = OneWord::deserialize(deserializer)?.text("a share is written as \"5%\" or 0.05")?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl From<Portion> for String {
    fn from(portion: Portion) -> Self {
        portion.text
    }
}

/// An amount of memory, with its original text.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Size {
    pub(crate) bytes: u64,
    text: String,
}

impl FromStr for Size {
    type Err = String;

    /// A number and a unit: B, K, M, G, T (powers of 1024), with or without `B` or `iB`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not an amount of memory; write it as 500M or 4G");
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(split);
        let lower = unit.to_ascii_lowercase();
        let letter = lower.strip_suffix("ib").or_else(|| lower.strip_suffix('b')).unwrap_or(&lower);
        let power = ["", "k", "m", "g", "t"].iter().position(|known| *known == letter).ok_or_else(wrong)?;
        let number: f64 = number.trim().parse().map_err(|_| wrong())?;
        let bytes = number * (1_u64 << (10 * power)) as f64;
        if !(1.0..1e18).contains(&bytes) {
            return Err(wrong());
        }
        Ok(Self { bytes: bytes as u64, text: trimmed.to_owned() })
    }
}

impl TryFrom<String> for Size {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Size> for String {
    fn from(size: Size) -> Self {
        size.text
    }
}

/// A length of time, with its original text.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Pause {
    pub(crate) time: Duration,
    text: String,
}

impl FromStr for Pause {
    type Err = String;

    /// A number and a unit: s (or none), m or h; at most a year.
    fn from_str(text: &str) -> Result<Self, String> {
        const YEAR: f64 = 365.0 * 86_400.0;
        let wrong = || format!("{text:?} is not a length of time; write it as 30s, 5m or 1h");
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(split);
        let seconds = match unit.to_ascii_lowercase().as_str() {
            "" | "s" | "sec" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(wrong()),
        };
        let number: f64 = number.trim().parse().map_err(|_| wrong())?;
        let seconds = number * seconds;
        if !(0.0..=YEAR).contains(&seconds) {
            return Err(wrong());
        }
        Ok(Self { time: Duration::from_secs_f64(seconds), text: trimmed.to_owned() })
    }
}

impl TryFrom<String> for Pause {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Pause> for String {
    fn from(pause: Pause) -> Self {
        pause.text
    }
}

/// Parses a number of clusters.
pub(super) fn level(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is not a number of clusters; write it as 12"))
}

/// Parses a whole number, which may be written as 1e8.
pub(super) fn count(text: &str) -> Result<usize, String> {
    let wrong = || format!("{text:?} is not a number of points; write it as 100000 or 1e5");
    text.parse::<usize>().or_else(|_| {
        let number: f64 = text.parse().map_err(|_| wrong())?;
        if number.fract() == 0.0 && (0.0..1e15).contains(&number) {
            Ok(number as usize)
        } else {
            Err(wrong())
        }
    })
}

/// Parses a number with one of these units and multiplies it by the unit's factor.
fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_alphabetic() && c != 'e' && c != 'E').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()))?.1;
    let value = number.trim().parse::<f64>().ok()? * factor;
    (value > 0.0 && value.is_finite()).then_some(value)
}

/// Parses a time into seconds.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let units = [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9)];
    with_unit(text, &units).ok_or_else(|| format!("{text:?} is not a time; write it as 2us, 0.1ms or 1s"))
}

/// Parses a rate into bytes per second.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    let units = [
        ("B/s", 1.0),
        ("kB/s", 1e3),
        ("MB/s", 1e6),
        ("GB/s", 1e9),
        ("TB/s", 1e12),
        ("Mbit/s", 1e6 / 8.0),
        ("Gbit/s", 1e9 / 8.0),
    ];
    with_unit(text, &units).ok_or_else(|| format!("{text:?} is not a rate; write it as 10GB/s or 100Gbit/s"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let bytes = |text: &str| text.parse::<Size>().map(|size| size.bytes);
        assert_eq!(bytes("4G"), Ok(4 << 30));
        assert_eq!(bytes("1.5 MiB"), Ok(3 << 19));
        assert_eq!(bytes("100"), Ok(100));
        for wrong in ["", "G", "-1G", "0", "nan", "inf", "1e99", "4X", "4 GG", "1e400"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_of_clusters() {
        assert_eq!(("auto".parse(), " Auto".parse()), (Ok(Clusters::Auto), Ok(Clusters::Auto)));
        assert_eq!(("12".parse(), "0".parse()), (Ok(Clusters::Number(12)), Ok(Clusters::Number(0))));
        for wrong in ["", "x", "-1", "2.5", "automatic", "nan"] {
            assert_eq!(wrong.parse::<Clusters>(), Err(HOW_MANY.to_owned()), "{wrong}");
        }
    }

    #[test]
    fn portions() {
        let share = |text: &str| text.parse::<Portion>().map(|portion| portion.share);
        assert_eq!((share("0.25"), share("5 %"), share(" 12.5%")), (Ok(0.25), Ok(0.05), Ok(0.125)));
        for wrong in ["", "%", "0", "1", "5", "100%", "-1%", "nan", "inf%", "x"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pauses() {
        let seconds = |text: &str| text.parse::<Pause>().map(|pause| pause.time.as_secs_f64());
        assert_eq!(seconds("30s"), Ok(30.0));
        assert_eq!(seconds("1.5 m"), Ok(90.0));
        assert_eq!(seconds("2h"), Ok(7200.0));
        assert_eq!(seconds("0"), Ok(0.0));
        for wrong in ["", "s", "-1s", "nan", "inf", "1e99", "4d", "3 weeks", "1e400h"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts_times_and_rates() {
        assert_eq!((count("1e8"), count("250")), (Ok(100_000_000), Ok(250)));
        assert_eq!((seconds("2us"), seconds("0.5 ms")), (Ok(2e-6), Ok(0.5e-3)));
        assert_eq!((rate("10GB/s"), rate("8 Gbit/s")), (Ok(1e10), Ok(1e9)));
        for wrong in ["", "1.5", "-1", "1e99", "x"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "2", "us", "-1us", "0s", "1e400s", "2 fortnights"] {
            assert!(seconds(wrong).is_err() && rate(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn delimiters() {
        assert_eq!("tab".parse(), Ok(Delimiter(b'\t')));
        assert_eq!(";".parse(), Ok(Delimiter(b';')));
        for wrong in ["", "ab", "é", "1", "\n", "\""] {
            assert!(wrong.parse::<Delimiter>().is_err(), "{wrong}");
        }
    }
}
