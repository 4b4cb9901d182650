//! What a person should know about data and result.

/// Something about the data that a person should know.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Warning {
    /// Points with seven or more copies: their σ is the smallest positive distance instead.
    Duplicates {
        /// How many points.
        points: usize,
        /// The first of them.
        first: usize,
    },
    /// All points are the same; every affinity is 1.
    AllEqual,
    /// Fewer than eight points: σ is the distance to the farthest.
    FewSamples {
        /// How many samples.
        n_samples: usize,
    },
    /// Only the K listed neighbours are known; the others are ranked in a seeded random order.
    PartialLists {
        /// Neighbours listed per point.
        listed: usize,
    },
    /// w ended on fewer ranks than it takes to connect the data: Z is nearly a permutation.
    OneRank,
    /// Columns of V that became zero.
    DeadColumns {
        /// How many.
        columns: usize,
    },
    /// Z falls into more nearly separate pieces than there are clusters.
    ManyPieces {
        /// Eigenvalues within 1e-6 of the largest one.
        pieces: usize,
        /// Clusters asked for.
        n_clusters: usize,
    },
    /// The graph falls into more pieces than clusters; some were joined by distance alone.
    JoinedPieces {
        /// Pieces of the graph.
        pieces: usize,
        /// Clusters asked for.
        n_clusters: usize,
    },
    /// The eigensolver stopped before its tolerance.
    Spectrum {
        /// Largest residual left.
        residual: f64,
    },
    /// Fewer distinct labels than clusters asked for.
    FewerClusters {
        /// Labels found.
        found: usize,
        /// Clusters asked for.
        asked: usize,
    },
    /// The dissimilarity pushed every V to zero; it was given less weight.
    WeakerBeta {
        /// β asked for.
        asked: f64,
        /// β in force.
        used: f64,
    },
    /// The learnt weights reach the end of the near ranks; those behind it share weights.
    NearEnd {
        /// Near ranks in force.
        near: usize,
    },
    /// Double precision would not fit; single precision is used.
    Narrowed,
    /// The members of the consensus disagree.
    Unsettled {
        /// Mean agreement (adjusted Rand index) of the kept members with the result.
        agreement: f64,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Duplicates { points, first } => write!(
                f,
                "{points} points (the first is row {first}) have 7 or more exact copies; drop duplicates if they mean nothing"
            ),
            Self::AllEqual => write!(f, "all points are equal: any grouping is as good as any other"),
            Self::FewSamples { n_samples } => {
                write!(
                    f,
                    "only {n_samples} samples: local scales use the farthest neighbour instead of the 7th"
                )
            }
            Self::PartialLists { listed } => write!(
                f,
                "only {listed} neighbours per point are known; the others stand in a random order behind them"
            ),
            Self::OneRank => {
                write!(
                    f,
                    "only one neighbour rank is trusted, so the graph barely connects; try a larger mu or more neighbors"
                )
            }
            Self::DeadColumns { columns } => {
                write!(
                    f,
                    "{columns} column{} of the factor died; try fewer clusters, a smaller beta or `reseed`",
                    if *columns == 1 { "" } else { "s" }
                )
            }
            Self::ManyPieces { pieces, n_clusters } => write!(
                f,
                "the graph falls into at least {pieces} nearly separate pieces, more than the {n_clusters} clusters asked for; try more clusters or more neighbors"
            ),
            Self::JoinedPieces { pieces, n_clusters } => write!(
                f,
                "the graph falls into {pieces} pieces, more than the {n_clusters} clusters asked for: the nearest ones were joined; {pieces} clusters would need no such joining"
            ),
            Self::Spectrum { residual } => {
                write!(f, "the eigenvectors are only good to {residual:.1e}; labels may depend on the seed")
            }
            Self::FewerClusters { found, asked } => {
                write!(
                    f,
                    "{found} distinct clusters instead of {asked}: the data has fewer distinct points than that"
                )
            }
            Self::WeakerBeta { asked, used } => write!(
                f,
                "with beta = {asked} the factor became zero, so beta = {used} is used; the data hardly separates near from far"
            ),
            Self::NearEnd { near } => write!(
                f,
                "trusted ranks reach the end of the {near} near ones, behind which ranks share weights; raise `near`, or trust fewer `neighbors`"
            ),
            Self::Narrowed => write!(f, "double precision does not fit in memory; single precision is used"),
            Self::Unsettled { agreement } => write!(
                f,
                "the members of the consensus agree little with it (mean adjusted Rand index {agreement:.2}); the grouping is not settled: try another number of clusters"
            ),
        }
    }
}
