//! Small pieces of mathematics that the stages share.

pub(crate) mod complement;
pub mod cubic;
pub mod dense;
pub(crate) mod exp;
pub mod factor;
pub mod kernel;
pub mod rng;
pub mod simplex;
