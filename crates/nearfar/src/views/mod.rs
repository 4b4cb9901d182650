//! views: the same rows in several scalings, for nobody knows beforehand which one shows the groups.
//!
//! Rows of unit length are looked at only where at least [`UNIT_FROM`] columns have a spread: two columns of unit
//! length are a circle, and the ring graph of a circle falls into parts with or without groups.

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;

mod count;
pub(crate) mod data;
pub(crate) mod judge;

pub use count::Counted;
pub(crate) use judge::Curve;

use crate::error::ParamError;
use crate::input::{Samples, Spread, Values};
use crate::math::kernel::normalize;

/// More points than this are many: of these a sample stands for all in judging views and fitting mixtures.
pub(crate) const MANY: usize = 12_000;
/// Views of more points are judged on a sample, of so many.
pub(crate) const JUDGED_WHOLE: usize = 3_000;
pub(crate) const JUDGED: usize = 2_000;
/// How quickly trust in a view falls with its mark.
pub(crate) const TAU: f64 = 0.05;
/// Views with less weight are not learnt: of few points, and of many, where a search takes long.
pub(crate) const LEAST_WEIGHT: [f64; 2] = [0.01, 0.2];
/// Views that are learnt, at most: of few points, and of many.
pub(crate) const MOST_VIEWS: [usize; 2] = [4, 2];
/// Stream of samples.
pub(crate) const SAMPLE_STREAM: u64 = 7 << 32;

/// Columns with spread from which on rows are looked at with unit length, too.
pub const UNIT_FROM: usize = 8;
/// Two views whose values differ by less, as a share of them, are one.
const SAME: f64 = 1e-9;

/// A scaling of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// As they are given.
    Raw,
    /// Every column less its mean, divided by its deviation.
    Standard,
    /// Every row divided by its length.
    Unit,
    /// Columns first, then rows.
    StandardUnit,
}

impl View {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Raw, Self::Standard, Self::Unit, Self::StandardUnit];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Standard => "standard",
            Self::Unit => "unit",
            Self::StandardUnit => "standard-unit",
        }
    }

    /// Whether columns are standardised.
    pub fn by_columns(self) -> bool {
        matches!(self, Self::Standard | Self::StandardUnit)
    }

    fn by_rows(self) -> bool {
        matches!(self, Self::Unit | Self::StandardUnit)
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which views are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Views {
    /// Those that were asked for, in the order of [`View::ALL`]; none: the run chooses.
    asked: [bool; 4],
}

impl Views {
    /// The run chooses.
    pub const AUTO: Self = Self { asked: [false; 4] };

    /// These and no others.
    #[must_use]
    pub fn of(views: &[View]) -> Self {
        Self { asked: View::ALL.map(|view| views.contains(&view)) }
    }

    /// What may be asked for, in words.
    pub(crate) fn allowed() -> String {
        let names = View::ALL.map(View::name);
        let [others @ .., last] = &names;
        format!("auto, or some of {} and {last} with commas between", others.join(", "))
    }

    /// Whether the run chooses.
    pub fn is_auto(self) -> bool {
        self == Self::AUTO
    }

    /// Those that were asked for; all where the run chooses.
    pub fn asked(self) -> impl Iterator<Item = View> {
        View::ALL
            .into_iter()
            .zip(self.asked)
            .filter(move |(_, asked)| *asked || self.is_auto())
            .map(|(view, _)| view)
    }
}

impl FromStr for Views {
    type Err = ParamError;

    fn from_str(text: &str) -> Result<Self, ParamError> {
        if text == "auto" {
            return Ok(Self::AUTO);
        }
        let allowed = Self::allowed();
        let mut views = Vec::new();
        for word in text.split(',').map(str::trim) {
            let view = View::ALL.into_iter().find(|view| view.name() == word);
            views.push(view.ok_or_else(|| ParamError::new("views", text, &*allowed))?);
        }
        Ok(Self::of(&views))
    }
}

impl fmt::Display for Views {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_auto() {
            return f.write_str("auto");
        }
        f.write_str(&self.asked().map(View::name).collect::<Vec<_>>().join(","))
    }
}

/// How the columns of some samples are standardised, for these rows and for new ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standard {
    /// Mean of every column.
    pub mean: Vec<f64>,
    /// Deviation of every column, 1 where it has none.
    pub deviation: Vec<f64>,
}

impl Standard {
    /// Of these columns.
    #[must_use]
    pub fn new(spreads: &[Spread]) -> Self {
        let deviation = |spread: &Spread| if spread.deviation > 0.0 { spread.deviation } else { 1.0 };
        Self {
            mean: spreads.iter().map(|s| s.mean).collect(),
            deviation: spreads.iter().map(deviation).collect(),
        }
    }

    /// One row as a view shows it.
    pub fn show(&self, view: View, row: &mut [f64]) {
        if view.by_columns() {
            for (x, (mean, deviation)) in row.iter_mut().zip(self.mean.iter().zip(&self.deviation)) {
                *x = *x / deviation - mean / deviation;
            }
        }
        if view.by_rows() {
            normalize(row);
        }
    }
}

/// The views worth a look: those asked for, less the ones that equal an earlier one up to a shift and a common
/// factor, which no neighbour list can tell apart.
#[must_use]
pub(crate) fn worth_a_look(samples: &Samples<'_>, spreads: &[Spread], asked: Views) -> Vec<View> {
    let standard = Standard::new(spreads);
    let wide = spreads.iter().filter(|spread| spread.deviation > 0.0).count() >= UNIT_FROM;
    let with_spread =
        || spreads.iter().filter(|spread| spread.deviation > 0.0).map(|spread| spread.deviation);
    let even = |values: &mut dyn Iterator<Item = f64>| {
        let (least, most) = values.fold((f64::INFINITY, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
        most - least <= SAME * most || least > most
    };
    let even_columns = even(&mut with_spread());
    let centred = spreads.iter().all(|s| s.mean.abs() <= SAME * s.deviation);
    let even_rows = |view: View| {
        let mut row = vec![0.0; samples.n_features()];
        even(&mut (0..samples.n_samples()).map(|i| {
            samples.copy_row(i, &mut row);
            standard.show(view, &mut row);
            length(&row)
        }))
    };
    let mut views: Vec<View> = Vec::new();
    for view in asked.asked().filter(|view| wide || !asked.is_auto() || !view.by_rows()) {
        let has = |other: View| views.contains(&other);
        let known = match view {
            View::Raw => false,
            View::Standard => has(View::Raw) && even_columns,
            View::Unit => has(View::Raw) && even_rows(View::Raw),
            View::StandardUnit => {
                (has(View::Unit) && even_columns && centred)
                    || (has(View::Standard) && even_rows(View::Standard))
            }
        };
        if !known {
            views.push(view);
        }
    }
    views
}

/// ‖x‖ without overflow.
fn length(row: &[f64]) -> f64 {
    let most = row.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    if most > 0.0 { most * row.iter().map(|x| (x / most).powi(2)).sum::<f64>().sqrt() } else { 0.0 }
}

/// Rows as a view shows them, as precise as they were given.
#[derive(Clone, Debug)]
pub(crate) enum Shown {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Shown {
    /// These rows of the samples, in this view.
    pub(crate) fn rows(samples: &Samples<'_>, which: &[u32], view: View, standard: &Standard) -> Self {
        let m = samples.n_features();
        let fill = |i: usize, row: &mut [f64]| {
            samples.copy_row(which[i] as usize, row);
            standard.show(view, row);
        };
        match samples.values() {
            Values::F64(_) => {
                let mut rows = vec![0.0; which.len() * m];
                rows.par_chunks_mut(m).enumerate().for_each(|(i, row)| fill(i, row));
                Self::Double(rows)
            }
            Values::F32(_) => {
                let mut rows = vec![0.0_f32; which.len() * m];
                rows.par_chunks_mut(m).enumerate().for_each_init(
                    || vec![0.0; m],
                    |wide, (i, row)| {
                        fill(i, wide);
                        row.iter_mut().zip(wide).for_each(|(x, wide)| *x = *wide as f32);
                    },
                );
                Self::Single(rows)
            }
        }
    }

    /// Every column shuffled by itself: the same values, no groups.
    pub(crate) fn shuffle_columns(&mut self, m: usize, random: &mut crate::math::rng::Stream) {
        fn shuffle<T: Copy>(rows: &mut [T], m: usize, random: &mut crate::math::rng::Stream) {
            for j in 0..m {
                let mut column: Vec<T> = rows.iter().skip(j).step_by(m).copied().collect();
                random.shuffle(&mut column);
                rows.iter_mut().skip(j).step_by(m).zip(column).for_each(|(x, shuffled)| *x = shuffled);
            }
        }
        match self {
            Self::Single(rows) => shuffle(rows, m, random),
            Self::Double(rows) => shuffle(rows, m, random),
        }
    }

    pub(crate) fn samples(&self, n: usize, m: usize) -> crate::Result<Samples<'_>> {
        match self {
            Self::Single(rows) => Samples::from_rows(rows, n, m),
            Self::Double(rows) => Samples::from_rows(rows, n, m),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(data: &[f64], m: usize) -> Vec<View> {
        let samples = Samples::from_rows(data, data.len() / m, m).unwrap();
        worth_a_look(&samples, &samples.spreads(), Views::AUTO)
    }

    #[test]
    fn few_columns_are_never_made_unit_rows() {
        assert_eq!(seen(&[0.0, 1.0, 5.0, 3.0, 2.0, 9.0], 2), [View::Raw, View::Standard]);
    }

    #[test]
    fn views_that_show_the_same_are_left_out() {
        // One column: standardising shifts and scales.
        assert_eq!(seen(&[0.0, 1.0, 5.0, 3.0], 1), [View::Raw]);
        // Unit rows in, unit rows out.
        let mut stream = crate::math::rng::Stream::new(1, 0);
        let mut data: Vec<f64> = (0..20 * 9).map(|_| stream.normal() + 0.3).collect();
        assert_eq!(seen(&data, 9), View::ALL);
        data.chunks_exact_mut(9).for_each(|row| {
            normalize(row);
        });
        assert_eq!(seen(&data, 9), [View::Raw, View::Standard, View::StandardUnit]);
    }

    #[test]
    fn words_for_views_are_read_and_written() {
        for text in ["auto", "raw", "raw,standard-unit"] {
            assert_eq!(text.parse::<Views>().unwrap().to_string(), text);
        }
        let error = "raw,colour".parse::<Views>().unwrap_err().to_string();
        assert!(error.contains("raw,colour") && error.contains("standard-unit"), "{error}");
    }
}
