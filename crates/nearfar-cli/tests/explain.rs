//! What the program says of clusters, and what is done with a saved model.

mod common;

use common::{fail, folder, nearfar, stderr, stdout, succeed};
use std::path::PathBuf;

/// A folder with customers and a model of them.
fn customers(name: &str, extra: &[&str]) -> PathBuf {
    let here = folder(name);
    succeed(&here, &["make", "customers", "-n", "1500", "-o", "c.csv"]);
    let base =
        ["cluster", "c.csv", "-k", "5", "--truth", "truth", "--save-model", "m.nearfar", "-o", "labels.csv"];
    succeed(&here, &[&base[..], extra].concat());
    here
}

fn read(here: &std::path::Path, name: &str) -> String {
    std::fs::read_to_string(here.join(name)).unwrap()
}

/// So many lines.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn a_planted_explanation_is_found() {
    let here = customers("explain_customers", &["--confidence", "--outlier-scores"]);
    let header = read(&here, "labels.csv").lines().next().unwrap().to_owned();
    assert_eq!(header, "label,confidence,second,outlier_score");
    let told = succeed(&here, &["explain", "m.nearfar", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let clusters = told["clusters"].as_array().unwrap();
    assert_eq!(clusters.len(), 5);
    // The generator makes one group of pro customers: with lower income, of long standing, who return much.
    let marks = |c: &serde_json::Value| -> Vec<String> {
        c["marks"].as_array().unwrap().iter().map(|m| m["words"].as_str().unwrap().to_owned()).collect()
    };
    let pro = clusters.iter().find(|c| {
        marks(c)
            .iter()
            .any(|words| words.starts_with("plan = pro for 8") || words.starts_with("plan = pro for 9"))
    });
    let pro = marks(pro.expect("a cluster of the plan pro")).join("; ");
    assert!(["income 1.", "returns 1.", "tenure 1."].iter().all(|mark| pro.contains(mark)), "{pro}");
    for cluster in clusters {
        let rule = &cluster["rule"];
        assert!(
            rule["precision"].as_f64().unwrap() > 0.6 && rule["recall"].as_f64().unwrap() > 0.5,
            "{rule}"
        );
        assert!(cluster["exemplars"].as_array().unwrap().len() == 3);
    }
    let text = succeed(&here, &["explain", "m.nearfar"]);
    assert!(
        text.contains("cluster 0: ") && text.contains("rule ") && text.contains("spreads above the rest"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let table = succeed(&here, &["explain", "m.nearfar", "--format", "markdown"]);
    assert_eq!(table.lines().filter(|line| line.starts_with("| ")).count(), 6, "{table}");
    succeed(&here, &["explain", "m.nearfar", "--format", "html", "-o", "c.html"]);
    let page = read(&here, "c.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("plan = pro"));
}

#[test]
fn shuffled_columns_hold_nothing() {
    let here = folder("explain_shuffled");
    succeed(&here, &["make", "uniform", "-n", "800", "--features", "4", "-o", "u.csv"]);
    let run = ["cluster", "u.csv", "--truth", "truth", "--out-dir", "run", "--save-model", "u.nearfar"];
    succeed(&here, &run);
    for source in ["run", "u.nearfar"] {
        let text = succeed(&here, &["explain", source]);
        assert!(text.starts_with("No groups: nothing in these 800 rows stands out"), "{text}");
        assert!(text.contains("not there"), "{text}");
    }
}

#[test]
fn a_run_folder_explains_itself() {
    let here = folder("explain_run");
    std::fs::write(here.join("data.csv"), common::two_groups()).unwrap();
    let run =
        ["cluster", "data.csv", "-k", "2", "--truth", "class", "--id-column", "name", "--out-dir", "run"];
    let output = nearfar(&here, &run);
    assert!(stderr(&output).contains("how sure   cluster 0: Solid"), "{}", stderr(&output));
    let labels = read(&here, "run/labels.csv");
    assert!(labels.starts_with("id,label,confidence,second\np0,0,"), "{labels}");
    let text = succeed(&here, &["explain", "run"]);
    assert!(text.contains("typical   p") && text.contains("x > ") | text.contains("x ≤ "), "{text}");
    // By the columns of a table that the run has not seen.
    let other: String = "name,z\n".to_owned() + &lines(60, |i| format!("p{i},{}", i % 2));
    std::fs::write(here.join("other.csv"), other).unwrap();
    let text = succeed(&here, &["explain", "run", "--data", "other.csv", "--id-column", "name"]);
    assert!(text.contains("z = 1 for 100 %, elsewhere 0 %"), "{text}");
    std::fs::write(here.join("short.csv"), "z\n1\n2\n").unwrap();
    let text = fail(&here, &["explain", "run", "--data", "short.csv"], 2);
    assert!(text.contains("short.csv: 2 rows, but 60 were clustered"), "{text}");
    assert!(fail(&here, &["explain", "data.csv"], 2).contains("this is no nearfar model"));
    assert!(fail(&here, &["explain", "."], 2).contains("this is no run folder"));
}

#[test]
fn hostile_names_are_escaped() {
    let here = folder("explain_hostile");
    let rows = lines(60, |i| format!("{},{}", i % 2 * 10, i * 7 % 11));
    std::fs::write(here.join("d.csv"), format!("\"<script>alert(1)</script>\",\"a|b\"\n{rows}")).unwrap();
    succeed(&here, &["cluster", "d.csv", "-k", "2", "--save-model", "m.nearfar", "-o", "l.csv"]);
    let page = succeed(&here, &["explain", "m.nearfar", "--format", "html"]);
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script>"), "{page}");
    let table = succeed(&here, &["explain", "m.nearfar", "--format", "markdown"]);
    assert!(!table.contains("a|b") && table.contains("\\<script\\>"), "{table}");
}

#[test]
fn a_model_is_refined_by_hand() {
    let here = customers("refine", &[]);
    let output = nearfar(&here, &["merge", "m.nearfar", "1", "3", "-o", "four.nearfar"]);
    assert!(stderr(&output).contains("merged 1 3 into 1; four.nearfar: 4 clusters"), "{}", stderr(&output));
    succeed(&here, &["split", "four.nearfar", "1", "-o", "five.nearfar", "-q"]);
    std::fs::write(here.join("names.csv"), "cluster,name\n0,regulars\n2,\"big, bold\"\n").unwrap();
    let output = nearfar(&here, &["rename", "five.nearfar", "names.csv", "-o", "named.nearfar"]);
    assert!(stderr(&output).contains("0 regulars, 1, 2 big, bold"), "{}", stderr(&output));
    let text = succeed(&here, &["explain", "named.nearfar"]);
    assert!(
        text.contains("cluster 0 (regulars): ") && text.contains("by hand: merged 1 3 into 1; split 1"),
        "{text}"
    );
    let labels = succeed(&here, &["predict", "named.nearfar", "c.csv", "-q"]);
    assert!(
        labels.starts_with("label,name\n")
            && labels.contains("0,regulars\n")
            && labels.contains("2,\"big, bold\"\n")
    );
    // A new fit keeps numbers and names.
    let like = [
        "cluster",
        "c.csv",
        "-k",
        "5",
        "--truth",
        "truth",
        "--like",
        "named.nearfar",
        "-o",
        "like.csv",
        "--seed",
        "3",
    ];
    let output = nearfar(&here, &like);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(read(&here, "like.csv").starts_with("label,name\n"), "{}", stderr(&output));
    for (args, text) in [
        (&["merge", "m.nearfar", "1", "-o", "x.nearfar"][..], "2 values required"),
        (&["merge", "m.nearfar", "1", "9", "-o", "x.nearfar"], "a cluster of the model, 0 to 4"),
        (&["merge", "m.nearfar", "1", "nobody", "-o", "x.nearfar"], "\"nobody\" is no cluster"),
        (&["split", "m.nearfar", "7", "-o", "x.nearfar"], "a cluster of the model, 0 to 4"),
        (&["rename", "m.nearfar", "labels.csv", "-o", "x.nearfar"], "labels.csv: line 1: there is no comma"),
    ] {
        let found = fail(&here, args, 2);
        assert!(found.contains(text), "{args:?}: {found}");
        assert!(!here.join("x.nearfar").exists());
    }
}

#[test]
fn drift_is_told() {
    let here = customers("drift", &[]);
    succeed(&here, &["make", "customers", "-n", "700", "--seed", "5", "-o", "new.csv"]);
    let text = succeed(&here, &["drift", "m.nearfar", "new.csv"]);
    assert!(text.contains("usual range") && text.contains("without a home"), "{text}");
    // Half of the new customers are of one kind.
    let rows = read(&here, "new.csv");
    let some: String = rows
        .lines()
        .take(1)
        .chain(rows.lines().skip(1).filter(|line| line.ends_with(",0")))
        .map(|line| line.to_owned() + "\n")
        .collect();
    std::fs::write(here.join("some.csv"), some).unwrap();
    let json = succeed(&here, &["drift", "m.nearfar", "some.csv", "--json"]);
    let drift: serde_json::Value = serde_json::from_str(&json).unwrap();
    let changes: Vec<&str> =
        drift["clusters"].as_array().unwrap().iter().map(|c| c["change"].as_str().unwrap()).collect();
    assert!(
        changes.contains(&"grew") && changes.iter().filter(|c| **c == "gone" || **c == "shrank").count() == 4,
        "{json}"
    );
}

#[test]
fn far_points_belong_nowhere() {
    let here = customers("reject", &[]);
    let rows = read(&here, "c.csv");
    let mut lines: Vec<String> = rows.lines().take(21).map(str::to_owned).collect();
    lines.push("50,50,50,50,50,50,1,0,0,0".to_owned());
    std::fs::write(here.join("new.csv"), lines.join("\n") + "\n").unwrap();
    for reject in [&["--reject", "1%"][..], &["--reject-above", "0.9"]] {
        let args =
            [&["predict", "m.nearfar", "new.csv", "--confidence", "--outlier-scores"][..], reject].concat();
        let output = nearfar(&here, &args);
        let labels = stdout(&output);
        assert!(labels.lines().last().unwrap().starts_with("-1,"), "{labels}");
        assert!(labels.lines().filter(|line| line.starts_with("-1,")).count() <= 2, "{labels}");
        assert!(stderr(&output).contains("belong nowhere (-1)"), "{}", stderr(&output));
    }
    assert!(fail(&here, &["predict", "m.nearfar", "new.csv", "--reject", "0"], 2).contains("is not a share"));
    let found = fail(&here, &["predict", "m.nearfar", "new.csv", "--reject-above", "2"], 2);
    assert!(found.contains("--reject-above = 2 is not allowed"), "{found}");
}

#[test]
fn halves_of_the_points_tell_how_stable_clusters_are() {
    let here = folder("explain_stability");
    std::fs::write(here.join("data.csv"), common::two_groups()).unwrap();
    let run = ["cluster", "data.csv", "-k", "2", "--truth", "class", "--id-column", "name", "--stability"];
    let output = nearfar(&here, &[&run[..], &["--save-model", "m.nearfar", "-o", "l.csv"]].concat());
    let words = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("fits of other rows find 100 % of it again"), "{words}");
    let told = succeed(&here, &["explain", "m.nearfar", "--format", "json"]);
    assert!(told.contains("find 100 % of it again"), "{told}");
}

#[test]
fn the_commands_of_the_page_about_explaining_run() {
    let here = folder("explain_page");
    let page = include_str!("../../../docs/explain.md");
    std::fs::write(here.join("names.csv"), "cluster,name\n0,regulars\n1,professionals\n").unwrap();
    let mut commands = 0;
    for block in page.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for line in block.lines().filter_map(|line| line.strip_prefix("nearfar ")) {
            let args: Vec<&str> = line.split(" #").next().unwrap_or(line).split_whitespace().collect();
            succeed(&here, &args);
            commands += 1;
        }
    }
    assert!(commands >= 10, "{commands}");
}
