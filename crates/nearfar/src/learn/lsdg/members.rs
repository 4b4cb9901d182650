//! The members of a run: learnt one by one or side by side, judged without labels, merged into one Z.
//!
//! Single starts end in different local minima. A member's labels are judged by their normalised cut on the starting
//! graph, the better ones are kept, and Z is the mean of theirs.

use std::time::Instant;

use rayon::prelude::*;

use crate::checkpoint::{Round, Sizes, Standing};
use crate::error::{Error, Result};
use crate::learn::aosymnmf::AoSymNmf;
use crate::learn::lsdg::objective::{Coefficients, Objective};
use crate::learn::lsdg::starts::{RememberedStarts, StartKey};
use crate::learn::lsdg::{Alpha, Density, Lsdg, LsdgParams, start_weights};
use crate::learn::member::{MEMBER_STREAM, while_learning};
use crate::learn::phals::Phals;
use crate::learn::run::{Keep, run_kept};
use crate::learn::{Learned, Member, StopReason, TraceRow, start};
use crate::math::factor::Factor;
use crate::math::rng::Stream;
use crate::observe::{Event, Observer, Quiet, Stage};
use crate::params::{Params, Settled};
use crate::slices::{Graph, Slices};
use crate::spectral;
use crate::spectral::eigen::{EigenParams, largest};

/// Noise on a start from labels, as a share of a typical entry.
const START_NOISE: f64 = 0.1;
/// k-means restarts where labels only serve to judge or to start a member.
const QUICK_RESTARTS: usize = 5;

/// Everything members share.
pub(crate) struct Ensemble<'a, S: Slices> {
    pub(crate) slices: &'a S,
    pub(crate) params: &'a Settled,
    pub(crate) observer: &'a dyn Observer,
    /// sym S(w₀), only where members are judged.
    base: Option<S::Graph>,
    /// α where it is relative.
    leading: f64,
    known: &'a Earlier<'a>,
}

/// What earlier runs on the same data found.
pub(crate) struct Earlier<'a> {
    /// Starting factors.
    pub(crate) starts: Option<&'a RememberedStarts>,
    /// Where the members are kept.
    pub(crate) saved: Option<Round<'a>>,
}

/// A member before its main loop, or in the middle of it.
struct Begun {
    factor: Factor,
    started: Learned,
    /// w and p.
    weights: (Vec<f64>, Vec<f64>),
    /// The trace of the main loop, and why it ended where it did, of a member that stood in the middle.
    standing: Option<(Vec<TraceRow>, Option<StopReason>)>,
}

impl<'a, S: Slices> Ensemble<'a, S>
where
    S::Graph: Sync,
{
    pub(crate) fn new(
        slices: &'a S,
        params: &'a Settled,
        known: &'a Earlier<'a>,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let relative = matches!(params.lsdg.alpha, Alpha::Relative(_)) && params.lsdg.orthogonality;
        let judged = params.starts > 1;
        let mut this = Self { slices, params, observer, base: None, leading: 0.0, known };
        if relative || judged {
            let mut base = slices.new_graph();
            slices.combine(&this.start_weights().0, &mut base);
            if relative {
                let eigen = EigenParams { tolerance: 1e-8, seed: params.seed, ..EigenParams::default() };
                this.leading = largest(&base, 1, &eigen, &|| observer.cancelled())
                    .ok_or(Error::Cancelled { stage: Stage::Learn.name() })?
                    .values[0];
            }
            this.base = judged.then_some(base);
        }
        Ok(this)
    }

    fn start_weights(&self) -> (Vec<f64>, Vec<f64>) {
        let k0 = self.params.lsdg.resolved_start_ranks(self.slices.n_samples());
        start_weights(self.slices.multiplicity(), k0)
    }

    /// Learn all members, `side_by_side` at a time, and mark the kept ones.
    pub(crate) fn learn(&self, side_by_side: usize) -> Result<Vec<Member>> {
        let total = self.params.starts as u64;
        let mut members: Vec<Member> = Vec::with_capacity(self.params.starts);
        let all: Vec<usize> = (0..self.params.starts).collect();
        for batch in all.chunks(side_by_side.max(1)) {
            let learnt: Result<Vec<Member>> =
                batch.par_iter().map(|&member| self.learn_one(member)).collect();
            members.extend(learnt?);
            let done = batch.len() as u64;
            self.observer.notice(&Event::Progress { stage: Stage::Learn, done, total });
            let enough = self.observer.enough();
            if let Some(round) = self.known.saved
                && (enough || members.iter().any(Member::stopped))
            {
                round.checkpoint.close();
            }
            if enough {
                break;
            }
        }
        if members.iter().all(Member::collapsed) {
            let iteration = members[0].last_loop().iterations;
            return Err(Error::Collapsed { iteration, cause: self.cause_of_collapse(&members[0]) });
        }
        let mut order: Vec<usize> = (0..members.len()).filter(|m| !members[*m].collapsed()).collect();
        let cut = |m: &usize| members[*m].cut.unwrap_or(0.0);
        order.sort_by(|a, b| cut(a).total_cmp(&cut(b)).then(a.cmp(b)));
        let cuts: Vec<f64> = order.iter().map(cut).collect();
        order.truncate(self.params.kept(&cuts));
        for m in order {
            members[m].kept = true;
        }
        Ok(members)
    }

    fn cause_of_collapse(&self, member: &Member) -> String {
        let Coefficients { beta, mu, .. } = member.coefficients;
        let other = match self.params.lsdg.density {
            Density::Mu { .. } => format!("mu above {mu}"),
            Density::Neighbors(k) => format!("more neighbors than {k}"),
        };
        match beta {
            Some(beta) if beta > 1.0 => {
                format!("beta = {beta} pushes every pair apart; try a smaller beta (1 to 10), or {other}")
            }
            _ => "the graph holds too little weight; try more neighbors or a larger mu".into(),
        }
    }

    fn alpha(&self, lsdg: &LsdgParams) -> f64 {
        match lsdg.alpha {
            _ if !lsdg.orthogonality => 0.0,
            Alpha::Absolute(alpha) => alpha,
            Alpha::Relative(share) => share * self.leading,
        }
    }

    /// One member: from the checkpoint where it is finished there, else learnt and kept.
    fn learn_one(&self, member: usize) -> Result<Member> {
        let found = self.known.saved.and_then(|round| round.member(member, self.sizes(), self.observer));
        if let Some(found) = found {
            found.last_loop().tell_again(member, self.observer);
            self.tell(member, &found);
            return Ok(found);
        }
        let result = self.learn_anew(member)?;
        if let Some(round) = self.known.saved {
            round.keep_member(member, &result, self.observer);
        }
        Ok(result)
    }

    fn learn_anew(&self, member: usize) -> Result<Member> {
        let lsdg = self.params.member(member);
        let spectral_start = self.params.starts_spectral(member);
        let alpha = self.alpha(&lsdg);
        let mut graph = self.slices.new_graph();
        let Begun { factor, started, weights, standing } = self.begin(member, &lsdg, alpha, &mut graph)?;
        let neighbors = match lsdg.density {
            Density::Neighbors(k) => Some(k),
            Density::Mu { .. } => None,
        };
        let mut result = Member {
            spectral_start,
            view: None,
            neighbors,
            coefficients: Coefficients { alpha, beta: None, mu: 1.0, eta: 0.0 },
            factor,
            near_weights: weights.0.clone(),
            far_weights: weights.1.clone(),
            started,
            learned: None,
            objective: Objective::default(),
            labels: None,
            votes: Vec::new(),
            cut: None,
            kept: false,
            dead_columns: 0,
        };
        if result.started.reason != StopReason::Cancelled {
            let start = std::mem::take(&mut result.factor);
            let mut learner = Lsdg::new(self.slices, graph, start, weights, lsdg, alpha);
            result.learned = Some(self.main_loop(member, &mut learner, &result.started, standing));
            result.objective = learner.objective();
            result.coefficients = learner.coefficients();
            (result.factor, result.near_weights, result.far_weights, graph) = learner.into_parts();
        }
        if result.last_loop().reason == StopReason::Cancelled {
            self.tell(member, &result);
            return Err(Error::Cancelled { stage: Stage::Learn.name() });
        }
        result.dead_columns =
            (0..result.factor.n_columns()).filter(|j| result.factor.nonzeros(*j).0.is_empty()).count();
        if let Some(base) = &self.base
            && !result.collapsed()
        {
            self.judge(&mut result, base, &mut graph)?;
        }
        self.tell(member, &result);
        Ok(result)
    }

    /// What the main loop of a member starts from: where it stood, or what the starting loop makes.
    fn begin(&self, member: usize, lsdg: &LsdgParams, alpha: f64, graph: &mut S::Graph) -> Result<Begun> {
        let weights = self.start_weights();
        let standing = self.known.saved.and_then(|round| round.standing(member, self.sizes(), self.observer));
        let (factor, started) = match (standing, self.known.starts) {
            (Some(Standing { factor, trace, ended, main: Some(main) }), _) => {
                let (weights, standing) = ((main.near_weights, main.far_weights), Some((trace, ended)));
                return Ok(Begun { factor, started: main.started, weights, standing });
            }
            (Some(Standing { factor, trace, ended: Some(reason), .. }), _) => {
                (factor, Learned::again(trace, reason))
            }
            (Some(Standing { factor, trace, .. }), _) => {
                self.slices.combine(&weights.0, graph);
                self.started_factor(member, graph, factor, Some(trace), alpha)
            }
            (None, Some(known)) if !self.params.starts_spectral(member) && !self.params.orthogonal_start => {
                let start =
                    start::random(self.slices.n_samples(), self.params.n_clusters, &mut self.stream(member));
                known.get_or(self.start_key(member, lsdg), || {
                    self.slices.combine(&weights.0, graph);
                    self.started_factor(member, graph, start, None, alpha)
                })
            }
            _ => {
                let start = self.start_factor(member, self.params.starts_spectral(member), lsdg, graph)?;
                self.slices.combine(&weights.0, graph);
                self.started_factor(member, graph, start, None, alpha)
            }
        };
        Ok(Begun { factor, started, weights, standing: None })
    }

    /// The main loop, from its beginning or from where it stood.
    fn main_loop(
        &self,
        member: usize,
        learner: &mut Lsdg<'_, S>,
        started: &Learned,
        standing: Option<(Vec<TraceRow>, Option<StopReason>)>,
    ) -> Learned {
        if let Some((trace, Some(reason))) = standing {
            let learned = Learned::again(trace, reason);
            learned.tell_again(member, self.observer);
            return learned;
        }
        let (stop, before) = (&self.params.stop, standing.map(|(trace, _)| trace));
        let mut keep = self.keeper(member, Some(started));
        run_kept(learner, before, stop, member, self.observer, &mut *keep)
    }

    /// Keeps the state of a loop of this member, where the run is kept. `started` is the loop before the main one.
    fn keeper<'b>(&'b self, member: usize, started: Option<&'b Learned>) -> Box<Keep<'b>> {
        let Some(round) = self.known.saved else { return Box::new(|_, _, _| {}) };
        let mut last = Instant::now();
        Box::new(move |method, trace, ended| {
            round.keep_loop(member, &mut last, (method, trace, ended), started, self.observer);
        })
    }

    fn sizes(&self) -> Sizes {
        Sizes {
            samples: self.slices.n_samples(),
            clusters: self.params.n_clusters,
            weights: self.slices.multiplicity().len(),
        }
    }

    /// Tell of a member, with its weights by rank.
    fn tell(&self, member: usize, result: &Member) {
        if result.near_weights.len() == self.slices.n_samples() {
            self.observer.notice(&Event::Member { member, state: result });
            return;
        }
        let state = Member {
            near_weights: self.slices.per_rank(&result.near_weights),
            far_weights: self.slices.per_rank(&result.far_weights),
            ..result.clone()
        };
        self.observer.notice(&Event::Member { member, state: &state });
    }

    fn stream(&self, member: usize) -> Stream {
        Stream::new(self.params.seed, MEMBER_STREAM + member as u64)
    }

    fn start_key(&self, member: usize, lsdg: &LsdgParams) -> StartKey {
        let Params { n_clusters, seed, stop, .. } = **self.params;
        let start_ranks = lsdg.resolved_start_ranks(self.slices.n_samples());
        StartKey { n_clusters, seed, member, start_ranks, stop }
    }

    /// V before the first loop.
    fn start_factor(
        &self,
        member: usize,
        spectral_start: bool,
        lsdg: &LsdgParams,
        graph: &mut S::Graph,
    ) -> Result<Factor> {
        let (n, r) = (self.slices.n_samples(), self.params.n_clusters);
        let mut stream = self.stream(member);
        if !spectral_start {
            return Ok(start::random(n, r, &mut stream));
        }
        let ranks = match lsdg.density {
            Density::Neighbors(k) => k.saturating_add(1),
            Density::Mu { .. } => lsdg.resolved_start_ranks(n),
        };
        self.slices.combine(&start_weights(self.slices.multiplicity(), ranks).0, graph);
        let seed = stream.bits();
        let found =
            spectral::cluster(graph, r, QUICK_RESTARTS, seed, self.observer).map_err(while_learning)?;
        Ok(start::from_labels(&found.labels, r, START_NOISE, &mut stream))
    }

    /// The loop on the fixed starting graph; `before` is the trace of the iterations that left `start`, where it
    /// was begun before.
    fn started_factor(
        &self,
        member: usize,
        graph: &S::Graph,
        start: Factor,
        before: Option<Vec<TraceRow>>,
        alpha: f64,
    ) -> (Factor, Learned) {
        let (stop, reseed) = (&self.params.stop, self.params.lsdg.reseed);
        // Iterations of this loop are no progress of the main one.
        let observer = &Quiet(self.observer);
        let mut keep = self.keeper(member, None);
        if self.params.orthogonal_start {
            let mut method = match before {
                None => AoSymNmf::new(graph, start, alpha, reseed),
                Some(_) => AoSymNmf::resumed(graph, start, alpha, reseed),
            };
            let learned = run_kept(&mut method, before, stop, member, observer, &mut *keep);
            (method.into_factor(), learned)
        } else {
            let mut method = match before {
                None => Phals::new(graph, start),
                Some(_) => Phals::resumed(graph, start),
            };
            let learned = run_kept(&mut method, before, stop, member, observer, &mut *keep);
            (method.into_factor(), learned)
        }
    }

    /// Labels of one member and their cut; `graph` is scratch.
    fn judge(&self, member: &mut Member, base: &S::Graph, graph: &mut S::Graph) -> Result<()> {
        let r = self.params.n_clusters;
        graph.clear();
        self.slices.augment(&member.near_weights, &member.far_weights, &member.factor, 1.0, graph);
        let found = spectral::cluster(graph, r, QUICK_RESTARTS, self.params.seed, self.observer);
        let labels = found.map_err(while_learning)?.labels;
        member.cut = Some(spectral::normalized_cut(base, &labels, r));
        member.labels = Some(labels);
        Ok(())
    }
}
