//! A dataset that is ready for runs, and one run of a method on it.

use std::time::Instant;

use nearfar::internals::KMeansParams;
use nearfar::labels::score::score;
use nearfar::learn::{GraphParams, MethodKind, MethodParams, SparseGraph};
use nearfar::observe::Silent;
use nearfar::{Error as FitError, Input, Model, Params, PreparedGraph, Samples};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::manifest::DatasetSpec;
use crate::runner::Host;
use crate::store::{Record, Run};

/// Samples with their classes.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// n × m, row-major.
    pub values: Vec<f64>,
    /// n.
    pub n_samples: usize,
    /// m.
    pub n_features: usize,
    /// One class per sample.
    pub truth: Vec<usize>,
    /// Whether angles rather than distances count.
    pub cosine: bool,
}

impl Dataset {
    /// SHA-256 of everything.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(format!("{} {} {}", self.n_samples, self.n_features, self.cosine));
        self.values.iter().for_each(|x| hash.update(x.to_le_bytes()));
        self.truth.iter().for_each(|y| hash.update((*y as u64).to_le_bytes()));
        hex(&hash.finalize())
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        let mut classes = self.truth.clone();
        classes.sort_unstable();
        classes.dedup();
        classes.len()
    }

    /// As the library takes it.
    ///
    /// # Errors
    /// When sizes do not fit.
    pub fn input(&self) -> nearfar::Result<Input<'_>> {
        let metric = if self.cosine { nearfar::Metric::Cosine } else { nearfar::Metric::Euclidean };
        Ok(Input::Samples(Samples::from_rows(&self.values, self.n_samples, self.n_features)?, metric))
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |x: u8| char::from_digit(x.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// A dataset made ready once: neighbours, slices, graphs.
#[derive(Debug)]
pub struct Ready {
    /// How the manifest names it.
    pub spec: DatasetSpec,
    /// Its samples.
    pub data: Dataset,
    /// SHA-256 of values and classes.
    pub hash: String,
    /// Number of clusters.
    pub clusters: usize,
    slices: nearfar::PreparedSlices,
    /// One preparation per graph that the study asks for; the first is the one cuts are measured on.
    graphs: Vec<(GraphParams, PreparedGraph)>,
}

impl Ready {
    /// Search and build.
    ///
    /// # Errors
    /// When the data cannot be clustered.
    pub fn new(spec: &DatasetSpec, host: &dyn Host) -> Result<Self> {
        let data = host.dataset(spec).map_err(Error::Host)?;
        let clusters = spec.k.unwrap_or_else(|| data.classes());
        let fault = Error::run(&spec.name, "neighbours");
        let input = data.input().map_err(&fault)?;
        let slices = nearfar::PreparedSlices::new(&input, &Params::lsdg(clusters), &Silent)
            .map_err(&fault)?
            .remember_starts();
        let mut ready = Self {
            hash: data.hash(),
            spec: spec.clone(),
            clusters,
            slices,
            graphs: Vec::new(),
            data: data.clone(),
        };
        ready.add_graph(GraphParams::default()).map_err(&fault)?;
        Ok(ready)
    }

    /// The slices, ranks and affinities of all pairs.
    pub fn slices(&self) -> &nearfar::PreparedSlices {
        &self.slices
    }

    pub(crate) fn add_graph(&mut self, graph: GraphParams) -> nearfar::Result<()> {
        if self.graphs.iter().all(|(known, _)| *known != graph) {
            // A method of graph and samples: its preparation serves every other.
            let params = Params { graph, ..Params::of(self.clusters, MethodKind::Gnmf) };
            let prepared = PreparedGraph::new(&self.data.input()?, &params, &Silent)?;
            self.graphs.push((graph, prepared.remember_graphs()));
        }
        Ok(())
    }

    /// One run.
    ///
    /// # Errors
    /// When settings or data do not allow it.
    pub fn fit(&self, params: &Params) -> nearfar::Result<Model> {
        if params.method == MethodParams::Lsdg {
            return self.slices.fit(params, &Silent);
        }
        let known = self.graphs.iter().find(|(graph, _)| *graph == params.graph);
        known.unwrap_or(&self.graphs[0]).1.fit(params, &Silent)
    }

    fn graph(&self) -> Option<&SparseGraph> {
        self.graphs.first().and_then(|(_, prepared)| prepared.graph())
    }

    pub(crate) fn run(&self, params: &Params, seed: u64, repeats: u64) -> nearfar::Result<Run> {
        let clock = Instant::now();
        let params = params.clone().seed(seed).threads(1);
        let n = self.data.n_samples;
        let model = match self.fit(&params) {
            // Where V died every label is as good as any other.
            Err(FitError::Collapsed { .. }) => {
                let run = self.judge(&[vec![0; n]])?;
                return Ok(Run { stop: "collapsed".into(), seconds: clock.elapsed().as_secs_f64(), ..run });
            }
            model => model?,
        };
        let member = model.best_member();
        // S3NMF reports the mean over its last members.
        let votes = member.map(|member| member.votes.clone()).unwrap_or_default();
        let labelings = if votes.is_empty() { vec![model.labels.clone()] } else { votes };
        let mut run = self.judge(&labelings)?;
        if let Some(last) = member.map(nearfar::learn::Member::last_loop) {
            run.iterations = last.iterations;
            run.stop = format!("{:?}", last.reason).to_lowercase();
        }
        run.seconds = clock.elapsed().as_secs_f64();
        if !model.embedding.is_empty() {
            let r = model.embedding.len() / n;
            let means = KMeansParams::new(self.clusters).restarts(params.kmeans_restarts);
            for repeat in 0..repeats {
                let labels = means.fit(&model.embedding, n, r, (seed << 20) + repeat + 1)?.labels;
                let scores = score(&labels, &self.data.truth)?;
                run.repeats.push([scores.accuracy, scores.nmi]);
            }
        }
        Ok(run)
    }

    /// Mean scores of these labels.
    pub(crate) fn judge(&self, labelings: &[Vec<usize>]) -> nearfar::Result<Run> {
        let mut sums = [0.0; 4];
        for labels in labelings {
            let scores = score(labels, &self.data.truth)?;
            let cut = self.graph().map_or(0.0, |graph| normalized_cut(graph, labels, self.clusters));
            for (sum, value) in sums.iter_mut().zip([scores.accuracy, scores.nmi, scores.ari, cut]) {
                *sum += value / labelings.len() as f64;
            }
        }
        let [accuracy, nmi, ari, cut] = sums;
        let stop = "completed".into();
        Ok(Run { accuracy, nmi, ari, cut, repeats: Vec::new(), iterations: 0, stop, seconds: 0.0 })
    }
}

/// Σ over clusters of the share of its weight that leaves it; a cluster of nothing counts as all cut.
pub fn normalized_cut(graph: &SparseGraph, labels: &[usize], clusters: usize) -> f64 {
    let count = labels.iter().max().map_or(0, |most| most + 1).max(clusters);
    let (mut inside, mut all) = (vec![0.0; count], vec![0.0; count]);
    for (i, label) in labels.iter().enumerate() {
        let (places, values) = graph.row(i);
        for (j, value) in places.iter().zip(values) {
            all[*label] += value;
            if labels[*j as usize] == *label {
                inside[*label] += value;
            }
        }
    }
    inside.iter().zip(&all).map(|(inside, all)| if *all > 0.0 { 1.0 - inside / all } else { 1.0 }).sum()
}

/// The settings in full, without what does not change the result.
pub(crate) fn settings_json(params: &Params) -> String {
    let neutral = Params { seed: 0, threads: None, memory: None, ..params.clone() };
    serde_json::to_string(&neutral).unwrap_or_default()
}

/// What tells a run from all others.
pub(crate) fn record(ready: &Ready, params: &Params, seed: u64, repeats: u64) -> Record {
    let settings = settings_json(params);
    let mut hash = Sha256::new();
    for part in [nearfar::VERSION, &ready.hash, &settings, &format!("{} {seed} {repeats}", ready.clusters)] {
        hash.update(part);
        hash.update([0]);
    }
    Record {
        id: hex(&hash.finalize()[..16]),
        dataset: ready.spec.name.clone(),
        data_hash: ready.hash.clone(),
        method: params.method.kind().name().into(),
        settings,
        seed,
    }
}
