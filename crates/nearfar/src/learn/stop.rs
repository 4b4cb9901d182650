//! When a run is over, and why.

use super::trace::TraceRow;
use crate::error::ParamError;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct StopRule {
    /// At most this many iterations; at least 1.
    pub max_iter: usize,
    /// Stop when the loss changes by no more than this share of itself.
    pub loss_tolerance: f64,
    /// Stop when the relative changes of V, w and p add up to no more than this.
    pub change_tolerance: f64,
}

impl Default for StopRule {
    /// The paper's: 1000 iterations, 1e-4 and 1e-4.
    fn default() -> Self {
        Self { max_iter: 1000, loss_tolerance: 1e-4, change_tolerance: 1e-4 }
    }
}

impl StopRule {
    /// The rule of the compared methods: the loss alone, to a tenth of the paper's tolerance. Stopping early costs
    /// multiplicative updates more than column steps; one rule for all makes the comparison fair.
    #[must_use]
    pub fn of_family() -> Self {
        Self { max_iter: 1000, loss_tolerance: 1e-5, change_tolerance: -1.0 }
    }

    /// Judge what the table of settings does not. A negative tolerance switches that test off.
    pub(crate) fn check(&self) -> Result<(), ParamError> {
        let value = self.change_tolerance;
        ParamError::unless(value < 1.0 && value.is_finite(), "change_tol", value, "below 1 (negative: never)")
    }

    /// Whether the last two rows are close enough. `increase_stops`: a loss that rises also stops.
    pub(crate) fn settled(&self, trace: &[TraceRow], increase_stops: bool) -> Option<StopReason> {
        let [.., before, last] = trace else { return None };
        if last.change.iter().sum::<f64>() <= self.change_tolerance {
            return Some(StopReason::VariablesSettled);
        }
        let fall = before.loss() - last.loss();
        let fall = if increase_stops { fall / before.loss() } else { fall.abs() / before.loss().abs() };
        (fall <= self.loss_tolerance).then_some(StopReason::LossSettled)
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The loss no longer changes.
    LossSettled,
    /// V, w and p no longer change.
    VariablesSettled,
    /// The gradient vanished, by the method's own test.
    Stationary,
    /// Every round of a method with a set number of them was run.
    Completed,
    /// The iterations ran out.
    MaxIterations,
    /// V became zero.
    Collapsed,
    /// The observer had enough; the state is that of the last whole iteration.
    Stopped,
    /// The observer asked to stop; the state is that of the last whole iteration.
    Cancelled,
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::LossSettled => "the loss settled",
            Self::VariablesSettled => "the variables settled",
            Self::Stationary => "the gradient vanished",
            Self::Completed => "every round was run",
            Self::MaxIterations => "the iterations ran out",
            Self::Collapsed => "the factor became zero",
            Self::Stopped => "stopped by the observer",
            Self::Cancelled => "cancelled",
        })
    }
}
