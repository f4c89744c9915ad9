//! Exact sums of floats: the result is that of the real numbers, rounded once, whatever their order.
//!
//! Two doubles hold almost every sum exactly: adding a number to the high one leaves an error that is added to the low
//! one. What that leaves, in turn, goes into a list of doubles that is only made where it is needed.

use super::encoded::fixed;
use super::wide_float::WideFloat;

/// An exact sum. No two sums of the same numbers differ in what they give.
#[derive(Debug, Default)]
pub struct FloatSum {
    high: f64,
    low: f64,
    more: Option<Box<More>>,
}

/// What two doubles have no room for.
#[derive(Debug, Default)]
struct More {
    /// Non-overlapping doubles, the smallest first.
    parts: Vec<f64>,
    /// The same for numbers so large that their sum may leave the range of doubles, divided by 2^[`SHIFT`].
    huge: Vec<f64>,
    positive_infinity: bool,
    negative_infinity: bool,
    not_a_number: bool,
    /// Whether a product of finite numbers was infinite.
    overflow: bool,
}

/// 2^960: so many smaller numbers that there could be stay below the largest double.
const HUGE: f64 = f64::from_bits((960 + 1023) << 52);
const SHIFT: i32 = 600;
/// 2^-300
const HALF_SHIFT: f64 = f64::from_bits((1023 - 300) << 52);
/// 2^-960: the error of a product that is larger is a double.
const TINY: f64 = f64::from_bits((1023 - 960) << 52);

impl FloatSum {
    /// Most bytes that adding one number can take elsewhere: a list may double to 64 parts.
    pub const MOST_HEAP: u64 = (size_of::<More>() + 32 * size_of::<f64>()) as u64;

    /// Adds a number. Gives how many bytes more are held elsewhere.
    #[inline]
    pub fn add(&mut self, number: f64) -> u64 {
        // False for NaN, too.
        if number.abs() < HUGE {
            let (high, rest) = two_sum(self.high, number);
            let (low, rest) = two_sum(self.low, rest);
            (self.high, self.low) = (high, low);
            if rest == 0.0 {
                return 0;
            }
            return self.more(|more| insert(&mut more.parts, rest));
        }
        self.more(|more| more.add_huge(number))
    }

    /// Adds a product exactly, but for one below 2^-960, which is rounded first, and one that no double holds, which is
    /// infinite.
    pub fn add_product(&mut self, left: f64, right: f64) -> u64 {
        let product = left * right;
        let exact = product.is_finite() && product.abs() > TINY;
        let error = if exact { left.mul_add(right, -product) } else { 0.0 };
        let grown = self.add(product) + self.add(error);
        let overflow = product.is_infinite() && left.is_finite() && right.is_finite();
        grown + if overflow { self.more(|more| more.overflow = true) } else { 0 }
    }

    /// The sum, correctly rounded; infinite where it [leaves the range of doubles](Self::overflows).
    pub fn value(&self) -> f64 {
        match &self.more {
            None => self.high + self.low,
            Some(more) => more.special().unwrap_or_else(|| self.quotient(1)),
        }
    }

    /// Whether numbers that all were finite have a sum that no double holds.
    pub fn overflows(&self) -> bool {
        let leaves_range = |more: &More| more.special().is_none() && self.quotient(1).is_infinite();
        self.more.as_ref().is_some_and(|more| more.overflow || leaves_range(more))
    }

    /// The sum divided by a count, correctly rounded.
    pub fn mean(&self, count: u64) -> f64 {
        match &self.more {
            None if self.low == 0.0 && count < 1 << 53 => self.high / count as f64,
            None => self.quotient(count),
            Some(more) => more.special().unwrap_or_else(|| self.quotient(count)),
        }
    }

    /// Appends the sum as bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[u8::from(self.more.is_some()), u8::from(self.low != 0.0)]);
        out.extend_from_slice(&self.high.to_le_bytes());
        if self.low != 0.0 {
            out.extend_from_slice(&self.low.to_le_bytes());
        }
        if let Some(more) = &self.more {
            more.encode(out);
        }
    }

    /// Adds an encoded sum, which it takes off the front. Gives how many bytes more are held elsewhere: at most three
    /// times [`Self::MOST_HEAP`].
    pub fn merge(&mut self, state: &mut &[u8]) -> u64 {
        let [has_more, has_low] = fixed(state);
        let mut grown = self.add(f64::from_le_bytes(fixed(state)));
        if has_low == 1 {
            grown += self.add(f64::from_le_bytes(fixed(state)));
        }
        if has_more == 0 {
            return grown;
        }
        grown + self.more(|more| more.merge(state))
    }

    fn quotient(&self, count: u64) -> f64 {
        let mut wide = WideFloat::default();
        wide.add(self.high, 0);
        wide.add(self.low, 0);
        if let Some(more) = &self.more {
            more.parts.iter().for_each(|part| wide.add(*part, 0));
            more.huge.iter().for_each(|part| wide.add(*part, SHIFT));
        }
        wide.quotient(count)
    }

    /// Changes what is held elsewhere, and gives how many bytes more that are now.
    #[cold]
    fn more(&mut self, change: impl FnOnce(&mut More)) -> u64 {
        let before = self.more.as_ref().map_or(0, |more| more.bytes());
        let more = self.more.get_or_insert_default();
        change(more);
        more.bytes() - before
    }
}

impl More {
    fn add_huge(&mut self, number: f64) {
        if number.is_finite() {
            insert(&mut self.huge, number * HALF_SHIFT * HALF_SHIFT);
        }
        self.positive_infinity |= number == f64::INFINITY;
        self.negative_infinity |= number == f64::NEG_INFINITY;
        self.not_a_number |= number.is_nan();
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let flags = [self.positive_infinity, self.negative_infinity, self.not_a_number, self.overflow];
        out.extend(flags.map(u8::from));
        for list in [&self.parts, &self.huge] {
            out.push(u8::try_from(list.len()).expect("parts that don't overlap are some forty"));
            list.iter().for_each(|part| out.extend_from_slice(&part.to_le_bytes()));
        }
    }

    fn merge(&mut self, state: &mut &[u8]) {
        let flags: [u8; 4] = fixed(state);
        self.positive_infinity |= flags[0] == 1;
        self.negative_infinity |= flags[1] == 1;
        self.not_a_number |= flags[2] == 1;
        self.overflow |= flags[3] == 1;
        for list in [&mut self.parts, &mut self.huge] {
            let [length] = fixed(state);
            (0..length).for_each(|_| insert(list, f64::from_le_bytes(fixed(state))));
        }
    }

    /// The sum if one of the numbers was not finite.
    fn special(&self) -> Option<f64> {
        match (self.positive_infinity, self.negative_infinity) {
            _ if self.not_a_number => Some(f64::NAN),
            (true, true) => Some(f64::NAN),
            (true, false) => Some(f64::INFINITY),
            (false, true) => Some(f64::NEG_INFINITY),
            (false, false) => None,
        }
    }

    fn bytes(&self) -> u64 {
        (size_of::<Self>() + size_of::<f64>() * (self.parts.capacity() + self.huge.capacity())) as u64
    }
}

/// The rounded sum of two numbers and what it is off by.
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

/// Adds a number to non-overlapping parts, which stay so; there are never more than some forty of them.
fn insert(parts: &mut Vec<f64>, mut number: f64) {
    let mut kept = 0;
    for position in 0..parts.len() {
        let (sum, rest) = two_sum(number, parts[position]);
        if rest != 0.0 {
            parts[kept] = rest;
            kept += 1;
        }
        number = sum;
    }
    parts.truncate(kept);
    if number != 0.0 {
        parts.push(number);
    }
}
