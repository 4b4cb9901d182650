//! `nearfar report`, `cluster --report` and `compare --report`.

#![allow(clippy::format_push_string, reason = "small texts")]

mod common;

use common::{fail, folder, succeed, two_groups};

const FLAGS: [&str; 9] = ["cluster", "data.csv", "-q", "-k", "2", "--truth", "class", "--id-column", "name"];

fn with(extra: &[&'static str]) -> Vec<&'static str> {
    FLAGS.iter().chain(extra).copied().collect()
}

#[test]
fn a_run_folder_gives_the_page_of_the_run_again() {
    let here = folder("report_again");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    succeed(&here, &with(&["--out-dir", "run", "--report", "page.html"]));
    let page = std::fs::read(here.join("page.html")).unwrap();
    succeed(&here, &["report", "run", "-q"]);
    succeed(&here, &["report", "run", "-q", "-o", "other.html"]);
    assert!(page.len() < 3_000_000);
    for again in ["run/report.html", "other.html"] {
        assert!(std::fs::read(here.join(again)).unwrap() == page, "{again} differs");
    }
    let text = String::from_utf8(page).unwrap();
    for words in [
        "2 clusters in 60 points",
        "Of 30 points each",
        "Truth against found",
        "nearfar cluster data.csv -q -k 2",
        "engine",
        "p17",
    ] {
        assert!(text.contains(words), "{words}");
    }
    assert!(!text.contains("http://") && !text.contains("https://"));
}

#[test]
fn equal_runs_have_equal_pages_wherever_they_are_written() {
    let here = folder("report_equal");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    succeed(&here, &with(&["--report", "a.html", "-o", "a.csv"]));
    succeed(&here, &with(&["--report=b.html", "--out-dir", "b", "--save-model", "b.nearfar"]));
    succeed(&here, &with(&["--out-dir", "c"]));
    succeed(&here, &["report", "c", "-q"]);
    let page = |name: &str| std::fs::read(here.join(name)).unwrap();
    assert!(page("a.html") == page("c/report.html"), "a and c differ");
    assert!(page("a.html") == page("b.html"), "a and b differ");
}

#[test]
fn weights_on_the_page_are_those_of_the_folder() {
    let here = folder("report_weights");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    succeed(&here, &with(&["--method", "lsdg", "--out-dir", "run", "--report", "page.html"]));
    let weights = std::fs::read_to_string(here.join("run/weights.csv")).unwrap();
    let page = std::fs::read_to_string(here.join("page.html")).unwrap();
    for line in weights.lines().skip(1) {
        assert!(page.contains(&format!("\n{line},")), "{line}");
    }
}

#[test]
fn folders_that_hold_no_run_are_refused() {
    let here = folder("report_refused");
    std::fs::create_dir(here.join("empty")).unwrap();
    assert!(fail(&here, &["report", "empty"], 2).contains("this is no run folder"));
    assert!(fail(&here, &["report", "nowhere"], 2).contains("this is no folder"));
    assert!(std::fs::read_dir(here.join("empty")).unwrap().next().is_none());
    std::fs::create_dir(here.join("stopped")).unwrap();
    std::fs::write(here.join("stopped/summary.json"), "{}").unwrap();
    assert!(fail(&here, &["report", "stopped"], 2).contains("interrupted"));
    std::fs::write(here.join("stopped/report.json"), "{\"format\": \"nearfar-report\", \"version\": 7}")
        .unwrap();
    assert!(fail(&here, &["report", "stopped"], 2).contains("version 7"));
    std::fs::write(here.join("stopped/report.json"), "[]").unwrap();
    assert!(fail(&here, &["report", "stopped"], 2).contains("no record of a run"));
}

#[test]
fn bad_flags_are_named_before_the_work() {
    let here = folder("report_bad_flags");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    assert!(fail(&here, &with(&["--report", "page.pdf"]), 2).contains(".html"));
    assert!(fail(&here, &with(&["--report", "no/where.html"]), 2).contains("cannot be written"));
    assert!(fail(&here, &with(&["--report", "p.html", "--image-shape", "3x3"]), 2).contains("2 features"));
    assert!(fail(&here, &with(&["--report", "p.html", "--image-shape", "big"]), 2).contains("28x28"));
    assert!(!here.join("page.pdf").exists() && !here.join("p.html").exists());
}

#[test]
fn hostile_columns_and_ids_stay_text() {
    let here = folder("report_hostile");
    let bad = "</script><img src=x onerror=alert(1)>";
    let mut text = format!("{bad}id,{bad}x,y\n");
    for i in 0..40 {
        text += &format!(
            "{bad}{i},{},{}\n",
            f64::from(i % 2) * 9.0 + 0.01 * f64::from(i),
            0.02 * f64::from(i * i % 17)
        );
    }
    std::fs::write(here.join("data.csv"), text).unwrap();
    succeed(
        &here,
        &["cluster", "data.csv", "-q", "-k", "2", "--id-column", "0", "--report", "page.html", "-o", "l.csv"],
    );
    let page = std::fs::read_to_string(here.join("page.html")).unwrap();
    assert!(page.contains("&lt;img src=x") && !page.contains("<img"));
    assert_eq!(page.matches("</script").count(), 1);
}

#[test]
fn two_runs_on_one_page() {
    let here = folder("report_compare");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    succeed(&here, &with(&["--out-dir", "a"]));
    succeed(&here, &with(&["--out-dir", "b", "--engine", "graph"]));
    succeed(&here, &with(&["--out-dir", "c", "--method", "kmeans"]));
    let shown = succeed(&here, &["compare", "a", "b", "--report", "ab.html"]);
    assert!(shown.contains("--engine"), "{shown}");
    let page = std::fs::read_to_string(here.join("ab.html")).unwrap();
    for words in [
        "Two runs with the same clusters",
        "1 setting differs",
        "Settings that differ",
        "contingency",
        "weights-chart",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(page.find("Settings that differ") < page.find("The points"));
    // A method without weights leaves that section out.
    succeed(&here, &["compare", "a", "c", "--report", "ac.html"]);
    assert!(!std::fs::read_to_string(here.join("ac.html")).unwrap().contains("weights-chart"));
    std::fs::remove_file(here.join("b/report.json")).unwrap();
    assert!(fail(&here, &["compare", "a", "b", "--report", "no.html"], 2).contains("report.json"));
    assert!(!here.join("no.html").exists());
}
