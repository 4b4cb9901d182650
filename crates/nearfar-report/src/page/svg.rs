//! Charts as SVG: axes, lines, bars, and a place for the pointer.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};

use super::number::short;
use super::style::escape;

/// Width and height in units that are about a pixel.
pub(crate) type Size = [f64; 2];

/// The two sizes of a wide chart: for a desk and for a hand.
pub(crate) const WIDE: [Size; 2] = [[1080.0, 360.0], [360.0, 330.0]];
/// The two sizes of a chart of half the width.
pub(crate) const HALF: [Size; 2] = [[540.0, 270.0], [360.0, 240.0]];
/// A chart of which several stand beside each other.
pub(crate) const SMALL: Size = [360.0, 230.0];

/// What runs along a side.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) log: bool,
    pub(crate) label: String,
    /// Only whole numbers have a mark.
    pub(crate) whole: bool,
}

impl Axis {
    pub(crate) fn new(least: f64, most: f64, label: &str) -> Self {
        let most = if most > least { most } else { least + least.abs().max(1.0) };
        Self { least, most, log: false, label: label.to_owned(), whole: false }
    }

    pub(crate) fn log(least: f64, most: f64, label: &str) -> Self {
        let most = if most > least { most } else { least * 2.0 };
        Self { least, most, log: true, label: label.to_owned(), whole: true }
    }

    pub(crate) fn whole(self) -> Self {
        Self { whole: true, ..self }
    }

    /// From 0 at `least` to 1 at `most`.
    pub(crate) fn share(&self, x: f64) -> f64 {
        if self.log {
            (x.max(self.least) / self.least).ln() / (self.most / self.least).ln()
        } else {
            // Halves, so that no difference of large numbers overflows.
            (x / 2.0 - self.least / 2.0) / (self.most / 2.0 - self.least / 2.0)
        }
    }

    /// Round numbers within the range, with their words.
    fn ticks(&self, room: f64) -> Vec<(f64, String)> {
        if self.log { self.log_ticks(room) } else { self.linear_ticks(room) }
    }

    fn log_ticks(&self, room: f64) -> Vec<(f64, String)> {
        let decades = (self.most / self.least).log10().max(0.1);
        let steps: &[f64] = if room / decades > 150.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let first = self.least.log10().floor() as i32;
        (first..=self.most.log10().ceil() as i32)
            .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)))
            .filter(|x| {
                *x >= self.least * 0.999 && *x <= self.most * 1.001 && (!self.whole || x.fract() == 0.0)
            })
            .map(|x| (x, short(x)))
            .collect()
    }

    fn linear_ticks(&self, room: f64) -> Vec<(f64, String)> {
        let wanted = (room / 70.0).clamp(2.0, 9.0);
        let raw = (self.most / 2.0 - self.least / 2.0) / wanted * 2.0;
        if !(raw > 0.0 && raw.is_finite()) {
            return Vec::new();
        }
        let power = 10_f64.powf(raw.log10().floor());
        let mut step =
            [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|s| s * power).find(|s| *s >= raw).unwrap_or(raw);
        if self.whole {
            step = step.ceil().max(1.0);
        }
        let first = (self.least / step).ceil() as i64;
        (first..first + 24)
            .map(|at| at as f64 * step)
            .take_while(|x| *x <= self.most + step * 1e-9)
            .map(|x| (x, short(if x.abs() < step * 1e-9 { 0.0 } else { x })))
            .collect()
    }
}

/// A chart that is being drawn.
pub(crate) struct Plot {
    size: Size,
    /// Left, right, top, bottom of what is inside the axes.
    pub(crate) inside: [f64; 4],
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    body: String,
}

impl Plot {
    /// With axes drawn.
    pub(crate) fn new(size: Size, x: Axis, y: Axis) -> Self {
        let [width, height] = size;
        let mut plot =
            Self { size, inside: [52.0, width - 14.0, 22.0, height - 42.0], x, y, body: String::new() };
        plot.axes();
        plot
    }

    /// Nothing but room: for charts that draw axes of their own.
    pub(crate) fn bare(size: Size, inside: [f64; 4], x: Axis, y: Axis) -> Self {
        Self { size, inside, x, y, body: String::new() }
    }

    pub(crate) fn px(&self, x: f64) -> f64 {
        let [left, right, ..] = self.inside;
        left + (right - left) * self.x.share(x).clamp(0.0, 1.0)
    }

    pub(crate) fn py(&self, y: f64) -> f64 {
        let [.., top, bottom] = self.inside;
        bottom - (bottom - top) * self.y.share(y).clamp(0.0, 1.0)
    }

    /// Anything, made of numbers and fixed words.
    pub(crate) fn push(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = self.body.write_fmt(text);
    }

    pub(crate) fn text(&mut self, [x, y]: [f64; 2], anchor: &str, class: &str, words: &str) {
        let words = escape(words);
        self.push(format_args!(
            "<text x='{x:.1}' y='{y:.1}' text-anchor='{anchor}' class='{class}'>{words}</text>"
        ));
    }

    fn axes(&mut self) {
        let [left, right, top, bottom] = self.inside;
        for (y, words) in self.y.clone().ticks((bottom - top) * 1.5) {
            let at = self.py(y);
            self.push(format_args!("<path class='grid' d='M{left:.1} {at:.1}H{right:.1}'/>"));
            self.text([left - 7.0, at + 4.0], "end", "tick", &words);
        }
        self.x_axis(bottom);
        let label = self.y.label.clone();
        self.text([left - 44.0, top - 9.0], "start", "label", &label);
    }

    /// The lower axis, its marks and its name.
    pub(crate) fn x_axis(&mut self, at: f64) {
        let [left, right, ..] = self.inside;
        self.push(format_args!("<path class='axis' d='M{left:.1} {at:.1}H{right:.1}'/>"));
        for (x, words) in self.x.clone().ticks(right - left) {
            let px = self.px(x);
            self.push(format_args!("<path class='axis' d='M{px:.1} {at:.1}v4'/>"));
            self.text([px, at + 17.0], "middle", "tick", &words);
        }
        let label = self.x.label.clone();
        self.text([right, at + 34.0], "end", "label", &label);
    }

    /// A line through these points.
    pub(crate) fn line(&mut self, points: impl Iterator<Item = [f64; 2]>, class: &str) {
        let mut path = String::new();
        for [x, y] in points {
            let letter = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{letter}{:.1} {:.1}", self.px(x), self.py(y));
        }
        if !path.is_empty() {
            self.push(format_args!("<path class='{class}' d='{path}'/>"));
        }
    }

    /// A bar from the lower axis, between two places along it.
    pub(crate) fn bar(&mut self, [from, to]: [f64; 2], y: f64, class: &str) {
        let [.., bottom] = self.inside;
        let (left, right, top) = (self.px(from), self.px(to), self.py(y));
        if bottom - top > 0.05 {
            let width = (right - left).max(0.6);
            self.push(format_args!(
                "<rect class='{class}' x='{left:.1}' y='{top:.1}' width='{width:.1}' height='{:.1}'/>",
                bottom - top
            ));
        }
    }

    /// The chart; `words` say in a sentence what it shows, for those who do not see it.
    pub(crate) fn finish(self, class: &str, words: &str) -> Markup {
        let ([width, height], [left, right, top, bottom]) = (self.size, self.inside);
        let x = &self.x;
        let hover = format!("{left} {right} {} {} {}", x.least, x.most, u8::from(x.log));
        html! {
            svg class=(class) viewBox=(format!("0 0 {width} {height}")) role="img" aria-label=(words) tabindex="0" data-x=(hover) {
                (PreEscaped(self.body))
                path.cursor d=(format!("M0 {top:.1}V{bottom:.1}")) {}
            }
        }
    }
}

/// A path of steps: every value holds from one edge to the next; equal neighbours are joined.
pub(crate) fn steps(base: f64, values: impl Iterator<Item = (f64, f64, f64)>) -> String {
    let mut path = String::new();
    let mut last = (f64::NAN, f64::NAN);
    for (from, to, y) in values {
        if path.is_empty() {
            let _ = write!(path, "M{from:.1} {base:.1}");
        }
        if (y - last.1).abs() < 0.05 {
            last = (to, last.1);
            continue;
        }
        if last.0.is_finite() {
            let _ = write!(path, "H{:.1}", last.0);
        }
        let _ = write!(path, "V{y:.1}");
        last = (to, y);
    }
    if last.0.is_finite() {
        let _ = write!(path, "H{:.1}V{base:.1}Z", last.0);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_inside() {
        let marks = |axis: Axis, room| axis.ticks(room).into_iter().map(|t| t.1).collect::<Vec<_>>();
        assert_eq!(marks(Axis::new(0.0, 1.0, ""), 350.0), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(marks(Axis::log(1.0, 150.0, ""), 300.0), ["1", "10", "100"]);
        assert_eq!(marks(Axis::new(0.0, 2.0, "").whole(), 700.0), ["0", "1", "2"]);
        assert!(!marks(Axis::new(-1e308, 1e308, ""), 300.0).is_empty());
        assert!(!marks(Axis::new(3.0, 3.0, ""), 300.0).is_empty());
    }

    #[test]
    fn equal_steps_are_joined() {
        let path = steps(10.0, [(0.0, 1.0, 5.0), (1.0, 2.0, 5.0), (2.0, 3.0, 7.0)].into_iter());
        assert_eq!(path, "M0.0 10.0V5.0H2.0V7.0H3.0V10.0Z");
        assert_eq!(steps(0.0, std::iter::empty()), "");
    }
}
