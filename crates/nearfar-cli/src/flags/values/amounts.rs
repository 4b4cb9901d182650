//! Amounts: shares, sizes, times, counts and rates, with their units.

use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::OneWord;

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
pub(in crate::flags) fn level(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is not a number of clusters; write it as 12"))
}

/// Parses a whole number, which may be written as 1e8.
pub(in crate::flags) fn count(text: &str) -> Result<usize, String> {
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
pub(in crate::flags) fn seconds(text: &str) -> Result<f64, String> {
    let units = [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9)];
    with_unit(text, &units).ok_or_else(|| format!("{text:?} is not a time; write it as 2us, 0.1ms or 1s"))
}

/// Parses a rate into bytes per second.
pub(in crate::flags) fn rate(text: &str) -> Result<f64, String> {
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
