//! Processes that share the rows agree on the run and on what the first of them found in the folder.

use super::manifest::Facts;
use super::{CheckpointError, FIRST};
use crate::error::Result;
use crate::processes::Team;

/// Refuse a run whose processes are not of the same mind.
pub(super) fn check_alike(team: &Team, facts: &Facts) -> Result<()> {
    if team.size() == 1 {
        return Ok(());
    }
    let first = team.hand_round("settings", FIRST, || serde_json::json!(facts).to_string().into_bytes());
    let differences = match serde_json::from_slice::<Facts>(&first) {
        Ok(first) => facts.differences(&first, "rank 0").unwrap_or_default(),
        Err(error) => error.to_string(),
    };
    let (all, ends) = team.gather("settings", differences.as_bytes());
    match ends.windows(2).position(|at| at[0] < at[1]) {
        Some(rank) => {
            let differences = String::from_utf8_lossy(&all[ends[rank]..ends[rank + 1]]).into_owned();
            Err(CheckpointError::OtherRank { rank, differences }.into())
        }
        None => Ok(()),
    }
}

/// What the first process tells the others of the folder.
#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Told {
    Opened((bool, String)),
    Refused(String),
}

/// What the first process found, or why it was refused, in all of them.
pub(super) fn opened_by_first(team: &Team, opened: Result<Option<(bool, String)>>) -> Result<(bool, String)> {
    let mut refused = None;
    let told = team.hand_round("checkpoint", FIRST, || match opened {
        Ok(opened) => serde_json::json!({ "opened": opened }).to_string().into_bytes(),
        Err(error) => {
            let told = serde_json::json!({ "refused": error.to_string() }).to_string().into_bytes();
            refused = Some(error);
            told
        }
    });
    if let Some(error) = refused {
        return Err(error);
    }
    match serde_json::from_slice(&told) {
        Ok(Told::Opened(opened)) => Ok(opened),
        Ok(Told::Refused(message)) => Err(CheckpointError::First { message }.into()),
        Err(error) => Err(CheckpointError::First { message: error.to_string() }.into()),
    }
}
