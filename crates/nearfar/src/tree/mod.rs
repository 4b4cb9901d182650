//! From a fine partition to any coarser one: the pair with the largest e_ab / (d_a d_b) is joined, which is the
//! resolution at which joining it begins to pay.

pub(crate) mod bridges;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use crate::partition::{Network, renumber};

/// What is known about pieces that no edge of the graph joins.
pub trait Evidence: Sync {
    /// Hand over every weaker edge there is: neighbours that the graph itself does not trust.
    fn weak_edges(&self, visit: &mut dyn FnMut(u32, u32, f64));

    /// Pairs of points by which what is still apart is joined, the nearest pair first.
    fn spans(&self) -> &[(u32, u32)];
}

/// Nothing is known but the graph.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nothing;

impl Evidence for Nothing {
    fn weak_edges(&self, _: &mut dyn FnMut(u32, u32, f64)) {}

    fn spans(&self) -> &[(u32, u32)] {
        &[]
    }
}

/// Two clusters that became one.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Merge {
    /// The one that goes on: the leaf with the lowest number in it stands for a cluster.
    pub into: u32,
    /// The one that ends.
    pub from: u32,
    /// e_ab / (d_a d_b) times the sum of all degrees: the resolution at which joining begins to pay. 0 where no
    /// edge joins them.
    pub resolution: f64,
}

/// How clusters join, one pair at a time, from the leaves down to one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergeTree {
    leaves: Vec<u32>,
    n_leaves: usize,
    merges: Vec<Merge>,
    pieces: usize,
}

/// A pair that may join; the largest ratio first, the lowest numbers among equals.
struct Pair {
    ratio: f64,
    a: u32,
    b: u32,
    /// How often a and b had been joined when this was written down.
    age: [u32; 2],
}

impl Ord for Pair {
    fn cmp(&self, other: &Self) -> Ordering {
        self.ratio.total_cmp(&other.ratio).then(other.a.cmp(&self.a)).then(other.b.cmp(&self.b))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Pair {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Pair {}

impl MergeTree {
    /// Join the clusters of a partition until one is left. Pieces of the graph are joined last, by what else is known of
    /// them.
    #[must_use]
    pub fn new(network: &Network, partition: &[u32], evidence: &dyn Evidence) -> Self {
        Self::down_to(1, network, partition, evidence)
    }

    /// Exactly k clusters, as [`new`](Self::new) joins them: pieces are looked at only where there are more of them.
    pub(super) fn exactly(
        k: usize,
        network: &Network,
        partition: &[u32],
        evidence: &dyn Evidence,
    ) -> Vec<u32> {
        Self::down_to(k, network, partition, evidence).labels_at(k)
    }

    /// Joins until at most so many clusters are left.
    fn down_to(count: usize, network: &Network, partition: &[u32], evidence: &dyn Evidence) -> Self {
        let mut leaves = partition.to_vec();
        let n_leaves = renumber(&mut leaves);
        let graph = network.aggregated(&leaves, n_leaves);
        let mut merges = joined_by_edges(&graph);
        let pieces = n_leaves - merges.len();
        if pieces > count {
            let more = joined_by_evidence(&graph, &leaves, &merges, evidence);
            merges.extend(more);
        }
        Self { leaves, n_leaves, merges, pieces }
    }

    /// The same with leaves divided further, until there are about `most`: every cluster of this tree stays one. Small
    /// parts of the graph, where they are known, need not be found again.
    #[must_use]
    pub(crate) fn deepened(self, network: &Network, most: usize, seed: u64, small: Option<&[u32]>) -> Self {
        if self.n_leaves >= most {
            return self;
        }
        let inner = network.within(&self.leaves);
        let mut parts = crate::partition::fine_within(&inner, &self.leaves, (most, seed), small);
        let n_parts = renumber(&mut parts);
        if n_parts <= self.n_leaves {
            return self;
        }
        // Of every part the leaf it lies in, and of every leaf its first part.
        let (mut leaf_of, mut first) = (vec![0_u32; n_parts], vec![u32::MAX; self.n_leaves]);
        for (part, leaf) in parts.iter().zip(&self.leaves) {
            leaf_of[*part as usize] = *leaf;
            first[*leaf as usize] = first[*leaf as usize].min(*part);
        }
        let mut merges = joined_by_edges(&network.aggregated(&parts, n_parts).within(&leaf_of));
        // A leaf that hangs together by no edge is joined all the same.
        let mut alive = vec![true; n_parts];
        merges.iter().for_each(|merge| alive[merge.from as usize] = false);
        for part in (0..n_parts).filter(|part| alive[*part]) {
            let into = first[leaf_of[part] as usize];
            if into != part as u32 {
                merges.push(Merge { into, from: part as u32, resolution: 0.0 });
            }
        }
        merges.extend(self.merges.iter().map(|merge| Merge {
            into: first[merge.into as usize],
            from: first[merge.from as usize],
            ..*merge
        }));
        Self { leaves: parts, n_leaves: n_parts, merges, pieces: self.pieces }
    }

    /// Of points that nothing is known of but that each is a cluster by itself; `None` where there are too many for
    /// a list of joins to be of use.
    pub(crate) fn alone(n: usize) -> Option<Self> {
        let merge = |from: u32| Merge { into: 0, from, resolution: 0.0 };
        let merges = (1..n as u32).rev().map(merge).collect();
        Self::from_parts((0..n as u32).collect(), merges, n)
    }

    /// Put together of its parts; `None` where they are no tree.
    pub(crate) fn from_parts(leaves: Vec<u32>, merges: Vec<Merge>, pieces: usize) -> Option<Self> {
        let n_leaves = merges.len() + usize::from(!leaves.is_empty());
        let mut alive = vec![true; n_leaves];
        for Merge { into, from, .. } in &merges {
            let (into, from) = (*into as usize, *from as usize);
            let sound = into < from && from < n_leaves && alive[into] && alive[from];
            if !sound {
                return None;
            }
            alive[from] = false;
        }
        let sound = leaves.iter().all(|leaf| (*leaf as usize) < n_leaves)
            && (1..=n_leaves.max(1)).contains(&pieces.max(1));
        sound.then_some(Self { leaves, n_leaves, merges, pieces })
    }

    /// The leaf of every point.
    pub fn leaves(&self) -> &[u32] {
        &self.leaves
    }

    /// The joins, first to last: one fewer than leaves.
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// The most clusters that [`labels_at`](Self::labels_at) can give.
    pub fn most(&self) -> usize {
        self.n_leaves
    }

    /// Pieces of the graph: where there are more than clusters, some are joined by distance alone.
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// The cluster of every leaf when k are left.
    fn heads_at(&self, k: usize) -> Vec<u32> {
        let mut heads: Vec<u32> = (0..self.n_leaves as u32).collect();
        let upto = self.n_leaves - k.clamp(1, self.n_leaves.max(1)).min(self.n_leaves);
        // Backwards, so that every head is final when it is asked for.
        for Merge { into, from, .. } in self.merges[..upto].iter().rev() {
            heads[*from as usize] = heads[*into as usize];
        }
        heads
    }

    /// The labels with k clusters, numbered by first appearance; the leaves where k is more than there are.
    #[must_use]
    pub fn labels_at(&self, k: usize) -> Vec<u32> {
        let heads = self.heads_at(k);
        let mut labels: Vec<u32> = self.leaves.iter().map(|leaf| heads[*leaf as usize]).collect();
        renumber(&mut labels);
        labels
    }

    /// Of these points those on one side of the last join that has some of them on both; `None` where there is no such
    /// join.
    pub(crate) fn last_join_of(&self, own: &[bool]) -> Option<Vec<bool>> {
        let mut counts = vec![0_usize; self.n_leaves];
        let points = || self.leaves.iter().zip(own).filter(|(_, own)| **own);
        points().for_each(|(leaf, _)| counts[*leaf as usize] += 1);
        let mut last = None;
        for (at, Merge { into, from, .. }) in self.merges.iter().enumerate() {
            let (into, from) = (*into as usize, *from as usize);
            if counts[into] > 0 && counts[from] > 0 {
                last = Some(at);
            }
            counts[into] += counts[from];
        }
        let at = last?;
        let heads = self.heads_at(self.n_leaves - at);
        let from = self.merges[at].from;
        Some(self.leaves.iter().zip(own).map(|(leaf, own)| *own && heads[*leaf as usize] == from).collect())
    }

    /// Modularity with 1, 2, … clusters, up to all leaves.
    #[must_use]
    pub fn modularities(&self, network: &Network) -> Vec<f64> {
        let graph = network.aggregated(&self.leaves, self.n_leaves);
        let m = graph.total.max(f64::MIN_POSITIVE);
        let mut degree = graph.degree.clone();
        let mut q: f64 = graph.own.iter().zip(&degree).map(|(e, d)| e / m - (d / m).powi(2)).sum();
        let mut curve = vec![q];
        for Merge { into, from, resolution } in &self.merges {
            let (a, b) = (*into as usize, *from as usize);
            let pair = degree[a] / m * (degree[b] / m);
            q += 2.0 * (resolution - 1.0) * pair;
            degree[a] += degree[b];
            curve.push(q);
        }
        curve.reverse();
        curve
    }
}

/// Joins along edges, until no two clusters have one.
fn joined_by_edges(graph: &Network) -> Vec<Merge> {
    let n = graph.n_nodes();
    let mut edges: Vec<BTreeMap<u32, f64>> = (0..n).map(|i| graph.edges(i).collect()).collect();
    let (mut degree, mut age, mut alive) = (graph.degree.clone(), vec![0_u32; n], vec![true; n]);
    let ratio = |weight: f64, a: f64, b: f64| weight / (a * b).max(1e-300);
    let mut heap = BinaryHeap::new();
    for a in 0..n {
        for (&b, &weight) in edges[a].range(a as u32 + 1..) {
            heap.push(Pair {
                ratio: ratio(weight, degree[a], degree[b as usize]),
                a: a as u32,
                b,
                age: [0, 0],
            });
        }
    }
    let mut merges = Vec::with_capacity(n.saturating_sub(1));
    while let Some(pair) = heap.pop() {
        let (a, b) = (pair.a as usize, pair.b as usize);
        if !alive[a] || !alive[b] || pair.age != [age[a], age[b]] {
            continue;
        }
        let resolution = (pair.ratio * graph.total).min(f64::MAX);
        merges.push(Merge { into: pair.a, from: pair.b, resolution });
        alive[b] = false;
        age[a] += 1;
        degree[a] += degree[b];
        edges[a].remove(&pair.b);
        for (c, weight) in std::mem::take(&mut edges[b]) {
            edges[c as usize].remove(&pair.b);
            if c != pair.a {
                *edges[a].entry(c).or_insert(0.0) += weight;
                let both = edges[a][&c];
                edges[c as usize].insert(pair.a, both);
            }
        }
        for (&c, &weight) in &edges[a] {
            let (low, high) = (pair.a.min(c), pair.a.max(c));
            let age = [age[low as usize], age[high as usize]];
            heap.push(Pair { ratio: ratio(weight, degree[a], degree[c as usize]), a: low, b: high, age });
        }
    }
    merges
}

/// Joins of what no edge joins: by weaker edges, by spans, and in the end in the order of points.
fn joined_by_evidence(
    graph: &Network,
    leaves: &[u32],
    merges: &[Merge],
    evidence: &dyn Evidence,
) -> Vec<Merge> {
    let mut heads: Vec<u32> = (0..graph.n_nodes() as u32).collect();
    for Merge { into, from, .. } in merges.iter().rev() {
        heads[*from as usize] = heads[*into as usize];
    }
    // Pieces are numbered as their heads are: the lowest leaf of each.
    let mut piece_of = heads.clone();
    let count = renumber(&mut piece_of);
    let mut head_of = vec![0; count];
    heads.iter().zip(&piece_of).for_each(|(head, piece)| head_of[*piece as usize] = *head);
    let piece = |point: u32| piece_of[leaves[point as usize] as usize];
    let mut weak: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    evidence.weak_edges(&mut |i, j, weight| {
        let (a, b) = (piece(i), piece(j));
        if a != b && weight > 0.0 {
            *weak.entry((a.min(b), a.max(b))).or_insert(0.0) += weight;
        }
    });
    let mut degree = vec![0.0; count];
    graph.degree.iter().zip(&piece_of).for_each(|(d, piece)| degree[*piece as usize] += d);
    let by_weak_edges = joined_by_edges(&Network::of_pairs(&weak, degree));
    let mut leader_of: Vec<usize> = (0..count).collect();
    let mut joined: Vec<(usize, usize)> = Vec::with_capacity(count - 1);
    let mut join = |leader_of: &mut [usize], a: usize, b: usize| {
        let (a, b) = (leader(leader_of, a), leader(leader_of, b));
        if a != b {
            leader_of[a.max(b)] = a.min(b);
            joined.push((a.min(b), a.max(b)));
        }
    };
    for Merge { into, from, .. } in by_weak_edges {
        join(&mut leader_of, into as usize, from as usize);
    }
    for (i, j) in evidence.spans() {
        join(&mut leader_of, piece(*i) as usize, piece(*j) as usize);
    }
    (1..count).for_each(|other| join(&mut leader_of, 0, other));
    let merge = |(a, b): (usize, usize)| Merge { into: head_of[a], from: head_of[b], resolution: 0.0 };
    joined.into_iter().map(merge).collect()
}

fn leader(of: &mut [usize], mut piece: usize) -> usize {
    while of[piece] != piece {
        of[piece] = of[of[piece]];
        piece = of[piece];
    }
    piece
}
