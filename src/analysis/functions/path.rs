//! Methods of texts that are paths, with `/` between folders. A part that is missing is null.

use super::signature::{Kinds, Nulls, ResultKind, Signature};

const PATH: Signature = Signature {
    receiver: Kinds::STRING,
    params: &[],
    variadic: false,
    result: ResultKind::String,
    nulls: Nulls::Possible,
    doc: "",
    examples: &[],
};

pub(super) const FILE_NAME: Signature = Signature {
    doc: "The last part of a path.",
    examples: &[r#""/a/b/c.tar.gz".file_name() => "c.tar.gz""#, r#""/a/b/".file_name() => "b""#],
    ..PATH
};

pub(super) const FILE_STEM: Signature = Signature {
    doc: "The last part of a path without its extension.",
    examples: &[r#""/a/b/c.tar.gz".file_stem() => "c.tar""#],
    ..PATH
};

pub(super) const EXTENSION: Signature = Signature {
    doc: "What stands behind the last dot of the last part.",
    examples: &[r#""/a/b/c.tar.gz".extension() => "gz""#, r#"".bashrc".extension() => null"#],
    ..PATH
};

pub(super) const PARENT: Signature = Signature {
    doc: "The path without its last part.",
    examples: &[r#""/a/b/c.tar.gz".parent() => "/a/b""#, r#""/".parent() => null"#],
    ..PATH
};

pub(super) const PARENT_NAME: Signature = Signature {
    doc: "The name of the folder that the last part is in.",
    examples: &[r#""/a/b/c.tar.gz".parent_name() => "b""#],
    ..PATH
};
