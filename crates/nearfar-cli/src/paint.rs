//! Colour, and lines on the error stream.

use std::fmt::{Arguments, Display};
use std::io::{IsTerminal, Write};

/// Whether to colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    pub(crate) fn for_stderr(no_color: bool) -> Self {
        Self { on: !no_color && std::io::stderr().is_terminal() && allowed() }
    }

    pub(crate) fn for_stdout(no_color: bool) -> Self {
        Self { on: !no_color && std::io::stdout().is_terminal() && allowed() }
    }

    fn with(self, code: &str, text: impl Display) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    /// Something is wrong.
    pub(crate) fn bad(self, text: impl Display) -> String {
        self.with("1;31", text)
    }

    /// Something to look at.
    pub(crate) fn warn(self, text: impl Display) -> String {
        self.with("1;33", text)
    }

    /// A heading.
    pub(crate) fn strong(self, text: impl Display) -> String {
        self.with("1", text)
    }

    /// Small print.
    pub(crate) fn dim(self, text: impl Display) -> String {
        self.with("2", text)
    }

    /// What is near.
    pub(crate) fn near(self, text: impl Display) -> String {
        self.with("32", text)
    }

    /// What is far.
    pub(crate) fn far(self, text: impl Display) -> String {
        self.with("35", text)
    }
}

fn allowed() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}

/// Whether the locale can show block characters.
pub(crate) fn unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    locale.is_some_and(|locale| {
        let locale = locale.to_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    }) || cfg!(windows)
}

/// A line on the error stream, unless another process says it; a closed stream is nobody's problem.
pub fn say(line: Arguments<'_>) {
    if !crate::ranks::silent() {
        say_aloud(line);
    }
}

/// The same of whatever process.
pub(crate) fn say_aloud(line: Arguments<'_>) {
    // In one piece: what several processes write must not be mixed up within a line.
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}
