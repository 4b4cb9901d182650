//! Data that is ranked and sliced once and clustered many times.

use std::sync::Arc;
use std::time::Instant;

use crate::error::{DataError, Result};
use crate::learn::Needs;
use crate::learn::lsdg::{default_start_ranks, start_weights};
use crate::math::kernel::Entry;
use crate::neighbors::{Input, Neighborhoods, Warning, check_count, rank};
use crate::observe::{Event, Observer, Stage};
use crate::params::Params;
use crate::plan::{FamilyJob, Job, Plan, Precision, default_memory_limit};
use crate::slices::{FullSlices, Slices};
use crate::spectral;
use crate::starts::KnownStarts;

/// Neighbours and slices of a data set; share it between runs that differ in settings only.
///
/// ```
/// use nearfar::{Input, Params, Prepared, Samples, observe::Silent};
/// let data = nearfar::generate::blobs(90, 3, 2, 0.4, 1)?;
/// let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
/// let prepared = Prepared::new(&Input::from(samples), &Params::new(3), &Silent)?;
/// let twice = [prepared.fit(&Params::new(3), &Silent)?, prepared.fit(&Params::new(3).starts(1), &Silent)?];
/// assert_eq!(twice[0].labels.len(), 90);
/// # Ok::<(), nearfar::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(crate) pairs: Arc<Pairs>,
    /// What a person should know about the data.
    pub warnings: Vec<Warning>,
    /// Local scales σ, in the units of the data; `None` where affinities were given.
    pub sigma: Option<Vec<f64>>,
    /// Seconds spent on neighbours and on slices.
    pub seconds: [f64; 2],
    pub(crate) n_features: usize,
    pub(crate) precision: Precision,
    pub(crate) known: Option<Arc<KnownStarts>>,
}

/// The pairs, in one of two precisions.
#[derive(Debug)]
pub(crate) enum Pairs {
    Double(FullSlices<f64>),
    Single(FullSlices<f32>),
}

/// Call a generic function on whichever precision the pairs have.
macro_rules! with_slices {
    ($pairs:expr, $slices:ident => $body:expr) => {
        match $pairs {
            $crate::prepared::Pairs::Double($slices) => $body,
            $crate::prepared::Pairs::Single($slices) => $body,
        }
    };
}
pub(crate) use with_slices;

impl Prepared {
    /// Rank and slice. Of the settings only seed, threads, memory, precision and the sizes matter.
    ///
    /// # Errors
    /// When the data breaks a rule, the settings are out of range, or memory does not suffice.
    pub fn new(input: &Input<'_>, params: &Params, observer: &dyn Observer) -> Result<Self> {
        params.check()?;
        let (n_samples, n_features) = (input.n_samples(), input.n_features());
        if n_samples == 0 {
            return Err(DataError::Empty { n_samples, n_features }.into());
        }
        check_count(n_samples)?;
        let plan = plan(n_samples, n_features, params)?;
        in_pool(params, || match plan.precision {
            Precision::Single => Self::sliced::<f32>(input, params, observer, Pairs::Single),
            _ => Self::sliced::<f64>(input, params, observer, Pairs::Double),
        })
        .map(|mut prepared| {
            prepared.precision = plan.precision;
            if params.precision == Precision::Auto && plan.precision == Precision::Single {
                prepared.warnings.push(Warning::Narrowed);
            }
            prepared
        })
    }

    fn sliced<E: Entry>(
        input: &Input<'_>,
        params: &Params,
        observer: &dyn Observer,
        wrap: impl FnOnce(FullSlices<E>) -> Pairs,
    ) -> Result<Self> {
        let (hoods, ranked) = timed(Stage::Neighbors, observer, || rank::<E>(input, params.seed, observer));
        let hoods: Neighborhoods<E> = hoods?;
        let (warnings, sigma) = (hoods.warnings().to_vec(), hoods.sigma());
        let (slices, sliced) = timed(Stage::Slices, observer, || FullSlices::new(hoods, observer));
        Ok(Self {
            pairs: Arc::new(wrap(slices?)),
            warnings,
            sigma,
            seconds: [ranked, sliced],
            n_features: input.n_features(),
            precision: Precision::Double,
            known: None,
        })
    }

    /// Keep the factors that plain PHALS starts end with, for further fits with the same seed and stopping rule. The results are the same;
    /// a grid over α, β and μ is done in about half the time.
    #[must_use]
    pub fn remember_starts(self) -> Self {
        Self { known: Some(Arc::default()), ..self }
    }

    /// Number of samples, n.
    pub fn n_samples(&self) -> usize {
        with_slices!(&*self.pairs, slices => slices.n_samples())
    }

    /// The rank of j as seen from i.
    pub fn rank(&self, i: usize, j: usize) -> usize {
        with_slices!(&*self.pairs, slices => slices.rank(i, j))
    }

    /// Into how many pieces the data falls when every point holds on to its first `ranks` (itself is rank 0).
    pub(crate) fn pieces(&self, ranks: usize) -> usize {
        fn leader(of: &mut [usize], mut point: usize) -> usize {
            while of[point] != point {
                of[point] = of[of[point]];
                point = of[point];
            }
            point
        }
        let n = self.n_samples();
        let mut leaders: Vec<usize> = (0..n).collect();
        let mut pieces = n;
        with_slices!(&*self.pairs, slices => {
            for i in 0..n {
                for j in (0..n).filter(|&j| slices.rank(i, j) < ranks) {
                    let (a, b) = (leader(&mut leaders, i), leader(&mut leaders, j));
                    pieces -= usize::from(a != b);
                    leaders[a] = b;
                }
            }
        });
        pieces
    }

    /// Self-tuned spectral clustering of the starting graph: what the method should beat.
    /// `neighbors` true neighbours are used, ⌊log₂ n⌋ of them when `None`.
    ///
    /// # Errors
    /// When there are fewer samples than clusters, or the observer asked to stop.
    pub fn spectral(
        &self,
        params: &Params,
        neighbors: Option<usize>,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        params.check()?;
        let n = self.n_samples();
        let ranks = neighbors.map_or_else(|| default_start_ranks(n), |k| k.saturating_add(1)).min(n);
        in_pool(params, || {
            with_slices!(&*self.pairs, slices => {
                let mut graph = slices.new_graph();
                slices.combine(&start_weights(slices.multiplicity(), ranks).0, &mut graph);
                let restarts = params.kmeans_restarts;
                Ok(spectral::cluster(&graph, params.n_clusters, restarts, params.seed, observer)?.labels)
            })
        })
    }

    /// Share of pairs at each rank that have the same true class: the paper's correct rate.
    ///
    /// # Errors
    /// When `truth` has another length than there are samples.
    pub fn correct_rate<L: PartialEq>(&self, truth: &[L]) -> Result<Vec<f64>> {
        self.pairs.correct_rate(truth)
    }
}

impl Pairs {
    /// As [`Prepared::correct_rate`].
    pub(crate) fn correct_rate<L: PartialEq>(&self, truth: &[L]) -> Result<Vec<f64>> {
        with_slices!(self, slices => {
            let n = slices.n_samples();
            if truth.len() != n {
                return Err(DataError::LabelLengths { labels: n, truth: truth.len() }.into());
            }
            let mut right = vec![0.0; n];
            for i in 0..n {
                for j in 0..n {
                    right[slices.rank(i, j)] += if truth[i] == truth[j] { 1.0 } else { 0.0 };
                }
            }
            right.iter_mut().for_each(|x| *x /= n as f64);
            Ok(right)
        })
    }
}

/// The plan for these sizes and settings.
///
/// # Errors
/// When the memory limit is too small for any way to run.
pub fn plan(n_samples: usize, n_features: usize, params: &Params) -> Result<Plan> {
    let job = Job {
        n_samples,
        n_features,
        n_clusters: params.n_clusters.min(n_samples),
        starts: params.starts,
        threads: params.threads.unwrap_or_else(rayon::current_num_threads),
    };
    let limit = params.memory.unwrap_or_else(default_memory_limit);
    let needs = params.method.kind().needs();
    if needs == Needs::Slices {
        return Plan::new(&job, params.precision, limit);
    }
    let neighbors = if needs == Needs::Samples { 0 } else { params.graph.resolved_neighbors(n_samples) };
    let samples = needs != Needs::Graph;
    Plan::of_family(
        &FamilyJob { job, neighbors, own: params.method.working_bytes(n_samples, job.n_clusters), samples },
        limit,
    )
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
