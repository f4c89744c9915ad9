//! The escapes of double-quoted scalars.

/// The character that the escape at `at` (its backslash) stands for, and the offset behind it.
pub(super) fn read(text: &str, at: usize) -> Option<(char, usize)> {
    let letter = *text.as_bytes().get(at + 1)?;
    match letter {
        b'x' => hex(text, at + 2, 2).and_then(character),
        b'u' => utf16(text, at + 2),
        b'U' => hex(text, at + 2, 8).and_then(character),
        _ => Some((simple(letter)?, at + 2)),
    }
}

fn simple(letter: u8) -> Option<char> {
    Some(match letter {
        b'0' => '\0',
        b'a' => '\x07',
        b'b' => '\x08',
        b't' | b'\t' => '\t',
        b'n' => '\n',
        b'v' => '\x0b',
        b'f' => '\x0c',
        b'r' => '\r',
        b'e' => '\x1b',
        b'N' => '\u{85}',
        b'_' => '\u{a0}',
        b'L' => '\u{2028}',
        b'P' => '\u{2029}',
        b' ' | b'"' | b'/' | b'\\' => char::from(letter),
        _ => return None,
    })
}

fn hex(text: &str, at: usize, digits: usize) -> Option<(u32, usize)> {
    let digits = text.get(at..at + digits)?;
    let value = u32::from_str_radix(digits, 16).ok()?;
    Some((value, at + digits.len()))
}

fn character((value, end): (u32, usize)) -> Option<(char, usize)> {
    Some((char::from_u32(value)?, end))
}

/// Four digits, or two halves of a surrogate pair.
fn utf16(text: &str, at: usize) -> Option<(char, usize)> {
    let (high, end) = hex(text, at, 4)?;
    if !(0xD800..0xDC00).contains(&high) {
        return character((high, end));
    }
    let low_at = text.get(end..)?.strip_prefix("\\u").map(|_| end + 2)?;
    let (low, end) = hex(text, low_at, 4)?;
    let low = low.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
    character((0x10000 + ((high - 0xD800) << 10) + low, end))
}
