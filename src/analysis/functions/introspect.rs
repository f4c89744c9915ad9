//! Methods of every value, null included.

use super::signature::{Kinds, Nulls, Param, ResultKind, Signature};

const TEST: Signature = Signature {
    receiver: Kinds::ALL,
    params: &[],
    variadic: false,
    result: ResultKind::Bool,
    nulls: Nulls::Never,
    doc: "",
    examples: &[],
};

pub(super) const TYPE_OF: Signature = Signature {
    result: ResultKind::String,
    doc: "The name of the value's type, `null` for null.",
    examples: &[r#"1.5.type_of() => "float""#, r#"null.type_of() => "null""#],
    ..TEST
};

pub(super) const IS_NULL: Signature = Signature {
    doc: "Whether the value is null.",
    examples: &["null.is_null() => true", "0.is_null() => false"],
    ..TEST
};

pub(super) const IS_EMPTY: Signature = Signature {
    doc: "Whether the value is null, an empty text or an empty array.",
    examples: &[r#""".is_empty() => true"#, r#"" ".is_empty() => false"#, "null.is_empty() => true"],
    ..TEST
};

pub(super) const CATCH: Signature = Signature {
    params: &[Param::new("instead", Kinds::ALL)],
    result: ResultKind::CommonOrAny,
    nulls: Nulls::Both,
    doc: "The value, or another one where it is null.",
    examples: &["null.catch(1) => 1", "2.catch(1) => 2"],
    ..TEST
};

pub(super) const DEBUG: Signature = Signature {
    params: &[Param::new("label", Kinds::STRING).optional()],
    result: ResultKind::Receiver,
    nulls: Nulls::Receiver,
    doc: "The value itself.",
    examples: &[r#"42.debug("v") => 42"#],
    ..TEST
};
