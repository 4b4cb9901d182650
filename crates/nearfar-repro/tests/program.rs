//! `nearfar-repro`, as a user runs it: on files of one's own, killed, resumed, with mistakes.
#![allow(clippy::format_push_string, clippy::cast_possible_wrap, reason = "small texts, few classes")]

#[path = "../../nearfar-cli/tests/common/mod.rs"]
mod common;

use std::path::Path;
use std::time::Duration;

use nearfar::generate::{Kind, MakeParams, make};
use nearfar::internals::NpzWriter;
use serde_json::Value;

use common::{command, fail, folder, nearfar as run, stderr, succeed};

const STUDY: &str = r#"
title = "A study of our own"
starts = 3
repeats = 2

[[row]]
name = "PHALS"
method = "phals"

[[row]]
name = "LSDG"
method = "lsdg"
default = { starts = 2 }
[row.set]
preset = "paper"
[row.grid]
alpha = [0.1, 1]
mu = { logspace = [-1, 0, 3] }
"#;

/// 2 datasets × (PHALS 3 + LSDG (6 screened + 3 choices × 3)).
const MOST_RUNS: usize = 36;

fn data(folder: &Path) {
    let made = |kind, n_samples, seed| {
        make(kind, &MakeParams { n_samples: Some(n_samples), seed, ..MakeParams::default() }).unwrap()
    };
    let blobs = made(Kind::Blobs, 48, 1);
    let mut csv = blobs.feature_names.join(",") + ",truth\n";
    for (row, class) in blobs.data.chunks_exact(blobs.n_features).zip(&blobs.truth) {
        row.iter().for_each(|value| csv += &format!("{value:?},"));
        csv += &format!("{class}\n");
    }
    std::fs::write(folder.join("blobs.csv"), csv).unwrap();
    let moons = made(Kind::Moons, 40, 2);
    let mut npz = NpzWriter::new(Vec::new());
    npz.add("X", &[moons.n_samples, moons.n_features], &moons.data).unwrap();
    let truth: Vec<i64> = moons.truth.iter().map(|&class| class as i64).collect();
    npz.add("y", &[truth.len()], &truth).unwrap();
    std::fs::write(folder.join("moons.npz"), npz.finish().unwrap()).unwrap();
    let manifest = "[[dataset]]\nname = \"blobs\"\nfile = \"blobs.csv\"\ntruth = \"truth\"\nscale = \"standard\"\n\
                    [[dataset]]\nname = \"moons\"\ntitle = \"Two moons\"\nfile = \"moons.npz\"\ntruth = \"y\"\nk = 2\n";
    std::fs::write(folder.join("datasets.toml"), manifest).unwrap();
    std::fs::write(folder.join("mine.toml"), STUDY).unwrap();
}

/// The table without the times.
fn numbers(folder: &Path, out: &str) -> Value {
    fn forget_times(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.remove("seconds");
                map.values_mut().for_each(forget_times);
            }
            Value::Array(list) => list.iter_mut().for_each(forget_times),
            _ => {}
        }
    }
    let text = std::fs::read_to_string(folder.join(out).join("mine.json")).unwrap();
    let mut table: Value = serde_json::from_str(&text).unwrap();
    forget_times(&mut table["halves"]);
    assert_eq!(table["halves"].as_array().unwrap().len(), 2);
    table["halves"].take()
}

#[test]
fn a_study_killed_at_random_moments_ends_like_an_unbroken_one() {
    let folder = folder("repro-killed");
    data(&folder);
    let whole = run(&folder, &["mine.toml", "--data", ".", "-o", "whole"]);
    assert!(whole.status.success(), "{}", stderr(&whole));
    let mut delay = 7;
    let mut kills = 0;
    loop {
        let mut child =
            command(&folder, &["mine.toml", "--data", ".", "-o", "broken", "-q"]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        let _ = child.wait();
        kills += 1;
        delay = delay * 3 / 2 + 5;
        assert!(kills < 40, "never got through");
    }
    // What is stored is not run again: a last call only writes the tables.
    let last = run(&folder, &["mine.toml", "--data", ".", "-o", "broken"]);
    assert!(last.status.success(), "{}", stderr(&last));
    assert_eq!(numbers(&folder, "whole"), numbers(&folder, "broken"));
    let stored = |output: &std::process::Output| {
        let text = stderr(output);
        let words: Vec<&str> = text.split_whitespace().collect();
        let at = words.windows(4).position(|w| w[1..] == ["runs", "in", "the"]).unwrap();
        words[at].parse::<usize>().unwrap()
    };
    assert_eq!(stored(&whole), stored(&last));
    assert!(stored(&whole) <= MOST_RUNS, "{}", stored(&whole));
    for ending in ["md", "tex", "json", "html"] {
        assert!(folder.join("whole").join(format!("mine.{ending}")).exists());
    }
    let page = std::fs::read_to_string(folder.join("whole/mine.html")).unwrap();
    let markdown = std::fs::read_to_string(folder.join("whole/mine.md")).unwrap();
    assert!(markdown.contains("`nearfar-repro mine.toml --data DIR`"), "{markdown}");
    assert!(page.contains("Two moons") && page.contains("chosen WITH labels") && !page.contains("http://"));
    let side = succeed(&folder, &["compare", "whole", "broken"]);
    assert!(side.contains("LSDG [labels]") && side.contains("+0.000"), "{side}");
}

#[test]
fn runs_of_a_search_serve_the_chosen_setting_and_are_in_the_record() {
    let folder = folder("repro-reused");
    data(&folder);
    let study = "title = \"t\"\nstarts = 3\nscreen = 2\n[[row]]\nname = \"GNMF\"\nmethod = \"gnmf\"\n[row.grid]\nlambda = [1, 100]\n";
    std::fs::write(folder.join("grid.toml"), study).unwrap();
    succeed(&folder, &["grid.toml", "--data", ".", "-o", "out", "--only", "moons", "-q"]);
    let record = || {
        let text = std::fs::read_to_string(folder.join("out/grid.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["provenance"].take()
    };
    let first = record();
    // Two settings with seeds 0 and 1. Of what is chosen, and of the defaults, which the grid has too (lambda =
    // 100), only seed 2 is new.
    let runs = first["runs"][0]["runs"].as_u64().unwrap();
    assert!((5..=6).contains(&runs), "{first}");
    assert_eq!(first["runs"][0]["commit"], first["commit"]);
    assert!(
        (first["run_seconds"].as_f64().unwrap() - first["runs"][0]["seconds"].as_f64().unwrap()).abs() < 1e-9
    );
    // Another call takes them all from the store, with the seconds that they took then.
    succeed(&folder, &["grid.toml", "--data", ".", "-o", "out", "--only", "moons", "-q"]);
    assert_eq!(record()["runs"], first["runs"]);
}

#[test]
fn a_dataset_that_is_wrong_is_told_before_the_first_one_is_run() {
    let folder = folder("repro-late");
    data(&folder);
    let manifest = std::fs::read_to_string(folder.join("datasets.toml")).unwrap();
    let wrong = manifest.replace("truth = \"y\"", "truth = \"z\"");
    assert_ne!(manifest, wrong);
    std::fs::write(folder.join("datasets.toml"), wrong).unwrap();
    let said = fail(&folder, &["mine.toml", "--data", ".", "-o", "late"], 2);
    assert!(said.contains("\"z\"") && !said.contains("runs, blobs"), "{said}");
    std::fs::write(folder.join("datasets.toml"), manifest).unwrap();
    let good = run(&folder, &["mine.toml", "--data", ".", "-o", "late"]);
    assert!(good.status.success(), "{}", stderr(&good));
}

#[test]
fn datasets_are_told_without_running_anything() {
    let folder = folder("repro-datasets");
    data(&folder);
    let said = succeed(&folder, &["table-datasets", "--data", ".", "-o", "sets"]);
    assert!(said.contains("Two moons") && !folder.join("sets/runs.sqlite").exists(), "{said}");
    let text = std::fs::read_to_string(folder.join("sets/table-datasets.json")).unwrap();
    let table: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(table["datasets"][1]["size"], serde_json::json!([2, 40, 2]));
    for ending in ["md", "csv", "tex", "html"] {
        assert!(folder.join("sets").join(format!("table-datasets.{ending}")).exists());
    }
}

#[test]
fn every_row_of_the_built_in_studies_runs() {
    let folder = folder("studies");
    data(&folder);
    for study in ["table-clustering", "table-ablation", "table-orthogonality", "table-aosymnmf"] {
        let out = [study, "--data", ".", "-o", "all", "--only", "moons", "--starts", "2", "--screen", "1"];
        succeed(&folder, &[&out[..], &["--thin", "100", "-q"]].concat());
        let printed = succeed(&folder, &[study, "--print"]);
        let rows = printed.matches("[[row]]").count();
        let text = std::fs::read_to_string(folder.join("all").join(format!("{study}.json"))).unwrap();
        let table: Value = serde_json::from_str(&text).unwrap();
        let lines = table["halves"][0]["lines"].as_array().expect("lines chosen with labels").len();
        assert_eq!(lines, rows, "{study}");
    }
}

#[test]
fn labels_made_elsewhere_stand_in_the_same_table() {
    let folder = folder("repro-labels");
    data(&folder);
    for seed in 0..2 {
        let labels: String = (0..40).map(|i| if (i + seed) % 2 == 0 { "0\n" } else { "1\n" }).collect();
        std::fs::write(folder.join(format!("moons-{seed}.txt")), labels).unwrap();
    }
    let study = "title = \"t\"\nstarts = 2\ndatasets = [\"moons\"]\n[[row]]\nname = \"mine\"\nlabels = \"{dataset}-{seed}.txt\"\n\
                 [[row]]\nname = \"k-means\"\nmethod = \"kmeans\"\n";
    std::fs::write(folder.join("mine.toml"), study).unwrap();
    let shown = succeed(&folder, &["mine.toml", "--data", ".", "-o", "out", "-q"]);
    assert!(shown.contains("mine") && shown.contains("k-means"), "{shown}");
    // The finished table, written again from its JSON.
    let again = succeed(&folder, &["out/mine.json", "-o", "again", "-q"]);
    assert_eq!(again, shown);
    for ending in ["md", "csv", "tex", "json", "html"] {
        let of =
            |out: &str| std::fs::read_to_string(folder.join(out).join(format!("mine.{ending}"))).unwrap();
        assert_eq!(of("again"), of("out"), "{ending}");
    }
    std::fs::write(folder.join("other.json"), "{\"format\": 3}").unwrap();
    let refused = fail(&folder, &["other.json", "-o", "again"], 2);
    assert!(refused.contains("other.json") && refused.contains("no study's JSON"), "{refused}");
    assert!(fail(&folder, &["nowhere.json"], 2).contains("cannot be read"));
    std::fs::write(folder.join("moons-1.txt"), "0\n1\n").unwrap();
    let error = fail(&folder, &["mine.toml", "--data", ".", "-o", "out", "-q"], 2);
    assert!(error.contains("moons-1.txt has 2 labels; moons has 40 samples"), "{error}");
}

#[test]
fn tables_made_one_by_one_are_put_together() {
    fn join<'a>(parts: &[&'a str]) -> Vec<&'a str> {
        [&["-o", "joined"], parts].concat()
    }
    let folder = folder("repro-joined");
    data(&folder);
    let run = |out: &str, more: &[&str]| {
        succeed(&folder, &[&["mine.toml", "--data", ".", "-o", out, "-q"], more].concat())
    };
    run("whole", &[]);
    run("a", &["--rows", "PHALS"]);
    run("b", &["--rows", "LSDG", "--only", "moons"]);
    run("c", &["--rows", "LSDG", "--only", "blobs"]);
    let shown = succeed(&folder, &join(&["a/mine.json", "b/mine.json", "c/mine.json"]));
    // The same values, places and tests as of the study in one go.
    assert!(shown.contains("PHALS") && !shown.contains("not run"), "{shown}");
    assert_eq!(numbers(&folder, "joined"), numbers(&folder, "whole"));
    let markdown = std::fs::read_to_string(folder.join("joined/mine.md")).unwrap();
    assert!(
        markdown.contains("- nearfar-repro mine.toml --data DIR --only moons --rows \"LSDG\": nearfar"),
        "{markdown}"
    );
    // With a gap.
    let shown = succeed(&folder, &join(&["a/mine.json", "b/mine.json", "-q"]));
    assert!(shown.contains("not run"), "{shown}");
    let side = succeed(&folder, &["compare", "joined", "whole"]);
    assert!(side.contains("LSDG [cut]") && !side.contains("NaN"), "{side}");
    // And cut to a part.
    let shown =
        succeed(&folder, &["whole/mine.json", "--rows", "LSDG", "--only", "Two moons", "-o", "cut", "-q"]);
    assert!(shown.contains("Two moons") && !shown.contains("PHALS") && !shown.contains("blobs"), "{shown}");
    let error = fail(&folder, &["whole/mine.json", "--rows", "X", "-o", "cut"], 2);
    assert!(error.contains("there are PHALS, LSDG"), "{error}");
    // What cannot be put together, before anything is written.
    let before = std::fs::read(folder.join("joined/mine.md")).unwrap();
    let fails = |parts: &[&str]| fail(&folder, &join(parts), 2);
    let twice = fails(&["a/mine.json", "whole/mine.json"]);
    assert!(twice.contains("PHALS") && twice.contains("a/mine.json and in whole/mine.json"), "{twice}");
    assert!(fails(&["a/mine.json", "nowhere.json"]).contains("nowhere.json cannot be read"));
    assert!(fails(&["a/mine.json", "mine.toml"]).contains("mine.toml: no study's JSON"));
    assert!(fails(&["mine.toml", "a/mine.json"]).contains("one study at a time"));
    assert_eq!(std::fs::read(folder.join("joined/mine.md")).unwrap(), before);
}

#[test]
fn figures_are_drawn_of_any_data() {
    let folder = folder("repro-figures");
    data(&folder);
    let shown = succeed(&folder, &["figures", "--data", ".", "-o", "out", "--only", "moons", "-q"]);
    let names = [
        "correct-rate",
        "symnmf-neighbors",
        "simple-weights",
        "geometry",
        "weights",
        "parameters",
        "convergence",
    ];
    for name in names {
        assert!(shown.contains(name), "{shown}");
        let svg = std::fs::read_to_string(folder.join(format!("out/figures/{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && !svg.contains("NaN") && svg.contains("<title>"), "{name}");
        let png = std::fs::read(folder.join(format!("out/figures/{name}.png"))).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 2000, "{name}");
    }
}

#[test]
fn mistakes_are_named_before_anything_runs() {
    let folder = folder("repro-wrong");
    data(&folder);
    let fails = |args: &[&str]| fail(&folder, args, 2);
    let unknown = fails(&["table-clusterin", "--data", "."]);
    assert!(unknown.contains("table-clustering"), "{unknown}");
    assert!(fails(&["mine.toml", "--data", "nowhere"]).contains("datasets.toml"));
    assert!(fails(&["mine.toml", "--data", ".", "--only", "iris"]).contains("there are blobs, moons"));
    assert!(fails(&["mine.toml", "--data", ".", "--rows", "X"]).contains("there are PHALS, LSDG"));
    assert!(fails(&["mine.toml", "--data", ".", "--starts", "1"]).contains("2 to 1000"));
    let with = |from: &str, to: &str| {
        std::fs::write(folder.join("wrong.toml"), STUDY.replace(from, to)).unwrap();
        fails(&["wrong.toml", "--data", ".", "-o", "out"])
    };
    let misspelt = with("alpha =", "alpa =");
    assert!(misspelt.contains("row \"LSDG\"") && misspelt.contains("did you mean \"alpha\"?"), "{misspelt}");
    assert!(with("preset = \"paper\"", "seed = 3").contains("set by the study itself"));
    assert!(with("alpha = [0.1, 1]", "alpha = [-1]").contains("alpha"));
    assert!(!folder.join("out/mine.md").exists());
    let manifest = std::fs::read_to_string(folder.join("datasets.toml")).unwrap();
    std::fs::write(folder.join("datasets.toml"), manifest.replace("truth = \"y\"\n", "")).unwrap();
    let error = fails(&["mine.toml", "--data", ".", "-o", "out", "-q"]);
    assert!(error.contains("\"moons\" needs its classes"), "{error}");
}

#[test]
fn studies_alone_are_compared() {
    let folder = folder("repro-compared");
    data(&folder);
    assert!(fail(&folder, &["compare", ".", "nowhere"], 2).contains("`nearfar compare`"));
    assert!(fail(&folder, &["compare", "nowhere", "."], 2).contains("nowhere cannot be read"));
    assert!(fail(&folder, &["compare", "mine.toml", "."], 2).contains("mine.toml is not JSON"));
    std::fs::write(folder.join("other.json"), "{}").unwrap();
    assert!(fail(&folder, &["compare", "other.json", "."], 2).contains("no table of `nearfar-repro`"));
}

#[test]
fn the_program_tells_of_its_flags() {
    let folder = folder("repro-told");
    assert!(fail(&folder, &[], 2).contains("Usage: nearfar-repro"));
    let help = succeed(&folder, &["--help"]);
    for word in ["table-clustering", "--thin", "compare", "completions", "man", "130"] {
        assert!(help.contains(word), "{word}: {help}");
    }
    assert!(succeed(&folder, &["--version"]).starts_with("nearfar-repro 0."));
    assert!(succeed(&folder, &["completions", "bash"]).contains("--screen"));
    assert!(succeed(&folder, &["man"]).contains(".TH nearfar-repro"));
    assert!(fail(&folder, &["--data", "."], 2).contains("<STUDY>"));
    fail(&folder, &["table-clustering", "compare", "a", "b"], 2);
}
