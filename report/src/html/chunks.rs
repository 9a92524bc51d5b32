//! Details of cases, packed into chunks that a browser inflates one at a time.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use evalsuite_schema::json::written_by_serde;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

/// The size at which a chunk ends, in bytes before compression.
const CHUNK_BYTES: usize = 256 << 10;

/// Texts in chunks, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    packed: Vec<String>,
    open: String,
    entries: usize,
}

/// Where a text is: a chunk is a JSON list with a line per entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct ChunkPlace(pub(super) usize, pub(super) usize);

written_by_serde!(ChunkPlace);

impl Chunks {
    /// Adds a JSON value.
    pub(super) fn add(&mut self, json: &str) -> ChunkPlace {
        if self.entries > 0 && self.open.len() + json.len() > CHUNK_BYTES {
            self.close();
        }
        // JSON without indentation has no line break: the page finds the entries without parsing them.
        self.open.push_str(if self.entries == 0 { "[" } else { "\n," });
        self.open.push_str(json);
        self.entries += 1;
        ChunkPlace(self.packed.len(), self.entries - 1)
    }

    /// The chunks, compressed and in base64.
    pub(super) fn finish(mut self) -> Vec<String> {
        if self.entries > 0 {
            self.close();
        }
        self.packed
    }

    fn close(&mut self) {
        self.open.push(']');
        self.packed.push(packed(&self.open));
        self.open.clear();
        self.entries = 0;
    }
}

/// A text, compressed with gzip and in base64.
pub(super) fn packed(text: &str) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let bytes = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    STANDARD.encode(bytes.expect("writing to memory cannot fail"))
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Read;

    use evalsuite_schema::Value;
    use flate2::read::GzDecoder;

    use super::*;

    pub(crate) fn unpacked(base64: &str) -> String {
        let bytes = STANDARD.decode(base64).unwrap();
        let mut text = String::new();
        GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn every_text_is_where_its_place_says() {
        let texts: Vec<String> = (0..40).map(|n| format!("{n} {}", "x".repeat(n * 1000))).collect();
        let mut chunks = Chunks::default();
        let places: Vec<ChunkPlace> =
            texts.iter().map(|text| chunks.add(&Value::from(text.as_str()).to_string())).collect();
        let chunks: Vec<Value> =
            chunks.finish().iter().map(|chunk| evalsuite_schema::json::from_str(&unpacked(chunk)).unwrap()).collect();
        assert!(chunks.len() > 2, "{} chunks", chunks.len());
        for (text, ChunkPlace(chunk, entry)) in texts.iter().zip(places) {
            assert_eq!(chunks[chunk][entry], Value::from(text.as_str()));
        }
    }

    #[test]
    fn a_text_larger_than_a_chunk_has_one_of_its_own() {
        let mut chunks = Chunks::default();
        let large = Value::from("y".repeat(2 * CHUNK_BYTES)).to_string();
        let places = [chunks.add("1"), chunks.add(&large), chunks.add("3")];
        assert_eq!(places, [ChunkPlace(0, 0), ChunkPlace(1, 0), ChunkPlace(2, 0)]);
        assert_eq!(chunks.finish().len(), 3);
    }

    #[test]
    fn no_cases_are_no_chunks() {
        assert!(Chunks::default().finish().is_empty());
    }
}
