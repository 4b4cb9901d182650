//! One pass over the columns of V: the PHALS step with the orthogonality term (eq:model_vj).
//!
//! For column j, with $E = T + \alpha M_j - V_{-j}V_{-j}^\top$ and $M_j = I - V_{-j}V_{-j}^\dagger$:
//! $d = \max(E v_j, 0)/\|v_j\|^2 - v_j$, and $v_j \leftarrow v_j + \lambda d$ with λ from [`Quartic`].
//!
//! What is saved: T V is one product for all columns (a column is unchanged until its own turn); of T d
//! only dᵀT d is needed, over the nonzeros of d and half of T; M_j comes from r × r matrices ([`Complement`]).
//!
//! Everything that goes over the rows is done part by part ([`Parts`]), sums are added up in the order of parts.
//! Where processes share the rows of T, each makes its own rows of T V and of d; then the nonzeros of d go to
//! everybody, and with dᵀT d all that is needed for the step length.
//!
//! Departs from the reference: entries below 1e-15 of their column's largest are 0, and so is a column
//! below 1e-8 of the longest one (hazard H1: there rounding would decide). A column without a usable step stays.

mod parts;

use rayon::prelude::*;

use crate::math::complement::{Complement, range_basis, remove_span, times};
use crate::math::cubic::Quartic;
use crate::math::factor::{Factor, Nonzeros, mirrored};
use crate::math::kernel::{add_scaled, added_up, dot, norm2, vectorized};
use crate::observe::Observer;
use crate::slices::Graph;
use parts::{Parts, products};

/// A direction shorter than this (squared) leaves the column as it is.
const SHORTEST_D2: f64 = 1e-8;
/// Entries below this share of the column's largest are 0.
const DUST: f64 = 1e-15;
/// Columns whose squared length is below this share of the longest one's are 0.
const DEAD: f64 = 1e-16;

/// What happens to columns that die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reseed {
    /// They stay zero, as in the paper's program.
    #[default]
    Never,
    /// They start again around the worst-fitted point.
    WorstFitted,
}

/// Settings of a sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SweepParams {
    pub(crate) alpha: f64,
    /// Added to ‖v‖² in the target; ε in LSDG, 0 in the others.
    pub(crate) guard: f64,
    pub(crate) reseed: Reseed,
}

/// What a sweep did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swept {
    /// Σ R(v_j), each taken just before its column moves.
    pub(crate) orthogonality: f64,
    /// ‖V' − V‖ / ‖V‖.
    pub(crate) change: f64,
}

/// VᵀV, r × r. Processes that share a graph share this work too.
pub(crate) fn gram<G: Graph>(graph: &G, factor: &Factor) -> Vec<f64> {
    let Some(share) = graph.split().filter(|share| share.is_split()) else { return factor.gram() };
    let (r, size, rank) = (factor.n_columns(), share.team().size(), share.team().rank());
    let of = |p: usize| (p..r).step_by(size);
    let mine: Vec<usize> = of(rank).collect();
    let mine: Vec<Vec<f64>> = mine.into_par_iter().map(|i| factor.gram_row(i)).collect();
    let lengths: Vec<usize> = (0..size).map(|p| of(p).count() * r).collect();
    let all = share.team().gather_known("VᵀV", &mine.concat(), &lengths);
    let mut upper = vec![0.0; r * r];
    for (i, row) in (0..size).flat_map(of).zip(all.chunks_exact(r)) {
        upper[i * r..][..r].copy_from_slice(row);
    }
    mirrored(upper, r)
}

/// Sweep over all columns; `tv` has the own rows of T V at the start (column-major), `gram` is VᵀV then. `None`
/// when the observer asked to stop (V may then be half-way).
pub(crate) fn sweep<G: Graph>(
    graph: &G,
    factor: &mut Factor,
    tv: &[f64],
    mut gram: Vec<f64>,
    params: &SweepParams,
    observer: &dyn Observer,
) -> Option<Swept> {
    let r = factor.n_columns();
    let mut parts = Parts::of(graph, factor.n_samples());
    let own = parts.here.len();
    let length2: f64 = (0..r).map(|j| gram[j * r + j]).sum();
    let mut complement = Complement::new(&gram, r);
    let (mut orthogonality, mut moved2) = (0.0, 0.0);
    for j in 0..r {
        if observer.cancelled() {
            return None;
        }
        if gram[j * r + j] == 0.0 {
            if params.reseed == Reseed::WorstFitted {
                reseed(graph, factor, j, &mut gram);
                moved2 += gram[j * r + j];
                complement = Complement::new(&gram, r);
            }
            continue;
        }
        let tv = &tv[j * own..(j + 1) * own];
        let inverse = if params.alpha == 0.0 { Some(Vec::new()) } else { complement.without(j) };
        let step = match &inverse {
            Some(c) => gram_step(graph, factor, j, tv, &gram, c, params, &mut parts),
            None => basis_step(graph, factor, j, tv, &gram, params, &mut parts),
        };
        orthogonality += step.orthogonality;
        let moved = step.moved.map(|step| advance(factor, j, &step, &mut gram));
        moved2 += moved.as_ref().map_or(0.0, |(_, moved2)| *moved2);
        match (inverse, moved) {
            (Some(c), Some((gram_j, _))) if params.alpha != 0.0 => complement.replace(j, c, &gram_j),
            (None, _) => complement.forget(),
            _ => {}
        }
    }
    Some(Swept { orthogonality, change: (moved2 / length2).sqrt() })
}

/// What a column's step found: R(v_j), and the move where there is one.
struct Step {
    orthogonality: f64,
    moved: Option<Move>,
}

/// v ← v + λ d.
struct Move {
    lambda: f64,
    d: Nonzeros,
    /// Vᵀd.
    h: Vec<f64>,
    /// ‖d‖².
    d2: f64,
}

/// The step with M_j from the inverse of the small matrix V₋ⱼᵀV₋ⱼ.
#[allow(clippy::too_many_arguments)] // the numbers of one formula
fn gram_step<G: Graph>(
    graph: &G,
    factor: &Factor,
    j: usize,
    tv: &[f64],
    gram: &[f64],
    c: &[f64],
    params: &SweepParams,
    parts: &mut Parts<'_>,
) -> Step {
    let (r, alpha) = (factor.n_columns(), params.alpha);
    let v2 = gram[j * r + j];
    let g: Vec<f64> = (0..r).map(|a| if a == j { 0.0 } else { gram[a * r + j] }).collect();
    // E v = T v − V coefficients
    let mut coefficients = g.clone();
    let mut orthogonality = 0.0;
    if alpha != 0.0 {
        let y = times(c, &g, r, j);
        orthogonality = v2 - dot(&g, &y);
        for (coefficient, y) in coefficients.iter_mut().zip(&y) {
            *coefficient += alpha * y;
        }
    }
    coefficients[j] = -alpha;
    let stay = Step { orthogonality, moved: None };
    let Some((d, sums)) = directions(factor, j, tv, &coefficients, v2 + params.guard, parts) else {
        return stay;
    };
    let d = parts.spread(d);
    let d2 = norm2(&d.values);
    if !(d2 > SHORTEST_D2) {
        return stay;
    }
    let (mut h, d_t_d) = step_sums(graph, &sums, r + 1, parts);
    let d_e_v = h.pop().unwrap_or_default();
    let mut d_e_d = d_t_d - h.iter().map(|h| h * h).sum::<f64>() + h[j] * h[j];
    if alpha != 0.0 {
        let ch = times(c, &h, r, j);
        d_e_d += alpha * (d2 - dot(&h, &ch) + h[j] * ch[j]);
    }
    let quartic = Quartic { d2, v2, dv: h[j], d_e_d, d_e_v };
    Step { orthogonality, moved: quartic.step().map(|lambda| Move { lambda, d, h, d2 }) }
}

/// The own rows of d = max(E v, 0)/‖v‖² − v, and for every part of them Vᵀd and dᵀE v; `None` where ‖v‖² is too
/// small to divide by.
fn directions(
    factor: &Factor,
    j: usize,
    tv: &[f64],
    coefficients: &[f64],
    length2: f64,
    parts: &Parts<'_>,
) -> Option<(Vec<f64>, Vec<f64>)> {
    if !(1.0 / length2).is_finite() {
        return None;
    }
    let mut d = vec![0.0; tv.len()];
    let part = |(at, (d, tv)): (usize, (&mut [f64], &[f64]))| {
        let first = parts.here.start + at * parts.part;
        let mut ev = tv.to_vec();
        vectorized(
            #[inline(always)]
            || {
                for (a, coefficient) in coefficients.iter().enumerate() {
                    if *coefficient != 0.0 {
                        factor.part(a, first..first + ev.len()).add_to(-coefficient, first, &mut ev);
                    }
                }
                let v = &factor.column(j)[first..first + ev.len()];
                for ((d, e), v) in d.iter_mut().zip(&ev).zip(v) {
                    *d = e.max(0.0) / length2 - v;
                }
            },
        );
        let mut sums = products(factor, first, d);
        sums.push(dot(d, &ev));
        sums
    };
    let pieces = d.par_chunks_mut(parts.part).zip(tv.par_chunks(parts.part));
    let sums: Vec<Vec<f64>> = pieces.enumerate().map(part).collect();
    Some((d, sums.concat()))
}

/// The sums of all parts of all processes, and dᵀT d of the direction that was spread.
fn step_sums<G: Graph>(graph: &G, sums: &[f64], width: usize, parts: &Parts<'_>) -> (Vec<f64>, f64) {
    let products = graph.quadratic_sums(&parts.all);
    let Some(share) = parts.share.filter(|share| share.is_split()) else {
        return (added_up(sums, width), added_up(&products, 1)[0]);
    };
    let joined: Vec<f64> = sums
        .chunks_exact(width)
        .zip(&products)
        .flat_map(|(sums, x)| sums.iter().chain([x]))
        .copied()
        .collect();
    let mut sum = added_up(&share.gather_blocks("step lengths", &joined, parts.part, width + 1), width + 1);
    let d_t_d = sum.pop().unwrap_or_default();
    (sum, d_t_d)
}

/// The step with M_j from an orthonormal basis of the span of the other columns; rare, and done by every process alike.
fn basis_step<G: Graph>(
    graph: &G,
    factor: &Factor,
    j: usize,
    tv: &[f64],
    gram: &[f64],
    params: &SweepParams,
    parts: &mut Parts<'_>,
) -> Step {
    let (r, alpha) = (factor.n_columns(), params.alpha);
    let v = factor.column(j);
    let v2 = gram[j * r + j];
    let basis = range_basis(factor, j);
    let mut rest = v.to_vec(); // M_j v
    remove_span(&basis, &mut rest);
    let orthogonality = dot(v, &rest);
    parts.spread(tv.to_vec());
    let mut ev = std::mem::take(&mut parts.all);
    vectorized(
        #[inline(always)]
        || {
            for a in (0..r).filter(|a| *a != j) {
                add_scaled(&mut ev, -gram[a * r + j], factor.column(a));
            }
            add_scaled(&mut ev, alpha, &rest);
        },
    );
    let stay = Step { orthogonality, moved: None };
    let length2 = v2 + params.guard;
    if !(1.0 / length2).is_finite() {
        return stay;
    }
    let all: Vec<f64> = ev.iter().zip(v).map(|(e, v)| e.max(0.0) / length2 - v).collect();
    let mut d = Nonzeros::default();
    d.append(0, &all);
    let d2 = norm2(&d.values);
    if !(d2 > SHORTEST_D2) {
        return stay;
    }
    let h = parts.transposed_times(factor, &all);
    let mut rest = all.clone();
    remove_span(&basis, &mut rest);
    let d_e_d =
        graph.quadratic(&all) - h.iter().map(|h| h * h).sum::<f64>() + h[j] * h[j] + alpha * dot(&all, &rest);
    let quartic = Quartic { d2, v2, dv: h[j], d_e_d, d_e_v: dot(&all, &ev) };
    Step { orthogonality, moved: quartic.step().map(|lambda| Move { lambda, d, h, d2 }) }
}

/// v_j ← v_j + λ d; keeps the Gram matrix true and returns its new column j, and how far v_j moved, squared.
fn advance(factor: &mut Factor, j: usize, step: &Move, gram: &mut [f64]) -> (Vec<f64>, f64) {
    let Move { lambda, d, h, d2 } = step;
    let (r, before) = (factor.n_columns(), gram[j * factor.n_columns() + j]);
    let own = factor.move_column(j, *lambda, d, DUST);
    let longest = (0..r).filter(|a| *a != j).map(|a| gram[a * r + a]).fold(own, f64::max);
    let alive = own > DEAD * longest;
    if !alive {
        factor.clear_column(j);
    }
    for a in 0..r {
        let value = match (alive, a == j) {
            (false, _) => 0.0,
            (true, true) => own,
            (true, false) => gram[a * r + j] + lambda * h[a],
        };
        gram[a * r + j] = value;
        gram[j * r + a] = value;
    }
    let column = (0..r).map(|a| gram[a * r + j]).collect();
    (column, if alive { lambda * lambda * d2 } else { before })
}

/// Column j starts again as the positive neighbourhood of the point that VVᵀ explains worst.
fn reseed<G: Graph>(graph: &G, factor: &mut Factor, j: usize, gram: &mut [f64]) {
    let (n, r) = (factor.n_samples(), factor.n_columns());
    let live: Vec<f64> = (0..r).map(|a| gram[a * r + a]).filter(|g| *g > 0.0).collect();
    if live.is_empty() {
        return;
    }
    let mut misfit = graph.degrees();
    for a in 0..r {
        let column = factor.column(a);
        let sum: f64 = column.iter().sum();
        add_scaled(&mut misfit, -sum, column);
    }
    let worst = (0..n).fold(0, |w, i| if misfit[i] > misfit[w] { i } else { w });
    let mut unit = vec![0.0; n];
    unit[worst] = 1.0;
    let mut around = vec![0.0; n];
    graph.times(&Factor::new(unit, n, 1), &mut around);
    around.iter_mut().for_each(|t| *t = t.max(0.0));
    let length2 = norm2(&around);
    if !(length2 > 0.0) {
        return;
    }
    let scale = (live.iter().sum::<f64>() / live.len() as f64 / length2).sqrt();
    for (v, t) in factor.column_mut(j).iter_mut().zip(&around) {
        *v = scale * t;
    }
    factor.index_column(j);
    for a in 0..r {
        let value = dot(factor.column(a), factor.column(j));
        gram[a * r + j] = value;
        gram[j * r + a] = value;
    }
}
