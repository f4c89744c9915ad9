//! States as bytes, which go to disk and come back: small ones as few, since there may be millions. Every state tells where
//! it ends.

use crate::exec::varint;

/// Takes so many bytes off the front. They must be there: states come from `encode` alone.
pub fn fixed<const N: usize>(state: &mut &[u8]) -> [u8; N] {
    let (first, rest) = state.split_first_chunk().expect("an encoded state is whole");
    *state = rest;
    *first
}

/// Takes a part off the front that begins with its length.
pub fn part<'a>(state: &mut &'a [u8]) -> &'a [u8] {
    varint::take_part(state)
}

/// Appends a part: its length, then its bytes.
pub fn put_part(part: &[u8], out: &mut Vec<u8>) {
    varint::put(part.len() as u64, out);
    out.extend_from_slice(part);
}
