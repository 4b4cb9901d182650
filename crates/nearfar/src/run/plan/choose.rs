//! Which plan a run takes: that of its method, exact or binned, of what fits.

use super::{FamilyJob, Held, Job, Plan, default_memory_limit};
use crate::error::{Error, ParamError, Result};
use crate::learn::Needs;
use crate::neighbors::{MAX_EXACT_SAMPLES, check_binned_count, check_count};
use crate::params::{Mode, Params};

/// The plan for these sizes and settings.
///
/// # Errors
/// When the memory limit is too small for any way to run.
pub fn plan(n_samples: usize, n_features: usize, params: &Params) -> Result<Plan> {
    plan_shared(n_samples, n_features, params, None)
}

/// The error of pairs in binned mode.
pub(crate) fn needs_samples() -> ParamError {
    ParamError::new("mode", Mode::Binned, "exact or auto where pairs are given; binned mode needs samples")
}

/// The plan of one of `ranks` processes that share the rows; `None`: of one that has them all.
///
/// # Errors
/// As [`plan`], and when the settings ask for what several processes cannot do.
pub fn plan_shared(
    n_samples: usize,
    n_features: usize,
    params: &Params,
    ranks: Option<usize>,
) -> Result<Plan> {
    plan_held(n_samples, n_features, params, ranks, None)
}

/// The same of samples that are in memory already, held in this way; `None`: still to be read.
///
/// # Errors
/// As [`plan_shared`].
pub fn plan_held(
    n_samples: usize,
    n_features: usize,
    params: &Params,
    ranks: Option<usize>,
    held: Option<Held>,
) -> Result<Plan> {
    let job = Job {
        n_samples,
        n_features,
        n_clusters: params.n_clusters.min(n_samples),
        starts: params.starts,
        threads: params.threads.unwrap_or_else(rayon::current_num_threads),
        ranks,
    };
    // What is free does not count what has been read; a sum beyond counting is no room for anything.
    let read = held.map_or(0, |held| held.data(job.own_rows(), n_features as u64));
    let limit =
        params.memory.unwrap_or_else(|| default_memory_limit().saturating_add(read).min(u64::MAX / 2));
    let held = held.unwrap_or_else(|| Held::within(limit, job.own_rows() as usize, n_features));
    let needs = params.method.kind().needs();
    if needs == Needs::Slices {
        return plan_slices(&job, held, params, limit);
    }
    if needs == Needs::Lists {
        return Plan::of_lists(&job, held, limit);
    }
    let neighbors = if needs == Needs::Samples { 0 } else { params.graph.resolved_neighbors(n_samples) };
    let samples = needs != Needs::Graph;
    let own = params.method.working_bytes(n_samples, job.n_clusters, params.precision);
    let precision = params.method.precision(params.precision);
    let work = params.method.dense_work(n_samples, n_features);
    Plan::of_family(&FamilyJob { job, neighbors, own, samples, precision, work }, limit)
}

/// Exact or binned: as asked for, else exact where it fits and does not take long.
fn plan_slices(job: &Job, held: Held, params: &Params, limit: u64) -> Result<Plan> {
    let pairwise = job.n_features == 0;
    if params.mode == Mode::Binned && pairwise {
        return Err(needs_samples().into());
    }
    let allowed = "binned or auto where processes share the rows";
    ParamError::unless(params.mode != Mode::Exact || job.ranks.is_none(), "mode", params.mode, allowed)?;
    let binned = || {
        check_binned_count(job.n_samples)?;
        Plan::binned_held(job, held, params.binned_shape(job.n_samples), params.precision, limit)
    };
    let exact = || {
        check_count(job.n_samples)?;
        Plan::new(job, params.precision, limit)
    };
    match params.mode {
        Mode::Exact => exact(),
        Mode::Binned => binned(),
        Mode::Auto if job.ranks.is_some() => binned(),
        Mode::Auto if pairwise => exact(),
        Mode::Auto if job.n_samples > MAX_EXACT_SAMPLES => binned(),
        Mode::Auto => match exact() {
            Ok(plan) if plan.takes_long(job.threads) => binned().or(Ok(plan)),
            Err(exact @ Error::Memory { .. }) => binned().map_err(|binned| cheaper(exact, binned)),
            other => other,
        },
    }
}

/// Of two plans that do not fit, what is said about the one that needs less.
fn cheaper(exact: Error, binned: Error) -> Error {
    match (&exact, &binned) {
        (Error::Memory { needed: a, .. }, Error::Memory { needed: b, .. }) if b < a => binned,
        _ => exact,
    }
}
