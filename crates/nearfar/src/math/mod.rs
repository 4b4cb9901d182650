//! Small pieces of mathematics that the stages share.

pub mod rng;
