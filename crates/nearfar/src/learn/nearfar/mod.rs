#![doc = include_str!("about.md")]

pub(crate) mod far;
pub(crate) mod members;

use crate::views::Views;

/// Neighbours per point and view.
pub const LISTS: usize = 40;
/// Ranks that the members of a view trust.
pub const TRUSTED: [usize; 4] = [6, 10, 15, 25];

/// Which of the two ways to an answer is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// The mixture where it explains the rows, else the graph.
    #[default]
    Auto,
    /// Neighbour graphs and their partition.
    Graph,
    /// Gaussian or heavy-tailed groups, whether or not they explain the rows.
    Mixture,
}

/// Settings of the default method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct NearFarParams {
    /// Which way is taken.
    pub engine: Engine,
    /// Which scalings are looked at.
    pub views: Views,
}
