//! Which far pairs are known, and in which bin they lie.
//!
//! The points stand in one random order; a point's partners are those a shift further and a shift back, for every
//! shift drawn. So a pair is met from both its ends, in places that are known beforehand, and no list of partners
//! is stored.

use rayon::prelude::*;

use super::{BinnedShape, ROWS};
use crate::error::Result;
use crate::math::kernel::Entry;
use crate::math::rng::Stream;
use crate::neighbors::exact::Points;
use crate::neighbors::search::Lists;
use crate::observe::{Observer, Stage, go_on};
use crate::processes::Share;

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

/// Squared distances and bins of all partners of the own points, n × partners each.
pub(super) struct Far<E> {
    pub(super) values: Vec<E>,
    pub(super) bins: Vec<u16>,
    /// The bins as the partners see them, where some of these are elsewhere; else empty.
    theirs: Vec<u16>,
    /// Number of bins in use.
    pub(super) n_bins: usize,
}

impl<E> Far<E> {
    /// The bin of partner t of the own point `a`, as that partner sees it; it is point j and has the number `back`
    /// there.
    pub(super) fn bin_back(&self, width: usize, (a, t): (usize, usize), (j, back): (usize, usize)) -> u16 {
        if self.theirs.is_empty() { self.bins[j * width + back] } else { self.theirs[a * width + t] }
    }
}

/// Measure all partners and put them into bins by their quantile among those of their point; near ones are left out.
pub(super) fn measure<E: Entry>(
    points: &Points<'_>,
    lists: &Lists,
    partners: &Partners,
    shape: BinnedShape,
    observer: &dyn Observer,
) -> Result<Far<E>> {
    let ((n, _), width) = (points.shape(), partners.len());
    if width == 0 || shape.bins == 0 {
        return Ok(Far { values: Vec::new(), bins: Vec::new(), theirs: Vec::new(), n_bins: 0 });
    }
    let share = points.share();
    let first = share.rows().start;
    let met = if share.is_split() { distances_by_ring(points, partners, observer)? } else { Vec::new() };
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
                let a = block * ROWS + a;
                let partner = |t: usize| {
                    let j = partners.of(first + a, t).0;
                    let distance = if met.is_empty() { points.distance2(a, j) } else { met[a * width + t] };
                    (j, distance)
                };
                most = most.max(rank_partners(lists, a, &partner, values, order));
            }
            Ok(most)
        })
        .collect();
    drop(met);
    // A bin that no point has a sample in would have nothing to say.
    let most = counts?.into_iter().max().unwrap_or(0) as u64;
    let most = share.team().gather_even("bins", &[most]).into_iter().max().unwrap_or(0) as usize;
    let n_bins = shape.bins.min(most);
    order.par_chunks_mut(width).for_each(|order| {
        let known = order.iter().filter(|place| **place != NEAR).count();
        for place in order.iter_mut().filter(|place| **place != NEAR) {
            let quantile = (f64::from(*place) + 0.5) / known as f64;
            *place = (shape.near + ((quantile * n_bins as f64) as usize).min(n_bins - 1)) as u16;
        }
    });
    let theirs = if share.is_split() { bins_back(&order, partners, &share) } else { Vec::new() };
    Ok(Far { values, bins: order, theirs, n_bins })
}

/// Squared distances of the own points to all their partners, as the points of all processes pass by.
fn distances_by_ring(points: &Points<'_>, partners: &Partners, observer: &dyn Observer) -> Result<Vec<f64>> {
    let ((n, _), width, first) = (points.shape(), partners.len(), points.share().rows().start);
    let mut who = vec![0_u32; n * width];
    who.par_chunks_mut(width).enumerate().for_each(|(a, who)| {
        who.iter_mut().enumerate().for_each(|(t, j)| *j = partners.of(first + a, t).0 as u32);
    });
    let mut met = vec![0.0; n * width];
    points.ring("points for partners", &mut |first, others| {
        go_on(observer, Stage::Slices)?;
        let here = first..first + others.shape().0;
        met.par_chunks_mut(width).zip(who.par_chunks(width)).enumerate().for_each(|(a, (met, who))| {
            for (met, j) in met.iter_mut().zip(who).filter(|(_, j)| here.contains(&(**j as usize))) {
                *met = points.distance2_to(a, others, *j as usize - first);
            }
        });
        Ok(())
    })?;
    Ok(met)
}

/// The bins of the own points as their partners see them. A few shifts at a time, so that little is under way at once.
fn bins_back(bins: &[u16], partners: &Partners, share: &Share) -> Vec<u16> {
    const TOGETHER: usize = 16;
    let (width, rows) = (partners.len(), share.rows());
    let mut theirs = vec![NEAR; bins.len()];
    for from in (0..width).step_by(TOGETHER) {
        let mut to: Vec<Vec<u64>> = vec![Vec::new(); share.team().size()];
        for (a, i) in rows.clone().enumerate() {
            for t in from..(from + TOGETHER).min(width) {
                let (j, back) = partners.of(i, t);
                let owner = share.owner(j);
                let place = ((j - share.rows_of(owner).start) * width + back) as u64;
                to[owner].push(place << 16 | u64::from(bins[a * width + t]));
            }
        }
        for entry in share.team().exchange("bins of partners", &to) {
            theirs[(entry >> 16) as usize] = (entry & 0xffff) as u16;
        }
    }
    theirs
}

/// Distances of one point's partners and their order among the far ones; answers how many these are. `partner`
/// knows who they are and how far.
fn rank_partners<E: Entry>(
    lists: &Lists,
    own: usize,
    partner: &impl Fn(usize) -> (usize, f64),
    values: &mut [E],
    order: &mut [u16],
) -> usize {
    let last = (lists.k > 0).then(|| {
        let (others, values) = lists.row(own);
        (values[lists.k - 1], others[lists.k - 1])
    });
    let mut far: Vec<(f64, u32, u16)> = Vec::with_capacity(values.len());
    for (t, value) in values.iter_mut().enumerate() {
        let (j, distance) = partner(t);
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
