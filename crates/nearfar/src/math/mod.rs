//! Small pieces of mathematics that the stages share.

pub mod cubic;
pub mod factor;
pub mod kernel;
pub mod rng;
pub mod simplex;
