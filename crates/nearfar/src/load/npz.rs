//! NPZ: a zip of NPY files, as NumPy's `savez` and `savez_compressed` write it.
//!
//! Every entry that is used is read to its end, so that its checksum is compared. What it unpacks to
//! is bounded before and while it is read.

use std::fs::File;
use std::io::{BufReader, Read, Seek, Write};
use std::path::Path;

use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::array::NpyArray;
use super::error::{LoadError, LoadProblem};
use super::labels::Labels;
use super::limit::{MOST_DEFLATE, Unpacked};
use super::npy::{self, NpyElement, NpyHeader, write_npy};

/// Every array of numbers of an NPZ file, in the file's order, by name without `.npy`; arrays of text are passed over.
///
/// # Errors
/// When the file cannot be read or is damaged.
pub fn read_npz(path: impl AsRef<Path>) -> Result<Vec<(String, NpyArray)>, LoadError> {
    let path = path.as_ref();
    let read = || {
        let file = File::open(path).map_err(|error| LoadProblem::from_io(error, "file"))?;
        let length = file.metadata().map_err(LoadProblem::Unreadable)?.len();
        let mut npz = Npz::open(BufReader::new(file), Unpacked::new(length, None))?;
        (0..npz.entries.len())
            .filter_map(|at| match npz.array(at) {
                Err(LoadProblem::Unsupported { .. }) => None,
                array => Some(array.map(|array| (npz.entries[at].name.clone(), array))),
            })
            .collect::<Result<_, _>>()
    };
    read().map_err(|problem| LoadError::new(path.display(), problem))
}

/// An open NPZ file: what it holds is known, the values are not yet read.
pub(crate) struct Npz<R> {
    zip: ZipArchive<R>,
    pub(crate) entries: Vec<Entry>,
    unpacked: Unpacked,
}

/// One array of an NPZ file.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) header: NpyHeader,
    index: usize,
}

impl<R: Read + Seek> Npz<R> {
    /// Read the directory and every array's header.
    pub(crate) fn open(reader: R, unpacked: Unpacked) -> Result<Self, LoadProblem> {
        let mut zip = ZipArchive::new(reader).map_err(|error| from_zip(error, "zip directory"))?;
        let mut entries = Vec::new();
        for index in 0..zip.len() {
            let mut entry = zip.by_index(index).map_err(|error| from_zip(error, "zip directory"))?;
            let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
            let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else { continue };
            let most = entry.compressed_size().saturating_mul(MOST_DEFLATE);
            if entry.size() > most {
                return Err(LoadProblem::TooLarge {
                    what: format!("array {name:?}"),
                    bytes: entry.size(),
                    limit: most,
                    advice: "the zip directory is damaged",
                });
            }
            let header = NpyHeader::read(&mut entry).map_err(|problem| inside(problem, &name))?;
            npy::check_claim(&header, entry.size(), "the entry")?;
            entries.push(Entry { name, header, index });
        }
        Ok(Self { zip, entries, unpacked })
    }

    /// Read one array, and the entry to its end.
    pub(crate) fn array(&mut self, at: usize) -> Result<NpyArray, LoadProblem> {
        self.read(at, |header, mut reader| header.values(&mut reader))
    }

    /// Read one array as samples, and the entry to its end; also gives the name of the type they are stored in.
    pub(crate) fn samples(&mut self, at: usize) -> Result<(NpyArray, String), LoadProblem> {
        self.read(at, |header, mut reader| header.samples(&mut reader))
    }

    /// Read one array of classes, which may be texts, and the entry to its end.
    pub(crate) fn labels(&mut self, at: usize) -> Result<Labels, LoadProblem> {
        let name = self.entries[at].name.clone();
        self.read(at, |header, mut reader| header.labels(&mut reader, &name))
    }

    fn read<V>(
        &mut self,
        at: usize,
        values: impl FnOnce(&NpyHeader, &mut dyn Read) -> Result<V, LoadProblem>,
    ) -> Result<V, LoadProblem> {
        let Entry { name, header, index } = &self.entries[at];
        let mut entry = self.zip.by_index(*index).map_err(|error| from_zip(error, "zip directory"))?;
        self.unpacked.add(entry.size(), || format!("array {name:?}"))?;
        let read = || {
            let mut within = entry.by_ref().take(header.bytes.saturating_add(20_000));
            let header = NpyHeader::read(&mut within)?;
            let array = values(&header, &mut within)?;
            if within.read(&mut [0]).map_err(|error| LoadProblem::from_io(error, "end of the array"))? > 0 {
                return Err(LoadProblem::malformed("end of the array", "there are bytes behind the values"));
            }
            Ok(array)
        };
        read().map_err(|problem| inside(problem, name))
    }
}

/// Say in which array it happened.
fn inside(problem: LoadProblem, name: &str) -> LoadProblem {
    match problem {
        LoadProblem::Malformed { place, found } => {
            LoadProblem::Malformed { place: format!("array {name:?}, {place}"), found }
        }
        LoadProblem::Unsupported { what, advice } => {
            LoadProblem::Unsupported { what: format!("{what} ({name:?})"), advice }
        }
        other => other,
    }
}

fn from_zip(error: zip::result::ZipError, place: &str) -> LoadProblem {
    match error {
        zip::result::ZipError::Io(error) => LoadProblem::from_io(error, place),
        other => LoadProblem::malformed(
            place,
            format!("damaged or not a zip file ({other}); copy or make the file again"),
        ),
    }
}

/// Writes arrays one after the other into an NPZ file that NumPy reads; the same arrays give the same bytes.
///
/// ```
/// let mut npz = nearfar::internals::NpzWriter::new(Vec::new());
/// npz.add("X", &[2, 2], &[1.0, 2.0, 3.0, 4.0])?;
/// npz.add("y", &[2], &[0_i32, 1])?;
/// let bytes = npz.finish()?;
/// assert_eq!(&bytes[..2], b"PK");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct NpzWriter<W: Write> {
    zip: ZipWriter<StreamWriter<W>>,
}

impl<W: Write> NpzWriter<W> {
    /// Begin a file on `out`, which need not seek.
    pub fn new(out: W) -> Self {
        Self { zip: ZipWriter::new_stream(out) }
    }

    /// Add one array in C order, compressed.
    ///
    /// # Errors
    /// When the output fails, the name is taken, or `values` is not exactly what `shape` says.
    pub fn add<T: NpyElement>(&mut self, name: &str, shape: &[usize], values: &[T]) -> std::io::Result<()> {
        let large = size_of_val(values) > 0xf000_0000;
        let options =
            SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(large);
        self.zip.start_file(format!("{name}.npy"), options)?;
        write_npy(&mut self.zip, shape, values)
    }

    /// Write the directory and give back the output.
    ///
    /// # Errors
    /// When the output fails.
    pub fn finish(self) -> std::io::Result<W> {
        Ok(self.zip.finish()?.into_inner())
    }
}
