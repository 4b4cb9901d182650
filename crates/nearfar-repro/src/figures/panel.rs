//! Small panels in a grid, as SVG: axes, lines, bars, cells.

use std::fmt::Write;

use crate::report::escape;

/// Okabe and Ito's colours, told apart by every kind of eye.
pub(crate) const COLORS: [&str; 8] =
    ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#999999", "#000000"];

const STYLE: &str = "<style>text{font-family:'DejaVu Sans',system-ui,sans-serif;font-size:11px;fill:#222}\
.title{font-size:15px}.name{font-size:12px}.soft{fill:#555}.axis{stroke:#777;stroke-width:1;fill:none}.grid{stroke:#ddd;stroke-width:1}</style>";

/// A sheet of panels.
pub(crate) struct Sheet {
    body: String,
    title: String,
    about: String,
    columns: usize,
    count: usize,
    size: (f64, f64),
    rows_used: usize,
}

/// Space for the sheet's title.
const HEAD: f64 = 40.0;

impl Sheet {
    /// Panels of this size, so many side by side.
    pub(crate) fn new(title: &str, about: &str, columns: usize, size: (f64, f64)) -> Self {
        let (title, about) = (escape(title), escape(about));
        Self { body: String::new(), title, about, columns, count: 0, size, rows_used: 0 }
    }

    /// The next panel; what it draws has its own origin.
    pub(crate) fn add(&mut self, panel: &Panel) {
        let (column, row) = (self.count % self.columns, self.count / self.columns);
        let (x, y) = (column as f64 * self.size.0, HEAD + row as f64 * self.size.1);
        let _ = write!(self.body, "<g transform=\"translate({x:.1} {y:.1})\">{}</g>", panel.svg);
        self.count += 1;
        self.rows_used = row + 1;
    }

    /// The finished picture, with a line under it.
    pub(crate) fn finish(self, legend: &str) -> String {
        let width = self.size.0 * self.columns.min(self.count.max(1)) as f64;
        let height = HEAD + self.size.1 * self.rows_used as f64 + 26.0;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\
             <title>{0}</title><desc>{1}</desc>{STYLE}<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\
             <text class=\"title\" x=\"14\" y=\"25\">{0}</text>{2}<text class=\"soft\" x=\"14\" y=\"{3}\">{4}</text></svg>\n",
            self.title,
            self.about,
            self.body,
            height - 10.0,
            escape(legend)
        )
    }
}

/// How an axis is spaced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    Log,
}

/// From values to places.
#[derive(Clone, Copy)]
pub(crate) struct Axis {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) scale: Scale,
}

impl Axis {
    fn share(&self, value: f64) -> f64 {
        let spread = |x: f64| if self.scale == Scale::Log { x.max(f64::MIN_POSITIVE).ln() } else { x };
        let (from, to) = (spread(self.from), spread(self.to));
        if to > from { ((spread(value) - from) / (to - from)).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// Values worth a mark.
    fn ticks(&self) -> Vec<f64> {
        if self.scale == Scale::Log {
            let powers = (-9..12).flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10_f64.powi(e)));
            let all: Vec<f64> = powers.filter(|x| *x >= self.from * 0.999 && *x <= self.to * 1.001).collect();
            let tens: Vec<f64> =
                all.iter().copied().filter(|x| (x.log10() - x.log10().round()).abs() < 1e-9).collect();
            return if tens.len() >= 3 { tens } else { all };
        }
        let raw = (self.to - self.from) / 4.0;
        if !(raw > 0.0) {
            return vec![self.from];
        }
        let ten = 10_f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * ten).into_iter().find(|s| *s >= raw).unwrap_or(raw);
        let (first, last) = ((self.from / step).ceil() as i64, (self.to / step + 1e-9).floor() as i64);
        (first..=last).map(|i| i as f64 * step).collect()
    }
}

/// A number on an axis.
pub(crate) fn tick_text(x: f64) -> String {
    if x != 0.0 && !(1e-3..1e5).contains(&x.abs()) {
        return format!("{x:.0e}");
    }
    let text = format!("{x:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// One chart.
pub(crate) struct Panel {
    svg: String,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    x: Axis,
    y: Axis,
}

impl Panel {
    /// Axes with marks, in a panel of this size.
    pub(crate) fn new(name: &str, size: (f64, f64), x: Axis, y: Axis, labels: (&str, &str)) -> Self {
        let (left, top, right, bottom) = (52.0, 22.0, 40.0, 40.0);
        let (width, height) = (size.0 - left - right, size.1 - top - bottom);
        let mut panel = Self { svg: String::new(), left, top, width, height, x, y };
        let _ = write!(panel.svg, "<text class=\"name\" x=\"{left}\" y=\"14\">{}</text>", escape(name));
        for tick in x.ticks() {
            let at = panel.px(tick);
            let _ = write!(
                panel.svg,
                "<path class=\"axis\" d=\"M{at:.1} {0:.1}v4\"/><text x=\"{at:.1}\" y=\"{1:.1}\" text-anchor=\"middle\">{2}</text>",
                top + height,
                top + height + 16.0,
                tick_text(tick)
            );
        }
        for tick in y.ticks() {
            let at = panel.py(tick);
            let _ = write!(
                panel.svg,
                "<path class=\"grid\" d=\"M{left} {at:.1}h{width:.1}\"/><text x=\"{0:.1}\" y=\"{1:.1}\" text-anchor=\"end\">{2}</text>",
                left - 5.0,
                at + 4.0,
                tick_text(tick)
            );
        }
        let _ = write!(
            panel.svg,
            "<path class=\"axis\" d=\"M{left} {top}v{height:.1}h{width:.1}\"/>\
             <text class=\"soft\" x=\"{0:.1}\" y=\"{1:.1}\" text-anchor=\"middle\">{2}</text>\
             <text class=\"soft\" x=\"{3:.1}\" y=\"14\" text-anchor=\"end\">{4}</text>",
            left + width / 2.0,
            top + height + 31.0,
            escape(labels.0),
            left + width,
            escape(labels.1)
        );
        panel
    }

    fn px(&self, x: f64) -> f64 {
        self.left + self.width * self.x.share(x)
    }

    fn py(&self, y: f64) -> f64 {
        self.top + self.height * (1.0 - self.y.share(y))
    }

    /// A line through these points.
    pub(crate) fn line(&mut self, points: impl Iterator<Item = (f64, f64)>, color: &str, dashed: bool) {
        let places: Vec<String> = points
            .filter(|p| p.1.is_finite())
            .map(|(x, y)| format!("{:.1},{:.1}", self.px(x), self.py(y)))
            .collect();
        let dash = if dashed { " stroke-dasharray=\"4 3\"" } else { "" };
        let _ = write!(
            self.svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\"{dash}/>",
            places.join(" ")
        );
    }

    /// A dot.
    pub(crate) fn dot(&mut self, x: f64, y: f64, color: &str) {
        let _ = write!(
            self.svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.6\" fill=\"{color}\"/>",
            self.px(x),
            self.py(y)
        );
    }

    /// Bars from a level of y, each from its x to the next.
    pub(crate) fn bars(&mut self, bars: impl Iterator<Item = (f64, f64, f64)>, level: f64, color: &str) {
        let mut path = String::new();
        for (from, to, y) in bars {
            let (a, b, base) = (self.px(from), self.px(to), self.py(level));
            let _ = write!(path, "M{a:.1} {base:.1}V{:.1}H{b:.1}V{base:.1}Z", self.py(y));
        }
        let _ = write!(self.svg, "<path d=\"{path}\" fill=\"{color}\"/>");
    }

    /// A second axis on the right, from 0 to 1.
    pub(crate) fn right_axis(&mut self, color: &str) {
        for (share, text) in [(0.0, "0"), (0.5, "½"), (1.0, "1")] {
            let _ = write!(
                self.svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" style=\"fill:{color}\">{text}</text>",
                self.left + self.width + 5.0,
                self.top + self.height * (1.0 - share) + 4.0
            );
        }
    }

    /// A line on the right axis.
    pub(crate) fn right_line(&mut self, points: impl Iterator<Item = (f64, f64)>, color: &str) {
        let Axis { from, to, .. } = self.y;
        let moved: Vec<(f64, f64)> = points.map(|(x, share)| (x, from + (to - from) * share)).collect();
        self.line(moved.into_iter(), color, false);
    }

    /// A panel of one's own drawing.
    pub(crate) fn blank(svg: String, size: (f64, f64)) -> Self {
        let axis = Axis { from: 0.0, to: 1.0, scale: Scale::Linear };
        Self { svg, left: 0.0, top: 0.0, width: size.0, height: size.1, x: axis, y: axis }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let linear = Axis { from: 0.0, to: 0.87, scale: Scale::Linear };
        assert_eq!(linear.ticks(), [0.0, 0.25, 0.5, 0.75]);
        let log = Axis { from: 1.0, to: 2000.0, scale: Scale::Log };
        assert_eq!(log.ticks(), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(Axis { from: 3.0, to: 3.0, scale: Scale::Linear }.ticks(), [3.0]);
        assert_eq!([0.25, 1000.0, 1e-5].map(tick_text), ["0.25", "1000", "1e-5"]);
    }

    #[test]
    fn places_grow_to_the_right_and_up() {
        let axis = Axis { from: 0.0, to: 1.0, scale: Scale::Linear };
        let panel = Panel::new("<x>", (200.0, 150.0), axis, axis, ("k", "v"));
        assert!(panel.px(0.2) < panel.px(0.8) && panel.py(0.2) > panel.py(0.8));
        assert!(panel.svg.contains("&lt;x&gt;"));
    }
}
