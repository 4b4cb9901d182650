//! Data that is ranked and sliced once and clustered many times.
//!
//! `PreparedGraph` (`run/compared.rs`) is a type of its own. It keeps one sparse graph or the samples, where this one
//! keeps every rank: no field has the same meaning in both but σ and the warnings, and no step is shared beyond
//! judging settings and planning memory, which are functions that both call. What is asked of slices, such as
//! [`PreparedSlices::correct_rate`], has no answer in a graph.

use std::sync::Arc;
use std::time::Instant;

use crate::checkpoint::{Checkpoint, FoundLists};
use crate::error::Result;
use crate::input::Input;
use crate::learn::lsdg::starts::RememberedStarts;
use crate::learn::lsdg::{default_start_ranks, start_weights};
use crate::math::kernel::Entry;
use crate::model::Warning;
use crate::neighbors::nearest::{found, points_of};
use crate::neighbors::search::SearchBy;
use crate::neighbors::{Neighborhoods, SIGMA_NEIGHBOR, check_count, rank};
use crate::observe::{Observer, Stage, go_on};
use crate::params::{Params, Settled};
use crate::plan::{Held, Plan, Precision, plan_held};
use crate::processes::Share;
use crate::run::{in_pool, plan_of, timed};
use crate::slices::{BinnedReport, BinnedShape, BinnedSlices, FullSlices, Pairs, Slices, with_slices};
use crate::spectral;

/// Neighbours and slices of a data set; share it between runs that differ in settings only.
///
/// ```
/// use nearfar::{Input, Params, PreparedSlices, Samples, observe::Silent};
/// let data = nearfar::generate::blobs(90, 3, 2, 0.4, 1)?;
/// let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
/// let prepared = PreparedSlices::new(&Input::from(samples), &Params::lsdg(3), &Silent)?;
/// let twice = [prepared.fit(&Params::lsdg(3), &Silent)?, prepared.fit(&Params::lsdg(3).starts(1), &Silent)?];
/// assert_eq!(twice[0].labels.len(), 90);
/// # Ok::<(), nearfar::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PreparedSlices {
    pub(crate) pairs: Arc<Pairs>,
    /// What a person should know about the data.
    pub warnings: Vec<Warning>,
    /// Local scales σ, in the units of the data; `None` where affinities were given.
    pub sigma: Option<Vec<f64>>,
    /// Seconds spent on neighbours and on slices.
    pub seconds: [f64; 2],
    pub(crate) n_features: usize,
    pub(crate) precision: Precision,
    held: Held,
    pub(crate) known: Option<Arc<RememberedStarts>>,
    /// How it was made, in binned mode.
    report: Option<BinnedReport>,
}

impl PreparedSlices {
    /// Rank and slice. Of the settings only seed, threads, memory, precision and the sizes matter.
    ///
    /// # Errors
    /// When the data breaks a rule, the settings are out of range, or memory does not suffice.
    pub fn new(input: &Input<'_>, params: &Params, observer: &dyn Observer) -> Result<Self> {
        let settled = params.settle(input.n_samples(), input.n_features())?;
        Self::made(input, &settled, None, observer)
    }

    /// The same; the neighbours of binned mode are kept in a checkpoint, or taken from it.
    pub(crate) fn made(
        input: &Input<'_>,
        params: &Settled,
        checkpoint: Option<&Checkpoint>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let plan = plan_of(input, params)?;
        if let Some(shape) = plan.binned {
            return in_pool(params, || {
                Self::binned(input, shape, plan.precision, params.seed, checkpoint, observer)
            });
        }
        check_count(input.n_samples())?;
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
        params: &Settled,
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
            held: input.held(),
            known: None,
            report: None,
        })
    }

    /// Search, sample and slice.
    fn binned(
        input: &Input<'_>,
        shape: BinnedShape,
        precision: Precision,
        seed: u64,
        checkpoint: Option<&Checkpoint>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let clock = Instant::now();
        let points = &points_of(input)?;
        let read = clock.elapsed().as_secs_f64();
        // σ needs its neighbour even where fewer ranks are kept.
        let wanted = (shape.near - 1).max(SIGMA_NEIGHBOR);
        let (found, searched) = timed(Stage::Neighbors, observer, || {
            let name = wanted.min(points.share().n_rows() - 1).to_string();
            found(points, (&name, wanted), (SearchBy::Auto, None), checkpoint, observer)
        });
        let FoundLists { lists, report, sigma, warnings, .. } = found?;
        let (pairs, sliced) = timed(Stage::Slices, observer, || -> Result<_> {
            go_on(observer, Stage::Slices)?; // also in a process without rows
            Ok(if precision == Precision::Double {
                Pairs::BinnedDouble(BinnedSlices::new(points, &lists, &sigma, shape, seed, observer)?)
            } else {
                Pairs::BinnedSingle(BinnedSlices::new(points, &lists, &sigma, shape, seed, observer)?)
            })
        });
        let pairs = pairs?;
        let shape = match &pairs {
            Pairs::BinnedSingle(slices) => slices.shape(),
            Pairs::BinnedDouble(slices) => slices.shape(),
            _ => shape,
        };
        let report = BinnedReport { shape, search: report };
        Ok(Self {
            pairs: Arc::new(pairs),
            warnings,
            sigma: Some(sigma.iter().map(|s| s * points.unit()).collect()),
            seconds: [read + searched, sliced],
            n_features: input.n_features(),
            precision,
            held: input.held(),
            known: None,
            report: Some(report),
        })
    }

    /// The plan for more work on this data.
    pub(crate) fn plan(&self, params: &Settled) -> Result<Plan> {
        let ranks = self.share().map(|share| share.team().size());
        plan_held(self.n_samples(), self.n_features, params, ranks, Some(self.held))
    }

    /// Whose rows are whose, in binned mode.
    pub(crate) fn share(&self) -> Option<&Share> {
        match &*self.pairs {
            Pairs::BinnedDouble(slices) => Some(slices.share()),
            Pairs::BinnedSingle(slices) => Some(slices.share()),
            _ => None,
        }
    }

    /// Keep the factors that plain PHALS starts end with, for further fits with the same seed and stopping rule.
    /// The results are the same; a grid over α, β and μ is done in about half the time.
    #[must_use]
    pub fn remember_starts(self) -> Self {
        Self { known: Some(Arc::default()), ..self }
    }

    /// How the data is seen, in binned mode.
    pub fn binned_report(&self) -> Option<BinnedReport> {
        self.report
    }

    /// Number of samples, n.
    pub fn n_samples(&self) -> usize {
        with_slices!(&*self.pairs, slices => slices.n_samples())
    }

    /// The rank of j as seen from i; in binned mode an estimate beyond the near ranks.
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
        let mut join = |i: usize, j: usize| {
            let (a, b) = (leader(&mut leaders, i), leader(&mut leaders, j));
            pieces -= usize::from(a != b);
            leaders[a] = b;
        };
        let here = self.share().map_or(0..n, Share::rows);
        let links = |i: usize| with_slices!(&*self.pairs, slices => slices.linked(i, ranks));
        match self.share().filter(|share| share.is_split()) {
            None => here.for_each(|i| links(i).into_iter().for_each(|j| join(i, j))),
            Some(share) => {
                let own = here.flat_map(|i| links(i).into_iter().map(move |j| [i as u32, j as u32]));
                let all = share.team().gather("links", &own.collect::<Vec<_>>()).0;
                all.into_iter().for_each(|[i, j]| join(i as usize, j as usize));
            }
        }
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
        let n = self.n_samples();
        let params = &params.settle(n, self.n_features)?;
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
