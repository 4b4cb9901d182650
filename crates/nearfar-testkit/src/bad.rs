//! Bad, odd and tiny input, one table for the library and the program: files, what is asked of them, and what must
//! come of it. Settings are written as the program's flags; [`Case::fit`] gives the same to the library.

#![allow(clippy::format_collect, reason = "small texts")]

use std::path::Path;

use nearfar::learn::{Alpha, Density, MethodKind};
use nearfar::load::{LoadOptions, Truth, load};
use nearfar::{Error, Input, Metric, Model, Params, Preset, fit};

/// What a case must end in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// So many labels.
    Labels(usize),
    /// An error that says this.
    Refused(&'static str),
    /// Too little memory, and an error that says this.
    Memory(&'static str),
}

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// What is odd about it.
    pub name: &'static str,
    /// Name and content of every file.
    pub files: Vec<(&'static str, Vec<u8>)>,
    /// The file to cluster, and flags.
    pub args: Vec<&'static str>,
    /// What must come of it.
    pub expect: Expect,
}

impl Case {
    /// Put the files into an empty folder.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        self.files.iter().try_for_each(|(name, bytes)| std::fs::write(folder.join(name), bytes))
    }

    /// Load and cluster with the library.
    ///
    /// # Errors
    /// What the library says.
    ///
    /// # Panics
    /// When a case has a flag that is not known here.
    pub fn fit(&self, folder: &Path) -> Result<Model, Error> {
        let flags: Vec<(&str, &str)> = self.args[1..].chunks(2).map(|pair| (pair[0], pair[1])).collect();
        let given = |wanted: &str| flags.iter().find(|(flag, _)| *flag == wanted).map(|(_, value)| *value);
        let table = load(&folder.join(self.args[0]), &load_options(&flags, folder))?;
        let samples = table.samples();
        let input = match (given("--input-kind"), given("--metric")) {
            (Some("distances"), _) => Input::Distances(samples),
            (Some(_), _) => Input::Affinities(samples),
            (None, Some("cosine")) => Input::Samples(samples, Metric::Cosine),
            (None, _) => Input::from(samples),
        };
        fit(input, &params(&flags))
    }
}

fn load_options(flags: &[(&str, &str)], folder: &Path) -> LoadOptions {
    let mut options = LoadOptions::default();
    for (flag, value) in flags {
        match *flag {
            "--array" => options.array = Some((*value).to_owned()),
            "--columns" => options.columns = Some(value.split(',').map(str::to_owned).collect()),
            "--delimiter" => options.delimiter = value.bytes().next(),
            "--truth" if value.contains('.') => options.truth = Some(Truth::File(folder.join(value))),
            "--truth" => options.truth = Some(Truth::Column((*value).to_owned())),
            _ => {}
        }
    }
    options
}

fn params(flags: &[(&str, &str)]) -> Params {
    let number = |value: &str| value.parse::<f64>().expect("a number");
    let count = |value: &str| value.parse::<usize>().expect("a count");
    let given = |wanted: &str| flags.iter().find(|(flag, _)| *flag == wanted).map(|(_, value)| *value);
    let preset = if given("--preset") == Some("paper") { Preset::Paper } else { Preset::Default };
    let mut params = Params::preset(given("-k").map_or(0, count), preset);
    for &(flag, value) in flags {
        let lsdg = &mut params.lsdg;
        match flag {
            "--alpha" => match &mut lsdg.alpha {
                Alpha::Absolute(alpha) | Alpha::Relative(alpha) => *alpha = number(value),
            },
            "--beta" => lsdg.beta = number(value),
            "--mu" => lsdg.density = Density::Mu { mu: number(value), eta: None },
            "--eta" => {
                if let Density::Mu { eta, .. } = &mut lsdg.density {
                    *eta = Some(number(value));
                }
            }
            "--neighbors" => lsdg.density = Density::Neighbors(count(value)),
            "--starts" => params.starts = count(value),
            "--max-iter" => params.stop.max_iter = count(value),
            "--tol" => {
                (params.stop.loss_tolerance, params.stop.change_tolerance) = (number(value), number(value));
            }
            "--threads" => params.threads = Some(count(value)),
            "--memory" => params.memory = Some(1024 * count(value.trim_end_matches('K')) as u64),
            "--method" => params = Params::of(params.n_clusters, MethodKind::Phals),
            "-k" | "--preset" | "--array" | "--columns" | "--delimiter" | "--truth" | "--input-kind"
            | "--metric" => {}
            other => panic!("{other} is not known to the table"),
        }
    }
    params
}

fn refused(
    name: &'static str,
    file: (&'static str, Vec<u8>),
    args: &'static str,
    says: &'static str,
) -> Case {
    let args = args.split_whitespace().collect();
    Case { name, files: vec![file], args, expect: Expect::Refused(says) }
}

fn out_of_memory(
    name: &'static str,
    file: (&'static str, Vec<u8>),
    args: &'static str,
    says: &'static str,
) -> Case {
    Case { expect: Expect::Memory(says), ..refused(name, file, args, "") }
}

fn works(name: &'static str, file: (&'static str, Vec<u8>), args: &'static str, labels: usize) -> Case {
    Case { expect: Expect::Labels(labels), ..refused(name, file, args, "") }
}

fn csv(text: impl Into<String>) -> (&'static str, Vec<u8>) {
    ("d.csv", text.into().into_bytes())
}

/// n points on a line with a second column.
fn line(n: usize) -> String {
    (0..n).map(|i| format!("{},{}\n", i, (i * i) % 5)).collect()
}

/// n points in two groups.
fn groups(n: usize) -> String {
    (0..n).map(|i| format!("{},{}\n", i % 2 * 50 + i % 7, (i * i) % 5)).collect()
}

fn good() -> (&'static str, Vec<u8>) {
    csv(line(12))
}

/// An NPY file with this header dictionary and these bytes.
fn npy(dictionary: &str, values: &[u8]) -> (&'static str, Vec<u8>) {
    let mut header = dictionary.as_bytes().to_vec();
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(b' ');
    }
    header.push(b'\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header);
    bytes.extend(values);
    ("d.npy", bytes)
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn npz(cut: usize) -> (&'static str, Vec<u8>) {
    let mut writer = nearfar::internals::NpzWriter::new(Vec::new());
    let values: Vec<f64> = (0..40).map(f64::from).collect();
    writer.add("X", &[20, 2], &values).expect("written to memory");
    writer.add("W", &[10, 4], &values).expect("written to memory");
    let mut bytes = writer.finish().expect("written to memory");
    bytes.truncate(bytes.len() - cut);
    ("d.npz", bytes)
}

/// Every case.
#[must_use]
pub fn cases() -> Vec<Case> {
    [files(), settings(), odd()].concat()
}

/// Files that cannot be read as data.
#[allow(clippy::too_many_lines, reason = "a table")]
fn files() -> Vec<Case> {
    vec![
        refused("empty file", csv(""), "d.csv -k 2", "empty"),
        refused("blank lines only", csv("\n\n  \n"), "d.csv -k 2", "at least one row"),
        refused("header only", csv("a,b\n"), "d.csv -k 2", "at least one row"),
        refused("no such file", good(), "e.csv -k 2", "no such file"),
        refused("a folder", good(), ". -k 2", "folder"),
        refused("unknown extension", ("d.xls", b"1,2".to_vec()), "d.xls -k 2", "--format"),
        refused("no extension", ("data", b"1,2\n3,4".to_vec()), "data -k 2", "--format"),
        refused("text in a cell", csv("1,2\n3,x\n"), "d.csv -k 2", "line 2"),
        refused("categorical column", csv("a,b\n1,red\n2,blue\n"), "d.csv -k 2", "\"b\""),
        refused("nan", csv("1,2\n3,nan\n"), "d.csv -k 2", "line 2"),
        refused("inf", csv("1,inf\n3,4\n"), "d.csv -k 2", "line 1"),
        refused("overflowing number", csv("1,1e999\n3,4\n"), "d.csv -k 2", "line 1"),
        refused("missing value word", csv("1,2\n3,NA\n5,6\n"), "d.csv -k 2", "missing"),
        refused("empty cell", csv("1,2\n3,\n5,6\n"), "d.csv -k 2", "empty"),
        refused("ragged row", csv("1,2\n3,4,5\n6,7\n"), "d.csv -k 2", "line 2"),
        refused("decimal commas", csv("1,5;2,5\n3,5;4,5\n"), "d.csv -k 2 --delimiter ;", "decimal"),
        refused("binary as csv", csv("\0\u{1}\u{2}\0"), "d.csv -k 2", "d.csv"),
        Case {
            files: vec![("d.csv", vec![0xff, 0xfe, 0x31, 0x00, 0x2c, 0x00])],
            ..refused("utf-16", good(), "d.csv -k 2", "d.csv")
        },
        refused("truncated npz", npz(30), "d.npz -k 2 --array X", "d.npz"),
        refused("half an npz", npz(200), "d.npz -k 2 --array X", "d.npz"),
        refused("two arrays fit", npz(0), "d.npz -k 2", "--array"),
        refused("no such array", npz(0), "d.npz -k 2 --array x1", "X"),
        refused("npz that is text", ("d.npz", b"1,2\n3,4\n".to_vec()), "d.npz -k 2", "zip"),
        refused(
            "npy of text",
            npy("{'descr': '<U3', 'fortran_order': False, 'shape': (2, 2), }", &[0; 48]),
            "d.npy -k 2",
            "d.npy",
        ),
        refused(
            "npy of objects",
            npy("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }", &[0; 32]),
            "d.npy -k 2",
            "d.npy",
        ),
        refused(
            "npy cut short",
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (9, 2), }", &[0; 32]),
            "d.npy -k 2",
            "d.npy",
        ),
        refused(
            "npy that claims terabytes",
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999, 99), }", &[0; 32]),
            "d.npy -k 2",
            "d.npy",
        ),
        refused(
            "npy with nan",
            npy(
                "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }",
                &doubles(&[1.0, f64::NAN, 2.0, 3.0]),
            ),
            "d.npy -k 2",
            "row 0",
        ),
        refused(
            "npy without rows",
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 2), }", &[]),
            "d.npy -k 2",
            "0 x 2",
        ),
        refused("not a mat file", ("d.mat", vec![7; 300]), "d.mat -k 2", "d.mat"),
        refused("damaged gzip", ("d.csv.gz", vec![0x1f, 0x8b, 8, 0, 1, 2, 3]), "d.csv.gz -k 2", "d.csv.gz"),
        refused("damaged parquet", ("d.parquet", b"PAR1....PAR1".to_vec()), "d.parquet -k 2", "d.parquet"),
        refused("damaged arrow", ("d.arrow", b"ARROW1..".to_vec()), "d.arrow -k 2", "d.arrow"),
        refused("matlab 7.3", ("d.mat", b"MATLAB 7.3 MAT-file".to_vec()), "d.mat -k 2", "-v7"),
        refused("matlab level 4", ("d.mat", [&[0; 20][..], &[1; 200]].concat()), "d.mat -k 2", "-v7"),
        refused("a path through a file", good(), "d.csv/e.csv -k 2", "e.csv"),
        refused("text as arrow", ("d.arrow", b"1,2\n3,4\n5,6\n".to_vec()), "d.arrow -k 2", "d.arrow"),
    ]
}

/// Settings out of range, and data they do not fit.
#[allow(clippy::too_many_lines, reason = "a table")]
fn settings() -> Vec<Case> {
    vec![
        refused("k = 0", good(), "d.csv -k 0", "= 0"),
        refused("more clusters than points", good(), "d.csv -k 13", "12"),
        refused("alpha below 0", good(), "d.csv -k 2 --alpha -1", "alpha = -1"),
        refused("alpha nan", good(), "d.csv -k 2 --alpha nan", "alpha = NaN"),
        refused("beta inf", good(), "d.csv -k 2 --beta inf", "beta = inf"),
        refused("mu = 0", good(), "d.csv -k 2 --mu 0", "mu = 0"),
        refused("mu nan", good(), "d.csv -k 2 --mu nan", "mu = NaN"),
        refused("eta = mu", good(), "d.csv -k 2 --mu 0.1 --eta 0.1", "below mu"),
        refused("eta above mu", good(), "d.csv -k 2 --preset paper --eta 0.2", "below mu"),
        refused("neighbors = 0", good(), "d.csv -k 2 --neighbors 0", "neighbors = 0"),
        refused("starts = 0", good(), "d.csv -k 2 --starts 0", "starts = 0"),
        refused("starts beyond reason", good(), "d.csv -k 2 --starts 5000", "1 to 1000"),
        refused("max-iter = 0", good(), "d.csv -k 2 --max-iter 0", "= 0"),
        refused("tol nan", good(), "d.csv -k 2 --tol nan", "tol = NaN"),
        refused("threads = 0", good(), "d.csv -k 2 --threads 0", "threads = 0"),
        out_of_memory("memory too small", good(), "d.csv -k 2 --memory 10K", "needs"),
        refused("no such column", good(), "d.csv -k 2 --columns 0,7", "0 to 1"),
        refused("no column left", good(), "d.csv -k 2 --columns 0 --truth 0", "leave one"),
        refused("truth of another length", good(), "d.csv -k 2 --truth t.txt", "no such file"),
        Case {
            files: vec![good(), ("t.txt", b"1\n2\n".to_vec())],
            ..refused("truth too short", good(), "d.csv -k 2 --truth t.txt", "2 entries for 12")
        },
        refused("distances not square", good(), "d.csv -k 2 --input-kind distances", ""),
        refused("distances below 0", csv("0,-1\n-1,0\n"), "d.csv -k 1 --input-kind distances", "-1"),
        refused("distances not symmetric", csv("0,1\n2,0\n"), "d.csv -k 1 --input-kind distances", ""),
        refused("affinities below 0", csv("1,-1\n-1,1\n"), "d.csv -k 1 --input-kind affinities", "-1"),
        refused(
            "no affinity above 0",
            csv("1,0,0\n0,1,0\n0,0,1\n"),
            "d.csv -k 2 --input-kind affinities",
            "positive",
        ),
        refused("cosine of zeros", csv("0,0\n1,2\n2,1\n"), "d.csv -k 2 --metric cosine", "zeros"),
    ]
}

/// Odd data for which there is an answer.
#[allow(clippy::too_many_lines, reason = "a table")]
fn odd() -> Vec<Case> {
    let repeat = |row: &str, times: usize| format!("{row}\n").repeat(times);
    vec![
        works("one row", csv("1,2\n"), "d.csv -k 1", 1),
        works("one number", csv("1\n"), "d.csv -k 1", 1),
        works("one column", csv("1\n2\n9\n10\n"), "d.csv -k 2", 4),
        works("two rows, two clusters", csv("1,2\n3,4\n"), "d.csv -k 2", 2),
        works("two rows, one cluster", csv("1,2\n3,4\n"), "d.csv -k 1", 2),
        works("k = 1", good(), "d.csv -k 1", 12),
        works("k = n", good(), "d.csv -k 12", 12),
        works("k = n - 1", good(), "d.csv -k 11", 12),
        works("three points", csv(line(3)), "d.csv -k 2", 3),
        works("eight points", csv(line(8)), "d.csv -k 3", 8),
        works("constant column", csv(groups(40).replace(',', ",7,")), "d.csv -k 2", 40),
        works("all columns constant", csv(repeat("7,7", 15)), "d.csv -k 2", 15),
        works("all points equal, one cluster", csv(repeat("7,7", 15)), "d.csv -k 1", 15),
        works("two distinct points", csv(repeat("1,1", 10) + &repeat("5,5", 10)), "d.csv -k 2", 20),
        works(
            "three clusters of two distinct points",
            csv(repeat("1,1", 10) + &repeat("5,5", 10)),
            "d.csv -k 3",
            20,
        ),
        works("nine copies of one point", csv(line(20) + &repeat("3,4", 9)), "d.csv -k 3", 29),
        works("values of 1e308", csv("1e308,0\n-1e308,0\n1e308,1\n-1e308,1\n0,0\n0,1\n"), "d.csv -k 2", 6),
        works("values of 1e-308", csv("1e-308,0\n2e-308,0\n8e-308,1e-308\n9e-308,0\n"), "d.csv -k 2", 4),
        works(
            "far points whose affinity is 0",
            csv((0..30)
                .map(|i| format!("{}\n", 10_f64.powi(i % 3 * 100) + f64::from(i)))
                .collect::<String>()),
            "d.csv -k 3",
            30,
        ),
        works("CRLF without a last newline", csv("a,b\r\n1,2\r\n3,4\r\n9,9"), "d.csv -k 2", 3),
        works("byte order mark", csv("\u{feff}a,b\n1,2\n3,4\n9,9\n"), "d.csv -k 2", 3),
        works("runs of blanks", ("d.txt", b"1.0  2.0\t3\n4   5  6 \n9 9\t\t9\n".to_vec()), "d.txt -k 2", 3),
        works("more neighbors than points", good(), "d.csv -k 2 --neighbors 500", 12),
        works("one neighbor", good(), "d.csv -k 2 --neighbors 1", 12),
        works("tiny mu", good(), "d.csv -k 2 --mu 1e-9", 12),
        works("alpha = 0", csv(groups(40)), "d.csv -k 2 --alpha 0", 40),
        works("beta = 0", good(), "d.csv -k 2 --beta 0", 12),
        works("tol below 0", good(), "d.csv -k 2 --tol -1 --max-iter 20", 12),
        works("zero distances", csv("0,0,0\n0,0,0\n0,0,0\n"), "d.csv -k 2 --input-kind distances", 3),
        works("truth in the last column", good(), "d.csv -k 2 --truth -1", 12),
        works("phals of equal points", csv(repeat("7,7", 12)), "d.csv -k 2 --method phals", 12),
    ]
}
