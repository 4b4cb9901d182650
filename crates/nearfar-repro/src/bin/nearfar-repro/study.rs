//! The paper's tables and figures, or a study of one's own.

use std::path::{Path, PathBuf};
use std::time::Instant;

use nearfar_cli::exit::{Exit, Failure, Outcome};
use nearfar_cli::interrupt;
use nearfar_cli::output::{check_folder, write_file, write_stdout};
use nearfar_cli::paint::say;
use nearfar_repro::figures::{self, Figure};
use nearfar_repro::join::{Part, cut, join};
use nearfar_repro::report::{self, Provenance, datasets};
use nearfar_repro::store::{Batch, Origin};
use nearfar_repro::table::ResultTable;
use nearfar_repro::{Error, Manifest, Runner, Store, Study, study};

use crate::flags::StudyArgs;
use crate::host::Program;

pub(crate) fn run(args: &StudyArgs) -> Outcome {
    if args.print {
        return print(&args.study);
    }
    check_folder(&args.out_dir)?;
    if is_table(&args.study) {
        return write_again(args);
    }
    if let Some(other) = args.more.first() {
        return Err(Failure::wrong(format!(
            "{other:?} after {:?}: one study at a time; only finished tables (JSON files) are put together",
            args.study
        )));
    }
    if let Some(threads) = args.threads
        && !(1..=1024).contains(&threads)
    {
        return Err(Failure::wrong(format!("--threads = {threads} is not allowed: it must be 1 to 1024")));
    }
    let threads = args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into));
    let manifest = Manifest::open(&args.data).map_err(ended)?;
    let manifest = chosen(manifest, args)?;
    interrupt::listen();
    interrupt::set_last_words(Some(Box::new(|| {
        say(format_args!("stopped; finished runs are stored, the same command goes on from there"));
    })));
    interrupt::enter(interrupt::Phase::Running);
    let names: Vec<&str> = match args.study.as_str() {
        "all" => {
            let tables = study::BUILT_IN.iter().map(|(name, _)| *name);
            std::iter::once(datasets::NAME).chain(tables).chain(["figures"]).collect()
        }
        one => vec![one],
    };
    if names[0] == datasets::NAME {
        describe(&manifest, args)?;
    }
    // Mistakes in any of them show before the first one runs.
    let studies: Vec<Option<Study>> = names
        .iter()
        .filter(|name| **name != datasets::NAME)
        .map(|name| if *name == "figures" { Ok(None) } else { open(name, args).map(Some) })
        .collect::<Outcome<_>>()?;
    if studies.is_empty() {
        return Ok(());
    }
    let store = Store::open(&args.out_dir, origin()).map_err(ended)?;
    for study in studies {
        match &study {
            Some(study) => table(study, &manifest, &store, threads, args)?,
            None => draw(&manifest, &store, threads, args)?,
        }
    }
    Ok(())
}

fn print(name: &str) -> Outcome {
    let Some((_, text)) = study::BUILT_IN.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = study::BUILT_IN.iter().map(|(name, _)| *name).collect();
        return Err(Failure::wrong(format!("--print shows one of {}, not {name:?}", known.join(", "))));
    };
    write_stdout(|out| out.write_all(text.as_bytes()))
}

/// The datasets that were asked for.
fn chosen(mut manifest: Manifest, args: &StudyArgs) -> Outcome<Manifest> {
    if let Some(only) = &args.only {
        let known: Vec<String> = manifest.datasets.iter().map(|spec| spec.name.clone()).collect();
        if let Some(unknown) = only.iter().find(|name| !known.contains(name)) {
            return Err(Failure::wrong(format!(
                "--only {unknown:?} is no dataset; there are {}",
                known.join(", ")
            )));
        }
        manifest.datasets.retain(|spec| only.contains(&spec.name));
    }
    Ok(manifest)
}

fn open(name: &str, args: &StudyArgs) -> Outcome<Study> {
    let mut study = Study::open(name).map_err(ended)?;
    if let Some(rows) = &args.rows {
        let known: Vec<String> = study.rows.iter().map(|row| row.name.clone()).collect();
        if let Some(unknown) = rows.iter().find(|name| !known.contains(name)) {
            return Err(Failure::wrong(format!(
                "--rows {unknown:?} is no row of {name}; there are {}",
                known.join(", ")
            )));
        }
        study.rows.retain(|row| rows.contains(&row.name));
    }
    if args.only.is_some() {
        study.datasets.clear();
    }
    study.starts = args.starts.unwrap_or(study.starts);
    if let Some(screen) = args.screen {
        study.screen = screen;
        study.rows.iter_mut().for_each(|row| row.screen = None);
    }
    study.screen = study.screen.min(study.starts);
    if !(2..=1000).contains(&study.starts) || study.screen == 0 {
        return Err(Failure::wrong("--starts must be 2 to 1000, --screen 1 or more"));
    }
    if let Some(step) = args.thin {
        if step == 0 {
            return Err(Failure::wrong("--thin = 0 is not allowed: it must be 1 or more"));
        }
        study.thin(step);
    }
    Ok(study)
}

/// The datasets themselves; nothing is run.
fn describe(manifest: &Manifest, args: &StudyArgs) -> Outcome {
    let all = datasets::details(manifest, &Program::new(true)).map_err(ended)?;
    let command = command(datasets::NAME, args);
    make_folder(&args.out_dir)?;
    for (ending, text) in datasets::forms(&all, &command, &origin()).map_err(ended)? {
        let file = args.out_dir.join(format!("{}.{ending}", datasets::NAME));
        write_file(&file, |out| out.write_all(text.as_bytes()))?;
    }
    write_stdout(|out| {
        writeln!(out, "{:16}{:>10}{:>10}{:>10}", "dataset", "features", "samples", "clusters")?;
        for datasets::Details { title, size: [m, n, k], .. } in &all {
            writeln!(out, "{title:16}{m:>10}{n:>10}{k:>10}")?;
        }
        writeln!(out)
    })
}

/// One study: run what is missing, write the table in every form.
fn table(study: &Study, manifest: &Manifest, store: &Store, threads: usize, args: &StudyArgs) -> Outcome {
    let host = Program::new(args.quiet);
    let runner = Runner::new(study, store, &host, threads);
    let datasets = runner.datasets(manifest).map_err(ended)?;
    let clock = Instant::now();
    let found = runner.run(&datasets);
    host.clear();
    let found = found.map_err(ended)?;
    interrupt::enter(interrupt::Phase::Writing);
    let mut table = ResultTable::new(study, &found);
    if let Some(step) = args.thin.filter(|step| *step > 1) {
        table.protocol += &format!(" Grids are thinned: one of every {step} values of each axis.");
    }
    let markdown = write_forms(&table, &provenance(&study.name, args, runner.made()), &args.out_dir)?;
    interrupt::enter(interrupt::Phase::Running);
    if !args.quiet {
        say(format_args!(
            "{}: {} datasets, {} runs in the store, {:.0} s now; wrote {} (and .csv, .tex, .json, .html)",
            study.name,
            found.len(),
            store.count().map_err(ended)?,
            clock.elapsed().as_secs_f64(),
            markdown.display()
        ));
    }
    write_stdout(|out| short_table(&table, out))
}

/// The table in every form; answers where the Markdown lies.
fn write_forms(table: &ResultTable, provenance: &Provenance, folder: &Path) -> Outcome<PathBuf> {
    make_folder(folder)?;
    let file = |ending: &str| folder.join(format!("{}.{ending}", table.name));
    let forms = [
        ("md", report::markdown(table, provenance)),
        ("csv", report::csv(table)),
        ("tex", report::latex(table, provenance)),
        ("json", report::json(table, provenance).map_err(ended)? + "\n"),
        ("html", report::html(table, provenance, &[])),
    ];
    for (ending, text) in forms {
        write_file(&file(ending), |out| out.write_all(text.as_bytes()))?;
    }
    Ok(file("md"))
}

fn make_folder(folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder).map_err(|error| Failure::output(&folder.display().to_string(), &error))
}

fn is_table(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

/// Finished tables, from their JSON, in every form: one as it was, several as one; nothing is run.
fn write_again(args: &StudyArgs) -> Outcome {
    let names = std::iter::once(&args.study).chain(&args.more);
    let mut parts = names.map(|name| read_table(name)).collect::<Outcome<Vec<Part>>>()?;
    let (mut table, provenance) = if parts.len() == 1 {
        let Part { table, provenance, .. } = parts.remove(0);
        (table, provenance)
    } else {
        join(&parts, origin()).map_err(Failure::wrong)?
    };
    cut(&mut table, args.rows.as_deref(), args.only.as_deref()).map_err(Failure::wrong)?;
    let markdown = write_forms(&table, &provenance, &args.out_dir)?;
    if !args.quiet {
        say(format_args!("wrote {} (and .csv, .tex, .json, .html); nothing was run", markdown.display()));
    }
    write_stdout(|out| short_table(&table, out))
}

fn read_table(name: &str) -> Outcome<Part> {
    let text = std::fs::read_to_string(name)
        .map_err(|error| Failure::wrong(format!("{name} cannot be read: {error}")))?;
    let (table, provenance) =
        report::from_json(&text).map_err(|error| Failure::wrong(format!("{name}: {error}")))?;
    if table.name.is_empty() || Path::new(&table.name).file_name() != Some(table.name.as_ref()) {
        return Err(Failure::wrong(format!("{name}: {:?} is no name for a file", table.name)));
    }
    Ok(Part { name: name.to_owned(), table, provenance })
}

/// What fits a screen: means, best marked.
fn short_table(table: &ResultTable, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    for half in &table.halves {
        writeln!(out, "{} (ACC / NMI, * best)", half.title)?;
        let width = half.lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0) + 2;
        write!(out, "{:width$}", "")?;
        for column in &table.columns {
            write!(out, "  {:>13}", column.title.chars().take(13).collect::<String>())?;
        }
        writeln!(out)?;
        for line in &half.lines {
            write!(out, "{:width$}", line.name)?;
            for cell in &line.cells {
                let Some(cell) = cell else {
                    write!(out, "  {:>13}", "not run ")?;
                    continue;
                };
                let mark = |m: usize| if cell[m].place == Some(1) { "*" } else { " " };
                write!(out, "  {:.3}{}/ {:.3}{}", cell[0].mean, mark(0), cell[1].mean, mark(1))?;
            }
            writeln!(out, "  {}", line.choice.words())?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The figures.
fn draw(manifest: &Manifest, store: &Store, threads: usize, args: &StudyArgs) -> Outcome {
    let host = Program::new(args.quiet);
    let drawn = figures::draw(manifest, store, &host, threads);
    host.clear();
    let drawn = drawn.map_err(ended)?;
    interrupt::enter(interrupt::Phase::Writing);
    let folder = args.out_dir.join("figures");
    make_folder(&folder)?;
    for Figure { name, svg, .. } in &drawn {
        write_file(&folder.join(format!("{name}.svg")), |out| out.write_all(svg.as_bytes()))?;
        let png = figures::png(name, svg).map_err(ended)?;
        write_file(&folder.join(format!("{name}.png")), |out| out.write_all(&png))?;
    }
    interrupt::enter(interrupt::Phase::Running);
    write_stdout(|out| {
        for Figure { name, title, .. } in &drawn {
            writeln!(out, "{}  {title}", folder.join(format!("{name}.svg")).display())?;
        }
        Ok(())
    })
}

fn provenance(name: &str, args: &StudyArgs, runs: Vec<Batch>) -> Provenance {
    let run_seconds = runs.iter().map(|batch| batch.seconds).sum();
    Provenance { origin: origin(), command: command(name, args), run_seconds, runs, parts: Vec::new() }
}

/// The command that makes a study's table again.
fn command(name: &str, args: &StudyArgs) -> String {
    let built_in = name == datasets::NAME || study::BUILT_IN.iter().any(|(known, _)| *known == name);
    let file = Path::new(&args.study).file_name().map_or(name.into(), |file| file.to_string_lossy());
    let what = if built_in { name.into() } else { file };
    let mut command = format!("nearfar-repro {what} --data DIR");
    let mut add = |flag: &str, value: Option<String>| {
        if let Some(value) = value {
            command += &format!(" --{flag} {value}");
        }
    };
    add("only", args.only.as_ref().map(|names| names.join(",")));
    add("rows", args.rows.as_ref().map(|names| format!("{:?}", names.join(","))));
    add("starts", args.starts.map(|n| n.to_string()));
    add("screen", args.screen.map(|n| n.to_string()));
    add("thin", args.thin.map(|n| n.to_string()));
    command
}

fn origin() -> Origin {
    let processor = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Origin {
        version: nearfar::VERSION.into(),
        commit: env!("NEARFAR_COMMIT").into(),
        machine: format!(
            "{} {}, {}, {cores} cores",
            std::env::consts::OS,
            std::env::consts::ARCH,
            processor.as_deref().unwrap_or("processor not known")
        ),
    }
}

/// How the program ends where a study does not come to its end.
#[allow(clippy::needless_pass_by_value, reason = "handed over by map_err")]
fn ended(error: Error) -> Failure {
    let exit = match &error {
        Error::Stopped { .. } => Exit::Interrupted,
        Error::Run { source, .. } if matches!(**source, nearfar::Error::Memory { .. }) => Exit::Memory,
        _ => Exit::Wrong,
    };
    Failure::new(exit, error.to_string())
}
