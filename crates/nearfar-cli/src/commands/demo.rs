//! `nearfar demo`: the method beside two old friends, on data whose classes are known.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use nearfar::generate::{Generated, Kind, MakeParams, make};
use nearfar::internals::KMeansParams;
use nearfar::labels::score::{Scores, score};
use nearfar::learn::MethodKind;
use nearfar::observe::Silent;
use nearfar::{Input, Model, Params, PreparedSlices, Samples};

use crate::commands::{figure, picture::Picture};
use crate::exit::{Failure, Outcome};
use crate::flags::DemoArgs;
use crate::output::{check_folder, write_file, write_stdout};
use crate::paint::{Paint, unicode};
use crate::run::summary::time;

/// One data set, clustered in three ways.
struct Trial {
    title: String,
    about: &'static str,
    rows: Vec<(&'static str, Scores, f64)>,
    model: Model,
    /// How many clusters there are for one who is not told.
    found: String,
    data: Generated,
    kmeans: Vec<usize>,
}

pub(crate) fn run(args: &DemoArgs) -> Outcome {
    if let Some(folder) = &args.figures {
        check_folder(folder)?;
    }
    let clock = Instant::now();
    let mut trials = vec![
        trial(
            Kind::Chart,
            "time series of six kinds: flat, cyclic, rising, falling, step up, step down",
            args.seed,
        )?,
        trial(Kind::Moons, "two half moons that reach into each other", args.seed)?,
    ];
    if let Ok(customers) = "customers".parse() {
        let about = "a table of customers in five groups: amounts, and a category in 0/1 columns";
        trials.push(trial(customers, about, args.seed)?);
    }
    let total = clock.elapsed().as_secs_f64();
    if let Some(folder) = &args.figures {
        draw(folder, &trials[0], &trials[1])?;
    }
    let paint = Paint::for_stdout(args.no_color);
    let text = report(&trials, total, paint, unicode() && !args.ascii);
    write_stdout(|out| out.write_all(text.as_bytes()))
}

fn trial(kind: Kind, about: &'static str, seed: u64) -> Outcome<Trial> {
    let made = make(kind, &MakeParams { seed, ..MakeParams::default() })?;
    let Generated { data, n_samples: n, n_features: m, truth, .. } = &made;
    let n_clusters = truth.iter().max().map_or(1, |class| class + 1);
    let samples = Samples::from_rows(data, *n, *m)?;
    let (model, fitting) = timed(|| nearfar::fit(samples, &Params::new(n_clusters).seed(seed)));
    let spectral = Params::of(n_clusters, MethodKind::Spectral).seed(seed);
    let (spectral, spectral_time) = timed(|| nearfar::fit(samples, &spectral));
    let found = found(&nearfar::fit(samples, &Params::auto().seed(seed))?);
    let (kmeans, kmeans_time) = timed(|| KMeansParams::new(n_clusters).fit(data, *n, *m, seed));
    let (model, kmeans) = (model?, kmeans?.labels);
    let rows = vec![
        ("nearfar", score(&model.labels, truth)?, fitting),
        ("spectral, self-tuned", score(&spectral?.labels, truth)?, spectral_time),
        ("k-means", score(&kmeans, truth)?, kmeans_time),
    ];
    let title = format!("{}: {n} points, {m} features, {n_clusters} classes", kind.name());
    Ok(Trial { title, about, rows, model, found, kmeans, data: made })
}

/// What a run found that was not told the number of clusters.
fn found(model: &Model) -> String {
    let count = model.account.as_ref().and_then(|account| account.count.as_ref());
    let by_mixture = count.is_some_and(|count| count.by_mixture);
    let how = if by_mixture { "as parts of a mixture that fits" } else { "by neighbour graphs" };
    format!("{} clusters {how}", model.params.n_clusters)
}

/// Share of the neighbours at every rank that are of the same class.
fn correct(made: &Generated) -> Outcome<Vec<f64>> {
    let input = Input::from(Samples::from_rows(&made.data, made.n_samples, made.n_features)?);
    let prepared = PreparedSlices::new(&input, &Params::lsdg(1), &Silent)?;
    Ok(prepared.correct_rate(&made.truth)?)
}

/// The two figures of the README.
fn draw(folder: &Path, chart: &Trial, moons: &Trial) -> Outcome {
    let title = "Learnt trust in neighbour ranks, control charts";
    let weights =
        figure::weights(title, &chart.model.near_weights, &chart.model.far_weights, &correct(&chart.data)?);
    let panels: [(&str, &[usize]); 2] = [("nearfar", &moons.model.labels), ("k-means", &moons.kmeans)];
    let scatter = figure::scatter("Two moons: what each method found", &moons.data.data, &panels);
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::output(&folder.display().to_string(), &error))?;
    for (name, svg) in [("weights.svg", weights), ("moons.svg", scatter)] {
        write_file(&folder.join(name), |out| out.write_all(svg.as_bytes()))?;
    }
    Ok(())
}

fn timed<R>(work: impl FnOnce() -> R) -> (R, f64) {
    let clock = Instant::now();
    (work(), clock.elapsed().as_secs_f64())
}

fn report(trials: &[Trial], total: f64, paint: Paint, unicode: bool) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for trial in trials {
        let _ = writeln!(text, "{}", paint.strong(&trial.title));
        let _ = writeln!(text, "{}\n", paint.dim(trial.about));
        let _ = writeln!(text, "  {:<22}{:>8}{:>8}{:>8}{:>12}", "", "ACC", "NMI", "ARI", "time");
        let columns: [fn(&Scores) -> f64; 3] = [|s| s.accuracy, |s| s.nmi, |s| s.ari];
        for (name, scores, seconds) in &trial.rows {
            let _ = write!(text, "  {name:<22}");
            for column in columns {
                let cell = format!("{:>8.3}", column(scores));
                let best = trial.rows.iter().all(|row| column(&row.1) <= column(scores));
                text += &if best { paint.near(cell) } else { cell };
            }
            let _ = writeln!(text, "{:>12}", time(*seconds));
        }
        let _ = writeln!(text, "  {}", paint.dim(format!("without a number nearfar finds {}", trial.found)));
        text.push('\n');
    }
    let model = &trials[0].model;
    let (near, far) = model.active_ranks();
    let _ = writeln!(text, "{}", paint.strong("What was learnt on chart: which neighbours to trust"));
    let about = match far {
        0 => format!("w: how much each of the {near} nearest ranks counts; all others count nothing"),
        _ => format!("{near} ranks count as near (w, up), {far} as far (p, down); the rest says nothing"),
    };
    let _ = writeln!(text, "{}\n", paint.dim(about));
    text += &Picture { near: &model.near_weights, far: &model.far_weights, unicode, paint }.draw();
    let _ = write!(
        text,
        "\nAll of it took {}; no setting was tuned and no class was shown. Next:\n\n  \
         nearfar make chart -o chart.csv\n  \
         nearfar cluster chart.csv -k 6 --truth truth -o labels.csv\n  \
         nearfar cluster your-own.csv --report page.html\n",
        time(total)
    );
    text
}
