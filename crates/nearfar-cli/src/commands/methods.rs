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
                writeln!(out, "{:<10} {}", method.name(), wrapped(method.line(), 11))?;
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
            None if line.starts_with("* ") => wrapped(&line.replace('`', ""), 2) + "\n",
            None => line.replace('`', "") + "\n",
        })
        .collect()
}

/// Lines that fit 90 columns, all but the first behind so many blanks.
fn wrapped(text: &str, blanks: usize) -> String {
    let mut lines = String::new();
    let mut width = blanks;
    for word in text.split(' ') {
        if width > blanks && width + 1 + word.chars().count() > 90 {
            lines += &format!("\n{:blanks$}", "");
            width = blanks;
        } else if width > blanks {
            lines.push(' ');
            width += 1;
        }
        lines += word;
        width += word.chars().count();
    }
    lines
}
