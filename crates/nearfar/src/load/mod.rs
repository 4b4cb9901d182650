//! load: files in, samples out.

mod array;
mod error;
mod limit;
mod npy;
mod npz;

pub use array::{NpyArray, NpyData};
pub use error::{Column, LoadError, LoadProblem, Place};
pub use npy::{NpyElement, write_npy};
pub use npz::{NpzWriter, read_npz};

#[cfg(test)]
mod tests;
