//! Methods of dates and date_times.

use super::signature::{Kinds, Nulls, Param, ResultKind, Role, Signature};

const PART: Signature = Signature {
    receiver: Kinds::DATES,
    params: &[],
    variadic: false,
    result: ResultKind::Int,
    nulls: Nulls::Operands,
    doc: "",
    examples: &[],
};

const TIME_PART: Signature = Signature { nulls: Nulls::DateReceiver, ..PART };

const SHIFT: Signature = Signature {
    params: &[Param::new("count", Kinds::COUNT)],
    result: ResultKind::Receiver,
    nulls: Nulls::Possible,
    ..PART
};

const DIFFERENCE: Signature = Signature { params: &[Param::new("earlier", Kinds::DATES)], ..PART };

pub(super) const YEAR: Signature = Signature { doc: "The year.", examples: &["#2024-03-15#.year() => 2024"], ..PART };

pub(super) const MONTH: Signature =
    Signature { doc: "The month, from 1.", examples: &["#2024-03-15#.month() => 3"], ..PART };

pub(super) const DAY: Signature =
    Signature { doc: "The day of the month, from 1.", examples: &["#2024-03-15#.day() => 15"], ..PART };

pub(super) const HOUR: Signature = Signature {
    doc: "The hour, from 0; null for a date.",
    examples: &[r#""2024-03-15T10:20:30".to_datetime().hour() => 10"#, "#2024-03-15#.hour() => null"],
    ..TIME_PART
};

pub(super) const MINUTE: Signature = Signature {
    doc: "The minute, from 0; null for a date.",
    examples: &[r#""2024-03-15T10:20:30".to_datetime().minute() => 20"#],
    ..TIME_PART
};

pub(super) const SECOND: Signature = Signature {
    doc: "The second, from 0; null for a date.",
    examples: &[r#""2024-03-15T10:20:30".to_datetime().second() => 30"#],
    ..TIME_PART
};

pub(super) const ADD_DAYS: Signature = Signature {
    doc: "The day so many days later; null outside the years 0001 to 9999.",
    examples: &[r#"#2024-01-15#.add_days(-15) => "2023-12-31""#],
    ..SHIFT
};

pub(super) const ADD_MONTHS: Signature = Signature {
    doc: "The day so many months later, at most the last of its month; a time stays.",
    examples: &[
        r#"#2024-01-31#.add_months(1) => "2024-02-29""#,
        r#""2024-01-31T10:00:00".to_datetime().add_months(1) => "2024-02-29T10:00:00""#,
    ],
    ..SHIFT
};

pub(super) const ADD_YEARS: Signature = Signature {
    doc: "The day so many years later, at most the last of its month; a time stays.",
    examples: &[r#"#2024-02-29#.add_years(1) => "2025-02-28""#],
    ..SHIFT
};

pub(super) const DIFF_DAYS: Signature = Signature {
    doc: "The days from an earlier day to this one.",
    examples: &["#2024-03-15#.diff_days(#2024-03-01#) => 14", "#2024-03-01#.diff_days(#2024-03-15#) => -14"],
    ..DIFFERENCE
};

pub(super) const DIFF_MONTHS: Signature = Signature {
    doc: "The whole months from an earlier day to this one.",
    examples: &["#2024-03-15#.diff_months(#2024-01-16#) => 1"],
    ..DIFFERENCE
};

pub(super) const DIFF_YEARS: Signature = Signature {
    doc: "The whole years from an earlier day to this one.",
    examples: &["#2024-03-15#.diff_years(#2022-03-16#) => 1"],
    ..DIFFERENCE
};

pub(super) const FORMAT_DATE: Signature = Signature {
    params: &[Param::new("format", Kinds::STRING).role(Role::FormatOut)],
    result: ResultKind::String,
    doc: "The date in a strftime format.",
    examples: &[r##"#2024-03-15#.format_date("%d %b %Y") => "15 Mar 2024""##],
    ..PART
};
