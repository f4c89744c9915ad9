//! Methods of numbers.

use super::signature::{Kinds, Nulls, Param, ResultKind, Signature};

const NUMBER: Signature = Signature {
    receiver: Kinds::NUMBER,
    params: &[],
    variadic: false,
    result: ResultKind::Receiver,
    nulls: Nulls::Operands,
    doc: "",
    examples: &[],
};

const OTHER: Param = Param::new("other", Kinds::NUMBER);
const DIGITS: Param = Param::new("digits", Kinds::COUNT);

pub(super) const ABS: Signature =
    Signature { doc: "The number without its sign.", examples: &["(-5.5).abs() => 5.5", "(-5).abs() => 5"], ..NUMBER };

pub(super) const CEIL: Signature = Signature {
    result: ResultKind::Whole,
    doc: "The next whole number at or above.",
    examples: &["1.2.ceil() => 2", "(-1.2).ceil() => -1"],
    ..NUMBER
};

pub(super) const FLOOR: Signature = Signature {
    result: ResultKind::Whole,
    doc: "The next whole number at or below.",
    examples: &["1.8.floor() => 1", "(-1.2).floor() => -2"],
    ..NUMBER
};

pub(super) const ROUND: Signature = Signature {
    params: &[DIGITS.optional()],
    result: ResultKind::Rounded,
    doc: "The number rounded to places behind the point, 0 without an argument: halves of a float away from zero, of a \
          decimal to the even neighbour; an int stays as it is.",
    examples: &[
        "2.5.round() => 3.0",
        "2.675.round(2) => 2.68",
        "5.round() => 5",
        r#""2.345".to_decimal().round(2) => "2.34""#,
    ],
    ..NUMBER
};

pub(super) const ROUND_TO: Signature = Signature {
    params: &[DIGITS],
    result: ResultKind::Rounded,
    doc: "The number rounded to places behind the point, as `round` does it.",
    examples: &["2.345.round_to(2) => 2.35", r#""2.345".to_decimal().round_to(2) => "2.34""#],
    ..NUMBER
};

pub(super) const CLAMP: Signature = Signature {
    params: &[Param::new("low", Kinds::NUMBER), Param::new("high", Kinds::NUMBER)],
    result: ResultKind::Common,
    nulls: Nulls::Receiver,
    doc: "The number, or the bound that it lies beyond; a bound that is null doesn't count.",
    examples: &["1.clamp(2, 9) => 2", "12.clamp(2, 9) => 9", "1.clamp(1.5, 9.5) => 1.5", "5.clamp(null, 9) => 5"],
    ..NUMBER
};

pub(super) const MIN: Signature = Signature {
    params: &[OTHER],
    result: ResultKind::Common,
    doc: "The smaller of two numbers.",
    examples: &["5.min(3) => 3", "5.min(5.0) => 5.0", "5.min(null) => null"],
    ..NUMBER
};

pub(super) const MAX: Signature = Signature {
    params: &[OTHER],
    result: ResultKind::Common,
    doc: "The larger of two numbers.",
    examples: &["5.max(3) => 5", "2.5.max(3.5) => 3.5"],
    ..NUMBER
};
