//! An entry of `nodes:`: its kind, its name, its wiring; what it does is read by the file of its kind.

use super::ast::{Node, NodeKind};
use super::fields::{Fields, Given, Keys, Reader, elsewhere};
use super::{aggregate, cull, habits, merge, reshape, route, sink, source, transform};
use crate::diagnostics::suggest::closest;
use crate::diagnostics::{Code, Diagnostic, Span, Spanned};
use crate::syntax::yaml::{self, Entry, ScalarStyle, Value};

/// Node kinds that this version runs, with the keys of their entries.
const KINDS: &[(&str, Keys)] = &[
    ("source", SOURCE),
    ("transform", ONE_INPUT),
    ("route", ONE_INPUT),
    ("merge", SEVERAL_INPUTS),
    ("aggregate", ONE_INPUT),
    ("cull", ONE_INPUT),
    ("reshape", ONE_INPUT),
    ("sink", ONE_INPUT),
    ("output", ONE_INPUT),
];

const SOURCE: Keys = Keys {
    read: &["type", "name", "description", "config", "_notes"],
    required: &["name", "config"],
    refused: READS_NOTHING,
    ..Keys::NONE
};

const ONE_INPUT: Keys = Keys {
    read: &["type", "name", "description", "input", "config", "_notes"],
    required: &["name", "input", "config"],
    refused: READS_ONE,
    ..Keys::NONE
};

const SEVERAL_INPUTS: Keys = Keys {
    read: &["type", "name", "description", "inputs", "config", "_notes"],
    required: &["name", "inputs"],
    refused: READS_SEVERAL,
    ..Keys::NONE
};

/// Node kinds of the language that this version doesn't run yet.
const LATER: &[&str] = &["combine", "envelope", "composition"];

const WIRING: &[&str] = &["input", "inputs", "body", "header"];

const NO_INPUT: &str = "remove it: a source reads files, not another node";
const READS_NOTHING: &[super::fields::Refused] = &[
    elsewhere("input", NO_INPUT),
    elsewhere("inputs", NO_INPUT),
    elsewhere("body", NO_INPUT),
    elsewhere("header", NO_INPUT),
    elsewhere("path", IN_CONFIG),
    elsewhere("paths", IN_CONFIG),
    elsewhere("glob", IN_CONFIG),
    elsewhere("regex", IN_CONFIG),
    elsewhere("schema", IN_CONFIG),
    elsewhere("options", IN_CONFIG),
    elsewhere("on_unmapped", IN_CONFIG),
    elsewhere("correlation_key", IN_CONFIG),
    elsewhere("sort_order", IN_CONFIG),
    elsewhere("on_unsorted", IN_CONFIG),
];

const IN_CONFIG: &str = "move it into `config`";
const NAME_INPUT: &str = "name the one node it reads: `input: <node>`";
const READS_ONE: &[super::fields::Refused] = &[
    elsewhere("inputs", NAME_INPUT),
    elsewhere("body", NAME_INPUT),
    elsewhere("header", NAME_INPUT),
    elsewhere("cxl", IN_CONFIG),
    elsewhere("validations", IN_CONFIG),
    elsewhere("conditions", IN_CONFIG),
    elsewhere("default", IN_CONFIG),
    elsewhere("mode", IN_CONFIG),
    elsewhere("group_by", IN_CONFIG),
    elsewhere("strategy", IN_CONFIG),
    elsewhere("partition_by", IN_CONFIG),
    elsewhere("removed_to", IN_CONFIG),
    elsewhere("rules", IN_CONFIG),
    elsewhere("order_by", IN_CONFIG),
    elsewhere("path", IN_CONFIG),
    elsewhere("include_unmapped", IN_CONFIG),
    elsewhere("mapping", IN_CONFIG),
    elsewhere("exclude", IN_CONFIG),
    elsewhere("if_exists", IN_CONFIG),
    elsewhere("include_header", IN_CONFIG),
    elsewhere("sort_order", IN_CONFIG),
    elsewhere("options", IN_CONFIG),
];

const ALL_INPUTS: &str = "list the nodes it reads: `inputs: [<node>, <node>]`";
const READS_SEVERAL: &[super::fields::Refused] = &[
    elsewhere("input", ALL_INPUTS),
    elsewhere("body", ALL_INPUTS),
    elsewhere("header", ALL_INPUTS),
    elsewhere("mode", IN_CONFIG),
    elsewhere("interleave_seed", IN_CONFIG),
];

/// The parts that every kind of node has.
pub(super) struct Parts<'n> {
    /// The entry's keys.
    pub(super) fields: Fields<'n>,
    /// What messages call the node: "sink `out`".
    pub(super) label: String,
    /// Where messages about the node as a whole point.
    pub(super) place: Span,
}

/// Reads an entry. `None`, reported, if it can't be told what it is called.
pub(super) fn read(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Node> {
    let entries = reader.mapping(given)?;
    let kind = kind(reader, entries);
    let place = kind.as_ref().map_or(reader.first_line(given.node.span), |kind| kind.span);
    let label = label(entries, kind.as_ref().map(|kind| kind.value));
    let (name, description, node_kind) = match kind.as_ref().and_then(|kind| keys_of(kind.value)) {
        Some(keys) => {
            let fields = reader.fields(given.node, label.clone(), place, keys)?;
            let name = reader.require(&fields, "name").and_then(|given| self::name(reader, &given));
            let description = fields.get("description").and_then(|given| reader.string(&given));
            let parts = Parts { fields, label, place };
            let node_kind = runnable(reader, kind.as_ref()?.value, &parts);
            (name, description, node_kind.unwrap_or_else(|| NodeKind::Error { inputs: inputs(reader, entries) }))
        }
        None => {
            let name = any_name(reader, entries, &label, place);
            (name, None, other(reader, kind.as_ref(), entries))
        }
    };
    let description = description.map(|text| text.value);
    Some(Node { name: name?, type_span: place, description, span: given.node.span, kind: node_kind })
}

fn keys_of(kind: &str) -> Option<&'static Keys> {
    KINDS.iter().find(|(name, _)| *name == kind).map(|(_, keys)| keys)
}

/// Reads what a node does; `None`, reported, if a part that it can't do without is missing.
fn runnable(reader: &mut Reader<'_>, kind: &str, parts: &Parts<'_>) -> Option<NodeKind> {
    match kind {
        "source" => source::read(reader, parts),
        "transform" => transform::read(reader, parts),
        "route" => route::read(reader, parts),
        "merge" => merge::read(reader, parts),
        "aggregate" => aggregate::read(reader, parts),
        "cull" => cull::read(reader, parts),
        "reshape" => reshape::read(reader, parts),
        _ => sink::read(reader, parts),
    }
}

impl<'n> Parts<'n> {
    /// The keys of `config`.
    pub(super) fn config(&self, reader: &mut Reader<'_>, keys: &Keys) -> Option<Fields<'n>> {
        let given = reader.require(&self.fields, "config")?;
        reader.fields(given.node, format!("the `config` of {}", self.label), self.place, keys)
    }

    /// `input`
    pub(super) fn input(&self, reader: &mut Reader<'_>) -> Option<Spanned<String>> {
        let given = reader.require(&self.fields, "input")?;
        if let Value::Sequence(items) = &given.node.value {
            let finding = reader.wrong_kind(&given, "text");
            let help = match items.as_slice() {
                [yaml::Node { value: Value::Scalar(one), .. }] => format!("write `input: {}`", one.text),
                _ => "this kind of node reads one input".to_owned(),
            };
            reader.report(finding.help(help));
            return None;
        }
        reader.string(&given)
    }

    /// `inputs`. `None` where it is missing, which is reported; an empty list is reported too.
    pub(super) fn inputs(&self, reader: &mut Reader<'_>) -> Option<Vec<Spanned<String>>> {
        let given = reader.require(&self.fields, "inputs")?;
        let inputs = reader.strings(&given)?;
        if matches!(&given.node.value, Value::Sequence(items) if items.is_empty()) {
            reader.report(
                Diagnostic::error(Code::E000, format!("`inputs` of {} is empty", self.label))
                    .label(given.node.span, "reads nothing")
                    .help("list at least one node: `inputs: [<node>, <node>]`"),
            );
            return None;
        }
        Some(inputs)
    }
}

/// The entry's kind, or the one that was meant. `None`, reported, if it is missing or not known.
fn kind(reader: &mut Reader<'_>, entries: &[Entry]) -> Option<Spanned<&'static str>> {
    let entry = find(entries, "type")?;
    let given = Given { what: "`type`".into(), node: &entry.value, key: entry.key.span };
    let ty = reader.string(&given).filter(|ty| !reader.diagnostics.reports(ty.span))?;
    let known = || KINDS.iter().map(|(name, _)| *name).chain(LATER.iter().copied());
    if let Some(kind) = known().find(|kind| *kind == ty.value) {
        return Some(Spanned::new(kind, ty.span));
    }
    let word = ty.value.to_ascii_lowercase();
    let work = habits::work(&word);
    let meant = habits::node_type(&word).or_else(|| closest(&word, known())).filter(|_| work.is_none());
    let runnable = super::fields::listed(KINDS.iter().map(|(name, _)| *name));
    let mut finding = Diagnostic::error(Code::E000, format!("there is no node type `{}`", ty.value))
        .label(ty.span, "unknown node type")
        .note(format!("this version runs the node types {runnable}"));
    if let Some(meant) = meant {
        finding = finding.help(format!("did you mean `{meant}`?")).fix(ty.span, meant);
    }
    reader.report(finding.help_opt(work.map(str::to_owned)));
    meant.map(|meant| Spanned::new(meant, ty.span))
}

/// The entry of a key, or of a slip for it.
fn find<'n>(entries: &'n [Entry], key: &str) -> Option<&'n Entry> {
    const ENTRY: &[&str] = &["type", "name", "description", "config", "input", "inputs"];
    let exact = entries.iter().find(|entry| entry.key.text == key);
    let is_slip = |entry: &&Entry| {
        let word = entry.key.text.as_str();
        habits::meant(word, |meant| meant == key).or_else(|| closest(word, ENTRY.iter().copied())) == Some(key)
    };
    exact.or_else(|| entries.iter().find(is_slip))
}

/// What messages call the node.
fn label(entries: &[Entry], kind: Option<&str>) -> String {
    let kind = kind.unwrap_or("node");
    match find(entries, "name").map(|entry| &entry.value.value) {
        Some(Value::Scalar(name)) if !name.text.trim().is_empty() => format!("{kind} `{}`", name.text),
        _ => format!("this {kind}"),
    }
}

/// `name`, with the rules that need no other node.
fn name(reader: &mut Reader<'_>, given: &Given<'_>) -> Option<Spanned<String>> {
    let name = reader.name(given)?;
    if name.value.contains('.') {
        let mended = name.value.replace('.', "_");
        reader.report(
            Diagnostic::error(Code::E010, format!("the node name `{}` holds a dot", name.value))
                .label(name.span, "holds a dot")
                .note("a dot stands between a node and its port, as in `route.branch`")
                .help(format!("use `_`: `{mended}`"))
                .fix(name.span, mended),
        );
    }
    Some(name)
}

/// The name of a node of which nothing else is read.
fn any_name(reader: &mut Reader<'_>, entries: &[Entry], label: &str, place: Span) -> Option<Spanned<String>> {
    if find(entries, "type").is_none() && !entries.iter().any(|entry| entry.key.text == "<<") {
        let known = super::fields::listed(KINDS.iter().map(|(name, _)| *name));
        reader.report(
            Diagnostic::error(Code::E000, format!("`type` is missing in {label}"))
                .label(place, "needs `type`")
                .help(format!("say what the node does; this version runs the types {known}")),
        );
    }
    let Some(entry) = find(entries, "name") else {
        reader.report(
            Diagnostic::error(Code::E000, format!("`name` is missing in {label}")).label(place, "needs `name`"),
        );
        return None;
    };
    name(reader, &Given { what: "`name`".into(), node: &entry.value, key: entry.key.span })
}

/// A node that can't be run.
fn other(reader: &mut Reader<'_>, kind: Option<&Spanned<&str>>, entries: &[Entry]) -> NodeKind {
    let inputs = inputs(reader, entries);
    let Some(kind) = kind else { return NodeKind::Error { inputs } };
    let runnable = super::fields::listed(KINDS.iter().map(|(name, _)| *name));
    reader.report(
        Diagnostic::error(Code::E199, format!("the node type `{}` is not run by this version yet", kind.value))
            .label(kind.span, "not run yet")
            .help(format!("this version runs the node types {runnable}")),
    );
    NodeKind::Unsupported { kind: kind.value.to_owned(), inputs }
}

/// Whatever an entry names as its inputs, but for what could not be read.
fn inputs(reader: &Reader<'_>, entries: &[Entry]) -> Vec<Spanned<String>> {
    let mut inputs = Vec::new();
    for entry in entries.iter().filter(|entry| WIRING.contains(&entry.key.text.as_str())) {
        references(reader, &entry.value, &mut inputs);
    }
    inputs
}

fn references(reader: &Reader<'_>, node: &yaml::Node, inputs: &mut Vec<Spanned<String>>) {
    if reader.diagnostics.reports(reader.first_line(node.span)) {
        return;
    }
    match &node.value {
        Value::Scalar(scalar) if scalar.style == ScalarStyle::Plain && scalar.is_null() => {}
        Value::Scalar(scalar) => inputs.push(Spanned::new(scalar.text.clone(), scalar.span)),
        Value::Sequence(items) => items.iter().for_each(|item| references(reader, item, inputs)),
        Value::Mapping(entries) => entries.iter().for_each(|entry| references(reader, &entry.value, inputs)),
        Value::Error => {}
    }
}
