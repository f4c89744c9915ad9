//! Columns of text.

use super::super::kernels::Views;
use super::fields::Fields;
use crate::exec::batch::Column;

/// Every cell as it is; an empty one is an empty text.
pub(super) fn strings(fields: &Fields<'_>, field: usize) -> Column {
    let cells = fields.column(field, false, true);
    let mut views = Views::with_capacity(fields.rows());
    for row in 0..fields.rows() {
        let (start, end) = cells.place(row);
        views.push_part(fields.text(), start, end);
    }
    views.finish(None)
}

/// Every cell as a text whose type is known only at run time: the tag of a text, then the text.
pub(super) fn any(fields: &Fields<'_>, field: usize) -> Column {
    const TEXT: u8 = 5;
    let values = (0..fields.rows()).map(|row| [&[TEXT], fields.cell(row, field)].concat());
    Column::Any(arrow_array::BinaryViewArray::from_iter_values(values))
}
