//! Tests of the readers together: real files, round trips, hostile files, thousands of damaged ones.

mod arrays;
#[cfg(feature = "parquet")]
mod columnar;
mod large;
mod mat;
mod text;

use std::path::PathBuf;

/// A file of the shared data sets, or `None` with a line that says so.
fn shared(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    println!("SKIPPED: {} is not there", path.display());
    None
}

/// A fixed stream of numbers for choosing damage.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides.max(1)
    }
}

/// Cut, flip and splice `sound` in `times` ways; `read` must answer each without a panic.
/// Returns how many were refused.
fn damage(sound: &[u8], times: usize, read: impl Fn(Vec<u8>) -> bool) -> usize {
    let (mut dice, mut refused) = (Dice(1), 0);
    for turn in 0..times {
        let mut bytes = sound.to_vec();
        match turn % 4 {
            0 => bytes.truncate(dice.roll(sound.len())),
            1 => {
                for _ in 0..=dice.roll(4) {
                    let at = dice.roll(bytes.len());
                    bytes[at] ^= 1 << dice.roll(8);
                }
            }
            2 => {
                // Mostly in the header, where the claims are.
                for _ in 0..=dice.roll(3) {
                    let at = dice.roll(bytes.len().min(200));
                    bytes[at] = [0, 1, 0x7f, 0x80, 0xff, b'9'][dice.roll(6)];
                }
            }
            _ => {
                let (from, length) = (dice.roll(bytes.len()), dice.roll(16));
                let end = (from + length).min(bytes.len());
                let part = bytes[from..end].to_vec();
                let to = dice.roll(bytes.len());
                bytes.splice(to..to, part);
            }
        }
        refused += usize::from(!read(bytes));
    }
    refused
}
