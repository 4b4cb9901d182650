//! Files of named arrays behind a JSON header: model files and checkpoints are made of them.
//!
//! Such a file is a safetensors file whose one metadata entry, `nearfar`, holds the format's name and version, a
//! checksum, and what is no array. Nothing in it is ever executed. The checksum finds damage; it is no signature.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView, View};

/// The metadata entry that makes a safetensors file ours.
const ENTRY: &str = "nearfar";

/// A format: its name, and the only version that is written and read.
pub(crate) struct Format {
    pub(crate) name: &'static str,
    pub(crate) version: u32,
}

/// Why bytes were refused.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Another kind of file.
    Foreign(String),
    /// Another version of the format.
    Version(u64),
    /// Cut short or altered.
    Damaged(String),
}

/// The bytes of a file.
pub(crate) fn pack(format: &Format, about: &str, arrays: BTreeMap<&str, Array<'_>>) -> Vec<u8> {
    let checksum = checksum(about, arrays.iter().map(|(name, array)| (*name, array)));
    let header = serde_json::json!({
        "format": format.name, "version": format.version, "checksum": format!("{checksum:016x}"), "about": about,
    });
    let metadata = HashMap::from([(ENTRY.to_owned(), header.to_string())]);
    // Lengths are those of the arrays themselves, and there are few names.
    safetensors::serialize(arrays, Some(metadata)).unwrap_or_default()
}

/// What stands beside the arrays, and the arrays, of a file that is whole.
pub(crate) fn unpack<'data>(bytes: &'data [u8], format: &Format) -> Result<(String, Arrays<'data>), Refused> {
    let foreign = Refused::Foreign;
    let damaged = Refused::Damaged;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| foreign(error.to_string()))?;
    let entry = metadata.metadata().as_ref().and_then(|entries| entries.get(ENTRY));
    let entry = entry.ok_or_else(|| foreign(format!("it has no entry {ENTRY:?}")))?;
    let header: Header = serde_json::from_str(entry).map_err(|error| foreign(error.to_string()))?;
    if header.format != format.name {
        return Err(foreign(format!("its format is {:?}", header.format)));
    }
    // Before anything else: a later version may have other fields.
    if header.version != u64::from(format.version) {
        return Err(Refused::Version(header.version));
    }
    let (Some(about), Some(stated)) = (header.about, header.checksum) else {
        return Err(damaged("its header is not whole".to_owned()));
    };
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| damaged(error.to_string()))?;
    let arrays = Arrays(tensors.iter().map(|(name, view)| (name.to_owned(), view)).collect());
    if format!("{:016x}", checksum(&about, arrays.0.iter().map(|(name, view)| (name.as_str(), view))))
        != stated
    {
        return Err(damaged("its checksum is wrong".to_owned()));
    }
    Ok((about, arrays))
}

/// Write under a temporary name, sync, and rename, so that a half-written file never has the right name.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = atomic_write_file::AtomicWriteFile::open(path)?;
    file.write_all(bytes)?;
    file.commit()
}

#[derive(serde::Deserialize)]
struct Header {
    format: String,
    version: u64,
    checksum: Option<String>,
    about: Option<String>,
}

/// Numbers that a file can hold.
pub(crate) trait Number: Copy + bytemuck::Pod {
    const DTYPE: Dtype;
    fn from_le(bytes: &[u8]) -> Self;
    fn fine(&self) -> bool {
        true
    }
}

macro_rules! number {
    ($type:ty, $dtype:ident $(, $fine:expr)?) => {
        impl Number for $type {
            const DTYPE: Dtype = Dtype::$dtype;
            fn from_le(bytes: &[u8]) -> Self {
                // `chunks_exact` below gives as many bytes as the type has.
                bytes.try_into().map_or_else(|_| Self::default(), Self::from_le_bytes)
            }
            $(fn fine(&self) -> bool {
                let fine: fn(&Self) -> bool = $fine;
                fine(self)
            })?
        }
    };
}
number!(f32, F32, |x| x.is_finite());
number!(f64, F64, |x| x.is_finite());
number!(u32, U32);
number!(u64, U64);

/// An array on its way into a file.
pub(crate) struct Array<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Cow<'a, [u8]>,
}

impl<'a> Array<'a> {
    pub(crate) fn of<T: Number>(values: &'a [T], shape: &[usize]) -> Self {
        let mut bytes = Cow::Borrowed(bytemuck::cast_slice(values));
        if cfg!(target_endian = "big") {
            bytes.to_mut().chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
        }
        Self { dtype: T::DTYPE, shape: shape.to_vec(), bytes }
    }

    /// The same with bytes of its own.
    pub(crate) fn owned(self) -> Array<'static> {
        Array { dtype: self.dtype, shape: self.shape, bytes: Cow::Owned(self.bytes.into_owned()) }
    }

    /// The same, of one dimension.
    pub(crate) fn list<T: Number>(values: &'a [T]) -> Self {
        Self::of(values, &[values.len()])
    }
}

impl View for Array<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Every word times an odd number, turned and added: any single change changes the sum.
pub(crate) struct Sum(pub(crate) u64);

impl Sum {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
        self.word(bytes.len() as u64);
    }

    pub(crate) fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    /// What was added, in 64 bits.
    pub(crate) fn total(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

fn checksum<'a, V: View + 'a>(about: &str, arrays: impl Iterator<Item = (&'a str, &'a V)>) -> u64 {
    let mut sum = Sum(0);
    sum.add(about.as_bytes());
    for (name, array) in arrays {
        sum.add(name.as_bytes());
        sum.add(format!("{:?} {:?}", array.dtype(), array.shape()).as_bytes());
        sum.add(&array.data());
    }
    sum.total()
}

/// The arrays of a file.
pub(crate) struct Arrays<'data>(BTreeMap<String, TensorView<'data>>);

impl Arrays<'_> {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The type of an array, where there is one of this name.
    pub(crate) fn dtype(&self, name: &str) -> Option<Dtype> {
        self.0.get(name).map(TensorView::dtype)
    }

    /// An array of this type, with as many numbers as `len` says, whatever they are.
    pub(crate) fn read_any<T: Number>(&self, name: &str, len: Length) -> Result<Vec<T>, String> {
        let view = self.0.get(name).ok_or_else(|| format!("it has no array {name:?}"))?;
        if view.dtype() != T::DTYPE {
            return Err(format!("{name} holds {:?} instead of {:?}", view.dtype(), T::DTYPE));
        }
        let values: Vec<T> = view.data().chunks_exact(size_of::<T>()).map(T::from_le).collect();
        let holds = match len {
            Length::Any => true,
            Length::Of(len) => len == Some(values.len()),
            Length::NoneOr(len) => values.is_empty() || len == Some(values.len()),
        };
        if holds { Ok(values) } else { Err(format!("{name} holds {} numbers", values.len())) }
    }

    /// The same, and all of them finite.
    pub(crate) fn read<T: Number>(&self, name: &str, len: Length) -> Result<Vec<T>, String> {
        let values: Vec<T> = self.read_any(name, len)?;
        match values.iter().position(|value| !value.fine()) {
            Some(at) => Err(format!("number {at} of {name} is not finite")),
            None => Ok(values),
        }
    }

    pub(crate) fn read_if<T: Number>(&self, name: &str, len: Length) -> Result<Option<Vec<T>>, String> {
        if self.has(name) { self.read(name, len).map(Some) } else { Ok(None) }
    }
}

/// How many numbers an array must hold; `None` is a length that no array can have.
#[derive(Clone, Copy)]
pub(crate) enum Length {
    Any,
    Of(Option<usize>),
    NoneOr(Option<usize>),
}
