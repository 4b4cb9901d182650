//! Small figures as SVG: the learnt weights over rank, and points coloured by cluster. Readable in grey and on a
//! dark page.

use std::fmt::Write as _;

use super::picture::shown_without_far;

/// Okabe and Ito's colours, told apart by every kind of eye.
const COLORS: [&str; 8] =
    ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#f0e442", "#999999"];

const STYLE: &str = "<style>text{font:12px system-ui,sans-serif;fill:#333}.axis{stroke:#888;stroke-width:1}\
.title{font-weight:600;font-size:14px}.note{fill:#666}\
@media(prefers-color-scheme:dark){text{fill:#ddd}.note{fill:#aaa}.paper{fill:#16181d}}</style>";

/// w up and p down over rank on a log axis, with the share of right neighbours at each rank; w alone where no far
/// ranks are learnt.
pub(crate) fn weights(title: &str, near: &[f64], far: &[f64], correct: &[f64]) -> String {
    const W: f64 = 760.0;
    const H: f64 = 340.0;
    let (left, right, top, bottom) = (84.0, 40.0, 44.0, 46.0);
    let both = far.len() == near.len() && far.iter().any(|p| *p > 0.0);
    let shown = if both { near.len() } else { near.len().min(shown_without_far(near) + 1) };
    let (near, correct) = (&near[..shown], &correct[..shown.min(correct.len())]);
    let half = (H - top - bottom) / if both { 2.0 } else { 1.0 };
    let middle = top + half;
    let n = near.len().max(2);
    let x = |rank: usize| left + (W - left - right) * ((rank + 1) as f64).ln() / (n as f64).ln();
    let largest = |w: &[f64]| w.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let (most_near, most_far) = (largest(near), largest(far));
    let mut svg = open(
        W,
        H,
        title,
        if both {
            "Bars above the axis: trust in each neighbour rank as near (w). Bars below: as far (p). Line: share of neighbours at that rank with the same true class."
        } else {
            "Bars: trust in each neighbour rank (w). Line: share of neighbours at that rank with the same true class."
        },
    );
    for (weights, most, color, up) in [(near, most_near, COLORS[0], 1.0), (far, most_far, COLORS[4], -1.0)] {
        let mut path = String::new();
        for (rank, w) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            let (from, to) = (x(rank), x(rank + 1).min(W - right));
            let height = half * w / most * up;
            let _ = write!(path, "M{from:.1} {middle:.1}V{:.1}H{to:.1}V{middle:.1}Z", middle - height);
        }
        let _ = write!(svg, "<path d=\"{path}\" fill=\"{color}\"/>");
    }
    let points: Vec<String> = correct
        .iter()
        .enumerate()
        .map(|(rank, c)| format!("{:.1},{:.1}", x(rank), H - bottom - (H - top - bottom) * c))
        .collect();
    let _ = write!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>",
        points.join(" "),
        COLORS[2]
    );
    let _ = write!(svg, "<path class=\"axis\" d=\"M{left} {middle}H{}\"/>", W - right);
    for tick in [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].into_iter().filter(|t| *t <= n) {
        let at = x(tick - 1);
        let _ = write!(
            svg,
            "<path class=\"axis\" d=\"M{at:.1} {0}v5\"/><text x=\"{at:.1}\" y=\"{1}\" text-anchor=\"middle\">{tick}</text>",
            H - bottom,
            H - bottom + 20.0
        );
    }
    for (at, label) in [(top, "1"), ((top + H - bottom) / 2.0, "½"), (H - bottom, "0")] {
        let _ = write!(svg, "<text x=\"{}\" y=\"{:.1}\">{label}</text>", W - right + 8.0, at + 4.0);
    }
    let of_far = if both {
        let (x, y) = (left - 6.0, H - bottom - 4.0);
        format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\">p ≤ {most_far:.4}</text>")
    } else {
        String::new()
    };
    let _ = write!(
        svg,
        "<text x=\"{left}\" y=\"{0}\">rank: 1 is the point itself, 2 its nearest neighbour, …</text>\
         <text x=\"{1}\" y=\"{2}\" text-anchor=\"end\" >w ≤ {most_near:.3}</text>\
         {5}\
         <text x=\"{3}\" y=\"{4}\" text-anchor=\"end\">share with the same class (line)</text></svg>",
        H - 8.0,
        left - 6.0,
        top + 10.0,
        W - 8.0,
        top - 10.0,
        of_far
    );
    svg
}

/// Panels of the same points, each coloured by its own labels.
pub(crate) fn scatter(title: &str, points: &[f64], panels: &[(&str, &[usize])]) -> String {
    const SIDE: f64 = 330.0;
    let (top, gap) = (60.0, 20.0);
    let width = panels.len() as f64 * (SIDE + gap) + gap;
    let range = |axis: usize| {
        points
            .iter()
            .skip(axis)
            .step_by(2)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)))
    };
    let ((x0, x1), (y0, y1)) = (range(0), range(1));
    let scale = SIDE / (x1 - x0).max(y1 - y0).max(f64::MIN_POSITIVE);
    let height = top + (y1 - y0) * scale + 12.0;
    let mut svg =
        open(width, height, title, "The same points in each panel, coloured by the clusters a method found.");
    for (at, (name, labels)) in panels.iter().enumerate() {
        let left = gap + at as f64 * (SIDE + gap);
        let _ = write!(svg, "<text x=\"{left}\" y=\"{}\">{}</text>", top - 14.0, escape(name));
        for (point, label) in points.chunks_exact(2).zip(labels.iter()) {
            let (x, y) = (left + (point[0] - x0) * scale, top + (y1 - point[1]) * scale);
            let color = COLORS[label % COLORS.len()];
            // Shape as well as colour, so that grey print tells clusters apart.
            if label % 2 == 0 {
                let _ = write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{color}\"/>");
            } else {
                let _ = write!(
                    svg,
                    "<path d=\"M{x:.1} {:.1}l3.5 6h-7z\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.4\"/>",
                    y - 3.5
                );
            }
        }
    }
    svg + "</svg>"
}

fn open(width: f64, height: f64, title: &str, about: &str) -> String {
    let (title, about) = (escape(title), escape(about));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\"><title>{title}</title><desc>{about}</desc>\
         {STYLE}<rect class=\"paper\" width=\"{width}\" height=\"{height}\" fill=\"#fff\"/><text class=\"title\" x=\"16\" y=\"22\">{title}</text>"
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_every_point_is_drawn() {
        let svg = scatter("<a & b>", &[0.0, 0.0, 1.0, 1.0], &[("x\"y", &[0, 1])]);
        assert!(svg.contains("&lt;a &amp; b&gt;") && svg.contains("x&quot;y"));
        assert_eq!((svg.matches("<circle").count(), svg.matches("<path").count()), (1, 1));
        let both = weights("t", &[1.0, 0.0], &[0.0, 1.0], &[1.0, 0.5]);
        assert!(!both.contains("NaN") && both.contains("p ≤ 1.0000"));
        let alone = weights("t", &[0.0, 0.7, 0.3], &[], &[1.0, 0.5, 0.2]);
        assert!(!alone.contains("NaN") && !alone.contains("p ≤") && alone.contains("w ≤ 0.700"));
    }
}
