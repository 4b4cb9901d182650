//! Neighbours pull, everybody pushes, until the points settle.
//!
//! $$ -\tfrac14 \nabla_i = e \sum_j p_{ij} w_{ij} (y_j - y_i) + \tfrac1Z \sum_j w_{ij}^2 (y_i - y_j) - \tfrac{g}{n} y_i, \quad
//!    w_{ij} = 1 / (1 + \|y_i - y_j\|^2), \quad Z = \sum_{i \ne j} w_{ij} $$
//!
//! The pull is exaggerated (e > 1) at first, so that groups find together. The last term departs from t-SNE: a weak
//! pull to the middle keeps groups that nothing joins from drifting apart for ever, which would leave them as specks
//! on an empty canvas.

use rayon::prelude::*;

use super::quadtree::Quadtree;

/// Steps with the strong pull, and with the weak one.
const STEPS: [usize; 2] = [150, 350];
const EXAGGERATION: [f64; 2] = [12.0, 1.0];
/// g: how strongly everybody is drawn to the middle.
const MIDDLE: f64 = 0.002;
const MOMENTUM: [f64; 2] = [0.5, 0.8];
/// A square that is seen under a smaller angle counts as one place; squared.
const ANGLE: f64 = 0.36;
/// The start is so small that it does not hinder.
const START: f64 = 1e-2;
/// No point moves farther in one step.
const LONGEST: f64 = 5.0;
/// Points that one task works on: depends on nothing, so that no bit does.
const BLOCK: usize = 64;

/// p: who is drawn to whom, symmetric, all together 1.
pub(super) struct Pulls {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Pulls {
    /// Of one-sided pulls among `n` points.
    pub(super) fn new(n: usize, pairs: &[(u32, u32, f64)]) -> Self {
        let mut both: Vec<(u32, u32, f64)> =
            pairs.iter().flat_map(|(i, j, x)| [(*i, *j, *x), (*j, *i, *x)]).collect();
        both.sort_unstable_by_key(|(i, j, _)| (*i, *j));
        let mut pulls = Self { starts: vec![0], columns: Vec::new(), values: Vec::new() };
        let mut at = 0;
        for i in 0..n as u32 {
            while at < both.len() && both[at].0 == i {
                let j = both[at].1;
                let same = both[at..].iter().take_while(|pair| (pair.0, pair.1) == (i, j));
                let (count, sum) = same.fold((0, 0.0), |(count, sum), pair| (count + 1, sum + pair.2));
                pulls.columns.push(j);
                pulls.values.push(sum);
                at += count;
            }
            pulls.starts.push(pulls.columns.len());
        }
        let all: f64 = pulls.values.iter().sum();
        pulls.values.iter_mut().for_each(|value| *value /= all.max(f64::MIN_POSITIVE));
        pulls
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn row(&self, i: usize) -> impl Iterator<Item = (u32, f64)> {
        let range = self.starts[i]..self.starts[i + 1];
        self.columns[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }
}

/// Where the points settle from this start.
pub(super) fn settled(pulls: &Pulls, start: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let n = pulls.len();
    let mut at = begun(start);
    let mut speed = vec![[0.0; 2]; n];
    let mut gain = vec![[1.0; 2]; n];
    let rate = (n as f64 / 12.0).max(40.0);
    for phase in 0..2 {
        for _ in 0..STEPS[phase] {
            let forces = forces(pulls, &at, EXAGGERATION[phase]);
            for i in 0..n {
                for axis in 0..2 {
                    // Faster where a direction is kept, slower where it turns.
                    let keeps = forces[i][axis] * speed[i][axis] > 0.0;
                    let g: f64 = gain[i][axis];
                    gain[i][axis] = if keeps { g + 0.2 } else { (g * 0.8).max(0.01) };
                    let step = MOMENTUM[phase] * speed[i][axis] + rate * gain[i][axis] * forces[i][axis];
                    speed[i][axis] = step.clamp(-LONGEST, LONGEST);
                    at[i][axis] += speed[i][axis];
                }
            }
        }
    }
    framed(at)
}

/// The start, small, and with no two points in one place.
fn begun(start: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let n = start.len().max(1) as f64;
    let mean = [0, 1].map(|axis| start.iter().map(|at| at[axis] / n).sum::<f64>());
    let gap = |at: &[f64; 2], axis: usize| at[axis] - mean[axis];
    let most = start.iter().flat_map(|at| [gap(at, 0).abs(), gap(at, 1).abs()]).fold(0.0, f64::max);
    let most = if most > 0.0 && most.is_finite() { most } else { 1.0 };
    let spread = (start.iter().map(|at| (gap(at, 0) / most).powi(2)).sum::<f64>() / n).sqrt().max(1e-9);
    let mut random = crate::math::rng::Stream::new(super::SEED, 2);
    let place = |at: &[f64; 2]| {
        // An outlier begins no farther out than three spreads.
        [0, 1].map(|axis| {
            let x = (gap(at, axis) / most / spread).clamp(-3.0, 3.0);
            START * (x + 0.01 * random.normal())
        })
    };
    start.iter().map(place).collect()
}

/// What acts on one point.
#[derive(Clone, Copy, Default)]
struct Acting {
    pull: [f64; 2],
    push: [f64; 2],
    /// Its part of Z.
    part: f64,
}

fn forces(pulls: &Pulls, at: &[[f64; 2]], exaggeration: f64) -> Vec<[f64; 2]> {
    let tree = Quadtree::new(at);
    let mut acting = vec![Acting::default(); at.len()];
    acting.par_chunks_mut(BLOCK).enumerate().for_each(|(block, acting)| {
        let mut open = Vec::new();
        for (i, own) in (block * BLOCK..).zip(acting) {
            let y = at[i];
            let mut pull = [0.0; 2];
            for (j, p) in pulls.row(i) {
                let gap = [at[j as usize][0] - y[0], at[j as usize][1] - y[1]];
                let w = p / (1.0 + gap[0] * gap[0] + gap[1] * gap[1]);
                pull[0] += w * gap[0];
                pull[1] += w * gap[1];
            }
            let (push, sum) = tree.push(y, ANGLE, &mut open);
            *own = Acting { pull, push, part: sum - 1.0 };
        }
    });
    let z: f64 = acting.iter().map(|own| own.part).sum::<f64>().max(f64::MIN_POSITIVE);
    let middle = MIDDLE / at.len() as f64;
    let force = |own: &Acting, y: &[f64; 2]| {
        [0, 1].map(|axis| exaggeration * own.pull[axis] + own.push[axis] / z - middle * y[axis])
    };
    acting.iter().zip(at).map(|(own, y)| force(own, y)).collect()
}

/// Around 0, the longer side of length 2, along the axes in which they vary most.
fn framed(mut at: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let turned = super::principal(at.len(), 2, &|i, out| out.copy_from_slice(&at[i]));
    at.copy_from_slice(&turned);
    let range = |axis: usize| {
        at.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), at| (a.min(at[axis]), b.max(at[axis])))
    };
    let ranges = [range(0), range(1)];
    let half = ranges.iter().map(|(a, b)| (b - a) / 2.0).fold(0.0, f64::max);
    let half = if half > 0.0 { half } else { 1.0 };
    for at in &mut at {
        *at = [0, 1].map(|axis| (at[axis] - f64::midpoint(ranges[axis].0, ranges[axis].1)) / half);
    }
    at
}
