//! Memory sizes as people write them: `512M`, `64k`, `1048576`.

/// Reads a size: digits with at most one suffix `K`, `M` or `G` in either case, powers of 1024; blanks around are
/// trimmed. Gives bytes, or why the text is not a size, as a phrase that completes "`4GB` is not a size: …".
pub fn parse_size(text: &str) -> Result<u64, &'static str> {
    const SPELLING: &str = "write digits and at most one of K, M or G, such as 512M";
    let text = text.trim();
    let (digits, factor) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1u64),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(SPELLING);
    }
    let number = digits.parse::<u64>().ok();
    number.and_then(|number| number.checked_mul(factor)).ok_or("it is larger than 64 bits can count")
}
