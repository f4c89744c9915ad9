//! Appends short texts to a vector with stores of a fixed size.

use super::Marks;

/// Writes behind a vector's end. What was written belongs to the vector once the pen is [finished](Pen::finish).
///
/// No function that isn't inlined takes a pen, so that a loop keeps it in registers.
pub struct Pen<'a> {
    out: &'a mut Vec<u8>,
    /// The vector's memory, and how much of it there is.
    start: *mut u8,
    capacity: usize,
    /// How much of it is written.
    length: usize,
}

impl<'a> Pen<'a> {
    /// A pen that appends to `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        let (start, capacity, length) = (out.as_mut_ptr(), out.capacity(), out.len());
        Self { out, start, capacity, length }
    }

    /// Appends the first `length` of some bytes.
    #[inline(always)]
    pub fn put<const N: usize>(&mut self, bytes: [u8; N], length: usize) {
        assert!(length <= N, "no more than all of them");
        if self.capacity - self.length < N {
            self.grow(N);
        }
        // SAFETY: the vector's memory has room for N bytes behind the `length` that are written, and no alignment is
        // needed to write bytes.
        unsafe { self.start.add(self.length).cast::<[u8; N]>().write_unaligned(bytes) };
        self.length += length;
    }

    /// Appends a text, best a short one.
    #[inline(always)]
    pub fn put_text(&mut self, text: &[u8]) {
        // Two stores that may overlap are all that a short text takes.
        if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>())
            && text.len() <= 16
        {
            self.put_overlapping(*first, *last, text.len());
        } else if let (Some(first), Some(last)) = (text.first_chunk::<16>(), text.last_chunk::<16>())
            && text.len() <= 32
        {
            self.put_overlapping(*first, *last, text.len());
        } else {
            self.append(|out| out.extend_from_slice(text));
        }
    }

    /// Appends a text of N to 2 N bytes, given its first and its last N.
    #[inline(always)]
    fn put_overlapping<const N: usize>(&mut self, first: [u8; N], last: [u8; N], length: usize) {
        assert!((N..=2 * N).contains(&length), "the two cover all of the text");
        if self.capacity - self.length < length {
            self.grow(length);
        }
        // SAFETY: the vector's memory has room for `length` bytes behind those that are written; both stores lie within
        // them, and cover them, since `length` is N to 2 N. No alignment is needed to write bytes.
        unsafe {
            let end = self.start.add(self.length);
            end.cast::<[u8; N]>().write_unaligned(first);
            end.add(length - N).cast::<[u8; N]>().write_unaligned(last);
        }
        self.length += length;
    }

    /// How long the vector is, with what was written.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether the vector is empty still.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Lets `write` append to the vector itself.
    #[inline(always)]
    pub fn append<T>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        // SAFETY: `length` bytes were part of the vector or have been written since, inside its capacity.
        unsafe { self.out.set_len(self.length) };
        let result = write(self.out);
        (self.start, self.capacity, self.length) = (self.out.as_mut_ptr(), self.out.capacity(), self.out.len());
        result
    }

    /// Makes what was written part of the vector.
    pub fn finish(mut self) {
        self.append(|_| ());
    }

    #[inline(always)]
    fn grow(&mut self, count: usize) {
        self.append(|out| make_room(out, count));
    }
}

#[cold]
#[inline(never)]
fn make_room(out: &mut Vec<u8>, count: usize) {
    out.reserve(count);
}

/// Whether some bytes hold a delimiter, a quote or the end of a line.
#[inline(always)]
pub fn shapes(bytes: [u8; 16], marks: Marks) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8};
        // SAFETY: every x86-64 processor has SSE2, and the load needs no alignment.
        unsafe {
            let bytes = _mm_loadu_si128(bytes.as_ptr().cast());
            let is = |byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8));
            let fields = _mm_or_si128(is(marks.delimiter), is(marks.quote));
            _mm_movemask_epi8(_mm_or_si128(fields, _mm_or_si128(is(b'\n'), is(b'\r')))) != 0
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    super::checked::shapes(&bytes, marks)
}
