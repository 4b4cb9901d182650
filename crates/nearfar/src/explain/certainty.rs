//! How sure a cluster is: solid, shaky or not there.
//!
//! Confidence alone cannot tell: a method that cuts a cloud in two is sure of all rows but those at the cut. So the
//! border is looked at. Where there is a cluster its border is a valley: rows there lie farther from their neighbours
//! than those inside. Where a cloud was only cut they lie as near, or nearer. Rows are on the border where another
//! cluster has at least [`BORDER`] of them; how far they lie is the log of the local scale, in deviations of that inside.

use super::people::second;
use super::words::{listed, percent};
use super::{ClusterStory, Explanation, Subject};

/// Mean confidence, and overlap with its like in fits of subsamples, from which on a cluster is solid.
const SOLID: [f64; 2] = [0.8, 0.75];
/// The same below which it is not there.
const SHAKY: [f64; 2] = [0.5, 0.5];

/// A row is on the border where another cluster has this share of it.
const BORDER: f64 = 0.2;
/// Fewer rows on a border than so many, or than this share of the cluster, are no border.
const LEAST_BORDER: (usize, f64) = (8, 0.05);
/// Smaller clusters are never solid.
const LEAST_SOLID: usize = 8;
/// Standard errors by which a border must lie farther out for a valley, and for one that leaves no doubt.
const VALLEY: [f64; 2] = [1.0, 2.5];
/// A border that is no clear valley counts as at most so many.
const HALF_A_VALLEY: f64 = 1.5;

/// How far a cluster can be relied on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// The method does not tell.
    #[default]
    Unknown,
    /// It would be found again.
    Solid,
    /// Its core would be found again, its border not.
    Shaky,
    /// Another look would cut the data elsewhere.
    NotThere,
}

impl Standing {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Solid => "solid",
            Self::Shaky => "shaky",
            Self::NotThere => "not there",
        }
    }
}

/// How sure a cluster is.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Certainty {
    /// In one word.
    pub standing: Standing,
    /// Mean confidence of its rows; `None` where the method does not tell.
    pub confidence: Option<f64>,
    /// Rows below ½.
    pub doubtful: usize,
    /// How many standard errors farther out the rows on its border lie than those inside; below 1 there is no valley,
    /// and the border is only a cut. `None` where it has no border to speak of, or local scales are not known.
    pub valley: Option<f64>,
    /// Mean overlap (Jaccard) with the most similar cluster of fits to subsamples, where these were made.
    pub stability: Option<f64>,
    /// The same in a sentence.
    pub sentence: String,
}

/// The clusters with their sizes and how sure they are.
pub(super) fn begun(subject: &Subject<'_>) -> Vec<ClusterStory> {
    let (n, k) = (subject.labels.len(), subject.n_clusters);
    let (mut sizes, mut sums, mut doubtful) = (vec![0_usize; k], vec![0.0; k], vec![0_usize; k]);
    let known = subject.confidence.len() == n && n > 0;
    for (i, label) in subject.labels.iter().enumerate().filter(|(_, label)| (**label as usize) < k) {
        let c = *label as usize;
        sizes[c] += 1;
        if known {
            sums[c] += subject.confidence[i];
            doubtful[c] += usize::from(subject.confidence[i] < 0.5);
        }
    }
    let valleys = valleys(subject);
    (0..k)
        .map(|c| {
            let valley = valleys.get(c).copied().flatten();
            let confidence = (known && sizes[c] > 0).then(|| sums[c] / sizes[c] as f64);
            let stability = subject.stability.get(c).copied();
            let mut standing = standing(subject, confidence, valley, stability);
            if standing == Standing::Solid && sizes[c] < LEAST_SOLID {
                standing = Standing::Shaky;
            }
            let mut certainty = Certainty {
                standing,
                confidence,
                doubtful: doubtful[c],
                valley,
                stability,
                sentence: String::new(),
            };
            certainty.sentence = sentence(subject, &certainty, sizes[c]);
            ClusterStory {
                cluster: c,
                name: subject.cluster_names.get(c).filter(|name| !name.is_empty()).cloned(),
                size: sizes[c],
                share: sizes[c] as f64 / n.max(1) as f64,
                certainty,
                ..ClusterStory::default()
            }
        })
        .collect()
}

/// Whether nothing stands out from what chance gives.
fn nothing(subject: &Subject<'_>) -> bool {
    subject.account.and_then(|account| account.count.as_ref()).is_some_and(|count| !count.groups)
}

/// Of every cluster how many standard errors farther out the rows on its border lie than those inside.
fn valleys(subject: &Subject<'_>) -> Vec<Option<f64>> {
    let (n, k) = (subject.labels.len(), subject.n_clusters);
    let Some(sigma) = subject.sigma.filter(|sigma| sigma.len() == n) else { return Vec::new() };
    if k < 2 || subject.membership.len() != n * k {
        return Vec::new();
    }
    let rows = || subject.labels.iter().zip(subject.membership.chunks_exact(k)).zip(sigma);
    let rows = || rows().map(|((label, shares), sigma)| (*label as usize, shares, sigma.ln()));
    let sound = |own: usize, far: f64| own < k && far.is_finite();
    let other = |own: usize, shares: &[f64]| second(shares, own).filter(|other| shares[*other] >= BORDER);
    let mut inside = vec![Tally::default(); k];
    for (own, shares, far) in rows().filter(|(own, _, far)| sound(*own, *far)) {
        if other(own, shares).is_none() {
            inside[own].add(far);
        }
    }
    let (mut border, mut slope) = (vec![Tally::default(); k], vec![0.0; k]);
    for (own, shares, far) in rows().filter(|(own, _, far)| sound(*own, *far)) {
        if let Some(other) = other(own, shares) {
            let [a, b] = [own, other].map(|c| inside[c]);
            if a.count > 0.0 && b.count > 0.0 {
                // Beside a dense cluster the border of a loose one is denser than its inside.
                let dense = a.mean().min(b.mean());
                [own, other].into_iter().for_each(|c| border[c].add(far - dense));
                let middle = f64::midpoint(a.mean(), b.mean());
                [own, other].into_iter().for_each(|c| slope[c] += far - middle);
            }
        }
    }
    let valley = |((inside, border), slope): ((&Tally, &Tally), &f64)| {
        let least = (LEAST_BORDER.1 * (inside.count + border.count)).max(LEAST_BORDER.0 as f64);
        if border.count < least || inside.count < least {
            return None;
        }
        let error = (inside.variance() / inside.count + border.variance() / border.count).sqrt();
        let valley = (error > 0.0).then(|| border.mean() / error);
        // On the slope from a dense cluster to a loose one a border is no clear valley.
        valley.map(|valley| if *slope > 0.0 { valley } else { valley.min(HALF_A_VALLEY) })
    };
    inside.iter().zip(&border).zip(&slope).map(valley).collect()
}

/// Count, sum and sum of squares.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Tally {
    fn add(&mut self, x: f64) {
        self.count += 1.0;
        self.sum += x;
        self.squares += x * x;
    }

    fn mean(&self) -> f64 {
        self.sum / self.count
    }

    fn variance(&self) -> f64 {
        (self.squares / self.count - self.mean().powi(2)).max(0.0)
    }
}

fn standing(
    subject: &Subject<'_>,
    confidence: Option<f64>,
    valley: Option<f64>,
    stability: Option<f64>,
) -> Standing {
    if nothing(subject) {
        return Standing::NotThere;
    }
    let of = |value: f64, at: usize| {
        if value >= SOLID[at] {
            Standing::Solid
        } else if value >= SHAKY[at] {
            Standing::Shaky
        } else {
            Standing::NotThere
        }
    };
    let order = |standing: &Standing| match standing {
        Standing::Unknown => 3,
        Standing::Solid => 2,
        Standing::Shaky => 1,
        Standing::NotThere => 0,
    };
    let by_valley = valley.map(|valley| match valley {
        v if v >= VALLEY[1] => Standing::Solid,
        v if v >= VALLEY[0] => Standing::Shaky,
        _ => Standing::NotThere,
    });
    let each = [confidence.map(|value| of(value, 0)), by_valley, stability.map(|value| of(value, 1))];
    each.into_iter().flatten().min_by_key(order).unwrap_or_default()
}

fn sentence(subject: &Subject<'_>, certainty: &Certainty, size: usize) -> String {
    if size == 0 {
        return "No row is in it.".to_owned();
    }
    if nothing(subject) {
        return "Not there: nothing in this data stands out from what chance gives.".to_owned();
    }
    let mut facts = Vec::new();
    if let Some(confidence) = certainty.confidence {
        facts.push(format!("its rows are {} sure on average", percent(confidence)));
        if certainty.doubtful > 0 {
            facts
                .push(format!("{} of them are below 50 %", percent(certainty.doubtful as f64 / size as f64)));
        }
    }
    match certainty.valley {
        Some(valley) if valley < VALLEY[0] => {
            facts.push("rows on its border lie as close as those inside".to_owned());
        }
        Some(valley) if valley < VALLEY[1] => facts.push("its border is hardly a valley".to_owned()),
        _ => {}
    }
    if size < LEAST_SOLID {
        facts.push(if size == 1 {
            "it has one row only".to_owned()
        } else {
            format!("it has {size} rows only")
        });
    }
    if let Some(stability) = certainty.stability {
        facts.push(format!("fits of other rows find {} of it again", percent(stability)));
    }
    let facts = listed(&facts);
    match certainty.standing {
        Standing::Unknown => "How sure it is was not measured.".to_owned(),
        Standing::Solid => format!("Solid: {facts}."),
        Standing::Shaky => format!("Shaky, do not rely on its borders: {facts}."),
        Standing::NotThere => format!("Not there, another look would cut elsewhere: {facts}."),
    }
}

/// The answer in a sentence.
pub(super) fn answer(subject: &Subject<'_>, told: &Explanation) -> String {
    let k = told.clusters.iter().filter(|story| story.size > 0).count();
    let rows = told.n_samples;
    if nothing(subject) {
        return match k {
            1 => format!("No groups: nothing in these {rows} rows stands out from what chance gives."),
            _ => format!(
                "No groups: nothing in these {rows} rows stands out from what chance gives; the {k} clusters only divide them."
            ),
        };
    }
    if k == 1 {
        return format!("One cluster of all {rows} rows.");
    }
    let all =
        |standing| told.clusters.iter().filter(|s| s.size > 0 && s.certainty.standing == standing).count();
    let counts = [
        (all(Standing::Solid), "solid"),
        (all(Standing::Shaky), "shaky"),
        (all(Standing::NotThere), "not there"),
    ];
    let verb = |count: usize| if count == 1 { "is" } else { "are" };
    let told: Vec<String> = match counts.iter().find(|(count, _)| *count == k) {
        Some((_, word)) => vec![format!("all {word}")],
        None => counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {} {word}", verb(*count)))
            .collect(),
    };
    match &*told {
        [] => format!("{k} clusters of {rows} rows."),
        told => format!("{k} clusters of {rows} rows: {}.", listed(told)),
    }
}
