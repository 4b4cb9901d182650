//! How much memory the values of a table may take.

/// Memory in force while data is read. What is larger than half of it is not held as it comes: doubles are narrowed
/// to single precision, and what is still larger lies in a file.
#[derive(Clone, Copy, Debug)]
pub struct MemoryBudget {
    half: u64,
    narrow: bool,
}

impl MemoryBudget {
    /// Of so many bytes; none: without end. `keep_double` forbids narrowing.
    #[must_use]
    pub fn new(memory: Option<u64>, keep_double: bool) -> Self {
        Self { half: memory.map_or(u64::MAX, |memory| memory / 2), narrow: !keep_double }
    }

    /// Whether values of so many bytes are held in memory.
    #[must_use]
    pub fn holds(&self, bytes: u64) -> bool {
        bytes <= self.half
    }

    /// Whether so many doubles are held in single precision.
    #[must_use]
    pub fn narrows(&self, count: usize) -> bool {
        self.narrow && !self.holds((count as u64).saturating_mul(8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_memory_is_for_data() {
        let budget = MemoryBudget::new(Some(1600), false);
        assert!(budget.holds(800) && !budget.holds(801));
        assert!(!budget.narrows(100) && budget.narrows(101));
        assert!(!MemoryBudget::new(Some(1600), true).narrows(101));
        assert!(!MemoryBudget::new(None, false).narrows(usize::MAX));
    }
}
