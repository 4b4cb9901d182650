//! What a run records about every iteration.

/// One iteration. The terms are those the reference program records: the first four before the updates of
/// the iteration, the last during its sweep, so that stopping agrees with it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TraceRow {
    /// Counted from 1; 0 is the start, where a method records it.
    pub iteration: usize,
    /// ½‖S − VVᵀ‖².
    pub fit: f64,
    /// β⟨D, VVᵀ⟩.
    pub dissimilarity: f64,
    /// η wᵀp.
    pub overlap: f64,
    /// ½((μ − 1)‖w‖² + μ‖p‖²).
    pub density: f64,
    /// −α Σ_j R(v_j).
    pub orthogonality: f64,
    /// What a method of the family adds to its fit: its regulariser, or the price of U ≠ V.
    pub penalty: f64,
    /// ‖V − V_before‖ / ‖V_before‖, and so for w and p.
    pub change: [f64; 3],
}

impl TraceRow {
    /// The loss: all terms together.
    pub fn loss(&self) -> f64 {
        self.fit + self.dissimilarity + self.overlap + self.density + self.orthogonality + self.penalty
    }

    /// As a row of [`SavedModel::trace`](crate::SavedModel::trace): the number of the start, then what stands here.
    pub fn numbers(&self, member: usize) -> [f64; 12] {
        let [factor, near, far] = self.change;
        [
            member as f64,
            self.iteration as f64,
            self.loss(),
            self.fit,
            self.dissimilarity,
            self.overlap,
            self.density,
            self.orthogonality,
            self.penalty,
            factor,
            near,
            far,
        ]
    }

    /// A row with the first term only.
    #[must_use]
    pub fn of_fit(iteration: usize, fit: f64) -> Self {
        Self {
            iteration,
            fit,
            dissimilarity: 0.0,
            overlap: 0.0,
            density: 0.0,
            orthogonality: 0.0,
            penalty: 0.0,
            change: [0.0; 3],
        }
    }
}
