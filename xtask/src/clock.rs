//! Seconds that do not depend on who else uses the machine.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// Wall-clock and processor seconds of a piece of work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seconds {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
}

impl Seconds {
    /// Processor seconds on one thread, wall-clock on more.
    pub(crate) fn fair(self, threads: usize) -> f64 {
        if threads == 1 { self.cpu } else { self.wall }
    }
}

/// Time a piece of work.
pub(crate) fn timed<R>(work: impl FnOnce() -> R) -> (R, Seconds) {
    let (clock, cpu) = (Instant::now(), cpu_seconds());
    let result = work();
    (result, Seconds { wall: clock.elapsed().as_secs_f64(), cpu: cpu_seconds() - cpu })
}

/// Time of this thread on a processor so far. Work on one thread is measured from inside its pool.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Time of all threads of this process on processors so far.
pub(crate) fn process_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Most memory this process has held, in bytes.
pub(crate) fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
}
