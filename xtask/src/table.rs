//! ACC and NMI of the presets, the default, k-means and self-tuned spectral clustering on the eight datasets.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use nearfar::internals::KMeansParams;
use nearfar::labels::score::score;
use nearfar::observe::Silent;
use nearfar::{Input, Params, PreparedSlices, Preset};

use crate::data::{Dataset, EIGHT, mean_std};

type Labelling<'a> = Box<dyn Fn(u64) -> Result<Vec<usize>> + 'a>;

/// Print a Markdown table: mean ± standard deviation over `starts` seeds. A seed changes every random number of a
/// run: the start of V (of all members), the eigensolver's and k-means' starts.
pub(crate) fn run(folder: &Path, starts: u64, names: &[String]) -> Result<()> {
    println!("ACC / NMI, mean ± standard deviation over {starts} seeds");
    println!(
        "| data | paper (tuned with labels) | k-means | self-tuned spectral | preset paper | preset demo | one default start | **default (consensus)** |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut sums: Vec<(f64, f64)> = vec![(0.0, 0.0); 7];
    let chosen: Vec<_> =
        EIGHT.iter().filter(|(n, ..)| names.is_empty() || names.iter().any(|x| x == n)).collect();
    for (name, paper_acc, paper_nmi) in &chosen {
        let data = Dataset::open(folder, name)?;
        let r = data.classes;
        let prepared = PreparedSlices::new(&Input::from(data.samples()), &Params::lsdg(r), &Silent)?;
        let fit =
            |params: Params| -> Result<Vec<usize>> { Ok(prepared.fit(&params, &Silent)?.labels.clone()) };
        let ways: [Labelling<'_>; 6] = [
            Box::new(|seed| Ok(KMeansParams::new(r).restarts(10).fit(&data.x, data.n, data.m, seed)?.labels)),
            Box::new(|seed| Ok(prepared.spectral(&Params::lsdg(r).seed(seed), None, &Silent)?)),
            Box::new(|seed| fit(Params::preset(r, Preset::Paper).seed(seed))),
            Box::new(|seed| fit(Params::preset(r, Preset::Demo).seed(seed))),
            Box::new(|seed| fit(Params::lsdg(r).starts(1).seed(seed))),
            Box::new(|seed| fit(Params::lsdg(r).seed(seed))),
        ];
        print!("| {name} | {paper_acc:.3} / {paper_nmi:.3} |");
        sums[0] = (sums[0].0 + paper_acc, sums[0].1 + paper_nmi);
        for (at, way) in ways.iter().enumerate() {
            let (mut acc, mut nmi) = (Vec::new(), Vec::new());
            for seed in 0..starts {
                let scores = score(&way(seed)?, &data.truth)?;
                acc.push(scores.accuracy);
                nmi.push(scores.nmi);
            }
            let ((acc, acc_std), (nmi, nmi_std)) = (mean_std(&acc), mean_std(&nmi));
            print!(" {acc:.3} ± {acc_std:.3} / {nmi:.3} ± {nmi_std:.3} |");
            std::io::stdout().flush()?;
            sums[at + 1] = (sums[at + 1].0 + acc, sums[at + 1].1 + nmi);
        }
        println!();
    }
    let n = chosen.len() as f64;
    let means: Vec<String> = sums.iter().map(|(a, b)| format!("{:.3} / {:.3}", a / n, b / n)).collect();
    println!("| **mean** | {} |", means.join(" | "));
    Ok(())
}
