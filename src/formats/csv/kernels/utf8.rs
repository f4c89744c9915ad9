//! Text that is known to be valid.

/// The text as a `str`, if it is valid UTF-8.
#[inline]
pub fn valid_text(bytes: &[u8]) -> Option<&str> {
    if bytes.is_ascii() {
        // SAFETY: ASCII is UTF-8.
        return Some(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    std::str::from_utf8(bytes).ok()
}
