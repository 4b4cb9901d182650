//! Parquet copies of a run's tables.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use nearfar::Model;
use parquet::arrow::ArrowWriter;

use super::folder::weights;
use crate::exit::{Failure, Outcome};
use crate::output::{Columns, whole};

/// Hand each table, as the bytes of a Parquet file, to `put`.
pub(crate) fn save(model: &Model, columns: &Columns<'_>, put: impl Fn(&str, &[u8]) -> Outcome) -> Outcome {
    let mut labels: Vec<(String, ArrayRef)> = Vec::new();
    if let Some(ids) = columns.ids {
        labels.push(("id".into(), Arc::new(StringArray::from_iter_values(ids))));
    }
    labels.push(("label".into(), Arc::new(Int64Array::from(columns.labels.clone()))));
    if let Some(confidence) = columns.confidence {
        labels.push(("confidence".into(), floats(confidence.iter().copied())));
    }
    if let Some(second) = &columns.second {
        let second = second.iter().map(|second| second.map(whole)).collect::<Int64Array>();
        labels.push(("second".into(), Arc::new(second)));
    }
    for (k, level) in &columns.levels {
        labels.push((format!("k{k}"), Arc::new(Int64Array::from(level.clone()))));
    }
    put("labels.parquet", &table(labels)?)?;
    if let Some(weights) = weights(model) {
        let mut columns = vec![("rank".to_owned(), integers(0..weights[0].1.len()))];
        columns.extend(weights.iter().map(|(title, of)| ((*title).to_owned(), floats(of.iter().copied()))));
        put("weights.parquet", &table(columns)?)?;
    }
    put_trace(model, put)
}

fn put_trace(model: &Model, put: impl Fn(&str, &[u8]) -> Outcome) -> Outcome {
    let rows = || {
        let members = model.members.iter().enumerate();
        members.flat_map(|(at, member)| member.last_loop().trace.iter().map(move |row| (at, row)))
    };
    put(
        "trace.parquet",
        &table([
            ("member", integers(rows().map(|(member, _)| member))),
            ("iteration", integers(rows().map(|(_, row)| row.iteration))),
            ("loss", floats(rows().map(|(_, row)| row.loss()))),
            ("fit", floats(rows().map(|(_, row)| row.fit))),
            ("dissimilarity", floats(rows().map(|(_, row)| row.dissimilarity))),
            ("overlap", floats(rows().map(|(_, row)| row.overlap))),
            ("density", floats(rows().map(|(_, row)| row.density))),
            ("orthogonality", floats(rows().map(|(_, row)| row.orthogonality))),
            ("penalty", floats(rows().map(|(_, row)| row.penalty))),
            ("change_v", floats(rows().map(|(_, row)| row.change[0]))),
            ("change_w", floats(rows().map(|(_, row)| row.change[1]))),
            ("change_p", floats(rows().map(|(_, row)| row.change[2]))),
        ])?,
    )
}

fn integers(values: impl Iterator<Item = usize>) -> ArrayRef {
    Arc::new(values.map(whole).collect::<Int64Array>())
}

fn floats(values: impl Iterator<Item = f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(values))
}

fn table<N: AsRef<str>>(columns: impl IntoIterator<Item = (N, ArrayRef)>) -> Outcome<Vec<u8>> {
    let failed = |error: String| Failure::wrong(format!("the Parquet copy cannot be made: {error}"));
    let batch = RecordBatch::try_from_iter(columns).map_err(|error| failed(error.to_string()))?;
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, batch.schema(), None).map_err(|error| failed(error.to_string()))?;
    writer.write(&batch).map_err(|error| failed(error.to_string()))?;
    writer.close().map_err(|error| failed(error.to_string()))?;
    Ok(bytes)
}
