//! `nearfar relabel`: the points of a saved model in another number of clusters.

use nearfar::SavedModel;

use super::predict::write_columns;
use crate::exit::{Failure, Outcome};
use crate::flags::RelabelArgs;
use crate::output::{Columns, LabelFormat, check_file};
use crate::paint::say;

pub(crate) fn run(args: &RelabelArgs) -> Outcome {
    if let Some(path) = &args.output {
        LabelFormat::of(path)?;
        check_file(path, args.model.to_str())?;
    }
    let k = args.clusters;
    if k == 0 {
        return Err(Failure::wrong("-k = 0 is not allowed: it must be 1 or more"));
    }
    let model = SavedModel::load(&args.model)?;
    let own = model.about.n_clusters;
    let found = if k == own { Some(model.labels.clone()) } else { model.labels_at(k) };
    let Some(labels) = found else {
        let (name, method) = (args.model.display(), &model.about.method);
        return Err(Failure::wrong(match &model.tree {
            Some(tree) => format!(
                "-k = {k} is not allowed: the tree of {name} reaches from 1 to {} clusters; fit again for more",
                tree.most()
            ),
            None if method == "nearfar" => {
                format!("{name} holds no tree, as its run made {}; fit again with -k {k}", clusters(own))
            }
            None => format!(
                "{name} holds no tree: {method} makes none, only nearfar does; fit with --method nearfar, or again with -k {k}"
            ),
        }));
    };
    let labels: Vec<usize> = labels.into_iter().map(|label| label as usize).collect();
    if !args.quiet {
        let mut sizes = vec![0_usize; k];
        labels.iter().for_each(|label| sizes[*label] += 1);
        say(format_args!(
            "{} training points in {} instead of {own}, without learning again: {}",
            labels.len(),
            clusters(k),
            crate::run::summary::sizes(&sizes)
        ));
    }
    write_columns(&Columns::plain(&labels, None), args.output.as_deref())
}

fn clusters(k: usize) -> String {
    format!("{k} cluster{}", if k == 1 { "" } else { "s" })
}
