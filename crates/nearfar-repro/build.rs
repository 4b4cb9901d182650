//! Notes the commit the program is built from, where there is one, with a + where the sources are no longer those
//! of the commit.

use std::path::Path;
use std::process::Command;

fn main() {
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".into());
    let changed = git(&["status", "--porcelain", "--", "..", "../../Cargo.lock"]);
    let mark = if changed.is_some_and(|files| !files.is_empty()) { "+" } else { "" };
    println!("cargo::rustc-env=NEARFAR_COMMIT={commit}{mark}");
    println!("cargo::rerun-if-changed=build.rs");
    if Path::new("../../.git").exists() {
        for watched in ["../../.git/HEAD", "../../.git/refs/heads", "..", "../../Cargo.lock"] {
            println!("cargo::rerun-if-changed={watched}");
        }
    }
}

/// What git says, if it is there and knows this folder.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
