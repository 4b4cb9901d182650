//! Random numbers that stay the same for ever: ChaCha8, one seed, one numbered stream per use.
//!
//! Only `next_u64` is taken from the generator crate; floats, ranges, normals and shuffles are made
//! here, because crates have changed theirs between versions. A test freezes the first values.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// Stream number `stream` of `seed`. Different numbers give independent streams.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Self(generator)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on [0, 1), with 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform on {0, …, n − 1}; `n` is at least 1.
    pub fn below(&mut self, n: usize) -> usize {
        debug_assert!(n > 0, "below(0) has no answer");
        // Multiply-shift; its bias is below n / 2^64.
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// Standard normal, by Box and Muller's polar method (one of the pair is dropped).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (a, b) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let s = a * a + b * b;
            if s > 0.0 && s < 1.0 {
                return a * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }

    /// Fisher–Yates shuffle.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_and_repeat() {
        let draw = |seed, stream| {
            let mut s = Stream::new(seed, stream);
            [s.bits(), s.bits(), s.bits()]
        };
        assert_eq!(draw(7, 0), draw(7, 0));
        assert_ne!(draw(7, 0), draw(7, 1));
        assert_ne!(draw(7, 0), draw(8, 0));
    }

    #[test]
    fn moments_are_right() {
        let mut s = Stream::new(1, 2);
        let n = 40_000;
        let (mut sum, mut squares, mut low) = (0.0, 0.0, 0);
        for _ in 0..n {
            let x = s.normal();
            sum += x;
            squares += x * x;
            low += usize::from(s.below(4) == 0);
        }
        let n = f64::from(n);
        assert!((sum / n).abs() < 0.03, "{}", sum / n);
        assert!((squares / n - 1.0).abs() < 0.05, "{}", squares / n);
        assert!((low as f64 / n - 0.25).abs() < 0.02);
    }
}
