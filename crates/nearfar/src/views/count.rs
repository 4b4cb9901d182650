//! How many clusters: the number at which the clusters of the data stand out most.
//!
//! Two signs are added up for every number. The null gap: modularity less that of shuffled columns. It tells where
//! many columns hold groups that touch, as in images. The fall: how much less it takes to join the clusters than to
//! join those of one number more (see [`Curve::fall`]). It tells where few columns hold groups of any shape that
//! lie apart: a ring cut in pieces has a high modularity and a high null gap, but its pieces are joined easily.
//! Shuffled and uniform columns have falls up to about [`USUAL_FALL`]; only what exceeds it counts.

use crate::views::TAU;
use crate::views::judge::Curve;

/// A fall that columns without groups have somewhere.
const USUAL_FALL: f64 = 0.5;
/// What a fall counts for, beside the null gap.
const FALL: f64 = 0.15;
/// There are groups where the largest fall reaches this, or the largest gap the other, or both together as large a
/// share of them.
const SURE_FALL: f64 = 1.0;
const SURE_GAP: f64 = 0.5;
/// Parts of a mixture for every cluster that lies apart from which on they may be pieces of it.
const PIECES: usize = 3;

/// How the number of clusters was found.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Counted {
    /// The number; 1 where nothing stands out.
    pub found: usize,
    /// The next best numbers.
    pub others: Vec<usize>,
    /// Mean null gap over the views, of 2, 3, … clusters.
    pub gaps: Vec<f64>,
    /// Mean fall of the resolution over the views, of 2, 3, … clusters.
    #[serde(default)]
    pub falls: Vec<f64>,
    /// Whether there are groups at all: gap and fall exceed what chance gives.
    pub groups: bool,
    /// Whether a mixture that explains the rows has so many parts; else gap and fall decided.
    #[serde(default)]
    pub by_mixture: bool,
}

impl Counted {
    /// By null gap and fall in the views, each view counted by its own largest gap.
    pub(crate) fn by_gap(curves: &[&Curve], n: usize) -> Self {
        let top: Vec<f64> = curves.iter().map(|curve| curve.largest_gap()).collect();
        let best = top.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shares: Vec<f64> = top.iter().map(|top| ((top - best) / TAU).exp()).collect();
        let most = curves.iter().map(|curve| curve.quality.len().min(curve.null.len())).min().unwrap_or(0);
        let total: f64 = shares.iter().sum();
        let mean = |of: &dyn Fn(&Curve) -> Option<f64>| -> f64 {
            let each = curves.iter().zip(&shares).map(|(curve, share)| share * of(curve).unwrap_or(0.0));
            each.sum::<f64>() / total
        };
        let numbers = 2..=most.min(n.saturating_sub(1));
        let gaps: Vec<f64> = numbers.clone().map(|k| mean(&|curve| curve.gap(k))).collect();
        let falls: Vec<f64> = numbers.map(|k| mean(&|curve| curve.fall(k))).collect();
        let marks: Vec<f64> =
            gaps.iter().zip(&falls).map(|(gap, fall)| gap + FALL * (fall - USUAL_FALL).max(0.0)).collect();
        let mut order: Vec<usize> = (0..marks.len()).collect();
        order.sort_by(|a, b| marks[*b].total_cmp(&marks[*a]).then(a.cmp(b)));
        let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let groups = largest(&falls) / SURE_FALL + largest(&gaps) / SURE_GAP >= 1.0;
        let mut numbers = order.iter().map(|at| at + 2);
        let found = if groups { numbers.next().unwrap_or(1) } else { 1 };
        let others = numbers.take(2).collect();
        Self { found, others, gaps, falls, groups, by_mixture: false }
    }

    /// Whether so many parts of a mixture are pieces of fewer clusters that lie apart, such as arcs of a ring: parts
    /// that are joined as easily as chance has it, several for each of the clusters with the largest fall.
    pub(crate) fn pieces(&self, parts: usize) -> bool {
        let fall = |k: usize| k.checked_sub(2).and_then(|at| self.falls.get(at)).copied().unwrap_or(0.0);
        let apart = (2..parts).max_by(|a, b| fall(*a).total_cmp(&fall(*b))).unwrap_or(parts);
        fall(parts) < USUAL_FALL && fall(apart) >= SURE_FALL && parts >= PIECES * apart
    }

    /// The same where a mixture of so many parts explains the rows: what the gap had found is the next best.
    pub(crate) fn by_mixture(self, parts: usize) -> Self {
        let first = self.groups.then_some(self.found);
        let others = first.into_iter().chain(self.others).filter(|k| *k != parts).take(2).collect();
        Self { found: parts, others, groups: true, by_mixture: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Generated, blobs, circles, moons};
    use crate::input::Samples;
    use crate::math::rng::Stream;
    use crate::observe::Silent;
    use crate::views::judge::curve;
    use crate::views::{Standard, View};

    fn counted(rows: &[f64], n: usize) -> Counted {
        let samples = Samples::from_rows(rows, n, rows.len() / n).unwrap();
        let standard = Standard::new(&samples.spreads());
        let which: Vec<u32> = (0..n as u32).collect();
        let of = |view| curve(&samples, &which, (view, &standard), (30, 60, 0, 2), &Silent).unwrap().0;
        let curves = [of(View::Raw), of(View::Standard)];
        Counted::by_gap(&curves.iter().collect::<Vec<_>>(), n)
    }

    #[test]
    fn groups_of_any_shape_are_counted() {
        let made: [(&str, usize, Generated); 3] = [
            ("moons", 2, moons(1000, 0.05, 1).unwrap()),
            ("circles", 2, circles(1000, 0.04, 0.5, 1).unwrap()),
            ("blobs", 7, blobs(1400, 8, 7, 1.0, 1).unwrap()),
        ];
        for (what, k, made) in made {
            let count = counted(&made.data, made.n_samples);
            assert_eq!(count.found, k, "{what}: falls {:?}", &count.falls[..10]);
        }
    }

    #[test]
    fn no_groups_are_found_where_there_are_none() {
        let mut random = Stream::new(3, 1);
        let uniform: Vec<f64> = (0..1500 * 3).map(|_| random.uniform()).collect();
        let normal: Vec<f64> = (0..1500 * 10).map(|_| random.normal()).collect();
        for (what, rows) in [("uniform", uniform), ("normal", normal)] {
            let count = counted(&rows, 1500);
            assert!(!count.groups && count.found == 1, "{what}: {count:?}");
        }
    }

    #[test]
    fn falls_are_those_of_the_joins() {
        let curve = Curve { joins: vec![0.0, 0.5, 2.0], edge: 0.0, ..Curve::default() };
        assert_eq!(curve.fall(2), None);
        assert_eq!(curve.fall(3), Some(4.0_f64.ln()));
        assert_eq!(curve.fall(4), None);
        let curve = Curve { edge: 0.01, ..curve };
        assert!((curve.fall(2).unwrap() - (0.52_f64 / 0.02).ln()).abs() < 1e-12);
    }
}
