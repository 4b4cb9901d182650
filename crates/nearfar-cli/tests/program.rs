//! The other commands, mistakes, exit codes, closed pipes and Ctrl-C.

mod common;

use std::io::Read;

use common::{command, fail, folder, nearfar, stderr, stdout, succeed, two_groups};

#[test]
fn no_arguments() {
    let text = fail(&folder("no_arguments"), &[], 2);
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(text.contains("nearfar demo") && text.contains("nearfar cluster"));
}

#[test]
fn help_fits_eighty_columns_and_names_every_command() {
    let here = folder("help");
    let help = succeed(&here, &["--help"]);
    for word in ["cluster", "score", "make", "demo", "plan", "completions", "man", "130"] {
        assert!(help.contains(word), "{word}");
    }
    for args in [&["--help"][..], &["cluster", "--help"], &["cluster", "-h"], &["make", "--help"]] {
        let output = command(&here, args).env("COLUMNS", "80").output().unwrap();
        let wide = stdout(&output).lines().map(|line| line.chars().count()).max();
        assert!(wide <= Some(100), "{args:?}: {wide:?}");
    }
    assert!(succeed(&here, &["--version"]).starts_with("nearfar 0."));
}

#[test]
fn mistyped_words_get_a_suggestion() {
    let here = folder("mistyped");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    std::fs::write(here.join("run.toml"), "nieghbors = 3\n").unwrap();
    for (args, tip) in [
        (&["clutser", "data.csv"][..], "cluster"),
        (&["cluster", "data.csv", "-k", "2", "--nieghbors", "3"], "--neighbors"),
        (&["cluster", "data.csv", "-k", "2", "--preset", "papr"], "paper"),
        (&["cluster", "data.csv", "-k", "2", "--truth", "clas"], "\"class\""),
        (&["cluster", "data.csv", "-k", "2", "--columns", "x,z"], "columns are"),
        (&["cluster", "data.csv", "-k", "2", "--config", "run.toml"], "\"neighbors\""),
        (&["cluster", "daat.csv", "-k", "2"], "\"data.csv\""),
        (&["cluster", "data.csv", "-k", "2", "--format", "cvs"], "\"csv\""),
        (&["make", "mons"], "moons"),
    ] {
        let text = fail(&here, args, 2);
        assert!(text.starts_with("error: ") && text.contains(tip), "{args:?}: {text}");
    }
}

#[test]
fn every_exit_code() {
    let here = folder("exit_codes");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let base = ["cluster", "data.csv", "-k", "2", "--columns", "x,y"];
    let with = |extra: &[&'static str]| [&base[..], extra].concat();
    succeed(&here, &with(&[]));
    let text = fail(&here, &with(&["--method", "lsdg", "--strict", "--max-iter", "1", "-o", "kept.csv"]), 1);
    assert!(text.contains("--strict") && here.join("kept.csv").exists(), "{text}");
    assert!(fail(&here, &with(&["-o", "out.xyz"]), 2).contains(".csv, .txt, .npy or .json"));
    assert!(fail(&here, &with(&["--memory", "1M"]), 3).contains("--memory"));
    fail(&here, &["plan", "--points", "60000", "--memory", "1G", "--method", "lsdg", "--mode", "exact"], 3);
}

#[test]
fn score_tells_all() {
    let here = folder("score");
    std::fs::write(here.join("labels.txt"), "0\n0\n1\n1\n2\n").unwrap();
    std::fs::write(here.join("truth.csv"), "id,class\n1,a\n2,a\n3,b\n4,b\n5,b\n").unwrap();
    let text = succeed(&here, &["score", "labels.txt", "truth.csv"]);
    for word in
        ["ACC       0.8000", "NMI", "ARI", "purity    1.0000", "pair F", "3 clusters (rows), 2 classes"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&succeed(&here, &["score", "labels.txt", "truth.csv", "--json"])).unwrap();
    assert_eq!(json["contingency"], serde_json::json!([[2, 0], [0, 2], [0, 1]]));
    std::fs::write(here.join("short.txt"), "0\n1\n").unwrap();
    assert!(fail(&here, &["score", "short.txt", "truth.csv"], 2).contains("one per point"));
    fail(&here, &["score", "nothing.txt", "truth.csv"], 2);
}

#[test]
fn make_makes_every_kind() {
    let here = folder("make");
    let list = succeed(&here, &["make", "--list"]);
    for line in list.lines() {
        let kind = line.split_whitespace().next().unwrap();
        let csv = succeed(&here, &["make", kind, "-n", "40"]);
        assert_eq!(csv.lines().count(), 41, "{kind}");
        assert!(csv.lines().next().unwrap().ends_with(",truth"));
    }
    assert!(list.lines().count() > 8 && list.contains("customers"), "{list}");
    succeed(&here, &["make", "chart", "-o", "chart.csv"]);
    succeed(&here, &["make", "chart", "-o", "chart.npz"]);
    succeed(&here, &["make", "chart", "-o", "chart.npy"]);
    let run = |name: &str, truth: &[&'static str]| {
        succeed(&here, &[&["cluster", name, "-k", "6", "-q"], truth].concat())
    };
    let labels = run("chart.csv", &["--truth", "truth"]);
    assert_eq!(labels, run("chart.npz", &["--truth", "y"]));
    assert_eq!(labels, run("chart.npy", &[]));
    assert!(fail(&here, &["make", "moons", "--features", "3"], 2).contains("--features"));
    assert!(fail(&here, &["make", "moons", "--noise", "-1"], 2).contains("--noise"));
    assert!(fail(&here, &["make", "moons", "-o", "x.xls"], 2).contains(".npz"));
}

#[test]
fn demo_fits_the_screen() {
    let here = folder("demo");
    for args in [&["demo"][..], &["demo", "--ascii"]] {
        let text = succeed(&here, args);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(
            text.contains("k-means") && text.contains("rank") && text.contains("nearfar cluster"),
            "{text}"
        );
        assert_eq!(text.is_ascii(), args.len() == 2);
    }
}

#[test]
fn the_first_minute_of_the_readme_works_from_an_empty_folder() {
    let here = folder("first_minute");
    let readme = include_str!("../../../README.md");
    let (_, after) = readme.split_once("## In sixty seconds").expect("the section is there");
    let (block, _) = after.split_once("\n```\n").expect("it has a block of commands");
    let lines: Vec<&str> = block.lines().filter_map(|line| line.strip_prefix("nearfar ")).collect();
    assert!(lines.len() > 10, "{lines:?}");
    for line in lines {
        let args: Vec<&str> = line.split(" #").next().unwrap_or(line).split_whitespace().collect();
        succeed(&here, &args);
    }
    assert!(here.join("run/report.html").exists());
}

#[test]
fn completions_and_manual() {
    let here = folder("completions");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(succeed(&here, &["completions", shell]).contains("neighbors"), "{shell}");
    }
    assert!(succeed(&here, &["man"]).contains(".TH nearfar"));
    assert!(succeed(&here, &["man", "cluster"]).contains("neighbors"));
}

#[test]
fn two_runs_are_compared_differences_first() {
    let here = folder("compare-runs");
    succeed(&here, &["make", "blobs", "-n", "48", "--seed", "1", "-o", "blobs.csv"]);
    for (seed, out) in [("0", "a"), ("1", "b")] {
        let args = ["cluster", "blobs.csv", "-k", "3", "--truth", "truth", "--seed", seed, "--out-dir", out];
        succeed(&here, &[&args[..], &["-q"]].concat());
    }
    let shown = succeed(&here, &["compare", "a", "b"]);
    assert!(shown.contains("--seed") && shown.contains("adjusted Rand index"), "{shown}");
    assert!(fail(&here, &["compare", "a", "nowhere"], 2).contains("cannot be read"));
    for study in [".", "a/trace.json"] {
        let text = fail(&here, &["compare", "a", study], 2);
        assert!(text.contains("holds no run") && text.contains("nearfar-repro compare"), "{text}");
    }
}

#[test]
fn repro_names_the_program_that_runs_studies() {
    let here = folder("repro");
    for (words, told) in [
        (&[][..], "--help"),
        (&["--help"], "--help"),
        (&["table-clustering", "--data", "my data", "-o", "out"], "table-clustering --data 'my data' -o out"),
    ] {
        let text = fail(&here, &[&["repro"], words].concat(), 2);
        let command = format!("cargo run --release -p nearfar-repro -- {told}");
        assert!(text.trim_end().ends_with(&command), "{text}");
    }
    assert!(!succeed(&here, &["--help"]).contains("repro"));
    assert!(!succeed(&here, &["completions", "fish"]).contains("repro"));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let here = folder("closed_pipe");
    succeed(&here, &["make", "mixture", "-n", "600", "-o", "m.npy"]);
    for args in [
        &["make", "mixture", "-n", "3000"][..],
        &["cluster", "m.npy", "-k", "3"],
        &["completions", "bash"],
        &["--help"],
    ] {
        let mut child = command(&here, args).spawn().unwrap();
        drop(child.stdout.take());
        let mut text = String::new();
        child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(0), "{args:?}: {text}");
        assert!(!text.contains("error") && !text.contains("panicked"), "{args:?}: {text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let here = folder("full_disk");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(&here, &["make", "moons"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("stdout cannot be written"));
}

#[cfg(unix)]
#[test]
fn interrupted_runs_keep_their_trace() {
    let here = folder("interrupted");
    succeed(&here, &["make", "mixture", "-n", "3000", "-o", "m.npy"]);
    let args = "cluster m.npy -k 10 --method lsdg --starts 1000 --out-dir run --progress json";
    let mut child = command(&here, &args.split(' ').collect::<Vec<_>>()).spawn().unwrap();
    let mut errors = child.stderr.take().unwrap();
    let mut seen = String::new();
    while !seen.contains("\"iteration\":3") {
        let mut bytes = [0; 256];
        let count = errors.read(&mut bytes).unwrap();
        assert!(count > 0, "ended early: {seen}");
        seen += &String::from_utf8_lossy(&bytes[..count]);
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    errors.read_to_string(&mut seen).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{seen}");
    assert!(seen.contains("interrupted during learn"), "{seen}");
    let trace = std::fs::read_to_string(here.join("run/trace.csv")).unwrap();
    assert!(trace.lines().count() > 3 && trace.starts_with("member,iteration,loss"));
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(here.join("run/summary.json")).unwrap()).unwrap();
    assert_eq!(summary["status"], "interrupted");
    assert!(here.join("run/settings.toml").exists());
    // A start that was stopped gives labels, where it came to stop in time.
    if let Ok(labels) = std::fs::read_to_string(here.join("run/labels.csv")) {
        assert_eq!(labels.lines().count(), 3001);
    }
}

#[test]
fn the_input_is_never_written_over() {
    let here = folder("written_over");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let text = fail(&here, &["cluster", "./data.csv", "-k", "2", "--columns", "x,y", "-o", "data.csv"], 2);
    assert!(text.contains("is the input"), "{text}");
    assert_eq!(std::fs::read_to_string(here.join("data.csv")).unwrap(), two_groups());
    let left: Vec<_> = std::fs::read_dir(&here).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(nearfar(&here, &["cluster", "data.csv"]).status.code() == Some(2));
}
