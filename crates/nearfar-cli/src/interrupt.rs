//! Ctrl-C: the first press asks the run to stop and is obeyed within a second, the second ends at once.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::exit::Exit;

/// How long a run may take to stop by itself.
const PATIENCE: Duration = Duration::from_millis(700);

static ASKED: AtomicBool = AtomicBool::new(false);
static PHASE: AtomicU8 = AtomicU8::new(Phase::Idle as u8);
static LAST_WORDS: Mutex<Option<LastWords>> = Mutex::new(None);

/// What is said of an interrupted run.
pub type LastWords = Box<dyn FnOnce() + Send>;

/// What a press would interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reading, or nothing: end at once.
    Idle = 0,
    /// A run that looks at [`asked`]: it is given a moment, then its last words are said for it.
    Running = 1,
    /// Results are being written: finish.
    Writing = 2,
}

/// Listen for Ctrl-C. A system that gives no way to listen keeps its own behaviour.
pub fn listen() {
    let _ = ctrlc::set_handler(|| {
        let again = ASKED.swap(true, Ordering::SeqCst);
        let phase = PHASE.load(Ordering::SeqCst);
        if again || phase == Phase::Idle as u8 {
            end();
        }
        if phase == Phase::Running as u8 {
            std::thread::spawn(|| {
                std::thread::sleep(PATIENCE);
                // A run that got through in the meantime keeps its result.
                if PHASE.load(Ordering::SeqCst) == Phase::Running as u8 {
                    say_last_words();
                    end();
                }
            });
        }
    });
}

fn end() -> ! {
    std::process::exit(Exit::Interrupted as i32)
}

/// Whether somebody pressed Ctrl-C.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Say what a press would interrupt from now on.
pub fn enter(phase: Phase) {
    PHASE.store(phase as u8, Ordering::SeqCst);
}

/// What to do when the run is interrupted.
pub fn set_last_words(words: Option<LastWords>) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = words;
}

/// Do it, once, whoever comes first; the other waits until it is done.
pub(crate) fn say_last_words() {
    let mut words = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(words) = words.take() {
        words();
    }
}
