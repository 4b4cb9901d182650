//! How many clusters, where a mixture explains the rows: the number of parts with the lowest BIC.
//!
//! Only where the parts are certain, or where two halves of the rows agree on them: others piece a shape together. A
//! ring from 22 Gaussians has a mean posterior of .90, and each half of its points cuts it elsewhere; blobs that
//! overlap may be as uncertain, but are the same in both halves.

use rayon::prelude::*;

use super::Covariance;
use super::columns::{Columns, MOST_NUMBERS};
use super::fit::{First, Fitted, GraphStarts, covariances, starts};
use super::parts::Parts;
use super::{Effort, Fit, MixtureReport, ROWS_PER_PART, drawn, some_rows, try_mixture};
use crate::error::Result;
use crate::input::Samples;
use crate::labels::score::adjusted_rand;
use crate::math::rng::Stream;
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
const CERTAIN: f64 = 0.97;
/// Where it is lower, but not below this, parts count if halves of the rows agree on them as far as this.
const UNCERTAIN: f64 = 0.7;
const STABLE: f64 = 0.8;
/// How often the rows are halved.
const HALVINGS: u64 = 2;
/// Stream of the halves.
const HALVES_STREAM: u64 = 11 << 32;

/// The mixture with the number of parts that BIC finds, if it explains the rows and its parts are certain or stable.
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
    let most = MOST_PARTS.min(table.n / ROWS_PER_PART);
    let by_graph = GraphStarts::new(&table, most, seed, observer)?;
    for k in 1..=most {
        let mut covariances = covariances(&table, k);
        covariances.retain(|covariance| full || *covariance != Covariance::Full);
        let mut starts = starts(&table, k, (STARTS, seed), observer)?;
        starts.extend(by_graph.at(k));
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
    let stable = || stability(samples, &columns, &which, &best.parts, seed, observer);
    if certainty < CERTAIN && (certainty < UNCERTAIN || stable()? < STABLE) {
        return Ok(None);
    }
    let found = try_mixture(samples, best.parts.k, seed, Effort::Test, observer)?;
    Ok(found.filter(|(_, report)| report.explains))
}

/// How alike the clusters are that parts of the same kind find on two halves of the rows (mean ARI over all rows).
///
/// Parts that are groups come back, even where they overlap; parts that piece a shape together lie elsewhere.
fn stability(
    samples: &Samples<'_>,
    columns: &Columns,
    which: &[u32],
    parts: &Parts,
    seed: u64,
    observer: &dyn Observer,
) -> Result<f64> {
    let all = columns.show(samples, which);
    let labels_by = |half: &[u32]| -> Result<Option<Vec<u32>>> {
        let table = columns.show(samples, half);
        let mut starts = starts(&table, parts.k, (STARTS, seed), observer)?;
        starts.extend(GraphStarts::new(&table, parts.k, seed, observer)?.at(parts.k));
        let kinds = (&[parts.covariance][..], &[parts.tail][..]);
        let found = First::new(&table, parts.k, kinds, starts, observer)?.best_of_all(&table, observer)?;
        Ok(found.map(|found| {
            drawn::likeliest_parts(&all, &found.parts).into_iter().map(|(part, _)| part).collect()
        }))
    };
    let one = |halving: u64| -> Result<f64> {
        let mut order = which.to_vec();
        Stream::new(seed, HALVES_STREAM + halving).shuffle(&mut order);
        let (left, right) = order.split_at_mut(which.len() / 2);
        left.sort_unstable();
        right.sort_unstable();
        let (left, right) = rayon::join(|| labels_by(left), || labels_by(right));
        match (left?, right?) {
            (Some(left), Some(right)) => adjusted_rand(&left, &right),
            _ => Ok(0.0),
        }
    };
    let all: Result<Vec<f64>> = (0..HALVINGS).into_par_iter().map(one).collect();
    Ok(all?.iter().sum::<f64>() / HALVINGS as f64)
}
