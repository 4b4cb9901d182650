//! Options that several tasks share.

use std::path::PathBuf;

use anyhow::Result;
use nearfar::BinnedParams;

use crate::peers::Peers;

/// Where the other clusterers live.
#[derive(clap::Args, Clone)]
pub(crate) struct PeersArgs {
    /// Python environment with the other clusterers; made with venv and pip where it is not there.
    #[arg(long, default_value = "target/peers")]
    environment: PathBuf,
    /// The Python that makes it.
    #[arg(long, default_value = "python3")]
    python: String,
    /// Threads of all programs.
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

impl PeersArgs {
    pub(crate) fn open(&self) -> Result<Peers> {
        Peers::new(&self.environment, &self.python, self.threads)
    }
}

/// The knobs of binned mode.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct Knobs {
    /// Near ranks.
    #[arg(long)]
    near: Option<usize>,
    /// Partners drawn for every point.
    #[arg(long)]
    far: Option<usize>,
    /// Bins.
    #[arg(long)]
    bins: Option<usize>,
}

impl From<Knobs> for BinnedParams {
    fn from(Knobs { near, far, bins }: Knobs) -> Self {
        Self { near, far, bins }
    }
}
