//! Numbers and lists as people read them.

/// A number in at most four significant digits; large ones with commas.
pub(super) fn number(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return if x == 0.0 { "0".to_owned() } else { x.to_string() };
    }
    let rounded: f64 = format!("{x:.3e}").parse().unwrap_or(x);
    let size = rounded.abs();
    if !(1e-4..1e15).contains(&size) {
        return format!("{rounded:e}");
    }
    let text = rounded.to_string();
    let (sign, digits) = text.strip_prefix('-').map_or(("", &*text), |digits| ("-", digits));
    let (whole, rest) = digits.find('.').map_or((digits, ""), |dot| digits.split_at(dot));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{rest}")
}

/// A share as a percentage; what is not nothing is never 0 %, and what is not all never 100 %.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p <= 0.0 => "0 %".to_owned(),
        p if p < 0.5 => "under 1 %".to_owned(),
        p if p >= 100.0 => "100 %".to_owned(),
        p if p > 99.5 => "over 99 %".to_owned(),
        p => format!("{p:.0} %"),
    }
}

/// The number with the fewest digits from `low` up to, but not with, `high`.
pub(super) fn between(low: f64, high: f64) -> f64 {
    let middle = low / 2.0 + high / 2.0;
    let rounded = |digits: usize| format!("{middle:.digits$e}").parse::<f64>().unwrap_or(middle);
    (0..17).map(rounded).find(|t| *t >= low && *t < high).unwrap_or(low)
}

/// a, b and c.
pub(super) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (x, text) in [
            (0.0, "0"),
            (62_345.7, "62,350"),
            (-1_234_567.0, "-1,235,000"),
            (0.123_456, "0.1235"),
            (3.0, "3"),
            (1e-7, "1e-7"),
            (999.0, "999"),
        ] {
            assert_eq!(number(x), text);
        }
        assert_eq!([percent(0.001), percent(0.999), percent(0.5)], ["under 1 %", "over 99 %", "50 %"]);
    }

    #[test]
    fn thresholds_have_few_digits() {
        assert_eq!(between(1.6, 1.7), 1.6);
        assert_eq!(between(1.9, 3.0), 2.0);
        assert_eq!(between(-0.1, 100.0), 50.0);
        assert_eq!(between(5.0, 5.000_000_1), 5.0);
        assert_eq!(between(0.0, 1.0), 0.5);
    }
}
