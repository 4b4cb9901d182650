//! One seed gives the same bits at any number of threads, and whether members run side by side or one by one.

use nearfar::generate::Generated;
use nearfar::{Input, Metric, Model, Params, Precision, Preset, Samples, fit, plan};

/// Every number of a model that does not measure time, as bits, with its name.
fn bits(model: &Model) -> Vec<(String, Vec<u64>)> {
    let of = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
    let mut all = vec![
        ("labels".to_string(), model.labels.iter().map(|l| *l as u64).collect()),
        ("membership".into(), of(&model.membership)),
        ("w".into(), of(&model.near_weights)),
        ("p".into(), of(&model.far_weights)),
        ("eigenvalues".into(), of(&model.eigenvalues)),
        ("embedding".into(), of(&model.embedding)),
        ("sigma".into(), of(model.sigma.as_deref().unwrap_or_default())),
        ("best, agreement".into(), vec![model.best as u64, model.agreement.to_bits()]),
    ];
    for (m, member) in model.members.iter().enumerate() {
        all.push((format!("factor of member {m}"), of(member.factor.values())));
        all.push((format!("w of member {m}"), of(&member.near_weights)));
        all.push((format!("p of member {m}"), of(&member.far_weights)));
        let cut = member.cut.unwrap_or_default();
        all.push((format!("judgement of member {m}"), of(&[cut, member.objective.total()])));
        let iterations = member.last_loop().iterations as u64;
        all.push((format!("loop of member {m}"), vec![iterations, u64::from(member.kept)]));
        let rows = &member.last_loop().trace;
        all.push((format!("trace of member {m}"), rows.iter().map(|row| row.loss().to_bits()).collect()));
    }
    all
}

fn assert_same(what: &str, ours: &Model, theirs: &Model) {
    for ((name, ours), (_, theirs)) in bits(ours).iter().zip(&bits(theirs)) {
        assert!(ours == theirs, "{what}: {name} differs");
    }
    assert_eq!(ours.warnings, theirs.warnings, "{what}");
}

fn check(data: &Generated, metric: Metric, params: &Params) {
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap();
    let run =
        |threads: usize| fit(Input::Samples(samples, metric), &params.clone().threads(threads)).unwrap();
    let one = run(1);
    for threads in [2, 3, 8] {
        assert_same(&format!("{:?} at {threads} threads", params.preset), &one, &run(threads));
    }
}

/// Few features (differences), tiles of unequal size.
fn low() -> Generated {
    nearfar::generate::blobs(390, 3, 4, 1.3, 5).unwrap()
}

/// Many features (products), so that distances come from blocked matrix products.
fn high() -> Generated {
    nearfar::internals::mixture(660, 40, 6, 2.5, 9).unwrap()
}

#[test]
fn default_preset_in_double() {
    check(&low(), Metric::Euclidean, &Params::lsdg(4).precision(Precision::Double).starts(6));
}

#[test]
fn default_preset_in_single() {
    check(&low(), Metric::Euclidean, &Params::lsdg(4).precision(Precision::Single).starts(4).seed(3));
}

#[test]
fn paper_preset_in_double() {
    check(&high(), Metric::Euclidean, &Params::preset(6, Preset::Paper).precision(Precision::Double));
}

#[test]
fn demo_preset_in_single_with_cosine() {
    check(&high(), Metric::Cosine, &Params::preset(6, Preset::Demo).precision(Precision::Single));
}

#[test]
fn members_one_by_one_and_side_by_side() {
    let data = low();
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap();
    let wide =
        Params { memory: Some(1 << 40), ..Params::lsdg(4).starts(5).threads(4).precision(Precision::Double) };
    let roomy = plan(data.n_samples, data.n_features, &wide).unwrap();
    assert_eq!(roomy.side_by_side, 4);
    // Lower the limit to just below every plan in turn, until one member at a time is what fits.
    let mut narrow = wide.clone();
    let mut tight = roomy;
    while tight.side_by_side > 1 {
        narrow.memory = Some(tight.bytes - 1);
        tight = plan(data.n_samples, data.n_features, &narrow).unwrap();
    }
    narrow.memory = Some(tight.bytes);
    assert_eq!(plan(data.n_samples, data.n_features, &narrow).unwrap().side_by_side, 1);
    assert_same("one by one", &fit(samples, &wide).unwrap(), &fit(samples, &narrow).unwrap());
}

#[test]
fn seeds_repeat_and_differ() {
    let data = low();
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap();
    let params = Params::preset(4, Preset::Demo);
    let first = fit(samples, &params).unwrap();
    assert_same("again", &first, &fit(samples, &params).unwrap());
    let other = fit(samples, &params.seed(1)).unwrap();
    assert_ne!(first.members[0].factor, other.members[0].factor);
}
