//! One frame: whole records, compressed, behind a header that tells whether they are what was written.

use std::io;

/// What stands in front of a frame: the bytes of its records, the bytes that are stored for them, and a checksum of
/// the former number and of what is stored; each in 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    /// Bytes of the records.
    pub raw: u32,
    /// Bytes behind the header. As many as `raw` where the records stand as they are.
    pub stored: u32,
    checksum: u32,
}

impl Header {
    /// Bytes of a header.
    pub const BYTES: usize = 12;

    /// The header of a frame of `raw` bytes, of which these are stored, part by part.
    fn new(raw: u32, stored: &[&[u8]]) -> Self {
        let length: usize = stored.iter().map(|part| part.len()).sum();
        Self { raw, stored: length as u32, checksum: checksum(raw, stored) }
    }

    /// The header of a frame of records that are stored as they are, part by part.
    pub fn of_plain(records: &[&[u8]]) -> Self {
        let length: usize = records.iter().map(|part| part.len()).sum();
        Self::new(length as u32, records)
    }

    /// Whether the records stand behind it as they are.
    pub fn is_plain(&self) -> bool {
        self.raw == self.stored
    }

    /// What is written for it.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
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

    /// Fails unless this is what was stored.
    pub fn check(&self, stored: &[u8]) -> io::Result<()> {
        match checksum(self.raw, &[stored]) == self.checksum {
            true => Ok(()),
            false => Err(damaged("its checksum is wrong")),
        }
    }
}

fn checksum(raw: u32, stored: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&raw.to_le_bytes());
    stored.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

/// Puts the frame of some records into `out`, header first.
pub(super) fn encode(records: &[u8], out: &mut Vec<u8>) {
    let most = Header::BYTES + lz4_flex::block::get_maximum_output_size(records.len());
    out.clear();
    out.reserve_exact(most);
    out.resize(most, 0);
    let body = &mut out[Header::BYTES..];
    let compressed = lz4_flex::block::compress_into(records, body).expect("there is room for the worst case");
    let stored = if compressed < records.len() {
        compressed
    } else {
        body[..records.len()].copy_from_slice(records);
        records.len()
    };
    out.truncate(Header::BYTES + stored);
    let header = Header::new(records.len() as u32, &[&out[Header::BYTES..]]);
    out[..Header::BYTES].copy_from_slice(&header.to_bytes());
}

/// Turns what stands behind a header, and was checked, back into records.
pub(super) fn decode(header: &Header, stored: &[u8], records: &mut Vec<u8>) -> io::Result<()> {
    resize(records, header.raw);
    match lz4_flex::block::decompress_into(stored, records) {
        Ok(length) if length == records.len() => Ok(()),
        Ok(_) => Err(damaged("it is shorter than it says")),
        Err(error) => Err(damaged(&error.to_string())),
    }
}

/// Makes a vector just so long, and takes no more memory for it than that.
pub(super) fn resize(bytes: &mut Vec<u8>, length: u32) {
    bytes.clear();
    bytes.reserve_exact(length as usize);
    bytes.resize(length as usize, 0);
}

/// A frame that is not what was written.
pub(super) fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("a damaged frame: {what}"))
}
