//! NPY files, written.

use std::io::Write;

use super::super::array::shape_text;
use super::{CHUNK, MAGIC};

/// A type that NPY files can be written with.
pub trait NpyElement: Copy + private::Sealed {
    /// The type as NPY headers write it.
    const DESCR: &'static str;

    /// Append the value's bytes, lowest first.
    fn put(self, out: &mut Vec<u8>);
}

mod private {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($type:ty => $descr:literal),*) => {$(
        impl private::Sealed for $type {}
        impl NpyElement for $type {
            const DESCR: &'static str = $descr;
            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
elements!(i8 => "|i1", i16 => "<i2", i32 => "<i4", i64 => "<i8", u8 => "|u1", u16 => "<u2", u32 => "<u4", u64 => "<u8",
    f32 => "<f4", f64 => "<f8");

impl private::Sealed for bool {}
impl NpyElement for bool {
    const DESCR: &'static str = "|b1";
    fn put(self, out: &mut Vec<u8>) {
        out.push(u8::from(self));
    }
}

/// Write one array in C order as an NPY file, byte for byte as NumPy does.
///
/// ```
/// let mut file = Vec::new();
/// nearfar::load::write_npy(&mut file, &[2, 2], &[1.0_f32, 2.0, 3.0, 4.0])?;
/// assert_eq!(&file[1..6], b"NUMPY");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// When `out` fails, or `values` is not exactly what `shape` says.
pub fn write_npy<T: NpyElement>(out: &mut impl Write, shape: &[usize], values: &[T]) -> std::io::Result<()> {
    if shape.iter().try_fold(1_usize, |count, &length| count.checked_mul(length)) != Some(values.len()) {
        let text = format!("{} values do not fill an array of {}", values.len(), shape_text(shape));
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, text));
    }
    out.write_all(&header_bytes(T::DESCR, shape))?;
    let mut buffer = Vec::with_capacity(CHUNK.min(size_of_val(values)));
    for chunk in values.chunks(CHUNK / size_of::<T>()) {
        buffer.clear();
        for value in chunk {
            value.put(&mut buffer);
        }
        out.write_all(&buffer)?;
    }
    Ok(())
}

/// Magic, version, length and the dictionary, padded so that the values begin at a multiple of 64.
fn header_bytes(descr: &str, shape: &[usize]) -> Vec<u8> {
    let axes: String = match shape {
        [only] => format!("{only},"),
        _ => shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({axes}), }}");
    while !(10 + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.bytes());
    bytes
}
