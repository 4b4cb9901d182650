//! A numbering of clusters that does not depend on how they were found.

use std::collections::HashMap;

/// Number the clusters 0, 1, 2, … in the order in which they first appear.
///
/// ```
/// use nearfar::internals::renumber;
/// assert_eq!(renumber(&[7, 7, 2, 9, 2]), [0, 0, 1, 2, 1]);
/// ```
#[must_use]
pub fn renumber(labels: &[usize]) -> Vec<usize> {
    let mut numbers = HashMap::new();
    labels
        .iter()
        .map(|label| {
            let next = numbers.len();
            *numbers.entry(*label).or_insert(next)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keeps_the_partition_and_counts_up(labels in prop::collection::vec(0_usize..6, 0..40)) {
            let numbers = renumber(&labels);
            let mut seen = 0;
            for (i, number) in numbers.iter().enumerate() {
                prop_assert!(*number <= seen);
                seen = seen.max(number + 1);
                for j in 0..i {
                    prop_assert_eq!(labels[i] == labels[j], numbers[i] == numbers[j]);
                }
            }
            prop_assert_eq!(renumber(&numbers), numbers);
        }
    }

    #[test]
    fn any_number_may_be_a_label() {
        assert_eq!(renumber(&[usize::MAX, 0, usize::MAX]), [0, 1, 0]);
        assert!(renumber(&[]).is_empty());
    }
}
