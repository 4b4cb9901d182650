//! What a study is handed by the program: settings, data, progress, Ctrl-C.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use nearfar::Params;
use nearfar::load::{LoadOptions, load_labels_with};
use nearfar_cli::interrupt;
use nearfar_cli::keys::{self, Points};
use nearfar_cli::paint::say;
use nearfar_repro::runner::Progress;
use nearfar_repro::{Dataset, DatasetSpec, Host};
use toml::Table;

/// Between two lines of progress where there is no terminal.
const QUIET_SPELL: Duration = Duration::from_secs(30);

/// The program's part of a study: flags, files, progress, Ctrl-C.
pub(crate) struct Program {
    bar: Option<ProgressBar>,
    said: Mutex<Option<Instant>>,
    quiet: bool,
}

impl Program {
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} runs, {msg}");
            ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { bar, said: Mutex::default(), quiet }
    }

    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Host for Program {
    fn params(&self, method: &str, table: &Table, clusters: usize) -> Result<Params, String> {
        keys::params(method, table, clusters).map_err(|failure| failure.message)
    }

    fn dataset(&self, spec: &DatasetSpec) -> Result<Dataset, String> {
        let name = format!("dataset {:?}", spec.name);
        let Points { values, n_samples, n_features, truth, cosine } =
            keys::points(&name, &spec.file, &spec.read).map_err(|failure| failure.message)?;
        let truth = truth.ok_or_else(|| {
            format!("{name} needs its classes: say truth = \"…\", a column, an array or a file")
        })?;
        Ok(Dataset { values, n_samples, n_features, truth, cosine })
    }

    fn labels(&self, file: &str) -> Result<Vec<usize>, String> {
        let labels =
            load_labels_with(Path::new(file), &LoadOptions::default()).map_err(|error| error.to_string())?;
        Ok(labels.codes)
    }

    fn progress(&self, progress: &Progress<'_>) {
        let Progress { dataset, done, total, left } = progress;
        let left = left.map_or_else(
            || "time left not known yet".to_owned(),
            |left| format!("about {} left", clock(left)),
        );
        if let Some(bar) = &self.bar {
            bar.set_length(*total as u64);
            bar.set_position(*done as u64);
            bar.set_message(format!("{dataset}, {left}"));
        } else if !self.quiet {
            let mut said = self.said.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if said.is_none_or(|at| at.elapsed() >= QUIET_SPELL) {
                *said = Some(Instant::now());
                say(format_args!("{done}/{total} runs, {dataset}, {left}"));
            }
        }
    }

    fn stop(&self) -> bool {
        interrupt::asked()
    }
}

fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}
