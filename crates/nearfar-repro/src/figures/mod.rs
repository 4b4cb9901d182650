//! The figures of the paper, as SVG and PNG.

mod geometry;
mod panel;

use std::fmt::Write;

use nearfar::{Model, Params, Preset};
use resvg::{tiny_skia, usvg};

use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::ready::Ready;
use crate::report::escape;
use crate::runner::{Host, Runner, Screened};
use crate::stats::mean_std;
use crate::store::Store;
use crate::study::Study;
use panel::{Axis, COLORS, Panel, Scale, Sheet, tick_text};

/// Latin, Greek and the signs of our figures, so that PNGs look the same on machines without fonts.
const FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");
const NEIGHBORS: &str = include_str!("../../studies/figure-neighbors.toml");

const SIZE: (f64, f64) = (310.0, 220.0);

/// One figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Of its files.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// The drawing.
    pub svg: String,
}

/// What is drawn of one dataset.
struct Subject {
    title: String,
    correct: Vec<f64>,
    simple: Vec<f64>,
    model: Model,
    by_neighbors: Vec<Screened>,
    grid: Vec<Screened>,
}

/// All figures, of all datasets of a manifest; runs that the store lacks are made and stored.
///
/// # Errors
/// As a study: when data are wrong, the store fails or the host asks to stop.
pub fn draw<H: Host>(manifest: &Manifest, store: &Store, host: &H, threads: usize) -> Result<Vec<Figure>> {
    let neighbors = Study::parse(NEIGHBORS, "figure-neighbors", "figure-neighbors")?;
    let mut clustering = Study::open("table-clustering")?;
    clustering.rows.retain(|row| row.method.as_deref() == Some("lsdg"));
    let (by_neighbors, by_grid) =
        (Runner::new(&neighbors, store, host, threads), Runner::new(&clustering, store, host, threads));
    for points in by_grid.sizes(&manifest.datasets)? {
        by_neighbors.expect_search(0, points);
        by_grid.expect_search(0, points);
    }
    let subjects: Result<Vec<Subject>> = manifest
        .datasets
        .iter()
        .map(|spec| {
            let mut ready = Ready::new(spec, host)?;
            let fault = Error::run(&spec.name, "figures");
            let paper = Params::preset(ready.clusters, Preset::Paper).threads(1);
            let mut simple = paper.clone();
            (simple.lsdg.dissimilarity, simple.lsdg.orthogonality) = (false, false);
            Ok(Subject {
                title: spec.title().to_owned(),
                correct: ready.slices().correct_rate(&ready.data.truth).map_err(&fault)?,
                simple: ready.fit(&simple).map_err(&fault)?.near_weights.clone(),
                model: ready.fit(&paper).map_err(&fault)?,
                by_neighbors: by_neighbors.screened(&mut ready)?,
                grid: by_grid.screened(&mut ready)?,
            })
        })
        .collect();
    let subjects = subjects?;
    Ok(vec![
        Figure {
            name: "correct-rate",
            title: "Correct rate of each rank slice",
            svg: correct_rate(&subjects),
        },
        Figure {
            name: "symnmf-neighbors",
            title: "ACC of SymNMF against k",
            svg: neighbors_figure(&subjects),
        },
        Figure {
            name: "simple-weights",
            title: "Learnt w of the simple model",
            svg: simple_weights(&subjects),
        },
        Figure { name: "geometry", title: "The geometric meaning of R(v)", svg: geometry::draw() },
        Figure { name: "weights", title: "Correct rate with the learnt w and p", svg: weights(&subjects) },
        Figure {
            name: "parameters", title: "ACC over the grid of α, β and μ", svg: parameters(&subjects)
        },
        Figure {
            name: "convergence",
            title: "Convergence of the proposed model",
            svg: convergence(&subjects),
        },
    ])
}

fn ranks(n: usize) -> Axis {
    Axis { from: 1.0, to: n.max(2) as f64, scale: Scale::Log }
}

const UNIT: Axis = Axis { from: 0.0, to: 1.0, scale: Scale::Linear };

fn over_rank(values: &[f64]) -> impl Iterator<Item = (f64, f64)> + '_ {
    values.iter().enumerate().map(|(rank, value)| ((rank + 1) as f64, *value))
}

fn correct_rate(subjects: &[Subject]) -> String {
    let about = "For each dataset: the share of pairs at each neighbour rank that have the same true class.";
    let mut sheet = Sheet::new("Correct rate of each rank slice", about, 4, SIZE);
    for subject in subjects {
        let axis = ranks(subject.correct.len());
        let mut panel = Panel::new(&subject.title, SIZE, axis, UNIT, ("rank k", "correct rate"));
        panel.line(over_rank(&subject.correct), COLORS[2], false);
        sheet.add(&panel);
    }
    sheet.finish("Rank 1 is the point itself; log axis.")
}

fn neighbors_figure(subjects: &[Subject]) -> String {
    let about = "For each dataset: mean accuracy of SymNMF over five starts against the number of neighbours of its graph.";
    let mut sheet = Sheet::new("ACC of SymNMF against the number of neighbours k", about, 4, SIZE);
    for subject in subjects {
        let points: Vec<(f64, f64, f64)> = subject
            .by_neighbors
            .iter()
            .map(|(setting, runs)| {
                let k = setting.table.get("graph-neighbors").and_then(toml::Value::as_integer).unwrap_or(0)
                    as f64;
                let (mean, std) = mean_std(&runs.iter().map(|run| run.accuracy).collect::<Vec<_>>());
                (k, mean, std)
            })
            .collect();
        let axis = Axis { from: 2.0, to: 100.0, scale: Scale::Log };
        let mut panel = Panel::new(&subject.title, SIZE, axis, UNIT, ("neighbours k", "ACC"));
        panel.line(points.iter().map(|p| (p.0, p.1 - p.2)), COLORS[5], true);
        panel.line(points.iter().map(|p| (p.0, p.1 + p.2)), COLORS[5], true);
        panel.line(points.iter().map(|p| (p.0, p.1)), COLORS[0], false);
        for point in &points {
            panel.dot(point.0, point.1, COLORS[0]);
        }
        sheet.add(&panel);
    }
    sheet.finish("Mean of five starts; dashed: one standard deviation.")
}

fn bars(weights: &[f64], sign: f64, most: f64) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
    let positive = weights.iter().enumerate().filter(|(_, w)| **w > 0.0);
    positive.map(move |(rank, w)| ((rank + 1) as f64, (rank + 2) as f64, sign * w / most))
}

fn largest(weights: &[f64]) -> f64 {
    weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max)
}

fn simple_weights(subjects: &[Subject]) -> String {
    let about = "For each dataset: the weights w of the model without D and without the orthogonality term, with the correct rate of each rank.";
    let mut sheet = Sheet::new("Learnt w of the simple model, with the correct rate", about, 4, SIZE);
    for subject in subjects {
        let most = largest(&subject.simple);
        let axis = Axis { from: 0.0, to: most, scale: Scale::Linear };
        let mut panel = Panel::new(
            &subject.title,
            SIZE,
            ranks(subject.simple.len()),
            axis,
            ("rank k", "w (bars), correct rate"),
        );
        panel.bars(bars(&subject.simple, 1.0, 1.0), 0.0, COLORS[0]);
        panel.right_axis(COLORS[2]);
        panel.right_line(over_rank(&subject.correct), COLORS[2]);
        sheet.add(&panel);
    }
    sheet.finish("Bars: w (left axis). Line: correct rate (right axis). μ = 0.1.")
}

fn weights(subjects: &[Subject]) -> String {
    let about = "For each dataset: learnt near weights w as bars above the axis, far weights p as bars below it, and the correct rate of each rank as a line.";
    let mut sheet = Sheet::new("Correct rate with the learnt w and p", about, 4, SIZE);
    for subject in subjects {
        let (near, far) = (&subject.model.near_weights, &subject.model.far_weights);
        let (most_near, most_far) = (largest(near), largest(far));
        let axis = Axis { from: -1.0, to: 1.0, scale: Scale::Linear };
        let label = format!("w ≤ {most_near:.3}, p ≤ {most_far:.4}");
        let mut panel = Panel::new(&subject.title, SIZE, ranks(near.len()), axis, ("rank k", &label));
        panel.bars(bars(near, 1.0, most_near), 0.0, COLORS[0]);
        panel.bars(bars(far, -1.0, most_far), 0.0, COLORS[4]);
        panel.right_axis(COLORS[2]);
        panel.right_line(over_rank(&subject.correct), COLORS[2]);
        sheet.add(&panel);
    }
    sheet.finish("Up: w, down: p, each as a share of its largest. Line: correct rate (right axis). α = 0.1, β = 10, μ = 0.1, seed 0.")
}

fn convergence(subjects: &[Subject]) -> String {
    let about = "For each dataset: the objective of the proposed model over iterations.";
    let mut sheet = Sheet::new("Convergence of the proposed model", about, 4, SIZE);
    for subject in subjects {
        let losses: Vec<f64> = subject
            .model
            .best_member()
            .map(|member| member.last_loop().trace.iter().map(nearfar::learn::TraceRow::loss).collect())
            .unwrap_or_default();
        let (least, most) =
            losses.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
        let y = Axis { from: least, to: most, scale: Scale::Linear };
        let x = Axis { from: 1.0, to: losses.len().max(2) as f64, scale: Scale::Linear };
        let mut panel = Panel::new(&subject.title, SIZE, x, y, ("iteration", "objective"));
        panel.line(over_rank(&losses), COLORS[0], false);
        sheet.add(&panel);
    }
    sheet.finish("α = 0.1, β = 10, μ = 0.1, seed 0.")
}

/// One panel per dataset: a row of maps, one per μ, β to the right and α up.
fn parameters(subjects: &[Subject]) -> String {
    let about = "For each dataset one row of seven maps, one for each μ; in each map β grows to the right and α upwards; colour is accuracy.";
    let size = (980.0, 150.0);
    let mut sheet = Sheet::new("ACC over the grid of α, β and μ", about, 1, size);
    for subject in subjects {
        sheet.add(&Panel::blank(parameter_row(subject), size));
    }
    sheet.finish("In each map β = 1 … 1000 to the right and α = 0.01 … 1 upwards; a ring marks the best setting. One start per setting.")
}

fn parameter_row(subject: &Subject) -> String {
    const CELL: f64 = 15.0;
    let value = |setting: &toml::Table, key: &str| {
        setting
            .get(key)
            .and_then(|v| v.as_float().or_else(|| v.as_integer().map(|i| i as f64)))
            .unwrap_or(0.0)
    };
    let points: Vec<([f64; 3], f64)> = subject
        .grid
        .iter()
        .map(|(setting, runs)| {
            let of = |key| value(&setting.table, key);
            (
                [of("mu"), of("alpha"), of("beta")],
                mean_std(&runs.iter().map(|run| run.accuracy).collect::<Vec<_>>()).0,
            )
        })
        .collect();
    let axis = |at: usize| {
        let mut values: Vec<f64> = points.iter().map(|(place, _)| place[at]).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    };
    let (mus, alphas, betas) = (axis(0), axis(1), axis(2));
    let (least, most) =
        points.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), (_, acc)| (a.min(*acc), b.max(*acc)));
    let mut svg = format!(
        "<text class=\"name\" x=\"14\" y=\"60\">{}</text><text class=\"soft\" x=\"14\" y=\"78\">ACC {least:.3} to {most:.3}</text>",
        escape(&subject.title)
    );
    let place = |values: &[f64], x: f64| values.iter().position(|v| *v == x).unwrap_or(0) as f64;
    let mut best = None;
    for ([mu, alpha, beta], acc) in &points {
        let x = 130.0 + place(&mus, *mu) * 120.0 + place(&betas, *beta) * CELL;
        let y = 20.0 + (alphas.len() as f64 - 1.0 - place(&alphas, *alpha)) * CELL;
        let share = if most > least { (acc - least) / (most - least) } else { 1.0 };
        let _ = write!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{}\"><title>α {} β {} μ {}: {acc:.3}</title></rect>",
            shade(share),
            tick_text(*alpha),
            tick_text(*beta),
            tick_text(*mu)
        );
        if best.is_none() && *acc == most {
            best = Some((x, y));
        }
    }
    for mu in &mus {
        let x = 130.0 + place(&mus, *mu) * 120.0;
        let _ = write!(svg, "<text class=\"soft\" x=\"{x:.1}\" y=\"14\">μ = {}</text>", tick_text(*mu));
    }
    if let Some((x, y)) = best {
        let half = CELL / 2.0;
        let _ = write!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{:.1}\" fill=\"none\" stroke=\"#d55e00\" stroke-width=\"2.5\"/>",
            x + half,
            y + half,
            half + 1.0
        );
    }
    svg
}

/// Light to dark, readable in grey and to every kind of eye.
fn shade(share: f64) -> String {
    const STOPS: [[f64; 3]; 5] = [
        [247.0, 251.0, 255.0],
        [198.0, 219.0, 239.0],
        [107.0, 174.0, 214.0],
        [33.0, 113.0, 181.0],
        [8.0, 48.0, 107.0],
    ];
    let at = share.clamp(0.0, 1.0) * 4.0;
    let below = (at.floor() as usize).min(3);
    let part = at - below as f64;
    let mix = [0, 1, 2].map(|c| STOPS[below][c] + part * (STOPS[below + 1][c] - STOPS[below][c]));
    format!("#{:02x}{:02x}{:02x}", mix[0] as u8, mix[1] as u8, mix[2] as u8)
}

/// The picture as PNG, two pixels to a unit.
///
/// # Errors
/// When the drawing is no SVG or too large.
pub fn png(name: &str, svg: &str) -> Result<Vec<u8>> {
    let wrong = |problem: String| Error::Figure { name: name.to_owned(), problem };
    let mut options = usvg::Options { font_family: "DejaVu Sans".into(), ..usvg::Options::default() };
    options.fontdb_mut().load_font_data(FONT.to_vec());
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| wrong(error.to_string()))?;
    let size = tree.size().to_int_size().scale_by(2.0).ok_or_else(|| wrong("no size".into()))?;
    let mut pixels =
        tiny_skia::Pixmap::new(size.width(), size.height()).ok_or_else(|| wrong("too large".into()))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(2.0, 2.0), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pngs_have_text_without_fonts_of_the_system() {
        let axis = Axis { from: 0.0, to: 1.0, scale: Scale::Linear };
        let picture = |name: &str| {
            let mut sheet = Sheet::new("", "", 1, SIZE);
            sheet.add(&Panel::new(name, SIZE, axis, axis, ("", "")));
            png("x", &sheet.finish("")).unwrap()
        };
        let (with, without) = (picture("words αβμ"), picture(""));
        assert_eq!(&with[1..4], b"PNG");
        assert_ne!(with, without);
    }

    #[test]
    fn shades_go_from_light_to_dark() {
        assert_eq!((shade(0.0).as_str(), shade(1.0).as_str()), ("#f7fbff", "#08306b"));
        assert_eq!(shade(f64::NAN).len(), 7);
    }
}
