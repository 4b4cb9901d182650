//! Every number of clusters that the tree has: who is who from one level to the next, and which levels are worth a
//! look.

use crate::account::Tree;
use crate::record::Record;

/// Levels that are judged by the tree, where no curve was made.
const MOST_JUDGED: usize = 30;
/// Levels that are called worth a look, the answer among them.
const MOST_WORTH: usize = 4;
/// A fall that the tree itself shows is worth a look from here on: joining takes a fifth less.
const FALL: f64 = 0.2;
/// A join that no edge makes is so far below the lowest that one does.
const NO_EDGE: f64 = 1.0;

/// The levels of a tree. Clusters keep their numbers: of two that join the larger one goes on; of two that part the
/// larger one keeps its number and the other takes the next that is free.
pub(crate) struct Levels {
    /// The answer.
    pub(crate) k: usize,
    /// The most clusters that there are.
    pub(crate) most: usize,
    /// The number of every leaf at the finest level.
    pub(crate) numbers: Vec<usize>,
    /// First to last: the number that ends and the one it goes into.
    pub(crate) joins: Vec<[usize; 2]>,
    /// Numbers of clusters worth a look, ascending, the answer among them.
    pub(crate) worth: Vec<usize>,
    /// How far the resolution falls, of 2, 3, … clusters.
    pub(crate) falls: Vec<f64>,
}

impl Levels {
    pub(crate) fn of(record: &Record) -> Option<Self> {
        let tree = record.tree.as_ref()?;
        let k = record.size[2];
        if k == record.size[0] || tree.leaves.len() < 2 {
            return None;
        }
        let (numbers, joins) = numbered(tree, k);
        let (most, falls) = (tree.leaves.len(), falls(tree));
        let count = record.account.as_ref().and_then(|account| account.count.as_ref());
        let mut worth = match count {
            Some(count) => count.others.clone(),
            None => peaks(&falls),
        };
        worth.retain(|other| *other != k && (2..=most).contains(other));
        worth.truncate(MOST_WORTH - 1);
        worth.extend((1..=most).contains(&k).then_some(k));
        worth.sort_unstable();
        Some(Self { k, most, numbers, joins, worth, falls })
    }

    /// The cluster of every leaf where k are left.
    pub(crate) fn at(&self, k: usize) -> Vec<usize> {
        let mut goes: Vec<usize> = (0..self.most).collect();
        let upto = self.most - k.clamp(1, self.most);
        for [ended, into] in self.joins[..upto].iter().rev() {
            goes[*ended] = goes[*into];
        }
        self.numbers.iter().map(|number| goes[*number]).collect()
    }
}

/// Numbers of the leaves, and of what joins: at k clusters they are those of the labels.
fn numbered(tree: &Tree, k: usize) -> (Vec<usize>, Vec<[usize; 2]>) {
    let most = tree.leaves.len();
    let upto = most - k.clamp(1, most);
    // Sizes of both sides of every join, and the clusters of the heads that are left at k.
    let mut sizes: Vec<usize> = tree.leaves.iter().map(|(size, _)| *size).collect();
    let mut heads: Vec<usize> = (0..most).collect();
    let mut sides = Vec::with_capacity(tree.merges.len());
    for (at, (into, from, _)) in tree.merges.iter().enumerate() {
        let (into, from) = (*into as usize, *from as usize);
        sides.push([sizes[into], sizes[from]]);
        sizes[into] += sizes[from];
        if at < upto {
            heads[from] = into;
        }
    }
    for leaf in 0..most {
        // A head is always a lower leaf, so that it is final by now.
        heads[leaf] = heads[heads[leaf]];
    }
    let named = names(tree, &heads, k.clamp(1, most));
    let mut number = named.clone();
    let mut joins = vec![[0; 2]; tree.merges.len()];
    let keeps = |at: usize| sides[at][0] >= sides[at][1];
    for at in upto..tree.merges.len() {
        let (into, from) = (tree.merges[at].0 as usize, tree.merges[at].1 as usize);
        let (kept, ended) =
            if keeps(at) { (number[into], number[from]) } else { (number[from], number[into]) };
        joins[at] = [ended, kept];
        number[into] = kept;
    }
    let (mut number, mut next) = (named, k.clamp(1, most));
    for at in (0..upto).rev() {
        let (into, from) = (tree.merges[at].0 as usize, tree.merges[at].1 as usize);
        joins[at] = [next, number[into]];
        if keeps(at) {
            number[from] = next;
        } else {
            number[from] = number[into];
            number[into] = next;
        }
        next += 1;
    }
    (number, joins)
}

/// The number of every head: the cluster that most of its points are in, each once.
fn names(tree: &Tree, heads: &[usize], k: usize) -> Vec<usize> {
    let mut votes: Vec<(usize, usize, usize)> = Vec::new();
    for ((size, cluster), head) in tree.leaves.iter().zip(heads) {
        let cluster = *cluster as usize;
        match votes.iter_mut().find(|vote| (vote.1, vote.2) == (*head, cluster)) {
            Some(vote) => vote.0 += size,
            None => votes.push((*size, *head, cluster)),
        }
    }
    votes.sort_by(|a, b| b.0.cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let (mut number, mut taken) = (vec![usize::MAX; heads.len()], vec![false; k]);
    for (_, head, cluster) in votes {
        if number[head] == usize::MAX && cluster < k && !taken[cluster] {
            (number[head], taken[cluster]) = (cluster, true);
        }
    }
    let mut free = (0..k).filter(|cluster| !taken[*cluster]).collect::<Vec<_>>().into_iter();
    for head in (0..heads.len()).filter(|leaf| heads[*leaf] == *leaf) {
        if number[head] == usize::MAX {
            number[head] = free.next().unwrap_or_default();
        }
    }
    number
}

/// How far the resolution falls, of 2, 3, … clusters, by the joins of the tree.
fn falls(tree: &Tree) -> Vec<f64> {
    let mut last: f64 = 0.0;
    // No join pays before a later one, as they are drawn.
    let mut known: Vec<f64> = tree
        .merges
        .iter()
        .rev()
        .take(MOST_JUDGED)
        .map(|(.., resolution)| {
            last = last.max(*resolution);
            last
        })
        .collect();
    let lowest = known.iter().copied().find(|resolution| *resolution > 0.0).unwrap_or(1.0);
    known.iter_mut().for_each(|resolution| *resolution = resolution.max(lowest * (-NO_EDGE).exp()).ln());
    known.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// The numbers of clusters with the largest falls.
fn peaks(falls: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..falls.len()).filter(|at| falls[*at] >= FALL).collect();
    order.sort_by(|a, b| falls[*b].total_cmp(&falls[*a]).then(a.cmp(b)));
    order.into_iter().map(|at| at + 2).take(MOST_WORTH - 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Tree {
        Tree {
            leaves: vec![(5, 1), (9, 0), (3, 1), (4, 0), (2, 2)],
            merges: vec![(0, 2, 3.0), (1, 3, 2.0), (0, 1, 0.5), (0, 4, 0.0)],
        }
    }

    #[test]
    fn the_larger_part_keeps_its_number() {
        let (numbers, joins) = numbered(&example(), 3);
        assert_eq!(numbers, [1, 0, 4, 3, 2]);
        assert_eq!(joins, [[4, 1], [3, 0], [1, 0], [2, 0]]);
        let levels = Levels { k: 3, most: 5, numbers, joins, worth: vec![3], falls: Vec::new() };
        assert_eq!(levels.at(3), [1, 0, 1, 0, 2]);
        assert_eq!(levels.at(2), [0, 0, 0, 0, 2]);
        assert_eq!((levels.at(1), levels.at(5)), (vec![0; 5], levels.numbers.clone()));
    }

    #[test]
    fn a_long_stretch_without_a_join_is_worth_a_look() {
        let falls = falls(&example());
        assert!(falls[1] > falls[0] && falls[1] > falls[2], "{falls:?}");
        assert_eq!(peaks(&falls)[0], 3);
    }
}
