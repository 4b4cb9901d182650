//! `nearfar methods`: what there is to choose from.

use nearfar::learn::MethodKind;

use crate::exit::Outcome;
use crate::flags::MethodsArgs;
use crate::output::write_stdout;

pub(crate) fn run(args: &MethodsArgs) -> Outcome {
    write_stdout(|out| match args.name.map(|name| name.0) {
        Some(method) => write!(out, "{}", plain(&method.entry().page())),
        None => {
            for method in MethodKind::ALL {
                writeln!(out, "{:<10} {}", method.name(), wrapped(method.line()))?;
            }
            writeln!(
                out,
                "\nnearfar methods NAME explains one; nearfar cluster data.csv -k 3 --method NAME uses it."
            )
        }
    })
}

/// Markdown for a terminal: headings in capitals, code without ticks.
fn plain(markdown: &str) -> String {
    markdown
        .lines()
        .map(|line| match line.strip_prefix("## ").or_else(|| line.strip_prefix("# ")) {
            Some(heading) => heading.to_uppercase() + "\n",
            None => line.replace('`', "") + "\n",
        })
        .collect()
}

/// Lines that fit 90 columns behind a name of ten letters.
fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut width = 11;
    for word in text.split(' ') {
        if width > 11 && width + 1 + word.chars().count() > 90 {
            lines += &format!("\n{:11}", "");
            width = 11;
        } else if width > 11 {
            lines.push(' ');
            width += 1;
        }
        lines += word;
        width += word.chars().count();
    }
    lines
}
