//! Numbers for people.

/// Four significant digits, without zeros that say nothing.
pub(crate) fn short(x: f64) -> String {
    if x < 0.0 {
        return format!("−{}", short(-x));
    }
    if x == 0.0 {
        return "0".to_owned();
    }
    let size = x.abs();
    if !(1e-4..1e7).contains(&size) {
        let text = format!("{x:.2e}");
        return text.replace(".00e", "e").replace("0e", "e");
    }
    if size >= 1000.0 || x.fract() == 0.0 {
        return grouped(x.round() as usize);
    }
    let digits = (3 - size.log10().floor() as i32).clamp(0, 8) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Two significant digits, where room is small.
pub(crate) fn brief(x: f64) -> String {
    short(format!("{x:.1e}").parse().unwrap_or(x))
}

/// Thousands apart, from five digits on.
pub(crate) fn grouped(x: usize) -> String {
    let digits = x.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && digits.len() > 4 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share as a percentage.
pub(crate) fn percent(x: f64) -> String {
    let x = 100.0 * x;
    if x > 0.0 && x < 0.05 {
        return "under 0.1\u{a0}%".to_owned();
    }
    if x >= 99.95 || x <= 0.0 || (10.0..99.0).contains(&x) {
        format!("{x:.0}\u{a0}%")
    } else {
        format!("{x:.1}\u{a0}%")
    }
}

/// Seconds.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.0005 => "0 ms".to_owned(),
        s if s < 1.0 => format!("{:.0} ms", s * 1000.0),
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 6000.0 => format!("{:.0} min {:.0} s", (s / 60.0).floor(), s % 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// A count with its noun.
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let of = |x| short(x);
        assert_eq!(
            [of(0.0), of(0.25), of(1234.5), of(12345.6), of(-0.5)],
            ["0", "0.25", "1235", "12,346", "−0.5"]
        );
        assert_eq!([of(1e-9), of(2.5e300), of(3.0), of(0.123_456)], ["1e-9", "2.5e300", "3", "0.1235"]);
        assert_eq!(
            [percent(1.0), percent(0.5), percent(0.999), percent(0.0)],
            ["100\u{a0}%", "50\u{a0}%", "99.9\u{a0}%", "0\u{a0}%"]
        );
        assert_eq!(percent(0.0002), "under 0.1\u{a0}%");
        assert_eq!([duration(0.01), duration(2.0), duration(125.0)], ["10 ms", "2.0 s", "2 min 5 s"]);
    }
}
