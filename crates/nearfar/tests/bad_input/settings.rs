//! Settings out of range, and at their ends.

use nearfar::learn::{Alpha, Density, LsdgParams};
use nearfar::{Error, Params, Preset, Samples, fit};
use nearfar_testkit::hard;

use super::{Expect, Table, is_param, two_groups};

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
