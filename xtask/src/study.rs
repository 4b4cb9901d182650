//! What the default settings should be: one setting for all eight datasets, no labels used to choose per dataset.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use nearfar::learn::lsdg::Alpha;
use nearfar::observe::Silent;
use nearfar::params::{Pruning, Starts};
use nearfar::{Input, Params, Prepared};

use crate::data::{Dataset, EIGHT, mean_std};

/// A change of the default settings, by name.
type Variant = (&'static str, fn(Params) -> Params);

const VARIANTS: [Variant; 14] = [
    ("default", |p| p),
    ("better three quarters kept", |p| Params { pruning: Pruning::Quarter, ..p }),
    ("all members kept", |p| Params { pruning: Pruning::None, ..p }),
    ("random starts only", |p| Params { start: Starts::Random, ..p }),
    ("spectral starts only", |p| Params { start: Starts::Spectral, ..p }),
    ("one k* for all", |p| Params { spread_neighbors: false, ..p }),
    ("neighbors 8", |p| p.neighbors(8)),
    ("neighbors 18", |p| p.neighbors(18)),
    ("alpha 0.1", |p| with_alpha(p, 0.1)),
    ("alpha 1", |p| with_alpha(p, 1.0)),
    ("plain PHALS start", |p| Params { orthogonal_start: false, ..p }),
    ("18 members", |p| p.starts(18)),
    ("24 members", |p| p.starts(24)),
    ("one start", |p| p.starts(1)),
];

fn with_alpha(mut params: Params, alpha: f64) -> Params {
    params.lsdg.alpha = Alpha::Relative(alpha);
    params
}

/// Print a Markdown table of ACC / NMI for every variant whose name contains `only`.
pub(crate) fn run(folder: &Path, repeats: u64, only: &str) -> Result<()> {
    let datasets: Vec<Dataset> =
        EIGHT.iter().map(|(name, ..)| Dataset::open(folder, name)).collect::<Result<_>>()?;
    let prepared: Vec<Prepared> = datasets
        .iter()
        .map(|d| Ok(Prepared::new(&Input::from(d.samples()), &Params::new(d.classes), &Silent)?))
        .collect::<Result<_>>()?;
    println!("| setting | {} | mean | seconds |", EIGHT.map(|(name, ..)| name).join(" | "));
    println!("|---|{}---|---|", "---|".repeat(EIGHT.len()));
    for (name, change) in VARIANTS.iter().filter(|(name, _)| name.contains(only)) {
        let clock = Instant::now();
        row(
            name,
            &datasets,
            |at, seed| {
                let params = change(Params::new(datasets[at].classes)).seed(seed);
                Ok(prepared[at].fit(&params, &Silent)?.labels)
            },
            repeats,
        )?;
        println!(" {:.1} |", clock.elapsed().as_secs_f64());
    }
    if only.is_empty() || "spectral".contains(only) {
        row(
            "self-tuned spectral",
            &datasets,
            |at, seed| {
                let params = Params::new(datasets[at].classes).seed(seed);
                Ok(prepared[at].spectral(&params, None, &Silent)?)
            },
            repeats,
        )?;
        println!(" |");
    }
    Ok(())
}

/// One row of the table, without its last cell.
fn row(
    name: &str,
    datasets: &[Dataset],
    labels: impl Fn(usize, u64) -> Result<Vec<usize>>,
    repeats: u64,
) -> Result<()> {
    let (mut accs, mut nmis) = (Vec::new(), Vec::new());
    print!("| {name} |");
    for (at, data) in datasets.iter().enumerate() {
        let (mut acc, mut nmi) = (Vec::new(), Vec::new());
        for seed in 0..repeats {
            let scores = nearfar::labels::score::score(&labels(at, seed)?, &data.truth)?;
            acc.push(scores.accuracy);
            nmi.push(scores.nmi);
        }
        let (acc, nmi) = (mean_std(&acc).0, mean_std(&nmi).0);
        print!(" {acc:.3} / {nmi:.3} |");
        accs.push(acc);
        nmis.push(nmi);
    }
    print!(" **{:.3} / {:.3}** |", mean_std(&accs).0, mean_std(&nmis).0);
    std::io::stdout().flush()?;
    Ok(())
}
