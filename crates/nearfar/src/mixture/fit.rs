//! Fitting a mixture: EM from several starts of k-means, for every kind of parts; the kind with the lowest BIC.

use rayon::prelude::*;

use super::columns::Table;
use super::parts::{Block, Kind, Parts, Sums, soften};
use super::{BLOCK, Covariance};
use crate::error::Result;
use crate::labels::canonical::renumber;
use crate::labels::kmeans::KMeansParams;
use crate::observe::{Observer, Stage, go_on};
use crate::partition::tree_for;
use crate::tree::{MergeTree, Nothing};
use crate::views::judge::start_network;

/// Parts of one shape, with these tails, from these labels.
type Job<'a> = (Covariance, Vec<Option<f64>>, &'a [usize]);

/// Most rounds of EM.
const ROUNDS: usize = 100;
/// Rounds after which it shows whether a mixture can explain the rows at all.
const FIRST_ROUNDS: usize = 12;
/// EM ends when the mean log-likelihood of a row moves by less.
const TOLERANCE: f64 = 1e-3;
/// Rows for each part and number below which parts have no full covariance of their own.
const ROWS_FOR_FULL: f64 = 1.5;
/// Degrees of freedom of the tails that are tried.
pub(super) const TAILS: [Option<f64>; 3] = [None, Some(5.0), Some(2.0)];
/// A kind whose BIC on the first start is above the best by more than this for each row is not tried on the others.
const HOPELESS: f64 = 0.05;
/// The same after the few rounds of a quick look.
const UNSETTLED: f64 = 0.4;

/// A mixture fitted to a table.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    pub(super) parts: Parts,
    pub(super) bic: f64,
}

/// Where EM begins.
#[derive(Clone, Copy)]
pub(super) enum Start<'a> {
    /// Every row belongs to one part.
    Labels(&'a [usize]),
    /// Posteriors of other parts.
    Parts(&'a Parts),
}

/// Covariances worth a try for k parts.
pub(super) fn covariances(table: &Table, k: usize) -> Vec<Covariance> {
    if table.m == 0 {
        return vec![Covariance::Spherical];
    }
    let enough = table.n as f64 >= ROWS_FOR_FULL * (k * table.m) as f64;
    let full = enough.then_some(Covariance::Full);
    full.into_iter().chain([Covariance::Tied, Covariance::Diag, Covariance::Spherical]).collect()
}

/// Labels of `starts` runs of k-means, the tightest first, each partition once.
pub(super) fn starts(
    table: &Table,
    k: usize,
    (starts, seed): (usize, u64),
    observer: &dyn Observer,
) -> Result<Vec<Vec<usize>>> {
    if k == 1 {
        return Ok(vec![vec![0; table.n]]);
    }
    let everybody: Vec<u32> = (0..table.n as u32).collect();
    let (flat, width) = (table.joined(&everybody), table.width());
    let found: Result<Vec<(f64, usize, Vec<usize>)>> = (0..starts)
        .into_par_iter()
        .map(|start| {
            let seed = seed.wrapping_mul(100).wrapping_add(start as u64);
            let params = KMeansParams::new(k).restarts(1);
            let found = params.fit_observed(&flat, table.n, width, seed, observer)?;
            Ok((found.inertia, start, renumber(&found.labels)))
        })
        .collect();
    let mut found = found?;
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    found.dedup_by(|later, earlier| later.2 == earlier.2);
    Ok(found.into_iter().map(|(_, _, labels)| labels).collect())
}

/// Clusters of the graph of a table's rows: where EM begins, too, as k-means is apt to miss small parts.
pub(super) struct GraphStarts(MergeTree);

impl GraphStarts {
    /// For up to so many parts.
    pub(super) fn new(table: &Table, most: usize, seed: u64, observer: &dyn Observer) -> Result<Self> {
        let everybody: Vec<u32> = (0..table.n as u32).collect();
        let rows = table.joined(&everybody);
        let network = start_network(&rows, table.n, table.width(), observer)?;
        Ok(Self(tree_for(&network, most, seed, &Nothing)))
    }

    /// Exactly k clusters; `None` where there are not so many.
    pub(super) fn at(&self, k: usize) -> Option<Vec<usize>> {
        let found = (k > 1 && k <= self.0.most()).then(|| self.0.labels_at(k));
        Some(found?.into_iter().map(|label| label as usize).collect())
    }
}

/// EM from one start.
pub(super) fn fit(
    table: &Table,
    k: usize,
    kind: Kind,
    (start, rounds): (Start<'_>, usize),
    observer: &dyn Observer,
) -> Result<Fitted> {
    let mut block = Block::default();
    let Kind { covariance, .. } = kind;
    let mut sums = match start {
        Start::Labels(labels) => Sums::over(table, k, covariance, &mut block, |start, block| {
            block.r.clear();
            block.r.resize(k * block.count, 0.0);
            for (i, label) in labels[start..start + block.count].iter().enumerate() {
                block.r[label * block.count + i] = 1.0;
            }
            block.w.clone_from(&block.r);
        }),
        Start::Parts(parts) => {
            // Looked at twice where the other parts have another shape.
            let (distances, mut other) = (parts.distances(), Block::default());
            Sums::over(table, k, covariance, &mut block, |start, block| {
                other.look(table, start, parts.covariance);
                parts.log_joint_fast(&distances, table, start, &mut other);
                soften(&mut other, k);
                block.r.clone_from(&other.r);
                block.w.clone_from(&other.r);
            })
        }
    };
    let mut old = f64::NEG_INFINITY;
    let mut parts = Parts::default();
    for _ in 0..rounds {
        go_on(observer, Stage::Mixture)?;
        parts = Parts::of(&sums, kind, table);
        let mut logs = 0.0;
        sums = expected(table, &parts, &mut block, &mut logs);
        let new = logs / table.n as f64;
        let moved = (new - old).abs();
        old = new;
        if !(moved >= TOLERANCE) {
            break;
        }
    }
    let bic = parts.bic(table, old);
    Ok(Fitted { parts, bic: if bic.is_finite() { bic } else { f64::INFINITY } })
}

/// EM goes on on another table with parts of the same kind.
pub(super) fn continued(table: &Table, parts: &Parts, observer: &dyn Observer) -> Result<Fitted> {
    let kind = Kind { covariance: parts.covariance, tail: parts.tail };
    fit(table, parts.k, kind, (Start::Parts(parts), ROUNDS), observer)
}

/// The E step with the sums of the next M step; `logs` ← Σ log of the density.
pub(super) fn expected(table: &Table, parts: &Parts, block: &mut Block, logs: &mut f64) -> Sums {
    let distances = parts.distances();
    Sums::over(table, parts.k, parts.covariance, block, |start, block| {
        parts.log_joint_fast(&distances, table, start, block);
        soften(block, parts.k);
        *logs += block.log.iter().sum::<f64>();
        block.w.iter_mut().zip(&block.r).for_each(|(pull, r)| *pull *= r);
    })
}

/// The first with the lowest BIC.
fn lowest(fits: impl IntoIterator<Item = Fitted>) -> Option<Fitted> {
    fits.into_iter().reduce(|best, other| if other.bic < best.bic { other } else { best })
}

/// What was fitted on the first start.
pub(super) struct First {
    starts: Vec<Vec<usize>>,
    k: usize,
    /// For every covariance: its fits, one for every tail that was tried, normal first.
    fits: Vec<Vec<Fitted>>,
}

impl First {
    /// Every kind of parts, from the first of these starts. Heavy tails begin at the normal fit.
    pub(super) fn new(
        table: &Table,
        k: usize,
        (covariances, tails): (&[Covariance], &[Option<f64>]),
        starts: Vec<Vec<usize>>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let tails = if table.m == 0 { &tails[..1] } else { tails };
        let one = |covariance: &Covariance| with_tails(table, k, *covariance, tails, &starts[0], observer);
        let fits: Result<Vec<Vec<Fitted>>> = covariances.par_iter().map(one).collect();
        Ok(Self { starts, k, fits: fits? })
    }

    /// The lowest BIC of a covariance.
    pub(super) fn bic_of(&self, covariance: Covariance) -> Option<f64> {
        let own = self.fits.iter().flatten().filter(|fit| fit.parts.covariance == covariance);
        own.map(|fit| fit.bic).min_by(f64::total_cmp)
    }

    /// The best so far.
    pub(super) fn best(&self) -> Option<Fitted> {
        lowest(self.fits.iter().flatten().cloned())
    }

    /// The best of all starts, of kinds that are not out of the race.
    pub(super) fn best_of_all(&self, table: &Table, observer: &dyn Observer) -> Result<Option<Fitted>> {
        let Some(best) = self.best() else { return Ok(None) };
        let near = best.bic + HOPELESS * table.n as f64;
        let mut jobs: Vec<Job<'_>> = Vec::new();
        for fits in &self.fits {
            let tails: Vec<Option<f64>> =
                fits.iter().filter(|fit| fit.bic <= near).map(|fit| fit.parts.tail).collect();
            if !tails.is_empty() {
                let covariance = fits[0].parts.covariance;
                jobs.extend(
                    self.starts[1..].iter().map(|start| (covariance, tails.clone(), start.as_slice())),
                );
            }
        }
        let more: Result<Vec<Vec<Fitted>>> = jobs
            .par_iter()
            .map(|(covariance, tails, start)| with_tails(table, self.k, *covariance, tails, start, observer))
            .collect();
        Ok(lowest(std::iter::once(best).chain(more?.into_iter().flatten())))
    }
}

/// One covariance with these tails from one start; heavy tails begin at the normal fit where there is one.
fn with_tails(
    table: &Table,
    k: usize,
    covariance: Covariance,
    tails: &[Option<f64>],
    start: &[usize],
    observer: &dyn Observer,
) -> Result<Vec<Fitted>> {
    let mut fits: Vec<Fitted> = Vec::with_capacity(tails.len());
    let mut rest = tails;
    if let [None, others @ ..] = tails {
        fits.push(fit(table, k, Kind { covariance, tail: None }, (Start::Labels(start), ROUNDS), observer)?);
        rest = others;
    }
    let normal = fits.first().map(|fit| fit.parts.clone());
    let begin = normal.as_ref().map_or(Start::Labels(start), Start::Parts);
    let heavy: Result<Vec<Fitted>> = rest
        .par_iter()
        .map(|tail| fit(table, k, Kind { covariance, tail: *tail }, (begin, ROUNDS), observer))
        .collect();
    fits.extend(heavy?);
    Ok(fits)
}

/// What a quick look at a few starts found.
pub(super) struct Quick {
    /// The best of it.
    pub(super) best: Fitted,
    /// The start that it came from.
    pub(super) start: usize,
    /// Covariances that may still turn out to be the best.
    pub(super) covariances: Vec<Covariance>,
    /// Tails that may, normal ones first.
    pub(super) tails: Vec<Option<f64>>,
}

/// A quick fit of a few starts: the best start and covariance of normal parts after a few rounds, then the best tail.
pub(super) fn quick(
    table: &Table,
    k: usize,
    covariances: &[Covariance],
    starts: &[Vec<usize>],
    observer: &dyn Observer,
) -> Result<Option<Quick>> {
    let normal = |(covariance, labels): (&Covariance, &Vec<usize>)| {
        let kind = Kind { covariance: *covariance, tail: None };
        fit(table, k, kind, (Start::Labels(labels), FIRST_ROUNDS), observer)
    };
    let from = |labels| covariances.par_iter().map(move |covariance| normal((covariance, labels))).collect();
    let fits: Result<Vec<Vec<Fitted>>> = starts.par_iter().map(from).collect();
    let fits = fits?;
    let best_of = |fits: &[Fitted]| fits.iter().map(|fit| fit.bic).fold(f64::INFINITY, f64::min);
    let start =
        (1..fits.len()).fold(0, |best, at| if best_of(&fits[at]) < best_of(&fits[best]) { at } else { best });
    let fits = &fits[start];
    let Some(best) = lowest(fits.iter().cloned()) else { return Ok(None) };
    let tails = if table.m == 0 { &[] } else { &TAILS[1..] };
    let heavy = |tail: &Option<f64>| {
        let kind = Kind { covariance: best.parts.covariance, tail: *tail };
        fit(table, k, kind, (Start::Parts(&best.parts), FIRST_ROUNDS), observer)
    };
    let heavy: Result<Vec<Fitted>> = tails.par_iter().map(heavy).collect();
    let heavy = heavy?;
    let near = UNSETTLED * table.n as f64;
    let covariances = fits.iter().filter(|fit| fit.bic <= best.bic + near).map(|fit| fit.parts.covariance);
    let covariances = covariances.collect();
    let Some(best) = lowest(std::iter::once(best).chain(heavy.iter().cloned())) else { return Ok(None) };
    let heavy = heavy.iter().filter(|fit| fit.bic <= best.bic + near).map(|fit| fit.parts.tail);
    // Heavy tails begin at the normal fit.
    let tails = std::iter::once(None).chain(heavy).collect();
    Ok(Some(Quick { best, start, covariances, tails }))
}

/// Posteriors of all parts, row by row, of rows `start` to `start + count`.
pub(super) fn posteriors(
    parts: &Parts,
    numbers: &[f64],
    codes: &[u16],
    count: usize,
    block: &mut Block,
) -> Vec<f64> {
    let codes: Vec<&[u16]> = codes.chunks_exact(count.max(1)).collect();
    parts.log_joint(numbers, &codes, count, block);
    soften(block, parts.k);
    (0..count).flat_map(|i| (0..parts.k).map(move |a| (a, i))).map(|(a, i)| block.r[a * count + i]).collect()
}

/// Parts and the posterior of the likeliest one, of rows `start` to `start + count`.
pub(super) fn likeliest(
    parts: &Parts,
    numbers: &[f64],
    codes: &[u16],
    count: usize,
    block: &mut Block,
) -> Vec<(u32, f64)> {
    let codes: Vec<&[u16]> = codes.chunks_exact(count.max(1)).collect();
    parts.log_joint(numbers, &codes, count, block);
    soften(block, parts.k);
    debug_assert!(count <= BLOCK, "blocks are at most {BLOCK} rows");
    (0..count)
        .map(|i| {
            let mut best = (0, block.r[i]);
            for a in 1..parts.k {
                let r = block.r[a * count + i];
                if r > best.1 {
                    best = (a as u32, r);
                }
            }
            best
        })
        .collect()
}
