//! augment: S, D and VVᵀ, each divided by its largest entry, merged into one similarity Z.

/// One entry of Z from entries of S, D and Y = VVᵀ, all in [0, 1]. (eq:aug_affinity)
///
/// Where the factor says "same cluster" more loudly than D says "different" the similarity is raised,
/// else it is lowered.
#[inline(always)]
#[must_use]
pub(crate) fn merge(s: f64, d: f64, y: f64) -> f64 {
    // Rounding may leave d a bit above 1; Z must not go below 0 for it.
    if y >= d { 1.0 - (1.0 - s) * (1.0 - y + d) } else { s * (1.0 + y - d).max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::merge;

    #[test]
    fn the_factor_raises_and_d_lowers() {
        assert_eq!(merge(0.5, 0.0, 1.0), 1.0);
        assert_eq!(merge(0.5, 1.0, 0.0), 0.0);
        assert_eq!(merge(0.5, 0.0, 0.0), 0.5);
    }
}
