//! The rows that k-means sees: eigenvectors side by side, every row scaled to unit length.

/// Turn `n_columns` eigenvectors (column-major, n × k) into n points (row-major, n × k) of unit length.
///
/// A row of zeros (a point no eigenvector touches) stays zero. Rows are scaled by their largest entry
/// first, so that tiny rows neither underflow nor lose their direction.
///
/// ```
/// use nearfar::internals::row_normalize;
/// let rows = row_normalize(&[3.0, 0.0, 4.0, 0.0], 2, 2);
/// assert_eq!(rows, [0.6, 0.8, 0.0, 0.0]);
/// ```
#[must_use]
pub fn row_normalize(vectors: &[f64], n_rows: usize, n_columns: usize) -> Vec<f64> {
    debug_assert_eq!(vectors.len(), n_rows * n_columns, "an n × k matrix");
    let mut rows = vec![0.0; vectors.len()];
    if n_columns == 0 || n_rows == 0 {
        return rows;
    }
    for (i, row) in rows.chunks_exact_mut(n_columns).enumerate() {
        for (j, value) in row.iter_mut().enumerate() {
            *value = vectors[j * n_rows + i];
        }
        let largest = row.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        if largest > 0.0 {
            for v in row.iter_mut() {
                *v /= largest;
            }
            let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            for v in row.iter_mut() {
                *v /= norm;
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tiny_rows_keep_their_direction_and_zero_rows_stay() {
        let rows = row_normalize(&[3e-200, 0.0, -4e-200, 0.0], 2, 2);
        assert!((rows[0] - 0.6).abs() < 1e-15 && (rows[1] + 0.8).abs() < 1e-15, "{rows:?}");
        assert_eq!(&rows[2..], [0.0, 0.0]);
        let tiniest = row_normalize(&[5e-324, 5e-324], 1, 2);
        assert!((tiniest[0] - 0.5_f64.sqrt()).abs() < 1e-15);
        assert!(row_normalize(&[], 0, 3).is_empty());
    }

    proptest! {
        #[test]
        fn rows_have_unit_length(values in prop::collection::vec(-1e3_f64..1e3, 3 * 5)) {
            for row in row_normalize(&values, 5, 3).chunks_exact(3) {
                let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
                prop_assert!(norm == 0.0 || (norm - 1.0).abs() < 1e-14);
            }
        }
    }
}
