//! Numbers of which many neighbours are equal, kept as runs: the weights of a million ranks are a few dozen numbers.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Numbers that runs may stand for.
const MOST: usize = 1 << 28;

/// As they were written first, and as runs: how often, and what.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Kept {
    Each(Vec<f64>),
    Runs { runs: Vec<(usize, f64)> },
}

pub(crate) fn serialize<S: Serializer>(values: &[f64], to: S) -> Result<S::Ok, S::Error> {
    let runs: Vec<(usize, f64)> =
        values.chunk_by(|a, b| a.to_bits() == b.to_bits()).map(|run| (run.len(), run[0])).collect();
    let kept = if 2 * runs.len() < values.len() { Kept::Runs { runs } } else { Kept::Each(values.to_vec()) };
    kept.serialize(to)
}

pub(crate) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Vec<f64>, D::Error> {
    let runs = match Kept::deserialize(from)? {
        Kept::Each(values) => return Ok(values),
        Kept::Runs { runs } => runs,
    };
    let total = runs.iter().try_fold(0_usize, |sum, (count, _)| sum.checked_add(*count));
    if total.is_none_or(|total| total > MOST) {
        return Err(serde::de::Error::custom("too many numbers"));
    }
    Ok(runs.into_iter().flat_map(|(count, value)| std::iter::repeat_n(value, count)).collect())
}

#[cfg(test)]
mod tests {
    #[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
    struct Of(#[serde(with = "super")] Vec<f64>);

    #[test]
    fn numbers_come_back() {
        let many = Of([vec![0.1, 0.2, 0.3], vec![0.0; 1_000_000], vec![1.0 / 3.0; 5]].concat());
        let text = serde_json::to_string(&many).unwrap();
        assert!(text.len() < 200, "{text}");
        assert_eq!(serde_json::from_str::<Of>(&text).unwrap(), many);
        for few in [Of(Vec::new()), Of(vec![1.0, 2.0])] {
            let text = serde_json::to_string(&few).unwrap();
            assert_eq!(serde_json::from_str::<Of>(&text).unwrap(), few);
        }
        assert!(serde_json::from_str::<Of>("{\"runs\":[[99999999999999,0.5]]}").is_err());
    }
}
