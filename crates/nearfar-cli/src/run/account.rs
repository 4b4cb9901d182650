//! How the default method came to its answer, in a few lines for people.

use nearfar::learn::Engine;
use nearfar::model::{Account, Counted, Covariance, MixtureReport, Trust};
use nearfar::{Model, View};

use crate::paint::say;

/// Names of lines and their text.
pub(super) fn lines(account: &Account, model: &Model, verbose: bool) -> Vec<(&'static str, String)> {
    let mut lines = vec![("answer", answer(account, verbose))];
    lines.extend(views(account, model).map(|text| ("views", text)));
    lines.extend(trusted(model).map(|text| ("trusted", text)));
    lines.extend(account.count.as_ref().map(|count| ("number", number(count))));
    lines
}

/// Which way it was.
fn answer(account: &Account, verbose: bool) -> String {
    match (account.engine, &account.mixture) {
        (Engine::Mixture, Some(report)) if report.explains => {
            format!("a mixture of {} explains the points ({})", parts(report), tests(report))
        }
        (Engine::Mixture, Some(report)) => {
            format!(
                "a mixture of {}, as asked, though it does not explain the points ({})",
                parts(report),
                tests(report)
            )
        }
        (Engine::Mixture, None) => "by a mixture".to_owned(),
        (_, Some(report)) if verbose && !report.explains => {
            format!(
                "by neighbour graphs; a mixture of {} does not explain the points ({})",
                parts(report),
                tests(report)
            )
        }
        _ => "by neighbour graphs".to_owned(),
    }
}

/// How many parts of which shape.
fn parts(report: &MixtureReport) -> String {
    let tails = match report.tail {
        None => "Gaussian".to_owned(),
        Some(degrees) => format!("heavy-tailed (Student's t with {degrees} degrees)"),
    };
    let shape = match report.covariance {
        Covariance::Full => "",
        Covariance::Tied => " of one shape",
        Covariance::Diag => " along the axes",
        Covariance::Spherical => " that are round",
    };
    match report.parts {
        1 => format!("1 {tails} part"),
        parts => format!("{parts} {tails} parts{shape}"),
    }
}

/// What the two tests gave.
fn tests(report: &MixtureReport) -> String {
    let MixtureReport { told, sharpness, drawn_sharpness, .. } = report;
    format!("T\u{a0}=\u{a0}{told:.2}; graph\u{a0}{sharpness:.2}, drawn rows\u{a0}{drawn_sharpness:.2}")
}

/// How far every view was trusted; nothing where there was none to weigh.
fn views(account: &Account, model: &Model) -> Option<String> {
    let searched = |view: View| model.members.iter().any(|member| member.view == Some(view));
    if account.views.len() < 2 {
        return None;
    }
    let mut order: Vec<&Trust> = account.views.iter().collect();
    order.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let (used, left): (Vec<&Trust>, Vec<&Trust>) = order.into_iter().partition(|trust| searched(trust.view));
    let used: Vec<String> = used.iter().map(|trust| format!("{} {:.2}", trust.view, trust.weight)).collect();
    let left: Vec<String> = left.iter().map(|trust| trust.view.to_string()).collect();
    // With one cluster, or one for every point, no view is searched at all.
    match (&*used, &*left) {
        ([], _) => None,
        (_, []) => Some(used.join(", ")),
        _ => Some(format!("{} ({} not worth a search)", used.join(", "), listed(&left))),
    }
}

/// a, b and c.
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Which neighbour ranks count.
fn trusted(model: &Model) -> Option<String> {
    let total: f64 = model.near_weights.iter().sum();
    let last = model.near_weights.iter().rposition(|w| *w > 0.0).filter(|last| *last > 0)?;
    let (near, far) = model.active_ranks();
    let mut sum = 0.0;
    let half = model.near_weights.iter().position(|w| {
        sum += w;
        sum >= total / 2.0
    })?;
    let near = if near == last {
        format!("the nearest {last} ranks")
    } else {
        format!("{near} of the nearest {last} ranks")
    };
    let first = match half {
        1 => "the first".to_owned(),
        half => format!("the first {half}"),
    };
    let far = if far > 0 { format!("; {far} far ranks") } else { String::new() };
    Some(format!("{near}, half of the weight on {first}{far}"))
}

/// How the number of clusters was found.
fn number(count: &Counted) -> String {
    let others: Vec<String> = count.others.iter().map(ToString::to_string).collect();
    let next = if others.is_empty() { String::new() } else { format!("; next best {}", listed(&others)) };
    let found = count.found;
    match (count.groups, count.by_mixture) {
        (false, _) => {
            format!("no groups stand out from what chance gives{next}; -k K divides the points all the same")
        }
        (true, true) => format!("{found} found, the parts of the mixture{next}"),
        (true, false) => format!("{found} found{next}"),
    }
}

/// Every member in a line.
pub(super) fn members(model: &Model) {
    if model.members.is_empty() {
        return;
    }
    say(format_args!("members    view           ranks  rounds  modularity"));
    for (number, member) in model.members.iter().enumerate() {
        let view = member.view.map_or("-", View::name);
        let ranks = member.neighbors.map_or_else(|| "-".to_owned(), |k| k.to_string());
        let quality = member.cut.map_or_else(|| "-".to_owned(), |cut| format!("{:.4}", 1.0 - cut));
        let rounds = member.last_loop().iterations;
        say(format_args!("{:>7}    {view:<13}  {ranks:>5}  {rounds:>6}  {quality:>10}", number + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixture_is_told_with_its_tests() {
        let report = MixtureReport {
            explains: true,
            parts: 3,
            tail: None,
            told: 0.513,
            sharpness: 0.431,
            drawn_sharpness: 0.44,
            ..MixtureReport::default()
        };
        let mut account = Account::default();
        account.engine = Engine::Mixture;
        account.mixture = Some(report.clone());
        let text =
            "a mixture of 3 Gaussian parts explains the points (T = 0.51; graph 0.43, drawn rows 0.44)";
        assert_eq!(answer(&account, false).replace('\u{a0}', " "), text);
        account.mixture = Some(MixtureReport { explains: false, tail: Some(5.0), ..report });
        assert!(
            answer(&account, false).contains("heavy-tailed") && answer(&account, false).contains("does not")
        );
        account.engine = Engine::Graph;
        assert_eq!(answer(&account, false), "by neighbour graphs");
        assert!(answer(&account, true).contains("does not explain"));
    }

    #[test]
    fn numbers_come_with_the_next_best() {
        let mut count = Counted::default();
        (count.found, count.groups, count.others) = (3, true, vec![4, 2]);
        assert_eq!(number(&count), "3 found; next best 4 and 2");
        (count.found, count.groups) = (1, false);
        assert!(number(&count).starts_with("no groups stand out"), "{}", number(&count));
    }
}
