//! No samples, only pairs: distances, affinities, or the lists of a neighbour search.

use nearfar::labels::score::accuracy;
use nearfar::{Input, NeighborLists, Params, Samples, fit, generate};

/// Neighbours per point in the lists.
const LISTED: usize = 20;

fn main() -> nearfar::Result<()> {
    let data = generate::blobs(240, 3, 4, 0.8, 5)?;
    let (n, m) = (data.n_samples, data.n_features);
    let point = |i: usize| &data.data[i * m..(i + 1) * m];
    let distance =
        |i: usize, j: usize| point(i).iter().zip(point(j)).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();

    // A symmetric matrix of distances: any metric will do, edit distances too.
    let distances: Vec<f64> = (0..n * n).map(|at| distance(at / n, at % n)).collect();
    // A symmetric matrix of affinities: larger is nearer, the diagonal is not looked at.
    let affinities: Vec<f64> = distances.iter().map(|d| (-d * d / 2.0).exp()).collect();
    // Lists, nearest first, the point itself left out.
    let (mut indices, mut nearest) = (Vec::new(), Vec::new());
    for i in 0..n {
        let mut others: Vec<usize> = (0..n).filter(|j| *j != i).collect();
        others.sort_by(|a, b| distance(i, *a).total_cmp(&distance(i, *b)));
        indices.extend(others[..LISTED].iter().map(|j| *j as u32));
        nearest.extend(others[..LISTED].iter().map(|j| distance(i, *j)));
    }

    let inputs = [
        ("distances", Input::Distances(Samples::from_rows(&distances, n, n)?)),
        ("affinities", Input::Affinities(Samples::from_rows(&affinities, n, n)?)),
        ("lists", Input::Neighbors(NeighborLists::new(&indices, &nearest, n, LISTED)?)),
    ];
    for (name, input) in inputs {
        let model = fit(input, &Params::new(4))?;
        println!("{name:10}  sizes {:?}, ACC {:.3}", model.sizes(), accuracy(&model.labels, &data.truth)?);
        for warning in &model.warnings {
            println!("{:10}  note: {warning}", "");
        }
    }
    Ok(())
}
