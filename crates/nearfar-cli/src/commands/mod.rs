//! One file per command.

pub(crate) mod cluster;
pub(crate) mod compare;
pub(crate) mod demo;
pub(crate) mod drift;
pub(crate) mod explain;
mod figure;
pub(crate) mod make;
pub(crate) mod man;
pub(crate) mod methods;
mod picture;
pub(crate) mod plan;
pub(crate) mod predict;
pub(crate) mod refine;
pub(crate) mod relabel;
pub(crate) mod report;
pub(crate) mod repro;
pub(crate) mod score;
