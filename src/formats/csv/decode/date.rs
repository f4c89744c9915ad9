//! Columns of dates and date_times.

use super::fields::Cells;
use super::read::{Outcome, read};
use crate::exec::batch::Column;
use crate::formats::calendar;
use crate::formats::dates::DateParser;

/// Dates.
pub(super) fn dates(cells: &Cells<'_>, parser: &DateParser) -> Outcome {
    let iso = parser.begins_with_iso_date();
    let mut days = Days::default();
    let fast = |text: &[u8], start: usize, end: usize| {
        if iso && end.wrapping_sub(start) == 10 { days.read(text.get(start..)?.first_chunk()?) } else { None }
    };
    read(cells, fast, |cell| parser.date(cell).ok()).into_outcome(cells.stored, Column::dates)
}

/// Date_times.
pub(super) fn date_times(cells: &Cells<'_>, parser: &DateParser) -> Outcome {
    let longest = match (parser.begins_with_iso_date_time(), parser.takes_rfc_3339()) {
        (false, _) => 0,
        (true, false) => 19,
        (true, true) => 20,
    };
    let mut days = Days::default();
    let fast = |text: &[u8], start: usize, end: usize| {
        let length = end.wrapping_sub(start);
        let text: &[u8; 20] = text.get(start..)?.first_chunk()?;
        let zone_fits = length == 19 || (length == 20 && text[19] == b'Z');
        if length > longest || !zone_fits {
            return None;
        }
        let days = days.read(text.first_chunk()?)?;
        Some(i128::from(days) * calendar::DAY + i128::from(seconds(text)?) * calendar::SECOND)
    };
    read(cells, fast, |cell| parser.date_time(cell).ok()).into_outcome(cells.stored, Column::date_times)
}

/// Reads days, and remembers the last one: neighbours often share theirs.
#[derive(Default)]
struct Days {
    last: Option<([u8; 10], i32)>,
}

impl Days {
    /// `2024-03-15`, if there is such a day.
    #[inline(always)]
    fn read(&mut self, text: &[u8; 10]) -> Option<i32> {
        if let Some((last, days)) = self.last
            && last == *text
        {
            return Some(days);
        }
        let days = iso_day(text)?;
        self.last = Some((*text, days));
        Some(days)
    }
}

fn iso_day(text: &[u8; 10]) -> Option<i32> {
    let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = *text else { return None };
    let year = pair(y0, y1)? * 100 + pair(y2, y3)?;
    let (month, day) = (pair(m0, m1)?, pair(d0, d1)?);
    calendar::exists(year, month, day).then(|| calendar::days(year, month, day))
}

/// The second of the day of a text like `2024-03-15T10:20:30`.
#[inline(always)]
fn seconds(text: &[u8; 20]) -> Option<u32> {
    let [.., b'T', h0, h1, b':', m0, m1, b':', s0, s1, _] = *text else { return None };
    let (hour, minute, second) = (pair(h0, h1)?, pair(m0, m1)?, pair(s0, s1)?);
    (hour < 24 && minute < 60 && second < 60).then_some(hour * 3600 + minute * 60 + second)
}

#[inline(always)]
fn pair(tens: u8, ones: u8) -> Option<u32> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| u32::from(tens) * 10 + u32::from(ones))
}
