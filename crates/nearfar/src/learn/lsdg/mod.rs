#![doc = include_str!("about.md")]

pub(crate) mod augment;
mod fit;
mod members;
mod merge;
pub(crate) mod objective;
mod prepared;
mod settings;
mod starts;
pub(crate) mod weights;

pub use prepared::PreparedSlices;
pub use settings::{Alpha, Density, LsdgParams};
pub(crate) use settings::{ENTRY, default_start_ranks};

use objective::{Coefficients, Objective, rank_terms};
use settings::ETA_SHARE;
use weights::{WeightStep, following_mu};

use super::aosymnmf::FactorSolver;
use super::multiplicative::quarter_step;
use super::run::Method;
use super::sweep::{SweepParams, Swept, gram, sweep};
use super::trace::TraceRow;
use crate::math::factor::Factor;
use crate::math::kernel::norm2;
use crate::observe::Observer;
use crate::slices::{Graph, Slices};

/// Weights that start the run: w even on the first `k0` ranks, p even on the rest (on the last one where none is left).
pub fn start_weights(multiplicity: &[f64], k0: usize) -> (Vec<f64>, Vec<f64>) {
    let k0 = k0.min(multiplicity.len());
    let even = |from: usize, to: usize| {
        let total: f64 = multiplicity[from..to].iter().sum();
        (0..multiplicity.len())
            .map(|k| if (from..to).contains(&k) { multiplicity[k] / total } else { 0.0 })
            .collect::<Vec<f64>>()
    };
    let last = multiplicity.len();
    (even(0, k0), even(if k0 < last { k0 } else { last - 1 }, last))
}

/// The learner: state, and the one step that [`run`](super::run()) repeats.
#[derive(Debug)]
pub struct Lsdg<'a, S: Slices> {
    slices: &'a S,
    graph: S::Graph,
    factor: Factor,
    near: Vec<f64>,
    far: Vec<f64>,
    agreement: Vec<f64>,
    params: LsdgParams,
    coefficients: Coefficients,
}

impl<'a, S: Slices> Lsdg<'a, S> {
    /// From a factor and starting weights; `alpha` is the resolved absolute value. `graph` is any graph of these
    /// slices, to be overwritten.
    pub fn new(
        slices: &'a S,
        graph: S::Graph,
        factor: Factor,
        (near, far): (Vec<f64>, Vec<f64>),
        params: LsdgParams,
        alpha: f64,
    ) -> Self {
        let agreement = slices.agreement(&factor);
        let coefficients = Coefficients {
            alpha: if params.orthogonality { alpha } else { 0.0 },
            beta: params.dissimilarity.then_some(params.beta),
            mu: 0.0,
            eta: 0.0,
        };
        let mut this = Self { slices, graph, factor, near, far, agreement, params, coefficients };
        this.settle_density();
        this
    }

    /// c as the (w, p) step sees it.
    fn judged_agreement(&self) -> Vec<f64> {
        let mut c = self.agreement.clone();
        if self.params.level_self && c.len() > 1 {
            c[0] = c[1];
        }
        c
    }

    fn settle_density(&mut self) {
        let (mu, eta) = match self.params.density {
            Density::Mu { mu, eta } if self.params.dissimilarity => (mu, eta.unwrap_or(ETA_SHARE * mu)),
            // Without D the paper puts ½μ‖S‖² on top of what the fit has already (eq:toy_model).
            Density::Mu { mu, .. } => (1.0 + mu, 0.0),
            Density::Neighbors(k) => {
                let mu = following_mu(&self.judged_agreement(), k);
                (mu, ETA_SHARE * mu)
            }
        };
        (self.coefficients.mu, self.coefficients.eta) = (mu, eta);
    }

    /// w, trust in each rank as a neighbour.
    pub fn near_weights(&self) -> &[f64] {
        &self.near
    }

    /// p, trust in each rank as a stranger.
    pub fn far_weights(&self) -> &[f64] {
        &self.far
    }

    /// c of the present factor.
    pub fn agreement(&self) -> &[f64] {
        &self.agreement
    }

    /// α, β, μ and η in force.
    pub fn coefficients(&self) -> Coefficients {
        self.coefficients
    }

    /// The true objective of the present state.
    pub fn objective(&self) -> Objective {
        let m = self.slices.multiplicity();
        let gram = gram(&self.graph, &self.factor);
        let terms = rank_terms(&self.coefficients, &self.agreement, m, &self.near, &self.far, &gram);
        Objective {
            orthogonality: self.params.regularizer.penalty(&self.factor, self.coefficients.alpha),
            ..terms
        }
    }

    /// V by column steps on T = sym(S − βD); `None` when asked to stop half-way.
    fn sweep_columns(&mut self, gram: Vec<f64>, observer: &dyn Observer) -> Option<Swept> {
        let Coefficients { alpha, beta, .. } = self.coefficients;
        let mut combined = self.near.clone();
        if let Some(beta) = beta {
            combined.iter_mut().zip(&self.far).for_each(|(t, p)| *t -= beta * p);
        }
        self.slices.combine(&combined, &mut self.graph);
        let tv = self.graph.times_own(&self.factor);
        let params = SweepParams { alpha, guard: f64::EPSILON, reseed: self.params.reseed };
        sweep(&self.graph, &mut self.factor, &tv, gram, &params, observer)
    }

    /// T V of the present factor for T = sym(Σ weights_k A⁽ᵏ⁾), which becomes the present graph.
    fn product(&mut self, weights: &[f64]) -> Vec<f64> {
        self.slices.combine(weights, &mut self.graph);
        let mut tv = vec![0.0; self.factor.values().len()];
        self.graph.times(&self.factor, &mut tv);
        tv
    }

    /// V by one multiplicative update on T⁺ = sym S, T⁻ = β sym D; returns the orthogonality term before it and the
    /// relative change of V.
    fn multiply(&mut self, gram: &[f64]) -> (f64, f64) {
        let Coefficients { alpha, beta, .. } = self.coefficients;
        let regularizer = self.params.regularizer;
        let penalty = regularizer.penalty(&self.factor, alpha);
        let minus = beta.map(|beta| {
            let mut minus = self.product(&self.far.clone());
            minus.iter_mut().for_each(|t| *t *= beta);
            minus
        });
        let plus = self.product(&self.near.clone());
        let next = quarter_step(&self.factor, gram, &plus, minus.as_deref(), alpha, regularizer);
        let next = Factor::new(next, self.factor.n_samples(), self.factor.n_columns());
        let change = next.relative_change(&self.factor);
        self.factor = next;
        (penalty, change)
    }

    /// Take the parts: factor, w, p and the graph's memory.
    pub fn into_parts(self) -> (Factor, Vec<f64>, Vec<f64>, S::Graph) {
        (self.factor, self.near, self.far, self.graph)
    }
}

impl<S: Slices> Method for Lsdg<'_, S> {
    fn step(&mut self, iteration: usize, observer: &dyn Observer) -> Option<TraceRow> {
        let m = self.slices.multiplicity();
        let q = self.coefficients;
        let gram = gram(&self.graph, &self.factor);
        let terms = rank_terms(&q, &self.agreement, m, &self.near, &self.far, &gram);
        let (orthogonality, change) = match self.params.solver {
            FactorSolver::Columns => {
                let before = self.factor.clone();
                let Some(swept) = self.sweep_columns(gram, observer) else {
                    self.factor = before;
                    return None;
                };
                (-q.alpha * swept.orthogonality, swept.change)
            }
            FactorSolver::Multiplicative => self.multiply(&gram),
        };
        self.agreement = self.slices.agreement(&self.factor);
        self.settle_density();
        let Coefficients { beta, mu, eta, .. } = self.coefficients;
        let weigh = WeightStep { mu, eta, beta, rounds: self.params.weight_rounds };
        let (near, far) = weigh.solve(&self.judged_agreement(), m, &self.far);
        let change = [change, relative_change(&near, &self.near), relative_change(&far, &self.far)];
        (self.near, self.far) = (near, far);
        Some(TraceRow {
            iteration,
            fit: terms.fit,
            dissimilarity: terms.dissimilarity,
            overlap: terms.overlap,
            density: terms.density,
            orthogonality,
            penalty: 0.0,
            change,
        })
    }

    fn factor(&self) -> &Factor {
        &self.factor
    }

    fn weights(&self) -> Option<(&[f64], &[f64])> {
        Some((&self.near, &self.far))
    }
}

fn relative_change(new: &[f64], old: &[f64]) -> f64 {
    let difference: Vec<f64> = new.iter().zip(old).map(|(a, b)| a - b).collect();
    (norm2(&difference) / norm2(old)).sqrt()
}
