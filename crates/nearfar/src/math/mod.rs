//! Small pieces of mathematics that the stages share.

pub(crate) mod complement;
pub(crate) mod cubic;
pub(crate) mod dense;
pub(crate) mod exp;
pub(crate) mod factor;
pub(crate) mod kernel;
pub(crate) mod rng;
pub(crate) mod simplex;
