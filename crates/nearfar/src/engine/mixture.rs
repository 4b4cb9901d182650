//! Is it a plain mixture? Where k groups of Gaussian or heavy-tailed shape explain the rows no graph is needed, and none is as good.

/// What the parts of a mixture look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Covariance {
    /// Every part has a shape of its own.
    #[default]
    Full,
    /// All parts have the same shape.
    Tied,
    /// Columns do not depend on each other within a part.
    Diag,
    /// The same spread in all directions.
    Spherical,
}

/// What was found when a mixture was tried.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MixtureReport {
    /// Whether it explains the rows: both tests passed.
    pub explains: bool,
    /// Parts.
    pub parts: usize,
    /// Shape of the parts.
    pub covariance: Covariance,
    /// Degrees of freedom of Student's t; `None`: normal tails.
    pub tail: Option<f64>,
    /// T: the share of nearest neighbours of the same origin when the data and rows drawn from the mixture lie together; ½ where they cannot be told apart.
    pub told: f64,
    /// Modularity of the graph of the data, partitioned into as many clusters as there are parts.
    pub sharpness: f64,
    /// The same of drawn rows, the largest of three draws.
    pub drawn_sharpness: f64,
}
