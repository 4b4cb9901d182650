//! The methods that factor the samples or learn a graph: agreement with slow literal forms, decrease, known answers, degenerate data.

use std::path::Path;

use nearfar::graph::SparseGraph;
use nearfar::labels::score::adjusted_rand;
use nearfar::learn::cgsymnmf::{CgSymNmf, CgSymNmfParams};
use nearfar::learn::gnmf::{Gnmf, GnmfParams};
use nearfar::learn::nmfan::{NmfAn, NmfAnParams};
use nearfar::learn::rbsmf::{RbsMf, RbsMfParams, bistochastic};
use nearfar::learn::s3nmf::{S3Nmf, S3NmfParams};
use nearfar::learn::{Learned, Method, MethodParams, StopRule, TraceRow, run};
use nearfar::load::{NpyArray, read_npz};
use nearfar::math::factor::Factor;
use nearfar::math::rng::Stream;
use nearfar::observe::{CancelFlag, Silent};
use nearfar::{DataError, Error, Input, Metric, Model, Params, Samples, fit, fit_observed};
use nearfar_testkit::{hard, oracle};
use proptest::prelude::*;

/// The golden file: what the NumPy forms do on iris from one start.
struct Golden(Vec<(String, NpyArray)>);

impl Golden {
    fn open() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/family.npz");
        Self(read_npz(&path).unwrap())
    }

    fn array(&self, name: &str) -> Vec<f64> {
        self.0.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no array {name}")).1.to_f64()
    }

    fn start(&self) -> Factor {
        factor(&self.array("V0"), 150, 3)
    }

    fn graph(&self) -> SparseGraph {
        graph(&self.array("S_ncut"), 150)
    }

    fn check(&self, name: &str, factor: &Factor, learned: &Learned) {
        near(&format!("{name}_V"), &rows(factor), &self.array(&format!("{name}_V")), 1e-8);
        near(&format!("{name}_loss"), &losses(learned), &self.array(&format!("{name}_loss")), 1e-8);
    }
}

/// n × r, row-major, as a factor.
fn factor(rows: &[f64], n: usize, r: usize) -> Factor {
    Factor::new((0..r).flat_map(|j| (0..n).map(move |i| rows[i * r + j])).collect(), n, r)
}

fn rows(factor: &Factor) -> Vec<f64> {
    let (n, r) = (factor.n_samples(), factor.n_columns());
    (0..n * r).map(|at| factor.get(at / r, at % r)).collect()
}

fn graph(full: &[f64], n: usize) -> SparseGraph {
    let entries = full.iter().enumerate().filter(|(_, s)| **s != 0.0);
    SparseGraph::from_edges(n, entries.map(|(at, s)| (at / n, at % n, *s)))
}

fn losses(learned: &Learned) -> Vec<f64> {
    learned.trace.iter().map(TraceRow::loss).collect()
}

fn near(what: &str, ours: &[f64], theirs: &[f64], tolerance: f64) {
    let worst = oracle::largest_difference(ours, theirs);
    assert!(worst <= tolerance, "{what}: off by {worst:e}, allowed {tolerance:e}");
    println!("{what}: {worst:.1e}");
}

/// A fixed number of iterations, whatever the loss does.
fn exactly(iterations: usize) -> StopRule {
    StopRule { max_iter: iterations, loss_tolerance: -1.0, change_tolerance: -1.0 }
}

#[test]
fn gnmf_agrees_with_the_numpy_form() {
    let golden = Golden::open();
    let (x, graph) = (golden.array("X"), golden.graph());
    let mut method = Gnmf::new(&x, &graph, golden.array("U0"), golden.start(), 10.0);
    let learned = run(&mut method, &exactly(12), 0, &Silent);
    golden.check("gnmf", &method.into_factor(), &learned);
}

#[test]
fn nmfan_agrees_with_the_numpy_form() {
    let golden = Golden::open();
    let (x, params) = (golden.array("X"), NmfAnParams { lambda: 10.0, neighbors: 5 });
    let mut method = NmfAn::new(&x, golden.array("U0"), golden.start(), &params);
    let learned = run(&mut method, &exactly(12), 0, &Silent);
    golden.check("nmfan", &method.into_factor(), &learned);
}

#[test]
fn cgsymnmf_agrees_with_the_numpy_form() {
    let golden = Golden::open();
    let (x, graph) = (golden.array("X"), golden.graph());
    let params = CgSymNmfParams { alpha: 0.1, beta: 1.0 };
    let mut method = CgSymNmf::new(&x, &graph, golden.array("noise"), golden.start(), &params);
    let learned = run(&mut method, &exactly(12), 0, &Silent);
    golden.check("cgsymnmf", &method.into_factor(), &learned);
}

#[test]
fn rbsmf_agrees_with_the_numpy_form() {
    let golden = Golden::open();
    let (x, graph) = (golden.array("X"), golden.graph());
    let mut method = RbsMf::new(&x, &graph, 150, 3, &RbsMfParams { lambda: 1.0, mu: 1.0 });
    let learned = run(&mut method, &exactly(6), 0, &Silent);
    near("rbsmf_loss", &losses(&learned), &golden.array("rbsmf_loss"), 1e-8);
    near("rbsmf_S", method.similarity(), &golden.array("rbsmf_S"), 1e-8);
    // V is free up to the sign of its columns, and to a rotation where eigenvalues are equal.
    let theirs = factor(&golden.array("rbsmf_V"), 150, 3);
    near("rbsmf_VVt", &oracle::outer(&method.into_factor()), &oracle::outer(&theirs), 1e-8);
}
