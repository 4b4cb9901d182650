//! The cells of a column as numbers or as text, whatever type the file gives them.
//!
//! `arrow-cast` would do it for every pair of types; that takes more than half a minute to build, and a table needs
//! two kinds of cells.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};

use super::super::buffer::Real;
use super::super::error::{Column, LoadProblem, Place, shorten};
use super::Plan;

/// What features are read as: single or double precision.
pub(super) trait Number: ArrowPrimitiveType<Native: Real> {
    /// The nearest value.
    fn nearest(value: f64) -> Self::Native;
}

impl Number for Float32Type {
    fn nearest(value: f64) -> f32 {
        value as f32
    }
}

impl Number for Float64Type {
    fn nearest(value: f64) -> f64 {
        value
    }
}

/// One column of one batch, with what an error must say about it.
pub(super) struct Cells<'a> {
    pub(super) plan: &'a Plan,
    /// Which of the columns in use.
    pub(super) position: usize,
    /// Row of the file the batch begins with.
    pub(super) first_row: usize,
}

impl Cells<'_> {
    fn column(&self) -> Column {
        Column::new(self.plan.kept[self.position], Some(&self.plan.names))
    }

    fn place(&self, row: usize) -> Place {
        Place::Row(self.first_row + row)
    }

    /// Refuse nulls.
    fn complete(&self, column: &ArrayRef) -> Result<(), LoadProblem> {
        if column.null_count() == 0 {
            return Ok(());
        }
        let row = (0..column.len()).find(|&row| column.is_null(row)).unwrap_or(0);
        Err(LoadProblem::Missing { place: self.place(row), column: self.column() })
    }

    /// The column as finite numbers.
    pub(super) fn numbers<T: Number>(&self, column: &ArrayRef) -> Result<PrimitiveArray<T>, LoadProblem> {
        let Some(numbers) = numbers_of::<T>(column) else { return Err(self.not_numeric(column)) };
        self.complete(column)?;
        let values = &numbers.values()[..];
        if !T::Native::all_finite(values) {
            let mut wide = values.iter().map(|&value| value.into()).enumerate();
            if let Some((row, value)) = wide.find(|(_, value): &(usize, f64)| !value.is_finite()) {
                let value = wide_value(column, row).unwrap_or(value);
                if value.is_finite() {
                    let (place, column) = (self.place(row), self.column());
                    return Err(LoadProblem::TooWide { place, column, value });
                }
                let (place, value) = (self.place(row), value.to_string());
                return Err(LoadProblem::NotFinite { place, column: self.column(), value });
            }
        }
        Ok(numbers)
    }

    fn not_numeric(&self, column: &ArrayRef) -> LoadProblem {
        let first = texts_of(&column.slice(0, column.len().min(1)));
        match first.as_deref() {
            Some([text]) => {
                let value = text.as_deref().map(shorten).unwrap_or_default();
                LoadProblem::NotNumeric { place: self.place(0), column: self.column(), value }
            }
            _ => LoadProblem::Unsupported {
                what: format!("{} of type {}", self.column(), shorten(&column.data_type().to_string())),
                advice: "name the columns to use with `columns`".to_owned(),
            },
        }
    }

    /// Every cell as text; an empty class is refused, an empty row name is not.
    pub(super) fn texts(&self, column: &ArrayRef, needed: bool) -> Result<Vec<String>, LoadProblem> {
        if needed {
            self.complete(column)?;
        }
        let texts = texts_of(column).ok_or_else(|| self.not_numeric(column))?;
        Ok(texts.into_iter().map(Option::unwrap_or_default).collect())
    }
}

/// One number of a column, before it was narrowed.
fn wide_value(column: &ArrayRef, row: usize) -> Option<f64> {
    Some(numbers_of::<Float64Type>(&column.slice(row, 1))?.value(0))
}

/// The numbers of a column; `None` where its type is none of numbers. What stands in place of a null is any number.
fn numbers_of<T: Number>(column: &ArrayRef) -> Option<PrimitiveArray<T>> {
    fn of<S: ArrowPrimitiveType, T: Number>(
        column: &ArrayRef,
        wide: impl Fn(S::Native) -> f64,
    ) -> PrimitiveArray<T> {
        column.as_primitive::<S>().unary(|value| T::nearest(wide(value)))
    }
    let scaled = |scale: i8| 10_f64.powi(scale.into());
    Some(match column.data_type() {
        kind if *kind == T::DATA_TYPE => column.as_primitive::<T>().clone(),
        DataType::Boolean => {
            let values = column.as_boolean().values().iter();
            PrimitiveArray::from_iter_values(values.map(|value| T::nearest(f64::from(u8::from(value)))))
        }
        DataType::Int8 => of::<Int8Type, T>(column, f64::from),
        DataType::Int16 => of::<Int16Type, T>(column, f64::from),
        DataType::Int32 => of::<Int32Type, T>(column, f64::from),
        DataType::Int64 => of::<Int64Type, T>(column, |value| value as f64),
        DataType::UInt8 => of::<UInt8Type, T>(column, f64::from),
        DataType::UInt16 => of::<UInt16Type, T>(column, f64::from),
        DataType::UInt32 => of::<UInt32Type, T>(column, f64::from),
        DataType::UInt64 => of::<UInt64Type, T>(column, |value| value as f64),
        DataType::Float16 => {
            of::<Float16Type, T>(column, <<Float16Type as ArrowPrimitiveType>::Native>::to_f64)
        }
        DataType::Float32 => of::<Float32Type, T>(column, f64::from),
        DataType::Float64 => of::<Float64Type, T>(column, |value| value),
        DataType::Decimal32(_, scale) => {
            let scale = scaled(*scale);
            of::<Decimal32Type, T>(column, |value| f64::from(value) / scale)
        }
        DataType::Decimal64(_, scale) => {
            let scale = scaled(*scale);
            of::<Decimal64Type, T>(column, |value| value as f64 / scale)
        }
        DataType::Decimal128(_, scale) => {
            let scale = scaled(*scale);
            of::<Decimal128Type, T>(column, |value| value as f64 / scale)
        }
        DataType::Decimal256(..) => {
            let column = column.as_primitive::<Decimal256Type>();
            let number = |row| column.value_as_string(row).parse().unwrap_or(f64::NAN);
            PrimitiveArray::from_iter_values((0..column.len()).map(|row| T::nearest(number(row))))
        }
        _ => return None,
    })
}

/// Every cell as text, `None` where it is null; `None` where the type of the column has no plain text.
fn texts_of(column: &ArrayRef) -> Option<Vec<Option<String>>> {
    /// Of the cells that are not null.
    fn each(column: &dyn Array, text: impl Fn(usize) -> String) -> Vec<Option<String>> {
        (0..column.len()).map(|row| column.is_valid(row).then(|| text(row))).collect()
    }
    macro_rules! primitive {
        ($kind:ty, $array:ident, $row:ident => $text:expr) => {{
            let $array = column.as_primitive::<$kind>();
            each($array, |$row| $text)
        }};
    }
    macro_rules! moment {
        ($kind:ty, $zone:expr) => {
            primitive!($kind, times, row => {
                let text = times.value_as_datetime(row).map(|time| format!("{time:?}"));
                text.unwrap_or_default() + if $zone.is_some() { "Z" } else { "" }
            })
        };
    }
    macro_rules! time {
        ($kind:ty) => {
            primitive!($kind, times, row => {
                times.value_as_time(row).map(|time| time.to_string()).unwrap_or_default()
            })
        };
    }
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let bytes = |bytes: Option<&[u8]>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    Some(match column.data_type() {
        DataType::Null => vec![None; column.len()],
        DataType::Utf8 => column.as_string::<i32>().iter().map(owned).collect(),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().map(owned).collect(),
        DataType::Utf8View => column.as_string_view().iter().map(owned).collect(),
        DataType::Binary => column.as_binary::<i32>().iter().map(bytes).collect(),
        DataType::LargeBinary => column.as_binary::<i64>().iter().map(bytes).collect(),
        DataType::BinaryView => column.as_binary_view().iter().map(bytes).collect(),
        DataType::Boolean => each(column, |row| column.as_boolean().value(row).to_string()),
        DataType::Int8 => primitive!(Int8Type, values, row => values.value(row).to_string()),
        DataType::Int16 => primitive!(Int16Type, values, row => values.value(row).to_string()),
        DataType::Int32 => primitive!(Int32Type, values, row => values.value(row).to_string()),
        DataType::Int64 => primitive!(Int64Type, values, row => values.value(row).to_string()),
        DataType::UInt8 => primitive!(UInt8Type, values, row => values.value(row).to_string()),
        DataType::UInt16 => primitive!(UInt16Type, values, row => values.value(row).to_string()),
        DataType::UInt32 => primitive!(UInt32Type, values, row => values.value(row).to_string()),
        DataType::UInt64 => primitive!(UInt64Type, values, row => values.value(row).to_string()),
        // With a point, as other programs write them.
        DataType::Float16 => {
            primitive!(Float16Type, values, row => format!("{:?}", values.value(row).to_f32()))
        }
        DataType::Float32 => primitive!(Float32Type, values, row => format!("{:?}", values.value(row))),
        DataType::Float64 => primitive!(Float64Type, values, row => format!("{:?}", values.value(row))),
        DataType::Decimal32(..) => primitive!(Decimal32Type, values, row => values.value_as_string(row)),
        DataType::Decimal64(..) => primitive!(Decimal64Type, values, row => values.value_as_string(row)),
        DataType::Decimal128(..) => primitive!(Decimal128Type, values, row => values.value_as_string(row)),
        DataType::Decimal256(..) => primitive!(Decimal256Type, values, row => values.value_as_string(row)),
        DataType::Date32 => primitive!(Date32Type, days, row => {
            days.value_as_date(row).map(|day| day.to_string()).unwrap_or_default()
        }),
        DataType::Date64 => moment!(Date64Type, None::<()>),
        DataType::Time32(TimeUnit::Second) => time!(Time32SecondType),
        DataType::Time32(_) => time!(Time32MillisecondType),
        DataType::Time64(TimeUnit::Microsecond) => time!(Time64MicrosecondType),
        DataType::Time64(_) => time!(Time64NanosecondType),
        // In UTC, whatever the zone.
        DataType::Timestamp(TimeUnit::Second, zone) => moment!(TimestampSecondType, zone),
        DataType::Timestamp(TimeUnit::Millisecond, zone) => moment!(TimestampMillisecondType, zone),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => moment!(TimestampMicrosecondType, zone),
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => moment!(TimestampNanosecondType, zone),
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            let words = texts_of(dictionary.values())?;
            let keys = if words.is_empty() { vec![0; column.len()] } else { dictionary.normalized_keys() };
            let word = |row: usize| words.get(keys[row]).cloned().flatten();
            (0..column.len()).map(|row| column.is_valid(row).then(|| word(row)).flatten()).collect()
        }
        _ => return None,
    })
}
