//! Columns of text.

use super::fields::Fields;
use crate::exec::batch::{Column, TextColumn};
use crate::exec::value::Value;

/// Every cell as it is; an empty one is an empty text.
pub(super) fn strings(fields: &Fields<'_>, field: usize) -> Column {
    let cells = fields.column(field, false, true);
    let mut texts = TextColumn::with_capacity(fields.rows());
    for row in 0..fields.rows() {
        let (start, end) = cells.place(row);
        texts.push_part(fields.text(), start, end);
    }
    texts.finish(None)
}

/// Every cell as a text whose type is known only at run time.
pub(super) fn any(fields: &Fields<'_>, field: usize) -> Column {
    let cells = fields.column(field, false, true);
    let place = |row| cells.place(row);
    let texts = (0..fields.rows()).map(place).map(|(start, end)| Value::String(fields.text()[start..end].to_owned()));
    Column::any(&texts.collect::<Vec<_>>())
}
