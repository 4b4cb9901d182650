//! The columns that set a cluster apart, with effect size and direction.

use super::columns::{Columns, Kind};
use super::moments::{Group, Moments};
use super::words::{number, percent};

/// Columns that are told of a cluster, at most; of terms twice as many.
const MOST: usize = 5;
/// Columns that tell two clusters apart.
const MOST_OF_PAIR: usize = 2;
/// A smaller effect is not worth a word, unless none is larger.
const LEAST_EFFECT: f64 = 0.5;
/// Above and below a cluster must lie this share of the rest for it to lie between.
const LEAST_SIDE: f64 = 0.1;
/// With more clusters nobody looks for those that lie between others.
const MOST_CLUSTERS: usize = 100;

/// Where a cluster lies beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Higher.
    Above,
    /// Lower.
    Below,
    /// Higher than some and lower than the others.
    Between,
}

/// A column in which a cluster differs from others.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Mark {
    /// The column, from 0.
    pub feature: usize,
    /// Its name.
    pub name: String,
    /// Where the cluster lies.
    pub direction: Direction,
    /// Difference of the means in spreads, above 0 where the cluster is higher; where it lies between others, the
    /// smaller of both distances.
    pub effect: f64,
    /// The mean in the cluster; of a category the share of rows that have the value, of a term the share of rows
    /// that have it at all.
    pub here: f64,
    /// The same of the others.
    pub others: f64,
    /// The same in words.
    pub words: String,
}

/// Of every column and cluster the rest, and of every column the share of all rows that are not 0: what every
/// cluster is set against.
pub(super) struct Rest {
    groups: Vec<Vec<Group>>,
    filled: Vec<f64>,
    terms: bool,
}

impl Rest {
    pub(super) fn of(columns: &Columns<'_>, moments: &Moments) -> Self {
        let filled =
            |j: usize| moments.rows.iter().enumerate().map(|(c, rows)| rows * moments.filled(c, j)).sum();
        Self {
            groups: (0..columns.len()).map(|j| moments.rests(j)).collect(),
            filled: (0..columns.len()).map(filled).collect(),
            terms: (0..columns.len()).any(|j| *columns.kind(j) == Kind::Term),
        }
    }
}

/// What sets a cluster apart from all others.
pub(super) fn against_the_rest(columns: &Columns<'_>, moments: &Moments, rest: &Rest, c: usize) -> Vec<Mark> {
    let k = moments.rows.len();
    if k < 2 || moments.rows[c] == 0.0 {
        return Vec::new();
    }
    let of = |j: usize| {
        let others = rest.groups[j][c];
        let effect = moments.group(c, j).effect(others);
        let looks = *columns.kind(j) == Kind::Number && k <= MOST_CLUSTERS;
        let side = looks.then(|| sides(moments, c, j)).flatten().filter(|side| *side > effect.abs());
        let filled = (rest.filled[j] - moments.rows[c] * moments.filled(c, j)) / others.rows.max(1.0);
        Found { j, effect: side.unwrap_or(effect), rest: others, filled, between: side.is_some() }
    };
    let most = if rest.terms { 2 * MOST } else { MOST };
    strongest((0..columns.len()).map(of).collect(), most)
        .iter()
        .map(|found| mark(columns, moments, c, found, "the rest"))
        .collect()
}

/// What tells a cluster from another one.
pub(super) fn against_another(columns: &Columns<'_>, moments: &Moments, c: usize, other: usize) -> Vec<Mark> {
    let of = |j: usize| {
        let rest = moments.group(other, j);
        let effect = moments.group(c, j).effect(rest);
        Found { j, effect, rest, filled: moments.filled(other, j), between: false }
    };
    let whom = format!("cluster {other}");
    strongest((0..columns.len()).map(of).collect(), MOST_OF_PAIR)
        .iter()
        .map(|found| mark(columns, moments, c, found, &whom))
        .collect()
}

struct Found {
    j: usize,
    effect: f64,
    rest: Group,
    filled: f64,
    between: bool,
}

/// The largest effects; at least one, where there is any.
fn strongest(mut all: Vec<Found>, most: usize) -> Vec<Found> {
    all.retain(|found| found.effect != 0.0);
    all.sort_by(|a, b| b.effect.abs().total_cmp(&a.effect.abs()).then(a.j.cmp(&b.j)));
    let enough = all.iter().take(most).take_while(|found| found.effect.abs() >= LEAST_EFFECT).count();
    all.truncate(enough.max(1));
    all
}

/// The distance in spreads to the clusters above and to those below, whichever is smaller; `None` where a cluster
/// does not lie between others.
fn sides(moments: &Moments, c: usize, j: usize) -> Option<f64> {
    let own = moments.group(c, j);
    let (mut above, mut below) = (Group::default(), Group::default());
    for other in (0..moments.rows.len()).filter(|other| *other != c) {
        let group = moments.group(other, j);
        let side = if group.mean > own.mean { &mut above } else { &mut below };
        *side = side.and(group);
    }
    let least = LEAST_SIDE * (above.rows + below.rows);
    let both = above.rows >= least && below.rows >= least && above.rows > 0.0 && below.rows > 0.0;
    both.then(|| above.effect(own).min(own.effect(below)))
}

fn mark(columns: &Columns<'_>, moments: &Moments, c: usize, found: &Found, whom: &str) -> Mark {
    let Found { j, effect, rest, filled, between } = *found;
    let own = moments.group(c, j);
    let direction = match (between, effect > 0.0) {
        (true, _) => Direction::Between,
        (false, true) => Direction::Above,
        (false, false) => Direction::Below,
    };
    let elsewhere = if whom == "the rest" { "elsewhere".to_owned() } else { format!("in {whom}") };
    let (here, others, words) = match columns.kind(j) {
        Kind::Number => {
            let value = |group: Group| columns.original(j, moments.value(j, group.mean));
            let (here, others) = (value(own), value(rest));
            (here, others, number_words(columns.name(j), direction, (effect, here, others), whom, &elsewhere))
        }
        // Of two values the mean, in units of the width, is the share of the high one.
        Kind::Switch | Kind::Level { .. } => {
            let words =
                format!("{} for {}, {elsewhere} {}", columns.high(j), percent(own.mean), percent(rest.mean));
            (own.mean, rest.mean, words)
        }
        Kind::Term => {
            let here = moments.filled(c, j);
            let name = columns.name(j);
            (here, filled, format!("{name} in {}, {elsewhere} {}", percent(here), percent(filled)))
        }
    };
    Mark { feature: j, name: columns.name(j).to_owned(), direction, effect, here, others, words }
}

fn number_words(
    name: &str,
    direction: Direction,
    (effect, here, others): (f64, f64, f64),
    whom: &str,
    elsewhere: &str,
) -> String {
    let size = effect.abs();
    if size >= 99.0 {
        return format!("{name} is always {}, {elsewhere} {} on average", number(here), number(others));
    }
    match direction {
        Direction::Above => format!("{name} {size:.1} spreads above {whom}"),
        Direction::Below => format!("{name} {size:.1} spreads below {whom}"),
        Direction::Between => {
            format!("{name} between the others, {size:.1} spreads from either side")
        }
    }
}
