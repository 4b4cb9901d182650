//! A weighted graph without direction, in rows.

use std::collections::BTreeMap;

use crate::graph::SparseGraph;
use crate::math::rng::Stream;
use crate::slices::SparseRows;

/// A symmetric graph: for every node its neighbours and the weights of the edges to them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Where the row of a node begins in the other two; one more at the end.
    pub(crate) starts: Vec<usize>,
    pub(crate) ends: Vec<u32>,
    pub(crate) weights: Vec<f64>,
    /// Weight of the loop at every node, counted from both of its ends.
    pub(crate) own: Vec<f64>,
    /// Sum of a row, loop included.
    pub(crate) degree: Vec<f64>,
    /// Nodes of the first graph that a node stands for.
    pub(crate) size: Vec<f64>,
    /// Sum of all degrees.
    pub(crate) total: f64,
}

impl Network {
    /// Of a symmetric matrix with entries of 0 or more. Entries of 0 are left out, those on the diagonal are loops.
    #[must_use]
    pub fn new(rows: &SparseRows) -> Self {
        let n = rows.starts.len().saturating_sub(1);
        let mut this = Self {
            starts: Vec::with_capacity(n + 1),
            ends: Vec::with_capacity(rows.columns.len()),
            weights: Vec::with_capacity(rows.columns.len()),
            own: vec![0.0; n],
            degree: vec![0.0; n],
            size: vec![1.0; n],
            total: 0.0,
        };
        this.starts.push(0);
        for i in 0..n {
            for at in rows.starts[i]..rows.starts[i + 1] {
                let (j, weight) = (rows.columns[at], rows.values[at]);
                if weight > 0.0 {
                    this.degree[i] += weight;
                    if j as usize == i {
                        this.own[i] += weight;
                    } else {
                        this.ends.push(j);
                        this.weights.push(weight);
                    }
                }
            }
            this.starts.push(this.ends.len());
        }
        this.total = this.degree.iter().sum();
        this
    }

    /// Of edges between pieces, each pair once; degrees are given, and those without an edge are there, too.
    pub(crate) fn of_pairs(pairs: &BTreeMap<(u32, u32), f64>, degree: Vec<f64>) -> Self {
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); degree.len()];
        for (&(a, b), &weight) in pairs {
            rows[a as usize].push((b, weight));
            rows[b as usize].push((a, weight));
        }
        let mut this = Self {
            starts: vec![0],
            own: vec![0.0; degree.len()],
            size: vec![1.0; degree.len()],
            total: degree.iter().sum(),
            degree,
            ..Self::default()
        };
        for row in rows {
            this.ends.extend(row.iter().map(|(j, _)| *j));
            this.weights.extend(row.iter().map(|(_, weight)| *weight));
            this.starts.push(this.ends.len());
        }
        this
    }

    /// The piece of every node: nodes that edges tie together share one. How many there are comes with them.
    #[must_use]
    pub fn pieces(&self) -> (Vec<u32>, usize) {
        let n = self.n_nodes();
        let mut piece = vec![u32::MAX; n];
        let (mut count, mut waiting) = (0, Vec::new());
        for first in 0..n {
            if piece[first] != u32::MAX {
                continue;
            }
            piece[first] = count;
            waiting.push(first);
            while let Some(node) = waiting.pop() {
                for (j, _) in self.edges(node) {
                    if piece[j as usize] == u32::MAX {
                        piece[j as usize] = count;
                        waiting.push(j as usize);
                    }
                }
            }
            count += 1;
        }
        (piece, count as usize)
    }

    /// The same with the ends of its edges dealt out anew: the same number of edges at every node, about the same
    /// weights, no groups.
    #[must_use]
    pub fn rewired(&self, random: &mut Stream) -> SparseRows {
        let n = self.n_nodes();
        let once = (0..n).flat_map(|i| {
            self.edges(i).filter(move |(j, _)| *j as usize > i).map(move |(j, w)| (i as u32, j, w))
        });
        let (mut ends, mut weights) = (Vec::new(), Vec::new());
        for (i, j, weight) in once {
            ends.extend([i, j]);
            weights.push(weight);
        }
        random.shuffle(&mut ends);
        let pairs = ends.chunks_exact(2).zip(&weights).filter(|(pair, _)| pair[0] != pair[1]);
        let both = pairs.flat_map(|(pair, w)| [(pair[0], pair[1], *w), (pair[1], pair[0], *w)]).collect();
        SparseGraph::from_entries(n, both, |a, b| a + b).rows().clone()
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.degree.len()
    }

    /// Number of edges, each counted once, loops aside.
    pub fn n_edges(&self) -> usize {
        self.ends.len() / 2
    }

    /// Sum of the weights at every node.
    pub fn degrees(&self) -> &[f64] {
        &self.degree
    }

    /// Sum of all degrees: twice the weight of the edges.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// The neighbours of a node with the weights of the edges to them.
    pub fn edges(&self, node: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let at = self.starts[node]..self.starts[node + 1];
        self.ends[at.clone()].iter().copied().zip(self.weights[at].iter().copied())
    }

    /// Modularity of a partition: the share of weight within clusters less γ times what degrees alone would put there.
    pub fn modularity(&self, labels: &[u32], resolution: f64) -> f64 {
        if self.total <= 0.0 {
            return 0.0;
        }
        let n_clusters = labels.iter().max().map_or(0, |label| *label as usize + 1);
        let (mut within, mut mass) = (vec![0.0; n_clusters], vec![0.0; n_clusters]);
        for (i, label) in labels.iter().enumerate() {
            let c = *label as usize;
            mass[c] += self.degree[i];
            within[c] += self.own[i];
            within[c] +=
                self.edges(i).filter(|(j, _)| labels[*j as usize] == *label).map(|(_, w)| w).sum::<f64>();
        }
        let m = self.total;
        within.iter().zip(&mass).map(|(e, d)| e / m - resolution * (d / m).powi(2)).sum()
    }

    /// Only the edges within clusters; degrees and their sum stay those of the whole graph.
    pub(crate) fn within(&self, labels: &[u32]) -> Self {
        let mut inner = Self { starts: vec![0], ends: Vec::new(), weights: Vec::new(), ..self.clone() };
        for i in 0..self.n_nodes() {
            for (j, weight) in self.edges(i).filter(|(j, _)| labels[*j as usize] == labels[i]) {
                inner.ends.push(j);
                inner.weights.push(weight);
            }
            inner.starts.push(inner.ends.len());
        }
        inner
    }

    /// The graph of the clusters: one node for each.
    pub(crate) fn aggregated(&self, labels: &[u32], n_clusters: usize) -> Self {
        let (starts, members) = grouped(labels, n_clusters);
        let mut next = Self {
            starts: Vec::with_capacity(n_clusters + 1),
            own: vec![0.0; n_clusters],
            degree: vec![0.0; n_clusters],
            size: vec![0.0; n_clusters],
            total: self.total,
            ..Self::default()
        };
        next.starts.push(0);
        let mut sums = vec![0.0; n_clusters];
        let mut touched: Vec<u32> = Vec::new();
        for c in 0..n_clusters {
            for &i in &members[starts[c]..starts[c + 1]] {
                let i = i as usize;
                next.own[c] += self.own[i];
                next.degree[c] += self.degree[i];
                next.size[c] += self.size[i];
                for (j, weight) in self.edges(i) {
                    let to = labels[j as usize];
                    if sums[to as usize] == 0.0 {
                        touched.push(to);
                    }
                    sums[to as usize] += weight;
                }
            }
            for to in touched.drain(..) {
                let weight = std::mem::take(&mut sums[to as usize]);
                if to as usize == c {
                    next.own[c] += weight;
                } else {
                    next.ends.push(to);
                    next.weights.push(weight);
                }
            }
            next.starts.push(next.ends.len());
        }
        next
    }
}

/// Members of every cluster, one cluster after the other: where each begins, and who they are.
pub(crate) fn grouped(labels: &[u32], n_clusters: usize) -> (Vec<usize>, Vec<u32>) {
    let mut starts = vec![0; n_clusters + 1];
    for label in labels {
        starts[*label as usize + 1] += 1;
    }
    for c in 0..n_clusters {
        starts[c + 1] += starts[c];
    }
    let mut next = starts.clone();
    let mut members = vec![0; labels.len()];
    for (i, label) in labels.iter().enumerate() {
        members[next[*label as usize]] = i as u32;
        next[*label as usize] += 1;
    }
    (starts, members)
}

/// Number labels by first appearance; how many there are.
pub(crate) fn renumber(labels: &mut [u32]) -> usize {
    let most = labels.iter().max().map_or(0, |label| *label as usize + 1);
    let mut names = vec![u32::MAX; most];
    let mut known = 0;
    for label in labels {
        let name = &mut names[*label as usize];
        if *name == u32::MAX {
            *name = known;
            known += 1;
        }
        *label = *name;
    }
    known as usize
}
