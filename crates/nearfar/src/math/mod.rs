//! Small pieces of mathematics that the stages share.

pub(crate) mod complement;
pub mod cubic;
pub(crate) mod exp;
pub(crate) mod dense;
pub mod factor;
pub mod kernel;
pub mod rng;
pub mod simplex;
