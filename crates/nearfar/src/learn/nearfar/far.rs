//! p: how far the ranks beyond the lists are trusted as strangers, from pairs of a sample and the labels that were
//! found.
//!
//! The far half of the paper's (w, p) step with a hard factor: minimise μ/2 Σ p_b²/m_b + β Σ c_b p_b over the
//! simplex, where m_b ranks share the weight of a bin and c_b is the bin's mean agreement. These weights tell which
//! ranks are strangers; no label depends on them.

use rayon::prelude::*;

use crate::input::Input;
use crate::learn::nearfar::TRUSTED;
use crate::math::rng::Stream;
use crate::math::simplex;
use crate::params::DEFAULT_BETA;
use crate::slices::ranked::{Ranked, density};
use crate::views::data::Data;
use crate::views::{SAMPLE_STREAM, View};

/// Points of the sample, whose pairs stand for all.
const POINTS: usize = 1_000;
/// Bins that the far ranks are divided into, at most.
const BINS: usize = 64;

/// p over all n ranks, 0 for the near ones; empty where distances of far pairs are not known, or no rank is far.
/// All processes that share the rows must ask.
pub(crate) fn weights(
    ranked: &Ranked,
    view: View,
    input: &Input<'_>,
    data: Option<&Data<'_>>,
    labels: &[u32],
    seed: u64,
) -> Vec<f64> {
    let (n, near) = (ranked.n, ranked.k + 1);
    let far = n.saturating_sub(near);
    let some = sample(n, seed);
    let Some(distances) = distances(&some, view, input, data).filter(|_| far > 0) else { return Vec::new() };
    let bins = BINS.min(far);
    let bin_of = |rank: usize| (rank - near) * bins / far;
    let mut sizes = vec![0.0; 1 + labels.iter().max().map_or(0, |label| *label as usize)];
    labels.iter().for_each(|label| sizes[*label as usize] += 1.0);
    let others = (some.len() - 1) as f64;
    // Of every bin its pairs, and what those of one cluster agree.
    let of_row = |(a, row): (usize, &[f64])| {
        let mut order: Vec<usize> = (0..some.len()).filter(|b| *b != a).collect();
        order.sort_by(|x, y| row[*x].total_cmp(&row[*y]).then(x.cmp(y)));
        let mut seen = vec![(0.0, 0.0); bins];
        for (at, b) in order.into_iter().enumerate() {
            let rank = 1 + ((at as f64 + 0.5) / others * (n - 1) as f64) as usize;
            if rank < near {
                continue;
            }
            let label = labels[some[a] as usize];
            let (pairs, agreed) = &mut seen[bin_of(rank.min(n - 1))];
            *pairs += 1.0;
            *agreed += if label == labels[some[b] as usize] { 1.0 / sizes[label as usize] } else { 0.0 };
        }
        seen
    };
    let rows: Vec<Vec<(f64, f64)>> = distances.par_chunks(some.len()).enumerate().map(of_row).collect();
    let mut seen = vec![(0.0, 0.0); bins];
    for row in rows {
        seen.iter_mut().zip(row).for_each(|(sum, (pairs, agreed))| *sum = (sum.0 + pairs, sum.1 + agreed));
    }
    // A slice has n pairs and norm 1: its entries are about n^-½ each.
    let scale = (n as f64).sqrt();
    let mut shared = vec![0.0; bins];
    (near..n).for_each(|rank| shared[bin_of(rank)] += 1.0);
    let mu = density(&ranked.agreement(labels), TRUSTED[1]);
    let wish: Vec<f64> =
        seen.iter().map(|(pairs, agreed)| -DEFAULT_BETA * scale * agreed / pairs.max(1.0) / mu).collect();
    let p = simplex::project(&wish, &shared);
    let mut all = vec![0.0; n];
    (near..n).for_each(|rank| all[rank] = p[bin_of(rank)] / shared[bin_of(rank)]);
    all
}

fn sample(n: usize, seed: u64) -> Vec<u32> {
    let mut some: Vec<u32> = (0..n as u32).collect();
    if n > POINTS {
        Stream::new(seed, SAMPLE_STREAM + 1).shuffle(&mut some);
        some.truncate(POINTS);
        some.sort_unstable();
    }
    some
}

/// Squared distances (or anything that grows with them) between all of these points.
fn distances(some: &[u32], view: View, input: &Input<'_>, data: Option<&Data<'_>>) -> Option<Vec<f64>> {
    let square = |of: &(dyn Fn(usize, usize) -> f64 + Sync)| -> Vec<f64> {
        let s = some.len();
        (0..s * s).into_par_iter().with_min_len(s).map(|at| of(at / s, at % s)).collect()
    };
    match input {
        Input::Samples(..) | Input::Part(..) => {
            let data = data?;
            let m = data.rows.n_features();
            let shown = data.picked(some, view);
            let rows = shown.samples(some.len(), m).ok()?;
            let mut wide = vec![0.0; some.len() * m];
            wide.par_chunks_mut(m).enumerate().for_each(|(i, row)| rows.copy_row(i, row));
            let row = |i: usize| &wide[i * m..(i + 1) * m];
            Some(square(&|a, b| row(a).iter().zip(row(b)).map(|(x, y)| (x - y).powi(2)).sum()))
        }
        Input::Distances(x) => Some(square(&|a, b| x.get(some[a] as usize, some[b] as usize))),
        Input::Affinities(x) => Some(square(&|a, b| -x.get(some[a] as usize, some[b] as usize))),
        Input::Neighbors(_) => None,
    }
}
