//! Files as memory.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use memmap2::{Mmap, MmapMut, MmapOptions};

/// Bytes of a file that are read when they are looked at.
///
/// The caller promises that nobody writes to the file or cuts it short while this value lives, which no program can
/// see to. Where the promise is broken by writing, the bytes seen may be old or new; where it is broken by cutting,
/// the system ends the process on the next look at what is gone (see [`say_when_pages_are_lost`]).
/// [`is_unchanged`](Self::is_unchanged) tells afterwards whether it was kept.
#[derive(Debug)]
pub struct MappedFile {
    map: Mmap,
    file: File,
    seen: Seen,
}

/// What a file looks like from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seen {
    length: u64,
    modified: Option<SystemTime>,
}

impl Seen {
    fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self { length: metadata.len(), modified: metadata.modified().ok() })
    }
}

impl MappedFile {
    /// `length` bytes from `offset` on.
    ///
    /// # Errors
    /// When the file is shorter, or the system cannot map it.
    #[allow(unsafe_code, reason = "a mapped file")]
    pub fn new(file: &File, offset: u64, length: usize) -> io::Result<Self> {
        let file = file.try_clone()?;
        let seen = Seen::of(&file)?;
        if offset.checked_add(length as u64).is_none_or(|end| end > seen.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // SAFETY: the range lies inside the file, and that it stays as it is has been promised (see the type).
        let map = unsafe { MmapOptions::new().offset(offset).len(length).map_copy_read_only(&file)? };
        Ok(Self { map, file, seen })
    }

    /// Whether the file still has the length and the time of its last change that it had.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        Seen::of(&self.file).is_ok_and(|now| now == self.seen)
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

/// Memory that lies in a file of its own, which nobody else can name and which is gone with the process, however it
/// ends.
#[derive(Debug)]
pub struct ScratchFile {
    map: MmapMut,
    /// Where a file in use cannot be removed, it is at the end.
    left: Option<PathBuf>,
}

impl ScratchFile {
    /// `length` zero bytes in a file in this folder; the room on the disk is taken now, so that none is missing later.
    ///
    /// # Errors
    /// When the folder cannot be written to or the disk is full.
    #[allow(unsafe_code, reason = "a mapped file")]
    pub fn zeros(folder: &Path, length: usize) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!(".nearfar-{}-{number}.tmp", std::process::id()));
        let mut file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        let gone = cfg!(unix) && std::fs::remove_file(&path).is_ok();
        let filled = fill(&mut file, length).and_then(|()| {
            // SAFETY: the file was made here under a name that did not exist; only this process holds it.
            unsafe { MmapOptions::new().len(length).map_mut(&file) }
        });
        match filled {
            Ok(map) => Ok(Self { map, left: (!gone).then_some(path) }),
            Err(error) => {
                if !gone {
                    let _ = std::fs::remove_file(&path); // the first error is the one to tell
                }
                Err(error)
            }
        }
    }
}

fn fill(file: &mut File, length: usize) -> io::Result<()> {
    let zeros = vec![0; 1 << 20];
    let mut left = length;
    while left > 0 {
        let now = left.min(zeros.len());
        file.write_all(&zeros[..now])?;
        left -= now;
    }
    Ok(())
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        if let Some(path) = &self.left {
            let _ = std::fs::remove_file(path); // nobody is left to tell
        }
    }
}

impl Deref for ScratchFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

impl DerefMut for ScratchFile {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.map
    }
}

/// What is said before the process ends.
#[cfg(target_os = "linux")]
const LOST: &[u8] = b"error: a file was cut short, or its disk failed, while it was in use as memory; leave the file alone during a run, or allow more memory (--memory) so that it is read first\n";

/// From here on, a look at a part of a mapped file that is gone ends the process with a sentence and exit code 2
/// instead of a crash. For programs, once they have mapped a file; a library leaves signals alone.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "a signal handler")]
pub fn say_when_pages_are_lost() {
    extern "C" fn say(_: libc::c_int) {
        // SAFETY: `write` and `_exit` may be called from a handler; the text is static.
        unsafe {
            libc::write(2, LOST.as_ptr().cast(), LOST.len());
            libc::_exit(2);
        }
    }
    // SAFETY: the action is zeroed memory, as the system defines it, with a handler that does nothing but calls
    // allowed there.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = say as extern "C" fn(libc::c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
    }
}

/// Elsewhere the signal has other meanings too: nothing is done.
#[cfg(not(target_os = "linux"))]
pub fn say_when_pages_are_lost() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_file_reads_as_it_is_and_notices_a_change() {
        let folder = std::env::temp_dir();
        let path = folder.join(format!("nearfar-mapped-{}", std::process::id()));
        std::fs::write(&path, (0..=255).collect::<Vec<u8>>()).unwrap();
        let file = File::open(&path).unwrap();
        let mapped = MappedFile::new(&file, 100, 56).unwrap();
        assert_eq!((mapped.len(), mapped[0], mapped[55]), (56, 100, 155));
        assert!(mapped.is_unchanged());
        assert!(MappedFile::new(&file, 100, 157).is_err() && MappedFile::new(&file, u64::MAX, 2).is_err());
        OpenOptions::new().append(true).open(&path).unwrap().write_all(&[1]).unwrap();
        assert!(!mapped.is_unchanged());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_scratch_file_is_memory_that_leaves_nothing_behind() {
        let folder = std::env::temp_dir().join(format!("nearfar-scratch-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let mut scratch = ScratchFile::zeros(&folder, (3 << 20) + 7).unwrap();
        assert!(scratch.len() == (3 << 20) + 7 && scratch.iter().all(|byte| *byte == 0));
        scratch[3 << 20] = 9;
        assert_eq!(scratch[3 << 20], 9);
        drop(scratch);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        std::fs::remove_dir(&folder).unwrap();
        assert!(ScratchFile::zeros(&folder, 1).is_err());
    }
}
