//! Members: weights from labels, a graph from weights, labels from the graph, in turn.

use rayon::prelude::*;

use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result};
use crate::learn::lsdg::objective::{Coefficients, Objective};
use crate::learn::nearfar::TRUSTED;
use crate::learn::trace::TraceRow;
use crate::learn::{Learned, Member, StopReason};
use crate::math::factor::Factor;
use crate::observe::{Event, Observer, Stage, go_on};
use crate::partition::{Network, by_parts, fine_for, into_exactly_from, renumber};
use crate::processes::Share;
use crate::slices::ranked::{Parts, Ranked, weights};
use crate::tree::bridges::Bridges;
use crate::views::View;

/// How often weights and labels take turns.
const ROUNDS: usize = 2;
/// Partitions of a view's starting graph that its members start from, in turn.
const STARTS: usize = 2;

/// What all members share.
pub(crate) struct Learner<'a> {
    /// Views with their weight and neighbours.
    pub(crate) views: &'a [(View, f64, &'a Ranked)],
    /// What joins pieces, view by view.
    pub(crate) bridges: &'a [Bridges<'a>],
    pub(crate) k: usize,
    pub(crate) seed: u64,
    /// Who shares the members, where several processes do.
    pub(crate) share: Option<&'a Share>,
    pub(crate) checkpoint: Option<&'a Checkpoint>,
    pub(crate) observer: &'a dyn Observer,
}

/// What came of one member.
#[derive(Clone, Debug)]
pub(crate) struct LearntMember {
    /// Place of its view.
    pub(crate) view: usize,
    pub(crate) labels: Vec<u32>,
    /// w over the ranks from 1 on.
    pub(crate) weights: Vec<f64>,
    pub(crate) member: Member,
}

/// What is worth keeping of a member: the rest follows from it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Learnt {
    pub(crate) labels: Vec<u32>,
    pub(crate) weights: Vec<f64>,
    /// Rows of the trace: modularity, share of labels that changed, change of the weights.
    pub(crate) rounds: Vec<[f64; 3]>,
}

/// What the members of a view stand on.
struct Ground {
    /// Partitions that they start from, in turn, each with its resolution; empty where nobody does.
    starts: Vec<(Vec<u32>, f64)>,
    /// Where points are many: small parts of them, found once, that the members divide among the clusters.
    parts: Option<Parts>,
}

impl Ground {
    /// Labels of the nodes that are partitioned.
    fn of_nodes(&self, labels: &[u32]) -> Vec<u32> {
        let Some(parts) = &self.parts else { return labels.to_vec() };
        let mut of_parts = vec![0; parts.count()];
        parts.of.iter().zip(labels).for_each(|(part, label)| of_parts[*part as usize] = *label);
        of_parts
    }
}

impl Learner<'_> {
    /// All members of all views, view by view.
    pub(crate) fn learn(&self) -> Result<Vec<LearntMember>> {
        let n_members = self.views.len() * TRUSTED.len();
        let mut learnt: Vec<Option<Learnt>> = (0..n_members)
            .map(|place| self.checkpoint.and_then(|c| c.member(place, self.sizes(), self.observer)))
            .collect();
        // Whoever has enough still gets the first member of every view.
        let wanted = |place: usize| place.is_multiple_of(TRUSTED.len()) || !self.observer.enough();
        let missing: Vec<usize> = (0..n_members).filter(|place| learnt[*place].is_none()).collect();
        let (size, rank) = self.share.map_or((1, 0), |share| (share.team().size(), share.team().rank()));
        let mine: Vec<usize> = missing.iter().copied().skip(rank).step_by(size).collect();
        let grounds = self.grounds(&mine)?;
        let made: Result<Vec<(usize, Option<Learnt>)>> = mine
            .par_iter()
            .map(|&place| {
                if size == 1 && !wanted(place) {
                    return Ok((place, None));
                }
                let (view, t) = (place / TRUSTED.len(), place % TRUSTED.len());
                let Some(ground) = &grounds[view] else { return Ok((place, None)) };
                let learnt = self.one(view, t, place, ground)?;
                // At once: a run that is cancelled leaves the members behind that it has finished.
                let state = &self.found(place, learnt.clone()).member;
                self.observer.notice(&Event::Member { member: place, state });
                if let Some(checkpoint) = self.checkpoint.filter(|_| size == 1) {
                    checkpoint.keep_member(place, &learnt, self.observer);
                }
                let done = Event::Progress { stage: Stage::Learn, done: 1, total: n_members as u64 };
                self.observer.notice(&done);
                Ok((place, Some(learnt)))
            })
            .collect();
        for (place, made) in self.told(made)? {
            learnt[place] = made;
        }
        let found = |(place, learnt): (usize, Option<Learnt>)| learnt.map(|learnt| self.found(place, learnt));
        Ok(learnt.into_iter().enumerate().filter_map(found).collect())
    }

    /// Points, and weights of a member.
    fn sizes(&self) -> (usize, usize) {
        self.views.first().map_or((0, 0), |(_, _, ranked)| (ranked.n, ranked.k))
    }

    /// What the members of these places stand on, view by view; `None` of views of others.
    fn grounds(&self, places: &[usize]) -> Result<Vec<Option<Ground>>> {
        let needed: Vec<Vec<usize>> = (0..self.views.len())
            .map(|view| places.iter().filter(|place| **place / TRUSTED.len() == view).copied().collect())
            .collect();
        (0..self.views.len())
            .into_par_iter()
            .map(
                |view| {
                    if needed[view].is_empty() {
                        Ok(None)
                    } else {
                        self.ground(view, &needed[view]).map(Some)
                    }
                },
            )
            .collect()
    }

    fn ground(&self, view: usize, places: &[usize]) -> Result<Ground> {
        go_on(self.observer, Stage::Learn)?;
        let seed = self.seed.wrapping_mul(100);
        let network = Network::new(&self.views[view].2.start_graph());
        let small = by_parts(&network, fine_for(self.k, network.n_nodes()), seed);
        let (network, parts) = match small {
            Some((small, of)) => {
                let count = small.n_nodes();
                (small, Some(Parts::new(of, count)))
            }
            None => (network, None),
        };
        let mut ground = Ground { starts: Vec::new(), parts };
        let starts: Result<Vec<(Vec<u32>, f64)>> = (0..STARTS)
            .into_par_iter()
            .map(|start| {
                if places.iter().all(|place| place % TRUSTED.len() % STARTS != start) {
                    return Ok((Vec::new(), 1.0));
                }
                go_on(self.observer, Stage::Learn)?;
                Ok(self.divided(view, &network, &ground, (seed.wrapping_add(start as u64), 1.0)))
            })
            .collect();
        ground.starts = starts?;
        Ok(ground)
    }

    /// Exactly k clusters of the points from a graph of them, or of their parts; the resolution is sought from this
    /// one upwards.
    fn divided(
        &self,
        view: usize,
        network: &Network,
        ground: &Ground,
        (seed, from): (u64, f64),
    ) -> (Vec<u32>, f64) {
        let bridges = &self.bridges[view];
        let Some(Parts { of, .. }) = &ground.parts else {
            return into_exactly_from(network, self.k, seed, bridges, from);
        };
        let (labels, resolution) = into_exactly_from(network, self.k, seed, &bridges.between(of), from);
        let mut labels = of.iter().map(|part| labels[*part as usize]).collect::<Vec<_>>();
        renumber(&mut labels);
        (labels, resolution)
    }

    /// What every process made, in all of them.
    fn told(&self, made: Result<Vec<(usize, Option<Learnt>)>>) -> Result<Vec<(usize, Option<Learnt>)>> {
        let Some(share) = self.share.filter(|share| share.is_split()) else { return made };
        let team = share.team();
        team.agree();
        if team.any("members", made.is_err()) {
            return Err(made.err().unwrap_or(Error::Cancelled { stage: Stage::Learn.name() }));
        }
        let (n, k) = self.sizes();
        let mine: Vec<(usize, Learnt)> =
            made?.into_iter().filter_map(|(place, learnt)| learnt.map(|learnt| (place, learnt))).collect();
        let (places, _) =
            team.gather("members", &mine.iter().map(|(place, _)| *place as u64).collect::<Vec<_>>());
        let join = |of: &dyn Fn(&Learnt) -> Vec<f64>| -> Vec<f64> {
            mine.iter().flat_map(|(_, learnt)| of(learnt)).collect()
        };
        let labels: Vec<u32> = mine.iter().flat_map(|(_, learnt)| learnt.labels.iter().copied()).collect();
        let (labels, _) = team.gather("members", &labels);
        let (weights, _) = team.gather("members", &join(&|learnt| learnt.weights.clone()));
        let (rounds, _) = team.gather("members", &join(&|learnt| learnt.rounds.concat()));
        let whole = |at: usize| Learnt {
            labels: labels[at * n..(at + 1) * n].to_vec(),
            weights: weights[at * k..(at + 1) * k].to_vec(),
            rounds: rounds[at * 3 * ROUNDS..(at + 1) * 3 * ROUNDS].as_chunks().0.to_vec(),
        };
        let all: Vec<(usize, Option<Learnt>)> =
            places.iter().enumerate().map(|(at, place)| (*place as usize, Some(whole(at)))).collect();
        if let Some(checkpoint) = self.checkpoint {
            for (place, learnt) in &all {
                learnt.iter().for_each(|learnt| checkpoint.keep_member(*place, learnt, self.observer));
            }
        }
        Ok(all)
    }

    /// Weights, graph and labels in turn.
    fn one(&self, view: usize, t: usize, place: usize, ground: &Ground) -> Result<Learnt> {
        let (_, _, ranked) = self.views[view];
        let seed = self.seed.wrapping_mul(100).wrapping_add(t as u64);
        let (start, resolution) = &ground.starts[t % STARTS];
        let (mut labels, mut near, mut rounds) = (start.clone(), Vec::new(), Vec::new());
        let mut still = None;
        for round in 1..=ROUNDS {
            go_on(self.observer, Stage::Learn)?;
            let told = if let Some(quality) = still {
                // Labels that a round left as they were give the same weights, graph and labels again.
                [quality, 0.0, 0.0]
            } else {
                let before = (labels, near);
                near = weights(&ranked.agreement(&before.0), TRUSTED[t]);
                let graph = match &ground.parts {
                    Some(parts) => ranked.graph_of_parts(&near, parts),
                    None => ranked.graph(&near),
                };
                let network = Network::new(&graph);
                (labels, _) = self.divided(view, &network, ground, (seed, *resolution));
                let quality = network.modularity(&ground.of_nodes(&labels), 1.0);
                [quality, moved(&before.0, &labels), change(&before.1, &near)]
            };
            still = (told[1] == 0.0).then_some(told[0]);
            self.observer.notice(&Event::Iteration { member: place, row: &traced(round, told) });
            rounds.push(told);
        }
        Ok(Learnt { labels, weights: near, rounds })
    }

    /// A member as models have it.
    fn found(&self, place: usize, learnt: Learnt) -> LearntMember {
        let (view, t) = (place / TRUSTED.len(), place % TRUSTED.len());
        let Learnt { labels, weights, rounds } = learnt;
        let loss = 1.0 - rounds.last().map_or(0.0, |told| told[0]);
        let trace = rounds.into_iter().zip(1..).map(|(told, round)| traced(round, told)).collect();
        let member = Member {
            spectral_start: false,
            view: Some(self.views[view].0),
            neighbors: Some(TRUSTED[t]),
            coefficients: Coefficients { alpha: 0.0, beta: None, mu: 0.0, eta: 0.0 },
            factor: Factor::default(),
            near_weights: std::iter::once(0.0).chain(weights.iter().copied()).collect(),
            far_weights: Vec::new(),
            started: Learned { iterations: ROUNDS, reason: StopReason::Completed, trace },
            learned: None,
            objective: Objective { fit: loss, ..Objective::default() },
            labels: Some(labels.iter().map(|label| *label as usize).collect()),
            votes: Vec::new(),
            cut: Some(loss),
            kept: true,
            dead_columns: 0,
        };
        LearntMember { view, labels, weights, member }
    }
}

/// A row of the trace: as loss what is not within clusters beyond chance, which falls as labels and graph come to
/// agree.
fn traced(round: usize, [quality, labels, weights]: [f64; 3]) -> TraceRow {
    let mut row = TraceRow::of_fit(round, 1.0 - quality);
    row.change = [labels, weights, 0.0];
    row
}

/// Share of points whose label changed, both numbered by first appearance.
fn moved(before: &[u32], now: &[u32]) -> f64 {
    let moved = before.iter().zip(now).filter(|(a, b)| a != b).count();
    moved as f64 / now.len().max(1) as f64
}

/// ‖w − w_before‖ / ‖w_before‖; 1 where there was none before.
fn change(before: &[f64], now: &[f64]) -> f64 {
    if before.is_empty() {
        return 1.0;
    }
    let apart: f64 = before.iter().zip(now).map(|(a, b)| (a - b).powi(2)).sum();
    (apart / before.iter().map(|x| x * x).sum::<f64>().max(f64::MIN_POSITIVE)).sqrt()
}
