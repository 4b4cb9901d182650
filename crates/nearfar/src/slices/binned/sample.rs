//! Which far pairs are known, and in which bin they lie.
//!
//! The points stand in one random order; a point's partners are those a shift further and a shift back, for every shift drawn. So a pair is met from both
//! its ends, in places that are known beforehand, and no list of partners is stored.

use rayon::prelude::*;

use super::{BinnedShape, ROWS};
use crate::error::Result;
use crate::math::kernel::Entry;
use crate::math::rng::Stream;
use crate::neighbors::exact::Points;
use crate::neighbors::search::Lists;
use crate::observe::{Observer, Stage, go_on};

/// Stream of the seed that orders the points and draws the shifts.
const STREAM: u64 = 5 << 32;

/// A partner that is among the near ones.
pub(super) const NEAR: u16 = u16::MAX;

/// A random order of the points, and the shifts.
pub(super) struct Partners {
    /// Place → point, point → place.
    order: Vec<u32>,
    place: Vec<u32>,
    /// Shifts, each with the one that leads back.
    shifts: Vec<usize>,
    back: Vec<usize>,
}

impl Partners {
    /// `far` random shifts and their reverse; all of them where `far` is n/2 or more.
    pub(super) fn draw(n: usize, far: usize, seed: u64) -> Self {
        let mut random = Stream::new(seed, STREAM);
        let mut order: Vec<u32> = (0..n as u32).collect();
        random.shuffle(&mut order);
        let mut place = vec![0; n];
        order.iter().enumerate().for_each(|(at, i)| place[*i as usize] = at as u32);
        let half = n / 2;
        let mut drawn: Vec<usize> = (1..=half).collect();
        let taken = far.min(half);
        for at in 0..taken {
            let other = at + random.below(half - at);
            drawn.swap(at, other);
        }
        drawn.truncate(taken);
        drawn.sort_unstable();
        let (mut shifts, mut back) = (Vec::new(), Vec::new());
        for shift in drawn {
            let at = shifts.len();
            shifts.push(shift);
            if 2 * shift == n {
                back.push(at); // half-way round: there and back are the same
            } else {
                shifts.push(n - shift);
                back.extend([at + 1, at]);
            }
        }
        Self { order, place, shifts, back }
    }

    /// Partners per point.
    pub(super) fn len(&self) -> usize {
        self.shifts.len()
    }

    /// Partner number t of point i, and the number that i has with it.
    pub(super) fn of(&self, i: usize, t: usize) -> (usize, usize) {
        let at = self.place[i] as usize + self.shifts[t];
        let n = self.order.len();
        (self.order[if at >= n { at - n } else { at }] as usize, self.back[t])
    }
}

/// Squared distances and bins of all partners, n × partners each.
pub(super) struct Far<E> {
    pub(super) values: Vec<E>,
    pub(super) bins: Vec<u16>,
    /// Number of bins in use.
    pub(super) n_bins: usize,
}

/// Measure all partners and put them into bins by their quantile among those of their point; near ones are left out.
pub(super) fn measure<E: Entry>(
    points: &Points,
    lists: &Lists,
    partners: &Partners,
    shape: BinnedShape,
    observer: &dyn Observer,
) -> Result<Far<E>> {
    let ((n, _), width) = (points.shape(), partners.len());
    if width == 0 || shape.bins == 0 {
        return Ok(Far { values: Vec::new(), bins: Vec::new(), n_bins: 0 });
    }
    let mut values = vec![E::default(); n * width];
    let mut order = vec![NEAR; n * width];
    let counts: Result<Vec<usize>> = values
        .par_chunks_mut(ROWS * width)
        .zip(order.par_chunks_mut(ROWS * width))
        .enumerate()
        .map(|(block, (values, order))| {
            go_on(observer, Stage::Slices)?;
            let mut most = 0;
            let rows = values.chunks_exact_mut(width).zip(order.chunks_exact_mut(width));
            for (a, (values, order)) in rows.enumerate() {
                most = most.max(rank_partners(points, lists, partners, block * ROWS + a, values, order));
            }
            Ok(most)
        })
        .collect();
    // A bin that no point has a sample in would have nothing to say.
    let most = counts?.into_iter().max().unwrap_or(0);
    let n_bins = shape.bins.min(most);
    order.par_chunks_mut(width).for_each(|order| {
        let known = order.iter().filter(|place| **place != NEAR).count();
        for place in order.iter_mut().filter(|place| **place != NEAR) {
            let quantile = (f64::from(*place) + 0.5) / known as f64;
            *place = (shape.near + ((quantile * n_bins as f64) as usize).min(n_bins - 1)) as u16;
        }
    });
    Ok(Far { values, bins: order, n_bins })
}

/// Distances of one point's partners and their order among the far ones; answers how many these are.
fn rank_partners<E: Entry>(
    points: &Points,
    lists: &Lists,
    partners: &Partners,
    i: usize,
    values: &mut [E],
    order: &mut [u16],
) -> usize {
    let last = (lists.k > 0).then(|| {
        let (others, values) = lists.row(i);
        (values[lists.k - 1], others[lists.k - 1])
    });
    let mut far: Vec<(f64, u32, u16)> = Vec::with_capacity(values.len());
    for (t, value) in values.iter_mut().enumerate() {
        let (j, _) = partners.of(i, t);
        let distance = points.distance2(i, j);
        *value = E::narrow(distance);
        let near = last.is_some_and(|(value, other)| (distance, j as u32) <= (value, other));
        if !near {
            far.push((distance, j as u32, t as u16));
        }
    }
    far.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for (place, (.., t)) in far.iter().enumerate() {
        order[*t as usize] = place as u16;
    }
    far.len()
}
