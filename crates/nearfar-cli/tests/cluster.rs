//! `nearfar cluster`, where all is well.
//!
//! One file, although long: a list of short runs of one command.

#![allow(clippy::format_collect, clippy::format_push_string, reason = "small texts")]

mod common;

use common::{command, fail, folder, nearfar, nearfar_with_stdin, stderr, stdout, succeed, two_groups};

const FLAGS: [&str; 8] = ["cluster", "data.csv", "-k", "2", "--truth", "class", "--id-column", "name"];

fn with(extra: &[&'static str]) -> Vec<&'static str> {
    FLAGS.iter().chain(extra).copied().collect()
}

/// The same by the paper's model.
fn lsdg(extra: &[&'static str]) -> Vec<&'static str> {
    [&with(&["--method", "lsdg"])[..], extra].concat()
}

#[test]
fn labels_on_stdout_summary_on_stderr() {
    let here = folder("labels_on_stdout");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let output = nearfar(&here, &["cluster", "data.csv", "-k", "2", "--columns", "x,y"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let labels: Vec<String> = stdout(&output).lines().map(str::to_owned).collect();
    assert_eq!(labels, (0..60).map(|i| (i % 2).to_string()).collect::<Vec<_>>());
    let summary = stderr(&output);
    for word in ["60 points", "a mixture of 2 Gaussian parts", "(T = ", "clusters   2: 30 30", "certainty"] {
        assert!(summary.contains(word), "{word}: {summary}");
    }
    assert!(!summary.contains('\x1b'));
    let output = nearfar(&here, &with(&["--engine", "graph"]));
    let summary = stderr(&output);
    for word in
        ["by neighbour graphs", "trusted", "agreement", " of all ", "members", "scores     ACC 1.0000"]
    {
        assert!(summary.contains(word), "{word}: {summary}");
    }
}

#[test]
fn every_output_format() {
    let here = folder("every_output_format");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let csv = succeed(&here, &with(&[]));
    assert!(csv.starts_with("id,label\np0,0\np1,1\n"), "{csv}");
    for name in ["out.csv", "out.txt", "out.npy", "out.json"] {
        let output = nearfar(&here, &with(&["-q", "-o", name]));
        assert!(output.status.success() && output.stderr.is_empty() && output.stdout.is_empty(), "{name}");
    }
    let read = |name: &str| std::fs::read(here.join(name)).unwrap();
    assert_eq!(read("out.csv"), csv.as_bytes());
    assert!(read("out.txt").starts_with(b"p0\t0\n"));
    assert!(read("out.npy").starts_with(b"\x93NUMPY"));
    let json: serde_json::Value = serde_json::from_slice(&read("out.json")).unwrap();
    assert_eq!((json["labels"][1].as_u64(), json["ids"][1].as_str()), (Some(1), Some("p1")));
    let scores = succeed(&here, &["score", "out.csv", "data.csv", "--truth-column", "class"]);
    assert!(scores.contains("ACC       1.0000"), "{scores}");
}

#[test]
#[cfg(target_os = "linux")]
fn pipes_and_devices_are_written_to_directly() {
    let here = folder("pipes_and_devices");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let plain = |extra: &[&'static str]| {
        let flags = ["cluster", "data.csv", "-q", "-k", "2", "--columns", "x,y"];
        flags.iter().chain(extra).copied().collect::<Vec<_>>()
    };
    assert_eq!(succeed(&here, &plain(&["-o", "/dev/null"])), "");
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    let labels = succeed(&here, &plain(&["-o", "/dev/stdout"]));
    assert!(labels.starts_with("0\n1\n0\n") && labels.lines().count() == 60, "{labels}");
    // Stdout led to a file, behind what is in it.
    std::fs::write(here.join("all.txt"), "first\n").unwrap();
    let file = std::fs::OpenOptions::new().append(true).open(here.join("all.txt")).unwrap();
    assert!(command(&here, &plain(&["-o", "/dev/stdout"])).stdout(file).status().unwrap().success());
    assert_eq!(std::fs::read_to_string(here.join("all.txt")).unwrap(), format!("first\n{labels}"));
    // A named pipe, whose ending still says the format.
    let pipe = here.join("pipe.csv");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut run = command(&here, &plain(&["-o", "pipe.csv"])).spawn().unwrap();
    assert_eq!(std::fs::read_to_string(&pipe).unwrap(), format!("label\n{labels}"));
    assert!(run.wait().unwrap().success());
    assert!(succeed(&here, &["make", "moons", "--points", "20", "-o", "/dev/stdout"]).starts_with('x'));
    let full = fail(&here, &plain(&["-o", "/dev/full"]), 2);
    assert!(full.contains("/dev/full cannot be written"), "{full}");
}

#[test]
fn a_name_without_an_ending_is_said_to_have_none() {
    let here = folder("no_ending");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let message = fail(&here, &["cluster", "data.csv", "-k", "2", "-o", "labels"], 2);
    assert!(message.contains("has no ending") && message.contains(".csv"), "{message}");
    let message = fail(&here, &["cluster", "data.csv", "-k", "2", "-o", "labels.doc"], 2);
    assert!(message.contains("cannot be written as \"doc\""), "{message}");
    let message = fail(&here, &["make", "moons", "-o", "moons"], 2);
    assert!(message.contains("has no ending") && message.contains(".npz"), "{message}");
}

#[test]
fn json_summary() {
    let here = folder("json_summary");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let output = nearfar(&here, &with(&["--json"]));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["status"], "done");
    assert_eq!(json["scores"]["accuracy"], 1.0);
    assert_eq!(json["labels"].as_array().unwrap().len(), 60);
    assert!(output.stderr.is_empty(), "{}", stderr(&output));
}

#[test]
fn a_run_folder_runs_again() {
    let here = folder("run_folder");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    succeed(&here, &with(&["--method", "lsdg", "--out-dir", "runs/a", "--starts", "4", "--seed", "3"]));
    let run = here.join("runs/a");
    for name in [
        "labels.csv",
        "weights.csv",
        "factor.npy",
        "membership.npy",
        "embedding.npy",
        "trace.csv",
        "trace.json",
        "members.json",
        "summary.json",
        "settings.toml",
    ] {
        assert!(run.join(name).metadata().unwrap().len() > 0, "{name}");
    }
    if cfg!(feature = "parquet") {
        let again =
            succeed(&here, &["cluster", "runs/a/weights.parquet", "-k", "2", "--columns", "near,far"]);
        assert_eq!(again.lines().count(), 60);
    }
    let weights = std::fs::read_to_string(run.join("weights.csv")).unwrap();
    assert!(weights.starts_with("rank,near,far\n0,") && weights.lines().count() == 61);
    let again = succeed(&here, &["cluster", "--config", "runs/a/settings.toml", "--out-dir", "runs/b"]);
    assert!(again.is_empty());
    for name in ["labels.csv", "weights.csv", "trace.csv", "settings.toml", "factor.npy"] {
        let read = |run: &str| std::fs::read(here.join(run).join(name)).unwrap();
        assert!(read("runs/a") == read("runs/b"), "{name}");
    }
    let flags = ["--seed", "9", "--mu", "0.5", "--eta", "0.2", "--json"];
    let output = nearfar(&here, &[&["cluster", "--config", "runs/a/settings.toml"], &flags[..]].concat());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((json["settings"]["seed"].as_u64(), json["settings"]["starts"].as_u64()), (Some(9), Some(4)));
    assert_eq!(json["settings"]["lsdg"]["density"]["mu"], serde_json::json!({"mu": 0.5, "eta": 0.2}));
    let flags = ["--preset", "paper", "--alpha", "0.2", "--json"];
    let output = nearfar(&here, &[&["cluster", "--config", "runs/a/settings.toml"], &flags[..]].concat());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["settings"]["starts"], 1);
    assert_eq!(json["settings"]["lsdg"]["alpha"]["absolute"], 0.2);
}

#[test]
fn graphs_are_edge_lists() {
    let here = folder("graphs");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    for graph in ["s", "d", "z"] {
        succeed(&here, &with(&["--method", "lsdg", "--export-graph", "g.csv", "--graph", graph]));
        let text = std::fs::read_to_string(here.join("g.csv")).unwrap();
        assert!(text.starts_with(&format!("i,j,{graph}\n")), "{text}");
        assert!(text.lines().count() > 5);
    }
    succeed(&here, &with(&["--method", "lsdg", "--export-graph", "all.v1.csv", "--graph", "s,d,z"]));
    for graph in ["s", "d", "z"] {
        let text = std::fs::read_to_string(here.join(format!("all.v1-{graph}.csv"))).unwrap();
        assert!(text.starts_with(&format!("i,j,{graph}\n")), "{text}");
    }
    assert!(!here.join("all.v1.csv").exists());
}

#[test]
fn stdin_methods_and_presets() {
    let here = folder("stdin_methods");
    let data = two_groups();
    for extra in [
        &["--preset", "paper"][..],
        &["--preset", "demo", "--eta", "0.1"],
        &["--method", "phals", "--starts", "2"],
        &["--method", "aosymnmf", "--alpha", "0.01"],
        &["--method", "lsdg", "--no-dissimilarity", "--no-orthogonality", "--starts", "1"],
        &[
            "--method",
            "lsdg",
            "--metric",
            "cosine",
            "--scale",
            "standard",
            "--precision",
            "single",
            "--reseed",
        ],
        &["--metric", "cosine", "--scale", "standard"],
        &["--engine", "graph", "--views", "standard,raw"],
        &["--scale", "minmax", "--engine", "auto"],
        &["--method", "lsdg", "--scale", "minmax", "--starts", "3", "--start", "spectral", "--prune", "half"],
        &[
            "--method",
            "lsdg",
            "--scale",
            "standard",
            "--neighbors",
            "4",
            "--memory",
            "1G",
            "--max-iter",
            "50",
        ],
        &["--method", "lsdg", "--tol", "1e-3", "--threads", "1"],
    ] {
        let args = [&["cluster", "-", "-k", "2", "--columns", "x,y"], extra].concat();
        let output = nearfar_with_stdin(&here, &args, data.as_bytes());
        assert_eq!(output.status.code(), Some(0), "{extra:?}: {}", stderr(&output));
        assert_eq!(stdout(&output).lines().count(), 60, "{extra:?}");
    }
}

#[test]
fn distances_and_affinities() {
    let here = folder("pairs");
    let at = [0.0_f64, 0.1, 0.2, 5.0, 5.1, 5.2];
    let matrix = |f: &dyn Fn(f64) -> f64| {
        let row = |a: &f64| at.iter().map(|b| f((a - b).abs()).to_string()).collect::<Vec<_>>().join(",");
        at.iter().map(row).collect::<Vec<_>>().join("\n")
    };
    std::fs::write(here.join("d.csv"), matrix(&|d| d)).unwrap();
    std::fs::write(here.join("a.csv"), matrix(&|d| (-d * d).exp())).unwrap();
    for (name, kind) in [("d.csv", "distances"), ("a.csv", "affinities")] {
        let labels = succeed(&here, &["cluster", name, "-k", "2", "--input-kind", kind, "-q"]);
        assert_eq!(labels, "0\n0\n0\n1\n1\n1\n", "{kind}");
    }
}

#[test]
fn threads_do_not_change_the_labels() {
    let here = folder("threads");
    succeed(&here, &["make", "varied", "-n", "150", "-o", "v.npz"]);
    let run = |threads| {
        succeed(&here, &["cluster", "v.npz", "-k", "4", "--truth", "y", "-q", "--threads", threads])
    };
    assert_eq!(run("1"), run("3"));
}

#[test]
fn progress_as_json_lines() {
    let here = folder("progress");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let output = nearfar(&here, &lsdg(&["-q", "--progress", "json"]));
    let text = stderr(&output);
    let events: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().any(|event| event["event"] == "finished" && event["stage"] == "learn"), "{text}");
    assert!(events.iter().any(|event| event["event"] == "iteration"));
    let graph = stderr(&nearfar(&here, &with(&["-q", "--progress", "json", "--engine", "graph"])));
    for line in graph.lines() {
        let _: serde_json::Value = serde_json::from_str(line).unwrap();
    }
    assert!(graph.contains("\"event\":\"iteration\"") && graph.contains("\"stage\":\"learn\""), "{graph}");
    // Threads finish their blocks in any order; what is told of a stage only grows.
    for stage in ["neighbors", "slices", "learn", "augment", "spectral"] {
        let progress = events.iter().filter(|event| event["event"] == "progress" && event["stage"] == stage);
        let done: Vec<u64> = progress.map(|event| event["done"].as_u64().unwrap()).collect();
        assert!(done.is_sorted(), "{stage}: {done:?}");
    }
}

#[test]
fn dry_run_and_plan() {
    let here = folder("dry_run");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let plan = succeed(&here, &with(&["--dry-run", "-o", "out.csv"]));
    assert!(plan.contains("memory") && plan.contains("time"), "{plan}");
    assert!(!here.join("out.csv").exists());
    let plan = succeed(
        &here,
        &["plan", "--points", "10000", "--features", "64", "-k", "10", "--memory", "100G", "--json"],
    );
    let bytes =
        |plan: &str| serde_json::from_str::<serde_json::Value>(plan).unwrap()["bytes"].as_u64().unwrap();
    let exact = "plan --points 10000 --features 64 -k 10 --memory 100G --json --method lsdg --mode exact";
    let exact = succeed(&here, &exact.split(' ').collect::<Vec<_>>());
    assert!(bytes(&plan) > 1 << 20 && bytes(&plan) < 1 << 30, "{plan}");
    assert!(bytes(&exact) > 1 << 30, "{exact}");
    let text = succeed(&here, &["plan", "--points", "10000"]);
    assert!(text.contains("time ") && !text.contains("starts") && !text.contains("mode"), "{text}");
}

#[test]
fn binned_mode_by_flag_and_by_size() {
    let here = folder("binned");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let json =
        succeed(&here, &lsdg(&["--mode", "binned", "--near", "8", "--far", "4", "--bins", "3", "--json"]));
    let summary: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(summary["mode"], "binned");
    assert_eq!(summary["binned"]["search"]["recall"], 1.0);
    assert_eq!(summary["settings"]["binned"]["near"], 8);
    let said = stderr(&nearfar(&here, &lsdg(&["--mode", "binned"])));
    assert!(said.contains("binned:") && said.contains("neighbours exact"), "{said}");
    let refused = fail(&here, &lsdg(&["--near", "3"]), 2);
    assert!(refused.contains("near = 3"), "{refused}");
    let plan = |args: &[&str]| {
        let all = ["plan", "--method", "lsdg", "--features", "16", "-k", "5", "--memory", "100G"];
        let all = [&all[..], args].concat();
        succeed(&here, &all)
    };
    assert!(plan(&["--points", "5000"]).contains("exact"));
    assert!(plan(&["--points", "1000000"]).contains("binned: 64 near ranks"));
    assert!(plan(&["--points", "5000", "--mode", "binned"]).contains("binned"));
    let ranks = |count: &str| plan(&["--points", "5000", "--ranks", count, "--threads", "1"]);
    assert!(ranks("1").contains("5000 on 1 rank of 1 thread\n"), "{}", ranks("1"));
    assert!(ranks("3").contains("5000 on 3 ranks of 1 thread\n"), "{}", ranks("3"));
}

#[test]
fn more_pieces_than_clusters_are_warned_of() {
    let here = folder("pieces");
    let mut text = String::new();
    for i in 0..150 {
        let corner = f64::from(i % 5) * 50.0;
        text += &format!("{},{}\n", corner + 0.03 * f64::from(i * 13 % 37), 0.03 * f64::from(i * i % 41));
    }
    std::fs::write(here.join("five.csv"), text).unwrap();
    let few =
        fail(&here, &["cluster", "five.csv", "-k", "3", "-o", "few.csv", "--method", "lsdg", "--strict"], 1);
    assert!(few.contains("at least 5 nearly separate pieces, more than the 3 clusters"), "{few}");
    let enough = nearfar(&here, &["cluster", "five.csv", "-k", "5", "-o", "enough.csv", "--method", "lsdg"]);
    assert!(!stderr(&enough).contains("pieces"), "{}", stderr(&enough));
    // More points in each than any of them has neighbours.
    let mut text = String::new();
    for i in 0..400 {
        let corner = f64::from(i % 5) * 50.0;
        text += &format!("{},{}\n", corner + 0.03 * f64::from(i * 13 % 37), 0.3 * f64::from(i * i % 41));
    }
    std::fs::write(here.join("five.csv"), text).unwrap();
    let graph = |k: &'static str| {
        ["cluster", "five.csv", "-k", k, "-o", "l.csv", "--views", "raw", "--engine", "graph"]
    };
    let joined = stderr(&nearfar(&here, &graph("3")));
    assert!(joined.contains("more than the 3 clusters asked for: the nearest ones were joined"), "{joined}");
    let enough = stderr(&nearfar(&here, &graph("5")));
    assert!(enough.contains("clusters   5: 80 80 80 80 80") && !enough.contains("pieces"), "{enough}");
}

#[test]
fn warnings_say_what_to_do() {
    let here = folder("warnings");
    let mut text = "row,small,large\n".to_owned();
    for i in 0..90 {
        text += &format!("{i},{},{}\n", 0.01 * f64::from(i % 3), 1e6 * f64::from(i % 5));
    }
    std::fs::write(here.join("data.csv"), text).unwrap();
    let warned =
        stderr(&nearfar(&here, &["cluster", "data.csv", "-k", "2", "--views", "raw", "--engine", "graph"]));
    assert!(warned.contains("--scale standard") && warned.contains("--id-column 0"), "{warned}");
    // Columns of unlike spreads spoil nothing where standardised ones are looked at, too.
    let warned = stderr(&nearfar(&here, &["cluster", "data.csv", "-k", "2"]));
    assert!(!warned.contains("--scale standard") && warned.contains("--id-column 0"), "{warned}");
    let warned = stderr(&nearfar(&here, &["cluster", "data.csv", "-k", "2", "--columns", "small,large"]));
    assert!(warned.contains("exact copies"), "{warned}");
    let warned =
        stderr(&nearfar(&here, &["cluster", "data.csv", "-k", "2", "--method", "lsdg", "--max-iter", "1"]));
    assert!(warned.contains("--max-iter"), "{warned}");
}

#[test]
fn colour_only_where_wanted() {
    let here = folder("colour");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    for args in [with(&["--no-color"]), vec!["--help", "--no-color"], vec!["make", "--list", "--no-color"]] {
        let output = command(&here, &args).env("CLICOLOR_FORCE", "1").output().unwrap();
        assert!(output.status.success());
        assert!(!stdout(&output).contains('\x1b') && !stderr(&output).contains('\x1b'), "{args:?}");
    }
}

/// Four groups in many features: large in bytes, quick to search.
fn write_wide(path: &std::path::Path, double: bool) {
    let (n, m) = (1300, 7000);
    let value = |at: usize| ((at / m % 4 * m + at % m) as f64).sin() + 0.01 * ((at * 31) as f64).cos();
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    if double {
        let values: Vec<f64> = (0..n * m).map(value).collect();
        nearfar::load::write_npy(&mut file, &[n, m], &values).unwrap();
    } else {
        let values: Vec<f32> = (0..n * m).map(|at| value(at) as f32).collect();
        nearfar::load::write_npy(&mut file, &[n, m], &values).unwrap();
    }
}

#[test]
fn data_larger_than_half_of_the_memory_is_mapped_or_narrowed() {
    let here = folder("larger_than_half");
    write_wide(&here.join("single.npy"), false);
    write_wide(&here.join("double.npy"), true);
    let run = |file: &str, extra: &[&str]| {
        let flags = ["cluster", file, "-k", "4", "--starts", "1", "--mode", "binned", "--threads", "1"];
        let flags =
            [&flags[..], &["--method", "lsdg", "--near", "16", "--far", "16", "--bins", "8"], extra].concat();
        nearfar(&here, &flags)
    };
    let plain = run("single.npy", &[]);
    let mapped = run("single.npy", &["--memory", "68M"]);
    let narrowed = run("double.npy", &["--memory", "120M"]);
    let in_file = run("double.npy", &["--memory", "68M"]);
    for (output, said) in [
        (&plain, "npy, 1300 x 7000 float32)"),
        (&mapped, "npy, 1300 x 7000 float32, mapped)"),
        (&narrowed, "npy, 1300 x 7000 float64 held as float32)"),
        (&in_file, "npy, 1300 x 7000 float64 held as float32, in a temporary file)"),
    ] {
        let summary = stderr(output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.status.success() && summary.contains(said), "{said}: {summary}");
        assert_eq!(stdout(output), stdout(&plain), "{said}: other labels");
    }
    assert!(stderr(&narrowed).contains("narrowed to single precision"), "{}", stderr(&narrowed));
    // Doubles that must stay doubles do not fit, and the message says so before any work.
    let refused = run("double.npy", &["--memory", "120M", "--precision", "double"]);
    assert_eq!(refused.status.code(), Some(3), "{}", stderr(&refused));
    let flags =
        ["cluster", "single.npy", "-k", "4", "--method", "lsdg", "--mode", "binned", "--threads", "1"];
    let plan = succeed(&here, &[&flags[..], &["--memory", "68M", "--dry-run", "--json"]].concat());
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let part = |name: &str| {
        let parts = plan["parts"].as_array().unwrap();
        parts.iter().find(|part| part[0] == name).unwrap()[1].as_u64()
    };
    assert_eq!((part("data"), part("points")), (Some(0), Some(0)));
}

#[test]
#[cfg(target_os = "linux")]
fn a_mapped_file_that_is_cut_short_during_the_run_is_an_error_and_no_crash() {
    let here = folder("cut_short");
    write_wide(&here.join("single.npy"), false);
    let flags = ["cluster", "single.npy", "-k", "4", "--starts", "40", "--mode", "binned", "--threads", "1"];
    let flags =
        [&flags[..], &["--method", "lsdg", "--memory", "68M", "-o", "labels.txt", "--progress", "json"]]
            .concat();
    let mut run = command(&here, &flags).spawn().unwrap();
    // The first word of the run: the file has been read and is being searched.
    let mut first = [0; 1];
    std::io::Read::read_exact(run.stderr.as_mut().unwrap(), &mut first).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(here.join("single.npy")).unwrap();
    file.set_len(100_000).unwrap();
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("was cut short") || said.contains("changed during the run"), "{said}");
    assert!(!here.join("labels.txt").exists());
}
