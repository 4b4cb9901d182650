//! Refining a model by hand: joining clusters, dividing one by the tree, naming them, and keeping numbers from one fit
//! to the next.
//!
//! Numbers stay where they can: a joined cluster keeps the lowest of its numbers and those behind close up; of a
//! divided one the larger part keeps the number and the other gets a new one at the end.

use std::collections::BTreeMap;

use super::saved::{InputKind, SavedModel};
use crate::error::{ParamError, Result};
use crate::observe::Observer;

/// Clusters with less overlap (Jaccard) are not the same.
const LEAST_OVERLAP: f64 = 0.1;

/// New numbers of clusters.
#[derive(Clone, Debug, PartialEq)]
pub struct Renumbering {
    /// Of every cluster its new number; no two have the same.
    pub to: Vec<usize>,
    /// Clusters there are then, with those that have no points.
    pub n_clusters: usize,
    /// Of every cluster the overlap (Jaccard) with the old one whose number it got; `None` for a new number.
    pub overlap: Vec<Option<f64>>,
}

impl Renumbering {
    /// Give every cluster of `labels` the number of the old cluster that it shares most points with: of all ways to
    /// pair them the one with the largest overlap. Others get numbers behind all old ones.
    ///
    /// ```
    /// use nearfar::model::Renumbering;
    /// let found = Renumbering::by_overlap(&[0, 0, 1, 1, 2], 3, &[1, 1, 0, 0, 5], 6);
    /// assert_eq!((found.to, found.n_clusters), (vec![1, 0, 5], 6));
    /// ```
    #[must_use]
    pub fn by_overlap(labels: &[usize], n_clusters: usize, old: &[usize], n_old: usize) -> Self {
        let (mut counts, mut sizes, mut old_sizes) =
            (BTreeMap::new(), vec![0_u64; n_clusters], vec![0_u64; n_old]);
        for (new, old) in labels.iter().zip(old).filter(|(new, old)| **new < n_clusters && **old < n_old) {
            *counts.entry((*new, *old)).or_insert(0_u64) += 1;
            sizes[*new] += 1;
            old_sizes[*old] += 1;
        }
        let jaccard = |new: usize, old: usize| {
            let shared = counts.get(&(new, old)).copied().unwrap_or(0);
            let both = sizes[new] + old_sizes[old] - shared;
            if both > 0 { shared as f64 / both as f64 } else { 0.0 }
        };
        let mut to = vec![usize::MAX; n_clusters];
        let mut overlap = vec![None; n_clusters];
        for (new, old) in paired(n_clusters, n_old, &jaccard) {
            let share = jaccard(new, old);
            if share >= LEAST_OVERLAP {
                (to[new], overlap[new]) = (old, Some(share));
            }
        }
        for (next, to) in (n_old..).zip(to.iter_mut().filter(|to| **to == usize::MAX)) {
            *to = next;
        }
        Self { n_clusters: to.iter().max().map_or(0, |most| most + 1), to, overlap }
    }
}

/// The pairs with the largest sum of overlaps.
fn paired(rows: usize, columns: usize, overlap: &dyn Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
    if rows == 0 || columns == 0 {
        return Vec::new();
    }
    let costs: Vec<f64> =
        (0..rows).flat_map(|a| (0..columns).map(move |b| (a, b))).map(|(a, b)| -overlap(a, b)).collect();
    // Finite costs always have a solution.
    lsap::solve(rows, columns, &costs, false)
        .map_or_else(|_| Vec::new(), |(a, b)| a.into_iter().zip(b).collect())
}

/// New values of n × r shares, row by row, where cluster c goes to `to[c]`; several may go to one.
pub(super) fn moved(shares: &[f64], r: usize, to: &[usize], r_new: usize) -> Vec<f64> {
    if shares.is_empty() || r == 0 {
        return Vec::new();
    }
    let mut moved = vec![0.0; shares.len() / r * r_new];
    for (new, old) in moved.chunks_exact_mut(r_new).zip(shares.chunks_exact(r)) {
        to.iter().zip(old).for_each(|(to, share)| new[*to] += share);
    }
    moved
}

impl SavedModel {
    /// Join clusters into one.
    ///
    /// # Errors
    /// When fewer than two are named, one twice, or one that there is not.
    pub fn merge(&self, clusters: &[usize]) -> Result<Self> {
        let r = self.about.n_clusters;
        let text = || clusters.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let mut which = clusters.to_vec();
        which.sort_unstable();
        which.dedup();
        let sound = which.len() == clusters.len() && which.len() >= 2;
        ParamError::unless(sound, "clusters", text(), "two different clusters or more")?;
        if let Some(unknown) = which.iter().find(|c| **c >= r) {
            return Err(ParamError::new(
                "clusters",
                unknown,
                format!("a cluster of the model, 0 to {}", r - 1),
            )
            .into());
        }
        let gone = |c: usize| which[1..].contains(&c);
        let mut to = vec![0; r];
        let mut next = 0;
        for c in (0..r).filter(|c| !gone(*c)) {
            to[c] = next;
            next += 1;
        }
        which[1..].iter().for_each(|c| to[*c] = to[which[0]]);
        let mut model = self.relabelled(&to, next);
        model.about.edits.push(format!("merged {} into {}", text(), to[which[0]]));
        Ok(model)
    }

    /// Every cluster gets another number; several may get the same.
    fn relabelled(&self, to: &[usize], r_new: usize) -> Self {
        let r = self.about.n_clusters;
        let mut model = self.clone();
        model.labels.iter_mut().for_each(|label| *label = to[*label as usize] as u32);
        model.membership = moved(&self.membership, r, to, r_new);
        if r_new != r {
            model.embedding = Vec::new(); // r coordinates, which nobody has in another number
        }
        // Where shares were added up the label is surer by as much.
        if !model.membership.is_empty() {
            for (i, sure) in model.confidence.iter_mut().enumerate() {
                let own = self.membership[i * r + self.labels[i] as usize];
                let now = model.membership[i * r_new + model.labels[i] as usize];
                if own > 0.0 && now > own {
                    *sure = (*sure * now / own).min(1.0);
                }
            }
        }
        if let Some(mixture) = &mut model.about.mixture {
            mixture.relabel(to);
        }
        model.about.n_clusters = r_new;
        model.about.stability = Vec::new();
        if !self.about.cluster_names.is_empty() {
            let mut names = vec![String::new(); r_new];
            for (name, to) in self.about.cluster_names.iter().zip(to).filter(|(name, _)| !name.is_empty()) {
                if names[*to].is_empty() {
                    names[*to].clone_from(name);
                } else {
                    names[*to] = format!("{} + {name}", names[*to]);
                }
            }
            model.about.cluster_names = names;
        }
        model
    }

    /// Divide a cluster in two, where the tree joined its parts last.
    ///
    /// # Errors
    /// When there is no such cluster, the model has no tree, or the cluster is a leaf of it.
    pub fn split(&self, cluster: usize) -> Result<Self> {
        let (r, n) = (self.about.n_clusters, self.about.n_samples);
        let allowed = format!("a cluster of the model, 0 to {}", r.max(1) - 1);
        ParamError::unless(cluster < r, "cluster", cluster, allowed)?;
        let own: Vec<bool> = self.labels.iter().map(|label| *label as usize == cluster).collect();
        let parts = self.tree.as_ref().and_then(|tree| tree.last_join_of(&own));
        let Some(mut other) = parts else {
            let why = if self.tree.is_some() {
                "its tree does not divide this one further"
            } else {
                "it has no tree"
            };
            let allowed = format!(
                "a cluster that the tree of the model divides, and {why}; fit again with more clusters"
            );
            return Err(ParamError::new("cluster", cluster, allowed).into());
        };
        // The larger part keeps the number.
        let size = other.iter().filter(|is| **is).count();
        if 2 * size > own.iter().filter(|is| **is).count() {
            other.iter_mut().zip(&own).for_each(|(other, own)| *other = *own && !*other);
        }
        let mut model = self.clone();
        for (label, _) in model.labels.iter_mut().zip(&other).filter(|(_, other)| **other) {
            *label = r as u32;
        }
        if !self.membership.is_empty() {
            model.membership = Vec::with_capacity(n * (r + 1));
            for (i, shares) in self.membership.chunks_exact(r).enumerate() {
                let there = self.share_beyond(i, &own, &other);
                model.membership.extend_from_slice(shares);
                let at = model.membership.len() - r + cluster;
                let whole = model.membership[at];
                model.membership[at] = whole * (1.0 - there);
                model.membership.push(whole * there);
            }
            for (i, sure) in model.confidence.iter_mut().enumerate().filter(|(i, _)| own[*i]) {
                let before = self.membership[i * r + cluster];
                let now = model.membership[i * (r + 1) + model.labels[i] as usize];
                *sure = if before > 0.0 { (*sure * now / before).clamp(0.0, 1.0) } else { *sure };
            }
        }
        // Its parts are whole; neighbours tell the new clusters apart.
        model.about.mixture = None;
        model.embedding = Vec::new();
        model.about.n_clusters = r + 1;
        model.about.stability = Vec::new();
        if !model.about.cluster_names.is_empty() {
            model.about.cluster_names.push(String::new());
        }
        model.about.edits.push(format!("split {cluster} into {cluster} and {r}"));
        Ok(model)
    }

    /// Of what a point has in a cluster, the share that lies in one part of it.
    fn share_beyond(&self, i: usize, own: &[bool], other: &[bool]) -> f64 {
        let (mut whole, mut there) = (0.0, 0.0);
        if let Some(graph) = &self.similarity {
            for at in graph.starts[i]..graph.starts[i + 1] {
                let j = graph.columns[at] as usize;
                if own[j] {
                    whole += graph.values[at];
                    there += if other[j] { graph.values[at] } else { 0.0 };
                }
            }
        }
        if whole > 0.0 {
            there / whole
        } else if own[i] {
            f64::from(u8::from(other[i]))
        } else {
            let count = |of: &[bool]| of.iter().filter(|is| **is).count() as f64;
            count(other) / count(own).max(1.0)
        }
    }

    /// Give clusters names; an empty name takes one away.
    ///
    /// # Errors
    /// When there is no such cluster, or two would have one name.
    pub fn rename(&self, names: &[(usize, String)]) -> Result<Self> {
        let r = self.about.n_clusters;
        let mut model = self.clone();
        model.about.cluster_names.resize(r, String::new());
        for (cluster, name) in names {
            let allowed = format!("a cluster of the model, 0 to {}", r.max(1) - 1);
            ParamError::unless(*cluster < r, "cluster", cluster, allowed)?;
            name.trim().clone_into(&mut model.about.cluster_names[*cluster]);
        }
        let given = || model.about.cluster_names.iter().filter(|name| !name.is_empty());
        let twice = given().enumerate().find(|(at, name)| given().take(*at).any(|other| other == *name));
        if let Some((_, name)) = twice {
            return Err(ParamError::new("name", name, "a name that no other cluster has").into());
        }
        if given().next().is_none() {
            model.about.cluster_names = Vec::new();
        }
        Ok(model)
    }

    /// The name of a cluster, where it has one.
    pub fn cluster_name(&self, cluster: usize) -> Option<&str> {
        self.about.cluster_names.get(cluster).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Numbers for a new fit such that clusters which are here keep theirs: `labels` are the new labels of rows that
    /// this model has labelled as `old` ([`predict`](Self::predict)).
    #[must_use]
    pub fn numbers_for(&self, labels: &[usize], n_clusters: usize, old: &[usize]) -> Renumbering {
        Renumbering::by_overlap(labels, n_clusters, old, self.about.n_clusters)
    }

    /// This model with the numbers, and the names, that its clusters have in an older one: matched by the labels that
    /// the older one gives to the rows of this one.
    ///
    /// # Errors
    /// When this one keeps no samples, the older one cannot predict them, or the observer asks to stop.
    pub fn with_numbers_of(&self, older: &Self, observer: &dyn Observer) -> Result<(Self, Renumbering)> {
        let mut samples = self.samples()?.map(|samples| self.as_given(&samples));
        let Some(rows) = samples.as_mut() else {
            let allowed = "a model that keeps its samples; pairs and shared rows are not kept";
            return Err(ParamError::new("model", self.input_name(), allowed).into());
        };
        let (n, m) = (self.about.n_samples, self.about.n_features);
        let old = older.predict(&crate::Samples::from_rows(&**rows, n, m)?, observer)?;
        let labels: Vec<usize> = self.labels.iter().map(|label| *label as usize).collect();
        let found = older.numbers_for(&labels, self.about.n_clusters, &old);
        let mut model = self.relabelled(&found.to, found.n_clusters);
        model.about.cluster_names = older.names_for(&found);
        Ok((model, found))
    }

    /// Names for clusters that got new numbers: those that got an old number get the old name with it. None where no
    /// cluster gets any.
    #[must_use]
    pub fn names_for(&self, found: &Renumbering) -> Vec<String> {
        let mut names = vec![String::new(); found.n_clusters];
        for (to, _) in found.to.iter().zip(&found.overlap).filter(|(_, overlap)| overlap.is_some()) {
            self.cluster_name(*to).unwrap_or_default().clone_into(&mut names[*to]);
        }
        if names.iter().all(String::is_empty) { Vec::new() } else { names }
    }

    fn input_name(&self) -> &'static str {
        match self.about.input {
            InputKind::Samples => "samples that were not kept",
            InputKind::Distances => "distances",
            InputKind::Affinities => "affinities",
            InputKind::Neighbors => "neighbors",
        }
    }

    /// Its samples as they were before they were rescaled.
    fn as_given(&self, samples: &crate::Samples<'_>) -> Vec<f64> {
        let m = self.about.n_features;
        let mut rows = vec![0.0; samples.n_samples() * m];
        for (i, row) in rows.chunks_exact_mut(m.max(1)).enumerate() {
            samples.copy_row(i, row);
            self.scaling.undo(row);
        }
        rows
    }
}
