//! Members: weights from labels, a graph from weights, labels from the graph, in turn.

use rayon::prelude::*;

use super::TRUSTED;
use super::ranked::{Ranked, weights};
use crate::consensus::Member;
use crate::error::Result;
use crate::learn::lsdg::objective::{Coefficients, Objective};
use crate::learn::trace::TraceRow;
use crate::learn::{Learned, StopReason};
use crate::math::factor::Factor;
use crate::observe::{Event, Observer, Stage, go_on};
use crate::partition::{Evidence, Network, into_exactly};
use crate::views::View;

/// How often weights and labels take turns.
const ROUNDS: usize = 2;
/// Partitions of a view's starting graph that its members start from, in turn.
const STARTS: usize = 2;

/// What all members share.
pub(super) struct Learner<'a> {
    /// Views with their weight and neighbours.
    pub(super) views: &'a [(View, f64, &'a Ranked)],
    pub(super) k: usize,
    pub(super) seed: u64,
    pub(super) observer: &'a dyn Observer,
}

/// What came of one member.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Place of its view.
    pub(super) view: usize,
    pub(super) labels: Vec<u32>,
    /// w over the ranks from 1 on.
    pub(super) weights: Vec<f64>,
    pub(super) member: Member,
}

impl Learner<'_> {
    /// All members of all views, view by view.
    pub(super) fn learn<E: Evidence>(&self, across: &(impl Fn(View) -> E + Sync)) -> Result<Vec<Found>> {
        let seed = self.seed.wrapping_mul(100);
        let starts: Vec<(usize, usize)> =
            (0..self.views.len()).flat_map(|view| (0..STARTS).map(move |start| (view, start))).collect();
        let first: Result<Vec<Vec<u32>>> = starts
            .par_iter()
            .map(|(view, start)| {
                go_on(self.observer, Stage::Learn)?;
                let (name, _, ranked) = self.views[*view];
                let network = Network::new(&ranked.start_graph());
                Ok(into_exactly(&network, self.k, seed.wrapping_add(*start as u64), &across(name)))
            })
            .collect();
        let first = first?;
        let all: Vec<(usize, usize)> =
            (0..self.views.len()).flat_map(|view| (0..TRUSTED.len()).map(move |t| (view, t))).collect();
        let total = all.len() as u64;
        // Whoever has enough still gets the first member of every view.
        let wanted = |(_, t): &&(usize, usize)| *t == 0 || !self.observer.enough();
        all.par_iter()
            .filter(wanted)
            .map(|&(view, t)| {
                let start = &first[view * STARTS + t % STARTS];
                let place = view * TRUSTED.len() + t;
                let found = self.one(view, t, place, start, &across(self.views[view].0))?;
                self.observer.notice(&Event::Member { member: place, state: &found.member });
                self.observer.notice(&Event::Progress { stage: Stage::Learn, done: 1, total });
                Ok(found)
            })
            .collect()
    }

    fn one(&self, view: usize, t: usize, place: usize, start: &[u32], across: &dyn Evidence) -> Result<Found> {
        let (name, _, ranked) = self.views[view];
        let seed = self.seed.wrapping_mul(100).wrapping_add(t as u64);
        let (mut labels, mut near, mut trace) = (start.to_vec(), Vec::new(), Vec::new());
        let mut quality = 0.0;
        for round in 1..=ROUNDS {
            go_on(self.observer, Stage::Learn)?;
            let before = (labels.clone(), near);
            near = weights(&ranked.agreement(&labels), TRUSTED[t]);
            let network = Network::new(&ranked.graph(&near));
            labels = into_exactly(&network, self.k, seed, across);
            quality = network.modularity(&labels, 1.0);
            // What is not within clusters beyond chance: falls as labels and graph come to agree.
            let mut row = TraceRow::of_fit(round, 1.0 - quality);
            row.change = [moved(&before.0, &labels), change(&before.1, &near), 0.0];
            self.observer.notice(&Event::Iteration { member: place, row: &row });
            trace.push(row);
        }
        let member = Member {
            spectral_start: false,
            view: Some(name),
            neighbors: Some(TRUSTED[t]),
            coefficients: Coefficients { alpha: 0.0, beta: None, mu: 0.0, eta: 0.0 },
            factor: Factor::default(),
            near_weights: std::iter::once(0.0).chain(near.iter().copied()).collect(),
            far_weights: Vec::new(),
            started: Learned { iterations: ROUNDS, reason: StopReason::Completed, trace },
            learned: None,
            objective: Objective { fit: 1.0 - quality, ..Objective::default() },
            labels: Some(labels.iter().map(|label| *label as usize).collect()),
            votes: Vec::new(),
            cut: Some(1.0 - quality),
            kept: true,
            dead_columns: 0,
        };
        Ok(Found { view, labels, weights: near, member })
    }
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
