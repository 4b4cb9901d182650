//! A word now and then where nobody sees a bar: a log must show that a long run is alive, and stay empty of short ones.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nearfar::observe::{Event, Stage};

/// When the first line is due, and the next ones.
pub(crate) const FIRST: Duration = Duration::from_secs(10);
pub(crate) const EVERY: Duration = Duration::from_secs(30);

/// Where the run is.
#[derive(Debug, Default)]
struct Place {
    stage: Option<Stage>,
    done: u64,
    total: u64,
}

/// Says where the run is, on time, from a thread of its own: a stage may have nothing to tell for minutes.
pub(crate) struct Ticker {
    place: Arc<Mutex<Place>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    pub(crate) fn new(first: Duration, every: Duration, say: impl Fn(String) + Send + 'static) -> Self {
        let place = Arc::<Mutex<Place>>::default();
        let (stop, stopped) = channel();
        let seen = place.clone();
        let clock = Instant::now();
        let tick = move || {
            let mut wait = first;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = every;
                if let Some(line) = seen.lock().unwrap_or_else(PoisonError::into_inner).line(clock.elapsed())
                {
                    say(line);
                }
            }
        };
        // A system without room for one more thread goes without.
        let thread = std::thread::Builder::new().name("ticker".to_owned()).spawn(tick).ok();
        Self { place, stop: Some(stop), thread }
    }

    pub(crate) fn notice(&self, event: &Event<'_>) {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Started { stage } => *place = Place { stage: Some(*stage), done: 0, total: 0 },
            Event::Progress { stage, done, total } if place.stage == Some(*stage) => {
                // A stage may count anew, as one that searches several times.
                let before = if place.done >= place.total { 0 } else { place.done };
                (place.done, place.total) = (before + done, *total);
            }
            _ => {}
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Place {
    fn line(&self, elapsed: Duration) -> Option<String> {
        let stage = self.stage?.name();
        let seconds = elapsed.as_secs();
        let time = match seconds {
            0..60 => format!("{seconds} s"),
            60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
            _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        };
        let done = if self.total > 0 { format!(": {} of {}", self.done, self.total) } else { String::new() };
        Some(format!("{stage}{done}, {time} so far"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tell_stage_count_and_time() {
        let place = Place { stage: Some(Stage::Learn), done: 5, total: 16 };
        assert_eq!(place.line(Duration::from_secs(42)).unwrap(), "learn: 5 of 16, 42 s so far");
        let place = Place { stage: Some(Stage::Neighbors), done: 0, total: 0 };
        assert_eq!(place.line(Duration::from_secs(187)).unwrap(), "neighbors, 3 min 7 s so far");
        assert_eq!(place.line(Duration::from_secs(7500)).unwrap(), "neighbors, 2 h 5 min so far");
        assert_eq!(Place::default().line(Duration::ZERO), None);
    }

    #[test]
    fn it_speaks_by_itself_and_ends_with_the_run() {
        let (said, heard) = channel();
        let ticker = Ticker::new(Duration::ZERO, Duration::from_millis(1), move |line| {
            let _ = said.send(line);
        });
        ticker.notice(&Event::Started { stage: Stage::Learn });
        ticker.notice(&Event::Progress { stage: Stage::Learn, done: 2, total: 3 });
        ticker.notice(&Event::Progress { stage: Stage::Slices, done: 9, total: 9 });
        while !heard.recv().unwrap().starts_with("learn: 2 of 3, ") {}
        drop(ticker);
        // This ends as whoever speaks is gone.
        heard.iter().for_each(drop);
    }

    #[test]
    fn a_short_run_is_silent() {
        let (said, heard) = channel();
        let ticker = Ticker::new(FIRST, EVERY, move |line| said.send(line).unwrap());
        ticker.notice(&Event::Started { stage: Stage::Learn });
        drop(ticker);
        assert_eq!(heard.iter().count(), 0);
    }
}
