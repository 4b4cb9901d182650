//! Saved models: written by `cluster`, used by `predict`.

mod common;

use common::{fail, folder, nearfar, stderr, succeed, two_groups};
use std::path::{Path, PathBuf};

/// A folder with data and a model of it.
fn with_model(name: &str, extra: &[&str]) -> PathBuf {
    let here = folder(name);
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let base = ["cluster", "data.csv", "-k", "2", "--truth", "class", "--id-column", "name"];
    let save = ["--save-model", "m.nearfar", "-o", "labels.csv"];
    succeed(&here, &[&base[..], &save, extra].concat());
    here
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn training_points_get_their_labels_back() {
    for extra in [
        &[][..],
        &["--scale", "standard"],
        &["--scale", "standard", "--metric", "cosine"],
        &["--scale", "unit"],
        &["--method", "kmeans"],
    ] {
        let here = with_model("predict_training", extra);
        let found = succeed(&here, &["predict", "m.nearfar", "data.csv", "--id-column", "name", "-q"]);
        assert_eq!(found, read(&here.join("labels.csv")), "{extra:?}");
    }
}

#[test]
fn columns_are_found_by_name() {
    let here = with_model("predict_names", &[]);
    let data = read(&here.join("data.csv"));
    let moved = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        [cells[3], cells[2], cells[0], cells[1]].join(",") + "\n"
    };
    let moved = data.lines().map(moved).collect::<String>();
    std::fs::write(here.join("moved.csv"), moved).unwrap();
    let output = nearfar(&here, &["predict", "m.nearfar", "moved.csv", "--truth", "class", "-o", "new.txt"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("60 new points into 2 clusters") && stderr(&output).contains("ACC 1.0000")
    );
    let labels: Vec<String> =
        read(&here.join("labels.csv")).lines().skip(1).map(|l| l[l.len() - 1..].to_owned()).collect();
    assert_eq!(read(&here.join("new.txt")).lines().collect::<Vec<_>>(), labels);
}

#[test]
fn a_table_that_lacks_a_column_is_refused() {
    let here = with_model("predict_lacks", &[]);
    // As many numbers as the model has features, but one of them is a row number.
    std::fs::write(here.join("lacks.csv"), "number,x\n1,0.5\n2,10.5\n").unwrap();
    let text = fail(&here, &["predict", "m.nearfar", "lacks.csv"], 2);
    assert!(text.contains("lacks.csv: column \"y\" is missing, which the model was fitted on"), "{text}");
    assert!(text.contains("the table has \"number\", \"x\""), "{text}");
    let text = fail(&here, &["predict", "m.nearfar", "lacks.csv", "--id-column", "number"], 2);
    assert!(text.contains("column \"y\" is missing"), "{text}");
    let output =
        common::nearfar_with_stdin(&here, &["predict", "m.nearfar", "-"], b"number,x\n1,0.5\n2,10.5\n");
    assert!(stderr(&output).contains("column \"y\" is missing"), "{}", stderr(&output));
    // Names that are numbers are names, not places.
    std::fs::write(here.join("numbers.csv"), "0,1,2\n".to_owned() + &"0.1,5,0\n9.7,1,1\n".repeat(20))
        .unwrap();
    let fit = ["cluster", "numbers.csv", "--header", "-k", "2", "--save-model", "n.nearfar", "-o", "n.csv"];
    succeed(&here, &fit);
    std::fs::write(here.join("two.csv"), "id,0,1\n1,0.1,5\n2,9.7,1\n").unwrap();
    let text = fail(&here, &["predict", "n.nearfar", "two.csv", "--header"], 2);
    assert!(text.contains("column \"2\" is missing"), "{text}");
}

#[test]
fn distances_to_the_training_points() {
    let here = folder("predict_distances");
    let points: Vec<f64> = (0..24).map(|i| f64::from(i % 2) * 50.0 + f64::from(i)).collect();
    let line = |x: f64| points.iter().map(|y| (x - y).abs().to_string()).collect::<Vec<_>>().join(",") + "\n";
    std::fs::write(here.join("d.csv"), points.iter().map(|x| line(*x)).collect::<String>()).unwrap();
    std::fs::write(here.join("new.csv"), line(3.2) + &line(54.0)).unwrap();
    let args =
        ["cluster", "d.csv", "-k", "2", "--input-kind", "distances", "--save-model", "m.nearfar", "-q"];
    let labels: Vec<String> = succeed(&here, &args).lines().map(str::to_owned).collect();
    let found = succeed(&here, &["predict", "m.nearfar", "new.csv", "-q"]);
    assert_eq!(found.lines().collect::<Vec<_>>(), [&labels[2], &labels[3]]);
}

#[test]
fn mistakes_are_named() {
    let here = with_model("predict_mistakes", &[]);
    let bytes = std::fs::read(here.join("m.nearfar")).unwrap();
    let mut bad = bytes.clone();
    let last = bad.len() - 3;
    bad[last] ^= 1;
    std::fs::write(here.join("bad.nearfar"), bad).unwrap();
    std::fs::write(here.join("short.nearfar"), &bytes[..bytes.len() / 2]).unwrap();
    std::fs::write(here.join("narrow.csv"), "1\n2\n").unwrap();
    for (args, text) in [
        (&["predict", "bad.nearfar", "data.csv"][..], "bad.nearfar: the model is damaged"),
        (&["predict", "short.nearfar", "data.csv"], "short.nearfar: this is no nearfar model"),
        (&["predict", "data.csv", "data.csv"], "data.csv: this is no nearfar model"),
        (&["predict", "missing.nearfar", "data.csv"], "missing.nearfar: the model cannot be read"),
        (&["predict", "m.nearfar", "narrow.csv"], "1 features, but the model expects 2"),
        (&["predict", "m.nearfar", "data.csv", "--scale", "unit"], "--scale is part of the model"),
        (&["predict", "m.nearfar"], "which file?"),
        (&["cluster", "data.csv", "-k", "2", "--save-model", "data.csv"], "would be written over"),
    ] {
        let found = fail(&here, args, 2);
        assert!(found.contains(text), "{args:?}: {found}");
    }
}

#[test]
fn nothing_half_written_is_left() {
    let here = with_model("predict_files", &[]);
    assert_eq!(std::fs::read_dir(&here).unwrap().count(), 3, "data, labels and model");
}
