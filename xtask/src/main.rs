//! Development tasks of nearfar: the long measurements, one named command each.

mod binned;
mod clock;
mod data;
mod default_study;
mod estimators;
mod growth;
mod index;
mod iterations;
mod limit;
mod made;
mod methods;
mod mt19937;
mod options;
mod page;
mod partitions;
mod peers;
mod predict;
mod ranks;
mod readers;
mod reference;
mod study;
mod surface;
mod table;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};
use nearfar::{Params, Precision};

use options::{Knobs, PeersArgs};

/// As in the program that is measured.
#[global_allocator]
static ALLOCATOR: nearfar_pages::HugePages = nearfar_pages::HugePages;

#[derive(Parser)]
#[command(name = "cargo xtask", about)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Time every stage beside the NumPy port, same data, start and threads, and print ratios.
    BenchReference {
        /// Datasets to run.
        #[arg(default_values = ["orl", "coil20", "mnist-2000"])]
        names: Vec<String>,
        /// Folder with the datasets.
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
        /// Folder with bench_reference.py and oracle.py.
        #[arg(long, default_value = "../shared/reference")]
        reference: PathBuf,
        /// A Python with numpy and scipy.
        #[arg(long, default_value = "python3")]
        python: String,
        /// Threads of both programs.
        #[arg(long, default_value_t = 1)]
        threads: usize,
    },
    /// ACC and NMI of presets, default and baselines on the eight datasets (docs/results.md).
    Table {
        /// Datasets; all eight when none is named.
        names: Vec<String>,
        /// Folder with the datasets.
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
        /// Seeds per cell.
        #[arg(long, default_value_t = 20)]
        starts: u64,
    },
    /// One iteration of every compared method beside the products it cannot do without.
    BenchFamily {
        /// Points; above 4000 only methods without n x n matrices run.
        #[arg(long, default_value_t = 2000)]
        points: usize,
        /// Features.
        #[arg(long, default_value_t = 64)]
        features: usize,
        /// Clusters.
        #[arg(short = 'k', long, default_value_t = 10)]
        clusters: usize,
    },
    /// The approximate search beside exact search and an HNSW index (cargo feature `hnsw`), at equal recall.
    BenchIndex {
        /// Points; exact search must still do them, which ends at 198,000 of 64 features.
        #[arg(long, default_value_t = 50_000)]
        points: usize,
        /// Features.
        #[arg(long, default_value_t = 64)]
        features: usize,
        /// Gaussians of the mixture.
        #[arg(long, default_value_t = 50)]
        clusters: usize,
        /// How far apart they are.
        #[arg(long, default_value_t = 3.0)]
        spread: f64,
        /// Neighbours of every point.
        #[arg(long, default_value_t = 64)]
        neighbors: usize,
    },
    /// Time per stage at n = 1k, 2k, … and the fitted exponent.
    BenchGrowth {
        /// Largest n.
        #[arg(long, default_value_t = 16_000)]
        largest: usize,
        /// Threads; all cores when not given.
        #[arg(long)]
        threads: Option<usize>,
    },
    /// Predicting many points with a saved model: seconds by a mixture and by neighbours.
    BenchPredict {
        /// Points that the model is learnt from.
        #[arg(long, default_value_t = 10_000)]
        points: usize,
        /// New points.
        #[arg(long, default_value_t = 1_000_000)]
        new: usize,
        /// Features.
        #[arg(long, default_value_t = 64)]
        features: usize,
        /// Clusters.
        #[arg(short = 'k', long, default_value_t = 20)]
        clusters: usize,
        /// Threads.
        #[arg(long, default_value_t = 2)]
        threads: usize,
    },
    /// The default at growing sizes: seconds per stage, peak memory, exponents.
    BenchDefault {
        /// Points.
        #[arg(long, value_delimiter = ',', default_values_t = [10_000, 30_000, 100_000, 300_000, 1_000_000])]
        sizes: Vec<usize>,
        /// Components of the mixture.
        #[arg(short = 'k', long, default_value_t = 20)]
        clusters: usize,
        /// How far apart they are.
        #[arg(long, default_value_t = 1.0)]
        spread: f64,
    },
    /// Time our file readers beside pyarrow's and NumPy's, and the start of the program (docs/performance.md).
    BenchReaders {
        /// A Python with numpy and pyarrow.
        #[arg(long, default_value = "python3")]
        python: String,
        /// Folder for the files, about 1.4 GB.
        #[arg(long, default_value = "target/bench-readers")]
        folder: PathBuf,
        /// Turns.
        #[arg(long, default_value_t = 7)]
        repeats: usize,
    },
    /// One large exact run: time, peak memory, plan.
    BenchLarge {
        /// Points.
        #[arg(long, default_value_t = 20_000)]
        points: usize,
        /// Double instead of single precision.
        #[arg(long)]
        double: bool,
        /// Threads; all cores when not given.
        #[arg(long)]
        threads: Option<usize>,
    },
    /// Binned mode: a dataset file (mnist-70k) or generated mixtures of growing size; time, memory, scores, exponents.
    BenchBinned {
        /// A dataset of the folder; generated mixtures when none is named.
        name: Option<String>,
        /// Folder with the datasets.
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
        /// Sizes of the mixtures.
        #[arg(long, value_delimiter = ',', default_values_t = [10_000, 30_000, 100_000])]
        sizes: Vec<usize>,
        /// Components of the mixtures.
        #[arg(short = 'k', long, default_value_t = 20)]
        clusters: usize,
        /// How far apart the components are.
        #[arg(long, default_value_t = 1.0)]
        spread: f64,
        /// Starts of the consensus; 12 when not given.
        #[arg(long)]
        starts: Option<usize>,
        /// Threads; all cores when not given.
        #[arg(long)]
        threads: Option<usize>,
        /// Iterations of each loop at most, so that every size makes as many; until they settle when not given.
        #[arg(long)]
        max_iter: Option<usize>,
        #[command(flatten)]
        knobs: Knobs,
    },
    /// The program beside scikit-learn's MiniBatchKMeans and SpectralClustering on a file with arrays X and y;
    /// needs the release build.
    BenchBeside {
        /// The file.
        #[arg(default_value = "../shared/data/mnist-70k.npz")]
        file: PathBuf,
        /// Clusters.
        #[arg(short = 'k', long, default_value_t = 10)]
        clusters: usize,
        /// A Python with NumPy, SciPy and scikit-learn.
        #[arg(long, default_value = "python3")]
        python: String,
        /// Seconds after which a program is stopped.
        #[arg(long, default_value_t = 1800)]
        limit: u64,
    },
    /// Ranks of one thread over MPI beside one rank: time, efficiency, memory, and the error of the cost model
    /// (docs/scale.md).
    BenchRanks {
        /// The program, built with --release --features mpi.
        #[arg(long, default_value = "target/release/nearfar")]
        program: PathBuf,
        /// Points.
        #[arg(long, default_value_t = 200_000)]
        points: usize,
        /// Features.
        #[arg(long, default_value_t = 64)]
        features: usize,
        /// Clusters.
        #[arg(short = 'k', long, default_value_t = 20)]
        clusters: usize,
        /// Numbers of ranks, 1 first.
        #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4])]
        ranks: Vec<usize>,
        /// Seconds of one message between ranks.
        #[arg(long, default_value_t = 1e-6)]
        latency: f64,
        /// Bytes a second that a rank receives.
        #[arg(long, default_value_t = 4e9)]
        bandwidth: f64,
    },
    /// Binned beside exact mode on the eight datasets: ACC, NMI, active near ranks (docs/large.md).
    CompareModes {
        /// Datasets; all eight when none is named.
        names: Vec<String>,
        /// Folder with the datasets.
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
        /// Seeds per mode.
        #[arg(long, default_value_t = 10)]
        starts: u64,
        #[command(flatten)]
        knobs: Knobs,
    },
    /// The default beside k-means, spectral clustering, HDBSCAN and Leiden on UMAP's graph: seconds, ratio, peak
    /// memory, scores; needs the release build.
    BenchPeers {
        /// The program.
        #[arg(long, default_value = "target/release/nearfar")]
        program: PathBuf,
        /// Folder with the datasets; mnist-70k is run where it is there.
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
        /// Folder for the generated sets and the results.
        #[arg(long, default_value = "target/bench-peers")]
        folder: PathBuf,
        /// Seconds after which a process is stopped.
        #[arg(long, default_value_t = 900)]
        limit: u64,
        /// Only generated sets of 2,000 and 5,000 points.
        #[arg(long)]
        quick: bool,
        #[command(flatten)]
        peers: PeersArgs,
    },
    /// Edges per second of one Leiden call beside igraph's.
    BenchLeiden {
        /// Nodes of the graphs.
        #[arg(long, value_delimiter = ',', default_values_t = [70_000, 1_000_000])]
        sizes: Vec<usize>,
        /// Calls; the fastest counts.
        #[arg(long, default_value_t = 3)]
        calls: usize,
        /// Folder for the graphs.
        #[arg(long, default_value = "target/bench-leiden")]
        folder: PathBuf,
        #[command(flatten)]
        peers: PeersArgs,
    },
    /// The default on the eight datasets, its controls, generated shapes and unseen sets, as tables
    /// (docs/results/default).
    DefaultStudy {
        /// Folder with the datasets.
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
        /// Folder for the tables.
        #[arg(short, long, default_value = "docs/results/default")]
        out: PathBuf,
        /// Seeds on the eight datasets; of the other tables at most five.
        #[arg(long, default_value_t = 10)]
        seeds: u64,
        /// Run the paper's model in its soft form again, with so many seeds; its published figures without.
        #[arg(long, default_value_t = 0)]
        lsdg: u64,
        /// Only some tables: eight, controls, shapes, unseen.
        #[arg(long, value_delimiter = ',', value_parser = ["eight", "controls", "shapes", "unseen"])]
        only: Vec<String>,
        #[command(flatten)]
        peers: PeersArgs,
    },
    /// Other clusterers on the eight datasets, raw and standardised, beside the table of `default-study`.
    PeersStudy {
        /// Datasets; all eight when none is named.
        names: Vec<String>,
        /// Folder with the datasets.
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
        /// Folder for the table, with that of `default-study`.
        #[arg(short, long, default_value = "docs/results/default")]
        out: PathBuf,
        /// Seeds per method and dataset.
        #[arg(long, default_value_t = 3)]
        seeds: usize,
        #[command(flatten)]
        peers: PeersArgs,
    },
    /// Write what docs/methods.md has of the library's table of methods.
    MethodsDoc,
    /// Write python/nearfar/_classes.py, the estimators, of the library's table of methods.
    PythonClasses,
    /// List and count the public items of the library.
    PublicItems {
        /// Fail when there are more.
        #[arg(long)]
        most: Option<usize>,
    },
    /// Compare variants of the default settings over the eight datasets (docs/defaults.md).
    Study {
        /// Folder with the datasets.
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
        /// Seeds per variant and dataset.
        #[arg(long, default_value_t = 2)]
        repeats: u64,
        /// Only settings whose name contains this.
        #[arg(long, default_value = "")]
        only: String,
    },
}

fn main() -> Result<()> {
    match Cli::parse().task {
        Task::BenchReference { names, data, reference, python, threads } => {
            reference::bench(&data, &reference, &python, &names, threads)
        }
        Task::Table { names, data, starts } => table::run(&data, starts, &names),
        Task::BenchFamily { points, features, clusters } => iterations::bench(points, features, clusters),
        Task::BenchIndex { points, features, clusters, spread, neighbors } => {
            index::bench(&index::Asked { points, features, clusters, spread, neighbors })
        }
        Task::BenchPredict { points, new, features, clusters, threads } => {
            predict::predict(&predict::Sizes { points, new, features, clusters }, threads)
        }
        Task::BenchGrowth { largest, threads } => growth::growth(largest, threads),
        Task::BenchDefault { sizes, clusters, spread } => growth::growth_of_default(&sizes, clusters, spread),
        Task::BenchReaders { python, folder, repeats } => readers::bench(&python, &folder, repeats.max(1)),
        Task::BenchLarge { points, double, threads } => {
            growth::large(points, if double { Precision::Double } else { Precision::Single }, threads)
        }
        Task::BenchBinned { name, data, sizes, clusters, spread, starts, threads, max_iter, knobs } => {
            let params = |r: usize| {
                let mut params = Params { threads, binned: knobs.into(), ..Params::lsdg(r) };
                params.stop.max_iter = max_iter.unwrap_or(params.stop.max_iter);
                starts.map_or(params.clone(), |starts| params.starts(starts))
            };
            match name {
                Some(name) => binned::dataset(&data, &name, &params),
                None => binned::growth(&sizes, clusters, spread, &params),
            }
        }
        Task::BenchBeside { file, clusters, python, limit } => {
            binned::beside(&python, &file, clusters, limit)
        }
        Task::BenchRanks { program, points, features, clusters, ranks, latency, bandwidth } => {
            let sizes = ranks::Sizes { points, features, clusters };
            ranks::bench(&program, &sizes, &ranks, (latency, bandwidth))
        }
        Task::CompareModes { names, data, starts, knobs } => {
            binned::compare(&data, starts, &names, knobs.into())
        }
        Task::BenchPeers { program, data, folder, limit, quick, peers } => {
            let asked = peers::Bench { program: &program, data: &data, folder: &folder, limit, quick };
            peers::bench(&peers.open()?, &asked)
        }
        Task::BenchLeiden { sizes, calls, folder, peers } => {
            partitions::bench(&peers.open()?, &sizes, calls.max(1), &folder)
        }
        Task::DefaultStudy { data, out, seeds, lsdg, only, peers } => {
            let study = default_study::Study {
                data: &data,
                out: &out,
                seeds: seeds.max(1),
                soft: lsdg,
                parts: &only,
            };
            study.run(&|| peers.open())
        }
        Task::PeersStudy { names, data, out, seeds, peers } => {
            peers::study(&peers.open()?, &data, &out, seeds.max(1), &names)
        }
        Task::MethodsDoc => made::methods_doc(),
        Task::PythonClasses => made::python_classes(),
        Task::PublicItems { most } => surface::print(most),
        Task::Study { data, repeats, only } => study::run(&data, repeats, &only),
    }
}
