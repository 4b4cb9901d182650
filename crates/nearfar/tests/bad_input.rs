//! Bad and degenerate input: every case ends in a correct result or in a typed error that names the place.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use nearfar::labels::score::adjusted_rand;
use nearfar::learn::{Alpha, Density, LsdgParams, MethodKind};
use nearfar::observe::{Event, Observer, Silent, Stage};
use nearfar::{
    BinnedParams, DataError, Error, Input, Metric, Mode, Model, NeighborLists, Params, Precision,
    PreparedSlices, Preset, Result, Run, Samples, Warning, fit,
};
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

#[test]
fn few_samples_work() {
    let mut table = Table::default();
    for n in 1..=9 {
        let line: Vec<f64> = (0..n).map(|i| (i * i) as f64).collect();
        for r in [1, 2, n].into_iter().filter(|r| *r <= n) {
            let truth = if r == 1 {
                Some(vec![0; n])
            } else if r == n {
                Some((0..n).collect())
            } else {
                None
            };
            let case = hard::Case {
                name: "",
                data: line.clone(),
                n_samples: n,
                n_features: 1,
                n_clusters: r,
                truth,
            };
            table.sound(&format!("{n} points on a line, r = {r}"), &case);
        }
        for r in 1..=n {
            for method in MethodKind::ALL {
                table.case(&format!("{n} points, r = {r}, {method:?}"), &Expect::Works(None), || {
                    let mut params = Params::of(r, method);
                    params.set_if_used("starts", 3_usize)?;
                    fit(Samples::from_rows(&line, n, 1)?, &params)
                });
            }
        }
    }
    for half in 1..=6 {
        let (data, truth) = two_groups(half);
        let n = 2 * half;
        table.case(&format!("two groups of {half}"), &Expect::Works(Some(truth)), || {
            fit(Samples::from_rows(&data, n, 1)?, &Params::lsdg(2))
        });
    }
    table.case("fewer than eight warns", &Expect::Warns(|w| matches!(w, Warning::FewSamples { .. })), || {
        fit(Samples::from_rows(&[0.0, 1.0, 10.0, 11.0], 4, 1)?, &Params::lsdg(2))
    });
    table.finish(100);
}

#[test]
fn hard_data_works() {
    let mut table = Table::default();
    for case in hard::cases() {
        table.sound(case.name, &case);
    }
    for r in [1, 2, 5] {
        for (n, m) in [(3_usize, 1), (8, 2), (20, 3), (150, 1)] {
            if r < n {
                let case = hard::Case {
                    name: "",
                    data: vec![7.25; n * m],
                    n_samples: n,
                    n_features: m,
                    n_clusters: r,
                    truth: (r == 1).then(|| vec![0; n]),
                };
                table.sound(&format!("{n} equal points, r = {r}"), &case);
            }
        }
    }
    table.case("equal points warn", &Expect::Warns(|w| *w == Warning::AllEqual), || {
        fit(Samples::from_rows(&[1.0; 30], 30, 1)?, &Params::lsdg(2))
    });
    for (points, copies, r) in [
        (vec![0.0, 1.0], 2, 2),
        (vec![0.0, 1.0], 7, 2),
        (vec![0.0, 1.0], 8, 2),
        (vec![0.0, 1.0], 40, 2),
        (vec![0.0, 1.0, 5.0], 12, 3),
        (vec![-1e300, 1e300], 9, 2),
    ] {
        let (data, truth) = hard::repeated(&points, copies);
        let n = data.len();
        let case =
            hard::Case { name: "", data, n_samples: n, n_features: 1, n_clusters: r, truth: Some(truth) };
        table.sound(&format!("{copies} copies of each of {points:?}"), &case);
    }
    let (data, _) = hard::repeated(&[0.0, 1.0], 10);
    table.case("more clusters than distinct points", &Expect::Works(None), || {
        fit(Samples::from_rows(&data, 20, 1)?, &Params::lsdg(5))
    });
    table.case(
        "duplicates warn",
        &Expect::Warns(|w| matches!(w, Warning::Duplicates { points: 20, first: 0 })),
        || fit(Samples::from_rows(&data, 20, 1)?, &Params::lsdg(2)),
    );
    for scale in [1e308, 1e-308, 5e-324_f64 * 100.0, 1e150, 1e-150] {
        let (unit, truth) = hard::blobs_on_a_line(&[15, 15], 2, 0.02, 0.8, 3);
        let data: Vec<f64> = unit.iter().map(|x| x * scale).collect();
        // So close to the least number there are digits for the blobs only, not inside them.
        let case =
            hard::Case { name: "", data, n_samples: 30, n_features: 2, n_clusters: 2, truth: Some(truth) };
        table.sound(&format!("values around {scale:e}"), &case);
    }
    for m in [2, 40] {
        let data: Vec<f64> =
            (0..20 * m).map(|at| if at / m % 2 == 0 { f64::MAX } else { f64::MIN }).collect();
        let truth = Some((0..20).map(|i| i % 2).collect());
        let case = hard::Case { name: "", data, n_samples: 20, n_features: m, n_clusters: 2, truth };
        table.sound(&format!("largest and least number, {m} features"), &case);
    }
    // Distances whose squares vanish beside the others.
    let data: Vec<f64> = (0..40).map(|i| (i % 2) as f64 + f64::from(i / 2) * 1e-170).collect();
    let truth = Some((0..40).map(|i| i % 2).collect());
    let case = hard::Case { name: "", data, n_samples: 40, n_features: 1, n_clusters: 2, truth };
    table.sound("blobs of width 1e-168 at distance 1", &case);
    for tiny in [1e-155, 1e-160, 1e-161] {
        let data: Vec<f64> = (0..40).flat_map(|i| [f64::from(i % 2), tiny * f64::from(i / 2)]).collect();
        let truth = Some((0..40).map(|i| i as usize % 2).collect());
        let case = hard::Case { name: "", data, n_samples: 40, n_features: 2, n_clusters: 2, truth };
        table.sound(&format!("blobs of width {tiny:e} at distance 1"), &case);
    }
    table.finish(60);
}

#[test]
fn an_evenly_spaced_line_does_not_collapse() {
    // Far weights on every rank beyond the fifth, ten times as strong as the near ones: T is negative all over.
    let line: Vec<f64> = (0..30).map(f64::from).collect();
    let model = fit(Samples::from_rows(&line, 30, 1).unwrap(), &Params::lsdg(2)).unwrap();
    check_sound(&model).unwrap();
    let ten: Vec<f64> = (0..20).flat_map(|i| [f64::from(i % 2 * 100 + i), f64::from(i * i % 7)]).collect();
    for precision in [Precision::Double, Precision::Single] {
        let params = Params::lsdg(2).precision(precision);
        let model = fit(Samples::from_rows(&ten, 20, 2).unwrap(), &params).unwrap();
        check_sound(&model).unwrap();
        let truth: Vec<usize> = (0..20).map(|i| i % 2).collect();
        assert_eq!(adjusted_rand(&model.labels, &truth).unwrap(), 1.0, "{:?}", model.labels);
        let even: Vec<f64> = (0..20).flat_map(|i| [f64::from(i), 7.0]).collect();
        check_sound(&fit(Samples::from_rows(&even, 20, 2).unwrap(), &params).unwrap()).unwrap();
        let (twelve, _) = two_groups(6);
        let plain = LsdgParams { alpha: Alpha::Absolute(0.0), ..params.lsdg };
        let params = Params { lsdg: plain, ..params };
        check_sound(&fit(Samples::from_rows(&twelve, 12, 1).unwrap(), &params).unwrap()).unwrap();
    }
    let (points, truth) = two_groups(15);
    let model = fit(Samples::from_rows(&points, 30, 1).unwrap(), &Params::lsdg(2)).unwrap();
    check_sound(&model).unwrap();
    assert_eq!(adjusted_rand(&model.labels, &truth).unwrap(), 1.0);
    let weaker = |w: &&Warning| matches!(w, Warning::WeakerBeta { asked: 10.0, .. });
    if let Some(warning) = model.warnings.iter().find(weaker) {
        assert!(warning.to_string().contains("beta = 10") && model.params.lsdg.beta < 10.0);
    }
}

#[test]
fn cosine_judges_directions() {
    let mut table = Table::default();
    let data: Vec<f64> = (0..24)
        .flat_map(|i| {
            let (angle, length) = (f64::from(i % 2) * 1.5 + f64::from(i) * 0.002, 10_f64.powi(i - 12));
            [length * angle.cos(), length * angle.sin()]
        })
        .collect();
    let truth = (0..24).map(|i| i % 2).collect();
    table.case("lengths do not matter", &Expect::Works(Some(truth)), || {
        fit(Input::Samples(Samples::from_rows(&data, 24, 2)?, Metric::Cosine), &Params::lsdg(2))
    });
    let mut zero = data.clone();
    zero[6..8].fill(0.0);
    let refused = Expect::Refused(|e| matches!(e, Error::Data(DataError::ZeroRow { row: 3 })), &["row 3"]);
    table.case("a zero vector", &refused, || {
        fit(Input::Samples(Samples::from_rows(&zero, 24, 2)?, Metric::Cosine), &Params::lsdg(2))
    });
    for scale in [1e-320, 1e307] {
        let scaled: Vec<f64> = (0..24)
            .flat_map(|i| if i % 2 == 0 { [scale, scale * 0.5] } else { [-scale, scale * 0.25] })
            .collect();
        let truth = (0..24).map(|i| i % 2).collect();
        table.case(&format!("cosine at {scale:e}"), &Expect::Works(Some(truth)), || {
            fit(Input::Samples(Samples::from_rows(&scaled, 24, 2)?, Metric::Cosine), &Params::lsdg(2))
        });
    }
    table.finish(4);
}

#[test]
fn wrong_sizes_are_refused() {
    let mut table = Table::default();
    let none: [f64; 0] = [];
    let ten: Vec<f64> = (0..10).map(f64::from).collect();
    table.case("no samples", &Expect::Refused(is_empty, &["0 samples"]), || {
        fit(Samples::from_rows(&none, 0, 3)?, &Params::lsdg(2))
    });
    table.case("no features", &Expect::Refused(is_empty, &["0 features"]), || {
        fit(Samples::from_rows(&none, 5, 0)?, &Params::lsdg(2))
    });
    table.case("no samples, no features", &Expect::Refused(is_empty, &["empty"]), || {
        fit(Samples::from_rows(&none, 0, 0)?, &Params::lsdg(1))
    });
    table.case(
        "fewer samples than clusters",
        &Expect::Refused(is_too_few, &["11 clusters", "10 samples"]),
        || fit(Samples::from_rows(&ten, 10, 1)?, &Params::lsdg(11)),
    );
    table.case("clusters beyond counting", &Expect::Refused(is_too_few, &["10 samples"]), || {
        fit(Samples::from_rows(&ten, 10, 1)?, &Params::lsdg(usize::MAX))
    });
    table.case("no clusters", &Expect::Refused(is_param, &["n_clusters = 0"]), || {
        fit(Samples::from_rows(&ten, 10, 1)?, &Params::lsdg(0))
    });
    for (rows, columns) in [(3, 3), (usize::MAX, 2), (11, 1)] {
        table.case(
            &format!("{rows} x {columns} in ten values"),
            &Expect::Refused(is_shape, &["10 values"]),
            || fit(Samples::from_rows(&ten, rows, columns)?, &Params::lsdg(2)),
        );
    }
    table.case("strides past the end", &Expect::Refused(is_shape, &["10 values"]), || {
        fit(Samples::strided(&ten, (4, 2), (3, 2))?, &Params::lsdg(2))
    });
    table.case("strides beyond counting", &Expect::Refused(is_shape, &["10 values"]), || {
        fit(Samples::strided(&ten, (usize::MAX, 2), (usize::MAX, 1))?, &Params::lsdg(2))
    });
    // One value seen as many samples: nothing of that size may be allocated.
    for n in [65_537, 1 << 33, usize::MAX] {
        let params = Params { memory: Some(u64::MAX), ..Params::lsdg(2).mode(Mode::Exact) };
        table.case(
            &format!("{n} samples in exact mode"),
            &Expect::Refused(is_param, &["n_samples", "65536"]),
            || fit(Samples::strided(&[1.0], (n, 1), (0, 1))?, &params),
        );
    }
    for n in [1 << 33, usize::MAX] {
        let params = Params { memory: Some(u64::MAX), ..Params::lsdg(2) };
        table.case(
            &format!("{n} samples in binned mode"),
            &Expect::Refused(is_param, &["n_samples", "2147483648"]),
            || fit(Samples::strided(&[1.0], (n, 1), (0, 1))?, &params),
        );
    }
    for (near, far, bins, named) in
        [(7, 1, 1, 0), (40_000, 1, 1, 0), (8, 0, 1, 1), (8, 1, 0, 2), (8, 1, 1 << 40, 2)]
    {
        let binned = BinnedParams { near: Some(near), far: Some(far), bins: Some(bins) };
        table.case(&format!("{binned:?}"), &Expect::Refused(is_param, NAMED[named]), || {
            fit(Samples::from_rows(&ten, 5, 2)?, &Params { binned, ..Params::lsdg(2) })
        });
    }
    table.case("binned mode of distances", &Expect::Refused(is_param, &["mode", "samples"]), || {
        let distances = Samples::strided(&[0.0], (5, 5), (0, 0))?;
        fit(Input::Distances(distances), &Params::lsdg(2).mode(Mode::Binned))
    });
    for m in [1 << 50, usize::MAX] {
        table.case(&format!("{m} features"), &Expect::Refused(is_memory, &["memory"]), || {
            fit(Samples::strided(&[1.0], (5, m), (0, 0))?, &Params::lsdg(2))
        });
        table.case(&format!("distances of 5 x {m}"), &Expect::Refused(is_shape, &["5 x"]), || {
            fit(Input::Distances(Samples::strided(&[0.0], (5, m), (0, 0))?), &Params::lsdg(2))
        });
    }
    let big = vec![0.5; 2000];
    for (memory, precision, word) in [
        (1, Precision::Auto, "samples fit"),
        (20 << 20, Precision::Auto, "samples fit"),
        (45 << 20, Precision::Double, "single"),
    ] {
        let params = Params { memory: Some(memory), precision, ..Params::lsdg(2).mode(Mode::Exact) };
        table.case(
            &format!("{memory} bytes"),
            &Expect::Refused(is_memory, &["memory", "may be used"]),
            || {
                let error = fit(Samples::from_rows(&big, 2000, 1)?, &params).unwrap_err();
                assert!(error.to_string().contains(word), "{error}");
                Err(error)
            },
        );
    }
    table.finish(20);
}

#[test]
fn values_that_are_not_numbers_are_named() {
    let mut table = Table::default();
    for (bad, word) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        let mut data: Vec<f64> = (0..60).map(f64::from).collect();
        data[3 * 17 + 2] = bad;
        let refused = Expect::Refused(is_not_finite, &["samples", "row 17", "column 2"]);
        for metric in [Metric::Euclidean, Metric::Cosine] {
            table.case(&format!("{word} in samples, {metric:?}"), &refused, || {
                fit(Input::Samples(Samples::from_rows(&data, 20, 3)?, metric), &Params::lsdg(2))
            });
        }
        let narrow: Vec<f32> = data.iter().map(|x| *x as f32).collect();
        table.case(&format!("{word} in f32 samples"), &refused, || {
            fit(Samples::from_rows(&narrow, 20, 3)?, &Params::lsdg(2))
        });
        let mut pairs = vec![1.0; 25];
        (0..5).for_each(|i| pairs[i * 6] = 0.0);
        pairs[5 + 4] = bad;
        for (what, input) in [
            ("distances", (|x| Input::Distances(x)) as for<'a> fn(Samples<'a>) -> Input<'a>),
            ("affinities", |x| Input::Affinities(x)),
        ] {
            let refused = Expect::Refused(is_not_finite, &["row 1, column 4"]);
            table.case(&format!("{word} in {what}"), &refused, || {
                fit(input(Samples::from_rows(&pairs, 5, 5)?), &Params::lsdg(2))
            });
        }
    }
    table.finish(15);
}

#[test]
fn parameters_out_of_range_are_named() {
    let mut table = Table::default();
    let (data, _) = two_groups(10);
    let mut refuse = |name: &str, words: &'static [&'static str], params: Params| {
        table.case(name, &Expect::Refused(is_param, words), || {
            fit(Samples::from_rows(&data, 20, 1)?, &params)
        });
    };
    let with = |lsdg: LsdgParams| Params { lsdg, ..Params::preset(2, Preset::Paper) };
    let base = LsdgParams::paper();
    for bad in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        refuse(
            &format!("alpha {bad}"),
            &["alpha ="],
            with(LsdgParams { alpha: Alpha::Absolute(bad), ..base }),
        );
        refuse(
            &format!("relative alpha {bad}"),
            &["alpha ="],
            with(LsdgParams { alpha: Alpha::Relative(bad), ..base }),
        );
        refuse(&format!("beta {bad}"), &["beta ="], with(LsdgParams { beta: bad, ..base }));
        let density = Density::Mu { mu: bad, eta: None };
        refuse(&format!("mu {bad}"), &["mu ="], with(LsdgParams { density, ..base }));
    }
    for mu in [0.0, 1e-320] {
        refuse(
            "mu too small",
            &["mu ="],
            with(LsdgParams { density: Density::Mu { mu, eta: None }, ..base }),
        );
    }
    for eta in [0.1, 0.2, -0.01, f64::NAN, f64::INFINITY] {
        let density = Density::Mu { mu: 0.1, eta: Some(eta) };
        refuse(&format!("eta {eta} at mu 0.1"), &["eta =", "below mu"], with(LsdgParams { density, ..base }));
    }
    refuse("no neighbors", &["neighbors = 0"], Params::lsdg(2).neighbors(0));
    refuse("no rounds", &["weight_rounds = 0"], with(LsdgParams { weight_rounds: 0, ..base }));
    refuse("no starting ranks", &["start_ranks = 0"], with(LsdgParams { start_ranks: Some(0), ..base }));
    refuse("no starts", &["starts = 0"], Params::lsdg(2).starts(0));
    refuse("starts beyond counting", &["starts ="], Params::lsdg(2).starts(usize::MAX));
    refuse("no restarts", &["kmeans_restarts = 0"], Params { kmeans_restarts: 0, ..Params::lsdg(2) });
    refuse("no threads", &["threads = 0"], Params::lsdg(2).threads(0));
    refuse("too many threads", &["threads ="], Params::lsdg(2).threads(usize::MAX));
    let mut stop = Params::lsdg(2);
    stop.stop.max_iter = 0;
    refuse("no iterations", &["max_iter = 0"], stop.clone());
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0] {
        let mut tolerance = Params::lsdg(2);
        tolerance.stop.loss_tolerance = bad;
        refuse(&format!("tol {bad}"), &["tol ="], tolerance);
        let mut tolerance = Params::lsdg(2);
        tolerance.stop.change_tolerance = bad;
        refuse(&format!("change_tol {bad}"), &["change_tol ="], tolerance);
    }
    table.finish(40);
}

#[test]
fn extreme_but_allowed_parameters_work() {
    let mut table = Table::default();
    let (data, truth) = hard::blobs_on_a_line(&[14, 14], 2, 1.0, 30.0, 1);
    let mut run = |name: &str, may_collapse: bool, params: Params| {
        table.case(name, &Expect::Works(None), || {
            let outcome = fit(Samples::from_rows(&data, 28, 2)?, &params);
            match outcome {
                Err(Error::Collapsed { iteration, ref cause }) if may_collapse => {
                    assert!(iteration >= 1 && cause.contains("try"), "{cause}");
                    fit(Samples::from_rows(&data, 28, 2)?, &Params::lsdg(2))
                }
                outcome => outcome,
            }
        });
    };
    let paper = Params::preset(2, Preset::Paper);
    for alpha in [0.0, 1e-300, 1e6] {
        let lsdg = LsdgParams { alpha: Alpha::Absolute(alpha), ..LsdgParams::paper() };
        run(&format!("alpha {alpha:e}"), true, Params { lsdg, ..paper.clone() });
        let lsdg = LsdgParams { alpha: Alpha::Relative(alpha), ..LsdgParams::paper() };
        run(&format!("relative alpha {alpha:e}"), true, Params { lsdg, ..paper.clone() });
    }
    for beta in [0.0, 1e-300, 1e6] {
        let lsdg = LsdgParams { beta, ..LsdgParams::paper() };
        run(&format!("beta {beta:e}"), true, Params { lsdg, ..paper.clone() });
        run(
            &format!("beta {beta:e}, default"),
            false,
            Params { lsdg: LsdgParams { beta, ..Params::lsdg(2).lsdg }, ..Params::lsdg(2) },
        );
    }
    for mu in [1e-6, 1e6] {
        for eta in [None, Some(0.0)] {
            let lsdg = LsdgParams { density: Density::Mu { mu, eta }, ..LsdgParams::paper() };
            run(&format!("mu {mu:e}, eta {eta:?}"), true, Params { lsdg, ..paper.clone() });
        }
    }
    for neighbors in [1, 27, 28, 29, 1000, usize::MAX] {
        run(&format!("{neighbors} neighbors"), false, Params::lsdg(2).neighbors(neighbors));
    }
    for ranks in [1, 2, 27, 28, 29, usize::MAX] {
        let lsdg = LsdgParams { start_ranks: Some(ranks), ..LsdgParams::demo() };
        run(&format!("{ranks} starting ranks"), true, Params { lsdg, ..paper.clone() });
    }
    let mut never = Params::preset(2, Preset::Demo);
    (never.stop.loss_tolerance, never.stop.change_tolerance, never.stop.max_iter) = (-1.0, -1.0, 50);
    run("no tolerance", false, never);
    let mut once = Params::lsdg(2);
    once.stop.max_iter = 1;
    run("one iteration", false, once);
    run("any seed", false, Params::lsdg(2).seed(u64::MAX));
    for (dissimilarity, orthogonality) in [(false, true), (true, false), (false, false)] {
        let lsdg = LsdgParams { dissimilarity, orthogonality, ..Params::lsdg(2).lsdg };
        run(&format!("D {dissimilarity}, R {orthogonality}"), false, Params { lsdg, ..Params::lsdg(2) });
    }
    table.case("the plain default gets it right", &Expect::Works(Some(truth)), || {
        fit(Samples::from_rows(&data, 28, 2)?, &Params::lsdg(2))
    });
    table.finish(30);
}

/// Distances of two groups of six on a line.
fn distances() -> (Vec<f64>, usize, Vec<usize>) {
    let (points, truth) = two_groups(6);
    let n = points.len();
    ((0..n * n).map(|at| (points[at / n] - points[at % n]).abs()).collect(), n, truth)
}

#[test]
fn precomputed_distances() {
    let mut table = Table::default();
    let (good, n, truth) = distances();
    let input = |x: &[f64]| -> Result<Model> {
        fit(Input::Distances(Samples::from_rows(x, n, n)?), &Params::lsdg(2))
    };
    table.case("good distances", &Expect::Works(Some(truth.clone())), || input(&good));
    let narrow: Vec<f32> = good.iter().map(|x| *x as f32).collect();
    table.case("good distances in f32", &Expect::Works(Some(truth.clone())), || {
        fit(Input::Distances(Samples::from_columns(&narrow, n, n)?), &Params::lsdg(2))
    });
    let spoilt = |change: &dyn Fn(&mut Vec<f64>)| {
        let mut x = good.clone();
        change(&mut x);
        x
    };
    let x = spoilt(&|x| x[3 * n + 5] += 1.0);
    table.case(
        "asymmetric",
        &Expect::Refused(is_precomputed, &["distances", "row 5, column 3", "symmetric"]),
        || input(&x),
    );
    let x = spoilt(&|x| (x[3 * n + 5], x[5 * n + 3]) = (-1.0, -1.0));
    table.case("negative", &Expect::Refused(is_precomputed, &["distances", "-1", "0 or more"]), || input(&x));
    let x = spoilt(&|x| x[4 * n + 4] = 0.5);
    table.case("nonzero diagonal", &Expect::Refused(is_precomputed, &["row 4, column 4", "itself"]), || {
        input(&x)
    });
    let x = spoilt(&|x| x[4 * n + 4] = 1e-9);
    table.case("rounding on the diagonal", &Expect::Works(Some(truth.clone())), || input(&x));
    let x = spoilt(&|x| x[3 * n + 5] *= 1.0 + 1e-12);
    table.case("rounding off the diagonal", &Expect::Works(Some(truth.clone())), || input(&x));
    table.case("not square", &Expect::Refused(is_shape, &["x"]), || {
        fit(Input::Distances(Samples::from_rows(&good, 24, 6)?), &Params::lsdg(2))
    });
    for scale in [1e-300, 1e300, 1e306] {
        let x: Vec<f64> = good.iter().map(|x| x * scale).collect();
        table.case(&format!("distances times {scale:e}"), &Expect::Works(Some(truth.clone())), || input(&x));
    }
    table
        .case("all distances zero", &Expect::Warns(|w| *w == Warning::AllEqual), || input(&vec![0.0; n * n]));
    table.case("one point", &Expect::Works(Some(vec![0])), || {
        fit(Input::Distances(Samples::from_rows(&[0.0], 1, 1)?), &Params::lsdg(1))
    });
    table.case("no points", &Expect::Refused(is_empty, &["empty"]), || {
        fit(Input::Distances(Samples::from_rows(&[0.0; 0], 0, 0)?), &Params::lsdg(1))
    });
    table.finish(13);
}

#[test]
fn precomputed_affinities() {
    let mut table = Table::default();
    let (distances, n, truth) = distances();
    let good: Vec<f64> = distances.iter().map(|d| (-d * d / 9.0).exp()).collect();
    let input = |x: &[f64]| -> Result<Model> {
        fit(Input::Affinities(Samples::from_rows(x, n, n)?), &Params::lsdg(2))
    };
    table.case("good affinities", &Expect::Works(Some(truth.clone())), || input(&good));
    let spoilt = |change: &dyn Fn(&mut Vec<f64>)| {
        let mut x = good.clone();
        change(&mut x);
        x
    };
    let x = spoilt(&|x| x[3 * n + 5] += 1.0);
    table.case(
        "asymmetric",
        &Expect::Refused(is_precomputed, &["affinities", "row 5, column 3", "symmetric"]),
        || input(&x),
    );
    let x = spoilt(&|x| (x[3 * n + 5], x[5 * n + 3]) = (-0.1, -0.1));
    table.case("negative", &Expect::Refused(is_precomputed, &["affinities", "-0.1", "0 or more"]), || {
        input(&x)
    });
    let x = spoilt(&|x| (0..n).for_each(|i| x[i * n + i] = i as f64));
    table.case("any diagonal", &Expect::Works(Some(truth.clone())), || input(&x));
    table.case("not square", &Expect::Refused(is_shape, &["x"]), || {
        fit(Input::Affinities(Samples::from_rows(&good, 24, 6)?), &Params::lsdg(2))
    });
    table.case("all zero", &Expect::Refused(is_precomputed, &["affinities", "positive"]), || {
        input(&vec![0.0; n * n])
    });
    let identity: Vec<f64> = (0..n * n).map(|at| if at / n == at % n { 1.0 } else { 0.0 }).collect();
    table.case(
        "zero off the diagonal",
        &Expect::Refused(is_precomputed, &["affinities", "positive"]),
        || input(&identity),
    );
    table.case("all alike", &Expect::Works(None), || input(&vec![0.5; n * n]));
    // A ring inside each group, 0 elsewhere: most entries are 0.
    let side = 40;
    let mut sparse = vec![0.0; side * side];
    for i in 0..side {
        for step in [2, 4, 6] {
            let j = (i + step) % side;
            (sparse[i * side + j], sparse[j * side + i]) = (1.0 / step as f64, 1.0 / step as f64);
        }
    }
    let rings = (0..side).map(|i| i % 2).collect();
    table.case("mostly zero", &Expect::Works(Some(rings)), || {
        fit(Input::Affinities(Samples::from_rows(&sparse, side, side)?), &Params::lsdg(2))
    });
    let x = spoilt(&|x| x.iter_mut().for_each(|x| *x = if *x > 1e-3 { *x * 1e-320 } else { 0.0 }));
    table.case("tiny affinities", &Expect::Works(None), || input(&x));
    let x = spoilt(&|x| x.iter_mut().for_each(|x| *x *= 1e308));
    table.case("huge affinities", &Expect::Works(Some(truth.clone())), || input(&x));
    table.case("one point", &Expect::Works(Some(vec![0])), || {
        fit(Input::Affinities(Samples::from_rows(&[0.0], 1, 1)?), &Params::lsdg(1))
    });
    table.case("two points", &Expect::Works(Some(vec![0, 0])), || {
        fit(Input::Affinities(Samples::from_rows(&[0.0, 1.0, 1.0, 0.0], 2, 2)?), &Params::lsdg(1))
    });
    table.finish(13);
}

/// The `listed` nearest of every point on a line.
fn lists(points: &[f64], listed: usize) -> (Vec<u32>, Vec<f64>) {
    let (mut indices, mut distances) = (Vec::new(), Vec::new());
    for (i, x) in points.iter().enumerate() {
        let mut others: Vec<usize> = (0..points.len()).filter(|j| *j != i).collect();
        others.sort_by(|a, b| (points[*a] - x).abs().total_cmp(&(points[*b] - x).abs()));
        for j in &others[..listed] {
            indices.push(*j as u32);
            distances.push((points[*j] - x).abs());
        }
    }
    (indices, distances)
}

#[test]
fn precomputed_neighbors() {
    let mut table = Table::default();
    let (points, truth) = two_groups(15);
    let n = points.len();
    for listed in [2, 6, 7, 10, 14, n - 1] {
        let (indices, distances) = lists(&points, listed);
        for precision in [Precision::Double, Precision::Single] {
            // A chain of two neighbours each barely holds together: only the shape of the answer is asked for.
            let truth = (listed >= 6).then(|| truth.clone());
            table.case(&format!("{listed} neighbours, {precision:?}"), &Expect::Works(truth), || {
                let lists = NeighborLists::new(&indices, &distances, n, listed)?;
                fit(Input::Neighbors(lists), &Params::lsdg(2).precision(precision))
            });
        }
    }
    let (indices, distances) = lists(&points, 8);
    let run = |indices: &[u32], distances: &[f64]| {
        fit(Input::Neighbors(NeighborLists::new(indices, distances, n, 8)?), &Params::lsdg(2))
    };
    table.case("partial lists warn", &Expect::Warns(|w| *w == Warning::PartialLists { listed: 8 }), || {
        run(&indices, &distances)
    });
    for (name, index, words) in [
        ("an index that is too large", 30, &["neighbors", "row 2, column 3", "30"] as &[&str]),
        ("an index far too large", u32::MAX, &["neighbors", "row 2, column 3"]),
        ("a point in its own list", 2, &["neighbors", "row 2, column 3", "other points"]),
        ("a point listed twice", indices[2 * 8 + 1], &["neighbors", "row 2, column 3", "at most once"]),
    ] {
        let mut bad = indices.clone();
        bad[2 * 8 + 3] = index;
        table.case(name, &Expect::Refused(is_precomputed, words), || run(&bad, &distances));
    }
    for (name, distance, words) in [
        ("a negative distance", -1.0, &["row 2, column 3", "0 or more"] as &[&str]),
        ("a distance that is no number", f64::NAN, &["row 2, column 3", "finite"]),
        ("an infinite distance", f64::INFINITY, &["row 2, column 3", "finite"]),
        ("an unsorted list", 0.5, &["row 2, column 3", "sorted"]),
    ] {
        let mut bad = distances.clone();
        bad[2 * 8 + 3] = distance;
        table.case(name, &Expect::Refused(is_precomputed, words), || run(&indices, &bad));
    }
    table.case("lists of another length", &Expect::Refused(is_shape, &["30 x 7"]), || {
        fit(Input::Neighbors(NeighborLists::new(&indices, &distances, n, 7)?), &Params::lsdg(2))
    });
    table.case("more neighbours than others", &Expect::Refused(is_shape, &["2 x 1"]), || {
        fit(Input::Neighbors(NeighborLists::new(&[1, 0, 0, 1], &[0.0; 4], 2, 2)?), &Params::lsdg(1))
    });
    table.case("empty lists", &Expect::Refused(is_empty, &["5 samples"]), || {
        fit(Input::Neighbors(NeighborLists::new(&[], &[], 5, 0)?), &Params::lsdg(2))
    });
    table.case("no points", &Expect::Refused(is_empty, &["0 samples"]), || {
        fit(Input::Neighbors(NeighborLists::new(&[], &[], 0, 4)?), &Params::lsdg(1))
    });
    table.case("one point", &Expect::Works(Some(vec![0])), || {
        fit(Input::Neighbors(NeighborLists::new(&[], &[], 1, 0)?), &Params::lsdg(1))
    });
    // Pairs of copies: each list holds only points at distance 0.
    let (copies, truth) = hard::repeated(&[0.0, 1.0, 2.0], 9);
    for listed in [5, 8] {
        let (indices, distances) = lists(&copies, listed);
        assert!(distances.iter().all(|d| *d == 0.0));
        table.case(&format!("lists of {listed} copies"), &Expect::Works(Some(truth.clone())), || {
            fit(Input::Neighbors(NeighborLists::new(&indices, &distances, 27, listed)?), &Params::lsdg(3))
        });
    }
    // Scales so far apart that the product of two of them is 0.
    let spread: Vec<f64> =
        (0..20).map(|i| if i < 10 { f64::from(i) * 1e-200 } else { f64::from(i) }).collect();
    for listed in [3, 9] {
        let (indices, distances) = lists(&spread, listed);
        table.case(&format!("{listed} neighbours at 1e-200 and 1"), &Expect::Works(None), || {
            fit(Input::Neighbors(NeighborLists::new(&indices, &distances, 20, listed)?), &Params::lsdg(2))
        });
    }
    table.finish(30);
}

#[test]
fn prepared_data_is_checked_again() {
    let (data, _) = two_groups(10);
    let input = Input::from(Samples::from_rows(&data, 20, 1).unwrap());
    let prepared = PreparedSlices::new(&input, &Params::lsdg(2), &Silent).unwrap();
    assert!(matches!(prepared.fit(&Params::lsdg(0), &Silent), Err(Error::Param(_))));
    assert!(matches!(
        prepared.fit(&Params::lsdg(21), &Silent),
        Err(Error::Data(DataError::TooFewSamples { .. }))
    ));
    assert!(matches!(
        prepared.spectral(&Params::lsdg(21), None, &Silent),
        Err(Error::Data(DataError::TooFewSamples { .. }))
    ));
    for (r, neighbors) in [(1, None), (20, None), (2, Some(0)), (2, Some(usize::MAX))] {
        let labels = prepared.spectral(&Params::lsdg(r), neighbors, &Silent).unwrap();
        assert!(labels.len() == 20 && labels.iter().all(|l| *l < r), "r = {r}: {labels:?}");
    }
    assert!(prepared.correct_rate(&[0; 3]).is_err());
}

/// Cancels at the k-th event that matches.
struct CancelAt {
    matches: Matches,
    after: usize,
    seen: AtomicUsize,
}

impl CancelAt {
    fn new(matches: Matches, after: usize) -> Self {
        Self { matches, after, seen: AtomicUsize::new(0) }
    }
}

impl Observer for CancelAt {
    fn notice(&self, event: &Event<'_>) {
        if (self.matches)(event) {
            self.seen.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn cancelled(&self) -> bool {
        self.seen.load(Ordering::SeqCst) >= self.after
    }
}

type Matches = fn(&Event<'_>) -> bool;

#[test]
fn cancelling_stops_at_every_stage() {
    let data = nearfar::generate::blobs(400, 3, 4, 1.0, 1).unwrap();
    let samples = Samples::from_rows(&data.data, 400, 3).unwrap();
    let moments: [(&str, Matches); 10] = [
        ("neighbors begin", |e| matches!(e, Event::Started { stage: Stage::Neighbors })),
        ("neighbors progress", |e| matches!(e, Event::Progress { stage: Stage::Neighbors, .. })),
        ("slices begin", |e| matches!(e, Event::Started { stage: Stage::Slices })),
        ("learning begins", |e| matches!(e, Event::Started { stage: Stage::Learn })),
        ("an iteration", |e| matches!(e, Event::Iteration { .. })),
        ("members are done", |e| matches!(e, Event::Progress { stage: Stage::Learn, .. })),
        ("learning ends", |e| matches!(e, Event::Finished { stage: Stage::Learn, .. })),
        ("augment begins", |e| matches!(e, Event::Started { stage: Stage::Augment })),
        ("spectral begins", |e| matches!(e, Event::Started { stage: Stage::Spectral })),
        ("labels begin", |e| matches!(e, Event::Started { stage: Stage::Labels })),
    ];
    for params in [Params::lsdg(4).starts(4), Params::preset(4, Preset::Paper)] {
        for (name, matches) in moments {
            for after in [1, 2] {
                let observer = CancelAt::new(matches, after);
                let outcome = Run::new(&params).observe(&observer).fit(samples);
                let seen = observer.seen.load(Ordering::SeqCst);
                if seen < after {
                    assert!(outcome.is_ok(), "{name}, {after}: never cancelled, yet {outcome:?}");
                    continue;
                }
                let Err(Error::Cancelled { stage }) = outcome else {
                    panic!("{name}, {after}: not cancelled but {outcome:?}");
                };
                assert!(!stage.is_empty());
            }
        }
    }
    // As many clusters as points, and one cluster: nothing to learn, but still somebody who wants to stop.
    for r in [1, 400] {
        let observer = CancelAt::new(|e| matches!(e, Event::Started { stage: Stage::Slices }), 1);
        let outcome = Run::new(&Params::lsdg(r).starts(1)).observe(&observer).fit(samples);
        assert!(matches!(outcome, Err(Error::Cancelled { .. })), "r = {r}");
    }
}

#[test]
fn a_cancelled_run_names_its_stage() {
    let data = nearfar::generate::blobs(300, 3, 4, 1.0, 1).unwrap();
    let samples = Samples::from_rows(&data.data, 300, 3).unwrap();
    let stages: [(Stage, Matches); 6] = [
        (Stage::Neighbors, |e| matches!(e, Event::Started { stage: Stage::Neighbors })),
        (Stage::Slices, |e| matches!(e, Event::Started { stage: Stage::Slices })),
        (Stage::Learn, |e| matches!(e, Event::Started { stage: Stage::Learn })),
        (Stage::Augment, |e| matches!(e, Event::Started { stage: Stage::Augment })),
        (Stage::Spectral, |e| matches!(e, Event::Started { stage: Stage::Spectral })),
        (Stage::Labels, |e| matches!(e, Event::Started { stage: Stage::Labels })),
    ];
    for params in [Params::lsdg(4).starts(2), Params::preset(4, Preset::Paper)] {
        for (expected, begins) in stages {
            let outcome = Run::new(&params).observe(&CancelAt::new(begins, 1)).fit(samples);
            let Err(Error::Cancelled { stage }) = outcome else {
                panic!("{expected:?}: not cancelled but {outcome:?}");
            };
            assert_eq!(stage, expected.name());
        }
    }
}
