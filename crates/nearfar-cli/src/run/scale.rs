//! Rescaling.

use nearfar::load::{Buffer, LoadProblem, MemoryBudget, TableValues};
use nearfar::model::Scaling;
use nearfar::processes::Share;
use nearfar::{Samples, Spread};

use crate::flags::Scale;

/// What is done to every row of these samples, which may be a part of all.
pub(crate) fn scaling(samples: &Samples<'_>, scale: Scale, share: Option<&Share>) -> Scaling {
    let columns = |frame: &dyn Fn(&Spread) -> (f64, f64)| {
        let spreads = share.map_or_else(|| samples.spreads(), |share| samples.spreads_shared(share));
        let (origin, unit) = spreads.iter().map(frame).unzip();
        Scaling::Columns { origin, unit }
    };
    match scale {
        Scale::None => Scaling::None,
        Scale::Unit => Scaling::Unit,
        Scale::Standard => columns(&|spread| (spread.mean, spread.deviation)),
        Scale::Minmax => columns(&|spread| (spread.least, spread.width())),
    }
}

/// The rescaled values, row after row; `None` where nothing is to be done. In single precision where there is no
/// room for more.
pub(crate) fn rescale(
    samples: &Samples<'_>,
    scaling: &Scaling,
    budget: &MemoryBudget,
) -> Result<Option<TableValues>, LoadProblem> {
    if *scaling == Scaling::None {
        return Ok(None);
    }
    let (n, m) = (samples.n_samples(), samples.n_features());
    if budget.narrows(n * m) {
        let mut values = Buffer::<f32>::within(budget, n * m)?;
        let mut wide = vec![0.0; m];
        for (i, row) in values.chunks_exact_mut(m.max(1)).enumerate() {
            samples.copy_row(i, &mut wide);
            scaling.apply(&mut wide);
            row.iter_mut().zip(&wide).for_each(|(x, wide)| *x = *wide as f32);
        }
        return Ok(Some(TableValues::F32(values)));
    }
    let mut values = Buffer::<f64>::within(budget, n * m)?;
    for (i, row) in values.chunks_exact_mut(m.max(1)).enumerate() {
        samples.copy_row(i, row);
        scaling.apply(row);
    }
    Ok(Some(TableValues::F64(values)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rescale(samples: &Samples<'_>, scale: Scale) -> Option<Vec<f64>> {
        let found = super::rescale(samples, &scaling(samples, scale, None), &MemoryBudget::new(None, false));
        found.unwrap().map(|values| match values {
            TableValues::F64(values) => values.to_vec(),
            TableValues::F32(_) => panic!("narrowed without need"),
        })
    }

    #[test]
    fn what_has_no_room_is_scaled_in_single_precision() {
        let data = [0.0, 5.0, 2.0, 5.0, 4.0, 5.0];
        let samples = Samples::from_rows(&data, 3, 2).unwrap();
        let scaling = scaling(&samples, Scale::Minmax, None);
        for (memory, in_file) in [(60, false), (40, true)] {
            let Some(TableValues::F32(values)) =
                super::rescale(&samples, &scaling, &MemoryBudget::new(Some(memory), false)).unwrap()
            else {
                panic!("not narrowed to fit in {memory} bytes");
            };
            assert!(values.in_file() == in_file && *values == [0.0, 0.0, 0.5, 0.0, 1.0, 0.0]);
        }
    }

    #[test]
    fn scales() {
        let data = [0.0, 5.0, 2.0, 5.0, 4.0, 5.0];
        let samples = Samples::from_rows(&data, 3, 2).unwrap();
        assert_eq!(rescale(&samples, Scale::Minmax).unwrap(), [0.0, 0.0, 0.5, 0.0, 1.0, 0.0]);
        let standard = rescale(&samples, Scale::Standard).unwrap();
        assert!((standard[0] + 1.5_f64.sqrt()).abs() < 1e-12 && standard[1] == 0.0);
        let unit = rescale(&samples, Scale::Unit).unwrap();
        assert!((unit[2].hypot(unit[3]) - 1.0).abs() < 1e-12);
        assert!(rescale(&samples, Scale::None).is_none());
    }

    #[test]
    fn huge_values_stay_finite() {
        let data = [1e308, -1e308, 0.0, 1e308];
        let samples = Samples::from_rows(&data, 4, 1).unwrap();
        for scale in [Scale::Standard, Scale::Minmax, Scale::Unit] {
            assert!(rescale(&samples, scale).unwrap().iter().all(|x| x.is_finite()), "{scale:?}");
        }
    }
}
