#![doc = include_str!("about.md")]

pub mod augment;
mod fit;
mod members;
mod merge;
pub mod objective;
mod prepared;
mod starts;
pub mod weights;

pub use prepared::PreparedSlices;

use objective::{Coefficients, Objective, rank_terms};
use weights::{WeightStep, following_mu};

use super::aosymnmf::{FactorSolver, check_pair};
use super::multiplicative::{Regularizer, quarter_step};
use super::run::Method;
use super::sweep::{Reseed, SweepParams, Swept, gram, sweep};
use super::table::{
    Entry, Held, ITERATIONS, KMEANS, Kind, Needs, PRECISION, Place, Setting, TOLERANCE, Value, of_run, words,
};
use super::trace::TraceRow;
use crate::error::ParamError;
use crate::math::factor::Factor;
use crate::math::kernel::norm2;
use crate::observe::Observer;
use crate::params::{MOST_BINNED, Mode, Params, Preset, Pruning, Starts};
use crate::slices::{Graph, Slices};

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "lsdg",
    line: "The paper's model: learns which neighbour ranks to trust as near and far, together with V; labels \
           from the spectrum of Z.",
    about: include_str!("about.md"),
    needs: Needs::Slices,
    matrices: 0,
    class: "LSDG",
    settings: &[OWN, BINNED, PRECISION, ITERATIONS, TOLERANCE, KMEANS],
};

const OWN: &[Setting] = &[
    Setting::at(
        "preset",
        Kind::Word(Preset::WORDS),
        "Named settings: default (scale-free, a consensus of 12 starts), paper or demo (the published \
         numbers, one start)",
        Place {
            get: |params| params.preset.shown(),
            set: |params, value| {
                let mut preset = params.preset;
                preset.put(value);
                let Params { n_clusters, seed, threads, memory, .. } = *params;
                *params = Params { seed, threads, memory, ..Params::preset(n_clusters, preset) };
                Ok(())
            },
        },
    ),
    Setting::at(
        "neighbors",
        Kind::POSITIVE,
        "Neighbour ranks to trust; mu follows",
        Place {
            get: |params| match params.lsdg.density {
                Density::Neighbors(k) => k.shown(),
                Density::Mu { .. } => None,
            },
            set: |params, value| {
                let mut k = 0;
                k.put(value);
                params.lsdg.density = Density::Neighbors(k);
                Ok(())
            },
        },
    )
    .named("neighbors", "n_neighbors")
    .said("12 in the preset default"),
    Setting::at(
        "alpha",
        Kind::STRENGTH,
        "Orthogonality: in the preset default a share of the graph's leading eigenvalue, else the published number",
        Place {
            get: |params| match params.lsdg.alpha {
                Alpha::Absolute(alpha) | Alpha::Relative(alpha) => alpha.shown(),
            },
            set: |params, value| {
                match &mut params.lsdg.alpha {
                    Alpha::Absolute(alpha) | Alpha::Relative(alpha) => alpha.put(value),
                }
                Ok(())
            },
        },
    )
    .said("0.5 in the preset default, else 0.1"),
    Setting::at(
        "relative_alpha",
        Kind::Switch,
        "Take alpha as a share of the leading eigenvalue, in any preset",
        Place {
            get: |params| matches!(params.lsdg.alpha, Alpha::Relative(_)).shown(),
            set: |params, value| {
                let (Alpha::Absolute(alpha) | Alpha::Relative(alpha)) = params.lsdg.alpha;
                params.lsdg.alpha =
                    if *value == Value::Switch(true) { Alpha::Relative(alpha) } else { Alpha::Absolute(alpha) };
                Ok(())
            },
        },
    )
    .named("relative-alpha", "")
    .said("by the preset"),
    Setting::at(
        "absolute_alpha",
        Kind::Switch,
        "Take alpha as it is, in any preset",
        Place {
            get: |params| matches!(params.lsdg.alpha, Alpha::Absolute(_)).shown(),
            set: |params, value| {
                let (Alpha::Absolute(alpha) | Alpha::Relative(alpha)) = params.lsdg.alpha;
                params.lsdg.alpha =
                    if *value == Value::Switch(true) { Alpha::Absolute(alpha) } else { Alpha::Relative(alpha) };
                Ok(())
            },
        },
    )
    .named("absolute-alpha", "")
    .said("by the preset"),
    Setting::at("beta", Kind::STRENGTH, "Weight of the dissimilarity", of_run!(lsdg.beta))
        .said("10; 1 in the preset demo"),
    Setting::at(
        "mu",
        Kind::Number(1e-9, 1e9),
        "Density of the weights, in place of a number of ranks to trust",
        Place {
            get: |params| match params.lsdg.density {
                Density::Mu { mu, .. } => mu.shown(),
                Density::Neighbors(_) => None,
            },
            set: |params, value| {
                let mut new = 0.0;
                new.put(value);
                params.lsdg.density = match params.lsdg.density {
                    Density::Mu { eta, .. } => Density::Mu { mu: new, eta },
                    Density::Neighbors(_) => Density::Mu { mu: new, eta: None },
                };
                Ok(())
            },
        },
    )
    .said("0.1 in the preset paper, 0.5 in demo"),
    Setting::at(
        "eta",
        Kind::Under("mu"),
        "Price of overlap",
        Place {
            get: |params| match params.lsdg.density {
                Density::Mu { eta, .. } => eta.map(Value::from),
                Density::Neighbors(_) => None,
            },
            set: |params, value| match &mut params.lsdg.density {
                Density::Mu { eta, .. } => {
                    let mut new = 0.0;
                    new.put(value);
                    *eta = Some(new);
                    Ok(())
                }
                Density::Neighbors(_) => Err(ParamError::new("eta", value, "set after mu, which it stays below")),
            },
        },
    )
    .said("0.99 mu"),
    Setting::at("dissimilarity", Kind::Switch, "Let the dissimilarity take part", of_run!(lsdg.dissimilarity))
        .named("no-dissimilarity", "dissimilarity"),
    Setting::at(
        "orthogonality",
        Kind::Switch,
        "Let the orthogonality term take part",
        of_run!(lsdg.orthogonality),
    )
    .named("no-orthogonality", "orthogonality"),
    Setting::at(
        "regularizer",
        Kind::Word(Regularizer::WORDS),
        "What keeps the columns of the factor apart",
        Place {
            get: |params| params.lsdg.regularizer.shown(),
            set: |params, value| {
                params.lsdg.regularizer.put(value);
                params.lsdg.solver = FactorSolver::of(params.lsdg.regularizer);
                Ok(())
            },
        },
    ),
    Setting::at("solver", Kind::Word(FactorSolver::WORDS), "How the factor is found", of_run!(lsdg.solver))
        .said("columns with the proposed regulariser, else multiplicative"),
    Setting::at(
        "reseed",
        Kind::Switch,
        "Start columns of the factor again when they die",
        Place {
            get: |params| (params.lsdg.reseed == Reseed::WorstFitted).shown(),
            set: |params, value| {
                let again = *value == Value::Switch(true);
                params.lsdg.reseed = if again { Reseed::WorstFitted } else { Reseed::Never };
                Ok(())
            },
        },
    ),
    Setting::at("starts", Kind::Whole(1, 1000), "Independent starts", of_run!(starts))
        .named("starts", "n_init")
        .said("12 in the preset default, else 1"),
    Setting::at("start", Kind::Word(Starts::WORDS), "Where starts begin", of_run!(start))
        .named("start", "init")
        .said("both in the preset default, else random"),
    Setting::at(
        "prune",
        Kind::Word(Pruning::WORDS),
        "Starts left out of the consensus: outliers (a cut three times the best), the worse quarter or half, or none",
        of_run!(pruning),
    )
    .said("outliers in the preset default, else none"),
];

/// How pairs are held.
const BINNED: &[Setting] = &[
    Setting::at(
        "mode",
        Kind::Word(Mode::WORDS),
        "How pairs are held: exact (n squared), binned (grows with n), or auto: exact where it fits and does \
         not take long",
        of_run!(mode),
    ),
    Setting::at(
        "near",
        Kind::Whole(8, MOST_BINNED),
        "Neighbour ranks with a weight of their own, in binned mode",
        of_run!(binned.near),
    )
    .said("128, or 64 for more than 50,000 points"),
    Setting::at(
        "far",
        Kind::Whole(1, MOST_BINNED),
        "Far partners drawn for every point, in binned mode",
        of_run!(binned.far),
    )
    .said("128, or 64 for more than 50,000 points"),
    Setting::at(
        "bins",
        Kind::Whole(1, MOST_BINNED),
        "Bins that share the far ranks, in binned mode",
        of_run!(binned.bins),
    )
    .said("64"),
];

words!(Preset { "default" => Self::Default, "paper" => Self::Paper, "demo" => Self::Demo });
words!(Starts { "random" => Self::Random, "spectral" => Self::Spectral, "both" => Self::Both });
words!(Pruning {
    "none" => Self::None,
    "quarter" => Self::Quarter,
    "half" => Self::Half,
    "outliers" => Self::Outliers,
});
words!(Mode { "auto" => Self::Auto, "exact" => Self::Exact, "binned" => Self::Binned });

/// η as a share of μ where nothing else is said.
const ETA_SHARE: f64 = 0.99;

/// Strength of the orthogonality term.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Alpha {
    /// The paper's number.
    Absolute(f64),
    /// A share of the leading eigenvalue of the starting graph, so that it means the same at every n.
    Relative(f64),
}

/// What decides how many ranks are trusted.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Density {
    /// The paper's μ, and η (0.99 μ when `None`).
    Mu {
        /// The larger, the more ranks keep some weight. 1e-9 to 1e9.
        mu: f64,
        /// Price of overlap; 0 or more, below μ.
        eta: Option<f64>,
    },
    /// This many ranks stay trusted: μ follows the agreements in every iteration.
    Neighbors(usize),
}

/// What a caller may set; nothing is judged before [`Params::check`].
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct LsdgParams {
    /// Strength of the orthogonality term, 0 to 1e9.
    pub alpha: Alpha,
    /// Weight of the dissimilarity, 0 to 1e9.
    pub beta: f64,
    /// How many ranks are trusted.
    pub density: Density,
    /// Rounds of the (w, p) step, at least 1.
    pub weight_rounds: usize,
    /// k₀: ranks that share the starting weight (the point itself counts); ⌊log₂ n⌋ + 1 when `None`.
    pub start_ranks: Option<usize>,
    /// Whether D takes part.
    pub dissimilarity: bool,
    /// Whether the orthogonality term takes part.
    pub orthogonality: bool,
    /// Whether rank 0, the point itself, counts as well as the nearest neighbour and no better.
    pub level_self: bool,
    /// What happens to columns that die.
    pub reseed: Reseed,
    /// How V is found.
    pub solver: FactorSolver,
    /// What keeps the columns of V apart; others than the proposed one by multiplicative updates only.
    pub regularizer: Regularizer,
}

impl LsdgParams {
    /// The paper's advice: α = 0.1, β = 10, μ = 0.1.
    #[must_use]
    pub fn paper() -> Self {
        Self::absolute(0.1, 10.0, 0.1)
    }

    /// The setting of the authors' demonstration: α = 0.1, β = 1, μ = 0.5.
    #[must_use]
    pub fn demo() -> Self {
        Self::absolute(0.1, 1.0, 0.5)
    }

    /// The model of the paper with these numbers.
    #[must_use]
    pub fn absolute(alpha: f64, beta: f64, mu: f64) -> Self {
        Self {
            alpha: Alpha::Absolute(alpha),
            beta,
            density: Density::Mu { mu, eta: None },
            weight_rounds: 20,
            start_ranks: None,
            dissimilarity: true,
            orthogonality: true,
            level_self: false,
            reseed: Reseed::Never,
            solver: FactorSolver::Columns,
            regularizer: Regularizer::Proposed,
        }
    }

    /// Settings that mean the same at every n: α relative, `neighbors` trusted ranks.
    #[must_use]
    pub fn scale_free(alpha: f64, beta: f64, neighbors: usize) -> Self {
        Self {
            alpha: Alpha::Relative(alpha),
            density: Density::Neighbors(neighbors),
            level_self: true,
            ..Self::absolute(0.0, beta, 1.0)
        }
    }

    /// What the ranges in the table do not tell; each test is written so that NaN fails it.
    ///
    /// # Errors
    /// Names the first parameter out of range, its value, and what is allowed.
    pub(crate) fn check(&self) -> Result<(), ParamError> {
        if let Density::Mu { mu, eta } = self.density {
            let eta = eta.unwrap_or(ETA_SHARE * mu);
            let allowed = format!("0 or more and below mu = {mu}");
            ParamError::unless((0.0..mu).contains(&eta), "eta", eta, allowed)?;
        }
        ParamError::unless(self.weight_rounds >= 1, "weight_rounds", self.weight_rounds, "1 or more")?;
        if let Some(k) = self.start_ranks {
            ParamError::unless(k >= 1, "start_ranks", k, "1 or more")?;
        }
        check_pair(self.solver, self.regularizer)
    }

    /// k₀ for n samples.
    pub(crate) fn resolved_start_ranks(&self, n: usize) -> usize {
        self.start_ranks.unwrap_or_else(|| default_start_ranks(n)).clamp(1, n.max(1))
    }
}

/// ⌊log₂ n⌋ + 1.
pub(crate) fn default_start_ranks(n: usize) -> usize {
    n.max(1).ilog2() as usize + 1
}

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
