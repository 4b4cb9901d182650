//! A run that was interrupted, anywhere, goes on to the same bits as an unbroken one; what cannot be saved or used
//! does no harm.
//!
//! One file, although long: every test compares by the same bits and interrupts by the same observer.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use nearfar::checkpoint::Checkpoint;
use nearfar::checkpoint::CheckpointError;
use nearfar::generate::{Generated, blobs};
use nearfar::internals::mixture;
use nearfar::learn::{Learned, LsdgParams, StopReason};
use nearfar::model::Warning;
use nearfar::observe::{CancelFlag, Event, Observer};
use nearfar::{
    BinnedParams, Error, Input, Metric, Mode, Model, Params, Precision, Preset, Run, Samples, Starts,
};

/// A folder of its own for one test, empty at the start.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkpoint").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The one file whose name begins so.
fn part(folder: &Path, prefix: &str) -> PathBuf {
    let found: Vec<String> = names(folder).into_iter().filter(|name| name.starts_with(prefix)).collect();
    assert_eq!(found.len(), 1, "{prefix}: {found:?}");
    folder.join(&found[0])
}

fn samples(data: &Generated) -> Samples<'_> {
    Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap()
}

fn of(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

fn of_loop(learned: &Learned) -> Vec<u64> {
    let rows = learned.trace.iter().flat_map(|row| {
        let terms = [
            row.fit,
            row.dissimilarity,
            row.overlap,
            row.density,
            row.orthogonality,
            row.penalty,
            row.loss(),
        ];
        [of(&terms), of(&row.change), vec![row.iteration as u64]].concat()
    });
    rows.chain([learned.iterations as u64, learned.reason as u64]).collect()
}

/// Everything of a model but its times, as bits, with its name.
fn bits(model: &Model) -> Vec<(String, Vec<u64>)> {
    let mut all = vec![
        ("labels".to_string(), model.labels.iter().map(|l| *l as u64).collect()),
        ("membership".into(), of(&model.membership)),
        ("w".into(), of(&model.near_weights)),
        ("p".into(), of(&model.far_weights)),
        ("eigenvalues".into(), of(&model.eigenvalues)),
        ("embedding".into(), of(&model.embedding)),
        ("sigma".into(), of(model.sigma.as_deref().unwrap_or_default())),
        (
            "best, agreement".into(),
            vec![model.best as u64, model.agreement.to_bits(), model.members.len() as u64],
        ),
    ];
    for (m, member) in model.members.iter().enumerate() {
        all.push((format!("factor of member {m}"), of(member.factor.values())));
        all.push((format!("w of member {m}"), of(&member.near_weights)));
        all.push((format!("p of member {m}"), of(&member.far_weights)));
        let (q, o) = (member.coefficients, member.objective);
        let numbers = [q.alpha, q.beta.unwrap_or(-1.0), q.mu, q.eta, o.fit, o.dissimilarity, o.overlap];
        all.push((format!("coefficients of member {m}"), of(&numbers)));
        let numbers = [o.density, o.orthogonality, o.total(), member.cut.unwrap_or(-1.0)];
        all.push((format!("judgement of member {m}"), of(&numbers)));
        let labels = member.labels.iter().flatten().map(|label| *label as u64).collect();
        all.push((format!("labels of member {m}"), labels));
        let flags = [member.kept, member.spectral_start, member.labels.is_some()].map(u64::from);
        let counts = [member.dead_columns as u64, member.neighbors.map_or(0, |k| k as u64 + 1)];
        all.push((format!("notes of member {m}"), [&flags[..], &counts].concat()));
        all.push((format!("starting loop of member {m}"), of_loop(&member.started)));
        all.push((format!("main loop of member {m}"), member.learned.as_ref().map_or(Vec::new(), of_loop)));
    }
    all
}

fn assert_same(what: &str, ours: &Model, theirs: &Model) {
    let (ours_bits, theirs_bits) = (bits(ours), bits(theirs));
    assert_eq!(ours_bits.len(), theirs_bits.len(), "{what}");
    for ((name, ours), (_, theirs)) in ours_bits.iter().zip(&theirs_bits) {
        assert!(ours == theirs, "{what}: {name} differs");
    }
    assert_eq!(ours.warnings, theirs.warnings, "{what}");
    assert_eq!(ours.binned, theirs.binned, "{what}");
    assert_eq!(ours.params.lsdg, theirs.params.lsdg, "{what}");
}

/// Cancels as soon as it sees a stage or an iteration that no run before it saw.
#[derive(Default)]
struct OneStepFurther {
    seen: Mutex<HashSet<(usize, usize)>>,
    /// Stages of the present run.
    stages: AtomicUsize,
    cancel: AtomicBool,
    troubles: AtomicUsize,
}

impl OneStepFurther {
    fn again(&self) {
        self.stages.store(0, Ordering::Relaxed);
        self.cancel.store(false, Ordering::Relaxed);
    }
}

impl Observer for OneStepFurther {
    fn notice(&self, event: &Event<'_>) {
        let step = match event {
            Event::Started { .. } => (usize::MAX, self.stages.fetch_add(1, Ordering::Relaxed)),
            Event::Iteration { member, row } => (*member, row.iteration),
            Event::Trouble { .. } => {
                self.troubles.fetch_add(1, Ordering::Relaxed);
                return;
            }
            _ => return,
        };
        if self.seen.lock().unwrap().insert(step) {
            self.cancel.store(true, Ordering::Relaxed);
        }
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// Cancels when it was asked for the so-many-th time: in the middle of a search, a sweep, an eigenproblem.
struct AfterQuestions(AtomicUsize);

impl Observer for AfterQuestions {
    fn cancelled(&self) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(1), Ordering::Relaxed);
        left == 0
    }
}

fn cancelled(result: &nearfar::Result<Model>) -> bool {
    matches!(result, Err(Error::Cancelled { .. }))
}

/// Interrupt a run at every stage and iteration, and then, with other threads each time, at many other moments;
/// each time it must go on to the same end.
fn check(name: &str, input: &Input<'_>, params: &Params) -> Model {
    let folder = folder(name);
    let unbroken = Run::new(params).fit(input).unwrap();
    let resume = || Checkpoint::new(&folder).every(Duration::ZERO).resume(true);

    let observer = OneStepFurther::default();
    let mut runs = 0;
    let model = loop {
        observer.again();
        let checkpoint = resume();
        let result = Run::new(&params.clone().threads(1 + runs % 3))
            .checkpoint(&checkpoint)
            .observe(&observer)
            .fit(input);
        assert_eq!(checkpoint.resumed().is_some(), runs > 0);
        runs += 1;
        if cancelled(&result) {
            continue;
        }
        checkpoint.remove().unwrap();
        break result.unwrap();
    };
    assert_same(&format!("{name}, in {runs} runs"), &unbroken, &model);
    // Every run but the last made at least one new step, and none twice.
    let steps = observer.seen.lock().unwrap().len();
    assert!(runs > 8 && runs <= steps + 1, "{name}: {runs} runs for {steps} steps");
    assert_eq!(observer.troubles.load(Ordering::Relaxed), 0);
    assert_eq!(names(&folder), Vec::<String>::new());

    let mut runs = 0;
    let model = loop {
        let observer = AfterQuestions(AtomicUsize::new(17 + 29 * runs));
        let checkpoint = resume();
        let result = Run::new(&params.clone().threads(1 + runs % 3))
            .checkpoint(&checkpoint)
            .observe(&observer)
            .fit(input);
        runs += 1;
        if !cancelled(&result) {
            break result.unwrap();
        }
    };
    assert!(runs > 3, "{name}: {runs}");
    assert_same(&format!("{name}, stopped anywhere in {runs} runs"), &unbroken, &model);
    // All is there now: the next run only puts it together.
    let checkpoint = resume();
    let model = Run::new(params).checkpoint(&checkpoint).fit(input).unwrap();
    assert_same(&format!("{name}, from its parts"), &unbroken, &model);
    let resumed = checkpoint.resumed().unwrap();
    assert_eq!(
        (resumed.starts, resumed.running.len(), resumed.spectrum),
        (params.starts, 0, true),
        "{resumed:?}"
    );
    model
}

fn knobs(near: usize, far: usize, bins: usize) -> BinnedParams {
    BinnedParams { near: Some(near), far: Some(far), bins: Some(bins) }
}

/// Few iterations, so that there are few moments to stop at.
fn short(mut params: Params, max_iter: usize) -> Params {
    params.stop.max_iter = max_iter;
    params
}

fn small() -> Generated {
    blobs(200, 3, 3, 1.0, 7).unwrap()
}

/// Binned mode on the small set.
fn binned(starts: usize) -> Params {
    Params { binned: knobs(24, 12, 8), ..Params::lsdg(3).starts(starts) }.mode(Mode::Binned).neighbors(6)
}

#[test]
fn exact_mode_with_several_starts() {
    let data = blobs(120, 3, 4, 1.3, 5).unwrap();
    check("exact", &samples(&data).into(), &short(Params::lsdg(4).starts(3).mode(Mode::Exact), 6));
}

#[test]
fn exact_mode_with_plain_starts_in_single_precision() {
    let data = mixture(130, 20, 4, 2.5, 9).unwrap();
    let params = Params::preset(4, Preset::Paper).precision(Precision::Single).mode(Mode::Exact).seed(3);
    let model = check("paper", &Input::Samples(samples(&data), Metric::Cosine), &params);
    // To its own end, not to a number of iterations.
    assert_ne!(model.members[0].last_loop().reason, StopReason::MaxIterations);
}

#[test]
fn binned_mode_with_several_starts() {
    let model = check("binned", &samples(&small()).into(), &short(binned(3), 6));
    assert_eq!(model.binned.map(|report| report.shape.near), Some(24));
}

#[test]
fn too_few_near_ranks() {
    let data = blobs(200, 3, 3, 0.5, 1).unwrap();
    let lsdg = LsdgParams::scale_free(0.5, 10.0, 20);
    let params = Params { lsdg, binned: knobs(8, 12, 16), ..Params::lsdg(3).starts(2) }.mode(Mode::Binned);
    let params = Params { spread_neighbors: false, start: Starts::Both, ..params };
    let model = check("few", &samples(&data).into(), &short(params, 4));
    assert!(model.warnings.contains(&Warning::NearEnd { near: 8 }), "{:?}", model.warnings);
}

#[test]
fn a_weaker_beta_after_a_collapse() {
    let data = blobs(60, 2, 2, 1.0, 3).unwrap();
    let params = short(Params::lsdg(2).starts(2), 8);
    let params = Params { lsdg: LsdgParams { beta: 1e4, ..params.lsdg }, ..params };
    let model = check("weaker", &samples(&data).into(), &params);
    assert!(model.params.lsdg.beta < 1e4, "nothing collapsed, so nothing was tested");
}

/// Does something once, at the first iteration of a start; counts troubles.
struct At<F: Fn() + Sync> {
    start: usize,
    then: F,
    done: AtomicBool,
    troubles: Mutex<Vec<String>>,
}

impl<F: Fn() + Sync> At<F> {
    fn start(start: usize, then: F) -> Self {
        Self { start, then, done: AtomicBool::new(false), troubles: Mutex::default() }
    }
}

impl<F: Fn() + Sync> Observer for At<F> {
    fn notice(&self, event: &Event<'_>) {
        match event {
            Event::Iteration { member, .. }
                if *member == self.start && !self.done.swap(true, Ordering::Relaxed) =>
            {
                (self.then)();
            }
            Event::Trouble { message } => self.troubles.lock().unwrap().push((*message).to_owned()),
            _ => {}
        }
    }
}

#[test]
fn a_folder_that_can_no_longer_be_written_leaves_the_last_good_state() {
    let (place, data) = (folder("unwritable"), small());
    let (here, away) = (place.join("run"), place.join("away"));
    let (input, params) = (Input::from(samples(&data)), short(binned(3), 6).threads(1));
    let unbroken = Run::new(&params).fit(input).unwrap();
    // Not even the superuser can write into a file as if it were a folder.
    let observer = At::start(1, || {
        std::fs::rename(&here, &away).unwrap();
        std::fs::write(&here, "in the way").unwrap();
    });
    let checkpoint = Checkpoint::new(&here).every(Duration::ZERO);
    let model = Run::new(&params).checkpoint(&checkpoint).observe(&observer).fit(input).unwrap();
    assert_same("without a folder", &unbroken, &model);
    let troubles = observer.troubles.into_inner().unwrap();
    assert_eq!(troubles.len(), 1, "{troubles:?}");
    assert!(troubles[0].contains("could not be saved") && troubles[0].contains("goes on"), "{troubles:?}");
    assert_eq!(checkpoint.troubles(), troubles);
    assert!(names(&away).iter().all(|name| !name.starts_with('.')), "{:?}", names(&away));

    let checkpoint = Checkpoint::new(&away).resume(true);
    assert_same(
        "from what was left",
        &unbroken,
        &Run::new(&params).checkpoint(&checkpoint).fit(input).unwrap(),
    );
    let resumed = checkpoint.resumed().unwrap();
    assert_eq!((resumed.neighbors, resumed.starts), (Some(23), 1), "{resumed:?}");
    assert!(resumed.to_string().contains("1 finished start, start 2 at iteration"), "{resumed}");

    // A place that cannot be written from the beginning is refused before the work.
    let error = Run::new(&params).checkpoint(&Checkpoint::new(here.join("deeper"))).fit(input).unwrap_err();
    assert!(matches!(error, Error::Checkpoint(CheckpointError::Io { .. })), "{error}");
    assert!(error.to_string().contains("cannot be"), "{error}");
}

/// Watches, and stops when the flag is raised.
struct Both<'a, O: Observer>(&'a CancelFlag, O);

impl<O: Observer> Observer for Both<'_, O> {
    fn notice(&self, event: &Event<'_>) {
        self.1.notice(event);
    }
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// A folder with every kind of part: two starts are finished, the third stands in the middle, and the eigenvectors
/// are those of a whole run.
fn every_part(name: &str, input: &Input<'_>, params: &Params) -> PathBuf {
    let (place, whole) = (folder(name), folder(&format!("{name}-whole")));
    let flag = CancelFlag::default();
    let observer = Both(&flag, At::start(2, || flag.cancel()));
    let checkpoint = Checkpoint::new(&place).every(Duration::ZERO);
    assert!(cancelled(&Run::new(params).checkpoint(&checkpoint).observe(&observer).fit(input)));
    Run::new(params).checkpoint(&Checkpoint::new(&whole)).fit(input).unwrap();
    let spectrum = part(&whole, "nearfar-spectrum-");
    std::fs::copy(&spectrum, place.join(spectrum.file_name().unwrap())).unwrap();
    let there = names(&place);
    assert_eq!(there.len(), 6, "manifest, lists, two starts, a loop, the eigenvectors: {there:?}");
    place
}

#[test]
fn damaged_files_are_found_out() {
    let data = small();
    let (input, params) = (Input::from(samples(&data)), short(binned(3), 4).threads(1));
    let unbroken = Run::new(&params).fit(input).unwrap();
    let place = every_part("damaged", &input, &params);
    let kept: Vec<(String, Vec<u8>)> = names(&place)
        .into_iter()
        .map(|name| (name.clone(), std::fs::read(place.join(name)).unwrap()))
        .collect();
    let clear = || names(&place).iter().for_each(|name| std::fs::remove_file(place.join(name)).unwrap());
    let restore = || kept.iter().for_each(|(name, bytes)| std::fs::write(place.join(name), bytes).unwrap());
    for (name, bytes) in &kept {
        let mut flipped = bytes.clone();
        flipped[bytes.len() - 9] ^= 1;
        for (how, bytes) in [("cut", &bytes[..bytes.len() / 2]), ("flipped", &flipped), ("empty", &[])] {
            clear();
            restore();
            std::fs::write(place.join(name), bytes).unwrap();
            let observer = At::start(usize::MAX, || {});
            let checkpoint = Checkpoint::new(&place).resume(true);
            let result = Run::new(&params).checkpoint(&checkpoint).observe(&observer).fit(input);
            if name == "nearfar-checkpoint.json" {
                let error = result.unwrap_err();
                assert!(
                    matches!(error, Error::Checkpoint(CheckpointError::Manifest { .. })),
                    "{how}: {error}"
                );
                continue;
            }
            assert_same(&format!("{name} {how}"), &unbroken, &result.unwrap());
            let troubles = observer.troubles.into_inner().unwrap();
            assert_eq!(troubles.len(), 1, "{name} {how}: {troubles:?}");
            assert!(troubles[0].contains(name.as_str()) && troubles[0].contains("damaged"), "{troubles:?}");
        }
    }
}

#[test]
fn other_runs_are_refused_by_what_differs() {
    let data = small();
    let (input, params) = (Input::from(samples(&data)), short(binned(3), 4).threads(1));
    let place = every_part("others", &input, &params);
    let before = names(&place);
    let resume = || Checkpoint::new(&place).resume(true);
    let refused = |input: &Input<'_>, params: &Params, words: &[&str]| {
        let error = Run::new(params).checkpoint(&resume()).fit(input).unwrap_err();
        assert!(matches!(error, Error::Checkpoint(CheckpointError::OtherRun { .. })), "{error}");
        for word in words {
            assert!(error.to_string().contains(word), "{word}: {error}");
        }
    };
    let mut one = data.data.clone();
    one[7] = one[7].next_up();
    let one = Samples::from_rows(&one, 200, 3).unwrap();
    refused(&one.into(), &params, &["the values of the data differ; "]);
    let fewer = Samples::from_rows(&data.data[..597], 199, 3).unwrap();
    refused(&fewer.into(), &params, &["samples is 199 here and 200 in the checkpoint"]);
    refused(
        &Input::Samples(samples(&data), Metric::Cosine),
        &params,
        &["cosine here and samples, euclidean"],
    );
    refused(&input, &params.clone().seed(5), &["seed is 5 here and 0 in the checkpoint; "]);
    let other = Params { lsdg: LsdgParams { beta: 2.0, ..params.lsdg }, ..params.clone() };
    refused(&input, &other, &["lsdg.beta is 2.0 here and 10.0"]);
    refused(
        &input,
        &params.clone().mode(Mode::Exact),
        &[
            "mode",
            "mode is exact here and binned in the checkpoint",
            "held as is exact, double here and binned, single, ",
        ],
    );

    // Not to be resumed, it is not written over.
    let error = Run::new(&params).checkpoint(&Checkpoint::new(&place)).fit(input).unwrap_err();
    assert!(matches!(error, Error::Checkpoint(CheckpointError::Taken { .. })), "{error}");
    assert!(error.to_string().contains("`resume`") && error.to_string().contains("200 points"), "{error}");
    assert_eq!(names(&place), before);

    // Threads and memory are no part of the result.
    let unbroken = Run::new(&params).fit(input).unwrap();
    let other = Params { memory: Some(1 << 30), ..params.clone().threads(2) };
    let checkpoint = resume();
    assert_same("threads", &unbroken, &Run::new(&other).checkpoint(&checkpoint).fit(input).unwrap());
    assert_eq!(checkpoint.resumed().unwrap().starts, 2);

    let spectral = Params::of(3, nearfar::learn::MethodParams::Spectral);
    let error = Run::new(&spectral).checkpoint(&resume()).fit(input).unwrap_err();
    assert!(matches!(error, Error::Param(_)), "{error}");
}

#[test]
fn parts_of_another_run_are_never_used() {
    let data = small();
    let (input, params) = (Input::from(samples(&data)), short(binned(3), 4).threads(1));
    let place = every_part("leftover", &input, &params);
    let other = params.clone().seed(5);
    let unbroken = Run::new(&other).fit(input).unwrap();
    let leftover: Vec<(String, Vec<u8>)> = names(&place)
        .into_iter()
        .map(|name| (name.clone(), std::fs::read(place.join(name)).unwrap()))
        .collect();
    // Without a manifest they are no checkpoint; files of others are left alone.
    std::fs::remove_file(place.join("nearfar-checkpoint.json")).unwrap();
    std::fs::write(place.join("nearfar.txt"), "mine").unwrap();
    std::fs::write(place.join(".nearfar-loop-24-0-0000.safetensors.AbCdEf"), "half").unwrap();
    let checkpoint = Checkpoint::new(&place).resume(true);
    assert!(!checkpoint.exists());
    assert_same("leftover", &unbroken, &Run::new(&other).checkpoint(&checkpoint).fit(input).unwrap());
    assert_eq!(checkpoint.resumed(), None);
    // Beside the manifest of another run they are none of its parts.
    for (name, bytes) in leftover.iter().filter(|(name, _)| name.ends_with(".safetensors")) {
        std::fs::write(place.join(name), bytes).unwrap();
    }
    let checkpoint = Checkpoint::new(&place).resume(true);
    assert_same("mixed", &unbroken, &Run::new(&other).checkpoint(&checkpoint).fit(input).unwrap());
    checkpoint.remove().unwrap();
    assert_eq!(names(&place), ["nearfar.txt"]);
}

/// Has enough behind this iteration of this start.
struct Enough {
    at: (usize, usize),
    had: AtomicBool,
}

impl Observer for Enough {
    fn notice(&self, event: &Event<'_>) {
        if let Event::Iteration { member, row } = event
            && (*member, row.iteration) == self.at
        {
            self.had.store(true, Ordering::Relaxed);
        }
    }

    fn enough(&self) -> bool {
        self.had.load(Ordering::Relaxed)
    }
}

#[test]
fn a_run_that_ends_early_can_still_be_run_to_its_end() {
    let data = blobs(200, 3, 3, 0.5, 1).unwrap();
    let lsdg = LsdgParams::scale_free(0.5, 10.0, 20);
    let params = Params { lsdg, binned: knobs(8, 12, 16), ..Params::lsdg(3).starts(3) }.mode(Mode::Binned);
    let params = Params { spread_neighbors: false, ..short(params, 6) }.threads(1);
    let input = Input::from(samples(&data));
    let unbroken = Run::new(&params).fit(input).unwrap();
    for at in [(0, 1), (1, 3), (2, 2)] {
        let place = folder("enough");
        let observer = Enough { at, had: AtomicBool::new(false) };
        let early = Run::new(&params)
            .checkpoint(&Checkpoint::new(&place).every(Duration::ZERO))
            .observe(&observer)
            .fit(input)
            .unwrap();
        let stopped = early.members.iter().any(|member| member.last_loop().reason == StopReason::Stopped);
        assert!(stopped || early.members.len() < 3, "{at:?}: it ran to its end");
        let checkpoint = Checkpoint::new(&place).resume(true);
        let model = Run::new(&params).checkpoint(&checkpoint).fit(input).unwrap();
        assert_same(&format!("enough at {at:?}"), &unbroken, &model);
    }
}
