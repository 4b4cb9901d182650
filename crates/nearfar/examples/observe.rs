//! Watch a run, stop it from outside, and read its trace afterwards.

use std::sync::atomic::{AtomicUsize, Ordering};

use nearfar::observe::{Event, Observer};
use nearfar::{Error, Input, Params, Preset, Run, Samples, generate};

/// Counts iterations, says when stages end, and stops the run after `most` iterations.
struct Watcher {
    iterations: AtomicUsize,
    most: usize,
}

impl Watcher {
    fn patient(most: usize) -> Self {
        Self { iterations: AtomicUsize::new(0), most }
    }
}

impl Observer for Watcher {
    fn notice(&self, event: &Event<'_>) {
        match event {
            Event::Iteration { .. } => {
                self.iterations.fetch_add(1, Ordering::Relaxed);
            }
            Event::Finished { stage, seconds } => println!("  {:9} {seconds:.3} s", stage.name()),
            _ => {}
        }
    }

    fn cancelled(&self) -> bool {
        self.iterations.load(Ordering::Relaxed) >= self.most
    }
}

fn main() -> nearfar::Result<()> {
    let data = generate::chart(50, 60, 1.0, 7)?;
    let samples = Samples::from_rows(&data.data, data.n_samples, data.n_features)?;
    let (input, params) = (Input::from(samples), Params::preset(6, Preset::Paper));

    println!("a run that is left alone:");
    let model = Run::new(&params).observe(&Watcher::patient(usize::MAX)).fit(input)?;
    if let Some(learned) = model.best_member().and_then(|member| member.learned.as_ref()) {
        println!("{} iterations, then: {}", learned.iterations, learned.reason);
        println!("iteration       loss        fit   change of V");
        for row in learned.trace.iter().step_by(5) {
            println!("{:9} {:10.6} {:10.6} {:13.2e}", row.iteration, row.loss(), row.fit, row.change[0]);
        }
    }

    println!("a run that is stopped after 3 iterations:");
    match Run::new(&params).observe(&Watcher::patient(3)).fit(input) {
        Err(error @ Error::Cancelled { .. }) => println!("{error}"),
        other => println!("finished before: {:?}", other?.sizes()),
    }
    Ok(())
}
