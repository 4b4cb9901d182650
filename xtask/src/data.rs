//! The eight datasets of the paper, read from a folder of NPZ files with arrays X and y.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nearfar::Samples;
use nearfar::generate::Generated;
use nearfar::internals::read_npz;

/// Files of the eight datasets, smallest first, with the paper's ACC and NMI of the proposed method.
pub(crate) const EIGHT: [(&str, f64, f64); 8] = [
    ("seeds", 0.887, 0.709),
    ("yale", 0.539, 0.586),
    ("orl", 0.683, 0.846),
    ("chart", 0.733, 0.809),
    ("usps-1000", 0.610, 0.627),
    ("coil20", 0.833, 0.923),
    ("mnist-2000", 0.698, 0.691),
    ("semeion", 0.734, 0.678),
];

/// One dataset with its classes.
pub(crate) struct Dataset {
    pub(crate) path: PathBuf,
    pub(crate) x: Vec<f64>,
    pub(crate) truth: Vec<usize>,
    pub(crate) n: usize,
    pub(crate) m: usize,
    pub(crate) classes: usize,
}

impl Dataset {
    pub(crate) fn open(folder: &Path, name: &str) -> Result<Self> {
        let path = folder.join(format!("{name}.npz"));
        let arrays =
            read_npz(&path).with_context(|| format!("the datasets are not in {}", folder.display()))?;
        let array = |name: &str| {
            arrays.iter().find(|(n, _)| n == name).map(|(_, a)| a).context(format!("no array {name}"))
        };
        let x = array("X")?;
        let (n, m) = (x.shape[0], x.shape[1]);
        let truth: Vec<usize> = array("y")?.to_f64().iter().map(|y| *y as usize).collect();
        let classes = truth.iter().max().map_or(0, |y| y + 1);
        Ok(Self { path, x: x.to_f64(), truth, n, m, classes })
    }

    /// Of our own making.
    pub(crate) fn generated(name: &str, made: Generated) -> Self {
        let Generated { data, truth, n_samples, n_features, .. } = made;
        let classes = truth.iter().max().map_or(0, |y| y + 1);
        Self { path: name.into(), x: data, truth, n: n_samples, m: n_features, classes }
    }

    pub(crate) fn samples(&self) -> Samples<'_> {
        Samples::from_rows(&self.x, self.n, self.m).expect("the reader keeps shapes")
    }
}

/// Mean and standard deviation (of the sample) of a list.
pub(crate) fn mean_std(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, variance.sqrt())
}
