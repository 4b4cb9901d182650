//! One pass over the columns of V: the PHALS step with the orthogonality term (eq:model_vj).
//!
//! For column j, with $E = T + \alpha M_j - V_{-j}V_{-j}^\top$ and $M_j = I - V_{-j}V_{-j}^\dagger$:
//! $d = \max(E v_j, 0)/\|v_j\|^2 - v_j$, and $v_j \leftarrow v_j + \lambda d$ with λ from [`Quartic`].
//!
//! What is saved: T V is one product for all columns (a column is unchanged until its own turn); of T d
//! only dᵀT d is needed, over the nonzeros of d and one triangle of T; M_j comes from r × r matrices ([`Complement`]).
//!
//! Departs from the reference: entries below 1e-15 of their column's largest are 0, and so is a column
//! below 1e-8 of the longest one (hazard H1: there rounding would decide). A column without a usable step stays.

use rayon::prelude::*;

use crate::math::complement::{Complement, range_basis, remove_span, times};
use crate::math::cubic::Quartic;
use crate::math::factor::Factor;
use crate::math::kernel::{add_scaled, dot, norm2, vectorized};
use crate::observe::Observer;
use crate::slices::Graph;

/// Rows that one task works on.
const ROWS: usize = 16_384;
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

/// Sweep over all columns; `tv` is T V at the start (n × r). Returns Σ R(v_j), each taken just before
/// its column moves, or `None` when the observer asked to stop (V may then be half-way).
pub(crate) fn sweep<G: Graph>(
    graph: &G,
    factor: &mut Factor,
    tv: &[f64],
    params: &SweepParams,
    observer: &dyn Observer,
) -> Option<f64> {
    let (n, r) = (factor.n_samples(), factor.n_columns());
    let mut gram = factor.gram();
    let mut complement = Complement::new(&gram, r);
    let mut orthogonality = 0.0;
    for j in 0..r {
        if observer.cancelled() {
            return None;
        }
        if gram[j * r + j] == 0.0 {
            if params.reseed == Reseed::WorstFitted {
                reseed(graph, factor, j, &mut gram);
                complement = Complement::new(&gram, r);
            }
            continue;
        }
        let tv = &tv[j * n..(j + 1) * n];
        let inverse = if params.alpha == 0.0 { Some(Vec::new()) } else { complement.without(j) };
        let step = match &inverse {
            Some(c) => gram_step(graph, factor, j, tv, &gram, c, params),
            None => basis_step(graph, factor, j, tv, &gram, params),
        };
        orthogonality += step.orthogonality;
        let moved = step.moved.map(|(lambda, d, h)| advance(factor, j, lambda, &d, &h, &mut gram));
        match (inverse, moved) {
            (Some(c), Some(gram_j)) if params.alpha != 0.0 => complement.replace(j, c, &gram_j),
            (None, _) => complement.forget(),
            _ => {}
        }
    }
    Some(orthogonality)
}

/// What a column's step found: R(v_j), and λ, d and Vᵀd where it moves.
struct Step {
    orthogonality: f64,
    moved: Option<(f64, Vec<f64>, Vec<f64>)>,
}

/// The step with M_j from the inverse of the small matrix V₋ⱼᵀV₋ⱼ.
fn gram_step<G: Graph>(
    graph: &G,
    factor: &Factor,
    j: usize,
    tv: &[f64],
    gram: &[f64],
    c: &[f64],
    params: &SweepParams,
) -> Step {
    let (r, alpha) = (factor.n_columns(), params.alpha);
    let v = factor.column(j);
    let v2 = gram[j * r + j];
    let g: Vec<f64> = (0..r).map(|a| if a == j { 0.0 } else { gram[a * r + j] }).collect();
    // V coefficients = V₋ⱼV₋ⱼᵀv + α V₋ⱼV₋ⱼ†v
    let mut coefficients = g.clone();
    let mut orthogonality = 0.0;
    if alpha != 0.0 {
        let y = times(c, &g, r, j);
        orthogonality = v2 - dot(&g, &y);
        for (coefficient, y) in coefficients.iter_mut().zip(&y) {
            *coefficient += alpha * y;
        }
    }
    let mut ev: Vec<f64> = tv.to_vec();
    ev.par_chunks_mut(ROWS).enumerate().for_each(|(block, ev)| {
        let first = block * ROWS;
        vectorized(
            #[inline(always)]
            || {
                for (a, coefficient) in coefficients.iter().enumerate() {
                    if *coefficient != 0.0 {
                        factor.add_column(a, -coefficient, first, ev);
                    }
                }
                factor.add_column(j, alpha, first, ev);
            },
        );
    });
    let Some(d) = direction(&ev, v, v2 + params.guard) else { return Step { orthogonality, moved: None } };
    let d2 = norm2(&d);
    let h = factor.transposed_times(&d);
    let mut d_e_d = graph.quadratic(&d) - h.iter().map(|h| h * h).sum::<f64>() + h[j] * h[j];
    if alpha != 0.0 {
        let ch = times(c, &h, r, j);
        d_e_d += alpha * (d2 - dot(&h, &ch) + h[j] * ch[j]);
    }
    finish(orthogonality, d, h, j, d2, v2, d_e_d, &ev)
}

/// The step with M_j from an orthonormal basis of the span of the other columns.
fn basis_step<G: Graph>(
    graph: &G,
    factor: &Factor,
    j: usize,
    tv: &[f64],
    gram: &[f64],
    params: &SweepParams,
) -> Step {
    let (r, alpha) = (factor.n_columns(), params.alpha);
    let v = factor.column(j);
    let v2 = gram[j * r + j];
    let basis = range_basis(factor, j);
    let mut rest = v.to_vec(); // M_j v
    remove_span(&basis, &mut rest);
    let orthogonality = dot(v, &rest);
    let mut ev: Vec<f64> = tv.to_vec();
    vectorized(
        #[inline(always)]
        || {
            for a in (0..r).filter(|a| *a != j) {
                add_scaled(&mut ev, -gram[a * r + j], factor.column(a));
            }
            add_scaled(&mut ev, alpha, &rest);
        },
    );
    let Some(d) = direction(&ev, v, v2 + params.guard) else { return Step { orthogonality, moved: None } };
    let d2 = norm2(&d);
    let h = factor.transposed_times(&d);
    let mut rest = d.clone();
    remove_span(&basis, &mut rest);
    let d_e_d =
        graph.quadratic(&d) - h.iter().map(|h| h * h).sum::<f64>() + h[j] * h[j] + alpha * dot(&d, &rest);
    finish(orthogonality, d, h, j, d2, v2, d_e_d, &ev)
}

/// d = max(E v, 0)/‖v‖² − v; `None` when it is too short to move or not a number.
fn direction(ev: &[f64], v: &[f64], length2: f64) -> Option<Vec<f64>> {
    let scale = 1.0 / length2;
    let d: Vec<f64> = if scale.is_finite() {
        ev.iter().zip(v).map(|(e, v)| e.max(0.0) / length2 - v).collect()
    } else {
        return None;
    };
    (norm2(&d) > SHORTEST_D2).then_some(d)
}

#[allow(clippy::too_many_arguments)] // the numbers of one formula
fn finish(
    orthogonality: f64,
    d: Vec<f64>,
    h: Vec<f64>,
    j: usize,
    d2: f64,
    v2: f64,
    d_e_d: f64,
    ev: &[f64],
) -> Step {
    let quartic = Quartic { d2, v2, dv: h[j], d_e_d, d_e_v: dot(&d, ev) };
    Step { orthogonality, moved: quartic.step().map(|lambda| (lambda, d, h)) }
}

/// v_j ← v_j + λ d; keeps the Gram matrix true and returns its new column j.
fn advance(factor: &mut Factor, j: usize, lambda: f64, d: &[f64], h: &[f64], gram: &mut [f64]) -> Vec<f64> {
    let r = factor.n_columns();
    let column = factor.column_mut(j);
    let mut largest = 0.0_f64;
    for (v, d) in column.iter_mut().zip(d) {
        *v = (*v + lambda * d).max(0.0);
        largest = largest.max(*v);
    }
    let dust = DUST * largest;
    for v in column.iter_mut() {
        if *v < dust {
            *v = 0.0;
        }
    }
    let own = norm2(column);
    let longest = (0..r).filter(|a| *a != j).map(|a| gram[a * r + a]).fold(own, f64::max);
    let alive = own > DEAD * longest;
    if !alive {
        column.fill(0.0);
    }
    factor.index_column(j);
    for a in 0..r {
        let value = match (alive, a == j) {
            (false, _) => 0.0,
            (true, true) => own,
            (true, false) => gram[a * r + j] + lambda * h[a],
        };
        gram[a * r + j] = value;
        gram[j * r + a] = value;
    }
    (0..r).map(|a| gram[a * r + j]).collect()
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
