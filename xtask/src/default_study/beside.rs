//! Ours beside other clusterers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use nearfar::Params;
use serde_json::{Value, json};

use super::runs::Runs;
use crate::data::Dataset;
use crate::page::{Page, mean, short, spread};
use crate::peers::Peers;

/// Peers beside the shapes and the unseen sets.
const PEERS: &str = "kmeans,gmm,spectral,leiden-k";

/// A set on disk, where the peers read it.
pub(super) struct Set {
    /// Sets of one name share a row.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) data: Dataset,
}

/// Ours and the peers on some sets, as a table of ARI.
pub(super) fn beside(
    peers: &Peers,
    sets: &[Set],
    name: &'static str,
    title: &'static str,
    note: String,
    seeds: u64,
) -> Result<Page> {
    let methods: Vec<&str> = PEERS.split(',').collect();
    let with_groups: Vec<&Set> = sets.iter().filter(|set| set.data.classes > 1).collect();
    let files: Vec<(PathBuf, usize)> =
        with_groups.iter().map(|set| (set.path.clone(), set.data.classes)).collect();
    let mut records = peers.study(seeds.min(3) as usize, PEERS, "raw", &files)?;
    eprintln!("peers: done");
    let mut order: Vec<&str> = Vec::new();
    let (mut ours, mut counts) = (BTreeMap::<&str, Vec<f64>>::new(), BTreeMap::<&str, Vec<String>>::new());
    let mut ways: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for set in sets {
        if !order.contains(&set.name.as_str()) {
            order.push(&set.name);
        }
        let auto = Runs::of(&set.data, |seed| Params::auto().seed(seed), 1)?;
        counts.entry(&set.name).or_default().push(auto.last.params.n_clusters.to_string());
        if set.data.classes < 2 {
            continue;
        }
        let given = Runs::of(&set.data, |seed| Params::new(set.data.classes).seed(seed), seeds)?;
        ours.entry(&set.name).or_default().extend(&given.ari);
        ways.entry(&set.name).or_default().push(given.way());
        for (seed, ((acc, nmi), (ari, seconds))) in
            given.acc.iter().zip(&given.nmi).zip(given.ari.iter().zip(&given.seconds)).enumerate()
        {
            let file = set.path.file_stem().and_then(|stem| stem.to_str());
            records.push(json!({
                "data": file, "method": "nearfar", "name": "nearfar", "prepare": "raw", "seed": seed, "acc": acc,
                "nmi": nmi, "ari": ari, "seconds": seconds, "clusters": set.data.classes,
            }));
        }
        eprintln!("{}: {}", set.name, spread(&given.ari));
    }
    // The peers know the files only.
    let set_of: BTreeMap<&str, &str> =
        sets.iter().filter_map(|set| Some((set.path.file_stem()?.to_str()?, set.name.as_str()))).collect();
    for record in &mut records {
        let name = record["data"].as_str().and_then(|file| set_of.get(file)).copied().unwrap_or_default();
        record["set"] = json!(name);
    }
    let theirs = |set: &str, method: &str| -> Vec<f64> {
        let of = |record: &&Value| record["set"] == set && record["method"] == method;
        records.iter().filter(of).filter_map(|record| record["ari"].as_f64()).collect()
    };
    let mut rows = Vec::new();
    let mut sums: Vec<Vec<f64>> = vec![Vec::new(); methods.len() + 2];
    for set in &order {
        let mut row = vec![(*set).to_owned()];
        let Some(own) = ours.get(set) else {
            row.extend(std::iter::repeat_n(String::new(), methods.len() + 3));
            row.push(counts[set].join(", "));
            rows.push(row);
            continue;
        };
        let others: Vec<Vec<f64>> = methods.iter().map(|method| theirs(set, method)).collect();
        let best = others.iter().filter(|x| !x.is_empty()).map(|x| mean(x)).fold(f64::NEG_INFINITY, f64::max);
        row.push(format!("**{}**", spread(own)));
        row.extend(others.iter().map(|values| spread(values)));
        row.push(short(mean(own) - best));
        let mut by = ways[set].clone();
        by.dedup();
        row.push(by.join(", "));
        row.push(counts[set].join(", "));
        rows.push(row);
        sums[0].push(mean(own));
        others.iter().enumerate().for_each(|(at, x)| sums[at + 1].push(mean(x)));
        sums[methods.len() + 1].push(mean(own) - best);
    }
    let mut row = vec!["**mean**".to_owned()];
    row.extend(sums.iter().map(|sum| short(mean(sum))));
    row.extend([String::new(), String::new()]);
    rows.push(row);
    let name_of = |method: &&str| {
        let record = records.iter().find(|record| record["method"] == *method);
        record.and_then(|record| record["name"].as_str()).unwrap_or(method).to_owned()
    };
    let mut header = vec!["set".to_owned(), "**nearfar**".to_owned()];
    header.extend(methods.iter().map(name_of));
    header.extend(["less the best peer", "by", "clusters found"].map(ToString::to_string));
    Ok(Page { name, title, notes: vec![note], header, rows, records })
}
