//! Settings of the paper's model, and its place in the table.

use crate::error::ParamError;
use crate::learn::aosymnmf::{FactorSolver, check_pair};
use crate::learn::multiplicative::Regularizer;
use crate::learn::sweep::Reseed;
use crate::learn::table::{
    Entry, Held, ITERATIONS, KMEANS, Kind, Needs, PRECISION, Place, Setting, TOLERANCE, Value, of_run, words,
};
use crate::params::{MOST_BINNED, Mode, Params, Preset, Pruning, Starts};

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
pub(super) const ETA_SHARE: f64 = 0.99;

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

/// Settings of the paper's model; nothing is judged before a fit.
///
#[doc = include_str!("about.md")]
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
