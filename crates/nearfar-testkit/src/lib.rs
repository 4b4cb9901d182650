//! Slow oracles and generators of hard cases; for nearfar's own tests only.

pub mod bad;
pub mod fixed;
pub mod golden;
pub mod hard;
pub mod oracle;
pub mod s3nmf;
pub mod threads;

use std::path::{Path, PathBuf};

/// The folder of data and reference results beside the project, where it is present. When it is not, one line says
/// which test is `skipped`, so that nobody takes silence for success.
#[must_use]
pub fn shared_dir(test: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    if path.join("golden").is_dir() {
        return Some(path);
    }
    println!("skipped: {test} (the folder ../shared is not beside the project)");
    None
}
