//! Ids of dead letters.

use uuid::Uuid;

/// Ids that increase with the number of their dead letter: version 7, all of the moment in which the first was made.
/// Since an id is its number's, a dead letter can name another one that is written behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LetterIds {
    first: u128,
}

/// The bits of an id that are counted up: those behind its variant, but for the first, so that they never overflow.
const COUNTED: u128 = (1 << 61) - 1;

impl LetterIds {
    /// Ids of this moment.
    pub fn now() -> Self {
        Self { first: Uuid::now_v7().as_u128() & !(1 << 61) }
    }

    /// The id of dead letter number `number`.
    pub fn at(&self, number: u64) -> Uuid {
        Uuid::from_u128(self.first + (u128::from(number) & COUNTED))
    }
}
