//! `nearfar make`: data sets with known classes.

use std::io::Write;

use nearfar::generate::{Generated, Kind, MakeParams, make};
use nearfar::internals::NpzWriter;
use nearfar::load::write_npy;

use crate::exit::Outcome;
use crate::flags::MakeArgs;
use crate::output::{
    check_file, ending, is_written_in_place, quoted, unknown_ending, whole, write_file, write_stdout,
};

pub(crate) fn run(args: &MakeArgs) -> Outcome {
    let Some(name) = args.kind.as_deref().filter(|_| !args.list) else {
        return write_stdout(|out| {
            Kind::ALL.iter().try_for_each(|kind| writeln!(out, "{kind:<10} {}", kind.description()))
        });
    };
    let kind: Kind = name.parse()?;
    let extension = args.output.as_deref().map(ending);
    if let (Some(path), Some(other)) = (&args.output, &extension)
        && !["csv", "npz", "npy"].contains(&other.as_str())
        && !is_written_in_place(path)
    {
        return Err(unknown_ending(path, other, "data", ".csv, .npz or .npy"));
    }
    args.output.as_deref().map_or(Ok(()), |path| check_file(path, None))?;
    let params = MakeParams {
        n_samples: args.points,
        noise: args.noise,
        clusters: args.clusters,
        features: args.features,
        seed: args.seed,
    };
    let made = make(kind, &params)?;
    match (&args.output, extension.as_deref()) {
        (Some(path), Some("npz")) => write_file(path, |out| write_npz(out, &made)),
        (Some(path), Some("npy")) => {
            write_file(path, |mut out| write_npy(&mut out, &[made.n_samples, made.n_features], &made.data))
        }
        (Some(path), _) => write_file(path, |out| write_csv(out, &made)),
        (None, _) => write_stdout(|out| write_csv(out, &made)),
    }
}

fn write_npz(out: &mut dyn Write, made: &Generated) -> std::io::Result<()> {
    let mut npz = NpzWriter::new(out);
    npz.add("X", &[made.n_samples, made.n_features], &made.data)?;
    let truth: Vec<i64> = made.truth.iter().copied().map(whole).collect();
    npz.add("y", &[truth.len()], &truth)?;
    npz.finish().map(drop)
}

/// Numbers are written so that they read back to the same bits.
fn write_csv(out: &mut dyn Write, made: &Generated) -> std::io::Result<()> {
    for name in &made.feature_names {
        write!(out, "{},", quoted(name))?;
    }
    writeln!(out, "truth")?;
    for (row, class) in made.data.chunks_exact(made.n_features).zip(&made.truth) {
        for value in row {
            write!(out, "{value:?},")?;
        }
        writeln!(out, "{class}")?;
    }
    Ok(())
}
