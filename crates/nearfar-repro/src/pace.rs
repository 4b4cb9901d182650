//! How far a study is, and how long it will still take.
//!
//! Datasets differ in size and methods in cost, so that the mean time of a run says little: after the small datasets, which come first, it
//! would promise minutes where hours are left. Work is counted in pairs of points, and every kind of run has a speed of its own.

use std::collections::BTreeMap;
use std::time::Duration;

/// Runs of one cost per pair of points: a row, searching its grid or with one choice of setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// The row's place in the study.
    pub(crate) row: usize,
    /// Which of its choices; `None` for the search of its grid.
    pub(crate) choice: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Work {
    /// Pairs of points in runs to come.
    left: f64,
    /// Pairs of points in runs of this session, and what they took on one thread.
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

fn pairs(points: usize) -> f64 {
    (points as f64).powi(2)
}

impl Pace {
    /// So many runs will come.
    pub(crate) fn expect(&mut self, kind: Kind, runs: usize, points: usize) {
        self.kinds.entry(kind).or_default().left += runs as f64 * pairs(points);
        self.total += runs;
    }

    /// A run is there: made just now, in so many seconds of one thread, or found in the store.
    pub(crate) fn finish(&mut self, kind: Kind, points: usize, made: Option<f64>) {
        let work = self.kinds.entry(kind).or_default();
        work.left = (work.left - pairs(points)).max(0.0);
        if let Some(seconds) = made {
            work.done += pairs(points);
            work.seconds += seconds;
        }
        self.done += 1;
    }

    /// Runs done, and all.
    pub(crate) fn runs(&self) -> (usize, usize) {
        (self.done, self.total.max(self.done))
    }

    /// What is left takes so long with this many runs side by side; `None` before the first run of this session. Kinds that were not
    /// seen yet are taken to be like all others together.
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
        for points in [100, 1000] {
            pace.expect(search, 10, points);
            pace.expect(defaults, 2, points);
        }
        assert_eq!((pace.runs(), pace.left(2)), ((0, 24), None));
        (0..10).for_each(|_| pace.finish(search, 100, Some(0.1)));
        // 10 runs of a hundred times the pairs, and the defaults at the same speed for want of a better one.
        assert!((pace.left(1).unwrap().as_secs_f64() - (100.0 + 0.2 + 20.0)).abs() < 1e-9);
        (0..2).for_each(|_| pace.finish(defaults, 100, Some(1.0)));
        assert!((pace.left(1).unwrap().as_secs_f64() - (100.0 + 200.0)).abs() < 1e-9);
        assert!((pace.left(2).unwrap().as_secs_f64() - 150.0).abs() < 1e-9);
        // What the store has takes no time and says nothing of the speed.
        (0..10).for_each(|_| pace.finish(search, 1000, None));
        assert!((pace.left(1).unwrap().as_secs_f64() - 200.0).abs() < 1e-9);
        (0..2).for_each(|_| pace.finish(defaults, 1000, None));
        assert_eq!((pace.runs(), pace.left(1)), ((24, 24), Some(Duration::ZERO)));
    }
}
