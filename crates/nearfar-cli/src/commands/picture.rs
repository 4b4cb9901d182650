//! A small picture of the weights: w upwards, p downwards, over rank on a logarithmic axis.

use crate::paint::Paint;

const WIDTH: usize = 66;
const MARGIN: usize = 9;
const UP: usize = 5;
const DOWN: usize = 3;

/// What is drawn.
pub(crate) struct Picture<'a> {
    /// w, from rank 0, the point itself, which is not drawn.
    pub(crate) near: &'a [f64],
    /// p, in the same way; empty where no far ranks are learnt. The picture then ends a little behind the last
    /// trusted rank.
    pub(crate) far: &'a [f64],
    pub(crate) unicode: bool,
    pub(crate) paint: Paint,
}

impl Picture<'_> {
    /// Lines of at most 80 columns, each ended.
    pub(crate) fn draw(&self) -> String {
        let both = self.far.len() == self.near.len() && self.far.iter().any(|p| *p > 0.0);
        let all = self.near.len().saturating_sub(1);
        let last = if both { all } else { all.min(shown_without_far(self.near)) };
        if last < 2 {
            return String::new();
        }
        let near = columns(&self.near[..=last]);
        let far = if both { columns(self.far) } else { Vec::new() };
        let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let (top, bottom) = (most(&near), most(&far));
        let mut text = String::new();
        for line in 0..UP {
            let label = if line == 0 { format!("w {top:.2} ") } else { String::new() };
            let bars: String = near.iter().map(|x| self.rising(share(*x, top), UP - 1 - line)).collect();
            text += &format!("{label:>MARGIN$}{}\n", self.paint.near(bars.trim_end()));
        }
        let (rule, mark) = if self.unicode { ("─", "┬") } else { ("-", "+") };
        let ticks = ticks(last);
        let axis: String =
            (0..WIDTH).map(|x| if ticks.iter().any(|t| t.0 == x) { mark } else { rule }).collect();
        text += &format!("{:>MARGIN$}{axis}\n", "rank ");
        text += &format!("{:MARGIN$}{}\n", "", self.paint.dim(numbers(&ticks)));
        for line in (0..DOWN).filter(|_| both) {
            let label = if line == DOWN - 1 { format!("p {bottom:.3} ") } else { String::new() };
            let bars: String = far.iter().map(|x| self.falling(share(*x, bottom), line)).collect();
            text += &format!("{label:>MARGIN$}{}\n", self.paint.far(bars.trim_end()));
        }
        text
    }

    /// One cell of a bar that stands on the axis; `level` counts from the axis.
    fn rising(&self, height: f64, level: usize) -> char {
        const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let fill = (height * UP as f64 - level as f64).clamp(0.0, 1.0);
        match (self.unicode, level) {
            // Something that is not 0 is always seen.
            (true, 0) if height > 0.0 => EIGHTHS[((fill * 8.0).round() as usize).max(1)],
            (true, _) => EIGHTHS[(fill * 8.0).round() as usize],
            (false, 0) if height > 0.0 => '#',
            (false, _) => {
                if fill >= 0.5 {
                    '#'
                } else {
                    ' '
                }
            }
        }
    }

    /// One cell of a bar that hangs from the axis.
    fn falling(&self, depth: f64, level: usize) -> char {
        let fill = (depth * DOWN as f64 - level as f64).clamp(0.0, 1.0);
        let seen = level == 0 && depth > 0.0;
        match self.unicode {
            true if fill > 0.75 => '█',
            true if fill > 0.25 => '▀',
            true if seen => '▔',
            false if fill >= 0.5 || seen => '#',
            _ => ' ',
        }
    }
}

/// The last rank of a picture without far ones.
pub(super) fn shown_without_far(near: &[f64]) -> usize {
    near.iter().rposition(|w| *w > 0.0).map_or(0, |last| (last + last / 3).max(9))
}

fn share(value: f64, most: f64) -> f64 {
    if most > 0.0 { value / most } else { 0.0 }
}

/// The rank at the left edge of a column, from 1 to one past the last.
fn edge(column: usize, last: usize) -> f64 {
    ((last + 1) as f64).powf(column as f64 / WIDTH as f64)
}

/// The mean weight of the ranks that fall into each column.
fn columns(weights: &[f64]) -> Vec<f64> {
    let last = weights.len() - 1;
    (0..WIDTH)
        .map(|column| {
            let first = (edge(column, last).floor() as usize).clamp(1, last);
            let end = (edge(column + 1, last).ceil() as usize).clamp(first + 1, last + 1);
            let end = if edge(column + 1, last) - edge(column, last) < 1.0 { first + 1 } else { end };
            weights[first..end].iter().sum::<f64>() / (end - first) as f64
        })
        .collect()
}

/// Columns of round ranks.
fn ticks(last: usize) -> Vec<(usize, usize)> {
    let mut ticks = Vec::new();
    let mut power = 1;
    while power <= last {
        for step in [1, 2, 5] {
            let rank = step * power;
            if rank <= last {
                let column = WIDTH as f64 * (rank as f64).ln() / ((last + 1) as f64).ln();
                ticks.push((column.ceil() as usize, rank));
            }
        }
        power *= 10;
    }
    ticks.retain(|(column, _)| *column < WIDTH);
    ticks
}

/// The ranks under their marks, where there is room.
fn numbers(ticks: &[(usize, usize)]) -> String {
    let mut line = String::new();
    for (column, rank) in ticks {
        let word = rank.to_string();
        if (*column == 0 || *column > line.len()) && column + word.len() <= WIDTH {
            line += &" ".repeat(column - line.len());
            line += &word;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_eighty_columns_at_any_size() {
        let paint = Paint::for_stdout(true);
        for n in [0, 1, 2, 3, 4, 9, 10, 100, 12_345] {
            let weights: Vec<f64> = (0..n).map(|k| 1.0 / (k + 1) as f64).collect();
            for unicode in [false, true] {
                let drawn = Picture { near: &weights, far: &weights, unicode, paint }.draw();
                assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{n}:\n{drawn}");
                assert_eq!(drawn.is_empty(), n < 3);
                assert!(unicode || drawn.is_ascii());
                let alone = Picture { near: &weights, far: &[], unicode, paint }.draw();
                assert!(alone.lines().all(|line| line.chars().count() <= 80), "{n}:\n{alone}");
                assert!(alone.len() <= drawn.len() && alone.is_empty() == (n < 3));
            }
        }
    }
}
