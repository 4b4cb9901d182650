//! The only loop: it steps, records, tests, stops and cancels, for every method.

use super::stop::{StopReason, StopRule};
use super::trace::TraceRow;
use crate::math::factor::Factor;
use crate::observe::{Event, Observer};

/// Below this norm V is taken to be zero. Absolute, as slices have norm 1 (hazard H11).
const ZERO_FACTOR: f64 = 1e-8;

/// What a method must know.
pub trait Method {
    /// The row of the starting state, where the method records one.
    fn start(&mut self) -> Option<TraceRow> {
        None
    }

    /// One iteration; `None` when the observer asked to stop in the middle.
    fn step(&mut self, iteration: usize, observer: &dyn Observer) -> Option<TraceRow>;

    /// The factor as it stands.
    fn factor(&self) -> &Factor;

    /// w and p as they stand, where the method learns them. With V they are all that the next iteration starts from.
    fn weights(&self) -> Option<(&[f64], &[f64])> {
        None
    }

    /// Whether the state passes the method's own test of an optimum.
    fn stationary(&self) -> bool {
        false
    }

    /// Whether a rising loss ends the run.
    fn increase_stops(&self) -> bool {
        false
    }
}

/// How a run went.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Learned {
    /// Iterations made.
    pub iterations: usize,
    /// Why it ended.
    pub reason: StopReason,
    /// A row per iteration.
    pub trace: Vec<TraceRow>,
}

impl Learned {
    /// How a run went that left this trace.
    pub(crate) fn again(trace: Vec<TraceRow>, reason: StopReason) -> Self {
        Self { iterations: trace.last().map_or(0, |row| row.iteration), reason, trace }
    }

    /// Tell the observer of every iteration.
    pub(crate) fn tell_again(&self, member: usize, observer: &dyn Observer) {
        tell_again(&self.trace, member, observer);
    }
}

/// Tell the observer of every iteration; returns how many there are.
fn tell_again(trace: &[TraceRow], member: usize, observer: &dyn Observer) -> usize {
    for row in trace.iter().filter(|row| row.iteration > 0) {
        observer.notice(&Event::Iteration { member, row });
    }
    trace.last().map_or(0, |row| row.iteration)
}

/// Who keeps the state of a loop: called behind every iteration that others follow, and with the reason at the end.
pub(crate) type Keep<'a> = dyn FnMut(&dyn Method, &[TraceRow], Option<StopReason>) + 'a;

/// Run a method until the rule, the observer or the mathematics says stop.
pub fn run(method: &mut dyn Method, rule: &StopRule, member: usize, observer: &dyn Observer) -> Learned {
    run_kept(method, None, rule, member, observer, &mut |_, _, _| {})
}

/// The same, taken up where it stood when `before` was recorded, and kept.
pub(crate) fn run_kept(
    method: &mut dyn Method,
    before: Option<Vec<TraceRow>>,
    rule: &StopRule,
    member: usize,
    observer: &dyn Observer,
    keep: &mut Keep<'_>,
) -> Learned {
    let mut iterations = before.as_ref().map_or(0, |before| tell_again(before, member, observer));
    let mut trace = before.unwrap_or_else(|| method.start().into_iter().collect());
    let mut reason = StopReason::MaxIterations;
    while iterations < rule.max_iter {
        if observer.cancelled() {
            reason = StopReason::Cancelled;
            break;
        }
        // Never before the first step: a start that has made none has nothing to show.
        if iterations > 0 && observer.enough() {
            reason = StopReason::Stopped;
            break;
        }
        let Some(row) = method.step(iterations + 1, observer) else {
            reason = StopReason::Cancelled;
            break;
        };
        iterations += 1;
        observer.notice(&Event::Iteration { member, row: &row });
        trace.push(row);
        let norm = method.factor().norm2().sqrt();
        if !(norm > ZERO_FACTOR) {
            reason = StopReason::Collapsed;
            break;
        }
        if method.stationary() {
            reason = StopReason::Stationary;
            break;
        }
        if let Some(settled) = rule.settled(&trace, method.increase_stops()) {
            reason = settled;
            break;
        }
        keep(method, &trace, None);
    }
    keep(method, &trace, Some(reason));
    Learned { iterations, reason, trace }
}
