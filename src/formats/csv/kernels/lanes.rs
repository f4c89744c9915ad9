//! Text sixty-four bytes at a time: one bit for each byte.

/// Bytes looked at in one step.
pub const LANES: usize = 64;

/// Sixty-four bytes at once.
pub trait Lanes: Copy {
    /// Loads them.
    fn load(bytes: &[u8; LANES]) -> Self;
    /// One bit for each byte that equals `byte`, the first lowest.
    fn equal(self, byte: u8) -> u64;
}

/// Where there are no vector instructions.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Copy)]
pub struct Plain([u8; LANES]);

#[cfg(not(target_arch = "x86_64"))]
impl Lanes for Plain {
    fn load(bytes: &[u8; LANES]) -> Self {
        Self(*bytes)
    }

    fn equal(self, byte: u8) -> u64 {
        self.0.iter().rev().fold(0, |bits, lane| bits << 1 | u64::from(*lane == byte))
    }
}

/// Something done with each chunk of a text. A trait and not a closure, since only a function that is always inlined
/// is compiled for the vector instructions of its caller.
pub trait Visit {
    /// Takes a chunk, its position and the bits that belong to the text. Stops at false.
    fn visit<L: Lanes>(&mut self, lanes: L, base: usize, valid: u64) -> bool;
}

/// Visits each chunk of a text. False if a visit stopped.
#[inline(always)]
pub fn visit_chunks<L: Lanes>(text: &[u8], visitor: &mut impl Visit) -> bool {
    let (chunks, rest) = text.as_chunks::<LANES>();
    for (index, chunk) in chunks.iter().enumerate() {
        if !visitor.visit(L::load(chunk), index * LANES, u64::MAX) {
            return false;
        }
    }
    if rest.is_empty() {
        return true;
    }
    let mut padded = [0; LANES];
    padded[..rest.len()].copy_from_slice(rest);
    visitor.visit(L::load(&padded), chunks.len() * LANES, (1 << rest.len()) - 1)
}

#[cfg(target_arch = "x86_64")]
pub mod x86 {
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
