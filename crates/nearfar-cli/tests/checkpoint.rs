//! A run that saves itself, as a user sees it: killed at any moment, on a full disk, in a folder of another run.
#![cfg(unix)]

mod common;

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{command, fail, folder, nearfar, stderr, succeed, two_groups};
use nearfar::SavedModel;

/// A binned run of several starts.
const RUN: &str = "cluster m.npy -k 3 --method lsdg --mode binned --near 8 --far 10 --bins 8 --starts 4 --neighbors 20 --max-iter 8 -q";

fn with<'a>(extra: &[&'a str]) -> Vec<&'a str> {
    RUN.split(' ').chain(extra.iter().copied()).collect()
}

/// The data of that run.
fn make(here: &Path) {
    succeed(here, &["make", "blobs", "-n", "240", "--noise", "1.2", "--seed", "2", "-o", "m.npy"]);
}

/// The finished starts.
fn finished(folder: &Path) -> Vec<String> {
    names(folder).into_iter().filter(|name| name.starts_with("nearfar-start-")).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The summary without times, and without where the run was resumed from.
fn summary(folder: &Path) -> serde_json::Value {
    let mut summary = json(&folder.join("summary.json"));
    for key in ["seconds", "seconds_total", "resumed"] {
        summary.as_object_mut().unwrap().remove(key);
    }
    summary
}

/// The model without times.
fn model(path: &Path) -> SavedModel {
    let mut model = SavedModel::load(path).unwrap();
    model.about.timings.clear();
    model
}

/// All outputs are the same, to the byte; those that hold times, but for these.
fn assert_same_outputs(ours: &Path, theirs: &Path) {
    let files = names(ours);
    assert!(files.len() >= 9, "{files:?}");
    assert_eq!(files, names(theirs));
    for name in files.iter().filter(|name| !["summary.json", "report.json"].contains(&name.as_str())) {
        assert!(
            std::fs::read(ours.join(name)).unwrap() == std::fs::read(theirs.join(name)).unwrap(),
            "{name} differs"
        );
    }
    assert_eq!(summary(ours), summary(theirs));
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_like_an_unbroken_one() {
    let here = folder("checkpoint_killed");
    make(&here);
    succeed(&here, &with(&["--out-dir", "unbroken", "--save-model", "unbroken.nearfar"]));
    let args = with(&["--out-dir", "killed", "--save-model", "killed.nearfar", "--checkpoint", "saved"]);
    let args = [&args[..], &["--checkpoint-every", "0", "--resume", "--progress", "json"]].concat();
    // Killed behind a number of lines of progress: a few at first, more each time, so that it comes to an end.
    // Where exactly it then is, is up to chance; every iteration is saved, so that many kills come inside a save.
    let mut random: u64 = 7;
    let (mut kills, mut resumed) = (0, 0);
    loop {
        let threads = ["1", "2", "3"][kills % 3];
        let mut child = command(&here, &args).env("RAYON_NUM_THREADS", threads).spawn().unwrap();
        let mut errors = child.stderr.take().unwrap();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let lines = 1 + 6 * kills + (random >> 33) as usize % 12;
        let (mut text, mut seen) = (Vec::new(), 0);
        let mut byte = [0];
        while seen < lines && errors.read(&mut byte).unwrap() > 0 {
            seen += usize::from(byte[0] == b'\n');
            text.push(byte[0]);
        }
        child.kill().unwrap();
        errors.read_to_end(&mut text).unwrap();
        let status = child.wait().unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(!text.contains("trouble") && !text.contains("error"), "{text}");
        if status.success() {
            break;
        }
        assert_eq!(status.code(), None, "{text}");
        kills += 1;
        resumed += usize::from(here.join("saved/nearfar-checkpoint.json").exists());
        assert!(kills < 200, "it never ends");
    }
    assert!(kills > 0 && resumed > 0, "{kills} kills, {resumed} checkpoints");
    assert_same_outputs(&here.join("unbroken"), &here.join("killed"));
    assert!(
        model(&here.join("unbroken.nearfar")) == model(&here.join("killed.nearfar")),
        "the models differ"
    );
    // Its outputs are written: nothing is left to go on from, and nothing half-written.
    assert_eq!(names(&here.join("saved")), Vec::<String>::new());
}

#[test]
fn ctrl_c_leaves_a_checkpoint_and_says_so() {
    let here = folder("checkpoint_interrupted");
    succeed(&here, &["make", "mixture", "-n", "2000", "-o", "m.npy"]);
    // More starts than anybody waits for.
    let args =
        "cluster m.npy -k 6 --method lsdg --mode binned --starts 1000 --checkpoint saved --progress json";
    let mut child = command(&here, &args.split(' ').collect::<Vec<_>>()).spawn().unwrap();
    let mut errors = child.stderr.take().unwrap();
    let (mut text, mut byte) = (String::new(), [0]);
    while !text.contains("\"iteration\":3") {
        assert!(errors.read(&mut byte).unwrap() > 0, "it ended early: {text}");
        text.push(char::from(byte[0]));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    errors.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{text}");
    assert!(text.contains("interrupted during learn; --resume goes on from saved"), "{text}");
    let saved = names(&here.join("saved"));
    assert!(saved.iter().any(|name| name.starts_with("nearfar-lists-")), "{saved:?}");
    // No minute has passed, but a start that is asked to stop saves itself.
    assert!(saved.iter().any(|name| name.starts_with("nearfar-loop-")), "{saved:?}");
}

#[test]
fn flags_and_folders_that_do_not_go_together() {
    let here = folder("checkpoint_flags");
    make(&here);
    succeed(&here, &["make", "blobs", "-n", "240", "--noise", "1.2", "--seed", "3", "-o", "other.npy"]);
    for (args, words) in [
        (&["--resume"][..], "--resume needs a folder; name it with --checkpoint DIR"),
        (&["--checkpoint-every", "5m"], "--checkpoint-every needs a folder"),
        (&["--checkpoint", "saved", "--checkpoint-every", "often"], "write it as 30s, 5m or 1h"),
        (&["--checkpoint", "m.npy"], "m.npy is a file, not a folder"),
        (&["--checkpoint", "m.npy/deeper", "--resume"], "m.npy/deeper: the checkpoint cannot be"),
    ] {
        let text = fail(&here, &with(args), 2);
        assert!(text.contains(words), "{args:?}: {text}");
    }
    let text = fail(&here, &["cluster", "m.npy", "-k", "3", "--method", "phals", "--checkpoint", "saved"], 2);
    assert!(
        text.contains("phals cannot save itself, only nearfar and lsdg can; leave out --checkpoint"),
        "{text}"
    );

    // A whole run leaves nothing; a run whose labels cannot be written leaves all.
    let plain = succeed(&here, &with(&[]));
    let output = nearfar(&here, &with(&["--checkpoint", "saved", "--resume"]));
    assert!(output.status.success() && names(&here.join("saved")).is_empty());
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(&here, &with(&["--checkpoint", "saved"])).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let saved = names(&here.join("saved"));
    assert_eq!(finished(&here.join("saved")).len(), 4, "{saved:?}");

    // Without --resume it is not touched; with it, only by the same run.
    for (args, words) in [
        (
            &["--checkpoint", "saved"][..],
            "saved: the folder holds the checkpoint of a run of 240 points; go on with it (--resume)",
        ),
        (&["--checkpoint", "saved", "--resume", "--seed", "1"], "seed is 1 here and 0 in the checkpoint"),
        (
            &["--checkpoint", "saved", "--resume", "--beta", "5"],
            "lsdg.beta is 5.0 here and 10.0 in the checkpoint",
        ),
    ] {
        let text = fail(&here, &with(args), 2);
        assert!(text.contains(words), "{args:?}: {text}");
        assert_eq!(names(&here.join("saved")), saved);
    }
    let mut other = with(&["--checkpoint", "saved", "--resume"]);
    other[1] = "other.npy";
    assert!(fail(&here, &other, 2).contains("the values of the data differ"));

    let args = with(&["--checkpoint", "saved", "--resume", "--json", "--threads", "1", "--memory", "1G"]);
    let summary: serde_json::Value = serde_json::from_str(&succeed(&here, &args)).unwrap();
    assert_eq!(summary["resumed"]["starts"], 4, "{}", summary["resumed"]);
    assert_eq!(summary["resumed"]["spectrum"], true);
    let labels: Vec<String> = summary["labels"].as_array().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(labels, plain.lines().collect::<Vec<_>>());
    assert_eq!(names(&here.join("saved")), Vec::<String>::new());
}

/// The program with no more than this many kilobytes in any file, as on a full disk; the signal that comes with it
/// is not heard.
fn on_a_full_disk(here: &Path, kilobytes: usize, args: &[&str]) -> Command {
    let script = format!("trap '' XFSZ; ulimit -f {kilobytes}; exec \"$@\"");
    let mut shell = Command::new("bash");
    shell.args(["-c", &script, "bash", env!("CARGO_BIN_EXE_nearfar")]).args(args).current_dir(here);
    shell.stdin(Stdio::null());
    shell
}

#[test]
fn a_full_disk_leaves_the_last_good_checkpoint() {
    let here = folder("checkpoint_full_disk");
    make(&here);
    let plain = succeed(&here, &with(&[]));
    let args = with(&["--checkpoint", "saved", "--checkpoint-every", "0", "--resume", "-o", "labels.txt"]);
    let loud: Vec<&str> = args.iter().copied().filter(|arg| *arg != "-q").collect();
    // Room for the manifest, the starts and the labels, but not for the lists.
    let output = on_a_full_disk(&here, 20, &loud).output().unwrap();
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    // Said at once and in the summary.
    assert_eq!(text.matches("the run could not be saved (nearfar-lists-").count(), 2, "{text}");
    assert!(text.contains("no checkpoint is here, so the run starts from the beginning"), "{text}");
    assert_eq!(std::fs::read_to_string(here.join("labels.txt")).unwrap(), plain);
    assert_eq!(names(&here.join("saved")), Vec::<String>::new());

    // A good checkpoint, then a disk that is full: it stays as it was, and serves when there is room again.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let on_stdout: Vec<&str> = args[..args.len() - 2].to_vec();
    assert_eq!(command(&here, &on_stdout).stdout(full).output().unwrap().status.code(), Some(2));
    let starts = finished(&here.join("saved"));
    assert_eq!(starts.len(), 4, "{starts:?}");
    std::fs::remove_file(here.join("saved").join(&starts[2])).unwrap();
    let saved = names(&here.join("saved"));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = on_a_full_disk(&here, 1, &on_stdout).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(names(&here.join("saved")), saved);
    let summary: serde_json::Value =
        serde_json::from_str(&succeed(&here, &[&args[..], &["--json"]].concat())).unwrap();
    assert_eq!(summary["resumed"]["starts"], 3, "{}", summary["resumed"]);
    assert_eq!(std::fs::read_to_string(here.join("labels.txt")).unwrap(), plain);
}

#[test]
fn a_plan_tells_the_bytes_on_disk() {
    let here = folder("checkpoint_plan");
    let text =
        succeed(&here, &["plan", "--points", "1000000", "-k", "20", "--method", "lsdg", "--memory", "100G"]);
    assert!(text.contains("checkpoint up to "), "{text}");
    let json: serde_json::Value = serde_json::from_str(&succeed(
        &here,
        &["plan", "--points", "1000", "-k", "2", "--method", "lsdg", "--json"],
    ))
    .unwrap();
    assert!(json["checkpoint_bytes"].as_u64().unwrap() > 1000 * 12 * 2 * 12, "{json}");
    let text = succeed(&here, &["plan", "--points", "1000", "-k", "2", "--method", "phals"]);
    assert!(!text.contains("checkpoint"), "{text}");
    std::fs::write(here.join("data.csv"), two_groups()).unwrap();
    let text = succeed(
        &here,
        &["cluster", "data.csv", "-k", "2", "--columns", "x,y", "--method", "lsdg", "--dry-run"],
    );
    assert!(text.contains("checkpoint up to "), "{text}");
}
