//! Neighbour lists with local scales: into files of so many rows and back, whoever holds them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::{Checkpoint, Share};
use crate::model::Warning;
use crate::model::tensors::{Array, Length};
use crate::neighbors::SearchReport;
use crate::neighbors::search::Lists;
use crate::observe::Observer;

/// Rows of a file of neighbour lists.
pub(crate) const ROWS: usize = 65_536;

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

#[cfg(test)]
mod tests {
    use super::super::{Resumed, lock};
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
}
