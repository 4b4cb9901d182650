//! X ≈ UVᵀ with a graph on the rows of V: one multiplicative step of both factors.
//!
//! With the graph W and its degrees d, ‖X − UVᵀ‖² + λ tr(VᵀLV) has the gradients 2(VUᵀU − XU + λ(dV − WV)) and
//! 2(UVᵀV − XᵀV); X is n × m here, a sample per row. Every entry is multiplied by the negative part over the
//! positive part, which is the minimum of a bound that touches the objective at the present point (Lee and Seung),
//! so that no step raises it.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::graph::{to_columns, to_rows};
use crate::math::dense::{ROWS, cross, times};
use crate::math::factor::Factor;
use crate::math::kernel::{dot, norm2};
use crate::math::rng::Stream;

/// Keeps denominators off zero, as in the published programs.
const FLOOR: f64 = 1e-10;
/// Columns of U shorter than this are taken to have this length.
const SHORTEST: f64 = 1e-15;
/// Largest entries of X outside this range are brought near 1: the floor and the squares would distort them.
const SCALES: std::ops::Range<f64> = 1e-3..1e6;

/// Samples without negative values.
#[derive(Clone, Debug)]
pub(crate) struct Data<'a> {
    /// n × m, row-major.
    pub(crate) x: Cow<'a, [f64]>,
    pub(crate) m: usize,
}

impl<'a> Data<'a> {
    /// Shifted so that the smallest value is 0 where one is negative; very large and very small data over a power
    /// of two, which changes the units of V and of the objective and nothing else.
    pub(crate) fn nonnegative(x: &'a [f64], n: usize) -> Self {
        let m = x.len() / n.max(1);
        let (least, most) = x.iter().fold((0.0_f64, 0.0_f64), |(a, b), x| (a.min(*x), b.max(*x)));
        // Halved, so that the difference of two values near the largest double is finite.
        let half = most / 2.0 - least / 2.0;
        let unit =
            if half == 0.0 || SCALES.contains(&(2.0 * half)) { 1.0 } else { half.log2().floor().exp2() };
        let x = if least < 0.0 || unit != 1.0 {
            x.iter().map(|x| x / unit - least / unit).collect()
        } else {
            Cow::Borrowed(x)
        };
        Self { x, m }
    }
}

/// U before anything: uniform random, m × r.
pub(crate) fn random_basis(m: usize, r: usize, stream: &mut Stream) -> Vec<f64> {
    (0..m * r).map(|_| stream.uniform()).collect()
}

/// X ≈ UVᵀ.
#[derive(Clone, Debug)]
pub(crate) struct Pair<'a> {
    data: Data<'a>,
    n: usize,
    r: usize,
    /// ‖X‖².
    norm2: f64,
    /// m × r, row-major.
    u: Vec<f64>,
    /// n × r, row-major.
    v: Vec<f64>,
    /// UᵀU, r × r.
    uu: Vec<f64>,
    fit: f64,
}

impl<'a> Pair<'a> {
    pub(crate) fn new(data: Data<'a>, u: Vec<f64>, start: &Factor) -> Self {
        let (n, r) = (start.n_samples(), start.n_columns());
        assert_eq!(data.x.len(), n * data.m, "one row of samples per row of V");
        assert_eq!(u.len(), data.m * r, "U is m × r");
        let norm2 = norm2(&data.x);
        let v = to_rows(start.values(), n, r);
        let mut this = Self { data, n, r, norm2, u, v, uu: Vec::new(), fit: 0.0 };
        this.measure();
        this
    }

    pub(crate) fn r(&self) -> usize {
        self.r
    }

    #[cfg(test)]
    pub(crate) fn u(&self) -> &[f64] {
        &self.u
    }

    /// V, n × r, row-major.
    pub(crate) fn v(&self) -> &[f64] {
        &self.v
    }

    /// ‖X − UVᵀ‖².
    pub(crate) fn fit(&self) -> f64 {
        self.fit
    }

    pub(crate) fn factor(&self) -> Factor {
        let mut values = vec![0.0; self.v.len()];
        to_columns(&self.v, self.n, self.r, &mut values);
        Factor::new(values, self.n, self.r)
    }

    /// tr(VᵀLV) from W V.
    pub(crate) fn roughness(&self, wv: &[f64], degrees: &[f64]) -> f64 {
        let rows = self.v.chunks_exact(self.r).zip(wv.chunks_exact(self.r)).zip(degrees);
        rows.map(|((v, wv), d)| v.iter().zip(wv).map(|(v, wv)| v * (d * v - wv)).sum::<f64>())
            .sum::<f64>()
            .max(0.0)
    }

    /// Columns of U to length 1, their lengths into V; UVᵀ stays.
    pub(crate) fn normalize(&mut self) {
        let r = self.r;
        let mut lengths = vec![0.0; r];
        for u in self.u.chunks_exact(r) {
            lengths.iter_mut().zip(u).for_each(|(length, u)| *length += u * u);
        }
        lengths.iter_mut().for_each(|length| *length = length.sqrt().max(SHORTEST));
        for u in self.u.chunks_exact_mut(r) {
            u.iter_mut().zip(&lengths).for_each(|(u, length)| *u /= length);
        }
        for v in self.v.chunks_exact_mut(r) {
            v.iter_mut().zip(&lengths).for_each(|(v, length)| *v *= length);
        }
        self.measure();
    }

    /// One step of V, then of U; `wv` is W V of the present V.
    pub(crate) fn update(&mut self, wv: &[f64], degrees: &[f64], lambda: f64) {
        let (m, r) = (self.data.m, self.r);
        let xu = times(&self.data.x, &self.u, m, r);
        let vuu = times(&self.v, &self.uu, r, r);
        let width = ROWS * r;
        self.v.par_chunks_mut(width).enumerate().for_each(|(block, v)| {
            let [xu, vuu, wv] = [&xu, &vuu, wv].map(|x| &x[block * width..][..v.len()]);
            for (at, v) in v.iter_mut().enumerate() {
                let d = degrees[block * ROWS + at / r];
                *v *= (xu[at] + lambda * wv[at]) / (vuu[at] + lambda * (d * *v)).max(FLOOR);
            }
        });
        let (xv, vv) = self.products();
        let uvv = times(&self.u, &vv, r, r);
        for ((u, up), down) in self.u.iter_mut().zip(&xv).zip(&uvv) {
            *u *= up / down.max(FLOOR);
        }
        self.measure_with(&xv, &vv);
    }

    /// XᵀV (m × r) and VᵀV.
    fn products(&self) -> (Vec<f64>, Vec<f64>) {
        let r = self.r;
        (cross(&self.data.x, &self.v, self.data.m, r), cross(&self.v, &self.v, r, r))
    }

    fn measure(&mut self) {
        let (xv, vv) = self.products();
        self.measure_with(&xv, &vv);
    }

    fn measure_with(&mut self, xv: &[f64], vv: &[f64]) {
        self.uu = cross(&self.u, &self.u, self.r, self.r);
        self.fit = (self.norm2 - 2.0 * dot(&self.u, xv) + dot(&self.uu, vv)).max(0.0);
    }
}
