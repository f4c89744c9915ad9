//! The few loops of the csv code that need `unsafe`: vector instructions, unchecked stores, text known to be valid.
//!
//! Every function here is safe to call. Those that find bytes have a plain twin in [`checked`], which is also what
//! runs where there are no vector instructions; tests compare the two on random input.

use arrow_buffer::NullBuffer;

use crate::exec::batch::Column;

/// How the first look at a text ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Survey {
    /// Whether the text is regular: no blank line, no CR but in front of an LF, no opening quote inside a field. If it
    /// isn't, the other numbers say nothing.
    pub regular: bool,
    /// How many records end with a line end.
    pub records: u32,
    /// Line ends up to `end`, those inside quotes too.
    pub lines: u32,
    /// Where the last of them ends, its line end included.
    pub end: usize,
}

/// The bytes that shape a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marks {
    /// Between fields.
    pub delimiter: u8,
    /// Around fields.
    pub quote: u8,
}

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

/// How many line feeds and carriage returns are among the separators of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LineEnds {
    /// LF
    pub feeds: u32,
    /// CR
    pub returns: u32,
}

/// Appends the position of each delimiter and LF outside quotes, ascending; with `RETURNS` that of each CR as well.
///
/// Stops early and gives nothing where the text needs a closer look: at a quote without `QUOTES`, at a CR without
/// `RETURNS`, and at a quote that opens inside a field. The positions are then incomplete.
pub fn separators<const QUOTES: bool, const RETURNS: bool>(
    text: &[u8],
    marks: Marks,
    out: &mut Vec<u32>,
) -> Option<LineEnds> {
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

/// The same byte by byte and without `unsafe`: what the others are tested against.
pub mod checked {
    use super::{LineEnds, Marks, Survey};

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
    pub fn separators<const QUOTES: bool, const RETURNS: bool>(
        text: &[u8],
        marks: Marks,
    ) -> Option<(Vec<u32>, LineEnds)> {
        let (mut found, mut line_ends) = (Vec::new(), LineEnds::default());
        let mut quoted = false;
        for (at, &byte) in text.iter().enumerate() {
            let before = at.checked_sub(1).map_or(b'\n', |at| text[at]);
            quoted ^= byte == marks.quote;
            if byte == marks.quote && (!QUOTES || (quoted && !may_open(before, marks))) {
                return None;
            }
            if byte == b'\r' && !RETURNS {
                return None;
            }
            if !quoted && (byte == marks.delimiter || matches!(byte, b'\n' | b'\r')) {
                found.push(at as u32);
                line_ends.feeds += u32::from(byte == b'\n');
                line_ends.returns += u32::from(byte == b'\r');
            }
        }
        Some((found, line_ends))
    }

    /// See [`super::structurals`].
    pub fn structurals(text: &[u8], marks: Marks) -> Vec<u32> {
        let is_one = |byte: u8| byte == marks.delimiter || byte == marks.quote || matches!(byte, b'\n' | b'\r');
        (0_u32..).zip(text).filter(|(_, byte)| is_one(**byte)).map(|(at, _)| at).collect()
    }
}

/// Bytes looked at in one step.
const LANES: usize = 64;

/// Sixty-four bytes at once.
trait Lanes: Copy {
    /// Loads them.
    fn load(bytes: &[u8; LANES]) -> Self;
    /// One bit for each byte that equals `byte`, the first lowest.
    fn equal(self, byte: u8) -> u64;
}

/// Where there are no vector instructions.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Copy)]
struct Plain([u8; LANES]);

#[cfg(not(target_arch = "x86_64"))]
impl Lanes for Plain {
    fn load(bytes: &[u8; LANES]) -> Self {
        Self(*bytes)
    }

    fn equal(self, byte: u8) -> u64 {
        self.0.iter().rev().fold(0, |bits, lane| bits << 1 | u64::from(*lane == byte))
    }
}

/// Calls `visit` with each chunk of the text, its position, and the bits that belong to the text. Stops at false.
#[inline(always)]
fn for_each_chunk<L: Lanes>(text: &[u8], mut visit: impl FnMut(L, usize, u64) -> bool) -> bool {
    let (chunks, rest) = text.as_chunks::<LANES>();
    for (index, chunk) in chunks.iter().enumerate() {
        if !visit(L::load(chunk), index * LANES, u64::MAX) {
            return false;
        }
    }
    if rest.is_empty() {
        return true;
    }
    let mut padded = [0; LANES];
    padded[..rest.len()].copy_from_slice(rest);
    visit(L::load(&padded), chunks.len() * LANES, (1 << rest.len()) - 1)
}

/// Follows quotes through a text, chunk by chunk.
struct Quotes {
    /// All bits set if the last chunk ended inside quotes.
    open: u64,
    /// One if the next byte may open quotes.
    may_open: u64,
    /// Quotes that opened inside a field.
    misplaced: u64,
}

impl Quotes {
    /// The text begins a field.
    fn new() -> Self {
        Self { open: 0, may_open: 1, misplaced: 0 }
    }

    /// The bits of a chunk inside quotes, an opening quote included, a closing one not. `ends` are its delimiters and
    /// line ends. A doubled quote closes and opens again, which comes to the same.
    #[inline(always)]
    fn inside(&mut self, quotes: u64, ends: u64) -> u64 {
        let openers = quotes | ends;
        let before = openers << 1 | self.may_open;
        self.may_open = openers >> (LANES - 1);
        if quotes == 0 {
            return self.open;
        }
        let inside = prefix_xor(quotes) ^ self.open;
        self.open = ((inside as i64) >> (LANES - 1)) as u64;
        self.misplaced |= quotes & inside & !before;
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

#[inline(always)]
fn survey_with<L: Lanes>(text: &[u8], marks: Marks) -> Survey {
    let mut survey = Survey::default();
    let mut quotes = Quotes::new();
    let (mut lines, mut irregular) = (0, 0);
    // As if a line feed stood in front of the text.
    let (mut after_feed, mut after_return) = (1, 0);
    for_each_chunk::<L>(text, |lanes, base, valid| {
        let feeds = lanes.equal(b'\n') & valid;
        let returns = lanes.equal(b'\r') & valid;
        let marked = lanes.equal(marks.quote) & valid;
        let mut inside = 0;
        if (marked | quotes.open) != 0 || returns != 0 || after_return != 0 {
            inside = quotes.inside(marked, (lanes.equal(marks.delimiter) & valid) | feeds | returns);
            // A CR must stand in front of an LF; the first byte behind the text is unknown.
            irregular |= (returns << 1 | after_return) & !feeds & valid;
        } else {
            quotes.may_open = (lanes.equal(marks.delimiter) | feeds) >> (LANES - 1);
        }
        irregular |= (feeds | returns) & (feeds << 1 | after_feed) & !inside;
        after_feed = feeds >> (LANES - 1);
        after_return = returns >> (LANES - 1);
        let ends = feeds & !inside;
        if ends != 0 {
            survey.records += ends.count_ones();
            let unused = ends.leading_zeros();
            survey.end = base + LANES - unused as usize;
            survey.lines = lines + (feeds & (u64::MAX >> unused)).count_ones();
        }
        lines += feeds.count_ones();
        true
    });
    survey.regular = (irregular | quotes.misplaced) == 0;
    if survey.regular { survey } else { Survey::default() }
}

#[inline(always)]
fn separators_with<L: Lanes, const QUOTES: bool, const RETURNS: bool>(
    text: &[u8],
    marks: Marks,
    out: &mut Vec<u32>,
) -> Option<LineEnds> {
    let mut quotes = Quotes::new();
    let mut line_ends = LineEnds::default();
    let complete = for_each_chunk::<L>(text, |lanes, base, valid| {
        let marked = lanes.equal(marks.quote) & valid;
        let mut returns = lanes.equal(b'\r') & valid;
        if (!QUOTES && marked != 0) || (!RETURNS && returns != 0) {
            return false;
        }
        let mut feeds = lanes.equal(b'\n') & valid;
        let mut ends = (lanes.equal(marks.delimiter) & valid) | feeds | returns;
        if QUOTES {
            let outside = !quotes.inside(marked, ends);
            (feeds, returns, ends) = (feeds & outside, returns & outside, ends & outside);
        }
        line_ends.feeds += feeds.count_ones();
        if RETURNS {
            line_ends.returns += returns.count_ones();
        }
        push_bits(ends, base as u32, out);
        quotes.misplaced == 0
    });
    complete.then_some(line_ends)
}

#[inline(always)]
fn structurals_with<L: Lanes>(text: &[u8], marks: Marks, out: &mut Vec<u32>) {
    for_each_chunk::<L>(text, |lanes, base, valid| {
        let fields = lanes.equal(marks.delimiter) | lanes.equal(marks.quote);
        let lines = lanes.equal(b'\n') | lanes.equal(b'\r');
        push_bits((fields | lines) & valid, base as u32, out);
        true
    });
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
) -> Option<LineEnds> {
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
    use super::{LineEnds, Marks, Survey, x86::Sse2};

    /// See [`super::survey`].
    pub fn survey(text: &[u8], marks: Marks) -> Survey {
        super::survey_with::<Sse2>(text, marks)
    }

    /// See [`super::separators`].
    pub fn separators<const QUOTES: bool, const RETURNS: bool>(
        text: &[u8],
        marks: Marks,
        out: &mut Vec<u32>,
    ) -> Option<LineEnds> {
        super::separators_with::<Sse2, QUOTES, RETURNS>(text, marks, out)
    }

    /// See [`super::structurals`].
    pub fn structurals(text: &[u8], marks: Marks, out: &mut Vec<u32>) {
        super::structurals_with::<Sse2>(text, marks, out);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8, _mm256_cmpeq_epi8,
        _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8,
    };

    use super::{LANES, Lanes};

    /// Whether the processor has what the wide kernels are compiled for.
    #[inline]
    pub fn has_avx2() -> bool {
        use std::arch::is_x86_feature_detected as has;
        has!("avx2") && has!("bmi1") && has!("popcnt") && has!("lzcnt")
    }

    /// Used only inside functions that are compiled for AVX2.
    #[derive(Clone, Copy)]
    pub struct Avx2([__m256i; 2]);

    impl Lanes for Avx2 {
        #[inline(always)]
        fn load(bytes: &[u8; LANES]) -> Self {
            let start = bytes.as_ptr().cast::<__m256i>();
            // SAFETY: the array holds 64 bytes, the loads need no alignment, and the caller is compiled for AVX2.
            unsafe { Self([_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1))]) }
        }

        #[inline(always)]
        fn equal(self, byte: u8) -> u64 {
            // SAFETY: the caller is compiled for AVX2.
            let bits =
                |half| unsafe { _mm256_movemask_epi8(_mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte as i8))) as u32 };
            u64::from(bits(self.0[0])) | u64::from(bits(self.0[1])) << 32
        }
    }

    /// Every x86-64 processor has SSE2.
    #[derive(Clone, Copy)]
    pub struct Sse2([__m128i; 4]);

    impl Lanes for Sse2 {
        #[inline(always)]
        fn load(bytes: &[u8; LANES]) -> Self {
            let start = bytes.as_ptr().cast::<__m128i>();
            // SAFETY: the array holds 64 bytes and the loads need no alignment.
            Self([0, 1, 2, 3].map(|quarter| unsafe { _mm_loadu_si128(start.add(quarter)) }))
        }

        #[inline(always)]
        fn equal(self, byte: u8) -> u64 {
            let bits = self.0.map(|quarter| {
                // SAFETY: every x86-64 processor has SSE2.
                u64::from(unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(quarter, _mm_set1_epi8(byte as i8))) } as u32)
            });
            bits[0] | bits[1] << 16 | bits[2] << 32 | bits[3] << 48
        }
    }
}

/// The text as a `str`, if it is valid UTF-8.
#[inline]
pub fn valid_text(bytes: &[u8]) -> Option<&str> {
    if bytes.is_ascii() {
        // SAFETY: ASCII is UTF-8.
        return Some(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    std::str::from_utf8(bytes).ok()
}

/// A string column in the making: up to twelve bytes stand in the view itself, longer texts in a side buffer.
#[derive(Default)]
pub struct Views {
    views: Vec<u128>,
    long: Vec<u8>,
}

/// The most bytes of a text that stand in its view.
const INLINE: usize = 12;

impl Views {
    /// Room for so many texts.
    pub fn with_capacity(rows: usize) -> Self {
        Self { views: Vec::with_capacity(rows), long: Vec::new() }
    }

    /// Appends a part of a text; panics where it does not begin and end between characters.
    #[inline]
    pub fn push_part(&mut self, text: &str, start: usize, end: usize) {
        let length = end - start;
        let inline = length <= INLINE && text.is_char_boundary(start) && text.is_char_boundary(end);
        match text.as_bytes().get(start..).and_then(|rest| rest.first_chunk::<16>()) {
            Some(bytes) if inline => {
                // A view is the length in four bytes, then the text, then zeros.
                let kept = u128::MAX >> (8 * (INLINE - length)) & (u128::MAX << 32);
                self.views.push((u128::from_le_bytes(*bytes) << 32) & kept | length as u128);
            }
            _ => self.push(&text[start..end]),
        }
    }

    /// Appends a text.
    pub fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut view = [0; 16];
        view[..4].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        if bytes.len() <= INLINE {
            view[4..4 + bytes.len()].copy_from_slice(bytes);
        } else {
            view[4..8].copy_from_slice(&bytes[..4]);
            let offset = u32::try_from(self.long.len()).expect("the texts of a batch stay below 4 GB");
            view[12..].copy_from_slice(&offset.to_le_bytes());
            self.long.extend_from_slice(bytes);
        }
        self.views.push(u128::from_le_bytes(view));
    }

    /// The column.
    pub fn finish(self, validity: Option<NullBuffer>) -> Column {
        let buffers = if self.long.is_empty() { Vec::new() } else { vec![self.long] };
        // SAFETY: views are made only by `push` and `push_part`, from whole pieces of valid text, and a long one
        // points at the bytes that were appended for it to the only buffer.
        unsafe { Column::string_views(self.views, buffers, validity) }
    }

    /// The values of a string column.
    pub fn finish_array(self) -> arrow_array::StringViewArray {
        match self.finish(None) {
            Column::String(array) => array,
            _ => unreachable!("a string column holds strings"),
        }
    }
}
