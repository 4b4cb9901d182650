//! Data that breaks careless implementations: duplicates, ties, outliers, wide ranges of scale.

use nearfar::internals::Stream;

/// Samples, and the grouping that everybody would agree on, where there is one.
#[derive(Clone, Debug)]
pub struct Case {
    /// What is hard about it.
    pub name: &'static str,
    /// n × m, row-major.
    pub data: Vec<f64>,
    /// Rows, n.
    pub n_samples: usize,
    /// Columns, m.
    pub n_features: usize,
    /// Clusters to ask for.
    pub n_clusters: usize,
    /// The right grouping.
    pub truth: Option<Vec<usize>>,
}

impl Case {
    fn new(name: &'static str, rows: &[Vec<f64>], n_clusters: usize, truth: Option<Vec<usize>>) -> Self {
        let (n_samples, n_features) = (rows.len(), rows.first().map_or(0, Vec::len));
        Self { name, data: rows.concat(), n_samples, n_features, n_clusters, truth }
    }
}

/// `copies` of each point.
#[must_use]
pub fn repeated(points: &[f64], copies: usize) -> (Vec<f64>, Vec<usize>) {
    points.iter().enumerate().flat_map(|(class, x)| (0..copies).map(move |_| (*x, class))).unzip()
}

/// Normal points around centres, `sizes[c]` around the c-th, in m dimensions; the centres are `gap` apart along a line.
#[must_use]
pub fn blobs_on_a_line(sizes: &[usize], m: usize, width: f64, gap: f64, seed: u64) -> (Vec<f64>, Vec<usize>) {
    let mut stream = Stream::new(seed, 77);
    let (mut data, mut truth) = (Vec::new(), Vec::new());
    for (class, size) in sizes.iter().enumerate() {
        for _ in 0..*size {
            data.extend((0..m).map(|f| {
                let centre = if f == 0 { class as f64 * gap } else { 0.0 };
                centre + width * stream.normal()
            }));
            truth.push(class);
        }
    }
    (data, truth)
}

/// The same rows in another order: row i of the result is row `order[i]` of `data`.
#[must_use]
pub fn reordered(data: &[f64], m: usize, order: &[usize]) -> Vec<f64> {
    order.iter().flat_map(|i| data[i * m..(i + 1) * m].iter().copied()).collect()
}

/// A random order of n rows.
#[must_use]
pub fn random_order(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    Stream::new(seed, 78).shuffle(&mut order);
    order
}

/// A collection that any clustering must get through.
#[must_use]
pub fn cases() -> Vec<Case> {
    let mut stream = Stream::new(5, 79);
    let mut normal = |mean: f64, width: f64| mean + width * stream.normal();
    let mut cases = Vec::new();

    let rows: Vec<Vec<f64>> = (0..30).map(|i| vec![[0.0, 1.0][i % 2], [0.0, 1.0][i % 2]]).collect();
    cases.push(Case::new(
        "two points, fifteen copies of each",
        &rows,
        2,
        Some((0..30).map(|i| i % 2).collect()),
    ));

    let rows: Vec<Vec<f64>> = (0..36).map(|i| vec![f64::from(i % 6), f64::from(i / 6)]).collect();
    cases.push(Case::new("a square lattice: nothing but ties", &rows, 4, None));

    let mut rows: Vec<Vec<f64>> =
        (0..24).map(|i| vec![normal(10.0 * f64::from(i % 2), 1.0), normal(0.0, 1.0)]).collect();
    rows.extend((0..9).map(|_| vec![0.0, 0.0]));
    let truth = (0..24).map(|i| i % 2).chain([0; 9]).collect();
    cases.push(Case::new("nine copies of one point among others", &rows, 2, Some(truth)));

    let mut rows: Vec<Vec<f64>> =
        (0..30).map(|i| vec![normal(10.0 * f64::from(i % 2), 1.0), normal(0.0, 1.0)]).collect();
    rows.push(vec![1e9, 0.0]);
    cases.push(Case::new("one outlier at a thousand million", &rows, 2, None));

    let rows: Vec<Vec<f64>> =
        (0..40).map(|i| vec![normal(1e6 * f64::from(i % 2), 1.0), normal(0.0, 1.0)]).collect();
    cases.push(Case::new("tight blobs a million apart", &rows, 2, Some((0..40).map(|i| i % 2).collect())));

    let rows: Vec<Vec<f64>> = (0..40).map(|i| vec![normal(f64::from(i % 4), 0.03)]).collect();
    cases.push(Case::new("one feature", &rows, 4, Some((0..40).map(|i| i % 4).collect())));

    let rows: Vec<Vec<f64>> =
        (0..40).map(|i| vec![3.0, normal(f64::from(i % 2) * 8.0, 1.0), -1e9, 0.0]).collect();
    cases.push(Case::new(
        "constant columns, one of them large",
        &rows,
        2,
        Some((0..40).map(|i| i % 2).collect()),
    ));

    let rows: Vec<Vec<f64>> =
        (0..40).map(|i| vec![normal(1e-12 * f64::from(i % 2), 1e-14), normal(1.0, 0.0)]).collect();
    cases.push(Case::new(
        "clusters far below the size of the values",
        &rows,
        2,
        Some((0..40).map(|i| i % 2).collect()),
    ));

    let rows: Vec<Vec<f64>> = (0..33)
        .map(|i| vec![f64::from(i % 3) * 1e6 + normal(0.0, 10_f64.powi(-2 * (i % 3))), normal(0.0, 0.1)])
        .collect();
    cases.push(Case::new(
        "clusters of very different widths",
        &rows,
        3,
        Some((0..33).map(|i| i as usize % 3).collect()),
    ));
    cases
}
