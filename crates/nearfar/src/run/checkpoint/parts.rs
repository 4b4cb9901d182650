//! Parts of a checkpoint, saved and taken.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::{Checkpoint, FIRST, PART, VERSION, lock};
use crate::model::tensors::{Array, Arrays, Refused, pack, unpack, write_whole};
use crate::observe::Observer;

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

fn in_words(refused: Refused) -> String {
    match refused {
        Refused::Foreign(reason) | Refused::Damaged(reason) => reason,
        Refused::Version(found) => {
            format!("it has format version {found}, and this nearfar reads version {VERSION}")
        }
    }
}

impl Checkpoint {
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
    pub(super) fn put_here(
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
    pub(super) fn gives(&self) -> bool {
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
    pub(super) fn take_here<H: serde::de::DeserializeOwned, T>(
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
    pub(super) fn forget(&self, name: &str) {
        if self.first() && !self.closed() {
            // Of no use any more, and of no harm where it stays.
            let _ = std::fs::remove_file(self.folder.join(name));
        }
    }
}
