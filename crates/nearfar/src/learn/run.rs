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

/// Run a method until the rule, the observer or the mathematics says stop.
pub fn run(method: &mut dyn Method, rule: &StopRule, member: usize, observer: &dyn Observer) -> Learned {
    let mut trace: Vec<TraceRow> = method.start().into_iter().collect();
    let mut reason = StopReason::MaxIterations;
    let mut iterations = 0;
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
    }
    Learned { iterations, reason, trace }
}
