//! R(v₃): the squared distance of v₃ from the plane of v₁ and v₂.

use std::fmt::Write;

use super::panel::{COLORS, Panel, Sheet};

const SIZE: (f64, f64) = (560.0, 330.0);

/// From space to paper: x to the lower left, y to the right, z up.
fn project([x, y, z]: [f64; 3]) -> (f64, f64) {
    (250.0 + 190.0 * y - 95.0 * x, 215.0 + 70.0 * x - 170.0 * z)
}

fn arrow(svg: &mut String, to: [f64; 3], name: &str, color: &str) {
    let ((x0, y0), (x1, y1)) = (project([0.0; 3]), project(to));
    let length = (x1 - x0).hypot(y1 - y0);
    let (u, v) = ((x1 - x0) / length, (y1 - y0) / length);
    let (bx, by) = (x1 - 11.0 * u, y1 - 11.0 * v);
    let _ = write!(
        svg,
        "<path d=\"M{x0:.1} {y0:.1}L{bx:.1} {by:.1}\" stroke=\"{color}\" stroke-width=\"2.4\"/>\
         <path d=\"M{x1:.1} {y1:.1}L{:.1} {:.1}L{:.1} {:.1}Z\" fill=\"{color}\"/>\
         <text class=\"title\" x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
        bx - 5.0 * v,
        by + 5.0 * u,
        bx + 5.0 * v,
        by - 5.0 * u,
        // Beyond the tip, out of the arrow's way.
        x1 + if u < 0.0 { -26.0 } else { 8.0 },
        y1 - 4.0
    );
}

/// The figure.
pub(super) fn draw() -> String {
    let (first, second, third) = ([1.0, 0.15, 0.0], [0.1, 1.0, 0.0], [0.55, 0.75, 0.95]);
    let foot = [third[0], third[1], 0.0];
    let at = |p: [f64; 3]| {
        let (x, y) = project(p);
        format!("{x:.1} {y:.1}")
    };
    let mut svg = format!(
        "<path d=\"M{}L{}L{}L{}Z\" fill=\"{}\" fill-opacity=\"0.18\" stroke=\"{}\"/>",
        at([-0.25, -0.25, 0.0]),
        at([1.25, -0.25, 0.0]),
        at([1.25, 1.25, 0.0]),
        at([-0.25, 1.25, 0.0]),
        COLORS[5],
        COLORS[5]
    );
    let _ = write!(
        svg,
        "<path d=\"M{}L{}\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"5 4\"/><path d=\"M{}L{}\" stroke=\"#777\" stroke-dasharray=\"2 3\"/>",
        at(third),
        at(foot),
        COLORS[4],
        at([0.0; 3]),
        at(foot)
    );
    arrow(&mut svg, first, "v₁", COLORS[0]);
    arrow(&mut svg, second, "v₂", COLORS[0]);
    arrow(&mut svg, third, "v₃", COLORS[2]);
    let (x, y) = project([third[0], third[1], 0.45]);
    let _ = write!(svg, "<text class=\"name\" x=\"{:.1}\" y=\"{y:.1}\">length² = R(v₃)</text>", x + 10.0);
    let (x, y) = project([1.2, 1.0, 0.0]);
    let _ =
        write!(svg, "<text class=\"soft\" x=\"{x:.1}\" y=\"{:.1}\">the plane of v₁ and v₂</text>", y + 26.0);
    let about = "Three vectors from one point; a dashed line drops from the tip of v3 to the plane spanned by v1 and v2. Its squared length is R(v3).";
    let mut sheet = Sheet::new("The geometric meaning of R(v₃)", about, 1, SIZE);
    sheet.add(&Panel::blank(svg, SIZE));
    sheet.finish("R(v₃) = ‖v₃ − its projection on the plane of v₁ and v₂‖²")
}
