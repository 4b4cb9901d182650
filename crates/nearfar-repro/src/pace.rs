//! How far a study is, and how long it will still take.
//!
//! Datasets differ in size and methods in cost, so that the mean time of a run says little: after the small
//! datasets, which come first, it would promise minutes where hours are left. Every kind of run has a speed of its
//! own, that of the last dataset it was run on, and larger data are counted by n^1.5: between the methods of a
//! sparse graph, which grow with n, and those of all pairs.

use std::collections::BTreeMap;
use std::time::Duration;

/// Runs of one cost: a row, searching its grid or with one choice of setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// The row's place in the study.
    pub(crate) row: usize,
    /// Which of its choices; `None` for the search of its grid.
    pub(crate) choice: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Work {
    /// Work in runs to come.
    left: f64,
    /// Samples of the dataset that the next two are of.
    points: usize,
    /// Work in runs of this session, and what they took on one thread.
    done: f64,
    seconds: f64,
}

impl Work {
    fn speed(&self) -> Option<f64> {
        (self.done > 0.0).then(|| self.seconds / self.done)
    }
}

/// The state of a study.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    kinds: BTreeMap<Kind, Work>,
    total: usize,
    done: usize,
}

fn work_of(points: usize) -> f64 {
    (points as f64).powf(1.5)
}

impl Pace {
    /// So many runs will come.
    pub(crate) fn expect(&mut self, kind: Kind, runs: usize, points: usize) {
        self.kinds.entry(kind).or_default().left += runs as f64 * work_of(points);
        self.total += runs;
    }

    /// A run is there: made just now, in so many seconds of one thread, or found in the store.
    pub(crate) fn finish(&mut self, kind: Kind, points: usize, made: Option<f64>) {
        let work = self.kinds.entry(kind).or_default();
        work.left = (work.left - work_of(points)).max(0.0);
        if let Some(seconds) = made {
            if work.points != points {
                (work.points, work.done, work.seconds) = (points, 0.0, 0.0);
            }
            work.done += work_of(points);
            work.seconds += seconds;
        }
        self.done += 1;
    }

    /// Runs done, and all.
    pub(crate) fn runs(&self) -> (usize, usize) {
        (self.done, self.total.max(self.done))
    }

    /// What is left takes so long with this many runs side by side; `None` before the first run of this session.
    /// Kinds that were not seen yet are taken to be like all others together.
    pub(crate) fn left(&self, side_by_side: usize) -> Option<Duration> {
        let mut all = Work::default();
        for work in self.kinds.values() {
            (all.done, all.seconds) = (all.done + work.done, all.seconds + work.seconds);
        }
        let usual = all.speed()?;
        let seconds: f64 = self.kinds.values().map(|work| work.left * work.speed().unwrap_or(usual)).sum();
        Duration::try_from_secs_f64(seconds / side_by_side.max(1) as f64).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_data_and_dearer_runs_count_for_more() {
        let (search, defaults) = (Kind { row: 0, choice: None }, Kind { row: 0, choice: Some(1) });
        let mut pace = Pace::default();
        for points in [100, 400, 900] {
            pace.expect(search, 10, points);
            pace.expect(defaults, 2, points);
        }
        let near =
            |left: Option<Duration>, seconds: f64| (left.unwrap().as_secs_f64() - seconds).abs() < 1e-6;
        assert_eq!((pace.runs(), pace.left(2)), ((0, 36), None));
        (0..10).for_each(|_| pace.finish(search, 100, Some(0.1)));
        // 400 points take 8 times as long as 100, and 900 take 27 times; the defaults go at the same speed for want
        // of a better one.
        assert!(near(pace.left(1), 10.0 * (0.8 + 2.7) + 2.0 * (0.1 + 0.8 + 2.7)));
        (0..2).for_each(|_| pace.finish(defaults, 100, Some(1.0)));
        assert!(near(pace.left(1), 10.0 * (0.8 + 2.7) + 2.0 * (8.0 + 27.0)));
        assert!(near(pace.left(2), 52.5));
        // What the store has takes no time and says nothing of the speed.
        (0..10).for_each(|_| pace.finish(search, 400, None));
        assert!(near(pace.left(1), 10.0 * 2.7 + 2.0 * (8.0 + 27.0)));
        // The last dataset counts.
        (0..2).for_each(|_| pace.finish(defaults, 400, Some(2.0)));
        assert!(near(pace.left(1), 10.0 * 2.7 + 2.0 * 6.75));
        (0..10).for_each(|_| pace.finish(search, 900, None));
        (0..2).for_each(|_| pace.finish(defaults, 900, None));
        assert_eq!((pace.runs(), pace.left(1)), ((36, 36), Some(Duration::ZERO)));
    }
}
