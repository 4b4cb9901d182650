//! What the default settings should be: one setting for all eight datasets, no labels used to choose per dataset.
//!
//! Members are learnt once per dataset and seed; every way to choose and merge them is then judged on the same members.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use nearfar::consensus::Member;
use nearfar::generate::{self, Generated};
use nearfar::learn::lsdg::{Alpha, start_weights};
use nearfar::observe::Silent;
use nearfar::params::Pruning;
use nearfar::{Input, Params, Prepared};

use crate::data::{Dataset, EIGHT};

/// k of the control graphs, as in the spread of the members.
const CONTROL: [usize; 6] = [8, 10, 12, 14, 16, 20];

type Chosen<'a> = Vec<(&'a Member, f64)>;
type Rule = (String, Box<dyn Fn(&[Member]) -> Chosen<'_>>);

fn alive(m: &&Member) -> bool {
    m.cut.is_some()
}

fn cut(m: &Member) -> f64 {
    m.cut.unwrap_or(f64::INFINITY)
}

fn best_of<'a>(pool: impl Iterator<Item = &'a Member>, share: f64) -> Chosen<'a> {
    let mut pool: Vec<&Member> = pool.filter(alive).collect();
    pool.sort_by(|a, b| cut(a).total_cmp(&cut(b)));
    let keep = ((pool.len() as f64 * share).ceil() as usize).max(1);
    pool.truncate(keep);
    pool.into_iter().map(|m| (m, 1.0)).collect()
}

fn near_best<'a>(pool: impl Iterator<Item = &'a Member>, factor: f64, slack: f64) -> Chosen<'a> {
    let pool: Vec<&Member> = pool.filter(alive).collect();
    let best = pool.iter().map(|m| cut(m)).fold(f64::INFINITY, f64::min);
    pool.into_iter().filter(|m| cut(m) <= best * factor + slack).map(|m| (m, 1.0)).collect()
}

fn soft<'a>(pool: impl Iterator<Item = &'a Member>, sharp: f64) -> Chosen<'a> {
    let pool: Vec<&Member> = pool.filter(alive).collect();
    let mut cuts: Vec<f64> = pool.iter().map(|m| cut(m)).collect();
    cuts.sort_by(f64::total_cmp);
    let (best, median) = (cuts[0], cuts[cuts.len() / 2]);
    let width = (median - best).max(1e-12) / sharp;
    pool.into_iter().map(|m| (m, (-(cut(m) - best) / width).exp().max(1e-12))).collect()
}

/// The first `random` random and `spectral` spectral members.
fn pool(members: &[Member], random: usize, spectral: usize) -> impl Iterator<Item = &Member> {
    let of =
        move |kind: bool, count: usize| members.iter().filter(move |m| m.spectral_start == kind).take(count);
    of(false, random).chain(of(true, spectral))
}

fn rules() -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for (random, spectral) in [(6, 6), (12, 6), (12, 12), (6, 12), (0, 6), (0, 12), (12, 0)] {
        let name = format!("{random}+{spectral}");
        for share in [1.0, 0.75, 0.5, 0.25] {
            rules.push((
                format!("{name} best {share}"),
                Box::new(move |m| best_of(pool(m, random, spectral), share)),
            ));
        }
        for factor in [1.1, 1.2, 1.3, 1.5, 2.0] {
            rules.push((
                format!("{name} within {factor}"),
                Box::new(move |m| near_best(pool(m, random, spectral), factor, 1e-6)),
            ));
        }
        for sharp in [0.5, 1.0, 2.0] {
            rules.push((
                format!("{name} soft {sharp}"),
                Box::new(move |m| soft(pool(m, random, spectral), sharp)),
            ));
        }
    }
    rules
}

struct Case {
    name: String,
    data: Dataset,
}

fn shape(name: &str, g: Generated, classes: usize) -> Case {
    Case {
        name: name.into(),
        data: Dataset {
            path: name.into(),
            x: g.data,
            truth: g.truth,
            n: g.n_samples,
            m: g.n_features,
            classes,
        },
    }
}

pub(crate) fn run(
    folder: &Path,
    first: u64,
    repeats: u64,
    only: &str,
    alpha: f64,
    neighbors: usize,
    beta: f64,
) -> Result<()> {
    let mut cases: Vec<Case> = Vec::new();
    for (name, ..) in EIGHT {
        if only.is_empty() || only.split(',').any(|o| name == o) {
            cases.push(Case { name: name.into(), data: Dataset::open(folder, name)? });
        }
    }
    if only.is_empty() || only == "shapes" {
        cases.push(shape("circles", generate::circles(400, 0.04, 0.5, 7)?, 2));
        cases.push(shape("moons", generate::moons(400, 0.06, 7)?, 2));
        cases.push(shape("spirals", generate::spirals(400, 2, 0.05, 7)?, 2));
        cases.push(shape("rings", generate::rings(400, 0.05, 7)?, 2));
    }
    let mut out = std::io::stdout();
    for case in &cases {
        let d = &case.data;
        let prepared = Prepared::new(&Input::from(d.samples()), &Params::new(d.classes), &Silent)?;
        for seed in first..first + repeats {
            let mut params = Params {
                pruning: Pruning::None,
                ..Params::new(d.classes).seed(seed).starts(24).neighbors(neighbors)
            };
            params.lsdg.alpha = Alpha::Relative(alpha);
            params.lsdg.beta = beta;
            let mut report = |rule: &str, labels: &[usize], extra: String| -> Result<()> {
                let s = nearfar::labels::score::score(labels, &d.truth)?;
                writeln!(out, "{}\t{seed}\t{rule}\t{:.4}\t{:.4}\t{extra}", case.name, s.accuracy, s.nmi)?;
                Ok(())
            };
            let model = prepared.fit(&params, &Silent)?;
            for (at, m) in model.members.iter().enumerate() {
                if let Some(labels) = &m.labels {
                    report(
                        &format!("member {at}"),
                        labels,
                        format!("{} {:?} {:.5}", m.spectral_start, m.neighbors, cut(m)),
                    )?;
                }
            }
            let mut seen: Vec<(Vec<(usize, u64)>, Vec<usize>)> = Vec::new();
            for (name, rule) in rules() {
                let chosen = rule(&model.members);
                let key: Vec<(usize, u64)> =
                    chosen.iter().map(|(m, w)| (std::ptr::from_ref(*m).addr(), w.to_bits())).collect();
                let labels = match seen.iter().find(|(k, _)| *k == key) {
                    Some((_, labels)) => labels.clone(),
                    None => prepared.merge_members(&chosen, &params, &Silent)?,
                };
                report(&name, &labels, format!("{}", chosen.len()))?;
                seen.push((key, labels));
            }
            // Controls: nothing learnt.
            let spectral = prepared.spectral(&params, None, &Silent)?;
            report("spectral", &spectral, String::new())?;
            let ones = vec![1.0; d.n];
            let mut mean = vec![0.0; d.n];
            let mut labelings = Vec::new();
            for k in CONTROL {
                let w = start_weights(&ones, k + 1).0;
                mean.iter_mut().zip(&w).for_each(|(m, w)| *m += w / 6.0);
                labelings.push(prepared.spectral(&params, Some(k), &Silent)?);
                labelings.push(prepared.spectral(&params.clone().seed(seed + 1000), Some(k), &Silent)?);
            }
            report("control graphs", &prepared.spectral_weighted(&mean, &params, &Silent)?, String::new())?;
            report(
                "control labels",
                &prepared.merge_labelings(&labelings, &params, &Silent)?,
                String::new(),
            )?;
        }
    }
    Ok(())
}
