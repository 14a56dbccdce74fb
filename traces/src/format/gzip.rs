//! Plain and gzip-compressed input and output.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::error::TraceErrorKind;

/// The two bytes every gzip member begins with (RFC 1952 §2.3.1).
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Reads everything, decompressing one or several gzip members, but never more than `max_bytes`.
pub(super) fn read_text(mut reader: impl Read, max_bytes: u64) -> Result<String, TraceErrorKind> {
    let mut head = Vec::with_capacity(MAGIC.len());
    reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut head).map_err(TraceErrorKind::Io)?;
    let compressed = head == MAGIC;
    let whole = io::Cursor::new(head).chain(reader);
    let bytes = if compressed {
        read_limited(MultiGzDecoder::new(whole), max_bytes).map_err(|error| match error {
            TraceErrorKind::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => TraceErrorKind::TruncatedGzip,
            TraceErrorKind::Io(error) => TraceErrorKind::BadGzip(error),
            other => other,
        })?
    } else {
        read_limited(whole, max_bytes)?
    };
    String::from_utf8(bytes).map_err(|_| TraceErrorKind::NotText)
}

fn read_limited(reader: impl Read, max_bytes: u64) -> Result<Vec<u8>, TraceErrorKind> {
    let mut bytes = Vec::new();
    reader.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(TraceErrorKind::Io)?;
    if bytes.len() as u64 > max_bytes {
        return Err(TraceErrorKind::TooLarge { what: "bytes of (decompressed) text", limit: max_bytes });
    }
    Ok(bytes)
}

/// Writes one gzip member. It carries neither a name nor a time, so that equal text gives equal bytes.
pub(super) fn compress(writer: impl Write, text: &str) -> io::Result<()> {
    let mut encoder = GzEncoder::new(writer, Compression::best());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()?.flush()
}
