//! Methods that change a value's kind. The strict ones fail on what they can't convert, `try_` gives null.

use super::signature::{Kinds, Nulls, Param, ResultKind, Role, Signature};

const STRICT: Signature = Signature {
    receiver: Kinds::ALL,
    params: &[],
    variadic: false,
    result: ResultKind::Int,
    nulls: Nulls::Operands,
    doc: "",
    examples: &[],
};

const LENIENT: Signature = Signature { nulls: Nulls::Possible, ..STRICT };

const DATE: Param = Param::new("format", Kinds::STRING).optional().role(Role::ParseDate);
const DATE_TIME: Param = Param::new("format", Kinds::STRING).optional().role(Role::ParseDateTime);

pub(super) const TO_INT: Signature = Signature {
    doc: "A whole number: from digits with an optional sign, a number cut towards zero, or a bool as 1 or 0.",
    examples: &[r#""+42".to_int() => 42"#, "3.9.to_int() => 3", "true.to_int() => 1"],
    ..STRICT
};

pub(super) const TRY_INT: Signature = Signature {
    doc: "As `to_int`, but null for what can't be converted.",
    examples: &["3.9.try_int() => 3", r#""4.0".try_int() => null"#],
    ..LENIENT
};

pub(super) const TO_FLOAT: Signature = Signature {
    result: ResultKind::Float,
    doc: "A float, from a number or a text.",
    examples: &[r#""1e3".to_float() => 1000.0"#, "2.to_float() => 2.0"],
    ..STRICT
};

pub(super) const TRY_FLOAT: Signature = Signature {
    result: ResultKind::Float,
    doc: "As `to_float`, but null for what can't be converted.",
    examples: &[r#"".5".try_float() => 0.5"#, r#""x".try_float() => null"#],
    ..LENIENT
};

pub(super) const TO_DECIMAL: Signature = Signature {
    result: ResultKind::Decimal,
    doc: "A decimal, from a number or a text; a text keeps its zeros, a float gives its exact value.",
    examples: &[r#""19.990".to_decimal() => "19.990""#, r#"2.to_decimal() => "2""#],
    ..STRICT
};

pub(super) const TRY_DECIMAL: Signature = Signature {
    result: ResultKind::Decimal,
    doc: "As `to_decimal`, but null for what can't be converted.",
    examples: &[r#""1.5".try_decimal() => "1.5""#, r#""x".try_decimal() => null"#],
    ..LENIENT
};

pub(super) const TO_STRING: Signature = Signature {
    result: ResultKind::String,
    doc: "The value as text, as a CSV file shows it.",
    examples: &[r#"true.to_string() => "true""#, r#"1.0.to_string() => "1""#],
    ..STRICT
};

pub(super) const TO_BOOL: Signature = Signature {
    result: ResultKind::Bool,
    doc: "A bool: from true, yes, 1 or false, no, 0 in any case, or from an int, where 0 is false.",
    examples: &[r#""No".to_bool() => false"#, "2.to_bool() => true"],
    ..STRICT
};

pub(super) const TRY_BOOL: Signature = Signature {
    result: ResultKind::Bool,
    doc: "As `to_bool`, but null for what can't be converted.",
    examples: &[r#""y".try_bool() => null"#],
    ..LENIENT
};

pub(super) const TO_DATE: Signature = Signature {
    params: &[DATE],
    result: ResultKind::Date,
    doc: "A date: from a text in a strftime format, `%Y-%m-%d` without one, or the day of a date_time.",
    examples: &[r#""2024-03-15".to_date() => "2024-03-15""#, r#""15/03/2024".to_date("%d/%m/%Y") => "2024-03-15""#],
    ..STRICT
};

pub(super) const TRY_DATE: Signature = Signature {
    params: &[DATE],
    result: ResultKind::Date,
    doc: "As `to_date`, but null for what can't be converted.",
    examples: &[r#""2024-02-30".try_date() => null"#],
    ..LENIENT
};

pub(super) const TO_DATETIME: Signature = Signature {
    params: &[DATE_TIME],
    result: ResultKind::DateTime,
    doc: "A date_time: from a text in a strftime format, `%Y-%m-%dT%H:%M:%S` with an optional fraction without one, or \
          the midnight of a date.",
    examples: &[
        r#""2024-03-15T10:20:30".to_datetime() => "2024-03-15T10:20:30""#,
        r#"#2024-03-15#.to_datetime() => "2024-03-15T00:00:00""#,
    ],
    ..STRICT
};

pub(super) const TRY_DATETIME: Signature = Signature {
    params: &[DATE_TIME],
    result: ResultKind::DateTime,
    doc: "As `to_datetime`, but null for what can't be converted.",
    examples: &[r#""2024-03-15 10:20:30".try_datetime() => null"#],
    ..LENIENT
};
