//! The approximate search beside an HNSW index, on one set, by one thread: seconds at equal recall.

use anyhow::Result;
use nearfar::internals::mixture;
use nearfar::internals::{Nearest, nearest, nearest_by_cells};
use nearfar::observe::Silent;
use nearfar::{Input, Samples};

use crate::clock::{Seconds, timed};

/// The set and what is asked of it.
pub(crate) struct Asked {
    pub(crate) points: usize,
    pub(crate) features: usize,
    pub(crate) clusters: usize,
    pub(crate) spread: f64,
    pub(crate) neighbors: usize,
}

/// Print the table.
pub(crate) fn bench(asked: &Asked) -> Result<()> {
    let Asked { points: n, features: m, clusters, spread, neighbors: k } = *asked;
    let data = mixture(n, m, clusters, spread, 1)?;
    let data: Vec<f32> = data.data.iter().map(|x| *x as f32).collect();
    println!("mixture of {clusters}: {n} x {m}, spread {spread}; {k} neighbours of every point; one thread");
    println!("| search | recall | building, s | asking, s | total, s |");
    println!("|---|---|---|---|---|");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        let input = Input::from(Samples::from_rows(&data[..], n, m)?);
        let (exact, seconds) = timed(|| nearest(&input, k, &Silent));
        let exact = exact?;
        anyhow::ensure!(!exact.search.approximate, "too many points for exact search; take fewer");
        say("exact", 1.0, None, seconds);
        let (cells, seconds) = timed(|| nearest_by_cells(&input, k, &Silent));
        let cells = cells?;
        let recall = recall(&exact, k, |i| cells.indices[i * k..(i + 1) * k].to_vec());
        say("cells", recall, None, seconds);
        beside(&data, m, k, &exact, recall);
        Ok(())
    })
}

/// Share of the true neighbours that `found` has of every point.
fn recall(exact: &Nearest, k: usize, found: impl Fn(usize) -> Vec<u32>) -> f64 {
    let hits = exact.indices.chunks_exact(k).enumerate().map(|(i, truth)| {
        let found = found(i);
        truth.iter().filter(|j| found.contains(j)).count()
    });
    hits.sum::<usize>() as f64 / exact.indices.len() as f64
}

fn say(name: &str, recall: f64, building: Option<Seconds>, asking: Seconds) {
    let built = building.map_or(0.0, |seconds| seconds.cpu);
    println!("| {name} | {recall:.4} | {built:.1} | {:.1} | {:.1} |", asking.cpu, built + asking.cpu);
}

/// HNSW with a wider and wider search, until its recall is that of the cells.
#[cfg(feature = "hnsw")]
fn beside(data: &[f32], m: usize, k: usize, exact: &Nearest, wanted: f64) {
    use hnsw_rs::prelude::{DistL2, Hnsw};

    let n = data.len() / m;
    let (index, built) = timed(|| {
        let mut index = Hnsw::<f32, DistL2>::new(16, n, 16, 200, DistL2 {});
        data.chunks_exact(m).enumerate().for_each(|(i, row)| index.insert((row, i)));
        index.set_searching_mode(true);
        index
    });
    for width in [k + 1, 2 * k, 4 * k, 8 * k] {
        let (found, seconds) = timed(|| {
            let ask = |(i, row): (usize, &[f32])| {
                let found = index.search(row, k + 1, width).into_iter().map(|found| found.d_id as u32);
                found.filter(|j| *j as usize != i).take(k).collect::<Vec<u32>>()
            };
            data.chunks_exact(m).enumerate().map(ask).collect::<Vec<_>>()
        });
        let recall = recall(exact, k, |i| found[i].clone());
        say(&format!("hnsw_rs, M 16, efc 200, ef {width}"), recall, Some(built), seconds);
        if recall >= wanted {
            break;
        }
    }
}

/// Left out of this build.
#[cfg(not(feature = "hnsw"))]
fn beside(_: &[f32], _: usize, _: usize, _: &Nearest, _: f64) {
    println!("(HNSW is left out: cargo run --release -p xtask --features hnsw -- bench-index)");
}
