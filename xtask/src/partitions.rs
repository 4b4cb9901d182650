//! One Leiden call of ours beside igraph's, on neighbour graphs of many points.

use std::io::BufWriter;
use std::path::Path;

use anyhow::Result;
use nearfar::generate::blobs;
use nearfar::internals::{Leiden, Network, NpzWriter, leiden, nearest};
use nearfar::learn::SparseGraph;
use nearfar::observe::Silent;
use nearfar::{Input, Samples};

use crate::clock::timed;
use crate::peers::Peers;

const NEIGHBORS: usize = 15;
const FEATURES: usize = 8;
const IGRAPH: &str = "
import json, random, sys, time
import igraph, numpy as np
z = np.load(sys.argv[1])
graph = igraph.Graph(n=int(z['n'][0]), edges=np.stack([z['i'], z['j']], 1))
out = []
for seed in range(int(sys.argv[2])):
    random.seed(seed)
    clock = time.monotonic()
    p = graph.community_leiden('modularity', weights=z['w'], resolution=1.0, n_iterations=2)
    seconds = time.monotonic() - clock
    out.append([seconds, graph.modularity(p.membership, weights=z['w']), len(set(p.membership))])
print(json.dumps(out))
";

/// Edges per second of both, both on one thread.
pub(crate) fn bench(peers: &Peers, sizes: &[usize], calls: usize, folder: &Path) -> Result<()> {
    println!("{}", crate::page::made_by("cargo xtask bench-leiden"));
    println!();
    println!(
        "Self-tuned graphs of {NEIGHBORS} neighbours of overlapping Gaussians in {FEATURES} columns; two passes, resolution 1, one thread, best of {calls} seeds."
    );
    println!();
    println!(
        "| nodes | edges | | seconds | edges a second | modularity | clusters | time of igraph / ours |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    std::fs::create_dir_all(folder)?;
    for &n in sizes {
        let (network, path) = graph(n, folder)?;
        let edges = network.n_edges();
        let mut ours: Vec<(f64, f64, usize)> = Vec::new();
        for seed in 0..calls as u64 {
            let (labels, seconds) = timed(|| leiden(&network, &Leiden::new(1.0, seed), None));
            let clusters = labels.iter().max().map_or(0, |label| *label as usize + 1);
            ours.push((seconds.wall, network.modularity(&labels, 1.0), clusters));
        }
        drop(network);
        let args = [std::path::absolute(&path)?.display().to_string(), calls.to_string()];
        let theirs = peers.run_script(IGRAPH, &args)?;
        let theirs: Vec<(f64, f64, usize)> = serde_json::from_value(theirs)?;
        let best = |all: &[(f64, f64, usize)]| {
            all.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
        };
        let (ours, theirs) = (best(&ours), best(&theirs));
        for (name, (seconds, quality, clusters), ratio) in
            [("nearfar", ours, format!("{:.2}", theirs.0 / ours.0)), ("igraph", theirs, String::new())]
        {
            let speed = edges as f64 / seconds / 1e6;
            println!(
                "| {n} | {edges} | {name} | {seconds:.2} | {speed:.2} M | {quality:.4} | {clusters} | {ratio} |"
            );
        }
    }
    Ok(())
}

/// The graph, and the same in a file for igraph.
fn graph(n: usize, folder: &Path) -> Result<(Network, std::path::PathBuf)> {
    let made = blobs(n, FEATURES, 50, 3.0, 1)?;
    let rows: Vec<f32> = made.data.iter().map(|x| *x as f32).collect();
    drop(made);
    let input = Input::from(Samples::from_rows(&rows[..], n, FEATURES)?);
    let found = nearest(&input, NEIGHBORS, &Silent)?;
    let k = found.n_neighbors;
    let half = found.indices.iter().zip(&found.affinities).enumerate();
    let both = half.flat_map(|(at, (j, w))| {
        let (i, j, w) = (at / k, *j as usize, w / 2.0);
        [(i, j, w), (j, i, w)]
    });
    let graph = SparseGraph::from_edges(n, both)?;
    let network = Network::new(graph.rows());
    let (mut from, mut to, mut weight) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..n {
        for (j, w) in network.edges(i).filter(|(j, _)| *j as usize > i) {
            from.push(i64::try_from(i)?);
            to.push(i64::from(j));
            weight.push(w);
        }
    }
    let path = folder.join(format!("graph-{n}.npz"));
    let mut npz = NpzWriter::new(BufWriter::new(std::fs::File::create(&path)?));
    npz.add("n", &[1], &[i64::try_from(n)?])?;
    npz.add("i", &[from.len()], &from)?;
    npz.add("j", &[to.len()], &to)?;
    npz.add("w", &[weight.len()], &weight)?;
    npz.finish()?;
    Ok((network, path))
}
