//! Running the program as a user would.
#![allow(dead_code, reason = "every test file uses a part of it")]
#![allow(clippy::format_push_string, reason = "small texts")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program of the package whose tests these are: that of the studies uses this file too.
const PROGRAM: Option<&str> = match option_env!("CARGO_BIN_EXE_nearfar") {
    None => option_env!("CARGO_BIN_EXE_nearfar-repro"),
    known => known,
};

/// A folder of its own for one test, empty at the start.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The program, to be run in a folder.
pub(crate) fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM.expect("a package with a program"));
    command
        .current_dir(folder)
        .args(args)
        .env_remove("NO_COLOR")
        .env("LANG", "C.UTF-8")
        .env("LC_ALL", "C.UTF-8");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Run it to its end.
pub(crate) fn nearfar(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().unwrap()
}

/// Run it with something on stdin.
pub(crate) fn nearfar_with_stdin(folder: &Path, args: &[&str], stdin: &[u8]) -> Output {
    let mut child = command(folder, args).stdin(Stdio::piped()).spawn().unwrap();
    // The program may end before it has read all.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    child.wait_with_output().unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Run it, expect success, and give its stdout.
pub(crate) fn succeed(folder: &Path, args: &[&str]) -> String {
    let output = nearfar(folder, args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// Run it, expect this code, and give its stderr.
pub(crate) fn fail(folder: &Path, args: &[&str], code: i32) -> String {
    let output = nearfar(folder, args);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    assert!(!text.contains("panicked"), "{args:?}: {text}");
    text
}

/// Two clear groups with a header, a truth and an id.
pub(crate) fn two_groups() -> String {
    let mut text = "name,x,y,class\n".to_owned();
    for i in 0..60 {
        let (x, class) = if i % 2 == 0 { (0.0, "a") } else { (10.0, "b") };
        text +=
            &format!("p{i},{},{},{class}\n", x + 0.05 * f64::from(i * 13 % 37), 0.05 * f64::from(i * i % 41));
    }
    text
}
