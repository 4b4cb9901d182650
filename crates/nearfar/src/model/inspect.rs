//! What a person looks at: a model's graphs, small enough for a picture.

use super::{Model, Source, merged};
use crate::error::{DataError, Result};
use crate::math::factor::Factor;
use crate::slices::{Graph, Slices, SparseRows, with_slices};

/// Means of the learnt graphs over blocks of points, each blocks × blocks, row-major; `None` where there is no such
/// graph.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BlockMeans {
    /// S, or the graph that was factored.
    pub similarity: Option<Vec<f64>>,
    /// D.
    pub dissimilarity: Option<Vec<f64>>,
    /// VVᵀ of the best start.
    pub gram: Option<Vec<f64>>,
    /// Z.
    pub augmented: Option<Vec<f64>>,
}

impl Model {
    /// Means of S, D, VVᵀ and Z over blocks of points; pairs of a point with itself do not count.
    ///
    /// One graph is held at a time, as in a run, and none is written out in full.
    ///
    /// # Errors
    /// When there are fewer or more blocks given than samples.
    pub fn block_means(&self, blocks: &Blocks) -> Result<BlockMeans> {
        let (labels, truth) = (self.n_samples(), blocks.of.len());
        if labels != truth {
            return Err(DataError::LabelLengths { labels, truth }.into());
        }
        let gram = self.best_member().map(|member| blocks.of_gram(&member.factor));
        let mut means = BlockMeans { gram, ..BlockMeans::default() };
        match &self.source {
            Source::Nothing => {}
            Source::Graph(graph) => means.similarity = Some(blocks.of_rows(graph.rows())),
            Source::Pairs(_) if self.members.is_empty() => {}
            Source::Pairs(pairs) => with_slices!(&**pairs, slices => {
                let mut graph = slices.new_graph();
                slices.combine(&slices.per_weight(&self.near_weights), &mut graph);
                means.similarity = Some(blocks.of_graph(&graph));
                if self.params.lsdg.dissimilarity {
                    slices.combine(&slices.per_weight(&self.far_weights), &mut graph);
                    means.dissimilarity = Some(blocks.of_graph(&graph));
                }
                drop(graph);
                means.augmented = Some(blocks.of_graph(&merged(slices, &self.members)));
            }),
        }
        Ok(means)
    }

    /// The part of the similarity that the nearest `most` trusted ranks give, so that it stays small however many
    /// are trusted.
    pub fn trusted(&self, most: usize) -> SparseRows {
        match &self.source {
            Source::Pairs(pairs) => with_slices!(&**pairs, slices => {
                let mut left = most;
                let first: Vec<f64> = self.near_weights.iter().enumerate().map(|(rank, weight)| {
                    let take = rank > 0 && *weight > 0.0 && left > 0;
                    left -= usize::from(take);
                    if take { *weight } else { 0.0 }
                }).collect();
                slices.edges(&slices.per_weight(&first))
            }),
            Source::Graph(_) | Source::Nothing => self.similarity(),
        }
    }

    /// Share of pairs at each rank that have the same true class; `None` for methods without ranks.
    ///
    /// # Errors
    /// When `truth` has another length than there are samples.
    pub fn correct_rate<L: PartialEq>(&self, truth: &[L]) -> Result<Option<Vec<f64>>> {
        let Source::Pairs(pairs) = &self.source else { return Ok(None) };
        pairs.correct_rate(truth).map(Some)
    }
}

/// Which block every point lies in.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    of: Vec<usize>,
    sizes: Vec<usize>,
}

impl Blocks {
    /// Cut the points, taken in this order, into at most `most` blocks of sizes that differ by one at most.
    ///
    /// # Errors
    /// When `order` does not name every point once.
    pub fn of_order(order: &[usize], most: usize) -> Result<Self> {
        let n = order.len();
        let count = most.clamp(1, n.max(1));
        let (mut of, mut sizes) = (vec![usize::MAX; n], vec![0; count]);
        for (at, point) in order.iter().enumerate() {
            let block = at * count / n;
            match of.get_mut(*point) {
                Some(slot) if *slot == usize::MAX => *slot = block,
                _ => return Err(DataError::Shape { n_rows: n, n_columns: 1, len: *point }.into()),
            }
            sizes[block] += 1;
        }
        Ok(Self { of, sizes })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there is no point in any.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Points in every block.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Sums over blocks become means over the pairs of two different points.
    fn means(&self, mut sums: Vec<f64>) -> Vec<f64> {
        let count = self.len();
        for (at, sum) in sums.iter_mut().enumerate() {
            let (a, b) = (at / count, at % count);
            let pairs = self.sizes[a] * self.sizes[b] - if a == b { self.sizes[a] } else { 0 };
            *sum = if pairs > 0 { *sum / pairs as f64 } else { 0.0 };
        }
        sums
    }

    /// BᵀTB less the diagonal, with B the indicator of the blocks.
    fn of_graph(&self, graph: &impl Graph) -> Vec<f64> {
        let (n, count) = (self.of.len(), self.len());
        let mut indicator = vec![0.0; n * count];
        for (i, block) in self.of.iter().enumerate() {
            indicator[block * n + i] = 1.0;
        }
        let mut product = vec![0.0; n * count];
        graph.times(&Factor::new(indicator, n, count), &mut product);
        let mut sums = vec![0.0; count * count];
        for b in 0..count {
            for i in 0..n {
                sums[self.of[i] * count + b] += product[b * n + i];
            }
        }
        for i in 0..n {
            sums[self.of[i] * count + self.of[i]] -= graph.get(i, i);
        }
        // What rounding leaves of blocks that are empty but for their diagonal.
        self.means(sums.into_iter().map(|sum| if sum.abs() < 1e-12 { 0.0 } else { sum }).collect())
    }

    /// Means of a sparse matrix.
    #[must_use]
    pub fn of_rows(&self, rows: &SparseRows) -> Vec<f64> {
        let count = self.len();
        let mut sums = vec![0.0; count * count];
        for (i, range) in rows.starts.windows(2).enumerate().take(self.of.len()) {
            for at in range[0]..range[1] {
                let j = rows.columns[at] as usize;
                if i != j {
                    sums[self.of[i] * count + self.of[j]] += rows.values[at];
                }
            }
        }
        self.means(sums)
    }

    /// Means of a full matrix, n × n, row-major.
    #[must_use]
    pub fn of_full(&self, full: &[f64]) -> Vec<f64> {
        let (n, count) = (self.of.len(), self.len());
        let mut sums = vec![0.0; count * count];
        for (i, row) in full.chunks_exact(n.max(1)).enumerate().take(n) {
            for (j, value) in row.iter().enumerate().filter(|(j, _)| *j != i) {
                sums[self.of[i] * count + self.of[j]] += value;
            }
        }
        self.means(sums)
    }

    /// Means of VVᵀ.
    #[must_use]
    pub fn of_gram(&self, factor: &Factor) -> Vec<f64> {
        let (n, count) = (self.of.len(), self.len());
        let mut sums = vec![0.0; count * count];
        for column in 0..factor.n_columns() {
            let mut part = vec![0.0; count];
            for i in 0..n {
                part[self.of[i]] += factor.get(i, column);
                sums[self.of[i] * (count + 1)] -= factor.get(i, column).powi(2);
            }
            for a in 0..count {
                for b in 0..count {
                    sums[a * count + b] += part[a] * part[b];
                }
            }
        }
        self.means(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Params, Samples, fit};

    #[test]
    fn block_means_are_the_means_of_the_full_matrices() {
        let data = crate::generate::blobs(60, 2, 3, 0.4, 1).unwrap();
        let samples = Samples::from_rows(&data.data, 60, 2).unwrap();
        let model = fit(samples, &Params::lsdg(3).starts(2)).unwrap();
        let mut order: Vec<usize> = (0..60).collect();
        order.sort_by_key(|i| model.labels[*i]);
        let blocks = Blocks::of_order(&order, 7).unwrap();
        let means = model.block_means(&blocks).unwrap();
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(close(&means.augmented.unwrap(), &blocks.of_full(&model.augmented().unwrap())));
        assert!(close(&means.similarity.unwrap(), &blocks.of_rows(&model.similarity())));
        assert!(close(&means.dissimilarity.unwrap(), &blocks.of_rows(&model.dissimilarity())));
        let factor = &model.best_member().unwrap().factor;
        let full: Vec<f64> = (0..60 * 60)
            .map(|at| (0..3).map(|c| factor.get(at / 60, c) * factor.get(at % 60, c)).sum())
            .collect();
        assert!(close(&means.gram.unwrap(), &blocks.of_full(&full)));
    }

    #[test]
    fn an_order_names_every_point_once() {
        assert!(Blocks::of_order(&[0, 0], 2).is_err());
        assert!(Blocks::of_order(&[0, 2], 2).is_err());
        assert_eq!(Blocks::of_order(&[2, 0, 1], 2).unwrap().sizes(), [2, 1]);
        assert!(Blocks::of_order(&[], 4).unwrap().is_empty());
    }

    #[test]
    fn trusted_edges_are_a_part_of_the_similarity() {
        let data = crate::generate::blobs(40, 2, 2, 0.4, 1).unwrap();
        let samples = Samples::from_rows(&data.data, 40, 2).unwrap();
        let model = fit(samples, &Params::lsdg(2).starts(1)).unwrap();
        let (all, some) = (model.similarity(), model.trusted(2));
        assert!(some.columns.len() < all.columns.len() && some.columns.len() >= 2 * 40);
    }
}
