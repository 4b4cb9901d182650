//! Every finished run, one row each, in an SQLite file.
//!
//! SQLite rather than Parquet: a row is safe the moment it is inserted (its write-ahead log survives a kill at any
//! point), the key forbids storing a run twice, one writer at a time is enforced, and any language can query the
//! file while we need no format of our own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The name of the file in a study's folder.
pub const FILE: &str = "runs.sqlite";

/// Marks the file as ours ("near"), with the version of its table.
const APPLICATION: i32 = 0x6e65_6172;
const VERSION: i32 = 1;

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY,          -- hash of data, settings, seed, repeats and version
    dataset TEXT NOT NULL,
    data_hash TEXT NOT NULL,      -- SHA-256 of the values and classes
    method TEXT NOT NULL,
    settings TEXT NOT NULL,       -- JSON, in full
    seed INTEGER NOT NULL,
    accuracy REAL NOT NULL,
    nmi REAL NOT NULL,
    ari REAL NOT NULL,
    cut REAL NOT NULL,            -- normalised cut of the labels on the k-NN graph; no labels used
    repeats TEXT NOT NULL,        -- JSON: [ACC, NMI] of every repeat of the spectral step on this run's Z
    iterations INTEGER NOT NULL,
    stop TEXT NOT NULL,
    seconds REAL NOT NULL,        -- on one thread
    version TEXT NOT NULL,
    git_commit TEXT NOT NULL,
    machine TEXT NOT NULL,
    finished TEXT NOT NULL        -- UTC
) STRICT;";

/// What a run found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// ACC.
    pub accuracy: f64,
    /// NMI, arithmetic.
    pub nmi: f64,
    /// Adjusted Rand index.
    pub ari: f64,
    /// Normalised cut of the labels on the dataset's k-NN graph.
    pub cut: f64,
    /// ACC and NMI of every repeat of the spectral step.
    pub repeats: Vec<[f64; 2]>,
    /// Iterations of the last loop.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: String,
    /// Seconds on one thread.
    pub seconds: f64,
}

/// What a run was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Key.
    pub id: String,
    /// The dataset's name.
    pub dataset: String,
    /// SHA-256 of its values and classes.
    pub data_hash: String,
    /// The method.
    pub method: String,
    /// All settings, JSON.
    pub settings: String,
    /// The seed.
    pub seed: u64,
}

/// Who made the runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Origin {
    /// Version of the program.
    pub version: String,
    /// Commit it was built from.
    pub commit: String,
    /// Processor, cores, system.
    pub machine: String,
}

/// The runs that one build made on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Program and machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// How many.
    pub runs: usize,
    /// Their seconds together, on one thread each.
    pub seconds: f64,
}

/// The open file.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Mutex<Connection>,
    origin: Origin,
}

impl Store {
    /// Open or make the store of a folder, for writing by this process alone.
    ///
    /// # Errors
    /// When the file is of another program, damaged, or another study is writing to it.
    pub fn open(folder: &Path, origin: Origin) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
        let path = folder.join(FILE);
        let fault = |error: rusqlite::Error| fault(&path, &error);
        let connection = Connection::open(&path).map_err(fault)?;
        // Held from the first write on; WAL without shared memory, so that network folders work too.
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE").map_err(fault)?;
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).map_err(fault)?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(fault)?;
        let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        let (application, version) =
            (number("application_id").map_err(fault)?, number("user_version").map_err(fault)?);
        let tables: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
            .map_err(fault)?;
        if tables > 0 && application != APPLICATION {
            let problem = "is a database of another program; choose another folder".to_owned();
            return Err(Error::Store { path, problem });
        }
        if tables > 0 && version != VERSION {
            let problem =
                format!("has format {version}, this program knows {VERSION}; choose another folder");
            return Err(Error::Store { path, problem });
        }
        // One transaction: killed inside it, the file is still empty and not a table that nobody signed.
        connection.execute_batch(&format!(
            "BEGIN IMMEDIATE; {TABLE} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
        )).map_err(fault)?;
        Ok(Self { path, connection: Mutex::new(connection), origin })
    }

    fn with<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let connection = self.connection.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        work(&connection).map_err(|error| fault(&self.path, &error))
    }

    /// Who makes the runs that are put here now.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The run of this key, if it was stored, and who made it.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn get(&self, id: &str) -> Result<Option<(Run, Origin)>> {
        self.with(|connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT {COLUMNS}, version, git_commit, machine FROM runs WHERE id = ?1"
                ))?
                .query_row([id], |row| {
                    let origin = Origin {
                        version: row.get("version")?,
                        commit: row.get("git_commit")?,
                        machine: row.get("machine")?,
                    };
                    Ok((run_of(row)?, origin))
                })
                .optional()
        })
    }

    /// Store a finished run; it is safe when this returns.
    ///
    /// # Errors
    /// When the file cannot be written, as on a full disk; what was stored before stays.
    pub fn put(&self, record: &Record, run: &Run) -> Result<()> {
        let repeats = serde_json::to_string(&run.repeats).unwrap_or_default();
        self.with(|connection| {
            connection
                .prepare_cached(
                    "INSERT OR IGNORE INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                     strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
                )?
                .execute(params![
                    record.id,
                    record.dataset,
                    record.data_hash,
                    record.method,
                    record.settings,
                    record.seed.cast_signed(),
                    run.accuracy,
                    run.nmi,
                    run.ari,
                    run.cut,
                    repeats,
                    (run.iterations as u64).cast_signed(),
                    run.stop,
                    run.seconds,
                    self.origin.version,
                    self.origin.commit,
                    self.origin.machine,
                ])
        })?;
        Ok(())
    }

    /// How many runs are stored.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn count(&self) -> Result<usize> {
        self.with(|connection| {
            connection.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0))
        })
        .map(|count| count as usize)
    }

    /// All runs with what they were, by key.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn all(&self) -> Result<HashMap<String, (Record, Run)>> {
        self.with(|connection| {
            let sql = format!("SELECT {COLUMNS}, id, dataset, data_hash, method, settings, seed FROM runs");
            let mut statement = connection.prepare(&sql)?;
            let rows = statement.query_map([], |row| {
                let record = Record {
                    id: row.get("id")?,
                    dataset: row.get("dataset")?,
                    data_hash: row.get("data_hash")?,
                    method: row.get("method")?,
                    settings: row.get("settings")?,
                    seed: row.get::<_, i64>("seed")? as u64,
                };
                Ok((record.id.clone(), (record, run_of(row)?)))
            })?;
            rows.collect()
        })
    }
}

const COLUMNS: &str = "accuracy, nmi, ari, cut, repeats, iterations, stop, seconds";

fn run_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Run> {
    let repeats: String = row.get("repeats")?;
    Ok(Run {
        accuracy: row.get("accuracy")?,
        nmi: row.get("nmi")?,
        ari: row.get("ari")?,
        cut: row.get("cut")?,
        repeats: serde_json::from_str(&repeats).unwrap_or_default(),
        iterations: row.get::<_, i64>("iterations")? as usize,
        stop: row.get("stop")?,
        seconds: row.get("seconds")?,
    })
}

fn fault(path: &Path, error: &rusqlite::Error) -> Error {
    let problem = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another study is writing here; wait for it, or choose another folder".to_owned()
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            "is damaged or no database; move it away or choose another folder".to_owned()
        }
        Some(ErrorCode::DiskFull) => {
            "the disk is full; what was stored is safe, make room and run again".to_owned()
        }
        _ => error.to_string(),
    };
    Error::Store { path: path.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("nearfar-store-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn some(id: &str) -> (Record, Run) {
        let record = Record {
            id: id.into(),
            dataset: "seeds".into(),
            data_hash: "h".into(),
            method: "lsdg".into(),
            settings: "{}".into(),
            seed: 3,
        };
        let run = Run {
            accuracy: 0.9,
            nmi: 0.8,
            ari: 0.7,
            cut: 1.5,
            repeats: vec![[0.1, 0.2]],
            iterations: 7,
            stop: "loss".into(),
            seconds: 0.25,
        };
        (record, run)
    }

    #[test]
    fn what_is_put_is_there_after_reopening_and_once() {
        let folder = folder("again");
        let (record, run) = some("a");
        let maker = Origin { version: "1".into(), commit: "c".into(), machine: "m".into() };
        let store = Store::open(&folder, maker.clone()).unwrap();
        store.put(&record, &run).unwrap();
        store.put(&record, &Run { accuracy: 0.1, ..run.clone() }).unwrap();
        drop(store);
        let store = Store::open(&folder, Origin::default()).unwrap();
        assert_eq!(store.get("a").unwrap(), Some((run.clone(), maker)));
        assert_eq!(store.get("b").unwrap(), None);
        assert_eq!((store.count().unwrap(), store.all().unwrap()["a"].clone()), (1, (record, run)));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_left_empty_by_a_kill_is_taken() {
        let folder = folder("empty");
        let connection = Connection::open(folder.join(FILE)).unwrap();
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
        connection.execute_batch(&format!("BEGIN IMMEDIATE; {TABLE}")).unwrap();
        drop(connection); // The transaction was never committed.
        let store = Store::open(&folder, Origin::default()).unwrap();
        assert_eq!(store.count().unwrap(), 0);
        drop(store);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn foreign_damaged_and_busy_files_are_refused() {
        let folder = folder("refused");
        let open = || Store::open(&folder, Origin::default()).map(|_| ()).unwrap_err().to_string();
        std::fs::write(folder.join(FILE), [7_u8; 4096]).unwrap();
        assert!(open().contains("damaged"), "{}", open());
        std::fs::remove_file(folder.join(FILE)).unwrap();
        Connection::open(folder.join(FILE)).unwrap().execute_batch("CREATE TABLE other (x)").unwrap();
        assert!(open().contains("another program"), "{}", open());
        std::fs::remove_file(folder.join(FILE)).unwrap();
        let store = Store::open(&folder, Origin::default()).unwrap();
        assert!(open().contains("another study"), "{}", open());
        drop(store);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
