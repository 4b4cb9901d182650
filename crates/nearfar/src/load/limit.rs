//! How much a file may unpack to.

use super::error::LoadProblem;

/// The most that deflate can grow, and a little.
pub(crate) const MOST_DEFLATE: u64 = 1040;

/// Counts unpacked bytes against what a file of this size warrants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unpacked {
    bytes: u64,
    limit: u64,
}

impl Unpacked {
    /// Without a limit of the caller's: 100 times the file, and 256 MiB in any case.
    pub(crate) fn new(file_bytes: u64, max_bytes: Option<u64>) -> Self {
        let limit = max_bytes.unwrap_or(file_bytes.saturating_mul(100).max(256 << 20));
        Self { bytes: 0, limit }
    }

    /// Bytes that may still come.
    pub(crate) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.bytes)
    }

    /// Count `bytes` more, or refuse them.
    pub(crate) fn add(&mut self, bytes: u64, what: impl FnOnce() -> String) -> Result<(), LoadProblem> {
        if bytes > self.left() {
            return Err(LoadProblem::TooLarge {
                what: what(),
                bytes: self.bytes.saturating_add(bytes),
                limit: self.limit,
                advice: "raise the limit with `max_bytes` if the file is sound",
            });
        }
        self.bytes += bytes;
        Ok(())
    }
}
