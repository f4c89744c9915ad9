//! A scalar event as a [`Scalar`]: its whole span, and the map of its text.

use granit_parser as granit;

use super::block::{self, Place};
use super::decoded::Decoded;
use super::flow::{self, Escapes};
use super::{Scalar, ScalarStyle};
use crate::diagnostics::{FileId, Span};
use crate::syntax::text_map::{Piece, TextMap};

/// The scalar that the parser found between `start` and `end`, with the value it read. `after` is where the scalar
/// in front of it ends: between the two stands what belongs to a block scalar's header.
pub(super) fn read(
    file: FileId,
    text: &str,
    style: granit::ScalarStyle,
    value: &str,
    (after, start, end): (usize, usize, usize),
) -> Scalar {
    let style = style_of(style);
    if start == end && style == ScalarStyle::Plain {
        return empty(file, if text[start..].starts_with(':') { start + 1 } else { start });
    }
    let place = block_place(text, style, value, after, start, end);
    let span = match &place {
        Some(place) => Span::new(file, place.header as u32, visible_end(text, place) as u32),
        None => Span::new(file, start as u32, end as u32),
    };
    let decoded = match &place {
        Some(place) => Some(block::decode(text, place, style == ScalarStyle::Folded)),
        None => decode_flow(text, style, start, end),
    };
    let empty_at = if place.is_none() && style != ScalarStyle::Plain { span.start as usize + 1 } else { end };
    let decoded = decoded.map(|decoded| decoded.finish(file, empty_at));
    // Should the decoder ever read another text than the parser, places are coarse but the text is right.
    let map = decoded.and_then(|(text, map)| (text == value).then_some(map)).unwrap_or_else(|| coarse(value, span));
    Scalar { text: value.to_owned(), style, span, map }
}

fn style_of(style: granit::ScalarStyle) -> ScalarStyle {
    match style {
        granit::ScalarStyle::Plain => ScalarStyle::Plain,
        granit::ScalarStyle::SingleQuoted => ScalarStyle::SingleQuoted,
        granit::ScalarStyle::DoubleQuoted => ScalarStyle::DoubleQuoted,
        granit::ScalarStyle::Literal => ScalarStyle::Literal,
        granit::ScalarStyle::Folded => ScalarStyle::Folded,
    }
}

/// The scalar of a value that isn't there.
fn empty(file: FileId, at: usize) -> Scalar {
    let at = at as u32;
    let map = TextMap::identity(file, at, 0);
    Scalar { text: String::new(), style: ScalarStyle::Plain, span: Span::new(file, at, at), map }
}

fn decode_flow(text: &str, style: ScalarStyle, start: usize, end: usize) -> Option<Decoded> {
    match style {
        ScalarStyle::SingleQuoted => flow::decode(text, start + 1, end.checked_sub(1)?, Escapes::DoubledQuote),
        ScalarStyle::DoubleQuoted => flow::decode(text, start + 1, end.checked_sub(1)?, Escapes::Backslash),
        _ => flow::decode(text, start, end, Escapes::None),
    }
}

/// Where a block scalar stands; `None` for the other styles, and for a header that can't be found.
fn block_place(text: &str, style: ScalarStyle, value: &str, after: usize, start: usize, end: usize) -> Option<Place> {
    if !matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
        return None;
    }
    let header = find_indicator(text, after, end, &['|', '>'])?;
    // The parser's span begins at the first content byte. A line of content is never empty, so a value of line ends
    // alone has none.
    let has_content = value.bytes().any(|byte| byte != b'\n');
    Some(Place { header, content: has_content.then_some(start), end })
}

/// The first of the `wanted` characters behind a scalar's end `at`, from where only punctuation, comments, tags and
/// anchors can stand in front of the next scalar.
pub(super) fn find_indicator(text: &str, mut at: usize, end: usize, wanted: &[char]) -> Option<usize> {
    let bytes = text.as_bytes();
    while at < end {
        match bytes[at] {
            byte if wanted.contains(&char::from(byte)) => return Some(at),
            b'#' | b'%' => at = text[at..end].find(['\r', '\n']).map_or(end, |length| at + length),
            b'&' | b'!' => at = text[at..end].find([' ', '\t', '\r', '\n']).map_or(end, |length| at + length),
            _ => at += 1,
        }
    }
    None
}

/// The end of the last line that holds something.
fn visible_end(text: &str, place: &Place) -> usize {
    place.header + text[place.header..place.end].trim_end_matches([' ', '\t', '\r', '\n']).len()
}

/// A map that only knows the whole scalar.
fn coarse(value: &str, span: Span) -> TextMap {
    let length = u32::try_from(value.len()).unwrap_or(u32::MAX);
    let piece = Piece { decoded: 0, file: span.start, decoded_len: length, file_len: span.end - span.start };
    TextMap::new(span.file, if length == 0 { Vec::new() } else { vec![piece] }, span.end)
}
