//! What predicting many points takes.

use anyhow::Result;
use nearfar::internals::mixture;
use nearfar::learn::{Engine, NearFarParams};
use nearfar::model::SaveOptions;
use nearfar::observe::Silent;
use nearfar::{Input, Params, Run, Samples, SavedModel};

use crate::clock::timed;

/// How many points are learnt from, how many are predicted, their features and the clusters.
pub(crate) struct Sizes {
    pub(crate) points: usize,
    pub(crate) new: usize,
    pub(crate) features: usize,
    pub(crate) clusters: usize,
}

/// Seconds for predicting by a mixture and by neighbours, and the accuracy of both.
pub(crate) fn predict(sizes: &Sizes, threads: usize) -> Result<()> {
    let Sizes { points, new, features: m, clusters: k } = *sizes;
    let data = mixture(points + new, m, k, 1.0, 1)?;
    let (old, rest) = data.data.split_at(points * m);
    let (old, rest) = (Samples::from_rows(old, points, m)?, Samples::from_rows(rest, new, m)?);
    println!("mixture of {k} in {m} dimensions: {new} new points, a model of {points}, {threads} threads");
    println!("| engine | fit | predict | with confidence and second choice | ACC |");
    println!("|---|---|---|---|---|");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    for engine in [Engine::Auto, Engine::Graph] {
        let params = Params::of(k, NearFarParams { engine, ..NearFarParams::default() });
        let (model, fit) = timed(|| Run::new(&params).threads(threads).fit(old));
        let model = model?;
        let answered = model.account.as_ref().map_or(engine, |account| account.engine);
        let saved = SavedModel::new(&model, &Input::from(old), &SaveOptions::default());
        let (labels, plain) = timed(|| pool.install(|| saved.predict(&rest, &Silent)));
        let (said, full) = timed(|| pool.install(|| saved.predictions(&rest, &Silent)));
        said?;
        let (fit, plain, full) = (fit.wall, plain.wall, full.wall);
        let scores = nearfar::labels::score::score(&labels?, &data.truth[points..])?;
        println!("| {answered:?} | {fit:.1} s | {plain:.1} s | {full:.1} s | {:.4} |", scores.accuracy);
    }
    Ok(())
}
