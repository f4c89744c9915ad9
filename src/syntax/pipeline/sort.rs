//! Lists of sort fields: `sort_order` and `order_by`.

use super::ast::{NullOrder, SortField};
use super::fields::{Given, Keys, Reader, elsewhere};
use crate::diagnostics::{Code, Diagnostic};
use crate::syntax::yaml::Value;

/// What the fields of a list may say.
pub(super) struct Form {
    keys: Keys,
    drops_nulls: bool,
}

const FIELD: Keys = Keys { read: &["field", "order", "null_order"], refused: &[] };

/// The order that a source claims of its files.
pub(super) const CLAIMED: Form = Form { keys: FIELD, drops_nulls: false };

/// The order that a sink writes in, which may leave rows with nulls out.
pub(super) const WRITTEN: Form = Form { keys: FIELD, drops_nulls: true };

/// The order within a group.
pub(super) const WITHIN_GROUPS: Form = Form {
    keys: Keys {
        read: &["field", "order"],
        refused: &[elsewhere("null_order", "remove it; within a group nulls always come last")],
    },
    drops_nulls: false,
};

const ORDERS: &[(&str, bool)] = &[("asc", false), ("desc", true)];

const KEPT_NULLS: [(&str, NullOrder); 2] = [("last", NullOrder::Last), ("first", NullOrder::First)];

/// The fields, in order. Each is a column, or a mapping with a `field`; those that can't be read are reported and left
/// out.
pub(super) fn fields(reader: &mut Reader<'_>, given: &Given<'_>, form: &Form) -> Vec<SortField> {
    if let Value::Scalar(scalar) = &given.node.value {
        let field = reader.not_in_brackets(given, scalar);
        return vec![SortField { field, descending: false, nulls: NullOrder::default() }];
    }
    let items = reader.list(given).unwrap_or_default();
    items.iter().filter_map(|item| field(reader, item, form)).collect()
}

fn field(reader: &mut Reader<'_>, given: &Given<'_>, form: &Form) -> Option<SortField> {
    let Value::Mapping(_) = &given.node.value else {
        let field = reader.string(given)?;
        return Some(SortField { field, descending: false, nulls: NullOrder::default() });
    };
    let place = reader.first_line(given.node.span);
    let fields = reader.fields(given.node, given.what.clone().into_owned(), place, &form.keys)?;
    let field = reader.require(&fields, "field").and_then(|given| reader.string(&given));
    let order = fields.get("order").and_then(|given| reader.choice(&given, ORDERS));
    let nulls = fields.get("null_order").and_then(|given| null_order(reader, &given, form));
    let descending = order.is_some_and(|order| order.value);
    Some(SortField { field: field?, descending, nulls: nulls.unwrap_or_default() })
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
