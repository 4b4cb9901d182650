//! Bad, odd and tiny input: each case ends in a right result or a clear error, and an output file is either whole
//! or untouched.

#![allow(clippy::format_collect, clippy::format_push_string, reason = "small texts")]

mod common;

use std::path::Path;

use common::{folder, nearfar_with_stdin, stderr};
use nearfar_testkit::bad::Expect;

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

fn good() -> (&'static str, Vec<u8>) {
    csv(line(12))
}

/// What only the program has: flags as text, stdin, outputs, settings files.
fn of_the_program() -> Vec<Case> {
    let repeat = |row: &str, times: usize| format!("{row}\n").repeat(times);
    vec![
        refused("empty stdin", good(), "- -k 2", "stdin"),
        works("no k", good(), "d.csv", 12),
        works("k found", good(), "d.csv -k auto", 12),
        refused("no k of another method", good(), "d.csv --method phals", "say it with -k"),
        refused("k found by another method", good(), "d.csv -k auto --method lsdg", "only nearfar can"),
        refused("k below 0", good(), "d.csv -k=-2", "-2"),
        refused("k not a number", good(), "d.csv -k many", "clusters must be a number or auto"),
        refused("k a fraction", good(), "d.csv -k 2.5", "clusters must be a number or auto"),
        refused("eta without mu", good(), "d.csv -k 2 --method lsdg --eta 0.2", "--mu"),
        refused("neighbors and mu", good(), "d.csv -k 2 --neighbors 5 --mu 0.1", "--mu"),
        refused("memory in words", good(), "d.csv -k 2 --memory lots", "500M or 4G"),
        refused("seed below 0", good(), "d.csv -k 2 --seed=-1", "-1"),
        refused("unknown flag", good(), "d.csv -k 2 --frobnicate", "--frobnicate"),
        refused("delimiter of two characters", good(), "d.csv -k 2 --delimiter ,,", "cannot separate"),
        refused("scaled distances", good(), "d.csv -k 2 --input-kind distances --scale standard", "--scale"),
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
            files: vec![good(), ("c.toml", b"clusters = 2\nmethod = \"lsdg\"\nmu = nan".to_vec())],
            ..refused("config with nan", good(), "d.csv --config c.toml", "--mu = NaN")
        },
        works("scaled constant data", csv(repeat("7,7", 9)), "d.csv -k 2 --scale standard", 9),
        works(
            "scaled huge values",
            csv("1e308,0\n-1e308,0\n1e308,1\n-1e308,1\n0,0\n0,1\n"),
            "d.csv -k 2 --scale standard",
            6,
        ),
        works(
            "graph of as many clusters as points",
            good(),
            "d.csv -k 12 --export-graph g.csv --out-dir run",
            12,
        ),
        works(
            "folder of one cluster",
            good(),
            "d.csv -k 1 --method lsdg --export-graph g.csv --graph z --out-dir run",
            12,
        ),
        works("one cluster with everything", good(), "d.csv -k 1 --export-graph g.csv --out-dir run", 12),
        works("one point, k found", csv("1,2\n"), "d.csv --out-dir run --levels 1", 1),
        works("levels of one cluster", good(), "d.csv -k 1 --levels 1,12 --out-dir run", 12),
        refused("no such level", good(), "d.csv -k 3 --levels 3,13", "only 12 points"),
        refused("level 0", good(), "d.csv -k 3 --levels 0", "from 1 on"),
        refused("level in words", good(), "d.csv -k 3 --levels 3,x", "write it as 12"),
        refused("all points noise", good(), "d.csv -k 3 --noise 100%", "5% or 0.05"),
        refused("no noise", good(), "d.csv -k 3 --noise 0", "5% or 0.05"),
        refused("noise nan", good(), "d.csv -k 3 --noise nan", "5% or 0.05"),
        refused(
            "two kinds of noise",
            good(),
            "d.csv -k 3 --noise 5% --min-confidence 0.5",
            "cannot be used with",
        ),
        refused("confidence above 1", good(), "d.csv -k 3 --min-confidence 1.5", "at most 1"),
        refused("confidence nan", good(), "d.csv -k 3 --min-confidence nan", "at most 1"),
        refused(
            "confidence of another method",
            good(),
            "d.csv -k 3 --method phals --confidence",
            "only nearfar",
        ),
        refused("levels of another method", good(), "d.csv -k 3 --preset paper --levels 2", "only nearfar"),
        refused("views and scale", good(), "d.csv -k 3 --views raw --scale unit", "leave out one"),
        refused("views and cosine", good(), "d.csv -k 3 --views raw --metric cosine", "leave out --views"),
        refused("unknown view", good(), "d.csv -k 3 --views raw,flat", "standard-unit"),
        refused("unknown engine", good(), "d.csv -k 3 --engine magic", "mixture"),
        refused("no d of nearfar", good(), "d.csv -k 3 --export-graph g.csv --graph d", "--method lsdg"),
        works("one point with everything", csv("1,2\n"), "d.csv -k 1 --export-graph g.csv --out-dir run", 1),
        refused(
            "graphs into a missing folder",
            good(),
            "d.csv -k 2 --method lsdg --export-graph no/g.csv --graph s,z",
            "no/g-s.csv",
        ),
        refused("run folder through a file", good(), "d.csv -k 2 --out-dir d.csv/run", "d.csv"),
        refused("more than --max-bytes", good(), "d.csv -k 2 --max-bytes 10", "--max-bytes"),
    ]
}

/// The name of the method that settings are of, where none is named.
fn of_lsdg(args: &[&str]) -> &'static [&'static str] {
    let own = ["--alpha", "--beta", "--mu", "--eta", "--neighbors", "--starts", "--max-iter", "--tol"];
    let has = |flag: &str| args.contains(&flag);
    if own.into_iter().any(has) && !has("--method") && !has("--preset") { &["--method", "lsdg"] } else { &[] }
}

/// The table that the library's tests go through too.
fn shared() -> Vec<Case> {
    let of_kit = |case: nearfar_testkit::bad::Case| {
        let (code, says, labels) = match case.expect {
            Expect::Labels(labels) => (0, "", labels),
            Expect::Refused(says) => (2, says, 0),
            Expect::Memory(says) => (3, says, 0),
        };
        let args = [&case.args[..], of_lsdg(&case.args)].concat();
        Case { name: case.name, files: case.files, args, code, says, labels }
    };
    nearfar_testkit::bad::cases().into_iter().map(of_kit).collect()
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
        let numbers = |line: &&str| line.split(',').all(|label| label.parse::<usize>().is_ok());
        held(labels.iter().all(numbers), "labels are not numbers")
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
fn input_that_the_library_sees_too() {
    check_all(&shared());
}

#[test]
fn flags_and_outputs() {
    check_all(&of_the_program());
}

/// Small or evenly spaced data once ended in V = 0.
#[test]
fn small_separate_groups() {
    let ten: String = (0..20).map(|i| format!("{},{}\n", i % 2 * 100 + i, i * i % 7)).collect();
    let even: String = (0..20).map(|i| format!("{i},7\n")).collect();
    check_all(&[
        works("two groups of ten", csv(ten), "d.csv -k 2", 20),
        works("evenly spaced line", csv(even), "d.csv -k 2", 20),
        works("twelve points, alpha = 0", good(), "d.csv -k 2 --method lsdg --alpha 0", 12),
    ]);
}

#[test]
fn names_are_distinct() {
    let all: Vec<&str> = [shared(), of_the_program()].iter().flatten().map(|case| case.name).collect();
    let distinct: std::collections::HashSet<&str> = all.iter().copied().collect();
    assert_eq!(distinct.len(), all.len());
}

/// A socket cannot be opened as a file, not even by the superuser.
#[cfg(unix)]
#[test]
fn what_nobody_can_read_is_named() {
    let here = folder("unreadable");
    let socket = here.join("d.csv");
    // Paths of sockets are short; where this one is too long there is nothing to try.
    let Ok(_listener) = std::os::unix::net::UnixListener::bind(&socket) else { return };
    let text = common::fail(&here, &["cluster", "d.csv", "-k", "2"], 2);
    assert!(text.contains("d.csv: cannot be read"), "{text}");
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
    // The superuser may write to a locked folder, but not below a file.
    let superuser = std::fs::write(locked.join("probe"), "").is_ok();
    let (out, run) =
        if superuser { ("d.csv/out.csv", "d.csv/run") } else { ("locked/out.csv", "locked/run") };
    for args in [["-o", out], ["--out-dir", run]] {
        let text = common::fail(&here, &[&["cluster", "d.csv", "-k", "2"], &args[..]].concat(), 2);
        assert!(text.contains("choose another place"), "{text}");
    }
}
