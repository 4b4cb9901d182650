//! What came of a run, for people and as JSON.

use nearfar::checkpoint::{Checkpoint, Resumed};
use nearfar::explain;
use nearfar::internals::human_bytes;
use nearfar::labels::score::Scores;
use nearfar::learn::{Alpha, Density, Engine, MethodKind, StopReason};
use nearfar::model::Account;
use nearfar::processes::{Tally, TeamReport};
use nearfar::{Model, Params, View};
use serde::Serialize;
use std::collections::BTreeMap;

use super::account;
use super::data::Data;
use super::labels::Noise;
use super::like::Known;
use crate::exit::in_flags;
use crate::output::Columns;
use crate::paint::{Paint, say};

/// Something to look at, and what to do about it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Note {
    kind: String,
    message: String,
}

impl Note {
    pub(crate) fn new(kind: &str, message: String) -> Self {
        Self { kind: kind.to_owned(), message }
    }

    fn of_library(warning: &nearfar::Warning) -> Self {
        let value = serde_json::to_value(warning).unwrap_or_default();
        Self::new(
            value.get("kind").and_then(|kind| kind.as_str()).unwrap_or("warning"),
            in_flags(&warning.to_string()),
        )
    }
}

/// A finished run.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    format: &'static str,
    version: u32,
    status: &'static str,
    program: &'static str,
    input: String,
    source: String,
    n_samples: usize,
    n_features: usize,
    n_clusters: usize,
    cluster_sizes: Vec<usize>,
    seconds: Vec<Stage>,
    seconds_total: f64,
    near_ranks: usize,
    far_ranks: usize,
    members: usize,
    members_kept: usize,
    members_converged: usize,
    iterations: Vec<usize>,
    agreement: f64,
    precision: nearfar::Precision,
    /// Of methods that rank pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<nearfar::Mode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binned: Option<nearfar::model::BinnedReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<nearfar::model::SearchReport>,
    /// How the default method came to its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<Account>,
    /// How sure labels are, of the default method.
    #[serde(skip_serializing_if = "Option::is_none")]
    certainty: Option<Certainty>,
    /// How far each cluster can be relied on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    standings: Vec<ClusterStanding>,
    /// What became of the numbers of an older model.
    #[serde(skip_serializing_if = "Option::is_none")]
    numbers: Option<Vec<(usize, Option<f64>)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<Tree>,
    /// Points that were labelled −1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<Noise>,
    /// What was taken from a checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed: Option<Resumed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scores: Option<Scores>,
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<usize>,
    /// What working together cost, where several processes did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ranks: Option<TeamReport>,
    /// Ranks beside them that stood by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) standing_by: Option<usize>,
    pub(crate) warnings: Vec<Note>,
    settings: Params,
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    levels: BTreeMap<String, Vec<i64>>,
}

/// How far a cluster can be relied on.
#[derive(Clone, Debug, Serialize)]
struct ClusterStanding {
    cluster: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(flatten)]
    certainty: explain::Certainty,
}

/// That of every cluster with points; none where the method does not tell.
fn standings(model: &Model, known: &Known) -> Vec<ClusterStanding> {
    let labels: Vec<u32> = model.labels.iter().map(|label| *label as u32).collect();
    let told = explain::explain(&explain::Subject {
        membership: &model.membership,
        confidence: &model.confidence,
        sigma: nearfar::internals::local_scales(&model.lenses, model.sigma.as_deref()),
        stability: &known.stability,
        cluster_names: &known.names,
        account: model.account.as_ref(),
        ..explain::Subject::new(&labels, model.params.n_clusters, None)
    });
    let told = told.clusters.into_iter().filter(|story| story.size > 0);
    told.filter(|story| story.certainty.standing != explain::Standing::Unknown)
        .map(|story| ClusterStanding { cluster: story.cluster, name: story.name, certainty: story.certainty })
        .collect()
}

/// How sure labels are.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Certainty {
    pub(crate) mean: f64,
    pub(crate) least: f64,
    /// Share of the points below ½.
    pub(crate) below_half: f64,
}

impl Certainty {
    fn of(confidence: &[f64]) -> Option<Self> {
        if confidence.is_empty() {
            return None;
        }
        let n = confidence.len() as f64;
        Some(Self {
            mean: confidence.iter().sum::<f64>() / n,
            least: confidence.iter().copied().fold(f64::INFINITY, f64::min),
            below_half: confidence.iter().filter(|c| **c < 0.5).count() as f64 / n,
        })
    }
}

/// The size of a tree of clusters.
#[derive(Clone, Copy, Debug, Serialize)]
struct Tree {
    /// The most clusters it gives.
    most: usize,
    pieces: usize,
}

#[derive(Debug, Serialize)]
struct Stage {
    stage: &'static str,
    seconds: f64,
}

/// Clusters that get a sentence each; of more only a count.
const MOST_SENTENCES: usize = 12;

/// The name at the head of the JSON.
pub(crate) const FORMAT: &str = "nearfar-summary";
/// Raised when a key changes its meaning.
pub(crate) const VERSION: u32 = 1;

impl Summary {
    pub(crate) fn new(data: &Data, model: &Model, known: &Known, total: f64) -> Self {
        let truth = data.table.truth.as_ref();
        let loops = || model.members.iter().map(nearfar::learn::Member::last_loop);
        let settled = |reason| {
            matches!(
                reason,
                StopReason::LossSettled
                    | StopReason::VariablesSettled
                    | StopReason::Stationary
                    | StopReason::Completed
            )
        };
        let (near_ranks, far_ranks) = model.active_ranks();
        let mut seconds = vec![Stage { stage: "load", seconds: data.seconds }];
        seconds.extend(
            model.timings.iter().map(|(stage, seconds)| Stage { stage: stage.name(), seconds: *seconds }),
        );
        let ranked = model.params.method.kind() != MethodKind::NearFar;
        let mut summary = Self {
            format: FORMAT,
            version: VERSION,
            status: "done",
            program: concat!("nearfar ", env!("CARGO_PKG_VERSION")),
            input: data.name.clone(),
            source: data.table.source.clone(),
            n_samples: model.n_samples(),
            n_features: model.n_features,
            n_clusters: model.params.n_clusters,
            cluster_sizes: model.sizes(),
            seconds,
            seconds_total: total,
            near_ranks,
            far_ranks,
            members: model.members.len(),
            members_kept: model.members.iter().filter(|member| member.kept).count(),
            members_converged: loops().filter(|run| settled(run.reason)).count(),
            iterations: loops().map(|run| run.iterations).collect(),
            agreement: model.agreement,
            precision: model.precision,
            mode: ranked.then_some(if model.binned.is_some() {
                nearfar::Mode::Binned
            } else {
                nearfar::Mode::Exact
            }),
            binned: model.binned,
            search: model.search,
            account: model.account.clone(),
            certainty: Certainty::of(&model.confidence),
            standings: standings(model, known),
            numbers: known
                .numbers
                .as_ref()
                .map(|numbers| numbers.to.iter().copied().zip(numbers.overlap.iter().copied()).collect()),
            tree: model.tree.as_ref().map(|tree| Tree { most: tree.most(), pieces: tree.pieces() }),
            noise: None,
            resumed: None,
            scores: truth.and_then(|truth| nearfar::labels::score::score(&model.labels, &truth.codes).ok()),
            classes: truth.map(|truth| truth.names.len()),
            ranks: None,
            standing_by: None,
            warnings: data.notes(saw_scalings(model)),
            settings: model.params.clone(),
            ids: None,
            labels: None,
            confidence: None,
            levels: BTreeMap::new(),
        };
        summary.warnings.extend(model.warnings.iter().map(Note::of_library));
        summary.note_unconverged(model);
        summary
    }

    /// Tell what the checkpoint did for the run, and what it could not.
    pub(crate) fn note_checkpoint(&mut self, checkpoint: &Checkpoint) {
        self.resumed = checkpoint.resumed();
        let troubles = checkpoint.troubles().into_iter();
        self.warnings.extend(troubles.map(|message| Note::new("checkpoint", message)));
    }

    /// Labels, and what goes with them, as a part of the JSON.
    pub(crate) fn take_columns(&mut self, columns: &Columns<'_>) {
        self.ids = columns.ids.map(<[String]>::to_vec);
        self.labels = Some(columns.labels.clone());
        self.confidence = columns.confidence.map(<[f64]>::to_vec);
        self.levels = columns.levels.iter().map(|(k, labels)| (format!("k{k}"), labels.clone())).collect();
    }

    /// Program and version.
    pub(crate) fn program(&self) -> &str {
        self.program
    }

    /// All warnings, as text.
    pub(crate) fn messages(&self) -> Vec<String> {
        self.warnings.iter().map(|note| note.message.clone()).collect()
    }

    /// Seconds per stage, by name.
    pub(crate) fn stage_seconds(&self) -> Vec<(String, f64)> {
        self.seconds.iter().map(|stage| (stage.stage.to_owned(), stage.seconds)).collect()
    }

    fn note_unconverged(&mut self, model: &Model) {
        let out = model.members.iter().filter(|m| m.last_loop().reason == StopReason::MaxIterations).count();
        if out > 0 {
            let text = format!(
                "{out} of {} starts ran out of iterations before they settled; raise --max-iter (now {})",
                self.members, self.settings.stop.max_iter
            );
            self.warnings.push(Note::new("not_converged", text));
        }
    }

    /// A few lines for people.
    pub(crate) fn print(&self, model: &Model, paint: Paint, verbose: bool) {
        let line = |name: &str, text: String| {
            say(format_args!("{} {}", paint.strong(format!("{name:<10}")), wrapped(&text)));
        };
        let shape =
            if self.n_features == 0 { "pairs".to_owned() } else { format!("{} features", self.n_features) };
        line("data", format!("{}: {} points, {shape} ({})", self.input, self.n_samples, self.source));
        if verbose {
            line("settings", describe(&self.settings));
        }
        if let Some(resumed) = &self.resumed {
            line("resumed", format!("from {resumed}"));
        }
        line("stages", self.stages());
        if let Some(report) = &self.ranks {
            line("ranks", describe_ranks(report, self.standing_by, verbose));
        }
        if let Some(binned) = &self.binned {
            line("mode", describe_binned(binned));
        } else if let Some(search) = self.search.filter(|search| search.approximate) {
            line("neighbours", found(&search));
        }
        if let Some(account) = &self.account {
            account::lines(account, model, verbose).into_iter().for_each(|(name, text)| line(name, text));
            line("clusters", format!("{}: {}", self.n_clusters, sizes(&self.cluster_sizes)));
            self.print_certainty(&line);
        } else {
            self.print_convergence(model, &line);
        }
        if let Some(numbers) = &self.numbers {
            let kept = numbers.iter().filter(|(_, overlap)| overlap.is_some()).count();
            line(
                "numbers",
                format!("{kept} of {} clusters have the number they had in the older model", numbers.len()),
            );
        }
        if let Some(scores) = &self.scores {
            line("scores", score_line(scores));
        }
        if verbose && self.account.is_some() {
            account::members(model);
        } else if verbose {
            members(model);
        }
        self.print_warnings(paint);
    }

    /// Weights, clusters and how the starts ended, of methods that iterate.
    fn print_convergence(&self, model: &Model, line: &impl Fn(&str, String)) {
        if self.members > 0 && !model.near_weights.is_empty() {
            let of = model.near_weights.len();
            line("trusted", format!("{} ranks as near, {} as far, of {of}", self.near_ranks, self.far_ranks));
        }
        line("clusters", format!("{}: {}", self.n_clusters, sizes(&self.cluster_sizes)));
        if let (Some(least), Some(most)) = (self.iterations.iter().min(), self.iterations.iter().max()) {
            let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
            line(
                "converged",
                format!("{} of {} starts, {range} iterations", self.members_converged, self.members),
            );
        }
        if self.members > 1 {
            let text =
                format!("{:.2} of {} kept starts with the result (ARI)", self.agreement, self.members_kept);
            line("agreement", text);
        }
    }

    /// How sure the default method is.
    fn print_certainty(&self, line: &impl Fn(&str, String)) {
        if self.members > 1 {
            let text = format!("{:.2} of all {} members with the result (ARI)", self.agreement, self.members);
            line("agreement", text);
        }
        if let Some(Certainty { mean, below_half, .. }) = self.certainty {
            let below = match below_half {
                0.0 => "no point".to_owned(),
                share => format!("{} of the points", percent(share)),
            };
            line("certainty", format!("{mean:.2} on average; {below} below 0.5"));
        }
        self.print_standings(line);
        if let Some(Noise { points, up_to }) = self.noise {
            let scored =
                if self.scores.is_some() { "; the scores count them with their clusters" } else { "" };
            let share = percent(points as f64 / self.n_samples.max(1) as f64);
            line(
                "noise",
                match points {
                    0 => "no point is labelled -1".to_owned(),
                    1 => format!("1 point is labelled -1 (certainty {up_to:.2}){scored}"),
                    _ => format!(
                        "{points} points ({share}) are labelled -1 (certainty up to {up_to:.2}){scored}"
                    ),
                },
            );
        }
    }

    /// A sentence for every cluster, or where there are many how many stand how.
    fn print_standings(&self, line: &impl Fn(&str, String)) {
        if self.standings.len() > MOST_SENTENCES {
            let of = |standing: explain::Standing| {
                let count = self.standings.iter().filter(|s| s.certainty.standing == standing).count();
                (count > 0).then(|| format!("{count} {}", standing.word()))
            };
            let each = [explain::Standing::Solid, explain::Standing::Shaky, explain::Standing::NotThere];
            line("how sure", each.into_iter().filter_map(of).collect::<Vec<_>>().join(", "));
            return;
        }
        for (at, ClusterStanding { cluster, name, certainty }) in self.standings.iter().enumerate() {
            let name = name.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
            let title = if at == 0 { "how sure" } else { "" };
            line(title, format!("cluster {cluster}{name}: {}", certainty.sentence));
        }
    }

    pub(crate) fn print_warnings(&self, paint: Paint) {
        for note in &self.warnings {
            say(format_args!("{} {}", paint.warn("warning:"), note.message));
        }
    }

    fn stages(&self) -> String {
        let mut text = String::new();
        for Stage { stage, seconds } in self.seconds.iter().filter(|stage| stage.seconds >= 0.005) {
            text += &format!("{stage}\u{a0}{}, ", together(&time(*seconds)));
        }
        text + &format!("total\u{a0}{}", together(&time(self.seconds_total)))
    }
}

/// Seconds as people read them.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        s if s < 0.001 => "under 1 ms".to_owned(),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// All scores in one line.
pub(crate) fn score_line(scores: &Scores) -> String {
    let Scores { accuracy, nmi, ari, purity, pair_f1, .. } = scores;
    format!("ACC {accuracy:.4}  NMI {nmi:.4}  ARI {ari:.4}  purity {purity:.4}  pair F {pair_f1:.4}")
}

/// Words that no line ends between.
fn together(words: &str) -> String {
    words.replace(' ', "\u{a0}")
}

/// Lines that fit 80 columns behind a name of ten letters.
fn wrapped(text: &str) -> String {
    const INDENT: usize = 11;
    let mut lines = String::new();
    let mut width = INDENT;
    for word in text.split(' ') {
        let letters = word.chars().count();
        if width > INDENT && width + 1 + letters > 80 {
            lines += &format!("\n{:INDENT$}{word}", "");
            width = INDENT + letters;
        } else {
            let blank = if width > INDENT { " " } else { "" };
            lines += &format!("{blank}{word}");
            width += blank.len() + letters;
        }
    }
    lines.replace('\u{a0}', " ")
}

/// A share as people read it.
fn percent(share: f64) -> String {
    match 100.0 * share {
        p if p < 0.1 => "under 0.1 %".to_owned(),
        p if p < 10.0 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

/// The first hundred sizes.
pub(crate) fn sizes(sizes: &[usize]) -> String {
    const MOST: usize = 100;
    let shown: Vec<String> = sizes.iter().take(MOST).map(ToString::to_string).collect();
    let rest = sizes.len().saturating_sub(MOST);
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    shown.join(" ") + &rest
}

/// Time and bytes of the collectives, the dearest ones unless all are asked for.
fn describe_ranks(report: &TeamReport, standing_by: Option<usize>, all: bool) -> String {
    const SHOWN: usize = 4;
    let beside = standing_by.map_or_else(String::new, |count| {
        format!(" ({count} more stand by: no processor is left for them; --all-ranks lets them work)")
    });
    let mut text = format!("{}{beside}, imbalance {:.2}", report.ranks, report.imbalance);
    let shown = if all { report.collectives.len() } else { SHOWN };
    for Tally { what, calls, bytes, seconds } in report.collectives.iter().take(shown) {
        text += &format!("; {what}: {calls} times, {}, {}", human_bytes(*bytes), time(*seconds));
    }
    let rest: f64 = report.collectives.iter().skip(shown).map(|tally| tally.seconds).sum();
    if rest > 0.0 {
        text += &format!("; others {}", time(rest));
    }
    text
}

/// Whether the run looked at the columns scaled to one spread by itself.
fn saw_scalings(model: &Model) -> bool {
    let asked = model.params.nearfar().views.asked().any(View::by_columns);
    let saw = |account: &Account| {
        account.engine == Engine::Mixture || account.views.iter().any(|trust| trust.view.by_columns())
    };
    model.account.as_ref().is_some_and(|account| asked || saw(account))
}

/// How the neighbours were found.
fn found(search: &nearfar::model::SearchReport) -> String {
    if search.approximate {
        format!("neighbours approximate, recall {:.3} on a sample", search.recall)
    } else {
        "neighbours exact".to_owned()
    }
}

/// How a binned run saw the data.
fn describe_binned(report: &nearfar::model::BinnedReport) -> String {
    let shape = report.shape;
    let found = found(&report.search);
    format!(
        "binned: {} near ranks, {} bins of far ones from {} partners a point; {found}",
        shape.near, shape.bins, shape.far
    )
}

fn describe(params: &Params) -> String {
    let density = match params.lsdg.density {
        Density::Neighbors(k) => format!("{k} neighbors"),
        Density::Mu { mu, eta } => format!("mu {mu}, eta {}", eta.unwrap_or(0.99 * mu)),
    };
    let alpha = match params.lsdg.alpha {
        Alpha::Absolute(alpha) => alpha.to_string(),
        Alpha::Relative(share) => format!("{share} of the leading eigenvalue"),
    };
    let preset = format!("{:?}", params.preset).to_lowercase();
    let method = params.method.kind();
    match method {
        MethodKind::Lsdg => {}
        MethodKind::NearFar => {
            let own = params.nearfar();
            let engine = format!("{:?}", own.engine).to_lowercase();
            let clusters =
                if params.find_clusters { "auto".to_owned() } else { params.n_clusters.to_string() };
            return format!(
                "method {method}, clusters {clusters}, engine {engine}, views {}, seed {}",
                own.views, params.seed
            );
        }
        _ => return describe_other(params),
    }
    let (starts, beta, seed) = (params.starts, params.lsdg.beta, params.seed);
    format!(
        "preset {preset}, method {method}, starts {starts}, {density}, alpha {alpha}, beta {beta}, seed {seed}"
    )
}

/// The settings of a method other than LSDG, as they stand in the JSON.
fn describe_other(params: &Params) -> String {
    let mut words = vec![format!("method {}", params.method.kind())];
    let value = serde_json::to_value(&params.method).unwrap_or_default();
    let own = value.as_object().into_iter().flatten().filter(|(key, _)| *key != "name");
    words.extend(own.map(|(key, value)| format!("{key} {}", value.to_string().trim_matches('"'))));
    let (starts, tol, seed) = (params.starts, params.stop.loss_tolerance, params.seed);
    words.push(format!("starts {starts}, tol {tol}, seed {seed}"));
    words.join(", ")
}

fn members(model: &Model) {
    say(format_args!(
        "starts     kind      neighbors  iterations  ended                   objective     cut  kept"
    ));
    for (number, member) in model.members.iter().enumerate() {
        let kind = if member.spectral_start { "spectral" } else { "random" };
        let neighbors = member.neighbors.map_or_else(|| "-".to_owned(), |k| k.to_string());
        let run = member.last_loop();
        let cut = member.cut.map_or_else(|| "-".to_owned(), |cut| format!("{cut:.4}"));
        let kept = if member.kept { "yes" } else { "no" };
        say(format_args!(
            "{:>6}     {kind:<8}  {neighbors:>9}  {:>10}  {:<22}  {:>9.4}  {cut:>6}  {kept}",
            number + 1,
            run.iterations,
            run.reason.to_string(),
            member.objective.total(),
        ));
    }
}
