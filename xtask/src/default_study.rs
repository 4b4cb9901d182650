//! The default on the eight datasets, its controls, the classic shapes, and sets that nothing was tuned on.

mod beside;
mod runs;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use nearfar::generate::{Kind, MakeParams, make};
use nearfar::internals::controls;
use nearfar::labels::score::{Scores, score};
use nearfar::observe::Silent;
use nearfar::{Input, Params, fit};
use serde_json::json;

use crate::data::{Dataset, EIGHT};
use crate::page::{Page, mean, short, spread};
use crate::peers::{Peers, write_set};
use beside::{Set, beside};
use runs::{Runs, views};

/// ACC and NMI of every run, by what was run.
type OfControls = BTreeMap<String, (Vec<f64>, Vec<f64>)>;

/// What stood in the first table of docs/results.md for the consensus over soft starts, ACC and NMI of 20 seeds.
const SOFT: [(f64, f64); 8] = [
    (0.887, 0.718),
    (0.501, 0.563),
    (0.659, 0.825),
    (0.683, 0.819),
    (0.768, 0.749),
    (0.822, 0.897),
    (0.672, 0.661),
    (0.776, 0.697),
];
/// What the prototype reached with five seeds (shared notes on the design), ACC and NMI.
const PROTOTYPE: [(f64, f64); 8] = [
    (0.946, 0.804),
    (0.610, 0.647),
    (0.698, 0.849),
    (0.601, 0.811),
    (0.925, 0.872),
    (0.848, 0.915),
    (0.790, 0.749),
    (0.835, 0.759),
];

pub(crate) struct Study<'a> {
    pub(crate) data: &'a Path,
    pub(crate) out: &'a Path,
    /// Seeds of the eight; of controls and unseen sets at most five, of shapes as many draws.
    pub(crate) seeds: u64,
    /// Run the paper's model in its soft form again, with so many seeds.
    pub(crate) soft: u64,
    pub(crate) parts: &'a [String],
}

impl Study<'_> {
    pub(crate) fn run(&self, peers: &dyn Fn() -> Result<Peers>) -> Result<()> {
        let wanted = |part: &str| self.parts.is_empty() || self.parts.iter().any(|asked| asked == part);
        if wanted("eight") {
            self.eight()?;
        }
        if wanted("controls") {
            self.controls()?;
        }
        if wanted("shapes") {
            self.shapes(&peers()?)?;
        }
        if wanted("unseen") {
            self.unseen(&peers()?)?;
        }
        Ok(())
    }

    fn few(&self) -> u64 {
        self.seeds.min(5)
    }

    fn eight(&self) -> Result<()> {
        let (mut rows, mut records) = (Vec::new(), Vec::new());
        let mut sums = Vec::new();
        for (at, (name, paper_acc, paper_nmi)) in EIGHT.iter().enumerate() {
            let data = Dataset::open(self.data, name)?;
            let given = Runs::of(&data, |seed| Params::new(data.classes).seed(seed), self.seeds)?;
            let auto = Runs::of(&data, |seed| Params::auto().seed(seed), 1)?;
            let mut soft = SOFT[at];
            if self.soft > 0 {
                let again = Runs::of(&data, |seed| Params::lsdg(data.classes).seed(seed), self.soft)?;
                soft = (mean(&again.acc), mean(&again.nmi));
            }
            let found = format!("{} ({})", auto.last.params.n_clusters, data.classes);
            rows.push(vec![
                (*name).to_owned(),
                format!("{} x {}", data.n, data.m),
                pair((*paper_acc, *paper_nmi)),
                pair(soft),
                pair(PROTOTYPE[at]),
                format!("**{}** / **{}**", spread(&given.acc), spread(&given.nmi)),
                given.way(),
                format!("{:.2} / {:.2}", mean(&given.seconds), mean(&given.processor)),
                found,
                pair((auto.acc[0], auto.nmi[0])),
                format!("{:.2} / {:.2}", auto.seconds[0], auto.processor[0]),
            ]);
            records.push(json!({
                "data": name, "n": data.n, "m": data.m, "k": data.classes, "seeds": self.seeds,
                "acc": mean(&given.acc), "acc_std": crate::data::mean_std(&given.acc).1,
                "nmi": mean(&given.nmi), "nmi_std": crate::data::mean_std(&given.nmi).1,
                "ari": mean(&given.ari), "seconds": mean(&given.seconds), "processor_seconds": mean(&given.processor), "engine": given.way(),
                "k_found": auto.last.params.n_clusters, "acc_found": auto.acc[0], "nmi_found": auto.nmi[0],
                "seconds_found": auto.seconds[0], "soft_acc": soft.0, "soft_nmi": soft.1,
                "views": views(&given.last),
            }));
            sums.push([
                (*paper_acc, *paper_nmi),
                soft,
                PROTOTYPE[at],
                (mean(&given.acc), mean(&given.nmi)),
                (auto.acc[0], auto.nmi[0]),
            ]);
            eprintln!("{}", rows[rows.len() - 1].join(" | "));
        }
        let means: Vec<String> = (0..5)
            .map(|at| {
                let (acc, nmi): (Vec<f64>, Vec<f64>) = sums.iter().map(|row| row[at]).unzip();
                pair((mean(&acc), mean(&nmi)))
            })
            .collect();
        let [paper, soft, prototype, ours, found] = [0, 1, 2, 3, 4].map(|at| means[at].clone());
        let empty = String::new;
        rows.push(vec![
            "**mean**".into(),
            empty(),
            paper,
            soft,
            prototype,
            format!("**{ours}**"),
            empty(),
            empty(),
            empty(),
            found,
            empty(),
        ]);
        let soft = if self.soft > 0 {
            format!("\"Soft\" is the paper's model in its soft form (`--method lsdg`), {} seeds.", self.soft)
        } else {
            "\"Soft\" is the paper's model in its soft form (`--method lsdg`): its published figures of 20 seeds, not run again.".to_owned()
        };
        let header = [
            "data",
            "size",
            "paper (tuned with labels)",
            "soft",
            "prototype",
            "**default, k given**",
            "by",
            "seconds",
            "k found (true)",
            "at it",
            "seconds",
        ];
        let page = Page {
            name: "eight",
            title: "The default on the paper's eight datasets",
            notes: vec![
                format!("ACC / NMI, mean ± standard deviation over {} seeds. Nothing but the published row of the paper saw labels. {soft}", self.seeds),
                "\"By\" tells which way answered: the neighbour graphs, or a mixture that explains the rows. The number of clusters is found with seed 0. Seconds: of the clock and of the processor, all threads together.".into(),
            ],
            header: header.map(ToString::to_string).to_vec(),
            rows,
            records,
        };
        page.write(self.out, "cargo xtask default-study --only eight")
    }

    fn controls(&self) -> Result<()> {
        let mut names: Vec<String> = Vec::new();
        let mut all: Vec<OfControls> = Vec::new();
        let mut records = Vec::new();
        for (name, ..) in EIGHT {
            let data = Dataset::open(self.data, name)?;
            let mut of_set = OfControls::new();
            for seed in 0..self.few() {
                let params = Params::new(data.classes).seed(seed);
                let whole = score(&fit(data.samples(), &params)?.labels, &data.truth)?;
                let mut keep = |control: &str, scores: &Scores| {
                    if !names.iter().any(|known| known == control) {
                        names.push(control.to_owned());
                    }
                    let both = of_set.entry(control.to_owned()).or_default();
                    both.0.push(scores.accuracy);
                    both.1.push(scores.nmi);
                    records.push(json!({
                        "data": name, "seed": seed, "control": control, "acc": scores.accuracy, "nmi": scores.nmi,
                        "ari": scores.ari,
                    }));
                };
                keep("**default**", &whole);
                for control in controls(&Input::from(data.samples()), &params, &Silent)? {
                    keep(&control.name, &score(&control.labels, &data.truth)?);
                }
            }
            eprintln!("{name}: done");
            all.push(of_set);
        }
        let mut header = vec!["data".to_owned()];
        header.extend(names.iter().cloned());
        let mut rows: Vec<Vec<String>> = EIGHT
            .iter()
            .zip(&all)
            .map(|((name, ..), of_set)| {
                let cell = |control: &String| {
                    of_set.get(control).map_or_else(String::new, |(acc, nmi)| pair((mean(acc), mean(nmi))))
                };
                std::iter::once((*name).to_owned()).chain(names.iter().map(cell)).collect()
            })
            .collect();
        let of_all = |control: &String| {
            let known: Vec<&(Vec<f64>, Vec<f64>)> =
                all.iter().filter_map(|of_set| of_set.get(control)).collect();
            if known.len() < all.len() {
                return String::new();
            }
            let (acc, nmi): (Vec<f64>, Vec<f64>) = known.iter().map(|(a, b)| (mean(a), mean(b))).unzip();
            pair((mean(&acc), mean(&nmi)))
        };
        rows.push(std::iter::once("**mean**".to_owned()).chain(names.iter().map(of_all)).collect());
        let page = Page {
            name: "controls",
            title: "What the parts of the default find by themselves",
            notes: vec![
                format!("ACC / NMI, mean over {} seeds, k given, no labels.", self.few()),
                "`start VIEW`: the partition of the self-tuned graph of one view, nothing learnt, no consensus. `graph engine`: the default without its mixture. `best view alone`: members and consensus of the view with the largest mark. `equal weights`: all views count the same. `mean graph`: the members' graphs averaged, no edge weighed by their agreement. `spectral`: spectral clustering of the consensus graph. The soft form of the model stands in [eight.md](eight.md).".into(),
            ],
            header,
            rows,
            records,
        };
        page.write(self.out, "cargo xtask default-study --only controls")
    }

    fn shapes(&self, peers: &Peers) -> Result<()> {
        let folder = Path::new("target/default-study");
        let mut sets: Vec<Set> = Vec::new();
        for (at, (name, kind, n, features, clusters, noise)) in SHAPES.iter().enumerate() {
            for draw in 0..self.few() {
                let params = MakeParams {
                    n_samples: Some(*n),
                    noise: *noise,
                    clusters: *clusters,
                    features: *features,
                    seed: 1000 + draw,
                };
                let made = make(*kind, &params)?;
                let path = write_set(folder, &format!("shape-{at}-{draw}"), &made)?;
                sets.push(Set { name: (*name).to_owned(), path, data: Dataset::generated(name, made) });
            }
        }
        let page = beside(
            peers,
            &sets,
            "shapes",
            "The default on generated shapes",
            format!(
                "Mean ARI over {} draws, k given; peers on raw values. `nearfar make KIND`; of uniform noise, which has no groups to be right about, the number of clusters that is found stands in the last column.",
                self.few()
            ),
            1,
        )?;
        page.write(self.out, "cargo xtask default-study --only shapes")
    }

    fn unseen(&self, peers: &Peers) -> Result<()> {
        let folder = Path::new("target/default-study");
        std::fs::create_dir_all(folder)?;
        let names = peers.read(&["sets".to_owned(), std::path::absolute(folder)?.display().to_string()])?;
        let names: Vec<String> = serde_json::from_str(names.trim())?;
        let sets: Result<Vec<Set>> = names
            .into_iter()
            .map(|name| {
                let data = Dataset::open(folder, &name)?;
                Ok(Set { path: data.path.clone(), name, data })
            })
            .collect();
        let page = beside(
            peers,
            &sets?,
            "unseen",
            "The default on fourteen sets that nothing was tuned on",
            format!(
                "Mean ARI over {} seeds, k given; peers on raw values. Four sets come with scikit-learn, ten are made (waveform and LED display as in the UCI collection, Breiman's normals, shapes of mlbench, word counts); xtask/src/peers.py has them.",
                self.few()
            ),
            self.few(),
        )?;
        page.write(self.out, "cargo xtask default-study --only unseen")
    }
}

/// Name, generator, points, features, clusters, noise.
type Shape = (&'static str, Kind, usize, Option<usize>, Option<usize>, Option<f64>);

const SHAPES: [Shape; 23] = [
    ("moons", Kind::Moons, 500, None, None, Some(0.1)),
    ("circles", Kind::Circles, 500, None, None, Some(0.08)),
    ("rings", Kind::Rings, 600, None, None, Some(0.1)),
    ("spirals", Kind::Spirals, 400, None, Some(3), Some(0.02)),
    ("stripes", Kind::Stripes, 450, None, None, None),
    ("blobs", Kind::Blobs, 500, None, None, None),
    ("blobs, 8 columns", Kind::Blobs, 500, Some(8), None, Some(3.0)),
    ("unequal blobs", Kind::Varied, 500, None, None, None),
    ("unequal blobs, 8 columns", Kind::Varied, 1000, Some(8), Some(6), Some(3.0)),
    ("overlap, 2 columns", Kind::Overlap, 1000, Some(2), None, None),
    ("overlap, 8 columns", Kind::Overlap, 1000, Some(8), None, None),
    ("overlap, 32 columns", Kind::Overlap, 1000, Some(32), None, None),
    ("overlap, 128 columns", Kind::Overlap, 1000, Some(128), None, None),
    ("overlap of four, 2 columns", Kind::Overlap, 1000, Some(2), Some(4), None),
    ("heavy tails, 2 columns", Kind::Heavy, 1000, Some(2), None, None),
    ("heavy tails, 8 columns", Kind::Heavy, 1000, Some(8), None, None),
    ("heavy tails, 32 columns", Kind::Heavy, 1000, Some(32), None, None),
    ("heavy tails, 128 columns", Kind::Heavy, 1000, Some(128), None, None),
    ("customers", Kind::Customers, 4500, None, None, None),
    ("control charts", Kind::Chart, 600, None, None, None),
    ("mixture", Kind::Mixture, 1000, Some(16), Some(8), None),
    ("uniform noise, 2 columns", Kind::Uniform, 500, Some(2), None, None),
    ("uniform noise, 16 columns", Kind::Uniform, 500, Some(16), None, None),
];

fn pair((acc, nmi): (f64, f64)) -> String {
    format!("{} / {}", short(acc), short(nmi))
}
