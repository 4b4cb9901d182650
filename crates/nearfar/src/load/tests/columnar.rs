//! Parquet and Arrow IPC.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
    Int16Array, Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray,
    TimestampMillisecondArray, UInt8Array, UInt16Array, UInt64Array,
};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};

use super::damage;
use crate::load::part::load_part;
use crate::load::*;

fn batch() -> RecordBatch {
    let a: Float64Array = (0..50).map(|i| f64::from(i) / 3.0).collect();
    let b: Int64Array = (0..50).map(|i| i - 7).collect();
    let class = StringArray::from_iter_values((0..50).map(|i| if i % 3 == 0 { "x" } else { "y" }));
    let columns: [(&str, ArrayRef); 3] = [("a", Arc::new(a)), ("b", Arc::new(b)), ("class", Arc::new(class))];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn parquet_of(batch: &RecordBatch) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut out, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    out
}

fn arrow_of(batch: &RecordBatch, packed: bool) -> Vec<u8> {
    let lz4 = packed.then_some(arrow_ipc::CompressionType::LZ4_FRAME);
    let options = IpcWriteOptions::default().try_with_compression(lz4).unwrap();
    let mut out = Vec::new();
    let mut writer = FileWriter::try_new_with_options(&mut out, &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    out
}

fn stream_of(batch: &RecordBatch) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = StreamWriter::try_new(&mut out, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    out
}

/// The same batch in every format.
fn files(batch: &RecordBatch) -> [(Format, Vec<u8>); 4] {
    [
        (Format::Arrow, stream_of(batch)),
        (Format::Parquet, parquet_of(batch)),
        (Format::Arrow, arrow_of(batch, false)),
        (Format::Arrow, arrow_of(batch, true)),
    ]
}

/// Columns are turned into rows by groups and in passes: any number of them must end in its place, with the class
/// anywhere between them and more rows than are decoded at a time.
#[test]
fn any_number_of_columns_keeps_its_order() {
    let n = 2500;
    for (n_features, class_at) in [(1, 0), (7, 3), (8, 8), (9, 0), (16, 16), (17, 5), (40, 16), (33, 33)] {
        for single in [true, false] {
            let value = |row: usize, feature: usize| (row * 64 + feature) as f32;
            let mut columns: Vec<(String, ArrayRef)> = (0..n_features)
                .map(|feature| {
                    let values = (0..n).map(|row| value(row, feature));
                    let column: ArrayRef = if single {
                        Arc::new(values.collect::<Float32Array>())
                    } else {
                        Arc::new(values.map(f64::from).collect::<Float64Array>())
                    };
                    (format!("x{feature}"), column)
                })
                .collect();
            let classes = StringArray::from_iter_values((0..n).map(|row| (row % 3).to_string()));
            columns.insert(class_at, ("class".to_owned(), Arc::new(classes)));
            let batch = RecordBatch::try_from_iter(columns).unwrap();
            for (format, bytes) in files(&batch) {
                let table = load_bytes(bytes, format, "t", &class()).unwrap();
                assert_eq!((table.n_samples, table.n_features), (n, n_features));
                let found: Vec<f64> = match &table.values {
                    TableValues::F32(values) => values.iter().map(|&x| f64::from(x)).collect(),
                    TableValues::F64(values) => values.to_vec(),
                };
                let expected =
                    (0..n * n_features).map(|at| f64::from(value(at / n_features, at % n_features)));
                assert!(found.into_iter().eq(expected), "{format} {n_features} {single}");
            }
        }
    }
}

fn class() -> LoadOptions {
    LoadOptions { truth: Some(Truth::Column("class".to_owned())), ..LoadOptions::default() }
}

#[test]
fn both_formats_give_the_same_table() {
    for (format, bytes) in files(&batch()) {
        let table = load_bytes(bytes.clone(), format, "t", &class()).unwrap();
        assert_eq!((table.n_samples, table.n_features), (50, 2));
        assert_eq!(table.samples().get(10, 0), 10.0 / 3.0);
        assert_eq!(table.samples().get(10, 1), 3.0);
        assert_eq!(table.column_names.unwrap(), ["a", "b"]);
        let truth = table.truth.unwrap();
        assert_eq!(
            (truth.names, truth.codes[3], truth.codes[4]),
            (vec!["x".to_owned(), "y".to_owned()], 0, 1)
        );
        let text = load_bytes(bytes.clone(), format, "t", &LoadOptions::default()).unwrap_err().to_string();
        assert!(text.contains("row 0 (from 0), column \"class\" (index 2): \"x\" is not a number"), "{text}");
        let some = LoadOptions { columns: Some(vec!["b".to_owned()]), ..LoadOptions::default() };
        assert_eq!(load_bytes(bytes.clone(), format, "t", &some).unwrap().n_features, 1);
    }
}

#[test]
fn single_precision_stays_and_bad_cells_are_named() {
    let with = |column: ArrayRef| RecordBatch::try_from_iter([("v", column)]).unwrap();
    for (format, bytes) in files(&with(Arc::new(Float32Array::from(vec![1.5, 2.5])))) {
        let table = load_bytes(bytes, format, "t", &LoadOptions::default()).unwrap();
        assert_eq!(table.values, TableValues::F32(vec![1.5, 2.5].into()));
    }
    for (format, bytes) in files(&with(Arc::new(Float64Array::from(vec![1.5, f64::NAN])))) {
        let error = load_bytes(bytes, format, "t", &LoadOptions::default()).unwrap_err();
        assert!(error.to_string().contains("row 1 (from 0), column \"v\" (index 0): NaN"), "{error}");
    }
    for (format, bytes) in files(&with(Arc::new(Int64Array::from(vec![Some(1), None])))) {
        let error = load_bytes(bytes, format, "t", &LoadOptions::default()).unwrap_err();
        assert!(matches!(error.problem, LoadProblem::Missing { place: Place::Row(1), .. }), "{error}");
    }
}

/// What a file calls a number is one, whatever its type.
#[test]
fn every_type_of_number_is_read() {
    let decimal = |values: Vec<i128>| Decimal128Array::from(values).with_precision_and_scale(9, 2).unwrap();
    let columns: [(&str, ArrayRef); 7] = [
        ("u8", Arc::new(UInt8Array::from(vec![0, 255]))),
        ("i16", Arc::new(Int16Array::from(vec![-32_768, 7]))),
        ("u64", Arc::new(UInt64Array::from(vec![1 << 53, 3]))),
        ("i64", Arc::new(Int64Array::from(vec![-1, 1 << 40]))),
        ("f32", Arc::new(Float32Array::from(vec![0.5, -1.25]))),
        ("on", Arc::new(BooleanArray::from(vec![true, false]))),
        ("price", Arc::new(decimal(vec![1999, -5]))),
    ];
    for (format, bytes) in files(&RecordBatch::try_from_iter(columns).unwrap()) {
        let table = load_bytes(bytes, format, "t", &LoadOptions::default()).unwrap();
        let found: Vec<f64> = (0..2)
            .flat_map(|i| (0..7).map(move |j| (i, j)))
            .map(|(i, j)| table.samples().get(i, j))
            .collect();
        let expected = [0.0, -32_768.0, 2_f64.powi(53), -1.0, 0.5, 1.0, 19.99];
        assert_eq!(found[..7], expected, "{format}");
        assert_eq!(found[7..], [255.0, 7.0, 3.0, 2_f64.powi(40), -1.25, 0.0, -0.05], "{format}");
    }
}

/// Classes and names of rows may be of any type that people can read.
#[test]
fn every_type_of_name_is_read() {
    let words: DictionaryArray<Int32Type> = [Some("red"), Some("blue"), Some("red")].into_iter().collect();
    let columns: [(&str, ArrayRef, [&str; 3]); 8] = [
        ("dictionary", Arc::new(words), ["red", "blue", "red"]),
        ("long", Arc::new(LargeStringArray::from(vec!["a", "b", "c"])), ["a", "b", "c"]),
        ("view", Arc::new(StringViewArray::from(vec!["a", "b", "c"])), ["a", "b", "c"]),
        ("whole", Arc::new(UInt16Array::from(vec![1, 20, 3])), ["1", "20", "3"]),
        ("number", Arc::new(Float64Array::from(vec![1.0, 0.1, 1e20])), ["1.0", "0.1", "1e20"]),
        ("on", Arc::new(BooleanArray::from(vec![true, false, true])), ["true", "false", "true"]),
        ("day", Arc::new(Date32Array::from(vec![0, 1, 365])), ["1970-01-01", "1970-01-02", "1971-01-01"]),
        (
            "moment",
            Arc::new(TimestampMillisecondArray::from(vec![0, 500, 86_400_000]).with_timezone("UTC")),
            ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00.500Z", "1970-01-02T00:00:00Z"],
        ),
    ];
    let x: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]));
    for (name, column, expected) in columns {
        let batch = RecordBatch::try_from_iter([("x", x.clone()), (name, column)]).unwrap();
        let options = LoadOptions { id_column: Some(name.to_owned()), ..LoadOptions::default() };
        for (format, bytes) in files(&batch) {
            let table = load_bytes(bytes, format, "t", &options).unwrap();
            assert_eq!(table.ids.unwrap(), expected, "{name} {format}");
        }
    }
}

#[test]
fn damaged_columns_never_panic() {
    for (format, bytes) in files(&batch()) {
        damage(&bytes, 3000, |bytes| load_bytes(bytes, format, "t", &class()).is_ok());
        // Footers hold the claims.
        damage(&bytes.iter().rev().copied().collect::<Vec<_>>(), 3000, |mut bytes| {
            bytes.reverse();
            load_bytes(bytes, format, "t", &class()).is_ok()
        });
    }
}

#[test]
fn labels_come_from_a_column() {
    let folder = std::env::temp_dir().join(format!("nearfar-labels-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (at, (format, bytes)) in files(&batch()).into_iter().enumerate() {
        let path = folder.join(format!("{at}.{format}"));
        std::fs::write(&path, bytes).unwrap();
        let labels = load_labels(&path).unwrap();
        assert_eq!((labels.len(), labels.names), (50, vec!["x".to_owned(), "y".to_owned()]));
        let b = LoadOptions { truth: Some(Truth::Column("b".to_owned())), ..LoadOptions::default() };
        assert_eq!(load_labels_with(&path, &b).unwrap().names.len(), 50);
        let no = LoadOptions { truth: Some(Truth::Column("clas".to_owned())), ..LoadOptions::default() };
        assert!(load_labels_with(&path, &no).unwrap_err().to_string().contains("did you mean \"class\"?"));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn damaged_streams_cannot_pass_as_whole() {
    let sound = stream_of(&batch());
    for length in 0..sound.len() - 8 {
        let cut = sound[..length].to_vec();
        assert!(load_bytes(cut, Format::Arrow, "t", &class()).is_err(), "cut to {length} bytes");
    }
}

/// Every place of a Parquet file where a page header may say how much it unpacks to or how many values a dictionary
/// has, with 2³¹ − 1 there instead.
#[test]
fn a_page_cannot_claim_gigabytes() {
    let x: Float64Array = (0..2000).map(|i| f64::from(i % 50)).collect();
    let batch = RecordBatch::try_from_iter([("x", Arc::new(x) as ArrayRef)]).unwrap();
    let sound = parquet_of(&batch);
    let (mut bytes, mut values) = (0, 0);
    for at in 4..sound.len() / 2 {
        let mut lie = sound.clone();
        // A 32-bit integer of Thrift: 2³¹ − 1 in zigzag form.
        lie.splice(at..=at, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
        if let Err(error) = load_bytes(lie, Format::Parquet, "t", &LoadOptions::default()) {
            bytes += usize::from(error.to_string().contains("a page claims more bytes"));
            values += usize::from(error.to_string().contains("a page claims more values"));
        }
    }
    assert!(bytes > 0 && values > 0, "no header was hit");
}

#[test]
fn claims_beyond_the_file_are_refused() {
    let sound = arrow_of(&batch(), true);
    let at = |needle: i64| sound.windows(8).position(|window| window == needle.to_le_bytes());
    // The length that the first column, 50 values of 8 bytes, unpacks to.
    let at = at(400).expect("a compressed buffer of 400 bytes");
    let mut lie = sound.clone();
    lie[at..at + 8].copy_from_slice(&(1_i64 << 45).to_le_bytes());
    assert!(load_bytes(lie, Format::Arrow, "t", &class()).is_err());
    for format in [Format::Arrow, Format::Parquet] {
        assert!(load_bytes(b"PAR1ARROW1".to_vec(), format, "t", &class()).is_err());
        assert!(load_bytes(b"ARROW1\xff\xff\xff\x7fARROW1".to_vec(), format, "t", &class()).is_err());
    }
}

/// Several row groups, of which each rank reads those that hold its rows.
#[test]
fn parquet_is_read_by_parts() {
    use crate::processes::threads::as_team;
    let n = 2300;
    let a: Float32Array = (0..n).map(|i| i as f32 / 3.0).collect();
    let b: Float32Array = (0..n).map(|i| (i % 17) as f32).collect();
    let class = StringArray::from_iter_values((0..n).map(|i| if i % 3 == 0 { "x" } else { "y" }));
    let columns: [(&str, ArrayRef); 3] = [("a", Arc::new(a)), ("class", Arc::new(class)), ("b", Arc::new(b))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let groups =
        parquet::file::properties::WriterProperties::builder().set_max_row_group_row_count(Some(600));
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), Some(groups.build())).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let path = std::env::temp_dir().join(format!("nearfar-parts-{}.parquet", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    let options = LoadOptions { truth: Some(Truth::Column("class".into())), ..LoadOptions::default() };
    let whole = load(&path, &options).unwrap();
    for size in [1, 2, 3, 8] {
        let parts = as_team(size, |team| load_part(&path, &options, team).unwrap());
        let mut values = Vec::new();
        for part in &parts {
            let TableValues::F32(own) = &part.rows.values else { panic!("single precision holds them") };
            values.extend_from_slice(own);
            assert_eq!((&part.truth, part.share.n_rows()), (&whole.truth, n as usize));
            assert_eq!(part.rows.source, whole.source);
        }
        assert!(whole.values == TableValues::F32(values.into()), "other values in {size} parts");
    }
    std::fs::remove_file(&path).unwrap();
}
