//! Make data, cluster it, look at the result.

use nearfar::labels::score::score;
use nearfar::{Params, Samples, fit, generate};

fn main() -> nearfar::Result<()> {
    // 300 points on two interleaved half circles, with the truth we pretend not to know.
    let data = generate::moons(300, 0.06, 3)?;
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;

    let model = fit(samples, &Params::new(2).seed(1))?;

    println!("sizes            {:?}", model.sizes());
    println!("first ten labels {:?}", &model.labels[..10]);
    let (near, far) = model.active_ranks();
    println!("trusted ranks    {near} near, {far} far, of {}", model.n_samples());
    println!("agreement        {:.3} between the members and their consensus", model.agreement);
    for warning in &model.warnings {
        println!("note             {warning}");
    }

    let scores = score(&model.labels, &data.truth)?;
    println!("against truth    ACC {:.3}, NMI {:.3}, ARI {:.3}", scores.accuracy, scores.nmi, scores.ari);
    Ok(())
}
