//! Starting factors that were made before.
//!
//! The settings of a grid differ in α, β and μ; the plain PHALS loop before them sees none of these, so that one
//! start serves all.

use std::sync::{Mutex, PoisonError};

use crate::learn::run::Learned;
use crate::learn::{StopReason, StopRule};
use crate::math::factor::Factor;

/// Most factors that are kept; the oldest goes first.
const MOST: usize = 64;

/// All that a plain start depends on, beside the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StartKey {
    pub(crate) n_clusters: usize,
    pub(crate) seed: u64,
    pub(crate) member: usize,
    pub(crate) start_ranks: usize,
    pub(crate) stop: StopRule,
}

/// The factors, with how they were found.
#[derive(Debug, Default)]
pub(crate) struct RememberedStarts(Mutex<Vec<(StartKey, Factor, Learned)>>);

impl RememberedStarts {
    /// The factor of this key, made now if it is not known. Two threads may make the same one; both are equal.
    pub(crate) fn get_or(
        &self,
        key: StartKey,
        make: impl FnOnce() -> (Factor, Learned),
    ) -> (Factor, Learned) {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, factor, learned)) = known.iter().find(|(known, ..)| *known == key) {
            return (factor.clone(), learned.clone());
        }
        drop(known);
        let (factor, learned) = make();
        if learned.reason == StopReason::Cancelled {
            return (factor, learned);
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() == MOST {
            known.remove(0);
        }
        known.push((key, factor.clone(), learned.clone()));
        (factor, learned)
    }
}
