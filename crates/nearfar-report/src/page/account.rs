//! How the default method came to its answer: tests, views, members, the number of clusters.

use maud::{Markup, html};

use super::charts::both;
use super::number::{count, grouped, percent, short};
use super::svg::{Axis, HALF, Plot, Size, WIDE};
use super::table::{Cell, Figure, Table};
use super::{listed, score};
use crate::account::{Account, Count, Mixture, ViewTrust};
use crate::record::Record;

/// T from which drawn rows are told from the data, and what the sharpness of the data may exceed theirs by.
const TOLD: f64 = 0.54;
const SHARPER: f64 = 0.01;

/// What the parts of a mixture are, in words: Gaussian or heavy-tailed.
fn parts(mixture: &Mixture) -> String {
    let kind = if mixture.tail.is_some() { "heavy-tailed" } else { "Gaussian" };
    format!("{} {kind} part{}", mixture.parts, if mixture.parts == 1 { "" } else { "s" })
}

fn shape(mixture: &Mixture) -> &'static str {
    match mixture.covariance.as_str() {
        "tied" => "all of one shape",
        "diag" => "each with its own spread along every column",
        "spherical" => "each round",
        _ => "each with a shape of its own",
    }
}

/// How the clusters were found, as the end of the headline, with what divides the two.
pub(crate) fn by(record: &Record) -> Option<String> {
    let account = record.account.as_ref()?;
    if let (true, Some(mixture)) = (account.by_mixture(), &account.mixture) {
        return Some(format!(", by a mixture of {}", parts(mixture)));
    }
    if account.count.as_ref().is_some_and(|count| !count.groups) {
        return Some(": no groups stand out".to_owned());
    }
    if account.members.is_empty() {
        return None;
    }
    let (learnt, all) = (account.learnt(), account.views.len());
    Some(match (record.kind.as_str(), learnt) {
        ("samples", 1) if all == 1 => ", by the neighbour graph of one view".to_owned(),
        ("samples", _) if all == learnt => format!(", by neighbour graphs of {}", count(learnt, "view")),
        ("samples", 1) => format!(", by the neighbour graph of 1 of {all} views"),
        ("samples", _) => format!(", by neighbour graphs of {learnt} of {all} views"),
        _ => ", by the neighbour graph of the pairs".to_owned(),
    })
}

/// The way to the answer, in sentences.
pub(crate) fn how_found(record: &Record, account: &Account) -> Markup {
    let k = record.size[2];
    // One cluster where no groups stand out: all there is to tell is why.
    let told = account.by_mixture()
        || !account.members.is_empty()
        || account.count.is_none()
        || account.mixture.is_some();
    html! {
        @if told { b { "How was it found? " } }
        @if account.by_mixture() {
            @if let Some(mixture) = &account.mixture {
                "A mixture of " (parts(mixture)) ", " (shape(mixture)) ", "
                @if mixture.explains { "explains the rows, so that no neighbour graph is needed: " (tests(mixture)) }
                @else { "was asked for. It does not explain the rows: " (tests(mixture)) }
            } @else { "By a mixture. " }
        } @else {
            @if let Some(mixture) = &account.mixture {
                "A mixture of " (parts(mixture)) " was tried first and does not explain the rows: " (tests(mixture)) "So neighbour graphs decide. "
            }
            @if account.members.is_empty() {
                @if k == record.size[0] { "Every point is a cluster of its own, so that there was nothing to find. " }
                @else if account.count.as_ref().is_none_or(|count| count.groups) { "One cluster was asked for, so that there was nothing to find. " }
            } @else {
                "The result is the consensus of " (count(account.members.len(), "member")) ": their neighbour graphs, averaged and cut into exactly " (count(k, "cluster")) ". "
                @if record.kind == "samples" && account.views.len() > 1 { (trusted(account)) " " }
            }
            @if account.pieces > k && !account.members.is_empty() {
                "The graph falls into " b { (account.pieces) " pieces" } " without an edge between them: the nearest of them were joined until " (k) " were left. "
            }
        }
        @if let Some(found) = &account.count { (how_many(found)) }
    }
}

/// What the two tests of a mixture gave, and what that means.
fn tests(mixture: &Mixture) -> Markup {
    let sharper = mixture.sharpness > mixture.drawn_sharpness + SHARPER;
    html! {
        "when the data and rows drawn from the mixture are put together, " b { (percent(mixture.told)) } " of the nearest neighbours are of the same origin (T = " (score(mixture.told)) "; "
        @if mixture.told < TOLD { "at 50\u{a0}% the two cannot be told apart" } @else { "50\u{a0}% would mean that the two cannot be told apart, and from " (percent(TOLD)) " on they can" }
        ")"
        @if mixture.compared() {
            ", and the graph of the data falls into " (mixture.parts) " clusters with a modularity of " (score(mixture.sharpness)) ", that of drawn rows with " (score(mixture.drawn_sharpness))
            @if sharper { ": the data have gaps that the mixture does not know. " } @else { ": no more sharply. " }
        } @else { ". " }
    }
}

/// Which views count.
fn trusted(account: &Account) -> Markup {
    let names = |of: &dyn Fn(&&ViewTrust) -> bool| {
        account.views.iter().filter(of).map(|view| view.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (learnt, left) = (names(&|view| view.members > 0), names(&|view| view.members == 0));
    html! { "Trusted " a href="#views" { "views" } " of the data: " (learnt) @if !left.is_empty() { "; left out: " (left) } "." }
}

fn how_many(found: &Count) -> Markup {
    let at = |values: &[f64]| found.found.checked_sub(2).and_then(|at| values.get(at).copied());
    let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    html! {
        b { "How many? " }
        @if found.groups {
            "The number was found, not given: " b { (found.found) }
            @if found.by_mixture { ", the parts of the mixture" }
            @else if let Some(gap) = at(&found.gaps) {
                " (null gap " (score(gap)) @if let Some(fall) = at(&found.falls) { ", fall " (score(fall)) } ")"
            }
            @if !found.others.is_empty() { "; the next best " @if found.others.len() == 1 { "number is " } @else { "numbers are " } (listed(&found.others)) }
            ". " a href="#count" { "The curve" } " shows them all."
        } @else {
            b { "No groups stand out" } ": "
            @if found.gaps.is_empty() { "there are too few points to tell." }
            @else {
                "whatever the number, the clusters are hardly clearer than those of data without groups (largest null gap " (score(largest(&found.gaps)))
                @if !found.falls.is_empty() { ", largest fall " (score(largest(&found.falls))) } ")."
            }
        }
    }
}

/// The views, and what they are trusted for.
pub(crate) fn views(record: &Record) -> Markup {
    let Some(account) = record.account.as_ref().filter(|_| record.size[2] > 1) else { return html! {} };
    let judged: Vec<(&ViewTrust, [f64; 3])> =
        account.views.iter().filter_map(|view| view.judged.map(|judged| (view, judged))).collect();
    let test = account.mixture.as_ref().map(|mixture| test_table(mixture, account));
    if judged.is_empty() && test.is_none() {
        return html! {};
    }
    let mut table = Table::new(&["view", "weight", "quality", "null", "members", "rows are"]);
    table.rows = judged
        .iter()
        .map(|(view, judged)| {
            let numbers = judged.map(Cell::Number);
            std::iter::once(Cell::Text(view.name.clone()))
                .chain(numbers)
                .chain([Cell::Count(view.members), Cell::Text(says(&view.name).to_owned())])
                .collect()
        })
        .collect();
    let learnt = account.learnt() > 0;
    let left: Vec<&str> = judged
        .iter()
        .filter(|_| learnt)
        .filter(|(view, _)| view.members == 0)
        .map(|(view, _)| view.name.as_str())
        .collect();
    let pairs = record.kind != "samples";
    html! {
        @if let Some(test) = test { (test) }
        @if !judged.is_empty() {
            @if pairs { p { "Pairs have no columns and so no other views. The null is the same graph with its ends dealt out anew." } }
            @else { p {
                "A view is a scaling of the same rows; nobody knows beforehand which one shows the groups. Each is judged without labels: a view in which the data fall into clusters more clearly than the same values with every column shuffled is trusted more."
                @if account.judged_on > 0 && account.judged_on < record.size[0] { " Views were judged on " (count(account.judged_on, "row")) " of " (grouped(record.size[0])) "." }
                @if account.by_mixture() { " No view was needed for the labels; the one of the largest weight gave the tree." }
                @if !left.is_empty() { " " b { "Left out" } " for their weight: " (left.join(", ")) "." }
                @if judged.len() < 4 && record.size[1] < nearfar::internals::UNIT_FROM { " Rows of unit length are looked at from " (nearfar::internals::UNIT_FROM) " columns on." }
            } }
            (Figure {
                name: "view-weights", title: "Trust in each view", live: false, table,
                note: html! { "Weight: how much the view counts, 1 for the best. Quality: modularity of its clusters. Null: the same " @if pairs { "of the rewired graph" } @else { "with shuffled columns" } "; quality should stand well above it." },
                picture: both(WIDE, |size, class| bars(&judged, size, class)),
            }.draw())
        }
    }
}

fn says(view: &str) -> &'static str {
    match view {
        "raw" => "as given",
        "standard" => "less the mean of each column, divided by its deviation",
        "unit" => "divided by their length",
        "standard-unit" => "standardised, then divided by their length",
        _ => "",
    }
}

/// Height of a bar of a view.
const BAR: f64 = 11.0;

/// Three bars for every view.
fn bars(views: &[(&ViewTrust, [f64; 3])], [width, _]: Size, class: &'static str) -> Markup {
    let learnt = views.iter().any(|(view, _)| view.members > 0);
    let block = 3.0 * (BAR + 2.0) + 16.0;
    let names = if class == "wide" { 190.0 } else { 96.0 };
    let (top, right) = (26.0, width - 52.0);
    let bottom = top + block * views.len() as f64;
    let axis = Axis::new(0.0, 1.0, "");
    let inside = [names, right, top, bottom];
    let mut plot = Plot::bare([width, bottom + 26.0], inside, axis, Axis::new(0.0, 1.0, ""));
    let kinds = [("near", "weight"), ("soft-bar green", "quality"), ("band", "null")];
    for (at, (style, word)) in kinds.iter().enumerate() {
        let x = names + 84.0 * at as f64;
        plot.push(format_args!("<rect class='{style}' x='{x:.1}' y='6' width='10' height='9' rx='2'/>"));
        plot.text([x + 15.0, 14.5], "start", "tick", word);
    }
    for (row, (view, values)) in views.iter().enumerate() {
        let y = top + block * row as f64 + 8.0;
        let used = if view.members > 0 || !learnt { "label" } else { "tick" };
        plot.text([names - 12.0, y + 16.0], "end", used, &view.name);
        if view.members == 0 && learnt {
            plot.text([names - 12.0, y + 31.0], "end", "tick", "left out");
        }
        for (at, (value, (style, _))) in values.iter().zip(kinds).enumerate() {
            let y = y + (BAR + 2.0) * at as f64;
            let end = plot.px(*value);
            let length = (end - names).max(1.0);
            plot.push(format_args!("<rect class='{style}' x='{names:.1}' y='{y:.1}' width='{length:.1}' height='{BAR}' rx='1.5'/>"));
            plot.text([names + length + 6.0, y + 9.5], "start", "tick", &score(*value));
        }
    }
    plot.x_axis(bottom);
    let words: Vec<String> = views
        .iter()
        .map(|(view, [weight, ..])| format!("{} has weight {}", view.name, score(*weight)))
        .collect();
    plot.finish(class, &format!("Weight, quality and null of every view: {}", words.join(", ")))
}

/// The two tests of a mixture.
fn test_table(mixture: &Mixture, account: &Account) -> Markup {
    let mut table = Table::new(&["test", "found", "allowed", "passed"]);
    let sharp = mixture.drawn_sharpness + SHARPER;
    let mut add = |name: &str, found: f64, allowed: String, passed: bool| {
        let passed = if passed { "yes" } else { "no" }.to_owned();
        table.rows.push(vec![
            Cell::Text(name.to_owned()),
            Cell::Number(found),
            Cell::Text(allowed),
            Cell::Text(passed),
        ]);
    };
    add(
        "T: neighbours of the same origin, data and drawn rows together",
        mixture.told,
        format!("below {TOLD}"),
        mixture.told < TOLD,
    );
    if mixture.compared() {
        add(
            "sharpness: modularity of the data’s graph",
            mixture.sharpness,
            format!("up to {} (drawn rows {}, and {SHARPER})", short(sharp), short(mixture.drawn_sharpness)),
            mixture.sharpness <= sharp,
        );
    }
    let tail = match mixture.tail {
        Some(degrees) => format!("tails of Student’s t with {} degrees of freedom", short(degrees)),
        None => "normal tails".to_owned(),
    };
    let note = html! { "A mixture of " (parts(mixture)) ", " (shape(mixture)) ", " (tail) "; the kind with the lowest BIC."
    @if mixture.certainty > 0.0 { " On average its likeliest part has a probability of " (percent(mixture.certainty)) "." }
    " It answers where all tests pass" @if account.asked { ", or where it is asked for" } "." };
    let (title, picture) = ("Is it a plain mixture?", table.shown());
    Figure { name: "mixture", title, note, picture, table, live: false }.draw_plain()
}

/// The number of clusters, where it was found.
pub(crate) fn number(record: &Record) -> Markup {
    let Some(found) = record.account.as_ref().and_then(|account| account.count.as_ref()) else {
        return html! {};
    };
    let falls = found.falls.len() > 1;
    let sizes = if falls { HALF } else { WIDE };
    let gap_note = html! { "Modularity of the clusters less that of clusters of shuffled columns, the mean over the views as each is trusted." };
    let fall_note = html! { "The logarithm of how much less it takes to join the clusters than to join those of one number more: clusters cut in two are joined easily, true ones are not." };
    html! {
        p {
            @if found.groups { "The number of clusters was not given. " b { (found.found) } " was taken: "
                @if found.by_mixture { "a mixture of so many parts explains the rows and is certain of its parts, which decides before any curve does." }
                @else if falls { "there the clusters stand out most, by the null gap and the fall of the resolution together." }
                @else { "there the clusters of the data stand out most against those of data with shuffled columns." }
                @if !found.others.is_empty() { " The next best: " (listed(&found.others)) ". Where they are close, look at both (" code { "-k" } ")." } }
            @else { b { "No groups stand out. " } "No number of clusters is clearer than data without groups would make it, so that all points are left in one cluster. Give a number (" code { "-k" } ") to cut them all the same." }
            " What is counted is what the data have, not what they are called: classes that lie in one heap count once, and a class of several heaps more often."
        }
        @if found.gaps.len() > 1 {
            p.note { "The filled mark is the number that was taken, open marks are the next best." }
            div.pair[falls] {
                (curve(found, &found.gaps, ["gaps", "How far clusters stand out", "null gap"], gap_note, sizes))
                @if falls { (curve(found, &found.falls, ["falls", "How far they are from being joined", "fall"], fall_note, sizes)) }
            }
        }
    }
}

/// A sign over the numbers of clusters from 2 on; `names` are the figure's place, its title, and what the sign is
/// called.
fn curve(found: &Count, values: &[f64], names: [&str; 3], note: Markup, sizes: [Size; 2]) -> Markup {
    let [name, title, label] = names;
    let mut table = Table::new(&["clusters", label]);
    table.rows = values
        .iter()
        .enumerate()
        .map(|(at, value)| vec![Cell::Count(at + 2), Cell::Number(*value)])
        .collect();
    let (least, most) =
        values.iter().fold((0.0_f64, 0.0_f64), |(a, b), value| (a.min(*value), b.max(*value)));
    let last = values.len() as f64 + 1.0;
    let at = |k: usize| k.checked_sub(2).and_then(|at| values.get(at).copied());
    let draw = |size: Size, class: &'static str| {
        let across = Axis::new(1.5, last + 0.5, "clusters").whole();
        let mut plot = Plot::new(size, across, Axis::new(least, most * 1.12, label));
        let [left, right, top, bottom] = plot.inside;
        if least < 0.0 {
            let zero = plot.py(0.0);
            plot.push(format_args!("<path class='axis' d='M{left:.1} {zero:.1}H{right:.1}'/>"));
        }
        if let Some(value) = at(found.found) {
            let x = plot.px(found.found as f64);
            plot.push(format_args!("<path class='cut' d='M{x:.1} {top:.1}V{bottom:.1}'/>"));
            let (anchor, gone) = if x > right - 90.0 { ("end", -8.0) } else { ("start", 8.0) };
            let above = (plot.py(value) - 8.0).max(top + 8.0);
            plot.text([x + gone, above], anchor, "label", &format!("{} taken", found.found));
        }
        plot.line(values.iter().enumerate().map(|(at, value)| [at as f64 + 2.0, *value]), "main");
        let marks = std::iter::once(found.found).chain(found.others.iter().copied());
        for (rank, k) in marks.enumerate() {
            if let Some(value) = at(k) {
                let (x, y) = (plot.px(k as f64), plot.py(value));
                let style = if rank == 0 { "near" } else { "open" };
                plot.push(format_args!("<circle class='{style}' cx='{x:.1}' cy='{y:.1}' r='4.5'/>"));
            }
        }
        let end = if found.groups {
            format!("{} were taken", found.found)
        } else {
            "no groups stand out".to_owned()
        };
        plot.finish(class, &format!("{label} over the number of clusters; {end}"))
    };
    Figure { name, title, note, live: true, table, picture: both(sizes, draw) }.draw()
}

/// The members of the consensus.
pub(crate) fn members(record: &Record) -> Markup {
    let Some(account) = record.account.as_ref().filter(|account| !account.members.is_empty()) else {
        return html! {};
    };
    let members = &account.members;
    let mut table =
        Table::new(&["member", "view", "trusted ranks", "modularity", "agreement with the result"]);
    table.rows = members
        .iter()
        .enumerate()
        .map(|(at, member)| {
            vec![
                Cell::Count(at),
                Cell::Text(member.view.clone()),
                Cell::Count(member.trusted),
                Cell::Number(member.modularity),
                member.agreement.into(),
            ]
        })
        .collect();
    let agreement: Vec<f64> = members.iter().filter_map(|member| member.agreement).collect();
    let least = agreement.iter().copied().fold(f64::INFINITY, f64::min);
    let most = agreement.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    html! {
        p { "Every member learns on one view and trusts a number of neighbour ranks of its own; weights and labels take turns. All of them make the result, each as much as its view is trusted."
            @if agreement.len() > 1 { " Their own labels agree with the result at " (score(least)) " to " (score(most)) " (adjusted Rand index: 1 is the same, 0 is chance)." }
            " Members that agree among themselves but not with the others point to another way to cut the data." }
        (Figure { name: "members-table", title: "Members", live: false, picture: table.shown(), table,
            note: html! { "Modularity: how clearly the member’s own graph falls into its clusters." } }.draw_plain())
    }
}
