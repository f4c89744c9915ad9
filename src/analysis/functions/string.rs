//! Methods of texts, and of the arrays that texts are split into.

use super::signature::{Kinds, Nulls, Param, ResultKind, Role, Signature};

const TEXT: Signature = Signature {
    receiver: Kinds::STRING,
    params: &[],
    variadic: false,
    result: ResultKind::String,
    nulls: Nulls::Operands,
    doc: "",
    examples: &[],
};

const TEST: Signature = Signature { result: ResultKind::Bool, ..TEXT };

const PATTERN: Param = Param::new("pattern", Kinds::STRING).role(Role::Regex);
const PART: Param = Param::new("part", Kinds::STRING);
const COUNT: Param = Param::new("count", Kinds::COUNT);
const WIDTH: Param = Param::new("width", Kinds::COUNT);
const FILL: Param = Param::new("fill", Kinds::STRING).optional();

pub(super) const UPPER: Signature = Signature {
    doc: "The text in upper case.",
    examples: &[r#""aB".upper() => "AB""#, r#""straße".upper() => "STRASSE""#],
    ..TEXT
};

pub(super) const LOWER: Signature =
    Signature { doc: "The text in lower case.", examples: &[r#""aB".lower() => "ab""#], ..TEXT };

pub(super) const TRIM: Signature =
    Signature { doc: "The text without white space at both ends.", examples: &[r#"" \t a \n".trim() => "a""#], ..TEXT };

pub(super) const TRIM_START: Signature = Signature {
    doc: "The text without white space at its start.",
    examples: &[r#""  a ".trim_start() => "a ""#],
    ..TEXT
};

pub(super) const TRIM_END: Signature =
    Signature { doc: "The text without white space at its end.", examples: &[r#""  a ".trim_end() => "  a""#], ..TEXT };

pub(super) const STARTS_WITH: Signature = Signature {
    params: &[PART],
    doc: "Whether the text starts with another; every text starts with the empty one.",
    examples: &[r#""hello".starts_with("he") => true"#, r#""hello".starts_with("") => true"#],
    ..TEST
};

pub(super) const ENDS_WITH: Signature = Signature {
    params: &[PART],
    doc: "Whether the text ends with another.",
    examples: &[r#""hello".ends_with("lo") => true"#],
    ..TEST
};

pub(super) const CONTAINS: Signature = Signature {
    params: &[PART],
    doc: "Whether another text stands anywhere in the text.",
    examples: &[r#""hello".contains("ell") => true"#, r#""hello".contains("x") => false"#],
    ..TEST
};

pub(super) const REPLACE: Signature = Signature {
    params: &[Param::new("find", Kinds::STRING), Param::new("replacement", Kinds::STRING)],
    doc: "The text with every occurrence of another replaced.",
    examples: &[r#""a b c".replace(" ", "-") => "a-b-c""#, r#""abc".replace("", "-") => "-a-b-c-""#],
    ..TEXT
};

pub(super) const SUBSTRING: Signature = Signature {
    params: &[Param::new("start", Kinds::COUNT), Param::new("length", Kinds::COUNT).optional()],
    nulls: Nulls::Receiver,
    doc: "The part from a position, counted from 0, up to a length; a null or negative start is 0, a null or negative \
          length means the rest.",
    examples: &[
        r#""hello".substring(1, 3) => "ell""#,
        r#""hello".substring(3) => "lo""#,
        r#""hello".substring(9) => """#,
    ],
    ..TEXT
};

pub(super) const LEFT: Signature = Signature {
    params: &[COUNT],
    nulls: Nulls::NegativeCount,
    doc: "The first characters; null for a negative count.",
    examples: &[r#""hello".left(2) => "he""#, r#""hello".left(-1) => null"#],
    ..TEXT
};

pub(super) const RIGHT: Signature = Signature {
    params: &[COUNT],
    nulls: Nulls::NegativeCount,
    doc: "The last characters; null for a negative count.",
    examples: &[r#""hello".right(2) => "lo""#],
    ..TEXT
};

pub(super) const PAD_LEFT: Signature = Signature {
    params: &[WIDTH, FILL],
    nulls: Nulls::NegativeCount,
    doc: "The text filled up at its start to a width, with the first character of `fill` or spaces.",
    examples: &[r#""7".pad_left(3, "0") => "007""#, r#""x".pad_left(3) => "  x""#, r#""long".pad_left(2) => "long""#],
    ..TEXT
};

pub(super) const PAD_RIGHT: Signature = Signature {
    params: &[WIDTH, FILL],
    nulls: Nulls::NegativeCount,
    doc: "The text filled up at its end to a width, with the first character of `fill` or spaces.",
    examples: &[r#""x".pad_right(3, ".") => "x..""#],
    ..TEXT
};

pub(super) const REPEAT: Signature = Signature {
    params: &[COUNT],
    nulls: Nulls::NegativeCount,
    doc: "The text several times; null for a negative count.",
    examples: &[r#""ab".repeat(3) => "ababab""#, r#""ab".repeat(0) => """#],
    ..TEXT
};

pub(super) const REVERSE: Signature =
    Signature { doc: "The characters in reverse order.", examples: &[r#""hello".reverse() => "olleh""#], ..TEXT };

pub(super) const LENGTH: Signature = Signature {
    receiver: Kinds::STRING.or(Kinds::ARRAY),
    result: ResultKind::Int,
    doc: "The number of characters of a text or elements of an array.",
    examples: &[r#""héllo".length() => 5"#, r#""a,b".split(",").length() => 2"#],
    ..TEXT
};

pub(super) const SPLIT: Signature = Signature {
    params: &[Param::new("separator", Kinds::STRING)],
    result: ResultKind::Strings,
    doc: "The parts of the text between separators.",
    examples: &[r#""a,,c".split(",") => ["a","","c"]"#, r#""".split(",") => [""]"#],
    ..TEXT
};

pub(super) const JOIN: Signature = Signature {
    receiver: Kinds::ARRAY,
    params: &[Param::new("separator", Kinds::STRING)],
    doc: "The elements of an array as one text, with a separator between them; a null element is empty.",
    examples: &[r#""a-b".split("-").join("+") => "a+b""#],
    ..TEXT
};

pub(super) const MATCHES: Signature = Signature {
    params: &[PATTERN],
    doc: "Whether the whole text matches a regex.",
    examples: &[r#""abc".matches("a.c") => true"#, r#""abc".matches("b") => false"#],
    ..TEST
};

pub(super) const FIND: Signature = Signature {
    params: &[PATTERN],
    doc: "Whether a regex matches somewhere in the text.",
    examples: &[r#""abc".find("b") => true"#, r#""abc".find("z") => false"#],
    ..TEST
};

pub(super) const CAPTURE: Signature = Signature {
    params: &[PATTERN, Param::new("group", Kinds::COUNT).optional()],
    nulls: Nulls::Possible,
    doc: "What a group of a regex matched; the whole match without a group, null where nothing matched.",
    examples: &[r#""abc".capture("a(.)c", 1) => "b""#, r#""abc".capture("z") => null"#],
    ..TEXT
};

pub(super) const CONCAT: Signature = Signature {
    params: &[Param::new("text", Kinds::ALL)],
    variadic: true,
    nulls: Nulls::Receiver,
    doc: "The text followed by others; values of another kind are written as texts, null as nothing.",
    examples: &[r#""x".concat("y", null, "z") => "xyz""#, r#""n".concat(1) => "n1""#],
    ..TEXT
};
