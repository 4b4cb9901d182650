//! From a model and its data to what a page shows.

mod account;
mod clusters;
mod data;
mod portraits;
mod project;
mod text64;

use nearfar::internals::TRACE_COLUMNS;
use nearfar::labels::score::score;
use nearfar::learn::Factor;
use nearfar::model::{BlockMeans, Blocks, MergeTree, SparseRows};
use nearfar::observe::Observer;
use nearfar::{Input, Params, PreparedSlices, Samples, SavedModel};

pub(crate) use data::{find_picture, histogram};
pub(crate) use text64::{decode, encode};

use crate::explained::explain_model;
use crate::record::{FULL, MOST_CROSSED, Map, Point, Record, Start, Truth};

/// Most cells along a side of a heat map.
const MOST_BLOCKS: usize = 256;
/// Rows of the trace that are kept of the best start; of the others fewer.
const MOST_ROWS: usize = 400;
/// Neighbours that are told of a point.
const MOST_NEIGHBORS: usize = 5;

/// What is known besides model and data.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    /// Program and version.
    pub program: String,
    /// The data as the user named it.
    pub input: String,
    /// What was read, in words.
    pub source: String,
    /// Names of the points.
    pub ids: Option<Vec<String>>,
    /// Known classes.
    pub truth: Option<KnownClasses>,
    /// Means of the graphs over [`blocks`](Self::blocks), where the model still had them.
    pub means: BlockMeans,
    /// The most trusted neighbours of every point.
    pub trusted: Option<SparseRows>,
    /// Share of pairs at each rank that are of one class.
    pub correct: Option<Vec<f64>>,
    /// What a person should know, where it is more or said in other words than the model says it.
    pub notes: Option<Vec<String>>,
    /// Settings by name.
    pub settings: Vec<(String, String)>,
    /// What makes the run again.
    pub command: String,
    /// Seconds per stage, where others than the model's are known.
    pub seconds: Option<Vec<(String, f64)>>,
    /// Memory of the run.
    pub memory: Memory,
    /// Where the samples are said to be pictures; otherwise squares are found out.
    pub picture: Option<Picture>,
}

/// A grey picture in every sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels down.
    pub height: usize,
    /// Pixels across.
    pub width: usize,
    /// Whether pixels run down the columns instead of along the rows.
    pub by_columns: bool,
}

/// Known classes: a code for every point, and the name of every code.
#[derive(Clone, Debug, Default)]
pub struct KnownClasses {
    /// Below the number of names.
    pub codes: Vec<usize>,
    /// One per code.
    pub names: Vec<String>,
}

/// Bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Counted before the run.
    pub planned: Option<u64>,
    /// The most that the process held.
    pub peak: Option<u64>,
}

impl Extras {
    /// The blocks of points over which graphs are averaged: ordered by cluster, the surest points first.
    ///
    /// # Errors
    /// Never for labels of a model.
    pub fn blocks(labels: &[usize], membership: &[f64]) -> nearfar::Result<Blocks> {
        Blocks::of_order(&by_cluster(labels, membership), MOST_BLOCKS)
    }

    /// What a model at rest still tells of its graphs: S as it was kept, D made again from the samples, VVᵀ, and Z
    /// where it was kept. With known classes the correct rate too, for which all pairs are ranked again.
    ///
    /// # Errors
    /// When memory does not suffice for the pairs, or the observer asks to stop.
    pub fn of_saved(
        model: &SavedModel,
        input: Option<&Input<'_>>,
        truth: Option<KnownClasses>,
        observer: &dyn Observer,
    ) -> nearfar::Result<Self> {
        let about = &model.about;
        let labels: Vec<usize> = model.labels.iter().map(|label| *label as usize).collect();
        let blocks = Self::blocks(&labels, &model.membership)?;
        let mut means = BlockMeans::default();
        means.similarity = model.similarity.as_ref().map(|s| blocks.of_rows(s));
        let by_default = about.account.is_some();
        // The default method keeps what it has of D; there are no ranks of all pairs to make it of again.
        let dissimilarity =
            if by_default { model.dissimilarity.clone() } else { model.dissimilarity_again(observer)? };
        means.dissimilarity = dissimilarity.map(|d| blocks.of_rows(&d));
        means.augmented = model.affinity.as_ref().map(|z| blocks.of_full(z));
        let (n, columns) = (about.n_samples, about.n_columns);
        if columns > 0 {
            let by_columns = (0..n * columns).map(|at| model.factor[at % n * columns + at / n]).collect();
            means.gram = Some(blocks.of_gram(&Factor::new(by_columns, n, columns)));
        }
        let correct = match (&truth, input) {
            (Some(known), Some(input)) if !model.near_weights.is_empty() && !by_default => {
                let prepared =
                    PreparedSlices::new(input, &Params::lsdg(about.n_clusters).starts(1), observer)?;
                Some(prepared.correct_rate(&known.codes)?)
            }
            _ => None,
        };
        Ok(Self { means, trusted: model.similarity.clone(), truth, correct, ..Self::default() })
    }
}

/// Points by cluster, the surest first.
fn by_cluster(labels: &[usize], membership: &[f64]) -> Vec<usize> {
    let r = membership.len().checked_div(labels.len()).unwrap_or(0);
    let own = |i: usize| membership.get(i * r + labels[i]).copied().unwrap_or(0.0);
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|a, b| labels[*a].cmp(&labels[*b]).then(own(*b).total_cmp(&own(*a))).then(a.cmp(b)));
    order
}

/// All that a page shows. `input` is what the model was learnt from; where it is gone, figures of distances are
/// left out.
///
/// # Errors
/// When names, classes or input are of another number of points than the model.
pub fn gather(model: &SavedModel, input: Option<&Input<'_>>, extras: Extras) -> nearfar::Result<Record> {
    let about = &model.about;
    let (n, r) = (about.n_samples, about.n_clusters);
    let labels: Vec<usize> = model.labels.iter().map(|label| *label as usize).collect();
    check_lengths(n, input, &extras)?;
    let own = || about.warnings.iter().map(|(_, text)| text.clone()).collect();
    let warnings = extras.notes.clone().unwrap_or_else(own);
    let samples =
        input.and_then(|input| if let Input::Samples(samples, _) = input { Some(samples) } else { None });
    let picture = samples.and_then(|samples| extras.picture.or_else(|| find_picture(samples)));
    let picture = picture.filter(|picture| picture.height * picture.width == about.n_features);
    let people = clusters::People::new(model, &labels, extras.ids.as_deref(), samples, picture);
    let mut account = account::account(model);
    let shown = account.as_ref().filter(|account| !account.views.is_empty()).map(|_| model.best_view());
    let drawn = project::drawn(model, input, about.feature_names.as_deref(), shown)?;
    let tree = model.tree.as_ref().and_then(|tree| account::tree(tree, &labels, r));
    let leaves = model.tree.as_ref().filter(|_| tree.is_some()).map(MergeTree::leaves);
    let confidence = account::confidence(&model.confidence, &labels, r, extras.truth.as_ref());
    let [near, far] = if account.is_some() {
        account::weights(&model.near_weights, &model.far_weights)
    } else {
        [model.near_weights.clone(), model.far_weights.clone()]
    };
    let mut correct = extras.correct;
    // As many ranks as are shown: no less is a rate of them all.
    if account.is_some() {
        correct = correct.map(|rate| rate.into_iter().take(near.len()).collect());
    }
    if let (Some(account), Some(known), Some(samples), Some(view), None) =
        (&mut account, &extras.truth, samples, shown, &correct)
        && !near.is_empty()
        && let Some((rate, counted)) = account::correct(samples, model.metric(), view, &known.codes)
    {
        account.ranked = Some((view.name().to_owned(), counted));
        correct = Some(rate);
    }
    let explanation = explain_model(model, extras.ids.as_deref(), picture)?;
    let (format, version) = Record::head();
    Ok(Record {
        format,
        version,
        program: extras.program,
        method: about.method.clone(),
        input: extras.input,
        source: extras.source,
        kind: serde_json::to_value(about.input)
            .ok()
            .and_then(|v| v.as_str().map(str::to_owned))
            .unwrap_or_default(),
        size: [n, about.n_features, r],
        complete: about.complete,
        named: extras.ids.is_some(),
        agreement: finite(about.agreement),
        starts: starts(&about.members),
        best: best(model),
        warnings,
        columns: samples.map_or_else(Vec::new, |s| data::columns(s, about.feature_names.as_deref())),
        copies: samples.map(Samples::copies),
        distances: input.and_then(|input| data::distances(input, &labels)),
        sigma: model.sigma.as_ref().map(|sigma| histogram(sigma, None)),
        near,
        far,
        correct,
        // Rounds of the default method are two, and their loss is no sum to watch.
        trace: if account.is_some() { Vec::new() } else { trace(&model.trace, best(model)) },
        maps: maps(&extras.means, &labels, r),
        spectrum: model.eigenvalues.clone(),
        soft: people.soft(),
        membership: people.histogram(),
        clusters: people.clusters(),
        crossed: if r <= MOST_CROSSED { people.crossed() } else { Vec::new() },
        uncertain: people.uncertain(),
        between: people.between(),
        truth: extras.truth.map(|known| truth(&labels, r, known)).transpose()?,
        image: picture.map(|picture| [picture.height, picture.width]),
        points: points(&drawn, &people, extras.trusted.as_ref(), leaves),
        views: drawn.planes.iter().map(project::Plane::kept).collect(),
        rows: if drawn.rows.len() < n { drawn.rows } else { Vec::new() },
        settings: extras.settings,
        command: extras.command,
        seconds: extras.seconds.unwrap_or_else(|| about.timings.clone()),
        memory: [extras.memory.planned, extras.memory.peak],
        portraits: portraits::portraits(&explanation, model, &people)?,
        explanation: Some(explanation),
        tree,
        confidence,
        account,
        labels: model.labels.clone(),
    })
}

fn check_lengths(n: usize, input: Option<&Input<'_>>, extras: &Extras) -> nearfar::Result<()> {
    let lengths = [
        input.map(Input::n_samples),
        extras.ids.as_ref().map(Vec::len),
        extras.truth.as_ref().map(|known| known.codes.len()),
    ];
    match lengths.into_iter().flatten().find(|length| *length != n) {
        Some(truth) => Err(nearfar::DataError::LabelLengths { labels: n, truth }.into()),
        None => Ok(()),
    }
}

/// JSON has no other numbers.
pub(crate) fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}

fn starts(members: &serde_json::Value) -> Vec<Start> {
    let of = |member: &serde_json::Value| {
        let run = if member["learned"].is_object() { &member["learned"] } else { &member["started"] };
        let objective = member["objective"].as_object().into_iter().flat_map(serde_json::Map::values);
        Start {
            iterations: run["iterations"].as_u64().unwrap_or(0) as usize,
            reason: run["reason"].as_str().unwrap_or_default().replace('_', " "),
            objective: objective.filter_map(serde_json::Value::as_f64).sum(),
            cut: member["cut"].as_f64(),
            kept: member["kept"].as_bool().unwrap_or(false),
        }
    };
    members.as_array().into_iter().flatten().map(of).collect()
}

/// The best start, as the library chose it: the kept one of the smallest cut, or else of the smallest objective.
fn best(model: &SavedModel) -> usize {
    let starts = starts(&model.about.members);
    let key = |start: &Start| (start.cut.unwrap_or(start.objective), !start.kept);
    let order = |a: &(usize, &Start), b: &(usize, &Start)| key(a.1).0.total_cmp(&key(b.1).0);
    let kept = starts.iter().enumerate().filter(|(_, start)| start.kept).min_by(order);
    kept.or_else(|| starts.iter().enumerate().min_by(order)).map_or(0, |(at, _)| at)
}

/// The trace, thinned where it is long: the last row of every start stays.
fn trace(values: &[f64], best: usize) -> Vec<Vec<f64>> {
    let rows: Vec<&[f64]> = values.chunks_exact(TRACE_COLUMNS.len()).collect();
    let mut kept = Vec::new();
    for member in rows.chunk_by(|a, b| a[0] == b[0]) {
        let most = if member[0][0] as usize == best { MOST_ROWS } else { MOST_ROWS / 8 };
        let mut last = usize::MAX;
        for at in 0..member.len().min(most) {
            // Close together at first, where much happens.
            let share = at as f64 / (member.len().min(most) - 1).max(1) as f64;
            let row = if member.len() <= most {
                at
            } else {
                ((member.len() as f64).powf(share) - 1.0).max(at as f64).min((member.len() - 1) as f64)
                    as usize
            };
            let row = if at + 1 == member.len().min(most) { member.len() - 1 } else { row };
            if row != last {
                kept.push(member[row].iter().map(|x| finite(*x)).collect());
            }
            last = row;
        }
    }
    kept
}

fn maps(means: &BlockMeans, labels: &[usize], r: usize) -> Vec<Map> {
    let all = [
        ("S", &means.similarity),
        ("D", &means.dissimilarity),
        ("VVᵀ", &means.gram),
        ("Z", &means.augmented),
    ];
    let n = labels.len();
    let mut sizes = vec![0; r];
    labels.iter().for_each(|label| sizes[*label] += 1);
    let of = |(name, values): (&str, &Option<Vec<f64>>)| {
        let values = values.as_ref()?;
        let size = values.len().isqrt();
        let largest = values.iter().copied().map(finite).fold(0.0, f64::max);
        if largest <= 0.0 || size < 2 {
            return None;
        }
        let quantized = |at: usize| (values[at].max(0.0) / largest * f64::from(FULL)).round() as u16;
        let cells = (0..size).flat_map(|a| (a..size).map(move |b| a * size + b)).map(quantized).collect();
        let ends = sizes.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum as f64 * size as f64 / n as f64)
        });
        Some(Map { name: name.to_owned(), size, largest, cells, ends: ends.collect() })
    };
    all.into_iter().filter_map(of).collect()
}

fn truth(labels: &[usize], r: usize, known: KnownClasses) -> nearfar::Result<Truth> {
    let scores = score(labels, &known.codes)?;
    let classes = known.names.len();
    let mut counts = Vec::new();
    if classes <= MOST_CROSSED && r <= MOST_CROSSED {
        counts = vec![0; classes * r];
        for (label, code) in labels.iter().zip(&known.codes) {
            if let Some(count) = counts.get_mut(code * r + label) {
                *count += 1;
            }
        }
    }
    Ok(Truth { names: known.names, counts, accuracy: scores.accuracy, nmi: scores.nmi, ari: scores.ari })
}

/// The points of the scatter.
fn points(
    drawn: &project::Drawn,
    people: &clusters::People<'_>,
    trusted: Option<&SparseRows>,
    leaves: Option<&[u32]>,
) -> Vec<Point> {
    let all = drawn.rows.len() == people.labels.len();
    let neighbors = |i: usize| {
        let Some(rows) = trusted.filter(|_| all) else { return Vec::new() };
        let range = rows.starts[i]..rows.starts[i + 1];
        let mut edges: Vec<(u32, f64)> = range
            .map(|at| (rows.columns[at], rows.values[at]))
            .filter(|(j, s)| *j as usize != i && *s > 0.0)
            .collect();
        edges.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        edges.truncate(MOST_NEIGHBORS);
        edges.into_iter().map(|(j, _)| j).collect()
    };
    let of = |(at, i): (usize, usize)| Point {
        id: people.ids.map_or_else(String::new, |ids| project::short_name(&ids[i])),
        membership: rounded(people.own(i), 4),
        confidence: people.confidence(i).map(|sure| rounded(sure, 3)),
        at: drawn.planes.iter().map(|plane| plane.at[at].map(|x| rounded(x, 4))).collect(),
        neighbors: neighbors(i),
        leaf: leaves.map(|leaves| leaves[i]),
    };
    drawn.rows.iter().map(|i| *i as usize).enumerate().map(of).collect()
}

/// To so many significant digits: more cannot be seen, and would be stored for every point.
pub(crate) fn rounded(x: f64, digits: usize) -> f64 {
    format!("{:.*e}", digits - 1, finite(x)).parse().unwrap_or(0.0)
}
