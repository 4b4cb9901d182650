//! Other clusterers in a Python environment of their own, beside ours: time, memory, scores.

use std::collections::BTreeMap;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use nearfar::generate::{Generated, Kind, MakeParams, make};
use nearfar::internals::NpzWriter;
use serde_json::Value;

use crate::data::{Dataset, EIGHT};
use crate::page::{Page, mean, short, spread};

/// What the peers need; the last is not there for every Python.
const NEEDED: [&str; 6] = ["numpy", "scipy", "scikit-learn", "igraph", "umap-learn", "hdbscan"];
const WELCOME: &str = "evoc";
/// Above so many points spectral clustering is left out.
const SPECTRAL: usize = 10_000;
/// Peers of the study, in the order of its columns.
const STUDIED: &str = "kmeans,ward,gmm,spectral,leiden-k,hdbscan,umap-hdbscan,evoc";

/// A Python with the peers, made where there is none.
pub(crate) struct Peers {
    python: PathBuf,
    script: PathBuf,
    threads: usize,
}

impl Peers {
    /// The environment in `folder`; a folder that has a Python is taken as it is.
    pub(crate) fn new(folder: &Path, python: &str, threads: usize) -> Result<Self> {
        let own = std::path::absolute(folder.join("bin/python"))?;
        if !own.exists() {
            eprintln!("making a Python environment with the peers in {}", folder.display());
            let run = |program: &Path, args: &[&str]| -> Result<bool> {
                let status = Command::new(program).args(args).stdout(Stdio::null()).status();
                Ok(status.with_context(|| format!("{} does not start", program.display()))?.success())
            };
            let name = folder.to_str().context("the name of the folder is not Unicode")?;
            ensure!(run(Path::new(python), &["-m", "venv", name])?, "{python} -m venv failed");
            let install = |packages: &[&str]| {
                let args: Vec<&str> =
                    ["-m", "pip", "install", "-q"].into_iter().chain(packages.iter().copied()).collect();
                run(&own, &args)
            };
            if !install(&NEEDED)? {
                std::fs::remove_dir_all(folder)?;
                bail!("pip could not install {}", NEEDED.join(", "));
            }
            if !install(&[WELCOME])? {
                eprintln!("{WELCOME} cannot be had; its column stays empty");
            }
        }
        let script = folder.join("peers.py");
        std::fs::write(&script, include_str!("peers.py"))?;
        Ok(Self { python: own, script: std::path::absolute(script)?, threads })
    }

    fn command(&self, args: &[String]) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(&self.script).args(args);
        for name in ["NEARFAR_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"] {
            command.env(name, self.threads.to_string());
        }
        command
    }

    /// What a call prints.
    pub(crate) fn read(&self, args: &[String]) -> Result<String> {
        let out = self.command(args).stderr(Stdio::inherit()).output()?;
        ensure!(out.status.success(), "peers.py {} failed", args[0]);
        Ok(String::from_utf8(out.stdout)?)
    }

    /// Scores of methods on files, each with its number of clusters.
    pub(crate) fn study(
        &self,
        seeds: usize,
        methods: &str,
        prepare: &str,
        files: &[(PathBuf, usize)],
    ) -> Result<Vec<Value>> {
        let mut args: Vec<String> =
            ["study", &seeds.to_string(), methods, prepare].map(ToString::to_string).to_vec();
        for (path, k) in files {
            args.push(format!("{}:{k}", std::path::absolute(path)?.display()));
        }
        self.read(&args)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
    }

    /// Another script of ours in this environment.
    pub(crate) fn run_script(&self, text: &str, args: &[String]) -> Result<Value> {
        let mut command = Command::new(&self.python);
        let out = command.arg("-c").arg(text).args(args).stderr(Stdio::inherit()).output()?;
        ensure!(out.status.success(), "the Python script failed");
        Ok(serde_json::from_slice(&out.stdout)?)
    }
}

/// Write a made set as the peers read it.
pub(crate) fn write_set(folder: &Path, name: &str, made: &Generated) -> Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join(format!("{name}.npz"));
    let mut npz = NpzWriter::new(BufWriter::new(std::fs::File::create(&path)?));
    npz.add("X", &[made.n_samples, made.n_features], &made.data)?;
    let truth = made.truth.iter().map(|class| i64::try_from(*class)).collect::<Result<Vec<_>, _>>()?;
    npz.add("y", &[truth.len()], &truth)?;
    npz.finish()?;
    Ok(path)
}

/// What `bench-peers` is told.
pub(crate) struct Bench<'a> {
    pub(crate) program: &'a Path,
    pub(crate) data: &'a Path,
    pub(crate) folder: &'a Path,
    pub(crate) limit: u64,
    pub(crate) quick: bool,
}

/// Ours and the peers, each in a process of its own.
pub(crate) fn bench(peers: &Peers, asked: &Bench<'_>) -> Result<()> {
    ensure!(
        asked.program.exists(),
        "{} is not there: cargo build --release -p nearfar-cli",
        asked.program.display()
    );
    let sizes: &[usize] = if asked.quick { &[2_000, 5_000] } else { &[2_000, 5_000, 10_000, 100_000] };
    let sets = [
        ("mixture", Kind::Mixture, Some(64), Some(20), None),
        ("varied", Kind::Varied, Some(16), Some(12), Some(3.0)),
        ("chart", Kind::Chart, None, None, None),
        ("customers", Kind::Customers, None, None, None),
    ];
    let mut jobs = Vec::new();
    for &n in sizes {
        for (name, kind, features, clusters, noise) in sets {
            let made = make(kind, &MakeParams { n_samples: Some(n), noise, clusters, features, seed: 1 })?;
            let k = made.truth.iter().max().map_or(0, |class| class + 1);
            let path = write_set(asked.folder, &format!("{name}-{n}"), &made)?;
            jobs.push(job(&path, k, n)?);
        }
    }
    let mnist = asked.data.join("mnist-70k.npz");
    if asked.quick || !mnist.exists() {
        println!("skipped: mnist-70k");
    } else {
        jobs.push(job(&mnist, 10, 70_000)?);
    }
    println!("{}", crate::page::made_by("cargo xtask bench-peers"));
    println!();
    println!(
        "{} threads. Seconds: the fit alone, in a process of its own; for the peers that of the second call,",
        peers.threads
    );
    println!("as the first one compiles. Peak memory: of the whole process, libraries and data included.");
    println!("Without k: HDBSCAN, and Leiden at resolution 1.");
    let absolute = |path: &Path| Ok::<_, anyhow::Error>(std::path::absolute(path)?.display().to_string());
    let mut args = vec!["bench".to_owned(), absolute(asked.program)?, absolute(asked.folder)?];
    args.push(asked.limit.to_string());
    args.extend(jobs);
    ensure!(peers.command(&args).status()?.success(), "peers.py bench failed");
    Ok(())
}

fn job(path: &Path, k: usize, n: usize) -> Result<String> {
    let methods = if n <= SPECTRAL { "kmeans,spectral,hdbscan,leiden" } else { "kmeans,hdbscan,leiden" };
    Ok(format!("{}:{k}:{methods}", std::path::absolute(path)?.display()))
}

/// The peers on the eight datasets, raw and standardised, beside what `default-study` wrote.
pub(crate) fn study(peers: &Peers, data: &Path, out: &Path, seeds: usize, names: &[String]) -> Result<()> {
    let chosen: Vec<&str> = EIGHT
        .iter()
        .map(|(name, ..)| *name)
        .filter(|name| names.is_empty() || names.iter().any(|chosen| chosen == name))
        .collect();
    let mut records = Vec::new();
    for name in &chosen {
        let dataset = Dataset::open(data, name)?;
        for prepare in ["raw", "standard"] {
            records.extend(peers.study(
                seeds,
                STUDIED,
                prepare,
                &[(dataset.path.clone(), dataset.classes)],
            )?);
            eprintln!("{name}, {prepare}: done");
        }
    }
    let methods: Vec<&str> = STUDIED.split(',').collect();
    let name_of = |method: &str| -> String {
        let known = records.iter().find(|record| record["method"] == method);
        known.and_then(|record| record["name"].as_str()).unwrap_or(method).to_owned()
    };
    let values = |data: &str, prepare: &str, method: &str, key: &str| -> Vec<f64> {
        let of = |record: &&Value| {
            record["data"] == data && record["prepare"] == prepare && record["method"] == method
        };
        records.iter().filter(of).filter_map(|record| record[key].as_f64()).collect()
    };
    let ours = ours(out);
    let mut header = vec!["data".to_owned(), "values".to_owned(), "**nearfar**".to_owned()];
    header.extend(methods.iter().map(|method| name_of(method)));
    let mut rows = Vec::new();
    for prepare in ["raw", "standard"] {
        let mut sums: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
        for data in &chosen {
            let mut row = vec![(*data).to_owned(), prepare.to_owned()];
            row.push(ours.get(*data).map_or_else(String::new, |(acc, nmi)| pair(*acc, *nmi)));
            if let Some(both) = ours.get(*data) {
                sums.entry(0).or_default().push(*both);
            }
            for (at, method) in methods.iter().enumerate() {
                let (acc, nmi) = (values(data, prepare, method, "acc"), values(data, prepare, method, "nmi"));
                if acc.is_empty() {
                    row.push(String::new());
                    continue;
                }
                sums.entry(at + 1).or_default().push((mean(&acc), mean(&nmi)));
                row.push(format!("{} / {}", spread(&acc), short(mean(&nmi))));
            }
            rows.push(row);
        }
        let mut row = vec!["**mean**".to_owned(), prepare.to_owned()];
        for at in 0..=methods.len() {
            // A mean over fewer sets would stand beside the others as if it were one.
            let all = sums.get(&at).filter(|all| all.len() == chosen.len());
            row.push(all.map_or_else(String::new, |all| {
                let (acc, nmi): (Vec<f64>, Vec<f64>) = all.iter().copied().unzip();
                pair(mean(&acc), mean(&nmi))
            }));
        }
        rows.push(row);
    }
    let page = Page {
        name: "peers",
        title: "The default beside other clusterers on the eight datasets",
        notes: vec![
            format!("ACC / NMI over {seeds} seeds. nearfar gets the values as they are and looks at all views by itself, so that both of its rows are the same; the others get them raw, then with standardised columns."),
            "The number of classes is given to k-means (10 starts), Ward, GMM (3 starts; full covariance where there are rows enough, else diagonal), spectral clustering (10 neighbours) and Leiden (bisection of the resolution on UMAP's graph of 15 neighbours). HDBSCAN is told the smallest size of a cluster, a tenth of the mean class; UMAP before it makes 2 columns (30 neighbours, distance 0). Noise counts as one more cluster. EVoC runs as it comes.".into(),
        ],
        header,
        rows,
        records,
    };
    page.write(out, "cargo xtask peers-study")
}

fn pair(acc: f64, nmi: f64) -> String {
    format!("{} / {}", short(acc), short(nmi))
}

/// ACC and NMI of the default by dataset, as `default-study` left them.
fn ours(out: &Path) -> BTreeMap<String, (f64, f64)> {
    let Ok(text) = std::fs::read_to_string(out.join("eight.json")) else { return BTreeMap::new() };
    let Ok(whole) = serde_json::from_str::<Value>(&text) else { return BTreeMap::new() };
    let records = whole["records"].as_array().cloned().unwrap_or_default();
    let read = |record: &Value| {
        Some((record["data"].as_str()?.to_owned(), (record["acc"].as_f64()?, record["nmi"].as_f64()?)))
    };
    records.iter().filter_map(read).collect()
}
