//! How sure a cluster is: solid, shaky or not there.

use super::words::{listed, percent};
use super::{ClusterStory, Explanation, Subject};

/// Mean confidence, and overlap with its like in fits of subsamples, from which on a cluster is solid.
const SOLID: [f64; 2] = [0.8, 0.75];
/// The same below which it is not there.
const SHAKY: [f64; 2] = [0.5, 0.5];

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
    (0..k)
        .map(|c| {
            let confidence = (known && sizes[c] > 0).then(|| sums[c] / sizes[c] as f64);
            let stability = subject.stability.get(c).copied();
            let standing = standing(subject, confidence, stability);
            let mut certainty =
                Certainty { standing, confidence, doubtful: doubtful[c], stability, sentence: String::new() };
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

fn standing(subject: &Subject<'_>, confidence: Option<f64>, stability: Option<f64>) -> Standing {
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
    let each = [confidence.map(|value| of(value, 0)), stability.map(|value| of(value, 1))];
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
