//! Compression, as servers and tools compress what the program reads.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

/// The content, compressed with gzip.
pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).expect("memory");
    encoder.finish().expect("memory")
}
