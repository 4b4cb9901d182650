//! Small pictures as PNG, in the page itself.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use crate::gather::encode;

/// A grey picture, a byte per pixel, as the address of an image; `None` where pixels are missing.
pub(crate) fn grey(pixels: &[u8], [height, width]: [usize; 2]) -> Option<String> {
    (pixels.len() == height * width && !pixels.is_empty()).then(|| address(pixels, [height, width], 0, &[]))
}

/// A picture of shades of one colour, from nothing at all to the full colour, so that the page shines through.
pub(crate) fn shades(pixels: &[u8], size: usize, [red, green, blue]: [u8; 3]) -> String {
    let palette: Vec<u8> = (0..256).flat_map(|_| [red, green, blue]).collect();
    let opacity: Vec<u8> = (0..=255).collect();
    address(pixels, [size, size], 3, &[(b"PLTE", palette), (b"tRNS", opacity)])
}

fn address(pixels: &[u8], [height, width]: [usize; 2], kind: u8, extra: &[(&[u8; 4], Vec<u8>)]) -> String {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut head = Vec::new();
    head.extend((width as u32).to_be_bytes());
    head.extend((height as u32).to_be_bytes());
    head.extend([8, kind, 0, 0, 0]);
    chunk(&mut file, *b"IHDR", &head);
    extra.iter().for_each(|(name, bytes)| chunk(&mut file, **name, bytes));
    // Every row starts with the number of its filter: none.
    let rows: Vec<u8> =
        pixels.chunks(width).flat_map(|row| std::iter::once(0).chain(row.iter().copied())).collect();
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    // Memory does not refuse.
    let packed = packed.write_all(&rows).and_then(|()| packed.finish()).unwrap_or_default();
    chunk(&mut file, *b"IDAT", &packed);
    chunk(&mut file, *b"IEND", &[]);
    format!("data:image/png;base64,{}", encode(&file))
}

fn chunk(file: &mut Vec<u8>, name: [u8; 4], bytes: &[u8]) {
    file.extend((bytes.len() as u32).to_be_bytes());
    let mut crc = Crc::new();
    crc.update(&name);
    crc.update(bytes);
    file.extend(name);
    file.extend(bytes);
    file.extend(crc.sum().to_be_bytes());
}
