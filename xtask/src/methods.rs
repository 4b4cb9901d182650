//! docs/methods.md: what the table of the methods tells, between marks; all else there is written by hand.

#![allow(clippy::format_push_string, reason = "the texts built here are a few screens long")]

use anyhow::{Context, Result, ensure};
use nearfar::learn::MethodKind;
use nearfar::learn::table::{Entry, Kind, Setting};

pub(crate) const PAGE: &str = "docs/methods.md";
const BEGIN: &str = "<!-- begin: made by `cargo xtask methods-doc` -->\n";
const END: &str = "<!-- end -->\n";

/// Settings of more methods than this are those of most.
const MANY: usize = 8;

/// The page with its made part made anew.
pub(crate) fn page(written: &str) -> Result<String> {
    let (before, rest) = written.split_once(BEGIN).context("the mark of the beginning is not there")?;
    let (_, after) = rest.split_once(END).context("the mark of the end is not there")?;
    ensure!(!after.contains(BEGIN), "there is more than one made part");
    Ok(format!("{before}{BEGIN}{}{END}{after}", made()))
}

fn made() -> String {
    let mut text = String::from("| method | works on | what it does |\n|---|---|---|\n");
    for kind in MethodKind::ALL {
        let Entry { name, line, needs, .. } = kind.entry();
        let squares = if kind.entry().matrices > 0 { ", n² memory" } else { "" };
        let page = format!("../crates/nearfar/src/learn/{name}/about.md");
        text += &format!("| [`{name}`]({page}) | {}{squares} | {line} |\n", needs.words());
    }
    text +=
        "\n## Settings\n\n| flag | in Python | what it does | values | default |\n|---|---|---|---|---|\n";
    for row in rows() {
        text += &row.line();
    }
    text
}

/// A setting, and the methods that take it alike.
struct Row {
    setting: &'static Setting,
    takers: Vec<MethodKind>,
}

fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for kind in MethodKind::ALL {
        for setting in kind.entry().settings() {
            let alike = |row: &&mut Row| {
                let known = row.setting;
                let names = (known.flag, known.help) == (setting.flag, setting.help);
                names && known.kind == setting.kind
            };
            match rows.iter_mut().find(alike) {
                Some(row) => row.takers.push(kind),
                None => rows.push(Row { setting, takers: vec![kind] }),
            }
        }
    }
    rows
}

impl Row {
    fn line(&self) -> String {
        let Setting { flag, keyword, help, kind, .. } = self.setting;
        let code = |word: &str, before: &str| match word {
            "" => String::new(),
            word => format!("`{before}{word}`"),
        };
        let values = match kind {
            Kind::Switch => "a switch".to_owned(),
            Kind::Word(words) => words.join(", "),
            kind => kind.to_string(),
        };
        let whose = if self.takers.len() > MANY {
            let without = MethodKind::ALL.into_iter().filter(|kind| !self.takers.contains(kind));
            let without: Vec<&str> = without.map(MethodKind::name).collect();
            format!("all but {}", without.join(", "))
        } else {
            self.takers.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
        };
        let (flag, keyword) = (code(flag, "--"), code(keyword, ""));
        format!("| {flag} | {keyword} | {help} ({whose}) | {values} | {} |\n", self.defaults())
    }

    /// The default; where methods differ, each one's.
    fn defaults(&self) -> String {
        let mut said: Vec<(String, Vec<&str>)> = Vec::new();
        for kind in &self.takers {
            let text = kind.entry().setting(self.setting.name).map(|own| kind.entry().default_text(own));
            let text = text.unwrap_or_default();
            match said.iter_mut().find(|(known, _)| *known == text) {
                Some((_, names)) => names.push(kind.name()),
                None => said.push((text, vec![kind.name()])),
            }
        }
        match &said[..] {
            [(only, _)] => only.clone(),
            _ => {
                let part = |(text, names): &(String, Vec<&str>)| match names.len() {
                    1..=MANY => format!("{}: {text}", names.join(", ")),
                    _ => format!("others: {text}"),
                };
                said.iter().map(part).collect::<Vec<_>>().join("; ")
            }
        }
    }
}
