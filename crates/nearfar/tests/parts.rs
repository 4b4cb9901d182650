//! Files read by parts hold, together, what one process reads.

#![allow(clippy::format_push_string, clippy::format_collect, reason = "small files made here")]

use std::io::Write;
use std::path::{Path, PathBuf};

use nearfar::Samples;
use nearfar::internals::load_part;
use nearfar::load::{LoadOptions, Truth, load, write_npy};
use nearfar_testkit::threads::as_team;

/// A file of a test's own, gone when the test is.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("nearfar-parts-{}-{name}", std::process::id()));
        std::fs::File::create(&path).unwrap().write_all(bytes).unwrap();
        Self(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn values(samples: &Samples<'_>) -> Vec<f64> {
    let (n, m) = (samples.n_samples(), samples.n_features());
    let mut rows = vec![0.0; n * m];
    rows.chunks_exact_mut(m).enumerate().for_each(|(i, row)| samples.copy_row(i, row));
    rows
}

fn check(path: &Path, options: &LoadOptions) {
    let whole = load(path, options).unwrap();
    for size in [1, 2, 3, 5, 8] {
        let parts = as_team(size, |team| {
            let part = load_part(path, options, team).unwrap();
            assert_eq!(part.rows.n_samples, part.share.rows().len());
            let spreads = part.rows.samples().spreads_shared(&part.share);
            (values(&part.rows.samples()), part, spreads)
        });
        let all: Vec<f64> = parts.iter().flat_map(|(values, ..)| values).copied().collect();
        assert!(all == values(&whole.samples()), "{}: other values in {size} parts", path.display());
        for (_, part, spreads) in parts {
            assert_eq!(part.share.n_rows(), whole.n_samples);
            assert_eq!((&part.truth, &part.ids), (&whole.truth, &whole.ids));
            assert_eq!(
                (part.rows.n_features, &part.rows.column_names),
                (whole.n_features, &whole.column_names)
            );
            assert_eq!(part.rows.source, whole.source);
            assert_eq!(spreads, whole.samples().spreads(), "spreads in {size} parts");
        }
    }
}

fn csv(n: usize, comments: bool) -> String {
    let mut text = String::from("id,a,b,class\n");
    for i in 0..n {
        if comments && i % 700 == 3 {
            text += "# a remark\n\n";
        }
        text += &format!("row{i},{},{:.3},{}\n", i * 7 % 1000, (i as f64).sin(), ["x", "y", "z"][i * i % 3]);
    }
    text
}

#[test]
fn text_is_read_by_parts() {
    let options = LoadOptions {
        truth: Some(Truth::Column("class".into())),
        id_column: Some("id".into()),
        ..LoadOptions::default()
    };
    for n in [3, 511, 2600] {
        check(&Temporary::new(&format!("{n}.csv"), csv(n, n > 1000).as_bytes()).0, &options);
    }
    let plain: String = (0..1500).map(|i| format!("{} {}\n", i % 13, i % 7)).collect();
    check(&Temporary::new("plain.txt", plain.trim_end().as_bytes()).0, &LoadOptions::default());
}

#[test]
fn npy_is_read_by_parts() {
    let doubles: Vec<f64> = (0..2100 * 3).map(|x| (x as f64).cos()).collect();
    let mut bytes = Vec::new();
    write_npy(&mut bytes, &[2100, 3], &doubles).unwrap();
    check(&Temporary::new("d.npy", &bytes).0, &LoadOptions::default());
    let options = LoadOptions { truth: Some(Truth::Column("-1".into())), ..LoadOptions::default() };
    let singles: Vec<f32> = (0..600 * 4).map(|x| (x % 19) as f32).collect();
    bytes.clear();
    write_npy(&mut bytes, &[600, 4], &singles).unwrap();
    check(&Temporary::new("s.npy", &bytes).0, &options);
}

/// Faults are named by the row or line of the file, not of the part.
#[test]
fn faults_are_named_by_their_place_in_the_file() {
    let mut text = csv(2000, true);
    text += "last,1,oops,x\n";
    let file = Temporary::new("oops.csv", text.as_bytes());
    let options = LoadOptions { columns: Some(vec!["a".into(), "b".into()]), ..LoadOptions::default() };
    let whole = load(&file.0, &options).unwrap_err().to_string();
    let parts = as_team(3, |team| load_part(&file.0, &options, team).map(|_| ()));
    let messages: Vec<String> =
        parts.into_iter().filter_map(Result::err).map(|error| error.to_string()).collect();
    assert_eq!(messages, [whole]);
}

#[test]
fn what_has_no_parts_is_refused() {
    let file = Temporary::new("text.csv.gz", b"\x1f\x8b some bytes");
    let refused =
        as_team(1, |team| load_part(&file.0, &LoadOptions::default(), team).unwrap_err().to_string());
    assert!(refused[0].contains("by parts"), "{}", refused[0]);
    let file = Temporary::new("quotes.csv", b"a,b\n\"x\ny\",2\n1,2\n");
    let options = LoadOptions { columns: Some(vec!["b".into()]), ..LoadOptions::default() };
    let refused = as_team(1, |team| load_part(&file.0, &options, team).unwrap_err().to_string());
    assert!(refused[0].contains("quotes"), "{}", refused[0]);
}
