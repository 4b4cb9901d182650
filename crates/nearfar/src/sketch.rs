//! A start for very many points: the model is learnt on a sample of them first.
//!
//! From a random V the clusters take many iterations to form, whatever n is. On a sample each of these costs little; its V is handed on to all
//! points along the near ranks, and what is left to do on all of them is to settle. The sample is ranked, sliced and learnt as any other data,
//! with the same settings, by every process alike where several share the rows.
//!
//! A point takes the mean of the rows of V that its near points in the sample have, weighted by affinity; where it has none, of those that its near
//! points took. V is then scaled to fit the starting graph: $\lambda^2 = \langle T V, V\rangle / \|V^\top V\|^2$.

use rayon::prelude::*;

use crate::consensus::{Ensemble, Known};
use crate::error::{Error, Result};
use crate::learn::Learned;
use crate::learn::lsdg::start_weights;
use crate::math::factor::Factor;
use crate::math::rng::Stream;
use crate::neighbors::exact::Points;
use crate::observe::{Observer, Stage};
use crate::params::Params;
use crate::plan::Held;
use crate::prepared::{Prepared, Recipe, with_slices};
use crate::slices::{BinnedShape, Graph, Slices};

/// Stream of the seed that draws the sample.
const STREAM: u64 = 6 << 32;
/// What was learnt on a sample.
#[derive(Debug)]
pub(crate) struct Sketch {
    /// The points of the sample, ascending.
    chosen: Vec<usize>,
    /// V of every member and the loop that made it; `None` where V died.
    members: Vec<Option<(Factor, Learned)>>,
}

impl Sketch {
    /// Learn all members on `size` of the points that a preparation of this shape was made of.
    pub(crate) fn learn(
        points: &Points<'_>,
        BinnedShape { near, far, .. }: BinnedShape,
        size: usize,
        params: &Params,
        precision: crate::plan::Precision,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let share = points.share();
        let chosen = draw(share.n_rows(), size, params.seed);
        let observer = &Unhurried(observer);
        let shape = BinnedShape { near: near.min(size), far, ..params.binned_shape(size) };
        let recipe = Recipe { shape, seed: params.seed, precision, held: Held::Single, grown_from: None };
        let sample = Prepared::binned(&points.some(&share, &chosen), None, &recipe, None, observer)?;
        let members = with_slices!(&*sample.pairs, slices => {
            let known = Known::default();
            let ensemble = Ensemble::new(slices, params, &known, observer)?.unjudged();
            (0..params.starts).into_par_iter().map(|member| ensemble.lively(member)).collect::<Result<Vec<_>>>()
        })?;
        if observer.cancelled() {
            return Err(Error::Cancelled { stage: Stage::Learn.name() });
        }
        Ok(Self { chosen, members })
    }

    /// V of a member for all points, and the loop that made it; `None` where it died on the sample. `start` are the starting weights w; `graph` is scratch and holds the starting graph afterwards.
    pub(crate) fn spread<S: Slices>(
        &self,
        member: usize,
        slices: &S,
        start: &[f64],
        graph: &mut S::Graph,
    ) -> Option<(Factor, Learned)> {
        let (sample, learned) = self.members.get(member)?.as_ref()?;
        let (n, r) = (slices.n_samples(), sample.n_columns());
        let near = slices.near_end().map_or(n, |last| last + 1);
        slices.combine(&start_weights(slices.multiplicity(), near).0, graph);
        let mut values = vec![0.0; n * (r + 1)];
        for (at, i) in self.chosen.iter().enumerate() {
            (0..r).for_each(|c| values[c * n + i] = sample.get(at, c));
            values[r * n + i] = 1.0;
        }
        let (mut values, known) = means(graph, values, n, r);
        if !known.iter().all(|known| *known) {
            values.extend(known.iter().map(|known| f64::from(u8::from(*known))));
            let (second, _) = means(graph, values.clone(), n, r);
            values.truncate(n * r);
            for i in (0..n).filter(|i| !known[*i]) {
                (0..r).for_each(|c| values[c * n + i] = second[c * n + i]);
            }
        }
        slices.combine(start, graph);
        Some((fitted(graph, Factor::new(values, n, r)), learned.clone()))
    }
}

/// Passes on the wish to end the run, and no other: a sample that was left half-way could not be learnt to the same bits when the run is resumed.
struct Unhurried<'a>(&'a dyn Observer);

impl Observer for Unhurried<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// `size` of n points, ascending.
fn draw(n: usize, size: usize, seed: u64) -> Vec<usize> {
    let mut random = Stream::new(seed, STREAM);
    let mut chosen = Vec::with_capacity(size);
    // Each point with the chance that fills what is left to choose from what is left to look at.
    for i in 0..n {
        if random.below(n - i) < size - chosen.len() {
            chosen.push(i);
        }
    }
    chosen
}

/// Means over the neighbours that are known, r columns; column r of `values` is 1 for those. Also who has a known neighbour.
fn means<G: Graph>(graph: &G, values: Vec<f64>, n: usize, r: usize) -> (Vec<f64>, Vec<bool>) {
    let mut sums = vec![0.0; n * (r + 1)];
    graph.times(&Factor::new(values, n, r + 1), &mut sums);
    let weights = sums.split_off(n * r);
    sums.par_chunks_mut(n).for_each(|column| {
        let known = column.iter_mut().zip(&weights).filter(|(_, weight)| **weight > 0.0);
        known.for_each(|(sum, weight)| *sum /= weight);
    });
    (sums, weights.iter().map(|weight| *weight > 0.0).collect())
}

/// V scaled so that VVᵀ is nearest to the graph.
fn fitted<G: Graph>(graph: &G, mut factor: Factor) -> Factor {
    let mut product = vec![0.0; factor.values().len()];
    graph.times(&factor, &mut product);
    let along: f64 = product.iter().zip(factor.values()).map(|(t, v)| t * v).sum();
    let length2: f64 = factor.gram().iter().map(|g| g * g).sum();
    if along > 0.0 && length2 > 0.0 {
        factor.scale((along / length2).sqrt());
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_its_size_and_no_point_twice() {
        for (n, size) in [(10, 10), (1000, 1), (5000, 700)] {
            let chosen = draw(n, size, 3);
            assert_eq!(chosen.len(), size);
            assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]) && chosen[size - 1] < n);
        }
        assert_ne!(draw(5000, 700, 3), draw(5000, 700, 4));
    }

    #[test]
    fn many_points_have_a_sample_and_few_have_none() {
        let of = |n: usize, r: usize| Params::lsdg(r).sketch(n);
        assert_eq!(
            (of(200_000, 20), of(200_001, 20), of(10_000_000, 20)),
            (None, Some(40_000), Some(40_000))
        );
        assert_eq!((of(1_000_000, 500), of(300_000, 500)), (Some(128_000), None));
        let mut asked = Params::lsdg(3);
        asked.binned.sketch = Some(300);
        assert_eq!((asked.sketch(300), asked.sketch(301)), (None, Some(300)));
        asked.binned.sketch = Some(0);
        assert_eq!(asked.sketch(1_000_000), None);
    }
}
