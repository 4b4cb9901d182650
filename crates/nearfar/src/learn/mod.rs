//! learn: V, w and p. One loop ([`run`]) for every method; a method only knows how to make a step.

pub mod anls;
pub mod aosymnmf;
pub mod cgsymnmf;
pub mod custom;
pub(crate) mod family;
pub mod gnmf;
pub mod gsnmf;
pub mod kmeans;
pub mod lsdg;
pub(crate) mod member;
pub(crate) mod multiplicative;
pub mod nearfar;
pub mod nmf;
pub mod nmfan;
pub mod phals;
pub mod rbsmf;
pub(crate) mod run;
pub mod s3nmf;
pub mod sbsum;
pub mod spectral;
pub(crate) mod start;
pub mod stop;
pub(crate) mod sweep;
pub mod symnmf;
pub mod table;
pub mod trace;

pub use aosymnmf::FactorSolver;
pub use family::{MethodKind, MethodParams};
pub use member::Member;
pub use multiplicative::Regularizer;
pub use run::{Learned, Method, run};
pub use stop::{StopReason, StopRule};
pub use sweep::Reseed;
pub use table::Needs;
pub use trace::TraceRow;
