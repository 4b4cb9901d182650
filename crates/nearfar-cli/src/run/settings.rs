//! Flags and the settings file become one set of settings, the library's parameters, and a file that runs again.

use clap::{Args, Command};
use nearfar::learn::lsdg::{Alpha, Density};
use nearfar::learn::{MethodKind, MethodParams, Reseed};
use nearfar::{BinnedParams, Params};
use toml::{Table, Value};

use crate::exit::{Failure, Outcome};
use crate::flags::{
    ClusterArgs, GraphKindName, LearnArgs, MethodName, MetricName, ModeName, PrecisionName, PresetName,
    Prune, RegularizerName, StartName,
};

/// Keys that a preset decides.
const OF_PRESET: [&str; 10] = [
    "neighbors",
    "alpha",
    "relative-alpha",
    "absolute-alpha",
    "beta",
    "mu",
    "eta",
    "starts",
    "start",
    "prune",
];

/// Keys that push each other out: a flag on the left removes those on the right from the file.
const RIVALS: [(&str, &[&str]); 8] = [
    ("preset", &OF_PRESET),
    ("header", &["no-header"]),
    ("no-header", &["header"]),
    ("relative-alpha", &["absolute-alpha"]),
    ("absolute-alpha", &["relative-alpha"]),
    ("neighbors", &["mu", "eta"]),
    ("mu", &["neighbors", "eta"]),
    ("eta", &["neighbors"]),
];

/// Flags over the file that `--config` names.
pub(crate) fn merge(flags: ClusterArgs) -> Outcome<ClusterArgs> {
    let Some(path) = flags.output.config.clone() else { return Ok(flags) };
    let name = path.display();
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::wrong(format!("{name}: cannot be read: {error}; check --config")))?;
    let mut table: Table = text.parse().map_err(|error: toml::de::Error| {
        Failure::wrong(format!("{name}: not TOML: {}", error.to_string().trim_end()))
    })?;
    check_keys(&table, &path.display().to_string())?;
    let mut given = match Value::try_from(&flags) {
        Ok(Value::Table(given)) => given,
        _ => Table::new(),
    };
    // A switch that is off was not given.
    given.retain(|_, value| *value != Value::Boolean(false));
    for (_, rivals) in RIVALS.iter().filter(|(winner, _)| given.contains_key(*winner)) {
        table.retain(|key, _| !rivals.contains(&key));
    }
    table.extend(given);
    let mut merged: ClusterArgs = Value::Table(table).try_into().map_err(|error: toml::de::Error| {
        Failure::wrong(format!("{name}: {}", error.to_string().trim_end()))
    })?;
    merged.output.no_color = flags.output.no_color;
    Ok(merged)
}

/// Every key must be a flag of `cluster`.
pub(crate) fn check_keys(table: &Table, place: &str) -> Outcome {
    let command = ClusterArgs::augment_args(Command::new("cluster"));
    let known: Vec<String> = command
        .get_arguments()
        .map(|argument| argument.get_long().map_or_else(|| argument.get_id().to_string(), str::to_owned))
        .filter(|key| key != "config")
        .collect();
    for key in table.keys() {
        if known.iter().any(|known| known == key) {
            continue;
        }
        let close = known.iter().filter(|known| alike(known, key)).max_by_key(|known| shared(known, key));
        let tip = close.map_or_else(
            || "keys are the long flags of `nearfar cluster --help`".to_owned(),
            |close| format!("did you mean {close:?}?"),
        );
        return Err(Failure::wrong(format!("{place}: there is no setting {key:?}; {tip}")));
    }
    Ok(())
}

/// Letter pairs that two words share.
fn shared(a: &str, b: &str) -> usize {
    let pairs =
        |word: &str| word.replace('_', "-").as_bytes().windows(2).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let of_b = pairs(b);
    pairs(a).iter().filter(|pair| of_b.contains(pair)).count()
}

fn alike(a: &str, b: &str) -> bool {
    2 * shared(a, b) >= a.len().max(b.len()) - 1 && shared(a, b) > 0
}

/// The library's parameters.
pub(crate) fn params(learn: &LearnArgs) -> Outcome<Params> {
    let clusters = learn.clusters.ok_or_else(|| {
        Failure::wrong("how many clusters? Say it with -k, as in `nearfar cluster data.csv -k 3`")
    })?;
    let method = learn.method.map_or(MethodKind::NearFar, MethodName::value);
    let mut params = if method == MethodKind::Lsdg {
        Params::preset(clusters, learn.preset.map(PresetName::value).unwrap_or_default())
    } else {
        Params::of(clusters, super::method::params(method, learn)?)
    };
    super::method::check_flags(method, learn)?;
    let lsdg = &mut params.lsdg;
    let (Alpha::Absolute(mut alpha) | Alpha::Relative(mut alpha)) = lsdg.alpha;
    alpha = learn.alpha.unwrap_or(alpha);
    let relative =
        learn.relative_alpha || (matches!(lsdg.alpha, Alpha::Relative(_)) && !learn.absolute_alpha);
    lsdg.alpha = if relative { Alpha::Relative(alpha) } else { Alpha::Absolute(alpha) };
    lsdg.beta = learn.beta.unwrap_or(lsdg.beta);
    lsdg.density = density(learn, lsdg.density)?;
    if method == MethodKind::Lsdg {
        lsdg.solver = super::method::factor_solver(learn, lsdg.solver)?;
        lsdg.regularizer = learn.regularizer.map_or(lsdg.regularizer, RegularizerName::value);
    }
    params.graph.kind = learn.graph_kind.map_or(params.graph.kind, GraphKindName::value);
    params.graph.neighbors = learn.graph_neighbors;
    lsdg.dissimilarity &= !learn.no_dissimilarity;
    lsdg.orthogonality &= !learn.no_orthogonality;
    if learn.reseed {
        lsdg.reseed = Reseed::WorstFitted;
    }
    if let Some(starts) = learn.starts {
        params = params.starts(starts);
    }
    params.start = learn.start.map_or(params.start, StartName::value);
    params.pruning = learn.prune.map_or(params.pruning, Prune::value);
    params.stop.max_iter = learn.max_iter.unwrap_or(params.stop.max_iter);
    if let Some(tolerance) = learn.tol {
        params.stop.loss_tolerance = tolerance;
        if params.stop.change_tolerance >= 0.0 {
            params.stop.change_tolerance = tolerance; // negative: the method stops by its loss alone
        }
    }
    params.seed = learn.seed.unwrap_or(params.seed);
    params.threads = learn.threads;
    params.memory = learn.memory.as_ref().map(|size| size.bytes);
    params.precision = learn.precision.map_or(params.precision, PrecisionName::value);
    params.mode = learn.mode.map_or(params.mode, ModeName::value);
    params.binned = BinnedParams { near: learn.near, far: learn.far, bins: learn.bins, sketch: learn.sketch };
    params.check()?;
    Ok(params)
}

fn density(learn: &LearnArgs, preset: Density) -> Outcome<Density> {
    match (learn.neighbors, learn.mu, learn.eta, preset) {
        (Some(_), Some(_), ..) | (Some(_), _, Some(_), _) => {
            Err(Failure::wrong("--neighbors decides mu and eta by itself; leave out one side"))
        }
        (Some(neighbors), ..) => Ok(Density::Neighbors(neighbors)),
        (None, Some(mu), eta, _) => Ok(Density::Mu { mu, eta }),
        (None, None, Some(eta), Density::Mu { mu, .. }) => Ok(Density::Mu { mu, eta: Some(eta) }),
        (None, None, Some(_), Density::Neighbors(_)) => {
            Err(Failure::wrong("--eta needs a mu to stay below; add --mu, or use --preset paper"))
        }
        (None, None, None, preset) => Ok(preset),
    }
}

/// The settings in full, as TOML that `--config` reads; where to write is not part of them.
pub(crate) fn resolved(args: &ClusterArgs, params: &Params) -> String {
    let mut full = args.clone();
    full.output = crate::flags::OutputArgs::default();
    let absolute = |path: &String| {
        std::fs::canonicalize(path).ok().and_then(|path| path.into_os_string().into_string().ok())
    };
    full.input.input = full.input.input.map(|input| absolute(&input).unwrap_or(input));
    if let Some(truth) = &full.input.truth
        && matches!(super::data::truth(truth), nearfar::load::Truth::File(_))
    {
        full.input.truth = absolute(truth).or(full.input.truth);
    }
    let learn = &mut full.learn;
    learn.method = MethodName::of(params.method.kind());
    learn.starts = Some(params.starts);
    learn.max_iter = Some(params.stop.max_iter);
    learn.tol = Some(params.stop.loss_tolerance);
    learn.seed = Some(params.seed);
    if params.method == MethodParams::Lsdg {
        resolve_lsdg(learn, params);
    } else {
        super::method::resolve(learn, params);
    }
    full.input.input_kind.get_or_insert_default();
    full.input.scale.get_or_insert_default();
    full.input.metric = full.input.metric.or(MetricName::of(nearfar::Metric::default()));
    let mut table = match Value::try_from(&full) {
        Ok(Value::Table(table)) => table,
        _ => Table::new(),
    };
    table.retain(|_, value| *value != Value::Boolean(false));
    format!(
        "# Settings of a run of nearfar {}; run it again with: nearfar cluster --config settings.toml\n{table}",
        env!("CARGO_PKG_VERSION")
    )
}

fn resolve_lsdg(learn: &mut LearnArgs, params: &Params) {
    learn.preset = PresetName::of(params.preset);
    (learn.relative_alpha, learn.absolute_alpha, learn.alpha) = match params.lsdg.alpha {
        Alpha::Relative(alpha) => (true, false, Some(alpha)),
        Alpha::Absolute(alpha) => (false, true, Some(alpha)),
    };
    learn.beta = Some(params.lsdg.beta);
    (learn.neighbors, learn.mu, learn.eta) = match params.lsdg.density {
        Density::Neighbors(neighbors) => (Some(neighbors), None, None),
        Density::Mu { mu, eta } => (None, Some(mu), eta),
    };
    learn.start = StartName::of(params.start);
    learn.prune = Prune::of(params.pruning);
    learn.precision = PrecisionName::of(params.precision);
    learn.mode = ModeName::of(params.mode);
}
