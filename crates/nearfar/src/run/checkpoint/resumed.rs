//! What a resumed run went on from.

/// What a resumed run took from its checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Resumed {
    /// Neighbours per point, where their lists were there.
    pub neighbors: Option<usize>,
    /// Starts that were finished.
    pub starts: usize,
    /// Starts that went on in the middle.
    pub running: Vec<ResumedStart>,
    /// Whether the eigenvectors of Z were there.
    pub spectrum: bool,
    #[serde(skip)]
    pub(super) round: (usize, usize),
}

/// A start that went on in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ResumedStart {
    /// Which, from 0.
    pub start: usize,
    /// Iterations it had made.
    pub iteration: usize,
    /// Whether these are of the loop that makes the starting V.
    pub starting: bool,
}

impl std::fmt::Display for Resumed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let mut parts = Vec::new();
        if let Some(k) = self.neighbors {
            parts.push(format!("the lists of {k} neighbours"));
        }
        if self.starts > 0 {
            parts.push(format!("{} finished start{}", self.starts, plural(self.starts)));
        }
        for ResumedStart { start, iteration, starting } in &self.running {
            let which = if *starting { " of its starting loop" } else { "" };
            parts.push(format!("start {} at iteration {iteration}{which}", start + 1));
        }
        if self.spectrum {
            parts.push("the eigenvectors".to_owned());
        }
        if parts.is_empty() {
            return f.write_str("the beginning");
        }
        f.write_str(&parts.join(", "))
    }
}
