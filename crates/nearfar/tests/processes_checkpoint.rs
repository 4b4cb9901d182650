//! Processes that share the rows save into one folder, and any number of them goes on from it to the bits of an
//! unbroken run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use nearfar::checkpoint::Checkpoint;
use nearfar::checkpoint::CheckpointError;
use nearfar::generate::Generated;
use nearfar::internals::mixture;
use nearfar::observe::{Event, Observer, Silent};
use nearfar::processes::{Share, Team};
use nearfar::{BinnedParams, Error, Input, Metric, Mode, Model, Params, Run, Samples};
use nearfar_testkit::threads::as_team;

/// A folder of its own for one test, empty at the start.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("processes_checkpoint").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn data() -> Generated {
    mixture(1100, 16, 3, 2.0, 3).unwrap()
}

/// Several starts.
fn params() -> Params {
    let binned = BinnedParams { near: Some(16), far: Some(24), ..BinnedParams::default() };
    let mut params = Params { binned, ..Params::lsdg(3).starts(3).seed(4) }.neighbors(30);
    params.stop.max_iter = 5;
    params
}

/// Everything that a run is for, as bits.
fn bits(model: &Model) -> Vec<Vec<u64>> {
    let of = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
    let mut all = vec![
        model.labels.iter().map(|label| *label as u64).collect(),
        of(&model.membership),
        of(&model.near_weights),
        of(&model.far_weights),
        of(&model.eigenvalues),
        of(&model.embedding),
        of(model.sigma.as_deref().unwrap_or_default()),
    ];
    for member in &model.members {
        all.push(of(member.factor.values()));
        all.push(member.last_loop().trace.iter().map(|row| row.loss().to_bits()).collect());
        all.push(of(&[member.cut.unwrap_or(-1.0), member.objective.total()]));
    }
    all
}

/// One process without a team.
fn alone(data: &Generated, checkpoint: Option<&Checkpoint>) -> nearfar::Result<Model> {
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features).unwrap();
    let (input, params) =
        (Input::Samples(samples, Metric::Euclidean), params().mode(Mode::Binned).threads(2));
    match checkpoint {
        Some(checkpoint) => Run::new(&params).checkpoint(checkpoint).fit(input),
        None => Run::new(&params).fit(input),
    }
}

/// One process of a team.
fn part(
    data: &Generated,
    team: &Arc<Team>,
    params: &Params,
    checkpoint: &Checkpoint,
    observer: &dyn Observer,
) -> nearfar::Result<Model> {
    let share = Share::new(team.clone(), data.n_samples);
    let (rows, m) = (share.rows(), data.n_features);
    let samples = Samples::from_rows(&data.data[rows.start * m..rows.end * m], rows.len(), m).unwrap();
    let params = params.clone().threads(1 + team.rank() % 2);
    Run::new(&params).checkpoint(checkpoint).observe(observer).fit(Input::Part(
        samples,
        Metric::Euclidean,
        &share,
    ))
}

fn resume(place: &Path) -> Checkpoint {
    Checkpoint::new(place).every(Duration::ZERO).resume(true)
}

/// Ends its process, or asks for the end, at the so-many-th event.
struct Ends {
    left: AtomicUsize,
    killed: bool,
}

impl Observer for Ends {
    fn notice(&self, event: &Event<'_>) {
        if matches!(event, Event::Trouble { .. }) {
            return;
        }
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        // Not inside of a parallel loop, where others still work for the same process.
        let between = !matches!(event, Event::Progress { .. });
        assert!(!(left == 0 && between && self.killed), "killed, as the test wants it");
    }

    fn cancelled(&self) -> bool {
        !self.killed && self.left.load(Ordering::Relaxed) == 0
    }
}

/// A process is killed or interrupted again and again, and other numbers of processes go on.
#[test]
fn any_number_goes_on_from_what_another_number_left() {
    let (data, place) = (data(), folder("numbers"));
    let unbroken = bits(&alone(&data, None).unwrap());
    let (mut ended, mut random) = ([0, 0], 7_u64);
    for turn in 0.. {
        assert!(turn < 60, "it never ends");
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (size, killed) = ([2, 3, 1, 5][turn % 4], turn % 2 == 0);
        let victim = (random >> 40) as usize % size;
        let events = 2 + 4 * turn + (random >> 33) as usize % 12;
        let run = || {
            as_team(size, |team| {
                let observer = Ends { left: AtomicUsize::new(events), killed };
                let observer: &dyn Observer = if team.rank() == victim { &observer } else { &Silent };
                let checkpoint = resume(&place);
                let model = part(&data, team, &params(), &checkpoint, observer);
                assert_eq!(checkpoint.troubles(), Vec::<String>::new());
                (model.map(|model| bits(&model)), checkpoint.resumed())
            })
        };
        let Ok(results) = catch_unwind(AssertUnwindSafe(run)) else {
            ended[0] += 1;
            continue;
        };
        // All tell the same.
        assert!(results.iter().all(|(_, resumed)| *resumed == results[0].1));
        if results.iter().all(|(result, _)| matches!(result, Err(Error::Cancelled { .. }))) {
            ended[1] += 1;
            continue;
        }
        for (result, _) in results {
            assert!(result.unwrap() == unbroken, "{size} ranks after {ended:?}");
        }
        break;
    }
    assert!(ended[0] >= 2 && ended[1] >= 2, "{ended:?}");

    // All is there now; one process without a team only puts it together, and so do four.
    let checkpoint = resume(&place);
    assert!(bits(&alone(&data, Some(&checkpoint)).unwrap()) == unbroken);
    let resumed = checkpoint.resumed().unwrap();
    assert_eq!((resumed.starts, resumed.running.len(), resumed.spectrum), (3, 0, true), "{resumed:?}");
    as_team(4, |team| {
        let checkpoint = resume(&place);
        let model = part(&data, team, &params(), &checkpoint, &Silent).unwrap();
        assert!(bits(&model) == unbroken);
        assert_eq!(checkpoint.resumed().unwrap().starts, 3);
        // The first has removed all when everybody has called it.
        checkpoint.remove().unwrap();
    });
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
}

#[test]
fn a_team_goes_on_from_what_one_process_left() {
    let (data, place) = (data(), folder("alone"));
    let unbroken = bits(&alone(&data, Some(&Checkpoint::new(&place))).unwrap());
    // The last start is damaged: it is learnt again, and all hear of it.
    let name = "nearfar-start-16-0-0002.safetensors";
    assert!(place.join(name).exists());
    std::fs::write(place.join(name), "half").unwrap();
    as_team(3, |team| {
        let checkpoint = resume(&place);
        assert!(bits(&part(&data, team, &params(), &checkpoint, &Silent).unwrap()) == unbroken);
        assert_eq!(checkpoint.resumed().unwrap().starts, 2);
        let troubles = checkpoint.troubles();
        assert!(troubles.len() == 1 && troubles[0].contains(name), "{troubles:?}");
    });
}

/// What all processes of a team of three are refused for, and the words of the first.
fn refused(
    data: &Generated,
    checkpoint: impl Fn(usize) -> Checkpoint + Sync,
    params: impl Fn(usize) -> Params + Sync,
) -> Error {
    let mut errors = as_team(3, |team| {
        part(data, team, &params(team.rank()), &checkpoint(team.rank()), &Silent).unwrap_err()
    });
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    errors.swap_remove(0)
}

#[test]
fn all_are_refused_alike() {
    let (mut data, place) = (data(), folder("refused"));
    as_team(2, |team| part(&data, team, &params(), &Checkpoint::new(&place), &Silent).map(|_| ()).unwrap());
    let saved = |error: Error| match error {
        Error::Checkpoint(error) => error,
        other => panic!("{other}"),
    };
    let error = saved(refused(&data, |_| Checkpoint::new(&place), |_| params()));
    assert!(matches!(error, CheckpointError::Taken { .. }), "{error}");
    let error = saved(refused(&data, |_| resume(&place), |_| params().seed(5)));
    assert!(matches!(error, CheckpointError::OtherRun { .. }), "{error}");
    assert!(error.to_string().contains("seed is 5 here and 4 in the checkpoint"), "{error}");
    let error = saved(refused(&data, |_| resume(&place), |rank| params().seed(4 + rank as u64 / 2)));
    assert!(matches!(error, CheckpointError::OtherRank { rank: 2, .. }), "{error}");
    assert!(error.to_string().contains("seed is 5 here and 4 in rank 0"), "{error}");
    let error = saved(refused(
        &data,
        |_| Checkpoint::new(place.join("nearfar-checkpoint.json/deeper")),
        |_| params(),
    ));
    assert!(matches!(error, CheckpointError::Io { .. }), "{error}");
    // Each rank has a folder of its own under the name.
    let own = folder("refused-own");
    let place_of = |rank: usize| Checkpoint::new(own.join(format!("of-{rank}")));
    let error = refused_by_folder(&data, place_of);
    assert!(error.contains("rank 1 does not find there what rank 0 has written"), "{error}");
    // A value in the rows of the last rank.
    let last = data.data.len() - 1;
    data.data[last] = data.data[last].next_up();
    let error = saved(refused(&data, |_| resume(&place), |_| params()));
    assert!(error.to_string().contains("the values of the data differ"), "{error}");
    std::fs::write(place.join("nearfar-checkpoint.json"), "{}").unwrap();
    let error = saved(refused(&data, |_| resume(&place), |_| params()));
    assert!(matches!(error, CheckpointError::Manifest { .. }), "{error}");
}

/// Folders have other names here, so that only the kind of refusal is the same.
fn refused_by_folder(data: &Generated, checkpoint: impl Fn(usize) -> Checkpoint + Sync) -> String {
    let errors = as_team(2, |team| {
        part(data, team, &params(), &checkpoint(team.rank()), &Silent).unwrap_err().to_string()
    });
    assert!(errors[1].contains("rank 1 does not find there"), "{errors:?}");
    errors[0].clone()
}
