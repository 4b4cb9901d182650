//! What every page of nearfar looks like.

use sha2::{Digest, Sha256};

use crate::gather::encode;

/// The style sheet.
pub const STYLE: &str = include_str!("style.css");
/// What makes the page live.
pub(crate) const SCRIPT: &str = concat!(include_str!("page.js"), include_str!("scatter.js"));

/// What stands in the head of a page with this one style sheet and this one script: no address is ever asked for
/// anything, and no other script is run. `None` in place of the style sheet lets pictures bring styles of their own.
#[must_use]
pub fn chrome(style: Option<&str>, script: Option<&str>) -> String {
    let hash = |text: &str| format!("'sha256-{}'", encode(&Sha256::digest(text.as_bytes())));
    let style = style.map_or_else(|| "'unsafe-inline'".to_owned(), hash);
    let script = script.map_or_else(|| "'none'".to_owned(), hash);
    format!(
        "<meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {style}; script-src {script}; \
         img-src data:; base-uri 'none'; form-action 'none'\">\
         <meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\">"
    )
}

/// Letters that HTML would take for its own, written so that it does not.
#[must_use]
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_knows_style_and_script_by_their_hash() {
        // echo -n "a" | openssl dgst -sha256 -binary | base64
        let a = "sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=";
        assert!(chrome(Some("a"), None).contains(&format!("style-src '{a}'; script-src 'none'")));
        assert!(chrome(Some("b"), Some("a")).contains(&format!("script-src '{a}'")));
        assert!(!chrome(Some("a"), Some("b")).contains("unsafe"));
    }
}
