//! Everything that can go wrong, one variant per cause. A message names the place, what was found,
//! what is allowed and what to try.
//!
//! Messages and warnings write a setting by its name in this library, between backquotes: "allow more `memory`". A
//! program turns these into its flags, Python into its keywords ([`spell_settings`]).

use crate::checkpoint::CheckpointError;
use crate::load::LoadError;
use crate::model::ModelFileError;

/// Result of anything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run was refused or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read as what it claims to be.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A model file could not be read or written.
    #[error(transparent)]
    ModelFile(#[from] ModelFileError),
    /// A run cannot be saved, or not be resumed.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A parameter is out of its range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// The data cannot be clustered as given.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The plan needs more memory than is allowed.
    #[error(
        "this run needs {} of memory and {} may be used; {advice}",
        crate::plan::human_bytes(*needed),
        crate::plan::human_bytes(*limit)
    )]
    Memory {
        /// Bytes the plan asks for.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
        /// The setting that would fit.
        advice: String,
    },
    /// The factor V became zero: the settings leave nothing to factorise.
    #[error("the factor V became zero in iteration {iteration}: {cause}")]
    Collapsed {
        /// Iteration in which it happened, counted from 1.
        iteration: usize,
        /// Which setting caused it and what to try.
        cause: String,
    },
    /// The numbers grew beyond all bounds.
    #[error("the method diverged in iteration {iteration}: {cause}")]
    Diverged {
        /// Iteration in which it showed, counted from 1.
        iteration: usize,
        /// Which setting caused it and what to try.
        cause: String,
    },
    /// The caller asked to stop before there was a result.
    #[error("cancelled during {stage}")]
    Cancelled {
        /// Stage of the path that was running.
        stage: &'static str,
    },
}

/// A message with every setting in it (a name between backquotes) as `spell` writes it.
///
/// ```
/// let flag = |name: &str| format!("--{}", name.replace('_', "-"));
/// let text = nearfar::internals::spell_settings("raise the limit with `max_bytes`", flag);
/// assert_eq!(text, "raise the limit with --max-bytes");
/// ```
#[must_use]
pub fn spell_settings(message: &str, spell: impl Fn(&str) -> String) -> String {
    let is_name =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some((before, behind)) = rest.split_once('`') {
        out.push_str(before);
        match behind.split_once('`') {
            Some((name, after)) if is_name(name) => {
                out.push_str(&spell(name));
                rest = after;
            }
            _ => {
                out.push('`');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

/// A parameter out of range: its name, the value found, what is allowed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{name} = {value} is not allowed: it must be {allowed}")]
pub struct ParamError {
    /// Name of the parameter, as users write it.
    pub name: &'static str,
    /// The value that was given.
    pub value: String,
    /// What is allowed, in words.
    pub allowed: String,
}

impl ParamError {
    /// A parameter error for `name`.
    #[allow(clippy::needless_pass_by_value)] // callers hand over numbers
    pub fn new(name: &'static str, value: impl ToString, allowed: impl Into<String>) -> Self {
        Self { name, value: value.to_string(), allowed: allowed.into() }
    }

    /// `Ok` when `holds`, else the error. Write the condition so that NaN fails it.
    ///
    /// # Errors
    /// When `holds` is false.
    #[allow(clippy::needless_pass_by_value)]
    pub fn unless(
        holds: bool,
        name: &'static str,
        value: impl ToString,
        allowed: impl Into<String>,
    ) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::new(name, value, allowed)) }
    }
}

/// Data that cannot be clustered as given; rows and columns are counted from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// There are no samples or no features.
    #[error(
        "the data is empty ({n_samples} samples of {n_features} features); at least one of each is needed"
    )]
    Empty {
        /// Rows found.
        n_samples: usize,
        /// Columns found.
        n_features: usize,
    },
    /// The buffer does not hold the shape it is said to hold.
    #[error("a {n_rows} x {n_columns} matrix does not fit a buffer of {len} values")]
    Shape {
        /// Rows claimed.
        n_rows: usize,
        /// Columns claimed.
        n_columns: usize,
        /// Values in the buffer.
        len: usize,
    },
    /// A NaN or an infinity.
    #[error(
        "{what}: row {row}, column {column} is {value}; every value must be a finite number (drop or fill such rows first)"
    )]
    NotFinite {
        /// Which matrix.
        what: &'static str,
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A zero vector has no direction, so no cosine distance.
    #[error(
        "row {row} is all zeros, and the cosine of a zero vector is not defined; drop it or use the Euclidean metric"
    )]
    ZeroRow {
        /// Row, from 0.
        row: usize,
    },
    /// A precomputed matrix breaks one of its rules.
    #[error("precomputed {what}: row {row}, column {column} is {value}; {rule}")]
    Precomputed {
        /// `distances`, `affinities` or `neighbors`.
        what: &'static str,
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The value found.
        value: f64,
        /// The rule it breaks and what to do.
        rule: String,
    },
    /// New points that do not fit the model.
    #[error("the new points have {found} {unit}, but the model expects {expected}: {hint}")]
    WrongWidth {
        /// Columns found.
        found: usize,
        /// Columns the model expects.
        expected: usize,
        /// `features`, or `columns` of a pairwise matrix.
        unit: &'static str,
        /// What the columns stand for.
        hint: &'static str,
    },
    /// More clusters than samples.
    #[error(
        "{n_clusters} clusters were asked for, but there are only {n_samples} samples; ask for at most {n_samples}"
    )]
    TooFewSamples {
        /// Samples found.
        n_samples: usize,
        /// Clusters asked for.
        n_clusters: usize,
    },
    /// Nothing to score.
    #[error("there are no labels to compare; at least one sample is needed")]
    NoLabels,
    /// A method of the samples on pairwise input.
    #[error(
        "{method} factors the samples themselves and cannot work on distances, affinities or neighbour lists; give samples, or choose a method of a graph such as phals"
    )]
    NeedsSamples {
        /// The method.
        method: &'static str,
    },
    /// Something that cannot be done by several processes.
    #[error(
        "{what} needs all rows in one process; run it in one, or choose lsdg or a method of a fixed graph such as phals"
    )]
    NeedsAllRows {
        /// What it is.
        what: &'static str,
    },
    /// New points cannot be compared with training samples that are not there.
    #[error(
        "the model was learnt by processes that shared the samples, and keeps none to compare new points with; fit in one process, or label new points by another method from the labels"
    )]
    NotKept,
    /// Two lists of labels of different length.
    #[error("labels and truth differ in length: {labels} against {truth}")]
    LabelLengths {
        /// Length of the labels.
        labels: usize,
        /// Length of the truth.
        truth: usize,
    },
}
