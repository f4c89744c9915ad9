//! Ints as bytes, small ones as few: seven bits a byte, the lowest first, and a bit that tells whether there are more.

/// Appends an int that isn't negative.
#[inline]
pub(super) fn put(value: u64, out: &mut Vec<u8>) {
    put_wide(u128::from(value), out);
}

/// Appends an int of either sign.
#[inline]
pub(super) fn put_signed(value: i128, out: &mut Vec<u8>) {
    // Small ones have few bits, whatever their sign.
    put_wide((value << 1 ^ value >> 127) as u128, out);
}

#[inline]
fn put_wide(mut value: u128, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes an int that isn't negative off the front. The bytes must come from [`put`].
#[inline]
pub(super) fn take(bytes: &mut &[u8]) -> u64 {
    take_wide(bytes) as u64
}

/// Takes an int of either sign off the front. The bytes must come from [`put_signed`].
#[inline]
pub(super) fn take_signed(bytes: &mut &[u8]) -> i128 {
    let value = take_wide(bytes);
    (value >> 1) as i128 ^ -((value & 1) as i128)
}

/// Takes a part off the front that stands behind its length.
#[inline]
pub(super) fn take_part<'b>(bytes: &mut &'b [u8]) -> &'b [u8] {
    let length = take(bytes) as usize;
    let (part, rest) = bytes.split_at(length);
    *bytes = rest;
    part
}

#[inline]
fn take_wide(bytes: &mut &[u8]) -> u128 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first().expect("an int has an end");
        *bytes = rest;
        value |= u128::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return value;
        }
        shift += 7;
    }
}
