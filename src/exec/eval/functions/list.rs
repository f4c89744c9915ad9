//! Methods that make or read lists.

use std::sync::Arc;

use crate::exec::batch::{Column, ListColumn, Validity};
use crate::exec::eval::datum::Datum;
use crate::exec::eval::operands::{Pieces, Strings, append_text};
use crate::exec::eval::rows::{Rows, Texts};
use crate::exec::value::Value;

/// `receiver.length()`: the characters of a text, the elements of a list.
pub fn length(receiver: &Datum, rows: &mut Rows<'_>) -> Column {
    if let Datum::Column(Column::List(list)) = receiver {
        let lengths = list.offsets.windows(2).map(|ends| i64::from(ends[1] - ends[0])).collect();
        return Column::ints(lengths, list.validity.clone());
    }
    let text = Strings::of(receiver);
    rows.ints(|row| match text.get(row) {
        Some(s) => Ok(Some(if s.is_ascii() { s.len() } else { s.chars().count() } as i64)),
        None => Ok(match receiver.value(row) {
            Value::Array(items) => Some(items.len() as i64),
            _ => None,
        }),
    })
}

/// `text.split(separator)`
pub fn split(text: &Strings<'_>, separator: &Datum, rows: &mut Rows<'_>) -> Column {
    let separator = Strings::of(separator);
    let (mut parts, mut ends) = (Vec::new(), vec![0_i32; rows.len() + 1]);
    let mut validity = Validity::new(rows.len());
    rows.live.for_each(|row| match text.get(row).zip(separator.get(row)) {
        Some((s, separator)) => {
            parts.extend(s.split(separator));
            ends[row + 1] = parts.len() as i32;
        }
        None => validity.set_null(row),
    });
    // A row that was not split ends where the one in front of it does.
    for row in 0..rows.len() {
        ends[row + 1] = ends[row + 1].max(ends[row]);
    }
    let elements = Arc::new(string_column(&parts));
    Column::List(ListColumn { offsets: ends.into(), elements, validity: validity.finish() })
}

fn string_column(parts: &[&str]) -> Column {
    let mut texts = Texts::new(parts.len());
    for (row, part) in parts.iter().enumerate() {
        let set = texts.set(row, |out| {
            out.push_str(part);
            Ok(true)
        });
        set.expect("a part of a text is no longer than the text");
    }
    texts.finish(None)
}

/// `receiver.join(separator)`: null for what isn't a list.
pub fn join(receiver: &Datum, separator: &Datum, rows: &mut Rows<'_>) -> Column {
    let separator = Strings::of(separator);
    if let Datum::Column(Column::List(list)) = receiver {
        let elements = Datum::Column((*list.elements).clone());
        return rows.texts(|row, out| {
            let Some(separator) = separator.get(row).filter(|_| !receiver.is_null_at(row)) else { return Ok(false) };
            let mut pieces = Pieces::new(out);
            for (position, element) in list.range(row).enumerate() {
                pieces.append(|out| out.push_str(if position > 0 { separator } else { "" }))?;
                pieces.append(|out| append_text(&elements, element, out))?;
            }
            Ok(true)
        });
    }
    rows.texts(|row, out| {
        let (Some(separator), Value::Array(items)) = (separator.get(row), receiver.value(row)) else {
            return Ok(false);
        };
        let mut pieces = Pieces::new(out);
        for (position, item) in items.iter().enumerate() {
            pieces.append(|out| out.push_str(if position > 0 { separator } else { "" }))?;
            pieces.append(|out| item.write_text(out))?;
        }
        Ok(true)
    })
}
