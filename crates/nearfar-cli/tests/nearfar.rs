//! What only the default method has: the number of clusters found, views, certainty, levels, trees.
//!
//! One file, although long: a list of short runs of one method.

#![allow(clippy::format_push_string, reason = "small texts")]

mod common;

use std::io::Read;
use std::path::Path;

use common::{command, fail, folder, nearfar, stderr, succeed, two_groups};

const FLAGS: [&str; 6] = ["cluster", "data.csv", "--truth", "class", "--id-column", "name"];

fn with(extra: &[&'static str]) -> Vec<&'static str> {
    FLAGS.iter().chain(extra).copied().collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

/// A column of a CSV file without quotes, by its title.
fn column(text: &str, title: &str) -> Vec<String> {
    let at = text.lines().next().unwrap().split(',').position(|name| name == title).expect("such a column");
    text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().to_owned()).collect()
}

#[test]
fn the_number_of_clusters_is_found_and_told() {
    let here = folder("nearfar_found");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let plain = succeed(&here, &with(&["--json"]));
    let summary = json(&plain);
    let count = &summary["account"]["count"];
    assert_eq!(summary["n_clusters"], count["found"], "{summary}");
    assert_eq!(summary["settings"]["find_clusters"], true);
    assert!(summary.get("mode").is_none() && summary["tree"]["most"].as_u64() > Some(2), "{summary}");
    let found = count["found"].as_u64().unwrap();
    let said = stderr(&nearfar(&here, &with(&["-k", "auto", "-o", "labels.csv", "-v"])));
    assert!(said.contains(&format!("number     {found} found")), "{said}");
    assert!(said.contains("clusters auto, engine auto, views auto"), "{said}");
    assert!(
        said.lines().filter(|line| !line.starts_with("warning")).all(|line| line.chars().count() <= 80),
        "{said}"
    );
    let labels = column(&read(&here.join("labels.csv")), "label");
    let listed: Vec<String> = summary["labels"].as_array().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(labels, listed);
    // A number that was given is not looked for.
    let said = stderr(&nearfar(&here, &with(&["-k", "2", "-o", "labels.csv"])));
    assert!(!said.contains("number ") && said.contains("clusters   2: 30 30"), "{said}");
}

#[test]
fn a_flag_of_another_method_is_refused_and_not_ignored() {
    let here = folder("nearfar_flags");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let own = [
        &["--starts", "3"][..],
        &["--max-iter", "9"],
        &["--tol", "1e-3"],
        &["--reseed"],
        &["--mode", "exact"],
        &["--near", "9"],
        &["--far", "9"],
        &["--bins", "9"],
        &["--precision", "single"],
        &["--preset", "default"],
        &["--neighbors", "9"],
        &["--alpha", "1"],
        &["--relative-alpha"],
        &["--absolute-alpha"],
        &["--beta", "1"],
        &["--mu", "1"],
        &["--eta", "1"],
        &["--start", "random"],
        &["--prune", "half"],
        &["--no-dissimilarity"],
        &["--no-orthogonality"],
        &["--regularizer", "proposed"],
        &["--solver", "columns"],
    ];
    for flag in own {
        let text = fail(&here, &[&with(&["-k", "2"])[..], flag].concat(), 2);
        assert!(text.contains(flag[0]) && text.contains("add --method lsdg"), "{flag:?}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    assert!(fail(&here, &with(&["-k", "2", "--lambda", "1"]), 2).contains("add --method anls"));
    assert!(fail(&here, &with(&["-k", "2", "--graph-kind", "ncut"]), 2).contains("add --method phals"));
    // So is one of another method than the one that was named, with the methods that take it.
    for (method, flag, takers) in [
        ("phals", ["--precision", "single"], "lsdg and cgsymnmf"),
        ("aosymnmf", ["--beta", "1"], "lsdg and cgsymnmf"),
        ("spectral", ["--max-iter", "9"], "most others"),
        ("kmeans", ["--graph-neighbors", "9"], "most others"),
        ("gsnmf", ["--tau", "3"], "s3nmf"),
    ] {
        let text = fail(&here, &[&with(&["-k", "2", "--method", method])[..], &flag].concat(), 2);
        let said = format!("{} is no setting of the method {method} (it is one of {takers})", flag[0]);
        assert!(text.contains(&said), "{text}");
    }
    for flag in [["--engine", "graph"], ["--views", "raw"]] {
        let text = fail(&here, &[&with(&["-k", "2", "--preset", "paper"])[..], &flag].concat(), 2);
        assert!(text.contains("no setting of the method lsdg (it is one of nearfar)"), "{text}");
    }
    for (flags, tip) in [
        (["--engin", "graph"], "--engine"),
        (["--engine", "grph"], "graph"),
        (["--view", "raw"], "--views"),
        (["--levles", "3"], "--levels"),
        (["--noize", "5%"], "--noise"),
        (["--min-confidance", "1"], "--min-confidence"),
    ] {
        let text = fail(&here, &[&with(&[])[..], &flags].concat(), 2);
        assert!(text.starts_with("error: ") && text.contains(tip), "{flags:?}: {text}");
    }
}

#[test]
fn the_published_presets_need_no_method() {
    let here = folder("nearfar_presets");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let method = |flags: &[&'static str]| {
        let summary = json(&succeed(&here, &[&with(&["--json"])[..], flags].concat()));
        let settings = &summary["settings"];
        (settings["method"]["name"].as_str().unwrap_or_default().to_owned(), settings["starts"].clone())
    };
    let (lsdg, starts) = method(&["-k", "2", "--preset", "paper"]);
    assert_eq!((&*lsdg, starts.as_u64()), ("lsdg", Some(1)));
    std::fs::write(here.join("paper.toml"), "clusters = 2\npreset = \"demo\"\n").unwrap();
    assert_eq!(method(&["--config", "paper.toml"]), (lsdg.clone(), starts.clone()));
    // The default needs no word, and a flag wins over the file with all that goes with it.
    assert_eq!(method(&[]).0, "nearfar");
    std::fs::write(here.join("soft.toml"), "clusters = 2\nmethod = \"lsdg\"\nstarts = 3\nbeta = 2.0\n")
        .unwrap();
    assert_eq!(method(&["--config", "soft.toml"]).1, 3);
    assert_eq!(method(&["--config", "soft.toml", "--method", "nearfar"]).0, "nearfar");
    std::fs::write(here.join("hard.toml"), "clusters = \"auto\"\nmethod = \"nearfar\"\nengine = \"graph\"\n")
        .unwrap();
    assert_eq!(method(&["--config", "hard.toml"]).0, "nearfar");
    assert_eq!(method(&["--config", "hard.toml", "--preset", "demo", "-k", "2"]), (lsdg, starts));
    // Settings of no method's name belong to the flag's.
    std::fs::write(here.join("mine.toml"), "clusters = 2\nstarts = 3\n").unwrap();
    assert_eq!(method(&["--config", "mine.toml", "--method", "lsdg"]).1, 3);
    assert!(fail(&here, &with(&["--config", "mine.toml"]), 2).contains("--starts"));
    std::fs::write(here.join("bad.toml"), "clusters = \"many\"\n").unwrap();
    assert!(fail(&here, &with(&["--config", "bad.toml"]), 2).contains("a number or auto"));
    std::fs::write(here.join("bad.toml"), "views = \"flat\"\n").unwrap();
    assert!(fail(&here, &with(&["--config", "bad.toml"]), 2).contains("standard-unit"));
}

#[test]
fn a_scale_fixes_the_view() {
    let here = folder("nearfar_scale");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let views = |flags: &[&'static str]| {
        let all = [&with(&["-k", "2", "--engine", "graph", "--out-dir", "run", "-q"])[..], flags].concat();
        succeed(&here, &all);
        let members = json(&read(&here.join("run/members.json")));
        let mut views: Vec<String> = members
            .as_array()
            .unwrap()
            .iter()
            .map(|member| member["view"].as_str().unwrap().to_owned())
            .collect();
        views.dedup();
        (views, read(&here.join("run/settings.toml")))
    };
    let (standard, settings) = views(&["--scale", "standard"]);
    assert_eq!(standard, ["raw"]);
    assert!(settings.contains("scale = \"standard\"") && !settings.contains("views"), "{settings}");
    // The file runs again, also with another wish.
    succeed(&here, &["cluster", "--config", "run/settings.toml", "-q"]);
    let (raw, settings) = views(&["--scale", "none", "--views", "raw"]);
    assert_eq!(raw, ["raw"]);
    assert!(settings.contains("views = \"raw\""), "{settings}");
    succeed(&here, &["cluster", "--config", "run/settings.toml", "--scale", "unit", "-q"]);
    succeed(&here, &["cluster", "--config", "run/settings.toml", "--views", "standard", "-q"]);
}

#[test]
fn a_run_folder_holds_what_the_method_found() {
    let here = folder("nearfar_folder");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    succeed(&here, &with(&["--out-dir", "a", "--seed", "3", "--engine", "graph", "--noise", "10%"]));
    let run = here.join("a");
    let labels = read(&run.join("labels.csv"));
    assert!(labels.starts_with("id,label,confidence,second\np0,"), "{labels}");
    for confidence in column(&labels, "confidence") {
        assert!((0.0..=1.0).contains(&confidence.parse::<f64>().unwrap()), "{confidence}");
    }
    assert_eq!(column(&labels, "label").iter().filter(|label| *label == "-1").count(), 6);
    let weights = read(&run.join("weights.csv"));
    assert!(weights.starts_with("rank,near") && weights.lines().count() == 61, "{weights}");
    let sum: f64 = column(&weights, "near").iter().map(|w| w.parse::<f64>().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    let tree = read(&run.join("tree.csv"));
    let leaves = column(&read(&run.join("leaves.csv")), "leaf");
    let most = leaves.iter().map(|leaf| leaf.parse::<usize>().unwrap()).max().unwrap() + 1;
    assert_eq!((leaves.len(), tree.lines().count()), (60, most));
    assert!(tree.starts_with("into,from,resolution\n"), "{tree}");
    let gaps = read(&run.join("gaps.csv"));
    assert!(gaps.starts_with("k,gap\n2,"), "{gaps}");
    let summary = json(&read(&run.join("summary.json")));
    assert_eq!(summary["account"]["engine"], "graph");
    assert_eq!(summary["tree"]["most"], most);
    assert_eq!(summary["noise"]["points"], 6);
    let mean: f64 =
        column(&labels, "confidence").iter().map(|c| c.parse::<f64>().unwrap()).sum::<f64>() / 60.0;
    assert!((summary["certainty"]["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
    // It runs again, to the same bits.
    succeed(&here, &["cluster", "--config", "a/settings.toml", "--out-dir", "b"]);
    for name in
        ["labels.csv", "weights.csv", "trace.csv", "tree.csv", "leaves.csv", "gaps.csv", "settings.toml"]
    {
        assert_eq!(read(&run.join(name)), read(&here.join("b").join(name)), "{name}");
    }
    let shown = succeed(&here, &["compare", "a", "b"]);
    assert!(shown.contains("Rand index of 1.0000"), "{shown}");
}

#[test]
fn confidence_noise_and_levels_in_every_format() {
    let here = folder("nearfar_columns");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let asked = ["-k", "2", "--noise", "5%", "--levels", "3,5,3"];
    for name in ["out.csv", "out.txt", "out.json"] {
        succeed(&here, &[&with(&["-q", "--confidence", "-o", name])[..], &asked].concat());
    }
    succeed(&here, &[&with(&["-q", "-o", "out.npy"])[..], &asked].concat());
    let csv = read(&here.join("out.csv"));
    assert!(csv.starts_with("id,label,confidence,second,k3,k5\n"), "{csv}");
    assert_eq!(csv.lines().count(), 61);
    let [label, three, five] = ["label", "k3", "k5"].map(|title| column(&csv, title));
    let confidence: Vec<f64> = column(&csv, "confidence").iter().map(|c| c.parse().unwrap()).collect();
    let noise: Vec<usize> = (0..60).filter(|i| label[*i] == "-1").collect();
    assert_eq!(noise.len(), 3);
    let surest = noise.iter().map(|i| confidence[*i]).fold(0.0, f64::max);
    for i in 0..60 {
        assert_eq!(noise.contains(&i), three[i] == "-1" && five[i] == "-1", "{i}");
        assert!(noise.contains(&i) || confidence[i] >= surest, "{i}");
        for j in 0..60 {
            // Nested: what shares one of five shares one of three.
            assert!(five[i] != five[j] || three[i] == three[j], "{i} {j}");
        }
    }
    assert_eq!(five.iter().collect::<std::collections::HashSet<_>>().len(), 6);
    let text = read(&here.join("out.txt"));
    assert_eq!(text.replace('\t', ","), csv.split_once('\n').unwrap().1);
    let json = json(&read(&here.join("out.json")));
    assert_eq!(json["levels"]["k5"].as_array().unwrap().len(), 60);
    assert_eq!(json["confidence"][7].as_f64(), Some(confidence[7]));
    assert_eq!(json["labels"][noise[0]], -1);
    let npy = std::fs::read(here.join("out.npy")).unwrap();
    assert!(String::from_utf8_lossy(&npy[..128]).contains("(60, 3)"));
    // On stdout with titles, in the JSON, and as what is below a threshold.
    let plain = succeed(
        &here,
        &[&["cluster", "data.csv", "--columns", "x,y", "-q", "--confidence"][..], &["-k", "2"]].concat(),
    );
    assert!(plain.starts_with("label,confidence,second\n0,"), "{plain}");
    let whole = serde_json::from_str::<serde_json::Value>(&succeed(
        &here,
        &[&with(&["--json", "--confidence"])[..], &asked].concat(),
    ))
    .unwrap();
    assert_eq!(
        (whole["levels"]["k3"][0].as_i64(), whole["ids"][1].as_str()),
        (three[0].parse().ok(), Some("p1"))
    );
    let output = nearfar(&here, &with(&["-k", "2", "--min-confidence", "1", "-o", "out.csv"]));
    let below = confidence.iter().filter(|c| **c < 1.0).count();
    let labels = column(&read(&here.join("out.csv")), "label");
    assert_eq!(labels.iter().filter(|label| *label == "-1").count(), below);
    assert!(stderr(&output).contains("labelled -1"), "{}", stderr(&output));
    // The labels are still read as labels.
    assert!(succeed(&here, &["score", "out.csv", "data.csv", "--truth-column", "class"]).contains("ACC"));
}

#[test]
fn a_level_beyond_the_tree_touches_nothing() {
    let here = folder("nearfar_levels");
    succeed(&here, &["make", "blobs", "-n", "300", "-o", "blobs.npy"]);
    std::fs::write(here.join("out.csv"), "before").unwrap();
    let flags = ["cluster", "blobs.npy", "-k", "3", "--engine", "graph", "-o", "out.csv", "--levels", "290"];
    let text = fail(&here, &[&flags[..], &["--out-dir", "run", "--save-model", "m.nearfar"]].concat(), 2);
    assert!(text.contains("290 clusters are more than the tree") && text.contains("from 1 to "), "{text}");
    assert_eq!(read(&here.join("out.csv")), "before");
    assert!(!here.join("run").exists() && !here.join("m.nearfar").exists());
}

#[test]
fn a_saved_model_is_relabelled_without_learning() {
    let here = folder("nearfar_relabel");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let save =
        ["-k", "2", "--levels", "5", "--engine", "graph", "--save-model", "m.nearfar", "-o", "labels.csv"];
    succeed(&here, &with(&save));
    let labels = read(&here.join("labels.csv"));
    let output = nearfar(&here, &["relabel", "m.nearfar", "-k", "5", "-o", "five.csv"]);
    assert!(
        stderr(&output).starts_with("60 training points in 5 clusters instead of 2"),
        "{}",
        stderr(&output)
    );
    assert_eq!(column(&read(&here.join("five.csv")), "label"), column(&labels, "k5"));
    let same = succeed(&here, &["relabel", "m.nearfar", "-k", "2", "-q"]);
    assert_eq!(same.lines().collect::<Vec<_>>(), column(&labels, "label"));
    assert!(succeed(&here, &["relabel", "m.nearfar", "-k", "1", "-q"]).lines().all(|label| label == "0"));
    succeed(&here, &with(&["-k", "2", "--method", "kmeans", "--save-model", "means.nearfar", "-q"]));
    for (args, words) in [
        (&["relabel", "m.nearfar", "-k", "999"][..], "reaches from 1 to "),
        (&["relabel", "m.nearfar", "-k", "0"], "1 or more"),
        (&["relabel", "m.nearfar", "-k", "auto"], "write it as 12"),
        (&["relabel", "m.nearfar"], "--clusters"),
        (&["relabel", "means.nearfar", "-k", "3"], "kmeans makes none, only nearfar does"),
        (&["relabel", "data.csv", "-k", "3"], "data.csv: this is no nearfar model"),
        (&["relabel", "m.nearfar", "-k", "3", "-o", "m.nearfar"], "cannot be written as \"nearfar\""),
        (&["relabel", "m.nearfar", "-k", "3", "-o", "no/l.csv"], "no/l.csv"),
    ] {
        let text = fail(&here, args, 2);
        assert!(text.contains(words), "{args:?}: {text}");
    }
}

#[test]
fn columns_of_classes_among_the_features_are_pointed_out() {
    let here = folder("nearfar_classes");
    let table = |titles: &str, width: usize| {
        let mut text = format!("{titles}\n");
        for i in 0..40_u32 {
            let cells: Vec<String> =
                (0..width as u32).map(|j| (i % 2 * 9 + i * (j + 3) % 7).to_string()).collect();
            text += &format!("{}\n", cells.join(","));
        }
        text
    };
    let warned = |titles: &str, flags: &[&'static str]| {
        std::fs::write(here.join("t.csv"), table(titles, titles.split(',').count())).unwrap();
        let output = nearfar(&here, &[&["cluster", "t.csv", "-k", "2"], flags].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
            .lines()
            .find(|line| line.contains("as a feature") || line.contains("as features"))
            .map(str::to_owned)
    };
    for title in ["truth", "Label", "labels", "CLASS", "target", "cluster", "y", "Y"] {
        let said = warned(&format!("a,b,{title}"), &[]).expect(title);
        assert!(
            said.contains(&format!("column {title:?} is used")) && said.contains(&format!("--truth {title}")),
            "{said}"
        );
    }
    assert!(warned("a,class,label", &[]).unwrap().contains("\"class\", \"label\""));
    assert_eq!(warned("a,b,truth", &["--truth", "truth"]), None);
    assert_eq!(warned("a,b,truth", &["--columns", "a,truth"]), None);
    assert_eq!(warned("a,b,truth", &["--columns", "a,b"]), None);
    assert_eq!(warned("x,y,z", &[]), None);
    assert_eq!(warned("classic,truthful,labeled", &[]), None);
    // Of the paper's model, too.
    assert!(warned("a,b,class", &["--method", "lsdg"]).is_some());
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_the_best_labels_so_far() {
    let here = folder("nearfar_interrupted");
    succeed(&here, &["make", "mixture", "-n", "12000", "-o", "m.npy"]);
    std::fs::write(here.join("labels.csv"), "before").unwrap();
    let args = "cluster m.npy -k 10 --engine graph --views raw --threads 1 -o labels.csv --out-dir run --progress json";
    let mut child = command(&here, &args.split(' ').collect::<Vec<_>>()).spawn().unwrap();
    let mut errors = child.stderr.take().unwrap();
    let mut seen = String::new();
    // The second member works on, so the first is done.
    let second = |seen: &str| {
        seen.lines().any(|line| line.contains("\"iteration\"") && !line.contains("\"member\":0"))
    };
    while !second(&seen) {
        let mut bytes = [0; 256];
        let count = errors.read(&mut bytes).unwrap();
        assert!(count > 0, "ended early: {seen}");
        seen += &String::from_utf8_lossy(&bytes[..count]);
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    errors.read_to_string(&mut seen).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{seen}");
    assert!(
        seen.contains("interrupted during learn; the labels of the best so far are in labels.csv"),
        "{seen}"
    );
    for file in ["labels.csv", "run/labels.csv"] {
        let labels = column(&read(&here.join(file)), "label");
        assert!(
            labels.len() == 12_000 && labels.iter().all(|label| label.parse::<usize>().unwrap() < 10),
            "{file}"
        );
    }
    assert_eq!(json(&read(&here.join("run/summary.json")))["status"], "interrupted");
    assert!(!here.join("run/report.json").exists());
}

#[test]
fn a_checkpoint_is_gone_on_with() {
    let here = folder("nearfar_checkpoint");
    succeed(&here, &["make", "blobs", "-n", "400", "-o", "m.npy"]);
    let run = ["cluster", "m.npy", "-k", "3", "--engine", "graph", "-q"];
    let plain = succeed(&here, &run);
    let saved = [&run[..], &["--checkpoint", "saved", "--resume"]].concat();
    // Labels that cannot be written leave the checkpoint.
    #[cfg(target_os = "linux")]
    {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        assert_eq!(command(&here, &saved).stdout(full).output().unwrap().status.code(), Some(2));
        assert!(std::fs::read_dir(here.join("saved")).unwrap().count() > 0);
    }
    let args = [&saved[..], &["--json"]].concat();
    let summary = json(&succeed(&here, &args));
    assert_eq!(summary["resumed"].is_null(), !cfg!(target_os = "linux"), "{summary}");
    let labels: Vec<String> = summary["labels"].as_array().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(labels, plain.lines().collect::<Vec<_>>());
    assert_eq!(std::fs::read_dir(here.join("saved")).unwrap().count(), 0);
}

#[test]
fn methods_and_help_name_the_default_first() {
    let here = folder("nearfar_help");
    assert!(succeed(&here, &["methods"]).starts_with("nearfar "));
    let about = succeed(&here, &["methods", "nearfar"]);
    assert!(about.starts_with("nearfar, the default") && about.contains("views"), "{about}");
    let help = succeed(&here, &["cluster", "--help"]);
    let place = |heading: &str| help.find(heading).unwrap_or_else(|| panic!("{heading}: {help}"));
    let headings = [
        "Input:",
        "Learning:",
        "The default method (nearfar):",
        "The paper's model (lsdg):",
        "Most methods but nearfar:",
        "Other methods:",
        "Labels (nearfar):",
        "Output:",
    ];
    let places: Vec<usize> = headings.iter().map(|heading| place(heading)).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(place("--engine") < place("--preset") && place("--alpha") < place("--starts <N>"));
}
