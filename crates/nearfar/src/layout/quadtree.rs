//! Which points lie where: squares in squares, each with its number of points and their mean.

/// A square is divided so often, at most; points that are still together count as one place.
const MOST_LEVELS: u32 = 24;
/// No child.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Square {
    /// Mean of the points in it.
    mean: [f64; 2],
    count: f64,
    /// Length of a side, squared.
    width: f64,
    children: [u32; 4],
    /// Whether it is not divided: one point, or several in one place.
    whole: bool,
}

/// Squares, the outermost first.
pub(super) struct Quadtree {
    squares: Vec<Square>,
}

impl Quadtree {
    pub(super) fn new(at: &[[f64; 2]]) -> Self {
        let range = |axis: usize| {
            at.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| (a.min(p[axis]), b.max(p[axis])))
        };
        let ranges = [range(0), range(1)];
        let middle = ranges.map(|(a, b)| f64::midpoint(a, b));
        let width = ranges.iter().map(|(a, b)| b - a).fold(0.0, f64::max) * (1.0 + 1e-9);
        let mut order: Vec<u32> = (0..at.len() as u32).collect();
        let mut tree = Self { squares: Vec::with_capacity(2 * at.len()) };
        tree.divide(at, &mut order, middle, width, 0);
        tree
    }

    /// The square of these points, and all within it.
    fn divide(
        &mut self,
        at: &[[f64; 2]],
        points: &mut [u32],
        middle: [f64; 2],
        width: f64,
        level: u32,
    ) -> u32 {
        let number = self.squares.len() as u32;
        let count = points.len() as f64;
        let mean = [0, 1].map(|axis| points.iter().map(|i| at[*i as usize][axis]).sum::<f64>() / count);
        let whole = points.len() < 2 || level >= MOST_LEVELS || !(width > 0.0);
        self.squares.push(Square { mean, count, width: width * width, children: [NONE; 4], whole });
        if whole {
            return number;
        }
        let quarter = |i: u32| {
            usize::from(at[i as usize][0] >= middle[0]) + 2 * usize::from(at[i as usize][1] >= middle[1])
        };
        points.sort_by_key(|i| quarter(*i));
        let mut start = 0;
        for child in 0..4 {
            let length = points[start..].iter().take_while(|i| quarter(**i) == child).count();
            if length > 0 {
                let own = [0, 1]
                    .map(|axis| middle[axis] + width / 4.0 * if child >> axis & 1 == 1 { 1.0 } else { -1.0 });
                let part = &mut points[start..start + length];
                self.squares[number as usize].children[child] =
                    self.divide(at, part, own, width / 2.0, level + 1);
            }
            start += length;
        }
        number
    }

    /// Σ w² (y − y_j) and Σ w over all points, w = 1 / (1 + ‖y − y_j‖²); a square that is small from here counts as
    /// its mean. The point itself adds 1 to the second.
    pub(super) fn push(&self, y: [f64; 2], angle: f64, open: &mut Vec<u32>) -> ([f64; 2], f64) {
        let (mut force, mut sum) = ([0.0; 2], 0.0);
        open.clear();
        open.push(0);
        while let Some(number) = open.pop() {
            let square = &self.squares[number as usize];
            let gap = [y[0] - square.mean[0], y[1] - square.mean[1]];
            let far = gap[0] * gap[0] + gap[1] * gap[1];
            if square.whole || square.width < angle * far {
                let w = 1.0 / (1.0 + far);
                let all = square.count * w;
                sum += all;
                force[0] += all * w * gap[0];
                force[1] += all * w * gap[1];
            } else {
                open.extend(square.children.iter().rev().filter(|child| **child != NONE));
            }
        }
        (force, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::Stream;

    #[test]
    fn squares_stand_for_their_points() {
        let mut random = Stream::new(3, 0);
        let mut at: Vec<[f64; 2]> = (0..400).map(|_| [10.0 * random.normal(), random.normal()]).collect();
        at.extend([at[7]; 5]);
        let tree = Quadtree::new(&at);
        let mut open = Vec::new();
        for y in at.iter().step_by(37) {
            let (mut force, mut sum) = ([0.0; 2], 0.0);
            for other in &at {
                let gap = [y[0] - other[0], y[1] - other[1]];
                let w = 1.0 / (1.0 + gap[0] * gap[0] + gap[1] * gap[1]);
                sum += w;
                force[0] += w * w * gap[0];
                force[1] += w * w * gap[1];
            }
            let (exact, all) = tree.push(*y, 0.0, &mut open);
            assert!((all - sum).abs() < 1e-9 * sum && (exact[0] - force[0]).abs() < 1e-9 * sum);
            let (near, all) = tree.push(*y, 0.25, &mut open);
            assert!((all - sum).abs() < 0.02 * sum, "{all} for {sum}");
            assert!((near[0] - force[0]).hypot(near[1] - force[1]) < 0.02 * sum);
        }
    }
}
