//! Parquet copies of a run's tables.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use nearfar::Model;
use parquet::arrow::ArrowWriter;

use crate::exit::{Failure, Outcome};
use crate::output::whole;

/// Hand each table, as the bytes of a Parquet file, to `put`.
pub(crate) fn save(model: &Model, ids: Option<&[String]>, put: impl Fn(&str, &[u8]) -> Outcome) -> Outcome {
    let mut labels: Vec<(&str, ArrayRef)> = Vec::new();
    if let Some(ids) = ids {
        labels.push(("id", Arc::new(StringArray::from_iter_values(ids))));
    }
    labels.push(("label", integers(model.labels.iter().copied())));
    put("labels.parquet", &table(labels)?)?;
    if model.near_weights.is_empty() {
        return put_trace(model, put);
    }
    put(
        "weights.parquet",
        &table(vec![
            ("rank", integers(0..model.near_weights.len())),
            ("near", floats(model.near_weights.iter().copied())),
            ("far", floats(model.far_weights.iter().copied())),
        ])?,
    )?;
    put_trace(model, put)
}

fn put_trace(model: &Model, put: impl Fn(&str, &[u8]) -> Outcome) -> Outcome {
    let rows = || {
        let members = model.members.iter().enumerate();
        members.flat_map(|(at, member)| member.last_loop().trace.iter().map(move |row| (at, row)))
    };
    put(
        "trace.parquet",
        &table(vec![
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

fn table(columns: Vec<(&str, ArrayRef)>) -> Outcome<Vec<u8>> {
    let failed = |error: String| Failure::wrong(format!("the Parquet copy cannot be made: {error}"));
    let batch = RecordBatch::try_from_iter(columns).map_err(|error| failed(error.to_string()))?;
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, batch.schema(), None).map_err(|error| failed(error.to_string()))?;
    writer.write(&batch).map_err(|error| failed(error.to_string()))?;
    writer.close().map_err(|error| failed(error.to_string()))?;
    Ok(bytes)
}
