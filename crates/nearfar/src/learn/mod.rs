//! learn: V, w and p. One loop ([`run`]) for every method; a method only knows how to make a step.
//!
//! [`MethodKind`] names the methods, [`MethodParams`] has their settings, and [`table`] describes both. [`custom`]
//! is the way in for a method of your own.

pub(crate) mod anls;
pub(crate) mod aosymnmf;
pub(crate) mod cgsymnmf;
pub mod custom;
pub(crate) mod family;
pub(crate) mod gnmf;
pub(crate) mod gsnmf;
pub(crate) mod kmeans;
pub(crate) mod lsdg;
pub(crate) mod member;
pub(crate) mod multiplicative;
pub(crate) mod nearfar;
pub(crate) mod nmf;
pub(crate) mod nmfan;
pub(crate) mod phals;
pub(crate) mod rbsmf;
pub(crate) mod run;
pub(crate) mod s3nmf;
pub(crate) mod sbsum;
pub(crate) mod spectral;
pub(crate) mod start;
pub(crate) mod stop;
pub(crate) mod sweep;
pub(crate) mod symnmf;
pub mod table;
pub(crate) mod trace;

pub use crate::graph::{GraphKind, GraphParams, SparseGraph};
pub use crate::math::factor::Factor;
pub use anls::{AnlsParams, AnlsSolver};
pub use aosymnmf::{AoSymNmfParams, FactorSolver};
pub use cgsymnmf::CgSymNmfParams;
pub use family::{MethodKind, MethodParams};
pub use gnmf::GnmfParams;
pub use gsnmf::{GsNmfParams, GsNmfSolver};
pub use lsdg::{Alpha, Density, LsdgParams};
pub use member::Member;
pub use multiplicative::Regularizer;
pub use nearfar::{Engine, NearFarParams};
pub use nmfan::NmfAnParams;
pub use rbsmf::RbsMfParams;
pub use run::{Learned, Method, run};
pub use s3nmf::S3NmfParams;
pub use sbsum::{SBsumBlock, SBsumParams};
pub use stop::{StopReason, StopRule};
pub use sweep::Reseed;
pub use symnmf::{SymNmfParams, SymNmfSolver};
pub use table::Needs;
pub use trace::TraceRow;
