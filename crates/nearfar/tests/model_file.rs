//! Saved models: back as they were, predicting as described, refused when damaged.

use nearfar::learn::MethodKind;
use nearfar::model::{InputKind, Keeper, ModelFileError, SaveOptions, Scaling};
use nearfar::observe::{Event, Observer, Silent};
use nearfar::{Error, Input, Metric, NeighborLists, Params, Run, Samples, SavedModel, fit};
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

fn blobs(n: usize) -> nearfar::generate::Generated {
    nearfar::generate::blobs(n, 3, 3, 0.6, 4).unwrap()
}

fn saved(options: &SaveOptions) -> SavedModel {
    let data = blobs(40);
    let samples = Samples::from_rows(&data.data, 40, 3).unwrap();
    let model = fit(samples, &Params::lsdg(3).starts(2)).unwrap();
    SavedModel::new(&model, &Input::from(samples), options)
}

fn everything() -> SaveOptions {
    SaveOptions {
        similarity: true,
        dissimilarity: true,
        affinity: true,
        feature_names: Some(["a", "b", "c"].map(str::to_owned).to_vec()),
        scaling: Scaling::Columns { origin: vec![0.0; 3], unit: vec![1.0; 3] },
        ..SaveOptions::default()
    }
}

#[test]
fn comes_back_as_it_was() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("back.nearfar");
    for options in [SaveOptions::default(), everything()] {
        let model = saved(&options);
        model.save(&path).unwrap();
        let back = SavedModel::load(&path).unwrap();
        assert!(back.to_bytes() == model.to_bytes());
        assert_eq!((&back.labels, &back.factor, &back.trace), (&model.labels, &model.factor, &model.trace));
        assert_eq!(back.similarity, model.similarity);
        assert_eq!(back.about.feature_names, options.feature_names);
    }
}

#[test]
fn every_method_gives_its_training_rows_their_labels() {
    let data = blobs(60);
    let single: Vec<f32> = data.data.iter().map(|x| *x as f32).collect();
    for method in MethodKind::ALL {
        let params =
            if method == MethodKind::Lsdg { Params::lsdg(3).starts(2) } else { Params::of(3, method) };
        for samples in [
            Samples::from_rows(&data.data, 60, 3).unwrap(),
            Samples::from_rows(&single, 60, 3).unwrap(),
            Samples::from_columns(&data.data, 60, 3).unwrap(),
        ] {
            for metric in [Metric::Euclidean, Metric::Cosine] {
                let input = Input::Samples(samples, metric);
                let model = fit(input, &params).unwrap();
                let saved = SavedModel::new(&model, &input, &SaveOptions::default());
                assert_eq!(saved.predict(&samples, &Silent).unwrap(), model.labels, "{method} {metric:?}");
            }
        }
    }
}

/// All distances, or affinities, of generated blobs.
fn matrix(n: usize, affinities: bool) -> Vec<f64> {
    let data = blobs(n);
    let at = |i: usize| &data.data[3 * i..3 * i + 3];
    let distance = |i, j| at(i).iter().zip(at(j)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let value = |i, j| {
        if affinities && i == j {
            0.0
        } else if affinities {
            (-distance(i, j)).exp()
        } else {
            distance(i, j)
        }
    };
    (0..n * n).map(|at| value(at / n, at % n)).collect()
}

#[test]
fn rows_of_a_pairwise_matrix_are_known_again() {
    for affinities in [false, true] {
        let pairs = matrix(50, affinities);
        let x = Samples::from_rows(&pairs, 50, 50).unwrap();
        let input = if affinities { Input::Affinities(x) } else { Input::Distances(x) };
        let model = fit(input, &Params::lsdg(3).starts(1)).unwrap();
        let saved = SavedModel::new(&model, &input, &SaveOptions::default());
        assert_eq!(saved.predict(&x, &Silent).unwrap(), model.labels);
        // A row that is none of them goes to its neighbours.
        let near: Vec<f64> = pairs[..50].iter().map(|v| v * 1.01 + 0.001).collect();
        let label = saved.predict(&Samples::from_rows(&near, 1, 50).unwrap(), &Silent).unwrap();
        assert_eq!(label, [model.labels[0]]);
    }
}

#[test]
fn neighbour_lists_predict_from_known_distances() {
    let (n, k) = (50, 8);
    let pairs = matrix(n, false);
    let mut indices = Vec::new();
    let mut distances = Vec::new();
    let mut known = vec![f64::INFINITY; n * n];
    for i in 0..n {
        let mut row: Vec<usize> = (0..n).filter(|j| *j != i).collect();
        row.sort_by(|a, b| pairs[i * n + a].total_cmp(&pairs[i * n + b]));
        for j in &row[..k] {
            indices.push(*j as u32);
            distances.push(pairs[i * n + j]);
            known[i * n + j] = pairs[i * n + j];
        }
    }
    let input = Input::Neighbors(NeighborLists::new(&indices, &distances, n, k).unwrap());
    let model = fit(input, &Params::lsdg(3).starts(1)).unwrap();
    let saved = SavedModel::new(&model, &input, &SaveOptions::default());
    assert_eq!(saved.about.input, InputKind::Neighbors);
    let new = Samples::from_rows(&known, n, n).unwrap();
    assert_eq!(saved.predict(&new, &Silent).unwrap(), model.labels);
    let nothing = [f64::INFINITY; 50];
    let error = saved.predict(&Samples::from_rows(&nothing, 1, n).unwrap(), &Silent).unwrap_err();
    assert!(error.to_string().contains("known distance"), "{error}");
}

#[test]
fn an_answer_does_not_depend_on_its_batch() {
    let model = saved(&SaveOptions::default());
    let new = nearfar::generate::blobs(101, 3, 3, 2.0, 9).unwrap().data;
    let all = model.predict(&Samples::from_rows(&new, 101, 3).unwrap(), &Silent).unwrap();
    for (i, row) in new.chunks_exact(3).enumerate() {
        let alone = model.predict(&Samples::from_rows(row, 1, 3).unwrap(), &Silent).unwrap();
        assert_eq!(alone, [all[i]], "row {i}");
    }
    let tail = model.predict(&Samples::from_rows(&new[30..], 91, 3).unwrap(), &Silent).unwrap();
    assert_eq!(tail, all[10..]);
}

#[test]
fn far_points_have_labels_and_bad_ones_are_named() {
    let model = saved(&SaveOptions::default());
    let predict = |row: &[f64]| model.predict(&Samples::from_rows(row, 1, row.len()).unwrap(), &Silent);
    for far in [1e3, 1e30, -1e200, 1e308, 1e-308] {
        assert!(predict(&[far, -far, far]).unwrap()[0] < 3, "{far}");
    }
    let text = |row: &[f64]| predict(row).unwrap_err().to_string();
    assert!(text(&[1.0, f64::NAN, 0.0]).contains("row 0, column 1 is NaN"));
    assert!(text(&[1.0, 2.0]).contains("2 features, but the model expects 3"));
    assert!(model.predict(&Samples::from_rows(&[0.0; 0], 0, 3).unwrap(), &Silent).unwrap().is_empty());
}

#[test]
fn new_points_are_rescaled_as_the_training_data_was() {
    let data = blobs(40);
    let scaling = Scaling::Columns { origin: vec![1.0, 2.0, 3.0], unit: vec![2.0, 0.5, 0.0] };
    let mut scaled = data.data.clone();
    scaled.chunks_exact_mut(3).for_each(|row| scaling.apply(row));
    let samples = Samples::from_rows(&scaled, 40, 3).unwrap();
    let model = fit(samples, &Params::lsdg(3).starts(1)).unwrap();
    let options = SaveOptions { scaling, ..SaveOptions::default() };
    let saved = SavedModel::new(&model, &Input::from(samples), &options);
    let raw = Samples::from_rows(&data.data, 40, 3).unwrap();
    assert_eq!(saved.predict(&raw, &Silent).unwrap(), model.labels);
}

#[test]
fn another_version_or_file_is_refused_by_name() {
    let bytes = saved(&SaveOptions::default()).to_bytes();
    let kind = |bytes: &[u8]| match SavedModel::from_bytes(bytes, "m").unwrap_err() {
        Error::ModelFile(error) => error,
        other => panic!("{other}"),
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(text.contains(r#"\"version\":1"#));
    let at = bytes.windows(13).position(|w| w == br#"\"version\":1"#).unwrap();
    let mut later = bytes.clone();
    later[at + 12] = b'7';
    assert!(matches!(kind(&later), ModelFileError::Version { found: 7, .. }), "{}", kind(&later));
    assert!(matches!(kind(b""), ModelFileError::Foreign { .. }));
    assert!(matches!(kind(&[0xff; 64]), ModelFileError::Foreign { .. }));
    // A pickle that would run a command, were it ever unpickled.
    assert!(matches!(kind(b"\x80\x04\x95cos\nsystem\n(S'true'\ntR."), ModelFileError::Foreign { .. }));
    let missing = SavedModel::load(std::path::Path::new("nowhere/x.nearfar")).unwrap_err().to_string();
    assert!(missing.contains("nowhere/x.nearfar: the model cannot be read"), "{missing}");
}

#[test]
fn the_dissimilarity_can_be_made_again() {
    let (kept, lean) = (saved(&everything()), saved(&SaveOptions::default()));
    assert!(lean.dissimilarity.is_none());
    assert_eq!(lean.dissimilarity_again(&Silent).unwrap(), kept.dissimilarity);
}

#[test]
fn every_cut_is_refused() {
    let bytes = saved(&everything()).to_bytes();
    let step = (bytes.len() / 400).max(1);
    for len in (0..bytes.len()).step_by(step).chain(bytes.len() - 9..bytes.len()) {
        assert!(SavedModel::from_bytes(&bytes[..len], "m").is_err(), "{len} of {} bytes", bytes.len());
    }
}

#[test]
fn a_header_with_a_right_checksum_is_still_checked() {
    // Made up by somebody who knows the format: labels of clusters that are not there.
    let mut model = saved(&SaveOptions::default());
    model.labels[3] = 99;
    let text = SavedModel::from_bytes(&model.to_bytes(), "m").unwrap_err().to_string();
    assert!(text.contains("label 3 is 99, of 3 clusters"), "{text}");
    let mut model = saved(&everything());
    model.similarity.as_mut().unwrap().columns[0] = 40;
    assert!(SavedModel::from_bytes(&model.to_bytes(), "m").is_err());
    let mut model = saved(&SaveOptions::default());
    model.about.n_samples = usize::MAX;
    assert!(SavedModel::from_bytes(&model.to_bytes(), "m").is_err());
    let mut model = saved(&SaveOptions::default());
    model.near_weights[1] = f64::NAN;
    assert!(SavedModel::from_bytes(&model.to_bytes(), "m").is_err());
    let mut model = saved(&SaveOptions::default());
    model.sigma.as_mut().unwrap()[0] = 0.0;
    assert!(SavedModel::from_bytes(&model.to_bytes(), "m").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever is done to the bytes: refused, or the same model.
    #[test]
    fn altered_bytes_are_refused(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        static BYTES: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
        let bytes = BYTES.get_or_init(|| saved(&everything()).to_bytes());
        let mut altered = bytes.clone();
        for (place, value) in changes {
            // Half of all changes to the header, which is the smaller part.
            let end = if value % 2 == 0 { bytes.len() } else { bytes.len().min(6000) };
            let at = place.index(end);
            altered[at] ^= value;
        }
        if let Ok(model) = SavedModel::from_bytes(&altered, "m") {
            prop_assert!(&model.to_bytes() == bytes);
        }
    }
}

/// Cancels, or has enough, after some iterations.
struct After {
    left: AtomicUsize,
    enough: bool,
    keeper: Keeper,
}

impl After {
    fn new(iterations: usize, enough: bool) -> Self {
        Self { left: AtomicUsize::new(iterations), enough, keeper: Keeper::default() }
    }

    fn over(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }
}

impl Observer for After {
    fn notice(&self, event: &Event<'_>) {
        self.keeper.notice(event);
        if let Event::Iteration { .. } = event {
            let less = |left: usize| Some(left.saturating_sub(1));
            let _ = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
        }
    }

    fn cancelled(&self) -> bool {
        !self.enough && self.over()
    }

    fn enough(&self) -> bool {
        self.enough && self.over()
    }
}

#[test]
fn a_cancelled_run_leaves_its_best_start() {
    let data = nearfar::generate::chart(20, 30, 2.0, 1).unwrap();
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap();
    for (method, iterations) in [(MethodKind::Lsdg, 3), (MethodKind::Lsdg, 150), (MethodKind::SymNmf, 5)] {
        let params = Params { threads: Some(1), ..Params::of(6, method) };
        let observer = After::new(iterations, false);
        let outcome = Run::new(&params).observe(&observer).fit(samples);
        assert!(matches!(outcome, Err(Error::Cancelled { .. })), "{method}");
        let model = observer.keeper.into_model(&params).unwrap();
        assert_eq!(model.labels.len(), data.n_samples);
        assert!(!model.best_member().unwrap().last_loop().trace.is_empty());
        let options = SaveOptions { partial: true, ..SaveOptions::default() };
        let saved = SavedModel::new(&model, &Input::from(samples), &options);
        let back = SavedModel::from_bytes(&saved.to_bytes(), "m").unwrap();
        assert!(!back.about.complete);
        assert_eq!(back.predict(&samples, &Silent).unwrap(), model.labels);
    }
    let nothing = Keeper::default().into_model(&Params::lsdg(2));
    assert!(nothing.is_none());
}

#[test]
fn whoever_has_enough_gets_labels() {
    let data = nearfar::generate::chart(20, 30, 2.0, 1).unwrap();
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap();
    for method in MethodKind::ALL {
        let mut params = Params::of(6, method).threads(1);
        params.set_if_used("starts", 3_usize).unwrap();
        let observer = After::new(2, true);
        let model = Run::new(&params).observe(&observer).fit(samples).unwrap();
        assert_eq!(model.labels.len(), data.n_samples, "{method}");
        let made: usize = model.members.iter().map(|m| m.last_loop().iterations).sum();
        let loops = !matches!(method, MethodKind::KMeans | MethodKind::Spectral);
        assert!(!loops || made <= 5, "{method}: {made} iterations");
    }
}
