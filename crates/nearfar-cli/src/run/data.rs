//! The data of a run: read, rescaled, and looked at for what commonly spoils a result.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nearfar::internals::load_part;
use nearfar::load::{
    Format, LoadOptions, LoadProblem, MemoryBudget, Table, TableValues, Truth, load, load_bytes,
};
use nearfar::model::Scaling;
use nearfar::processes::Share;
use nearfar::{Input, Samples, Spread, default_memory_limit};

use super::scale::{rescale, scaling};
use super::summary::Note;
use crate::exit::{Failure, Outcome};
use crate::flags::{InputArgs, InputKind, MetricName, Scale};
use crate::ranks;

/// Columns whose deviations differ by more than this drown each other.
const UNLIKE: f64 = 100.0;
/// More exact copies than this share are worth a word.
const MANY_COPIES: f64 = 0.1;
/// Most bytes read from standard input.
const MOST_STDIN: u64 = 8 << 30;

/// Titles of columns that hold classes more often than measurements.
const CLASS_TITLES: [&str; 7] = ["truth", "label", "labels", "class", "target", "cluster", "y"];

/// What was read.
pub(crate) struct Data {
    pub(crate) table: Table,
    /// As the user named it.
    pub(crate) name: String,
    /// What was done to the points.
    pub(crate) scaling: Scaling,
    scaled: Option<TableValues>,
    kind: InputKind,
    metric: MetricName,
    /// Whose rows are whose, where several processes have read a part each; the table then holds the own rows, but
    /// names and classes of all.
    share: Option<Share>,
    /// Columns that were not asked for by name but look like classes.
    classes: Vec<String>,
    /// Seconds spent reading and rescaling.
    pub(crate) seconds: f64,
}

impl Data {
    /// Read and rescale; `memory` is what the run may use, and what is too large for it comes in single precision
    /// unless `keep_double`.
    pub(crate) fn read(args: &InputArgs, memory: Option<u64>, keep_double: bool) -> Outcome<Self> {
        let clock = Instant::now();
        let kind = args.input_kind.unwrap_or_default();
        let scale = args.scale.unwrap_or_default();
        let metric = args.metric.unwrap_or(MetricName::Euclidean);
        if kind != InputKind::Samples && scale != Scale::None {
            return Err(Failure::wrong("--scale is for samples; leave it out with --input-kind"));
        }
        if kind != InputKind::Samples && metric != MetricName::Euclidean {
            return Err(Failure::wrong("--metric is for samples; leave it out with --input-kind"));
        }
        let Some(input) = &args.input else {
            return Err(Failure::wrong(
                "which file? Name it, as in `nearfar cluster data.csv -k 3`, or - for stdin",
            ));
        };
        let memory = Some(memory.unwrap_or_else(default_memory_limit));
        let options = LoadOptions { memory, keep_double, ..options(args)? };
        let budget = MemoryBudget::new(memory, keep_double);
        nearfar_pages::say_when_pages_are_lost();
        if let Some(team) = ranks::team() {
            if kind != InputKind::Samples || input == "-" {
                let what = if input == "-" { "standard input" } else { "pairs (--input-kind)" };
                return Err(Failure::wrong(format!(
                    "{what} cannot be shared by several processes; name a file of samples, or start without mpirun"
                )));
            }
            let part = load_part(Path::new(input), &options, team)?;
            let mut table = part.rows;
            (table.truth, table.ids) = (part.truth, part.ids);
            let scaling = scaling(&table.samples(), scale, Some(&part.share));
            let scaled = rescale(&table.samples(), &scaling, &budget)
                .map_err(|problem| Failure::wrong(problem.to_string()))?;
            let (name, share, seconds) = (input.clone(), Some(part.share), clock.elapsed().as_secs_f64());
            let classes = classes(&table, args);
            return Ok(Self { table, name, scaling, scaled, kind, metric, share, classes, seconds });
        }
        let (table, name) = if input == "-" {
            (from_stdin(&options)?, "stdin".to_owned())
        } else {
            let table = load(Path::new(input), &options).map_err(|error| {
                let tip = if matches!(error.problem, LoadProblem::NotFound) { neighbor(input) } else { None };
                let tip = tip.map_or_else(String::new, |name| format!("; did you mean {name:?}?"));
                Failure::wrong(format!("{error}{tip}"))
            })?;
            (table, input.clone())
        };
        let scaling = scaling(&table.samples(), scale, None);
        let scaled = rescale(&table.samples(), &scaling, &budget)
            .map_err(|problem| Failure::wrong(problem.to_string()))?;
        let seconds = clock.elapsed().as_secs_f64();
        let classes = classes(&table, args);
        Ok(Self { table, name, scaling, scaled, kind, metric, share: None, classes, seconds })
    }

    /// Points of all processes.
    pub(crate) fn n_samples(&self) -> usize {
        self.share.as_ref().map_or(self.table.n_samples, Share::n_rows)
    }

    fn samples(&self) -> Outcome<Samples<'_>> {
        let (n, m) = (self.table.n_samples, self.table.n_features);
        Ok(match &self.scaled {
            Some(TableValues::F64(values)) => Samples::from_rows(&**values, n, m)?.in_file(values.in_file()),
            Some(TableValues::F32(values)) => Samples::from_rows(&**values, n, m)?.in_file(values.in_file()),
            None => self.table.samples(),
        })
    }

    /// The samples, rescaled, row by row, with their sizes.
    pub(crate) fn rows(&self) -> Outcome<(Vec<f64>, [usize; 2])> {
        let samples = self.samples()?;
        let (n, m) = (samples.n_samples(), samples.n_features());
        let mut values = vec![0.0; n * m];
        for (i, row) in values.chunks_exact_mut(m.max(1)).enumerate() {
            samples.copy_row(i, row);
        }
        Ok((values, [n, m]))
    }

    /// As the library takes it.
    pub(crate) fn input(&self) -> Outcome<Input<'_>> {
        let samples = self.samples()?;
        Ok(match (self.kind, &self.share) {
            (InputKind::Samples, Some(share)) => Input::Part(samples, self.metric.value(), share),
            (InputKind::Samples, None) => Input::Samples(samples, self.metric.value()),
            (InputKind::Distances, _) => Input::Distances(samples),
            (InputKind::Affinities, _) => Input::Affinities(samples),
        })
    }

    /// Refuse a result of a file that changed while it was mapped.
    pub(crate) fn check_unchanged(&self) -> Outcome {
        if self.table.is_unchanged() {
            return Ok(());
        }
        Err(Failure::wrong(format!(
            "{}: the file changed during the run, and may have been seen half old and half new; run again, or allow more memory (--memory) so that it is read first",
            self.name
        )))
    }

    /// What commonly spoils a result; columns of unlike spreads do not where the run looks at several scalings.
    pub(crate) fn notes(&self, sees_scalings: bool) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.table.is_narrowed() {
            let text = "the data is larger than half of the memory and was narrowed to single precision; allow more memory (--memory) to keep it as it is, or write it as float32";
            notes.push(Note::new("narrowed_data", text.to_owned()));
        }
        notes.extend(self.used_classes());
        if let Some(share) = &self.share {
            // What takes a look at all rows at once is left out.
            if self.scaled.is_none() && !sees_scalings {
                notes.extend(self.unlike_columns(&self.table.samples().spreads_shared(share)));
            }
            return notes;
        }
        if self.kind != InputKind::Samples || self.table.n_samples < 3 {
            return notes;
        }
        if self.scaled.is_none() {
            let spreads = self.table.samples().spreads();
            if !sees_scalings {
                notes.extend(self.unlike_columns(&spreads));
            }
            notes.extend(self.row_numbers(&spreads));
        }
        notes.extend(self.copies());
        notes
    }

    fn column(&self, index: usize) -> String {
        match &self.table.column_names {
            Some(names) => format!("{:?}", names[index]),
            None => index.to_string(),
        }
    }

    /// A column of classes among the features gives the answer away, or spoils it.
    fn used_classes(&self) -> Option<Note> {
        let text = match &self.classes[..] {
            [] => return None,
            [name] => format!(
                "column {name:?} is used as a feature; if it holds known classes, set it aside with --truth {}, or name the features with --columns",
                shell_word(name)
            ),
            [first, ..] => {
                let names: Vec<String> = self.classes.iter().map(|name| format!("{name:?}")).collect();
                format!(
                    "columns {} are used as features; if one of them holds known classes, set it aside as with --truth {}, and name the features with --columns",
                    names.join(", "),
                    shell_word(first)
                )
            }
        };
        Some(Note::new("classes_used", text))
    }

    fn unlike_columns(&self, spreads: &[Spread]) -> Option<Note> {
        let varied = || spreads.iter().enumerate().filter(|(_, s)| s.deviation > 0.0);
        let order = |a: &(usize, &Spread), b: &(usize, &Spread)| a.1.deviation.total_cmp(&b.1.deviation);
        let (least, most) = (varied().min_by(order)?, varied().max_by(order)?);
        let ratio = most.1.deviation / least.1.deviation;
        (ratio > UNLIKE).then(|| {
            let (most, least) = (self.column(most.0), self.column(least.0));
            let text = format!(
                "column {most} varies {ratio:.0} times as much as column {least} and drowns it; try --scale standard"
            );
            Note::new("unlike_columns", text)
        })
    }

    /// A first column that counts the rows is almost never meant as data.
    fn row_numbers(&self, spreads: &[Spread]) -> Option<Note> {
        let (n, samples) = (self.table.n_samples, self.table.samples());
        let counts = spreads.len() > 1
            && n >= 10
            && (spreads[0].most - spreads[0].least) == (n - 1) as f64
            && (1..n).all(|i| samples.get(i, 0) - samples.get(i - 1, 0) == 1.0);
        counts.then(|| {
            let text = format!(
                "column {} counts the rows and is used as data; if it is a row number, say --id-column 0",
                self.column(0)
            );
            Note::new("row_numbers", text)
        })
    }

    fn copies(&self) -> Option<Note> {
        let (n, samples) = (self.table.n_samples, self.table.samples());
        let copies = samples.copies();
        (copies as f64 > MANY_COPIES * n as f64).then(|| {
            let text = format!(
                "{copies} of {n} rows are exact copies of others; drop them if a copy carries no weight of its own"
            );
            Note::new("copies", text)
        })
    }
}

/// Features whose titles say that they hold classes, but for those that were asked for.
fn classes(table: &Table, args: &InputArgs) -> Vec<String> {
    let names = table.column_names.as_deref().unwrap_or_default();
    let has = |title: &str| names.iter().any(|name| name.eq_ignore_ascii_case(title));
    let asked = |name: &String| args.columns.iter().flatten().any(|asked| asked == name);
    // Beside an x, or beside known classes, y is a coordinate.
    let coordinate = |title: &str| title == "y" && (has("x") || args.truth.is_some());
    let found = |name: &&String| {
        let title = name.trim().to_lowercase();
        CLASS_TITLES.contains(&&*title) && !coordinate(&title) && !asked(name)
    };
    // One feature alone is what there is to work on.
    if names.len() < 2 { Vec::new() } else { names.iter().filter(found).cloned().collect() }
}

/// A word as a shell takes it.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

pub(crate) fn options(args: &InputArgs) -> Outcome<LoadOptions> {
    let format = match &args.format {
        Some(name) => Some(name.parse::<Format>().map_err(|problem| Failure::wrong(problem.to_string()))?),
        None => None,
    };
    Ok(LoadOptions {
        format,
        array: args.array.clone(),
        truth: args.truth.as_deref().map(truth),
        id_column: args.id_column.clone(),
        columns: args.columns.clone(),
        header: (args.header || args.no_header).then_some(args.header),
        delimiter: args.delimiter.as_ref().map(|delimiter| delimiter.0),
        max_bytes: args.max_bytes.as_ref().map(|size| size.bytes),
        ..LoadOptions::default()
    })
}

/// A file when there is one of this name, or the name looks like one; else a column or array.
pub(crate) fn truth(text: &str) -> Truth {
    let path = Path::new(text);
    let looks = text.contains(std::path::MAIN_SEPARATOR) || Format::of(path).is_ok();
    if looks || path.is_file() { Truth::File(PathBuf::from(text)) } else { Truth::Column(text.to_owned()) }
}

fn from_stdin(options: &LoadOptions) -> Outcome<Table> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MOST_STDIN).read_to_end(&mut bytes);
    read.map_err(|error| Failure::wrong(format!("stdin cannot be read: {error}; name a file instead")))?;
    let format = options.format.unwrap_or_else(|| guess(&bytes));
    Ok(load_bytes(bytes, format, "stdin", options)?)
}

/// The format that the first bytes show; text when they show none.
fn guess(bytes: &[u8]) -> Format {
    let starts: [(&[u8], Format); 7] = [
        (b"\x93NUMPY", Format::Npy),
        (b"PK", Format::Npz),
        (b"MATLAB", Format::Mat),
        (b"PAR1", Format::Parquet),
        (b"ARROW1", Format::Arrow),
        // A stream of Arrow messages; and HDF5, of which the MATLAB reader says what to do.
        (b"\xff\xff\xff\xff", Format::Arrow),
        (b"\x89HDF", Format::Mat),
    ];
    starts.iter().find(|(start, _)| bytes.starts_with(start)).map_or(Format::Text, |(_, format)| *format)
}

/// A file in the same folder whose name differs little.
fn neighbor(input: &str) -> Option<String> {
    let path = Path::new(input);
    let wanted = path.file_name()?.to_str()?.to_lowercase();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = std::fs::read_dir(folder)
        .ok()?
        .take(10_000)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .filter(|name| {
            let other = name.to_lowercase();
            let sorted = |text: &str| {
                let mut letters: Vec<char> = text.chars().collect();
                letters.sort_unstable();
                letters
            };
            let stem =
                |text: &str| text.rsplit_once('.').map_or(text.to_owned(), |(stem, _)| stem.to_owned());
            sorted(&other) == sorted(&wanted) || stem(&other) == stem(&wanted)
        })
        .min()
}
