//! A run that saves itself, so that one that was killed goes on instead of starting again.
//!
//! A [`Checkpoint`] is a folder of parts: the neighbour lists of binned mode with the local scales (files of
//! 65,536 rows each, whatever the number of threads), every finished start, the state of every start that runs,
//! and the leading eigenvectors of Z. Each part is a function of the data and the settings alone, so a resumed run
//! walks the same path as any other and takes a part from the folder instead of making it: it ends with the same
//! bits. What is not kept is made again: the slices (linear in the lists), the starting graph, and in exact mode
//! the ranks.
//!
//! A part is written under a temporary name, synced and renamed, and has a checksum. So a run may be killed at any
//! moment, also inside a save; a damaged part is as good as none. The manifest names the data and all settings that
//! matter; a folder of another run is refused.
//!
//! Processes that share the rows save into one folder: the first writes and reads what is the same in all of them
//! and hands it round, and every one writes and reads the lists of its rows. The files do not tell how many
//! processes there were, so any number of them goes on.

mod agree;
mod error;
mod lists;
mod manifest;
mod parts;
mod resumed;
mod starts;

pub use error::CheckpointError;
pub(crate) use lists::FoundLists;
pub use resumed::{Resumed, ResumedStart};
pub(crate) use starts::{Round, Sizes, Standing};

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agree::{check_alike, opened_by_first};
use manifest::{Facts, Manifest};

use crate::error::Result;
use crate::input::Input;
use crate::model::tensors::{Format, write_whole};
use crate::observe::{Event, Observer};
use crate::params::Params;
use crate::plan::Plan;
use crate::processes::{Share, Team};

/// The version of the parts and of the manifest that is written, and the only one that is read.
const VERSION: u32 = 3;
/// The format of a part.
const PART: Format = Format { name: "nearfar-checkpoint-part", version: VERSION };
/// The file that makes a folder a checkpoint.
const MANIFEST: &str = "nearfar-checkpoint.json";
/// How the names of the parts begin; nothing else in the folder is ever touched.
const PREFIXES: [&str; 6] = [
    "nearfar-lists-",
    "nearfar-start-",
    "nearfar-loop-",
    "nearfar-spectrum-",
    "nearfar-judged",
    "nearfar-member-",
];
/// Time between two saves of a running start where nothing else is said.
pub const DEFAULT_EVERY: Duration = Duration::from_secs(60);

/// How long another process waits for a file that the first has written: file systems of several machines may take
/// a moment to show it.
const PATIENCE: Duration = Duration::from_secs(5);

/// A folder that a run saves itself in; see the [module](self).
///
/// ```
/// use nearfar::{Run, checkpoint::Checkpoint, Input, Params, Samples, observe::Silent};
/// let data = nearfar::generate::moons(120, 0.05, 3)?;
/// let input = Input::from(Samples::from_rows(&data.data, data.n_samples, data.n_features)?);
/// # let folder = std::env::temp_dir().join(format!("nearfar-doc-{}", std::process::id()));
/// // `resume` goes on from what is in the folder, and starts from the beginning where there is nothing.
/// let checkpoint = Checkpoint::new(&folder).resume(true);
/// let model = Run::new(&Params::lsdg(2)).checkpoint(&checkpoint).fit(input)?;
/// // Once the result is safe:
/// checkpoint.remove()?;
/// # std::fs::remove_dir(&folder).unwrap();
/// # Ok::<(), nearfar::Error>(())
/// ```
#[derive(Debug)]
pub struct Checkpoint {
    folder: PathBuf,
    every: Duration,
    resume: bool,
    /// What tells the parts of this run from those of others; set when a run begins.
    run: Mutex<String>,
    /// A run that was told to end early saves nothing more: what follows is no part of a whole run.
    closed: AtomicBool,
    unsaved: AtomicBool,
    troubles: Mutex<Vec<String>>,
    resumed: Mutex<Option<Resumed>>,
    /// Who shares the rows; set when a run begins.
    team: Mutex<Arc<Team>>,
}

impl Checkpoint {
    /// Save in this folder, which is made if need be. A run that finds a checkpoint there is refused, unless it is
    /// to be [resumed](Self::resume).
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            every: DEFAULT_EVERY,
            resume: false,
            run: Mutex::default(),
            closed: AtomicBool::new(false),
            unsaved: AtomicBool::new(false),
            troubles: Mutex::default(),
            resumed: Mutex::default(),
            team: Mutex::new(Arc::new(Team::alone())),
        }
    }

    /// Save the state of a running start when this much time has passed since it was last saved; 0 saves every
    /// iteration.
    #[must_use]
    pub fn every(self, every: Duration) -> Self {
        Self { every, ..self }
    }

    /// Whether to go on from what the folder holds. Where it holds nothing the run starts from the beginning.
    #[must_use]
    pub fn resume(self, resume: bool) -> Self {
        Self { resume, ..self }
    }

    /// Where it saves.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the folder holds a checkpoint, of whatever run.
    pub fn exists(&self) -> bool {
        self.folder.join(MANIFEST).exists()
    }

    /// What the last run took from the folder; `None` where there was nothing to go on from.
    pub fn resumed(&self) -> Option<Resumed> {
        lock(&self.resumed).clone()
    }

    /// What could not be saved or used, in words; the run went on without.
    pub fn troubles(&self) -> Vec<String> {
        lock(&self.troubles).clone()
    }

    /// Remove what the run saved; call it when the result is safe. The folder stays. Of processes that share the
    /// rows the first removes.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn remove(&self) -> Result<()> {
        if !self.first() {
            return Ok(());
        }
        // The manifest first: what is left without it is no checkpoint.
        match std::fs::remove_file(self.folder.join(MANIFEST)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(self.io("removed", error)),
            _ => self.remove_parts(|_| true),
        }
    }

    /// Most bytes on disk that a run of this plan saves. V is counted in full; it soon is a tenth of that.
    pub fn bytes(n_samples: usize, params: &Params, plan: &Plan) -> u64 {
        let [n, r, starts] = [n_samples, params.n_clusters.min(n_samples), params.starts].map(|x| x as u64);
        let lists = plan.binned.map_or(0, |shape| 12 * (shape.near as u64).saturating_sub(1) + 8);
        let factors = (starts + plan.side_by_side as u64) * 12 * r;
        let labels = if starts > 1 { 4 * starts } else { 0 };
        n.saturating_mul(lists + factors + labels + 8 * (r + 1))
    }

    /// Take the folder for this run: refuse that of another, note what there is, and write the manifest where there
    /// is none. The first process decides for all.
    pub(crate) fn begin(&self, input: &Input<'_>, params: &Params, plan: &Plan) -> Result<()> {
        let team = input.share().map_or_else(|| Arc::new(Team::alone()), |share| share.team().clone());
        *lock(&self.team) = team.clone();
        let facts = Facts::of(input, params, plan);
        *lock(&self.run) = facts.fingerprint();
        self.closed.store(false, Ordering::Relaxed);
        *lock(&self.resumed) = None;
        check_alike(&team, &facts)?;
        let opened = if self.first() { self.open(facts).map(Some) } else { Ok(None) };
        let (again, text) = opened_by_first(&team, opened)?;
        if again {
            *lock(&self.resumed) = Some(Resumed::default());
        }
        self.check_shared(&team, &text)
    }

    /// Whether there is something to go on from, and the text of the manifest.
    fn open(&self, facts: Facts) -> Result<(bool, String)> {
        let folder = || self.folder.display().to_string();
        let path = self.folder.join(MANIFEST);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return self.begin_anew(facts).map(|text| (false, text));
            }
            Err(error) => return Err(self.io("read", error)),
        };
        let there = Manifest::parse(&text)
            .map_err(|reason| CheckpointError::Manifest { folder: folder(), reason })?;
        if !self.resume {
            let n_samples = there.facts.n_samples();
            return Err(CheckpointError::Taken { folder: folder(), n_samples }.into());
        }
        if let Some(differences) = facts.differences(&there.facts, "the checkpoint") {
            return Err(CheckpointError::OtherRun { folder: folder(), differences }.into());
        }
        // What a killed save left under a temporary name. A folder that cannot be written any more can still be read.
        let _ = self.remove_parts(|name| name.starts_with('.'));
        Ok((true, text))
    }

    /// Refuse a folder that is not the same to all processes.
    fn check_shared(&self, team: &Team, text: &str) -> Result<()> {
        let path = self.folder.join(MANIFEST);
        let until = Instant::now() + PATIENCE;
        let mut seen = self.first();
        while !seen {
            seen = std::fs::read_to_string(&path).is_ok_and(|here| here == text);
            if Instant::now() > until {
                break;
            }
            if !seen {
                std::thread::sleep(PATIENCE / 50);
            }
        }
        let seen = team.gather_even("checkpoint", &[u8::from(seen)]);
        match seen.iter().position(|seen| *seen == 0) {
            Some(rank) => {
                let folder = self.folder.display().to_string();
                Err(CheckpointError::NotShared { folder, rank }.into())
            }
            None => Ok(()),
        }
    }

    /// Whether this process writes and reads what is the same in all of them.
    fn first(&self) -> bool {
        lock(&self.team).rank() == FIRST
    }

    /// The text of the manifest that it writes.
    fn begin_anew(&self, facts: Facts) -> Result<String> {
        std::fs::create_dir_all(&self.folder).map_err(|error| self.io("written", error))?;
        self.remove_parts(|_| true)?;
        let text = Manifest::new(facts).to_text();
        write_whole(&self.folder.join(MANIFEST), text.as_bytes())
            .map_err(|error| self.io("written", error))?;
        Ok(text)
    }

    fn io(&self, verb: &'static str, source: std::io::Error) -> crate::Error {
        CheckpointError::Io { folder: self.folder.display().to_string(), verb, source }.into()
    }

    /// Remove the parts with such names, whole or half-written.
    fn remove_parts(&self, chosen: impl Fn(&str) -> bool) -> Result<()> {
        let attempt = || -> std::io::Result<()> {
            for entry in std::fs::read_dir(&self.folder)? {
                let name = entry?.file_name();
                let Some(name) = name.to_str() else { continue };
                let bare = name.strip_prefix('.').unwrap_or(name);
                let manifest = name.starts_with('.') && bare.starts_with(MANIFEST);
                let ours = manifest || PREFIXES.iter().any(|prefix| bare.starts_with(prefix));
                if ours && chosen(name) {
                    std::fs::remove_file(self.folder.join(name))?;
                }
            }
            Ok(())
        };
        match attempt() {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(self.io("removed", error)),
            _ => Ok(()),
        }
    }

    /// Nothing more is saved or taken in this run.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    fn closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    fn trouble(&self, message: String, observer: &dyn Observer) {
        observer.notice(&Event::Trouble { message: &message });
        lock(&self.troubles).push(message);
    }

    /// Tell every process what any of them could not save or use. All must call it.
    pub(crate) fn share_troubles(&self, observer: &dyn Observer) {
        let team = lock(&self.team).clone();
        if team.size() == 1 {
            return;
        }
        let mine = self.troubles();
        let (all, ends) = team.gather("troubles", &serde_json::json!(mine).to_string().into_bytes());
        let mut told: Vec<String> = Vec::new();
        for at in ends.windows(2) {
            let theirs: Vec<String> = serde_json::from_slice(&all[at[0]..at[1]]).unwrap_or_default();
            theirs.into_iter().for_each(|message| {
                if !told.contains(&message) {
                    told.push(message);
                }
            });
        }
        for message in told.iter().filter(|message| !mine.contains(message)) {
            observer.notice(&Event::Trouble { message });
        }
        *lock(&self.troubles) = told;
    }

    /// Note what was taken.
    pub(crate) fn note(&self, note: impl FnOnce(&mut Resumed)) {
        if let Some(resumed) = &mut *lock(&self.resumed) {
            note(resumed);
        }
    }
}

/// The process that writes and reads what is the same in all of them.
const FIRST: usize = 0;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
