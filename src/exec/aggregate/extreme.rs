//! `min(e)` and `max(e)`: numbers by value, false before true, texts by their bytes, dates and times by time. NaN stands
//! behind all other numbers, as where rows are sorted. Of equal values the first is kept.

use std::cmp::Ordering;
use std::ops::Range;

use super::encoded::{fixed, part, put_part};
use super::slots::{Results, Slots, for_each_valid, text_bytes};
use super::{Extent, Finished, RowOrder, State};
use crate::analysis::types::Kind;
use crate::exec::batch::{Bitmap, Column};
use crate::exec::value::compare_decimals;
use crate::exec::varint;

/// Which end of the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// `min`
    Least,
    /// `max`
    Greatest,
}

/// The state for arguments of `kind`.
pub fn state(kind: &Kind, side: Side) -> Box<dyn State> {
    match kind {
        Kind::Bool => Box::new(Extremes::<bool>::new(side)),
        Kind::Int => Box::new(Extremes::<i64>::new(side)),
        Kind::Float => Box::new(Extremes::<f64>::new(side)),
        Kind::Decimal { .. } => Box::new(Extremes::<(i128, u8)>::new(side)),
        Kind::Date => Box::new(Extremes::<i32>::new(side)),
        Kind::DateTime => Box::new(Extremes::<i128>::new(side)),
        Kind::String => Box::new(Texts { side, slots: Slots::default() }),
        _ => unreachable!("only values with an order have a first and a last"),
    }
}

impl Side {
    /// Whether a value takes the place of one that compares to it like this.
    fn takes(self, order: Ordering) -> bool {
        match self {
            Side::Least => order.is_lt(),
            Side::Greatest => order.is_gt(),
        }
    }
}

/// The extreme of each group: two lists, since a value beside its flag would take up to twice its size.
struct Extremes<T> {
    side: Side,
    best: Slots<T>,
    known: Slots<bool>,
}

/// A value of fixed width.
trait Cell: Copy + Default + Send + Sync {
    /// Which comes first.
    fn order(&self, other: &Self) -> Ordering;

    /// Calls `visit` with each row of a column that has a value of this type.
    fn visit(column: &Column, visit: impl FnMut(usize, Self));

    /// Appends the value as bytes.
    fn encode(&self, out: &mut Vec<u8>);

    /// Takes an encoded value off the front.
    fn decode(state: &mut &[u8]) -> Self;

    /// The column of the results.
    fn column(results: Results<Self>) -> Finished;
}

impl<T: Default> Extremes<T> {
    fn new(side: Side) -> Self {
        Self { side, best: Slots::default(), known: Slots::default() }
    }
}

impl<T: Cell> Extremes<T> {
    /// Puts a value in the place of the one that is known, if it stands further on its side.
    #[inline]
    fn offer(&mut self, group: u32, value: T) {
        let (best, known) = (self.best.of(group), self.known.of(group));
        if !*known || self.side.takes(value.order(best)) {
            (*best, *known) = (value, true);
        }
    }
}

impl<T: Cell> State for Extremes<T> {
    fn update(&mut self, groups: &[u32], count: usize, args: &[Column]) {
        self.grow(count);
        T::visit(&args[0], |row, value| self.offer(groups[row], value));
    }

    fn grow(&mut self, count: usize) {
        self.best.grow(count);
        self.known.grow(count);
    }

    fn bytes(&self) -> u64 {
        self.best.bytes() + self.known.bytes()
    }

    fn bound(&self, count: usize, _args: &[Column]) -> u64 {
        self.best.bound(count) + self.known.bound(count)
    }

    fn encode(&self, group: u32, out: &mut Vec<u8>) {
        let known = *self.known.get(group);
        out.push(u8::from(known));
        if known {
            self.best.get(group).encode(out);
        }
    }

    fn merge_bound(&self, count: usize, _state: &[u8]) -> u64 {
        self.bound(count, &[])
    }

    fn merge(&mut self, group: u32, state: &mut &[u8]) {
        if fixed(state) == [1] {
            self.offer(group, T::decode(state));
        }
    }

    fn finish(&self, groups: Range<u32>, _: Option<RowOrder<'_>>) -> Finished {
        let states = self.best.range(&groups).zip(self.known.range(&groups));
        T::column(Results::of(groups.start, states, |(best, known)| Ok(known.then_some(*best))))
    }
}

macro_rules! cell {
    ($type:ty, $column:ident, $order:expr, $make:expr, $encode:expr, $decode:expr) => {
        impl Cell for $type {
            fn order(&self, other: &Self) -> Ordering {
                $order(self, other)
            }

            fn visit(column: &Column, mut visit: impl FnMut(usize, Self)) {
                let Column::$column(a) = column else { return };
                for_each_valid(column, |row| visit(row, a.value(row)));
            }

            fn encode(&self, out: &mut Vec<u8>) {
                $encode(*self, out);
            }

            fn decode(state: &mut &[u8]) -> Self {
                $decode(state)
            }

            fn column(results: Results<Self>) -> Finished {
                results.column($make)
            }
        }
    };
}

cell!(
    bool,
    Bool,
    Ord::cmp,
    |values: Vec<bool>, validity| Column::bools(Bitmap::from(values), validity),
    put_int,
    |state| varint::take_signed(state) == 1
);
cell!(i64, Int, Ord::cmp, Column::ints, put_int, |state| varint::take_signed(state) as i64);
cell!(f64, Float, order_floats, Column::floats, put_float, |state| f64::from_le_bytes(fixed(state)));
cell!(i32, Date, Ord::cmp, Column::dates, put_int, |state| varint::take_signed(state) as i32);
cell!(i128, DateTime, Ord::cmp, Column::date_times, put_int, varint::take_signed);

impl Cell for (i128, u8) {
    fn order(&self, other: &Self) -> Ordering {
        compare_decimals(*self, *other)
    }

    fn visit(column: &Column, mut visit: impl FnMut(usize, Self)) {
        let Column::Decimal(a) = column else { return };
        for_each_valid(column, |row| visit(row, (a.mantissas.value(row), a.scales.at(row))));
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.1);
        put_int(self.0, out);
    }

    fn decode(state: &mut &[u8]) -> Self {
        let [scale] = fixed(state);
        (varint::take_signed(state), scale)
    }

    fn column(results: Results<Self>) -> Finished {
        results.decimals()
    }
}

fn put_int(value: impl Into<i128>, out: &mut Vec<u8>) {
    varint::put_signed(value.into(), out);
}

fn put_float(value: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn order_floats(a: &f64, b: &f64) -> Ordering {
    a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// The first or last text of each group.
struct Texts {
    side: Side,
    slots: Slots<Option<Box<str>>>,
}

impl Texts {
    /// As [`Extremes::offer`].
    fn offer(&mut self, group: u32, text: &str) {
        let best = self.slots.of(group);
        let known = best.as_deref();
        if known.is_none_or(|known| self.side.takes(text.as_bytes().cmp(known.as_bytes()))) {
            let before = known.map_or(0, str::len) as u64;
            *best = Some(text.into());
            self.slots.heap = self.slots.heap + text.len() as u64 - before;
        }
    }
}

impl State for Texts {
    fn update(&mut self, groups: &[u32], count: usize, args: &[Column]) {
        self.slots.grow(count);
        let Column::String(a) = &args[0] else { return };
        for_each_valid(&args[0], |row| self.offer(groups[row], a.value(row)));
    }

    fn grow(&mut self, count: usize) {
        self.slots.grow(count);
    }

    fn bytes(&self) -> u64 {
        self.slots.bytes()
    }

    fn bound(&self, count: usize, args: &[Column]) -> u64 {
        self.slots.bound(count) + text_bytes(&args[0])
    }

    fn encode(&self, group: u32, out: &mut Vec<u8>) {
        let best = self.slots.get(group);
        out.push(u8::from(best.is_some()));
        best.iter().for_each(|best| put_part(best.as_bytes(), out));
    }

    fn merge_bound(&self, count: usize, state: &[u8]) -> u64 {
        self.slots.bound(count) + state.len() as u64
    }

    fn merge(&mut self, group: u32, state: &mut &[u8]) {
        if fixed(state) == [1] {
            self.offer(group, std::str::from_utf8(part(state)).expect("a text was encoded"));
        }
    }

    fn may_be_large(&self) -> bool {
        true
    }

    fn extent(&self, group: u32) -> Extent {
        let bytes = self.slots.get(group).as_ref().map_or(0, |best| best.len() as u64);
        Extent { column: bytes, text: bytes }
    }

    fn extent_of(&self, state: &[u8]) -> Extent {
        let bytes = state.len() as u64;
        Extent { column: bytes, text: bytes }
    }

    fn finish(&self, groups: Range<u32>, _: Option<RowOrder<'_>>) -> Finished {
        Finished::of(Column::strings(self.slots.range(&groups).map(Option::as_deref)))
    }
}
