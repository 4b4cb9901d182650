//! The work runs on threads of its own. The calling thread, which alone may touch Python's signals, waits for
//! messages: it calls the callback, moves the bar, and listens for Ctrl-C twenty times a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use nearfar::model::Keeper;
use nearfar::observe::{Event, Observer};
use nearfar::processes::Team;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::communicator::{Apart, Meeting, PyCommunicator};

/// How often the calling thread looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// What is told about a run.
#[derive(Clone, Copy)]
pub(crate) enum Note {
    Started(&'static str),
    Progress(&'static str, u64, u64),
    /// Member, then the columns of the trace after it.
    Iteration([f64; 12]),
    Finished(&'static str, f64),
}

pub(crate) enum Message {
    Tell(Note),
    /// The worker waits for the answer: whether it is enough.
    Ask(Note, SyncSender<bool>),
    /// The worker waits for other processes.
    Meet(Meeting),
}

/// Wishes of the calling thread.
#[derive(Default)]
pub(crate) struct Wishes {
    cancel: AtomicBool,
    enough: AtomicBool,
}

/// The library's view of it.
pub(crate) struct Watcher<'a> {
    wishes: &'a Wishes,
    keeper: Option<&'a Keeper>,
    messages: Sender<Message>,
    ask: bool,
    tell: bool,
}

impl Watcher<'_> {
    /// This process and the others. To be dropped with the work, so that the calling thread hears of its end.
    pub(crate) fn team(&self, size: usize, rank: usize) -> Arc<Team> {
        let messages = self.messages.clone();
        Arc::new(Team::new(Box::new(PyCommunicator { size, rank, messages })))
    }
}

impl Observer for Watcher<'_> {
    fn notice(&self, event: &Event<'_>) {
        if let Some(keeper) = self.keeper {
            keeper.notice(event);
        }
        let note = match event {
            Event::Iteration { member, row } => Note::Iteration(row.numbers(*member)),
            Event::Started { stage } => Note::Started(stage.name()),
            Event::Progress { stage, done, total } => Note::Progress(stage.name(), *done, *total),
            Event::Finished { stage, seconds } => Note::Finished(stage.name(), *seconds),
            _ => return,
        };
        if self.ask && matches!(note, Note::Iteration(_)) {
            if self.enough() || self.cancelled() {
                return;
            }
            let (answer, answered) = sync_channel(1);
            // Nobody listens any more only when the run is over.
            if self.messages.send(Message::Ask(note, answer)).is_ok() && answered.recv() == Ok(true) {
                self.wishes.enough.store(true, Ordering::Relaxed);
            }
        } else if self.tell {
            let _ = self.messages.send(Message::Tell(note));
        }
    }

    fn cancelled(&self) -> bool {
        self.wishes.cancel.load(Ordering::Relaxed)
    }

    fn enough(&self) -> bool {
        self.wishes.enough.load(Ordering::Relaxed)
    }
}

/// Who is called, and what for.
pub(crate) struct Callbacks<'a> {
    /// Called with a dictionary after every iteration; true stops.
    pub(crate) callback: Option<&'a Py<PyAny>>,
    /// Called with every note, for the bar.
    pub(crate) progress: Option<&'a Py<PyAny>>,
    /// Keeps what a cancelled run leaves.
    pub(crate) keeper: Option<&'a Keeper>,
    /// The Python half of processes that work together.
    pub(crate) ranks: Option<&'a Py<PyAny>>,
}

impl Callbacks<'_> {
    /// Nobody.
    pub(crate) const NONE: Self = Callbacks { callback: None, progress: None, keeper: None, ranks: None };
}

/// What came of it: the work's own result, and the exception that ended it early.
pub(crate) type Outcome<R> = (R, Option<PyErr>);

/// Do the work on `threads` threads, without the interpreter's lock.
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    threads: usize,
    callbacks: &Callbacks<'_>,
    work: impl FnOnce(&Watcher<'_>) -> R + Send,
) -> PyResult<Outcome<R>> {
    let wishes = &Wishes::default();
    let (sender, messages) = channel();
    let watcher = Watcher {
        wishes,
        keeper: callbacks.keeper,
        messages: sender,
        ask: callbacks.callback.is_some(),
        tell: callbacks.progress.is_some(),
    };
    // A pool for this call alone: a forked process has no threads of its parent's pool.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        PyRuntimeError::new_err(format!("{threads} threads cannot be started: {error}; set n_jobs lower"))
    })?;
    py.detach(move || {
        std::thread::scope(|scope| {
            // The watcher moves in, so that its end of the channel closes when the work is done.
            let worker = scope.spawn(move || {
                let watcher = watcher;
                pool.install(|| work(&watcher))
            });
            let ended = listen(&messages, wishes, callbacks);
            let joined = worker.join();
            if let (Err(fault), Some(_)) = (&joined, &ended)
                && fault.is::<Apart>()
            {
                return Err(ended.unwrap_or_else(|| PyRuntimeError::new_err("")));
            }
            let result = joined.map_err(|fault| {
                let text = fault
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| fault.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                let text = text.unwrap_or_default();
                PyRuntimeError::new_err(format!("a fault of nearfar itself ({text}); please report it"))
            })?;
            Ok((result, ended))
        })
    })
}

/// Until the work is done: answer, show, and look for signals. Gives the first exception.
fn listen(messages: &Receiver<Message>, wishes: &Wishes, callbacks: &Callbacks<'_>) -> Option<PyErr> {
    let mut ended: Option<PyErr> = None;
    loop {
        let happened = match messages.recv_timeout(LOOK) {
            // Also when this process wants to stop: the others do not know yet.
            Ok(Message::Meet(meeting)) => Python::attach(|py| match callbacks.ranks {
                Some(ranks) => meeting.hold(py, ranks).and_then(|()| signals(py, callbacks)),
                None => Ok(()),
            }),
            Ok(_) if ended.is_some() => Ok(()), // an Ask that is dropped is a no
            Ok(Message::Tell(note)) => Python::attach(|py| tell(py, callbacks, note)),
            Ok(Message::Ask(note, answer)) => Python::attach(|py| {
                tell(py, callbacks, note)?;
                let enough = ask(py, callbacks, note)?;
                let _ = answer.send(enough);
                signals(py, callbacks)
            }),
            Err(RecvTimeoutError::Timeout) => Python::attach(|py| signals(py, callbacks)),
            Err(RecvTimeoutError::Disconnected) => return ended,
        };
        if let Err(error) = happened {
            wishes.cancel.store(true, Ordering::Relaxed);
            ended.get_or_insert(error);
        }
    }
}

/// Listen for signals. Where processes work together, Ctrl-C is held back while they meet, and comes out here.
fn signals(py: Python<'_>, callbacks: &Callbacks<'_>) -> PyResult<()> {
    py.check_signals()?;
    callbacks.ranks.map_or(Ok(()), |ranks| ranks.call_method0(py, "signals").map(drop))
}

fn ask(py: Python<'_>, callbacks: &Callbacks<'_>, note: Note) -> PyResult<bool> {
    let (Some(callback), Note::Iteration(values)) = (callbacks.callback, note) else { return Ok(false) };
    let row = pyo3::types::PyDict::new(py);
    for (at, (name, value)) in nearfar::internals::TRACE_COLUMNS.iter().zip(values).enumerate() {
        if at < 2 {
            row.set_item(name, value as usize)?; // member and iteration are counts
        } else {
            row.set_item(name, value)?;
        }
    }
    callback.bind(py).call1((row,))?.is_truthy()
}

fn tell(py: Python<'_>, callbacks: &Callbacks<'_>, note: Note) -> PyResult<()> {
    let Some(progress) = callbacks.progress else { return Ok(()) };
    let progress = progress.bind(py);
    match note {
        Note::Started(stage) => progress.call1(("started", stage, 0, 0))?,
        Note::Progress(stage, done, total) => progress.call1(("progress", stage, done, total))?,
        Note::Iteration(values) => {
            progress.call1(("iteration", "learn", values[0] as usize, values[1] as usize))?
        }
        Note::Finished(stage, seconds) => progress.call1(("finished", stage, seconds, 0))?,
    };
    py.check_signals()
}
