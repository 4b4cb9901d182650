//! Flags of the methods other than LSDG: which method takes which, and what they become.

use nearfar::Params;
use nearfar::learn::anls::AnlsSolver;
use nearfar::learn::gsnmf::GsNmfSolver;
use nearfar::learn::sbsum::SBsumBlock;
use nearfar::learn::symnmf::SymNmfSolver;
use nearfar::learn::{FactorSolver, MethodKind, MethodParams, Needs};

use crate::exit::{Failure, Outcome};
use crate::flags::{EngineName, GraphKindName, LearnArgs, RegularizerName, SolverName, ViewNames};

/// Who takes a flag.
enum Takers {
    /// These methods.
    Only(&'static [MethodKind]),
    /// All methods that iterate, which is all but nearfar.
    Iterated,
}

/// Flags that only some methods take, with those that do, and whether each was given.
fn flags(learn: &LearnArgs) -> Vec<(&'static str, Takers, bool)> {
    use MethodKind::{
        Anls, AoSymNmf, CgSymNmf, Gnmf, GsNmf, Lsdg, NearFar, NmfAn, RbsMf, S3Nmf, SBsum, SymNmf,
    };
    use Takers::{Iterated, Only};
    vec![
        ("engine", Only(&[NearFar]), learn.engine.is_some()),
        ("views", Only(&[NearFar]), learn.views.is_some()),
        ("preset", Only(&[Lsdg]), learn.preset.is_some()),
        ("neighbors", Only(&[Lsdg, NmfAn]), learn.neighbors.is_some()),
        ("alpha", Only(&[Lsdg, AoSymNmf, CgSymNmf]), learn.alpha.is_some()),
        ("relative-alpha", Only(&[Lsdg, AoSymNmf, CgSymNmf]), learn.relative_alpha),
        ("absolute-alpha", Only(&[Lsdg, AoSymNmf, CgSymNmf]), learn.absolute_alpha),
        ("beta", Only(&[Lsdg, CgSymNmf]), learn.beta.is_some()),
        ("mu", Only(&[Lsdg, RbsMf]), learn.mu.is_some()),
        ("eta", Only(&[Lsdg]), learn.eta.is_some()),
        ("no-dissimilarity", Only(&[Lsdg]), learn.no_dissimilarity),
        ("no-orthogonality", Only(&[Lsdg]), learn.no_orthogonality),
        ("reseed", Iterated, learn.reseed),
        ("start", Only(&[Lsdg]), learn.start.is_some()),
        ("prune", Only(&[Lsdg]), learn.prune.is_some()),
        ("mode", Iterated, learn.mode.is_some()),
        ("near", Iterated, learn.near.is_some()),
        ("far", Iterated, learn.far.is_some()),
        ("bins", Iterated, learn.bins.is_some()),
        ("starts", Iterated, learn.starts.is_some()),
        ("max-iter", Iterated, learn.max_iter.is_some()),
        ("tol", Iterated, learn.tol.is_some()),
        ("precision", Iterated, learn.precision.is_some()),
        ("solver", Only(&[Lsdg, AoSymNmf, SymNmf, Anls, SBsum, GsNmf]), learn.solver.is_some()),
        ("regularizer", Only(&[Lsdg, AoSymNmf]), learn.regularizer.is_some()),
        ("lambda", Only(&[Anls, GsNmf, Gnmf, NmfAn, RbsMf]), learn.lambda.is_some()),
        ("tau", Only(&[S3Nmf]), learn.tau.is_some()),
        ("members", Only(&[S3Nmf]), learn.members.is_some()),
        ("rounds", Only(&[S3Nmf]), learn.rounds.is_some()),
        ("soft-votes", Only(&[S3Nmf]), learn.soft_votes),
    ]
}

/// Refuse a flag that the method would silently ignore.
pub(crate) fn check_flags(method: MethodKind, learn: &LearnArgs) -> Outcome {
    for (flag, takers, _) in flags(learn).into_iter().filter(|(_, _, given)| *given) {
        let (taken, names, first) = match takers {
            Takers::Only(takers) => {
                let names: Vec<&str> = takers.iter().map(|kind| kind.name()).collect();
                (takers.contains(&method), names.join(", "), takers[0])
            }
            Takers::Iterated => {
                (method != MethodKind::NearFar, "lsdg and the other methods".to_owned(), MethodKind::Lsdg)
            }
        };
        if taken {
            continue;
        }
        let tip = if learn.method.is_none() && method == MethodKind::NearFar {
            format!("add --method {first}, or leave it out")
        } else {
            format!("see nearfar methods {method}")
        };
        return Err(Failure::wrong(format!(
            "--{flag} is no setting of the method {method} (it is one of {names}); {tip}"
        )));
    }
    let graph = learn.graph_kind.is_some() || learn.graph_neighbors.is_some();
    if graph && !matches!(method.needs(), Needs::Graph | Needs::Both) {
        let text = format!(
            "--graph-kind and --graph-neighbors are for methods that factor a fixed graph, not {method}; add --method phals or another of these, or leave them out"
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
        MethodParams::NearFar(own) => {
            own.engine = learn.engine.map_or(own.engine, EngineName::value);
            own.views = learn.views.map_or(own.views, |names| names.0);
        }
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

/// Column steps or multiplicative updates, of LSDG and AOSymNMF. Another regulariser than the proposed one implies
/// the latter.
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
        MethodParams::NearFar(own) => {
            learn.engine = EngineName::of(own.engine);
            learn.views = Some(ViewNames(own.views));
        }
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
