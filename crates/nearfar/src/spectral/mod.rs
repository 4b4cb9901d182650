//! spectral: the leading eigenvectors of the normalised similarity, and the embedding made of them.
//!
//! Ng, Jordan and Weiss: $N^{-1/2} Z N^{-1/2}$ with N the row sums of Z (its diagonal included), the r leading eigenvectors, rows
//! scaled to length one.

pub mod eigen;
pub mod embed;

use crate::slices::Graph;
use eigen::Operator;

/// N^-½ Z N^-½ of a graph, as an operator.
#[derive(Debug)]
pub struct Normalized<'a, G> {
    graph: &'a G,
    /// 1/√(row sum + ε).
    scale: Vec<f64>,
}

impl<'a, G: Graph> Normalized<'a, G> {
    /// Of this graph, whose entries are 0 or more.
    pub fn new(graph: &'a G) -> Self {
        let scale = graph.degrees().iter().map(|d| 1.0 / (d + f64::EPSILON).sqrt()).collect();
        Self { graph, scale }
    }
}

impl<G: Graph> Operator for Normalized<'_, G> {
    fn size(&self) -> usize {
        self.scale.len()
    }

    fn apply(&self, x: &[f64], columns: usize, y: &mut [f64]) {
        let n = self.scale.len();
        let mut scaled = x.to_vec();
        let rescale = |values: &mut [f64]| {
            for column in values.chunks_exact_mut(n) {
                for (value, scale) in column.iter_mut().zip(&self.scale) {
                    *value *= scale;
                }
            }
        };
        rescale(&mut scaled);
        self.graph.apply(&scaled, columns, y);
        rescale(y);
    }
}
