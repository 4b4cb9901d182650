//! Base64, for pictures in JSON and in the page.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as letters.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * at) & 63) as usize] as char;
            text.push(if at <= chunk.len() { letter } else { '=' });
        }
    }
    text
}

/// Letters as bytes; what is no such letter ends the text.
pub(crate) fn decode(text: &str) -> Vec<u8> {
    let codes: Vec<u32> = text
        .bytes()
        .map_while(|byte| LETTERS.iter().position(|letter| *letter == byte).map(|code| code as u32))
        .collect();
    let mut bytes = Vec::with_capacity(codes.len() * 3 / 4);
    for chunk in codes.chunks(4).filter(|chunk| chunk.len() > 1) {
        let word = chunk.iter().fold(0, |word, code| word << 6 | code) << (6 * (4 - chunk.len()));
        bytes.extend([16, 8, 0].iter().take(chunk.len() - 1).map(|shift| (word >> shift) as u8));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        assert_eq!(encode(b"Man"), "TWFu");
        assert_eq!((encode(b"Ma"), encode(b"M")), ("TWE=".to_owned(), "TQ==".to_owned()));
        let bytes: Vec<u8> = (0..=255).collect();
        for length in 0..bytes.len() {
            assert_eq!(decode(&encode(&bytes[..length])), bytes[..length]);
        }
    }
}
