//! Sorting one row of distances: by value, equal values by index, the point itself first.

use super::SIGMA_NEIGHBOR;
use crate::math::kernel::vectorized;

/// Low bits of a sorting key that hold the index; the high bits hold the leading bits of the value.
const INDEX_BITS: u64 = 0xFFFF;

/// Why the order of two close values may be wrong.
#[derive(Clone, Copy, Debug)]
pub(super) enum Doubt {
    /// Double precision, computed by products: good to 48 leading bits.
    OfProducts,
    /// Stored in single precision: good to 24 leading bits.
    OfStorage,
}

impl Doubt {
    /// How far apart (as keys) two values in doubt can be.
    fn step(self) -> u64 {
        match self {
            Self::OfProducts => INDEX_BITS + 1,
            Self::OfStorage => 1 << 30,
        }
    }
}

/// Recomputes the value of a point exactly.
pub(super) type Exact<'a> = Option<(Doubt, &'a dyn Fn(usize) -> f64)>;

/// Buckets per value when a row is sorted; more of them are emptier, but take longer to count.
const BUCKETS: usize = 2;

/// Fuller buckets are sorted one by one.
const CROWDED: u32 = 24;

/// Scratch and results of sorting rows.
#[derive(Default)]
pub(super) struct RowOrder {
    keys: Vec<u64>,
    /// Bucket of every value.
    bucket: Vec<u32>,
    /// Where each bucket's next key goes.
    next: Vec<u32>,
    run: Vec<(f64, u16)>,
}

/// What a row says about its local scale.
pub(super) struct RowScale {
    /// Value (squared distance) at the σ neighbour; the smallest positive one where that is 0; else 0.
    pub(super) value: f64,
    /// Whether the σ neighbour was at distance 0.
    pub(super) replaced: bool,
}

impl RowOrder {
    /// Rank the row of point `i`. `values` are at least 0. `exact`, where given, recomputes a value whose
    /// order against its neighbours in the list is within rounding; the better value is written back.
    pub(super) fn rank(
        &mut self,
        i: usize,
        values: &mut [f64],
        exact: Exact<'_>,
        rank: &mut [u16],
    ) -> RowScale {
        let n = values.len();
        self.sort(i, values);
        self.settle_runs(values, exact);
        rank[i] = 0;
        for (k, key) in self.keys.iter().enumerate() {
            rank[(key & INDEX_BITS) as usize] = (k + 1) as u16;
        }
        let at = |k: usize| values[(self.keys[k] & INDEX_BITS) as usize];
        if n == 1 {
            return RowScale { value: 0.0, replaced: false };
        }
        let value = at(SIGMA_NEIGHBOR.min(n - 1) - 1);
        if value > 0.0 {
            return RowScale { value, replaced: false };
        }
        let value = (0..n - 1).map(at).find(|v| *v > 0.0).unwrap_or(0.0);
        RowScale { value, replaced: true }
    }

    /// Keys of all values but that of `i`, ascending: thrown into equally wide buckets between the smallest and the
    /// largest value, which leaves little to sort. Values that crowd in few buckets are sorted the usual way.
    fn sort(&mut self, i: usize, values: &[f64]) {
        let buckets = BUCKETS * values.len();
        let (low, high) = span(values.iter().take(i).chain(&values[i + 1..]));
        let scale = (buckets - 1) as f64 / (high - low);
        let scale = if scale.is_finite() { scale } else { 0.0 }; // one bucket for all
        self.bucket.resize(values.len(), 0);
        vectorized(
            #[inline(always)]
            || {
                for (bucket, value) in self.bucket.iter_mut().zip(values) {
                    // Adding 2⁵² rounds to a whole number and leaves it in the low bits.
                    *bucket = ((value - low) * scale + 4_503_599_627_370_496.0).to_bits() as u32;
                }
            },
        );
        self.bucket[i] = buckets as u32; // behind all others, to be cut off
        let crowd = self.count(buckets + 1);
        self.keys.resize(values.len(), 0);
        for (j, (value, bucket)) in values.iter().zip(&self.bucket).enumerate() {
            let place = &mut self.next[*bucket as usize];
            self.keys[*place as usize] = (value.to_bits() & !INDEX_BITS) | j as u64;
            *place += 1;
        }
        self.keys.truncate(values.len() - 1);
        if crowd <= CROWDED {
            insertion_sort(&mut self.keys);
            return;
        }
        let mut start = 0;
        for end in self.next[..buckets].iter().map(|end| *end as usize) {
            self.keys[start..end].sort_unstable();
            start = end;
        }
    }

    /// `next` ← where each bucket starts; answers how many values the fullest one has.
    fn count(&mut self, buckets: usize) -> u32 {
        self.next.clear();
        self.next.resize(buckets, 0);
        for bucket in &self.bucket {
            self.next[*bucket as usize] += 1;
        }
        let (mut start, mut crowd) = (0, 0);
        for next in &mut self.next {
            crowd = crowd.max(*next);
            (*next, start) = (start, start + *next);
        }
        crowd
    }

    /// Keys carry only the leading bits: put runs that agree in them (or differ in the last one, which
    /// rounding may have decided) into the order of the full values.
    fn settle_runs(&mut self, values: &mut [f64], exact: Exact<'_>) {
        let step = exact.map_or(0, |(doubt, _)| doubt.step());
        let mut start = 0;
        while start < self.keys.len() {
            let mut end = start + 1;
            while end < self.keys.len()
                && (self.keys[end] & !INDEX_BITS) - (self.keys[end - 1] & !INDEX_BITS) <= step
            {
                end += 1;
            }
            if end - start > 1 {
                let run = &mut self.keys[start..end];
                if let Some((_, exact)) = exact {
                    for key in run.iter() {
                        let j = (key & INDEX_BITS) as usize;
                        values[j] = exact(j);
                    }
                }
                let value = |key: &u64| values[(key & INDEX_BITS) as usize];
                if !run.is_sorted_by(|a, b| (value(a), a & INDEX_BITS) <= (value(b), b & INDEX_BITS)) {
                    self.run.clear();
                    self.run.extend(run.iter().map(|key| (value(key), (key & INDEX_BITS) as u16)));
                    self.run.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                    for (key, (value, j)) in run.iter_mut().zip(&self.run) {
                        *key = (value.to_bits() & !INDEX_BITS) | u64::from(*j);
                    }
                }
            }
            start = end;
        }
    }
}

/// Smallest and largest value.
fn span<'a>(values: impl Iterator<Item = &'a f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (if *v < low { *v } else { low }, if *v > high { *v } else { high })
    })
}

/// For keys that are nearly in order.
fn insertion_sort(keys: &mut [u64]) {
    for k in 1..keys.len() {
        let key = keys[k];
        let mut at = k;
        while at > 0 && keys[at - 1] > key {
            keys[at] = keys[at - 1];
            at -= 1;
        }
        keys[at] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranks_are_the_stable_sort(
            mut values in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..2.0_f64, Just(1.0 + f64::EPSILON)], 1..60),
            at in 0..1000_usize,
        ) {
            let i = at % values.len();
            values[i] = 0.0;
            let mut naive: Vec<usize> = (0..values.len()).filter(|j| *j != i).collect();
            naive.sort_by(|a, b| values[*a].total_cmp(&values[*b])); // stable: ties by index
            let mut rank = vec![0; values.len()];
            let row = RowOrder::default().rank(i, &mut values.clone(), None, &mut rank);
            prop_assert_eq!(rank[i], 0);
            for (k, j) in naive.iter().enumerate() {
                prop_assert_eq!(rank[*j] as usize, k + 1);
            }
            if !naive.is_empty() {
                let seventh = values[naive[naive.len().min(7) - 1]];
                prop_assert!(row.replaced == (seventh == 0.0));
                if seventh > 0.0 { prop_assert_eq!(row.value, seventh); }
            }
        }
    }

    #[test]
    fn near_ties_are_decided_by_the_exact_value() {
        // Rounding swapped 1 and 2; the exact values put them right and are written back.
        let truth = [0.0, 1.0, 1.0 + 1e-14, 5.0];
        let mut noisy = [0.0, 1.0 + 2e-14, 1.0, 5.0];
        let mut rank = [9; 4];
        RowOrder::default().rank(0, &mut noisy, Some((Doubt::OfProducts, &|j| truth[j])), &mut rank);
        assert_eq!(rank, [0, 1, 2, 3]);
        assert_eq!(noisy[1..3], truth[1..3]);
    }
}
