//! What every page of nearfar looks like.

/// The style sheet.
pub const STYLE: &str = include_str!("style.css");
/// What stands in the head of every page: no address is ever asked for anything.
pub const CHROME: &str = "<meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\
<meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\">";
/// What makes the page live.
pub(crate) const SCRIPT: &str = include_str!("page.js");

/// Letters that HTML would take for its own, written so that it does not.
#[must_use]
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
