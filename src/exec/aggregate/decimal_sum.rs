//! Exact sums of decimals: in 128 bits as long as they fit, then in 256.

use arrow_buffer::i256;

use super::encoded::fixed;
use crate::exec::eval::wide;
use crate::exec::value::power_of_ten;
use crate::exec::varint;
use crate::formats::parse::MAX_SCALE;

/// An exact sum of decimals of any scales.
#[derive(Debug, Default)]
pub struct DecimalSum {
    /// A part of the sum, with `scale` places.
    mantissa: i128,
    /// The rest of it, with [`MAX_SCALE`] places.
    rest: Option<Box<i256>>,
    /// The most places of the numbers so far.
    scale: u8,
}

impl DecimalSum {
    /// Most bytes that adding one number can take elsewhere.
    pub const MOST_HEAP: u64 = size_of::<i256>() as u64;

    /// Adds a number. Gives how many bytes more are held elsewhere.
    #[inline]
    pub fn add(&mut self, mantissa: i128, scale: u8) -> u64 {
        if scale == self.scale
            && let Some(sum) = self.mantissa.checked_add(mantissa)
        {
            self.mantissa = sum;
            return 0;
        }
        self.add_other(mantissa, scale)
    }

    /// The sum and its scale; `None` if it has too many digits even without places.
    pub fn value(&self) -> Option<(i128, u8)> {
        let (total, scale) = self.total();
        // No number has more places than `scale`, so what is beyond is zero.
        wide::fitted(total.wrapping_div(wide::power_of_ten(scale - self.scale)), self.scale)
    }

    /// The sum divided by a count, to as many places as fit; `None` as for [`Self::value`].
    pub fn mean(&self, count: u64) -> Option<(i128, u8)> {
        let (total, scale) = self.total();
        let divisor = i256::from_i128(i128::from(count)).wrapping_mul(wide::power_of_ten(scale));
        wide::divided(total, divisor, self.scale)
    }

    /// Appends the sum as bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.scale, u8::from(self.rest.is_some())]);
        varint::put_signed(self.mantissa, out);
        if let Some(rest) = &self.rest {
            out.extend_from_slice(&rest.to_le_bytes());
        }
    }

    /// Adds an encoded sum, which it takes off the front. Gives how many bytes more are held elsewhere.
    pub fn merge(&mut self, state: &mut &[u8]) -> u64 {
        let [scale, has_rest] = fixed(state);
        let grown = self.add(varint::take_signed(state), scale);
        if has_rest == 0 {
            return grown;
        }
        grown + self.change_rest(i256::from_le_bytes(fixed(state)))
    }

    fn add_other(&mut self, mantissa: i128, scale: u8) -> u64 {
        let mut grown = 0;
        if scale > self.scale {
            grown += self.rescale(scale);
        }
        let aligned = mantissa.checked_mul(power_of_ten(self.scale - scale));
        let Some(aligned) = aligned else { return grown + self.add_rest(mantissa, scale) };
        match self.mantissa.checked_add(aligned) {
            Some(sum) => self.mantissa = sum,
            None => grown += self.add_rest(aligned, self.scale),
        }
        grown
    }

    /// Gives the part in 128 bits more places, or moves it to the rest.
    fn rescale(&mut self, scale: u8) -> u64 {
        let more = power_of_ten(scale - self.scale);
        let before = std::mem::replace(&mut self.scale, scale);
        match self.mantissa.checked_mul(more) {
            Some(mantissa) => {
                self.mantissa = mantissa;
                0
            }
            None => {
                let mantissa = std::mem::take(&mut self.mantissa);
                self.add_rest(mantissa, before)
            }
        }
    }

    fn add_rest(&mut self, mantissa: i128, scale: u8) -> u64 {
        self.change_rest(at_most_places(mantissa, scale))
    }

    fn change_rest(&mut self, number: i256) -> u64 {
        let grown = if self.rest.is_none() { Self::MOST_HEAP } else { 0 };
        let rest = self.rest.get_or_insert_default();
        **rest = rest.wrapping_add(number);
        grown
    }

    /// The whole sum and its number of places. It takes some 220 bits, so nothing here overflows.
    fn total(&self) -> (i256, u8) {
        match &self.rest {
            None => (i256::from_i128(self.mantissa), self.scale),
            Some(rest) => (rest.wrapping_add(at_most_places(self.mantissa, self.scale)), MAX_SCALE),
        }
    }
}

/// A number with [`MAX_SCALE`] places.
fn at_most_places(mantissa: i128, scale: u8) -> i256 {
    i256::from_i128(mantissa).wrapping_mul(wide::power_of_ten(MAX_SCALE - scale))
}
