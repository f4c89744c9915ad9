//! Texts with lines too long for a terminal, cut to what lies around the places that are talked about.

use std::collections::BTreeSet;

/// The longest line, in characters, that is shown whole.
const LONGEST: usize = 240;
/// How many characters are kept on both sides of a place in a longer one.
const AROUND: usize = 40;

/// A text whose long lines have gaps, each shown as one `…`.
pub(super) struct Excerpt {
    text: String,
    gaps: Vec<Gap>,
}

/// Characters that are left out; positions and columns are those in the whole text, from 0.
struct Gap {
    start: usize,
    end: usize,
    line: usize,
    /// The column it begins at.
    column: usize,
}

impl Excerpt {
    /// Whether a text has lines that are too long.
    pub fn is_needed(text: &str) -> bool {
        text.split('\n').any(|line| line.len() > LONGEST && line.chars().count() > LONGEST)
    }

    /// Cuts the long lines of `text`: what is kept lies around `points`, counted in characters, or at their
    /// beginning.
    pub fn new(text: &str, points: BTreeSet<usize>) -> Self {
        let mut excerpt = Self { text: String::new(), gaps: Vec::new() };
        let mut start = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let length = line.chars().count();
            match length > LONGEST {
                true => excerpt.cut(line, start, length, number, &points),
                false => excerpt.text.push_str(line),
            }
            start += length;
        }
        excerpt
    }

    /// The text with its gaps.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where a character of the whole text is shown; it must not lie in a gap.
    pub fn shown(&self, at: usize) -> usize {
        at - self.gaps.iter().take_while(|gap| gap.end <= at).map(Gap::shrinks).sum::<usize>()
    }

    /// The column in the whole text of a shown one, both from 1.
    pub fn column(&self, line: usize, shown: usize) -> usize {
        let gaps = self.gaps.iter().filter(|gap| gap.line + 1 == line);
        gaps.fold(shown, |column, gap| if column > gap.column + 1 { column + gap.shrinks() } else { column })
    }

    fn cut(&mut self, line: &str, start: usize, length: usize, number: usize, points: &BTreeSet<usize>) {
        let mut characters = line.chars();
        let mut done = 0;
        let mut kept: Vec<_> = points.range(start..start + length).map(|point| point - start).collect();
        if kept.is_empty() {
            kept.push(0);
        }
        // A line end is always kept, so that lines stay lines.
        kept.push(length + AROUND - 1);
        for point in kept {
            let from = point.saturating_sub(AROUND).min(length);
            if from > done + 1 {
                self.gaps.push(Gap { start: start + done, end: start + from, line: number, column: done });
                self.text.push('…');
                characters.by_ref().take(from - done).for_each(drop);
                done = from;
            }
            let to = (point + AROUND).min(length).max(done);
            self.text.extend(characters.by_ref().take(to - done));
            done = to;
        }
    }
}

impl Gap {
    /// By how much it makes the text shorter.
    fn shrinks(&self) -> usize {
        self.end - self.start - 1
    }
}
