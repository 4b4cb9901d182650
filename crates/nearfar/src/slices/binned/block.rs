//! Known pairs of a block of rows, and what is made of them row by row.

use std::ops::Range;

use super::graph::SparseBlock;
use crate::math::kernel::Entry;

/// Known pairs of a block of rows, both triangles, columns ascending.
#[derive(Clone, Debug, Default)]
pub(super) struct PairBlock<E> {
    /// Entries of row a are `starts[a]..starts[a + 1]`.
    pub(super) starts: Vec<u32>,
    pub(super) columns: Vec<u32>,
    /// a_ij and a_ji.
    pub(super) own: Vec<E>,
    pub(super) theirs: Vec<E>,
    /// The weight that j has as seen from i, and i as seen from j; one past the last where that side is not known.
    pub(super) own_bin: Vec<u16>,
    pub(super) their_bin: Vec<u16>,
}

impl<E> PairBlock<E> {
    pub(super) fn row(&self, a: usize) -> Range<usize> {
        self.starts[a] as usize..self.starts[a + 1] as usize
    }
}

/// Where the entries of row i stand that count for it, its diagonal first: of the two directions of a pair of n
/// points one does. Of the points behind each other in a circle it is the next half of them, so that all rows have
/// the same share, whoever holds them; a triangle would leave most of the work to the first rows.
#[inline(always)]
pub(super) fn half_of_row(columns: &[u32], i: usize, n: usize) -> [Range<usize>; 2] {
    let ahead = (n - 1) / 2 + usize::from(n.is_multiple_of(2) && i < n / 2);
    let at = |column: usize| columns.partition_point(|j| (*j as usize) < column);
    if i + ahead < n {
        [at(i)..at(i + ahead + 1), 0..0]
    } else {
        [at(i)..columns.len(), 0..at(i + ahead + 1 - n)]
    }
}

impl<E: Entry> PairBlock<E> {
    /// One entry of sym(Σ weights A) from halved weights.
    #[inline(always)]
    pub(super) fn entry(&self, at: usize, half: &[E]) -> E {
        self.own[at] * half[self.own_bin[at] as usize] + self.theirs[at] * half[self.their_bin[at] as usize]
    }
}

/// Entries of a row that are looked at together.
const TOGETHER: usize = 256;

impl<E: Entry> PairBlock<E> {
    /// Put the entries of a row that are not 0 behind those of `out`. Most have no weight, and which ones cannot be
    /// foreseen: their places are found from the weights' numbers alone, without a branch, and the rest is read for
    /// those only.
    #[inline(always)]
    pub(super) fn push_row(&self, a: usize, half: &[E], weighs: &[bool], out: &mut SparseBlock<E>) {
        let mut places = [0_u16; TOGETHER];
        let row = self.row(a);
        for first in row.clone().step_by(TOGETHER) {
            let mut found = 0;
            let chunk = first..(first + TOGETHER).min(row.end);
            let bins = self.own_bin[chunk.clone()].iter().zip(&self.their_bin[chunk]);
            for (place, (own, theirs)) in bins.enumerate() {
                places[found] = place as u16;
                found += usize::from(weighs[*own as usize] | weighs[*theirs as usize]);
            }
            for place in &places[..found] {
                let at = first + *place as usize;
                let value = self.entry(at, half);
                if value != E::default() {
                    out.push(self.columns[at], value);
                }
            }
        }
        out.end_row();
    }

    /// Add row a, which is row i of n, to the table of agreements: the half that counts for it ([`half_of_row`]),
    /// for both sides. `multiply` makes the inner products of row i of V with the rows of these points.
    #[inline(always)]
    pub(super) fn agree(
        &self,
        a: usize,
        (i, n): (usize, usize),
        multiply: impl Fn(&[u32], &mut [f64]),
        products: &mut Vec<f64>,
        table: &mut [f64],
    ) {
        let row = self.row(a);
        for half in half_of_row(&self.columns[row.clone()], i, n) {
            let at = row.start + half.start..row.start + half.end;
            let columns = &self.columns[at.clone()];
            products.clear();
            products.resize(columns.len(), 0.0);
            multiply(columns, products);
            let ours = self.own[at.clone()].iter().zip(&self.own_bin[at.clone()]);
            for (g, (a, bin)) in products.iter().zip(ours) {
                table[*bin as usize] += a.wide() * g;
            }
            // The diagonal, which is first, is seen from one side.
            if let (Some(g), Some(j)) = (products.first_mut(), columns.first())
                && *j as usize == i
            {
                *g = 0.0;
            }
            let theirs = self.theirs[at.clone()].iter().zip(&self.their_bin[at]);
            for (g, (a, bin)) in products.iter().zip(theirs) {
                table[*bin as usize] += a.wide() * g;
            }
        }
    }
}
