#![doc = include_str!("about.md")]

pub(crate) mod far;
pub(crate) mod members;

use crate::learn::table::{Entry, Kind, Needs, Setting, own, words};
use crate::views::Views;

/// Neighbours per point and view.
pub const LISTS: usize = 40;
/// Ranks that the members of a view trust.
pub(crate) const TRUSTED: [usize; 4] = [6, 10, 15, 25];

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
///
#[doc = include_str!("about.md")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct NearFarParams {
    /// Which way is taken.
    pub engine: Engine,
    /// Which scalings are looked at.
    pub views: Views,
}

/// Its place in the table.
pub(crate) static ENTRY: Entry = Entry {
    name: "nearfar",
    line: "Several scalings of the data, weighed without labels; neighbour weights and a partition learnt in \
           turn; a consensus. The default.",
    about: include_str!("about.md"),
    needs: Needs::Lists,
    matrices: 0,
    class: "NearFar",
    settings: &[OWN],
};

const OWN: &[Setting] = &[
    Setting::at(
        "engine",
        Kind::Word(Engine::WORDS),
        "How the answer is found: by neighbour graphs, by a mixture of Gaussian or heavy-tailed groups, or \
         auto: by the mixture where it explains the points, else by graphs",
        own!(NearFar, engine),
    ),
    Setting::at(
        "views",
        Kind::Views,
        "Scalings of the data to look at: auto, or some of raw, standard, unit and standard-unit",
        own!(NearFar, views),
    ),
];

words!(Engine { "auto" => Self::Auto, "graph" => Self::Graph, "mixture" => Self::Mixture });
