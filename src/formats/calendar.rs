//! Days and nanoseconds counted from 1970-01-01T00:00:00, in the proleptic Gregorian calendar.

/// Nanoseconds of a second.
pub const SECOND: i128 = 1_000_000_000;
/// Nanoseconds of a day.
pub const DAY: i128 = 86_400 * SECOND;
/// 0001-01-01 as days since 1970-01-01.
pub const FIRST_DAY: i32 = -719_162;
/// 9999-12-31 as days since 1970-01-01.
pub const LAST_DAY: i32 = 2_932_896;

/// The days since 1970-01-01 of a day that must exist (see [`exists`]).
#[inline]
pub fn days(year: u32, month: u32, day: u32) -> i32 {
    // The year begins in March here, so that the odd day comes last and month lengths follow one formula.
    let shifted = year - u32::from(month <= 2);
    let (era, year_of_era) = (shifted / 400, shifted % 400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era) as i32 - 719_468
}

/// Year, month and day of a count of days since 1970-01-01.
#[inline]
pub fn civil(days: i32) -> (i64, u32, u32) {
    let shifted = i64::from(days) + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097) as u32;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (i64::from(year_of_era) + era * 400 + i64::from(month <= 2), month, day)
}

/// Whether a day exists, in the years 0001 to 9999.
#[inline]
pub fn exists(year: u32, month: u32, day: u32) -> bool {
    (1..=9999).contains(&year) && (1..=12).contains(&month) && day >= 1 && day <= days_in_month(year, month)
}

/// The length of a month, which must be 1 to 12.
#[inline]
pub fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        2 => 28 + u32::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[inline]
fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}
