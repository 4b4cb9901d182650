//! Files that the table of the methods makes: written by a command, and held to be current by tests.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{estimators, methods};

/// The folder of the workspace.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Write docs/methods.md.
pub(crate) fn methods_doc() -> Result<()> {
    let path = root().join(methods::PAGE);
    let written = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    std::fs::write(&path, methods::page(&written)?)?;
    Ok(())
}

/// Write python/nearfar/_classes.py.
pub(crate) fn python_classes() -> Result<()> {
    std::fs::write(root().join(estimators::FILE), estimators::file()?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_the_methods_is_current() {
        let written = std::fs::read_to_string(root().join(methods::PAGE)).unwrap();
        assert!(written == methods::page(&written).unwrap(), "run: cargo xtask methods-doc");
    }

    #[test]
    fn the_classes_of_python_are_current() {
        let written = std::fs::read_to_string(root().join(estimators::FILE)).unwrap();
        assert!(written == estimators::file().unwrap(), "run: cargo xtask python-classes");
    }
}
