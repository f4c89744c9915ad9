//! States as bytes, which go to disk and come back. Numbers are little-endian, and every state tells where it ends.

/// Takes so many bytes off the front. They must be there: states come from `encode` alone.
pub fn fixed<const N: usize>(state: &mut &[u8]) -> [u8; N] {
    let (first, rest) = state.split_first_chunk().expect("an encoded state is whole");
    *state = rest;
    *first
}

/// Takes a part off the front that begins with its length in 32 bits.
pub fn part<'a>(state: &mut &'a [u8]) -> &'a [u8] {
    let length = u32::from_le_bytes(fixed(state)) as usize;
    let (part, rest) = state.split_at(length);
    *state = rest;
    part
}

/// Appends a part: its length, then its bytes.
pub fn put_part(part: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(part.len()).expect("a value is far smaller than 4 GiB");
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(part);
}
