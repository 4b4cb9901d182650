//! Memory for a matrix on its way in: fresh, zero, and in large pages where the system has them.
//!
//! Reading a file that is already in memory costs little more than touching the pages it goes to. With
//! pages of 4 kB that alone takes longer than the copy, so large buffers ask for large ones.

use std::fs::File;
use std::io::Read;
use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use memmap2::MmapMut;
use nearfar_pages::{MappedFile, ScratchFile};

use super::error::LoadProblem;
use super::memory::MemoryBudget;
use crate::math::kernel::vectorized;

/// Below this many bytes ordinary memory is as good.
const LARGE: usize = 4 << 20;
/// Bytes read and looked at together: they should still be in the cache.
const CHUNK: usize = 1 << 17;

/// A fixed number of values; sees itself as a slice.
///
/// ```
/// let buffer = nearfar::load::Buffer::from(vec![1.0, 2.0]);
/// assert_eq!(buffer[1], 2.0);
/// ```
pub struct Buffer<T> {
    memory: Memory<T>,
    /// Values in use, from the first on.
    length: usize,
    /// Whether all values are known to be finite.
    finite: bool,
}

enum Memory<T> {
    Small(Vec<T>),
    Large(MmapMut),
    /// A part of the file that was to be read.
    Mapped(MappedFile),
    /// In a file of its own.
    Scratch(ScratchFile),
}

impl<T: Pod> Buffer<T> {
    /// `length` zeros. Large buffers take no memory before they are written to.
    pub(crate) fn zeros(length: usize) -> Result<Self, LoadProblem> {
        let bytes = length.checked_mul(size_of::<T>()).ok_or_else(|| too_large(u64::MAX))?;
        if bytes >= LARGE
            && let Some(map) = large_pages(bytes)
        {
            return Ok(Self { memory: Memory::Large(map), length, finite: false });
        }
        let mut values = Vec::new();
        values.try_reserve_exact(length).map_err(|_| too_large(bytes as u64))?;
        values.resize(length, T::zeroed());
        Ok(Self { memory: Memory::Small(values), length, finite: false })
    }

    /// `length` zeros; in a file of the system's temporary folder where there is no room for them in memory.
    ///
    /// # Errors
    /// When memory or disk do not suffice.
    pub fn within(budget: &MemoryBudget, length: usize) -> Result<Self, LoadProblem> {
        let bytes = length.checked_mul(size_of::<T>()).ok_or_else(|| too_large(u64::MAX))?;
        if budget.holds(bytes as u64) {
            return Self::zeros(length);
        }
        let folder = std::env::temp_dir();
        match ScratchFile::zeros(&folder, bytes) {
            Ok(file) => Ok(Self { memory: Memory::Scratch(file), length, finite: false }),
            Err(error) => Err(LoadProblem::NoScratch { bytes: bytes as u64, folder, error }),
        }
    }

    /// Values as they lie in a file, from a byte on that suits them; nobody may change the file meanwhile.
    pub(crate) fn mapped(file: &File, offset: u64, length: usize) -> Result<Self, LoadProblem> {
        let bytes = length.checked_mul(size_of::<T>()).ok_or_else(|| too_large(u64::MAX))?;
        let map = MappedFile::new(file, offset, bytes)
            .map_err(|error| LoadProblem::from_io(error, "values of the array"))?;
        Ok(Self { memory: Memory::Mapped(map), length, finite: false })
    }

    /// Keep the first `length` values.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }
}

impl<T> Buffer<T> {
    /// Whether the values lie in a file, from where the system fetches them as they are needed.
    pub fn in_file(&self) -> bool {
        matches!(self.memory, Memory::Mapped(_) | Memory::Scratch(_))
    }

    /// Whether the file that the values lie in, if they do, has been left alone since.
    pub fn is_unchanged(&self) -> bool {
        if let Memory::Mapped(map) = &self.memory { map.is_unchanged() } else { true }
    }
}

/// The two types that samples are kept in.
pub(crate) trait Real: Pod + Into<f64> + PartialEq + std::fmt::Debug {
    /// The same value with its bytes in the other order.
    fn swapped(self) -> Self;
    /// Whether every value is finite.
    fn all_finite(values: &[Self]) -> bool;
}

macro_rules! real {
    ($($type:ty, $bits:ty);*) => {$(
        impl Real for $type {
            fn swapped(self) -> Self {
                Self::from_bits(self.to_bits().swap_bytes())
            }

            fn all_finite(values: &[Self]) -> bool {
                // Infinite and NaN have every bit of the exponent set: one more there reaches the sign's place, and
                // nothing else does. No early end and no comparison, so that it goes at the speed of memory.
                const EXPONENT: $bits = <$type>::INFINITY.to_bits();
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                const ONE: $bits = SIGN - EXPONENT;
                let seen = vectorized(|| {
                    values.iter().fold(0, |seen, value| seen | ((value.to_bits() & EXPONENT) + ONE))
                });
                seen & SIGN == 0
            }
        }
    )*};
}
real!(f32, u32; f64, u64);

#[allow(private_bounds, reason = "for the readers; callers see slices")]
impl<T: Real> Buffer<T> {
    /// Read all values, in this machine's byte order or in the other, and look at each while it is near.
    pub(crate) fn read(&mut self, reader: &mut impl Read, swap: bool) -> std::io::Result<()> {
        let mut finite = true;
        for chunk in self.chunks_mut(CHUNK / size_of::<T>()) {
            reader.read_exact(bytemuck::cast_slice_mut(chunk))?;
            if swap {
                chunk.iter_mut().for_each(|value| *value = value.swapped());
            }
            finite &= T::all_finite(chunk);
        }
        self.finite = finite;
        Ok(())
    }

    /// Whether every value is finite; nothing is looked at twice.
    pub(crate) fn is_finite(&self) -> bool {
        self.finite || self.chunks(CHUNK / size_of::<T>()).all(T::all_finite)
    }

    /// Say that the reader has seen every value to be finite.
    pub(crate) fn seen_finite(mut self) -> Self {
        self.finite = true;
        self
    }
}

fn too_large(bytes: u64) -> LoadProblem {
    let advice = "there is not enough memory";
    LoadProblem::TooLarge { what: "the array".to_owned(), bytes, limit: 0, advice }
}

/// Zero memory in large pages, or `None` where the system has no such thing.
fn large_pages(bytes: usize) -> Option<MmapMut> {
    let map = MmapMut::map_anon(bytes).ok()?;
    #[cfg(target_os = "linux")]
    // Only a wish: without it the memory is as good, if slower to get.
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(map)
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.memory {
            Memory::Small(values) => &values[..self.length],
            Memory::Large(map) => bytemuck::cast_slice(&map[..self.length * size_of::<T>()]),
            Memory::Mapped(map) => bytemuck::cast_slice(&map[..self.length * size_of::<T>()]),
            Memory::Scratch(map) => bytemuck::cast_slice(&map[..self.length * size_of::<T>()]),
        }
    }
}

impl<T: Pod> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.finite = false;
        if let Memory::Mapped(_) = &self.memory {
            // Somebody else's file is not written to.
            self.memory = Memory::Small(self.to_vec());
        }
        match &mut self.memory {
            Memory::Small(values) => &mut values[..self.length],
            Memory::Large(map) => bytemuck::cast_slice_mut(&mut map[..self.length * size_of::<T>()]),
            Memory::Scratch(map) => bytemuck::cast_slice_mut(&mut map[..self.length * size_of::<T>()]),
            Memory::Mapped(_) => &mut [],
        }
    }
}

impl AsRef<[u8]> for Buffer<u8> {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Self {
        let length = values.len();
        Self { memory: Memory::Small(values), length, finite: false }
    }
}

impl<T> FromIterator<T> for Buffer<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Vec::from_iter(values).into()
    }
}

impl<T: Pod> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        self.to_vec().into()
    }
}

impl<T: Pod + PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Pod + std::fmt::Debug> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_buffers_behave_alike() {
        for length in [0, 3, LARGE / 8 + 5] {
            let mut buffer: Buffer<f64> = Buffer::zeros(length).unwrap();
            assert!(buffer.len() == length && buffer.iter().all(|x| *x == 0.0));
            buffer.iter_mut().enumerate().for_each(|(at, x)| *x = at as f64);
            assert_eq!(buffer, buffer.clone());
            buffer.truncate(2);
            assert_eq!(buffer.len(), length.min(2));
            assert!(buffer.is_finite());
        }
        assert!(Buffer::<f64>::zeros(usize::MAX / 4).is_err());
    }

    #[test]
    fn one_value_that_is_not_finite_is_seen_among_all_kinds_that_are() {
        let fine = [0.0, -0.0, 1.0, -1.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, -5e-324];
        assert!(f64::all_finite(&fine));
        let single = [0.0, -0.0, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45];
        assert!(f32::all_finite(&single));
        for at in 0..fine.len() {
            for other in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut values = fine;
                values[at] = other;
                assert!(!f64::all_finite(&values));
                let mut values = [1.0_f32; 40];
                values[4 * at] = other as f32;
                assert!(!f32::all_finite(&values));
            }
        }
    }
}
