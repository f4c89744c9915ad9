//! Lists of sort fields: `sort_order` and `order_by`.

use super::ast::{NullOrder, SortField};
use super::fields::{Given, Keys, Reader, Refused, elsewhere};
use crate::diagnostics::{Code, Diagnostic, Span, Spanned};
use crate::syntax::yaml::{Entry, Node, Scalar, ScalarStyle, Value};

/// What the fields of a list may say.
pub(super) struct Form {
    keys: Keys,
    drops_nulls: bool,
}

const FIELD: Keys = Keys {
    read: &["field", "order", "null_order"],
    required: &["field"],
    refused: REFUSED.split_at(2).1,
    ..Keys::NONE
};

const SAY_ORDER: &str = "write `order: desc` or `order: asc`";

const NULLS_LAST: &str = "remove it; within a group nulls always come last";

/// What the fields of a group refuse. The first two are a key of all other fields, and a word for it.
const REFUSED: &[Refused] = &[
    elsewhere("null_order", NULLS_LAST),
    elsewhere("nulls", NULLS_LAST),
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
        if let Some(fields) = with_orders(scalar, reader.written(scalar.span)) {
            return orders_in_words(reader, given, fields);
        }
        let columns = reader.not_in_brackets(given, scalar).into_iter();
        return columns.map(|field| SortField { field, descending: false, nulls: NullOrder::default() }).collect();
    }
    let items = reader.list(given).unwrap_or_default();
    items.iter().filter_map(|item| field(reader, item, form)).collect()
}

/// A column of a text, and the order behind it.
type Worded = (Spanned<String>, Option<&'static (&'static str, bool)>);

/// The columns of a text such as `start desc, id`, each with its order; `None` if no order is named.
fn with_orders(scalar: &Scalar, written: &str) -> Option<Vec<Worded>> {
    let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ' '));
    if scalar.style != ScalarStyle::Plain {
        return None;
    }
    let mut fields: Vec<Worded> = Vec::new();
    let mut start = scalar.span.start;
    for part in written.split(',') {
        let (name, order) = name_and_order(part.trim());
        match fields.last_mut() {
            Some((_, known @ None)) if name.is_empty() && order.is_some() => *known = order,
            _ if name.is_empty() || !is_name(name) => return None,
            _ => {
                let at = start + (part.len() - part.trim_start().len()) as u32;
                let span = Span::new(scalar.span.file, at, at + name.len() as u32);
                fields.push((Spanned::new(name.to_owned(), span), order));
            }
        }
        start += part.len() as u32 + 1;
    }
    fields.iter().any(|(_, order)| order.is_some()).then_some(fields)
}

/// The parts of `start desc`, each of which may be missing.
fn name_and_order(text: &str) -> (&str, Option<&'static (&'static str, bool)>) {
    let (name, word) = text.rsplit_once(char::is_whitespace).unwrap_or(("", text));
    match order_word(word) {
        Some(order) => (name.trim_end(), Some(order)),
        None => (text, None),
    }
}

/// The order that a word means.
fn order_word(word: &str) -> Option<&'static (&'static str, bool)> {
    let word = word.to_ascii_lowercase();
    ORDERS.iter().find(|(order, _)| word == *order || word == format!("{order}ending"))
}

/// Reports columns with their orders in words, which is how they are read.
fn orders_in_words(reader: &mut Reader<'_>, given: &Given<'_>, fields: Vec<Worded>) -> Vec<SortField> {
    let written = |(field, order): &Worded| match order {
        Some((order, _)) => format!("{{ field: {}, order: {order} }}", field.value),
        None => field.value.clone(),
    };
    let list = format!("[{}]", fields.iter().map(written).collect::<Vec<_>>().join(", "));
    let finding = reader.wrong_kind(given, "a list");
    reader.report(finding.help(format!("write `{list}`")).fix(given.node.span, list));
    let read = |(field, order): Worded| {
        let descending = order.is_some_and(|(_, descending)| *descending);
        SortField { field, descending, nulls: NullOrder::default() }
    };
    fields.into_iter().map(read).collect()
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
