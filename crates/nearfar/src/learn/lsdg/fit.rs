//! The paper's path on prepared slices: learn → augment → spectral → labels.

use crate::checkpoint::{Checkpoint, Round};
use crate::error::{Error, ParamError, Result};
use crate::learn::lsdg::members::{Earlier, Ensemble};
use crate::learn::lsdg::{Density, PreparedSlices, start_weights};
use crate::learn::{Member, MethodParams};
use crate::math::factor::Factor;
use crate::model::{Findings, Model, Source, Warning, merged};
use crate::observe::{Observer, Stage, go_on};
use crate::params::{Mode, Params, Settled};
use crate::run::{in_pool, timed};
use crate::slices::{Graph, Slices, with_slices};
use crate::spectral;
use crate::spectral::SpectralLabels;
use crate::spectral::eigen::Operator;

/// Below this β the next weaker one is 0.
const LEAST_BETA: f64 = 0.1;

impl PreparedSlices {
    /// Learn, augment and label.
    ///
    /// # Errors
    /// As [`Run::fit`](crate::Run::fit); for other methods than LSDG.
    pub fn fit(&self, params: &Params, observer: &dyn Observer) -> Result<Model> {
        let settled = params.settle(self.n_samples(), self.n_features)?;
        let allowed = "lsdg here; the other methods are learnt from a PreparedGraph";
        ParamError::unless(settled.method == MethodParams::Lsdg, "method", settled.method.kind(), allowed)?;
        self.learn(&settled, None, observer)
    }

    /// The same; kept in a checkpoint as it goes.
    pub(crate) fn learn(
        &self,
        params: &Settled,
        checkpoint: Option<&Checkpoint>,
        observer: &dyn Observer,
    ) -> Result<Model> {
        // The mode was chosen when the data was prepared.
        let mode = if self.binned_report().is_some() { Mode::Binned } else { Mode::Exact };
        let side_by_side = self.plan(&params.in_mode(mode))?.side_by_side;
        in_pool(params, || {
            let saved = self.round(checkpoint);
            with_slices!(&*self.pairs, slices => {
                let findings = self.learn_slices(slices, params, side_by_side, saved, observer)?;
                self.finish_slices(slices, findings, saved, observer)
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
        params: &Settled,
        side_by_side: usize,
        saved: Option<Round<'_>>,
        observer: &dyn Observer,
    ) -> Result<Findings>
    where
        S::Graph: Sync,
    {
        go_on(observer, Stage::Learn)?;
        let mut findings = self.findings(params);
        let (n, r) = (slices.n_samples(), params.n_clusters);
        if r == n {
            return Ok(findings.every_point_alone());
        }
        let known = Earlier { starts: self.known.as_deref(), saved };
        let (members, seconds) =
            timed(Stage::Learn, observer, || learn(slices, &mut findings, side_by_side, known, observer));
        findings.timings.push((Stage::Learn, seconds));
        findings.members = match members {
            // One cluster is one cluster, whatever V says.
            Err(Error::Collapsed { .. }) if r == 1 => Vec::new(),
            members => members?,
        };
        findings.warn_of_near_end(slices);
        Ok(findings)
    }

    fn finish_slices<S: Slices>(
        &self,
        slices: &S,
        mut findings: Findings,
        saved: Option<Round<'_>>,
        observer: &dyn Observer,
    ) -> Result<Model> {
        if !findings.labels.is_empty() {
            return Ok(findings.into_model()); // every point alone
        }
        let (n, ranks) = (slices.n_samples(), findings.params.lsdg.resolved_start_ranks(slices.n_samples()));
        findings.gather_weights(slices);
        go_on(observer, Stage::Augment)?; // also where nothing is augmented
        if findings.members.is_empty() {
            let (near, far) = start_weights(slices.multiplicity(), ranks);
            (findings.near_weights, findings.far_weights) = (slices.per_rank(&near), slices.per_rank(&far));
            (findings.labels, findings.membership) = (vec![0; n], vec![1.0; n]);
        } else {
            findings.label_by_spectrum(slices, saved, observer)?;
        }
        findings.pieces = self.pieces(ranks);
        Ok(findings.into_model())
    }

    fn findings(&self, params: &Settled) -> Findings {
        Findings {
            sigma: self.sigma.clone(),
            timings: vec![(Stage::Neighbors, self.seconds[0]), (Stage::Slices, self.seconds[1])],
            warnings: self.warnings.clone(),
            precision: self.precision,
            n_features: self.n_features,
            binned: self.binned_report(),
            search: self.binned_report().map(|report| report.search),
            ..Findings::of(params.clone(), Source::Pairs(self.pairs.clone()))
        }
    }
}

impl Findings {
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
}

/// All members. Where μ follows the data (nobody chose it) and D pushes every member's V to zero, as it can on a few
/// dozen evenly spread points, D is given a quarter of its weight until V lives, and in the end none; a warning
/// says so.
fn learn<S: Slices>(
    slices: &S,
    findings: &mut Findings,
    side_by_side: usize,
    mut known: Earlier<'_>,
    observer: &dyn Observer,
) -> Result<Vec<Member>>
where
    S::Graph: Sync,
{
    let asked = findings.params.lsdg.beta;
    loop {
        let members = Ensemble::new(slices, &findings.params, &known, observer)?.learn(side_by_side);
        let lsdg = findings.params.lsdg;
        let follows = matches!(lsdg.density, Density::Neighbors(_)) && lsdg.dissimilarity && lsdg.beta > 0.0;
        let learns = findings.params.n_clusters > 1;
        if learns && follows && matches!(members, Err(Error::Collapsed { .. })) {
            findings.params.weaker_beta(if lsdg.beta > LEAST_BETA { lsdg.beta / 4.0 } else { 0.0 });
            if let Some(round) = &mut known.saved {
                round.attempt += 1;
            }
            continue;
        }
        if lsdg.beta < asked {
            findings.warnings.push(Warning::WeakerBeta { asked, used: lsdg.beta });
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
