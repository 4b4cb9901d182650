//! What a run of the default method keeps in a checkpoint: how views were judged, and finished members.

use std::collections::BTreeMap;

use crate::checkpoint::Checkpoint;
use crate::learn::nearfar::members::Learnt;
use crate::model::tensors::{Array, Length};
use crate::observe::Observer;
use crate::run::default::Stages;
use crate::views::View;
use crate::views::judge::Curve;

const JUDGED: &str = "nearfar-judged.safetensors";

fn member_name(place: usize) -> String {
    format!("nearfar-member-{place:04}.safetensors")
}

impl Stages<'_> {
    /// The curves of these views, where the checkpoint has them.
    pub(crate) fn saved_curves(&self, views: &[View]) -> Option<Vec<(View, Curve)>> {
        self.checkpoint?.take(JUDGED, self.observer, |curves: Vec<(View, Curve)>, _| {
            let same = curves.iter().map(|(view, _)| view).eq(views);
            if same { Ok(curves) } else { Err("it judges other views".to_owned()) }
        })
    }

    pub(crate) fn save_curves(&self) {
        if let Some(checkpoint) = self.checkpoint {
            let curves: Vec<(View, Option<&Curve>)> =
                self.views.iter().map(|seen| (seen.view, seen.curve.as_ref())).collect();
            checkpoint.put(JUDGED, &curves, BTreeMap::new(), self.observer);
        }
    }
}

impl Checkpoint {
    /// A finished member of so many points and weights.
    pub(crate) fn member(
        &self,
        place: usize,
        (n, k): (usize, usize),
        observer: &dyn Observer,
    ) -> Option<Learnt> {
        let found = self.take(&member_name(place), observer, |(): (), arrays| {
            let labels: Vec<u32> = arrays.read("labels", Length::Of(Some(n)))?;
            let weights: Vec<f64> = arrays.read("weights", Length::Of(Some(k)))?;
            let rounds: Vec<f64> = arrays.read("rounds", Length::Any)?;
            if labels.iter().any(|label| *label as usize >= n) {
                return Err(format!("it has labels beyond the {n} points"));
            }
            Ok(Learnt { labels, weights, rounds: rounds.as_chunks().0.to_vec() })
        });
        if found.is_some() {
            self.note(|resumed| resumed.starts += 1);
        }
        found
    }

    pub(crate) fn keep_member(&self, place: usize, learnt: &Learnt, observer: &dyn Observer) {
        let rounds = learnt.rounds.concat();
        let arrays = BTreeMap::from([
            ("labels", Array::list(&learnt.labels)),
            ("weights", Array::list(&learnt.weights)),
            ("rounds", Array::list(&rounds)),
        ]);
        self.put(&member_name(place), &(), arrays, observer);
    }
}
