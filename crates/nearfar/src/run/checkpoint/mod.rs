//! A run that saves itself, so that one that was killed goes on instead of starting again.
//!
//! A [`Checkpoint`] is a folder of parts: the neighbour lists of binned mode with the local scales (files of
//! [`ROWS`] rows each, whatever the number of threads), every finished start, the state of every start that runs,
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

mod manifest;
mod parts;

pub use parts::ROWS;
pub(crate) use parts::{FoundLists, Round, Sizes, Standing};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use manifest::{Facts, Manifest};

use crate::error::Result;
use crate::input::Input;
use crate::model::tensors::{Array, Arrays, Format, Refused, pack, unpack, write_whole};
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

/// Why a checkpoint was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file system said no.
    #[error("{folder}: the checkpoint cannot be {verb}: {source}; choose another folder")]
    Io {
        /// The folder.
        folder: String,
        /// `read`, `written` or `removed`.
        verb: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// A run that was not to be resumed would write over a checkpoint.
    #[error(
        "{folder}: the folder holds the checkpoint of a run of {n_samples} points; go on with it (`resume`), choose another folder, or delete the nearfar-* files in it"
    )]
    Taken {
        /// The folder.
        folder: String,
        /// Points of that run, as its manifest has them.
        n_samples: String,
    },
    /// Other data, other settings or another program.
    #[error(
        "{folder}: the checkpoint is of another run: {differences}; give the same data and settings, choose another folder, or delete the nearfar-* files in it"
    )]
    OtherRun {
        /// The folder.
        folder: String,
        /// What differs, in words.
        differences: String,
    },
    /// A manifest that is cut short, altered or of another version.
    #[error(
        "{folder}: {MANIFEST} cannot be used ({reason}); delete the nearfar-* files in the folder and start again"
    )]
    Manifest {
        /// The folder.
        folder: String,
        /// What does not hold.
        reason: String,
    },
    /// A process that was started with other data or settings than the first.
    #[error(
        "rank {rank} has other data or settings than rank 0: {differences}; give the same to all of them"
    )]
    OtherRank {
        /// Its number, from 0.
        rank: usize,
        /// What differs, in words.
        differences: String,
    },
    /// A process that looks into another folder than the first, under the same name.
    #[error(
        "{folder}: rank {rank} does not find there what rank 0 has written; choose a folder that all machines share"
    )]
    NotShared {
        /// The folder.
        folder: String,
        /// Its number, from 0.
        rank: usize,
    },
    /// What the first process was refused for, as the others tell it.
    #[error("{message}")]
    First {
        /// The message of the first process.
        message: String,
    },
}

/// A folder that a run saves itself in; see the [module](self).
///
/// ```
/// use nearfar::{Run, Checkpoint, Input, Params, Samples, observe::Silent};
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

/// What a resumed run took from its checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Resumed {
    /// Neighbours per point, where their lists were there.
    pub neighbors: Option<usize>,
    /// Starts that were finished.
    pub starts: usize,
    /// Starts that went on in the middle.
    pub running: Vec<ResumedStart>,
    /// Whether the eigenvectors of Z were there.
    pub spectrum: bool,
    #[serde(skip)]
    round: (usize, usize),
}

/// A start that went on in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ResumedStart {
    /// Which, from 0.
    pub start: usize,
    /// Iterations it had made.
    pub iteration: usize,
    /// Whether these are of the loop that makes the starting V.
    pub starting: bool,
}

impl std::fmt::Display for Resumed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let mut parts = Vec::new();
        if let Some(k) = self.neighbors {
            parts.push(format!("the lists of {k} neighbours"));
        }
        if self.starts > 0 {
            parts.push(format!("{} finished start{}", self.starts, plural(self.starts)));
        }
        for ResumedStart { start, iteration, starting } in &self.running {
            let which = if *starting { " of its starting loop" } else { "" };
            parts.push(format!("start {} at iteration {iteration}{which}", start + 1));
        }
        if self.spectrum {
            parts.push("the eigenvectors".to_owned());
        }
        if parts.is_empty() {
            return f.write_str("the beginning");
        }
        f.write_str(&parts.join(", "))
    }
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

    /// Save a part that is the same in all processes; the first does.
    pub(crate) fn put(
        &self,
        name: &str,
        head: &impl serde::Serialize,
        arrays: BTreeMap<&str, Array<'_>>,
        observer: &dyn Observer,
    ) {
        if self.first() {
            self.put_here(name, head, arrays, observer);
        }
    }

    /// Save a part. Where that fails, the part that was there stays, the observer is told once, and the run goes on.
    fn put_here(
        &self,
        name: &str,
        head: &impl serde::Serialize,
        arrays: BTreeMap<&str, Array<'_>>,
        observer: &dyn Observer,
    ) {
        if self.closed() {
            return;
        }
        // Numbers and strings only: this cannot fail.
        let about = serde_json::json!({ "run": *lock(&self.run), "part": head }).to_string();
        if let Err(error) = write_whole(&self.folder.join(name), &pack(&PART, &about, arrays))
            && !self.unsaved.swap(true, Ordering::Relaxed)
        {
            let folder = self.folder.display();
            self.trouble(format!("{folder}: the run could not be saved ({name}: {error}); it goes on, and what was saved before stays"), observer);
        }
    }

    /// Whether parts can be taken; the same in all processes.
    fn gives(&self) -> bool {
        !self.closed() && lock(&self.resumed).is_some()
    }

    /// Take a part that is the same in all processes: what stands beside its arrays, and `read` of both. The first
    /// reads the file and hands it round. `None` where there is none, or a damaged one, which the observer is told
    /// of.
    pub(crate) fn take<H: serde::de::DeserializeOwned, T>(
        &self,
        name: &str,
        observer: &dyn Observer,
        read: impl FnOnce(H, &Arrays<'_>) -> Result<T, String>,
    ) -> Option<T> {
        if !self.gives() {
            return None;
        }
        let team = lock(&self.team).clone();
        let file = team.hand_round("saved parts", FIRST, || marked_file(&self.folder.join(name)));
        self.part_of(file, name, observer, read)
    }

    /// The same for a part that this process reads by itself.
    fn take_here<H: serde::de::DeserializeOwned, T>(
        &self,
        name: &str,
        observer: &dyn Observer,
        read: impl FnOnce(H, &Arrays<'_>) -> Result<T, String>,
    ) -> Option<T> {
        if self.gives() {
            self.part_of(marked_file(&self.folder.join(name)), name, observer, read)
        } else {
            None
        }
    }

    /// What [`marked_file`] found.
    fn part_of<H: serde::de::DeserializeOwned, T>(
        &self,
        mut file: Vec<u8>,
        name: &str,
        observer: &dyn Observer,
        read: impl FnOnce(H, &Arrays<'_>) -> Result<T, String>,
    ) -> Option<T> {
        #[derive(serde::Deserialize)]
        struct About<H> {
            run: String,
            part: H,
        }
        let found = match file.pop() {
            Some(MISSING) => return None,
            Some(WHOLE) => unpack(&file, &PART).map_err(in_words).and_then(|(about, arrays)| {
                let about: About<H> = serde_json::from_str(&about).map_err(|error| error.to_string())?;
                // A part that another run left behind is none of ours.
                if about.run == *lock(&self.run) { read(about.part, &arrays).map(Some) } else { Ok(None) }
            }),
            _ => Err(String::from_utf8_lossy(&file).into_owned()),
        };
        found.unwrap_or_else(|reason| {
            let folder = self.folder.display();
            self.trouble(
                format!(
                    "{folder}: {name} is damaged ({reason}); the run goes on from what was saved before it"
                ),
                observer,
            );
            None
        })
    }

    /// Remove a part that another one took the place of.
    fn forget(&self, name: &str) {
        if self.first() && !self.closed() {
            // Of no use any more, and of no harm where it stays.
            let _ = std::fs::remove_file(self.folder.join(name));
        }
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

/// Marks behind the bytes of a file: all of it, none there, or why it cannot be read.
const WHOLE: u8 = 1;
const MISSING: u8 = 2;
const UNREADABLE: u8 = 3;

/// The bytes of a file, or what the system says of it, with a mark behind.
fn marked_file(path: &Path) -> Vec<u8> {
    let (mut bytes, mark) = match std::fs::read(path) {
        Ok(bytes) => (bytes, WHOLE),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => (Vec::new(), MISSING),
        Err(error) => (error.to_string().into_bytes(), UNREADABLE),
    };
    bytes.push(mark);
    bytes
}

/// Refuse a run whose processes are not of the same mind.
fn check_alike(team: &Team, facts: &Facts) -> Result<()> {
    if team.size() == 1 {
        return Ok(());
    }
    let first = team.hand_round("settings", FIRST, || serde_json::json!(facts).to_string().into_bytes());
    let differences = match serde_json::from_slice::<Facts>(&first) {
        Ok(first) => facts.differences(&first, "rank 0").unwrap_or_default(),
        Err(error) => error.to_string(),
    };
    let (all, ends) = team.gather("settings", differences.as_bytes());
    match ends.windows(2).position(|at| at[0] < at[1]) {
        Some(rank) => {
            let differences = String::from_utf8_lossy(&all[ends[rank]..ends[rank + 1]]).into_owned();
            Err(CheckpointError::OtherRank { rank, differences }.into())
        }
        None => Ok(()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_words(refused: Refused) -> String {
    match refused {
        Refused::Foreign(reason) | Refused::Damaged(reason) => reason,
        Refused::Version(found) => {
            format!("it has format version {found}, and this nearfar reads version {VERSION}")
        }
    }
}

/// What the first process tells the others of the folder.
#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Told {
    Opened((bool, String)),
    Refused(String),
}

/// What the first process found, or why it was refused, in all of them.
fn opened_by_first(team: &Team, opened: Result<Option<(bool, String)>>) -> Result<(bool, String)> {
    let mut refused = None;
    let told = team.hand_round("checkpoint", FIRST, || match opened {
        Ok(opened) => serde_json::json!({ "opened": opened }).to_string().into_bytes(),
        Err(error) => {
            let told = serde_json::json!({ "refused": error.to_string() }).to_string().into_bytes();
            refused = Some(error);
            told
        }
    });
    if let Some(error) = refused {
        return Err(error);
    }
    match serde_json::from_slice(&told) {
        Ok(Told::Opened(opened)) => Ok(opened),
        Ok(Told::Refused(message)) => Err(CheckpointError::First { message }.into()),
        Err(error) => Err(CheckpointError::First { message: error.to_string() }.into()),
    }
}
