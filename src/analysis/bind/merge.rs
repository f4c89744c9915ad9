//! Merges: inputs whose rows can go into one stream.

use std::sync::Arc;

use super::{Binder, Bound};
use crate::analysis::check::{Row, list};
use crate::analysis::hir::{Column, Merge, MergeMode, NodeKind, Schema, Stamp};
use crate::analysis::types::{Kind, Type};
use crate::diagnostics::{Code, Diagnostic, Spanned};
use crate::syntax::pipeline::ast;

/// Longest list of columns that a label shows.
const SHOWN_COLUMNS: usize = 8;

/// An input with its row.
#[derive(Clone, Copy)]
struct Input<'a> {
    /// The reference, as it is written.
    reference: &'a Spanned<String>,
    row: &'a Arc<Row>,
    /// A source above it that drops or refuses undeclared fields.
    dropping: Option<&'a ast::Node>,
}

impl Input<'_> {
    fn name(&self) -> &str {
        &self.reference.value
    }

    fn visible(&self) -> Vec<&str> {
        self.row.schema.visible().iter().map(|column| column.name.as_str()).collect()
    }

    fn keys(&self) -> Vec<&Column> {
        self.row.schema.keys().map(|(_, column)| column).collect()
    }

    fn key(&self, name: &str) -> Option<&Column> {
        self.keys().into_iter().find(|column| column.name == name)
    }

    fn key_fields(&self) -> Vec<&str> {
        self.keys().into_iter().filter_map(Column::key_field).collect()
    }
}

impl Binder<'_> {
    /// Binds a merge; `rows` are those of its inputs, in order, and `dropping` says of each which source above it drops
    /// or refuses undeclared fields, if one does.
    pub(super) fn merge(&mut self, merge: &ast::Merge, rows: &[Arc<Row>], dropping: &[Option<&ast::Node>]) -> Bound {
        let inputs = merge.inputs.iter().zip(rows).zip(dropping);
        let inputs: Vec<Input> =
            inputs.map(|((reference, row), dropping)| Input { reference, row, dropping: *dropping }).collect();
        // What is not wholly known can't be compared, and makes the output not wholly known.
        let known: Vec<Input> = inputs.iter().copied().filter(|input| input.row.complete).collect();
        let mut fit = true;
        if let Some((first, others)) = known.split_first() {
            for (index, other) in others.iter().enumerate() {
                let seen = known[..=index].iter().any(|seen| Arc::ptr_eq(seen.row, other.row));
                fit &= seen || self.columns_fit(first, other);
            }
        }
        self.policies_fit(&known);
        let one_key = self.keys_fit(&inputs);
        let Some(model) = known.first().or(inputs.first()) else {
            return Bound { kind: None, rows: vec![Arc::new(Row::unknown())] };
        };
        let mut schema = output(model, &inputs, &known);
        if !one_key {
            // What the key is can't be told, so nothing below has to keep it together.
            schema.columns.iter_mut().filter(|column| column.is_key()).for_each(|column| column.ty = Type::error());
        }
        let columns = rows.iter().map(|row| origins(&schema, &row.schema)).collect();
        let complete = fit && known.len() == inputs.len();
        let kind = NodeKind::Merge(Merge { mode: mode(merge), columns });
        Bound { kind: Some(kind), rows: vec![Arc::new(Row { schema, complete, ..Row::default() })] }
    }

    /// Two inputs have the same columns in the same order (E314) of the same types (E200).
    fn columns_fit(&mut self, first: &Input, other: &Input) -> bool {
        if first.visible() != other.visible() {
            self.names_differ(first, other);
            return false;
        }
        for (left, right) in first.row.schema.visible().iter().zip(other.row.schema.visible()) {
            let key = format!("{}{}", Column::KEY_PREFIX, left.name);
            let is_key = first.key(&key).is_some() && other.key(&key).is_some();
            if meet(&left.ty.kind, &right.ty.kind).is_none() && !is_key {
                self.types_differ(first, other, left, right);
            }
        }
        true
    }

    fn names_differ(&mut self, first: &Input, other: &Input) {
        let (wanted, found) = (first.visible(), other.visible());
        let missing: Vec<&str> = wanted.iter().copied().filter(|name| !found.contains(name)).collect();
        let extra: Vec<&str> = found.iter().copied().filter(|name| !wanted.contains(name)).collect();
        let reason = match (missing.as_slice(), extra.as_slice()) {
            ([], []) => "it has the same columns in another order".to_owned(),
            ([], extra) => format!("it also has {}", list(extra)),
            (missing, []) => format!("it lacks {}", list(missing)),
            (missing, extra) => format!("it has {} instead of {}", list(extra), list(missing)),
        };
        let help = match (missing.is_empty(), extra.is_empty()) {
            (true, true) => {
                format!(
                    "declare the columns of its source in the order of `{}`; one transform can't move them, two can",
                    first.name()
                )
            }
            (true, false) => "leave it out by a transform in front with `include_unmapped: false`".to_owned(),
            _ => "emit the same names in a transform in front of one of them".to_owned(),
        };
        let message = format!("`{}` can't be merged with `{}`: {reason}", other.name(), first.name());
        let diagnostic = Diagnostic::error(Code::E314, message)
            .label(other.reference.span, shown_columns(&found))
            .label(first.reference.span, shown_columns(&wanted));
        self.diagnostics.push(diagnostic.help(help));
    }

    fn types_differ(&mut self, first: &Input, other: &Input, left: &Column, right: &Column) {
        let name = &left.name;
        let (left, right) = (&left.ty.kind, &right.ty.kind);
        let message = format!(
            "column `{name}` is of type {right} in `{}` and of type {left} in `{}`",
            other.name(),
            first.name()
        );
        let help = match (left, right) {
            (Kind::Int, Kind::Float) | (Kind::Float, Kind::Int) => {
                format!("declare one type for both, or write `emit {name} = {name}.to_float()` in front of the ints")
            }
            _ => "declare one type for both, or convert one in a transform in front".to_owned(),
        };
        let diagnostic = Diagnostic::error(Code::E200, message)
            .label(other.reference.span, format!("`{name}` is of type {right}"))
            .label(first.reference.span, format!("`{name}` is of type {left}"));
        self.diagnostics.push(diagnostic.help(help));
    }

    /// Where rows carry undeclared fields, no source of the others drops or refuses them (E380). Rows that have none
    /// for another reason, as those of an aggregate, are fine: nothing is lost here.
    fn policies_fit(&mut self, inputs: &[Input]) {
        let Some(with) = inputs.iter().find(|input| input.row.schema.carries) else { return };
        let mut others = inputs.iter().filter(|input| !input.row.schema.carries);
        let Some((without, source)) = others.find_map(|input| Some((input, input.dropping?))) else { return };
        if let ast::NodeKind::Source(ast::Source { on_unmapped_span: Some(span), .. }) = &source.kind
            && self.diagnostics.reports(*span)
        {
            return;
        }
        let message =
            format!("`{}` carries undeclared fields into the merge, and `{}` does not", with.name(), without.name());
        let diagnostic = Diagnostic::error(Code::E380, message)
            .label(without.reference.span, format!("carries none: source `{}` keeps them out", source.name.value))
            .label(with.reference.span, "carries undeclared fields")
            .help("set `on_unmapped` to one mode in their sources, `{ mode: drop }` for instance");
        self.diagnostics.push(diagnostic);
    }

    /// The inputs with a correlation key have the same one (E314).
    fn keys_fit(&mut self, inputs: &[Input]) -> bool {
        let keyed: Vec<&Input> = inputs.iter().filter(|input| !input.keys().is_empty()).collect();
        let Some((first, others)) = keyed.split_first() else { return true };
        let mut fit = true;
        for (index, other) in others.iter().enumerate() {
            if keyed[..=index].iter().any(|seen| Arc::ptr_eq(seen.row, other.row)) {
                continue;
            }
            let mut found = other.keys().into_iter().map(|column| column.name.as_str());
            let same_count = first.keys().len() == other.keys().len();
            if !same_count || !found.all(|name| first.key(name).is_some()) {
                self.keys_differ(first, other);
                fit = false;
                continue;
            }
            let key = |column: &Column| first.key(&column.name).map(|key| key.ty.kind.clone());
            let differs = |column: &&Column| key(column).is_none_or(|kind| meet(&kind, &column.ty.kind).is_none());
            for column in other.keys().into_iter().filter(differs) {
                self.key_types_differ(first, other, column);
            }
        }
        fit
    }

    fn keys_differ(&mut self, first: &Input, other: &Input) {
        let message =
            format!("`{}` can't be merged with `{}`: their correlation keys differ", other.name(), first.name());
        let diagnostic = Diagnostic::error(Code::E314, message)
            .label(other.reference.span, format!("its key is {}", list(&other.key_fields())))
            .label(first.reference.span, format!("its key is {}", list(&first.key_fields())));
        self.diagnostics
            .push(diagnostic.help("give their sources the same `correlation_key`, or only one of them a key"));
    }

    fn key_types_differ(&mut self, first: &Input, other: &Input, column: &Column) {
        let field = column.key_field().unwrap_or(&column.name);
        let message = format!(
            "`{}` can't be merged with `{}`: their correlation keys have different types of `{field}`",
            other.name(),
            first.name()
        );
        let shown = |input: &Input| {
            let kind = input.key(&column.name).map_or(Kind::Null, |key| key.ty.kind.clone());
            format!("its key `{field}` is of type {kind}")
        };
        let diagnostic = Diagnostic::error(Code::E314, message)
            .label(other.reference.span, shown(other))
            .label(first.reference.span, shown(first));
        self.diagnostics.push(diagnostic.help(format!("declare `{field}` with one type in both sources")));
    }
}

fn mode(merge: &ast::Merge) -> MergeMode {
    match (merge.mode, &merge.seed) {
        (ast::MergeMode::Concat, _) => MergeMode::Concat,
        (ast::MergeMode::Interleave, None) => MergeMode::Interleave,
        (ast::MergeMode::Interleave, Some(seed)) => MergeMode::Seeded(seed.value),
    }
}

/// The columns of the model, then the key, each with the type in which the inputs meet; then the stamps of all inputs.
fn output(model: &Input, inputs: &[Input], known: &[Input]) -> Schema {
    let mut schema = Schema { columns: Vec::new(), carries: inputs.iter().any(|input| input.row.schema.carries) };
    for column in model.row.schema.visible() {
        let same = known.iter().filter_map(|input| {
            let position = input.row.schema.position(&column.name)?;
            Some(&input.row.schema.columns[position].ty)
        });
        let ty = common(&column.ty, same);
        schema.columns.push(Column { ty, ..column.clone() });
    }
    let unkeyed = inputs.iter().any(|input| input.keys().is_empty());
    let keyed = inputs.iter().find(|input| !input.keys().is_empty());
    for key in keyed.iter().flat_map(|input| input.keys()) {
        let same = inputs.iter().filter_map(|input| input.key(&key.name)).map(|key| &key.ty);
        let ty = common(&key.ty, same).or_nullable(unkeyed);
        schema.columns.push(Column { ty, ..key.clone() });
    }
    for stamp in Stamp::ALL {
        let mut hidden = inputs.iter().flat_map(|input| input.row.schema.hidden()).map(|(_, column)| column);
        schema.columns.extend(hidden.find(|column| column.stamp() == Some(stamp)).cloned());
    }
    schema
}

/// The type in which these meet; the error type where they don't, which is reported.
fn common<'a>(first: &Type, others: impl Iterator<Item = &'a Type>) -> Type {
    others.fold(first.clone(), |ty, other| match meet(&ty.kind, &other.kind) {
        Some(kind) => Type { kind, nullable: ty.nullable || other.nullable },
        None => Type::error(),
    })
}

/// The kind of a column whose values come from both: equal but for the scale of decimals, or null.
fn meet(left: &Kind, right: &Kind) -> Option<Kind> {
    Some(match (left, right) {
        (Kind::Error, _) | (_, Kind::Error) => Kind::Error,
        (Kind::Null, other) | (other, Kind::Null) => other.clone(),
        (Kind::Decimal { scale: left }, Kind::Decimal { scale: right }) => {
            Kind::Decimal { scale: if left == right { *left } else { None } }
        }
        (Kind::Array(left), Kind::Array(right)) => Kind::Array(Box::new(meet(left, right)?)),
        (left, right) if left == right => left.clone(),
        _ => return None,
    })
}

/// For each column of the output, the input's column.
fn origins(output: &Schema, input: &Schema) -> Vec<Option<usize>> {
    let origin = |column: &Column| {
        if column.hidden {
            return input.hidden().find(|(_, hidden)| hidden.name == column.name).map(|(position, _)| position);
        }
        input.position(&column.name)
    };
    output.columns.iter().map(origin).collect()
}

fn shown_columns(names: &[&str]) -> String {
    match names {
        [] => "has no columns".to_owned(),
        names if names.len() <= SHOWN_COLUMNS => format!("has {}", list(names)),
        names => format!("has {} and {} more", list(&names[..SHOWN_COLUMNS]), names.len() - SHOWN_COLUMNS),
    }
}
