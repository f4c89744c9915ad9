//! `type: transform`

use super::ast::{Check, NodeKind, Transform, Validation};
use super::fields::{Fields, Given, Keys, Reader, elsewhere, later};
use super::node::Parts;
use crate::diagnostics::{Code, Diagnostic};
use crate::syntax::cxl;
use crate::syntax::yaml::Value;

const CONFIG: Keys = Keys {
    read: &["cxl", "validations", "include_unmapped", "batch_size", "phase"],
    required: &["cxl"],
    refused: &[
        later("declares", "remove it, with the `emit $…` statements that write what it declares"),
        later("analytic_window", "remove it, with what reads `$window`"),
        later("max_expansion", "remove it; it bounds `emit each`, which is not run yet either"),
        later("log", "remove it; `trace` in `cxl` shows values"),
        elsewhere("input", "move it out of `config`, beside `name`"),
    ],
    ..Keys::NONE
};

/// What gives the program names that are not read here.
const NAMING: &[&str] = &["declares", "analytic_window"];

const VALIDATION: Keys = Keys {
    read: &["check", "field", "severity", "message", "name"],
    required: &["check"],
    refused: &[
        later("args", "write the values into the expression of `check`"),
        elsewhere("fields", ONE_FIELD),
        elsewhere("columns", ONE_FIELD),
    ],
    ..Keys::NONE
};

const ONE_FIELD: &str =
    "a validation checks one field: write one for each, such as `{ check: not_empty, field: email }`";

/// Reads a transform. `None`, reported, if its input or its program is missing.
pub(super) fn read(reader: &mut Reader<'_>, node: &Parts<'_>) -> Option<NodeKind> {
    let input = node.input(reader);
    let config = node.config(reader, &CONFIG)?;
    let program = program(reader, &config);
    let validations = config.group("validations").map(|given| validations(reader, &given)).unwrap_or_default();
    let include_unmapped = config.get("include_unmapped").and_then(|given| reader.boolean(&given)).unwrap_or(true);
    let batch_size = config.get("batch_size").and_then(|given| reader.whole(&given, 1, u64::MAX));
    if let Some(given) = config.get("phase") {
        phase(reader, &given);
    }
    if config.refused(NAMING) {
        return None;
    }
    Some(NodeKind::Transform(Transform { input: input?, program: program?, validations, include_unmapped, batch_size }))
}

/// `cxl`, a program. `None`, reported, if it is no text.
pub(super) fn program(reader: &mut Reader<'_>, config: &Fields<'_>) -> Option<cxl::ast::Program> {
    let given = reader.require(config, "cxl")?;
    if given.is_number_or_bool() {
        let finding = reader.wrong_kind(&given, "text");
        reader.report(finding.help("write statements, such as `emit total = price * quantity`"));
        return None;
    }
    reader.cxl(&given, "a CXL program", cxl::parse_program)
}

/// `phase`, of which only the run itself is run.
fn phase(reader: &mut Reader<'_>, given: &Given<'_>) {
    let choice = reader.choice(given, &[("runtime", false), ("init", true)]);
    if let Some(choice) = choice.filter(|choice| choice.value) {
        reader.report(
            Diagnostic::error(Code::E199, "`phase: init` is not run by this version yet")
                .label(choice.span, "not run yet")
                .help("remove `phase`, and the transform works on the rows that it reads; fixed values are `vars`"),
        );
    }
}

fn validations(reader: &mut Reader<'_>, given: &Given<'_>) -> Vec<Validation> {
    let items = reader.list(given).unwrap_or_default();
    items.iter().filter_map(|item| validation(reader, item)).collect()
}

fn validation(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Validation> {
    if matches!(given.node.value, Value::Scalar(_)) && !given.is_null() {
        let finding = reader.wrong_kind(given, "a mapping");
        reader.report(finding.help("write it behind the key `check`: `{ check: <condition> }`"));
        return None;
    }
    let place = reader.first_line(given.node.span);
    let fields = reader.fields(given.node, "this validation".to_owned(), place, &VALIDATION)?;
    let field = fields.get("field").and_then(|given| reader.string(&given));
    let severity = fields.get("severity").and_then(|given| reader.choice(&given, &[("error", false), ("warn", true)]));
    let message = fields.get("message").and_then(|given| reader.string(&given)).map(|text| text.value);
    let name = fields.get("name").and_then(|given| reader.string(&given)).map(|text| text.value);
    let check = reader.require(&fields, "check")?;
    let check = check_of(reader, &check, &fields)?;
    let warn_only = severity.is_some_and(|severity| severity.value);
    Some(Validation { span: given.node.span, check, field, warn_only, message, name })
}

fn check_of(reader: &mut Reader<'_>, given: &Given<'_>, fields: &Fields<'_>) -> Option<Check> {
    const WANTED: &str = "`not_empty` or a CXL expression";
    let scalar = reader.scalar(given, WANTED)?;
    if scalar.text.trim() != "not_empty" {
        let expr = reader.cxl(given, WANTED, cxl::parse_expression)?;
        return Some(Check::Expr { expr, text: scalar.text.clone() });
    }
    if fields.has("field") {
        return Some(Check::NotEmpty(scalar.span));
    }
    if !fields.incomplete() && !fields.refused(&["fields", "columns"]) {
        reader.report(
            Diagnostic::error(Code::E000, "`not_empty` needs the `field` that it checks")
                .label(scalar.span, "of which field?")
                .help("name the field beside it: `{ check: not_empty, field: email }`"),
        );
    }
    None
}
