//! The first screen in words: how many clusters, how sure, how they were found, what to look at.

use maud::{Markup, html};

use super::number::{count, grouped, percent};
use super::{account, listed, method_title, score, sure};
use crate::record::Record;

/// Letters up to which sizes are listed one by one.
const MOST_LISTED: usize = 32;
/// Agreement from which starts are said to agree, and below which they are said not to.
const AGREED: [f64; 2] = [0.9, 0.6];
/// Warnings that stand above the map.
const MOST_WARNINGS: usize = 2;

/// How many, and how sure.
pub(crate) fn answer(record: &Record) -> Markup {
    html! {
        p.eyebrow { (record.input) " · " (method_title(&record.method)) }
        h1 { (headline(record)) }
        @if let Some(sizes) = sizes_in_words(record) { p.by { (sizes) @if let Some(by) = account::by(record) { (by) } "." } }
        @if !record.complete { p.lead { b { "The run was stopped early; this is what it left." } } }
        @if let Some(told) = &record.explanation { p.lead { b { (told.answer) } } }
        @if record.size[2] > 1 { p.lead { (how_sure(record)) } }
        @else if let Some(found) = record.account.as_ref().and_then(|account| account.count.as_ref()) { p.lead { (account::how_many(found)) } }
        @if !record.warnings.is_empty() {
            ul.warnings {
                @for warning in record.warnings.iter().take(MOST_WARNINGS) { li { (warning) } }
                @if record.warnings.len() > MOST_WARNINGS { li { a href="#data" { "All " (record.warnings.len()) " warnings" } } }
            }
        }
    }
}

/// What a reader may ask next, below the map.
pub(crate) fn more(record: &Record) -> Markup {
    let [n, m, k] = record.size;
    html! {
        div.more {
            @if let Some(account) = &record.account { div { h2.small { "How was it found?" } p { (account::how_found(record, account)) } } }
            @if let Some(found) = record.account.as_ref().and_then(|account| account.count.as_ref()) {
                div { h2.small { "How many?" } p { (account::how_many(found)) } }
            }
            div { h2.small { "What to look at?" } p { (where_to_look(record)) }
                dl.facts {
                    div { dt { "points" } dd { (grouped(n)) } }
                    @if m > 0 { div { dt { "features" } dd { (grouped(m)) } } }
                    @if let Some(truth) = &record.truth {
                        div { dt { "accuracy" } dd { (score(truth.accuracy)) } }
                        div { dt { "NMI" } dd { (score(truth.nmi)) } }
                        div { dt { "ARI" } dd { (score(truth.ari)) } }
                    }
                    @if let Some(sure) = record.confidence.as_ref().filter(|_| k > 1) { div { dt { "mean confidence" } dd { (percent(sure.mean)) } } }
                    @if kept(record) > 1 { div { dt { @if record.account.is_some() { "agreement of members" } @else { "agreement of starts" } } dd { (score(record.agreement)) } } }
                    @if record.soft && record.confidence.is_none() { div { dt { "mean membership" } dd { (percent(mean_inside(record))) } } }
                }
            }
        }
    }
}

fn sizes(record: &Record) -> Vec<usize> {
    record.clusters.iter().map(|c| c.size).filter(|size| *size > 0).collect()
}

fn headline(record: &Record) -> String {
    let points = count(record.size[0], "point");
    let groups = record.account.as_ref().and_then(|account| account.count.as_ref()).is_none_or(|c| c.groups);
    match sizes(record).len() {
        0 => "No clusters".to_owned(),
        1 if !groups => format!("No groups stand out in {points}"),
        1 => format!("One cluster of {points}"),
        found => format!("{found} clusters in {points}"),
    }
}

/// The sizes of the clusters, where there is more than one.
fn sizes_in_words(record: &Record) -> Option<String> {
    let sizes = sizes(record);
    let (least, most) = (sizes.iter().min().copied()?, sizes.iter().max().copied()?);
    Some(match sizes.len() {
        1 => return None,
        _ if least == most => format!("Of {} each", count(most, "point")),
        _ if listed(&sizes).len() <= MOST_LISTED => format!("Of {} points", listed(&sizes)),
        _ => format!("Of {} to {} points", grouped(least), grouped(most)),
    })
}

/// Mean share of a point's similarity that lies in its own cluster.
fn mean_inside(record: &Record) -> f64 {
    let inside: f64 = record.clusters.iter().map(|c| c.inside * c.size as f64).sum();
    inside / record.size[0].max(1) as f64
}

/// Starts that are part of the result: agreement is a mean over them.
fn kept(record: &Record) -> usize {
    record.starts.iter().filter(|start| start.kept).count()
}

fn how_sure(record: &Record) -> Markup {
    if let Some(sure) = &record.confidence {
        return html! {
            (sure::in_words(record, sure))
            @if let Some(truth) = &record.truth { "Against the known classes " b { (percent(truth.accuracy)) } " of the points are right." }
        };
    }
    let (starts, all, agreement) = (kept(record), record.starts.len(), record.agreement);
    let verdict = match agreement {
        _ if starts < 2 => None,
        x if x >= AGREED[0] => Some("The result is stable:"),
        x if x >= AGREED[1] => Some("The result is fairly stable:"),
        _ => Some("The result is not settled:"),
    };
    html! {
        @if let Some(verdict) = verdict {
            (verdict) " " (starts) " independent starts" @if starts < all { " (those that were kept of " (all) ")" } " agree with it at " (score(agreement)) " on a scale where 1 is complete agreement and 0 is chance. "
        } @else if all == 1 { "There was one start, so nothing to compare it with. " }
        @else if starts == 1 { "One start of " (all) " was kept, so there is nothing to compare it with. " }
        @if record.soft {
            "On average " b { (percent(mean_inside(record))) } " of a point’s similarity lies inside its own cluster"
            @if record.between > 0 { ", and " b { (count(record.between, "point")) } " (" (percent(record.between as f64 / record.size[0] as f64)) ") " @if record.between == 1 { "has" } @else { "have" } " no clear lead of one cluster over another." }
            @else { ", and every point has a clear lead of one cluster." }
        } @else { "This method puts every point wholly into one cluster, so memberships say nothing about doubt." }
        @if let Some(truth) = &record.truth {
            " Against the known classes " b { (percent(truth.accuracy)) } " of the points are right."
        }
    }
}

fn where_to_look(record: &Record) -> Markup {
    let loosest = record.clusters.iter().enumerate().filter(|(_, c)| c.size > 0 && c.nearest.is_some());
    let loosest = loosest
        .min_by(|a, b| a.1.inside.total_cmp(&b.1.inside))
        .filter(|(_, c)| record.soft && c.inside < 0.995);
    let loosest = loosest.filter(|_| record.confidence.is_none());
    let least = record.confidence.as_ref().and_then(|sure| {
        let means = sure.clusters.iter().map(|(mean, _)| *mean).enumerate();
        means
            .zip(&record.clusters)
            .filter(|(_, c)| c.size > 0)
            .map(|(mean, _)| mean)
            .min_by(|a, b| a.1.total_cmp(&b.1))
    });
    let least = least.filter(|(_, mean)| record.size[2] > 1 && *mean < 0.995);
    let warnings = record.warnings.len();
    html! {
        @if warnings > 0 { a href="#data" { (count(warnings, "warning")) } " first. " }
        @if let Some((c, mean)) = least { "The least certain cluster is " (c) ", with a mean confidence of " (percent(mean)) ". " }
        @if let Some((c, cluster)) = loosest && let Some((other, share)) = cluster.nearest {
            "The loosest cluster is " (c) ", which keeps " (percent(cluster.inside)) " of its similarity and gives " (percent(share)) " to cluster " (other) ". "
        }
        @if !record.uncertain.is_empty() { "The " a href="#uncertain" { "least certain points" } " are listed below. " }
        @if record.tree.is_some() { a href="#tree" { "The tree" } " shows how the clusters join. " }
        @if record.truth.is_some() { "What was confused with what is in " a href="#truth" { "truth against found" } "." }
        @else if record.uncertain.is_empty() && loosest.is_none() && least.is_none() && warnings == 0 { "The clusters themselves: " a href="#clusters" { "their sizes and representatives" } "." }
    }
}
