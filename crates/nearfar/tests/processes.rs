//! Processes that share the rows find, bit for bit, what one process in binned mode finds.

use std::sync::atomic::{AtomicUsize, Ordering};

use nearfar::internals::mixture;
use nearfar::learn::{MethodKind, MethodParams};
use nearfar::model::Warning;
use nearfar::observe::{Event, Observer, Silent};
use nearfar::processes::Share;
use nearfar::{Error, Input, Metric, Mode, Model, Params, Run, Samples, fit};
use nearfar_testkit::threads::as_team;

const RANKS: [usize; 5] = [1, 2, 3, 4, 8];

/// Every number of a model that does not measure time, as bits, with its name.
fn bits(model: &Model) -> Vec<(String, Vec<u64>)> {
    let of = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
    let mut all = vec![
        ("labels".to_string(), model.labels.iter().map(|l| *l as u64).collect()),
        ("sigma".into(), of(model.sigma.as_deref().unwrap_or_default())),
        ("w".into(), of(&model.near_weights)),
        ("p".into(), of(&model.far_weights)),
        ("eigenvalues".into(), of(&model.eigenvalues)),
        ("embedding".into(), of(&model.embedding)),
        ("membership".into(), of(&model.membership)),
        ("best, agreement".into(), vec![model.best as u64, model.agreement.to_bits()]),
    ];
    for (m, member) in model.members.iter().enumerate() {
        all.push((format!("factor of member {m}"), of(member.factor.values())));
        all.push((format!("weights of member {m}"), of(&member.near_weights)));
        let cut = member.cut.unwrap_or_default();
        all.push((format!("judgement of member {m}"), of(&[cut, member.objective.total()])));
        let rows = &member.last_loop().trace;
        all.push((format!("trace of member {m}"), rows.iter().map(|row| row.loss().to_bits()).collect()));
    }
    let rows = model.similarity();
    all.push(("edges of S".into(), rows.columns.iter().map(|j| u64::from(*j)).collect()));
    all.push(("values of S".into(), of(&rows.values)));
    all
}

fn assert_same(what: &str, ours: &[(String, Vec<u64>)], theirs: &[(String, Vec<u64>)]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for ((name, ours), (_, theirs)) in ours.iter().zip(theirs) {
        assert!(ours == theirs, "{what}: {name} differs");
    }
}

/// Samples in one of two precisions.
struct Data {
    doubles: Vec<f64>,
    singles: Vec<f32>,
    n: usize,
    m: usize,
}

impl Data {
    fn new(doubles: Vec<f64>, m: usize) -> Self {
        let singles = doubles.iter().map(|x| *x as f32).collect();
        Self { n: doubles.len() / m, m, singles, doubles }
    }

    fn rows(&self, rows: std::ops::Range<usize>, single: bool) -> Samples<'_> {
        let at = rows.start * self.m..rows.end * self.m;
        if single {
            Samples::from_rows(&self.singles[at], rows.len(), self.m).unwrap()
        } else {
            Samples::from_rows(&self.doubles[at], rows.len(), self.m).unwrap()
        }
    }
}

fn check(what: &str, data: &Data, metric: Metric, single: bool, params: &Params) {
    let mut alone = params.clone().threads(2);
    if params.method == MethodParams::Lsdg {
        alone.mode = Mode::Binned;
    }
    let model = fit(Input::Samples(data.rows(0..data.n, single), metric), &alone).unwrap();
    let expected = bits(&model);
    for size in RANKS {
        let models = as_team(size, |team| {
            let share = Share::new(team.clone(), data.n);
            let params = params.clone().threads(1 + (size + team.rank()) % 2);
            let model = fit(Input::Part(data.rows(share.rows(), single), metric, &share), &params).unwrap();
            assert_eq!(team.report().ranks, size);
            (bits(&model), model.warnings.clone(), model.binned, model.search)
        });
        for (ours, warnings, binned, search) in models {
            assert_same(&format!("{what}, {size} ranks"), &ours, &expected);
            assert_eq!(warnings, model.warnings, "{what}, {size} ranks");
            assert_eq!((binned, search), (model.binned, model.search), "{what}, {size} ranks");
        }
    }
}

fn settings(n_clusters: usize) -> Params {
    let mut params = Params::lsdg(n_clusters).seed(7);
    params.stop.max_iter = 12;
    params
}

fn data() -> Data {
    Data::new(mixture(2300, 30, 5, 2.0, 3).unwrap().data, 30)
}

#[test]
fn one_start_has_the_same_bits() {
    check("one start", &data(), Metric::Euclidean, false, &settings(5).starts(1));
}

#[test]
fn a_consensus_has_the_same_bits() {
    check("consensus", &data(), Metric::Euclidean, true, &settings(5).starts(4));
}

#[test]
fn directions_have_the_same_bits() {
    check("cosine", &data(), Metric::Cosine, false, &settings(4).starts(1));
}

#[test]
fn few_points_and_few_ranks_have_the_same_bits() {
    let data = Data::new(mixture(300, 8, 3, 2.0, 3).unwrap().data, 8);
    check("few points", &data, Metric::Euclidean, false, &settings(3).starts(2));
}

#[test]
fn the_end_of_the_near_ranks_has_the_same_bits() {
    let mut params = settings(5).starts(1).neighbors(30);
    params.binned.near = Some(16);
    params.binned.far = Some(24);
    let data = data();
    let alone = fit(data.rows(0..data.n, false), &params.clone().mode(Mode::Binned)).unwrap();
    assert!(alone.warnings.contains(&Warning::NearEnd { near: 16 }), "{:?}", alone.warnings);
    check("the end of the near ranks", &data, Metric::Euclidean, false, &params);
}

#[test]
fn methods_of_a_fixed_graph_have_the_same_bits() {
    let data = Data::new(mixture(1700, 12, 4, 2.0, 3).unwrap().data, 12);
    for kind in [
        MethodKind::Phals,
        MethodKind::AoSymNmf,
        MethodKind::SymNmf,
        MethodKind::Anls,
        MethodKind::SBsum,
        MethodKind::GsNmf,
        MethodKind::Spectral,
    ] {
        let mut params = Params::of(4, kind.default_params()).seed(3).starts(2);
        params.set_if_used("max_iter", 5_usize).unwrap();
        check(kind.name(), &data, Metric::Euclidean, false, &params);
    }
}

#[test]
fn copies_have_the_same_bits() {
    let base = mixture(40, 4, 4, 2.0, 3).unwrap().data;
    let doubles = (0..1500).flat_map(|i| base[i % 40 * 4..i % 40 * 4 + 4].to_vec()).collect();
    let mut params = settings(4).starts(1);
    params.binned.near = Some(20);
    check("copies", &Data::new(doubles, 4), Metric::Euclidean, false, &params);
}

/// Of all ranks, whatever they hold, the same error with the row as the file counts it.
#[test]
fn bad_rows_are_named_by_everybody() {
    let mut data = data();
    data.doubles[2000 * 30 + 4] = f64::NAN;
    data.doubles[2200 * 30 + 4] = f64::INFINITY;
    let errors = as_team(3, |team| {
        let share = Share::new(team.clone(), data.n);
        let input = Input::Part(data.rows(share.rows(), false), Metric::Euclidean, &share);
        fit(input, &settings(3).threads(1)).unwrap_err().to_string()
    });
    assert!(errors.iter().all(|error| error.contains("row 2000, column 4 is NaN")), "{errors:?}");
    let mut data = Data::new(vec![1.0; 1500 * 2], 2);
    data.doubles[1400 * 2..1401 * 2].fill(0.0);
    let errors = as_team(2, |team| {
        let share = Share::new(team.clone(), data.n);
        let input = Input::Part(data.rows(share.rows(), false), Metric::Cosine, &share);
        fit(input, &settings(3).threads(1)).unwrap_err().to_string()
    });
    assert!(errors.iter().all(|error| error.contains("row 1400 is all zeros")), "{errors:?}");
}

/// Asks to stop after so many iterations; the others do not know.
struct Stopper {
    after: usize,
    seen: AtomicUsize,
    only_enough: bool,
}

impl Observer for Stopper {
    fn notice(&self, event: &Event<'_>) {
        if matches!(event, Event::Iteration { .. }) {
            self.seen.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn cancelled(&self) -> bool {
        !self.only_enough && self.seen.load(Ordering::Relaxed) >= self.after
    }

    fn enough(&self) -> bool {
        self.only_enough && self.seen.load(Ordering::Relaxed) >= self.after
    }
}

#[test]
fn a_wish_of_one_stops_all_at_the_same_place() {
    let data = data();
    for only_enough in [false, true] {
        let results = as_team(4, |team| {
            let share = Share::new(team.clone(), data.n);
            let input = Input::Part(data.rows(share.rows(), false), Metric::Euclidean, &share);
            let params = settings(5).starts(2).threads(1);
            let stopper = Stopper { after: 3, seen: AtomicUsize::new(0), only_enough };
            let observer: &dyn Observer = if team.rank() == 2 { &stopper } else { &Silent };
            Run::new(&params).observe(observer).fit(input)
        });
        if only_enough {
            let models: Vec<Model> = results.into_iter().map(Result::unwrap).collect();
            assert!(models.iter().all(|model| model.labels == models[0].labels));
            assert!(models.iter().all(|model| model.members.len() == 1));
        } else {
            assert!(results.iter().all(|result| matches!(result, Err(Error::Cancelled { .. }))));
        }
    }
}

/// Five processes and three units of rows: those without rows must not wait for those that have left.
#[test]
fn a_wish_during_the_search_stops_processes_without_rows() {
    let data = Data::new(mixture(1100, 12, 3, 2.0, 3).unwrap().data, 12);
    for asks in [0, 1] {
        let results = as_team(5, |team| {
            let share = Share::new(team.clone(), data.n);
            let input = Input::Part(data.rows(share.rows(), false), Metric::Euclidean, &share);
            let stopper = Stopper { after: 0, seen: AtomicUsize::new(0), only_enough: false };
            let observer: &dyn Observer = if team.rank() == asks { &stopper } else { &Silent };
            Run::new(&settings(3).starts(1).threads(1)).observe(observer).fit(input)
        });
        assert!(results.iter().all(|result| matches!(result, Err(Error::Cancelled { .. }))));
    }
}

#[test]
fn what_needs_all_rows_is_refused() {
    let data = data();
    let refused = |params: Params| {
        let errors = as_team(2, |team| {
            let share = Share::new(team.clone(), data.n);
            let input = Input::Part(data.rows(share.rows(), false), Metric::Euclidean, &share);
            fit(input, &params.clone().threads(1)).unwrap_err().to_string()
        });
        errors[0].clone()
    };
    assert!(refused(settings(3).mode(Mode::Exact)).contains("binned or auto"));
    let voting = MethodKind::S3Nmf.default_params();
    for method in [MethodParams::KMeans, voting] {
        let message = refused(Params::of(3, method));
        assert!(message.contains("all rows in one process"), "{message}");
    }
}
