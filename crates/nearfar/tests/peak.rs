//! What a run on data of some size holds at its peak. The only test of its process, whose peak it looks at.

use std::io::Write;

use nearfar::internals::peak_memory;
use nearfar::load::{LoadOptions, Table, TableValues, load};
use nearfar::{BinnedParams, Mode, Params, Run};

const N: usize = 4000;
const M: usize = 8192;
/// Bytes of the data in single precision.
const DATA: u64 = (4 * N * M) as u64;

/// Numbers between −½ and ½ that look random: large enough for single precision to tell who is nearer.
fn noise(at: usize) -> f64 {
    let mixed = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

/// Write the data row by row, so that writing it does not set the peak.
fn write(path: &std::path::Path, double: bool) {
    let kind = if double { "<f8" } else { "<f4" };
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({N}, {M}), }}");
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    file.write_all(b"\x93NUMPY\x01\x00\x76\x00").unwrap();
    writeln!(file, "{header:<117}").unwrap();
    for i in 0..N {
        for j in 0..M {
            let value = ((i % 4 * M + j) as f64).sin() + noise(i * M + j);
            if double {
                file.write_all(&value.to_le_bytes()).unwrap();
            } else {
                file.write_all(&(value as f32).to_le_bytes()).unwrap();
            }
        }
    }
    file.into_inner().unwrap().sync_all().unwrap();
}

fn labels(table: &Table) -> Vec<usize> {
    // Threads hold blocks of their own.
    let mut params = Params::lsdg(4).starts(1).mode(Mode::Binned).threads(2);
    params.binned = BinnedParams { near: Some(32), far: Some(16), bins: Some(8) };
    Run::new(&params).fit(table.samples()).unwrap().labels.clone()
}

#[test]
fn data_is_never_held_twice() {
    let folder = std::env::temp_dir();
    let name = |kind: &str| folder.join(format!("nearfar-peak-{}-{kind}.npy", std::process::id()));
    let (single, double) = (name("single"), name("double"));
    write(&single, false);
    write(&double, true);
    let within = |memory: Option<u64>| LoadOptions { memory, ..LoadOptions::default() };
    let mut seen = Vec::new();
    for (path, memory, in_file) in [
        (&single, Some(2 * DATA - 1), true),
        (&double, Some(4 * DATA - 1), false),
        (&double, Some(2 * DATA - 1), true),
        (&single, None, false),
    ] {
        let table = load(path, &within(memory)).unwrap();
        assert_eq!(table.in_file(), in_file, "{}", table.source);
        assert!(matches!(table.values, TableValues::F32(_)), "{}", table.source);
        seen.push(labels(&table));
        let Some(peak) = peak_memory() else { continue };
        // The program and blocks of two threads are a third of the data; a second copy would be all of it.
        assert!(peak < 2 * DATA, "{}: {peak} bytes at the peak, for {DATA} of data", table.source);
    }
    std::fs::remove_file(&single).unwrap();
    std::fs::remove_file(&double).unwrap();
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "labels depend on how the data is held");
}
