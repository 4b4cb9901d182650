//! A model file as it is read: nothing is taken that does not fit.

use safetensors::tensor::Dtype;

use super::{
    About, FORMAT, GRAPHS, InputKind, LENSES, ModelFileError, SavedModel, Scaling, TRACE_COLUMNS, Training,
};
use crate::model::Lens;
use crate::model::tensors::{Arrays, Length, Refused, unpack};
use crate::slices::SparseRows;
use crate::tree::{Merge, MergeTree};
use crate::views::{Standard, View};

pub(super) fn read(bytes: &[u8], name: &str) -> Result<SavedModel, ModelFileError> {
    let name = || name.to_owned();
    let damaged = |reason: String| ModelFileError::Damaged { name: name(), reason };
    let (about, arrays) = unpack(bytes, &FORMAT).map_err(|refused| match refused {
        Refused::Foreign(reason) => ModelFileError::Foreign { name: name(), reason },
        Refused::Version(found) => ModelFileError::Version { name: name(), found },
        Refused::Damaged(reason) => damaged(reason),
    })?;
    let about: About = serde_json::from_str(&about).map_err(|error| damaged(error.to_string()))?;
    assemble(about, &arrays).map_err(damaged)
}

impl Arrays<'_> {
    fn graph(&self, names: [&str; 3], n: usize) -> Result<Option<SparseRows>, String> {
        if !self.has(names[0]) {
            return Ok(None);
        }
        let starts: Vec<u64> = self.read(names[0], Length::Of(n.checked_add(1)))?;
        let columns: Vec<u32> = self.read(names[1], Length::Any)?;
        let values: Vec<f64> = self.read(names[2], Length::Of(Some(columns.len())))?;
        let whole = starts.first() == Some(&0)
            && starts.last() == Some(&(columns.len() as u64))
            && starts.is_sorted()
            && columns.iter().all(|column| (*column as usize) < n);
        if !whole {
            return Err(format!("{} is no matrix of {n} x {n}", names[0]));
        }
        let starts = starts.into_iter().map(|start| start as usize).collect();
        Ok(Some(SparseRows { starts, columns, values }))
    }

    fn training(&self, len: Option<usize>) -> Result<Training, String> {
        Ok(match self.dtype("training") {
            None => Training::Nothing,
            Some(Dtype::F32) => Training::Single(self.read("training", Length::Of(len))?),
            Some(_) => Training::Double(self.read("training", Length::Of(len))?),
        })
    }

    fn tree(&self, n: usize, pieces: Option<usize>) -> Result<Option<MergeTree>, String> {
        let Some(pieces) = pieces else { return Ok(None) };
        let leaves: Vec<u32> = self.read("tree.leaves", Length::Of(Some(n)))?;
        let resolutions: Vec<f64> = self.read("tree.resolutions", Length::Any)?;
        let pairs: Vec<u32> = self.read("tree.merges", Length::Of(resolutions.len().checked_mul(2)))?;
        let merge = |(pair, resolution): (&[u32], &f64)| Merge {
            into: pair[0],
            from: pair[1],
            resolution: *resolution,
        };
        let merges = pairs.chunks_exact(2).zip(&resolutions).map(merge).collect();
        MergeTree::from_parts(leaves, merges, pieces)
            .map(Some)
            .ok_or_else(|| "its tree is no tree".to_owned())
    }

    fn lenses(&self, views: &[(View, f64)], n: usize) -> Result<Vec<Lens>, String> {
        if views.len() > LENSES.len() {
            return Err(format!("it has {} views", views.len()));
        }
        let lens = |((view, weight), names): (&(View, f64), [&str; 2])| {
            let near_weights: Vec<f64> = self.read(names[0], Length::Any)?;
            let sigma: Option<Vec<f64>> = self.read_if(names[1], Length::Of(Some(n)))?;
            let scales = sigma.as_ref().is_none_or(|sigma| sigma.iter().all(|s| *s > 0.0));
            let weights = near_weights.len() <= n && near_weights.iter().all(|w| *w >= 0.0);
            if !(scales && weights && *weight >= 0.0) {
                return Err(format!("the weights or scales of its view {view} are out of range"));
            }
            Ok(Lens { view: *view, weight: *weight, near_weights, sigma })
        };
        views.iter().zip(LENSES).map(lens).collect()
    }

    fn standard(&self, m: usize) -> Result<Standard, String> {
        let mean: Option<Vec<f64>> = self.read_if("standard.mean", Length::Of(Some(m)))?;
        let deviation: Option<Vec<f64>> = self.read_if("standard.deviation", Length::Of(Some(m)))?;
        match (mean, deviation) {
            (Some(mean), Some(deviation)) if deviation.iter().all(|d| *d > 0.0) => {
                Ok(Standard { mean, deviation })
            }
            (None, None) => Ok(Standard::default()),
            _ => Err("how its columns are standardised is not whole".to_owned()),
        }
    }

    fn scaling(&self, name: &str, m: usize) -> Result<Scaling, String> {
        Ok(match name {
            "none" => Scaling::None,
            "unit" => Scaling::Unit,
            "columns" => Scaling::Columns {
                origin: self.read("scaling.origin", Length::Of(Some(m)))?,
                unit: self.read("scaling.unit", Length::Of(Some(m)))?,
            },
            other => return Err(format!("its scaling is {other:?}")),
        })
    }
}

/// Put the parts together, refusing whatever does not fit.
fn assemble(about: About, arrays: &Arrays<'_>) -> Result<SavedModel, String> {
    let (n, m, r) = (about.n_samples, about.n_features, about.n_clusters);
    let pairwise = about.input != InputKind::Samples;
    if n == 0 || r == 0 || (m == 0) != pairwise {
        return Err(format!("{n} samples, {m} features and {r} clusters do not go together"));
    }
    if !["euclidean", "cosine"].contains(&about.metric.as_str()) {
        return Err(format!("its metric is {:?}", about.metric));
    }
    if about.feature_names.as_ref().is_some_and(|names| names.len() != m) {
        return Err("it names another number of features than it has".to_owned());
    }
    let labels: Vec<u32> = arrays.read("labels", Length::Of(Some(n)))?;
    if let Some(i) = labels.iter().position(|label| *label as usize >= r) {
        return Err(format!("label {i} is {}, of {r} clusters", labels[i]));
    }
    if about.mixture.as_ref().is_some_and(|mixture| pairwise || !mixture.fits(r, m)) {
        return Err("its mixture is of other columns or clusters".to_owned());
    }
    let each = |count: usize| count == 0 || count == r;
    if !each(about.cluster_names.len()) || !each(about.stability.len()) {
        return Err("it names or judges another number of clusters than it has".to_owned());
    }
    if about.stability.iter().any(|overlap| !(0.0..=1.0).contains(overlap)) {
        return Err("it has a stability outside of 0 to 1".to_owned());
    }
    let near_weights: Vec<f64> = arrays.read("near_weights", Length::NoneOr(Some(n)))?;
    let far_weights: Vec<f64> = arrays.read("far_weights", Length::NoneOr(Some(n)))?;
    if near_weights.iter().chain(&far_weights).any(|weight| *weight < 0.0) {
        return Err("it has a weight below 0".to_owned());
    }
    let sigma: Option<Vec<f64>> = arrays.read_if("sigma", Length::Of(Some(n)))?;
    if sigma.as_ref().is_some_and(|sigma| sigma.iter().any(|s| !(*s > 0.0))) {
        return Err("it has a local scale of 0 or less".to_owned());
    }
    let training = arrays.training(n.checked_mul(m))?;
    // Samples may be missing: processes that share the rows keep none.
    if training != Training::Nothing && pairwise {
        return Err("it has training samples, and was learnt from pairs".to_owned());
    }
    let confidence: Vec<f64> = arrays.read_if("confidence", Length::Of(Some(n)))?.unwrap_or_default();
    if confidence.iter().any(|sure| !(0.0..=1.0).contains(sure)) {
        return Err("it has a confidence outside of 0 to 1".to_owned());
    }
    let trace: Vec<f64> = arrays.read("trace", Length::Any)?;
    if !trace.len().is_multiple_of(TRACE_COLUMNS.len()) {
        return Err(format!("trace holds {} numbers", trace.len()));
    }
    Ok(SavedModel {
        labels,
        membership: arrays.read("membership", Length::Of(n.checked_mul(r)))?,
        near_weights,
        far_weights,
        factor: arrays.read("factor", Length::Of(n.checked_mul(about.n_columns)))?,
        embedding: arrays.read("embedding", Length::NoneOr(n.checked_mul(r)))?,
        eigenvalues: arrays.read("eigenvalues", Length::Any)?,
        sigma,
        trace,
        similarity: arrays.graph(GRAPHS[0], n)?,
        dissimilarity: arrays.graph(GRAPHS[1], n)?,
        affinity: arrays.read_if("affinity", Length::Of(n.checked_mul(n)))?,
        training,
        scaling: arrays.scaling(&about.scaling, m)?,
        fingerprints: arrays.read_if("fingerprints", Length::Of(Some(n)))?.unwrap_or_default(),
        confidence,
        tree: arrays.tree(n, about.tree_pieces)?,
        lenses: arrays.lenses(&about.lenses, n)?,
        standard: arrays.standard(m)?,
        about,
    })
}
