//! A run that is cancelled, at every stage.

use std::sync::atomic::{AtomicUsize, Ordering};

use nearfar::observe::{Event, Observer, Stage};
use nearfar::{Error, Params, Preset, Run, Samples};

/// Cancels at the k-th event that matches.
struct CancelAt {
    matches: Matches,
    after: usize,
    seen: AtomicUsize,
}

impl CancelAt {
    fn new(matches: Matches, after: usize) -> Self {
        Self { matches, after, seen: AtomicUsize::new(0) }
    }
}

impl Observer for CancelAt {
    fn notice(&self, event: &Event<'_>) {
        if (self.matches)(event) {
            self.seen.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn cancelled(&self) -> bool {
        self.seen.load(Ordering::SeqCst) >= self.after
    }
}

type Matches = fn(&Event<'_>) -> bool;

#[test]
fn cancelling_stops_at_every_stage() {
    let data = nearfar::generate::blobs(400, 3, 4, 1.0, 1).unwrap();
    let samples = Samples::from_rows(&data.data, 400, 3).unwrap();
    let moments: [(&str, Matches); 10] = [
        ("neighbors begin", |e| matches!(e, Event::Started { stage: Stage::Neighbors })),
        ("neighbors progress", |e| matches!(e, Event::Progress { stage: Stage::Neighbors, .. })),
        ("slices begin", |e| matches!(e, Event::Started { stage: Stage::Slices })),
        ("learning begins", |e| matches!(e, Event::Started { stage: Stage::Learn })),
        ("an iteration", |e| matches!(e, Event::Iteration { .. })),
        ("members are done", |e| matches!(e, Event::Progress { stage: Stage::Learn, .. })),
        ("learning ends", |e| matches!(e, Event::Finished { stage: Stage::Learn, .. })),
        ("augment begins", |e| matches!(e, Event::Started { stage: Stage::Augment })),
        ("spectral begins", |e| matches!(e, Event::Started { stage: Stage::Spectral })),
        ("labels begin", |e| matches!(e, Event::Started { stage: Stage::Labels })),
    ];
    for params in [Params::lsdg(4).starts(4), Params::preset(4, Preset::Paper)] {
        for (name, matches) in moments {
            for after in [1, 2] {
                let observer = CancelAt::new(matches, after);
                let outcome = Run::new(&params).observe(&observer).fit(samples);
                let seen = observer.seen.load(Ordering::SeqCst);
                if seen < after {
                    assert!(outcome.is_ok(), "{name}, {after}: never cancelled, yet {outcome:?}");
                    continue;
                }
                let Err(Error::Cancelled { stage }) = outcome else {
                    panic!("{name}, {after}: not cancelled but {outcome:?}");
                };
                assert!(!stage.is_empty());
            }
        }
    }
    // As many clusters as points, and one cluster: nothing to learn, but still somebody who wants to stop.
    for r in [1, 400] {
        let observer = CancelAt::new(|e| matches!(e, Event::Started { stage: Stage::Slices }), 1);
        let outcome = Run::new(&Params::lsdg(r).starts(1)).observe(&observer).fit(samples);
        assert!(matches!(outcome, Err(Error::Cancelled { .. })), "r = {r}");
    }
}

#[test]
fn a_cancelled_run_names_its_stage() {
    let data = nearfar::generate::blobs(300, 3, 4, 1.0, 1).unwrap();
    let samples = Samples::from_rows(&data.data, 300, 3).unwrap();
    let stages: [(Stage, Matches); 6] = [
        (Stage::Neighbors, |e| matches!(e, Event::Started { stage: Stage::Neighbors })),
        (Stage::Slices, |e| matches!(e, Event::Started { stage: Stage::Slices })),
        (Stage::Learn, |e| matches!(e, Event::Started { stage: Stage::Learn })),
        (Stage::Augment, |e| matches!(e, Event::Started { stage: Stage::Augment })),
        (Stage::Spectral, |e| matches!(e, Event::Started { stage: Stage::Spectral })),
        (Stage::Labels, |e| matches!(e, Event::Started { stage: Stage::Labels })),
    ];
    for params in [Params::lsdg(4).starts(2), Params::preset(4, Preset::Paper)] {
        for (expected, begins) in stages {
            let outcome = Run::new(&params).observe(&CancelAt::new(begins, 1)).fit(samples);
            let Err(Error::Cancelled { stage }) = outcome else {
                panic!("{expected:?}: not cancelled but {outcome:?}");
            };
            assert_eq!(stage, expected.name());
        }
    }
}
