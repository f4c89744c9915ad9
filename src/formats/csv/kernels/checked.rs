//! The loops of [`super`] byte by byte and without `unsafe`: what the others are tested against.

use super::{Marks, Separated, Survey};

/// See [`super::survey`].
pub fn survey(text: &[u8], marks: Marks) -> Survey {
    let mut survey = Survey { regular: true, ..Survey::default() };
    let (mut quoted, mut lines) = (false, 0);
    for (at, &byte) in text.iter().enumerate() {
        let before = at.checked_sub(1).map_or(b'\n', |at| text[at]);
        quoted ^= byte == marks.quote;
        survey.regular &= !(byte == marks.quote && quoted) || may_open(before, marks);
        survey.regular &= before != b'\r' || at == 0 || byte == b'\n';
        survey.regular &= quoted || !(before == b'\n' && matches!(byte, b'\n' | b'\r'));
        lines += u32::from(byte == b'\n');
        if byte == b'\n' && !quoted {
            survey = Survey { records: survey.records + 1, lines, end: at + 1, ..survey };
        }
    }
    if survey.regular { survey } else { Survey::default() }
}

fn may_open(before: u8, marks: Marks) -> bool {
    before == marks.delimiter || before == marks.quote || matches!(before, b'\n' | b'\r')
}

/// See [`super::separators`].
pub fn separators<const QUOTES: bool, const RETURNS: bool>(text: &[u8], marks: Marks) -> Option<(Vec<u32>, Separated)> {
    let (mut found, mut separated) = (Vec::new(), Separated::default());
    let (mut quoted, mut closed) = (false, false);
    for (at, &byte) in text.iter().enumerate() {
        let before = at.checked_sub(1).map_or(b'\n', |at| text[at]);
        quoted ^= byte == marks.quote;
        if byte == marks.quote && (!QUOTES || (quoted && !may_open(before, marks))) {
            return None;
        }
        if byte == b'\r' && !RETURNS {
            return None;
        }
        let ends = byte == marks.delimiter || matches!(byte, b'\n' | b'\r');
        separated.untidy |= closed && !ends;
        closed = byte == marks.quote && !quoted;
        if !quoted && ends {
            found.push(at as u32);
            separated.feeds += u32::from(byte == b'\n');
            separated.returns += u32::from(byte == b'\r');
        }
    }
    Some((found, separated))
}

/// See [`super::structurals`].
pub fn structurals(text: &[u8], marks: Marks) -> Vec<u32> {
    let is_one = |byte: u8| byte == marks.delimiter || byte == marks.quote || matches!(byte, b'\n' | b'\r');
    (0_u32..).zip(text).filter(|(_, byte)| is_one(**byte)).map(|(at, _)| at).collect()
}

/// See [`super::shapes`].
pub fn shapes(bytes: &[u8], marks: Marks) -> bool {
    bytes.iter().any(|byte| *byte == marks.delimiter || *byte == marks.quote || matches!(byte, b'\n' | b'\r'))
}
