//! report: a finished run as one self-contained HTML page.
//!
//! ```text
//! model + data → Record → page
//! ```
//!
//! A [`Record`] is all that a page shows: small (a few hundred kilobytes, however many points there were), kept as
//! `report.json` in the folder of a run, and enough to draw the page again. [`gather()`] makes it, [`page()`] draws
//! it, [`comparison()`] draws two side by side. The same record gives the same bytes.

#![allow(clippy::format_push_string, reason = "paths of charts, a few thousand points at most")]

use std::io::Write;
use std::path::Path;

mod account;
mod explained;
mod gather;
mod page;
mod record;
mod runs;

pub use explained::{explain_model, explained_html, explained_markdown, explained_page, explained_text};
pub use gather::{Extras, KnownClasses, Memory, Picture, gather};
pub use page::style::{STYLE, chrome, escape};
pub use page::{comparison, page};
pub use record::{Record, RecordError};

/// Write a page: under a temporary name first, so that a half-written page never has the right name.
///
/// # Errors
/// When the file cannot be written.
pub fn save(html: &str, path: &Path) -> std::io::Result<()> {
    let mut file = atomic_write_file::AtomicWriteFile::open(path)?;
    file.write_all(html.as_bytes())?;
    file.commit()
}
