//! Rescaling, and what the columns look like before it.

use nearfar::Samples;
use nearfar::model::Scaling;

use crate::flags::Scale;

/// Centre and width of a column, safe for values near the largest numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

/// The spread of every column.
pub(crate) fn spreads(samples: &Samples<'_>) -> Vec<Spread> {
    let (n, m) = (samples.n_samples(), samples.n_features());
    let mut row = vec![0.0; m];
    let start = Spread { least: f64::INFINITY, most: f64::NEG_INFINITY, mean: 0.0, deviation: 0.0 };
    let mut spreads = vec![start; m];
    for i in 0..n {
        samples.copy_row(i, &mut row);
        for (spread, x) in spreads.iter_mut().zip(&row) {
            spread.least = spread.least.min(*x);
            spread.most = spread.most.max(*x);
            spread.mean += x / n as f64;
        }
    }
    for i in 0..n {
        samples.copy_row(i, &mut row);
        for (spread, x) in spreads.iter_mut().zip(&row) {
            // In units of the width, so that no square overflows.
            let width = spread.width();
            if width > 0.0 {
                spread.deviation += ((x / width) - (spread.mean / width)).powi(2) / n as f64;
            }
        }
    }
    for spread in &mut spreads {
        spread.deviation = spread.deviation.sqrt() * spread.width();
    }
    spreads
}

impl Spread {
    /// Most minus least, or the largest number where that overflows.
    fn width(&self) -> f64 {
        (self.most - self.least).min(f64::MAX)
    }
}

/// What is done to every row of these samples.
pub(crate) fn scaling(samples: &Samples<'_>, scale: Scale) -> Scaling {
    let columns = |frame: &dyn Fn(&Spread) -> (f64, f64)| {
        let (origin, unit) = spreads(samples).iter().map(frame).unzip();
        Scaling::Columns { origin, unit }
    };
    match scale {
        Scale::None => Scaling::None,
        Scale::Unit => Scaling::Unit,
        Scale::Standard => columns(&|spread| (spread.mean, spread.deviation)),
        Scale::Minmax => columns(&|spread| (spread.least, spread.width())),
    }
}

/// The rescaled values, row after row; `None` where nothing is to be done.
pub(crate) fn rescale(samples: &Samples<'_>, scaling: &Scaling) -> Option<Vec<f64>> {
    if *scaling == Scaling::None {
        return None;
    }
    let (n, m) = (samples.n_samples(), samples.n_features());
    let mut values = vec![0.0; n * m];
    for (i, row) in values.chunks_exact_mut(m.max(1)).enumerate() {
        samples.copy_row(i, row);
        scaling.apply(row);
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rescale(samples: &Samples<'_>, scale: Scale) -> Option<Vec<f64>> {
        super::rescale(samples, &scaling(samples, scale))
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
