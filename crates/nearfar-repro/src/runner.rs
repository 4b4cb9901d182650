//! Runs what the store lacks, several at a time, and hands back everything the tables need.

use std::collections::{BTreeMap, HashMap};
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use nearfar::Params;
use nearfar::learn::MethodParams;
use toml::Table;

use crate::error::{Error, Result};
use crate::manifest::{DatasetSpec, Manifest};
use crate::pace::{Kind, Pace};
use crate::ready::{Dataset, Ready, record, settings_json};
use crate::store::{Batch, Origin, Run, Store};
use crate::study::{Choice, RowSpec, Study};

/// The caller's part: what flags mean, and how files are read.
pub trait Host: Sync {
    /// The settings of a run: a method with flags by name.
    ///
    /// # Errors
    /// What is wrong with them, in a sentence.
    fn params(&self, method: &str, settings: &Table, clusters: usize) -> Result<Params, String>;

    /// Read a dataset.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    fn dataset(&self, spec: &DatasetSpec) -> Result<Dataset, String>;

    /// Read labels made elsewhere, one number per sample.
    ///
    /// # Errors
    /// What is wrong with them, in a sentence.
    fn labels(&self, file: &str) -> Result<Vec<usize>, String>;

    /// Called after every run.
    fn progress(&self, progress: &Progress<'_>);

    /// Whether to stop.
    fn stop(&self) -> bool;
}

/// How far a study is.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// The dataset at hand.
    pub dataset: &'a str,
    /// Runs done, of this session and before.
    pub done: usize,
    /// All runs of the study.
    pub total: usize,
    /// Estimated from the runs of this session; `None` before the first.
    pub left: Option<Duration>,
}

/// One setting of a row.
#[derive(Clone, Debug)]
pub struct Setting {
    /// As the study's file says it.
    pub table: Table,
    /// As the table shows it.
    pub text: String,
    /// In full.
    pub params: Params,
}

/// A setting with its runs.
pub type Screened = (Setting, Vec<Run>);

/// A row shown with one choice, on one dataset: the setting that was chosen and its runs, seed by seed.
#[derive(Clone, Debug)]
pub struct Line {
    /// How the setting was chosen.
    pub choice: Choice,
    /// The setting.
    pub setting: String,
    /// How many it was chosen from.
    pub tried: usize,
    /// Its runs, seed by seed.
    pub runs: Vec<Run>,
    /// All settings in full, JSON.
    pub params: String,
}

/// What was found on one dataset.
#[derive(Clone, Debug)]
pub struct Found {
    /// The dataset.
    pub spec: DatasetSpec,
    /// n, m and number of clusters.
    pub size: [usize; 3],
    /// SHA-256 of values and classes.
    pub hash: String,
    /// Lines of every row, in the study's order.
    pub rows: Vec<Vec<Line>>,
}

/// A study at work.
#[derive(Debug)]
pub struct Runner<'a, H> {
    study: &'a Study,
    store: &'a Store,
    host: &'a H,
    threads: usize,
    pace: Mutex<Pace>,
    /// Who made the runs that were asked for so far, and their seconds, by key.
    makers: Mutex<HashMap<String, (Origin, f64)>>,
}

impl<'a, H: Host> Runner<'a, H> {
    /// Of a study, so many runs side by side.
    pub fn new(study: &'a Study, store: &'a Store, host: &'a H, threads: usize) -> Self {
        Self { study, store, host, threads: threads.max(1), pace: Mutex::default(), makers: Mutex::default() }
    }

    /// The datasets of the study, in its order.
    ///
    /// # Errors
    /// When the study names one that the manifest lacks.
    pub fn datasets(&self, manifest: &Manifest) -> Result<Vec<DatasetSpec>> {
        if self.study.datasets.is_empty() {
            return Ok(manifest.datasets.clone());
        }
        let find = |name: &String| manifest.datasets.iter().find(|spec| spec.name == *name).cloned();
        self.study
            .datasets
            .iter()
            .map(|name| {
                find(name).ok_or_else(|| {
                    let known: Vec<&str> = manifest.datasets.iter().map(|spec| spec.name.as_str()).collect();
                    let problem = format!("there is no dataset {name:?}; there are {}", known.join(", "));
                    Error::wrong(&self.study.name, problem)
                })
            })
            .collect()
    }

    /// Run everything that is not stored yet.
    ///
    /// # Errors
    /// When data or settings are wrong, the store fails, or the host asks to stop; what was finished is stored.
    pub fn run(&self, datasets: &[DatasetSpec]) -> Result<Vec<Found>> {
        // Settings and data are judged before anything is computed.
        for row in &self.study.rows {
            self.settings(row, 2)?;
        }
        for points in self.sizes(datasets)? {
            for (at, row) in self.study.rows.iter().enumerate() {
                self.expect_search(at, points);
                for choice in 0..row.choices().len() {
                    let kind = Kind { row: at, choice: Some(choice) };
                    self.pace().expect(kind, self.study.starts as usize, points);
                }
            }
        }
        datasets.iter().map(|spec| self.on(spec)).collect()
    }

    /// How many samples each has.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub(crate) fn sizes(&self, datasets: &[DatasetSpec]) -> Result<Vec<usize>> {
        datasets.iter().map(|spec| Ok(self.host.dataset(spec).map_err(Error::Host)?.n_samples)).collect()
    }

    /// The grid of this row will be searched on a dataset of so many samples.
    pub(crate) fn expect_search(&self, at: usize, points: usize) {
        let row = &self.study.rows[at];
        if !row.grid.is_empty() {
            let runs = row.settings().len() * self.study.screen_of(row) as usize;
            self.pace().expect(Kind { row: at, choice: None }, runs, points);
        }
    }

    fn pace(&self) -> std::sync::MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Every setting of the first row's grid with the runs that screen it.
    pub(crate) fn screened(&self, ready: &mut Ready) -> Result<Vec<Screened>> {
        let (grid, _) = self.settings(&self.study.rows[0], ready.clusters)?;
        Self::add_graphs(ready, grid.iter())?;
        let runs = self.screen(ready, 0, &grid)?;
        Ok(grid.into_iter().zip(runs).collect())
    }

    fn screen(&self, ready: &Ready, row: usize, grid: &[Setting]) -> Result<Vec<Vec<Run>>> {
        let seeds = self.study.screen_of(&self.study.rows[row]);
        // Seed by seed: what settings of one seed, or seeds of one setting, have in common is known before it is
        // asked for again.
        let jobs: Vec<(&Setting, u64)> =
            (0..seeds).flat_map(|seed| grid.iter().map(move |setting| (setting, seed))).collect();
        let runs = self.batch(ready, Kind { row, choice: None }, &jobs, 0)?;
        let of = |at: usize| runs.iter().skip(at).step_by(grid.len()).cloned().collect();
        Ok((0..grid.len()).map(of).collect())
    }

    fn add_graphs<'s>(ready: &mut Ready, settings: impl Iterator<Item = &'s Setting>) -> Result<()> {
        for setting in settings.filter(|setting| setting.params.method != MethodParams::Lsdg) {
            let dataset = ready.spec.name.clone();
            ready.add_graph(setting.params.graph).map_err(Error::run(&dataset, "graph"))?;
        }
        Ok(())
    }

    fn settings(&self, row: &RowSpec, clusters: usize) -> Result<(Vec<Setting>, Option<Setting>)> {
        let Some(method) = &row.method else { return Ok((Vec::new(), None)) };
        let make = |table: Table| -> Result<Setting> {
            let params = self.host.params(method, &table, clusters).map_err(|problem| {
                Error::wrong(&self.study.name, format!("row {:?}: {problem}", row.name))
            })?;
            Ok(Setting { text: row.setting_text(&table), table, params })
        };
        let grid: Result<Vec<Setting>> = row.settings().into_iter().map(&make).collect();
        let default = make(row.default.clone().unwrap_or_else(|| row.set.clone()))?;
        Ok((grid?, Some(default)))
    }

    fn on(&self, spec: &DatasetSpec) -> Result<Found> {
        let mut ready = Ready::new(spec, self.host)?;
        let rows: Result<Vec<_>> =
            self.study.rows.iter().map(|row| self.settings(row, ready.clusters)).collect();
        let rows = rows?;
        Self::add_graphs(&mut ready, rows.iter().flat_map(|(grid, default)| grid.iter().chain(default)))?;
        let lines: Result<Vec<Vec<Line>>> = rows
            .iter()
            .enumerate()
            .map(|(row, (grid, default))| match default {
                Some(default) => self.lines(&ready, row, grid, default),
                None => Ok(vec![self.foreign(&ready, row)?]),
            })
            .collect();
        Ok(Found {
            spec: spec.clone(),
            size: [ready.data.n_samples, ready.data.n_features, ready.clusters],
            hash: ready.hash.clone(),
            rows: lines?,
        })
    }

    fn lines(&self, ready: &Ready, at: usize, grid: &[Setting], default: &Setting) -> Result<Vec<Line>> {
        let row = &self.study.rows[at];
        let screened = if row.grid.is_empty() { Vec::new() } else { self.screen(ready, at, grid)? };
        let mean = |runs: &[Run], of: fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        // The first of equals, so that the choice does not depend on anything else.
        let best = |of: &dyn Fn(&[Run]) -> f64| {
            (1..screened.len())
                .fold(0, |best, at| if of(&screened[at]) > of(&screened[best]) { at } else { best })
        };
        row.choices()
            .iter()
            .enumerate()
            .map(|(which, choice)| {
                let setting = match choice {
                    Choice::Only | Choice::Defaults => default,
                    Choice::Labels => &grid[best(&|runs| mean(runs, |run| run.accuracy))],
                    Choice::Cut => &grid[best(&|runs| -mean(runs, |run| run.cut))],
                };
                let jobs: Vec<(&Setting, u64)> = (0..self.study.starts).map(|seed| (setting, seed)).collect();
                Ok(Line {
                    choice: *choice,
                    setting: match choice {
                        Choice::Only | Choice::Defaults => String::new(),
                        _ => setting.text.clone(),
                    },
                    tried: grid.len(),
                    runs: self.batch(
                        ready,
                        Kind { row: at, choice: Some(which) },
                        &jobs,
                        self.study.repeats,
                    )?,
                    params: settings_json(&setting.params),
                })
            })
            .collect()
    }

    /// Labels made elsewhere.
    fn foreign(&self, ready: &Ready, at: usize) -> Result<Line> {
        let row = &self.study.rows[at];
        let pattern = row.labels.as_deref().unwrap_or_default();
        let runs: Result<Vec<Run>> = (0..self.study.starts)
            .map(|seed| {
                let file =
                    pattern.replace("{dataset}", &ready.spec.name).replace("{seed}", &seed.to_string());
                let labels = self.host.labels(&file).map_err(Error::Host)?;
                if labels.len() != ready.data.n_samples {
                    let (have, need) = (labels.len(), ready.data.n_samples);
                    return Err(Error::Host(format!(
                        "{file} has {have} labels; {} has {need} samples",
                        ready.spec.name
                    )));
                }
                let run = ready.judge(&[labels]).map_err(Error::run(&ready.spec.name, &row.name))?;
                self.count(ready, Kind { row: at, choice: Some(0) }, None);
                Ok(run)
            })
            .collect();
        Ok(Line {
            choice: Choice::Only,
            setting: String::new(),
            tried: 1,
            runs: runs?,
            params: String::new(),
        })
    }

    /// These runs, from the store or made now; in the order of the jobs.
    fn batch(&self, ready: &Ready, kind: Kind, jobs: &[(&Setting, u64)], repeats: u64) -> Result<Vec<Run>> {
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        // Plain threads: a worker of a rayon pool that waits for a fit's own pool would begin another fit meanwhile.
        let parts: Vec<Result<Vec<(usize, Run)>>> = std::thread::scope(|scope| {
            let work = || {
                let mut made = Vec::new();
                while !failed.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((setting, seed)) = jobs.get(at) else { break };
                    match self.one(ready, kind, setting, *seed, repeats) {
                        Ok(run) => made.push((at, run)),
                        Err(error) => {
                            failed.store(true, Ordering::Relaxed);
                            return Err(error);
                        }
                    }
                }
                Ok(made)
            };
            let workers: Vec<_> = (0..self.threads.min(jobs.len())).map(|_| scope.spawn(work)).collect();
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|fault| resume_unwind(fault)))
                .collect()
        });
        let mut all = Vec::with_capacity(jobs.len());
        for part in parts {
            all.extend(part?);
        }
        all.sort_by_key(|(at, _)| *at);
        Ok(all.into_iter().map(|(_, run)| run).collect())
    }

    /// Every run behind the tables, the search of grids included, by who made it: this program now, or whoever
    /// filled the store.
    pub fn made(&self) -> Vec<Batch> {
        let makers = self.makers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut batches: BTreeMap<&Origin, Vec<f64>> = BTreeMap::new();
        makers.values().for_each(|(origin, seconds)| batches.entry(origin).or_default().push(*seconds));
        let batch = |(origin, mut seconds): (&Origin, Vec<f64>)| {
            // In order of size, as keys come in any order and the sum should not.
            seconds.sort_unstable_by(f64::total_cmp);
            Batch { origin: origin.clone(), runs: seconds.len(), seconds: seconds.iter().sum() }
        };
        batches.into_iter().map(batch).collect()
    }

    fn note(&self, id: String, origin: Origin, seconds: f64) {
        let mut makers = self.makers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        makers.insert(id, (origin, seconds));
    }

    fn one(&self, ready: &Ready, kind: Kind, setting: &Setting, seed: u64, repeats: u64) -> Result<Run> {
        // Only LSDG has a spectral step to repeat; a run of another method that searched the grid is the same one.
        let repeats = if setting.params.method == MethodParams::Lsdg { repeats } else { 0 };
        let record = record(ready, &setting.params, seed, repeats);
        if let Some((run, origin)) = self.store.get(&record.id)? {
            self.note(record.id, origin, run.seconds);
            self.count(ready, kind, None);
            return Ok(run);
        }
        if self.host.stop() {
            return Err(Error::Stopped { finished: self.store.count()? });
        }
        let row = &self.study.rows[kind.row].name;
        let run = ready.run(&setting.params, seed, repeats).map_err(Error::run(&ready.spec.name, row))?;
        self.store.put(&record, &run)?;
        self.note(record.id, self.store.origin().clone(), run.seconds);
        self.count(ready, kind, Some(run.seconds));
        Ok(run)
    }

    fn count(&self, ready: &Ready, kind: Kind, made: Option<f64>) {
        let (done, total, left) = {
            let mut pace = self.pace();
            pace.finish(kind, ready.data.n_samples, made);
            let (done, total) = pace.runs();
            (done, total, pace.left(self.threads))
        };
        self.host.progress(&Progress { dataset: &ready.spec.name, done, total, left });
    }
}
