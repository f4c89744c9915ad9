//! A fixed-point number wide enough for any sum of doubles, to round it once.

/// Bits of a digit; digits are kept in twice as many, so that many can be added before carries move.
const BITS: usize = 32;
/// Bits below the smallest double, for what a division leaves.
const FRACTION: i32 = 64;
/// The position of the bit that counts 1.
const POINT: i32 = 1074 + FRACTION;
/// Room up to 2^1086, for 2^62 numbers of the largest size.
const DIGITS: usize = 70;

/// A sum of doubles, exactly.
#[derive(Debug)]
pub struct WideFloat {
    /// The lowest first; digits above the value, and so the whole of it, may be negative.
    digits: [i64; DIGITS],
}

impl Default for WideFloat {
    /// Zero.
    fn default() -> Self {
        Self { digits: [0; DIGITS] }
    }
}

impl WideFloat {
    /// Adds a finite number times 2^`shift`, which must not fall below the smallest double. Not more than a million
    /// times.
    pub fn add(&mut self, number: f64, shift: i32) {
        let bits = number.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        // A number without exponent counts in the smallest unit and has no hidden bit.
        let (mantissa, unit) = if exponent == 0 { (fraction, 1) } else { (fraction | 1 << 52, exponent) };
        let position = (unit - 1 + FRACTION + shift) as usize;
        let spread = u128::from(mantissa) << (position % BITS);
        let sign = if number.is_sign_negative() { -1 } else { 1 };
        for part in 0..3 {
            self.digits[position / BITS + part] += sign * i64::from((spread >> (part * BITS)) as u32);
        }
    }

    /// Adds an int. Not more than a million times.
    pub fn add_int(&mut self, int: i128) {
        let sign = if int < 0 { -1 } else { 1 };
        let (first, offset) = (POINT as usize / BITS, POINT as usize % BITS);
        let magnitude = int.unsigned_abs();
        for part in 0..4 {
            let spread = u64::from((magnitude >> (part * BITS)) as u32) << offset;
            self.digits[first + part] += sign * i64::from(spread as u32);
            self.digits[first + part + 1] += sign * (spread >> BITS) as i64;
        }
    }

    /// The value divided by `count`, rounded to the nearest double, halves to even.
    pub fn quotient(mut self, count: u64) -> f64 {
        self.carry();
        let negative = self.digits[DIGITS - 1] < 0;
        if negative {
            self.digits.iter_mut().for_each(|digit| *digit = -*digit);
            self.carry();
        }
        let mut rest = 0_u128;
        for digit in self.digits.iter_mut().rev() {
            let dividend = rest << BITS | *digit as u128;
            *digit = (dividend / u128::from(count)) as i64;
            rest = dividend % u128::from(count);
        }
        let magnitude = self.rounded(rest != 0);
        if negative { -magnitude } else { magnitude }
    }

    /// Brings all digits but the highest into 0 to 2^32 - 1.
    fn carry(&mut self) {
        let mut carry = 0;
        for digit in &mut self.digits[..DIGITS - 1] {
            let value = *digit + carry;
            *digit = value & 0xffff_ffff;
            carry = value >> BITS;
        }
        self.digits[DIGITS - 1] += carry;
    }

    /// The double nearest to a value that isn't negative and is more by a little if `inexact`.
    fn rounded(&self, inexact: bool) -> f64 {
        let Some(top) = self.digits.iter().rposition(|digit| *digit != 0) else { return 0.0 };
        let highest = top * BITS + self.digits[top].ilog2() as usize;
        // The lowest bit that the double has: 53 bits, or what there are above the smallest unit.
        let lowest = highest.saturating_sub(52).max(FRACTION as usize);
        let mantissa = (lowest..=highest).rev().fold(0, |bits, position| bits << 1 | self.bit(position));
        let half = self.bit(lowest - 1) == 1;
        let beyond = inexact || self.any_below(lowest - 1);
        let up = half && (beyond || mantissa & 1 == 1);
        let exponent = (lowest - FRACTION as usize) as u64;
        // The hidden bit adds one to the exponent, and a mantissa that is rounded up to the next power of two another.
        let bits = (exponent << 52) + mantissa + u64::from(up);
        f64::from_bits(bits.min(f64::INFINITY.to_bits()))
    }

    fn bit(&self, position: usize) -> u64 {
        (self.digits[position / BITS] >> (position % BITS) & 1) as u64
    }

    fn any_below(&self, position: usize) -> bool {
        let part = self.digits[position / BITS] & ((1 << (position % BITS)) - 1);
        part != 0 || self.digits[..position / BITS].iter().any(|digit| *digit != 0)
    }
}
