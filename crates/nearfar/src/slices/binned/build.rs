//! From neighbour lists and sampled partners to normalised pairs.

use rayon::prelude::*;

use super::sample::{NEAR, Partners, measure};
use super::{BinnedShape, BinnedSlices, PairBlock, ROWS};
use crate::error::Result;
use crate::math::exp::exp_negative;
use crate::math::kernel::Entry;
use crate::neighbors::exact::Points;
use crate::neighbors::search::Lists;
use crate::observe::{Observer, Stage, go_on};
use crate::processes::{Share, unit};

/// Who lists a point among its nearest, and at which rank.
struct Listed {
    starts: Vec<usize>,
    by: Vec<u32>,
    rank: Vec<u16>,
    /// How far apart they are, where the lists are not all here; else empty.
    values: Vec<f64>,
}

impl Listed {
    fn new(lists: &Lists, n: usize) -> Self {
        let mut starts = vec![0_usize; n + 1];
        lists.indices.iter().for_each(|j| starts[*j as usize + 1] += 1);
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let (mut by, mut rank) = (vec![0; lists.indices.len()], vec![0; lists.indices.len()]);
        for (at, j) in lists.indices.iter().enumerate() {
            let place = &mut next[*j as usize];
            (by[*place], rank[*place]) = ((at / lists.k) as u32, (at % lists.k + 1) as u16);
            *place += 1;
        }
        Self { starts, by, rank, values: Vec::new() }
    }

    /// The same for the own points where others hold the lists of theirs. One rank at a time, so that little is
    /// under way at once.
    fn everywhere(lists: &Lists, share: &Share) -> Self {
        let rows = share.rows();
        let mut entries: Vec<(u32, u32, u16, f64)> = Vec::with_capacity(lists.indices.len());
        for k in 0..lists.k {
            let mut to: Vec<Vec<[u64; 2]>> = vec![Vec::new(); share.team().size()];
            for (a, i) in rows.clone().enumerate() {
                let j = lists.indices[a * lists.k + k] as usize;
                let owner = share.owner(j);
                let place = (j - share.rows_of(owner).start) as u64;
                to[owner].push([place << 32 | i as u64, lists.values[a * lists.k + k].to_bits()]);
            }
            for [who, value] in share.team().exchange("lists of neighbours", &to) {
                entries.push(((who >> 32) as u32, who as u32, (k + 1) as u16, f64::from_bits(value)));
            }
        }
        let mut starts = vec![0_usize; rows.len() + 1];
        entries.iter().for_each(|entry| starts[entry.0 as usize + 1] += 1);
        for a in 0..rows.len() {
            starts[a + 1] += starts[a];
        }
        let (mut next, count) = (starts.clone(), entries.len());
        let (mut by, mut rank, mut values) = (vec![0; count], vec![0; count], vec![0.0; count]);
        for entry in entries {
            let place = &mut next[entry.0 as usize];
            (by[*place], rank[*place], values[*place]) = (entry.1, entry.2, entry.3);
            *place += 1;
        }
        Self { starts, by, rank, values }
    }
}

/// One pair as a row sees it: other end, squared distance, both bins.
type Pair = (u32, f64, u16, u16);

impl<E: Entry> BinnedSlices<E> {
    /// Slices of these points: `lists` holds the K − 1 nearest of everybody, `sigma` the local scales in the same
    /// units.
    pub(crate) fn new(
        points: &Points<'_>,
        lists: &Lists,
        sigma: &[f64],
        shape: BinnedShape,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let share = points.share();
        let (n, here) = (share.n_rows(), share.rows());
        let near = lists.k + 1;
        let wanted = BinnedShape { near, bins: shape.bins.min(n - near), ..shape };
        let partners = Partners::draw(n, if wanted.bins == 0 { 0 } else { wanted.far }, seed);
        let far = measure::<E>(points, lists, &partners, wanted, observer)?;
        let shape = BinnedShape { bins: far.n_bins, ..wanted };
        let nothing = (near + shape.bins) as u16;
        let listed = if share.is_split() { Listed::everywhere(lists, &share) } else { Listed::new(lists, n) };
        let blocks: Result<Vec<PairBlock<E>>> = (0..here.len().div_ceil(ROWS))
            .into_par_iter()
            .map(|block| {
                go_on(observer, Stage::Slices)?;
                let mut out = PairBlock { starts: vec![0], ..PairBlock::default() };
                let mut row: Vec<Pair> = Vec::new();
                for own in block * ROWS..((block + 1) * ROWS).min(here.len()) {
                    let i = here.start + own;
                    row.clear();
                    row.push((i as u32, 0.0, 0, 0));
                    if lists.k > 0 {
                        let (others, values) = lists.row(own);
                        row.extend((0..lists.k).map(|k| (others[k], values[k], (k + 1) as u16, nothing)));
                    }
                    for at in listed.starts[own]..listed.starts[own + 1] {
                        let j = listed.by[at] as usize;
                        let known = listed.values.get(at).copied();
                        let value = known.unwrap_or_else(|| lists.row(j).1[listed.rank[at] as usize - 1]);
                        row.push((j as u32, value, nothing, listed.rank[at]));
                    }
                    let width = if shape.bins == 0 { 0 } else { partners.len() };
                    for t in 0..width {
                        let (j, back) = partners.of(i, t);
                        let side = |bin: u16| if bin == NEAR { nothing } else { bin };
                        let theirs = far.bin_back(width, (own, t), (j, back));
                        let bins = (side(far.bins[own * width + t]), side(theirs));
                        if bins != (nothing, nothing) {
                            row.push((j as u32, far.values[own * width + t].wide(), bins.0, bins.1));
                        }
                    }
                    out.take_row(i, &mut row, sigma, nothing);
                }
                Ok(out)
            })
            .collect();
        let per_bin = (n - near) as f64 / shape.bins.max(1) as f64;
        let multiplicity: Vec<f64> =
            (0..near + shape.bins).map(|k| if k < near { 1.0 } else { per_bin }).collect();
        let mut this = Self { n, shape, multiplicity, known: Vec::new(), share, blocks: blocks? };
        this.normalize(observer)?;
        Ok(this)
    }

    /// Σκ² (the smallest exponent taken out) and count of each bin, over all rows.
    fn squares(&self, least: &[f64]) -> Vec<(f64, f64)> {
        let (bins, unit) = (self.nothing(), unit(self.n));
        let part = |blocks: &[PairBlock<E>]| {
            let mut sums = vec![0.0; 2 * bins];
            for block in blocks {
                for (sum, (squares, count)) in sums.chunks_exact_mut(2).zip(block.squares(least)) {
                    (sum[0], sum[1]) = (sum[0] + squares, sum[1] + count);
                }
            }
            sums
        };
        let parts: Vec<Vec<f64>> = self.blocks.par_chunks(unit / ROWS).map(part).collect();
        let parts = self.share.gather_blocks("norms of slices", &parts.concat(), unit, 2 * bins);
        let mut sums = vec![(0.0, 0.0); bins];
        for part in parts.chunks_exact(2 * bins) {
            let pairs = sums.iter_mut().zip(part.chunks_exact(2));
            pairs.for_each(|(sum, part)| *sum = (sum.0 + part[0], sum.1 + part[1]));
        }
        sums
    }

    /// Turn exponents into a_ij and a_ji.
    fn normalize(&mut self, observer: &dyn Observer) -> Result<()> {
        let bins = self.nothing();
        let least = self.blocks.par_iter().map(|block| block.least(bins)).reduce(
            || vec![f64::INFINITY; bins + 1],
            |a, b| a.iter().zip(&b).map(|(a, b)| a.min(*b)).collect(),
        );
        self.share.team().agree();
        go_on(observer, Stage::Slices)?;
        let everywhere = self.share.team().gather_even("smallest exponents", &least);
        let least: Vec<f64> = (0..=bins)
            .map(|bin| everywhere.iter().skip(bin).step_by(bins + 1).copied().fold(f64::INFINITY, f64::min))
            .collect();
        let sums = self.squares(&least);
        let n = self.n as f64;
        self.known = sums.iter().zip(&self.multiplicity).map(|((_, count), m)| count / (n * m)).collect();
        // κ/θ · n/count with θ² = n Σκ²/count.
        let scale = |(squares, count): &(f64, f64)| {
            if *squares > 0.0 { n / count / (n * squares / count).sqrt() } else { 0.0 }
        };
        let mut scale: Vec<f64> = sums.iter().map(scale).collect();
        scale.push(0.0);
        // Entries that would only make subnormal products are 0.
        let smallest = if E::BYTES == 4 { 1e-30 } else { 1e-200 };
        self.blocks.par_iter_mut().try_for_each(|block| {
            go_on(observer, Stage::Slices)?;
            for at in 0..block.own.len() {
                let exponent = block.own[at].wide();
                let entry = |bin: u16| {
                    let bin = bin as usize;
                    if scale[bin] == 0.0 {
                        return E::default();
                    }
                    let a = exp_negative(least[bin] - exponent) * scale[bin];
                    if a < smallest { E::default() } else { E::narrow(a) }
                };
                (block.own[at], block.theirs[at]) = (entry(block.own_bin[at]), entry(block.their_bin[at]));
            }
            Ok(())
        })
    }
}

impl<E: Entry> PairBlock<E> {
    /// Put the pairs of row i behind the others; what is known of one pair from two sides becomes one entry.
    fn take_row(&mut self, i: usize, row: &mut [Pair], sigma: &[f64], nothing: u16) {
        row.sort_unstable_by_key(|pair| (pair.0, pair.2, pair.3));
        let mut last = None;
        for &(j, value, own, theirs) in &*row {
            if last == Some(j) {
                let at = self.own_bin.len() - 1;
                self.own_bin[at] = self.own_bin[at].min(own);
                self.their_bin[at] = self.their_bin[at].min(theirs);
                continue;
            }
            last = Some(j);
            let exponent = value / (sigma[i] * sigma[j as usize]);
            // Copies stay at 0 where the scales' product vanishes (0/0), and no exponent is infinite.
            let most = if E::BYTES == 4 { f64::from(f32::MAX) } else { f64::MAX };
            let exponent = if exponent < most { exponent } else { most };
            self.columns.push(j);
            self.own.push(E::narrow(if value == 0.0 { 0.0 } else { exponent }));
            self.theirs.push(E::default());
            self.own_bin.push(own.min(nothing));
            self.their_bin.push(theirs.min(nothing));
        }
        self.starts.push(self.columns.len() as u32);
    }

    /// The smallest exponent of each bin.
    fn least(&self, bins: usize) -> Vec<f64> {
        let mut least = vec![f64::INFINITY; bins + 1];
        for (exponent, bin) in self.own.iter().zip(&self.own_bin) {
            let least = &mut least[*bin as usize];
            *least = least.min(exponent.wide());
        }
        least
    }

    /// Σκ² (the smallest exponent taken out) and count of each bin.
    fn squares(&self, least: &[f64]) -> Vec<(f64, f64)> {
        let mut sums = vec![(0.0, 0.0); least.len()];
        for (exponent, bin) in self.own.iter().zip(&self.own_bin) {
            let bin = *bin as usize;
            let x = exp_negative(least[bin] - exponent.wide());
            sums[bin] = (sums[bin].0 + x * x, sums[bin].1 + 1.0);
        }
        sums
    }
}
