#![doc = include_str!("about.md")]

#[cfg(test)]
mod tests;
mod update;

use std::fmt;

use rayon::prelude::*;

use super::family::{Fitted, Labeling, Task};
use super::multiplicative::{Regularizer, quarter_step};
use super::phals::FixedGraph;
use super::run::{Method, run};
use super::start;
use super::stop::{StopReason, StopRule};
use super::table::{Entry, GRAPH, ITERATIONS, Kind, Needs, STARTS, Setting, TOLERANCE, own};
use super::trace::TraceRow;
use crate::error::Result;
use crate::learn::member::row_argmax;
use crate::math::factor::Factor;
use crate::math::rng::Stream;
use crate::observe::{Observer, Quiet};
use crate::slices::Graph;
use update::{Votes, weigh};

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "s3nmf",
    line: "Rounds of many symmetric NMFs; each round's graph is the vote of the last (Jia et al. 2022).",
    about: include_str!("about.md"),
    needs: Needs::Graph,
    matrices: 0,
    class: "S3NMF",
    settings: &[OWN, GRAPH, STARTS, ITERATIONS, TOLERANCE],
};

const OWN: &[Setting] = &[
    Setting::at("tau", Kind::Above(1.0, 1e3), "How evenly members are weighed", own!(S3Nmf, tau)),
    Setting::at("members", Kind::Whole(1, 1000), "Factorisations per round", own!(S3Nmf, members)),
    Setting::at("rounds", Kind::Whole(1, 1000), "Rounds", own!(S3Nmf, rounds)),
    Setting::at(
        "hard_votes",
        Kind::Switch,
        "Let members vote with their labels instead of their factors",
        own!(S3Nmf, hard),
    )
    .named("soft-votes", "hard_votes"),
];

/// Settings of the method.
///
#[doc = include_str!("about.md")]
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct S3NmfParams {
    /// τ: how evenly members are weighed, above 1 and at most 1e3.
    pub tau: f64,
    /// Factorisations per round, at least 1.
    pub members: usize,
    /// Rounds, at least 1.
    pub rounds: usize,
    /// Whether a member votes with its labels instead of its VVᵀ.
    pub hard: bool,
}

impl Default for S3NmfParams {
    /// As the published program, but for two rounds instead of its ten: later ones lose accuracy, and two give the
    /// LSDG paper's figures.
    fn default() -> Self {
        Self { tau: 2.0, members: 20, rounds: 2, hard: true }
    }
}

/// One start.
pub(crate) fn learn(mut task: Task<'_>, params: &S3NmfParams) -> Result<Fitted> {
    let (graph, start) = (task.graph(), task.start);
    let (n, r, seed) = (start.n_samples(), task.n_clusters, task.stream.bits());
    let members = params.members as u64;
    let starts = |round: usize, member: usize| {
        if (round, member) == (0, 0) {
            return start.clone();
        }
        start::random(n, r, &mut Stream::new(seed, round as u64 * members + member as u64))
    };
    let mut method = S3Nmf::new(graph, &starts, *params, *task.stop);
    let mut learned = run(&mut method, &params.all_rounds(), task.member, task.observer);
    Task::unless_cancelled(&learned)?;
    if learned.reason == StopReason::MaxIterations {
        learned.reason = StopReason::Completed; // the rounds are the plan, not a limit
    }
    let objective = method.objective();
    let (factor, votes) = method.into_best();
    Ok(Fitted { learned, factor, objective, labeling: Labeling::Voted(votes) })
}

impl S3NmfParams {
    /// Every round, whatever the objective does: it is not comparable between rounds.
    fn all_rounds(&self) -> StopRule {
        StopRule { max_iter: self.rounds, loss_tolerance: -1.0, change_tolerance: -1.0 }
    }
}

/// The V that member `.1` of round `.0` starts from.
pub(crate) type StartOf<'a> = dyn Fn(usize, usize) -> Factor + Sync + 'a;

/// The method; one step is one round. See the module.
pub struct S3Nmf<'a, G> {
    graph: &'a G,
    starts: &'a StartOf<'a>,
    params: S3NmfParams,
    stop: StopRule,
    round: usize,
    /// The graph of every round but the first.
    votes: Option<Votes>,
    /// The factors of the last round, and h = ‖S − VVᵀ‖² of each.
    members: Vec<(Factor, f64)>,
    best: Factor,
    objective: f64,
}

impl<G> fmt::Debug for S3Nmf<'_, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Nmf")
            .field("params", &self.params)
            .field("round", &self.round)
            .finish_non_exhaustive()
    }
}

impl<'a, G: Graph> S3Nmf<'a, G> {
    /// Rounds on `graph`; `stop` ends every member's own loop.
    pub fn new(graph: &'a G, starts: &'a StartOf<'a>, params: S3NmfParams, stop: StopRule) -> Self {
        Self {
            graph,
            starts,
            params,
            stop,
            round: 0,
            votes: None,
            members: Vec::new(),
            best: Factor::default(),
            objective: f64::INFINITY,
        }
    }

    /// Σ α_i^τ ‖S − V_iV_iᵀ‖² of the last round, on the graph of that round.
    pub fn objective(&self) -> f64 {
        self.objective
    }

    /// Factors of the last round with ‖S − VVᵀ‖² of each.
    pub fn members(&self) -> &[(Factor, f64)] {
        &self.members
    }

    /// Entry (i, j) of the graph that the next round would have.
    pub fn vote(&self, i: usize, j: usize) -> f64 {
        self.votes.as_ref().map_or_else(|| self.graph.get(i, j), |votes| votes.get(i, j))
    }

    /// The factor of the last round that fits best, and the labels of all.
    pub fn into_best(self) -> (Factor, Vec<Vec<usize>>) {
        let labels = self.members.iter().map(|(factor, _)| row_argmax(factor)).collect();
        (self.best, labels)
    }
}

impl<G: Graph> Method for S3Nmf<'_, G> {
    fn step(&mut self, iteration: usize, observer: &dyn Observer) -> Option<TraceRow> {
        let (members, tau) = (self.params.members, self.params.tau);
        let learn = |member: usize| {
            let start = (self.starts)(self.round, member);
            match &self.votes {
                None => factorize(self.graph, start, &self.stop, observer),
                Some(votes) => factorize(votes, start, &self.stop, observer),
            }
        };
        let found: Option<Vec<(Factor, f64)>> = (0..members).into_par_iter().map(learn).collect();
        self.members = found?;
        let norm2 = self.votes.as_ref().map_or_else(|| self.graph.norm2(), Graph::norm2);
        let h: Vec<f64> = self.members.iter().map(|(_, h)| *h).collect();
        let (weights, h) = weigh(&h, norm2, tau);
        self.objective = weights.iter().zip(&h).map(|(a, h)| a.powf(tau) * h).sum();
        let best =
            (1..members).fold(0, |best, i| if self.members[i].1 < self.members[best].1 { i } else { best });
        self.best = self.members[best].0.clone();
        let factors: Vec<&Factor> = self.members.iter().map(|(factor, _)| factor).collect();
        self.votes = Some(if self.params.hard {
            Votes::of_labels(&factors.iter().map(|factor| row_argmax(factor)).collect::<Vec<_>>(), weights)
        } else {
            Votes::of_factors(&factors, &weights, tau)
        });
        self.round += 1;
        Some(TraceRow { change: [1.0, 0.0, 0.0], ..TraceRow::of_fit(iteration, self.objective) })
    }

    fn factor(&self) -> &Factor {
        &self.best
    }
}

/// Symmetric NMF of this graph by multiplicative updates: V and ‖S − VVᵀ‖²; `None` when the observer asks to stop.
fn factorize<G: Graph>(
    graph: &G,
    start: Factor,
    stop: &StopRule,
    observer: &dyn Observer,
) -> Option<(Factor, f64)> {
    let mut method = Plain(FixedGraph::rescaled(graph, start));
    let learned = run(&mut method, stop, 0, &Quiet(observer));
    let h = 2.0 * method.0.fit();
    (learned.reason != StopReason::Cancelled).then_some((method.0.factor, h))
}

/// One factorisation.
struct Plain<'a, G>(FixedGraph<'a, G>);

impl<G: Graph> Method for Plain<'_, G> {
    fn start(&mut self) -> Option<TraceRow> {
        Some(TraceRow::of_fit(0, self.0.fit()))
    }

    fn step(&mut self, iteration: usize, _: &dyn Observer) -> Option<TraceRow> {
        let Self(fixed) = self;
        let next =
            quarter_step(&fixed.factor, fixed.gram(), fixed.product(), None, 0.0, Regularizer::Proposed);
        let change = self.0.replace(next);
        Some(TraceRow { change: [change, 0.0, 0.0], ..TraceRow::of_fit(iteration, self.0.fit()) })
    }

    fn factor(&self) -> &Factor {
        &self.0.factor
    }
}
