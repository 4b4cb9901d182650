//! Plain decimals such as -12.345678, eight digits at a time.
//!
//! Eight bytes are taken as one number, and a few operations on it find how many of them are digits and what those are
//! worth. No branch depends on how long a number is, which a processor could only guess.

/// What a number and the byte behind it must fit into for the quick way.
const WINDOW: usize = 32;
/// Digits that a `u64` always holds.
const MOST_DIGITS: usize = 19;
/// Whole numbers up to this one are exact in double precision.
const MOST_EXACT: u64 = 1 << 53;

const WHOLE_POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
/// All of them exact; the last that is would be 10²².
const POWERS: [f64; 17] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16];

/// The decimal that `bytes` begins with and its length, where a whole number up to 2⁵³ over a power of ten makes it:
/// both are exact, so that the quotient is rounded once, as it should be. `None` for anything else (an exponent, too
/// many digits, no number), which other code reads.
#[inline]
pub(super) fn short_decimal(bytes: &[u8]) -> Option<(f64, usize)> {
    match bytes.first_chunk::<WINDOW>() {
        Some(window) => within(window),
        None => {
            // The end of the file: zeros end a number as well as anything.
            let mut window = [0; WINDOW];
            window[..bytes.len()].copy_from_slice(bytes);
            within(&window)
        }
    }
}

#[inline(always)]
fn within(window: &[u8; WINDOW]) -> Option<(f64, usize)> {
    let negative = window[0] == b'-';
    let mut at = usize::from(negative);
    let (mut whole, before) = digits(window, at)?;
    if before == 0 {
        return None;
    }
    at += before;
    let mut behind = 0;
    if window[at] == b'.' {
        at += 1;
        let (fraction, count) = digits(window, at)?;
        whole = whole * WHOLE_POWERS[count] + fraction;
        (at, behind) = (at + count, count);
        if count == 8 {
            let (fraction, count) = digits(window, at)?;
            if before + behind + count > MOST_DIGITS {
                return None;
            }
            whole = whole * WHOLE_POWERS[count] + fraction;
            (at, behind) = (at + count, behind + count);
        }
    }
    // More digits than were looked at, or an exponent.
    if whole > MOST_EXACT || window[at].is_ascii_alphanumeric() {
        return None;
    }
    let value = whole as f64 / POWERS[behind];
    Some((if negative { -value } else { value }, at))
}

/// The digits at `at`, at most eight: what they are worth and how many there are.
#[inline(always)]
fn digits(window: &[u8; WINDOW], at: usize) -> Option<(u64, usize)> {
    let eight = u64::from_le_bytes(*window.get(at..)?.first_chunk()?) ^ 0x3030_3030_3030_3030;
    // Adding 0x76 lifts everything above 9 to 0x80 or more. What carries over spoils only bytes behind the first
    // that is no digit.
    let others = (eight.wrapping_add(0x7676_7676_7676_7676) | eight) & 0x8080_8080_8080_8080;
    let count = (others.trailing_zeros() / 8) as usize;
    // To the upper end, with zeros for the missing ones; in two steps, because 64 places at once are too many.
    let half = 32 - 4 * count;
    let mut sum = eight << half << half;
    // Pairs, then fours, then all eight.
    sum = (sum & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(10 * 256 + 1) >> 8;
    sum = (sum & 0x00ff_00ff_00ff_00ff).wrapping_mul(100 * 65_536 + 1) >> 16;
    sum = (sum & 0x0000_ffff_0000_ffff).wrapping_mul(10_000 * 4_294_967_296 + 1) >> 32;
    Some((sum, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same bits and the same length as the standard library's parser, which gets the digits alone.
    fn agrees(text: &str, behind: &str) {
        let padded = format!("{text}{behind}");
        let Some((value, length)) = short_decimal(padded.as_bytes()) else { return };
        let expected: f64 = text.parse().unwrap();
        assert_eq!((value.to_bits(), length), (expected.to_bits(), text.len()), "{padded:?}");
    }

    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state ^ (*state >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 8
    }

    #[test]
    fn decimals_are_rounded_as_the_standard_library_does() {
        let mut state = 1;
        let mut digits = |most: u64| -> String {
            let count = random(&mut state) % (most + 1);
            (0..count).map(|_| char::from(b'0' + (random(&mut state) % 10) as u8)).collect()
        };
        for turn in 0..200_000 {
            let sign = if turn % 3 == 0 { "-" } else { "" };
            let whole = digits(9);
            let text = match turn % 4 {
                0 => format!("{sign}0{whole}"),
                1 => format!("{sign}{whole}0."),
                2 => format!("{sign}0.000{whole}"),
                _ => format!("{sign}1{whole}.{}", digits(18)),
            };
            for behind in
                ["", ",", "\n", "\r\n7", ",-123456789.123456789123456789", ";x", " ", "\u{fc}", "/", ":"]
            {
                agrees(&text, behind);
            }
        }
    }

    #[test]
    fn ordinary_numbers_go_the_quick_way() {
        for text in [
            "0",
            "7",
            "-0",
            "12.5",
            "-12.345678",
            "1234567.12345678",
            "0.4967141530112327",
            "1.",
            "12345678",
            "5.0",
        ] {
            agrees(text, ",");
            assert!(short_decimal(format!("{text},").as_bytes()).is_some(), "{text}");
        }
        assert_eq!(short_decimal(b"-0,").unwrap().0.to_bits(), (-0.0_f64).to_bits());
    }

    #[test]
    fn the_largest_exact_whole_number_is_the_limit() {
        agrees("0.9007199254740992", ",");
        agrees("9007199.254740992", ",");
        assert!(short_decimal(b"9007199.254740992,").is_some());
        assert!(short_decimal(b"9007199.254740993,").is_none());
    }

    #[test]
    fn what_is_no_plain_decimal_is_left_to_others() {
        let others = [
            "",
            "-",
            ".5",
            "+1",
            "1e5",
            "1.5E3",
            "nan",
            "inf",
            "123456789",
            "0.12345678901234567",
            "12x",
            "--1",
            "1.5e",
        ];
        for other in others {
            assert!(short_decimal(other.as_bytes()).is_none(), "{other}");
        }
    }
}
