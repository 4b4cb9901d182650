//! Rows part by part, and what goes round between processes that share them.

use std::ops::Range;

use rayon::prelude::*;

use crate::math::factor::{Factor, LONG, Nonzeros};
use crate::math::kernel::{added_up, vectorized};
use crate::processes::{Share, unit};
use crate::slices::Graph;

/// The rows that are worked on here, and the parts that sums over rows are made of.
pub(super) struct Parts<'a> {
    pub(super) here: Range<usize>,
    /// Rows of a part.
    pub(super) part: usize,
    pub(super) share: Option<&'a Share>,
    /// All rows of the vector that was spread last.
    pub(super) all: Vec<f64>,
    /// Nonzeros of each process that the next gather has room for.
    room: usize,
}

impl<'a> Parts<'a> {
    pub(super) fn of<G: Graph>(graph: &'a G, n: usize) -> Self {
        let (here, part, share) = match graph.split() {
            Some(share) => (share.rows(), unit(n), Some(share)),
            None => (0..n, LONG, None),
        };
        Self { here, part, share, all: Vec::new(), room: 0 }
    }

    /// The nonzeros of a vector of which everybody has its own rows; all rows of it are in `all` then.
    pub(super) fn spread(&mut self, own: Vec<f64>) -> Nonzeros {
        let part = |(at, x): (usize, &[f64])| {
            let mut found = Nonzeros::default();
            found.append(self.here.start + at * self.part, x);
            found
        };
        let found: Vec<Nonzeros> = own.par_chunks(self.part).enumerate().map(part).collect();
        let Some(share) = self.share.filter(|share| share.is_split()) else {
            self.all = own;
            return Nonzeros::joined(&found);
        };
        let mine: Vec<[u32; 3]> = found.iter().flat_map(Nonzeros::iter).map(record).collect();
        let (came, longest) = share.team().gather_within("steps", &mine, self.room);
        // The next column's are about as many.
        self.room = longest + longest / 4;
        self.all.clear();
        self.all.resize(share.n_rows(), 0.0);
        let mut nonzeros = Nonzeros::with_room(came.len());
        for (i, v) in came.iter().map(entry) {
            self.all[i as usize] = v;
            nonzeros.push(i, v);
        }
        nonzeros
    }

    /// Vᵀx of a vector of all rows.
    pub(super) fn transposed_times(&self, factor: &Factor, x: &[f64]) -> Vec<f64> {
        let part = |(at, x): (usize, &[f64])| products(factor, at * self.part, x);
        let parts: Vec<Vec<f64>> = x.par_chunks(self.part).enumerate().map(part).collect();
        added_up(&parts.concat(), factor.n_columns())
    }
}

/// A nonzero on its way.
fn record((i, v): (u32, f64)) -> [u32; 3] {
    let bits = v.to_bits();
    [i, bits as u32, (bits >> 32) as u32]
}

fn entry([i, low, high]: &[u32; 3]) -> (u32, f64) {
    (*i, f64::from_bits(u64::from(*high) << 32 | u64::from(*low)))
}

/// Products of all columns of V with `x`, of the rows from `first` on.
pub(super) fn products(factor: &Factor, first: usize, x: &[f64]) -> Vec<f64> {
    vectorized(
        #[inline(always)]
        || {
            let column = |a: usize| factor.part(a, first..first + x.len()).dot(first, x);
            (0..factor.n_columns()).map(column).collect()
        },
    )
}
