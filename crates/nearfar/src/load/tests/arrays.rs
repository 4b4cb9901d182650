//! NPY and NPZ.

use std::io::Cursor;

use super::{damage, shared};
use crate::load::array::{NpyArray, NpyData};
use crate::load::limit::Unpacked;
use crate::load::npy::{NpyHeader, check_claim};
use crate::load::npz::{Npz, NpzWriter, read_npz};
use crate::load::*;

fn npy(mut bytes: &[u8]) -> Result<NpyArray, LoadProblem> {
    let length = bytes.len() as u64;
    let header = NpyHeader::read(&mut bytes)?;
    check_claim(&header, length, "the file")?;
    header.values(&mut bytes)
}

fn npz(bytes: Vec<u8>) -> Result<Vec<(String, NpyArray)>, LoadProblem> {
    let unpacked = Unpacked::new(bytes.len() as u64, None);
    let mut npz = Npz::open(Cursor::new(bytes), unpacked)?;
    (0..npz.entries.len()).map(|at| Ok((npz.entries[at].name.clone(), npz.array(at)?))).collect()
}

/// An NPY file with this header and these bytes behind it.
fn with_header(version: u8, header: &str, values: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.bytes());
    bytes.extend(values);
    bytes
}

fn small_npz() -> Vec<u8> {
    let mut npz = NpzWriter::new(Vec::new());
    let values: Vec<f64> = (0..60).map(|i| f64::from(i) / 7.0).collect();
    npz.add("X", &[20, 3], &values).unwrap();
    npz.add("y", &[20], &(0..20).map(|i| i % 3).collect::<Vec<i32>>()).unwrap();
    npz.finish().unwrap()
}

#[test]
fn small_numbers_are_widened_to_what_they_are() {
    // More than one chunk, and a last one that is not full.
    let n = 20_011;
    for (descr, width, name) in [
        ("|u1", 1, "uint8"),
        ("|i1", 1, "int8"),
        ("<u2", 2, "uint16"),
        ("<i2", 2, "int16"),
        (">u2", 2, "uint16"),
        (">i2", 2, "int16"),
        ("|b1", 1, "bool"),
    ] {
        for order in ["False", "True"] {
            let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({n}, 2), }}");
            let values: Vec<u8> = (0..n * 2 * width).map(|i| (i * 37 % 256) as u8).collect();
            let file = with_header(1, &header, &values);
            let table = load_bytes(file.clone(), Format::Npy, "t", &LoadOptions::default()).unwrap();
            assert!(table.source.ends_with(name), "{descr}: {}", table.source);
            let TableValues::F32(found) = table.values else { panic!("{descr}") };
            let expected = npy(&file).unwrap().to_f64();
            assert!(found.iter().map(|&x| f64::from(x)).eq(expected), "{descr} {order}");
            // Every cut is noticed.
            for cut in [1, values.len() / 2, values.len()] {
                let short = file[..file.len() - cut].to_vec();
                assert!(load_bytes(short, Format::Npy, "t", &LoadOptions::default()).is_err());
            }
        }
    }
}

#[test]
fn every_type_makes_the_round_trip() {
    macro_rules! trip {
        ($($variant:ident: $values:expr),*) => {$(
            let mut file = Vec::new();
            write_npy(&mut file, &[2, 2], &$values).unwrap();
            assert!(file.len() % 64 == 0 || file.len() > 128);
            assert_eq!(npy(&file).unwrap(), NpyArray { shape: vec![2, 2], data: NpyData::$variant($values.to_vec().into()) });
        )*};
    }
    trip!(F64: [1.5, -0.0, 1e300, f64::MIN_POSITIVE], F32: [1.5_f32, -2.0, 3.0, 4.0], Bool: [true, false, false, true],
        I8: [-1_i8, 2, 3, 4], I16: [-1_i16, 2, 3, 4], I32: [-1, 2, 3, 4], I64: [-1_i64, 2, 3, i64::MAX],
        U8: [1_u8, 2, 3, 255], U16: [1_u16, 2, 3, 4], U32: [1_u32, 2, 3, 4], U64: [1_u64, 2, 3, u64::MAX]);
    assert!(write_npy(&mut Vec::new(), &[3], &[1.0, 2.0]).is_err());
    let arrays = npz(small_npz()).unwrap();
    assert_eq!(arrays[0].0, "X");
    assert_eq!(arrays[0].1.shape, [20, 3]);
    assert_eq!(arrays[1].1.to_f64()[4], 1.0);
}

#[test]
fn versions_orders_and_widths_are_understood() {
    let big: Vec<u8> = [1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|v| v.to_be_bytes()).collect();
    for version in 1..=3 {
        let header = "{'descr': '>f8', 'fortran_order': True, 'shape': (2L, 3), }   \n";
        let array = npy(&with_header(version, header, &big)).unwrap();
        assert_eq!(array.to_f64(), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    }
    let halves: Vec<u8> =
        [0x3c00_u16, 0xc000, 0x0001, 0x7c00, 0x3555].iter().flat_map(|v| v.to_le_bytes()).collect();
    let array =
        npy(&with_header(1, "{\"shape\":(5,),\"descr\":\"<f2\",\"fortran_order\":False}", &halves)).unwrap();
    assert_eq!(array.to_f64(), [1.0, -2.0, 2.0_f64.powi(-24), f64::INFINITY, 0.333_251_953_125]);
    let scalar = npy(&with_header(1, "{'descr': '|u1', 'fortran_order': False, 'shape': ()}", &[7])).unwrap();
    assert_eq!((scalar.shape.len(), scalar.to_f64()), (0, vec![7.0]));
}

#[test]
fn lies_and_strange_types_are_refused_by_name() {
    let refused = |descr: &str, shape: &str| {
        let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}");
        npy(&with_header(1, &header, &[0; 64])).unwrap_err().to_string()
    };
    assert!(refused("'<f8'", "(4000000000, 1000)").contains("4000000000 x 1000"));
    assert!(refused("'<f8'", "(18446744073709551615, 2)").contains("damaged"));
    assert!(refused("'<f8'", "(99999999999999999999,)").contains("cannot be understood"));
    assert!(refused("'<f8'", "(-1,)").contains("cannot be understood"));
    assert!(refused("'|O'", "(2,)").contains("type object"));
    assert!(refused("'<c16'", "(2,)").contains("type complex"));
    assert!(refused("'<U5'", "(2,)").contains("type string"));
    assert!(refused("[('a', '<f4'), ('b', '<i4')]", "(2,)").contains("type structured"));
    assert!(npy(&with_header(2, &" ".repeat(20_000), &[])).unwrap_err().to_string().contains("20000 bytes"));
    assert!(npy(&[]).is_err());
}

#[test]
fn texts_are_classes() {
    let labels = |header: &str, values: &[u8]| {
        let bytes = with_header(1, header, values);
        crate::load::npy::read_labels(&mut &bytes[..], bytes.len() as u64)
    };
    let wide: Vec<u8> = "b\0éa a\0".chars().flat_map(|letter| (letter as u32).to_le_bytes()).collect();
    let found = labels("{'descr': '<U2', 'fortran_order': False, 'shape': (3,)}", &wide[..24]).unwrap();
    assert_eq!(
        (found.codes, found.names),
        (vec![1, 2, 0], vec!["a".to_owned(), "b".to_owned(), "éa".to_owned()])
    );
    let found = labels("{'descr': '|S3', 'fortran_order': False, 'shape': (2, 1)}", b"no\0yes").unwrap();
    assert_eq!(found.names, ["no", "yes"]);
    for (descr, shape) in
        [("<U2", "(4,)"), ("<U0", "(999999999999,)"), ("<U99999999", "(1,)"), ("|S1", "(2, 2)")]
    {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}");
        assert!(labels(&header, &[65; 24]).is_err(), "{descr} {shape}");
    }
    let names = b"|S1', 'fortran_order': False, 'shape': (20,), }";
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in [
        ("X.npy", with_header(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (20, 2), }", &[0; 160])),
        (
            "y.npy",
            with_header(
                1,
                &format!("{{'descr': '{}", String::from_utf8_lossy(names)),
                b"abababababababababab",
            ),
        ),
    ] {
        use std::io::Write;
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    let options = LoadOptions { truth: Some(Truth::Column("y".to_owned())), ..LoadOptions::default() };
    let truth = load_bytes(bytes.clone(), Format::Npz, "t", &options).unwrap().truth.unwrap();
    assert_eq!((truth.len(), truth.names), (20, vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(crate::load::pick::npz_labels(&bytes, &LoadOptions::default()).unwrap().len(), 20);
    damage(&bytes, 3000, |bytes| load_bytes(bytes, Format::Npz, "t", &options).is_ok());
}

#[test]
fn a_bomb_is_not_unpacked() {
    let mut bomb = NpzWriter::new(Vec::new());
    bomb.add("X", &[300 << 20], &vec![0_u8; 300 << 20]).unwrap();
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    let error = npz(bomb).unwrap_err();
    assert!(matches!(error, LoadProblem::TooLarge { .. }), "{error}");
}

#[test]
fn damaged_arrays_never_panic() {
    let mut file = Vec::new();
    write_npy(&mut file, &[10, 3], &[1.25_f32; 30]).unwrap();
    assert!(damage(&file, 6000, |bytes| npy(&bytes).is_ok()) > 1500);
    assert!(damage(&small_npz(), 6000, |bytes| npz(bytes).is_ok()) > 3000);
}

#[test]
fn golden_sets_are_read() {
    let Some(path) = shared("seeds.npz") else { return };
    let arrays = read_npz(path).unwrap();
    let x = &arrays.iter().find(|(name, _)| name == "X").unwrap().1;
    assert_eq!(x.shape, [210, 7]);
    assert_eq!(x.to_f64()[..2], [15.26, 14.84]);
    let Some(path) = shared("mnist-2000.npz") else { return };
    assert_eq!(read_npz(path).unwrap()[0].1.shape, [2000, 784]);
    assert!(read_npz("no-such-file.npz").unwrap_err().to_string().contains("no such file"));
}
