//! The slices of a data set, whatever their form and precision.

use crate::error::{DataError, Result};
use crate::neighbors::SearchReport;
use crate::slices::{BinnedShape, BinnedSlices, FullSlices, Slices};

/// How a binned run saw the data.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct BinnedReport {
    /// Near ranks, partners and bins in force.
    pub shape: BinnedShape,
    /// How the neighbours were found.
    pub search: SearchReport,
}

/// The pairs: all or binned, in one of two precisions.
#[derive(Debug)]
pub(crate) enum Pairs {
    Double(FullSlices<f64>),
    Single(FullSlices<f32>),
    BinnedDouble(BinnedSlices<f64>),
    BinnedSingle(BinnedSlices<f32>),
}

/// Call a generic function on whichever precision the pairs have.
macro_rules! with_slices {
    ($pairs:expr, $slices:ident => $body:expr) => {
        match $pairs {
            $crate::slices::pairs::Pairs::Double($slices) => $body,
            $crate::slices::pairs::Pairs::Single($slices) => $body,
            $crate::slices::pairs::Pairs::BinnedDouble($slices) => $body,
            $crate::slices::pairs::Pairs::BinnedSingle($slices) => $body,
        }
    };
}
pub(crate) use with_slices;

impl Pairs {
    /// Share of pairs at each rank that have the same true class.
    pub(crate) fn correct_rate<L: PartialEq>(&self, truth: &[L]) -> Result<Vec<f64>> {
        with_slices!(self, slices => {
            let n = slices.n_samples();
            if truth.len() != n {
                return Err(DataError::LabelLengths { labels: n, truth: truth.len() }.into());
            }
            Ok(slices.share_of(&|i, j| truth[i] == truth[j]))
        })
    }
}
