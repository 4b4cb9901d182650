//! The clusters and their people: who stands for a cluster, who lies between two.

use nearfar::{Samples, SavedModel};

use super::text64::encode;
use super::{Picture, histogram, rounded};
use crate::record::{Cluster, Histogram, Shown};

/// Points that stand for a cluster.
const MOST_REPRESENTATIVES: usize = 6;
/// Points that are least sure of their cluster.
const MOST_UNCERTAIN: usize = 12;
/// The same, in a table.
const MOST_DOUBTFUL: usize = 20;
/// A lead of the own cluster over the next one below this is no lead.
const CLOSE: f64 = 0.2;
/// From this lead on a point is in no doubt worth a word.
const CERTAIN: f64 = 0.9;
/// Pictures are shown up to this many in all, so that the page stays light.
const MOST_PICTURES: usize = 400;

/// The points, with their shares in the clusters.
pub(crate) struct People<'a> {
    membership: &'a [f64],
    confidence: &'a [f64],
    pub(crate) labels: &'a [usize],
    pub(crate) ids: Option<&'a [String]>,
    samples: Option<&'a Samples<'a>>,
    picture: Option<Picture>,
    r: usize,
}

impl<'a> People<'a> {
    pub(crate) fn new(
        model: &'a SavedModel,
        labels: &'a [usize],
        ids: Option<&'a [String]>,
        samples: Option<&'a Samples<'a>>,
        picture: Option<Picture>,
    ) -> Self {
        let (membership, confidence) = (&model.membership, &model.confidence);
        Self { membership, confidence, labels, ids, samples, picture, r: model.about.n_clusters }
    }

    /// How sure the label of a point is, where the method tells.
    pub(crate) fn confidence(&self, i: usize) -> Option<f64> {
        self.confidence.get(i).copied()
    }

    /// By what points are ordered: confidence, or else the share of the own cluster.
    pub(crate) fn sure(&self, i: usize) -> f64 {
        self.confidence(i).unwrap_or_else(|| self.own(i))
    }

    fn shares(&self, i: usize) -> &[f64] {
        &self.membership[i * self.r..(i + 1) * self.r]
    }

    /// Share of the own cluster.
    pub(crate) fn own(&self, i: usize) -> f64 {
        self.shares(i)[self.labels[i]]
    }

    /// The name of a point, or else its row.
    pub(crate) fn id(&self, i: usize) -> String {
        self.ids.map_or_else(|| i.to_string(), |ids| ids[i].clone())
    }

    /// The next cluster and its share, where it has any.
    fn second(&self, i: usize) -> Option<(usize, f64)> {
        let others = self.shares(i).iter().copied().enumerate().filter(|(c, _)| *c != self.labels[i]);
        others.reduce(|a, b| if b.1 > a.1 { b } else { a }).filter(|(_, share)| *share > 0.0)
    }

    fn margin(&self, i: usize) -> f64 {
        self.own(i) - self.second(i).map_or(0.0, |(_, share)| share)
    }

    pub(crate) fn soft(&self) -> bool {
        self.membership.iter().any(|share| *share > 0.0 && *share < 1.0)
    }

    pub(crate) fn histogram(&self) -> Histogram {
        let own: Vec<f64> = (0..self.labels.len()).map(|i| self.own(i)).collect();
        histogram(&own, Some([0.0, 1.0]))
    }

    /// Points without a clear lead of their own cluster.
    pub(crate) fn between(&self) -> usize {
        (0..self.labels.len()).filter(|i| self.margin(*i) < CLOSE).count()
    }

    pub(crate) fn shown(&self, i: usize) -> Shown {
        let second = self.second(i).map(|(c, share)| (c, rounded(share, 4)));
        Shown {
            id: self.id(i),
            label: self.labels[i] as u32,
            membership: rounded(self.own(i), 4),
            confidence: self.confidence(i).map(|sure| rounded(sure, 4)),
            second,
            image: self.picture(i),
        }
    }

    fn picture(&self, i: usize) -> Option<String> {
        let (samples, Picture { height, width, by_columns }) = (self.samples?, self.picture?);
        let mut row = vec![0.0; samples.n_features()];
        samples.copy_row(i, &mut row);
        let (least, most) =
            row.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
        let range = if most > least { most - least } else { 1.0 };
        let place = |at: usize| if by_columns { at % width * height + at / width } else { at };
        let grey = |at: usize| ((row[place(at)] - least) / range * 255.0).round() as u8;
        Some(encode(&(0..height * width).map(grey).collect::<Vec<u8>>()))
    }

    pub(crate) fn uncertain(&self) -> Vec<Shown> {
        if !self.confidence.is_empty() {
            return self.doubtful();
        }
        if !self.soft() {
            return Vec::new();
        }
        let mut order: Vec<usize> = (0..self.labels.len()).filter(|i| self.margin(*i) < CERTAIN).collect();
        order.sort_by(|a, b| self.margin(*a).total_cmp(&self.margin(*b)).then(a.cmp(b)));
        order.into_iter().take(MOST_UNCERTAIN).map(|i| self.shown(i)).collect()
    }

    /// The points that the method itself is least sure of.
    fn doubtful(&self) -> Vec<Shown> {
        let n = self.labels.len();
        let mut order: Vec<usize> = (0..n).filter(|i| self.sure(*i) < CERTAIN).collect();
        order.sort_by(|a, b| {
            let by_margin = self.margin(*a).total_cmp(&self.margin(*b));
            self.sure(*a).total_cmp(&self.sure(*b)).then(by_margin).then(a.cmp(b))
        });
        order.into_iter().take(MOST_DOUBTFUL).map(|i| self.shown(i)).collect()
    }

    pub(crate) fn clusters(&self) -> Vec<Cluster> {
        let mut members = vec![Vec::new(); self.r];
        for (i, label) in self.labels.iter().enumerate() {
            members[*label].push(i);
        }
        let crossed = self.crossed();
        let each = if self.picture.is_some() {
            (MOST_PICTURES / self.r.max(1)).clamp(1, MOST_REPRESENTATIVES)
        } else {
            3
        };
        members
            .into_iter()
            .enumerate()
            .map(|(c, mut points)| {
                let row = &crossed[c * self.r..(c + 1) * self.r];
                let others = row.iter().copied().enumerate().filter(|(other, _)| *other != c);
                let nearest =
                    others.reduce(|a, b| if b.1 > a.1 { b } else { a }).filter(|(_, share)| *share > 0.0);
                points.sort_by(|a, b| {
                    let by_own = self.own(*b).total_cmp(&self.own(*a));
                    self.sure(*b).total_cmp(&self.sure(*a)).then(by_own).then(a.cmp(b))
                });
                Cluster {
                    size: points.len(),
                    inside: row[c],
                    nearest,
                    representatives: points.iter().take(each).map(|i| self.shown(*i)).collect(),
                }
            })
            .collect()
    }

    /// Mean share of the points of each cluster in each cluster, r × r.
    pub(crate) fn crossed(&self) -> Vec<f64> {
        let r = self.r;
        let (mut sums, mut sizes) = (vec![0.0; r * r], vec![0_usize; r]);
        for (i, label) in self.labels.iter().enumerate() {
            sizes[*label] += 1;
            let row = &mut sums[label * r..(label + 1) * r];
            row.iter_mut().zip(self.shares(i)).for_each(|(sum, share)| *sum += share);
        }
        for (row, size) in sums.chunks_exact_mut(r.max(1)).zip(&sizes) {
            row.iter_mut().for_each(|sum| *sum /= (*size).max(1) as f64);
        }
        sums
    }
}
