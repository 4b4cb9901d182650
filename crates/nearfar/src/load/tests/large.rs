//! Data for which there is no room: mapped, narrowed, or in a temporary file.

use std::path::PathBuf;

use crate::load::*;

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("nearfar-large-{}-{name}", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    path
}

fn within(memory: u64) -> LoadOptions {
    LoadOptions { memory: Some(memory), ..LoadOptions::default() }
}

fn npy<T: NpyElement>(shape: &[usize], values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_npy(&mut bytes, shape, values).unwrap();
    bytes
}

/// The values as doubles.
fn wide(table: &Table) -> Vec<f64> {
    match &table.values {
        TableValues::F32(values) => values.iter().map(|x| f64::from(*x)).collect(),
        TableValues::F64(values) => values.to_vec(),
    }
}

#[test]
fn singles_are_mapped_and_read_the_same() {
    let values: Vec<f32> = (0..500 * 7).map(|i| (i as f32).sin()).collect();
    let path = file("singles.npy", &npy(&[500, 7], &values));
    let read = load(&path, &within(2 * 4 * 500 * 7)).unwrap();
    let mapped = load(&path, &within(2 * 4 * 500 * 7 - 1)).unwrap();
    assert!(!read.in_file() && mapped.in_file() && mapped.is_unchanged() && !mapped.is_narrowed());
    assert_eq!(mapped.source, "npy, 500 x 7 float32, mapped");
    assert_eq!((mapped.n_samples, mapped.n_features, &mapped.values), (500, 7, &read.values));
    // Columns that are set aside cannot be left out of a mapped file.
    let options = LoadOptions { truth: Some(Truth::Column("-1".to_owned())), ..within(100) };
    let apart = load(&path, &options).unwrap();
    assert!(apart.source.ends_with("float32, in a temporary file") && apart.in_file(), "{}", apart.source);
    let in_memory = load(&path, &LoadOptions { memory: None, ..options }).unwrap();
    assert_eq!((&apart.values, &apart.truth), (&in_memory.values, &in_memory.truth));
    // Whoever writes to a mapped table writes to memory.
    let mut written = mapped.clone();
    if let TableValues::F32(values) = &mut written.values {
        values[0] = 9.0;
    }
    assert!(written.values != mapped.values && load(&path, &within(100)).unwrap().values == mapped.values);
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().set_len(10_000).unwrap();
    assert!(!mapped.is_unchanged());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn what_is_wrong_with_a_mapped_file_is_named() {
    let mut values = vec![0.5_f32; 400];
    values[4 * 37 + 2] = f32::NAN;
    let path = file("nan.npy", &npy(&[100, 4], &values));
    let said = load(&path, &within(100)).unwrap_err().to_string();
    assert!(said.contains("row 37") && said.contains("NaN"), "{said}");
    assert_eq!(said, load(&path, &LoadOptions::default()).unwrap_err().to_string());
    let sound = npy(&[100, 4], &[0.5_f32; 400]);
    for cut in [1, 60, 128, 700, 1599] {
        std::fs::write(&path, &sound[..sound.len() - cut]).unwrap();
        let said = load(&path, &within(100)).unwrap_err().to_string();
        assert!(said.contains("cut short"), "{cut} bytes less: {said}");
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn every_kind_is_narrowed_to_what_it_would_be() {
    let n = 1000;
    let numbers: Vec<f64> = (0..n * 3).map(|i| f64::from(i) * 1.37 - 900.0).collect();
    let whole: Vec<i64> = numbers.iter().map(|x| *x as i64).collect();
    let mut turned = npy(&[n as usize, 3], &numbers);
    let order = turned.windows(5).position(|word| word == b"False").unwrap();
    turned[order..order + 5].copy_from_slice(b"True ");
    let mut swapped = npy(&[n as usize, 3], &numbers);
    let kind = swapped.windows(3).position(|word| word == b"<f8").unwrap();
    swapped[kind] = b'>';
    let start = swapped.len() - numbers.len() * 8;
    swapped[start..].chunks_exact_mut(8).for_each(<[u8]>::reverse);
    let small: Vec<u16> = whole.iter().map(|x| x.unsigned_abs() as u16).collect();
    let files = [
        (npy(&[n as usize, 3], &numbers), true),
        (npy(&[n as usize, 3], &whole), true),
        (turned, true),
        (swapped, true),
        (npy(&[n as usize, 3], &small), false),
    ];
    for (at, (bytes, doubles)) in files.into_iter().enumerate() {
        let path = file(&format!("kind{at}.npy"), &bytes);
        let plain = load(&path, &LoadOptions::default()).unwrap();
        let singles: Vec<f64> = wide(&plain).iter().map(|x| f64::from(*x as f32)).collect();
        for (memory, in_file) in [(2 * 8 * 3000 - 1, false), (2 * 4 * 3000 - 1, true)] {
            let narrow = load(&path, &within(memory)).unwrap();
            assert!(narrow.in_file() == in_file && narrow.is_narrowed() == doubles, "{}", narrow.source);
            assert!(matches!(narrow.values, TableValues::F32(_)) && wide(&narrow) == singles, "file {at}");
        }
        let kept = load(&path, &LoadOptions { keep_double: true, ..within(2 * 8 * 3000 - 1) }).unwrap();
        assert!(kept.values == plain.values && !kept.is_narrowed());
        std::fs::remove_file(path).unwrap();
    }
    let path = file("wide.npy", &npy(&[2, 2], &[1.0, 2.0, -1e300, 4.0]));
    let said = load(&path, &within(40)).unwrap_err().to_string();
    assert!(
        said.contains("row 1 (from 0), column 0 (from 0): -1e300 is")
            && said.contains("too large for single"),
        "{said}"
    );
    std::fs::remove_file(path).unwrap();
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_is_narrowed_and_put_into_a_file() {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch};
    use std::sync::Arc;

    let columns = |last: f64| {
        (0..5).map(move |j| {
            let values: Float64Array =
                (0..900).map(|i| if i == 899 { last } else { f64::from(i * j) / 7.0 }).collect();
            (format!("x{j}"), Arc::new(values) as ArrayRef)
        })
    };
    let bytes = |last: f64| {
        let batch = RecordBatch::try_from_iter(columns(last)).unwrap();
        let mut out = Vec::new();
        let mut writer = parquet::arrow::ArrowWriter::try_new(&mut out, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        out
    };
    let path = file("wide.parquet", &bytes(3.0));
    let plain = load(&path, &LoadOptions::default()).unwrap();
    let singles: Vec<f64> = wide(&plain).iter().map(|x| f64::from(*x as f32)).collect();
    for (memory, source) in [
        (2 * 8 * 4500 - 1, "parquet, 900 x 5 held as float32"),
        (2 * 4 * 4500 - 1, "parquet, 900 x 5 held as float32, in a temporary file"),
    ] {
        let narrow = load(&path, &within(memory)).unwrap();
        assert!(narrow.source == source && narrow.is_narrowed(), "{}", narrow.source);
        assert!(wide(&narrow) == singles && matches!(narrow.values, TableValues::F32(_)));
    }
    std::fs::write(&path, bytes(1e300)).unwrap();
    let said = load(&path, &within(1000)).unwrap_err().to_string();
    assert!(said.contains("row 899") && said.contains("too large for single"), "{said}");
    std::fs::remove_file(path).unwrap();
}
