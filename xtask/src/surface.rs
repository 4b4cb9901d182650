//! The public items of the library, as `cargo doc` lists them.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Make the documentation, print the items kind by kind, and refuse more than `most` of them.
pub(crate) fn print(most: Option<usize>) -> Result<()> {
    let made =
        Command::new("cargo").args(["doc", "--workspace", "--no-deps", "--locked", "--quiet"]).status()?;
    ensure!(made.success(), "cargo doc failed");
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let list = target.join("doc/nearfar/all.html");
    let page = fs::read_to_string(&list).with_context(|| list.display().to_string())?;
    let kinds = items(&page);
    let count = kinds.iter().map(|(_, names)| names.len()).sum::<usize>();
    for (kind, names) in &kinds {
        println!("{} {kind}: {}", names.len(), names.join(", "));
    }
    println!("{count} public items");
    ensure!(most.is_none_or(|most| count <= most), "more than {} are public", most.unwrap_or(0));
    Ok(())
}

/// Kinds and names of the items on rustdoc's page of all items.
fn items(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut kinds = Vec::new();
    for part in page.split("<h3 id=\"").skip(1) {
        let Some((kind, rest)) = part.split_once('"') else { continue };
        let links = rest.split("<li><a href=\"").skip(1);
        let names = links.filter_map(|link| link.split_once('>')?.1.split_once("</a>"));
        kinds.push((kind, names.map(|(name, _)| name).collect()));
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::items;

    #[test]
    fn reads_the_list_of_rustdoc() {
        let page = "<h3 id=\"structs\">Structs</h3><ul><li><a href=\"struct.A.html\">A</a></li><li><a \
                    href=\"m/struct.B.html\">m::B</a></li></ul><h3 id=\"functions\">Functions</h3><ul><li><a \
                    href=\"fn.f.html\">f</a></li></ul>";
        assert_eq!(items(page), [("structs", vec!["A", "m::B"]), ("functions", vec!["f"])]);
    }
}
