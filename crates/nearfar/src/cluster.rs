//! The spine: parameters and data in, the stages in their order, a model out.

use crate::checkpoint::{Checkpoint, Round};
use crate::consensus::{Ensemble, Known, Member};
use crate::crew::InStep;
use crate::engine;
use crate::error::{DataError, Error, ParamError, Result};
use crate::family;
use crate::labels::score::adjusted_rand;
use crate::learn::MethodParams;
use crate::learn::lsdg::{Density, start_weights};
use crate::math::factor::Factor;
use crate::model::{Model, Source, merged};
use crate::neighbors::{Input, Warning};
use crate::observe::{Observer, Silent, Stage, go_on};
use crate::params::{Mode, Params};
use crate::plan::Plan;
use crate::prepared::{Prepared, in_pool, plan_held, timed, with_slices};
use crate::slices::{Graph, Slices};
use crate::spectral::eigen::Operator;
use crate::spectral::{self, SpectralLabels};

/// Below this mean agreement of the members with their consensus the result is called unsettled.
const SETTLED: f64 = 0.5;
/// Eigenvalues this close to the largest count as pieces of their own.
const PIECE: f64 = 1e-6;
/// Below this β the next weaker one is 0.
const LEAST_BETA: f64 = 0.1;

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
        in_pool(params, || engine::fit(input, params, saved, observer))?
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
            in_pool(params, || engine::fit(input, params, None, observer))
        }
        MethodParams::Lsdg => Prepared::new(input, params, observer)?.fit(params, observer),
        _ => family::Prepared::new(input, params, observer)?.fit(params, observer),
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

fn check_sizes(n_samples: usize, n_clusters: usize) -> Result<()> {
    if n_samples > 0 && n_clusters > n_samples {
        return Err(DataError::TooFewSamples { n_samples, n_clusters }.into());
    }
    Ok(())
}

impl Prepared {
    /// Learn, augment and label.
    ///
    /// # Errors
    /// As [`fit_observed`].
    pub fn fit(&self, params: &Params, observer: &dyn Observer) -> Result<Model> {
        self.fit_saved(params, None, observer)
    }

    /// The same; kept in a checkpoint as it goes.
    fn fit_saved(
        &self,
        params: &Params,
        checkpoint: Option<&Checkpoint>,
        observer: &dyn Observer,
    ) -> Result<Model> {
        params.check()?;
        let kind = params.method.kind();
        let allowed = "lsdg here; the other methods are learnt from nearfar::family::Prepared";
        ParamError::unless(params.method == MethodParams::Lsdg, "method", kind, allowed)?;
        check_sizes(self.n_samples(), params.n_clusters)?;
        // The mode was chosen when the data was prepared.
        let mode = if self.binned_report().is_some() { Mode::Binned } else { Mode::Exact };
        let side_by_side = self.plan(&Params { mode, ..params.clone() })?.side_by_side;
        in_pool(params, || {
            let saved = self.round(checkpoint);
            with_slices!(&*self.pairs, slices => {
                let model = self.learn_slices(slices, params, side_by_side, saved, observer)?;
                self.finish_slices(slices, model, saved, observer)
            })
        })
    }

    /// The place of this preparation in a checkpoint.
    fn round<'a>(&self, checkpoint: Option<&'a Checkpoint>) -> Option<Round<'a>> {
        let near = self.binned_report().map_or(0, |report| report.shape.near);
        checkpoint.map(|checkpoint| Round { checkpoint, near, attempt: 0 })
    }

    /// Members of these slices.
    fn learn_slices<S: Slices>(
        &self,
        slices: &S,
        params: &Params,
        side_by_side: usize,
        saved: Option<Round<'_>>,
        observer: &dyn Observer,
    ) -> Result<Model>
    where
        S::Graph: Sync,
    {
        go_on(observer, Stage::Learn)?;
        let mut model = self.empty_model(params);
        let (n, r) = (slices.n_samples(), params.n_clusters);
        if r == n {
            return Ok(model.every_point_alone());
        }
        let known = Known { starts: self.known.as_deref(), saved };
        let (members, seconds) =
            timed(Stage::Learn, observer, || learn(slices, &mut model, side_by_side, known, observer));
        model.timings.push((Stage::Learn, seconds));
        model.members = match members {
            // One cluster is one cluster, whatever V says.
            Err(Error::Collapsed { .. }) if r == 1 => Vec::new(),
            members => members?,
        };
        model.warn_of_near_end(slices);
        Ok(model)
    }

    fn finish_slices<S: Slices>(
        &self,
        slices: &S,
        mut model: Model,
        saved: Option<Round<'_>>,
        observer: &dyn Observer,
    ) -> Result<Model> {
        if !model.labels.is_empty() {
            return Ok(model); // every point alone
        }
        let (n, ranks) = (slices.n_samples(), model.params.lsdg.resolved_start_ranks(slices.n_samples()));
        model.gather_weights(slices);
        go_on(observer, Stage::Augment)?; // also where nothing is augmented
        if model.members.is_empty() {
            let (near, far) = start_weights(slices.multiplicity(), ranks);
            (model.near_weights, model.far_weights) = (slices.per_rank(&near), slices.per_rank(&far));
            (model.labels, model.membership) = (vec![0; n], vec![1.0; n]);
        } else {
            model.label_by_spectrum(slices, saved, observer)?;
        }
        model.look_back();
        model.warn_of_pieces(self.pieces(ranks));
        Ok(model)
    }

    fn empty_model(&self, params: &Params) -> Model {
        Model {
            sigma: self.sigma.clone(),
            timings: vec![(Stage::Neighbors, self.seconds[0]), (Stage::Slices, self.seconds[1])],
            warnings: self.warnings.clone(),
            precision: self.precision,
            n_features: self.n_features,
            binned: self.binned_report(),
            search: self.binned_report().map(|report| report.search),
            ..Model::empty(params, Source::Pairs(self.pairs.clone()))
        }
    }
}

impl Model {
    /// As many clusters as points: nothing to learn.
    pub(crate) fn every_point_alone(mut self) -> Self {
        let n = self.params.n_clusters;
        self.labels = (0..n).collect();
        self.membership = (0..n * n).map(|at| if at / n == at % n { 1.0 } else { 0.0 }).collect();
        if matches!(self.source, Source::Pairs(_)) {
            let mut first = vec![0.0; n];
            first[0] = 1.0;
            (self.near_weights, self.far_weights) = (first.clone(), first);
        }
        self
    }

    /// Behind the last near rank weights are shared: a kept member that trusts it, or ranks behind it, may have
    /// asked for more of them.
    fn warn_of_near_end<S: Slices>(&mut self, slices: &S) {
        let Some(last) = slices.near_end() else { return };
        let trusts = |member: &Member| member.near_weights[last..].iter().any(|w| *w > 0.0);
        if self.members.iter().filter(|m| m.kept).any(trusts) {
            self.warnings.push(Warning::NearEnd { near: last + 1 });
        }
    }

    /// w and p by rank as the mean over the kept members; the best member.
    fn gather_weights<S: Slices>(&mut self, slices: &S) {
        let kept: Vec<usize> = (0..self.members.len()).filter(|m| self.members[*m].kept).collect();
        let Some(&first) = kept.first() else { return };
        let mean = |of: &dyn Fn(&Member) -> &[f64]| {
            let mut sum = vec![0.0; of(&self.members[first]).len()];
            for &m in &kept {
                for (sum, x) in sum.iter_mut().zip(of(&self.members[m])) {
                    *sum += x / kept.len() as f64;
                }
            }
            sum
        };
        let (near, far) = (mean(&|m| &m.near_weights), mean(&|m| &m.far_weights));
        let cut = |m: usize| self.members[m].cut.unwrap_or(0.0);
        self.best = kept.iter().copied().fold(first, |best, m| if cut(m) < cut(best) { m } else { best });
        (self.near_weights, self.far_weights) = (slices.per_rank(&near), slices.per_rank(&far));
    }

    /// augment, spectral, labels.
    fn label_by_spectrum<S: Slices>(
        &mut self,
        slices: &S,
        saved: Option<Round<'_>>,
        observer: &dyn Observer,
    ) -> Result<()> {
        let (n, r) = (slices.n_samples(), self.params.n_clusters);
        let (restarts, seed) = (self.params.kmeans_restarts, self.params.seed);
        let (z, seconds) = timed(Stage::Augment, observer, || {
            go_on(observer, Stage::Augment)?;
            Ok::<_, Error>(merged(slices, &self.members))
        });
        self.timings.push((Stage::Augment, seconds));
        let z = z?;
        let (eigen, seconds) = timed(Stage::Spectral, observer, || {
            if let Some(eigen) = saved.and_then(|saved| saved.spectrum(n, (r + 1).min(n), observer)) {
                return Ok(eigen);
            }
            let eigen = spectral::eigenvectors(&z, r, seed, observer)?;
            if let Some(saved) = saved {
                saved.keep_spectrum(&eigen, observer);
            }
            Ok::<_, Error>(eigen)
        });
        self.timings.push((Stage::Spectral, seconds));
        let eigen = eigen?;
        let (found, seconds) = timed(Stage::Labels, observer, || {
            go_on(observer, Stage::Labels)?;
            spectral::label(&eigen, (n, z.share()), r, restarts, seed, observer)
        });
        self.timings.push((Stage::Labels, seconds));
        let SpectralLabels { labels, embedding, eigenvalues, residual } = found?;
        self.membership = memberships(&z, &labels, r);
        (self.labels, self.embedding, self.eigenvalues) = (labels, embedding, eigenvalues);
        if let Some(residual) = residual {
            self.warnings.push(Warning::Spectrum { residual });
        }
        Ok(())
    }

    /// Z joins what the members put together, however far apart: pieces of the data itself are counted apart from it.
    fn warn_of_pieces(&mut self, pieces: usize) {
        let asked = self.params.n_clusters;
        let known = |warning: &Warning| matches!(warning, Warning::ManyPieces { .. });
        if pieces > asked && !self.warnings.iter().any(known) {
            self.warnings.push(Warning::ManyPieces { pieces, n_clusters: asked });
        }
    }

    /// Agreement of the members, and what a person should know.
    pub(crate) fn look_back(&mut self) {
        let asked = self.params.n_clusters;
        let own: Vec<f64> = self
            .members
            .iter()
            .filter(|m| m.kept)
            .filter_map(|m| m.labels.as_ref())
            .filter_map(|labels| adjusted_rand(labels, &self.labels).ok())
            .collect();
        if !own.is_empty() {
            self.agreement = own.iter().sum::<f64>() / own.len() as f64;
        }
        if self.agreement < SETTLED {
            self.warnings.push(Warning::Unsettled { agreement: self.agreement });
        }
        if let [largest, .., _] = self.eigenvalues[..] {
            let pieces = self.eigenvalues.iter().filter(|v| **v > largest - PIECE).count();
            if pieces > asked {
                self.warnings.push(Warning::ManyPieces { pieces, n_clusters: asked });
            }
        }
        let (near, _) = self.active_ranks();
        let learns_ranks = self.params.method == MethodParams::Lsdg && !self.members.is_empty();
        if near == 1 && self.n_samples() > 2 && learns_ranks {
            self.warnings.push(Warning::OneRank);
        }
        if let Some(member) = self.members.get(self.best)
            && member.dead_columns > 0
        {
            self.warnings.push(Warning::DeadColumns { columns: member.dead_columns });
        }
        let found = self.labels.iter().max().map_or(0, |l| l + 1);
        if found < asked {
            self.warnings.push(Warning::FewerClusters { found, asked });
        }
    }
}

/// All members. Where μ follows the data (nobody chose it) and D pushes every member's V to zero, as it can on a few
/// dozen evenly spread points, D is given a quarter of its weight until V lives, and in the end none; a warning
/// says so.
fn learn<S: Slices>(
    slices: &S,
    model: &mut Model,
    side_by_side: usize,
    mut known: Known<'_>,
    observer: &dyn Observer,
) -> Result<Vec<Member>>
where
    S::Graph: Sync,
{
    let asked = model.params.lsdg.beta;
    loop {
        let members = Ensemble::new(slices, &model.params, &known, observer)?.learn(side_by_side);
        let lsdg = &mut model.params.lsdg;
        let follows = matches!(lsdg.density, Density::Neighbors(_)) && lsdg.dissimilarity && lsdg.beta > 0.0;
        let learns = model.params.n_clusters > 1;
        if learns && follows && matches!(members, Err(Error::Collapsed { .. })) {
            lsdg.beta = if lsdg.beta > LEAST_BETA { lsdg.beta / 4.0 } else { 0.0 };
            if let Some(round) = &mut known.saved {
                round.attempt += 1;
            }
            continue;
        }
        if lsdg.beta < asked {
            model.warnings.push(Warning::WeakerBeta { asked, used: lsdg.beta });
        }
        return members;
    }
}

/// Share of each row of Z that lies in each cluster.
fn memberships<G: Graph>(z: &G, labels: &[usize], r: usize) -> Vec<f64> {
    let n = labels.len();
    let mut indicator = vec![0.0; n * r];
    for (i, label) in labels.iter().enumerate() {
        indicator[label * n + i] = 1.0;
    }
    let mut shares = vec![0.0; n * r];
    z.times(&Factor::new(indicator, n, r), &mut shares);
    let mut membership = vec![0.0; n * r];
    for i in 0..n {
        let sum: f64 = (0..r).map(|c| shares[c * n + i]).sum();
        for c in 0..r {
            let own = if labels[i] == c { 1.0 } else { 0.0 };
            membership[i * r + c] = if sum > 0.0 { shares[c * n + i] / sum } else { own };
        }
    }
    membership
}
