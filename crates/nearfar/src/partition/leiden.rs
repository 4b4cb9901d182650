//! Leiden: local moving, refinement, aggregation, until nothing moves (Traag, Waltman, van Eck 2019).
//!
//! The quality is Σ_c (e_c − γ' x_c²), with e_c the weight within a cluster and x_c its degrees (modularity, γ' = γ
//! / total) or its size (constant Potts, γ' = γ). One call runs on one thread, so that its bits depend on graph,
//! resolution and seed alone; many calls run side by side.

use super::network::{Network, renumber};
use crate::math::rng::Stream;

/// What is subtracted for the size of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Null {
    /// The product of degrees: modularity.
    #[default]
    Degrees,
    /// The product of sizes: the constant Potts model, the paper's own with a hard factor.
    Sizes,
}

/// Settings of one call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leiden {
    /// γ: larger gives more clusters.
    pub resolution: f64,
    /// Seed of the order of visits and of the refinement.
    pub seed: u64,
    /// What γ weighs.
    pub null: Null,
    /// Whole passes, each beginning with what the last one found.
    pub passes: usize,
}

impl Leiden {
    /// Modularity with this resolution; two passes.
    #[must_use]
    pub fn new(resolution: f64, seed: u64) -> Self {
        Self { resolution, seed, null: Null::Degrees, passes: 2 }
    }
}

/// Stream of the seed.
const STREAM: u64 = 5 << 32;
/// How freely refinement chooses among clusters that gain, as a share of a typical edge.
const FREEDOM: f64 = 0.05;
/// Visits to a node, on average and at most, where parts of clusters are wanted and not the clusters themselves.
const VISITS: usize = 3;
/// A move must gain more than this share of the node's degree, so that rounding never moves anybody for ever.
const LEAST_GAIN: f64 = 1e-12;

/// Clusters of a graph, numbered by first appearance; `start` is where to begin (every node alone where there is none).
#[must_use]
pub fn leiden(network: &Network, settings: &Leiden, start: Option<&[u32]>) -> Vec<u32> {
    let n = network.n_nodes();
    let mut labels: Vec<u32> = start.map_or_else(|| (0..n as u32).collect(), <[u32]>::to_vec);
    renumber(&mut labels);
    let Some(rule) = Rule::of(network, settings) else { return labels };
    let mut random = Stream::new(settings.seed, STREAM);
    let mut scratch = Scratch::default();
    for _ in 0..settings.passes.max(1) {
        if !pass(network, &rule, &mut labels, &mut random, &mut scratch) {
            break;
        }
    }
    renumber(&mut labels);
    labels
}

/// Small parts of a graph, whose nodes hang together well: one round of moving and refining.
pub(super) fn parts(network: &Network, seed: u64) -> (Vec<u32>, usize) {
    let n = network.n_nodes();
    let settings = Leiden::new(1.0, seed);
    let Some(rule) = Rule::of(network, &settings) else { return ((0..n as u32).collect(), n) };
    let mut random = Stream::new(seed, STREAM);
    let mut scratch = Scratch::default();
    let mut clusters: Vec<u32> = (0..n as u32).collect();
    move_nodes(network, &rule, &mut clusters, VISITS * n, &mut random, &mut scratch);
    let n_clusters = renumber(&mut clusters);
    let mut parts = refine(network, &rule, &clusters, n_clusters, &mut random, &mut scratch);
    let n_parts = renumber(&mut parts);
    (parts, n_parts)
}

/// Clusters whose nodes have all moved to where they gain most, one by one; no refinement.
pub(super) fn settled(network: &Network, settings: &Leiden, start: &[u32]) -> Vec<u32> {
    let mut labels = start.to_vec();
    renumber(&mut labels);
    if let Some(rule) = Rule::of(network, settings) {
        let mut random = Stream::new(settings.seed, STREAM);
        move_nodes(network, &rule, &mut labels, usize::MAX, &mut random, &mut Scratch::default());
        renumber(&mut labels);
    }
    labels
}

#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub(super) price: f64,
    pub(super) null: Null,
    pub(super) freedom: f64,
}

impl Rule {
    /// `None` where the graph has no weight to share out.
    fn of(network: &Network, settings: &Leiden) -> Option<Self> {
        let price = match settings.null {
            Null::Degrees if network.total > 0.0 => settings.resolution / network.total,
            Null::Degrees => return None,
            Null::Sizes => settings.resolution,
        };
        let typical = network.total / network.ends.len().max(1) as f64;
        Some(Self { price, null: settings.null, freedom: FREEDOM * typical })
    }

    pub(super) fn masses<'n>(&self, network: &'n Network) -> &'n [f64] {
        match self.null {
            Null::Degrees => &network.degree,
            Null::Sizes => &network.size,
        }
    }
}

/// Memory that is used again from level to level.
#[derive(Default)]
pub(super) struct Scratch {
    /// Weight from the node in hand to every cluster; 0 between nodes.
    to: Vec<f64>,
    touched: Vec<u32>,
    queue: Vec<u32>,
    queued: Vec<bool>,
}

impl Scratch {
    fn fit(&mut self, n: usize) {
        self.to.clear();
        self.to.resize(n, 0.0);
        self.queued.clear();
        self.queued.resize(n, true);
        self.queue.clear();
        self.queue.extend(0..n as u32);
        self.touched.clear();
    }

    /// Weights from a node to the clusters around it; the cluster of `of` is asked for neighbours that `counts`.
    #[inline]
    fn look(&mut self, network: &Network, node: usize, of: &[u32], counts: impl Fn(u32) -> bool) {
        let at = network.starts[node]..network.starts[node + 1];
        for (j, weight) in network.ends[at.clone()].iter().zip(&network.weights[at]) {
            if counts(*j) {
                let c = of[*j as usize];
                let sum = &mut self.to[c as usize];
                if *sum == 0.0 {
                    self.touched.push(c);
                }
                *sum += weight;
            }
        }
    }

    fn forget(&mut self) {
        for c in self.touched.drain(..) {
            self.to[c as usize] = 0.0;
        }
    }
}

/// Moving, refining and aggregating until every cluster is one node; whether any label changed.
fn pass(
    network: &Network,
    rule: &Rule,
    labels: &mut [u32],
    random: &mut Stream,
    scratch: &mut Scratch,
) -> bool {
    let mut changed = false;
    let mut level: Option<Network> = None;
    // Node of this level for every node of the first one, and cluster of every node of this level.
    let mut node_of: Vec<u32> = Vec::new();
    let mut clusters = labels.to_vec();
    loop {
        let graph = level.as_ref().unwrap_or(network);
        changed |= move_nodes(graph, rule, &mut clusters, usize::MAX, random, scratch);
        let n_clusters = renumber(&mut clusters);
        if level.is_none() {
            labels.copy_from_slice(&clusters);
        } else {
            labels.iter_mut().zip(&node_of).for_each(|(label, node)| *label = clusters[*node as usize]);
        }
        if n_clusters == graph.n_nodes() {
            return changed;
        }
        let mut refined = refine(graph, rule, &clusters, n_clusters, random, scratch);
        let mut n_refined = renumber(&mut refined);
        if n_refined == graph.n_nodes() {
            // Nobody could be joined within clusters: the clusters themselves are the nodes.
            (refined, n_refined) = (clusters.clone(), n_clusters);
        }
        let next = graph.aggregated(&refined, n_refined);
        let mut of_refined = vec![0; n_refined];
        for (node, to) in refined.iter().enumerate() {
            of_refined[*to as usize] = clusters[node];
        }
        if level.is_none() {
            node_of = refined;
        } else {
            node_of.iter_mut().for_each(|node| *node = refined[*node as usize]);
        }
        clusters = of_refined;
        level = Some(next);
    }
}

/// Move nodes to the cluster where they gain most, those whose surroundings changed again, until nobody moves or so
/// many nodes were visited; whether anybody moved.
fn move_nodes(
    network: &Network,
    rule: &Rule,
    clusters: &mut [u32],
    visits: usize,
    random: &mut Stream,
    scratch: &mut Scratch,
) -> bool {
    let n = network.n_nodes();
    let mass_of = rule.masses(network);
    scratch.fit(n);
    random.shuffle(&mut scratch.queue);
    let (mut mass, mut count) = (vec![0.0; n], vec![0_u32; n]);
    for (node, c) in clusters.iter().enumerate() {
        mass[*c as usize] += mass_of[node];
        count[*c as usize] += 1;
    }
    let mut empty: Vec<u32> = (0..n as u32).rev().filter(|c| count[*c as usize] == 0).collect();
    let mut moved = false;
    let mut visits = visits;
    // A queue in a ring: no more than n nodes wait at a time.
    let (mut head, mut waiting) = (0, n);
    while waiting > 0 && visits > 0 {
        let node = scratch.queue[head] as usize;
        head = if head + 1 == n { 0 } else { head + 1 };
        waiting -= 1;
        visits -= 1;
        scratch.queued[node] = false;
        let (old, own) = (clusters[node], mass_of[node]);
        scratch.look(network, node, clusters, |_| true);
        let staying = scratch.to[old as usize] - rule.price * own * (mass[old as usize] - own);
        let least = LEAST_GAIN * network.degree[node];
        let (mut best, mut gain) = (old, staying + least);
        for c in &scratch.touched {
            if *c != old {
                let value = scratch.to[*c as usize] - rule.price * own * mass[*c as usize];
                if value > gain {
                    (best, gain) = (*c, value);
                }
            }
        }
        if gain < 0.0 && count[old as usize] > 1 {
            best = empty.last().copied().unwrap_or(old);
        }
        scratch.forget();
        if best == old {
            continue;
        }
        moved = true;
        if count[best as usize] == 0 {
            empty.pop();
        }
        (mass[old as usize], count[old as usize]) = (mass[old as usize] - own, count[old as usize] - 1);
        (mass[best as usize], count[best as usize]) = (mass[best as usize] + own, count[best as usize] + 1);
        if count[old as usize] == 0 {
            mass[old as usize] = 0.0; // what rounding left
            empty.push(old);
        }
        clusters[node] = best;
        for j in &network.ends[network.starts[node]..network.starts[node + 1]] {
            let j = *j as usize;
            if clusters[j] != best && !scratch.queued[j] {
                scratch.queued[j] = true;
                let tail = head + waiting;
                scratch.queue[if tail >= n { tail - n } else { tail }] = j as u32;
                waiting += 1;
            }
        }
    }
    moved
}

/// Within every cluster, nodes that begin alone join what they are well tied to, by chance among what gains: parts
/// of clusters that hang together.
pub(super) fn refine(
    network: &Network,
    rule: &Rule,
    clusters: &[u32],
    n_clusters: usize,
    random: &mut Stream,
    scratch: &mut Scratch,
) -> Vec<u32> {
    let n = network.n_nodes();
    let mass_of = rule.masses(network);
    scratch.fit(n);
    random.shuffle(&mut scratch.queue);
    let mut whole = vec![0.0; n_clusters];
    for (node, c) in clusters.iter().enumerate() {
        whole[*c as usize] += mass_of[node];
    }
    let mut refined: Vec<u32> = (0..n as u32).collect();
    let mut mass = mass_of.to_vec();
    let mut alone = vec![true; n];
    // Weight between a part and the rest of its cluster.
    let mut cut: Vec<f64> = (0..n)
        .map(|i| network.edges(i).filter(|(j, _)| clusters[*j as usize] == clusters[i]).map(|(_, w)| w).sum())
        .collect();
    let tied = |cut: f64, mass: f64, whole: f64| cut >= rule.price * mass * (whole - mass);
    let mut choices: Vec<(u32, f64)> = Vec::new();
    for at in 0..n {
        let node = scratch.queue[at] as usize;
        let whole = whole[clusters[node] as usize];
        if !alone[node] || !tied(cut[node], mass_of[node], whole) {
            continue;
        }
        scratch.look(network, node, &refined, |j| clusters[j as usize] == clusters[node]);
        choices.clear();
        for c in &scratch.touched {
            let c = *c as usize;
            let gain = scratch.to[c] - rule.price * mass_of[node] * mass[c];
            if gain >= 0.0 && tied(cut[c], mass[c], whole) {
                choices.push((c as u32, gain));
            }
        }
        if let Some(to) = choose(&mut choices, rule.freedom, random) {
            let c = to as usize;
            cut[c] += cut[node] - 2.0 * scratch.to[c];
            mass[c] += mass_of[node];
            (refined[node], alone[node], alone[c]) = (to, false, false);
            mass[node] = 0.0;
        }
        scratch.forget();
    }
    refined
}

/// One of the choices, by chance in proportion to exp(gain / freedom).
fn choose(choices: &mut [(u32, f64)], freedom: f64, random: &mut Stream) -> Option<u32> {
    if choices.len() < 2 {
        return choices.first().map(|(c, _)| *c);
    }
    let most = choices.iter().fold(0.0_f64, |most, (_, gain)| most.max(*gain));
    let mut sum = 0.0;
    for (_, gain) in choices.iter_mut() {
        sum += ((*gain - most) / freedom).exp();
        *gain = sum;
    }
    let drawn = random.uniform() * sum;
    choices.iter().find(|(_, upto)| drawn < *upto).or(choices.last()).map(|(c, _)| *c)
}
