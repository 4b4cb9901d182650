//! Flags of the methods other than LSDG: which method takes which, and what they become.

use nearfar::Params;
use nearfar::learn::anls::AnlsSolver;
use nearfar::learn::gsnmf::GsNmfSolver;
use nearfar::learn::sbsum::SBsumBlock;
use nearfar::learn::symnmf::SymNmfSolver;
use nearfar::learn::{FactorSolver, MethodKind, MethodParams, Needs};

use crate::exit::{Failure, Outcome};
use crate::flags::{GraphKindName, LearnArgs, RegularizerName, SolverName};

/// Flags that only some methods take, with those that do.
const TAKERS: [(&str, &[MethodKind]); 17] = {
    use MethodKind::{Anls, AoSymNmf, CgSymNmf, Gnmf, GsNmf, Lsdg, NmfAn, RbsMf, S3Nmf, SBsum, SymNmf};
    [
        ("solver", &[Lsdg, AoSymNmf, SymNmf, Anls, SBsum, GsNmf]),
        ("regularizer", &[Lsdg, AoSymNmf]),
        ("lambda", &[Anls, GsNmf, Gnmf, NmfAn, RbsMf]),
        ("tau", &[S3Nmf]),
        ("members", &[S3Nmf]),
        ("rounds", &[S3Nmf]),
        ("soft-votes", &[S3Nmf]),
        ("alpha", &[Lsdg, AoSymNmf, CgSymNmf]),
        ("beta", &[Lsdg, CgSymNmf]),
        ("mu", &[Lsdg, RbsMf]),
        ("neighbors", &[Lsdg, NmfAn]),
        ("preset", &[Lsdg]),
        ("eta", &[Lsdg]),
        ("start", &[Lsdg]),
        ("prune", &[Lsdg]),
        ("no-dissimilarity", &[Lsdg]),
        ("no-orthogonality", &[Lsdg]),
    ]
};

/// The flags of that list that were given.
fn given(learn: &LearnArgs) -> Vec<&'static str> {
    let flags = [
        ("solver", learn.solver.is_some()),
        ("regularizer", learn.regularizer.is_some()),
        ("lambda", learn.lambda.is_some()),
        ("tau", learn.tau.is_some()),
        ("members", learn.members.is_some()),
        ("rounds", learn.rounds.is_some()),
        ("soft-votes", learn.soft_votes),
        ("alpha", learn.alpha.is_some()),
        ("beta", learn.beta.is_some()),
        ("mu", learn.mu.is_some()),
        ("neighbors", learn.neighbors.is_some()),
        ("preset", learn.preset.is_some()),
        ("eta", learn.eta.is_some()),
        ("start", learn.start.is_some()),
        ("prune", learn.prune.is_some()),
        ("no-dissimilarity", learn.no_dissimilarity),
        ("no-orthogonality", learn.no_orthogonality),
    ];
    flags.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
}

/// Refuse a flag that the method would silently ignore.
pub(crate) fn check_flags(method: MethodKind, learn: &LearnArgs) -> Outcome {
    for flag in given(learn) {
        let takers = TAKERS.iter().find(|(name, _)| *name == flag).map_or(&[][..], |(_, takers)| takers);
        if !takers.contains(&method) {
            let names: Vec<&str> = takers.iter().map(|kind| kind.name()).collect();
            return Err(Failure::wrong(format!(
                "--{flag} is no setting of the method {method} (it is one of {}); see nearfar methods {method}",
                names.join(", ")
            )));
        }
    }
    let graph = learn.graph_kind.is_some() || learn.graph_neighbors.is_some();
    if graph && !matches!(method.needs(), Needs::Graph | Needs::Both) {
        let text = format!(
            "--graph-kind and --graph-neighbors are for methods that factor a fixed graph, not {method}"
        );
        return Err(Failure::wrong(text));
    }
    Ok(())
}

/// The method with the flags that were given.
pub(crate) fn params(method: MethodKind, learn: &LearnArgs) -> Outcome<MethodParams> {
    let mut params = method.default_params();
    let set = |value: &mut f64, given: Option<f64>| *value = given.unwrap_or(*value);
    match &mut params {
        MethodParams::AoSymNmf(own) => {
            set(&mut own.alpha, learn.alpha);
            own.solver = factor_solver(learn, own.solver)?;
            own.regularizer = learn.regularizer.map_or(own.regularizer, RegularizerName::value);
        }
        MethodParams::SymNmf(own) => {
            own.solver = solver(learn, own.solver, method, &SYMNMF)?;
        }
        MethodParams::Anls(own) => {
            set(&mut own.lambda, learn.lambda);
            own.solver = solver(learn, own.solver, method, &ANLS)?;
        }
        MethodParams::SBsum(own) => {
            own.block = solver(learn, own.block, method, &SBSUM)?;
        }
        MethodParams::GsNmf(own) => {
            set(&mut own.lambda, learn.lambda);
            own.solver = solver(learn, own.solver, method, &GSNMF)?;
        }
        MethodParams::Gnmf(own) => set(&mut own.lambda, learn.lambda),
        MethodParams::NmfAn(own) => {
            set(&mut own.lambda, learn.lambda);
            own.neighbors = learn.neighbors.unwrap_or(own.neighbors);
        }
        MethodParams::CgSymNmf(own) => {
            set(&mut own.alpha, learn.alpha);
            set(&mut own.beta, learn.beta);
        }
        MethodParams::RbsMf(own) => {
            set(&mut own.lambda, learn.lambda);
            set(&mut own.mu, learn.mu);
        }
        MethodParams::S3Nmf(own) => {
            set(&mut own.tau, learn.tau);
            own.members = learn.members.unwrap_or(own.members);
            own.rounds = learn.rounds.unwrap_or(own.rounds);
            own.hard &= !learn.soft_votes;
        }
        _ => {}
    }
    Ok(params)
}

const FACTOR: [(SolverName, FactorSolver); 2] = [
    (SolverName::Columns, FactorSolver::Columns),
    (SolverName::Multiplicative, FactorSolver::Multiplicative),
];
const SYMNMF: [(SolverName, SymNmfSolver); 3] = [
    (SolverName::Multiplicative, SymNmfSolver::Multiplicative),
    (SolverName::Gradient, SymNmfSolver::Gradient),
    (SolverName::Newton, SymNmfSolver::Newton),
];
const ANLS: [(SolverName, AnlsSolver); 2] =
    [(SolverName::Pivoting, AnlsSolver::Pivoting), (SolverName::Columns, AnlsSolver::Columns)];
const SBSUM: [(SolverName, SBsumBlock); 2] =
    [(SolverName::Scalar, SBsumBlock::Scalar), (SolverName::Vector, SBsumBlock::Vector)];
const GSNMF: [(SolverName, GsNmfSolver); 2] =
    [(SolverName::Multiplicative, GsNmfSolver::Multiplicative), (SolverName::Admm, GsNmfSolver::Admm)];

/// Column steps or multiplicative updates, of LSDG and AOSymNMF. Another regulariser than the proposed one implies the latter.
pub(crate) fn factor_solver(learn: &LearnArgs, default: FactorSolver) -> Outcome<FactorSolver> {
    let other = matches!(learn.regularizer, Some(RegularizerName::OffDiagonal | RegularizerName::LogDet));
    let default = if other { FactorSolver::Multiplicative } else { default };
    solver(learn, default, learn.method.map_or(MethodKind::Lsdg, crate::flags::MethodName::value), &FACTOR)
}

/// The solver that was asked for, out of those the method has.
fn solver<T: Copy>(
    learn: &LearnArgs,
    default: T,
    method: MethodKind,
    known: &[(SolverName, T)],
) -> Outcome<T> {
    let Some(asked) = learn.solver else { return Ok(default) };
    known.iter().find(|(name, _)| *name == asked).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = known.iter().map(|(name, _)| word(*name)).collect();
        let names = names.join(", ");
        Failure::wrong(format!("{method} has no solver {:?}; it has {names}", word(asked)))
    })
}

fn word(name: SolverName) -> String {
    format!("{name:?}").to_lowercase()
}

fn name_of<T: PartialEq>(value: &T, known: &[(SolverName, T)]) -> Option<SolverName> {
    known.iter().find(|(_, known)| known == value).map(|(name, _)| *name)
}

/// The settings in full, as flags.
pub(crate) fn resolve(learn: &mut LearnArgs, params: &Params) {
    if matches!(params.method.kind().needs(), Needs::Graph | Needs::Both) {
        learn.graph_kind = GraphKindName::of(params.graph.kind);
        learn.graph_neighbors = params.graph.neighbors;
    }
    match params.method {
        MethodParams::AoSymNmf(own) => {
            learn.alpha = Some(own.alpha);
            learn.solver = name_of(&own.solver, &FACTOR);
            learn.regularizer = RegularizerName::of(own.regularizer);
        }
        MethodParams::SymNmf(own) => learn.solver = name_of(&own.solver, &SYMNMF),
        MethodParams::Anls(own) => {
            (learn.lambda, learn.solver) = (Some(own.lambda), name_of(&own.solver, &ANLS));
        }
        MethodParams::SBsum(own) => learn.solver = name_of(&own.block, &SBSUM),
        MethodParams::GsNmf(own) => {
            (learn.lambda, learn.solver) = (Some(own.lambda), name_of(&own.solver, &GSNMF));
        }
        MethodParams::Gnmf(own) => learn.lambda = Some(own.lambda),
        MethodParams::NmfAn(own) => (learn.lambda, learn.neighbors) = (Some(own.lambda), Some(own.neighbors)),
        MethodParams::CgSymNmf(own) => (learn.alpha, learn.beta) = (Some(own.alpha), Some(own.beta)),
        MethodParams::RbsMf(own) => (learn.lambda, learn.mu) = (Some(own.lambda), Some(own.mu)),
        MethodParams::S3Nmf(own) => {
            (learn.tau, learn.members, learn.rounds) = (Some(own.tau), Some(own.members), Some(own.rounds));
            learn.soft_votes = !own.hard;
        }
        _ => {}
    }
}
