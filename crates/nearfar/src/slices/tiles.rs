//! A symmetric n × n matrix kept as its upper triangle of square tiles.
//!
//! Half the bytes of the full matrix; every pass over it moves half as much. All products run tile by
//! tile in an order that depends on n alone, so that their bits do not depend on the number of threads.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::math::factor::Factor;
use crate::math::kernel::{Entry, add_scaled, vectorized};

/// Side of a tile.
pub(crate) const TILE: usize = 128;
const AREA: usize = TILE * TILE;

/// Below this many multiplications a product runs on the calling thread; its bits are the same.
const PARALLEL_WORK: usize = 1 << 17;

/// A symmetric matrix in tiles (I, J), I ≤ J, each row-major with stride `TILE`.
#[derive(Clone, Debug)]
pub struct SymmetricTiles<E> {
    n: usize,
    blocks: usize,
    values: Vec<E>,
}

/// Bytes of a matrix of n × n.
pub(crate) fn bytes<E: Entry>(n: u64) -> u64 {
    let blocks = n.div_ceil(TILE as u64);
    blocks * (blocks + 1) / 2 * AREA as u64 * E::BYTES
}

impl<E: Entry> SymmetricTiles<E> {
    /// The zero matrix.
    pub(crate) fn zeros(n: usize) -> Self {
        let blocks = n.div_ceil(TILE);
        Self { n, blocks, values: vec![E::default(); blocks * (blocks + 1) / 2 * AREA] }
    }

    /// Side of the matrix.
    pub(crate) fn size(&self) -> usize {
        self.n
    }

    fn height(&self, block: usize) -> usize {
        TILE.min(self.n - block * TILE)
    }

    fn index(&self, i: usize, j: usize) -> usize {
        debug_assert!(i <= j);
        i * self.blocks - (i * (i + 1)) / 2 + j
    }

    fn tile(&self, i: usize, j: usize) -> &[E] {
        &self.values[self.index(i, j) * AREA..][..AREA]
    }

    /// Every tile's block row, block column and place in `values`, in storage order.
    fn places(&self) -> Vec<(usize, usize)> {
        (0..self.blocks).flat_map(|i| (i..self.blocks).map(move |j| (i, j))).collect()
    }

    /// Entry (i, j).
    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.min(j), i.max(j));
        self.tile(i / TILE, j / TILE)[(i % TILE) * TILE + j % TILE].wide()
    }

    /// Let `fill(rows, columns, tile)` write each tile; tile entry (a, b) is at `a * TILE + b`.
    pub(crate) fn fill(
        &mut self,
        fill: impl Fn(std::ops::Range<usize>, std::ops::Range<usize>, &mut [E]) + Sync,
    ) {
        let (n, places) = (self.n, self.places());
        let span = |block: usize| block * TILE..((block + 1) * TILE).min(n);
        self.values.par_chunks_exact_mut(AREA).zip(places).for_each(|(tile, (i, j))| {
            vectorized(
                #[inline(always)]
                || fill(span(i), span(j), tile),
            );
        });
    }

    /// `full` ← all n × n entries.
    pub(crate) fn copy_full(&self, full: &mut [f64]) {
        let n = self.n;
        for (bi, bj) in self.places() {
            let tile = self.tile(bi, bj);
            for a in 0..self.height(bi) {
                for b in 0..self.height(bj) {
                    let (i, j, value) = (bi * TILE + a, bj * TILE + b, tile[a * TILE + b].wide());
                    (full[i * n + j], full[j * n + i]) = (value, value);
                }
            }
        }
    }

    /// Sum of all rows.
    pub(crate) fn row_sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.n];
        self.times_dense(&vec![1.0; self.n], 1, &mut sums);
        sums
    }

    /// ‖T‖².
    pub(crate) fn norm2(&self) -> f64 {
        let parts: Vec<f64> = self
            .places()
            .into_par_iter()
            .map(|(bi, bj)| {
                let (h, w, tile) = (self.height(bi), self.height(bj), self.tile(bi, bj));
                let sum: f64 = vectorized(
                    #[inline(always)]
                    || {
                        (0..h)
                            .map(|i| tile[i * TILE..][..w].iter().map(|t| t.wide() * t.wide()).sum::<f64>())
                            .sum()
                    },
                );
                if bi == bj { sum } else { 2.0 * sum }
            })
            .collect();
        parts.iter().sum()
    }

    /// dᵀ T d, looking only at rows where d is not 0.
    pub(crate) fn quadratic(&self, d: &[f64]) -> f64 {
        let narrow: Vec<E> = d.iter().map(|d| E::narrow(*d)).collect();
        // Per block: the rows with a nonzero, and the span they cover.
        let support: Vec<Vec<u32>> = d
            .chunks(TILE)
            .map(|block| (0..block.len() as u32).filter(|&i| block[i as usize] != 0.0).collect())
            .collect();
        let part = |(bi, bj): &(usize, usize)| {
            let (Some(&low), Some(&high)) = (support[*bj].first(), support[*bj].last()) else { return 0.0 };
            let (low, high) = (low as usize, high as usize + 1);
            let (tile, rows) = (self.tile(*bi, *bj), &d[bi * TILE..]);
            let columns = &narrow[bj * TILE + low..bj * TILE + high];
            let sum: f64 = vectorized(
                #[inline(always)]
                || {
                    let mut sum = 0.0;
                    for &i in &support[*bi] {
                        let i = i as usize;
                        sum += rows[i] * E::short_dot(&tile[i * TILE + low..i * TILE + high], columns);
                    }
                    sum
                },
            );
            if bi == bj { sum } else { 2.0 * sum }
        };
        let busy: Vec<(usize, usize)> = self
            .places()
            .into_iter()
            .filter(|(i, j)| !support[*i].is_empty() && !support[*j].is_empty())
            .collect();
        let work: usize = busy.iter().map(|(i, _)| support[*i].len() * TILE).sum();
        let parts: Vec<f64> = if work < PARALLEL_WORK {
            busy.iter().map(part).collect()
        } else {
            busy.par_iter().map(part).collect()
        };
        parts.iter().sum()
    }

    /// T V into `out` (n × r, column-major): by nonzeros when V is sparse, by dense products otherwise.
    pub(crate) fn times(&self, factor: &Factor, out: &mut [f64]) {
        let (n, r) = (self.n, factor.n_columns());
        if 3 * factor.n_nonzero() > n * r {
            return self.times_dense(factor.values(), r, out);
        }
        let block_product = |block: usize| {
            let mut acc = vec![0.0; r * TILE]; // acc[c * TILE + i]
            vectorized(
                #[inline(always)]
                || self.times_sparse_block(factor, block, &mut acc),
            );
            acc
        };
        let blocks: Vec<Vec<f64>> = if n * factor.n_nonzero() < PARALLEL_WORK {
            (0..self.blocks).map(block_product).collect()
        } else {
            (0..self.blocks).into_par_iter().map(block_product).collect()
        };
        self.gather_blocks(&blocks, r, out);
    }

    /// Rows of one block of T V, V taken by its nonzeros.
    #[inline(always)]
    fn times_sparse_block(&self, factor: &Factor, block: usize, acc: &mut [f64]) {
        let h = self.height(block);
        for c in 0..factor.n_columns() {
            let (rows, values) = factor.nonzeros(c);
            let acc = &mut acc[c * TILE..c * TILE + h];
            let mut at = 0;
            while at < rows.len() {
                let other = rows[at] as usize / TILE;
                let end = at + rows[at..].partition_point(|row| (*row as usize) < (other + 1) * TILE);
                let (rows, values) = (&rows[at..end], &values[at..end]);
                if other <= block {
                    // Rows of tile (other, block) lie along our rows: add multiples of them.
                    let tile = self.tile(other, block);
                    for (row, value) in rows.iter().zip(values) {
                        add_scaled(acc, *value, &tile[(*row as usize % TILE) * TILE..][..h]);
                    }
                } else {
                    gathered_products(self.tile(block, other), rows, values, acc);
                }
                at = end;
            }
        }
    }

    /// T X into `y`, both n × columns and column-major, by dense products in f64.
    pub(crate) fn times_dense(&self, x: &[f64], columns: usize, y: &mut [f64]) {
        let n = self.n;
        let blocks: Vec<Vec<f64>> = (0..self.blocks)
            .into_par_iter()
            .map(|block| {
                let h = self.height(block);
                let mut acc = vec![0.0; columns * TILE];
                let mut wide = vec![0.0; AREA];
                for other in 0..self.blocks {
                    let w = self.height(other);
                    let (low, high) = (block.min(other), block.max(other));
                    for (wide, value) in wide.iter_mut().zip(self.tile(low, high)) {
                        *wide = value.wide();
                    }
                    let tile = if block <= other {
                        MatRef::from_row_major_slice_with_stride(&wide, h, w, TILE)
                    } else {
                        MatRef::from_row_major_slice_with_stride(&wide, w, h, TILE).transpose()
                    };
                    let part = MatRef::from_column_major_slice_with_stride(&x[other * TILE..], w, columns, n);
                    let out = MatMut::from_column_major_slice_with_stride_mut(&mut acc, h, columns, TILE);
                    matmul(out, Accum::Add, tile, part, 1.0, Par::Seq);
                }
                acc
            })
            .collect();
        self.gather_blocks(&blocks, columns, y);
    }

    fn gather_blocks(&self, blocks: &[Vec<f64>], columns: usize, out: &mut [f64]) {
        for (block, acc) in blocks.iter().enumerate() {
            let (h, start) = (self.height(block), block * TILE);
            for c in 0..columns {
                out[c * self.n + start..][..h].copy_from_slice(&acc[c * TILE..][..h]);
            }
        }
    }
}

/// acc[i] += Σ_l tile[i, rows[l]] values[l], four rows at a time so that four sums run side by side.
#[inline(always)]
fn gathered_products<E: Entry>(tile: &[E], rows: &[u32], values: &[f64], acc: &mut [f64]) {
    let (quads, rest) = acc.as_chunks_mut::<4>();
    let done = quads.len() * 4;
    for (quad, lines) in quads.iter_mut().zip(tile.chunks_exact(4 * TILE)) {
        let mut sums = [0.0; 4];
        for (row, value) in rows.iter().zip(values) {
            let j = *row as usize % TILE;
            for l in 0..4 {
                sums[l] += lines[l * TILE + j].wide() * value;
            }
        }
        for l in 0..4 {
            quad[l] += sums[l];
        }
    }
    for (i, acc) in rest.iter_mut().enumerate() {
        let line = &tile[(done + i) * TILE..][..TILE];
        for (row, value) in rows.iter().zip(values) {
            *acc += line[*row as usize % TILE].wide() * value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::Stream;

    fn random<E: Entry>(n: usize, seed: u64) -> (SymmetricTiles<E>, Vec<f64>) {
        let mut stream = Stream::new(seed, 0);
        let mut full = vec![0.0; n * n];
        for i in 0..n {
            for j in i..n {
                let value = E::narrow(stream.normal()).wide();
                full[i * n + j] = value;
                full[j * n + i] = value;
            }
        }
        let mut tiles = SymmetricTiles::zeros(n);
        tiles.fill(|rows, columns, tile| {
            for (a, i) in rows.enumerate() {
                for (b, j) in columns.clone().enumerate() {
                    tile[a * TILE + b] = E::narrow(full[i * n + j]);
                }
            }
        });
        (tiles, full)
    }

    fn check<E: Entry>(n: usize, tolerance: f64) {
        let (tiles, full) = random::<E>(n, n as u64);
        let mut stream = Stream::new(1, n as u64);
        for density in [0.05, 0.2, 1.0] {
            let r = 5;
            let v: Vec<f64> =
                (0..n * r).map(|_| if stream.uniform() < density { stream.uniform() } else { 0.0 }).collect();
            let factor = Factor::new(v, n, r);
            let mut out = vec![0.0; n * r];
            tiles.times(&factor, &mut out);
            for c in 0..r {
                let column = factor.column(c);
                let mut quadratic = 0.0;
                for i in 0..n {
                    let naive: f64 = (0..n).map(|j| full[i * n + j] * column[j]).sum();
                    assert!((naive - out[c * n + i]).abs() <= 1e-12 * n as f64, "{naive} {}", out[c * n + i]);
                    quadratic += column[i] * naive;
                }
                let found = tiles.quadratic(column);
                assert!((quadratic - found).abs() <= tolerance * n as f64, "{quadratic} {found}");
            }
        }
        let norm: f64 = full.iter().map(|t| t * t).sum();
        assert!((norm - tiles.norm2()).abs() <= 1e-11 * norm);
        assert_eq!(tiles.get(n - 1, 0), full[n - 1]);
    }

    #[test]
    fn products_equal_naive_ones_at_sizes_around_tiles() {
        for n in [1, 2, 7, 127, 128, 129, 300] {
            check::<f64>(n, 1e-11);
            check::<f32>(n, 1e-4);
        }
    }
}
