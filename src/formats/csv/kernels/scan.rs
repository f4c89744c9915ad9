//! Finds the bytes that shape a text.

#[cfg(not(target_arch = "x86_64"))]
use super::lanes::Plain;
#[cfg(target_arch = "x86_64")]
use super::lanes::x86;
use super::lanes::{LANES, Lanes, Visit, visit_chunks};
use super::{Marks, Separated, Survey};

/// Counts the records of a text that begins with a record.
pub fn survey(text: &[u8], marks: Marks) -> Survey {
    #[cfg(target_arch = "x86_64")]
    {
        if x86::has_avx2() {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { survey_avx2(text, marks) };
        }
        survey_with::<x86::Sse2>(text, marks)
    }
    #[cfg(not(target_arch = "x86_64"))]
    survey_with::<Plain>(text, marks)
}

/// Appends the position of each delimiter and LF outside quotes, ascending; with `RETURNS` that of each CR as well.
///
/// Stops early and gives nothing where the text needs a closer look: at a quote without `QUOTES`, at a CR without
/// `RETURNS`, and at a quote that opens inside a field. The positions are then incomplete.
pub fn separators<const QUOTES: bool, const RETURNS: bool>(
    text: &[u8],
    marks: Marks,
    out: &mut Vec<u32>,
) -> Option<Separated> {
    #[cfg(target_arch = "x86_64")]
    {
        if x86::has_avx2() {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { separators_avx2::<QUOTES, RETURNS>(text, marks, out) };
        }
        separators_with::<x86::Sse2, QUOTES, RETURNS>(text, marks, out)
    }
    #[cfg(not(target_arch = "x86_64"))]
    separators_with::<Plain, QUOTES, RETURNS>(text, marks, out)
}

/// Appends the position of each delimiter, quote, LF and CR, ascending.
pub fn structurals(text: &[u8], marks: Marks, out: &mut Vec<u32>) {
    #[cfg(target_arch = "x86_64")]
    {
        if x86::has_avx2() {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { structurals_avx2(text, marks, out) };
        }
        structurals_with::<x86::Sse2>(text, marks, out)
    }
    #[cfg(not(target_arch = "x86_64"))]
    structurals_with::<Plain>(text, marks, out)
}

/// Follows quotes through a text, chunk by chunk.
struct Quotes {
    /// All bits set if the last chunk ended inside quotes.
    open: u64,
    /// One if the next byte may open quotes.
    may_open: u64,
    /// Quotes that opened inside a field.
    misplaced: u64,
    /// One if the last byte was a closing quote.
    after_closing: u64,
    /// Bytes behind a closing quote that are no separators.
    untidy: u64,
}

impl Quotes {
    /// The text begins a field.
    fn new() -> Self {
        Self { open: 0, may_open: 1, misplaced: 0, after_closing: 0, untidy: 0 }
    }

    /// The bits of a chunk inside quotes, an opening quote included, a closing one not. `ends` are its delimiters and
    /// line ends. A doubled quote closes and opens again, which comes to the same.
    #[inline(always)]
    fn inside(&mut self, quotes: u64, ends: u64, valid: u64) -> u64 {
        let openers = quotes | ends;
        let before = openers << 1 | self.may_open;
        self.may_open = openers >> (LANES - 1);
        if quotes == 0 {
            self.untidy |= std::mem::take(&mut self.after_closing) & !ends;
            return self.open;
        }
        let inside = prefix_xor(quotes) ^ self.open;
        self.open = ((inside as i64) >> (LANES - 1)) as u64;
        self.misplaced |= quotes & inside & !before;
        let closing = quotes & !inside;
        self.untidy |= (closing << 1 | self.after_closing) & !ends & valid;
        self.after_closing = closing >> (LANES - 1);
        inside
    }
}

/// Each bit becomes the parity of the bits up to and with it.
#[inline(always)]
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

struct Surveyor {
    marks: Marks,
    survey: Survey,
    quotes: Quotes,
    lines: u32,
    irregular: u64,
    /// One if the byte in front of the chunk is an LF, or a CR.
    after_feed: u64,
    after_return: u64,
}

#[inline(always)]
fn survey_with<L: Lanes>(text: &[u8], marks: Marks) -> Survey {
    let mut surveyor = Surveyor {
        marks,
        survey: Survey::default(),
        quotes: Quotes::new(),
        lines: 0,
        irregular: 0,
        // As if a line feed stood in front of the text.
        after_feed: 1,
        after_return: 0,
    };
    visit_chunks::<L>(text, &mut surveyor);
    let regular = (surveyor.irregular | surveyor.quotes.misplaced) == 0;
    if regular { Survey { regular, ..surveyor.survey } } else { Survey::default() }
}

impl Visit for Surveyor {
    #[inline(always)]
    fn visit<L: Lanes>(&mut self, lanes: L, base: usize, valid: u64) -> bool {
        let feeds = lanes.equal(b'\n') & valid;
        let returns = lanes.equal(b'\r') & valid;
        let quotes = lanes.equal(self.marks.quote) & valid;
        let delimiters = lanes.equal(self.marks.delimiter) & valid;
        let inside = self.quotes.inside(quotes, delimiters | feeds | returns, valid);
        // A CR must stand in front of an LF, and no line end right behind another.
        self.irregular |= (returns << 1 | self.after_return) & !feeds & valid;
        self.irregular |= (feeds | returns) & (feeds << 1 | self.after_feed) & !inside;
        self.after_feed = feeds >> (LANES - 1);
        self.after_return = returns >> (LANES - 1);
        let ends = feeds & !inside;
        if ends != 0 {
            self.survey.records += ends.count_ones();
            let unused = ends.leading_zeros();
            self.survey.end = base + LANES - unused as usize;
            self.survey.lines = self.lines + (feeds & (u64::MAX >> unused)).count_ones();
        }
        self.lines += feeds.count_ones();
        true
    }
}

struct Separators<'a, const QUOTES: bool, const RETURNS: bool> {
    marks: Marks,
    quotes: Quotes,
    separated: Separated,
    out: &'a mut Vec<u32>,
}

#[inline(always)]
fn separators_with<L: Lanes, const QUOTES: bool, const RETURNS: bool>(
    text: &[u8],
    marks: Marks,
    out: &mut Vec<u32>,
) -> Option<Separated> {
    let (quotes, separated) = (Quotes::new(), Separated::default());
    let mut separators = Separators::<QUOTES, RETURNS> { marks, quotes, separated, out };
    let complete = visit_chunks::<L>(text, &mut separators);
    let untidy = separators.quotes.untidy != 0;
    complete.then_some(Separated { untidy, ..separators.separated })
}

impl<const QUOTES: bool, const RETURNS: bool> Visit for Separators<'_, QUOTES, RETURNS> {
    #[inline(always)]
    fn visit<L: Lanes>(&mut self, lanes: L, base: usize, valid: u64) -> bool {
        let quotes = lanes.equal(self.marks.quote) & valid;
        let mut returns = lanes.equal(b'\r') & valid;
        if (!QUOTES && quotes != 0) || (!RETURNS && returns != 0) {
            return false;
        }
        let mut feeds = lanes.equal(b'\n') & valid;
        let mut ends = (lanes.equal(self.marks.delimiter) & valid) | feeds | returns;
        if QUOTES {
            let outside = !self.quotes.inside(quotes, ends, valid);
            (feeds, returns, ends) = (feeds & outside, returns & outside, ends & outside);
        }
        self.separated.feeds += feeds.count_ones();
        if RETURNS {
            self.separated.returns += returns.count_ones();
        }
        push_bits(ends, base as u32, self.out);
        self.quotes.misplaced == 0
    }
}

struct Structurals<'a> {
    marks: Marks,
    out: &'a mut Vec<u32>,
}

#[inline(always)]
fn structurals_with<L: Lanes>(text: &[u8], marks: Marks, out: &mut Vec<u32>) {
    visit_chunks::<L>(text, &mut Structurals { marks, out });
}

impl Visit for Structurals<'_> {
    #[inline(always)]
    fn visit<L: Lanes>(&mut self, lanes: L, base: usize, valid: u64) -> bool {
        let fields = lanes.equal(self.marks.delimiter) | lanes.equal(self.marks.quote);
        let lines = lanes.equal(b'\n') | lanes.equal(b'\r');
        push_bits((fields | lines) & valid, base as u32, self.out);
        true
    }
}

/// Appends `base` plus the position of each bit that is set.
#[inline(always)]
fn push_bits(mut bits: u64, base: u32, out: &mut Vec<u32>) {
    let count = bits.count_ones() as usize;
    out.reserve(LANES + 8);
    let length = out.len();
    // SAFETY: there is room for 72 more. A round of eight begins below `count`, which is at most 64, so that stores
    // reach at most place 71; the first `count` places are written before they become part of the vector.
    unsafe {
        let end = out.as_mut_ptr().add(length);
        let mut done = 0;
        while done < count {
            for place in done..done + 8 {
                end.add(place).write(base.wrapping_add(bits.trailing_zeros()));
                bits &= bits.wrapping_sub(1);
            }
            done += 8;
        }
        out.set_len(length + count);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,popcnt,lzcnt")]
fn survey_avx2(text: &[u8], marks: Marks) -> Survey {
    survey_with::<x86::Avx2>(text, marks)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,popcnt,lzcnt")]
fn separators_avx2<const QUOTES: bool, const RETURNS: bool>(
    text: &[u8],
    marks: Marks,
    out: &mut Vec<u32>,
) -> Option<Separated> {
    separators_with::<x86::Avx2, QUOTES, RETURNS>(text, marks, out)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,popcnt,lzcnt")]
fn structurals_avx2(text: &[u8], marks: Marks, out: &mut Vec<u32>) {
    structurals_with::<x86::Avx2>(text, marks, out);
}

/// Runs a kernel on the slow path of x86-64, whatever the processor has: for tests.
#[cfg(target_arch = "x86_64")]
pub mod sse2 {
    use super::x86::Sse2;
    use super::{Marks, Separated, Survey};

    /// See [`super::survey`].
    pub fn survey(text: &[u8], marks: Marks) -> Survey {
        super::survey_with::<Sse2>(text, marks)
    }

    /// See [`super::separators`].
    pub fn separators<const QUOTES: bool, const RETURNS: bool>(
        text: &[u8],
        marks: Marks,
        out: &mut Vec<u32>,
    ) -> Option<Separated> {
        super::separators_with::<Sse2, QUOTES, RETURNS>(text, marks, out)
    }

    /// See [`super::structurals`].
    pub fn structurals(text: &[u8], marks: Marks, out: &mut Vec<u32>) {
        super::structurals_with::<Sse2>(text, marks, out);
    }
}
