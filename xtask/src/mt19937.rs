//! The generator behind NumPy's `RandomState`, so that both programs can start from the same numbers.

const N: usize = 624;

/// MT19937, seeded as `numpy.random.RandomState(seed)`.
pub(crate) struct Mt19937 {
    state: [u32; N],
    at: usize,
}

impl Mt19937 {
    pub(crate) fn new(seed: u32) -> Self {
        let mut state = [0; N];
        state[0] = seed;
        for i in 1..N {
            let before: u32 = state[i - 1] ^ (state[i - 1] >> 30);
            state[i] = before.wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
        Self { state, at: N }
    }

    fn refill(&mut self) {
        for i in 0..N {
            let y = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % N] & 0x7fff_ffff);
            let odd = if y & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + 397) % N] ^ (y >> 1) ^ odd;
        }
        self.at = 0;
    }

    fn bits(&mut self) -> u32 {
        if self.at == N {
            self.refill();
        }
        let mut y = self.state[self.at];
        self.at += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    /// Uniform on [0, 1) with 53 bits.
    pub(crate) fn uniform(&mut self) -> f64 {
        let (a, b) = (self.bits() >> 5, self.bits() >> 6);
        (f64::from(a) * 67_108_864.0 + f64::from(b)) / 9_007_199_254_740_992.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_numpy() {
        // numpy.random.RandomState(666).random_sample(2)
        let mut generator = Mt19937::new(666);
        assert_eq!(
            [generator.uniform(), generator.uniform()],
            [0.700_437_121_857_834_7, 0.844_186_642_850_434_5]
        );
    }
}
