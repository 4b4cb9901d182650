//! Flags and the settings file become one set of settings, the library's parameters, and a file that runs again.

use clap::{Args, Command};
use nearfar::learn::{Density, MethodKind, MethodParams};
use nearfar::{Params, View, Views};
use toml::{Table, Value};

use crate::exit::{Failure, Outcome};
use crate::flags::{ClusterArgs, Clusters, LearnArgs, MethodName, MetricName, Scale};

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
const RIVALS: [(&str, &[&str]); 12] = [
    ("preset", &OF_PRESET),
    ("scale", &["views"]),
    ("views", &["scale"]),
    ("noise", &["min-confidence"]),
    ("min-confidence", &["noise"]),
    ("header", &["no-header"]),
    ("no-header", &["header"]),
    ("relative-alpha", &["absolute-alpha"]),
    ("absolute-alpha", &["relative-alpha"]),
    ("neighbors", &["mu", "eta"]),
    ("mu", &["neighbors", "eta"]),
    ("eta", &["neighbors"]),
];

/// Settings that mean the same for every method.
const OF_ANY_METHOD: [&str; 4] = ["clusters", "seed", "threads", "memory"];

/// The name of the method that these settings ask for, where they ask for one.
fn method_of(table: &Table) -> Option<&str> {
    let word = |key: &str| table.get(key).and_then(Value::as_str);
    word("method").or_else(|| word("preset").filter(|preset| *preset != "default").map(|_| "lsdg"))
}

/// Leave out what a file says of another method than the flags ask for.
fn drop_other_method(table: &mut Table, given: &Table) {
    match (method_of(given), method_of(table)) {
        (Some(wanted), Some(found)) if wanted != found => {}
        _ => return,
    }
    let of_learning: Vec<String> = long_flags(&LearnArgs::augment_args(Command::new("learn")));
    table.retain(|key, _| OF_ANY_METHOD.contains(&key) || !of_learning.iter().any(|flag| *flag == key));
}

fn long_flags(command: &Command) -> Vec<String> {
    let name = |argument: &clap::Arg| {
        argument.get_long().map_or_else(|| argument.get_id().to_string(), str::to_owned)
    };
    command.get_arguments().map(name).collect()
}

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
    drop_other_method(&mut table, &given);
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
    let known: Vec<String> = long_flags(&command).into_iter().filter(|key| key != "config").collect();
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

/// The method: that which was named, else lsdg where one of its published presets was asked for.
pub(crate) fn method(learn: &LearnArgs) -> MethodKind {
    let published = matches!(learn.own.word("preset"), Some("paper" | "demo"));
    let unnamed = if published { MethodKind::Lsdg } else { MethodKind::NearFar };
    learn.method.map_or(unnamed, |name| name.0)
}

/// The number of clusters; `None` where it is to be found.
fn clusters(method: MethodKind, learn: &LearnArgs) -> Outcome<Option<usize>> {
    let finds = method == MethodKind::NearFar;
    match learn.clusters {
        Some(Clusters::Number(0)) => {
            let auto = if finds { ", or auto" } else { "" };
            Err(Failure::wrong(format!("-k = 0 is not allowed: it must be 1 or more{auto}")))
        }
        Some(Clusters::Number(number)) => Ok(Some(number)),
        Some(Clusters::Auto) | None if finds => Ok(None),
        Some(Clusters::Auto) => Err(Failure::wrong(format!(
            "-k auto: {method} cannot find the number of clusters, only nearfar can; give a number, as in -k 3"
        ))),
        None => Err(Failure::wrong(format!(
            "how many clusters? {method} cannot find out, only nearfar can; say it with -k, as in -k 3"
        ))),
    }
}

/// The library's parameters of a run on this input.
pub(crate) fn params_for(args: &ClusterArgs) -> Outcome<Params> {
    let mut params = params(&args.learn)?;
    let views = args.learn.own.word("views");
    let cosine = args.input.metric == Some(MetricName::Cosine);
    if cosine && views.is_some_and(|views| views != "auto") {
        return Err(Failure::wrong("--metric cosine is a view by itself (unit); leave out --views"));
    }
    if let MethodParams::NearFar(own) = &mut params.method
        && args.input.scale.unwrap_or_default() != Scale::None
    {
        if views.is_some() {
            return Err(Failure::wrong(
                "--scale fixes one view of the data, and --views asks for several; leave out one of them",
            ));
        }
        if !cosine {
            own.views = Views::of(&[View::Raw]);
        }
    }
    Ok(params)
}

/// The library's parameters.
pub(crate) fn params(learn: &LearnArgs) -> Outcome<Params> {
    let method = method(learn);
    super::method::check_flags(method, learn)?;
    let clusters = clusters(method, learn)?;
    let n_clusters = clusters.unwrap_or(1);
    let mut params = Params::of(n_clusters, method);
    params.find_clusters = clusters.is_none();
    if method == MethodKind::Lsdg {
        check_density(learn, &params)?;
    }
    super::method::set(&mut params, learn)?;
    params.seed = learn.seed.unwrap_or(params.seed);
    params.threads = learn.threads;
    params.memory = learn.memory.as_ref().map(|size| size.bytes);
    params.check()?;
    Ok(params)
}

/// Neighbours decide mu and eta, and eta needs a mu.
fn check_density(learn: &LearnArgs, fresh: &Params) -> Outcome {
    let has = |flag| learn.own.has(flag);
    if has("neighbors") && (has("mu") || has("eta")) {
        return Err(Failure::wrong("--neighbors decides mu and eta by itself; leave out one side"));
    }
    let mut preset = fresh.clone();
    if let Some(name) = learn.own.get("preset") {
        preset.set("preset", name.clone())?;
    }
    if has("eta") && !has("mu") && matches!(preset.lsdg.density, Density::Neighbors(_)) {
        return Err(Failure::wrong("--eta needs a mu to stay below; add --mu, or use --preset paper"));
    }
    Ok(())
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
    learn.method = Some(MethodName(params.method.kind()));
    learn.seed = Some(params.seed);
    if params.find_clusters {
        learn.clusters = Some(Clusters::Auto);
    }
    super::method::resolve(learn, params);
    if full.input.scale.unwrap_or_default() != Scale::None {
        full.learn.own.leave_out("views"); // the scale fixes it
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
