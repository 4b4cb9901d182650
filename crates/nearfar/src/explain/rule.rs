//! A rule for every cluster: at most three conditions, found on one half of the rows and scored on the other.
//!
//! A rule is a path of a small decision tree. Conditions are added one at a time; the best few beginnings are kept
//! (beam search), and a further condition must raise the score of the rule, the harmonic mean of precision and
//! recall, by [`WORTH`]. Values are looked at in at most [`BINS`] bins of equal counts.

use rayon::prelude::*;

use super::Subject;
use super::columns::{Columns, Kind};
use super::words::between;
use crate::input::Samples;
use crate::math::rng::Stream;

/// Conditions of a rule, at most.
const MOST_CONDITIONS: usize = 3;
/// Smaller clusters have no rule: halves of them tell nothing.
const LEAST_SIZE: usize = 8;
/// Bins of a column.
const BINS: usize = 64;
/// Rows that rules are found on, at most, and values in them.
const MOST_ROWS: usize = 10_000;
const MOST_VALUES: usize = 1 << 24;
/// Rows of a cluster among them, at least, where it has so many.
const LEAST_ROWS: usize = 50;
/// Columns that are looked at for a cluster.
const MOST_COLUMNS: usize = 32;
/// Beginnings of a rule that are followed.
const BEAM: usize = 6;
/// What a further condition must add to the score.
const WORTH: f64 = 0.01;
/// Stream of the halves.
const STREAM: u64 = 11 << 32;

/// What a row must fulfil.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Condition {
    /// The column, from 0.
    pub feature: usize,
    /// Its name.
    pub name: String,
    /// The value must be above this.
    pub above: Option<f64>,
    /// The value must be at most this.
    pub at_most: Option<f64>,
    /// The same in words.
    pub words: String,
}

/// Conditions that all must hold.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Rule {
    /// At most three comparisons; two of one column are one condition.
    pub conditions: Vec<Condition>,
    /// Of the rows that fulfil the rule, the share that is of the cluster; on rows it was not found on.
    pub precision: f64,
    /// Of the rows of the cluster, the share that fulfils the rule; on rows it was not found on.
    pub recall: f64,
    /// Rows that it was found on, and rows that it was scored on.
    pub rows: [usize; 2],
}

impl Rule {
    /// All conditions in words.
    #[must_use]
    pub fn words(&self) -> String {
        let all: Vec<&str> = self.conditions.iter().map(|condition| &*condition.words).collect();
        all.join(" and ")
    }
}

/// A comparison: at most the value at the end of a bin, or above it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cut {
    column: usize,
    bin: u8,
    above: bool,
}

/// Comparisons, the rows that fulfil them, and the score.
#[derive(Clone, Debug)]
struct Path {
    cuts: Vec<Cut>,
    rows: Vec<u32>,
    score: f64,
}

/// The rows that rules are found on, in bins.
struct Binned {
    rows: Vec<u32>,
    labels: Vec<u32>,
    /// How many rows each one stands for.
    weights: Vec<f64>,
    /// Columns × rows.
    codes: Vec<Vec<u8>>,
    /// Of every column the thresholds between its bins.
    edges: Vec<Vec<f64>>,
}

/// A rule for every cluster.
pub(super) fn rules(
    samples: &Samples<'_>,
    subject: &Subject<'_>,
    columns: &Columns<'_>,
) -> Vec<Option<Rule>> {
    let k = subject.n_clusters;
    let mut sizes = vec![0_usize; k];
    for label in subject.labels.iter().filter(|label| (**label as usize) < k) {
        sizes[*label as usize] += 1;
    }
    if k < 2 {
        return vec![None; k];
    }
    let (fit, test) = halves(subject, &sizes, samples.n_features());
    let binned = Binned::of(samples, subject.labels, columns, fit);
    let mut totals = vec![0.0; k];
    binned.labels.iter().zip(&binned.weights).for_each(|(label, w)| totals[*label as usize] += w);
    let worth = worth_a_look(&binned, &totals);
    let found: Vec<Option<Path>> = (0..k)
        .into_par_iter()
        .map(|c| (sizes[c] >= LEAST_SIZE).then(|| search(&binned, c, totals[c], &worth[c])).flatten())
        .collect();
    let scored = scored(samples, subject.labels, columns, &binned, &found, &test);
    found
        .iter()
        .zip(scored)
        .map(|(path, [hits, taken, own])| {
            let path = path.as_ref()?;
            Some(Rule {
                conditions: conditions(&path.cuts, &binned, columns),
                precision: if taken > 0 { hits as f64 / taken as f64 } else { 0.0 },
                recall: if own > 0 { hits as f64 / own as f64 } else { 0.0 },
                rows: [binned.rows.len(), test.len()],
            })
        })
        .collect()
}

/// One half of every cluster to find rules on, with what each row stands for, and the other half.
fn halves(subject: &Subject<'_>, sizes: &[usize], m: usize) -> (Vec<(u32, f64)>, Vec<u32>) {
    let k = sizes.len();
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); k];
    for (i, label) in (0..).zip(subject.labels) {
        if let Some(members) = members.get_mut(*label as usize) {
            members.push(i);
        }
    }
    let most = (MOST_VALUES / m.max(1)).clamp(500, MOST_ROWS);
    let all: usize = members.iter().map(|own| own.len() / 2).sum();
    let (mut fit, mut test) = (Vec::new(), Vec::new());
    for (c, own) in members.iter_mut().enumerate() {
        Stream::new(0, STREAM + c as u64).shuffle(own);
        let half = own.len() / 2;
        test.extend_from_slice(&own[half..]);
        let share = (half as f64 * most as f64 / all.max(1) as f64).ceil() as usize;
        let taken = half.min(share.max(LEAST_ROWS));
        fit.extend(own[..taken].iter().map(|i| (*i, half as f64 / taken as f64)));
    }
    test.sort_unstable();
    fit.sort_unstable_by_key(|(i, _)| *i);
    (fit, test)
}

impl Binned {
    fn of(samples: &Samples<'_>, labels: &[u32], columns: &Columns<'_>, fit: Vec<(u32, f64)>) -> Self {
        let (rows, weights): (Vec<u32>, Vec<f64>) = fit.into_iter().unzip();
        let binned: Vec<(Vec<u8>, Vec<f64>)> = (0..samples.n_features())
            .into_par_iter()
            .map(|j| {
                let value = |i: &u32| columns.original(j, samples.get(*i as usize, j));
                let values: Vec<f64> = rows.iter().map(value).collect();
                let edges = edges(&values);
                let code = |x: &f64| edges.partition_point(|edge| edge < x) as u8;
                (values.iter().map(code).collect(), edges)
            })
            .collect();
        let (codes, edges) = binned.into_iter().unzip();
        let labels = rows.iter().map(|i| labels[*i as usize]).collect();
        Self { rows, labels, weights, codes, edges }
    }
}

/// Thresholds between bins of about equal counts; a value equal to a threshold lies below it.
fn edges(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    let mut edges: Vec<f64> = Vec::new();
    for bin in 1..BINS {
        // The last row of the bin, and behind all that equal it.
        let at = sorted.partition_point(|x| *x <= sorted[(bin * n / BINS).min(n.max(1) - 1)]);
        if at > 0 && at < n {
            let edge = between(sorted[at - 1], sorted[at]);
            if edges.last().is_none_or(|last| edge > *last) {
                edges.push(edge);
            }
        }
    }
    edges
}

/// Harmonic mean of precision and recall.
fn score(hits: f64, taken: f64, total: f64) -> f64 {
    if hits > 0.0 { 2.0 * hits / (taken + total) } else { 0.0 }
}

/// Of every cluster the columns in which one interval alone tells most.
fn worth_a_look(binned: &Binned, totals: &[f64]) -> Vec<Vec<usize>> {
    let k = totals.len();
    let scores: Vec<Vec<f64>> = (0..binned.codes.len())
        .into_par_iter()
        .map(|j| {
            let bins = binned.edges[j].len() + 1;
            let mut counts = vec![0.0; k * bins];
            let mut all = vec![0.0; bins];
            for ((code, label), w) in binned.codes[j].iter().zip(&binned.labels).zip(&binned.weights) {
                counts[*label as usize * bins + *code as usize] += w;
                all[*code as usize] += w;
            }
            counts
                .chunks_exact(bins)
                .zip(totals)
                .map(|(own, total)| best_interval(own, &all, *total))
                .collect()
        })
        .collect();
    (0..k)
        .map(|c| {
            let mut order: Vec<usize> = (0..scores.len()).collect();
            order.sort_by(|a, b| scores[*b][c].total_cmp(&scores[*a][c]).then(a.cmp(b)));
            order.truncate(MOST_COLUMNS);
            order
        })
        .collect()
}

fn best_interval(own: &[f64], all: &[f64], total: f64) -> f64 {
    let mut best = 0.0_f64;
    for first in (0..own.len()).filter(|bin| own[*bin] > 0.0) {
        let (mut hits, mut taken) = (0.0, 0.0);
        for (own, all) in own[first..].iter().zip(&all[first..]) {
            (hits, taken) = (hits + own, taken + all);
            best = best.max(score(hits, taken, total));
        }
    }
    best
}

/// The best rule for a cluster; nothing where no comparison has anything to say.
fn search(binned: &Binned, c: usize, total: f64, worth: &[usize]) -> Option<Path> {
    let rows: Vec<u32> = (0..binned.rows.len() as u32).collect();
    let all: f64 = binned.weights.iter().sum();
    let mut beam = vec![Path { cuts: Vec::new(), rows, score: score(total, all, total) }];
    let mut best: Option<Path> = None;
    for _ in 0..MOST_CONDITIONS {
        let mut next: Vec<(f64, usize, Cut)> = Vec::new();
        for (from, path) in beam.iter().enumerate() {
            next.extend(
                worth.iter().flat_map(|j| cuts(binned, path, *j, c, total)).map(|(s, cut)| (s, from, cut)),
            );
        }
        next.sort_by(|a, b| b.0.total_cmp(&a.0));
        // Two ways to one set of comparisons have the same score.
        next.dedup_by(|a, b| a.0 == b.0);
        next.truncate(BEAM);
        beam = next.into_iter().map(|(score, from, cut)| followed(binned, &beam[from], cut, score)).collect();
        if let Some(first) = beam.first()
            && best.as_ref().is_none_or(|best| first.score > best.score + WORTH)
        {
            best = Some(first.clone());
        }
    }
    best
}

/// The best comparison of each direction in one column.
fn cuts(binned: &Binned, path: &Path, j: usize, c: usize, total: f64) -> Vec<(f64, Cut)> {
    let bins = binned.edges[j].len() + 1;
    let (mut own, mut all) = ([0.0; BINS], [0.0; BINS]);
    for i in &path.rows {
        let (i, code) = (*i as usize, binned.codes[j][*i as usize] as usize);
        all[code] += binned.weights[i];
        if binned.labels[i] as usize == c {
            own[code] += binned.weights[i];
        }
    }
    let (whole, taken): (f64, f64) = (own.iter().sum(), all.iter().sum());
    let (mut hits, mut upto) = (0.0, 0.0);
    let mut best: [Option<(f64, Cut)>; 2] = [None, None];
    for bin in 0..bins - 1 {
        (hits, upto) = (hits + own[bin], upto + all[bin]);
        if upto == 0.0 || upto == taken {
            continue;
        }
        for above in [false, true] {
            let score =
                if above { score(whole - hits, taken - upto, total) } else { score(hits, upto, total) };
            let so_far = &mut best[usize::from(above)];
            if so_far.is_none_or(|(known, _)| score > known) {
                *so_far = Some((score, Cut { column: j, bin: bin as u8, above }));
            }
        }
    }
    best.into_iter().flatten().collect()
}

fn followed(binned: &Binned, path: &Path, cut: Cut, score: f64) -> Path {
    let holds = |i: &u32| (binned.codes[cut.column][*i as usize] > cut.bin) == cut.above;
    let rows = path.rows.iter().copied().filter(holds).collect();
    let cuts = path.cuts.iter().copied().chain([cut]).collect();
    Path { cuts, rows, score }
}

/// Of every rule: rows of its cluster that fulfil it, rows that fulfil it, rows of its cluster.
fn scored(
    samples: &Samples<'_>,
    labels: &[u32],
    columns: &Columns<'_>,
    binned: &Binned,
    found: &[Option<Path>],
    test: &[u32],
) -> Vec<[usize; 3]> {
    let holds = |cut: &Cut, i: usize| {
        let x = columns.original(cut.column, samples.get(i, cut.column));
        (x > binned.edges[cut.column][cut.bin as usize]) == cut.above
    };
    found
        .par_iter()
        .enumerate()
        .map(|(c, path)| {
            let Some(path) = path else { return [0; 3] };
            let mut counts = [0; 3];
            for i in test.iter().map(|i| *i as usize) {
                let own = labels[i] as usize == c;
                let taken = path.cuts.iter().all(|cut| holds(cut, i));
                counts[0] += usize::from(own && taken);
                counts[1] += usize::from(taken);
                counts[2] += usize::from(own);
            }
            counts
        })
        .collect()
}

/// Comparisons as conditions, those of one column together.
fn conditions(cuts: &[Cut], binned: &Binned, columns: &Columns<'_>) -> Vec<Condition> {
    let mut conditions: Vec<Condition> = Vec::new();
    for cut in cuts {
        let edge = binned.edges[cut.column][cut.bin as usize];
        let (above, at_most) = if cut.above { (Some(edge), None) } else { (None, Some(edge)) };
        match conditions.iter_mut().find(|known| known.feature == cut.column) {
            Some(known) => {
                known.above = [known.above, above].into_iter().flatten().reduce(f64::max);
                known.at_most = [known.at_most, at_most].into_iter().flatten().reduce(f64::min);
            }
            None => conditions.push(Condition {
                feature: cut.column,
                name: columns.name(cut.column).to_owned(),
                above,
                at_most,
                words: String::new(),
            }),
        }
    }
    for condition in &mut conditions {
        condition.words = condition_words(condition, columns);
    }
    conditions
}

fn condition_words(condition: &Condition, columns: &Columns<'_>) -> String {
    let Condition { feature, name, above, at_most, .. } = condition;
    let category = matches!(columns.kind(*feature), Kind::Switch | Kind::Level { .. });
    match (above, at_most) {
        (Some(_), _) if category => columns.high(*feature),
        (_, Some(_)) if category => columns.low(*feature),
        // Thresholds have as few digits as their place between two values allows.
        (Some(low), Some(high)) => format!("{low} < {name} ≤ {high}"),
        (Some(low), None) => format!("{name} > {low}"),
        (_, Some(high)) => format!("{name} ≤ {high}"),
        (None, None) => name.clone(),
    }
}
