//! Bad, odd and tiny input: each case ends in a right result or a clear error, and an output file is either whole
//! or untouched.

#![allow(clippy::format_collect, clippy::format_push_string, reason = "small texts")]

mod common;

use std::path::Path;

use common::{folder, nearfar_with_stdin, stderr};

/// One case: files, flags behind `cluster -o out.csv`, the code, and what stderr holds.
struct Case {
    name: &'static str,
    files: Vec<(&'static str, Vec<u8>)>,
    args: Vec<&'static str>,
    code: i32,
    says: &'static str,
    /// Labels in the output, where there is one.
    labels: usize,
}

fn refused(name: &'static str, file: (&'static str, Vec<u8>), args: &str, says: &'static str) -> Case {
    Case { name, files: vec![file], args: split(args), code: 2, says, labels: 0 }
}

fn works(name: &'static str, file: (&'static str, Vec<u8>), args: &str, labels: usize) -> Case {
    Case { name, files: vec![file], args: split(args), code: 0, says: "", labels }
}

fn split(args: &str) -> Vec<&'static str> {
    // Tests live as long as the program.
    args.split_whitespace().map(|word| &*Box::leak(word.to_owned().into_boxed_str())).collect()
}

fn csv(text: impl Into<String>) -> (&'static str, Vec<u8>) {
    ("d.csv", text.into().into_bytes())
}

/// n points on a line with a second column.
fn line(n: usize) -> String {
    (0..n).map(|i| format!("{},{}\n", i, (i * i) % 5)).collect()
}

/// n points in two groups.
fn groups(n: usize) -> String {
    (0..n).map(|i| format!("{},{}\n", i % 2 * 50 + i % 7, (i * i) % 5)).collect()
}

fn good() -> (&'static str, Vec<u8>) {
    csv(line(12))
}

/// An NPY file with this header dictionary and these bytes.
fn npy(dictionary: &str, values: &[u8]) -> (&'static str, Vec<u8>) {
    let mut header = dictionary.as_bytes().to_vec();
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(b' ');
    }
    header.push(b'\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header);
    bytes.extend(values);
    ("d.npy", bytes)
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn npz(cut: usize) -> (&'static str, Vec<u8>) {
    let mut writer = nearfar::load::NpzWriter::new(Vec::new());
    let values: Vec<f64> = (0..40).map(f64::from).collect();
    writer.add("X", &[20, 2], &values).unwrap();
    writer.add("W", &[10, 4], &values).unwrap();
    let mut bytes = writer.finish().unwrap();
    bytes.truncate(bytes.len() - cut);
    ("d.npz", bytes)
}

fn files() -> Vec<Case> {
    vec![
        refused("empty file", csv(""), "d.csv -k 2", "empty"),
        refused("blank lines only", csv("\n\n  \n"), "d.csv -k 2", "at least one row"),
        refused("header only", csv("a,b\n"), "d.csv -k 2", "at least one row"),
        refused("no such file", good(), "e.csv -k 2", "no such file"),
        refused("a folder", good(), ". -k 2", "folder"),
        refused("unknown extension", ("d.xls", b"1,2".to_vec()), "d.xls -k 2", "--format"),
        refused("no extension", ("data", b"1,2\n3,4".to_vec()), "data -k 2", "--format"),
        refused("text in a cell", csv("1,2\n3,x\n"), "d.csv -k 2", "line 2"),
        refused("categorical column", csv("a,b\n1,red\n2,blue\n"), "d.csv -k 2", "\"b\""),
        refused("nan", csv("1,2\n3,nan\n"), "d.csv -k 2", "line 2"),
        refused("inf", csv("1,inf\n3,4\n"), "d.csv -k 2", "line 1"),
        refused("overflowing number", csv("1,1e999\n3,4\n"), "d.csv -k 2", "line 1"),
        refused("missing value word", csv("1,2\n3,NA\n5,6\n"), "d.csv -k 2", "missing"),
        refused("empty cell", csv("1,2\n3,\n5,6\n"), "d.csv -k 2", "empty"),
        refused("ragged row", csv("1,2\n3,4,5\n6,7\n"), "d.csv -k 2", "line 2"),
        refused("decimal commas", csv("1,5;2,5\n3,5;4,5\n"), "d.csv -k 2 --delimiter ;", "decimal"),
        refused("binary as csv", csv("\0\u{1}\u{2}\0"), "d.csv -k 2", "d.csv"),
        Case {
            files: vec![("d.csv", vec![0xff, 0xfe, 0x31, 0x00, 0x2c, 0x00])],
            ..refused("utf-16", good(), "d.csv -k 2", "d.csv")
        },
        refused("truncated npz", npz(30), "d.npz -k 2 --array X", "d.npz"),
        refused("half an npz", npz(200), "d.npz -k 2 --array X", "d.npz"),
        refused("two arrays fit", npz(0), "d.npz -k 2", "--array"),
        refused("no such array", npz(0), "d.npz -k 2 --array x1", "X"),
        refused("npz that is text", ("d.npz", b"1,2\n3,4\n".to_vec()), "d.npz -k 2", "zip"),
        refused(
            "npy of text",
            npy("{'descr': '<U3', 'fortran_order': False, 'shape': (2, 2), }", &[0; 48]),
            "d.npy -k 2",
            "d.npy",
        ),
        refused(
            "npy of objects",
            npy("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }", &[0; 32]),
            "d.npy -k 2",
            "d.npy",
        ),
        refused(
            "npy cut short",
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (9, 2), }", &[0; 32]),
            "d.npy -k 2",
            "d.npy",
        ),
        refused(
            "npy that claims terabytes",
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999, 99), }", &[0; 32]),
            "d.npy -k 2",
            "d.npy",
        ),
        refused(
            "npy with nan",
            npy(
                "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }",
                &doubles(&[1.0, f64::NAN, 2.0, 3.0]),
            ),
            "d.npy -k 2",
            "row 0",
        ),
        refused(
            "npy without rows",
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 2), }", &[]),
            "d.npy -k 2",
            "0 x 2",
        ),
        refused("not a mat file", ("d.mat", vec![7; 300]), "d.mat -k 2", "d.mat"),
        refused("damaged gzip", ("d.csv.gz", vec![0x1f, 0x8b, 8, 0, 1, 2, 3]), "d.csv.gz -k 2", "d.csv.gz"),
        refused("damaged parquet", ("d.parquet", b"PAR1....PAR1".to_vec()), "d.parquet -k 2", "d.parquet"),
        refused("damaged arrow", ("d.arrow", b"ARROW1..".to_vec()), "d.arrow -k 2", "d.arrow"),
        refused("empty stdin", good(), "- -k 2", "stdin"),
    ]
}

fn flags() -> Vec<Case> {
    vec![
        refused("no k", good(), "d.csv", "-k"),
        refused("k = 0", good(), "d.csv -k 0", "-k = 0"),
        refused("k below 0", good(), "d.csv -k=-2", "-2"),
        refused("k not a number", good(), "d.csv -k many", "many"),
        refused("more clusters than points", good(), "d.csv -k 13", "at most 12"),
        refused("alpha below 0", good(), "d.csv -k 2 --alpha -1", "--alpha = -1"),
        refused("alpha nan", good(), "d.csv -k 2 --alpha nan", "--alpha = NaN"),
        refused("beta inf", good(), "d.csv -k 2 --beta inf", "--beta = inf"),
        refused("mu = 0", good(), "d.csv -k 2 --mu 0", "--mu = 0"),
        refused("mu nan", good(), "d.csv -k 2 --mu nan", "--mu = NaN"),
        refused("eta = mu", good(), "d.csv -k 2 --mu 0.1 --eta 0.1", "below mu"),
        refused("eta above mu", good(), "d.csv -k 2 --preset paper --eta 0.2", "below mu"),
        refused("eta without mu", good(), "d.csv -k 2 --eta 0.2", "--mu"),
        refused("neighbors and mu", good(), "d.csv -k 2 --neighbors 5 --mu 0.1", "--mu"),
        refused("neighbors = 0", good(), "d.csv -k 2 --neighbors 0", "--neighbors = 0"),
        refused("starts = 0", good(), "d.csv -k 2 --starts 0", "--starts = 0"),
        refused("starts beyond reason", good(), "d.csv -k 2 --starts 5000", "1 to 1000"),
        refused("max-iter = 0", good(), "d.csv -k 2 --max-iter 0", "--max-iter = 0"),
        refused("tol nan", good(), "d.csv -k 2 --tol nan", "--tol = NaN"),
        refused("threads = 0", good(), "d.csv -k 2 --threads 0", "--threads = 0"),
        refused("memory in words", good(), "d.csv -k 2 --memory lots", "500M or 4G"),
        Case { code: 3, ..refused("memory too small", good(), "d.csv -k 2 --memory 10K", "needs") },
        refused("seed below 0", good(), "d.csv -k 2 --seed=-1", "-1"),
        refused("unknown flag", good(), "d.csv -k 2 --frobnicate", "--frobnicate"),
        refused("no such column", good(), "d.csv -k 2 --columns 0,7", "0 to 1"),
        refused("no column left", good(), "d.csv -k 2 --columns 0 --truth 0", "leave one"),
        refused("truth of another length", good(), "d.csv -k 2 --truth t.txt", "no such file"),
        Case {
            files: vec![good(), ("t.txt", b"1\n2\n".to_vec())],
            ..refused("truth too short", good(), "d.csv -k 2 --truth t.txt", "2 entries for 12")
        },
        refused("delimiter of two characters", good(), "d.csv -k 2 --delimiter ,,", "cannot separate"),
        refused("distances not square", good(), "d.csv -k 2 --input-kind distances", ""),
        refused("distances below 0", csv("0,-1\n-1,0\n"), "d.csv -k 1 --input-kind distances", "-1"),
        refused("distances not symmetric", csv("0,1\n2,0\n"), "d.csv -k 1 --input-kind distances", ""),
        refused("affinities below 0", csv("1,-1\n-1,1\n"), "d.csv -k 1 --input-kind affinities", "-1"),
        refused(
            "no affinity above 0",
            csv("1,0,0\n0,1,0\n0,0,1\n"),
            "d.csv -k 2 --input-kind affinities",
            "positive",
        ),
        refused("scaled distances", good(), "d.csv -k 2 --input-kind distances --scale standard", "--scale"),
        refused("cosine of zeros", csv("0,0\n1,2\n2,1\n"), "d.csv -k 2 --metric cosine", "zeros"),
        refused("graph without a file", good(), "d.csv -k 2 --graph s", "--export-graph"),
        refused("graph into a missing folder", good(), "d.csv -k 2 --export-graph no/g.csv", "no/g.csv"),
        refused("run folder is a file", good(), "d.csv -k 2 --out-dir d.csv", "not a folder"),
        refused("config that is not there", good(), "d.csv -k 2 --config no.toml", "no.toml"),
        Case {
            files: vec![good(), ("c.toml", b"clusters = [".to_vec())],
            ..refused("config that is not TOML", good(), "d.csv --config c.toml", "c.toml")
        },
        Case {
            files: vec![good(), ("c.toml", b"clusters = \"two\"".to_vec())],
            ..refused("config of a wrong type", good(), "d.csv --config c.toml", "c.toml")
        },
        Case {
            files: vec![good(), ("c.toml", b"clusters = 2\nmu = nan".to_vec())],
            ..refused("config with nan", good(), "d.csv --config c.toml", "--mu = NaN")
        },
    ]
}

/// Odd data for which there is an answer.
fn odd() -> Vec<Case> {
    let repeat = |row: &str, times: usize| format!("{row}\n").repeat(times);
    vec![
        works("one row", csv("1,2\n"), "d.csv -k 1", 1),
        works("one number", csv("1\n"), "d.csv -k 1", 1),
        works("one column", csv("1\n2\n9\n10\n"), "d.csv -k 2", 4),
        works("two rows, two clusters", csv("1,2\n3,4\n"), "d.csv -k 2", 2),
        works("two rows, one cluster", csv("1,2\n3,4\n"), "d.csv -k 1", 2),
        works("k = 1", good(), "d.csv -k 1", 12),
        works("k = n", good(), "d.csv -k 12", 12),
        works("k = n - 1", good(), "d.csv -k 11", 12),
        works("three points", csv(line(3)), "d.csv -k 2", 3),
        works("eight points", csv(line(8)), "d.csv -k 3", 8),
        works("constant column", csv(groups(40).replace(',', ",7,")), "d.csv -k 2", 40),
        works("all columns constant", csv(repeat("7,7", 15)), "d.csv -k 2", 15),
        works("all points equal, one cluster", csv(repeat("7,7", 15)), "d.csv -k 1", 15),
        works("two distinct points", csv(repeat("1,1", 10) + &repeat("5,5", 10)), "d.csv -k 2", 20),
        works(
            "three clusters of two distinct points",
            csv(repeat("1,1", 10) + &repeat("5,5", 10)),
            "d.csv -k 3",
            20,
        ),
        works("nine copies of one point", csv(line(20) + &repeat("3,4", 9)), "d.csv -k 3", 29),
        works("values of 1e308", csv("1e308,0\n-1e308,0\n1e308,1\n-1e308,1\n0,0\n0,1\n"), "d.csv -k 2", 6),
        works("values of 1e-308", csv("1e-308,0\n2e-308,0\n8e-308,1e-308\n9e-308,0\n"), "d.csv -k 2", 4),
        works(
            "far points whose affinity is 0",
            csv((0..30)
                .map(|i| format!("{}\n", 10_f64.powi(i % 3 * 100) + f64::from(i)))
                .collect::<String>()),
            "d.csv -k 3",
            30,
        ),
        works("scaled constant data", csv(repeat("7,7", 9)), "d.csv -k 2 --scale standard", 9),
        works(
            "scaled huge values",
            csv("1e308,0\n-1e308,0\n1e308,1\n-1e308,1\n0,0\n0,1\n"),
            "d.csv -k 2 --scale standard",
            6,
        ),
        works("CRLF without a last newline", csv("a,b\r\n1,2\r\n3,4\r\n9,9"), "d.csv -k 2", 3),
        works("byte order mark", csv("\u{feff}a,b\n1,2\n3,4\n9,9\n"), "d.csv -k 2", 3),
        works("runs of blanks", ("d.txt", b"1.0  2.0\t3\n4   5  6 \n9 9\t\t9\n".to_vec()), "d.txt -k 2", 3),
        works("more neighbors than points", good(), "d.csv -k 2 --neighbors 500", 12),
        works("one neighbor", good(), "d.csv -k 2 --neighbors 1", 12),
        works("tiny mu", good(), "d.csv -k 2 --mu 1e-9", 12),
        works("alpha = 0", csv(groups(40)), "d.csv -k 2 --alpha 0", 40),
        works("beta = 0", good(), "d.csv -k 2 --beta 0", 12),
        works("tol below 0", good(), "d.csv -k 2 --tol -1 --max-iter 20", 12),
        works("zero distances", csv("0,0,0\n0,0,0\n0,0,0\n"), "d.csv -k 2 --input-kind distances", 3),
        works("truth in the last column", good(), "d.csv -k 2 --truth -1", 12),
        works(
            "graph of as many clusters as points",
            good(),
            "d.csv -k 12 --export-graph g.csv --out-dir run",
            12,
        ),
        works("folder of one cluster", good(), "d.csv -k 1 --export-graph g.csv --graph z --out-dir run", 12),
        works("one point with everything", csv("1,2\n"), "d.csv -k 1 --export-graph g.csv --out-dir run", 1),
        works("phals of equal points", csv(repeat("7,7", 12)), "d.csv -k 2 --method phals", 12),
    ]
}

fn check(case: &Case) -> Result<(), String> {
    let here = folder(&format!("bad/{}", case.name.replace([' ', ','], "_")));
    for (name, bytes) in &case.files {
        std::fs::write(here.join(name), bytes).unwrap();
    }
    std::fs::write(here.join("out.csv"), "before").unwrap();
    let args = [&["cluster", "-o", "out.csv"], &case.args[..]].concat();
    let output = nearfar_with_stdin(&here, &args, b"");
    let text = stderr(&output);
    let held =
        |holds: bool, what: &str| if holds { Ok(()) } else { Err(format!("{}: {what}\n{text}", case.name)) };
    held(
        output.status.code() == Some(case.code),
        &format!("code {:?}, not {}", output.status.code(), case.code),
    )?;
    held(!text.contains("panicked") && !text.contains("fault of nearfar"), "panicked")?;
    held(output.stdout.is_empty(), "stdout is not empty")?;
    let written = std::fs::read_to_string(here.join("out.csv")).unwrap();
    if case.code == 0 {
        let labels: Vec<&str> = written.lines().skip(1).collect();
        held(labels.len() == case.labels, &format!("{} labels", labels.len()))?;
        held(labels.iter().all(|label| label.parse::<usize>().is_ok()), "labels are not numbers")
    } else {
        held(written == "before", "the output was touched")?;
        held(text.starts_with("error: "), "does not begin with error:")?;
        held(text.contains(case.says), &format!("does not say {:?}", case.says))?;
        held(left_over(&here, case).is_empty(), &format!("left over: {:?}", left_over(&here, case)))
    }
}

/// Files that were not there before.
fn left_over(here: &Path, case: &Case) -> Vec<String> {
    let names =
        std::fs::read_dir(here).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "out.csv" && !case.files.iter().any(|(known, _)| known == name)).collect()
}

fn check_all(cases: &[Case]) {
    let failures: Vec<String> = cases.iter().filter_map(|case| check(case).err()).collect();
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

#[test]
fn bad_files() {
    check_all(&files());
}

#[test]
fn bad_flags() {
    check_all(&flags());
}

#[test]
fn odd_data() {
    check_all(&odd());
}

/// Small or evenly spaced data once ended in V = 0.
#[test]
fn small_separate_groups() {
    let ten: String = (0..20).map(|i| format!("{},{}\n", i % 2 * 100 + i, i * i % 7)).collect();
    let even: String = (0..20).map(|i| format!("{i},7\n")).collect();
    check_all(&[
        works("two groups of ten", csv(ten), "d.csv -k 2", 20),
        works("evenly spaced line", csv(even), "d.csv -k 2", 20),
        works("twelve points, alpha = 0", good(), "d.csv -k 2 --alpha 0", 12),
    ]);
}

#[test]
fn there_are_many_cases() {
    let all = [files(), flags(), odd()].concat_names();
    let mut distinct = all.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), all.len());
    assert!(all.len() >= 60, "{}", all.len());
}

trait Names {
    fn concat_names(&self) -> Vec<&'static str>;
}

impl Names for [Vec<Case>; 3] {
    fn concat_names(&self) -> Vec<&'static str> {
        self.iter().flatten().map(|case| case.name).collect()
    }
}

#[cfg(unix)]
#[test]
fn an_unwritable_folder_is_found_before_the_work() {
    use std::os::unix::fs::PermissionsExt;
    let here = folder("unwritable");
    std::fs::write(here.join("d.csv"), line(12)).unwrap();
    let locked = here.join("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write anywhere; then there is nothing to see.
    if std::fs::write(locked.join("probe"), "").is_ok() {
        return;
    }
    for args in [&["-o", "locked/out.csv"][..], &["--out-dir", "locked/run"]] {
        let text = common::fail(&here, &[&["cluster", "d.csv", "-k", "2"], args].concat(), 2);
        assert!(text.contains("cannot be written"), "{text}");
    }
}
