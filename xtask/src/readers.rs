//! Our file readers beside pyarrow's and NumPy's: the same files, one thread each, turn by turn.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use nearfar::load::{LoadOptions, load};

use crate::clock::{Seconds, timed};

/// File, what we call it, and what the other side is asked for.
const FILES: [(&str, &str, &[&str]); 6] = [
    ("x.csv", "CSV, 1 M x 20", &["csv table", "csv matrix"]),
    ("x.parquet", "Parquet (snappy), 1 M x 64 f32", &["parquet table", "parquet matrix"]),
    ("x.npy", "NPY, 1 M x 64 f32", &["npy", "npy, checked"]),
    ("stored.npz", "NPZ stored, 1 M x 64 f32", &["npz stored"]),
    ("noise.npz", "NPZ deflated, 1 M x 64 f32 of noise", &["npz noise"]),
    ("pixels.npz", "NPZ deflated, 70 k x 784 u8, mostly 0", &["npz pixels"]),
];

/// Python with the other readers, waiting for names of files.
struct Other {
    process: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Other {
    fn start(python: &str, folder: &Path) -> Result<Self> {
        let mut process = Command::new(python)
            .arg("-c")
            .arg(include_str!("readers.py"))
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{python} does not start"))?;
        let ask = process.stdin.take().context("no stdin")?;
        let mut answers = BufReader::new(process.stdout.take().context("no stdout")?);
        let mut line = String::new();
        answers.read_line(&mut line)?;
        ensure!(line.trim() == "ready", "{python} needs numpy and pyarrow");
        Ok(Self { process, ask, answers })
    }

    fn read(&mut self, what: &str) -> Result<Seconds> {
        writeln!(self.ask, "{what}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let (wall, cpu) = line.trim().split_once(' ').with_context(|| format!("no answer to {what}"))?;
        Ok(Seconds { wall: wall.parse()?, cpu: cpu.parse()? })
    }

    fn stop(self) -> Result<()> {
        let Self { mut process, ask, .. } = self;
        drop(ask);
        process.wait()?;
        Ok(())
    }
}

/// Write the files, read them turn by turn, print medians and ratios.
pub(crate) fn bench(python: &str, folder: &Path, repeats: usize) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut other = Other::start(python, folder)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    println!(
        "medians of {repeats} turns, one thread each, files in the page cache; wall / processor seconds"
    );
    println!(
        "ratio: their processor seconds, which a busy machine changes least, over ours, and its range over the turns\n"
    );
    println!("| file | nearfar, s | beside it | s | ratio | range |");
    println!("|---|---|---|---|---|---|");
    for (file, name, theirs) in FILES {
        let path = folder.join(file);
        // The first reading of each warms caches and libraries.
        let _ = (ours(&pool, &path)?, other.read(theirs[0])?);
        let mut mine = Vec::new();
        let mut beside = vec![Vec::new(); theirs.len()];
        for _ in 0..repeats {
            mine.push(ours(&pool, &path)?);
            for (seconds, what) in beside.iter_mut().zip(theirs) {
                seconds.push(other.read(what)?);
            }
        }
        for (seconds, what) in beside.iter().zip(theirs) {
            print_row(name, &mine, what, seconds);
        }
    }
    other.stop()?;
    println!("\n`nearfar --help`: {:.1} ms, median of 50 runs", 1e3 * start_up()?);
    Ok(())
}

fn ours(pool: &rayon::ThreadPool, path: &Path) -> Result<Seconds> {
    let (table, seconds) = pool.install(|| timed(|| load(path, &LoadOptions::default())));
    ensure!(table?.n_samples > 0, "nothing was read");
    Ok(seconds)
}

fn print_row(name: &str, mine: &[Seconds], what: &str, theirs: &[Seconds]) {
    let show = |all: &[Seconds]| format!("{:.3} / {:.3}", median(all, |s| s.wall), median(all, |s| s.cpu));
    let mut ratios: Vec<f64> = mine.iter().zip(theirs).map(|(ours, theirs)| theirs.cpu / ours.cpu).collect();
    ratios.sort_by(f64::total_cmp);
    let by = if what.starts_with("np") { "NumPy, " } else { "pyarrow, " };
    println!(
        "| {name} | {} | {by}{what} | {} | **{:.2}** | {:.2} to {:.2} |",
        show(mine),
        show(theirs),
        median(theirs, |s| s.cpu) / median(mine, |s| s.cpu),
        ratios[0],
        ratios[ratios.len() - 1]
    );
}

fn median<T>(all: &[T], value: impl Fn(&T) -> f64) -> f64 {
    let mut values: Vec<f64> = all.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Seconds from start to end of `nearfar --help`.
fn start_up() -> Result<f64> {
    let program = std::env::current_exe()?.with_file_name("nearfar");
    ensure!(program.exists(), "build the program first: cargo build --release -p nearfar-cli");
    let mut seconds = Vec::new();
    for _ in 0..50 {
        let mut run = Command::new(&program);
        let (output, time) = timed(|| run.arg("--help").output());
        ensure!(output?.status.success(), "nearfar --help fails");
        seconds.push(time);
    }
    Ok(median(&seconds, |s| s.wall))
}
