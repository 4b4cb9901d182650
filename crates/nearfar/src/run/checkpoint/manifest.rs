//! What tells one run from another: the data, the settings that matter for the bits, and the program.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::Value;

use super::VERSION;
use crate::input::{Input, Samples};
use crate::model::tensors::Sum;
use crate::params::Params;
use crate::plan::Plan;
use crate::processes::{BLOCK, Share};

/// The name at the head of the manifest.
const FORMAT: &str = "nearfar-checkpoint";
/// Settings that no bit depends on. What memory decides (mode, precision, near ranks) is noted by itself.
const OF_NO_MATTER: [&str; 2] = ["threads", "memory"];
/// Most differences that a message names.
const MOST_NAMED: usize = 4;

/// Facts of a run as text, by name, so that they compare to the last digit.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(transparent)]
pub(super) struct Facts(BTreeMap<String, String>);

impl Facts {
    pub(super) fn of(input: &Input<'_>, params: &Params, plan: &Plan) -> Self {
        let mut facts = BTreeMap::from([
            ("program".to_owned(), format!("nearfar {}", crate::VERSION)),
            ("data: samples".to_owned(), input.n_samples().to_string()),
            ("data: features".to_owned(), input.n_features().to_string()),
            ("data: kind".to_owned(), kind(input)),
            (VALUES.to_owned(), format!("{:016x}", hash(input))),
            // What was chosen where the settings leave the choice to the run.
            ("held as".to_owned(), held(plan)),
        ]);
        let mut settings = serde_json::to_value(params).unwrap_or_default();
        if let Some(settings) = settings.as_object_mut() {
            OF_NO_MATTER.iter().for_each(|name| drop(settings.remove(*name)));
        }
        flatten(String::new(), &settings, &mut facts);
        // As it was chosen: processes that share the rows go on with what one process was told to do, and the other
        // way round.
        facts.insert("mode".to_owned(), plan.mode.to_string());
        Self(facts)
    }

    /// What the parts of the run carry.
    pub(super) fn fingerprint(&self) -> String {
        let mut sum = Sum(u64::from(VERSION));
        for text in self.0.iter().flat_map(|(name, value)| [name, value]) {
            sum.add(text.as_bytes());
        }
        format!("{:016x}", sum.total())
    }

    pub(super) fn n_samples(&self) -> String {
        self.0.get("data: samples").cloned().unwrap_or_default()
    }

    /// What differs from those of a checkpoint or of another process (`place`), in words; `None` where nothing does.
    pub(super) fn differences(&self, there: &Self, place: &str) -> Option<String> {
        let names: std::collections::BTreeSet<&String> = self.0.keys().chain(there.0.keys()).collect();
        let differ: Vec<&String> =
            names.into_iter().filter(|name| self.0.get(*name) != there.0.get(*name)).collect();
        // Other values are no news where there are more or fewer of them.
        let sizes = differ.iter().any(|name| name.starts_with("data: ") && *name != VALUES);
        let told: Vec<String> = differ
            .iter()
            .filter(|name| !(sizes && *name == &VALUES))
            .map(|name| match (self.0.get(*name), there.0.get(*name)) {
                _ if *name == VALUES => "the values of the data differ".to_owned(),
                (here, there) => {
                    let word = |value: Option<&String>| value.map_or("not set", String::as_str).to_owned();
                    format!("{name} is {} here and {} in {place}", word(here), word(there))
                }
            })
            .collect();
        let more = told.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        (!told.is_empty()).then(|| told[..told.len().min(MOST_NAMED)].join(", ") + &more)
    }
}

/// The name of the hash of the data.
const VALUES: &str = "data: values";

/// Every leaf by its path.
fn flatten(path: String, value: &Value, facts: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                flatten(path, value, facts);
            }
        }
        Value::String(word) => {
            facts.insert(path, word.clone());
        }
        leaf => {
            facts.insert(path, leaf.to_string());
        }
    }
}

fn held(plan: &Plan) -> String {
    let precision = format!("{:?}", plan.precision).to_lowercase();
    let shape = plan.binned.map_or_else(String::new, |shape| {
        format!(", near {}, far {}, bins {}", shape.near, shape.far, shape.bins)
    });
    format!("{}, {precision}{shape}", plan.mode)
}

fn kind(input: &Input<'_>) -> String {
    match input {
        Input::Samples(_, metric) | Input::Part(_, metric, _) => {
            format!("samples, {metric:?}").to_lowercase()
        }
        Input::Distances(_) => "distances".to_owned(),
        Input::Affinities(_) => "affinities".to_owned(),
        Input::Neighbors(lists) => format!("lists of {} neighbours", lists.n_neighbors()),
    }
}

/// A number that changes with every value of the data. Processes that share the rows hash their own, block by block.
fn hash(input: &Input<'_>) -> u64 {
    let n = input.n_samples();
    let here = input.share().map_or(0..n, Share::rows);
    let of_rows = |add: &(dyn Fn(usize, &mut Sum) + Sync)| {
        let mut blocks: Vec<u64> = (here.start.div_ceil(BLOCK)..here.end.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let mut sum = Sum(block as u64);
                let rows = block * BLOCK..((block + 1) * BLOCK).min(n);
                rows.for_each(|i| add(i - here.start, &mut sum));
                sum.total()
            })
            .collect();
        if let Some(share) = input.share() {
            blocks = share.gather_blocks("hash of the data", &blocks, BLOCK, 1);
        }
        let mut sum = Sum(n as u64);
        blocks.into_iter().for_each(|block| sum.word(block));
        sum.total()
    };
    let of_samples = |x: &Samples<'_>| {
        of_rows(&|i, sum| {
            let mut row = vec![0.0; x.n_features()];
            x.copy_row(i, &mut row);
            row.iter().for_each(|value| sum.word(value.to_bits()));
        })
    };
    match input {
        Input::Samples(x, _) | Input::Part(x, _, _) | Input::Distances(x) | Input::Affinities(x) => {
            of_samples(x)
        }
        Input::Neighbors(lists) => of_rows(&|i, sum| {
            for (j, distance) in lists.row(i) {
                sum.word(u64::from(j));
                sum.word(distance.to_bits());
            }
        }),
    }
}

/// The file that makes a folder a checkpoint.
#[derive(Debug, serde::Deserialize, serde::Serialize)]
pub(super) struct Manifest {
    format: String,
    version: u32,
    checksum: String,
    pub(super) facts: Facts,
}

impl Manifest {
    pub(super) fn new(facts: Facts) -> Self {
        Self { format: FORMAT.to_owned(), version: VERSION, checksum: facts.fingerprint(), facts }
    }

    pub(super) fn to_text(&self) -> String {
        // Strings and one number: this cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("it is damaged: {error}"))?;
        if value["format"] != FORMAT {
            return Err(format!("its format is {}", value["format"]));
        }
        // Before anything else: a later version may have other fields.
        if value["version"] != VERSION {
            let found = &value["version"];
            return Err(format!("it has format version {found}, and this nearfar reads version {VERSION}"));
        }
        let manifest: Self =
            serde_json::from_value(value).map_err(|error| format!("it is damaged: {error}"))?;
        if manifest.checksum != manifest.facts.fingerprint() {
            return Err("it is damaged: its checksum is wrong".to_owned());
        }
        Ok(manifest)
    }
}
