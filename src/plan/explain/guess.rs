//! Numbers that nobody knows before a run: what is usual, and the most that usual data come to.
//!
//! Input sizes are known, the values in them are not. What is called usual is the best guess; it may be too low. The
//! most is what rows of short or long values come to, whichever is more.

use std::iter::Sum;
use std::ops::{Add, Mul};

use crate::analysis::types::{Kind, Type};

/// A number before a run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Guess {
    /// What is usual.
    pub usual: u64,
    /// The most that usual data come to; at least as much.
    pub most: u64,
}

impl Guess {
    /// A number of which these are what is usual and the most.
    pub fn new(usual: u64, most: u64) -> Self {
        Self { usual, most: most.max(usual) }
    }

    /// A number that is known.
    pub fn exactly(number: u64) -> Self {
        Self { usual: number, most: number }
    }

    /// The figure to show: the most where less may come, else what is usual.
    pub fn shown(self, at_most: bool) -> u64 {
        if at_most { self.most } else { self.usual }
    }

    /// What comes of both figures.
    pub fn map(self, change: impl Fn(u64) -> u64) -> Self {
        Self::new(change(self.usual), change(self.most))
    }

    /// The product of two numbers.
    pub fn times(self, other: Self) -> Self {
        Self { usual: self.usual.saturating_mul(other.usual), most: self.most.saturating_mul(other.most) }
    }

    /// At most so many.
    pub fn capped(self, most: u64) -> Self {
        self.map(|number| number.min(most))
    }
}

impl Add for Guess {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { usual: self.usual.saturating_add(other.usual), most: self.most.saturating_add(other.most) }
    }
}

impl Mul<u64> for Guess {
    type Output = Self;

    fn mul(self, factor: u64) -> Self {
        self.times(Self::exactly(factor))
    }
}

impl Sum for Guess {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// Bytes of a value's text: of a short, a usual and a long one.
#[derive(Clone, Copy, Debug)]
pub struct TextWidth {
    pub short: u64,
    pub usual: u64,
    pub long: u64,
}

impl TextWidth {
    /// The texts of values of a type.
    pub fn of(ty: &Type) -> Self {
        let (short, usual, long) = match &ty.kind {
            Kind::Null | Kind::Error => (0, 0, 0),
            Kind::Bool => (1, 4, 5),
            Kind::Int => (2, 4, 12),
            Kind::Float | Kind::Decimal { .. } => (3, 7, 18),
            Kind::String | Kind::Any => (3, 10, 32),
            Kind::Date => (10, 10, 12),
            Kind::DateTime => (19, 19, 30),
            Kind::Array(_) | Kind::Map => (4, 20, 80),
        };
        // Many values of a nullable column are no text at all.
        Self { short: if ty.nullable { short / 2 } else { short }, usual, long }
    }
}
