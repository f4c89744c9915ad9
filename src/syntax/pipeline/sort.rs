//! Lists of sort fields: `sort_order` and `order_by`.

use super::ast::{NullOrder, SortField};
use super::fields::{Given, Keys, Reader, Refused, elsewhere};
use crate::diagnostics::{Code, Diagnostic};
use crate::syntax::yaml::{Entry, Node, Value};

/// What the fields of a list may say.
pub(super) struct Form {
    keys: Keys,
    drops_nulls: bool,
}

const FIELD: Keys = Keys {
    read: &["field", "order", "null_order"],
    required: &["field"],
    refused: REFUSED.split_at(1).1,
    ..Keys::NONE
};

const SAY_ORDER: &str = "write `order: desc` or `order: asc`";

/// What the fields of a group refuse. The first is a key of all other fields.
const REFUSED: &[Refused] = &[
    elsewhere("null_order", "remove it; within a group nulls always come last"),
    elsewhere("descending", SAY_ORDER),
    elsewhere("desc", SAY_ORDER),
    elsewhere("reverse", SAY_ORDER),
    elsewhere("ascending", SAY_ORDER),
    elsewhere("asc", SAY_ORDER),
];

/// The order that a source claims of its files.
pub(super) const CLAIMED: Form = Form { keys: FIELD, drops_nulls: false };

/// The order that a sink writes in, which may leave rows with nulls out.
pub(super) const WRITTEN: Form = Form { keys: FIELD, drops_nulls: true };

/// The order within a group.
pub(super) const WITHIN_GROUPS: Form = Form {
    keys: Keys { read: &["field", "order"], required: &["field"], refused: REFUSED, ..Keys::NONE },
    drops_nulls: false,
};

const ORDERS: &[(&str, bool)] = &[("asc", false), ("desc", true)];

const KEPT_NULLS: [(&str, NullOrder); 2] = [("last", NullOrder::Last), ("first", NullOrder::First)];

/// The fields, in order. Each is a column, or a mapping with a `field`; those that can't be read are reported and left
/// out. So is a list that is not there at all.
pub(super) fn fields(reader: &mut Reader<'_>, given: &Given<'_>, form: &Form) -> Vec<SortField> {
    if given.is_null() {
        reader.no_value(given);
        return Vec::new();
    }
    if let Value::Scalar(scalar) = &given.node.value {
        let columns = reader.not_in_brackets(given, scalar).into_iter();
        return columns.map(|field| SortField { field, descending: false, nulls: NullOrder::default() }).collect();
    }
    let items = reader.list(given).unwrap_or_default();
    items.iter().filter_map(|item| field(reader, item, form)).collect()
}

fn field(reader: &mut Reader<'_>, given: &Given<'_>, form: &Form) -> Option<SortField> {
    let Value::Mapping(entries) = &given.node.value else {
        let field = reader.string(given)?;
        return Some(SortField { field, descending: false, nulls: NullOrder::default() });
    };
    if let Some(finding) = field_and_order(reader, given.node, entries, form) {
        reader.report(finding);
        return None;
    }
    let place = reader.first_line(given.node.span);
    let fields = reader.fields(given.node, given.what.clone().into_owned(), place, &form.keys)?;
    let field = reader.require(&fields, "field").and_then(|given| reader.string(&given));
    let order = fields.get("order").and_then(|given| reader.choice(&given, ORDERS));
    let nulls = fields.get("null_order").and_then(|given| null_order(reader, &given, form));
    let descending = order.is_some_and(|order| order.value);
    Some(SortField { field: field?, descending, nulls: nulls.unwrap_or_default() })
}

/// What to say about `{ start: desc }`, where `{ field: start, order: desc }` is meant.
fn field_and_order(reader: &Reader<'_>, node: &Node, entries: &[Entry], form: &Form) -> Option<Diagnostic> {
    let [entry] = entries else { return None };
    let Value::Scalar(value) = &entry.value.value else { return None };
    let (order, _) = ORDERS.iter().find(|(order, _)| value.text.to_ascii_lowercase().starts_with(order))?;
    if form.keys.read.contains(&entry.key.text.as_str()) {
        return None;
    }
    let span = reader.with_braces(node, entry);
    let written = format!("{{ field: {}, order: {order} }}", reader.written(entry.key.span));
    let finding = Diagnostic::error(Code::E000, "a column and its order are given with the keys `field` and `order`")
        .label(reader.first_line(span), "holds neither");
    Some(finding.help(format!("write `{written}`")).fix(span, written))
}

/// `null_order`, which can drop rows only where they are written.
fn null_order(reader: &mut Reader<'_>, given: &Given<'_>, form: &Form) -> Option<NullOrder> {
    if form.drops_nulls {
        return reader
            .choice(given, &[KEPT_NULLS[0], KEPT_NULLS[1], ("drop", NullOrder::Drop)])
            .map(|order| order.value);
    }
    if !matches!(&given.node.value, Value::Scalar(scalar) if scalar.text == "drop") {
        return reader.choice(given, &KEPT_NULLS).map(|order| order.value);
    }
    reader.report(
        Diagnostic::error(Code::E000, "`null_order: drop` is only for sinks")
            .label(given.node.span, "would drop rows")
            .help("write `first` or `last`, and drop the rows with `filter` in a transform"),
    );
    None
}
