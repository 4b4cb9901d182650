//! Golden results: arrays by name, out of an NPZ file.

use std::path::Path;

use nearfar::internals::{NpyArray, read_npz};
use nearfar::learn::Factor;

/// One golden file.
#[derive(Debug)]
pub struct Golden(Vec<(String, NpyArray)>);

impl Golden {
    /// Open a file.
    ///
    /// # Panics
    /// When it cannot be read.
    #[must_use]
    pub fn open(path: &Path) -> Self {
        Self(read_npz(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    }

    /// The values of an array.
    ///
    /// # Panics
    /// When there is no such array.
    #[must_use]
    pub fn array(&self, name: &str) -> Vec<f64> {
        let found = self.0.iter().find(|(found, _)| found == name);
        found.unwrap_or_else(|| panic!("no array {name}")).1.to_f64()
    }

    /// An array of one value.
    ///
    /// # Panics
    /// When there is no such array, or it is empty.
    #[must_use]
    pub fn scalar(&self, name: &str) -> f64 {
        self.array(name)[0]
    }

    /// An n × r array as a factor.
    ///
    /// # Panics
    /// When there is no such array, or it is smaller.
    #[must_use]
    pub fn factor(&self, name: &str, n: usize, r: usize) -> Factor {
        let rows = self.array(name);
        Factor::new((0..r).flat_map(|j| (0..n).map(move |i| i * r + j)).map(|at| rows[at]).collect(), n, r)
    }

    /// Whether there is such an array.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(found, _)| found == name)
    }
}
