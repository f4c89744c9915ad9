//! Block scalars: literal (`|`) and folded (`>`).

use super::decoded::{Decoded, break_end, is_blank};

/// What happens to the line ends behind the last line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    /// One stays.
    Clip,
    /// None stays (`-`).
    Strip,
    /// All stay (`+`).
    Keep,
}

/// Where a block scalar stands.
pub(super) struct Place {
    /// Its `|` or `>`.
    pub(super) header: usize,
    /// The first byte of its first line that isn't indentation; `None` if it has only empty lines.
    pub(super) content: Option<usize>,
    /// Where the next thing begins.
    pub(super) end: usize,
}

/// A line break, from and to.
type Break = (usize, usize);

/// Decodes a block scalar.
pub(super) fn decode(text: &str, place: &Place, folded: bool) -> Decoded {
    let chomping = chomping(text, place.header);
    let body = line_end(text, place.header, place.end);
    let body = break_end(text, body).unwrap_or(body);
    let mut breaks = breaks_between(text, body, place.content.unwrap_or(place.end));
    let mut decoded = Decoded::default();
    let last = match place.content {
        Some(content) => lines(text, content, place.end, folded, &mut breaks, &mut decoded),
        None => None,
    };
    if place.content.is_some() && chomping != Chomping::Strip {
        let (from, to) = last.unwrap_or((place.end, place.end));
        decoded.replace("\n", from, to);
    }
    if chomping == Chomping::Keep {
        // A last line that is indented but has neither text nor a line end counts as an empty one.
        if place.content.is_none() && breaks.is_empty() && body < place.end {
            breaks.push((place.end, place.end));
        }
        add(&breaks, &mut decoded);
    }
    decoded
}

/// Takes the lines from the first content byte on. Gives the break behind the last line, and leaves the breaks behind
/// that one in `breaks`.
fn lines(
    text: &str,
    content: usize,
    end: usize,
    folded: bool,
    breaks: &mut Vec<Break>,
    decoded: &mut Decoded,
) -> Option<Break> {
    let indent = content - line_start(text, content);
    let mut at = content;
    let mut open: Option<Break> = None;
    let mut after_blank = false;
    while at < end {
        let blank = is_blank(text, at);
        let folds = folded && open.is_some() && !after_blank && !blank;
        join(open, folds, breaks, decoded);
        let stop = line_end(text, at, end);
        decoded.copy(text, at, stop);
        after_blank = blank;
        open = break_end(text, stop).filter(|next| *next <= end).map(|next| (stop, next));
        at = open.map_or(end, |(_, next)| skip_indent(text, next, end, indent, breaks));
    }
    open
}

/// Joins two lines: the break `open` between them, and the empty lines `breaks` behind it, which are used up.
fn join(open: Option<Break>, folds: bool, breaks: &mut Vec<Break>, decoded: &mut Decoded) {
    match open {
        Some((from, to)) if folds && breaks.is_empty() => decoded.replace(" ", from, to),
        Some((from, to)) if !folds => decoded.replace("\n", from, to),
        _ => {}
    }
    add(breaks, decoded);
    breaks.clear();
}

fn add(breaks: &[Break], decoded: &mut Decoded) {
    for (from, to) in breaks {
        decoded.replace("\n", *from, *to);
    }
}

/// Skips up to `indent` spaces, and whole lines that hold no more than that.
fn skip_indent(text: &str, mut at: usize, end: usize, indent: usize, breaks: &mut Vec<Break>) -> usize {
    loop {
        let spaces = text.as_bytes()[at..end].iter().take(indent).take_while(|byte| **byte == b' ').count();
        at += spaces;
        match break_end(text, at) {
            Some(next) if at < end => {
                breaks.push((at, next));
                at = next;
            }
            _ => return at,
        }
    }
}

fn breaks_between(text: &str, mut at: usize, end: usize) -> Vec<Break> {
    let mut breaks = Vec::new();
    while at < end {
        let stop = line_end(text, at, end);
        let Some(next) = break_end(text, stop).filter(|_| stop < end) else { break };
        breaks.push((stop, next));
        at = next;
    }
    breaks
}

fn chomping(text: &str, header: usize) -> Chomping {
    let indicators = text[header + 1..].bytes().take_while(|byte| matches!(byte, b'+' | b'-' | b'0'..=b'9'));
    indicators.fold(Chomping::Clip, |chomping, byte| match byte {
        b'+' => Chomping::Keep,
        b'-' => Chomping::Strip,
        _ => chomping,
    })
}

fn line_end(text: &str, at: usize, end: usize) -> usize {
    text[at..end].find(['\r', '\n']).map_or(end, |length| at + length)
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\r', '\n']).map_or(0, |before| before + 1)
}
