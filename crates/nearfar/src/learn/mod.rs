//! learn: V, w and p. One loop ([`run`]) for every method; a method only knows how to make a step.

pub mod aosymnmf;
pub mod lsdg;
pub mod phals;
pub(crate) mod run;
pub(crate) mod start;
pub mod stop;
pub(crate) mod sweep;
pub mod trace;

pub use run::{Learned, Method, run};
pub use stop::{StopReason, StopRule};
pub use sweep::Reseed;
pub use trace::TraceRow;
