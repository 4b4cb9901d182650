//! MATLAB files.

use std::io::Write;

use super::{damage, shared};
use crate::load::*;

/// One element, padded to 8 bytes.
fn element(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = [kind.to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

fn matrix(name: &str, class: u32, shape: &[i32], parts: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut inner = element(6, &[class.to_le_bytes(), [0; 4]].concat());
    inner.extend(element(5, &shape.iter().flat_map(|length| length.to_le_bytes()).collect::<Vec<_>>()));
    if name.len() <= 4 {
        // As a small element.
        inner.extend(((name.len() as u32) << 16 | 1).to_le_bytes());
        let mut letters = name.as_bytes().to_vec();
        letters.resize(4, 0);
        inner.extend(letters);
    } else {
        inner.extend(element(1, name.as_bytes()));
    }
    for (kind, data) in parts {
        inner.extend(element(*kind, data));
    }
    element(14, &inner)
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    let data = encoder.finish().unwrap();
    [&15_u32.to_le_bytes()[..], &(data.len() as u32).to_le_bytes(), &data].concat()
}

fn file(elements: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"MATLAB 5.0 MAT-file, made by a test".to_vec();
    bytes.resize(124, b' ');
    bytes.extend([0, 1, b'I', b'M']);
    bytes.extend(elements.concat());
    bytes
}

fn fea() -> Vec<u8> {
    // Class double, packed as bytes, column after column.
    matrix("fea", 6, &[3, 2], &[(2, vec![1, 2, 3, 4, 5, 6])])
}

fn gnd() -> Vec<u8> {
    matrix("gnd", 6, &[3, 1], &[(2, vec![1, 2, 1])])
}

fn read(bytes: Vec<u8>, options: &LoadOptions) -> Result<Table, LoadError> {
    load_bytes(bytes, Format::Mat, "t.mat", options)
}

fn truth(name: &str) -> LoadOptions {
    LoadOptions { truth: Some(Truth::Column(name.to_owned())), ..LoadOptions::default() }
}

#[test]
fn plain_and_compressed_variables_are_read() {
    for elements in [vec![fea(), gnd()], vec![compressed(&gnd()), compressed(&fea())]] {
        let table = read(file(&elements), &truth("gnd")).unwrap();
        assert_eq!(table.values, TableValues::F64(vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0].into()));
        assert_eq!(table.truth.unwrap().codes, [0, 1, 0]);
    }
    let indices =
        |values: &[i32]| (5, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>());
    let values = (9, [1.5_f64, 2.5].iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>());
    let sparse = |rows: &[i32], starts: &[i32]| {
        file(&[matrix("S", 5, &[2, 3], &[indices(rows), indices(starts), values.clone()])])
    };
    let table = read(sparse(&[1, 0], &[0, 1, 1, 2]), &LoadOptions::default()).unwrap();
    assert_eq!(table.values, TableValues::F64(vec![0.0, 0.0, 2.5, 1.5, 0.0, 0.0].into()));
    for (rows, starts) in
        [([2, 0], [0, 1, 1, 2]), ([1, 0], [0, 1, 1, 3]), ([1, 0], [1, 0, 1, 2]), ([-1, 0], [0, 1, 1, 2])]
    {
        assert!(read(sparse(&rows, &starts), &LoadOptions::default()).is_err());
    }
}

#[test]
fn what_is_not_read_is_refused_by_name() {
    let message =
        |elements: &[Vec<u8>], options: &LoadOptions| read(file(elements), options).unwrap_err().to_string();
    let complex = matrix("zebra", 6 | 0x800, &[3, 2], &[(2, vec![0; 6]), (2, vec![0; 6])]);
    let cell = matrix("things", 1, &[1, 1], &[]);
    let both = [complex, cell];
    let none = message(&both, &LoadOptions::default());
    assert!(
        none.contains("\"zebra\" (3 x 2 complex double)") && none.contains("\"things\" (1 x 1 cell)"),
        "{none}"
    );
    let asked = LoadOptions { array: Some("things".to_owned()), ..LoadOptions::default() };
    assert!(message(&both, &asked).contains("class cell"));
    let typo = LoadOptions { array: Some("faa".to_owned()), ..LoadOptions::default() };
    assert!(message(&[fea(), gnd()], &typo).contains("did you mean \"fea\"?"));
    assert!(message(&[fea(), gnd()], &truth("gnb")).contains("did you mean \"gnd\"?"));
    let two = [fea(), matrix("more", 9, &[2, 2], &[(2, vec![1; 4])])];
    assert!(message(&two, &LoadOptions::default()).contains("more than one array can be the data"));
    let lie = matrix("fea", 6, &[2_000_000_000, 2_000_000_000], &[(2, vec![0; 6])]);
    assert!(message(&[lie], &LoadOptions::default()).contains("claims 2000000000 x 2000000000"));
    let wide = matrix("S", 5, &[1_000_000, 1_000_000], &[(5, vec![]), (5, vec![]), (9, vec![])]);
    assert!(message(&[wide], &LoadOptions::default()).contains("written out in full"));
    let hdf5 = [&b"MATLAB 7.3 MAT-file"[..], &[b' '; 500]].concat();
    assert!(read(hdf5, &LoadOptions::default()).unwrap_err().to_string().contains("-v7"));
    assert!(read(vec![1, 0, 0, 0], &LoadOptions::default()).is_err());
}

#[test]
fn a_bomb_is_not_unpacked() {
    let bomb = file(&[compressed(&matrix("fea", 9, &[300 << 20, 1], &[(2, vec![0; 300 << 20])]))]);
    assert!(matches!(read(bomb, &LoadOptions::default()).unwrap_err().problem, LoadProblem::TooLarge { .. }));
}

#[test]
fn damaged_files_never_panic() {
    damage(&file(&[fea(), gnd()]), 8000, |bytes| read(bytes, &truth("gnd")).is_ok());
    let packed = file(&[compressed(&fea()), compressed(&gnd())]);
    assert!(damage(&packed, 8000, |bytes| read(bytes, &truth("gnd")).is_ok()) > 4000);
    // A file cut anywhere is never taken for a whole one.
    for end in 0..packed.len() {
        assert!(read(packed[..end].to_vec(), &truth("gnd")).is_err(), "cut at {end}");
    }
}

#[test]
fn real_files_equal_the_arrays_beside_them() {
    for (raw, npz) in [("ORL_32x32.mat", "orl"), ("Yale_32x32.mat", "yale"), ("COIL20.mat", "coil20")] {
        let (Some(raw), Some(npz)) = (shared(&format!("raw/{raw}")), shared(&format!("{npz}.npz"))) else {
            continue;
        };
        let matlab = load(&raw, &truth("gnd")).unwrap();
        let numpy = load(&npz, &truth("y")).unwrap();
        assert_eq!((matlab.n_samples, matlab.n_features), (numpy.n_samples, numpy.n_features));
        for i in 0..matlab.n_samples {
            for j in 0..matlab.n_features {
                assert_eq!(matlab.samples().get(i, j), numpy.samples().get(i, j), "{raw:?} ({i}, {j})");
            }
        }
        assert_eq!(matlab.truth.unwrap().codes, numpy.truth.unwrap().codes);
        assert_eq!(
            load_labels_with(&raw, &LoadOptions { array: Some("gnd".into()), ..Default::default() })
                .unwrap()
                .len(),
            matlab.n_samples
        );
        assert_eq!(load_labels(&npz).unwrap().len(), matlab.n_samples);
    }
}
