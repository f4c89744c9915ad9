//! What is written down about methods.

use super::{analyse, around};
use clinker::analysis::functions::Function;
use clinker::analysis::{hir, print};

/// The type that a value written as JSON may come from.
fn fits(value: &str, ty: &str) -> bool {
    let ty = ty.trim_start_matches("nullable(").trim_end_matches(')');
    match value {
        "null" => true,
        "true" | "false" => ty == "bool",
        text if text.starts_with('"') => ["string", "date", "date_time"].contains(&ty) || ty.starts_with("decimal"),
        list if list.starts_with('[') => ty == "array of string",
        number if number.contains('.') => ty == "float",
        _ => ty == "int",
    }
}

#[test]
fn every_method_is_described_by_examples_that_check() {
    for function in Function::ALL {
        let signature = function.signature();
        let name = function.name();
        assert!(signature.doc.ends_with('.'), "`{name}` is not described");
        assert!(!signature.examples.is_empty(), "`{name}` has no example");
        for example in signature.examples {
            let (expression, value) = example.rsplit_once(" => ").expect("an example shows its value");
            assert!(expression.contains(&format!(".{name}(")), "`{example}` is not about `{name}`");
            let analysed = analyse(&around(&format!("emit x = {expression}")));
            let found: Vec<_> = analysed.diagnostics.iter().map(|finding| &finding.message).collect();
            let pipeline = analysed.pipeline.as_ref().unwrap_or_else(|| panic!("{example}: {found:?}"));
            let hir::NodeKind::Transform(transform) = &pipeline.nodes[1].kind else { panic!("a transform") };
            let ty = print::ty(&transform.emits[0].ty);
            assert!(fits(value, &ty), "{example}: the type is {ty}");
        }
    }
}
