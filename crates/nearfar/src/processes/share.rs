//! Whose rows are whose.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;

use super::{BLOCK, Team, unit};

/// Which of n rows each process of a team holds: runs of whole units, one after the other.
#[derive(Clone, Debug)]
pub struct Share {
    team: Arc<Team>,
    n: usize,
    /// Process p holds rows `cuts[p]..cuts[p + 1]`.
    cuts: Vec<usize>,
}

impl PartialEq for Share {
    fn eq(&self, other: &Self) -> bool {
        (self.n, &self.cuts) == (other.n, &other.cuts)
    }
}

impl Share {
    /// n rows, split over this team.
    pub fn new(team: Arc<Team>, n: usize) -> Self {
        let cuts = Self::cuts(n, team.size());
        Self { team, n, cuts }
    }

    /// Where n rows are cut for so many processes: process p holds those from the p-th number to the one behind it.
    pub fn cuts(n: usize, size: usize) -> Vec<usize> {
        let units = n.div_ceil(unit(n));
        (0..=size).map(|p| (units * p / size * unit(n)).min(n)).collect()
    }

    /// All n rows in this process.
    pub fn alone(n: usize) -> Self {
        Self::new(Arc::new(Team::alone()), n)
    }

    /// Who works together.
    pub fn team(&self) -> &Arc<Team> {
        &self.team
    }

    /// Rows of all processes.
    pub fn n_rows(&self) -> usize {
        self.n
    }

    /// Rows of this process.
    pub fn rows(&self) -> Range<usize> {
        self.rows_of(self.team.rank())
    }

    /// Rows of process p.
    pub fn rows_of(&self, p: usize) -> Range<usize> {
        self.cuts[p]..self.cuts[p + 1]
    }

    /// Whether there is more than one process.
    pub fn is_split(&self) -> bool {
        self.team.size() > 1
    }

    /// Who holds row i.
    pub(crate) fn owner(&self, i: usize) -> usize {
        self.cuts.partition_point(|cut| *cut <= i) - 1
    }

    /// Number of the first block of this process.
    pub(crate) fn first_block(&self) -> usize {
        self.rows().start.div_ceil(BLOCK)
    }

    /// Blocks of this process.
    pub(crate) fn n_blocks(&self) -> usize {
        self.rows().len().div_ceil(BLOCK)
    }

    /// `width` values of every row, from those of the own rows.
    pub(crate) fn gather_rows<T: Pod>(&self, what: &'static str, mine: &[T], width: usize) -> Vec<T> {
        let lengths: Vec<usize> = self.cuts.windows(2).map(|cut| (cut[1] - cut[0]) * width).collect();
        self.team.gather_known(what, mine, &lengths)
    }

    /// `width` values of every block of `rows` rows, from those of the own blocks.
    pub(crate) fn gather_blocks<T: Pod>(
        &self,
        what: &'static str,
        mine: &[T],
        rows: usize,
        width: usize,
    ) -> Vec<T> {
        let lengths: Vec<usize> =
            self.cuts.windows(2).map(|cut| (cut[1] - cut[0]).div_ceil(rows) * width).collect();
        self.team.gather_known(what, mine, &lengths)
    }
}
