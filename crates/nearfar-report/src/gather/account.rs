//! What the default method tells of its answer: views, members, tests, tree, confidence.

use nearfar::internals::Standard;
use nearfar::model::MergeTree;
use nearfar::{Metric, Samples, SavedModel, View};

use super::{KnownClasses, finite, rounded};
use crate::account::{Account, Bin, Confidence, Count, MemberRow, Mixture, Tree, ViewTrust};
use crate::record::Histogram;

/// Bars of the reliability of confidence.
const BINS: usize = 10;
/// Cells of a matrix of clusters and classes that are matched.
const MOST_CELLS: usize = 4_000_000;
/// Ranks up to which neighbours are looked at.
const RANKS: usize = nearfar::internals::LISTS;
/// Multiplications that ranking some points may take.
const WORK: usize = 400_000_000;
/// Points whose neighbours are ranked, at most.
const MOST_RANKED: usize = 1_000;
/// Of fewer points a rate tells too little.
const LEAST_RANKED: usize = 20;
/// Rows cost as much as if they had so many columns at least, for their distances have to be held.
const LEAST_WIDTH: usize = 20;

/// A word of the library, as its JSON spells it.
fn word(value: impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// How the answer was found; `None` for the other methods.
pub(crate) fn account(model: &SavedModel) -> Option<Account> {
    let told = model.about.account.as_ref()?;
    let members = members(&model.about.members);
    let of = |view: &str| members.iter().filter(|member| member.view == view).count();
    let mut views: Vec<ViewTrust> = told
        .views
        .iter()
        .map(|trust| ViewTrust {
            name: word(trust.view),
            judged: Some([trust.weight, trust.quality, trust.null].map(finite)),
            members: of(&word(trust.view)),
        })
        .collect();
    // A single view needs no judge.
    for member in &members {
        if views.iter().all(|view| view.name != member.view) {
            let (name, members) = (member.view.clone(), of(&member.view));
            views.push(ViewTrust { name, judged: None, members });
        }
    }
    let engine = word(told.engine);
    let asked = model.about.params.pointer("/method/engine").and_then(serde_json::Value::as_str);
    Some(Account {
        asked: asked == Some(engine.as_str()),
        engine,
        views,
        judged_on: told.judged_on,
        count: told.count.as_ref().map(|count| Count {
            found: count.found,
            others: count.others.clone(),
            gaps: count.gaps.iter().map(|gap| finite(*gap)).collect(),
            falls: count.falls.iter().map(|fall| finite(*fall)).collect(),
            groups: count.groups,
            by_mixture: count.by_mixture,
        }),
        pieces: told.pieces,
        mixture: told.mixture.as_ref().map(|mixture| Mixture {
            explains: mixture.explains,
            parts: mixture.parts,
            covariance: word(mixture.covariance),
            tail: mixture.tail.filter(|tail| tail.is_finite()),
            told: finite(mixture.told),
            sharpness: finite(mixture.sharpness),
            drawn_sharpness: finite(mixture.drawn_sharpness),
            certainty: finite(mixture.certainty),
        }),
        members,
        ranked: None,
    })
}

fn members(members: &serde_json::Value) -> Vec<MemberRow> {
    let of = |member: &serde_json::Value| MemberRow {
        view: member["view"].as_str().unwrap_or_default().to_owned(),
        trusted: member["neighbors"].as_u64().unwrap_or(0) as usize,
        modularity: member["cut"].as_f64().map_or(0.0, |cut| 1.0 - cut),
        agreement: member["agreement"].as_f64(),
    };
    members.as_array().into_iter().flatten().map(of).collect()
}

/// Weights per rank, as far as ranks were looked at: the neighbours that were looked up, and whatever lies beyond
/// with some weight.
pub(crate) fn weights(near: &[f64], far: &[f64]) -> [Vec<f64>; 2] {
    let last = |weights: &[f64]| weights.iter().rposition(|w| *w > 0.0).map_or(0, |at| at + 1);
    let seen = last(near).max(last(far)).max(RANKS + 1).min(near.len());
    let far = if last(far) > 0 { far.iter().take(seen).copied().collect() } else { Vec::new() };
    [near[..seen].to_vec(), far]
}

/// How clusters join.
pub(crate) fn tree(tree: &MergeTree, labels: &[usize], r: usize) -> Option<Tree> {
    if tree.leaves().len() != labels.len() || tree.most() > labels.len() {
        return None;
    }
    // The commonest cluster of every leaf; leaves lie within clusters but where a mixture answered.
    let mut pairs: Vec<(u32, usize)> = tree.leaves().iter().copied().zip(labels.iter().copied()).collect();
    pairs.sort_unstable();
    let mut leaves = vec![(0, 0); tree.most()];
    let mut best = vec![0; tree.most()];
    for same in pairs.chunk_by(|a, b| a == b) {
        let (leaf, cluster) = (same[0].0 as usize, same[0].1 as u32);
        leaves[leaf].0 += same.len();
        if same.len() > best[leaf] {
            (best[leaf], leaves[leaf].1) = (same.len(), cluster);
        }
    }
    let merges = tree.merges().iter().map(|m| (m.into, m.from, finite(m.resolution).max(0.0))).collect();
    let told = Tree { leaves, merges };
    (told.leaves.len() > 1 && told.is_sound(labels.len(), r)).then_some(told)
}

/// How sure labels are, and what that is worth where classes are known.
pub(crate) fn confidence(
    sure: &[f64],
    labels: &[usize],
    r: usize,
    truth: Option<&KnownClasses>,
) -> Option<Confidence> {
    if sure.len() != labels.len() || sure.is_empty() {
        return None;
    }
    let (mut sums, mut sizes, mut doubtful) = (vec![0.0; r], vec![0_usize; r], vec![0; r]);
    for (sure, label) in sure.iter().zip(labels) {
        sums[*label] += sure;
        sizes[*label] += 1;
        doubtful[*label] += usize::from(*sure < 0.5);
    }
    let mean = |c: usize| rounded(sums[c] / sizes[c].max(1) as f64, 5);
    Some(Confidence {
        histogram: fine(sure),
        mean: rounded(sure.iter().sum::<f64>() / sure.len() as f64, 5),
        doubtful: doubtful.iter().sum(),
        clusters: (0..r).map(|c| (mean(c), doubtful[c])).collect(),
        bins: truth.map_or_else(Vec::new, |known| bins(sure, labels, r, known)),
    })
}

/// Counts between 0 and 1, in steps of a fiftieth.
fn fine(sure: &[f64]) -> Histogram {
    let edges: Vec<f64> = (0..=50).map(|at| f64::from(at) / 50.0).collect();
    let mut counts = vec![0; 50];
    sure.iter().for_each(|x| counts[((x * 50.0) as usize).min(49)] += 1);
    Histogram { edges, counts }
}

fn bins(sure: &[f64], labels: &[usize], r: usize, known: &KnownClasses) -> Vec<Bin> {
    let Some(class) = matched(labels, r, known) else { return Vec::new() };
    let mut bins: Vec<Bin> = (0..BINS)
        .map(|at| Bin { from: at as f64 / BINS as f64, to: (at + 1) as f64 / BINS as f64, ..Bin::default() })
        .collect();
    for ((sure, label), code) in sure.iter().zip(labels).zip(&known.codes) {
        let bin = &mut bins[((sure * BINS as f64) as usize).min(BINS - 1)];
        bin.points += 1;
        bin.confidence += sure;
        bin.right += f64::from(u8::from(class[*label] == Some(*code)));
    }
    for bin in &mut bins {
        bin.confidence = rounded(bin.confidence / bin.points.max(1) as f64, 5);
        bin.right = rounded(bin.right / bin.points.max(1) as f64, 5);
    }
    bins
}

/// The class of every cluster by the assignment that makes most points right.
fn matched(labels: &[usize], r: usize, known: &KnownClasses) -> Option<Vec<Option<usize>>> {
    let k = known.names.len();
    if k == 0 || r == 0 || r.checked_mul(k).is_none_or(|cells| cells > MOST_CELLS) {
        return None;
    }
    let mut counts = vec![0.0; r * k];
    for (label, code) in labels.iter().zip(&known.codes) {
        *counts.get_mut(label * k + code).filter(|_| *code < k)? += 1.0;
    }
    let (rows, columns) = lsap::solve(r, k, &counts, true).ok()?;
    let mut class = vec![None; r];
    rows.into_iter().zip(columns).for_each(|(row, column)| class[row] = Some(column));
    Some(class)
}

/// The view that was trusted most.
pub(crate) fn best_view(account: &Account) -> Option<View> {
    let weight = |view: &ViewTrust| view.judged.map_or(1.0, |[weight, ..]| weight);
    let any = account.learnt() > 0;
    let shown = account.views.iter().filter(|view| view.members > 0 || !any);
    let best = shown.reduce(|a, b| if weight(b) > weight(a) { b } else { a })?;
    View::ALL.into_iter().find(|view| view.name() == best.name)
}

/// The share of pairs at every rank that are of one class, in one view, for some points that are evenly taken; and
/// how many points. `None` where that would take too long.
pub(crate) fn correct(
    samples: &Samples<'_>,
    metric: Metric,
    view: View,
    codes: &[usize],
) -> Option<(Vec<f64>, usize)> {
    let (n, m) = (samples.n_samples(), samples.n_features());
    let view = if metric == Metric::Cosine { View::Unit } else { view };
    let standard = Standard::new(&samples.spreads());
    let ranks = RANKS.min(n.saturating_sub(1));
    let most = MOST_RANKED.min(WORK / (n * m.max(LEAST_WIDTH)).max(1));
    if most < LEAST_RANKED {
        return None;
    }
    let step = n.div_ceil(most).max(1);
    let chosen: Vec<usize> = (0..n).step_by(step).collect();
    let row = |i: usize, out: &mut [f64]| {
        samples.copy_row(i, out);
        standard.show(view, out);
    };
    let mut own = vec![0.0; chosen.len() * m];
    own.chunks_exact_mut(m).zip(&chosen).for_each(|(out, i)| row(*i, out));
    // Of every chosen point all distances, filled point by point so that every row is shown once.
    let mut far = vec![0.0_f64; chosen.len() * n];
    let mut other = vec![0.0; m];
    for j in 0..n {
        row(j, &mut other);
        for (at, own) in own.chunks_exact(m).enumerate() {
            far[at * n + j] = own.iter().zip(&other).map(|(x, y)| (x - y) * (x - y)).sum();
        }
    }
    let mut same = vec![0_usize; ranks + 1];
    for (i, far) in chosen.iter().zip(far.chunks_exact(n)) {
        let mut order: Vec<usize> = (0..n).filter(|j| j != i).collect();
        let by = |a: &usize, b: &usize| far[*a].total_cmp(&far[*b]).then(a.cmp(b));
        if ranks < order.len() {
            order.select_nth_unstable_by(ranks, by);
            order.truncate(ranks);
        }
        order.sort_unstable_by(by);
        for (rank, j) in order.iter().enumerate() {
            same[rank + 1] += usize::from(codes[*j] == codes[*i]);
        }
    }
    same[0] = chosen.len();
    let rate = |count: usize| rounded(count as f64 / chosen.len().max(1) as f64, 5);
    Some((same.into_iter().map(rate).collect(), chosen.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(codes: &[usize], names: usize) -> KnownClasses {
        KnownClasses { codes: codes.to_vec(), names: (0..names).map(|c| c.to_string()).collect() }
    }

    #[test]
    fn confidence_is_held_against_the_best_matching() {
        // Clusters 0, 1 are classes 1, 0 but for one point.
        let (labels, codes) = ([0, 0, 0, 1, 1], [1, 1, 0, 0, 0]);
        let told = confidence(&[0.95, 0.92, 0.3, 0.95, 1.0], &labels, 2, Some(&known(&codes, 2))).unwrap();
        assert_eq!((told.doubtful, told.clusters[0].1, told.clusters[1].1), (1, 1, 0));
        assert_eq!((told.bins[3].points, told.bins[3].right), (1, 0.0));
        assert_eq!((told.bins[9].points, told.bins[9].right), (4, 1.0));
        assert_eq!(told.histogram.counts.iter().sum::<u64>(), 5);
        assert!(confidence(&[], &labels, 2, None).is_none());
    }

    #[test]
    fn neighbours_of_one_class_are_counted_by_rank() {
        let data = [0.0, 0.1, 0.2, 9.0, 9.1, 9.2];
        let samples = Samples::from_rows(&data, 6, 1).unwrap();
        let (rate, counted) =
            correct(&samples, Metric::Euclidean, View::Standard, &[0, 0, 0, 1, 1, 1]).unwrap();
        assert_eq!((rate, counted), (vec![1.0, 1.0, 1.0, 0.0, 0.0, 0.0], 6));
    }
}
