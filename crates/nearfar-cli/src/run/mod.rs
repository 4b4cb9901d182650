//! What a run of `cluster` is made of: settings → data → watch → summary → folder.

mod account;
pub(crate) mod data;
pub(crate) mod features;
pub(crate) mod folder;
pub(crate) mod labels;
pub(crate) mod like;
pub(crate) mod method;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod report;
pub(crate) mod scale;
pub(crate) mod settings;
pub(crate) mod summary;
pub(crate) mod ticker;
pub(crate) mod watch;
