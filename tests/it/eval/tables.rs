//! Tables of expressions and what they give.

use clinker::analysis::functions::Function;

use super::harness::{evaluate, shown};
use crate::support::{assert_snapshot, path};

/// `value | type`, or the failure.
fn result(expr: &str) -> String {
    match evaluate(expr) {
        Ok((value, ty)) => format!("{} | {ty}", shown(&value)),
        Err(message) => format!("! {message}"),
    }
}

/// Each line of `tests/it/eval/tables/<name>.cxl` with its result.
fn table(name: &str) {
    let file = path("tests/it/eval/tables").join(format!("{name}.cxl"));
    let text = std::fs::read_to_string(file).expect("the table is there");
    let mut shown = String::new();
    for line in text.lines() {
        let is_expression = !line.is_empty() && !line.starts_with("# ");
        shown += &if is_expression { format!("{line} => {}\n", result(line)) } else { format!("{line}\n") };
    }
    assert_snapshot(&format!("eval/{name}"), &shown);
}

#[test]
fn operators() {
    table("operators");
}

#[test]
fn conditionals() {
    table("conditionals");
}

#[test]
fn string_methods() {
    table("string_methods");
}

#[test]
fn number_methods() {
    table("number_methods");
}

#[test]
fn date_methods() {
    table("date_methods");
}

#[test]
fn conversions() {
    table("conversions");
}

#[test]
fn introspection_and_paths() {
    table("introspection_and_paths");
}

#[test]
fn variables() {
    table("variables");
}

/// The results are in the files, so that a change of one is a change of a line that says what is right.
#[test]
fn rules_hold() {
    let text = std::fs::read_to_string(path("tests/it/eval/tables/rules.txt")).expect("the table is there");
    let mut wrong = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        let (expr, expected) = line.rsplit_once(" => ").expect("each line is `expr => value`");
        let found = match evaluate(expr.trim()) {
            Ok((value, _)) => shown(&value),
            Err(message) => format!("! {message}"),
        };
        if found != expected.trim() {
            wrong.push(format!("{} => {found}, not {}", expr.trim(), expected.trim()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn examples_of_every_method_hold() {
    for function in Function::ALL {
        let examples = function.signature().examples;
        assert!(!examples.is_empty(), "`{}` has no example", function.name());
        for example in examples {
            let (expr, expected) = example.rsplit_once(" => ").expect("an example is `expression => value`");
            let found = evaluate(expr).map(|(value, _)| shown(&value));
            assert_eq!(found.as_deref(), Ok(expected), "{example}");
        }
    }
}
