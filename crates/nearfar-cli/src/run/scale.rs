//! Rescaling, and what the columns look like before it.

use nearfar::Samples;

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

/// The rescaled values, row after row; `None` where nothing is to be done.
pub(crate) fn rescale(samples: &Samples<'_>, scale: Scale) -> Option<Vec<f64>> {
    let (n, m) = (samples.n_samples(), samples.n_features());
    let spreads = match scale {
        Scale::None => return None,
        Scale::Unit => Vec::new(),
        Scale::Standard | Scale::Minmax => spreads(samples),
    };
    let mut values = vec![0.0; n * m];
    for (i, row) in values.chunks_exact_mut(m.max(1)).enumerate() {
        samples.copy_row(i, row);
        match scale {
            Scale::None => {}
            Scale::Unit => to_length_one(row),
            Scale::Standard => of_columns(row, &spreads, |s| (s.mean, s.deviation)),
            Scale::Minmax => of_columns(row, &spreads, |s| (s.least, s.width())),
        }
    }
    Some(values)
}

/// (x − origin) / unit, and 0 in a constant column.
fn of_columns(row: &mut [f64], spreads: &[Spread], frame: impl Fn(&Spread) -> (f64, f64)) {
    for (x, spread) in row.iter_mut().zip(spreads) {
        let (origin, unit) = frame(spread);
        *x = if unit > 0.0 { *x / unit - origin / unit } else { 0.0 };
    }
}

fn to_length_one(row: &mut [f64]) {
    let largest = row.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    if largest > 0.0 {
        for x in &mut *row {
            *x /= largest;
        }
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        for x in row {
            *x /= norm;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
