//! Samples: few, hard, of wrong sizes, not finite.

use nearfar::labels::score::adjusted_rand;
use nearfar::learn::{Alpha, LsdgParams, MethodKind};
use nearfar::{
    BinnedParams, DataError, Error, Input, Metric, Mode, Params, Precision, Samples, Warning, fit,
};
use nearfar_testkit::hard;

use super::{
    Expect, NAMED, Table, check_sound, is_empty, is_memory, is_not_finite, is_param, is_shape, is_too_few,
    two_groups,
};

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
