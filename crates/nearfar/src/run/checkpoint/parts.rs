//! The parts of a checkpoint: into files and back, to the same bits.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

use super::{Checkpoint, Resumed, ResumedStart, Share};
use crate::learn::lsdg::objective::{Coefficients, Objective};
use crate::learn::{Learned, Member, Method, StopReason, TraceRow};
use crate::math::factor::Factor;
use crate::model::Warning;
use crate::model::tensors::{Array, Arrays, Length};
use crate::neighbors::SearchReport;
use crate::neighbors::search::Lists;
use crate::observe::Observer;
use crate::spectral::eigen::Eigen;

/// Rows of a file of neighbour lists.
pub const ROWS: usize = 65_536;

/// What the neighbour stage of binned mode gives.
pub(crate) struct FoundLists {
    /// Of the own rows.
    pub(crate) lists: Lists,
    pub(crate) report: SearchReport,
    /// Local scales of all points, in the units of the lists.
    pub(crate) sigma: Vec<f64>,
    pub(crate) warnings: Vec<Warning>,
    /// Multiply a scale by this to have it in the units of the data.
    pub(crate) unit: f64,
}

#[derive(serde::Deserialize, serde::Serialize)]
struct ListsHead {
    n_samples: usize,
    n_neighbors: usize,
    first_row: usize,
    approximate: bool,
    warnings: Vec<Warning>,
}

fn lists_name(name: &str, first: usize) -> String {
    format!("nearfar-lists-{name}-{:05}.safetensors", first / ROWS)
}

/// The own rows of an array of `width` numbers a row, and behind them the rows that others sent.
fn joined<'a, T: Copy>(own: &'a [T], sent: &[T], rows: &Range<usize>, width: usize) -> Cow<'a, [T]> {
    let (start, end, held) = (rows.start * width, rows.end * width, own.len());
    if end <= held {
        Cow::Borrowed(&own[start..end])
    } else {
        Cow::Owned([&own[start..], &sent[..end - held]].concat())
    }
}

/// What a process takes from the files of its own rows.
struct OwnLists {
    lists: Lists,
    sigma: Vec<f64>,
    common: Option<Common>,
}

/// What is the same in all files: whether the search was approximate, recall and unit by their bits, and what is to
/// be said.
type Common = (bool, [u64; 2], Vec<Warning>);

impl Checkpoint {
    /// Save the lists, [`ROWS`] rows a file. Whoever holds the first row of a file writes it; rows of a file that
    /// another begins are sent there, less than a file from and to everybody.
    pub(crate) fn keep_lists(&self, found: &FoundLists, name: &str, share: &Share, observer: &dyn Observer) {
        if self.closed() {
            return;
        }
        let FoundLists { lists, report, sigma, warnings, unit } = found;
        let (n, k, own, team) = (share.n_rows(), lists.k, share.rows(), share.team());
        let begun = own.start.next_multiple_of(ROWS).min(own.end);
        let (mut indices, mut values) = (vec![Vec::new(); team.size()], vec![Vec::new(); team.size()]);
        if begun > own.start {
            let (writer, entries) = (share.owner(own.start / ROWS * ROWS), ..(begun - own.start) * k);
            (indices[writer], values[writer]) =
                (lists.indices[entries].to_vec(), lists.values[entries].to_vec());
        }
        let (indices, values) =
            (team.exchange("saved lists", &indices), team.exchange("saved lists", &values));
        for first in (begun..own.end).step_by(ROWS) {
            let rows = first..(first + ROWS).min(n);
            let here = rows.start - own.start..rows.end - own.start;
            let head = ListsHead {
                n_samples: n,
                n_neighbors: k,
                first_row: first,
                approximate: report.approximate,
                warnings: warnings.clone(),
            };
            let common = [report.recall, *unit];
            let indices = joined(&lists.indices, &indices, &here, k);
            let values = joined(&lists.values, &values, &here, k);
            let arrays = BTreeMap::from([
                ("indices", Array::of(&indices, &[rows.len(), k])),
                ("values", Array::of(&values, &[rows.len(), k])),
                ("sigma", Array::list(&sigma[rows])),
                ("common", Array::list(&common)),
            ]);
            self.put_here(&lists_name(name, first), &head, arrays, observer);
        }
        self.share_troubles(observer);
    }

    /// The lists of `k` neighbours of the own rows, where all files of all processes are there and whole.
    pub(crate) fn lists(
        &self,
        share: &Share,
        (name, k): (&str, usize),
        observer: &dyn Observer,
    ) -> Option<FoundLists> {
        if !self.gives() {
            return None;
        }
        let team = share.team();
        let own = self.own_lists(share, (name, k), observer);
        let missing = team.any("saved lists", own.is_none());
        self.share_troubles(observer);
        let OwnLists { lists, sigma, common } = own.filter(|_| !missing)?;
        let sigma = share.gather_rows("saved lists", &sigma, 1);
        let common = team
            .hand_round("saved lists", share.owner(0), || serde_json::json!(common).to_string().into_bytes());
        let (approximate, [recall, unit], warnings) = serde_json::from_slice::<Common>(&common).ok()?;
        self.note(|resumed| resumed.neighbors = Some(k));
        let report = SearchReport { approximate, recall: f64::from_bits(recall) };
        Some(FoundLists { lists, report, sigma, warnings, unit: f64::from_bits(unit) })
    }

    /// What the files of the own rows hold, of which the first may begin with rows of another process and the last
    /// may end with such.
    fn own_lists(
        &self,
        share: &Share,
        (name, k): (&str, usize),
        observer: &dyn Observer,
    ) -> Option<OwnLists> {
        let (n, own) = (share.n_rows(), share.rows());
        let mut found = OwnLists { lists: Lists { k, ..Lists::default() }, sigma: Vec::new(), common: None };
        for first in (own.start / ROWS * ROWS..own.end).step_by(ROWS) {
            let rows = ROWS.min(n - first);
            let here = own.start.saturating_sub(first)..(own.end - first).min(rows);
            self.take_here(&lists_name(name, first), observer, |head: ListsHead, arrays| {
                if (head.n_samples, head.n_neighbors, head.first_row) != (n, k, first) {
                    return Err(format!("it holds other rows than those from {first} on"));
                }
                let indices: Vec<u32> = arrays.read("indices", Length::Of(rows.checked_mul(k)))?;
                if indices.iter().any(|j| *j as usize >= n) {
                    return Err(format!("it names a neighbour beyond the {n} points"));
                }
                let common: Vec<f64> = arrays.read("common", Length::Of(Some(2)))?;
                let values: Vec<f64> = arrays.read("values", Length::Of(rows.checked_mul(k)))?;
                let sigma: Vec<f64> = arrays.read("sigma", Length::Of(Some(rows)))?;
                let entries = here.start * k..here.end * k;
                found.lists.indices.extend(&indices[entries.clone()]);
                found.lists.values.extend(&values[entries]);
                found.sigma.extend(&sigma[here]);
                found.common =
                    Some((head.approximate, [common[0].to_bits(), common[1].to_bits()], head.warnings));
                Ok(())
            })?;
        }
        Some(found)
    }
}

/// The starts that are learnt together: with so many near ranks (0 in exact mode), at the so-many-th try of a weaker β.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round<'a> {
    pub(crate) checkpoint: &'a Checkpoint,
    pub(crate) near: usize,
    pub(crate) attempt: usize,
}

/// Sizes that a start must have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) samples: usize,
    pub(crate) clusters: usize,
    /// Weights in w, and in p.
    pub(crate) weights: usize,
}

/// Where a start stood: the state behind a whole iteration.
pub(crate) struct Standing {
    pub(crate) factor: Factor,
    pub(crate) trace: Vec<TraceRow>,
    /// Why the loop ended, where it did.
    pub(crate) ended: Option<StopReason>,
    /// What only the main loop has.
    pub(crate) main: Option<MainLoop>,
}

/// The other half of the state of the main loop.
pub(crate) struct MainLoop {
    pub(crate) started: Learned,
    pub(crate) near_weights: Vec<f64>,
    pub(crate) far_weights: Vec<f64>,
}

#[derive(serde::Deserialize, serde::Serialize)]
struct LoopHead {
    ended: Option<StopReason>,
    started: Option<LearnedHead>,
}

#[derive(serde::Deserialize, serde::Serialize)]
struct LearnedHead {
    iterations: usize,
    reason: StopReason,
}

impl LearnedHead {
    fn of(learned: &Learned) -> Self {
        Self { iterations: learned.iterations, reason: learned.reason }
    }

    fn with(self, trace: Vec<TraceRow>) -> Learned {
        Learned { iterations: self.iterations, reason: self.reason, trace }
    }
}

#[derive(serde::Deserialize, serde::Serialize)]
struct MemberHead {
    spectral_start: bool,
    neighbors: Option<usize>,
    dissimilarity: bool,
    judged: bool,
    started: LearnedHead,
    learned: Option<LearnedHead>,
    dead_columns: usize,
}

#[derive(serde::Deserialize, serde::Serialize)]
struct SpectrumHead {
    products: usize,
    converged: bool,
}

impl Round<'_> {
    fn loop_name(&self, member: usize) -> String {
        format!("nearfar-loop-{}-{}-{member:04}.safetensors", self.near, self.attempt)
    }

    fn member_name(&self, member: usize) -> String {
        format!("nearfar-start-{}-{}-{member:04}.safetensors", self.near, self.attempt)
    }

    fn spectrum_name(&self) -> String {
        format!("nearfar-spectrum-{}.safetensors", self.near)
    }

    /// Note what was taken for this round; what was taken for an earlier one has served.
    fn note(&self, note: impl FnOnce(&mut Resumed)) {
        self.checkpoint.note(|resumed| {
            if resumed.round != (self.near, self.attempt) {
                (resumed.starts, resumed.running) = (0, Vec::new());
                resumed.round = (self.near, self.attempt);
            }
            note(resumed);
        });
    }

    /// Save where a loop stands: when its time has come since `last`, and always when it ends. `started` is the
    /// loop before it, of the main one.
    pub(crate) fn keep_loop(
        &self,
        member: usize,
        last: &mut Instant,
        (method, trace, ended): (&dyn Method, &[TraceRow], Option<StopReason>),
        started: Option<&Learned>,
        observer: &dyn Observer,
    ) {
        let made = trace.last().map_or(0, |row| row.iteration);
        // A start that was cut short leads to another state than a whole one.
        let cut_short = started.is_some_and(|started| started.reason == StopReason::Stopped);
        let others = !self.checkpoint.first();
        if made == 0 || cut_short || others || (ended.is_none() && last.elapsed() < self.checkpoint.every) {
            return;
        }
        // To be stopped is no end of the loop.
        let ended = ended.filter(|reason| !matches!(reason, StopReason::Cancelled | StopReason::Stopped));
        let head = LoopHead { ended, started: started.map(LearnedHead::of) };
        let factor = Sparse::of(method.factor());
        let rows = trace_numbers(trace);
        let rows_before = started.map_or_else(Vec::new, |started| trace_numbers(&started.trace));
        let mut arrays = factor.arrays();
        arrays.insert("trace", Array::list(&rows));
        arrays.insert("started.trace", Array::list(&rows_before));
        if let Some((near, far)) = method.weights() {
            arrays.insert("near_weights", Array::list(near));
            arrays.insert("far_weights", Array::list(far));
        }
        self.checkpoint.put(&self.loop_name(member), &head, arrays, observer);
        *last = Instant::now();
    }

    /// Where a start stood.
    pub(crate) fn standing(&self, member: usize, sizes: Sizes, observer: &dyn Observer) -> Option<Standing> {
        let weights = Length::Of(Some(sizes.weights));
        let standing =
            self.checkpoint.take(&self.loop_name(member), observer, |head: LoopHead, arrays| {
                let main = head.started.map(|started| -> Result<MainLoop, String> {
                    Ok(MainLoop {
                        started: started.with(trace_rows(arrays, "started.trace")?),
                        near_weights: arrays.read("near_weights", weights)?,
                        far_weights: arrays.read("far_weights", weights)?,
                    })
                });
                Ok(Standing {
                    factor: read_factor(arrays, sizes.samples, sizes.clusters)?,
                    trace: trace_rows(arrays, "trace")?,
                    ended: head.ended,
                    main: main.transpose()?,
                })
            })?;
        let iteration = standing.trace.last().map_or(0, |row| row.iteration);
        let starting = standing.main.is_none();
        self.note(|resumed| resumed.running.push(ResumedStart { start: member, iteration, starting }));
        Some(standing)
    }

    /// Save a finished start; the state of its loop is then of no use.
    pub(crate) fn keep_member(&self, member: usize, state: &Member, observer: &dyn Observer) {
        // What was cut short would have gone on in an unbroken run.
        if state.stopped() {
            return;
        }
        let head = MemberHead {
            spectral_start: state.spectral_start,
            neighbors: state.neighbors,
            dissimilarity: state.coefficients.beta.is_some(),
            judged: state.cut.is_some(),
            started: LearnedHead::of(&state.started),
            learned: state.learned.as_ref().map(LearnedHead::of),
            dead_columns: state.dead_columns,
        };
        let Coefficients { alpha, beta, mu, eta } = state.coefficients;
        let Objective { fit, dissimilarity, overlap, density, orthogonality } = state.objective;
        let numbers = [
            [alpha, beta.unwrap_or(0.0), mu, eta, fit],
            [dissimilarity, overlap, density, orthogonality, state.cut.unwrap_or(0.0)],
        ]
        .concat();
        let factor = Sparse::of(&state.factor);
        let labels: Vec<u32> = state.labels.iter().flatten().map(|label| *label as u32).collect();
        let started = trace_numbers(&state.started.trace);
        let learned = state.learned.as_ref().map_or_else(Vec::new, |learned| trace_numbers(&learned.trace));
        let mut arrays = factor.arrays();
        arrays.insert("numbers", Array::list(&numbers));
        arrays.insert("near_weights", Array::list(&state.near_weights));
        arrays.insert("far_weights", Array::list(&state.far_weights));
        arrays.insert("labels", Array::list(&labels));
        arrays.insert("started.trace", Array::list(&started));
        arrays.insert("learned.trace", Array::list(&learned));
        self.checkpoint.put(&self.member_name(member), &head, arrays, observer);
        self.checkpoint.forget(&self.loop_name(member));
    }

    /// A finished start.
    pub(crate) fn member(&self, member: usize, sizes: Sizes, observer: &dyn Observer) -> Option<Member> {
        let found = self
            .checkpoint
            .take(&self.member_name(member), observer, |head, arrays| read_member(head, arrays, sizes))?;
        self.note(|resumed| resumed.starts += 1);
        Some(found)
    }

    /// Save the leading eigenvectors of Z.
    pub(crate) fn keep_spectrum(&self, eigen: &Eigen, observer: &dyn Observer) {
        let head = SpectrumHead { products: eigen.products, converged: eigen.converged };
        let arrays = BTreeMap::from([
            ("values", Array::list(&eigen.values)),
            ("vectors", Array::list(&eigen.vectors)),
            ("residuals", Array::list(&eigen.residuals)),
        ]);
        self.checkpoint.put(&self.spectrum_name(), &head, arrays, observer);
    }

    /// The leading eigenvectors of Z, `k` of them.
    pub(crate) fn spectrum(&self, n: usize, k: usize, observer: &dyn Observer) -> Option<Eigen> {
        let eigen = self.checkpoint.take(&self.spectrum_name(), observer, |head: SpectrumHead, arrays| {
            Ok(Eigen {
                values: arrays.read_any("values", Length::Of(Some(k)))?,
                vectors: arrays.read_any("vectors", Length::Of(n.checked_mul(k)))?,
                residuals: arrays.read_any("residuals", Length::Of(Some(k)))?,
                products: head.products,
                converged: head.converged,
            })
        })?;
        self.checkpoint.note(|resumed| resumed.spectrum = true);
        Some(eigen)
    }
}

fn read_member(head: MemberHead, arrays: &Arrays<'_>, sizes: Sizes) -> Result<Member, String> {
    let Sizes { samples: n_samples, clusters: n_clusters, weights: n_weights } = sizes;
    let numbers: Vec<f64> = arrays.read_any("numbers", Length::Of(Some(10)))?;
    let labels: Vec<u32> = arrays.read("labels", Length::NoneOr(Some(n_samples)))?;
    if labels.iter().any(|label| *label as usize >= n_clusters) {
        return Err(format!("it has a label beyond the {n_clusters} clusters"));
    }
    let labels: Vec<usize> = labels.into_iter().map(|label| label as usize).collect();
    let learned = match head.learned {
        Some(learned) => Some(learned.with(trace_rows(arrays, "learned.trace")?)),
        None => None,
    };
    Ok(Member {
        spectral_start: head.spectral_start,
        view: None,
        neighbors: head.neighbors,
        coefficients: Coefficients {
            alpha: numbers[0],
            beta: head.dissimilarity.then_some(numbers[1]),
            mu: numbers[2],
            eta: numbers[3],
        },
        factor: read_factor(arrays, n_samples, n_clusters)?,
        near_weights: arrays.read("near_weights", Length::Of(Some(n_weights)))?,
        far_weights: arrays.read("far_weights", Length::Of(Some(n_weights)))?,
        started: head.started.with(trace_rows(arrays, "started.trace")?),
        learned,
        objective: Objective {
            fit: numbers[4],
            dissimilarity: numbers[5],
            overlap: numbers[6],
            density: numbers[7],
            orthogonality: numbers[8],
        },
        labels: head.judged.then_some(labels),
        votes: Vec::new(),
        cut: head.judged.then_some(numbers[9]),
        kept: false,
        dead_columns: head.dead_columns,
    })
}

/// V without its zeros, of which it soon has many. A zero is one to the bit.
struct Sparse {
    starts: Vec<u64>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Sparse {
    fn of(factor: &Factor) -> Self {
        let mut this = Self { starts: vec![0], rows: Vec::new(), values: Vec::new() };
        for j in 0..factor.n_columns() {
            for (i, value) in factor.column(j).iter().enumerate().filter(|(_, value)| value.to_bits() != 0) {
                this.rows.push(i as u32);
                this.values.push(*value);
            }
            this.starts.push(this.rows.len() as u64);
        }
        this
    }

    fn arrays(&self) -> BTreeMap<&'static str, Array<'_>> {
        BTreeMap::from([
            ("factor.starts", Array::list(&self.starts)),
            ("factor.rows", Array::list(&self.rows)),
            ("factor.values", Array::list(&self.values)),
        ])
    }
}

fn read_factor(arrays: &Arrays<'_>, n: usize, r: usize) -> Result<Factor, String> {
    let starts: Vec<u64> = arrays.read("factor.starts", Length::Of(r.checked_add(1)))?;
    let rows: Vec<u32> = arrays.read("factor.rows", Length::Any)?;
    let values: Vec<f64> = arrays.read_any("factor.values", Length::Of(Some(rows.len())))?;
    let whole = starts[0] == 0
        && starts[r] == rows.len() as u64
        && starts.is_sorted()
        && rows.iter().all(|row| (*row as usize) < n);
    if !whole {
        return Err(format!("its factor is no matrix of {n} x {r}"));
    }
    let mut full = vec![0.0; n * r];
    for (j, range) in starts.windows(2).enumerate() {
        for at in range[0] as usize..range[1] as usize {
            full[j * n + rows[at] as usize] = values[at];
        }
    }
    Ok(Factor::new(full, n, r))
}

/// Numbers of a row of a trace.
const TRACED: usize = 10;

fn trace_numbers(trace: &[TraceRow]) -> Vec<f64> {
    let numbers = |row: &TraceRow| {
        let TraceRow { iteration, fit, dissimilarity, overlap, density, orthogonality, penalty, change } =
            row;
        let [factor, near, far] = *change;
        let iteration = *iteration as f64;
        [iteration, *fit, *dissimilarity, *overlap, *density, *orthogonality, *penalty, factor, near, far]
    };
    trace.iter().flat_map(numbers).collect()
}

fn trace_rows(arrays: &Arrays<'_>, name: &str) -> Result<Vec<TraceRow>, String> {
    // Not read(): a change from nothing is infinite.
    let numbers: Vec<f64> = arrays.read_any(name, Length::Any)?;
    let (rows, rest) = numbers.as_chunks::<TRACED>();
    if !rest.is_empty() {
        return Err(format!("{name} holds {} numbers", numbers.len()));
    }
    let row =
        |[iteration, fit, dissimilarity, overlap, density, orthogonality, penalty, v, w, p]: &[f64;
              TRACED]| {
            TraceRow {
                iteration: *iteration as usize,
                fit: *fit,
                dissimilarity: *dissimilarity,
                overlap: *overlap,
                density: *density,
                orthogonality: *orthogonality,
                penalty: *penalty,
                change: [*v, *w, *p],
            }
        };
    Ok(rows.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::super::lock;
    use super::*;
    use crate::observe::Silent;
    use crate::processes::Team;
    use crate::processes::threads::as_team;

    /// What a process with these rows finds, of lists that anybody can make.
    fn made(n: usize, k: usize, rows: Range<usize>) -> FoundLists {
        let entries = rows.start * k..rows.end * k;
        FoundLists {
            lists: Lists {
                k,
                indices: entries.clone().map(|at| (at % n) as u32).collect(),
                values: entries.map(|at| (at as f64).sqrt()).collect(),
            },
            report: SearchReport { approximate: true, recall: 0.1 + 0.2 },
            sigma: (0..n).map(|i| 1.0 / (1 + i) as f64).collect(),
            warnings: vec![Warning::Duplicates { points: 9, first: 4 }, Warning::FewSamples { n_samples: 3 }],
            unit: 1.5,
        }
    }

    /// A checkpoint of this team that is to be resumed.
    fn resumed(folder: &std::path::Path, team: &std::sync::Arc<Team>) -> Checkpoint {
        let checkpoint = Checkpoint::new(folder);
        *lock(&checkpoint.team) = team.clone();
        *lock(&checkpoint.resumed) = Some(Resumed::default());
        checkpoint
    }

    fn files(folder: &std::path::Path) -> BTreeMap<String, Vec<u8>> {
        let file = |entry: std::fs::DirEntry| {
            (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
        };
        std::fs::read_dir(folder).unwrap().map(|entry| file(entry.unwrap())).collect()
    }

    /// Few rows, so that some have none; rows of one file in many hands; several files in one hand.
    #[test]
    fn lists_are_the_same_files_for_any_number_of_processes() {
        for (n, name) in [(5, "few"), (2 * ROWS + 5, "many")] {
            let folder = std::env::temp_dir().join(format!("nearfar-lists-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            let k = 2;
            let mut expected = None;
            for writers in [1, 2, 3, 7] {
                as_team(writers, |team| {
                    let share = Share::new(team.clone(), n);
                    let found = made(n, k, share.rows());
                    resumed(&folder, team).keep_lists(&found, "2", &share, &Silent);
                });
                let files = files(&folder);
                assert_eq!(files.len(), n.div_ceil(ROWS));
                assert!(*expected.get_or_insert_with(|| files.clone()) == files, "{name}, {writers} ranks");
            }
            for readers in [1, 2, 5, 8] {
                as_team(readers, |team| {
                    let share = Share::new(team.clone(), n);
                    let (checkpoint, found) = (resumed(&folder, team), made(n, k, share.rows()));
                    let again = checkpoint.lists(&share, ("2", k), &Silent).unwrap();
                    assert!(again.lists == found.lists && again.sigma == found.sigma);
                    assert_eq!(
                        (again.report, again.warnings, again.unit),
                        (found.report, found.warnings, found.unit)
                    );
                    assert!(checkpoint.lists(&share, ("3", k + 1), &Silent).is_none());
                    assert!(checkpoint.troubles().is_empty());
                });
            }
            // One file is damaged, then missing: nobody uses the others, and all hear of the damage.
            let last = folder.join(lists_name("2", (n - 1) / ROWS * ROWS));
            std::fs::write(&last, "half").unwrap();
            as_team(3, |team| {
                let (checkpoint, share) = (resumed(&folder, team), Share::new(team.clone(), n));
                assert!(checkpoint.lists(&share, ("2", k), &Silent).is_none());
                let troubles = checkpoint.troubles();
                assert!(troubles.len() == 1 && troubles[0].contains("is damaged"), "{troubles:?}");
            });
            std::fs::remove_file(&last).unwrap();
            as_team(3, |team| {
                let (checkpoint, share) = (resumed(&folder, team), Share::new(team.clone(), n));
                assert!(
                    checkpoint.lists(&share, ("2", k), &Silent).is_none() && checkpoint.troubles().is_empty()
                );
            });
            std::fs::remove_dir_all(&folder).unwrap();
        }
    }

    #[test]
    fn factors_and_traces_keep_every_bit() {
        let values = vec![0.0, -0.0, 1.5, f64::MIN_POSITIVE / 4.0, f64::INFINITY, 0.0];
        let sparse = Sparse::of(&Factor::new(values.clone(), 3, 2));
        let rows = [TraceRow { change: [f64::INFINITY, f64::NAN, -0.0], ..TraceRow::of_fit(7, 1e-320) }];
        let numbers = trace_numbers(&rows);
        let mut arrays = sparse.arrays();
        arrays.insert("trace", Array::list(&numbers));
        let bytes = crate::model::tensors::pack(&super::super::PART, "", arrays);
        let Ok((_, arrays)) = crate::model::tensors::unpack(&bytes, &super::super::PART) else {
            panic!("not whole")
        };
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(read_factor(&arrays, 3, 2).unwrap().values()), bits(&values));
        assert_eq!(bits(&trace_numbers(&trace_rows(&arrays, "trace").unwrap())), bits(&numbers));
        assert!(read_factor(&arrays, 2, 2).is_err() && read_factor(&arrays, 3, 1).is_err());
    }
}
