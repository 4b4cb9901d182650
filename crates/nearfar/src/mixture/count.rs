//! How many clusters, where a mixture explains the rows: the number of parts with the lowest BIC.
//!
//! Only where the parts are certain: uncertain ones piece a shape together (a ring from 22 Gaussians has a mean
//! posterior of .90).

use super::Covariance;
use super::columns::{Columns, MOST_NUMBERS};
use super::fit::{First, Fitted, covariances, starts};
use super::{Effort, Fit, MixtureReport, ROWS_PER_PART, drawn, some_rows, try_mixture};
use crate::error::Result;
use crate::input::Samples;
use crate::observe::Observer;

/// Rows that parts are counted on, at most.
const MOST_ROWS: usize = 3_000;
/// Parts, at most.
const MOST_PARTS: usize = 60;
/// Runs of k-means for each number of parts.
const STARTS: usize = 3;
/// Numbers of parts without a lower BIC after which the search ends.
const PATIENCE: usize = 5;
/// Full covariances are given up where their BIC is above the best by more than this for each row.
const FAR: f64 = 0.5;
/// Mean posterior from which on the parts are certain.
const CERTAIN: f64 = 0.95;

/// The mixture with the number of parts that BIC finds, if it explains the rows and its parts are certain.
///
/// # Errors
/// When the observer asks to stop, or a value is not finite.
pub(crate) fn count_by_mixture(
    samples: &Samples<'_>,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Option<(Fit, MixtureReport)>> {
    let which = some_rows(samples.n_samples(), MOST_ROWS, seed);
    let Some(columns) = Columns::of(samples, &which, true, observer)? else { return Ok(None) };
    if columns.width() == MOST_NUMBERS {
        return Ok(None);
    }
    let table = columns.show(samples, &which);
    let (mut best, mut since): (Option<Fitted>, usize) = (None, 0);
    let mut full = true;
    for k in 1..=MOST_PARTS.min(table.n / ROWS_PER_PART) {
        let mut covariances = covariances(&table, k);
        covariances.retain(|covariance| full || *covariance != Covariance::Full);
        let starts = starts(&table, k, (STARTS, seed), observer)?;
        let first = First::new(&table, k, (&covariances, &[None]), starts, observer)?;
        let Some(fitted) = first.best_of_all(&table, observer)? else { break };
        // Each part more costs full covariances more than others: once out of the race they stay out.
        full &= first.bic_of(Covariance::Full).is_some_and(|bic| bic < fitted.bic + FAR * table.n as f64);
        if best.as_ref().is_none_or(|best| fitted.bic < best.bic) {
            (best, since) = (Some(fitted), 0);
        } else {
            since += 1;
        }
        if since == PATIENCE {
            break;
        }
    }
    let Some(best) = best.filter(|best| best.parts.k > 1) else { return Ok(None) };
    let (_, certainty) = drawn::certainty(&table, &best.parts);
    if certainty < CERTAIN {
        return Ok(None);
    }
    let found = try_mixture(samples, best.parts.k, seed, Effort::Test, observer)?;
    Ok(found.filter(|(_, report)| report.explains))
}
