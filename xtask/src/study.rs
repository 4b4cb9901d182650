//! What the default settings should be: one setting for all eight datasets, no labels used to choose per dataset.
//!
//! Members are learnt once per dataset, seed and setting; every way to choose among them is judged on the same members.

use std::path::Path;

use anyhow::Result;
use nearfar::generate::{Kind, MakeParams, make};
use nearfar::internals::{OUTLIER_CUT, start_weights};
use nearfar::labels::score::score;
use nearfar::learn::{Alpha, Member};
use nearfar::observe::Silent;
use nearfar::{Input, Params, PreparedSlices, Pruning};

use crate::data::{Dataset, EIGHT, mean_std};

/// Neighbours of the control graphs, as in the spread of the members.
const CONTROL: [usize; 6] = [8, 10, 12, 14, 16, 20];

/// A change of the default settings, by name.
type Setting = (&'static str, fn(Params) -> Params);

const SETTINGS: [Setting; 9] = [
    ("default", |p| p),
    ("alpha 0.1", |p| with_alpha(p, 0.1)),
    ("alpha 1", |p| with_alpha(p, 1.0)),
    ("beta 1", |mut p| {
        p.lsdg.beta = 1.0;
        p
    }),
    ("neighbors 8", |p| p.neighbors(8)),
    ("neighbors 18", |p| p.neighbors(18)),
    ("one k* for all members", |p| Params { spread_neighbors: false, ..p }),
    ("plain PHALS start", |p| Params { orthogonal_start: false, ..p }),
    ("24 members", |p| p.starts(24)),
];

fn with_alpha(mut params: Params, alpha: f64) -> Params {
    params.lsdg.alpha = Alpha::Relative(alpha);
    params
}

/// A way to choose among learnt members, by name.
type Choice = (&'static str, fn(&[Member]) -> Vec<&Member>);

/// Those after the first are only tried on members of the default setting.
const CHOICES: [Choice; 7] = [
    ("", |all| within(all, OUTLIER_CUT)),
    (", cut within 2 times the best", |all| within(all, 2.0)),
    (", all kept", |all| best(all, 1.0)),
    (", better three quarters", |all| best(all, 0.75)),
    (", better half", |all| best(all, 0.5)),
    (", spectral starts only", |all| all.iter().filter(|m| m.spectral_start && m.cut.is_some()).collect()),
    (", random starts only", |all| all.iter().filter(|m| !m.spectral_start && m.cut.is_some()).collect()),
];

fn cut(member: &Member) -> f64 {
    member.cut.unwrap_or(f64::INFINITY)
}

fn best(members: &[Member], share: f64) -> Vec<&Member> {
    let mut chosen: Vec<&Member> = members.iter().filter(|m| m.cut.is_some()).collect();
    chosen.sort_by(|a, b| cut(a).total_cmp(&cut(b)));
    chosen.truncate((chosen.len() as f64 * share).ceil() as usize);
    chosen
}

fn within(members: &[Member], times: f64) -> Vec<&Member> {
    let least = members.iter().map(cut).fold(f64::INFINITY, f64::min);
    members.iter().filter(|m| cut(m) <= times * least + 1e-9).collect()
}

/// ACC and NMI of every run of a row, dataset by dataset.
#[derive(Default)]
struct Table(Vec<(String, Vec<Vec<[f64; 2]>>)>);

impl Table {
    fn add(&mut self, row: &str, dataset: usize, labels: &[usize], truth: &[usize]) -> Result<()> {
        let scores = score(labels, truth)?;
        let at = self.0.iter().position(|(name, _)| name == row).unwrap_or_else(|| {
            self.0.push((row.to_owned(), Vec::new()));
            self.0.len() - 1
        });
        let cells = &mut self.0[at].1;
        cells.resize_with(cells.len().max(dataset + 1), Vec::new);
        cells[dataset].push([scores.accuracy, scores.nmi]);
        Ok(())
    }

    fn print(&self, names: &[String]) {
        println!("| setting | {} | mean of the eight ± its standard error |", names.join(" | "));
        println!("|---|{}---|", "---|".repeat(names.len()));
        for (row, cells) in &self.0 {
            let mean = |runs: &[[f64; 2]], at: usize| {
                runs.iter().map(|run| run[at]).sum::<f64>() / runs.len() as f64
            };
            let shown: Vec<String> =
                cells.iter().map(|c| format!("{:.3} / {:.3}", mean(c, 0), mean(c, 1))).collect();
            // The mean of the eight, seed by seed, has a spread of its own.
            let eight = &cells[..cells.len().min(EIGHT.len())];
            let seeds = eight.iter().map(Vec::len).min().unwrap_or(0);
            let [acc, nmi] = [0, 1].map(|at| {
                let means: Vec<f64> = (0..seeds)
                    .map(|seed| eight.iter().map(|runs| runs[seed][at]).sum::<f64>() / eight.len() as f64)
                    .collect();
                let (mean, std) = mean_std(&means);
                format!("{mean:.3} ± {:.3}", std / (seeds as f64).sqrt())
            });
            println!("| {row} | {} | **{acc} / {nmi}** |", shown.join(" | "));
        }
    }
}

/// The eight datasets, and shapes that are easy for a graph and hard for random starts.
fn cases(folder: &Path) -> Result<Vec<(String, Dataset)>> {
    let mut cases = Vec::new();
    for (name, ..) in EIGHT {
        cases.push((name.to_owned(), Dataset::open(folder, name)?));
    }
    for (kind, noise) in [(Kind::Spirals, 0.05), (Kind::Rings, 0.05), (Kind::Moons, 0.06)] {
        let params =
            MakeParams { n_samples: Some(400), noise: Some(noise), clusters: None, features: None, seed: 7 };
        cases.push((kind.name().to_owned(), Dataset::generated(kind.name(), make(kind, &params)?)));
    }
    Ok(cases)
}

/// Print a Markdown table of ACC / NMI, a row for every setting whose name contains `only`.
pub(crate) fn run(folder: &Path, repeats: u64, only: &str) -> Result<()> {
    let cases = cases(folder)?;
    let mut table = Table::default();
    for (at, (name, data)) in cases.iter().enumerate() {
        let prepared =
            PreparedSlices::new(&Input::from(data.samples()), &Params::lsdg(data.classes), &Silent)?;
        for seed in 0..repeats {
            let base = Params { pruning: Pruning::None, ..Params::lsdg(data.classes).seed(seed) };
            for (setting, change) in SETTINGS.iter().filter(|(setting, _)| setting.contains(only)) {
                let members = prepared.fit(&change(base.clone()), &Silent)?.members.clone();
                let choices = if *setting == "default" { &CHOICES[..] } else { &CHOICES[..1] };
                for (choice, choose) in choices {
                    let chosen: Vec<(&Member, f64)> =
                        choose(&members).into_iter().map(|m| (m, 1.0)).collect();
                    let labels = prepared.merge_members(&chosen, &base, &Silent)?;
                    table.add(&format!("{setting}{choice}"), at, &labels, &data.truth)?;
                }
            }
            if "default".contains(only) {
                controls(&prepared, &base, seed, |row, labels| table.add(row, at, labels, &data.truth))?;
            }
            eprintln!("{name}: seed {seed} done");
        }
    }
    let names: Vec<String> = cases.into_iter().map(|(name, _)| name).collect();
    table.print(&names);
    Ok(())
}

/// Averaging without learning: what a consensus gains by itself.
fn controls(
    prepared: &PreparedSlices,
    params: &Params,
    seed: u64,
    mut add: impl FnMut(&str, &[usize]) -> Result<()>,
) -> Result<()> {
    let n = prepared.n_samples();
    add("control: self-tuned spectral", &prepared.spectral(params, None, &Silent)?)?;
    let ones = vec![1.0; n];
    let mut mean = vec![0.0; n];
    let mut labelings = Vec::new();
    for neighbors in CONTROL {
        let weights = start_weights(&ones, neighbors + 1).0;
        mean.iter_mut().zip(&weights).for_each(|(mean, w)| *mean += w / CONTROL.len() as f64);
        for seed in [seed, seed + 1_000_000] {
            labelings.push(prepared.spectral(&params.clone().seed(seed), Some(neighbors), &Silent)?);
        }
    }
    add("control: graphs of six k averaged", &prepared.spectral_weighted(&mean, params, &Silent)?)?;
    add("control: co-membership of 12 spectral runs", &prepared.merge_labelings(&labelings, params, &Silent)?)
}
