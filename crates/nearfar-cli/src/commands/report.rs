//! `nearfar report`: the page of a run that was kept in a folder.

use crate::exit::Outcome;
use crate::flags::ReportArgs;
use crate::output::{check_file, write_file};
use crate::paint::say;
use crate::run::folder::Folder;

pub(crate) fn run(args: &ReportArgs) -> Outcome {
    let record = Folder::new(&args.run).record()?;
    let path = args.output.clone().unwrap_or_else(|| args.run.join("report.html"));
    check_file(&path, None)?;
    let page = nearfar_report::page(&record);
    write_file(&path, |out| out.write_all(page.as_bytes()))?;
    if !args.quiet {
        say(format_args!("{} ({} kB): open it in a browser", path.display(), page.len().div_ceil(1000)));
    }
    Ok(())
}
