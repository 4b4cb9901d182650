//! `nearfar merge`, `split` and `rename`: a saved model refined by hand into a new one.

use std::path::Path;

use nearfar::SavedModel;

use crate::exit::{Failure, Outcome};
use crate::flags::{MergeArgs, RenameArgs, SplitArgs};
use crate::output::check_file;
use crate::paint::say;

pub(crate) fn merge(args: &MergeArgs) -> Outcome {
    let model = open(&args.model, &args.output)?;
    let clusters: Outcome<Vec<usize>> = args.clusters.iter().map(|text| number(&model, text)).collect();
    put(&model.merge(&clusters?)?, &args.output, args.quiet)
}

pub(crate) fn split(args: &SplitArgs) -> Outcome {
    let model = open(&args.model, &args.output)?;
    put(&model.split(number(&model, &args.cluster)?)?, &args.output, args.quiet)
}

pub(crate) fn rename(args: &RenameArgs) -> Outcome {
    let model = open(&args.model, &args.output)?;
    check_file(&args.output, args.names.to_str())?;
    let named = model.rename(&names(&args.names)?)?;
    named.save(&args.output)?;
    if !args.quiet {
        let names: Vec<String> = (0..named.about.n_clusters)
            .map(|c| named.cluster_name(c).map_or_else(|| c.to_string(), |name| format!("{c} {name}")))
            .collect();
        say(format_args!("{}: {}", args.output.display(), names.join(", ")));
    }
    Ok(())
}

fn open(model: &Path, output: &Path) -> Outcome<SavedModel> {
    check_file(output, None)?;
    Ok(SavedModel::load(model)?)
}

fn put(model: &SavedModel, output: &Path, quiet: bool) -> Outcome {
    model.save(output)?;
    if !quiet {
        let mut sizes = vec![0_usize; model.about.n_clusters];
        model.labels.iter().for_each(|label| sizes[*label as usize] += 1);
        let edit = model.about.edits.last().map_or("", String::as_str);
        let sizes = crate::run::summary::sizes(&sizes);
        say(format_args!("{edit}; {}: {} clusters, {sizes}", output.display(), model.about.n_clusters));
    }
    Ok(())
}

/// The cluster that a word names, or numbers.
fn number(model: &SavedModel, text: &str) -> Outcome<usize> {
    let named = model.about.cluster_names.iter().position(|name| name == text && !name.is_empty());
    named.or_else(|| text.parse().ok()).ok_or_else(|| {
        let names: Vec<&String> = model.about.cluster_names.iter().filter(|name| !name.is_empty()).collect();
        let known = if names.is_empty() { String::new() } else { format!(", or one of the names {names:?}") };
        Failure::wrong(format!(
            "{text:?} is no cluster; clusters have the numbers 0 to {}{known}",
            model.about.n_clusters.max(1) - 1
        ))
    })
}

/// Numbers and names, line by line; a first line without a number is a header.
fn names(path: &Path) -> Outcome<Vec<(usize, String)>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::wrong(format!("{shown}: the names cannot be read: {error}")))?;
    let mut names = Vec::new();
    let lines =
        text.trim_start_matches('\u{feff}').lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (at, line) in lines {
        let wrong = |what: &str| {
            Failure::wrong(format!(
                "{shown}: line {}: {what}; write a number and a name in every line, as in 3,students",
                at + 1
            ))
        };
        let (cluster, name) =
            line.split_once([',', ';', '\t']).ok_or_else(|| wrong("there is no comma behind the number"))?;
        match cluster.trim().trim_matches('"').parse::<usize>() {
            Ok(cluster) if names.iter().any(|(known, _)| *known == cluster) => {
                return Err(wrong(&format!("cluster {cluster} has a name already")));
            }
            Ok(cluster) => names.push((cluster, unquoted(name.trim()))),
            Err(_) if at == 0 => {}
            Err(_) => return Err(wrong(&format!("{:?} is no number of a cluster", cluster.trim()))),
        }
    }
    if names.is_empty() {
        return Err(Failure::wrong(format!(
            "{shown}: there are no names in it; write lines such as 3,students"
        )));
    }
    Ok(names)
}

/// A cell without the quotes around it.
fn unquoted(cell: &str) -> String {
    match cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => cell.to_owned(),
    }
}
