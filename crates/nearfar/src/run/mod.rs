//! A run: what a caller sets and sees, and the spine that calls the stages in their order.

pub mod checkpoint;
pub(crate) mod compared;
pub mod default;
pub mod observe;
pub mod params;
pub mod plan;

use std::time::Instant;

use crate::checkpoint::Checkpoint;
use crate::error::{DataError, ParamError, Result};
use crate::input::Input;
use crate::learn::MethodParams;
use crate::learn::lsdg::Prepared;
use crate::model::Model;
use crate::observe::{Event, Observer, Silent, Stage};
use crate::params::Params;
use crate::plan::{Plan, plan_held};
use crate::processes::InStep;

/// Cluster samples (or precomputed pairs) with these settings.
///
/// ```
/// use nearfar::{Params, Samples, fit};
/// let data = nearfar::generate::moons(120, 0.05, 3)?;
/// let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
/// let model = fit(samples, &Params::new(2).seed(1))?;
/// assert_eq!(nearfar::labels::score::accuracy(&model.labels, &data.truth)?, 1.0);
/// # Ok::<(), nearfar::Error>(())
/// ```
///
/// # Errors
/// When data or settings break a rule, memory does not suffice, or the factor collapses.
pub fn fit<'a>(input: impl Into<Input<'a>>, params: &Params) -> Result<Model> {
    fit_observed(&input.into(), params, &Silent)
}

/// The same, watched and saved as it goes: a run that was killed goes on from its checkpoint to the same bits as an
/// unbroken one.
///
/// # Errors
/// As [`fit_observed`]; for other methods than LSDG; and when the checkpoint cannot be written at all, or is
/// another run's.
pub fn fit_saved(
    input: &Input<'_>,
    params: &Params,
    checkpoint: &Checkpoint,
    observer: &dyn Observer,
) -> Result<Model> {
    params.check()?;
    check_clusters(input.n_samples(), params)?;
    let kind = params.method.kind();
    let allowed = "nearfar or lsdg where the run saves itself; the other methods have no checkpoints";
    let saves = matches!(params.method, MethodParams::Lsdg | MethodParams::NearFar(_));
    ParamError::unless(saves, "method", kind, allowed)?;
    let in_step = in_step(input, observer);
    let observer = in_step.as_ref().map_or(observer, |in_step| in_step as &dyn Observer);
    let plan = check_memory(input, params)?;
    checkpoint.begin(input, params, &plan)?;
    let saved = Some(checkpoint);
    let model = if params.method == MethodParams::Lsdg {
        Prepared::made(input, params, saved, observer)?.fit_saved(params, saved, observer)?
    } else {
        in_pool(params, || default::fit(input, params, saved, observer))?
    };
    checkpoint.share_troubles(observer);
    Ok(model)
}

/// The plan of a run; memory that does not suffice is an error.
fn check_memory(input: &Input<'_>, params: &Params) -> Result<Plan> {
    let (n_samples, n_features) = (input.n_samples(), input.n_features());
    if n_samples == 0 {
        return Err(DataError::Empty { n_samples, n_features }.into());
    }
    let ranks = input.share().map(|share| share.team().size());
    plan_held(n_samples, n_features, params, ranks, Some(input.held()))
}

/// The same, watched.
///
/// # Errors
/// As [`fit`], and [`Error::Cancelled`] when the observer asks to stop.
pub fn fit_observed(input: &Input<'_>, params: &Params, observer: &dyn Observer) -> Result<Model> {
    params.check()?;
    check_clusters(input.n_samples(), params)?;
    let in_step = in_step(input, observer);
    let observer = in_step.as_ref().map_or(observer, |in_step| in_step as &dyn Observer);
    match params.method {
        MethodParams::NearFar(_) => {
            check_memory(input, params)?;
            in_pool(params, || default::fit(input, params, None, observer))
        }
        MethodParams::Lsdg => Prepared::new(input, params, observer)?.fit(params, observer),
        _ => compared::PreparedGraph::new(input, params, observer)?.fit(params, observer),
    }
}

/// Who watches where processes share the rows.
fn in_step<'a>(input: &'a Input<'_>, observer: &'a dyn Observer) -> Option<InStep<'a>> {
    input.share().map(|share| InStep { inner: observer, team: share.team() })
}

/// The number of clusters, where it was given.
fn check_clusters(n_samples: usize, params: &Params) -> Result<()> {
    if params.find_clusters { Ok(()) } else { check_sizes(n_samples, params.n_clusters) }
}

pub(crate) fn check_sizes(n_samples: usize, n_clusters: usize) -> Result<()> {
    if n_samples > 0 && n_clusters > n_samples {
        return Err(DataError::TooFewSamples { n_samples, n_clusters }.into());
    }
    Ok(())
}

/// Run on as many threads as asked for.
pub(crate) fn in_pool<R: Send>(params: &Params, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    match params.threads.map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build()) {
        Some(Ok(pool)) => pool.install(work),
        // No pool could be made (the system refused threads): the ambient one gives the same result.
        Some(Err(_)) | None => work(),
    }
}

/// Do a stage, telling the observer; returns the seconds it took.
pub(crate) fn timed<R>(stage: Stage, observer: &dyn Observer, work: impl FnOnce() -> R) -> (R, f64) {
    observer.notice(&Event::Started { stage });
    let clock = Instant::now();
    let result = work();
    let seconds = clock.elapsed().as_secs_f64();
    observer.notice(&Event::Finished { stage, seconds });
    (result, seconds)
}
