//! Arrays as files hold them: a shape and typed values in C order.

use super::buffer::{Buffer, Real};

/// Values of one array, in the type they are stored in.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NpyData {
    /// Truth values.
    Bool(Vec<bool>),
    /// 8-bit signed.
    I8(Vec<i8>),
    /// 16-bit signed.
    I16(Vec<i16>),
    /// 32-bit signed.
    I32(Vec<i32>),
    /// 64-bit signed.
    I64(Vec<i64>),
    /// 8-bit unsigned.
    U8(Vec<u8>),
    /// 16-bit unsigned.
    U16(Vec<u16>),
    /// 32-bit unsigned.
    U32(Vec<u32>),
    /// 64-bit unsigned.
    U64(Vec<u64>),
    /// Single precision; half precision is widened to it.
    F32(Buffer<f32>),
    /// Double precision.
    F64(Buffer<f64>),
}

/// Run `$body` with `$values` bound to the vector, whatever its type.
macro_rules! each_type {
    ($data:expr, $values:ident => $body:expr) => {
        match $data {
            NpyData::Bool($values) => $body,
            NpyData::I8($values) => $body,
            NpyData::I16($values) => $body,
            NpyData::I32($values) => $body,
            NpyData::I64($values) => $body,
            NpyData::U8($values) => $body,
            NpyData::U16($values) => $body,
            NpyData::U32($values) => $body,
            NpyData::U64($values) => $body,
            NpyData::F32($values) => $body,
            NpyData::F64($values) => $body,
        }
    };
}

impl NpyData {
    /// Number of values.
    pub fn len(&self) -> usize {
        each_type!(self, values => values.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// NumPy's name of the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "bool",
            Self::I8(_) => "int8",
            Self::I16(_) => "int16",
            Self::I32(_) => "int32",
            Self::I64(_) => "int64",
            Self::U8(_) => "uint8",
            Self::U16(_) => "uint16",
            Self::U32(_) => "uint32",
            Self::U64(_) => "uint64",
            Self::F32(_) => "float32",
            Self::F64(_) => "float64",
        }
    }

    /// Every value as f64; 64-bit integers beyond 2⁵³ are rounded.
    pub fn to_f64(&self) -> Vec<f64> {
        match self {
            Self::F64(values) => values.to_vec(),
            Self::F32(values) => values.iter().map(|&v| f64::from(v)).collect(),
            Self::I64(values) => values.iter().map(|&v| v as f64).collect(),
            Self::U64(values) => values.iter().map(|&v| v as f64).collect(),
            Self::Bool(values) => values.iter().map(|&v| f64::from(u8::from(v))).collect(),
            Self::I8(values) => values.iter().map(|&v| f64::from(v)).collect(),
            Self::I16(values) => values.iter().map(|&v| f64::from(v)).collect(),
            Self::I32(values) => values.iter().map(|&v| f64::from(v)).collect(),
            Self::U8(values) => values.iter().map(|&v| f64::from(v)).collect(),
            Self::U16(values) => values.iter().map(|&v| f64::from(v)).collect(),
            Self::U32(values) => values.iter().map(|&v| f64::from(v)).collect(),
        }
    }

    /// Values written one after the other by columns (Fortran order), put in C order.
    pub(crate) fn by_rows(self, shape: &[usize]) -> Self {
        match self {
            Self::Bool(values) => Self::Bool(by_rows(&values, shape)),
            Self::I8(values) => Self::I8(by_rows(&values, shape)),
            Self::I16(values) => Self::I16(by_rows(&values, shape)),
            Self::I32(values) => Self::I32(by_rows(&values, shape)),
            Self::I64(values) => Self::I64(by_rows(&values, shape)),
            Self::U8(values) => Self::U8(by_rows(&values, shape)),
            Self::U16(values) => Self::U16(by_rows(&values, shape)),
            Self::U32(values) => Self::U32(by_rows(&values, shape)),
            Self::U64(values) => Self::U64(by_rows(&values, shape)),
            Self::F32(values) => Self::F32(floats_by_rows(values, shape)),
            Self::F64(values) => Self::F64(floats_by_rows(values, shape)),
        }
    }
}

/// An array read from a file; values in C order, whatever order the file has.
#[derive(Clone, Debug, PartialEq)]
pub struct NpyArray {
    /// Length along each axis; empty for a scalar.
    pub shape: Vec<usize>,
    /// Values, the last axis running fastest.
    pub data: NpyData,
}

impl NpyArray {
    /// Every value as f64, in C order.
    pub fn to_f64(&self) -> Vec<f64> {
        self.data.to_f64()
    }
}

/// As [`by_rows`], and still known to be finite if it was.
fn floats_by_rows<T: Real>(values: Buffer<T>, shape: &[usize]) -> Buffer<T> {
    if shape.iter().filter(|&&length| length != 1).count() < 2 {
        return values;
    }
    let finite = values.is_finite();
    let turned = Buffer::from(by_rows(&values, shape));
    if finite { turned.seen_finite() } else { turned }
}

/// From Fortran order to C order; `values` has exactly as many values as `shape` says.
fn by_rows<T: Copy>(values: &[T], shape: &[usize]) -> Vec<T> {
    // Axes of length 1 change nothing about the order.
    let axes: Vec<usize> = shape.iter().copied().filter(|&length| length != 1).collect();
    match axes[..] {
        [] | [_] => values.to_vec(),
        [n_rows, n_columns] => transpose(values, n_rows, n_columns),
        _ => permute(values, &axes),
    }
}

/// Column-major `n_rows × n_columns` to row-major, by tiles that stay in cache.
fn transpose<T: Copy>(values: &[T], n_rows: usize, n_columns: usize) -> Vec<T> {
    const TILE: usize = 32;
    let Some(&first) = values.first() else { return Vec::new() };
    let mut out = vec![first; values.len()];
    for row in (0..n_rows).step_by(TILE) {
        let last_row = (row + TILE).min(n_rows);
        for column in (0..n_columns).step_by(TILE) {
            for j in column..(column + TILE).min(n_columns) {
                for (i, &value) in (row..last_row).zip(&values[j * n_rows + row..]) {
                    out[i * n_columns + j] = value;
                }
            }
        }
    }
    out
}

/// The general case: count through the indices in C order.
fn permute<T: Copy>(values: &[T], shape: &[usize]) -> Vec<T> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for &length in shape {
        strides.push(stride);
        stride *= length;
    }
    let mut index = vec![0; shape.len()];
    let mut out = Vec::with_capacity(values.len());
    let mut at = 0;
    while out.len() < values.len() {
        out.push(values[at]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            at += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            at -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    out
}

/// A shape as people write it: `70000 x 784`.
pub(crate) fn shape_text(shape: &[usize]) -> String {
    if shape.is_empty() {
        return "scalar".to_owned();
    }
    shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortran_order_becomes_c_order() {
        for shape in [vec![3, 4], vec![70, 33], vec![2, 3, 4], vec![5, 1, 7], vec![6], vec![], vec![0, 3]] {
            let count = shape.iter().product::<usize>();
            let mut fortran = vec![0_u32; count];
            for at in 0..count {
                // C position `at` has indices that Fortran order weighs the other way round.
                let (mut rest, mut weight, mut to) = (at, count, 0);
                for axis in (0..shape.len()).rev() {
                    weight /= shape[axis];
                    to += rest % shape[axis] * weight;
                    rest /= shape[axis];
                }
                fortran[to] = at as u32;
            }
            let expected: Vec<u32> = (0..count as u32).collect();
            assert_eq!(by_rows(&fortran, &shape), expected, "{shape:?}");
        }
    }
}
