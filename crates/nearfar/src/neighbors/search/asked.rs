//! New points against known ones: the k nearest known points of each.
//!
//! As in the search itself, blocked products in single precision find candidates and differences decide. From
//! [`MANY`] known points on, these are sorted into cells, and a new point is compared with those of the cells nearest
//! to its own. How many cells these are is read off known points whose exact neighbours are known. So the answer for
//! a point depends on it and on the known points alone, never on who else is asked about.

use std::ops::Range;

use super::cells::{Cells, Centers, nearest_center};
use super::singles::{Asking, Centred, Singles};
use super::{Candidates, SAMPLE, TARGET_RECALL, spread};
use crate::error::Result;
use crate::math::kernel::{distance2_lanes, vectorized};
use crate::neighbors::exact::Points;
use crate::observe::Observer;

/// From so many known points on they are sorted into cells.
const MANY: usize = 5_000;
/// Cells that are looked into at least, so that a point on the edge of two finds its equal in either.
const LEAST_PROBES: usize = 2;
/// New points that are compared together, where all known ones are looked at.
const TOGETHER: usize = 256;

/// Known points, ready to be compared with new ones.
pub(crate) struct Known<'a> {
    singles: Singles<'a>,
    points: &'a Points<'a>,
    mean: &'a [f64],
    k: usize,
    cells: Option<Probed>,
    everything: Range<usize>,
}

/// Cells, and which places to look into for a point of each.
struct Probed {
    centers: Vec<f32>,
    ranges: Vec<Vec<Range<usize>>>,
}

impl<'a> Known<'a> {
    /// These points, of which `mean` is the mean; new ones are asked for their k nearest.
    ///
    /// # Errors
    /// When the observer asks to stop.
    pub(crate) fn new(
        points: &'a Points<'a>,
        mean: &'a [f64],
        k: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (n, m) = points.shape();
        let rows = Centred { points, mean };
        let k = k.min(n);
        let (order, cells) = if n < MANY.max(4 * SAMPLE) {
            ((0..n as u32).collect(), None)
        } else {
            let (chosen, n_cells) = Cells::sample(n);
            let sample = rows.gathered(&chosen.iter().map(|i| *i as u32).collect::<Vec<_>>());
            let assign = |sample: &[f32], centers: &[f32]| nearest_center(sample, centers, m);
            let centers = Cells::centers(&sample, n_cells, m, observer, &assign)?;
            let cells = Cells::new(&centers, m, rows.nearest_center(&centers));
            (cells.order.clone(), Some((centers, cells)))
        };
        let singles = Singles::new(rows, order, 0, k);
        let cells = match cells {
            None => None,
            Some((centers, cells)) => {
                let [chosen, _] = spread(n);
                let truth = singles.exact_of(&chosen, k.min(n - 1), observer)?;
                let probes = cells.probes_for(&chosen, &truth, TARGET_RECALL).max(LEAST_PROBES);
                let ranges = (0..cells.n())
                    .map(|cell| cells.probed(cell, probes, k).map(|other| cells.range(other)).collect());
                let ranges = ranges.collect();
                // Where most cells are looked into it is quicker to look at everything.
                (cells.mean_share(probes) <= 0.5).then_some(Probed { centers, ranges })
            }
        };
        Ok(Self { singles, points, mean, k, cells, everything: 0..n })
    }

    /// The nearest known points of these rows, which are scaled as the known ones are: squared distances and points,
    /// ascending; nothing of those that are left out.
    pub(crate) fn nearest(&self, rows: &[f64], asks: impl Fn(usize) -> bool) -> Vec<Candidates> {
        let (n, m) = self.points.shape();
        let height = rows.len() / m;
        let singles: Vec<f32> = rows
            .chunks_exact(m)
            .flat_map(|row| row.iter().zip(self.mean).map(|(x, mean)| (x - mean) as f32))
            .collect();
        let mut order: Vec<u32> = (0..height as u32).filter(|a| asks(*a as usize)).collect();
        let cell_of = self.cells.as_ref().map(|cells| self.cells_of(&cells.centers, &singles));
        if let Some(of) = &cell_of {
            order.sort_by_key(|a| of[*a as usize]);
        }
        let measure = |i: u32, j: u32| {
            let row = &rows[(i as usize - n) * m..(i as usize - n + 1) * m];
            vectorized(
                #[inline(always)]
                || distance2_lanes(row, self.points.row(j as usize)),
            )
        };
        let mut found: Vec<Candidates> = vec![Vec::new(); height];
        let cell = |a: &u32| cell_of.as_ref().map_or(0, |of| of[*a as usize]);
        for group in order.chunk_by(|a, b| cell(a) == cell(b)).flat_map(|group| group.chunks(TOGETHER)) {
            let columns = match &self.cells {
                Some(cells) => &cells.ranges[cell(&group[0]) as usize],
                None => std::slice::from_ref(&self.everything),
            };
            let asking = Asking {
                rows: group
                    .iter()
                    .flat_map(|a| &singles[*a as usize * m..(*a as usize + 1) * m])
                    .copied()
                    .collect(),
                numbers: group.iter().map(|a| n as u32 + a).collect(),
            };
            let near = self.singles.ask(&measure, &asking, self.k, columns, Vec::new());
            group.iter().zip(near).for_each(|(a, near)| found[*a as usize] = near);
        }
        found
    }

    /// The cell of every row.
    fn cells_of(&self, centers: &[f32], rows: &[f32]) -> Vec<u32> {
        Centers::new(centers, self.mean.len()).nearest(rows)
    }
}
