//! The samples as views show them: the rows of this process, what is known of all columns, and a sample of
//! rows that every process has.

use rayon::prelude::*;

use crate::error::{DataError, Result};
use crate::input::{Input, Metric, Samples};
use crate::math::rng::Stream;
use crate::neighbors::split::check_together;
use crate::processes::Share;
use crate::views::{JUDGED, JUDGED_WHOLE, MANY, SAMPLE_STREAM, Shown, Standard, View, Views, worth_a_look};

/// Rows that a mixture is fitted on, at most; views are judged on some of them.
const SAMPLED: usize = 10_000;
/// Stream of the rows that views are judged on.
const JUDGED_STREAM: u64 = SAMPLE_STREAM + 2;

/// Samples, or the part of them that this process holds.
pub(crate) struct Data<'a> {
    pub(crate) rows: Samples<'a>,
    pub(crate) metric: Metric,
    pub(crate) share: Share,
    pub(crate) standard: Standard,
    /// Rows that all processes have; `None` where this process has all rows and looks at all of them.
    sample: Option<Shown>,
    /// Numbers of these rows.
    sampled: Vec<u32>,
    /// Places among them of the rows that views are judged on.
    judged: Vec<u32>,
    /// Views worth a look.
    pub(crate) views: Vec<View>,
}

impl<'a> Data<'a> {
    /// `None` where the input is pairs.
    pub(crate) fn of(input: &'a Input<'a>, asked: Views, seed: u64) -> Result<Option<Self>> {
        let (rows, metric, share) = match input {
            Input::Samples(rows, metric) => {
                rows.check()?;
                (*rows, *metric, Share::alone(rows.n_samples()))
            }
            Input::Part(rows, metric, share) => {
                if rows.n_features() == 0 {
                    return Err(DataError::Empty { n_samples: share.n_rows(), n_features: 0 }.into());
                }
                check_together(rows, share)?;
                (*rows, *metric, (*share).clone())
            }
            _ => return Ok(None),
        };
        let spreads = rows.spreads_shared(&share);
        let standard = Standard::new(&spreads);
        let sampled = sampled(share.n_rows(), seed);
        let whole = !share.is_split() && sampled.len() == share.n_rows();
        let judging = if sampled.len() > JUDGED_WHOLE { JUDGED } else { sampled.len() };
        let judged = chosen(sampled.len(), judging, seed, JUDGED_STREAM);
        let mut this =
            Self { rows, metric, share, standard, sample: None, sampled, judged, views: Vec::new() };
        if !whole {
            this.sample = Some(this.picked(&this.sampled.clone(), View::Raw));
        }
        this.views = match metric {
            Metric::Cosine => vec![View::Unit],
            Metric::Euclidean => worth_a_look(&this.sample()?, &spreads, asked),
        };
        Ok(Some(this))
    }

    /// Rows that every process has.
    pub(crate) fn sample(&self) -> Result<Samples<'_>> {
        match &self.sample {
            Some(shown) => shown.samples(self.sampled.len(), self.rows.n_features()),
            None => Ok(self.rows),
        }
    }

    /// Which rows of the [`sample`](Self::sample) views are judged on.
    pub(crate) fn judged(&self) -> &[u32] {
        &self.judged
    }

    /// The rows of these numbers, ascending, as a view shows them: of all processes, in all of them.
    pub(crate) fn picked(&self, which: &[u32], view: View) -> Shown {
        let (own, m) = (self.share.rows(), self.rows.n_features());
        let here: Vec<u32> = which
            .iter()
            .map(|i| *i as usize)
            .filter(|i| own.contains(i))
            .map(|i| (i - own.start) as u32)
            .collect();
        let shown = Shown::rows(&self.rows, &here, view, &self.standard);
        if !self.share.is_split() {
            return shown;
        }
        let lengths: Vec<usize> = (0..self.share.team().size())
            .map(|p| which.iter().filter(|i| self.share.rows_of(p).contains(&(**i as usize))).count() * m)
            .collect();
        let team = self.share.team();
        // Processes may hold their rows in different precisions.
        let single = matches!(shown, Shown::Single(_));
        if team.any("precision", !single) {
            let wide = match shown {
                Shown::Single(rows) => rows.into_iter().map(f64::from).collect(),
                Shown::Double(rows) => rows,
            };
            Shown::Double(team.gather_known("sampled rows", &wide, &lengths))
        } else if let Shown::Single(rows) = shown {
            Shown::Single(team.gather_known("sampled rows", &rows, &lengths))
        } else {
            shown
        }
    }

    /// The own rows as a view shows them; `None` where they are seen as they lie.
    pub(crate) fn shown(&self, view: View) -> Option<Shown> {
        let as_they_lie = view == View::Raw || self.metric == Metric::Cosine;
        (!as_they_lie).then(|| {
            let everybody: Vec<u32> = (0..self.rows.n_samples() as u32).collect();
            Shown::rows(&self.rows, &everybody, view, &self.standard)
        })
    }
}

/// Numbers of the rows that are sampled, ascending; all where there are few.
fn sampled(n: usize, seed: u64) -> Vec<u32> {
    chosen(n, if n > MANY { SAMPLED } else { n }, seed, SAMPLE_STREAM)
}

/// At most so many of n numbers, ascending.
fn chosen(n: usize, most: usize, seed: u64, stream: u64) -> Vec<u32> {
    let mut which: Vec<u32> = (0..n as u32).collect();
    if n > most {
        Stream::new(seed, stream).shuffle(&mut which);
        which.truncate(most);
        which.par_sort_unstable();
    }
    which
}
