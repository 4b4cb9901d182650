//! Bad and degenerate input: every case ends in a correct result or in a typed error that names the place.

mod cancel;
mod pairs;
mod samples;
mod settings;

use std::panic::{AssertUnwindSafe, catch_unwind};

use nearfar::labels::score::adjusted_rand;
use nearfar::learn::MethodKind;
use nearfar::{DataError, Error, Model, Params, Precision, Preset, Result, Samples, Warning, fit};
use nearfar_testkit::{bad, hard};

/// The knobs of binned mode, as an error names them.
const NAMED: [&[&str]; 3] = [&["near"], &["far"], &["bins"]];

/// What a case must end in.
enum Expect {
    /// A sound model; with this grouping where one is given.
    Works(Option<Vec<usize>>),
    /// A sound model that carries a warning of this kind.
    Warns(fn(&Warning) -> bool),
    /// This error, and these words in its message.
    Refused(fn(&Error) -> bool, &'static [&'static str]),
}

/// All cases of a table; every failure is listed by name, panics too.
#[derive(Default)]
struct Table {
    cases: usize,
    failures: Vec<String>,
}

impl Table {
    fn case(&mut self, name: &str, expect: &Expect, run: impl FnOnce() -> Result<Model>) {
        self.cases += 1;
        let verdict = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(outcome) => judge(expect, outcome),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                Err(format!("panicked: {}", text.unwrap_or_default()))
            }
        };
        if let Err(why) = verdict {
            self.failures.push(format!("{name}: {why}"));
        }
    }

    /// The same data and settings in both precisions and with all presets.
    fn sound(&mut self, name: &str, case: &hard::Case) {
        for preset in [Preset::Default, Preset::Paper, Preset::Demo] {
            for precision in [Precision::Double, Precision::Single] {
                // The presets of the paper are one random start: only the default promises the right answer.
                let truth = case.truth.clone().filter(|_| preset == Preset::Default);
                self.case(&format!("{name}, {preset:?}, {precision:?}"), &Expect::Works(truth), || {
                    let samples = Samples::from_rows(&case.data, case.n_samples, case.n_features)?;
                    let params = |preset| Params::preset(case.n_clusters, preset).precision(precision);
                    match fit(samples, &params(preset)) {
                        // The paper's numbers may leave nothing to factorise; then the message says what to try.
                        Err(Error::Collapsed { cause, .. })
                            if preset != Preset::Default && cause.contains("try a smaller beta") =>
                        {
                            fit(samples, &params(Preset::Default))
                        }
                        outcome => outcome,
                    }
                });
            }
        }
    }

    fn finish(self, least: usize) {
        assert!(self.cases >= least, "only {} cases", self.cases);
        assert!(
            self.failures.is_empty(),
            "{} of {} cases:\n  {}",
            self.failures.len(),
            self.cases,
            self.failures.join("\n  ")
        );
    }
}

fn judge(expect: &Expect, outcome: Result<Model>) -> Result<(), String> {
    match (expect, outcome) {
        (Expect::Works(truth), Ok(model)) => {
            check_sound(&model)?;
            let Some(truth) = truth else { return Ok(()) };
            let ari = adjusted_rand(&model.labels, truth).map_err(|e| e.to_string())?;
            if ari == 1.0 { Ok(()) } else { Err(format!("ARI {ari}, labels {:?}", model.labels)) }
        }
        (Expect::Warns(wanted), Ok(model)) => {
            check_sound(&model)?;
            if model.warnings.iter().any(wanted) {
                return Ok(());
            }
            Err(format!("no such warning among {:?}", model.warnings))
        }
        (Expect::Refused(wanted, words), Err(error)) => {
            let text = error.to_string();
            if !wanted(&error) {
                return Err(format!("another error: {error:?}"));
            }
            match words.iter().find(|word| !text.contains(**word)) {
                Some(word) => Err(format!("the message does not say {word:?}: {text}")),
                None => Ok(()),
            }
        }
        (Expect::Refused(..), Ok(model)) => Err(format!("was not refused: {:?}", model.labels)),
        (_, Err(error)) => Err(format!("refused: {error}")),
    }
}

/// What holds for every model, whatever the data.
fn check_sound(model: &Model) -> Result<(), String> {
    let (n, r) = (model.labels.len(), model.params.n_clusters);
    let must = |holds: bool, what: &str| if holds { Ok(()) } else { Err(format!("{what} ({model:?})")) };
    must(n > 0, "no labels")?;
    must(model.labels.iter().all(|l| *l < r), "a label that is not below r")?;
    let mut next = 0;
    for label in &model.labels {
        must(*label <= next, "labels are not numbered by first appearance")?;
        next = next.max(label + 1);
    }
    must(model.membership.len() == n * r, "membership has another shape")?;
    for row in model.membership.chunks_exact(r) {
        must(row.iter().all(|x| *x >= 0.0 && x.is_finite()), "a membership is not in [0, 1]")?;
        must((row.iter().sum::<f64>() - 1.0).abs() < 1e-9, "a row of memberships does not sum to 1")?;
    }
    let method = model.params.method.kind();
    for weights in [&model.near_weights, &model.far_weights] {
        // The default has far weights where it knows far pairs, and near ones where it looked at neighbours.
        if method == MethodKind::NearFar && weights.is_empty() {
            continue;
        }
        if !matches!(method, MethodKind::Lsdg | MethodKind::NearFar) {
            must(weights.is_empty(), "weights of a method without ranks")?;
            continue;
        }
        must(weights.len() == n, "weights have another length")?;
        must(weights.iter().all(|w| *w >= 0.0), "a weight is negative or NaN")?;
        must((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9, "weights do not sum to 1")?;
    }
    must(
        model.eigenvalues.iter().chain(&model.embedding).all(|x| x.is_finite()),
        "a spectrum that is not finite",
    )?;
    must(model.agreement.is_finite(), "agreement is not finite")?;
    for member in &model.members {
        let signed = method == MethodKind::RbsMf; // its V is orthonormal
        let good = |v: &f64| v.is_finite() && (signed || *v >= 0.0);
        must(member.factor.values().iter().all(good), "V is not 0 or more")?;
        must(member.objective.total().is_finite(), "the objective is not finite")?;
    }
    must(model.augmented().iter().flatten().all(|z| *z >= 0.0 && *z <= 1.0 + 1e-6), "Z is not in [0, 1]")?;
    for sparse in [model.similarity(), model.dissimilarity()] {
        must(sparse.starts.len() == n + 1, "S or D has another shape")?;
        must(sparse.values.iter().all(|x| *x > 0.0 && x.is_finite()), "S or D is not positive")?;
    }
    must(model.sizes().iter().sum::<usize>() == n, "sizes do not add up")
}

fn is_param(error: &Error) -> bool {
    matches!(error, Error::Param(_))
}
fn is_not_finite(error: &Error) -> bool {
    matches!(error, Error::Data(DataError::NotFinite { .. }))
}
fn is_precomputed(error: &Error) -> bool {
    matches!(error, Error::Data(DataError::Precomputed { .. }))
}
fn is_shape(error: &Error) -> bool {
    matches!(error, Error::Data(DataError::Shape { .. }))
}
fn is_empty(error: &Error) -> bool {
    matches!(error, Error::Data(DataError::Empty { .. }))
}
fn is_too_few(error: &Error) -> bool {
    matches!(error, Error::Data(DataError::TooFewSamples { .. }))
}
fn is_memory(error: &Error) -> bool {
    matches!(error, Error::Memory { .. })
}

/// The table that the program's tests go through too.
#[test]
fn files_and_settings_shared_with_the_program() {
    let mut table = Table::default();
    let root = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad_input");
    let cases = bad::cases();
    for case in &cases {
        let folder = root.join(case.name.replace([' ', ','], "_"));
        std::fs::create_dir_all(&folder).unwrap();
        case.write(&folder).unwrap();
        table.cases += 1;
        let verdict = match (&case.expect, catch_unwind(AssertUnwindSafe(|| case.fit(&folder)))) {
            (_, Err(_)) => Err("panicked".to_owned()),
            (bad::Expect::Labels(labels), Ok(Ok(model))) if model.labels.len() == *labels => {
                check_sound(&model)
            }
            (bad::Expect::Memory(says), Ok(Err(error))) if is_memory(&error) => holds(&error, says),
            (bad::Expect::Refused(says), Ok(Err(error))) if !is_memory(&error) => holds(&error, says),
            (_, Ok(outcome)) => Err(format!("ended in {:?}", outcome.map(|model| model.labels.clone()))),
        };
        if let Err(why) = verdict {
            table.failures.push(format!("{}: {why}", case.name));
        }
    }
    table.finish(60);
    let distinct: std::collections::HashSet<&str> = cases.iter().map(|case| case.name).collect();
    assert_eq!(distinct.len(), cases.len());
}

/// The cases are those of the program, which writes settings as flags.
fn holds(error: &Error, says: &str) -> Result<(), String> {
    let flag = |name: &str| format!("--{}", name.replace('_', "-"));
    let text = nearfar::internals::spell_settings(&error.to_string(), flag);
    if text.contains(says) { Ok(()) } else { Err(format!("the message does not say {says:?}: {text}")) }
}

/// Two groups of `half` points on a line.
fn two_groups(half: usize) -> (Vec<f64>, Vec<usize>) {
    (0..2 * half).map(|i| ((i % 2) as f64 * 100.0 + (i / 2) as f64, i % 2)).unzip()
}
