//! `nearfar drift`: new rows beside those that a saved model was fitted on.

use nearfar::SavedModel;
use nearfar::internals::percent;
use nearfar::model::Shift;
use nearfar::observe::Silent;

use super::predict::{NewRows, check_flags};
use crate::exit::Outcome;
use crate::flags::DriftArgs;
use crate::output::write_stdout;

pub(crate) fn run(args: DriftArgs) -> Outcome {
    check_flags(&args.input)?;
    let model = SavedModel::load(&args.model)?;
    let new = NewRows::read(args.input, &model.about)?;
    let drift = model.drift(&new.samples()?, &Silent)?;
    if args.json {
        return write_stdout(|mut out| {
            serde_json::to_writer_pretty(&mut out, &drift)?;
            writeln!(out)
        });
    }
    write_stdout(|out| {
        writeln!(out, "{}\n", drift.answer)?;
        writeln!(out, "cluster              old      new    usual range   ")?;
        let range =
            |shift: &Shift| format!("{:.1} to {:.1} %", 100.0 * shift.usual[0], 100.0 * shift.usual[1]);
        for found in &drift.clusters {
            let name = found.name.as_ref().map_or_else(String::new, |name| format!(" {name}"));
            let title = format!("{}{name}", found.cluster);
            let Shift { old, new, .. } = found.share;
            let (old, new) = (format!("{:.1} %", 100.0 * old), format!("{:.1} %", 100.0 * new));
            let range = range(&found.share);
            writeln!(out, "{title:<16} {old:>8} {new:>8}    {range:<16} {}", found.change.words())?;
        }
        if let Some(homeless) = &drift.homeless {
            let word = if homeless.is_above() { "more than usual" } else { "no more than usual" };
            let share = percent(homeless.new);
            writeln!(out, "\nwithout a home: {share} of the new rows ({}): {word}", range(homeless))?;
        }
        if let Some(score) = &drift.outlier_score {
            let word = match (score.is_above(), score.is_below()) {
                (true, _) => "farther out than usual",
                (_, true) => "closer in than usual",
                _ => "as usual",
            };
            writeln!(
                out,
                "mean outlier score: {:.3}, it was {:.3} ({:.3} to {:.3}): {word}",
                score.new, score.old, score.usual[0], score.usual[1]
            )?;
        }
        Ok(())
    })
}
