//! The watcher of a run: bars, JSON lines, the trace so far, and Ctrl-C.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nearfar::learn::TraceRow;
use nearfar::model::Keeper;
use nearfar::observe::{Event, Observer, Stage};

use super::ticker::{EVERY, FIRST, Ticker};
use crate::flags::{OutputArgs, ProgressKind};
use crate::interrupt;
use crate::paint::{say, unicode};

/// Iterations seen so far, with the member each belongs to.
pub(crate) type SharedTrace = Arc<Mutex<Trace>>;

/// The starts that have ended, as long as nobody has taken them.
pub(crate) type SharedKeeper = Arc<Mutex<Keeper>>;

/// What was seen of a run.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) rows: Vec<(usize, TraceRow)>,
    /// The stage that runs, or ran last.
    pub(crate) stage: Option<Stage>,
}

/// Watches a run.
pub(crate) struct Watch {
    bar: Option<Mutex<Option<ProgressBar>>>,
    json: bool,
    /// The largest count told of the stage that runs: threads may report out of order.
    told: Mutex<u64>,
    keep_trace: bool,
    quiet: bool,
    pub(crate) trace: SharedTrace,
    /// Where an interrupted run has labels to write.
    pub(crate) keeper: Option<SharedKeeper>,
    /// Where there is neither a bar nor JSON.
    ticker: Option<Ticker>,
    /// What a start is called.
    start: &'static str,
    clock: Instant,
}

impl Watch {
    /// `start`: what a start of the method is called.
    pub(crate) fn new(output: &OutputArgs, start: &'static str) -> Self {
        let kind = output.progress.unwrap_or_default();
        let shown = kind == ProgressKind::Auto && !output.quiet;
        let bars = shown && std::io::stderr().is_terminal();
        let ticks = shown && !bars && !output.json;
        let keeps = output.output.is_some() || output.out_dir.is_some();
        Self {
            bar: bars.then(Mutex::default),
            json: kind == ProgressKind::Json,
            told: Mutex::default(),
            keep_trace: output.out_dir.is_some(),
            quiet: output.quiet || output.json,
            trace: SharedTrace::default(),
            keeper: keeps.then(SharedKeeper::default),
            ticker: ticks.then(|| Ticker::new(FIRST, EVERY, |line| say(format_args!("{line}")))),
            start,
            clock: Instant::now(),
        }
    }

    fn show(&self, event: &Event<'_>) {
        let Some(bar) = &self.bar else { return };
        let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Started { stage } => *bar = Some(new_bar(*stage)),
            Event::Progress { done, total, .. } => {
                if let Some(bar) = &*bar {
                    // A stage may count several times, as one that searches in several scalings.
                    if bar.length().is_none_or(|length| length <= 1 || bar.position() >= length) {
                        bar.set_style(counting());
                        bar.set_length(*total);
                        bar.set_position(0);
                    }
                    bar.inc(*done);
                }
            }
            Event::Iteration { member, row } => {
                if let Some(bar) = &*bar {
                    bar.set_message(format!("{} {}, iteration {}", self.start, member + 1, row.iteration));
                }
            }
            Event::Trouble { message } => {
                if let Some(bar) = &*bar {
                    bar.suspend(|| warn(message));
                }
            }
            Event::Finished { .. } => {
                if let Some(bar) = bar.take() {
                    bar.finish_and_clear();
                }
            }
            _ => {}
        }
    }

    fn tell(&self, event: &Event<'_>) {
        // Held while the line is written, so that lines come in the order of their counts.
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Started { .. } => *told = 0,
            Event::Progress { done, .. } => *told += done,
            _ => {}
        }
        let at = self.clock.elapsed().as_secs_f64();
        let line = match event {
            Event::Started { stage } => serde_json::json!({"event": "started", "stage": stage, "at": at}),
            Event::Progress { stage, total, .. } => {
                serde_json::json!({"event": "progress", "stage": stage, "done": *told, "total": total, "at": at})
            }
            Event::Iteration { member, row } => serde_json::json!({
                "event": "iteration", "member": member, "iteration": row.iteration, "loss": row.loss(), "at": at
            }),
            Event::Trouble { message } => {
                serde_json::json!({"event": "trouble", "message": message, "at": at})
            }
            Event::Finished { stage, seconds } => {
                serde_json::json!({"event": "finished", "stage": stage, "seconds": seconds, "at": at})
            }
            _ => return,
        };
        say(format_args!("{line}"));
    }
}

impl Observer for Watch {
    fn notice(&self, event: &Event<'_>) {
        self.show(event);
        if self.json {
            self.tell(event);
        }
        if let Some(ticker) = &self.ticker {
            ticker.notice(event);
        }
        if let (Some(keeper), Event::Member { .. }) = (&self.keeper, event) {
            keeper.lock().unwrap_or_else(PoisonError::into_inner).notice(event);
        }
        match event {
            Event::Started { stage } => {
                self.trace.lock().unwrap_or_else(PoisonError::into_inner).stage = Some(*stage);
            }
            // At once: a long run may never come to its summary.
            Event::Trouble { message } if self.bar.is_none() && !self.json && !self.quiet => warn(message),
            Event::Iteration { member, row } if self.keep_trace => {
                let mut trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
                trace.rows.push((*member, (*row).clone()));
            }
            _ => {}
        }
    }

    fn cancelled(&self) -> bool {
        interrupt::asked()
    }
}

fn warn(message: &str) {
    say(format_args!("warning: {message}"));
}

fn new_bar(stage: Stage) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr_with_hz(10));
    bar.set_style(style("{prefix:10} {elapsed:>5} {msg}"));
    bar.set_prefix(stage.name());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn counting() -> ProgressStyle {
    let blocks = if unicode() { "█▉▊▋▌▍▎▏ " } else { "#>-" };
    style("{prefix:10} {bar:24} {pos}/{len} {elapsed:>5} {msg}").progress_chars(blocks)
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
