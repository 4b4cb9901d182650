//! Rows to look at: typical ones, those on a border, those far out; and which cluster is nearest to which.

use rayon::prelude::*;

use super::columns::Columns;
use super::moments::Moments;
use super::{Explanation, Nearest, Subject, marks};
use crate::input::Samples;

/// Rows of each kind that are told of a cluster.
const MOST: usize = 3;
/// Rows far out that are told.
const MOST_OUTLIERS: usize = 10;
/// A row is told to be far out from this score on: twice as far from its neighbours as is usual.
const FAR_OUT: f64 = 0.5;
/// A row is on a border where its confidence is below this.
const DOUBTFUL: f64 = 0.5;
/// Rows that are worked on together.
const BLOCK: usize = 4096;

/// A row of the data.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Exemplar {
    /// Its number, from 0.
    pub row: usize,
    /// Its name, where rows have names.
    pub id: Option<String>,
    /// How sure its label is, where that is known.
    pub confidence: Option<f64>,
}

impl Exemplar {
    fn of(subject: &Subject<'_>, row: usize) -> Self {
        let id = subject.ids.and_then(|ids| ids.get(row)).cloned();
        Self { row, id, confidence: subject.confidence.get(row).copied() }
    }

    /// Its name, or `row 12`.
    #[must_use]
    pub fn title(&self) -> String {
        self.id.clone().unwrap_or_else(|| format!("row {}", self.row))
    }
}

/// A row that may belong to another cluster.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Border {
    /// The row.
    pub row: Exemplar,
    /// The cluster that has the next largest share of it.
    pub second: Option<usize>,
}

/// Mean share of the rows of each cluster in each cluster, row by row; empty where memberships are not known.
pub(super) fn crossed(subject: &Subject<'_>) -> Vec<f64> {
    let k = subject.n_clusters;
    if k == 0 || subject.membership.len() != subject.labels.len() * k {
        return Vec::new();
    }
    let (mut sums, mut sizes) = (vec![0.0; k * k], vec![0_usize; k]);
    for (label, shares) in subject.labels.iter().zip(subject.membership.chunks_exact(k)) {
        let c = *label as usize;
        if c < k {
            sizes[c] += 1;
            sums[c * k..(c + 1) * k].iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
        }
    }
    for (row, size) in sums.chunks_exact_mut(k).zip(&sizes) {
        row.iter_mut().for_each(|sum| *sum /= (*size).max(1) as f64);
    }
    sums
}

/// The next best cluster of a row: the one with the next largest share, the first among equals.
/// `None` where no other has any.
pub fn second(shares: &[f64], own: usize) -> Option<usize> {
    let others = shares.iter().copied().enumerate().filter(|(c, _)| *c != own);
    others.reduce(|a, b| if b.1 > a.1 { b } else { a }).filter(|(_, share)| *share > 0.0).map(|(c, _)| c)
}

/// The rows that lie farthest out.
pub(super) fn outliers(subject: &Subject<'_>) -> Vec<(Exemplar, f64)> {
    let scores = &subject.outlier_scores;
    if scores.len() != subject.labels.len() {
        return Vec::new();
    }
    let mut far: Vec<usize> = (0..scores.len()).filter(|i| scores[*i] >= FAR_OUT).collect();
    far.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    far.truncate(MOST_OUTLIERS);
    far.into_iter().map(|i| (Exemplar::of(subject, i), scores[i])).collect()
}

/// Typical rows of every cluster, and those on a border.
pub(super) fn find(
    subject: &Subject<'_>,
    samples: Option<&Samples<'_>>,
    moments: Option<&Moments>,
    told: &mut Explanation,
) {
    let k = subject.n_clusters;
    let apart = samples.zip(moments).map(|(samples, moments)| from_the_mean(subject, samples, moments));
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); k];
    for (i, label) in subject.labels.iter().enumerate().filter(|(_, label)| (**label as usize) < k) {
        members[*label as usize].push(i);
    }
    let known = subject.confidence.len() == subject.labels.len();
    let sure = |i: usize| if known { subject.confidence[i] } else { 1.0 };
    let far = |i: usize| apart.as_ref().map_or(0.0, |apart| apart[i]);
    for (story, own) in told.clusters.iter_mut().zip(&mut members) {
        own.sort_by(|a, b| sure(*b).total_cmp(&sure(*a)).then(a.cmp(b)));
        story.borders = if known { on_border(subject, own) } else { Vec::new() };
        // Of the surer half the rows nearest to the mean; all that are as sure as the last of it count.
        let middle = own.get(own.len() / 2).map_or(0.0, |i| sure(*i));
        let half = own.partition_point(|i| sure(*i) >= middle);
        let half = &mut own[..half];
        half.sort_by(|a, b| far(*a).total_cmp(&far(*b)).then(a.cmp(b)));
        story.exemplars = half.iter().take(MOST).map(|i| Exemplar::of(subject, *i)).collect();
    }
}

/// The least sure rows of a cluster, of which these are all, surest first.
fn on_border(subject: &Subject<'_>, own: &[usize]) -> Vec<Border> {
    let k = subject.n_clusters;
    let shares = |i: usize| subject.membership.get(i * k..(i + 1) * k);
    let doubtful = own.iter().rev().filter(|i| subject.confidence[**i] < DOUBTFUL).take(MOST);
    doubtful
        .map(|i| Border {
            row: Exemplar::of(subject, *i),
            second: shares(*i).and_then(|shares| second(shares, subject.labels[*i] as usize)),
        })
        .collect()
}

/// Units in which distances are measured: the deviation of every column, or 1.
fn units(subject: &Subject<'_>, moments: &Moments) -> Vec<f64> {
    let unit = |j: usize, (least, most): &(f64, f64)| {
        let deviation = moments.all(j).variance.sqrt();
        let width = (most - least).min(f64::MAX);
        match (subject.standard, deviation > 0.0 && width > 0.0) {
            (true, true) => deviation,
            (false, true) => 1.0 / width,
            _ => f64::INFINITY,
        }
    };
    moments.frame.iter().enumerate().map(|(j, ends)| unit(j, ends)).collect()
}

/// The squared distance of every row from the mean of its cluster.
fn from_the_mean(subject: &Subject<'_>, samples: &Samples<'_>, moments: &Moments) -> Vec<f64> {
    let (n, m, k) = (samples.n_samples(), samples.n_features(), subject.n_clusters);
    let units = units(subject, moments);
    let means: Vec<f64> =
        (0..k).flat_map(|c| (0..m).map(move |j| (c, j))).map(|(c, j)| moments.group(c, j).mean).collect();
    let scale: Vec<[f64; 2]> = moments
        .frame
        .iter()
        .map(|(least, most)| {
            let width = (most - least).min(f64::MAX);
            if width > 0.0 { [1.0 / width, least / width] } else { [0.0, 0.0] }
        })
        .collect();
    let mut apart = vec![f64::INFINITY; n];
    apart.par_chunks_mut(BLOCK).enumerate().for_each(|(block, apart)| {
        let mut row = vec![0.0; m];
        for (at, apart) in apart.iter_mut().enumerate() {
            let i = block * BLOCK + at;
            let c = subject.labels[i] as usize;
            if c < k {
                samples.copy_row(i, &mut row);
                let means = &means[c * m..(c + 1) * m];
                let terms = row.iter().zip(means).zip(&units).zip(&scale);
                *apart = terms.map(|(((x, mean), unit), s)| ((x * s[0] - s[1] - mean) / unit).powi(2)).sum();
            }
        }
    });
    apart
}

/// The nearest other cluster of each: the one that its rows have the largest share in, or the one with the nearest
/// mean.
pub(super) fn nearest(
    moments: Option<&Moments>,
    columns: Option<&Columns<'_>>,
    crossed: &[f64],
    told: &mut Explanation,
) {
    let k = told.clusters.len();
    for c in 0..k {
        let shares = if crossed.is_empty() { None } else { crossed.get(c * k..(c + 1) * k) };
        let by_share = shares.and_then(|shares| second(shares, c));
        let by_mean =
            || moments.zip(columns).and_then(|(moments, columns)| nearest_mean(moments, columns.len(), c));
        let Some(other) = by_share.or_else(by_mean).filter(|_| told.clusters[c].size > 0) else { continue };
        let marks = match (moments, columns) {
            (Some(moments), Some(columns)) => marks::against_another(columns, moments, c, other),
            _ => Vec::new(),
        };
        told.clusters[c].nearest =
            Some(Nearest { cluster: other, share: shares.map(|shares| shares[other]), marks });
    }
}

/// The cluster whose mean is nearest, each column in spreads of the two.
fn nearest_mean(moments: &Moments, m: usize, c: usize) -> Option<usize> {
    let apart = |other: usize| -> f64 {
        (0..m).map(|j| moments.group(c, j).effect(moments.group(other, j)).powi(2)).sum()
    };
    let others = (0..moments.rows.len()).filter(|other| *other != c && moments.rows[*other] > 0.0);
    others.map(|other| (apart(other), other)).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, other)| other)
}
