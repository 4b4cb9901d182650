//! What is left of a run that was cancelled.

use std::sync::{Mutex, PoisonError};

use super::{Findings, Model, Source};
use crate::learn::member::row_argmax;
use crate::learn::{Member, MethodKind};
use crate::observe::Event;
use crate::params::Params;

/// Keeps the starts of a run as they end, so that a cancelled run leaves its best one behind.
///
/// Hand every event of an observer to [`notice`](Self::notice); when the run ends in [`crate::Error::Cancelled`],
/// ask for
/// [`into_model`](Self::into_model).
#[derive(Debug, Default)]
pub struct Keeper(Mutex<Vec<(usize, Member)>>);

impl Keeper {
    /// Keep the start if the event is the end of one.
    pub fn notice(&self, event: &Event<'_>) {
        if let Event::Member { member, state } = event {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push((*member, (*state).clone()));
        }
    }

    /// A model of the best start: the finished one with the smallest cut or objective, else the unfinished one that
    /// came farthest. `None` when no start had made an iteration. Its labels are those of the start alone, or the
    /// largest entry of every row of V; it has neither similarity nor Z.
    #[must_use]
    pub fn into_model(self, params: &Params) -> Option<Model> {
        let mut kept = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(_, member)| {
            member.last_loop().iterations > 0 && (member.labels.is_some() || member.factor.norm2() > 0.0)
        });
        kept.sort_by(|(i, a), (j, b)| quality(a).total_cmp(&quality(b)).then(i.cmp(j)));
        let length = |member: &Member| member.labels.as_ref().map_or(member.factor.n_samples(), Vec::len);
        let n_samples = kept.first().map(|(_, member)| length(member))?;
        let mut findings = Findings::of(params.settle(n_samples, 0).ok()?, Source::Nothing);
        findings.members = kept.into_iter().map(|(_, member)| member).collect();
        let best = findings.members.first_mut()?;
        best.kept = true;
        if best.labels.is_none() {
            best.labels = Some(row_argmax(&best.factor));
        }
        if params.find_clusters {
            let found = best.labels.iter().flatten().max().map_or(1, |label| label + 1);
            findings.params.found_clusters(found);
        }
        (findings.near_weights, findings.far_weights) = (best.near_weights.clone(), best.far_weights.clone());
        if params.method.kind() == MethodKind::NearFar {
            // Members of the default method have weights for their lists alone.
            findings.near_weights.resize(best.labels.as_ref().map_or(0, Vec::len), 0.0);
        }
        findings.label_by_member();
        Some(findings.into_partial_model())
    }
}

/// Smaller is better; every finished start stands before every unfinished one.
fn quality(member: &Member) -> f64 {
    use crate::learn::StopReason::Cancelled;
    let learned = member.last_loop();
    match member.cut {
        Some(cut) => cut.min(1e300),
        None if learned.reason != Cancelled && member.objective.total().is_finite() => {
            member.objective.total().min(1e300)
        }
        None => f64::MAX / (1.0 + learned.iterations as f64).min(1e6),
    }
}
