//! The default beside the paper's settings, a single start, and parts switched off. The data is ranked once.

use nearfar::labels::score::score;
use nearfar::observe::Silent;
use nearfar::{Input, Params, PreparedSlices, Preset, Samples, generate};

fn main() -> nearfar::Result<()> {
    // Time series of six kinds: level, cycle, two trends, two shifts.
    let data = generate::chart(40, 60, 1.0, 2)?;
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
    let prepared = PreparedSlices::new(&Input::from(samples), &Params::lsdg(6), &Silent)?;

    let mut no_far = Params::lsdg(6);
    no_far.lsdg.dissimilarity = false;
    let mut no_orthogonality = Params::lsdg(6);
    no_orthogonality.lsdg.orthogonality = false;

    let variants = [
        ("default: a consensus of 12", Params::lsdg(6)),
        ("one start", Params::lsdg(6).starts(1)),
        ("trust about 20 ranks", Params::lsdg(6).neighbors(20)),
        ("the paper's advice", Params::preset(6, Preset::Paper)),
        ("the paper's demonstration", Params::preset(6, Preset::Demo)),
        ("no dissimilarity", no_far),
        ("no orthogonality", no_orthogonality),
    ];
    println!("{:28} {:>5} {:>5}   near ranks", "", "ACC", "NMI");
    for (name, params) in variants {
        let model = prepared.fit(&params, &Silent)?;
        let scores = score(&model.labels, &data.truth)?;
        let (near, _) = model.active_ranks();
        println!("{name:28} {:5.3} {:5.3}   {near}", scores.accuracy, scores.nmi);
    }
    Ok(())
}
