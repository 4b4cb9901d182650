//! A run: what a caller sets and sees, and the spine that calls the stages in their order.

pub mod checkpoint;
pub(crate) mod compared;
pub(crate) mod default;
pub mod observe;
pub(crate) mod params;
pub(crate) mod plan;

use std::time::Instant;

use crate::checkpoint::Checkpoint;
use crate::error::{ParamError, Result};
use crate::input::Input;
use crate::learn::MethodParams;
use crate::learn::lsdg::PreparedSlices;
use crate::model::Model;
use crate::observe::{Event, Observer, Silent, Stage};
use crate::params::{Params, Settled};
use crate::plan::{Plan, plan_held};
use crate::processes::InStep;
use compared::PreparedGraph;

/// Cluster samples (or precomputed pairs) with these settings; a [`Run`] with nothing else.
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
    Run::new(params).fit(input)
}

/// A run: its settings, who watches it, and where it is kept.
///
/// ```
/// use nearfar::{Params, Run, Samples, observe::CancelFlag};
/// let data = nearfar::generate::moons(120, 0.05, 3)?;
/// let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
/// let stop = CancelFlag::default(); // another thread may raise it
/// let model = Run::new(&Params::new(2)).observe(&stop).threads(1).fit(samples)?;
/// assert_eq!(model.sizes().len(), 2);
/// # Ok::<(), nearfar::Error>(())
/// ```
#[derive(Clone, Copy)]
#[must_use]
pub struct Run<'a> {
    params: &'a Params,
    observer: &'a dyn Observer,
    checkpoint: Option<&'a Checkpoint>,
    threads: Option<usize>,
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { params, checkpoint, threads, .. } = self;
        f.debug_struct("Run")
            .field("params", params)
            .field("checkpoint", checkpoint)
            .field("threads", threads)
            .finish_non_exhaustive()
    }
}

impl<'a> Run<'a> {
    /// With these settings; watched by nobody, kept nowhere.
    pub fn new(params: &'a Params) -> Self {
        Self { params, observer: &Silent, checkpoint: None, threads: None }
    }

    /// Watched, and stopped, by this observer.
    pub fn observe(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// Kept in this checkpoint as it goes: a run that was killed goes on from there to the same bits as an unbroken
    /// one. Only `nearfar` and `lsdg` can be kept.
    pub fn checkpoint(self, checkpoint: &'a Checkpoint) -> Self {
        Self { checkpoint: Some(checkpoint), ..self }
    }

    /// On this many threads, whatever the settings say. The result does not depend on it.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Cluster samples, or precomputed pairs.
    ///
    /// # Errors
    /// When data or settings break a rule, memory does not suffice, the factor collapses, the checkpoint cannot be
    /// written at all or is another run's, and [`Error::Cancelled`](crate::Error::Cancelled) when the observer asks to stop.
    pub fn fit<'i>(&self, input: impl Into<Input<'i>>) -> Result<Model> {
        let input = &input.into();
        let (n_samples, n_features) = (input.n_samples(), input.n_features());
        let settled = match self.threads {
            Some(threads) => self.params.clone().threads(threads).settle(n_samples, n_features)?,
            None => self.params.settle(n_samples, n_features)?,
        };
        let saves = matches!(settled.method, MethodParams::Lsdg | MethodParams::NearFar(_));
        let allowed = "nearfar or lsdg where the run saves itself; the other methods have no checkpoints";
        ParamError::unless(saves || self.checkpoint.is_none(), "method", settled.method.kind(), allowed)?;
        // Processes that share the rows are watched in step.
        let in_step = input.share().map(|share| InStep { inner: self.observer, team: share.team() });
        let observer = in_step.as_ref().map_or(self.observer, |in_step| in_step as &dyn Observer);
        let model = match settled.method {
            MethodParams::NearFar(_) => {
                let plan = plan_of(input, &settled)?;
                self.begin(input, &settled, &plan)?;
                in_pool(&settled, || default::fit(input, &settled, self.checkpoint, observer))?
            }
            MethodParams::Lsdg => {
                if self.checkpoint.is_some() {
                    self.begin(input, &settled, &plan_of(input, &settled)?)?;
                }
                PreparedSlices::made(input, &settled, self.checkpoint, observer)?.learn(
                    &settled,
                    self.checkpoint,
                    observer,
                )?
            }
            _ => PreparedGraph::made(input, &settled, observer)?.learn(&settled, observer)?,
        };
        if let Some(checkpoint) = self.checkpoint {
            checkpoint.share_troubles(observer);
        }
        Ok(model)
    }

    fn begin(&self, input: &Input<'_>, settled: &Settled, plan: &Plan) -> Result<()> {
        match self.checkpoint {
            Some(checkpoint) => checkpoint.begin(input, settled, plan),
            None => Ok(()),
        }
    }
}

/// The plan of a run; memory that does not suffice is an error.
pub(crate) fn plan_of(input: &Input<'_>, settled: &Settled) -> Result<Plan> {
    let ranks = input.share().map(|share| share.team().size());
    plan_held(input.n_samples(), input.n_features(), settled, ranks, Some(input.held()))
}

/// Run on as many threads as asked for.
pub(crate) fn in_pool<R: Send>(params: &Settled, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
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
