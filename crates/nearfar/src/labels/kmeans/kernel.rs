//! The hot loops of k-means: squared distances of eight points at a time.
//!
//! Points stand in tiles of eight: a tile holds coordinate 0 of its eight points, then coordinate 1, and so on.
//! Each lane is one point, summed in the order of its coordinates, so the compiler may use vectors of any width
//! and the bits are always the same. Differences are squared as they are, not expanded into products: tight
//! clusters far from each other stay exact.

// Inlining carries the vector instructions chosen at run time into the loops.
#![allow(clippy::inline_always)]

use pulp::{Arch, Simd, WithSimd};

/// Points in a tile.
pub(super) const LANES: usize = 8;
/// Centres held in registers at a time.
const GROUP: usize = 4;

type Lanes = [f64; LANES];

/// Points in tiles; the unused lanes of the last one are zero.
pub(super) struct Tiles {
    values: Vec<f64>,
    pub(super) n: usize,
    pub(super) d: usize,
}

impl Tiles {
    pub(super) fn new(points: &[f64], n: usize, d: usize) -> Self {
        let mut values = vec![0.0; n.div_ceil(LANES) * LANES * d];
        for (i, point) in points.chunks_exact(d).enumerate() {
            let start = i / LANES * LANES * d + i % LANES;
            for (j, value) in point.iter().enumerate() {
                values[start + j * LANES] = *value;
            }
        }
        Self { values, n, d }
    }

    /// Room for `n` points of `d` coordinates, none in it yet.
    pub(super) fn with_capacity(n: usize, d: usize) -> Self {
        Self { values: Vec::with_capacity(n.next_multiple_of(LANES) * d), n: 0, d }
    }

    /// Hold the points of the list instead.
    pub(super) fn gather(&mut self, points: &[f64], list: &[usize]) {
        let d = self.d;
        self.n = list.len();
        self.values.resize(self.padded() * d, 0.0);
        for (tile, list) in self.values.chunks_exact_mut(LANES * d).zip(list.chunks(LANES)) {
            for (lane, i) in list.iter().enumerate() {
                for (to, from) in tile.chunks_exact_mut(LANES).zip(&points[i * d..(i + 1) * d]) {
                    to[lane] = *from;
                }
            }
        }
    }

    /// Points with the unused lanes.
    pub(super) fn padded(&self) -> usize {
        self.n.next_multiple_of(LANES)
    }
}

/// Centres in groups of four, coordinates side by side; the last group has what is left.
pub(super) struct Packed {
    values: Vec<f64>,
    k: usize,
    d: usize,
}

impl Packed {
    pub(super) fn new(centers: &[f64], d: usize) -> Self {
        let mut values = Vec::with_capacity(centers.len());
        for group in centers.chunks(GROUP * d) {
            for j in 0..d {
                values.extend(group.iter().skip(j).step_by(d));
            }
        }
        Self { values, k: centers.len() / d, d }
    }
}

/// Squared distances of a tile to `G` centres.
#[inline(always)]
fn distances<const G: usize>(tile: &[f64], group: &[f64]) -> [Lanes; G] {
    let mut sums = [[0.0; LANES]; G];
    for (x, c) in tile.chunks_exact(LANES).zip(group.chunks_exact(G)) {
        for g in 0..G {
            for lane in 0..LANES {
                let difference = x[lane] - c[g];
                sums[g][lane] += difference * difference;
            }
        }
    }
    sums
}

/// Hand every centre's number and its distances from the tile to `with`, in the order of the centres.
#[inline(always)]
fn each_center(tile: &[f64], centers: &Packed, mut with: impl FnMut(usize, &Lanes)) {
    let whole = centers.k / GROUP * GROUP;
    let (groups, rest) = centers.values.split_at(whole * centers.d);
    let mut number = 0;
    for group in groups.chunks_exact(GROUP * centers.d) {
        for sums in &distances::<GROUP>(tile, group) {
            with(number, sums);
            number += 1;
        }
    }
    match centers.k - whole {
        1 => distances::<1>(tile, rest).iter().enumerate().for_each(|(g, sums)| with(number + g, sums)),
        2 => distances::<2>(tile, rest).iter().enumerate().for_each(|(g, sums)| with(number + g, sums)),
        3 => distances::<3>(tile, rest).iter().enumerate().for_each(|(g, sums)| with(number + g, sums)),
        _ => {}
    }
}

/// What [`nearest`] finds, with the padding of the tiles.
pub(super) struct Nearness {
    pub(super) labels: Vec<u64>,
    pub(super) near: Vec<f64>,
    pub(super) second: Vec<f64>,
}

impl Nearness {
    pub(super) fn new(padded: usize) -> Self {
        Self { labels: vec![0; padded], near: vec![0.0; padded], second: vec![0.0; padded] }
    }
}

struct Nearest<'a> {
    tiles: &'a [f64],
    centers: &'a Packed,
    out: &'a mut Nearness,
}

impl WithSimd for Nearest<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let tiles = self.tiles.chunks_exact(LANES * self.centers.d);
        let Nearness { labels, near, second } = self.out;
        let results = labels.chunks_exact_mut(LANES).zip(near.chunks_exact_mut(LANES));
        let results = results.zip(second.chunks_exact_mut(LANES));
        for (tile, ((labels, near), second)) in tiles.zip(results) {
            let (mut best, mut label) = ([f64::INFINITY; LANES], [0_u64; LANES]);
            let mut next = [f64::INFINITY; LANES];
            each_center(tile, self.centers, |number, sums| {
                for lane in 0..LANES {
                    let closer = sums[lane] < best[lane];
                    let loser = if closer { best[lane] } else { sums[lane] };
                    next[lane] = if loser < next[lane] { loser } else { next[lane] };
                    best[lane] = if closer { sums[lane] } else { best[lane] };
                    label[lane] = if closer { number as u64 } else { label[lane] };
                }
            });
            labels.copy_from_slice(&label);
            near.copy_from_slice(&best);
            second.copy_from_slice(&next);
        }
    }
}

/// Nearest centre (the lowest number among equals), its squared distance and that of the second nearest (infinite
/// when there is none), of every point, padding included. `out` has room for them.
pub(super) fn nearest(tiles: &Tiles, centers: &Packed, out: &mut Nearness) {
    Arch::new().dispatch(Nearest { tiles: &tiles.values, centers, out });
}

struct Pairs<'a> {
    tiles: &'a Tiles,
    points: &'a Packed,
    out: &'a mut [f64],
}

impl WithSimd for Pairs<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let padded = self.tiles.padded();
        let tiles = self.tiles.values.chunks_exact(LANES * self.tiles.d);
        for (tile, at) in tiles.zip((0..).step_by(LANES)) {
            each_center(tile, self.points, |number, sums| {
                self.out[number * padded + at..][..LANES].copy_from_slice(sums);
            });
        }
    }
}

/// Squared distances of every point to every other, one row per point, with the padding of the tiles: what [`approach`]
/// and [`potentials`] would compute, bit by bit.
pub(super) fn pairs(tiles: &Tiles, points: &[f64]) -> Vec<f64> {
    let points = Packed::new(points, tiles.d);
    let mut out = vec![0.0; points.k * tiles.padded()];
    Arch::new().dispatch(Pairs { tiles, points: &points, out: &mut out });
    out
}

/// [`approach`] with the distances given.
pub(super) fn approach_known(distances: &[f64], near: &mut [f64]) {
    for (near, distance) in near.iter_mut().zip(distances) {
        *near = if distance < near { *distance } else { *near };
    }
}

/// One of [`potentials`] with the distances given.
pub(super) fn potential_known(distances: &[f64], near: &[f64]) -> f64 {
    let mut totals = [0.0; LANES];
    for (distances, near) in distances.chunks_exact(LANES).zip(near.chunks_exact(LANES)) {
        for lane in 0..LANES {
            totals[lane] += if distances[lane] < near[lane] { distances[lane] } else { near[lane] };
        }
    }
    totals.iter().sum()
}

struct Potentials<'a> {
    tiles: &'a Tiles,
    candidates: &'a Packed,
    near: &'a [f64],
}

impl WithSimd for Potentials<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<f64> {
        let mut totals = vec![[0.0; LANES]; self.candidates.k];
        let tiles = self.tiles.values.chunks_exact(LANES * self.tiles.d);
        for (tile, near) in tiles.zip(self.near.chunks_exact(LANES)) {
            each_center(tile, self.candidates, |number, sums| {
                for lane in 0..LANES {
                    let smaller = if sums[lane] < near[lane] { sums[lane] } else { near[lane] };
                    totals[number][lane] += smaller;
                }
            });
        }
        totals.iter().map(|lanes| lanes.iter().sum()).collect()
    }
}

/// What Σ near would become with each of the candidates as a further centre. `near` of the padding is 0.
pub(super) fn potentials(tiles: &Tiles, candidates: &Packed, near: &[f64]) -> Vec<f64> {
    Arch::new().dispatch(Potentials { tiles, candidates, near })
}

struct Closer<'a> {
    tiles: &'a Tiles,
    center: &'a [f64],
    near: &'a mut [f64],
}

impl WithSimd for Closer<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let tiles = self.tiles.values.chunks_exact(LANES * self.tiles.d);
        for (tile, near) in tiles.zip(self.near.chunks_exact_mut(LANES)) {
            let [sums] = distances::<1>(tile, self.center);
            for lane in 0..LANES {
                near[lane] = if sums[lane] < near[lane] { sums[lane] } else { near[lane] };
            }
        }
    }
}

/// `near` ← min(`near`, squared distance to `center`).
pub(super) fn approach(tiles: &Tiles, center: &[f64], near: &mut [f64]) {
    Arch::new().dispatch(Closer { tiles, center, near });
}
