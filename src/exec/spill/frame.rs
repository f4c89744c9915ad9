//! One frame: records, compressed, behind a header that tells whether they are what was written.

use std::io;

/// What stands in front of a frame: the bytes of its records, the bytes that are stored for them, and a checksum of
/// the latter; each in 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    /// Bytes of the records.
    pub raw: u32,
    /// Bytes behind the header. As many as `raw` where compressing would not have saved any.
    pub stored: u32,
    checksum: u32,
}

impl Header {
    /// Bytes of a header.
    pub const BYTES: usize = 12;

    fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        for (part, number) in bytes.chunks_exact_mut(4).zip([self.raw, self.stored, self.checksum]) {
            part.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// The header that these bytes are.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Self { raw: number(0), stored: number(4), checksum: number(8) }
    }
}

/// Puts the frame of some records into `out`, header first.
pub(super) fn encode(records: &[u8], out: &mut Vec<u8>) {
    let most = lz4_flex::block::get_maximum_output_size(records.len());
    out.clear();
    out.resize(Header::BYTES + most, 0);
    let body = &mut out[Header::BYTES..];
    let compressed = lz4_flex::block::compress_into(records, body).expect("there is room for the worst case");
    let stored = if compressed < records.len() {
        compressed
    } else {
        body[..records.len()].copy_from_slice(records);
        records.len()
    };
    out.truncate(Header::BYTES + stored);
    let checksum = crc32fast::hash(&out[Header::BYTES..]);
    let header = Header { raw: records.len() as u32, stored: stored as u32, checksum };
    out[..Header::BYTES].copy_from_slice(&header.to_bytes());
}

/// Turns what stands behind a header back into records.
pub(super) fn decode(header: &Header, stored: &[u8], records: &mut Vec<u8>) -> io::Result<()> {
    let damaged = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("a damaged frame: {what}"));
    if crc32fast::hash(stored) != header.checksum {
        return Err(damaged("its checksum is wrong"));
    }
    records.clear();
    if header.raw == header.stored {
        records.extend_from_slice(stored);
        return Ok(());
    }
    records.resize(header.raw as usize, 0);
    match lz4_flex::block::decompress_into(stored, records) {
        Ok(length) if length == records.len() => Ok(()),
        Ok(_) => Err(damaged("it is shorter than it says")),
        Err(error) => Err(damaged(&error.to_string())),
    }
}
